//! The version of the program: with the commit, if `scripts/archive` or a package names it.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=USUBAC_COMMIT");
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let commit = env::var("USUBAC_COMMIT").ok().or_else(|| packaged(Path::new(&root)));
    let commit = commit.unwrap_or_default();
    let is_hash = commit.len() >= 12 && commit.chars().all(|c| c.is_ascii_hexdigit());
    match is_hash {
        true => println!("cargo::rustc-env=USUBAC_VERSION={version} ({})", &commit[..12]),
        false => println!("cargo::rustc-env=USUBAC_VERSION={version}"),
    }
}

/// The commit in the record that `cargo package` writes.
fn packaged(root: &Path) -> Option<String> {
    let path = root.join(".cargo_vcs_info.json");
    let text = fs::read_to_string(path).ok()?;
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    rest.split_once('"').map(|(commit, _)| commit.to_string())
}
