//! SHA-256 fingerprints of programs with their included files, and of executables.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use sha2::{Digest, Sha256};
use usuba::diag::Sources;
pub use usuba_ciphers::to_hex as hex;

/// The SHA-256 hash of a program and its included files.
pub fn fingerprint(sources: &Sources) -> String {
    let mut hash = Sha256::new();
    for file in &sources.files {
        hash.update((file.text.len() as u64).to_le_bytes());
        hash.update(file.text.as_bytes());
    }
    hex(&hash.finalize())
}

/// The SHA-256 hash of the content of a file; `None` if it cannot be read.
pub fn of_file(path: &Path) -> Option<String> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).ok()?);
    let mut hash = Sha256::new();
    loop {
        let part = file.fill_buf().ok()?;
        if part.is_empty() {
            return Some(hex(&hash.finalize()));
        }
        hash.update(part);
        let length = part.len();
        file.consume(length);
    }
}
