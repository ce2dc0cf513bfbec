//! Generation of signatures from hash functions: `[[sign]]` in `cipher.toml`.
//!
//! ```text
//! slh_dsa_sha2_128s    FIPS 205 with the compression functions of SHA-256 and SHA-512
//! slh_dsa_shake_128s   the same with the permutation of SHAKE256
//!                      chains of WOTS+ are a function of the folder, which stays in registers
//! ```
//!
//! The C is in `lib/c/slh_dsa`: `hash` is messages side by side, `tree` is trees and chains, `sign` is
//! signatures; `set` is the functions of one parameter set.

use usuba_ciphers::{Hashes, Sign};

use super::Folder;
use super::interface::{Description, Kind};
use super::template::{self as t, Value, context};

/// Signatures that are verified together, and messages side by side: as in `lib/c/slh_dsa/hash.c.in`.
const TOGETHER: usize = 8;
const SIDE: usize = 32;

/// Nodes of trees in the work area.
const NODES: usize = 512;

/// The sizes of a work area, each the largest of all parameter sets.
#[derive(Clone, Copy, Default, Debug)]
struct Sizes {
    hash: usize,
    leaves: usize,
    nodes: usize,
    stack: usize,
    indices: usize,
    digits: usize,
    layers: usize,
}

impl Sizes {
    fn of(sign: &Sign) -> Sizes {
        let Sign { n, layers, height, trees, depth, .. } = *sign;
        let chains = TOGETHER.max(layers + 1);
        Sizes {
            hash: n,
            leaves: TOGETHER * leaf(sign),
            nodes: NODES.max(TOGETHER * trees) * n,
            // C has no empty arrays.
            stack: waiting(layers, height, n).max(waiting(trees, depth, n)).max(n),
            indices: (TOGETHER * trees).max(layers),
            digits: chains * sign.digits(),
            layers: chains,
        }
    }

    fn and(self, other: Sizes) -> Sizes {
        Sizes {
            hash: self.hash.max(other.hash),
            leaves: self.leaves.max(other.leaves),
            nodes: self.nodes.max(other.nodes),
            stack: self.stack.max(other.stack),
            indices: self.indices.max(other.indices),
            digits: self.digits.max(other.digits),
            layers: self.layers.max(other.layers),
        }
    }

    /// Bytes of a work area at any place, which begins at a cache line; `usuba_slh_room` has these
    /// parts.
    fn work(&self) -> usize {
        let lanes = SIDE * (200 + 136 + 3 * 8 + 2 * 4);
        let arrays = self.leaves + self.nodes + self.stack + 4 * self.indices + 3 * self.digits;
        let signs = self.layers * (self.hash + 64) + 4 * self.hash + 64;
        let together = TOGETHER * (120 + 64);
        (lanes + arrays + signs + together).next_multiple_of(64) + 192
    }
}

/// Bytes of the left nodes of `count` trees that wait for their right ones, above the leaves that are
/// computed at once.
fn waiting(count: usize, height: usize, n: usize) -> usize {
    let chunk = (NODES / count).ilog2() as usize;
    height.saturating_sub(chunk) * count * n
}

/// Bytes of the public key of a chain's ends, or of FORS roots, as a message.
fn leaf(sign: &Sign) -> usize {
    let (head, block, length) = match (sign.hashes, sign.n) {
        (Hashes::Sha2, 16) => (22, 64, 8),
        (Hashes::Sha2, _) => (22, 128, 16),
        (Hashes::Shake, n) => (n + 32, 136, 0),
    };
    let values = sign.digits().max(sign.trees);
    (head + values * sign.n + 1 + length).next_multiple_of(block)
}

/// The functions from blocks to chaining values that the hash functions of a set are made of: of short
/// values, and of nodes.
fn blocks(sign: &Sign) -> [&'static str; 2] {
    match (sign.hashes, sign.n) {
        (Hashes::Sha2, 16) => ["sha256_compress"; 2],
        (Hashes::Sha2, _) => ["sha256_compress", "sha512_compress"],
        (Hashes::Shake, _) => ["keccak_absorb136"; 2],
    }
}

