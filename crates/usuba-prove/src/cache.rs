//! What was proved before, so that a second run takes seconds: one small file for each proof.
//!
//! A file is named by everything that a proof depends on: the text, the flags, the usubac that made
//! it, and the compilers of objects. Only proofs are kept, so whatever went wrong is tried again.
//!
//! What is kept of an object is that the bytes with this hash compute the program, which stays true
//! whatever a compiler does. That the compiler would make the same bytes today is not known, only
//! that its files are the same; `--check` compiles.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};
use usuba_run::fingerprint::hex;

use crate::cell::Cell;
use crate::certificate::Record;

/// Reads `text`, the content of the cache record at `path`.
///
/// # Errors
/// The text is no record; the message has the place.
pub fn parse(path: &Path, text: &str) -> Result<Record, String> {
    usuba_ciphers::toml(path, text)
}

/// Where proofs are kept; `None` keeps nothing.
pub struct Cache {
    folder: Option<PathBuf>,
    /// Which usubac this is.
    build: String,
}

impl Cache {
    /// `folder` is what the command line says; without it, that of the user's caches.
    pub fn new(folder: Option<PathBuf>, off: bool) -> Cache {
        let folder = if off { None } else { folder.or_else(|| home("proofs")) };
        match this_build() {
            Some(build) => Cache { folder, build },
            None => Cache { folder: None, build: String::new() },
        }
    }

    fn path(&self, cell: &Cell, direct: bool, objects: &str) -> Option<PathBuf> {
        let slicing = format!("{:?}", cell.options.slicing);
        let entry = cell.options.entry.clone().unwrap_or_default();
        let mut hash = Sha256::new();
        for text in [
            &self.build,
            &cell.sha256,
            &cell.program,
            &entry,
            &cell.reading,
            &cell.flags,
            &slicing,
            &cell.options.target.name.to_string(),
            &direct.to_string(),
            &objects.to_string(),
        ] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        Some(self.folder.as_ref()?.join(hex(&hash.finalize())))
    }

    /// What was proved of a cell before. `objects` says where its objects come from.
    pub fn find(&self, cell: &Cell, direct: bool, objects: &str) -> Option<Record> {
        let path = self.path(cell, direct, objects)?;
        let record = parse(&path, &fs::read_to_string(&path).ok()?).ok()?;
        Some(Record { target: cell.options.target.name.to_string(), ..record })
    }

    /// Keeps a proof. What cannot be kept is proved again.
    pub fn keep(&self, cell: &Cell, direct: bool, objects: &str, record: &Record) {
        let Some(path) = self.path(cell, direct, objects) else { return };
        let text = toml::to_string(record).expect("strings and numbers");
        let folder = path.parent().expect("a file in a folder");
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        let kept = fs::create_dir_all(folder)
            .and_then(|()| fs::write(&temporary, text))
            .and_then(|()| fs::rename(&temporary, &path));
        if kept.is_err() {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// The folder `name` among the user's caches of usubac.
pub fn home(name: &str) -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    Some(base.or_else(home)?.join("usubac").join(name))
}

/// Which usubac this is: a build of the same version may be another program.
pub fn this_build() -> Option<String> {
    let file = std::env::current_exe().and_then(fs::metadata).ok()?;
    let time = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", env!("CARGO_PKG_VERSION"), file.len(), time.as_nanos()))
}
