//! The integer abstraction: words made by arithmetic are polynomials, and their bits are free
//! variables.
//!
//! ```text
//! rdx:rax = rsi * rdi     64 bits of the integer ab - 2^64 Z, and 64 of Z = ab div 2^64
//! shrd rax, rdx, 51       bits 51 to 63 of the one, bits 0 to 50 of the other
//! add rcx, rax            both words as integers again: the moved bits are quotients
//! ```
//!
//! Registers and memory hold bits, as everywhere in this machine, so moves, shifts, masks and
//! shuffles are unchanged. The result of arithmetic is an integer, a polynomial of
//! `usuba_contracts::floors`, and its bits are free variables of the DAG; this file records the
//! word and the position of each. Where arithmetic reads a word, its bits are put together:
//! neighbouring bits of one integer are a quotient of it minus a multiple of another one. Bits that
//! are joined by logic, as `x & m`, are split by the values of a bit that all of them depend on; the
//! rest is an integer of one bit.
//!
//! *Soundness:* free variables have more values than bits of integers do. So equal edges are equal
//! bits, and equal polynomials are equal words; nothing is known about others.
//!
//! - `cases`: bits that are joined by logic, by case analysis of the bits that they depend on.
//! - `cells`: the operations of the machine, on cells of one instance.

mod cases;
mod cells;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint};
use rustc_hash::FxHashMap;

use crate::cell::{Bits, Cell, Instance};
use usuba_contracts::floors::Integers;
use usuba_contracts::poly::Poly;
use usuba_equiv::dag::{Edge, Kind};

/// An integer from `low` to `high`.
#[derive(Clone, Debug)]
pub struct Integer {
    pub poly: Poly,
    low: BigUint,
    high: BigUint,
}

impl Integer {
    /// An integer that is known by its greatest value alone.
    fn up_to(high: BigUint, poly: Poly) -> Integer {
        Integer { poly, low: BigUint::ZERO, high }
    }
}

/// The integers of the bits of a DAG.
#[derive(Default)]
pub struct Words {
    integers: Integers,
    /// Words whose bits are variables of the graph.
    words: Vec<Word>,
    /// The bits of an integer, the least significant first; those above are zero.
    bits_of: FxHashMap<Poly, Vec<Edge>>,
    /// The word and the position of a node of the DAG.
    places: FxHashMap<u32, (usize, usize)>,
    /// The integer of a list of bits, as a sum and as a factor.
    together: FxHashMap<(Vec<Edge>, bool), Option<Integer>>,
    /// Parts of words, by their first bit and the one after the last, as a sum and as a factor.
    parts: FxHashMap<(usize, usize, usize, bool), Poly>,
    /// The borrows of differences, by the bits of which they are functions: the function and the
    /// borrow.
    borrows: FxHashMap<Vec<u32>, Vec<(Edge, Edge)>>,
    /// Integers modulo a power of two, and their quotients.
    sums: FxHashMap<(Poly, usize), (Vec<Edge>, Poly)>,
}

struct Word {
    integer: Integer,
    /// The same as a factor: a multiple of a variable.
    factor: Option<Poly>,
}

/// Numbers of variables of the graph that are no parameters.
const FIRST: u64 = 1 << 40;

/// The most nodes of a bit in case analysis.
const CONE: usize = 512;

/// The most bits of nested case analysis of a word.
const DEPTH: usize = 4;

/// The most ones of a number by which compilers multiply with shifts and additions.
const SHIFTS: usize = 6;

/// 2^k - 1
fn ones(k: usize) -> BigUint {
    (BigUint::from(1u8) << k) - 1u8
}

fn power(k: usize) -> BigInt {
    BigInt::from(1) << k
}

impl Words {
    /// A word that is known by its greatest value alone, the least significant bit first.
    fn parameter(&mut self, bits: &mut Bits, width: usize, most: u64) -> Vec<Edge> {
        let high = BigUint::from(most);
        let poly = Poly::variable(self.integers.variable(high.clone()));
        self.word(bits, Integer::up_to(high, poly), width)
    }

