//! Collects the files below `data` into one list, sorted by path, so that a new file needs no list
//! to be edited.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Endings of embedded files. References in Rust, certificates and records of tuning stay outside.
const ENDINGS: [&str; 7] = ["ua", "toml", "txt", "md", "h", "c", "json"];

/// Folders that a checkout may have and that belong to its user.
const LEFT_OUT: [&str; 2] = ["proof", "tuned"];

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("data");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let mut files: Vec<(String, &PathBuf)> = files
        .iter()
        .map(|file| {
            let below = file.strip_prefix(&root).expect("it was found below the root");
            let parts = below.iter().map(|part| part.to_str().expect("names are UTF-8"));
            (parts.collect::<Vec<_>>().join("/"), file)
        })
        .collect();
    files.sort();
    let mut text = String::from("&[\n");
    for (name, file) in files {
        writeln!(text, "({name:?}, include_str!({file:?})),").expect("strings grow");
    }
    text.push_str("]\n");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("files.rs"), text).expect("OUT_DIR can be written");
}

/// The embedded files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("the data can be listed") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !LEFT_OUT.contains(&&*name) && !name.starts_with('.') {
                collect(&path, files);
            }
        } else if ENDINGS.contains(&&*ending) {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
}
