//! SLH-DSA, written from FIPS 205, sections 4 to 9 and 11, for any parameters and one hash at a time:
//! the hash functions are the crates `sha2` and `shake`.

use sha2::{Digest, Sha256, Sha512};
use shake::Shake256;
use shake::digest::{ExtendableOutput, Update, XofReader};
use usuba_ciphers::{Hashes, Sign};

/// An address of 32 bytes.
type Address = [u8; 32];

const WOTS_HASH: u8 = 0;
const WOTS_PK: u8 = 1;
const TREE: u8 = 2;
const FORS_TREE: u8 = 3;
const FORS_ROOTS: u8 = 4;
const WOTS_PRF: u8 = 5;
const FORS_PRF: u8 = 6;

/// An address of a type, with its last three words.
fn typed(address: &Address, kind: u8, words: [u32; 3]) -> Address {
    let mut new = *address;
    new[19] = kind;
    for (place, word) in new[20..].chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    new
}

/// The address of a tree.
fn placed(layer: usize, tree: u64) -> Address {
    let mut address = [0; 32];
    address[3] = layer as u8;
    address[8..16].copy_from_slice(&tree.to_be_bytes());
    address
}

fn sha(wide: bool, parts: &[&[u8]]) -> Vec<u8> {
    let all = parts.concat();
    if wide { Sha512::digest(all).to_vec() } else { Sha256::digest(all).to_vec() }
}

fn shake(parts: &[&[u8]], length: usize) -> Vec<u8> {
    let mut function = Shake256::default();
    parts.iter().for_each(|part| function.update(part));
    let mut output = vec![0; length];
    function.finalize_xof().read(&mut output);
    output
}

/// HMAC of a key that is shorter than a block.
fn hmac(wide: bool, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let pad = |byte: u8| {
        let mut pad = vec![byte; if wide { 128 } else { 64 }];
        pad.iter_mut().zip(key).for_each(|(pad, key)| *pad ^= key);
        pad
    };
    let inner = sha(wide, &[&[&pad(0x36)[..]], parts].concat());
    sha(wide, &[&pad(0x5c), &inner])
}

/// A parameter set with PK.seed and SK.seed; without the latter it verifies.
pub struct Scheme<'a> {
    pub sign: &'a Sign,
    pub seed: &'a [u8],
    pub secret: &'a [u8],
}

