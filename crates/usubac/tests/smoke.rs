//! Every experiment at its smallest, and every script.
//!
//! An experiment that is measured here has one cipher, slicing, target and compiler, or two stages. Steps
//! that are proved and counted are compiled, and measured in the share and in the whole run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use tempfile::TempDir;
use toml::{Table, Value};
use usuba_gen::{asks, level};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The names of the files of a folder with an ending.
fn names(folder: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut all: Vec<String> = entries.map(|entry| name(entry.expect("a file"))).collect();
    all.retain(|name| name.ends_with(ending));
    all.sort();
    all
}

/// A copy of the experiments, beside the programs that they name.
fn experiments() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("bench/experiments");
    copy(&root().join("bench/experiments"), &to);
    copy(&root().join("bench/published"), &folder.path().join("bench/published"));
    for name in ["ciphers", "arithmetic"] {
        copy(&root().join(name), &folder.path().join(name));
    }
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let from = entry.expect("a file").path();
        let to = to.join(from.file_name().expect("a name"));
        match from.is_dir() {
            true => copy(&from, &to),
            false => drop(fs::copy(&from, &to).expect("copied")),
        }
    }
}

fn usubac(folder: &Path, args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_usubac"));
    let output = command.args(args).current_dir(folder).output().expect("usubac runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{args:?}: {said}\n{errors}");
}

/// Ciphers with short kernels in V and in B; the instructions of each are counted one by one.
const SHORT: [&str; 2] = ["rectangle", "ascon"];

/// The smallest form of an experiment on ciphers or on stages.
fn smallest(experiment: &mut Table) {
    for list in ["ciphers", "targets", "compilers"] {
        let all = experiment.get(list).cloned();
        let Some(Value::Table(quick)) = experiment.get_mut("quick") else { continue };
        let few = quick.get(list).cloned().or(all);
        if let Some(Value::Array(mut few)) = few {
            let short = SHORT
                .iter()
                .find_map(|short| few.iter().position(|one| one.as_str() == Some(short)));
            let short = short.unwrap_or(0);
            few.swap(0, short);
            few.truncate(1);
            quick.insert(list.into(), Value::Array(few));
        }
    }
    if experiment.contains_key("ciphers") {
        let slicings = experiment.get("slicings").and_then(Value::as_array);
        let first = slicings.and_then(|all| all.first()).cloned().unwrap_or("V".into());
        experiment.insert("slicings".into(), Value::Array(vec![first]));
    }
    if let Some(Value::Array(stages)) = experiment.get_mut("stage") {
        // The first one is the clock of the others.
        let other = 1 + level::turn_of(stages.len() as u64 - 1) as usize;
        stages.swap(1, other);
        stages.truncate(2);
    }
    if let Some(Value::Array(builds)) = experiment.get_mut("build") {
        builds.truncate(1);
        // Published numbers name the other builds and stages.
        experiment.remove("published");
    }
    if experiment.contains_key("quick-calls") {
        experiment.insert("quick-calls".into(), Value::Integer(2_000));
    }
}

/// Compiles each node of each step.
fn steps(folder: &Path, steps: &[Value]) {
    let text = |step: &Value, key: &str| step.get(key).and_then(Value::as_str).map(String::from);
    for step in steps {
        let Some(source) = text(step, "source") else { continue };
        let flags = text(step, "flags").unwrap_or_default();
        let target = text(step, "target").unwrap_or("gp32".into());
        let nodes = step.get("nodes").and_then(Value::as_array).expect("nodes");
        for node in nodes.iter().map(|node| node.as_str().expect("a name")) {
            let mut args = vec![&*source, "-V", "--target", &target, "--entry", node, "-o", "-"];
            args.extend(flags.split_whitespace());
            usubac(folder, &args);
        }
    }
}

