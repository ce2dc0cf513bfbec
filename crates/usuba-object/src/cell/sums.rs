//! Additions and subtractions of symbolic words: sums of the program by their normal form, and
//! ripple-carry adders elsewhere.

use std::ops::RangeInclusive;

use usuba_equiv::dag::Edge;
use usuba_equiv::value_numbering::Graph;

use super::{Bits, Cell, Instance};
use crate::word_sums::{Sums, Total};

/// Widths of the words whose additions are in normal form.
const WORDS: RangeInclusive<usize> = 8..=64;

/// Two words of one instance and a carry, the least significant bits first.
struct Addends {
    a: Vec<Edge>,
    b: Vec<Edge>,
    carry: bool,
    instance: Instance,
}

impl Bits {
    /// With the additions of a program, operands and result: other orders of them are the same
    /// words, with `by_bits` also of parts of their words. With `asks` engines examine their bits and
    /// carries. Registers have `register` bits: of wider sums, the lower parts are sums, too.
    pub fn with_sums(
        graph: Graph,
        summed: &[[Vec<Edge>; 3]],
        (by_bits, asks): (bool, bool),
        register: usize,
    ) -> Bits {
        let mut bits = Bits::new(graph);
        bits.asks_sums = asks;
        if !summed.is_empty() {
            let summed = summed.iter().filter(|[_, _, sum]| WORDS.contains(&sum.len()));
            let parts = summed.flat_map(|[a, b, sum]| {
                let of = move |size: usize| [&a[..size], &b[..size], &sum[..size]];
                let lower = (sum.len() > register).then(|| of(register));
                lower.into_iter().chain([of(sum.len())])
            });
            let mut sums = Sums::new(by_bits, parts.clone().map(|[_, _, sum]| sum.len()));
            for [a, b, sum] in parts {
                let total = sums.total(bits.zero, (a, b, false));
                sums.remember(bits.zero, &total, sum);
            }
            bits.sums = Some(sums);
        }
        bits
    }

    /// a + b + carry, least significant bits first, and the carry out.
    pub fn sum(&mut self, a: &[Cell], b: &[Cell], carry: bool) -> (Vec<Cell>, Cell) {
        let carry = self.constant(carry);
        self.sum_with(a, b, carry)
    }

    /// The same with a carry that need not be known.
    ///
    /// The carry of two bits and a carry is `a & b ^ (a ^ b) & c`, as in the sums of the program.
    pub fn sum_with(&mut self, a: &[Cell], b: &[Cell], carry: Cell) -> (Vec<Cell>, Cell) {
        if let (Some(x), Some(y), Some(one)) = (self.short(a), self.short(b), self.value(carry)) {
            let sum = x + y + one as u128;
            return (self.long_number(sum, a.len()), self.constant(sum >> a.len() & 1 == 1));
        }
        if let Some(sum) = self.sum_of_integers(a, b, carry) {
            return sum;
        }
        let addends = match self.value(carry) {
            Some(carry) if WORDS.contains(&a.len()) => self.addends(a, b, carry),
            _ => None,
        };
        let Some(sums) = &mut self.sums else { return self.rippled(a, b, carry) };
        let low = sums.narrower(a.len());
        let total = addends.map(|Addends { a, b, carry, instance }| {
            (sums.total(self.zero, (&a, &b, carry)), instance)
        });
        if let Some((Total { known: Some(known), .. }, instance)) = &total {
            let known = self.cells(known, *instance);
            // With s = a ^ b ^ c, the carry a & b ^ (a ^ b) & c is this.
            let top = a.len() - 1;
            let carry = self.function(0xd4, [a[top], b[top], known[top]]);
            return (known, carry);
        }
        // The low bits may be a sum of the program: words of 16 bits are added in registers of 32.
        let (mut out, carry) = match low {
            0 => (Vec::new(), carry),
            _ => self.sum_with(&a[..low], &b[..low], carry),
        };
        let engines = self.graph.rewrites.take_if(|_| total.is_some() && !self.asks_sums);
        let (rest, last) = self.rippled(&a[low..], &b[low..], carry);
        out.extend(rest);
        if engines.is_some() {
            self.graph.rewrites = engines;
        }
        let edges = out.iter().map(|cell| cell.edge()).collect::<Option<Vec<_>>>();
        if let (Some((total, _)), Some(edges), Some(sums)) = (total, edges, &mut self.sums) {
            sums.remember(self.zero, &total, &edges);
        }
        (out, last)
    }

    /// Whether additions are in normal form.
    pub fn has_sums(&self) -> bool {
        self.sums.is_some()
    }

    /// Whether both words are operands or results of sums, or constant.
    pub fn are_summands(&self, a: &[Cell], b: &[Cell]) -> bool {
        let Some(sums) = &self.sums else { return false };
        let known = |a: &[Edge]| sums.knows(self.zero, a);
        self.addends(a, b, false).is_some_and(|found| known(&found.a) && known(&found.b))
    }

    /// The edges of two words of one instance, which are to be added.
    fn addends(&self, a: &[Cell], b: &[Cell], carry: bool) -> Option<Addends> {
        let mut instance = Instance::Every;
        let mut edges = |cells: &[Cell]| {
            let edge = |cell: &Cell| {
                let edge = cell.edge()?;
                match (instance, cell.instance()) {
                    (_, Instance::Every) => {}
                    (Instance::Every, own) => instance = own,
                    (known, own) if known == own => {}
                    _ => return None,
                }
                Some(edge)
            };
            cells.iter().map(edge).collect::<Option<Vec<Edge>>>()
        };
        let (a, b) = (edges(a)?, edges(b)?);
        Some(Addends { a, b, carry, instance })
    }

    /// The bits of a word of an instance.
    fn cells(&self, word: &[Edge], instance: Instance) -> Vec<Cell> {
        let cell = |&edge: &Edge| match edge.node() == self.zero.node() {
            true => Cell::new(edge, Instance::Every),
            false => Cell::new(edge, instance),
        };
        word.iter().map(cell).collect()
    }

    fn rippled(&mut self, a: &[Cell], b: &[Cell], mut carry: Cell) -> (Vec<Cell>, Cell) {
        let mut out = Vec::with_capacity(a.len());
        for (&x, &y) in a.iter().zip(b) {
            let half = self.xor(x, y);
            out.push(self.xor(half, carry));
            let both = self.and(x, y);
            let kept = self.and(half, carry);
            carry = self.xor(both, kept);
        }
        (out, carry)
    }

    /// a - b, and whether it borrows.
    pub fn difference(&mut self, a: &[Cell], b: &[Cell]) -> (Vec<Cell>, Cell) {
        let borrow = self.constant(false);
        self.difference_with(a, b, borrow)
    }

    /// a - b - borrow, which is ~(~a + b + borrow), and whether it borrows.
    pub fn difference_with(&mut self, a: &[Cell], b: &[Cell], borrow: Cell) -> (Vec<Cell>, Cell) {
        if let Some(difference) = self.difference_of_integers(a, b, borrow) {
            return difference;
        }
        let flipped: Vec<Cell> = a.iter().map(|&bit| self.not(bit)).collect();
        let (sum, carry) = self.sum_with(&flipped, b, borrow);
        (sum.into_iter().map(|bit| self.not(bit)).collect(), carry)
    }
}
