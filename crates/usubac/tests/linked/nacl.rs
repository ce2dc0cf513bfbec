//! The proofs of NaCl's exported functions by compiler: no claim of the list is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use serde_json::Value;
use usuba_gen::level;
use usuba_prove::compiler::Compiler;
use usuba_run::cc::{self, Family, Foreign, Machine};

use super::{err, rows, usubac};

/// The exported functions of NaCl by compiler, each with its proved claims.
const NACL: &str = "tests/nacl-proofs.txt";

/// The quick run proves one function of this number, because some take minutes.
const APART: u64 = 160;

/// One test blesses the list at a time.
static LIST: Mutex<()> = Mutex::new(());

/// How a user compiles NaCl for one machine.
struct Profile {
    foreign: Option<Foreign>,
    family: Family,
    /// The part of its name in the list behind the compiler.
    name: &'static str,
    /// Flags of `usubac dist`, and of the compiler.
    dist: &'static str,
    flags: &'static [&'static str],
}

const fn common(foreign: Option<Foreign>, family: Family) -> Profile {
    Profile { foreign, family, name: "", dist: "", flags: &["-O2"] }
}

/// At another level.
const fn at(name: &'static str, flags: &'static [&'static str], family: Family) -> Profile {
    Profile { name, flags, ..common(None, family) }
}

/// The small form for RISC-V, without a library of C.
const fn small(name: &'static str, flags: &'static [&'static str]) -> Profile {
    let (foreign, family) = (Some(Foreign::Riscv), Family::Gcc);
    Profile { foreign, family, name, dist: " --target gp32", flags }
}

impl Profile {
    /// The name of the compiler, and the compiler, for x86-64 without flags of a target.
    fn compiler(&self) -> Result<(String, Machine), cc::Skip> {
        let name = if self.dist.is_empty() { "gp64" } else { "gp32" };
        let target = usuba::isa::find(name).expect("a target");
        let Some(foreign) = self.foreign else {
            let machine = cc::find_to_compile(target, self.family)?;
            let name = Compiler::find(target, self.family)?.name;
            return Ok((name, Machine { cflags: Vec::new(), ..machine }));
        };
        let name = Compiler::find_foreign(target, foreign, self.family)?.name;
        Ok((name, cc::find_foreign(target, foreign, self.family)?))
    }
}

/// A test for each profile, so that an interrupted run of all tests goes on with the next one.
macro_rules! tests {
    ($($name:ident: $profile:expr;)+) => {
        $(
            #[test]
            fn $name() {
                $profile.keeps_its_proofs();
            }
        )+
    };
}

tests! {
    gcc_o2: common(None, Family::Gcc);
    gcc_os: at(" -Os", &["-Os"], Family::Gcc);
    gcc_o3: at(" -O3", &["-O3"], Family::Gcc);
    clang_o2: common(None, Family::Clang);
    clang_o3: at(" -O3", &["-O3"], Family::Clang);
    aarch64_gcc_o2: common(Some(Foreign::Aarch64), Family::Gcc);
    aarch64_clang_o2: common(Some(Foreign::Aarch64), Family::Clang);
    riscv_gcc_os: small(" -Os", &["-Os", "-DUSUBA_SMALL", "-ffreestanding"]);
    riscv_gcc_o2: small(" -O2", &["-O2", "-DUSUBA_SMALL", "-ffreestanding"]);
}

/// The functions of a list, `gcc 12 usuba_wipe: safe ends`, and their claims.
fn claims(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let line = |line| str::split_once(line, ':').expect("a function and its claims");
    let lines = text.lines().map(line);
    lines.map(|(name, claims)| (name, claims.split_whitespace().collect())).collect()
}

/// A row of the report as a line of the list.
fn line(kind: &str, row: &Value) -> String {
    let answers = row["answers"].as_array().expect("answers").iter();
    let all = answers.zip(["safe", "ends", "time", "left", "computes"]);
    let claims = all.filter_map(|(answer, claim)| match answer {
        answer if *answer == "proved" => Some(claim),
        answer if !answer["sizes"].is_null() => Some("sizes"),
        _ => None,
    });
    let claims: String = claims.map(|claim| format!(" {claim}")).collect();
    format!("{kind} {}:{claims}", row["function"].as_str().expect("text"))
}

impl Profile {
    /// No claim about an exported function is lost. Other versions of compilers make other code, so
    /// their counts are printed only.
    fn keeps_its_proofs(&self) {
        let (name, machine) = match self.compiler() {
            Ok(compiler) => compiler,
            Err(skip) => return println!("{skip}"),
        };
        let bless = std::env::var_os("BLESS").is_some();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(NACL);
        let list = || fs::read_to_string(&file).expect("the list");
        let kind = format!("{}{}", name.split('.').next().unwrap_or_default(), self.name);
        let own = format!("{kind} usuba_");
        let before = list();
        let before: BTreeMap<_, _> = claims(&before)
            .into_iter()
            .filter(|(function, _)| function.starts_with(&own))
            .collect();
        // The quick run proves a few functions again, and others for the next commit.
        let is_quick = !bless && !level::is_whole();
        let known = before.iter().filter(|(_, claims)| !claims.is_empty());
        let known = known.filter_map(|(function, _)| function.split(' ').next_back());
        let first = level::turn_of(APART) as usize;
        let chosen = known.skip(first).step_by(APART as usize).take_while(|_| is_quick);
        let chosen: String = chosen.map(|function| format!(" --function {function}")).collect();
        // No claim can be lost.
        if !bless && before.is_empty() || is_quick && chosen.is_empty() {
            return println!("{name} has no list");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let made = usubac(path, &format!("dist --kind nacl{} -o .", self.dist));
        assert!(made.status.success(), "{}", err(&made));
        let mut compile = machine.compile();
        compile.args(self.flags).args(["-c", "usuba-nacl.c"]).current_dir(path);
        assert!(compile.status().expect("the compiler runs").success());
        let run =
            usubac(path, &format!("prove --dist usuba-nacl.o --format json --no-cache{chosen}"));
        let rows = rows(&run);
        let exported = rows.iter().filter(|row| row["exported"] == true);
        let lines: Vec<String> = exported.map(|row| line(&kind, row)).collect();
        let text = lines.join("\n");
        let found = claims(&text);
        println!("{name}: {} claims", found.values().map(BTreeSet::len).sum::<usize>());
        if bless {
            let _guard = LIST.lock().expect("no other test panics");
            let list = list();
            let others = list.lines().filter(|line| !line.starts_with(&own)).map(str::to_string);
            let all: BTreeSet<String> = others.chain(lines).collect();
            let all: String = all.iter().map(|line| format!("{line}\n")).collect();
            return fs::write(&file, all).expect("written");
        }
        let mut lost = Vec::new();
        for (function, before) in before {
            if is_quick && !found.contains_key(function) {
                continue;
            }
            let after = found.get(function).cloned().unwrap_or_default();
            let is_better = |claim: &&&str| **claim == "sizes" && after.contains("computes");
            let missing = before.difference(&after).filter(|claim| !is_better(claim));
            lost.extend(missing.map(|claim| format!("{function}: {claim}")));
        }
        assert!(lost.is_empty(), "not proved any more: {lost:?}");
    }
}
