//! The choices of `--target native`.

use std::fs;
use std::process::Command;

const LONG: &str = "node f (x,y:u52) returns (z:u52)\nlet\n  z = x * y\ntel";
const SHORT: &str = "node f (x,y:u64) returns (z:u64)\nlet\n  z = x ^ y\ntel";

/// The target that the C of a program names.
fn target(program: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("f.ua"), program).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_usubac"))
        .args(["f.ua", "--target", "native", "-o", "-"])
        .current_dir(folder.path())
        .output()
        .expect("usubac runs");
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    let line = text.lines().find_map(|line| line.strip_prefix(" * Target: "));
    line.and_then(|line| line.split(',').next()).expect("a line on the target").to_string()
}

#[cfg(target_arch = "x86_64")]
fn multiplies_long_words() -> bool {
    is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("gfni")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
fn multiplies_long_words() -> bool {
    false
}

#[test]
fn products_of_52_bits_are_there_for_who_has_such_words() {
    assert_eq!(target(LONG) == "avx512_ifma", multiplies_long_words());
    assert_ne!(target(SHORT), "avx512_ifma");
}
