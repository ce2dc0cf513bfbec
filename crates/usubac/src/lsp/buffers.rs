//! Open files, and the files that programs include: from a buffer if there is one, else from disk.
//!
//! A file has the name of its real path, so that it is the same file however it is reached. A buffer
//! that is no file, such as an unsaved one, has its URI as its name.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use usuba_ciphers::files as built_in;
use usuba_ide::Loader;
use usuba_ide::lines::{Lines, Place};

use crate::files;

/// The characters of a path that a URI has as they are.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// An open file.
#[derive(Clone)]
pub struct Buffer {
    /// As the editor wrote it.
    pub uri: String,
    pub version: i32,
    pub text: Arc<str>,
}

/// All open files by their names, and the folders of included ones. Copies share the texts.
#[derive(Clone, Default)]
pub struct Buffers {
    open: BTreeMap<String, Buffer>,
    pub folders: Vec<PathBuf>,
}

impl Buffers {
    /// Opens a file, or replaces its text.
    pub fn open(&mut self, uri: &str, version: i32, text: &str) {
        let buffer = Buffer { uri: uri.to_string(), version, text: text.into() };
        self.open.insert(name(uri), buffer);
    }

    /// Replaces the text between two places, or the whole text. Nothing happens to files that are
    /// not open.
    pub fn edit(&mut self, uri: &str, version: i32, range: Option<(Place, Place)>, new: &str) {
        let Some(buffer) = self.open.get_mut(&name(uri)) else { return };
        buffer.version = version;
        let Some((from, to)) = range else {
            buffer.text = new.into();
            return;
        };
        let lines = Lines::new(&buffer.text);
        let from = lines.offset(&buffer.text, from);
        let to = lines.offset(&buffer.text, to).max(from);
        buffer.text = [&buffer.text[..from], new, &buffer.text[to..]].concat().into();
    }

    pub fn close(&mut self, uri: &str) {
        self.open.remove(&name(uri));
    }

    pub fn get(&self, name: &str) -> Option<&Buffer> {
        self.open.get(name)
    }

    /// The names of all open files.
    pub fn names(&self) -> Vec<String> {
        self.open.keys().cloned().collect()
    }

    /// The URI of a file.
    pub fn uri(&self, name: &str) -> String {
        match self.open.get(name) {
            Some(buffer) => buffer.uri.clone(),
            None => format!("file://{}", utf8_percent_encode(name, PLAIN)),
        }
    }

    /// The programs in some folders that are not open and include files, by name and text. The
    /// search ends after `most` files and folders.
    pub fn closed(&self, folders: &[PathBuf], most: usize) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut next: Vec<PathBuf> = folders.to_vec();
        for _ in 0..most {
            let Some(path) = next.pop() else { break };
            let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
            if folders.contains(&path) || path.is_dir() && !hidden && !path.is_symlink() {
                next.extend(built_in::entries(&path).unwrap_or_default());
            } else if path.extension() == Some("ua".as_ref()) {
                let name = real(&path).display().to_string();
                let text = files::read(&path).map(|read| read.text).unwrap_or_default();
                if text.contains("include") && !self.open.contains_key(&name) {
                    found.push((name, text));
                }
            }
        }
        found
    }
}

impl Loader for &Buffers {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let beside = Path::new(including).parent().unwrap_or(Path::new("")).to_path_buf();
        let mut tried = Vec::new();
        for folder in std::iter::once(&beside).chain(&self.folders) {
            let file = real(&folder.join(path));
            let name = file.display().to_string();
            if let Some(buffer) = self.open.get(&name) {
                return Ok((name, buffer.text.to_string()));
            }
            if built_in::is_file(&file) {
                let read = files::read(&file)
                    .map_err(|failure| failure.text().unwrap_or("it cannot be read").to_string())?;
                return Ok((name, read.text));
            }
            tried.push(name);
        }
        Err(format!("there is no file {}", tried.join(" or ")))
    }
}

/// The path of a URI of a file.
pub fn path(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    // file:///c:/ciphers
    let drive = path.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if drive { &path[1..] } else { &path }))
}

/// The name of the file of a URI.
pub fn name(uri: &str) -> String {
    match path(uri) {
        Some(path) => real(&path).display().to_string(),
        None => uri.to_string(),
    }
}

/// The one spelling of a path, also if there is no such file.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = built_in::canonical(path) {
        return real;
    }
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name() {
        let buffers = Buffers::default();
        let uri = "file:///usr/no%20folder/../b%C3%A9.ua";
        assert_eq!(name(uri), "/usr/bé.ua");
        assert_eq!(name(&buffers.uri("/usr/bé.ua")), "/usr/bé.ua");
        assert_eq!(name("untitled:1"), "untitled:1");
    }

    #[test]
    fn edits_are_clamped() {
        let mut buffers = Buffers::default();
        buffers.open("untitled:1", 1, "ab\ncd");
        let place = |line, column| Place { line, column };
        buffers.edit("untitled:1", 2, Some((place(0, 1), place(1, 9))), "x");
        buffers.edit("untitled:1", 3, Some((place(7, 0), place(0, 0))), "y");
        let buffer = buffers.get("untitled:1").expect("it is open");
        assert_eq!((&*buffer.text, buffer.version), ("axy", 3));
    }
}
