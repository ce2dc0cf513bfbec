//! Functions over any number of blocks, and key schedules: proved as they are, and refuted after
//! fault injection into their C.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use usuba_gen::level;
use usuba_gen::{asks, asks_rarely};
use usuba_run::validated::Proofs;

use rayon::prelude::*;
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::passes::pipeline::PipelineOptions;
use usuba_ciphers::{Cipher, Function};
use usuba_object::Rule;
use usuba_object::compare::Demands;

use usuba_prove::byte_interface::{self, Proof};
use usuba_prove::compiler::{self, Compiler};
use usuba_prove::{Evidence, Outcome};
use usuba_run::cc::{self, Family, Foreign};
use usuba_run::functions::{Built, build_as};

use super::{cipher, families, for_aarch64};

/// The proofs of the short run, by one compiler each.
const SHORT: [(&str, &str, Slicing, &str, Family); 4] = [
    ("rectangle", "rectangle80_encrypt", Slicing::V, "gp64", Family::Clang),
    ("rectangle", "rectangle80_encrypt", Slicing::H, "sse", Family::Gcc),
    ("rectangle", "rectangle80_encrypt", Slicing::B, "gp64", Family::Gcc),
    ("chacha20", "chacha20_block", Slicing::V, "sse", Family::Clang),
];

#[test]
fn functions_over_blocks_are_proved() {
    for (name, function, slicing, target, family) in SHORT {
        if !families(target).contains(&family) {
            continue;
        }
        let target = isa::find(target).expect("a target");
        let cipher = cipher(name);
        let function = cipher.functions.iter().find(|f| f.name == function).expect("the function");
        let proofs = byte_interface::prove(&cipher, function, slicing, target, family);
        let proofs = proofs.expect("it compiles");
        assert!(proofs.len() >= 2, "{}", function.name);
        for Proof { what, outcome, .. } in &proofs {
            let on = format!("{what} in {slicing:?} on {} by {family:?}", target.name);
            let Outcome::Proved(Evidence::Machine(found)) = outcome else {
                panic!("{on}: {outcome:?}")
            };
            let over_blocks = found.turns.is_none_or(|turns| turns.loops > 0 && turns.paths > 1);
            assert!(over_blocks && found.turns.is_none() == what.ends_with("_init"), "{on}");
        }
    }
}

/// Flags by which distributions compile libraries.
const HARDENED: [&str; 5] =
    ["-O2", "-fPIC", "-fstack-protector-all", "-fstack-clash-protection", "-fcf-protection"];

/// The functions in a shared object, compiled and linked as distributions do.
#[test]
fn functions_in_hardened_shared_objects_are_proved() {
    for (name, function, slicing, target, own) in SHORT {
        for family in families(target).into_iter().filter(|&family| family == own || asks!()) {
            let target = isa::find(target).expect("a target");
            let cipher = cipher(name);
            let function = cipher.functions.iter().find(|f| f.name == function).expect("it is");
            let options = byte_interface::options(slicing, target);
            let built = build_as(&cipher, function, slicing, &options).expect("it compiles");
            let file = compiler::object(&built.text, "c", target.name, family, &HARDENED);
            let folder = tempfile::tempdir().expect("a folder");
            let path = |name: &str| folder.path().join(name);
            std::fs::write(path("it.o"), file.expect("it compiles")).expect("it can be written");
            let mut link = cc::find_to_compile(target, family).expect("it compiled").compile();
            let link = link.arg("-shared").arg(path("it.o")).arg("-o").arg(path("it.so"));
            assert!(link.status().expect("the linker runs").success());
            let file = std::fs::read(path("it.so")).expect("it was linked");
            let demands = Demands::default();
            let proofs = byte_interface::prove_object(&file, &built, function, target, demands);
            for Proof { what, outcome, .. } in proofs.expect("a shared object") {
                assert!(outcome.is_proved(), "{what} by {family:?}: {outcome:?}");
            }
        }
    }
}

/// Flags for AArch64, as distributions have them.
const OF_AARCH64: [&str; 4] =
    ["-O2", "-fPIC", "-fstack-clash-protection", "-mbranch-protection=standard"];

