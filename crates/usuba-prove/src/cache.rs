//! Proof cache: one small file for each earlier proof, so that a second run takes seconds.
//!
//! The file name hashes every dependency of a proof: the text, the flags, the usubac build and the
//! C compilers. The cache stores proved claims only, so a failed proof is tried again.
//!
//! A cached object proof states that the bytes with this hash compute the program. This remains
//! true if the compiler changes. The cache checks that the compiler's files are unchanged, not that
//! it still produces the same bytes; `--check` recompiles.

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

/// The folder of the proof cache; `None` disables it.
pub struct Cache {
    folder: Option<PathBuf>,
    /// The fingerprint of this usubac build.
    build: String,
}

impl Cache {
    /// `folder` comes from the command line; without it, the cache lies in the user's cache folder.
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

    /// The cached record of a cell. `objects` identifies the source of its objects.
    pub fn find(&self, cell: &Cell, direct: bool, objects: &str) -> Option<Record> {
        let path = self.path(cell, direct, objects)?;
        let record = parse(&path, &fs::read_to_string(&path).ok()?).ok()?;
        Some(Record { target: cell.options.target.name.to_string(), ..record })
    }

    /// Stores a proof. A write error is ignored: the proof runs again next time.
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

/// The folder `name` in the user's cache folder of usubac.
pub fn home(name: &str) -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    Some(base.or_else(home)?.join("usubac").join(name))
}

/// The fingerprint of this usubac: two builds of one version may differ.
pub fn this_build() -> Option<String> {
    let file = std::env::current_exe().and_then(fs::metadata).ok()?;
    let time = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", env!("CARGO_PKG_VERSION"), file.len(), time.as_nanos()))
}
