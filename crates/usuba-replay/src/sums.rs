//! Sums by their terms: words that are equal because the same numbers are added in another order.
//!
//! ```text
//! w3 = add w0, w1;  w5 = add w3, w2        w0 + w1 + w2
//! w4 = add w1, w2;  w6 = add w0, w4        the same terms: w6 is w5
//! ```
//!
//! A word of 64 bits is a pair of words of 32 bits on smaller machines. The lower half of its sum is the
//! sum of the lower halves. The upper one has a carry, which is a comparison in the other program:
//!
//! ```text
//! lo = add a0, b0;  c = less lo, a0;  hi = add a1, b1, c
//! 2^32 c = a0 + b0 - lo                    as numbers, so that 2^32 hi has a form without carries:
//! 2^32 hi = 2^32 (a1 + b1) + a0 + b0 - lo  modulo 2^64
//! ```
//!
//! *Soundness:* sums modulo 2^m with equal terms and coefficients are equal, where the complement of x
//! is -x - 1. For x, y below 2^32 and their difference d modulo 2^32, x - y is d - 2^32 if x < y, else d.

use std::collections::BTreeMap;

use crate::hash::Map;
use crate::net::{FALSE, Lit, TRUE};
use crate::trace::mask;

/// The most terms of a sum that is known by its terms.
const TERMS: usize = 4000;

/// The width of words that are two words on smaller machines.
pub const PAIR: u8 = 64;
const HALF: u8 = PAIR / 2;

/// A sum modulo 2^m: the number m, terms by the numbers of their words, with coefficients, and a
/// constant.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Sum(u8, BTreeMap<u32, u64>, u64);

impl Sum {
    fn number(bits: u8, value: u64) -> Sum {
        Sum(bits, BTreeMap::new(), value & mask(bits))
    }

    /// This sum and `factor` times another one.
    pub fn plus(mut self, factor: u64, other: &Sum) -> Sum {
        let all = mask(self.0);
        self.2 = self.2.wrapping_add(other.2.wrapping_mul(factor)) & all;
        for (&word, &coefficient) in &other.1 {
            let known = self.1.entry(word).or_insert(0);
            *known = known.wrapping_add(coefficient.wrapping_mul(factor)) & all;
        }
        self.1.retain(|_, coefficient| *coefficient != 0);
        self
    }
}

/// The sums that were made.
#[derive(Default)]
pub struct Sums {
    /// Words that are terms, and their numbers.
    words: Vec<Vec<Lit>>,
    numbers: Map<Vec<Lit>, u32>,
    /// The terms of words that are sums, and the words of sums.
    terms: Map<Vec<Lit>, Sum>,
    known: Map<Sum, Vec<Lit>>,
    /// 2^32 times a carry, and the carry, as a sum modulo 2^64 of words of 32 bits.
    carries: Map<Lit, Sum>,
    literals: Map<Sum, Lit>,
    /// Words of 32 bits, by 2^32 times the word as such a sum.
    uppers: Map<Sum, Vec<Lit>>,
}

impl Sums {
    /// A word as a sum of words that are no sums and are even in their lowest bit.
    pub fn of(&mut self, bits: &[Lit]) -> Sum {
        if let Some(known) = self.terms.get(bits) {
            return known.clone();
        }
        let m = bits.len() as u8;
        if let Some(value) = value(bits) {
            return Sum::number(m, value);
        }
        if bits[0] & 1 == 0 {
            return self.term(m, bits);
        }
        if m > 1 && is_bit(bits) {
            let mut turned = bits.to_vec();
            turned[0] ^= 1;
            return Sum::number(m, 1).plus(u64::MAX, &self.term(m, &turned));
        }
        let turned = complement(bits);
        let turned = match self.terms.get(&turned) {
            Some(known) => known.clone(),
            None => self.term(m, &turned),
        };
        Sum::number(m, u64::MAX).plus(u64::MAX, &turned)
    }

    /// A word that is known to be a sum.
    pub fn get(&mut self, sum: &Sum) -> Option<Vec<Lit>> {
        if let Some(known) = self.known.get(sum) {
            return Some(known.clone());
        }
        let upper = self.upper(sum)?;
        self.uppers.get(&upper).cloned()
    }

    /// Records a word that was made for a sum.
    pub fn learn(&mut self, sum: Sum, made: &[Lit]) {
        if sum.1.len() > TERMS {
            return;
        }
        if let Some(upper) = self.upper(&sum) {
            self.uppers.entry(upper).or_insert_with(|| made.to_vec());
        }
        self.known.entry(sum.clone()).or_insert_with(|| made.to_vec());
        self.terms.entry(made.to_vec()).or_insert(sum);
    }

