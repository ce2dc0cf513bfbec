//! The text files of the repository, in memory: the input of every rule.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One text file.
#[derive(Clone, Debug)]
pub struct File {
    /// Relative to the root of the repository, with `/` between its parts.
    pub path: String,
    pub text: String,
}

/// All text files, sorted by path. Tests build one from a few lines.
#[derive(Clone, Default, Debug)]
pub struct Repo {
    /// Where the files lie; empty in tests.
    pub root: PathBuf,
    pub files: Vec<File>,
}

/// Something that breaks a rule.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    pub path: String,
    /// Counted from 1; 0 when the finding is about the whole file.
    pub line: usize,
    /// The error and its remedy.
    pub what: String,
}

impl Finding {
    pub fn new(path: &str, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: path.to_string(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

impl Repo {
    /// Reads the repository that this program was built in.
    ///
    /// # Errors
    /// A folder or file that cannot be read.
    pub fn load() -> io::Result<Repo> {
        Repo::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
    }

    /// Reads the repository in a folder.
    ///
    /// # Errors
    /// A folder or file that cannot be read.
    pub fn of(root: &Path) -> io::Result<Repo> {
        let root = root.canonicalize()?;
        let mut files = Vec::new();
        read_folder(&root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Repo { root, files })
    }

    /// A repository of a few files, for tests of the rules.
    pub fn sample(files: &[(&str, &str)]) -> Repo {
        let file = |&(path, text): &(&str, &str)| File { path: path.into(), text: text.into() };
        Repo { root: PathBuf::new(), files: files.iter().map(file).collect() }
    }

    /// The file at `path`.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files whose path starts with `prefix` and ends with `suffix`.
    pub fn matching<'a>(
        &'a self,
        prefix: &'a str,
        suffix: &'a str,
    ) -> impl Iterator<Item = &'a File> + 'a {
        let fits = move |file: &&File| file.path.starts_with(prefix) && file.path.ends_with(suffix);
        self.files.iter().filter(fits)
    }

    /// The Rust files of the workspace; Rust files of cipher folders are data.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.matching("", ".rs").filter(|file| !file.path.starts_with("ciphers/"))
    }
}

/// Reads every text file below `folder`, except for the files that cargo and git write, and files
/// that are not UTF-8.
fn read_folder(folder: &Path, prefix: &str, out: &mut Vec<File>) -> io::Result<()> {
    // Cargo marks its build folders with this file, in every place.
    if folder.join("CACHEDIR.TAG").is_file() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if path != ".git" && path != "build" && path != "target" {
                read_folder(&entry.path(), &format!("{path}/"), out)?;
            }
        } else if kind.is_file()
            && path != ".git"
            && let Ok(text) = String::from_utf8(fs::read(entry.path())?)
        {
            out.push(File { path, text });
        }
    }
    Ok(())
}
