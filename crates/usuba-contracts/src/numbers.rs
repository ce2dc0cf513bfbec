//! The abstract domain of numbers: a hash-consed DAG with an interval and a polynomial for each
//! number.
//!
//! ```text
//! q = x div 2^51      interval of x, shifted       a variable of its own
//! r = x mod 2^51      [0, 2^51 - 1]                x - 2^51 q
//! ```
//!
//! A number is not negative and has no width: a word of m bits is a number below 2^m, and the
//! caller that makes a word shows this first. Equal definitions are one number (hash-consing), so
//! `x >> 51` and `x & (2^51 - 1)` share their quotient and remainder, in all places of a node.

use std::rc::Rc;

use num_bigint::{BigInt, BigUint};
use rustc_hash::FxHashMap;

use super::poly::Poly;

/// A number of [`Numbers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Num(pub u32);

/// The definition of a number.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Def {
    /// Any number in the interval.
    Any,
    Const(BigUint),
    Sum(Num, Num),
    /// Not below zero.
    Diff(Num, Num),
    Product(Num, Num),
    /// The quotient by 2^k, rounded down.
    Quotient(Num, u64),
    /// The remainder by 2^k.
    Remainder(Num, u64),
    /// 1 if the first is below the second, else 0.
    Less(Num, Num),
    And(Num, Num),
    Or(Num, Num),
    Xor(Num, Num),
}

pub struct Number {
    pub def: Def,
    pub low: BigUint,
    pub high: BigUint,
    pub poly: Rc<Poly>,
    /// It is a multiple of 2^zeros.
    zeros: u64,
    /// The bit, if this number is 2^m - 1 times a bit.
    pub spread: Option<Num>,
}

#[derive(Default)]
pub struct Numbers {
    all: Vec<Number>,
    known: FxHashMap<Def, Num>,
    /// The first number that was queried for each polynomial.
    first: FxHashMap<Rc<Poly>, Num>,
}

/// A polynomial with more terms than this is a variable of its own.
const MAX_TERMS: usize = 2_000;

impl Numbers {
    pub fn all(&self) -> &[Number] {
        &self.all
    }

    pub fn get(&self, n: Num) -> &Number {
        &self.all[n.0 as usize]
    }

    /// The variable of a number in polynomials; odd for a bit.
    pub fn variable(&self, n: Num) -> u32 {
        2 * n.0 + u32::from(self.get(n).high <= BigUint::from(1u8))
    }

    /// The number of a variable.
    pub fn of_variable(variable: u32) -> Num {
        Num(variable / 2)
    }

    /// The interval of a variable.
    pub fn bounds(&self, variable: u32) -> (BigUint, BigUint) {
        let number = self.get(Numbers::of_variable(variable));
        (number.low.clone(), number.high.clone())
    }

    /// The value, if there is only one.
    pub fn value(&self, n: Num) -> Option<&BigUint> {
        let number = self.get(n);
        (number.low == number.high).then_some(&number.low)
    }

    /// The numbers that a number is computed from, at most two.
    pub fn operands(&self, n: Num) -> Vec<Num> {
        match &self.get(n).def {
            Def::Any | Def::Const(_) => Vec::new(),
            Def::Quotient(a, _) | Def::Remainder(a, _) => vec![*a],
            Def::Sum(a, b)
            | Def::Diff(a, b)
            | Def::Product(a, b)
            | Def::Less(a, b)
            | Def::And(a, b)
            | Def::Or(a, b)
            | Def::Xor(a, b) => vec![*a, *b],
        }
    }

    /// The first queried number with the same polynomial as this number: the two are equal.
    pub fn first(&mut self, n: Num) -> Num {
        *self.first.entry(self.get(n).poly.clone()).or_insert(n)
    }

    /// Another polynomial for a number, which must be equal to it.
    pub fn restate(&mut self, n: Num, poly: Poly) {
        self.all[n.0 as usize].poly = Rc::new(poly);
    }

    /// A number with a proved upper bound.
    pub fn at_most(&mut self, n: Num, high: BigUint) -> Num {
        let number = &mut self.all[n.0 as usize];
        if high < number.high && high >= number.low && number.high > BigUint::from(1u8) {
            // Bits are recognised when they are made, since their variables are odd.
            if high > BigUint::from(1u8) {
                number.high = high;
            }
        }
        n
    }

