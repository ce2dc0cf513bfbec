//! The files for VS Code are valid: JSON, the script, and the settings that it sends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode")
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
