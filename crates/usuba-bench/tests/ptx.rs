//! Our CUDA C++ by compilers for devices: `bench/gpu/counts.txt` holds, for the first function of each
//! slicing of a cipher, the `lop3` of the PTX by clang and its accesses to memory of a thread,
//! and by ptxas the registers of a thread, the bytes of its stack, and spilled bytes. They must not
//! grow. `BLESS=1` writes the file, with dashes where ptxas is not there.
//!
//! The quick run has DES and a share of the others. A compiler that is not there, or is of another
//! version than the file says, is skipped by name; `PTXAS` names ptxas, which is part of NVIDIA's
//! Python wheel `nvidia-cuda-nvcc-cu12`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba_ciphers::{Cipher, Function};
use usuba_gen::{asks, level};
use usuba_library::{Request, grids};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn file() -> PathBuf {
    root().join("bench/gpu/counts.txt")
}

/// The processor that code is made for.
const ARCH: &str = "sm_90";

/// The version of a program, which follows `word` in its answer; `None` if it is not there.
fn version(program: &Path, word: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.contains(word))?;
    let number = line.split_once(word)?.1;
    let end = number.find(|c: char| !c.is_ascii_digit() && c != '.');
    Some(number[..end.unwrap_or(number.len())].to_string())
}

/// The compilers, each with its version.
struct Compilers {
    clang: Option<(PathBuf, String)>,
    ptxas: Option<(PathBuf, String)>,
}

impl Compilers {
    fn find() -> Compilers {
        let found = |names: &[PathBuf], word: &str| {
            names.iter().find_map(|name| Some((name.clone(), version(name, word)?)))
        };
        let clang = ["clang++-19", "clang++-20", "clang++"].map(PathBuf::from);
        let named = std::env::var_os("PTXAS").map(PathBuf::from);
        let ptxas: Vec<PathBuf> = named.into_iter().chain([PathBuf::from("ptxas")]).collect();
        Compilers { clang: found(&clang, "clang version "), ptxas: found(&ptxas, "release ") }
    }
}

/// Counts of one function. The ones of ptxas are `None` where it is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counts {
    lop3: u64,
    local: u64,
    /// Registers, bytes of the stack, spilled bytes.
    thread: Option<[u64; 3]>,
}

/// Counts by function and slicing.
type Table = BTreeMap<String, Counts>;

/// The kernels of a function of a grid in PTX, by their names.
fn entries(ptx: &str) -> BTreeMap<&str, &str> {
    let parts = ptx.split(".visible .entry ").skip(1);
    parts.filter_map(|part| part.split_once('(')).collect()
}

/// The numbers that ptxas prints of each function.
fn threads(said: &str) -> BTreeMap<String, [u64; 3]> {
    let before = |line: &str, word: &str| -> Option<u64> {
        line.split_once(word)?.0.split_whitespace().next_back()?.parse().ok()
    };
    let (mut all, mut name, mut memory) = (BTreeMap::new(), String::new(), [0; 2]);
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            name = rest.split('\'').next().unwrap_or_default().to_string();
        }
        if let Some(stack) = before(line, " bytes stack frame") {
            let stores = before(line, " bytes spill stores").unwrap_or(0);
            memory = [stack, stores + before(line, " bytes spill loads").unwrap_or(0)];
        }
        if let Some(registers) = before(line, " registers") {
            all.insert(name.clone(), [registers, memory[0], memory[1]]);
        }
    }
    all
}

/// The first functions of a cipher in V and in B.
fn firsts<'a>(cipher: &'a Cipher, target: &Target) -> Vec<(&'a Function, Slicing)> {
    let mut all: Vec<(&Function, Slicing)> = Vec::new();
    for function in cipher.functions.iter().filter(|function| function.is_for(target)) {
        for slicing in function.slicings_on(target).filter(|s| *s != Slicing::H) {
            if all.iter().all(|(_, known)| *known != slicing) {
                all.push((function, slicing));
            }
        }
    }
    all
}