#[test]
fn every_experiment_runs() {
    if Command::new("gcc").arg("--version").output().is_err() {
        return println!("skipped: experiments need gcc");
    }
    let place = experiments();
    let folder = place.path().join("bench/experiments");
    for name in names(&folder, ".toml") {
        let start = Instant::now();
        let path = folder.join(&name);
        let text = fs::read_to_string(&path).expect("it can be read");
        let mut experiment: Table = text.parse().expect("TOML");
        if let (Some(Value::Array(all)), false) = (experiment.get("step"), asks!("{name}")) {
            steps(&folder, all);
            continue;
        }
        smallest(&mut experiment);
        fs::write(&path, experiment.to_string()).expect("written");
        let path = path.display().to_string();
        usubac(place.path(), &["bench", "--experiment", &path, "--quick", "--output", "out"]);
        let rows = place.path().join("out").join(name.replace(".toml", "-quick.rows.json"));
        let rows = fs::read_to_string(rows).expect("rows");
        assert!(rows.contains("\"value\":"), "{name} has no value: {rows}");
        println!("{name} took {:?}", start.elapsed());
    }
}

/// Scripts that measure for minutes are only read; `setup` has tests of its own.
#[test]
fn every_script_is_one() {
    let folder = root().join("scripts");
    for name in names(&folder, "") {
        let text = std::fs::read_to_string(folder.join(&name)).expect("a text");
        // `toolchains` is data of `setup`.
        if !text.starts_with("#!") {
            continue;
        }
        let status = Command::new("bash").arg("-n").arg(folder.join(&name)).status();
        assert!(status.expect("bash runs").success(), "{name}");
    }
}

