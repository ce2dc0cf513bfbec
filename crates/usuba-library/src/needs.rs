//! The hand-written parts that a file of ciphers contains.

use super::Folder;
use super::interface::Kind;
use usuba_ciphers::Scheme;

/// The hand-written parts of a file, and their sizes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Needs {
    /// Backend dispatch.
    pub ladders: bool,
    /// Conversion between bytes and words of arithmetic.
    pub word_bytes: bool,
    /// The words of arithmetic.
    pub words: bool,
    /// XOR of a keystream.
    pub xor: bool,
    pub stream: bool,
    pub cbc: bool,
    pub xts: bool,
    /// Single blocks, without a mode.
    pub blocks: bool,
    /// Messages of hash functions.
    pub chain: bool,
    /// Bytes of a keystream buffer.
    pub chunk: usize,
    /// Bytes of the largest keystream input.
    pub block: usize,
}

/// The size of a keystream buffer: below, call overhead dominates; above, it exceeds caches and
/// stacks.
const CHUNK: std::ops::RangeInclusive<usize> = 4096..=32768;

impl Needs {
    /// The union of both sets of parts.
    pub fn and(self, other: Needs) -> Needs {
        Needs {
            ladders: self.ladders || other.ladders,
            words: self.words || other.words,
            word_bytes: self.word_bytes || other.word_bytes,
            xor: self.xor || other.xor,
            stream: self.stream || other.stream,
            cbc: self.cbc || other.cbc,
            xts: self.xts || other.xts,
            blocks: self.blocks || other.blocks,
            chain: self.chain || other.chain,
            chunk: self.chunk.max(other.chunk),
            block: self.block.max(other.block),
        }
    }
}

impl Folder<'_> {
    /// The hand-written parts that the primitives of this folder use.
    pub fn needs(&self) -> Needs {
        let ladders = !(self.compiled.is_empty() && self.lanes.is_empty());
        let words = !self.arithmetic.text.is_empty();
        let word_bytes = self.cipher.scheme == Some(Scheme::Curve25519);
        let mut needs = Needs { ladders, words, word_bytes, ..Needs::default() };
        for at in 0..self.compiled.len() {
            needs.blocks |= self.kind(at) != Kind::Chained;
            let (stream, full) = match self.kind(at) {
                Kind::Stream(_) | Kind::Tweakable { .. } => (true, false),
                Kind::Block { inverse, wide } => (true, inverse.is_some() && wide),
                _ => continue,
            };
            let (input, output) = self.sizes(at, 0);
            let rungs = self.ladders[at].iter().flatten().flatten();
            let batch = rungs.map(|rung| self.cores[rung.used.core].batch).max().unwrap_or(1);
            let chunk = (batch * output).clamp(*CHUNK.start(), *CHUNK.end());
            let new =
                Needs { xor: true, stream, cbc: full, xts: full, chunk, block: input, ..needs };
            needs = needs.and(new);
        }
        let running = |stream| matches!(self.composed_kind(stream), Kind::Running { .. });
        let keyed = self.cipher.seals.iter().any(|seal| seal.hash.is_some());
        needs.chain = keyed || !(self.cipher.hashes.is_empty() && self.cipher.signs.is_empty());
        needs.xor |= self.cipher.streams.iter().any(running);
        needs
    }

    /// Bytes of the inputs for a keystream buffer, if they do not lie in the buffer.
    pub fn counters(&self, chunk: usize) -> usize {
        let numbered = |kind| matches!(kind, Kind::Stream(_) | Kind::Tweakable { .. });
        let apart = (0..self.compiled.len()).filter(|&at| numbered(self.kind(at)));
        let sizes = apart.map(|at| self.sizes(at, 0)).filter(|(input, output)| input != output);
        sizes.map(|(input, output)| chunk / output * input).max().unwrap_or(0)
    }
}
