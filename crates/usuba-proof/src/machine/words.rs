//! Bits that are those of integers, so that products and sums of whole words are no circuits.
//!
//! ```text
//! rdx:rax = rsi * rdi     64 bits of the integer ab - 2^64 Z, and 64 of Z = ab div 2^64
//! shrd rax, rdx, 51       bits 51 to 63 of the one, bits 0 to 50 of the other
//! add rcx, rax            both words as integers again: the moved bits are quotients
//! ```
//!
//! Registers and memory hold bits, as everywhere in this machine; so moves, shifts, masks and
//! shuffles are what they are. But a word that arithmetic has made is an integer, a polynomial of
//! `crate::floors`, and its bits are free variables of the graph of which this file knows whose
//! they are. Where arithmetic asks for a word, its bits are put together: neighbours of one integer
//! are a quotient of it less another one. Bits that are joined by logic, as `x & m`, are taken apart
//! by the values of a bit that all of them depend on; what is left is an integer of one bit.
//!
//! Free variables of the graph take more values than bits of integers do. So bits that are one
//! edge are equal, and words that are one polynomial are equal; what is neither is not known.
//!
//! Above 600 lines because bits are put together and taken apart by the same tables.

use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint};
use rustc_hash::FxHashMap;

use super::cell::{Bits, Cell, Instance};
use crate::contracts::poly::Poly;
use crate::floors::Integers;
use crate::graph::{Edge, Kind};

/// An integer from `low` to `high`.
#[derive(Clone, Debug)]
pub struct Integer {
    pub poly: Poly,
    low: BigUint,
    high: BigUint,
}

impl Integer {
    /// One of which nothing but its greatest value is known.
    fn up_to(high: BigUint, poly: Poly) -> Integer {
        Integer { poly, low: BigUint::ZERO, high }
    }
}

/// What the bits of a graph are besides.
#[derive(Default)]
pub struct Words {
    integers: Integers,
    /// Words whose bits are variables of the graph.
    words: Vec<Word>,
    /// The bits of an integer, the least significant first; those above are zero.
    bits_of: FxHashMap<Poly, Vec<Edge>>,
    /// Which bit of which word a node of the graph is.
    places: FxHashMap<u32, (usize, usize)>,
    /// The integers that bits are together, as a sum and as a factor.
    together: FxHashMap<(Vec<Edge>, bool), Option<Integer>>,
    /// Parts of words, by their first bit and the one after the last, as a sum and as a factor.
    parts: FxHashMap<(usize, usize, usize, bool), Poly>,
    /// What differences borrow, by the bits of which it is a function: the function and the bit.
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

/// Nodes that a bit may be made of where it is taken apart.
const CONE: usize = 512;

/// Bits by which a word is taken apart, one after the other.
const DEPTH: usize = 4;

/// Ones of a number by which compilers multiply with shifts and sums.
const SHIFTS: usize = 6;

/// 2^k - 1
fn ones(k: usize) -> BigUint {
    (BigUint::from(1u8) << k) - 1u8
}

fn power(k: usize) -> BigInt {
    BigInt::from(1) << k
}

impl Words {
    /// A word of which nothing is known but its greatest value, the least significant bit first.
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

    /// The integer that bits are, the least significant first. A factor is short: what its words
    /// are made of is not written out.
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

