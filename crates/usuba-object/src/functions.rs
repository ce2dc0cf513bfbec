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

use std::collections::{BTreeMap, BTreeSet};

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

/// A function of which there are several sources, which compute the same function of the bytes of
/// a key and of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OneOfSeveral {
    /// The number of the function that all of them compute.
    pub function: usize,
    /// The place of each of its bits of the key in the result of its schedule, or in the bytes of
    /// the key.
    pub key: Vec<usize>,
    /// The function that makes its schedule from the bytes of a key.
    pub schedule: Option<usize>,
    /// Bytes of a key.
    pub key_bytes: usize,
}

/// The number of the function of random bytes.
const RANDOM: usize = usize::MAX;

/// Uninterpreted functions, and their results so far.
#[derive(Clone, Default, Debug)]
pub struct Functions {
    callees: Vec<Callee>,
    places: Vec<Option<u64>>,
    results: FxHashMap<(usize, Vec<Cell>), Vec<Cell>>,
    /// Functions with several sources, by the numbers of their sources.
    several: BTreeMap<usize, OneOfSeveral>,
    /// The arguments and the results of their schedules so far.
    made: FxHashMap<usize, Vec<[Vec<Cell>; 2]>>,
    parameters: u64,
    /// Whether random bytes are free bytes.
    draws: bool,
    pub residues: Residues,
    /// Points, where an object has kernels that add them.
    pub points: Option<Points>,
    /// The symbols of callees that the object has called.
    pub called: BTreeSet<String>,
}

impl Functions {
    /// The callees of an object, and the functions among them that have several sources.
    pub fn new(
        callees: &[Callee],
        several: &BTreeMap<usize, OneOfSeveral>,
        object: &Object,
    ) -> Functions {
        let places = callees.iter().map(|callee| object.function(&callee.symbol)).collect();
        let (callees, several) = (callees.to_vec(), several.clone());
        let schedules = several.values().filter_map(|one| one.schedule);
        let made = schedules.map(|schedule| (schedule, Vec::new())).collect();
        Functions { callees, places, several, made, draws: true, ..Functions::default() }
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
        let key = self.of_all_sources(bits, function, &arguments).unwrap_or((function, arguments));
        if let Some(known) = self.results.get(&key) {
            return known.clone();
        }
        let result: Vec<Cell> = (0..8 * bytes).map(|_| self.parameter(bits)).collect();
        if let Some(made) = self.made.get_mut(&key.0) {
            made.push([key.1.clone(), result.clone()]);
        }
        self.results.insert(key, result.clone());
        result
    }

    /// The function that all sources of a function compute, and its arguments: the bytes of the key
    /// and of the block. `None` if there is one source, or the key is not from its schedule.
    fn of_all_sources(
        &self,
        bits: &Bits,
        function: usize,
        arguments: &[Cell],
    ) -> Option<(usize, Vec<Cell>)> {
        let OneOfSeveral { function, key, schedule, key_bytes } = self.several.get(&function)?;
        let (held, block) = arguments.split_at_checked(key.len())?;
        let mut bytes = match schedule {
            Some(schedule) => {
                let is_held = |made: &[Cell]| {
                    key.iter().zip(held).all(|(&at, cell)| made.get(at) == Some(cell))
                };
                let [bytes, _] = self.made.get(schedule)?.iter().find(|[_, made]| is_held(made))?;
                bytes.clone()
            }
            None => {
                // Other bits of the bytes are no part of the key.
                let mut bytes = vec![bits.constant(false); 8 * key_bytes];
                for (&at, &cell) in key.iter().zip(held) {
                    *bytes.get_mut(at)? = cell;
                }
                bytes
            }
        };
        bytes.extend_from_slice(block);
        Some((*function, bytes))
    }
}
