//! Names of the program in generated C: none clashes, and none is reserved there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use usuba::emit::names;

/// Names that C compilers, headers or the generated text could take, and pairs that are alike.
#[rustfmt::skip] // One group, one paragraph.
const NASTY: &[&str] = &[
    "__asm__", "__attribute__", "__typeof__", "__int128", "_Float16", "__x86_64__", "__AVX2__",
    "NULL", "__m256i", "_mm_add", "_mm256_xor_si256", "uint32_t", "INT8_MAX", "errno", "linux",
    "double", "double_", "return", "random", "select", "creal", "f_n_g", "x'", "x_q", "x_uq", "x__q",
    "v1", "v1_", "u_x", "_x", "vaddq_u8", "top_rotl32_3", "top_n_x_qV32", "y",
    // The first is also the name that passes give to the second instance of a port `a`.
    "a''2", "a",
];

fn usubac(dir: &Path, args: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
    let output = command.args(args.split(' ')).current_dir(dir).output().expect("usubac runs");
    assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Every nasty name is a node that is not inlined, a parameter and a local, and the entry in turn.
#[test]
fn any_name_of_the_language_compiles() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let mut text = String::new();
    for (k, name) in NASTY.iter().enumerate() {
        let (x, out) = (NASTY[(k + 1) % NASTY.len()], NASTY[(k + 2) % NASTY.len()]);
        text += &format!("_no_inline node {name} ({x}:u32) returns ({out}:u32)\n");
        text += &format!("let\n  {out} = ({x} <<< 3) ^ {k}\ntel\n");
    }
    let sum: Vec<String> = NASTY.iter().map(|name| format!("{name}({name})")).collect();
    let sum = sum.join(" ^ ");
    text += &format!("node top ({}:u32) returns (z:u32) let z = {sum} tel\n", NASTY.join(","));
    fs::write(dir.join("p.ua"), &text).expect("written");
    let flags = [
        "--target std",
        "--target avx2 --interleave 2",
        "--target sse --wipe",
        "--target std --abi usubac",
    ];
    let entries = NASTY.iter().zip(flags.iter().cycle());
    let entries = entries.chain(flags.iter().map(|flags| (&"top", flags))).enumerate();
    let mut files = Vec::new();
    for (k, (entry, flags)) in entries {
        usubac(
            dir,
            &format!("p.ua -V -D warnings {flags} --entry {entry} -o {k}.c --header {k}.h"),
        );
        files.push(format!("{k}.c"));
    }
    usubac(dir, "generate headers -o .");
    let strict = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-mavx2", "-I."];
    let output = Command::new("gcc").args(strict).args(files).current_dir(dir).output();
    match output {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr))
        }
        Err(error) => eprintln!("skipped: gcc: {error}"),
    }
}

/// Every word of the headers of a kernel can be the name of an entry and of a parameter.
#[test]
fn words_of_headers_compile() {
    for (compiler, header) in [("gcc", "immintrin.h"), ("aarch64-linux-gnu-gcc", "arm_neon.h")] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("t.c");
        let mut text = format!("#include <stdint.h>\n#include <{header}>\n");
        fs::write(&file, &text).expect("written");
        let run = |flags: &[&str]| Command::new(compiler).args(flags).arg(&file).output();
        let mut words = BTreeSet::new();
        for flags in [&["-E", "-P"][..], &["-E", "-dM"]] {
            let Ok(output) = run(flags) else { continue };
            let output = String::from_utf8(output.stdout).expect("headers are UTF-8");
            let apart = |c: char| !c.is_ascii_alphanumeric() && c != '_';
            let is_name =
                |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            words.extend(output.split(apart).filter(is_name).map(str::to_string));
        }
        println!("{compiler}: {} words", words.len());
        for word in words {
            let (entry, parameter) =
                (names::identifier("", &word), names::parameter(&word, "f", &[]));
            text += &format!("uint32_t {entry}(uint32_t *{parameter}, uint32_t *v0);\n");
        }
        fs::write(&file, text).expect("written");
        if let Ok(output) = run(&["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]) {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// `f()` would declare a function with any parameters.
#[test]
fn functions_without_parameters_have_prototypes() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "_no_inline node c () returns (z:u32) let z = 7 tel\n\
                node f (x:u32) returns (y:u32) let y = x ^ c() tel\n";
    fs::write(folder.path().join("f.ua"), text).expect("written");
    usubac(folder.path(), "f.ua -V -D warnings --entry f -o f.c");
    let text = fs::read_to_string(folder.path().join("f.c")).expect("it is there");
    assert!(text.contains("f_n_c_qV32(void)\n"), "{text}");
}