    /// Whether bits are one half of a word, of which nothing is known: products of halves become those of words again.
    fn is_half(&self, bits: &Bits, edges: &[Edge]) -> bool {
        let place = |edge: &Edge| match edge.is_complement() {
            true => None,
            false => self.places.get(&edge.node()).copied(),
        };
        let half = edges.len() / 2;
        let is_zero = |edge: &Edge| is_constant(bits, *edge) == Some(false);
        let count = edges.iter().position(is_zero).unwrap_or(edges.len());
        let Some((word, first)) = edges.first().and_then(place) else { return false };
        // What is known to be short is an integer of its own, and no half.
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
            // What lies above the part tells nothing of it.
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

    /// The bit that a polynomial is, which is 0 or 1, if it was asked for before.
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

    /// The words of which a word is the `or`: its bits are such of bits of integers, the same ones
    /// at all places. `None` if it is one alone.
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

    /// Remembers what the difference `d` of two words borrows as a function of three bits, which
    /// is how it is computed where there is no carry: ~a & b | ~(a ^ b) & d, of the top bits.
    fn remember(&mut self, bits: &mut Bits, [a, b, d]: [Edge; 3], borrow: Edge) {
        let [a, b, d] = [a, b, d].map(|edge| Cell::new(edge, Instance::Every));
        let formula = bits.function(0x8e, [a, b, d]);
        let Some(edge) = formula.edge().filter(|_| bits.value(formula).is_none()) else { return };
        if let Some(leaves) = self.leaves(bits, edge) {
            self.borrows.entry(leaves).or_default().push((edge, borrow));
        }
    }

    /// The bit that a difference borrows, if this is one.
    fn borrow(&mut self, bits: &mut Bits, edge: Edge) -> Option<Edge> {
        if self.borrows.is_empty() {
            return None;
        }
        let leaves = self.leaves(bits, edge).filter(|leaves| leaves.len() <= 3)?;
        let known = self.borrows.get(&leaves)?.clone();
        let found = self.table(bits, edge, &leaves);
        let all = (1u16 << (1 << leaves.len())) - 1;
        known.into_iter().find_map(|(formula, borrow)| {
            let table = self.table(bits, formula, &leaves);
            match found ^ table {
                0 => Some(borrow),
                differ if differ == all => Some(!borrow),
                _ => None,
            }
        })
    }

    /// The truth table of a bit.
    fn table(&self, bits: &mut Bits, edge: Edge, leaves: &[u32]) -> u16 {
        (0..1u32 << leaves.len()).fold(0, |table, row| {
            let value = |(at, &leaf): (usize, &u32)| (leaf, edge_of(bits, row >> at & 1 == 1));
            let mut known: FxHashMap<u32, Edge> = leaves.iter().enumerate().map(value).collect();
            let value = self.with(bits, edge, &mut known);
            table | ((is_constant(bits, value) == Some(true)) as u16 * (1 << row))
        })
    }

    /// A bit on which all of these depend.
    fn shared(&self, bits: &Bits, mut edges: impl Iterator<Item = Edge>) -> Option<u32> {
        let mut shared = self.leaves(bits, edges.next()?)?;
        for edge in edges {
            let leaves = self.leaves(bits, edge)?;
            shared.retain(|leaf| leaves.contains(leaf));
            if shared.is_empty() {
                return None;
            }
        }
        shared.first().copied()
    }

    /// Nodes with a place that a bit depends on.
    fn leaves(&self, bits: &Bits, edge: Edge) -> Option<Vec<u32>> {
        let (mut seen, mut next, mut leaves) = (vec![edge.node()], 0, Vec::new());
        while let Some(&number) = seen.get(next) {
            next += 1;
            if self.places.contains_key(&number) {
                leaves.push(number);
                continue;
            }
            let node = bits.graph.nodes[number as usize];
            if !matches!(node.kind, Kind::And | Kind::Xor) {
                continue;
            }
            for raw in [node.a, node.b] {
                let operand = Edge::from_raw(raw).node();
                if !seen.contains(&operand) {
                    seen.push(operand);
                }
            }
            if seen.len() > CONE {
                return None;
            }
        }
        leaves.sort_unstable();
        Some(leaves)
    }

    /// The integer for each value of a bit.
    fn by_cases(
        &mut self,
        bits: &mut Bits,
        edges: &[Edge],
        control: u32,
        depth: usize,
    ) -> Option<Integer> {
        let mut cases = Vec::with_capacity(2);
        for value in [false, true] {
            let mut known = FxHashMap::from_iter([(control, edge_of(bits, value))]);
            let with: Vec<Edge> =
                edges.iter().map(|&edge| self.with(bits, edge, &mut known)).collect();
            cases.push(self.sum(bits, &with, false, depth - 1)?);
        }
        let control = self.bit(Edge::from_raw((control as u64) << 32));
        let difference = cases[1].poly.sub(&cases[0].poly);
        let poly = cases[0].poly.add(&control.mul(&difference)?);
        let [one, other] = <[Integer; 2]>::try_from(cases).expect("two cases");
        Some(Integer { poly, low: one.low.min(other.low), high: one.high.max(other.high) })
    }

    /// A bit where some nodes are known.
    fn with(&self, bits: &mut Bits, edge: Edge, known: &mut FxHashMap<u32, Edge>) -> Edge {
        let flip = edge.is_complement();
        if let Some(found) = known.get(&edge.node()) {
            return found.flipped(flip);
        }
        let node = bits.graph.nodes[edge.node() as usize];
        let found = match node.kind {
            Kind::And | Kind::Xor if !self.places.contains_key(&edge.node()) => {
                let [a, b] = [node.a, node.b].map(|raw| {
                    let edge = self.with(bits, Edge::from_raw(raw), known);
                    Cell::new(edge, Instance::Every)
                });
                let cell = if node.kind == Kind::And { bits.and(a, b) } else { bits.xor(a, b) };
                cell.edge().expect("bits of one instance")
            }
            _ => edge.plain(),
        };
        known.insert(edge.node(), found);
        found.flipped(flip)
    }

    /// An integer modulo 2^width, and its quotient by 2^width. It lies between its bounds; without
    /// any it may be below zero.
    fn reduced(
        &mut self,
        bits: &mut Bits,
        total: &Poly,
        bounds: Option<(&BigUint, &BigUint)>,
        width: usize,
    ) -> Option<(Vec<Edge>, Poly)> {
        let key = (total.clone(), width);
        if let Some(known) = self.sums.get(&key) {
            return Some(known.clone());
        }
        let (low, quotient) = match bounds.filter(|(_, high)| high.bits() as usize <= width) {
            Some((low, high)) => {
                self.integers.is_below(total, width as u64);
                self.integers.is_below(total, high.bits().max(1));
                let (low, high) = (low.clone(), high.clone());
                (Integer { poly: total.clone(), low, high }, Poly::default())
            }
            None => {
                let floor = self.integers.floor(total, width as u64)?;
                let poly = total.plus(&floor, &-power(width));
                if let Some((_, high)) = bounds {
                    self.integers.is_below(&floor, high.bits() - width as u64);
                }
                (Integer::up_to(ones(width), poly), floor)
            }
        };
        let low = self.word(bits, low, width);
        self.sums.insert(key, (low.clone(), quotient.clone()));
        Some((low, quotient))
    }

    /// An integer below 2^width as so many bits.
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

/// The edges of cells of one instance, and the instance.
fn gathered(bits: &Bits, words: &[&[Cell]]) -> Option<(Vec<Vec<Edge>>, Instance)> {
    let mut instance = Instance::Every;
    let mut all = Vec::with_capacity(words.len());
    for cells in words {
        let mut edges = Vec::with_capacity(cells.len());
        for &cell in *cells {
            edges.push(cell.edge()?);
            match (instance, cell.instance()) {
                _ if bits.value(cell).is_some() => {}
                (_, Instance::Every) => {}
                (Instance::Every, own) => instance = own,
                (one, own) if one != own => return None,
                _ => {}
            }
        }
        all.push(edges);
    }
    Some((all, instance))
}

fn cells(bits: &Bits, edges: &[Edge], instance: Instance) -> Vec<Cell> {
    let cell = |&edge: &Edge| match is_constant(bits, edge) {
        Some(value) => bits.constant(value),
        None => Cell::new(edge, instance),
    };
    edges.iter().map(cell).collect()
}

/// Whether all bits are constant.
fn is_known(bits: &Bits, words: &[&[Cell]]) -> bool {
    words.iter().all(|cells| cells.iter().all(|&cell| bits.value(cell).is_some()))
}

impl Bits {
    /// Does something with the words, which are away meanwhile.
    fn with_words<T>(
        &mut self,
        words: &[&[Cell]],
        f: impl FnOnce(&mut Words, &mut Bits, Vec<Vec<Edge>>) -> Option<T>,
    ) -> Option<(T, Instance)> {
        let (edges, instance) = gathered(self, words)?;
        let mut state = self.words.take()?;
        let found = f(&mut state, self, edges);
        self.words = Some(state);
        Some((found?, instance))
    }

    /// As [`Bits::sum`], of integers; `None` if there are none, or the bits are constant.
    pub(super) fn sum_of_integers(
        &mut self,
        a: &[Cell],
        b: &[Cell],
        carry: Cell,
    ) -> Option<(Vec<Cell>, Cell)> {
        self.words.as_ref()?;
        let carry = [carry];
        let operands = [a, b, &carry[..]];
        if is_known(self, &operands) {
            return None;
        }
        if self.value(carry[0]) == Some(false)
            && let Some(apart) = self.disjoint(a, b)
        {
            return Some((apart, carry[0]));
        }
        let width = a.len();
        let sum = |words: &mut Words, bits: &mut Bits, edges: Vec<Vec<Edge>>| {
            let (mut total, mut least, mut most) = (Poly::default(), BigUint::ZERO, BigUint::ZERO);
            for edges in &edges {
                let Integer { poly, low, high } = words.integer(bits, edges, false)?;
                (total, least, most) = (total.add(&poly), least + low, most + high);
            }
            let (low, quotient) = words.reduced(bits, &total, Some((&least, &most)), width)?;
            Some((low, words.carry(bits, quotient)))
        };
        Some(self.result(width, &operands, sum))
    }

    /// As [`Bits::difference`], less another bit.
    pub(super) fn difference_of_integers(
        &mut self,
        a: &[Cell],
        b: &[Cell],
        borrow: Cell,
    ) -> Option<(Vec<Cell>, Cell)> {
        self.words.as_ref()?;
        let borrow = [borrow];
        let operands = [a, b, &borrow[..]];
        if is_known(self, &operands) {
            return None;
        }
        let width = a.len();
        let difference = |words: &mut Words, bits: &mut Bits, edges: Vec<Vec<Edge>>| {
            let Integer { poly: mut total, mut low, mut high } =
                words.integer(bits, &edges[0], false)?;
            let mut borrows = false;
            // What is there at least and at most, and what is taken away.
            let (least, greatest) = (low.clone(), high.clone());
            let (mut taken, mut most) = (BigUint::ZERO, BigUint::ZERO);
            for edges in &edges[1..] {
                let less = words.integer(bits, edges, false)?;
                total = total.sub(&less.poly);
                borrows |= low < less.high;
                taken += &less.low;
                most += &less.high;
                if !borrows {
                    (low, high) = (low - less.high, high - less.low);
                }
            }
            // 0 or -1: all bits are the same one.
            if least + 1u8 >= most
                && greatest <= taken
                && let Some(edge) = words.bit_of(&total.scaled(&BigInt::from(-1)))
            {
                return Some((vec![edge; width], edge));
            }
            let bounds = (!borrows).then_some((&low, &high));
            let (low, quotient) = words.reduced(bits, &total, bounds, width)?;
            let borrow = words.carry(bits, quotient.scaled(&BigInt::from(-1)));
            let top = |word: &[Edge]| word[width - 1];
            words.remember(bits, [top(&edges[0]), top(&edges[1]), top(&low)], borrow);
            Some((low, borrow))
        };
        Some(self.result(width, &operands, difference))
    }

    /// All bits of a product, twice as many as a factor has.
    pub(super) fn product_of_integers(&mut self, a: &[Cell], b: &[Cell]) -> Option<Vec<Cell>> {
        self.words.as_ref()?;
        let operands = [a, b];
        if is_known(self, &operands) {
            return None;
        }
        let width = a.len();
        let product = |words: &mut Words, bits: &mut Bits, edges: Vec<Vec<Edge>>| {
            // A multiple of a word is a sum, if compilers may write it as one: by few shifts.
            let short = |of: usize| {
                let other = edges[1 - of].iter().map(|&edge| is_constant(bits, edge));
                let ones = other.clone().filter(|bit| *bit == Some(true)).count();
                other.clone().any(|bit| bit.is_none()) || ones > SHIFTS
            };
            let short = [short(0), short(1)];
            let a = words.integer(bits, &edges[0], short[0])?;
            let b = words.integer(bits, &edges[1], short[1])?;
            let total = a.poly.mul(&b.poly)?;
            let (low, high) = (a.low * b.low, a.high * b.high);
            let (low, quotient) = words.reduced(bits, &total, Some((&low, &high)), width)?;
            let upper = Integer::up_to(high >> width, quotient);
            let upper = words.word(bits, upper, width);
            Some(([low, upper].concat(), edge_of(bits, false)))
        };
        Some(self.result(2 * width, &operands, product).0)
    }

    /// What something gives that is known, or bits that are not.
    fn result(
        &mut self,
        width: usize,
        operands: &[&[Cell]],
        f: impl FnOnce(&mut Words, &mut Bits, Vec<Vec<Edge>>) -> Option<(Vec<Edge>, Edge)>,
    ) -> (Vec<Cell>, Cell) {
        match self.with_words(operands, f) {
            Some(((word, carry), instance)) => {
                let word = cells(self, &word, instance);
                (word, cells(self, &[carry], instance)[0])
            }
            None => (vec![Cell::OPAQUE; width], Cell::OPAQUE),
        }
    }

    /// The sum of words that have no place in common where both may be one.
    fn disjoint(&mut self, a: &[Cell], b: &[Cell]) -> Option<Vec<Cell>> {
        let mut out = Vec::with_capacity(a.len());
        for (&x, &y) in a.iter().zip(b) {
            let both = self.and(x, y);
            if self.value(both) != Some(false) {
                return None;
            }
            out.push(self.or(x, y));
        }
        Some(out)
    }

    /// Whether two words are one integer, of the same instance.
    pub(super) fn are_equal(&mut self, a: &[Cell], b: &[Cell]) -> bool {
        let same = |words: &mut Words, bits: &mut Bits, edges: Vec<Vec<Edge>>| {
            let a = words.integer(bits, &edges[0], false)?;
            let b = words.integer(bits, &edges[1], false)?;
            Some(a.poly == b.poly)
        };
        self.with_words(&[a, b], same).is_some_and(|(equal, _)| equal)
    }

    /// Whether a word is zero, where it is compared with zero: whether it borrows when one is taken
    /// away. `None` for other comparisons, and if there are no integers.
    pub(super) fn is_integer_zero(&mut self, a: &[Cell], b: &[Cell]) -> Option<Cell> {
        self.words.as_ref()?;
        let zero = b.iter().all(|&cell| self.value(cell) == Some(false));
        let open = a.iter().filter(|&&cell| self.value(cell).is_none()).count();
        if !zero || open < 2 {
            return None;
        }
        let one = self.number(1, a.len());
        let sum = self.sum_of_joined(a);
        Some(self.difference(sum.as_deref().unwrap_or(a), &one).1)
    }

    /// If a word is several words joined by `or`: their sum, which is zero where they all are.
    fn sum_of_joined(&mut self, a: &[Cell]) -> Option<Vec<Cell>> {
        let (edges, instance) = gathered(self, &[a])?;
        let state = self.words.take()?;
        let joined = state.joined(self, &edges[0]);
        self.words = Some(state);
        let mut words = joined?.into_iter();
        let mut sum = cells(self, &words.next()?, instance);
        for word in words {
            let word = cells(self, &word, instance);
            let (more, carry) = self.sum(&sum, &word, false);
            if self.value(carry) != Some(false) {
                return None;
            }
            sum = more;
        }
        Some(sum)
    }

    /// What a word is at most, as far as it is known.
    pub(super) fn greatest(&mut self, word: &[Cell]) -> Option<u64> {
        if let Some(value) = self.word(word) {
            return Some(value);
        }
        let most = |words: &mut Words, bits: &mut Bits, edges: Vec<Vec<Edge>>| {
            u64::try_from(words.integer(bits, &edges[0], false)?.high).ok()
        };
        self.with_words(&[word], most).map(|(most, _)| most)
    }

    /// Whether words are integers.
    pub(super) fn has_integers(&self) -> bool {
        self.words.is_some()
    }

    /// A word from 0 to `most`.
    pub(super) fn free_word(&mut self, width: usize, most: u64) -> Vec<Edge> {
        let mut words = self.words.take().unwrap_or_default();
        let edges = words.parameter(self, width, most);
        self.words = Some(words);
        edges
    }
}

#[cfg(test)]
mod tests {
    use usuba::ir::Op;
    use usuba::ir::random::Random;

    use super::super::values::operated;
    use super::*;
    use crate::graph::Graph;

    /// Values of variables and nodes where the parameters have some.
    struct Values<'a> {
        bits: &'a Bits,
        words: &'a Words,
        given: &'a [u64],
        known: std::cell::RefCell<FxHashMap<u32, BigInt>>,
    }

    impl Values<'_> {
        fn of(&self, poly: &Poly) -> BigInt {
            let variables = poly.variables().into_iter();
            poly.assign(&variables.map(|v| (v, self.variable(v))).collect()).1
        }

        fn variable(&self, variable: u32) -> BigInt {
            if let Some(known) = self.known.borrow().get(&variable) {
                return known.clone();
            }
            let given = self.given.get(variable as usize / 2);
            let value = match (given, self.words.integers.definition(variable)) {
                (Some(&given), _) => BigInt::from(given),
                (None, Some((of, k))) => self.of(&of) >> k,
                (None, None) => {
                    let bits = &self.words.bits_of[&Poly::variable(variable)];
                    BigInt::from(u8::from(self.edge(bits[0])))
                }
            };
            self.known.borrow_mut().insert(variable, value.clone());
            value
        }

        fn edge(&self, edge: Edge) -> bool {
            let node = self.bits.graph.nodes[edge.node() as usize];
            let at = |raw| self.edge(Edge::from_raw(raw));
            let value = match node.kind {
                Kind::And => at(node.a) & at(node.b),
                Kind::Xor => at(node.a) ^ at(node.b),
                Kind::Const => false,
                _ => {
                    let (word, place) = self.words.places[&edge.node()];
                    let value = self.of(&self.words.words[word].integer.poly) >> place;
                    value & BigInt::from(1) == BigInt::from(1)
                }
            };
            value != edge.is_complement()
        }
    }