    /// The bits of an integer, as many as it has.
    fn edges(&mut self, bits: &mut Bits, integer: Integer) -> Vec<Edge> {
        if let Some(edges) = self.bits_of.get(&integer.poly) {
            return edges.clone();
        }
        let edges = self.separate(bits, &integer.poly);
        let edges = edges.unwrap_or_else(|| self.free(bits, integer.clone()));
        self.bits_of.insert(integer.poly, edges.clone());
        edges
    }

    /// Bits of a sum of bits of which no two have the same place. A bit that is taken away is its
    /// complement and a constant.
    fn separate(&mut self, bits: &mut Bits, poly: &Poly) -> Option<Vec<Edge>> {
        let mut edges: Vec<Option<Edge>> = Vec::new();
        let mut place = |factor: &BigUint, edge: Edge| {
            (0..factor.bits()).filter(|&place| factor.bit(place)).all(|place| {
                let place = place as usize;
                edges.resize(edges.len().max(place + 1), None);
                edges[place].replace(edge).is_none()
            })
        };
        let mut constant = BigInt::ZERO;
        for (monomial, factor) in poly.terms() {
            let [(variable, _)] = &monomial[..] else {
                constant = monomial.is_empty().then(|| factor.clone())?;
                continue;
            };
            let edge = match variable % 2 {
                1 => *self.bits_of.get(&Poly::variable(*variable))?.first()?,
                _ => return None,
            };
            let taken = *factor < BigInt::ZERO;
            if taken {
                constant += factor;
            }
            place(factor.magnitude(), edge.flipped(taken)).then_some(())?;
        }
        place(&constant.to_biguint()?, edge_of(bits, true)).then_some(())?;
        let zero = edge_of(bits, false);
        Some(edges.into_iter().map(|edge| edge.unwrap_or(zero)).collect())
    }

    /// New variables of the graph.
    fn free(&mut self, bits: &mut Bits, integer: Integer) -> Vec<Edge> {
        let zeros = integer.poly.zeros().unwrap_or(0) as usize;
        let word = self.words.len();
        let count = integer.high.bits() as usize;
        let zero = edge_of(bits, false);
        let edges = (0..count).map(|place| {
            if place < zeros {
                return zero;
            }
            let number = FIRST + self.places.len() as u64;
            let edge = bits.graph.intern(Kind::Param, 1, 0, number, 0);
            self.places.insert(edge.node(), (word, place));
            edge
        });
        let edges = edges.collect();
        self.words.push(Word { integer, factor: None });
        edges
    }

    /// The integer with these bits, the least significant first. A factor is short: the definitions
    /// of its words are not expanded.
    fn integer(&mut self, bits: &mut Bits, edges: &[Edge], factor: bool) -> Option<Integer> {
        let key = (edges.to_vec(), factor);
        if let Some(known) = self.together.get(&key) {
            return known.clone();
        }
        let found = match factor {
            true => self.factor(bits, edges),
            false => self.sum(bits, edges, false, DEPTH),
        };
        self.together.insert(key, found.clone());
        found
    }

    fn factor(&mut self, bits: &mut Bits, edges: &[Edge]) -> Option<Integer> {
        if self.is_half(bits, edges) {
            return self.sum(bits, edges, true, 0);
        }
        let Integer { poly, low, high } = self.integer(bits, edges, false)?;
        let poly = self.integers.named(&poly, &high);
        Some(Integer { poly, low, high })
    }

