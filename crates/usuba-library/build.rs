//! Collects `ciphers/*/reference.rs` and `ciphers/*/oracle.rs` for the tests, so that a cipher is
//! one folder and no list.

use std::path::Path;
use std::{env, fs};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut folders: Vec<_> = match fs::read_dir(&root) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => Vec::new(),
    };
    folders.sort();
    let mut text = String::new();
    for (file, signature) in [("reference", "-> Vec<u8>"), ("oracle", "-> Option<Vec<u8>>")] {
        let mut arms = String::new();
        for folder in &folders {
            let path = folder.join(format!("{file}.rs"));
            if !path.is_file() {
                continue;
            }
            let name = folder.file_name().unwrap_or_default().to_string_lossy().replace('-', "_");
            text += &format!("#[path = {:?}]\nmod {name}_{file};\n", path.display().to_string());
            arms += &format!("        {name:?} => {name}_{file}::{file}(function, key, input),\n");
        }
        let rest = if file == "reference" {
            "        _ => panic!(\"{cipher} has no reference.rs\"),\n"
        } else {
            "        _ => None,\n"
        };
        text += &format!(
            "pub fn {file}(cipher: &str, function: &str, key: &[u8], input: &[u8]) {signature} {{\n    \
             match cipher {{\n{arms}{rest}    }}\n}}\n"
        );
    }
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("ciphers.rs"), text).expect("the output folder can be written");
}