    #[test]
    fn words_have_the_values_of_their_operators() {
        let ops = [
            (Op::Add, 2),
            (Op::Sub, 2),
            (Op::Mul, 2),
            (Op::MulHigh, 2),
            (Op::Less, 2),
            (Op::And, 2),
            (Op::Or, 2),
            (Op::Xor, 2),
            (Op::Not, 1),
            (Op::Shl(13), 1),
            (Op::Shr(51), 1),
            (Op::Sar(3), 1),
            (Op::Rotl(20), 1),
            (Op::Bitmask(0), 1),
            (Op::Bitmask(63), 1),
        ];
        let mut random = Random::new(4);
        for round in 0..60 {
            let mut bits = Bits::new(Graph::new(None));
            let given: Vec<u64> = (0..3).map(|_| random.word() >> (random.below(2) * 40)).collect();
            let mut words: Vec<Vec<Cell>> = Vec::new();
            for _ in &given {
                let edges = bits.free_word(64, u64::MAX);
                words.push(cells(&bits, &edges, Instance::Every));
            }
            words.push(bits.number(0x7_ffff_ffff_ffff, 64));
            words.push(bits.number(19, 64));
            let mut values = given.clone();
            values.extend([0x7_ffff_ffff_ffff, 19]);
            for _ in 0..12 {
                let (op, arity) = &ops[random.below(ops.len())];
                let args: Vec<usize> = (0..*arity).map(|_| random.below(words.len())).collect();
                let operands: Vec<&Vec<Cell>> = args.iter().map(|&at| &words[at]).collect();
                let word = operated(&mut bits, op, 64, &operands).expect("it is modelled");
                let numbers: Vec<u64> = args.iter().map(|&at| values[at]).collect();
                values.push(op.eval(64, &numbers));
                words.push(word);
            }
            for (word, &expected) in words.iter().zip(&values) {
                let Some((edges, _)) = gathered(&bits, &[word]) else { continue };
                let mut state = bits.words.take().expect("words are integers");
                let integer = state.integer(&mut bits, &edges[0], false);
                let all =
                    Values { bits: &bits, words: &state, given: &given, known: Default::default() };
                let bit = |(at, &edge): (usize, &Edge)| u64::from(all.edge(edge)) << at;
                let found: u64 = edges[0].iter().enumerate().map(bit).sum();
                assert_eq!(found, expected, "bits of round {round}");
                if let Some(integer) = integer {
                    assert_eq!(all.of(&integer.poly), BigInt::from(expected), "round {round}");
                    assert!(integer.high >= BigUint::from(expected), "round {round}");
                    assert!(integer.low <= BigUint::from(expected), "round {round}");
                }
                bits.words = Some(state);
            }
        }
    }