    /// Records both halves of a pair that was made as the sum of `a`, `b` and a carry, with the carry
    /// between its halves.
    pub fn learn_pair(&mut self, a: &[Lit], b: &[Lit], into: Lit, made: &[Lit], carry: Lit) {
        let half = usize::from(HALF);
        let [(a, a1), (b, b1), (low, high)] = [a, b, made].map(|word| word.split_at(half));
        let into = u64::from(into);
        let sum = Sum::number(HALF, into).plus(1, &self.of(a)).plus(1, &self.of(b));
        self.learn(sum, low);
        let wide = Sum::number(PAIR, into).plus(1, &self.wide(a)).plus(1, &self.wide(b));
        let wide = wide.plus(u64::MAX, &self.wide(low));
        self.learn_carry(wide, carry);
        let mut bit = vec![FALSE; half];
        bit[0] = carry;
        let sum = self.of(a1).plus(1, &self.of(b1)).plus(1, &self.of(&bit));
        self.learn(sum, high);
    }

    /// 2^32 if `a` is below `b`, else 0, as a sum; `None` if their difference is no word.
    pub fn borrow(&mut self, a: &[Lit], b: &[Lit]) -> Option<Sum> {
        if a.len() != usize::from(HALF) {
            return None;
        }
        let difference = self.of(a).plus(u64::MAX, &self.of(b));
        let word = match self.known.get(&difference) {
            Some(known) => known.clone(),
            None => self.single(&difference)?,
        };
        Some(self.wide(&word).plus(u64::MAX, &self.wide(a)).plus(1, &self.wide(b)))
    }

    /// The word that is a sum of at most one term.
    fn single(&self, sum: &Sum) -> Option<Vec<Lit>> {
        let all = mask(sum.0);
        if sum.1.is_empty() {
            return Some((0..sum.0).map(|bit| (sum.2 >> bit & 1) as Lit).collect());
        }
        let (&word, &coefficient) = sum.1.first_key_value().filter(|_| sum.1.len() == 1)?;
        let word = &self.words[word as usize];
        match (coefficient, sum.2) {
            (1, 0) => Some(word.clone()),
            (minus, constant) if minus == all && constant == all => Some(complement(word)),
            _ => None,
        }
    }

    /// The carry that is 2^32 times this sum.
    pub fn carry(&self, sum: &Sum) -> Option<Lit> {
        self.literals.get(sum).copied()
    }

    pub fn learn_carry(&mut self, sum: Sum, carry: Lit) {
        let other = Sum::number(PAIR, 1 << HALF).plus(u64::MAX, &sum);
        for (literal, sum) in [(carry, sum), (carry ^ 1, other)] {
            self.literals.entry(sum.clone()).or_insert(literal);
            self.carries.entry(literal).or_insert(sum);
        }
    }

    /// A word of 32 bits, with zeros above it, as a sum modulo 2^64.
    fn wide(&mut self, bits: &[Lit]) -> Sum {
        match value(bits) {
            Some(value) => Sum::number(PAIR, value),
            None if bits[0] & 1 == 0 => self.term(PAIR, bits),
            None => {
                let turned = self.term(PAIR, &complement(bits));
                Sum::number(PAIR, mask(HALF)).plus(u64::MAX, &turned)
            }
        }
    }

    /// 2^32 times a sum of words of 32 bits; `None` if it has no carry.
    fn upper(&mut self, sum: &Sum) -> Option<Sum> {
        let carry = |word: &u32| {
            let bits = &self.words[*word as usize];
            if is_bit(bits) { self.carries.get(&bits[0]) } else { None }
        };
        if sum.0 != HALF || !sum.1.keys().any(|word| carry(word).is_some()) {
            return None;
        }
        let mut upper = Sum::number(PAIR, sum.2 << HALF);
        for (word, &coefficient) in &sum.1 {
            upper = match carry(word) {
                // The sum is a multiple of 2^32, so that the coefficient may be any number modulo 2^32.
                Some(carry) => upper.plus(i64::from(coefficient as u32 as i32) as u64, carry),
                None => {
                    let term = Sum(PAIR, BTreeMap::from([(*word, 1)]), 0);
                    upper.plus(coefficient << HALF, &term)
                }
            };
        }
        Some(upper)
    }

    fn term(&mut self, m: u8, bits: &[Lit]) -> Sum {
        let next = self.words.len() as u32;
        let number = *self.numbers.entry(bits.to_vec()).or_insert(next);
        if number == next {
            self.words.push(bits.to_vec());
        }
        Sum(m, BTreeMap::from([(number, 1)]), 0)
    }
}

/// Whether all bits but the lowest are 0.
fn is_bit(bits: &[Lit]) -> bool {
    bits[1..].iter().all(|&bit| bit == FALSE)
}

/// The value of a word that is constant.
fn value(bits: &[Lit]) -> Option<u64> {
    let is_constant = bits.iter().all(|&bit| bit <= TRUE);
    is_constant.then(|| bits.iter().rev().fold(0, |sum, &bit| sum << 1 | u64::from(bit)))
}

fn complement(bits: &[Lit]) -> Vec<Lit> {
    bits.iter().map(|bit| bit ^ 1).collect()
}
