//! The files for VS Code are valid: JSON, the script, and the settings that it sends. Vim indents
//! lines as the formatter does, and reads the places of errors.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

fn editors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors")
}

fn folder() -> PathBuf {
    editors().join("vscode")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).expect("a file")
}

fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_manifest_names_files_of_the_extension() {
    let package = json("package.json");
    let parts = &package["contributes"];
    let files =
        [&package["main"], &parts["languages"][0]["configuration"], &parts["grammars"][0]["path"]];
    for file in files.map(|file| file.as_str().expect("a path")) {
        assert!(folder().join(file).is_file(), "{file}");
        if file.ends_with(".json") {
            json(file);
        }
    }
    let grammar = json("syntaxes/usuba.tmLanguage.json");
    assert_eq!(grammar["scopeName"], parts["grammars"][0]["scopeName"]);
    let known = &grammar["repository"];
    for pattern in grammar["patterns"].as_array().expect("patterns") {
        let name = pattern["include"].as_str().expect("a name").trim_start_matches('#');
        assert!(known.get(name).is_some(), "{name}");
    }
}

/// The script sends each declared setting except the path of the server.
#[test]
fn the_script_sends_the_settings() {
    let package = json("package.json");
    let properties = &package["contributes"]["configuration"]["properties"];
    let properties = properties.as_object().expect("properties");
    let mut names: Vec<&str> =
        properties.keys().map(|key| key.split('.').nth(1).expect("a name")).collect();
    names.retain(|name| *name != "path");
    names.sort_unstable();
    names.dedup();
    let script = text("extension.js");
    let sent = script.split("return {").nth(1).and_then(|rest| rest.split('}').next());
    let mut sent: Vec<&str> = sent.expect("an object").split(',').map(str::trim).collect();
    sent.sort_unstable();
    assert_eq!(names, sent);
}

#[test]
fn the_script_parses() {
    let node = std::env::var_os("NODE").unwrap_or_else(|| "node".into());
    let script = folder().join("extension.js");
    match Command::new(&node).arg("--check").arg(script).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        Err(_) => println!("skipped: there is no Node.js to read extension.js"),
    }
}

/// Runs commands of Vim on a file; false, with a line that says so, where there is no Vim with
/// scripts.
fn vim(file: &Path, commands: &[&str]) -> bool {
    let version = Command::new("vim").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("+eval")) {
        println!("skipped: there is no Vim with scripts");
        return false;
    }
    let path = format!("set runtimepath^={}", editors().join("vim").display());
    let mut command = Command::new("vim");
    command.args(["-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "--cmd", &path]);
    command.args(["--cmd", "filetype plugin indent on"]);
    for line in commands {
        command.args(["-c", line]);
    }
    let status =
        command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).status().expect("vim runs");
    assert!(status.success(), "{commands:?}: {status}");
    true
}

/// Every line that Vim indents anew stays where the formatter put it.
#[test]
fn vim_indents_as_the_formatter() {
    let text = "\
# Lists, contracts, loops and alternatives.
type limbs = u64x2 in [0, 2^51), [0, 2^51), [0, 2^51), [0, 2^51), [0, 2^51), [0, 2^51), [0, 2^51),
    [0, 2^51)

table sbox (x:v3) returns (y:v3)
  { 0, 1, 2, 3,
    4, 5, 6, 7 }

node add (a,b:limbs)
    returns (r:limbs)
requires a[0] < 5
ensures r[0] == a[0] + b[0]
    mod 2^64
vars t: u8,
     s: u8
let
  # A loop.
  forall i in [0,3] {
    t[i] = f(a[i],
        b[i]);
    s[i] = a[i]
        ^ b[i]
        ^ t[i]
  }
  r = (t,
       s);
  y = t
tel

_no_inline node[] g (x:u8) returns (y:u8) [
  vars t: u8
  let
    y = x
  tel;
  let y = ~x tel
]
";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.ua");
    let flat: Vec<&str> = text
        .lines()
        .map(|line| if line.contains('#') { line } else { line.trim_start() })
        .collect();
    fs::write(&file, flat.join("\n") + "\n").expect("written");
    if vim(&file, &["normal! gg=G", "wq"]) {
        assert_eq!(fs::read_to_string(&file).expect("a text"), text);
    }
}

#[test]
fn vim_reads_the_places_of_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.ua");
    fs::write(&file, "node f (x:u8) returns (y:u8)\nlet\n  y = z\ntel\n").expect("written");
    let list = folder.path().join("list");
    let program = Path::new(env!("CARGO_BIN_EXE_usubac")).display().to_string();
    let make = format!("let &makeprg = substitute(&makeprg, 'usubac', '{program}', '')");
    let write = "call writefile(map(getqflist(), \
                 'v:val.lnum . \":\" . v:val.col . \" \" . v:val.type . \" \" . v:val.text'), 'LIST')";
    let write = write.replace("LIST", &list.display().to_string());
    if vim(&file, &[&make, "silent make", &write, "qa!"]) {
        let list = fs::read_to_string(&list).expect("the list of errors");
        assert_eq!(list, "3:7 e `z` is not defined in node `f`\n");
    }
}