    fn make(&mut self, def: Def, low: BigUint, high: BigUint, poly: Option<Poly>) -> Num {
        if low == high && !matches!(def, Def::Const(_)) {
            return self.constant(low);
        }
        let n = Num(self.all.len() as u32);
        let variable = 2 * n.0 + u32::from(high <= BigUint::from(1u8));
        let poly = poly.filter(|p| p.size() <= MAX_TERMS);
        let poly = Rc::new(poly.unwrap_or_else(|| Poly::variable(variable)));
        if def != Def::Any {
            self.known.insert(def.clone(), n);
        }
        self.all.push(Number { def, low, high, poly, zeros: 0, spread: None });
        n
    }

    pub fn constant(&mut self, value: impl Into<BigUint>) -> Num {
        let value = value.into();
        let def = Def::Const(value.clone());
        if let Some(&n) = self.known.get(&def) {
            return n;
        }
        let poly = Poly::constant(BigInt::from(value.clone()));
        let zeros = value.trailing_zeros().unwrap_or(u64::MAX);
        let n = self.make(def, value.clone(), value, Some(poly));
        self.all[n.0 as usize].zeros = zeros;
        n
    }

    /// Any number from `low` to `high`.
    pub fn any(&mut self, low: impl Into<BigUint>, high: impl Into<BigUint>) -> Num {
        self.make(Def::Any, low.into(), high.into(), None)
    }

    pub fn sum(&mut self, a: Num, b: Num) -> Num {
        let (a, b) = (a.min(b), a.max(b));
        if self.value(a) == Some(&BigUint::ZERO) {
            return b;
        }
        if self.value(b) == Some(&BigUint::ZERO) {
            return a;
        }
        let def = Def::Sum(a, b);
        if let Some(&n) = self.known.get(&def) {
            return n;
        }
        let (x, y) = (self.get(a), self.get(b));
        let (low, high) = (&x.low + &y.low, &x.high + &y.high);
        let (poly, zeros) = (x.poly.add(&y.poly), x.zeros.min(y.zeros));
        let n = self.make(def, low, high, Some(poly));
        self.zeros(n, zeros)
    }

    /// `a - b`, which the caller shows to be no less than zero.
    pub fn diff(&mut self, a: Num, b: Num) -> Num {
        if self.value(b) == Some(&BigUint::ZERO) {
            return a;
        }
        let def = Def::Diff(a, b);
        if let Some(&n) = self.known.get(&def) {
            return n;
        }
        let (x, y) = (self.get(a), self.get(b));
        let zero = BigUint::ZERO;
        let low = if x.low > y.high { &x.low - &y.high } else { zero.clone() };
        let high = if x.high > y.low { &x.high - &y.low } else { zero };
        let (poly, zeros) = (x.poly.sub(&y.poly), x.zeros.min(y.zeros));
        let n = self.make(def, low, high, Some(poly));
        self.zeros(n, zeros)
    }

    pub fn product(&mut self, a: Num, b: Num) -> Num {
        let (a, b) = (a.min(b), a.max(b));
        if self.value(a) == Some(&BigUint::from(1u8)) {
            return b;
        }
        if self.value(b) == Some(&BigUint::from(1u8)) {
            return a;
        }
        let def = Def::Product(a, b);
        if let Some(&n) = self.known.get(&def) {
            return n;
        }
        let (x, y) = (self.get(a), self.get(b));
        let (low, high) = (&x.low * &y.low, &x.high * &y.high);
        let (poly, zeros) = (x.poly.mul(&y.poly), x.zeros.saturating_add(y.zeros));
        let n = self.make(def, low, high, poly);
        self.zeros(n, zeros)
    }

    /// A number times 2^k.
    pub fn scaled(&mut self, a: Num, k: u64) -> Num {
        let power = self.constant(BigUint::from(1u8) << k);
        if self.value(a) == Some(&BigUint::ZERO) { a } else { self.product(a, power) }
    }

    fn zeros(&mut self, n: Num, zeros: u64) -> Num {
        let number = &mut self.all[n.0 as usize];
        number.zeros = number.zeros.max(zeros);
        n
    }