    #[test]
    fn masks_of_a_bit_are_copies_of_it() {
        let mut bits = Bits::new(Graph::new(None));
        let edges = bits.free_word(64, 1);
        let bit = cells(&bits, &edges, Instance::Every);
        let [zero, one, two] = [0, 1, 2].map(|value| bits.number(value, 64));
        let mask = bits.difference(&zero, &bit).0;
        assert_eq!(mask, vec![bit[0]; 64]);
        let other = bits.difference(&bit, &one).0;
        assert_eq!(other, vec![bits.not(bit[0]); 64]);
        let less = bits.difference(&bit, &two).0;
        assert_eq!((less[0], less[1]), (bit[0], bits.constant(true)));
    }

    #[test]
    fn words_joined_by_or_are_zero_if_their_sum_is() {
        let mut bits = Bits::new(Graph::new(None));
        let mut word = |most: u64| {
            let edges = bits.free_word(64, most);
            cells(&bits, &edges, Instance::Number(3))
        };
        let (a, b, c) = (word(1 << 40), word(1 << 50), word(u64::MAX));
        let [zero, one] = [0, 1].map(|value| bits.number(value, 64));
        let joined = |bits: &mut Bits, a: &[Cell], b: &[Cell]| -> Vec<Cell> {
            a.iter().zip(b).map(|(&a, &b)| bits.or(a, b)).collect()
        };
        let both = joined(&mut bits, &a, &b);
        let sum = bits.sum(&a, &b, false).0;
        let wanted = bits.difference(&sum, &one).1;
        assert_eq!(bits.equal(&both, &zero), wanted);
        let more = bits.sum(&sum, &one, false).0;
        let other = bits.difference(&more, &one).1;
        assert_ne!(bits.equal(&both, &zero), other);
        // A sum that may wrap is zero more often than its words are.
        let both = joined(&mut bits, &b, &c);
        let sum = bits.sum(&b, &c, false).0;
        let wrapped = bits.difference(&sum, &one).1;
        assert_ne!(bits.equal(&both, &zero), wrapped);
        // One word in another order of its bits, and bits that are complements.
        let mut turned = both.clone();
        turned.rotate_left(1);
        assert_ne!(bits.equal(&turned, &zero), wrapped);
        let flipped: Vec<Cell> = a.iter().map(|&bit| bits.not(bit)).collect();
        let both = joined(&mut bits, &flipped, &b);
        assert_ne!(bits.equal(&both, &zero), wanted);
    }

