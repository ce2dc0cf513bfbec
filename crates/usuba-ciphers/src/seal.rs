//! The schema of authenticated encryption: `[[seal]]` in `cipher.toml`.
//!
//! ```toml
//! [[seal]]
//! name   = "chacha20poly1305"
//! mode   = "rfc8439"
//! stream = "chacha20"
//! nonce  = 12
//! ```

use serde::Deserialize;
use usuba::names::did_you_mean;

use super::Function;
use super::hash::chained;

/// Authenticated encryption from a keystream and Poly1305, which required folders have, or from
/// permutations of this folder.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// The C name.
    pub name: String,
    pub mode: SealMode,
    /// The name of a function that makes the key from the user's key and the beginning of the
    /// nonce, if there is one.
    pub first: Option<String>,
    /// The name of a keystream; in mode `ascon` there is none.
    pub stream: Option<String>,
    /// In mode `ascon`.
    pub duplex: Option<Duplex>,
    /// In modes `gcm` and `gcm-siv`.
    pub hash: Option<KeyedHash>,
    /// In mode `xaes`, the authenticated encryption whose key is derived.
    pub inner: Option<String>,
    /// Bytes of the key, in the modes of block ciphers.
    pub key: Option<usize>,
    /// Bytes of the nonce.
    pub nonce: usize,
    /// Bytes of the tag, in modes `ccm` and `ocb`; see [`Seal::tag_bytes`].
    pub tag: Option<usize>,
    /// The file of test vectors, in the folder.
    pub vectors: String,
}

/// The functions of this folder that authenticated encryption consists of, on a state.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duplex {
    /// The first bytes of the first state, before the key and the nonce.
    #[serde(deserialize_with = "super::values::bytes")]
    pub start: Vec<u8>,
    /// The permutation at the beginning and at the end, and the one between blocks.
    pub long: String,
    pub short: String,
    /// Several blocks of a text behind the state, which is permuted after each, into the next state
    /// and the ciphertext; and of a ciphertext into the text.
    pub seal: String,
    pub open: String,
}

impl Duplex {
    /// Its functions.
    pub fn functions(&self) -> [&String; 4] {
        [&self.long, &self.short, &self.seal, &self.open]
    }
}

/// The functions of this folder that a hash function with a key consists of.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyedHash {
    /// From a key, which is a block, to its prepared form.
    pub prepare: String,
    /// From a state with the prepared key behind it, and a block of the message, to the next ones.
    pub chain: String,
    /// The same for eight blocks, whose state has the powers of the key behind its prepared form: from
    /// the first to the eighth, the first 16 bytes of the prepared form of each.
    pub wide: Option<String>,
}

impl KeyedHash {
    /// The functions from a state and blocks to the next state.
    pub fn chains(&self) -> impl Iterator<Item = &String> {
        [&self.chain].into_iter().chain(&self.wide)
    }
}

impl Seal {
    /// Checks that it has the parts of its mode, and that functions of this folder are there.
    ///
    /// # Errors
    /// One sentence on the part.
    pub fn check(&self, functions: &[Function]) -> Result<(), String> {
        let Seal { name, mode, first, stream, duplex, hash, inner, key, tag, .. } = self;
        let (label, wanted) = (mode.label(), mode.parts());
        let parts = [
            ("stream", stream.is_some()),
            ("duplex", duplex.is_some()),
            ("hash", hash.is_some()),
            ("inner", inner.is_some()),
            ("key", key.is_some()),
            ("first", first.is_some()),
            ("tag", tag.is_some()),
        ];
        let is_wanted = |part: &str| wanted.contains(&part);
        let may = |part: &str| part == "first" && is_wanted("stream") && !is_wanted("key");
        if let Some((part, _)) = parts.iter().find(|(part, there)| is_wanted(part) && !there) {
            return Err(format!("seal `{name}` has no `{part}`, which mode `{label}` wants"));
        }
        let is_extra = |part: &str| !is_wanted(part) && !may(part);
        if let Some((part, _)) = parts.iter().find(|(part, there)| is_extra(part) && *there) {
            return Err(format!(
                "seal `{name}` has a `{part}`, which mode `{label}` does not take; help: remove it, or \
                 choose another mode"
            ));
        }
        self.check_sizes()?;
        if let Some(hash) = hash {
            for chain in hash.chains() {
                chained(functions, chain)
                    .map_err(|error| format!("seal `{name}` names {error}"))?;
            }
        }
        let is_lost = |name: &&String| functions.iter().all(|function| function.name != **name);
        match self.functions().into_iter().find(is_lost) {
            None => Ok(()),
            Some(lost) => {
                let help = did_you_mean(lost, functions.iter().map(|f| f.name.as_str()));
                let help = help.map_or(String::new(), |near| format!("; help: {near}"));
                Err(format!(
                    "seal `{name}` names `{lost}`, which is no function of this folder{help}"
                ))
            }
        }
    }

