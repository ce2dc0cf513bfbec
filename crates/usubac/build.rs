//! Collects `docs/errors/*.md` into one list, so that a new page needs no list to be edited.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let pages = root.join("../../docs/errors");
    println!("cargo::rerun-if-changed={}", pages.display());
    let mut names: Vec<String> = fs::read_dir(&pages)
        .expect("docs/errors can be listed")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".md"))
        .collect();
    names.sort();
    let mut text = String::from("&[\n");
    for name in names {
        let path = pages.join(&name);
        let code = name.trim_end_matches(".md");
        writeln!(text, "({code:?}, include_str!({path:?})),").expect("strings grow");
    }
    text.push_str("]\n");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("pages.rs"), text).expect("OUT_DIR can be written");
}