fn counted(cipher: &Cipher, target: &'static Target, compilers: &Compilers) -> Table {
    let (clang, _) = compilers.clang.as_ref().expect("there is clang");
    let mut table = Table::new();
    let firsts = firsts(cipher, target);
    let mut names: Vec<String> = firsts.iter().map(|(function, _)| function.name.clone()).collect();
    names.dedup();
    let prefix = "usuba_".to_string();
    for name in names {
        let functions = vec![name.clone()];
        let request = Request {
            targets: vec![target],
            prefix: prefix.clone(),
            version: "0".into(),
            functions,
        };
        let files = grids(&request, target, cipher, Some("it")).unwrap_or_else(|e| panic!("{e}"));
        let folder = tempfile::tempdir().expect("a folder");
        for file in &files {
            fs::write(folder.path().join(&file.path), &file.text)
                .expect("the folder can be written");
        }
        let mut compile = Command::new(clang);
        compile.args(["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-O3", "-S"]);
        compile.args([&format!("--cuda-gpu-arch={ARCH}"), "--cuda-feature=+ptx83", "it.cu"]);
        let output = compile.args(["-o", "it.ptx"]).current_dir(folder.path()).output();
        let output = output.expect("clang runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{name}: {said}");
        let ptx = fs::read_to_string(folder.path().join("it.ptx")).expect("clang wrote it");
        let threads = compilers.ptxas.as_ref().map(|(ptxas, _)| {
            let mut assemble = Command::new(ptxas);
            assemble.args(["-v", "--gpu-name", ARCH, "it.ptx", "-o", "it.cubin"]);
            let output = assemble.current_dir(folder.path()).output().expect("ptxas runs");
            let said = String::from_utf8_lossy(&output.stderr).into_owned()
                + &String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{name}: {said}");
            self::threads(&said)
        });
        for (entry, body) in entries(&ptx) {
            let Some(symbol) = entry.strip_suffix("_blocks") else { continue };
            let (function, slicing) = symbol["usuba_".len()..].rsplit_once('_').expect("a slicing");
            let letter = |slicing: Slicing| format!("{slicing:?}");
            let is_first =
                |(own, of): &(&Function, Slicing)| own.name == function && letter(*of) == slicing;
            if !firsts.iter().any(is_first) {
                continue;
            }
            let count = |words: &[&str]| {
                let has = |line: &&str| words.iter().any(|word| line.contains(word));
                body.lines().filter(has).count() as u64
            };
            let thread = threads.as_ref().map(|all| all[entry]);
            let (lop3, local) = (count(&["lop3.b32"]), count(&["ld.local", "st.local"]));
            table.insert(format!("{function} {slicing}"), Counts { lop3, local, thread });
        }
    }
    table
}

fn print(table: &Table, compilers: &Compilers) -> String {
    let of =
        |found: &Option<(PathBuf, String)>| found.as_ref().map_or("none", |(_, v)| v).to_string();
    let mut text = format!(
        "# Functions over blocks on {ARCH}: `lop3` of the PTX by clang, and its loads and stores of memory of a\n\
         # thread; by ptxas the registers of a thread, bytes of its stack, and bytes that are spilled.\n\
         # `BLESS=1 cargo test -p usuba-bench --test ptx` writes this file anew.\n#\n\
         # clang {}\n# ptxas {}\n# function slicing lop3 local registers stack spilled\n",
        of(&compilers.clang),
        of(&compilers.ptxas)
    );
    for (key, Counts { lop3, local, thread }) in table {
        let (function, slicing) = key.split_once(' ').expect("two words");
        let thread = match thread {
            Some([registers, stack, spilled]) => format!("{registers:>4} {stack:>6} {spilled:>6}"),
            None => "   -      -      -".to_string(),
        };
        text += &format!("{function:24} {slicing} {lop3:>6} {local:>5} {thread}\n");
    }
    text
}