    /// Whether bits are one half of an unknown word: products of halves become products of words
    /// again.
    fn is_half(&self, bits: &Bits, edges: &[Edge]) -> bool {
        let place = |edge: &Edge| match edge.is_complement() {
            true => None,
            false => self.places.get(&edge.node()).copied(),
        };
        let half = edges.len() / 2;
        let is_zero = |edge: &Edge| is_constant(bits, *edge) == Some(false);
        let count = edges.iter().position(is_zero).unwrap_or(edges.len());
        let Some((word, first)) = edges.first().and_then(place) else { return false };
        // A part that is known to be short is an integer of its own, and no half.
        let (whole, k) = (&self.words[word].integer.poly, half as u64);
        if let Some(above) = self.integers.floor_if_known(whole, k)
            && self.integers.is_known_below(&whole.plus(&above, &-power(half)), k)
        {
            return false;
        }
        (first == 0 && count == half || first == half && count <= half)
            && edges[count..].iter().all(is_zero)
            && (0..count).all(|at| place(&edges[at]) == Some((word, first + at)))
    }

    fn sum(
        &mut self,
        bits: &mut Bits,
        edges: &[Edge],
        factor: bool,
        depth: usize,
    ) -> Option<Integer> {
        let mut poly = Poly::default();
        let (mut low, mut high) = (BigUint::ZERO, BigUint::ZERO);
        let mut joined = Vec::new();
        let mut at = 0;
        while at < edges.len() {
            let edge = edges[at];
            if let Some(bit) = is_constant(bits, edge) {
                if bit {
                    poly = poly.add(&Poly::constant(power(at)));
                    low += BigUint::from(1u8) << at;
                    high += BigUint::from(1u8) << at;
                }
                at += 1;
                continue;
            }
            let Some(&(word, first)) = self.places.get(&edge.node()) else {
                if let Some(borrow) = self.borrow(bits, edge) {
                    let borrow = self.bit(borrow);
                    poly = poly.plus(&borrow, &power(at));
                    high += BigUint::from(1u8) << at;
                    at += 1;
                    continue;
                }
                joined.push(at);
                at += 1;
                continue;
            };
            let flip = edge.is_complement();
            let follows = |count: &usize| {
                let next = edges.get(at + count);
                next.is_some_and(|next| {
                    next.is_complement() == flip
                        && self.places.get(&next.node()) == Some(&(word, first + count))
                })
            };
            let count = 1 + (1..).take_while(follows).count();
            let part = self.part(word, first, first + count, factor)?;
            let whole = &self.words[word].integer;
            let most = ones(count).min(&whole.high >> first);
            // Bits above the part imply nothing about it.
            let least = match (first + count) as u64 >= whole.high.bits() {
                true => &whole.low >> first,
                false => BigUint::ZERO,
            };
            let (part, least, most) = match flip {
                true => (
                    Poly::constant(ones(count)).sub(&part),
                    ones(count) - most,
                    ones(count) - least,
                ),
                false => (part, least, most),
            };
            poly = poly.plus(&part, &power(at));
            low += least << at;
            high += most << at;
            at += count;
        }
        if !joined.is_empty() {
            // One bit that is a sum of others is a bit, and no case of theirs.
            let is_sum = |at: usize| bits.graph.node(edges[at]).kind == Kind::Xor;
            let control = match (depth, &joined[..]) {
                (0, _) => None,
                (_, &[at]) if is_sum(at) => None,
                _ => self.shared(bits, joined.iter().map(|&at| edges[at])),
            };
            if let Some(control) = control {
                return self.by_cases(bits, edges, control, depth);
            }
        }
        for at in joined {
            let bit = self.bit(edges[at]);
            poly = poly.plus(&bit, &power(at));
            high += BigUint::from(1u8) << at;
        }
        Some(Integer { poly, low, high })
    }

    /// The bit that a polynomial is, which is 0 or 1, if it has been computed before.
    fn bit_of(&self, poly: &Poly) -> Option<Edge> {
        let known = |poly: &Poly| self.bits_of.get(poly)?.first().copied();
        known(poly).or_else(|| known(&Poly::constant(1).sub(poly)).map(|edge| !edge))
    }