/// The measurement of devices, on the functions of this host.
#[test]
fn a_host_stands_in_for_a_device() {
    let mut script = Command::new(root().join("scripts/gpu"));
    script.args(["--host", "prince"]).env("USUBAC", env!("CARGO_BIN_EXE_usubac"));
    let output = script.output().expect("bash runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && errors.is_empty(), "{said}\n{errors}");
    for name in ["prince_encrypt_V", "prince_decrypt_B", "prince_encrypt_B_search"] {
        let row = said.lines().find(|line| line.starts_with(&format!("usuba_{name} ")));
        assert!(row.is_some_and(|row| row.ends_with('%')), "{name}: {said}");
    }
    let mut unknown = Command::new(root().join("scripts/gpu"));
    unknown.args(["--host", "poly1305"]).env("USUBAC", env!("CARGO_BIN_EXE_usubac"));
    let output = unknown.output().expect("bash runs");
    assert!(!output.status.success(), "it has no function for threads");
    assert!(text(&output.stderr).contains("no function of `poly1305`"), "{}", text(&output.stderr));
}

/// The folder that a machine with a device and without compilers measures.
#[test]
fn a_folder_of_images_is_complete() {
    if Command::new("clang++-19").arg("--version").output().is_err() {
        eprintln!("skipped a_folder_of_images_is_complete: there is no clang++-19");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let images = folder.path().join("images");
    for flag in ["--compile", "--measure"] {
        let output = Command::new(root().join("scripts/gpu")).arg(flag).arg(folder.path()).output();
        let output = output.expect("bash runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.starts_with("gpu: found "), "{flag}: {said}");
    }
    let mut script = Command::new(root().join("scripts/gpu"));
    script.arg("--compile").arg(&images).arg("prince");
    let output = script.env("USUBAC", env!("CARGO_BIN_EXE_usubac")).output().expect("bash runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let list = fs::read_to_string(images.join("images")).expect("a list");
    assert_eq!(list.lines().collect::<Vec<_>>(), ["./usuba_prince.ptx", "./usuba_prince.so"]);
    for file in list.lines().chain(["measure"]) {
        assert!(images.join(file).is_file(), "{file}");
    }
}

/// A driver in the shape of the ones that `scripts/drivers` runs: it prints a result, and writes a file.
const DRIVER: &str = r#"
#include <stdio.h>
#include "toy.c"
int main(void)
{
    DATATYPE x = 0x12345678, y;
    FILE *file = fopen("out.txt", "w");
    toy__(x, &y);
    printf("%08x\n0 0 %u %u\n", (unsigned)y, (unsigned)y, (unsigned)~x);
    fprintf(file, "%08x", (unsigned)y);
    return fclose(file) || WRONG;
}
"#;

/// `scripts/drivers` with checkouts that are made up here, and a record of them.
#[test]
fn drivers_run_beside_a_checkout() {
    if Command::new("gcc").arg("--version").output().is_err() {
        return println!("skipped: drivers need gcc");
    }
    let place = tempfile::tempdir().expect("a folder");
    let run = |folder: &Path, words: &[&str]| {
        let mut script = Command::new(root().join("scripts/drivers"));
        script.args(words.iter().filter(|word| **word == "--write")).arg(folder);
        script.args(words.iter().filter(|word| **word != "--write")).env("CC", "gcc");
        script.env("USUBAC", env!("CARGO_BIN_EXE_usubac"));
        // Folders of temporary files may refuse programs.
        script.env("CARGO_TARGET_DIR", env!("CARGO_TARGET_TMPDIR"));
        let output = script.env("RECORD", place.path().join("record")).output().expect("bash runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let write = |name: &str, text: &str| {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    let line = |cipher: &str, flags: &str, build: &str, check: &str, wanted: &str| {
        let driver = "usuba/checks/toy";
        let program = "examples/toy.ua";
        format!("{cipher}|V|std|{program}|{flags}|{driver}|toy.c|{build}|{check}|{wanted}|\n")
    };
    let lines = [
        line("toy", "-V --target std -no-share", "-DWRONG=0 main.c", "exit", "right"),
        line("toy", "-V --target std", "-DWRONG=0 main.c", "prints edcba987", "right"),
        line("toy", "-V --target std", "-DWRONG=0 main.c", "columns 1", "right"),
        line("toy", "-V --target std", "-DWRONG=0 main.c", "like -O1 -DWRONG=0 main.c", "right"),
        line("toy", "-V --target std", "-DWRONG=0 main.c", "speed", "runs"),
        line("toy", "-V --target std", "-DWRONG=0 main.c", "silent", "wrong"),
        line("toy", "-V -masked", "-DWRONG=0 main.c", "masked", "refused"),
        line("toy", "-V --target std", "-DWRONG=0 missing.c", "exit", "no program"),
        line("other", "-V --target std", "-DWRONG=1 main.c", "exit", "right"),
    ];
    write("record", &lines.concat());
    let (status, _, said) = run(place.path(), &[]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.starts_with("drivers: found `") && said.contains("expected a folder"), "{said}");
    write("usuba/checks/toy/main.c", DRIVER);
    write("examples/toy.ua", "node toy (x:u32) returns (y:u32) let y = ~x tel");
    let (status, told, said) = run(place.path(), &["toy"]);
    assert_eq!(status, Some(0), "{told}{said}");
    assert!(!told.contains("the record says"), "{told}");
    for count in ["4 right", "1 runs", "1 refused", "1 wrong", "1 no program"] {
        assert!(told.lines().last().is_some_and(|last| last.contains(count)), "{count}: {told}");
    }
    let (status, told, said) = run(place.path(), &["other"]);
    assert_eq!(status, Some(1), "{told}{said}");
    assert!(told.contains("wrong, the record says: right"), "{told}");
    assert!(said.starts_with("drivers: 1 of them do less than "), "{said}");
    let (status, _, said) = run(place.path(), &["none"]);
    assert!(status == Some(2) && said.starts_with("drivers: found `none`"), "{said}");
    let (status, _, said) = run(place.path(), &["--write"]);
    assert_eq!(status, Some(0), "{said}");
    let record = fs::read_to_string(place.path().join("record")).expect("a record");
    assert!(record.starts_with("# run: ") && record.contains("|exit|wrong|\n"), "{record}");
    assert_eq!(run(place.path(), &[]).0, Some(0));
}
