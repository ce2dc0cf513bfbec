//! Generation of hash functions around a compression function of a folder: `[[hash]]` in
//! `cipher.toml`.
//!
//! ```text
//! sha384      sha512_compress maps chaining value and block to the next chaining value;
//!             the mode `merkle-damgard` is padding, HMAC and HKDF: lib/c/modes/merkle.c.in
//! sha3_256    keccak_absorb136 maps state and block to the next state;
//!             the modes `sponge`, `xof`, `cxof`, `cshake`, `kmac`, `turboshake` and
//!             `kangaroo-twelve` are padding, HMAC, outputs and trees: lib/c/modes/sponge.c.in and its neighbours
//! skein512    skein512_ubi maps chaining value and block to the next chaining value;
//!             the mode `skein` is padding, parameters, trees and output: lib/c/modes/skein.c.in
//! ```
//!
//! The modes share `lib/c/modes/chain.c.in`, one message in pieces, and `many.c.in`, multi-buffer
//! hashing. A mode consists of a value of `HashMode`, an arm in [`Parts::of`], and the C files that
//! the arm names.

use std::collections::BTreeSet;

use super::Folder;
use super::interface::{Described, Description, Kind};
use super::template::{self as t, Template, context};
use usuba_ciphers::{Hash, HashMode};

/// The C files of a hash function.
struct Parts {
    /// The declarations that it shares with others, and the functions.
    declared: &'static [&'static str],
    shared: &'static [Template],
    /// Its own header and C file.
    own: (Template, Template),
}

impl Parts {
    fn of(hash: &Hash, block: usize) -> Parts {
        let (declared, shared, own): (&[&str], &[Template], _) = match hash.mode {
            HashMode::MerkleDamgard => (
                &[t::MERKLE_SHARED_H],
                &[t::MERKLE, t::MANY, t::HMAC, t::HKDF],
                (t::HASH_H, t::HASH_C),
            ),
            HashMode::Skein => (&[t::SKEIN_SHARED_H], &[t::SKEIN], (t::SKEIN_H, t::SKEIN_C)),
            HashMode::Sponge if hash.has_hmac(block) => {
                (&[t::SPONGE_SHARED_H], &[t::SPONGE, t::MANY, t::HMAC], (t::HASH_H, t::HASH_C))
            }
            HashMode::Sponge => {
                (&[t::SPONGE_SHARED_H], &[t::SPONGE, t::MANY], (t::HASH_H, t::HASH_C))
            }
            HashMode::Xof => (&[t::SPONGE_SHARED_H], &[t::SPONGE, t::MANY, t::XOF, t::SIDE], XOF),
            HashMode::TurboShake => (&[t::SPONGE_SHARED_H], &[t::SPONGE, t::MANY, t::XOF], XOF),
            HashMode::Cxof => (&[t::SPONGE_SHARED_H], &[t::SPONGE, t::MANY, t::XOF, t::CXOF], XOF),
            HashMode::Cshake => {
                (&[t::SPONGE_SHARED_H], &[t::SPONGE, t::MANY, t::XOF, t::ENCODE], XOF)
            }
            HashMode::Kmac => (
                &[t::SPONGE_SHARED_H],
                &[t::SPONGE, t::XOF, t::ENCODE, t::KMAC],
                (t::KMAC_H, t::KMAC_C),
            ),
            HashMode::KangarooTwelve => (
                &[t::SPONGE_SHARED_H, t::KANGAROO_SHARED_H],
                &[t::SPONGE, t::MANY, t::XOF, t::ENCODE, t::KANGAROO],
                (t::KANGAROO_H, t::KANGAROO_C),
            ),
        };
        Parts { declared, shared, own }
    }
}

/// Bytes of the longest hash with a fixed length.
const LONGEST: usize = 64;

/// Declarations that several hash functions share.
const SHARED: [&str; 4] =
    [t::MERKLE_SHARED_H, t::SKEIN_SHARED_H, t::SPONGE_SHARED_H, t::KANGAROO_SHARED_H];

/// The declarations of several folders, where the first one of a shared text stands for all.
pub fn shared_once(mut declarations: String) -> String {
    for shared in SHARED {
        if let Some(at) = declarations.find(shared) {
            let rest = declarations.split_off(at + shared.len());
            declarations += &rest.replace(shared, "");
        }
    }
    declarations
}

/// Outputs of any length.
const XOF: (Template, Template) = (t::XOF_H, t::XOF_C);

/// The names in C of a mode's construction: of its functions, and the prefix of HMAC.
fn construction(mode: HashMode) -> (&'static str, &'static str) {
    match mode.is_sponge() {
        true => ("sponge", "usuba_sponge_hmac"),
        false => ("merkle", "usuba_hmac"),
    }
}

