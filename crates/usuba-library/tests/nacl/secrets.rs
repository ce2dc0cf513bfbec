//! Constant-time and zeroization tests: no branch and no address depends on secrets, and none of
//! them remains on the stack.

use std::path::{Path, PathBuf};
use std::process::Command;
use usuba_gen::asks;

use usuba::isa;
use usuba_library::{File, Request};
use usuba_run::cc::Family;

use crate::object::{STRICT, VARIANTS, compiler, curve, nacl, request, root, run, write, written};
use usuba_run::memcheck::{self, REQUESTS};

/// Calls of everything that has secrets, under valgrind.
const SECRETS: &str = include_str!("secrets.c");

/// Calls whose stack is compared.
const REMAINS: &str = include_str!("remains.c");

/// Instruction sets that valgrind runs: single messages, and multi-buffer functions.
const PLAIN: &[&str] = &["gp64"];
const WIDE: &[&str] = &["gp64", "avx2"];

/// The tested compilers and flags: in the short run one compiler at one level, and in the long
/// one all that are there, with every width of words.
fn builds() -> Vec<(PathBuf, Vec<&'static str>)> {
    let mut all = Vec::new();
    for family in [Family::Gcc, Family::Clang] {
        let Some(compiler) = compiler(family) else {
            println!("skipped: there is no {family:?}");
            continue;
        };
        for level in ["-O1", "-O2", "-O3", "-Os"] {
            for variant in VARIANTS {
                let flags = [&[level], variant].concat();
                if all.is_empty() || asks!("{family:?} with {}", flags.join(" ")) {
                    all.push((compiler.clone(), flags));
                }
            }
        }
    }
    all
}

/// A request for some instruction sets.
fn on(targets: &[&str]) -> Request {
    let find = |name: &&str| isa::find(name).expect("a target");
    Request { targets: targets.iter().map(find).collect(), ..request() }
}

/// NaCl for some instruction sets.
fn for_targets(targets: &[&str]) -> Vec<File> {
    written(&on(targets))
}

/// The reports of valgrind on the calls, of a library that `change` has changed.
fn reports(
    files: &[File],
    flags: &[&str],
    compiler: &Path,
    change: impl Fn(&str) -> String,
) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let changed = |file: &File| File { path: file.path.clone(), text: change(&file.text) };
    write(folder.path(), &files.iter().map(changed).collect::<Vec<_>>());
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    write(folder.path(), &[file("requests.h", REQUESTS), file("secrets.c", SECRETS)]);
    let mut compile = Command::new(compiler);
    // Where compilers forget the known value of a variable, it is in memory.
    let public = "-DUSUBA_PUBLIC(memory,length)=usuba_defined(memory,length)";
    compile.args(memcheck::LINES).args(flags);
    compile.args(["-include", "requests.h", public, "-o", "it"]);
    run(folder.path(), compile.args(["secrets.c", "usuba-nacl.c"]));
    memcheck::examined(&folder.path().join("it")).expect("it ends well")
}

/// In the long run also the multi-buffer functions; valgrind's processor has AVX2 if the real one
/// has.
#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    if let Err(why) = memcheck::valgrind() {
        return println!("skipped: {why}");
    }
    for targets in if asks!() { &[PLAIN, WIDE][..] } else { &[PLAIN] } {
        let files = for_targets(targets);
        for (compiler, mut flags) in builds() {
            // On wide registers there is one width of words only.
            if *targets == WIDE && flags.len() > 1 {
                continue;
            }
            flags.extend((*targets == WIDE).then_some("-DMANY=5"));
            let said = reports(&files, &flags, &compiler, str::to_string);
            assert!(said.is_empty(), "{compiler:?} {flags:?}: {said}");
        }
    }
}

/// An entry of the comb by its index, a branch on a byte of the product, and an early end of the
/// comparison of tags.
#[test]
fn planted_secrets_are_reported() {
    if let Err(why) = memcheck::valgrind() {
        return println!("skipped: {why}");
    }
    let Some(compiler) = compiler(Family::Any) else { return };
    let plants = [
        (
            "const usuba_word *from = usuba_comb[j][m];",
            "const usuba_word *from = usuba_comb[j][m ^ (index & 1)];",
            "usuba_point_base",
        ),
        (
            "usuba_copy(out, product, sizeof product);",
            "if (product[0]) usuba_copy(out, product, sizeof product);",
            "usuba_x25519",
        ),
        (
            "while (length--) difference |= ",
            "while (length-- && !difference) difference |= ",
            "usuba_nacl_compare",
        ),
    ];
    for (old, ..) in &plants {
        assert!(nacl().iter().any(|file| file.text.contains(old)), "{old}");
    }
    for (old, new, place) in &plants[..if asks!() { 3 } else { 1 }] {
        let change = |text: &str| text.replace(old, new);
        // At -O0 compilers keep every branch.
        let said = reports(nacl(), &["-O0"], &compiler, change);
        assert!(said.contains("uninitialised") && said.contains(place), "{new}: {said}");
    }
}

/// The bytes of the stack that differ after two calls which differ in their secret alone, for keys,
/// signing, X25519, X25519 of the base point, and both of many.
fn remains(files: &[File], flags: &[&str], compiler: &Path) -> Vec<usize> {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), files);
    write(folder.path(), &[File { path: "remains.c".into(), text: REMAINS.into() }]);
    // The subject is the library: the program around it has no variables in registers.
    run(folder.path(), Command::new(compiler).args(["-O0", "-c"]).args(STRICT).arg("remains.c"));
    let mut compile = Command::new(compiler);
    run(folder.path(), compile.args(["-o", "it"]).args(flags).args(["it.c", "remains.o"]));
    let text = run(folder.path(), &mut Command::new(folder.path().join("it")));
    text.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

/// Curve25519 with all instruction sets.
fn in_lanes() -> Vec<File> {
    let cipher = usuba_ciphers::read(&root().join("curve25519")).expect("the folder is there");
    let request = Request { targets: usuba_library::usual(), ..request() };
    usuba_library::single(&request, &cipher, Some("it")).expect("it compiles").files
}

#[test]
fn nothing_of_a_secret_is_left_on_the_stack() {
    for (compiler, flags) in builds() {
        assert_eq!(remains(curve(), &flags, &compiler), [0; 6], "{compiler:?} {flags:?}");
        if asks!() && flags.len() == 1 {
            let left = remains(&in_lanes(), &flags, &compiler);
            assert_eq!(left, [0; 6], "{compiler:?} {flags:?} in lanes");
        }
    }
    // The same without zeroization.
    for family in if asks!() { &[Family::Gcc, Family::Clang][..] } else { &[Family::Any] } {
        let Some(compiler) = compiler(*family) else { continue };
        let left = remains(curve(), &["-O1", "-DUSUBA_STACK=0"], &compiler);
        assert!(left.len() == 6 && left.iter().all(|&bytes| bytes > 32), "{left:?}");
    }
}
