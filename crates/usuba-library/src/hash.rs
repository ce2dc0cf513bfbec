//! Generation of hash functions around a compression function of a folder: `[[hash]]` in
//! `cipher.toml`.
//!
//! ```text
//! sha384      sha512_compress maps chaining value and block to the next chaining value;
//!             the mode `merkle-damgard` is padding, HMAC and HKDF: lib/c/modes/merkle.c.in
//! skein512    skein512_ubi maps chaining value and block to the next chaining value;
//!             the mode `skein` is padding, parameters, trees and output: lib/c/modes/skein.c.in
//! ```
//!
//! The modes share `lib/c/modes/chain.c.in`: one message in pieces, and multi-buffer hashing. A
//! mode consists of a value of `HashMode`, an arm in [`Parts::of`], and the C files that the arm
//! names.

use std::collections::BTreeSet;

use super::Folder;
use super::interface::{Described, Description, Kind};
use super::template::{self as t, Template, context};
use usuba_ciphers::{Hash, HashMode};

/// The C files of a mode.
struct Parts {
    /// The declarations and the functions that its hash functions share.
    shared: (&'static str, Template),
    /// The header and C file of each hash function.
    own: (Template, Template),
}

impl Parts {
    fn of(mode: HashMode) -> Parts {
        match mode {
            HashMode::MerkleDamgard => {
                Parts { shared: (t::MERKLE_SHARED_H, t::MERKLE), own: (t::MERKLE_H, t::MERKLE_C) }
            }
            HashMode::Skein => {
                Parts { shared: (t::SKEIN_SHARED_H, t::SKEIN), own: (t::SKEIN_H, t::SKEIN_C) }
            }
        }
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
        let (chain, block) = self.chains();
        let side = self.cipher.hashes.iter().any(|hash| self.is_side_by_side(hash));
        let mut there = BTreeSet::new();
        let mut text = String::new();
        for hash in &self.cipher.hashes {
            let Parts { shared, own } = Parts::of(hash.mode);
            if there.insert(shared) {
                text += &match header {
                    true => shared.0.to_string(),
                    false => shared
                        .1
                        .render(context! { common, chain_max => chain, block_max => block, side }),
                };
            }
            let (at, _) = self.place(&hash.chain);
            let Described { name, input, output, .. } = self.link(hash);
            let row = |row: &[u8]| {
                let bytes: Vec<String> = row.iter().map(|byte| format!("0x{byte:02x}")).collect();
                format!("    {}", bytes.join(", "))
            };
            let start: Vec<String> = hash.start.chunks(16).map(row).collect();
            text += &if header { own.0 } else { own.1 }.render(context! {
                title => comment(&self.cipher.title), spec => comment(&self.cipher.spec),
                about => self.about(at), name => &hash.name, upper => hash.name.to_uppercase(),
                common, chaining => format!("usuba_{name}_chaining"), chain => output,
                block => input - output, bits => 8 * (input - output),
                start => start.join(",\n"), out_bytes => hash.output,
            });
        }
        text
    }
}
