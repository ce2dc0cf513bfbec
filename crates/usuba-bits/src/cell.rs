//! Symbolic bits: each bit of registers and memory is a function of the inputs of one instance.
//!
//! ```text
//! zmm3 holds     bit 37 = f @ 1       f(inputs of instance 1)
//! zmm4 holds     bit 37 = g @ 1
//! zmm3 & zmm4    bit 37 = (f & g) @ 1
//! ```
//!
//! A *cell* is a pair of a one-bit edge of the DAG and an instance. The parameters of the DAG are
//! the inputs of one instance; the cell `f @ j` says that the bit is `f` of the inputs of instance
//! `j`. Constants, and functions of shared inputs, hold for all instances.
//!
//! *Soundness, for every lane:* the machine computes each bit of each register on its own. An
//! operation on `f @ i` and `g @ i` is the node of both at `i`, which is right for instance `i`
//! because the node is right for all inputs. The XOR of bits of two instances is kept as a *mixed*
//! bit, because transpositions exchange bits by three XORs; once all but one instance have
//! cancelled, it is a cell again. Any other operation on two instances gives an *opaque* bit, about
//! which nothing can be proved. At the end each bit of each result must be the cell of its own
//! instance. So no instruction is assumed to treat lanes alike, and data may move between lanes if
//! it comes back or is masked away. Lanes with equal computations cost little, because their nodes
//! are found, not made.

use rustc_hash::FxHashMap;

use usuba::ir::carryless::{self, Gate};

use super::integers::Words;
use usuba_equiv::dag::{Edge, Kind};
use usuba_equiv::value_numbering::Graph;
use usuba_equiv::word_sums::Sums;

/// One bit of a register or of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cell(u64);

/// The instance of a bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instance {
    /// The bit has this value for all of them.
    Every,
    Number(u16),
}

/// Numbers of nodes in cells begin here; smaller numbers are bits without an edge.
const FIRST: u64 = 3;

/// The number that stands for mixed bits; below it are which, and whether it is complemented.
const MIXED: u64 = 2;

/// The most instances of a mixed bit.
const MOST: usize = 4;

impl Cell {
    /// A bit that was never written: its value is unknown, and no secret of the function.
    pub const UNSET: Cell = Cell(0);

    /// A bit of unknown value, which may depend on secrets.
    pub const OPAQUE: Cell = Cell(1 << 32);

    /// The edge, which has one bit, at an instance.
    pub fn new(edge: Edge, instance: Instance) -> Cell {
        let tag = match instance {
            Instance::Every => 0,
            Instance::Number(number) => (number as u64 + 1) << 8,
        };
        let node = edge.node() as u64 + FIRST;
        Cell(node << 32 | tag | edge.is_complement() as u64)
    }

    /// The edge; `None` if the bit is unset or opaque.
    pub fn edge(self) -> Option<Edge> {
        let node = (self.0 >> 32).checked_sub(FIRST)?;
        Some(Edge::from_raw(node << 32 | self.0 & 1))
    }

    pub fn instance(self) -> Instance {
        match (self.0 & 0xffff_ff00) >> 8 {
            0 => Instance::Every,
            tag => Instance::Number(tag as u16 - 1),
        }
    }

    /// The bit with another edge that holds for the same instance.
    fn same_instance(self, edge: Edge) -> Cell {
        Cell::new(edge, self.instance())
    }

    /// Whether it is a known function of inputs, perhaps of several instances.
    pub(super) fn is_known(self) -> bool {
        self.0 >> 32 >= MIXED
    }

    /// Which mixed bit it is, and whether it is complemented.
    fn mixed(self) -> Option<(usize, bool)> {
        (self.0 >> 32 == MIXED).then_some(((self.0 as u32 >> 1) as usize, self.0 & 1 == 1))
    }
}

/// The DAG, and the operators on cells.
pub struct Bits {
    pub graph: Graph,
    zero: Edge,
    /// Recent results of operators on edges: lanes mostly repeat the same operators. A look-up here
    /// is cheaper than in the DAG.
    recent: Vec<Made>,
    /// The results of all operators, where engines answer: repeating their search is expensive.
    answered: FxHashMap<(Kind, Edge, Edge), Edge>,
    /// The parts of mixed bits, and their numbers.
    mixed: Vec<Parts>,
    /// The integer abstraction: the words of bits, where words are integers.
    pub(super) words: Option<Box<Words>>,
    numbers: FxHashMap<Parts, usize>,
    /// Additions of words; `None` where their order is not abstracted.
    sums: Option<Sums>,
    /// Whether engines are asked about their bits and carries.
    asks_sums: bool,
    /// Whether functions of two named bits are opaque, so that the graph has no operators.
    pub(super) is_flat: bool,
}

