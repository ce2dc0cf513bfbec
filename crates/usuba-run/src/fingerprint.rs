//! SHA-256 fingerprints of programs with their included files.

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
