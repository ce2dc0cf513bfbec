//! Subjects of commands as cipher folders: a folder by its path, a program or description in a
//! folder, or a name below the folder of all ciphers.
//!
//! ```text
//! mine/pebble   mine/pebble/pebble.ua   .   rectangle   rectangle80_encrypt
//! ```

use std::fs;
use std::path::Path;

use usuba_ciphers::Cipher;

use crate::Failure;
use crate::output::plain;

/// The ciphers of subjects, each folder once; names are looked up below `root`.
pub fn read(root: &Path, subjects: &[String]) -> Result<Vec<Cipher>, Failure> {
    let mut all: Vec<Cipher> = Vec::new();
    for text in subjects {
        let found = one(root, text)?;
        if all.iter().all(|other| other.folder != found.folder) {
            all.push(found);
        }
    }
    Ok(all)
}

fn one(root: &Path, text: &str) -> Result<Cipher, Failure> {
    let path = Path::new(text);
    let folder = match path.parent() {
        Some(parent) if path.is_file() && parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) if path.is_file() => parent,
        _ => path,
    };
    let is_path = folder != path || path.components().count() != 1 || text == "." || text == "..";
    if folder.join("cipher.toml").is_file() {
        // Folders such as `.` have no name of their own.
        let full = || fs::canonicalize(folder).map_err(|error| cannot(text, &plain(&error)));
        let named = folder.file_name().is_some();
        let folder = if named { folder.to_path_buf() } else { full()? };
        return usuba_ciphers::read(&folder).map_err(Failure::Program);
    }
    if is_path {
        let why =
            if folder.is_dir() { "there is no cipher.toml" } else { "there is no such folder" };
        return Err(cannot(
            text,
            &format!("{why}; help: `usubac new NAME` writes a cipher folder"),
        ));
    }
    usuba_ciphers::named(root, text).map_err(Failure::Program)
}

fn cannot(text: &str, why: &str) -> Failure {
    Failure::program(format!("cannot read the cipher {text}: {why}"))
}
