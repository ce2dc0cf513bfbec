//! The schema of hash functions: `[[hash]]` in `cipher.toml`.
//!
//! ```toml
//! [[hash]]
//! name   = "sha256"
//! mode   = "merkle-damgard"
//! chain  = "sha256_compress"
//! start  = "6a09e667…"
//! output = 32
//! ```

use serde::Deserialize;
use usuba::names::did_you_mean;

use super::{Cipher, Function, KeyedHash, values};

/// A hash function around a function of this folder that is applied to its own results.
///
/// The input of that function is a chaining value and a block of the message; its output is the
/// next chaining value.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hash {
    /// The C name.
    pub name: String,
    pub mode: HashMode,
    /// The name of a function of this folder.
    pub chain: String,
    /// The first chaining value; in mode `skein` the one for an output of a block without a key.
    #[serde(default, deserialize_with = "values::bytes")]
    pub start: Vec<u8>,
    /// Bytes of a hash, if there is no choice; in mode `kangaroo-twelve` bytes of a leaf's hash.
    #[serde(default)]
    pub output: usize,
    /// In modes `sponge`, `xof` and `cxof` the byte behind the message, and the byte that is added to the last one of its
    /// last block.
    #[serde(default)]
    pub suffix: u8,
    #[serde(default = "last_byte")]
    pub last: u8,
    /// The file of test vectors, in the folder.
    pub vectors: String,
}

/// The construction of a hash function around its blocks: padding, parameters, output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HashMode {
    /// The padding of Merkle and Damgård as in FIPS 180-4: a bit, zeros, and the length in bits as
    /// a big-endian number in the last eighth of a block.
    MerkleDamgard,
    /// Skein 1.3: the chaining value is a state and, in the 16 bytes behind it, a tweak, which the
    /// function leaves as the tweak of the next block.
    Skein,
    /// A sponge function: a block is added to the beginning of the state before the permutation, and
    /// the hash is the beginning of the last state.
    Sponge,
    /// The same with outputs of any length.
    Xof,
    /// The same with a customization string, as CXOF128 of NIST SP 800-232.
    Cxof,
    /// cSHAKE of NIST SP 800-185.
    Cshake,
    /// KMAC and KMACXOF of NIST SP 800-185.
    Kmac,
    /// TurboSHAKE of RFC 9861.
    #[serde(rename = "turboshake")]
    TurboShake,
    /// KT128 and KT256 of RFC 9861.
    KangarooTwelve,
}

impl HashMode {
    /// Whether a block is added to a state.
    pub fn is_sponge(self) -> bool {
        !matches!(self, HashMode::MerkleDamgard | HashMode::Skein)
    }
}

impl Hash {
    /// Whether it has HMAC, for which a hash is no longer than a block (RFC 2104).
    pub fn has_hmac(&self, block: usize) -> bool {
        matches!(self.mode, HashMode::MerkleDamgard | HashMode::Sponge) && self.output <= block
    }
}

/// Multi-rate padding ends with a bit in the last byte of a block.
fn last_byte() -> u8 {
    0x80
}

/// Checks that `chain` names a function from a chaining value and a block to a chaining value.
///
/// # Errors
/// It does not; the rest of a sentence that begins with the place of the name.
pub fn chained(functions: &[Function], chain: &str) -> Result<(), String> {
    let named = functions.iter().find(|function| function.name == *chain);
    if named.is_some_and(|function| function.key.is_none() && function.inputs.len() == 2) {
        return Ok(());
    }
    let names = functions.iter().map(|function| function.name.as_str());
    let help = did_you_mean(chain, names.filter(|name| *name != chain));
    let help = help.map_or(String::new(), |near| format!("; help: {near}"));
    Err(format!("`{chain}`, which is no function of a chaining value and a block{help}"))
}

impl Cipher {
    /// Whether a hash function, a signature or a tag is made of this function, or of another one that
    /// computes the same.
    pub fn is_chained(&self, function: &Function) -> bool {
        let same = |other: &&Function| {
            (&other.vectors, other.direction) == (&function.vectors, function.direction)
        };
        let mut alike = self.functions.iter().filter(same);
        let chains = || {
            let hashes = self.hashes.iter().map(|hash| &hash.chain);
            let signs = self.signs.iter().map(|sign| &sign.chain);
            let keyed = self.seals.iter().flat_map(|seal| &seal.hash);
            hashes.chain(signs).chain(keyed.flat_map(KeyedHash::chains))
        };
        alike.any(|function| chains().any(|chain| *chain == function.name))
    }
}