impl Folder<'_> {
    /// The operation of a hash function.
    fn link(&self, hash: &Hash) -> Described {
        let (at, number) = self.place(&hash.chain);
        self.described(at, number)
    }

    /// Whether a kernel hashes several messages side by side.
    fn is_side_by_side(&self, hash: &Hash) -> bool {
        let (at, number) = self.place(&hash.chain);
        let mut rungs = self.ladders[at][number].iter().flatten();
        rungs.any(|rung| self.cores[rung.used.core].unit > 1)
    }

    /// The hash functions of `[[hash]]`.
    pub fn hash_descriptions(&self) -> Vec<Description> {
        let describe = |hash: &Hash| Description {
            name: hash.name.clone(),
            kind: Kind::Hash(hash.mode),
            key: 0,
            nonce: 0,
            operations: vec![self.link(hash)],
        };
        self.cipher.hashes.iter().map(describe).collect()
    }

    /// Checks the sizes of functions against the requirements of their modes.
    ///
    /// # Errors
    /// One sentence on the size that disagrees.
    pub fn check_hashes(&self) -> Result<(), String> {
        for hash in &self.cipher.hashes {
            let Described { input, output, .. } = self.link(hash);
            let (start, block) = (hash.start.len(), input - output);
            let fits = match hash.mode {
                // A hash fits in a block together with a length.
                HashMode::MerkleDamgard => {
                    start == output
                        && (16..=output).contains(&hash.output)
                        && output < block - block / 8
                        && block >= 64
                }
                HashMode::Skein => output == block + 16 && start == block && hash.output == 0,
                HashMode::KangarooTwelve => {
                    (1..=block).contains(&hash.output) && start == 0 && block <= output
                }
                HashMode::Sponge => {
                    (start == 0 || start == output)
                        && block <= output
                        && (16..=LONGEST).contains(&hash.output)
                }
                HashMode::Xof => {
                    (start == 0 || start == output) && block <= output && hash.output == 0
                }
                // Its first block has a number of 64 bits.
                HashMode::Cxof => {
                    (start == 0 || start == output)
                        && (8..=output).contains(&block)
                        && hash.output == 0
                }
                HashMode::Cshake | HashMode::Kmac | HashMode::TurboShake => {
                    start == 0 && block <= output && hash.output == 0
                }
            };
            if !fits {
                let Hash { name, chain, .. } = hash;
                return Err(format!("{name}: `{chain}` has sizes that do not fit"));
            }
        }
        Ok(())
    }

    /// Bytes of the longest chaining value and of the longest message block.
    pub fn chains(&self) -> (usize, usize) {
        let sizes = self.cipher.hashes.iter().map(|hash| self.link(hash));
        sizes.fold((0, 0), |(chain, block), Described { input, output, .. }| {
            (chain.max(output), block.max(input - output))
        })
    }

    /// Declarations or definitions of all hash functions.
    pub fn hashes(&self, common: &str, header: bool) -> String {
        let comment = |text: &str| text.replace("*/", "* /");
        let (chain, block_max) = self.chains();
        let side = self.cipher.hashes.iter().any(|hash| self.is_side_by_side(hash));
        let (mut declares, mut there) = (BTreeSet::new(), BTreeSet::new());
        let mut text = String::new();
        for hash in &self.cipher.hashes {
            let (at, _) = self.place(&hash.chain);
            let Described { name, input, output, .. } = self.link(hash);
            let block = input - output;
            let Parts { declared, shared, own } = Parts::of(hash, block);
            let (mode, hmac) = construction(hash.mode);
            if header {
                let new = declared.iter().filter(|part| declares.insert(**part));
                text += &new.copied().collect::<String>();
            } else {
                for part in shared.iter().filter(|part| there.insert((mode, **part))) {
                    text += &part.render(context! {
                        common, mode, upper => mode.to_uppercase(), hmac, side,
                        chain_max => chain, block_max, squeezes => hash.mode.is_sponge(),
                        ends => if hash.mode.is_sponge() { 1 } else { 2 },
                    });
                }
            }
            let hmac = if hash.has_hmac(block) { hmac } else { "" };
            let row = |row: &[u8]| {
                let bytes: Vec<String> = row.iter().map(|byte| format!("0x{byte:02x}")).collect();
                format!("    {}", bytes.join(", "))
            };
            let start: Vec<String> = hash.start.chunks(16).map(row).collect();
            let values = context! {
                title => comment(&self.cipher.title), spec => comment(&self.cipher.spec),
                about => self.about(at), name => &hash.name, upper => hash.name.to_uppercase(),
                common, mode, hmac, chaining => format!("usuba_{name}_chaining"), chain => output,
                block, bits => 8 * block,
                start => start.join(",\n"), out_bytes => hash.output, shape => shape(hash.mode),
                suffix => format!("0x{:02x}", hash.suffix), last => format!("0x{:02x}", hash.last),
            };
            let described = t::DESCRIBED.render(values.clone());
            text += &if header { own.0 } else { own.1 }.render(context! { described, ..values });
        }
        text
    }
}

/// The parameters in front of a message, for an output of any length.
fn shape(mode: HashMode) -> &'static str {
    match mode {
        HashMode::Cshake => "named",
        HashMode::Cxof => "custom",
        HashMode::TurboShake => "domain",
        _ => "plain",
    }
}