    /// Quotient and remainder by 2^k.
    pub fn split(&mut self, a: Num, k: u64) -> (Num, Num) {
        let number = self.get(a);
        let (low, high) = (&number.low >> k, &number.high >> k);
        if high == BigUint::ZERO {
            return (self.constant(0u8), a);
        }
        if number.zeros >= k {
            // A shift alone is exact, so the quotient needs no variable.
            if let Def::Product(x, y) = number.def {
                for (c, other) in [(x, y), (y, x)] {
                    if self.value(c) == Some(&(BigUint::from(1u8) << k)) {
                        return (other, self.constant(0u8));
                    }
                }
            }
        }
        if let Def::Sum(x, y) = number.def {
            // A part below 2^k carries nothing into a part that is a multiple of 2^k.
            for (upper, lower) in [(x, y), (y, x)] {
                if self.get(upper).zeros >= k && self.get(lower).high.bits() <= k {
                    return (self.split(upper, k).0, lower);
                }
            }
        }
        let quotient = self.quotient(a, k);
        let def = Def::Remainder(a, k);
        if let Some(&n) = self.known.get(&def) {
            return (quotient, n);
        }
        let number = self.get(a);
        let (least, most) = match low == high {
            true => (&number.low - (&low << k), &number.high - (&low << k)),
            false => (BigUint::ZERO, (BigUint::from(1u8) << k) - 1u8),
        };
        let power = BigInt::from(1) << k;
        let poly = number.poly.plus(&self.get(quotient).poly, &-power);
        let zeros = number.zeros;
        let remainder = self.make(def, least, most, Some(poly));
        (quotient, self.zeros(remainder, if zeros < k { zeros } else { 0 }))
    }

    /// The quotient by 2^k. A chain of carries is one quotient of the whole sum: `(x + (y div 2^j))
    /// div 2^k` is `(x·2^j + y) div 2^(j+k)`.
    fn quotient(&mut self, a: Num, k: u64) -> Num {
        let (a, k) = match self.carried(a) {
            None => (a, k),
            Some((rest, below, j)) => {
                let power = self.constant(BigUint::from(1u8) << j);
                let raised = self.product(rest, power);
                (self.sum(below, raised), j + k)
            }
        };
        let a = self.first(a);
        let def = Def::Quotient(a, k);
        if let Some(&n) = self.known.get(&def) {
            return n;
        }
        let (low, high) = (&self.get(a).low >> k, &self.get(a).high >> k);
        self.make(def, low, high, None)
    }

    /// Splits a sum into a quotient `y div 2^j` and a rest: the rest, y and j.
    fn carried(&mut self, a: Num) -> Option<(Num, Num, u64)> {
        let Def::Sum(x, y) = self.get(a).def else { return None };
        for (quotient, rest) in [(x, y), (y, x)] {
            if let Def::Quotient(below, j) = self.get(quotient).def {
                return Some((rest, below, j));
            }
        }
        None
    }

    /// 1 if a is below b, else 0.
    pub fn less(&mut self, a: Num, b: Num) -> Num {
        let (x, y) = (self.get(a), self.get(b));
        if x.high < y.low {
            return self.constant(1u8);
        }
        if x.low >= y.high {
            return self.constant(0u8);
        }
        let def = Def::Less(a, b);
        match self.known.get(&def) {
            Some(&n) => n,
            None => self.make(def, 0u8.into(), 1u8.into(), None),
        }
    }

    /// A bit times `ones`: all ones if the bit is set.
    pub fn spread(&mut self, bit: Num, ones: BigUint) -> Num {
        let ones = self.constant(ones);
        let n = self.product(bit, ones);
        if self.value(n).is_none() {
            self.all[n.0 as usize].spread = Some(bit);
        }
        n
    }

    pub fn is_bit(&self, n: Num) -> bool {
        self.get(n).high <= BigUint::from(1u8)
    }

    /// Whether no bit position can be set in both numbers.
    fn apart(&self, a: Num, b: Num) -> bool {
        let below = |x: &Number, y: &Number| x.high.bits() <= y.zeros;
        below(self.get(a), self.get(b))
            || below(self.get(b), self.get(a))
            || self.exclude_each_other(a, b)
    }

    /// Whether two products have bits as factors that are never set together.
    fn exclude_each_other(&self, a: Num, b: Num) -> bool {
        let (Def::Product(x, y), Def::Product(u, v)) = (&self.get(a).def, &self.get(b).def) else {
            return false;
        };
        let one = Poly::constant(BigInt::from(1));
        let opposite = |p: Num, q: Num| {
            let both = self.is_bit(p) && self.is_bit(q);
            both && self.get(p).poly.add(&self.get(q).poly) == one
        };
        [*x, *y].iter().any(|&p| opposite(p, *u) || opposite(p, *v))
    }

