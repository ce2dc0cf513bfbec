//! `usubac new`: every command that it prints runs, for each kind, and its files agree.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use usuba_gen::asks;

/// Runs a command with `usubac` on the path: whether it succeeded, and both outputs together.
fn run(folder: &Path, command: &str) -> (bool, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_usubac"));
    let mut path = program.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let mut words = command.split_whitespace();
    let output = Command::new(words.next().expect("a command"))
        .args(words)
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap_or_else(|error| panic!("{command}: {error}"));
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).expect("UTF-8"))
}

fn good(folder: &Path, command: &str) -> String {
    let (success, text) = run(folder, command);
    assert!(success, "{command}: {text}");
    text
}

/// Whether the command exists.
fn has(name: &str) -> bool {
    Command::new(name).arg("--version").output().is_ok()
}

/// Runs the printed commands for a kind; `shown` is a line of the program in C.
fn printed_commands_run(kind: &str, shown: &str) {
    let dir = tempfile::tempdir().expect("a folder");
    let text = good(dir.path(), &format!("usubac new pebble --like {kind}"));
    let (_, next) = text.split_once("next:\n").expect("commands");
    let commands: Vec<&str> = next.lines().map(str::trim).collect();
    assert_eq!(commands.len(), 3, "{text}");
    let mut outputs = String::new();
    for command in commands {
        outputs += &good(dir.path(), command);
    }
    for part in [" by the reference semantics", shown, "on gp64: PROVED"] {
        assert!(outputs.contains(part), "no {part}: {outputs}");
    }
    good(dir.path(), "make -C pebble clean test");
    assert!(!dir.path().join("pebble/build").exists());
}

#[test]
fn a_block_cipher_is_tested_called_and_proved() {
    printed_commands_run("block", "8ac7ae6e59cfefb510ca171b26bee5e5 and back\n");
}

#[test]
fn a_permutation_is_tested_called_and_proved() {
    printed_commands_run("permutation", "\n");
}

#[test]
fn a_stream_cipher_is_tested_called_and_proved() {
    printed_commands_run("stream", " and back\n");
}

#[test]
fn a_hash_function_is_tested_called_and_proved() {
    printed_commands_run("hash", "\n");
}

#[test]
fn every_size_agrees_with_its_reference() {
    let sizes: [(&str, &[u16]); 4] = [
        ("block", &[64, 128, 256]),
        ("permutation", &[64, 128, 256]),
        ("stream", &[256, 512, 1024]),
        ("hash", &[256, 512]),
    ];
    let dir = tempfile::tempdir().expect("a folder");
    for (kind, sizes) in sizes {
        for bits in sizes {
            let name = format!("{kind}{bits}");
            if bits != &sizes[0] && !asks!("{name}") {
                continue;
            }
            good(dir.path(), &format!("usubac new {name} --like {kind} --bits {bits}"));
            good(dir.path(), &format!("usubac fmt --check {name}/{name}.ua"));
            good(dir.path(), &format!("usubac test {name} --all-functions --target gp64"));
            // A slicing that a target lacks is an error, and so is a wrong vector.
            let targets = if asks!("{name}, all targets") { "" } else { " --target sse" };
            good(dir.path(), &format!("usubac dist {name} -o built{targets}"));
            if has("python3") {
                let before = vectors(&dir.path().join(&name));
                good(dir.path(), &format!("make -C {name} vectors"));
                assert_eq!(before, vectors(&dir.path().join(&name)), "{name}");
            }
        }
    }
}

/// The vectors of a folder by their files.
fn vectors(folder: &Path) -> Vec<(String, String)> {
    let files = fs::read_dir(folder.join("vectors")).expect("vectors").map(|entry| {
        let path = entry.expect("an entry").path();
        (path.display().to_string(), fs::read_to_string(path).expect("a text"))
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

#[test]
fn mistakes_are_one_clear_error_and_leave_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("there")).expect("made");
    for (command, part) in [
        ("usubac new there", "cannot make the folder there: it exists\n  help: "),
        ("usubac new above/pebble", "the folder above it does not exist"),
        ("usubac new Pebble-2", "help: write `usubac new pebble_2`"),
        ("usubac new 2fish", "help: write `usubac new fish`"),
        ("usubac new a/7", "help: write `usubac new a/my`"),
        ("usubac new match", "help: write `usubac new my_match`"),
        ("usubac new ..", "found the name ``, expected lower-case letters"),
        (
            "usubac new pebble --bits 80",
            "found --bits 80, expected one of 64, 128, 256 for a block",
        ),
    ] {
        let (success, text) = run(dir.path(), command);
        assert!(!success && text.contains(part), "{command}: {text}");
        assert_eq!(text.matches("error").count(), 1, "{command}: {text}");
    }
    let left = fs::read_dir(dir.path()).expect("a folder").count();
    assert_eq!((left, fs::read_dir(dir.path().join("there")).expect("made").count()), (1, 0));
}
