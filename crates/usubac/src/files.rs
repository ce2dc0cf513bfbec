//! Input files: reads programs and finds their includes.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use usuba::diag::{FileId, Sources};
use usuba::syntax::splice::Loader;
use usuba_ciphers::files as built_in;

use crate::Failure;
use crate::output::plain;

/// The maximal size of a program; an endless device is not read until memory is full.
const LARGEST: u64 = 256 << 20;

/// The name of standard input in messages.
const STDIN: &str = "<stdin>";

/// The text of a file.
pub struct Text {
    pub name: String,
    pub text: String,
    /// Whether invalid UTF-8 was replaced.
    pub lossy: bool,
}

/// Reads a file, or standard input for `-`.
pub fn read(path: &Path) -> Result<Text, Failure> {
    let stdin = path == Path::new("-");
    let name = if stdin { STDIN.to_string() } else { path.display().to_string() };
    let bytes = if stdin { bytes(io::stdin().lock()) } else { content(path) };
    let bytes = bytes
        .map_err(|error| Failure::program(format!("cannot read {name}: {}", plain(&error))))?;
    let (text, lossy) = decode(&bytes);
    Ok(Text { name, text, lossy })
}

/// The content of a file, on disk or in the program.
fn content(path: &Path) -> io::Result<Vec<u8>> {
    match built_in::is_built_in(path) {
        true => built_in::read_to_string(path).map(String::into_bytes),
        false => fs::File::open(path).and_then(bytes),
    }
}

fn bytes(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("it is larger than {} MiB", LARGEST >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Invalid UTF-8 becomes replacement characters, which the lexer reports at their place unless they
/// are in a comment. A byte order mark is dropped.
fn decode(bytes: &[u8]) -> (String, bool) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_string(), false),
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
    }
}

/// Adds the program's file to `sources`, with a loader for its includes.
pub fn open(
    sources: &mut Sources,
    path: &Path,
    dirs: &[PathBuf],
) -> Result<(FileId, IncludeLoader), Failure> {
    let text = read(path)?;
    let mut loader = IncludeLoader { dirs: dirs.to_vec(), names: HashMap::new() };
    if let Ok(real) = built_in::canonical(path) {
        loader.names.insert(real, text.name.clone());
    }
    Ok((sources.add(text.name, text.text), loader))
}

/// Finds includes on disk: next to the including file, then in each directory in order.
pub struct IncludeLoader {
    dirs: Vec<PathBuf>,
    /// The name under which a real file was first read. Messages show names in the user's notation,
    /// and a file that is reached on two paths is read once.
    names: HashMap<PathBuf, String>,
}

impl IncludeLoader {
    /// A loader that finds the files of a program again, under the names that they have there.
    pub fn of(sources: &Sources, dirs: &[PathBuf]) -> IncludeLoader {
        let real = |name: &String| Some((built_in::canonical(Path::new(name)).ok()?, name.clone()));
        let names = sources.files.iter().filter_map(|file| real(&file.name)).collect();
        IncludeLoader { dirs: dirs.to_vec(), names }
    }
}

impl Loader for IncludeLoader {
    fn load(&mut self, including: &str, path: &str) -> Result<(String, String), String> {
        let beside = Path::new(including).parent().unwrap_or(Path::new("")).to_path_buf();
        let dirs = std::iter::once(beside).chain(self.dirs.iter().cloned());
        let mut tried = Vec::new();
        for dir in dirs {
            let candidate = dir.join(path);
            match built_in::canonical(&candidate) {
                Ok(real) if built_in::is_file(&real) => {
                    let name = candidate.display().to_string();
                    let name = self.names.entry(real.clone()).or_insert(name).clone();
                    let bytes = content(&real)
                        .map_err(|error| format!("{name} cannot be read: {}", plain(&error)))?;
                    return Ok((name, decode(&bytes).0));
                }
                _ => tried.push(candidate.display().to_string()),
            }
        }
        Err(format!("there is no file {}", tried.join(" or ")))
    }
}