/// The functions for AArch64, in objects as the prover compiles them and in shared objects as
/// distributions do.
#[test]
fn functions_for_aarch64_are_proved() {
    for (name, function, slicing, target) in [
        ("rectangle", "rectangle80_encrypt", Slicing::V, "neon"),
        ("rectangle", "rectangle80_encrypt", Slicing::H, "neon"),
        ("rectangle", "rectangle80_encrypt", Slicing::B, "gp64"),
        ("chacha20", "chacha20_block", Slicing::V, "neon"),
        ("chacha20", "chacha20_block", Slicing::W, "neon"),
    ] {
        let target = isa::find(target).expect("a target");
        let cipher = cipher(name);
        let function = cipher.functions.iter().find(|f| f.name == function).expect("it is");
        let options = byte_interface::options(slicing, target);
        let built = build_as(&cipher, function, slicing, &options).expect("it compiles");
        for compiler in for_aarch64(target) {
            let folder = tempfile::tempdir().expect("a folder");
            let path = |name: &str| folder.path().join(name);
            let plain = compiler.object(&built.text, "c", byte_interface::flags(&compiler));
            let hardened = compiler.object(&built.text, "c", &OF_AARCH64).expect("it compiles");
            std::fs::write(path("it.o"), hardened).expect("it can be written");
            let found = cc::find_foreign(target, Foreign::Aarch64, Family::Gcc);
            let linker = found.expect("there is a linker").compiler;
            let mut link = Command::new(linker);
            let link = link.args(["-shared", "-nostdlib"]).arg(path("it.o"));
            let link = link.arg("-o").arg(path("it.so"));
            assert!(link.status().expect("the linker runs").success());
            let linked = std::fs::read(path("it.so")).expect("it was linked");
            for file in [plain.expect("it compiles"), linked] {
                let demands = Demands::default();
                let proofs = byte_interface::prove_object(&file, &built, function, target, demands);
                for Proof { what, outcome, .. } in proofs.expect("a file") {
                    let by = &compiler.name;
                    assert!(outcome.is_proved(), "{what} in {slicing:?} by {by}: {outcome:?}");
                }
            }
        }
    }
}

/// The targets of the long run: all targets for x86-64 with a byte interface.
const TARGETS: [&str; 11] = [
    "gp64",
    "gp32",
    "sse",
    "avx2",
    "avx512",
    "avx2_gfni",
    "avx512_gfni",
    "avx2_64",
    "avx2_128",
    "avx512_128",
    "avx512_256",
];

/// Whether a claim is known to be open, as the book says: chains of SHA-256 over blocks in lanes. Their
/// kernels are proved.
fn is_open(function: &Function, target: &Target, family: Family) -> bool {
    function.name.starts_with("wots_sha256_")
        && match target.name {
            "sse" | "avx2" => family == Family::Clang,
            name => name == "avx512",
        }
}