    /// Checks the bytes of nonce and tag of the modes `ccm` (NIST SP 800-38C, section A.1) and `ocb`
    /// (RFC 7253, section 3).
    fn check_sizes(&self) -> Result<(), String> {
        let (nonce, tag) = (self.nonce, self.tag_bytes());
        let (is_allowed, expected) = match self.mode {
            SealMode::Ccm => (
                (7..=13).contains(&nonce) && (4..=16).contains(&tag) && tag % 2 == 0,
                "7 to 13, and an even number from 4 to 16",
            ),
            SealMode::Ocb => (
                (1..=15).contains(&nonce) && (8..=16).contains(&tag) && tag % 4 == 0,
                "1 to 15, and 8, 12 or 16",
            ),
            _ => return Ok(()),
        };
        if is_allowed {
            return Ok(());
        }
        Err(format!(
            "seal `{}` has {nonce} bytes of `nonce` and {tag} of `tag`, expected {expected}",
            self.name
        ))
    }

    /// Bytes of the tag.
    pub fn tag_bytes(&self) -> usize {
        self.tag.unwrap_or(TAG)
    }

    /// The functions of this folder that it is made of.
    pub fn functions(&self) -> Vec<&String> {
        let duplex = self.duplex.iter().flat_map(|duplex| duplex.functions());
        let keyed =
            self.hash.iter().flat_map(|hash| [&hash.prepare].into_iter().chain(hash.chains()));
        duplex.chain(keyed).collect()
    }
}

/// The input of the tag, and the position of the tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SealMode {
    /// RFC 8439: associated data, the ciphertext, and their lengths; the tag comes behind.
    Rfc8439,
    /// NaCl's secret box: the ciphertext; the tag comes before.
    Box,
    /// Ascon-AEAD128 of NIST SP 800-232: associated data and ciphertext; the tag comes behind.
    Ascon,
    /// NIST SP 800-38D: associated data, the ciphertext, and their lengths; the tag comes behind.
    Gcm,
    /// RFC 8452: keys are derived from the nonce, and the tag of data, text and lengths is the first
    /// counter; the tag comes behind.
    GcmSiv,
    /// XAES-256-GCM of C2SP: the key and the nonce of another one are derived from key and nonce.
    Xaes,
    /// NIST SP 800-38C: a CBC-MAC of data and text, encrypted as they are in CTR mode; the tag comes
    /// behind.
    Ccm,
    /// RFC 7253: each block has an offset before and behind the cipher, and the tag is one of the sum of
    /// the text; the tag comes behind.
    Ocb,
}

impl SealMode {
    /// Its name in the file: words in small letters, with hyphens between them.
    fn label(self) -> String {
        let mut label = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_uppercase() && !label.is_empty() {
                label.push('-');
            }
            label.extend(letter.to_lowercase());
        }
        label
    }

    /// The parts that it wants.
    fn parts(self) -> &'static [&'static str] {
        match self {
            SealMode::Rfc8439 | SealMode::Box => &["stream"],
            SealMode::Ascon => &["duplex"],
            SealMode::Gcm | SealMode::GcmSiv => &["stream", "hash", "key"],
            SealMode::Xaes => &["stream", "inner", "key"],
            SealMode::Ccm | SealMode::Ocb => &["stream", "key", "tag"],
        }
    }

    /// Bytes of the tag before the ciphertext, if it does not come behind.
    pub fn before(self) -> usize {
        if self == SealMode::Box { TAG } else { 0 }
    }

    /// Whether the nonce is public: branches or addresses depend on it, as on a counter or on the number
    /// of a shift, or copies of it stay on the stack.
    pub fn has_public_nonce(self) -> bool {
        matches!(self, SealMode::Gcm | SealMode::Xaes | SealMode::Ocb | SealMode::Rfc8439)
    }

    /// Whether a message has associated data.
    pub fn has_data(self) -> bool {
        self != SealMode::Box
    }
}