impl Folder<'_> {
    /// The header's view of signatures.
    pub fn sign_descriptions(&self) -> Vec<Description> {
        let describe = |sign: &Sign| Description {
            name: sign.name.clone(),
            kind: Kind::Sign(sign.mode),
            key: 0,
            nonce: 0,
            operations: Vec::new(),
        };
        self.cipher.signs.iter().map(describe).collect()
    }

    /// Checks the sizes of the functions of chains.
    ///
    /// # Errors
    /// One sentence on the size that disagrees.
    pub fn check_signs(&self) -> Result<(), String> {
        for sign in &self.cipher.signs {
            let (at, number) = self.place(&sign.chain);
            let described = self.described(at, number);
            let block = if sign.hashes == Hashes::Sha2 { 52 } else { 64 };
            if (described.input, described.output) != (32 + block, 32) {
                return Err(format!(
                    "{}: `{}` maps {} bytes to {}, expected {} to 32",
                    sign.name,
                    sign.chain,
                    described.input,
                    described.output,
                    32 + block
                ));
            }
        }
        Ok(())
    }

    /// The functions of other folders that signatures call by their tables, as declarations for a file
    /// of their own.
    pub fn blocks_declared(&self) -> String {
        let mut names: Vec<&str> = self.cipher.signs.iter().flat_map(blocks).collect();
        names.sort_unstable();
        names.dedup();
        let declare =
            |name| format!("extern USUBA_HIDDEN const usuba_chaining usuba_{name}_chaining;\n");
        names.into_iter().map(declare).collect()
    }

    /// Bytes of the work area of all parameter sets.
    pub fn sign_work(&self) -> usize {
        self.sign_sizes().work()
    }

    fn sign_sizes(&self) -> Sizes {
        self.cipher.signs.iter().map(Sizes::of).fold(Sizes::default(), Sizes::and)
    }

    /// Declarations or definitions of all signatures.
    pub fn signs(&self, common: &str, header: bool) -> String {
        let signs = &self.cipher.signs;
        let Some(first) = signs.first() else { return String::new() };
        let comment = |text: &str| text.replace("*/", "* /");
        let sizes = self.sign_sizes();
        let mut text = if header {
            t::SLH_DSA_SHARED_H.render(context! {
                title => comment(&self.cipher.title), spec => comment(&self.cipher.spec),
                about => self.about(self.place(&first.chain).0), work => sizes.work(),
            })
        } else {
            let sha2 = signs.iter().any(|sign| sign.hashes == Hashes::Sha2);
            let wide = signs.iter().any(|sign| sign.functions().contains(&"sha512"));
            let values = context! {
                common, sha2, wide, hashes => hashes(signs), hash_max => sizes.hash,
                leaves_bytes => sizes.leaves, nodes_bytes => sizes.nodes,
                stack_bytes => sizes.stack, indices => sizes.indices, digits => sizes.digits,
                layers => sizes.layers,
            };
            t::render(&[t::SLH_DSA_HASH, t::SLH_DSA_TREE, t::SLH_DSA_SIGN], &values)
        };
        for sign in signs {
            let [values, nodes] = blocks(sign);
            let template = if header { t::SLH_DSA_SET_H } else { t::SLH_DSA_SET_C };
            text += &template.render(context! {
                common, name => &sign.name, upper => sign.name.to_uppercase(), n => sign.n,
                layers => sign.layers, height => sign.height, trees => sign.trees,
                depth => sign.depth, sponge => u8::from(sign.hashes == Hashes::Shake), values,
                nodes, chains => &sign.chain, bytes => sign.bytes(),
            });
        }
        text
    }
}

/// The hash functions of messages that some parameter sets use.
fn hashes(signs: &[Sign]) -> Vec<Value> {
    let all = [
        context! {
            name => "sha256", keyed => "hmac_sha256", sponge => false, section => "2.1", bytes => 32,
            condition => "!set->sponge && set->n == 16",
        },
        context! {
            name => "sha512", keyed => "hmac_sha512", sponge => false, section => "2.2", bytes => 64,
            condition => "!set->sponge && set->n > 16",
        },
        context! {
            name => "shake256", keyed => "shake256", sponge => true, section => "1", bytes => 0,
            condition => "set->sponge",
        },
    ];
    // The last one hashes messages.
    let used = |name: &str| signs.iter().any(|sign| sign.functions().last() == Some(&name));
    let named = ["sha256", "sha512", "shake256"].into_iter().zip(all);
    named.filter(|(name, _)| used(name)).map(|(_, values)| values).collect()
}
