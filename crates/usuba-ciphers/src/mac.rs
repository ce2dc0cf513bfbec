//! The schema of message authentication codes: `[[mac]]` in `cipher.toml`.
//!
//! ```toml
//! [[mac]]
//! name   = "aes128_cmac"
//! mode   = "cmac"
//! cipher = "aes128"
//! key    = 16
//! ```

use serde::Deserialize;

/// A message authentication code from a block cipher that a required folder has.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mac {
    /// The C name.
    pub name: String,
    pub mode: MacMode,
    /// The name of the block cipher, with blocks of 16 bytes.
    pub cipher: String,
    /// Bytes of a key.
    pub key: usize,
    /// The file of test vectors, in the folder: `key`, `in`, and `out`, which is the tag.
    pub vectors: String,
}

/// The construction of a message authentication code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MacMode {
    /// NIST SP 800-38B.
    Cmac,
}