    /// Bits from `first` to before `end` of a word.
    fn part(&mut self, word: usize, first: usize, end: usize, factor: bool) -> Option<Poly> {
        if let Some(part) = self.parts.get(&(word, first, end, factor)) {
            return Some(part.clone());
        }
        let Word { integer, factor: short } = &mut self.words[word];
        let whole = match factor {
            true => {
                let integers = &mut self.integers;
                short.get_or_insert_with(|| integers.named(&integer.poly, &integer.high)).clone()
            }
            false => integer.poly.clone(),
        };
        let bits = integer.high.bits() as usize;
        let mut above = |k: usize| match k {
            0 => Some(whole.clone()),
            _ if k >= bits => Some(Poly::default()),
            _ => self.integers.floor(&whole, k as u64),
        };
        let part = above(first)?.plus(&above(end)?, &-power(end - first));
        self.parts.insert((word, first, end, factor), part.clone());
        Some(part)
    }

    /// An integer of one bit.
    fn bit(&mut self, edge: Edge) -> Poly {
        let poly = match self.places.get(&edge.node()) {
            Some(&(word, place)) => {
                let part = self.part(word, place, place + 1, false);
                let part = part.expect("its word is made of sums and products");
                match part.value().is_some() || part.shifted_variable().is_some() {
                    true => part,
                    false => self.integers.named(&part, &BigUint::from(1u8)),
                }
            }
            None => {
                let variable = Poly::variable(self.integers.variable(BigUint::from(1u8)));
                let word = self.words.len();
                let integer = Integer::up_to(BigUint::from(1u8), variable.clone());
                self.words.push(Word { integer, factor: None });
                self.places.insert(edge.node(), (word, 0));
                self.bits_of.insert(variable.clone(), vec![edge.plain()]);
                variable
            }
        };
        match edge.is_complement() {
            true => Poly::constant(1).sub(&poly),
            false => poly,
        }
    }

    /// The words whose `or` is this word: its bits are ORs of bits of integers, the same integers
    /// at all places. `None` if it is one integer alone.
    fn joined(&self, bits: &Bits, edges: &[Edge]) -> Option<Vec<Vec<Edge>>> {
        let zero = edge_of(bits, false);
        let mut words: BTreeMap<(usize, isize), Vec<Edge>> = BTreeMap::new();
        for (at, &edge) in edges.iter().enumerate() {
            let mut open = vec![edge];
            while let Some(edge) = open.pop() {
                if is_constant(bits, edge) == Some(false) {
                    continue;
                }
                if let Some(&(word, place)) = self.places.get(&edge.node()) {
                    let name = (word, place as isize - at as isize);
                    let own = words.entry(name).or_insert_with(|| vec![zero; edges.len()]);
                    if edge.is_complement() || std::mem::replace(&mut own[at], edge) != zero {
                        return None;
                    }
                    continue;
                }
                let node = bits.graph.node(edge);
                if node.kind != Kind::And || !edge.is_complement() {
                    return None;
                }
                open.extend([node.a, node.b].map(|raw| !Edge::from_raw(raw)));
            }
        }
        (words.len() > 1).then(|| words.into_values().collect())
    }

    /// An integer below 2^width as `width` bits.
    fn word(&mut self, bits: &mut Bits, integer: Integer, width: usize) -> Vec<Edge> {
        let mut word = self.edges(bits, integer);
        word.resize(width, edge_of(bits, false));
        word
    }

    /// An integer that is 0 or 1.
    fn carry(&mut self, bits: &mut Bits, poly: Poly) -> Edge {
        self.word(bits, Integer::up_to(BigUint::from(1u8), poly), 1)[0]
    }
}

fn edge_of(bits: &Bits, value: bool) -> Edge {
    bits.constant(value).edge().expect("a constant")
}

fn is_constant(bits: &Bits, edge: Edge) -> Option<bool> {
    bits.value(Cell::new(edge, Instance::Every))
}
