//! The schema of signatures from hash functions: `[[sign]]` in `cipher.toml`.
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

use super::Function;
use super::hash::chained;
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

    /// Checks the parameters, and that the folder needs the hash functions.
    ///
    /// # Errors
    /// One sentence on the parameter that is out of range, or on the function that is missing.
    pub fn check(
        &self,
        functions: &[Function],
        is_needed: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
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
        if let Some(function) = self.functions().iter().find(|function| !is_needed(function)) {
            return Err(format!(
                "sign `{name}` calls `{function}`, which `needs` lacks; help: add the folder that has \
                 it, as in `needs = [\"folder:{function}\"]`"
            ));
        }
        chained(functions, chain).map_err(|error| format!("sign `{name}` names {error}"))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn wrong_parameters_are_refused_in_one_sentence() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers/slh_dsa");
        let path = folder.join("cipher.toml");
        let text = std::fs::read_to_string(&path).expect("cipher.toml");
        for (right, wrong, expected) in [
            ("n       = 16", "n       = 17", "`n` = 17, expected 16, 24 or 32"),
            ("layers  = 7", "layers  = 0", "`layers` = 0, expected 1 to 32"),
            ("layers  = 7", "layers  = 9", "numbered with 72 bits, expected at most 64; help"),
            ("height  = 9", "height  = 4294967296", "`height` = 4294967296, expected 1 to 20"),
            ("trees   = 14", "trees   = 41", "`trees` = 41, expected 1 to 40"),
            ("trees   = 14", "trees   = 40", "a digest of more than 64 bytes; help"),
            ("depth   = 12", "depth   = 0", "`depth` = 0, expected 1 to 20"),
            (
                "\"wots_sha256_16\"\nvectors = \"vectors/slh",
                "\"wots\"\nvectors = \"vectors/slh",
                "names `wots`, which is no",
            ),
            ("\"sha2:sha512\", ", "", "calls `sha512`, which `needs` lacks; help: add the folder"),
            ("\"keccak:shake256\"", "\"keccak:sha3_256\"", "calls `shake256`, which `needs` lacks"),
        ] {
            let changed = text.replacen(right, wrong, 1);
            assert_ne!(changed, text, "{right}");
            let message = crate::parse(&path, &changed).expect_err(wrong);
            assert!(message.contains(expected), "{message}");
        }
        let whole = text.replacen("\"sha2:sha256\", \"sha2:sha512\"", "\"sha2\"", 1);
        crate::parse(&path, &whole).expect("a whole folder has its functions");
    }
}
