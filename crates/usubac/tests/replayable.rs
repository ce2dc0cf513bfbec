//! `usubac prove --certificates` and `usubac verify` on folders: certificates, and changes of them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use usuba::isa;
use usuba_run::cc::{Family, Foreign, find_foreign};

const PROGRAM: &str = "\
table S (x:v3) returns (y:v3) { 1, 0, 3, 6, 7, 4, 5, 2 }

node mix (a:u16[3], k:const u16[3]) returns (b:u16[3])
let
  (b[0], b[1], b[2]) = S(a[0] ^ k[0], a[1] <<< 3, a[2] + k[2])
tel
";

fn usubac(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
    command.args(arguments.split(' ')).current_dir(folder).output().expect("usubac runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// Whether there is a compiler for RV32IM.
fn has_compiler() -> bool {
    let target = isa::find("gp32").expect("a target");
    let found = find_foreign(target, Foreign::Riscv, Family::Gcc);
    found.map_err(|skip| println!("{skip}")).is_ok()
}

/// A folder with the program and its certificates.
fn certified() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("mix")).expect("a folder");
    fs::write(dir.path().join("mix/mix.ua"), PROGRAM).expect("written");
    let made = usubac(dir.path(), "prove mix/mix.ua -V --certificates c");
    assert!(made.status.success(), "{}", said(&made));
    dir
}

#[test]
fn folders_of_certificates_are_replayed() {
    if !has_compiler() {
        return;
    }
    let dir = certified();
    // It is complete without the program.
    fs::remove_dir_all(dir.path().join("mix")).expect("removed");
    let replayed = usubac(dir.path(), "verify c");
    assert!(replayed.status.success(), "{}", said(&replayed));
    assert!(said(&replayed).contains("mix/mix.ua, mix in V, and "), "{}", said(&replayed));
    assert!(said(&replayed).contains("1 of 1 certificate replayed"), "{}", said(&replayed));
    let json = usubac(dir.path(), "verify c --format json");
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("one object");
    assert_eq!(json["replayed"], true);
}

#[test]
fn a_changed_field_of_a_list_is_refused() {
    if !has_compiler() {
        return;
    }
    let dir = certified();
    let path = dir.path().join("c/certificates.toml");
    let right = fs::read_to_string(&path).expect("a list");
    let mut fields = 0;
    for (at, line) in right.lines().enumerate() {
        let Some((name, value)) = line.split_once(" = ") else { continue };
        for new in ["\"mix\"", "\"V\"", "\"B\"", "\"../mix\"", "\"/\"", "\"\"", "2", "true"] {
            if new == value {
                continue;
            }
            let mut lines: Vec<&str> = right.lines().collect();
            let changed = format!("{name} = {new}");
            lines[at] = &changed;
            fs::write(&path, lines.join("\n")).expect("written");
            let output = usubac(dir.path(), "verify c");
            assert_eq!(output.status.code(), Some(1), "{changed}: {}", said(&output));
        }
        fields += 1;
    }
    assert!(fields >= 8, "{fields} fields");
    for row in ["copies = 3\n", "copies = 0\n", "more = 1\n", "reading = \"-q\"\n"] {
        let name = row.split(' ').next().unwrap_or(row);
        let others = right.lines().filter(|line| !line.starts_with(name));
        let others: String = others.map(|line| format!("{line}\n")).collect();
        fs::write(&path, format!("{others}{row}")).expect("written");
        let output = usubac(dir.path(), "verify c");
        assert_eq!(output.status.code(), Some(1), "{row}: {}", said(&output));
    }
    fs::write(&path, format!("\ncertificate = {}\n", "[".repeat(100_000))).expect("written");
    let output = usubac(dir.path(), "verify c");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(output.stderr.len() < 300 && said(&output).contains("line 2: "), "{}", said(&output));
    let packed = "packed = true\n";
    let changed = match right.contains(packed) {
        true => right.replace(packed, ""),
        false => format!("{right}{packed}"),
    };
    fs::write(&path, changed).expect("written");
    let output = usubac(dir.path(), "verify c");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
}

#[test]
fn changed_files_of_a_folder_are_refused() {
    if !has_compiler() {
        return;
    }
    let dir = certified();
    let folder = dir.path().join("c/mix");
    for file in folder.read_dir().expect("a folder") {
        let path = file.expect("a file").path();
        let right = fs::read(&path).expect("a file");
        let last = right.len() - 1;
        let changes: [Vec<u8>; 4] = [
            [&right[..last], &[right[last] ^ 1]].concat(),
            right[..last].to_vec(),
            [&right[..], b"\n"].concat(),
            Vec::new(),
        ];
        for changed in changes {
            fs::write(&path, changed).expect("written");
            let output = usubac(dir.path(), "verify c");
            assert_eq!(output.status.code(), Some(1), "{}: {}", path.display(), said(&output));
            assert!(said(&output).contains("REFUSED: "), "{}: {}", path.display(), said(&output));
        }
        fs::write(&path, right).expect("written");
    }
    assert!(usubac(dir.path(), "verify c").status.success());
}

#[test]
fn flags_that_do_not_fit_certificates_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("mix.ua"), PROGRAM).expect("written");
    for (flags, why) in [
        ("--target avx2", "help: --target gp32"),
        ("--cc gcc", "help: --cc riscv-gcc"),
        ("--binary", "cannot be used with"),
    ] {
        let output = usubac(dir.path(), &format!("prove mix.ua -V --certificates c {flags}"));
        assert!(said(&output).contains(why), "{flags}: {}", said(&output));
        assert!(!output.status.success() && !dir.path().join("c").exists(), "{flags}");
    }
    let output = usubac(dir.path(), "prove mix.ua -V --certificates .");
    assert!(said(&output).contains("name a folder that does not exist"), "{}", said(&output));
}
