//! SHA-256 fingerprints: programs with everything that they include.

use sha2::{Digest, Sha256};
use usuba::diag::Sources;
pub use usuba_ciphers::to_hex as hex;

/// Names texts by what is in them: the program and all that it includes.
pub fn fingerprint(sources: &Sources) -> String {
    let mut hash = Sha256::new();
    for file in &sources.files {
        hash.update((file.text.len() as u64).to_le_bytes());
        hash.update(file.text.as_bytes());
    }
    hex(&hash.finalize())
}