    #[test]
    fn words_that_differ_are_not_equal() {
        let mut bits = Bits::new(Graph::new(None));
        let mut word = || {
            let edges = bits.free_word(64, u64::MAX);
            cells(&bits, &edges, Instance::Number(0))
        };
        let (a, b) = (word(), word());
        let other: Vec<Cell> = a
            .iter()
            .map(|cell| Cell::new(cell.edge().expect("an edge"), Instance::Number(1)))
            .collect();
        let zero = bits.constant(false);
        let sum = bits.sum_with(&a, &b, zero);
        let turned = bits.sum_with(&b, &a, zero);
        assert!(bits.are_equal(&sum.0, &turned.0) && sum.1 == turned.1);
        assert!(!bits.are_equal(&sum.0, &a));
        assert!(!bits.are_equal(&a, &other));
        // One instance and another do not meet.
        assert_eq!(bits.sum_with(&other, &b, zero).0, vec![Cell::OPAQUE; 64]);
        let product = bits.whole_product(&a, &b);
        let nearly = bits.sum_with(&product[64..], &vec![zero; 64], sum.1);
        assert!(!bits.are_equal(&product[64..], &nearly.0));
        let back = bits.difference_with(&nearly.0, &vec![zero; 64], sum.1);
        assert!(bits.are_equal(&product[64..], &back.0));
    }
}
