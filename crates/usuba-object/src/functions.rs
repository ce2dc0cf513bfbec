//! Uninterpreted functions on strings of bytes: callees with their own proofs, in proofs that a
//! function of fixed sizes computes a specification.
//!
//! ```text
//! specification   sha256_compress(s ++ b)       32 free bytes r
//! object          call usuba_sha256_compress    chaining value s, one block b: r is written
//! ```
//!
//! Equal arguments give equal results; nothing else is assumed of a function. So two strings that are
//! equal here are equal for every function, also for the proved one.
//!
//! *Soundness:* the callees are proved at the same symbols, for all arguments. Their memory safety
//! is part of these proofs; here each buffer is read and written as a whole.

use rustc_hash::FxHashMap;

use super::elf::Object;
use super::points::Points;
use super::promises::Promise;
use super::residues::Residues;
use usuba_bits::cell::{Bits, Cell, Instance};
use usuba_equiv::dag::Kind;

/// The numbers of a call of a function over blocks of several messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockCounts {
    /// Blocks of each message.
    pub blocks: usize,
    pub messages: usize,
}

/// The interface of a callee.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `f(key, in, out, n)`: the function of a key and of each of `n` blocks; or `f(key, in, text, out,
    /// n)`: its XOR with the text, for multiples of `xored` blocks.
    Blocks { key: KeyWords, input: usize, output: usize, xored: Option<usize> },
    /// `f(chains, in, nblocks, count)`: for each of `count` messages the function of its chaining
    /// value in `chains` and a block, block after block from the address in `in`; for these numbers.
    Chained { chain: usize, block: usize, counts: Vec<BlockCounts> },
    /// The function of bytes at all addresses but one, which is of the result: bytes and alignment
    /// of each.
    Fixed { sizes: Vec<(usize, u64)>, result: usize },
    /// A kernel of arithmetic: its results are known by the integers that they represent.
    Promise(Box<Promise>),
}

/// The words of a key in memory: their bits, from the lowest one of the first byte on.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct KeyWords {
    /// For each bit the bit of the key that it is; `None` for zero. Nothing without a key.
    pub bits: Vec<Option<usize>>,
    /// Bits of the key.
    pub count: usize,
    /// The address is a multiple of this many bytes.
    pub align: u64,
}

impl KeyWords {
    /// The bits of the key that words hold; `None` if the words are no words of a key.
    pub fn key(&self, bits: &Bits, words: &[Cell]) -> Option<Vec<Cell>> {
        let mut key = vec![None; self.count];
        for (place, &cell) in self.bits.iter().zip(words) {
            match *place {
                None if bits.value(cell) == Some(false) => {}
                // A word may have several copies of one bit.
                Some(at) if key[at].is_none_or(|known| known == cell) => key[at] = Some(cell),
                _ => return None,
            }
        }
        key.into_iter().collect()
    }
}

/// A function of an object that computes an uninterpreted function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Callee {
    pub symbol: String,
    /// The number of the function; callees with one number compute the same.
    pub function: usize,
    pub shape: Shape,
}

/// The number of the function of random bytes.
const RANDOM: usize = usize::MAX;

/// Uninterpreted functions, and their results so far.
#[derive(Clone, Default, Debug)]
pub struct Functions {
    callees: Vec<Callee>,
    places: Vec<Option<u64>>,
    results: FxHashMap<(usize, Vec<Cell>), Vec<Cell>>,
    parameters: u64,
    /// Whether random bytes are free bytes.
    draws: bool,
    pub residues: Residues,
    /// Points, where an object has kernels that add them.
    pub points: Option<Points>,
    /// The symbols of callees that the object has called.
    pub called: std::collections::BTreeSet<String>,
}

impl Functions {
    pub fn new(callees: &[Callee], object: &Object) -> Functions {
        let places = callees.iter().map(|callee| object.function(&callee.symbol)).collect();
        Functions { callees: callees.to_vec(), places, draws: true, ..Functions::default() }
    }

    /// The callee that begins at this place of the object.
    pub(super) fn at(&self, place: u64) -> Option<&Callee> {
        let at = self.places.iter().position(|at| *at == Some(place))?;
        self.callees.get(at)
    }

    /// A new free bit.
    pub fn parameter(&mut self, bits: &mut Bits) -> Cell {
        self.parameters += 1;
        let edge = bits.graph.intern(Kind::Param, 1, 0, self.parameters - 1, 0);
        Cell::new(edge, Instance::Every)
    }

    /// The bits of random bytes, by the number of the draw in a call of an exported function; `None`
    /// if they are not named.
    pub fn random(&mut self, bits: &mut Bits, draw: u64, bytes: usize) -> Option<Vec<Cell>> {
        let arguments = [draw, bytes as u64].map(|number| bits.number(number, 64)).concat();
        self.draws.then(|| self.apply(bits, RANDOM, arguments, bytes))
    }

    /// The bits of `bytes` bytes that a function returns; not known if an argument is not.
    pub fn apply(
        &mut self,
        bits: &mut Bits,
        function: usize,
        arguments: Vec<Cell>,
        bytes: usize,
    ) -> Vec<Cell> {
        if arguments.iter().any(|cell| cell.edge().is_none()) {
            return vec![Cell::OPAQUE; 8 * bytes];
        }
        let key = (function, arguments);
        if let Some(known) = self.results.get(&key) {
            return known.clone();
        }
        let result: Vec<Cell> = (0..8 * bytes).map(|_| self.parameter(bits)).collect();
        self.results.insert(key, result.clone());
        result
    }
}