/// Every function of every cipher; the quick run takes four. FOLDERS restricts a run to folders,
/// separated by commas, and ON to targets; FOLDERS also extends a quick run to them.
#[test]
fn every_function_is_proved() {
    let wanted = std::env::var("FOLDERS").ok();
    let on = std::env::var("ON").ok();
    let is_on = |name: &str| on.as_ref().is_none_or(|all| all.split(',').any(|one| one == name));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let ciphers = usuba_ciphers::find(&root).expect("the cipher folders can be read");
    let is_wanted = |cipher: &&Cipher| {
        let name = cipher.folder.file_name().unwrap_or_default().to_string_lossy();
        wanted.as_ref().is_none_or(|all| all.split(',').any(|one| one == name))
    };
    let mut jobs = Vec::new();
    for cipher in ciphers.iter().filter(is_wanted) {
        for (at, name) in TARGETS.into_iter().enumerate().filter(|(_, name)| is_on(name)) {
            let target = isa::find(name).expect("a target");
            let families = families(name);
            let functions = cipher.functions.iter().filter(|function| function.is_for(target));
            let all = functions.flat_map(|f| f.slicings.iter().map(move |slicing| (f, *slicing)));
            for (number, (function, slicing)) in all.enumerate() {
                // The compilers by turns: `usubac prove --all --interface` has both.
                let Some(&family) = families.get((at + number) % families.len().max(1)) else {
                    continue;
                };
                let asked =
                    || asks_rarely!("{} in {slicing:?} on {name} by {family:?}", function.name);
                if wanted.is_some() || asked() {
                    jobs.push((cipher, function, slicing, target, family));
                }
            }
        }
    }
    let is_all = level::is_whole() && wanted.is_none() && on.is_none();
    let ask = |&(cipher, function, slicing, target, family): &(
        &Cipher,
        &Function,
        Slicing,
        &'static Target,
        Family,
    )| {
        let on = format!("{} in {slicing:?} on {} by {family:?}", function.name, target.name);
        // Some slicings do not exist on some targets.
        let proofs = match byte_interface::prove(cipher, function, slicing, target, family) {
            Err(why) => {
                println!("{on}: {why}");
                return (0, Vec::new());
            }
            Ok(proofs) => proofs,
        };
        let spent: Duration = proofs.iter().map(|proof| proof.spent).sum();
        let (good, bad): (Vec<_>, Vec<_>) = proofs.into_iter().partition(Proof::is_proved);
        println!("{on}: {} proved in {:.1} s", good.len(), spent.as_secs_f64());
        let bad = bad.into_iter().map(|proof| format!("{on}, {}: {:?}", proof.what, proof.outcome));
        let bad: Vec<String> = bad.inspect(|bad| println!("{bad}")).collect();
        match (is_open(function, target, family), bad.is_empty()) {
            (true, true) => (good.len(), vec![format!("{on}: proved, and listed as open")]),
            (true, false) => (good.len(), Vec::new()),
            _ => (good.len(), bad),
        }
    };
    // Case distinctions of a proof are nested calls.
    let threads = rayon::ThreadPoolBuilder::new().stack_size(64 << 20).build().expect("threads");
    let done: Vec<(usize, Vec<String>)> =
        threads.install(|| jobs.par_iter().with_max_len(1).map(ask).collect());
    let proved: usize = done.iter().map(|(proved, _)| proved).sum();
    let failed: Vec<String> = done.into_iter().flat_map(|(_, failed)| failed).collect();
    println!("{proved} are proved and {} are not:\n{}", failed.len(), failed.join("\n"));
    assert!(failed.is_empty(), "{} are not proved", failed.len());
    assert!(!is_all || proved > 1000, "only {proved}");
}

/// A function whose C can be changed.
struct Subject {
    cipher: Cipher,
    built: Built,
    target: &'static Target,
    compiler: Compiler,
    /// A vector with its words moved by one place.
    moved: &'static str,
}

impl Subject {
    /// The function by one compiler for x86-64, and by those for AArch64.
    fn all() -> Vec<Subject> {
        let sse = isa::find("sse").expect("a target");
        let family = families(sse.name).into_iter().next();
        let here = family.map(|family| Compiler::find(sse, family).expect("it has been found"));
        let here =
            here.map(|compiler| Subject::new(sse, compiler, "_mm_alignr_epi8(x[0], x[0], 2)"));
        let neon = isa::find("neon").expect("a target");
        let others = for_aarch64(neon).into_iter();
        let others = others.map(|compiler| Subject::new(neon, compiler, "vextq_u8(x[0], x[0], 2)"));
        here.into_iter().chain(others).collect()
    }

    fn new(target: &'static Target, compiler: Compiler, moved: &'static str) -> Subject {
        let cipher = cipher("rectangle");
        let function = &cipher.functions[0];
        let options = PipelineOptions::default();
        let built = usuba_run::functions::build(
            &cipher,
            function,
            "f",
            Slicing::V,
            target,
            &options,
            Proofs::Never,
        )
        .expect("it compiles");
        Subject { cipher, built, target, compiler, moved }
    }

    fn function(&self) -> &Function {
        &self.cipher.functions[0]
    }