/// Bytes of a tag, in all modes but `ccm` and `ocb`.
const TAG: usize = 16;

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn a_seal_without_the_parts_of_its_mode_is_refused_in_one_sentence() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
        for (folder, right, wrong, expected) in [
            ("ascon", "[seal.duplex]", "[other]", "unknown field `other`"),
            ("ascon", "start = ", "begin = ", "unknown field `begin`"),
            ("ascon", "\"ascon_p8_le\"\nseal", "\"ascon_p8_l\"\nseal", "`ascon_p8_l`, which is no"),
            ("ascon", "\"ascon_p8_le\"\nseal", "\"ascon_p8_l\"\nseal", "help: did you mean"),
            ("ascon", "mode    = \"ascon\"", "mode    = \"box\"", "no `stream`, which mode `box`"),
            (
                "ascon",
                "nonce   = 16",
                "stream = \"s\"\nnonce = 16",
                "has a `stream`, which mode `ascon` does not",
            ),
            ("chacha20poly1305", "\"rfc8439\"", "\"ascon\"", "no `duplex`, which mode `ascon`"),
            (
                "chacha20poly1305",
                "stream  = \"chacha20\"\n",
                "",
                "no `stream`, which mode `rfc8439`",
            ),
            ("aes_gcm", "key     = 16\n", "", "no `key`, which mode `gcm` wants"),
            ("aes_gcm", "[seal.hash]", "[seal.duplex]", "unknown field `chain`"),
            ("aes_gcm", "inner   = \"aes256_gcm\"\n", "", "no `inner`, which mode `xaes` wants"),
            ("aes_gcm", "\"gcm-siv\"", "\"xaes\"", "no `inner`, which mode `xaes` wants"),
            ("aes_ccm", "tag     = 16\n", "", "no `tag`, which mode `ccm` wants"),
            ("aes_gcm", "nonce   = 12\n", "nonce = 12\ntag = 8\n", "has a `tag`, which mode `gcm`"),
            ("aes_ccm", "nonce   = 12", "nonce = 14", "has 14 bytes of `nonce` and 16 of `tag`"),
            ("aes_ccm", "tag     = 8", "tag = 7", "has 12 bytes of `nonce` and 7 of `tag`"),
            ("aes_ccm", "tag     = 8", "tag = 9223372036854775807", "bytes of `nonce` and 9223"),
            ("aes_ocb", "tag     = 16", "tag = 14", "expected 1 to 15, and 8, 12 or 16"),
            ("aes_ocb", "nonce   = 12", "nonce = 16", "has 16 bytes of `nonce`"),
            ("aes_gcm", "\"gcm-siv\"", "\"siv\"", "unknown variant `siv`"),
            (
                "aes_gcm",
                "chain   = \"ghash_absorb\"",
                "chain = \"ghash_key\"",
                "names `ghash_key`, which is",
            ),
            (
                "aes_gcm",
                "wide    = \"ghash_absorb8\"",
                "wide = \"ghash_absorb9\"",
                "names `ghash_absorb9`, which is no function of a chaining value",
            ),
            (
                "aes_gcm",
                "prepare = \"ghash_key\"",
                "prepare = \"ghash\"",
                "names `ghash`, which is no",
            ),
        ] {
            let path = root.join(folder).join("cipher.toml");
            let text = std::fs::read_to_string(&path).expect("cipher.toml");
            let changed = text.replacen(right, wrong, 1);
            assert_ne!(changed, text, "{right}");
            let message = crate::parse(&path, &changed).expect_err(wrong);
            assert!(message.contains(expected), "{message}");
        }
    }
}