impl Scheme<'_> {
    fn is_wide(&self) -> bool {
        self.sign.n > 16
    }

    /// F and PRF, and with `wide` H and T.
    fn hash(&self, wide: bool, a: &Address, value: &[u8]) -> Vec<u8> {
        let n = self.sign.n;
        if self.sign.hashes == Hashes::Shake {
            return shake(&[self.seed, a, value], n);
        }
        let wide = wide && self.is_wide();
        let zeros = vec![0; if wide { 128 } else { 64 } - n];
        let short = [&a[3..4], &a[8..16], &a[19..]].concat();
        sha(wide, &[self.seed, &zeros, &short, value])[..n].to_vec()
    }

    /// Algorithm 5.
    fn chain(
        &self,
        a: &Address,
        pair: u32,
        number: usize,
        steps: std::ops::Range<u8>,
        value: Vec<u8>,
    ) -> Vec<u8> {
        steps.fold(value, |value, step| {
            self.hash(false, &typed(a, WOTS_HASH, [pair, number as u32, step.into()]), &value)
        })
    }

    /// The digits of a message and of its checksum.
    fn digits(&self, message: &[u8]) -> Vec<u8> {
        let mut digits: Vec<u8> = message.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
        let sum: u32 = digits.iter().map(|digit| 15 - u32::from(*digit)).sum();
        digits.extend([sum >> 8, sum >> 4 & 15, sum & 15].map(|digit| digit as u8));
        digits
    }

    fn chain_secret(&self, a: &Address, pair: u32, number: usize) -> Vec<u8> {
        self.hash(false, &typed(a, WOTS_PRF, [pair, number as u32, 0]), self.secret)
    }

    /// Algorithm 6.
    fn leaf(&self, a: &Address, pair: u32) -> Vec<u8> {
        let end = |number| self.chain(a, pair, number, 0..15, self.chain_secret(a, pair, number));
        let ends: Vec<u8> = (0..self.sign.digits()).flat_map(end).collect();
        self.hash(true, &typed(a, WOTS_PK, [pair, 0, 0]), &ends)
    }

    /// Algorithm 9.
    fn node(&self, a: &Address, height: usize, index: u32) -> Vec<u8> {
        if height == 0 {
            return self.leaf(a, index);
        }
        let children = [2 * index, 2 * index + 1].map(|child| self.node(a, height - 1, child));
        self.hash(true, &typed(a, TREE, [0, height as u32, index]), &children.concat())
    }

    fn fors_secret(&self, a: &Address, pair: u32, index: u32) -> Vec<u8> {
        self.hash(false, &typed(a, FORS_PRF, [pair, 0, index]), self.secret)
    }

    /// Algorithm 15.
    fn fors_node(&self, a: &Address, pair: u32, height: usize, index: u32) -> Vec<u8> {
        let own = typed(a, FORS_TREE, [pair, height as u32, index]);
        if height == 0 {
            return self.hash(false, &own, &self.fors_secret(a, pair, index));
        }
        let child = |child| self.fors_node(a, pair, height - 1, child);
        self.hash(true, &own, &[child(2 * index), child(2 * index + 1)].concat())
    }

    /// The root above a node with its authentication path, under addresses of a type.
    fn climb(
        &self,
        a: &Address,
        kind: (u8, u32),
        mut index: u32,
        node: Vec<u8>,
        path: &[u8],
    ) -> Vec<u8> {
        path.chunks_exact(self.sign.n).zip(1..).fold(node, |node, (other, height)| {
            let pair =
                if index & 1 == 1 { [other, &node].concat() } else { [&node[..], other].concat() };
            index >>= 1;
            self.hash(true, &typed(a, kind.0, [kind.1, height, index]), &pair)
        })
    }

    /// PK.root.
    pub fn root(&self) -> Vec<u8> {
        self.node(&placed(self.sign.layers - 1, 0), self.sign.height, 0)
    }

    /// R.
    fn randomizer(&self, key: &[u8], random: &[u8], message: &[u8]) -> Vec<u8> {
        let hash = match self.sign.hashes {
            Hashes::Shake => shake(&[key, random, message], self.sign.n),
            Hashes::Sha2 => hmac(self.is_wide(), key, &[random, message]),
        };
        hash[..self.sign.n].to_vec()
    }

    /// The leaves of FORS trees, the tree and the leaf that a message chooses.
    fn choice(&self, r: &[u8], root: &[u8], message: &[u8]) -> (Vec<u32>, u64, u32) {
        let Sign { layers, height, trees, depth, .. } = *self.sign;
        let above = height * (layers - 1);
        let sizes = [trees * depth, above, height].map(|bits: usize| bits.div_ceil(8));
        let length: usize = sizes.iter().sum();
        let digest = match self.sign.hashes {
            Hashes::Shake => shake(&[r, self.seed, root, message], length),
            Hashes::Sha2 => {
                let wide = self.is_wide();
                let inner = sha(wide, &[r, self.seed, root, message]);
                let part = |number: u32| sha(wide, &[r, self.seed, &inner, &number.to_be_bytes()]);
                (0..).flat_map(part).take(length).collect()
            }
        };
        let number = |bytes: &[u8], bits: usize| {
            let number = bytes.iter().fold(0u128, |number, byte| number << 8 | u128::from(*byte));
            number % (1 << bits)
        };
        let bit = |at: usize| u32::from(digest[at / 8] >> (7 - at % 8) & 1);
        let leaf = |tree: usize| {
            (tree * depth..(tree + 1) * depth).fold(0, |leaf, at| leaf << 1 | bit(at))
        };
        let (tree, last) = digest[sizes[0]..].split_at(sizes[1]);
        ((0..trees).map(leaf).collect(), number(tree, above) as u64, number(last, height) as u32)
    }

    /// Algorithm 19, with the address randomizer `random`.
    pub fn sign(&self, prf: &[u8], root: &[u8], random: &[u8], message: &[u8]) -> Vec<u8> {
        let Sign { layers, height, depth, n, .. } = *self.sign;
        let r = self.randomizer(prf, random, message);
        let (indices, mut tree, mut leaf) = self.choice(&r, root, message);
        let mut signature = r;
        let a = placed(0, tree);
        for (number, index) in indices.iter().enumerate() {
            let first = (number as u32) << depth;
            signature.extend(self.fors_secret(&a, leaf, first + index));
            for level in 0..depth {
                let node = ((first + index) >> level) ^ 1;
                signature.extend(self.fors_node(&a, leaf, level, node));
            }
        }
        let mut signed = self.fors_key(&a, leaf, &indices, &signature[n..]);
        for layer in 0..layers {
            let a = placed(layer, tree);
            for (number, digit) in self.digits(&signed).into_iter().enumerate() {
                let secret = self.chain_secret(&a, leaf, number);
                signature.extend(self.chain(&a, leaf, number, 0..digit, secret));
            }
            (0..height)
                .for_each(|level| signature.extend(self.node(&a, level, (leaf >> level) ^ 1)));
            signed = self.node(&a, height, 0);
            leaf = (tree % (1 << height)) as u32;
            tree >>= height;
        }
        signature
    }

    /// Algorithm 17.
    fn fors_key(&self, a: &Address, pair: u32, indices: &[u32], signature: &[u8]) -> Vec<u8> {
        let Sign { n, depth, .. } = *self.sign;
        let root = |(number, part): (usize, &[u8])| {
            let (secret, path) = part.split_at(n);
            let index = ((number as u32) << depth) + indices[number];
            let leaf = self.hash(false, &typed(a, FORS_TREE, [pair, 0, index]), secret);
            self.climb(a, (FORS_TREE, pair), index, leaf, path)
        };
        let parts = signature.chunks_exact((1 + depth) * n).take(indices.len());
        let roots: Vec<u8> = parts.enumerate().flat_map(root).collect();
        self.hash(true, &typed(a, FORS_ROOTS, [pair, 0, 0]), &roots)
    }

    /// Algorithm 20.
    pub fn verifies(&self, root: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let Sign { layers, height, trees, depth, n, .. } = *self.sign;
        if signature.len() != self.sign.bytes() {
            return false;
        }
        let (r, rest) = signature.split_at(n);
        let (fors, rest) = rest.split_at(trees * (1 + depth) * n);
        let (indices, mut tree, mut leaf) = self.choice(r, root, message);
        let mut node = self.fors_key(&placed(0, tree), leaf, &indices, fors);
        for (layer, part) in
            rest.chunks_exact((self.sign.digits() + height) * n).take(layers).enumerate()
        {
            let a = placed(layer, tree);
            let (values, path) = part.split_at(self.sign.digits() * n);
            let digits = self.digits(&node);
            let chains = values.chunks_exact(n).zip(digits).enumerate();
            let end = |(number, (value, digit)): (usize, (&[u8], u8))| {
                self.chain(&a, leaf, number, digit..15, value.to_vec())
            };
            let ends: Vec<u8> = chains.flat_map(end).collect();
            let key = self.hash(true, &typed(&a, WOTS_PK, [leaf, 0, 0]), &ends);
            node = self.climb(&a, (TREE, 0), leaf, key, path);
            leaf = (tree % (1 << height)) as u32;
            tree >>= height;
        }
        node == root
    }
}
