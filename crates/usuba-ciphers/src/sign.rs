//! The schema of signatures from hash functions: `[[sign]]` in `cipher.toml`, and their test vectors.
//!
//! ```toml
//! [[sign]]
//! name   = "slh_dsa_sha2_128s"
//! mode   = "slh-dsa"
//! hashes = "sha2"
//! n      = 16
//! layers = 7
//! height = 9
//! trees  = 14
//! depth  = 12
//! chain  = "wots_sha256_16"
//! ```

use serde::Deserialize;

use super::hash::chained;
use super::{Cipher, Function, vectors};
/// Bytes of the longest digest of a message.
const DIGEST: usize = 64;

/// A parameter set of a signature scheme whose hash functions required folders have.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// The C name.
    pub name: String,
    pub mode: SignMode,
    pub hashes: Hashes,
    /// Bytes of a hash: 16, 24 or 32.
    pub n: usize,
    /// Layers of the hypertree, and the height of a tree in each.
    pub layers: usize,
    pub height: usize,
    /// FORS trees, and their height.
    pub trees: usize,
    pub depth: usize,
    /// The function of this folder from a secret, and from the shared beginning of all hashes of a
    /// chain, to the end of the chain.
    pub chain: String,
    /// The file of test vectors, in the folder.
    pub vectors: String,
}

/// The construction of a signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignMode {
    /// NIST FIPS 205, with WOTS+ of 16 values a digit.
    SlhDsa,
}

/// The hash functions of a signature.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hashes {
    /// SHA-256, and SHA-512 beside it where hashes are longer than 16 bytes.
    Sha2,
    /// SHAKE256.
    Shake,
}

impl Sign {
    /// Bytes of a signature (FIPS 205, section 9.2).
    pub fn bytes(&self) -> usize {
        let layer = self.digits() + self.height;
        (1 + self.trees * (1 + self.depth) + self.layers * layer) * self.n
    }

    /// Digits of a message and of its checksum.
    pub fn digits(&self) -> usize {
        2 * self.n + 3
    }

    /// The hash functions that it calls, by their names in C.
    pub fn functions(&self) -> &'static [&'static str] {
        match (self.hashes, self.n) {
            (Hashes::Sha2, 16) => &["sha256"],
            (Hashes::Sha2, _) => &["sha256", "sha512"],
            (Hashes::Shake, _) => &["shake256"],
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// One sentence on the parameter that is out of range.
    pub fn check(&self, functions: &[Function]) -> Result<(), String> {
        let Sign { name, n, layers, height, trees, depth, chain, .. } = self;
        let bytes = |bits: usize| bits.div_ceil(8);
        let ranges = [
            ("layers", *layers, 1, 32),
            ("height", *height, 1, 20),
            ("trees", *trees, 1, 40),
            ("depth", *depth, 1, 20),
        ];
        if ![16, 24, 32].contains(n) {
            return Err(format!("sign `{name}` has `n` = {n}, expected 16, 24 or 32"));
        }
        for (field, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                return Err(format!(
                    "sign `{name}` has `{field}` = {value}, expected {least} to {most}"
                ));
            }
        }
        let above = (layers - 1) * height;
        if above > 64 {
            return Err(format!(
                "sign `{name}` has trees numbered with {above} bits, expected at most 64; help: \
                 choose smaller `layers` or `height`"
            ));
        }
        if bytes(trees * depth) + bytes(above) + bytes(*height) > DIGEST {
            return Err(format!(
                "sign `{name}` has a digest of more than {DIGEST} bytes; help: choose smaller \
                 `trees` or `depth`"
            ));
        }
        chained(functions, chain).map_err(|error| format!("sign `{name}` names {error}"))
    }
}

/// One test vector of a signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignVector {
    /// The random bytes of the keys: SK.seed, SK.prf and PK.seed.
    pub seed: Vec<u8>,
    /// PK.seed and PK.root.
    pub public_key: Vec<u8>,
    /// Nothing in vectors of keys alone.
    pub signed: Option<Signed>,
}

/// A message with the SHA-256 of its signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signed {
    /// `None` for the internal function.
    pub context: Option<Vec<u8>>,
    /// The number of the hash function whose hash the message is.
    pub prehash: Option<u8>,
    pub message: Vec<u8>,
    /// Empty for the deterministic variant.
    pub random: Vec<u8>,
    pub digest: Vec<u8>,
}

impl Cipher {
    /// The test vectors of a signature.
    ///
    /// # Errors
    /// The file cannot be read, a line is malformed, or there are no vectors in it.
    pub fn signs_of(&self, sign: &Sign) -> Result<Vec<SignVector>, String> {
        self.read_vectors(&sign.vectors, vectors::signs)
    }
}
