//! Files of folders, and files that the program contains, under one kind of path.
//!
//! ```text
//! mine/pebble/pebble.ua             a file
//! <built-in>/ciphers/aes/aes.ua     a text in the program, from the crate `usuba_data`
//! ```
//!
//! Includes and `cipher.toml` name their neighbours by relative paths; `..` is resolved in the text
//! of a built-in path, which has no links.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// The first part of the path of a built-in file.
const BUILT_IN: &str = "<built-in>";

/// The folder of the built-in cipher folders.
pub fn ciphers() -> PathBuf {
    Path::new(BUILT_IN).join("ciphers")
}

/// The folder of the built-in experiments.
pub fn experiments() -> PathBuf {
    Path::new(BUILT_IN).join("bench/experiments")
}

/// Whether a path leads into the program.
pub fn is_built_in(path: &Path) -> bool {
    path.starts_with(BUILT_IN)
}

/// The name of a built-in file in `usuba_data`; `None` for other paths.
fn inside(path: &Path) -> Option<String> {
    let rest = path.strip_prefix(BUILT_IN).ok()?;
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            part => parts.push(part.as_os_str().to_str()?),
        }
    }
    Some(parts.join("/"))
}

/// The one spelling of a path: two paths of one file are equal, if the file is there.
///
/// # Errors
/// There is no such file or folder.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    match inside(path) {
        Some(name) => Ok(Path::new(BUILT_IN).join(name)),
        None => fs::canonicalize(path),
    }
}

/// The text of a file.
///
/// # Errors
/// The file is missing or cannot be read.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let Some(name) = inside(path) else { return fs::read_to_string(path) };
    let missing = || io::Error::new(ErrorKind::NotFound, "no such built-in file");
    usuba_data::find(&name).map(str::to_string).ok_or_else(missing)
}

/// Whether there is a file at a path.
pub fn is_file(path: &Path) -> bool {
    match inside(path) {
        Some(name) => usuba_data::find(&name).is_some(),
        None => path.is_file(),
    }
}

/// Whether there is a folder at a path.
pub fn is_folder(path: &Path) -> bool {
    match inside(path) {
        Some(name) => usuba_data::below(&name).next().is_some(),
        None => path.is_dir(),
    }
}

/// The paths of the entries of a folder, sorted.
///
/// # Errors
/// The folder is missing or cannot be read.
pub fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    if let Some(name) = inside(folder) {
        for (path, _) in usuba_data::below(&name) {
            let first = path[name.len() + 1..].split('/').next().unwrap_or_default();
            paths.push(folder.join(first));
        }
        paths.dedup();
        return match paths.is_empty() {
            true => Err(io::Error::new(ErrorKind::NotFound, "no such built-in folder")),
            false => Ok(paths),
        };
    }
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

/// The files below a built-in folder, sorted.
pub fn below(folder: &Path) -> Vec<PathBuf> {
    let name = inside(folder).unwrap_or_default();
    usuba_data::below(&name).map(|(path, _)| Path::new(BUILT_IN).join(path)).collect()
}

/// A C file that a compiler can read: the file itself, or a copy of a built-in one in `scratch`, with
/// the headers beside it.
///
/// # Errors
/// The file is missing, or the copy cannot be written.
pub fn on_disk(path: &Path, scratch: &Path) -> io::Result<PathBuf> {
    if !is_built_in(path) {
        return fs::canonicalize(path);
    }
    let copy = |path: &Path| {
        let copy = scratch.join(path.file_name().unwrap_or_default());
        fs::write(&copy, read_to_string(path)?).map(|()| copy)
    };
    let beside = entries(path.parent().unwrap_or(Path::new("")))?;
    for header in beside.iter().filter(|file| file.extension() == Some("h".as_ref())) {
        copy(header)?;
    }
    fs::canonicalize(copy(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_files_are_found_over_their_neighbours() {
        let skein = ciphers().join("skein");
        let path = skein.join("../threefish/threefish.ua");
        assert!(is_file(&path) && is_folder(&skein) && !is_file(&skein));
        assert_eq!(canonical(&path).expect("a path"), ciphers().join("threefish/threefish.ua"));
        let text = read_to_string(&path).expect("it is built in");
        assert!(text.contains("Threefish"));
        let names = entries(&skein).expect("it is built in");
        assert!(
            names.contains(&skein.join("cipher.toml")) && names.contains(&skein.join("vectors"))
        );
        assert!(!is_folder(&ciphers().join("ske")) && entries(&ciphers().join("ske")).is_err());
    }
}