/// Edges that are not complemented, by their instances: 0 is every one, j + 1 is instance j. Their
/// sum is the mixed bit.
type Parts = Vec<(u32, Edge)>;

/// An operator, its operands and its result.
type Made = (Kind, Edge, Edge, Edge);

/// Results that are remembered as recent.
const RECENT: usize = 1 << RECENT_BITS;
const RECENT_BITS: u32 = 10;

impl Bits {
    /// Of a graph that has the program already.
    pub fn new(mut graph: Graph) -> Bits {
        let zero = graph.constant(1, 0);
        if let Some(rewrites) = &mut graph.rewrites {
            rewrites.renew();
        }
        let nothing = (Kind::List, Edge::NONE, Edge::NONE, Edge::NONE);
        Bits {
            graph,
            zero,
            recent: vec![nothing; RECENT],
            answered: FxHashMap::default(),
            mixed: Vec::new(),
            words: None,
            numbers: FxHashMap::default(),
            sums: None,
            asks_sums: true,
            is_flat: false,
        }
    }

    pub fn constant(&self, bit: bool) -> Cell {
        Cell::new(self.zero.flipped(bit), Instance::Every)
    }

    /// The value of a bit that does not depend on inputs.
    pub fn value(&self, cell: Cell) -> Option<bool> {
        let edge = cell.edge().filter(|edge| edge.node() == self.zero.node())?;
        Some(edge.is_complement())
    }

    /// The value of a word, its least significant bit first, if it does not depend on inputs.
    ///
    /// # Panics
    /// If the word has more than 64 bits.
    pub fn word(&self, cells: &[Cell]) -> Option<u64> {
        assert!(cells.len() <= 64, "a word");
        cells.iter().rev().try_fold(0, |sum, &cell| Some(sum << 1 | self.value(cell)? as u64))
    }

    /// The lowest `count` bits of a word, its least significant bit first.
    pub fn number(&self, value: u64, count: usize) -> Vec<Cell> {
        (0..count).map(|at| self.constant(at < 64 && value >> at & 1 == 1)).collect()
    }

    /// The value of a word of at most 64 bits that does not depend on inputs: such words are
    /// computed at once, as a function is executed on many inputs where it is not proved.
    fn short(&self, cells: &[Cell]) -> Option<u128> {
        if cells.len() > 64 { None } else { self.word(cells).map(u128::from) }
    }

    /// The lowest `count` bits of a long word.
    fn long_number(&self, value: u128, count: usize) -> Vec<Cell> {
        (0..count).map(|at| self.constant(at < 128 && value >> at & 1 == 1)).collect()
    }

    /// Whether the bit may depend on an input.
    pub fn is_secret(&self, cell: Cell) -> bool {
        cell != Cell::UNSET && self.value(cell).is_none()
    }

    pub fn not(&self, a: Cell) -> Cell {
        match a.edge() {
            Some(edge) => a.same_instance(!edge),
            None if a.mixed().is_some() => Cell(a.0 ^ 1),
            None => a,
        }
    }

    pub fn and(&mut self, a: Cell, b: Cell) -> Cell {
        // A constant decides for any other bit.
        match (self.value(a), self.value(b)) {
            (Some(false), _) | (_, Some(true)) => a,
            (_, Some(false)) | (Some(true), _) => b,
            _ => self.joined(Kind::And, a, b),
        }
    }

    pub fn or(&mut self, a: Cell, b: Cell) -> Cell {
        let (a, b) = (self.not(a), self.not(b));
        let and = self.and(a, b);
        self.not(and)
    }

    pub fn xor(&mut self, a: Cell, b: Cell) -> Cell {
        match (self.value(a), self.value(b)) {
            (Some(flip), _) => self.flipped(b, flip),
            (_, Some(flip)) => self.flipped(a, flip),
            _ => self.joined(Kind::Xor, a, b),
        }
    }