    /// The verdicts on the functions with another text: over blocks apart, in place, and key
    /// schedule.
    fn ask(&self, text: &str) -> Vec<Proof> {
        let flags = byte_interface::flags(&self.compiler);
        let file = self.compiler.object(text, "c", flags).expect("it compiles");
        let proofs = byte_interface::prove_object(
            &file,
            &self.built,
            self.function(),
            self.target,
            Demands::default(),
        );
        proofs.expect("an object")
    }

    /// The answers with one change; the text has the changed part exactly once, or `times`.
    fn planted(&self, from: &str, to: &str, times: usize) -> Vec<Proof> {
        let text = &self.built.text;
        assert_eq!(text.matches(from).count(), times, "{from}");
        self.ask(&text.replace(from, to))
    }
}

/// Whether an answer is a definite verdict with these words.
fn says(proof: &Proof, words: &str) -> bool {
    match &proof.outcome {
        Outcome::Refused(fault) => fault.to_string().contains(words),
        Outcome::Refuted(difference) => {
            assert_ne!(difference.expected, difference.found);
            words == "refuted"
        }
        _ => false,
    }
}

#[test]
fn planted_faults_are_refused() {
    Subject::all().iter().for_each(planted_faults);
}

fn planted_faults(subject: &Subject) {
    println!("{}", subject.compiler.name);
    assert!(subject.ask(&subject.built.text).iter().all(Proof::is_proved));
    let batch = subject.built.kernel.instances();
    let bytes = 8 * batch;
    let (half, less, most) = (bytes / 2, batch - 1, batch + 1);
    let copied = "memcpy(first, in, 8 * nblocks);";
    let back = "memcpy(out, last, 8 * nblocks);";
    let faults: &[(&str, String, String, &str)] = &[
        (
            "the tail forgets a block",
            back.into(),
            "memcpy(out, last, 8 * (nblocks - 1));".into(),
            "another number of blocks",
        ),
        (
            "the tail writes a block too many",
            back.into(),
            "memcpy(out, last, 8 * (nblocks + 1));".into(),
            "8 bytes behind the last block",
        ),
        (
            "the tail reads a byte too many",
            copied.into(),
            "memcpy(first, in, 8 * nblocks + 1);".into(),
            "1 bytes behind the last block",
        ),
        (
            "the tail reads from the wrong place",
            copied.into(),
            "memcpy(first, in - 8, 8 * nblocks);".into(),
            "has not come to",
        ),
        (
            "the tail clears other bytes",
            "memset(first + 8 * nblocks,".into(),
            "memset(first + 8 * nblocks + 8,".into(),
            "what a copy of the last blocks has left",
        ),
        (
            "one block is no tail",
            "if (nblocks) {".into(),
            "if (nblocks > 1) {".into(),
            "blocks are left",
        ),
        ("no tail", "if (nblocks) {".into(), "if (nblocks > 10000) {".into(), "blocks are left"),
        (
            "a turn too many",
            format!("nblocks >= {batch};"),
            format!("nblocks >= {less};"),
            "behind the last block",
        ),
        ("a turn too few", format!("nblocks >= {batch};"), format!("nblocks > {most};"), ""),
        ("a wrong step of `in`", format!("in += {bytes}"), format!("in += {half}"), ""),
        ("a wrong step of `out`", format!("out += {bytes}"), format!("out += {half}"), ""),
        (
            "a wrong step of the count",
            format!("nblocks -= {batch}"),
            format!("nblocks -= {half}"),
            "",
        ),
        (
            "results in the wrong order",
            "f_unpack(y, out);".into(),
            "f_unpack(y, out); { uint8_t t = out[0]; out[0] = out[8]; out[8] = t; }".into(),
            "refuted",
        ),
        (
            "a byte is spoilt",
            "f_unpack(y, out);".into(),
            "f_unpack(y, out); out[3] ^= 1;".into(),
            "refuted",
        ),
        (
            "a block for another",
            "f_pack(in, x);".into(),
            format!("f_pack(in, x); x[0] = {};", subject.moved),
            "not a function of that block",
        ),
        (
            "a branch on a block",
            "f_pack(in, x);".into(),
            "f_pack(in, x); if (in[0] == 7) return;".into(),
            "depends on an input",
        ),
    ];
    for (name, from, to, words) in faults {
        let proofs = subject.planted(from, to, 1);
        for proof in &proofs[..2] {
            assert!(!proof.is_proved(), "{name}: {}", proof.what);
            assert!(words.is_empty() || says(proof, words), "{name}: {proof:?}");
        }
        assert!(proofs[2].is_proved(), "{name}: {:?}", proofs[2]);
    }
    // The relative place of buffers of two sizes is not known, so the prover distinguishes both
    // cases.
    let ask_order = |then: &str| {
        let order = format!("if ((uintptr_t)ctx < (uintptr_t)out) {{ {then} }} if (nblocks) {{");
        subject.planted("if (nblocks) {", &order, 1)
    };
    let proofs = ask_order("__asm__ volatile (\"nop\");");
    assert!(proofs.iter().all(Proof::is_proved), "{proofs:?}");
    let proofs = ask_order("if (nblocks) out[3] ^= 1;");
    assert!(proofs[..2].iter().all(|proof| !proof.is_proved()), "{proofs:?}");
    // In place a result must not be written before its block is read.
    let proofs =
        subject.planted("f_pack(in, x);", "*(volatile uint8_t *)out = 0; f_pack(in, x);", 1);
    assert!(proofs[0].is_proved() && says(&proofs[1], "refuted"), "{proofs:?}");
    // Keys.
    let proofs = subject.planted("key[0] << 8", "key[1] << 8", 1);
    assert!(proofs[0].is_proved() && says(&proofs[2], "refuted"), "{proofs:?}");
    let over = subject.planted("from[4] = ", "ctx->key[104] = 0; from[4] = ", 1);
    let Outcome::Refused(fault) = &over[2].outcome else { panic!("{over:?}") };
    assert_eq!(fault.rule, Rule::OutOfBounds, "{fault}");
}

