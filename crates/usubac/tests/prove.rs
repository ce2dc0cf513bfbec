//! `--prove`: what is said, and that output does not depend on it.

use std::path::Path;
use std::process::{Command, Output};

fn usubac(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
    command.args(args).current_dir(dir).output().expect("usubac runs")
}

const PROGRAM: &str = "node g (x:u16) returns (y:u16) let y = (x <<< 5) ^ ~x tel
node f (a:u16, k:const u16[8]) returns (b:u16)
vars s:u16[9]
let
  s[0] = a;
  forall i in [0,7] { s[i+1] = g(s[i]) ^ k[i] }
  b = s[8]
tel";

#[test]
fn all_passes_of_a_compilation_are_proved() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("f.ua"), PROGRAM).expect("written");
    for flags in [&["-V"][..], &["-B"], &["-V", "-unroll"], &["-V", "-interleave", "2"]] {
        let plain = usubac(dir.path(), &[&["f.ua", "-o", "-"], flags].concat());
        let proved = usubac(dir.path(), &[&["f.ua", "-o", "-", "--prove"], flags].concat());
        assert!(proved.status.success(), "{flags:?}");
        assert_eq!(plain.stdout, proved.stdout, "{flags:?}");
        let text = String::from_utf8(proved.stderr).expect("UTF-8");
        let count = text.strip_prefix("proved: ").and_then(|rest| rest.split(' ').next());
        let count: usize = count.and_then(|n| n.parse().ok()).expect("a number of passes");
        assert!(count > 5 && text.contains("times as long"), "{text}");
    }
}

#[test]
fn a_single_pass_can_be_proved() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("f.ua"), PROGRAM).expect("written");
    let flags = ["f.ua", "-O0", "--prove", "--skip", "interleave", "-o", "f.c"];
    let output = usubac(dir.path(), &flags);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(text.starts_with("proved: 1 pass, "), "{text}");
    assert!(dir.path().join("f.c").exists());
}