/// The versions of clang and of ptxas, and the counts.
fn parse(text: &str) -> ([String; 2], Table) {
    let version = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("# {name} ")));
        line.unwrap_or_else(|| panic!("the file names no version of {name}")).to_string()
    };
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse().unwrap_or_else(|_| panic!("no number: {line}"));
        let thread = (words[4] != "-").then(|| [number(4), number(5), number(6)]);
        let counts = Counts { lop3: number(2), local: number(3), thread };
        (format!("{} {}", words[0], words[1]), counts)
    };
    ([version("clang"), version("ptxas")], rows.map(row).collect())
}

/// The rows that grew, one line each.
fn complaints(was: &Table, is: &Table) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, now) in is {
        let Some(before) = was.get(key) else {
            lines.push(format!("{key} is not in the file"));
            continue;
        };
        let mut grown = now.lop3 > before.lop3 || now.local > before.local;
        if let (Some(now), Some(before)) = (now.thread, before.thread) {
            grown |= now.iter().zip(before).any(|(now, before)| *now > before);
        }
        if grown {
            lines.push(format!("{key}: {before:?}, now {now:?}"));
        }
    }
    lines
}

#[test]
fn no_function_of_a_device_grows() {
    let blesses = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut compilers = Compilers::find();
    let target = isa::find("cuda").expect("it exists");
    let text = fs::read_to_string(file()).unwrap_or_default();
    let mut was = Table::new();
    if !blesses {
        let ([clang, ptxas], table) = parse(&text);
        was = table;
        let is_of = |found: &mut Option<(PathBuf, String)>, name: &str, wanted: &str| {
            if found.as_ref().is_none_or(|(_, version)| version != wanted) {
                println!("skipped: {name} {wanted} is not there");
                *found = None;
            }
        };
        is_of(&mut compilers.clang, "clang", &clang);
        is_of(&mut compilers.ptxas, "ptxas", &ptxas);
    }
    if compilers.clang.is_none() {
        assert!(!blesses, "there is no clang");
        return;
    }
    let mut is = Table::new();
    for cipher in usuba_ciphers::find(&root().join("ciphers")).unwrap_or_else(|e| panic!("{e}")) {
        let name = usuba_ciphers::folder_name(&cipher.folder).expect("a name");
        let all = blesses || level::is_whole();
        if all || name == "des" || asks!("{name}") {
            is.extend(counted(&cipher, target, &compilers));
        }
    }
    if blesses {
        fs::write(file(), print(&is, &compilers)).unwrap_or_else(|e| panic!("{e}"));
        return;
    }
    let complaints = complaints(&was, &is);
    assert!(
        complaints.is_empty(),
        "counts grew; if that is meant, BLESS=1 cargo test -p usuba-bench --test ptx\n{}",
        complaints.join("\n")
    );
}

#[test]
fn growth_is_seen_in_every_column() {
    let parse = |row: &str| parse(&format!("# clang 1\n# ptxas 1\n{row}")).1;
    let was = parse("f B 10 2 30 4 5\n");
    assert_eq!(complaints(&was, &was), [""; 0]);
    assert_eq!(complaints(&was, &parse("f B 9 1 29 3 4\n")), [""; 0]);
    for row in ["f B 11 2 30 4 5", "f B 10 3 30 4 5", "f B 10 2 31 4 5", "f B 10 2 30 5 5"] {
        assert_eq!(complaints(&was, &parse(row)).len(), 1, "{row}");
    }
    assert_eq!(complaints(&was, &parse("f B 10 2 30 4 6\ng V 1 1 1 1 1\n")).len(), 2);
    let said = "ptxas info    : Compiling entry function 'f' for 'sm_90'\n    8 bytes stack frame, 1 bytes \
                spill stores, 2 bytes spill loads\nptxas info    : Used 31 registers, used 0 barriers\n";
    assert_eq!(threads(said), [("f".to_string(), [31, 8, 3])].into());
}