    pub fn and(&mut self, a: Num, b: Num) -> Num {
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return a;
        }
        for (x, y) in [(a, b), (b, a)] {
            // The mask is all ones or zero: the result is the other operand, if it has no more
            // bits, or zero.
            if let Some(bit) = self.get(x).spread
                && self.get(x).high >= self.get(y).high
            {
                return self.product(bit, y);
            }
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Some(word) = self.value(x).cloned() {
                // The mask is ones from bit j to bit k - 1.
                let j = word.trailing_zeros().unwrap_or(0);
                if word == BigUint::ZERO {
                    return x;
                }
                if (&word >> j) + 1u8 == BigUint::from(1u8) << (word.bits() - j) {
                    let (_, kept) = self.split(y, word.bits());
                    if j == 0 {
                        return kept;
                    }
                    let (upper, _) = self.split(kept, j);
                    let power = self.constant(BigUint::from(1u8) << j);
                    return self.product(upper, power);
                }
            }
        }
        if self.is_bit(a) && self.is_bit(b) {
            return self.product(a, b);
        }
        let high = self.get(a).high.clone().min(self.get(b).high.clone());
        self.bitwise(Def::And(a, b), high)
    }

    pub fn or(&mut self, a: Num, b: Num) -> Num {
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return a;
        }
        if self.apart(a, b) {
            return self.sum(a, b);
        }
        let high = self.ones_above(a, b);
        let poly = match self.is_bit(a) && self.is_bit(b) {
            true => {
                let (x, y) = (&self.get(a).poly, &self.get(b).poly);
                x.mul(y).map(|both| x.add(y).sub(&both))
            }
            false => None,
        };
        self.with_poly(Def::Or(a, b), high, poly)
    }

    pub fn xor(&mut self, a: Num, b: Num) -> Num {
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return self.constant(0u8);
        }
        if self.apart(a, b) {
            return self.sum(a, b);
        }
        let high = self.ones_above(a, b);
        let poly = match self.is_bit(a) && self.is_bit(b) {
            true => {
                let (x, y) = (&self.get(a).poly, &self.get(b).poly);
                x.mul(y).map(|both| x.add(y).plus(&both, &BigInt::from(-2)))
            }
            false => None,
        };
        self.with_poly(Def::Xor(a, b), high, poly)
    }

    fn ones_above(&self, a: Num, b: Num) -> BigUint {
        let bits = self.get(a).high.bits().max(self.get(b).high.bits());
        (BigUint::from(1u8) << bits) - 1u8
    }

    fn bitwise(&mut self, def: Def, high: BigUint) -> Num {
        self.with_poly(def, high, None)
    }

    fn with_poly(&mut self, def: Def, high: BigUint, poly: Option<Poly>) -> Num {
        match self.known.get(&def) {
            Some(&n) => n,
            None => self.make(def, BigUint::ZERO, high, poly),
        }
    }

    /// The value of every number when the free numbers have the values of `any`.
    pub fn evaluate(&self, mut any: impl FnMut(Num) -> BigUint) -> Vec<BigUint> {
        let mut values: Vec<BigUint> = Vec::with_capacity(self.all.len());
        for (at, number) in self.all.iter().enumerate() {
            let of = |n: &Num| &values[n.0 as usize];
            let value = match &number.def {
                Def::Any => any(Num(at as u32)),
                Def::Const(value) => value.clone(),
                Def::Sum(a, b) => of(a) + of(b),
                Def::Diff(a, b) if of(a) >= of(b) => of(a) - of(b),
                Def::Diff(..) => BigUint::ZERO,
                Def::Product(a, b) => of(a) * of(b),
                Def::Quotient(a, k) => of(a) >> k,
                Def::Remainder(a, k) => of(a) - (of(a) >> k << k),
                Def::Less(a, b) => BigUint::from(u8::from(of(a) < of(b))),
                Def::And(a, b) => of(a) & of(b),
                Def::Or(a, b) => of(a) | of(b),
                Def::Xor(a, b) => of(a) ^ of(b),
            };
            values.push(value);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_by_a_bit_is_a_sum() {
        let mut n = Numbers::default();
        let (bit, another) = (n.any(0u8, 1u8), n.any(0u8, 1u8));
        let one = n.constant(1u8);
        let not = n.diff(one, bit);
        let (x, y) = (n.any(0u8, 1000u32), n.any(0u8, 1000u32));
        let kept = n.product(not, x);
        let mut is_sum = |bit: Num| {
            let taken = n.product(bit, y);
            n.or(kept, taken) == n.sum(kept, taken)
        };
        assert!(is_sum(bit));
        // Both may be set, or no rule excludes it.
        assert!(!is_sum(not) && !is_sum(another));
    }
}