    fn flipped(&self, a: Cell, flip: bool) -> Cell {
        if flip { self.not(a) } else { a }
    }

    /// `And` or `Xor` of two bits that are not constant.
    fn joined(&mut self, kind: Kind, a: Cell, b: Cell) -> Cell {
        if kind == Kind::And && a.0 ^ b.0 <= 1 && a.is_known() {
            // A bit and itself, or its complement.
            return if a == b { a } else { self.constant(false) };
        }
        let (Some(x), Some(y)) = (a.edge(), b.edge()) else {
            if kind == Kind::Xor && a.is_known() && b.is_known() {
                return self.mix(a, b);
            }
            // Two bits that were never written are no secret together, either.
            return if self.is_secret(a) || self.is_secret(b) { Cell::OPAQUE } else { Cell::UNSET };
        };
        if self.is_flat && x.node() != y.node() {
            return Cell::OPAQUE;
        }
        let instance = match (a.instance(), b.instance()) {
            (Instance::Every, other) => other,
            (one, Instance::Every) => one,
            (one, other) if one == other => one,
            _ if kind == Kind::Xor => return self.mix(a, b),
            _ => return Cell::OPAQUE,
        };
        let edge = self.made(kind, x, y);
        if edge.node() == self.zero.node() {
            return self.constant(edge.is_complement());
        }
        Cell::new(edge, instance)
    }

    /// The XOR of bits of several instances.
    fn mix(&mut self, a: Cell, b: Cell) -> Cell {
        let (mut parts, mut flip) = self.parts(a);
        let (more, flip_more) = self.parts(b);
        flip ^= flip_more;
        for (instance, edge) in more {
            let at = parts.binary_search_by_key(&instance, |part| part.0);
            let sum = match at {
                Ok(at) => self.made(Kind::Xor, parts.remove(at).1, edge),
                Err(_) => edge,
            };
            flip ^= sum.is_complement();
            if sum.node() != self.zero.node() {
                parts.insert(
                    at.unwrap_or_else(|at| at),
                    (instance, sum.flipped(sum.is_complement())),
                );
            }
        }
        // Parts that all instances share belong to the only instance, if there is one.
        if let [(0, shared), (instance, edge)] = parts[..] {
            let sum = self.made(Kind::Xor, shared, edge);
            flip ^= sum.is_complement();
            parts = vec![(instance, sum.flipped(sum.is_complement()))];
        }
        match parts[..] {
            [] => self.constant(flip),
            [(_, edge)] if edge.node() == self.zero.node() => self.constant(flip),
            [(0, edge)] => Cell::new(edge.flipped(flip), Instance::Every),
            [(number, edge)] => {
                Cell::new(edge.flipped(flip), Instance::Number((number - 1) as u16))
            }
            _ if parts.len() > MOST => Cell::OPAQUE,
            _ => {
                let next = self.mixed.len();
                let number = *self.numbers.entry(parts).or_insert_with_key(|parts| {
                    self.mixed.push(parts.clone());
                    next
                });
                Cell(MIXED << 32 | (number as u64) << 1 | flip as u64)
            }
        }
    }

    /// The parts of a bit that is known, and whether their sum is complemented.
    fn parts(&self, cell: Cell) -> (Parts, bool) {
        if let Some((number, flip)) = cell.mixed() {
            return (self.mixed[number].clone(), flip);
        }
        let edge = cell.edge().expect("a bit that is known");
        let instance = match cell.instance() {
            Instance::Every => 0,
            Instance::Number(number) => number as u32 + 1,
        };
        (vec![(instance, edge.flipped(edge.is_complement()))], edge.is_complement())
    }

    fn made(&mut self, kind: Kind, x: Edge, y: Edge) -> Edge {
        let mixed = x.raw().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ y.raw() ^ kind as u64;
        let slot = (mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> (64 - RECENT_BITS)) as usize;
        let recent = self.recent[slot];
        if (recent.0, recent.1, recent.2) == (kind, x, y) {
            return recent.3;
        }
        let engines = self.graph.rewrites.is_some();
        let known = if engines { self.answered.get(&(kind, x, y)).copied() } else { None };
        let edge = known.unwrap_or_else(|| match kind {
            Kind::And => self.graph.and(x, y),
            _ => self.graph.xor(x, y),
        });
        if engines && known.is_none() {
            self.answered.insert((kind, x, y), edge);
        }
        self.recent[slot] = (kind, x, y, edge);
        edge
    }