#[test]
fn a_byte_of_a_count_in_the_frame_is_its_low_byte() {
    Subject::all().iter().for_each(low_bytes);
}

fn low_bytes(subject: &Subject) {
    let ask = |count: &str| {
        let byte = "*(const volatile uint8_t *)&kept";
        let kept = format!("const volatile size_t kept = {count}; if ({byte}) {{");
        subject.planted("if (nblocks) {", &kept, 1)
    };
    let proofs = ask("nblocks");
    assert!(proofs.iter().all(Proof::is_proved), "{proofs:?}");
    let proofs = ask("256 * nblocks");
    assert!(proofs[..2].iter().all(|proof| says(proof, "blocks are left")), "{proofs:?}");
}

/// A path for one number of blocks: a loop for fewer blocks is shown by induction too, and a long
/// unrolled path ends the search.
#[test]
fn paths_for_one_number_of_blocks_are_found_or_unknown() {
    Subject::all().iter().for_each(paths_for_one_number);
}

fn paths_for_one_number(subject: &Subject) {
    let from = format!("for (; nblocks >= {};", subject.built.kernel.instances());
    let ask = |number: u64, then: &str| {
        let to = format!("if (nblocks == {number}) {{ {then} }} {from}");
        subject.planted(&from, &to, 1)
    };
    for number in [7, 8, 141] {
        let words = format!("at least {number} and at most {number} blocks are left");
        let proofs = ask(number, "return;");
        assert!(proofs[..2].iter().all(|proof| says(proof, &words)), "{number}: {proofs:?}");
        assert!(proofs[2].is_proved(), "{number}: {proofs:?}");
        let proofs = ask(number, "__asm__ volatile (\"nop\");");
        assert!(proofs.iter().all(Proof::is_proved), "{number}: {proofs:?}");
    }
    for number in [12345, (1 << 40) + 1] {
        for proof in &ask(number, "return;")[..2] {
            let Outcome::Unknown(why) = &proof.outcome else { panic!("{number}: {proof:?}") };
            assert!(why.contains("more than 1088 blocks one by one"), "{number}: {why}");
        }
    }
}