    /// The function of three bits with this table: bit 4a + 2b + c of it.
    pub fn function(&mut self, mut table: u8, [a, b, c]: [Cell; 3]) -> Cell {
        // A constant selects one half of the table: a bit that a mask removes may be of any
        // instance.
        for (cell, shift, low) in [(a, 4, 0x0f), (b, 2, 0x33), (c, 1, 0x55)] {
            if let Some(bit) = self.value(cell) {
                let half = if bit { table >> shift & low } else { table & low };
                table = half | half << shift;
            }
        }
        // Operands on which nothing depends are left out, known or not.
        let depends = |shift: u32, mask: u8| (table >> shift ^ table) & mask != 0;
        let zero = self.constant(false);
        let a = if depends(4, 0x0f) { a } else { zero };
        let b = if depends(2, 0x33) { b } else { zero };
        let c = if depends(1, 0x55) { c } else { zero };
        if [a, b, c].iter().all(|cell| cell.is_known()) {
            return self.sum_of_products(table, [a, b, c]);
        }
        let secret = [a, b, c].iter().any(|&cell| self.is_secret(cell));
        if secret { Cell::OPAQUE } else { Cell::UNSET }
    }

    /// The algebraic normal form of a function.
    fn sum_of_products(&mut self, table: u8, [a, b, c]: [Cell; 3]) -> Cell {
        let form = usuba_equiv::truth_table::algebraic(table as u32);
        let mut sum = self.constant(form & 1 == 1);
        for product in (1..8).filter(|product| form >> product & 1 == 1) {
            let mut term = self.constant(true);
            for (bit, factor) in [(1, c), (2, b), (4, a)] {
                if product & bit != 0 {
                    term = self.and(term, factor);
                }
            }
            sum = self.xor(sum, term);
        }
        sum
    }

    /// a * b in as many bits: the sum of `a` shifted by each place where `b` has a one.
    pub fn product(&mut self, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
        if let (Some(x), Some(y)) = (self.short(a), self.short(b)) {
            return self.long_number(x * y, a.len());
        }
        if let Some(mut product) = self.product_of_integers(a, b) {
            product.truncate(a.len());
            return product;
        }
        if let Some(product) = self.opaque_product(a, b, a.len()) {
            return product;
        }
        let zero = self.constant(false);
        let mut sum = vec![zero; a.len()];
        for (place, &factor) in b.iter().enumerate() {
            let mut term = vec![zero; a.len()];
            for (bit, &from) in term[place..].iter_mut().zip(a) {
                *bit = self.and(from, factor);
            }
            sum = self.sum(&sum, &term, false).0;
        }
        sum
    }

    /// a * b in twice as many bits.
    pub fn whole_product(&mut self, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
        if let (Some(x), Some(y)) = (self.short(a), self.short(b)) {
            return self.long_number(x * y, 2 * a.len());
        }
        if let Some(product) = self.product_of_integers(a, b) {
            return product;
        }
        if let Some(product) = self.opaque_product(a, b, 2 * a.len()) {
            return product;
        }
        let zeros = vec![self.constant(false); a.len()];
        self.product(&[a, &zeros].concat(), &[b, &zeros].concat())
    }

    /// The carry-less product of two words in twice as many bits.
    pub fn carryless(&mut self, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
        let [a, b] = [a, b].map(|word| word.iter().rev().copied().collect::<Vec<Cell>>());
        let mut product = carryless::term_by_term(&a, &b, &mut |gate, x, y| match gate {
            Gate::And => self.and(x, y),
            Gate::Xor => self.xor(x, y),
        });
        product.reverse();
        product.push(self.constant(false));
        product
    }

    /// Whether two words are equal.
    pub fn equal(&mut self, a: &[Cell], b: &[Cell]) -> Cell {
        if let Some(equal) = self.is_integer_zero(a, b) {
            return equal;
        }
        let mut equal = self.constant(true);
        for (&x, &y) in a.iter().zip(b) {
            let differ = self.xor(x, y);
            let same = self.not(differ);
            equal = self.and(equal, same);
        }
        equal
    }
}

mod sums;
#[cfg(test)]
mod tests;
