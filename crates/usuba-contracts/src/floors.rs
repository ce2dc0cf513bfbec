//! Integer arithmetic modulo powers of two as polynomials over Z with carry variables, in normal
//! form.
//!
//! ```text
//! x + y mod 2^64     x + y - 2^64 Z        Z = (x + y) div 2^64, a variable of its own
//! its carry          Z
//! x + y >= 2^64      the same Z
//! ```
//!
//! A processor computes sums, products and quotients of integers: an upper half is a quotient, a
//! carry is a quotient, and a comparison is a quotient of a difference. So two computations of a
//! number agree if they give the same polynomial after equal quotients have become one variable.
//! The quotient of a polynomial p by 2^k is brought into normal form by these equations:
//!
//! - `(p + 2^k r) div 2^k` is `p div 2^k + r`, so coefficients lie in [0, 2^k).
//! - `(2^j p + c) div 2^k` is `(p + c div 2^j) div 2^(k-j)` for a constant c.
//! - `(p div 2^j + r) div 2^k` is `(p + 2^j r) div 2^(j+k)`.
//! - `(r - p div 2^j) div 2^k` is `(2^j r + 2^j - 1 - p) div 2^(j+k)`, since a quotient that is
//!   subtracted is the quotient of the complement.
//! - `(-1 - p) div 2^k` is `-1 - p div 2^k`, so the first coefficient is at most 2^(k-1).
//! - A quotient that can only be zero is zero.
//! - A quotient of bits alone is tabulated over their values.
//! - `p div 2^k` is `p div 2^j` for a smaller j, if p is from -2^j to 2^j - 1: -1 or 0.
//!
//! The equations give carries canonical names. The carry of the lower halves of x and y, which are
//! `x - 2^64 X` and `y - 2^64 Y`, is `(x + y) div 2^64 - X - Y`. The sum of the upper halves and
//! this carry is `(x + y) div 2^64`, in which no halves are left.
//!
//! *Soundness:* every step is an equation of integers, so equal polynomials are equal numbers.
//!
//! *Limits:* the normal form is not canonical: two equal numbers may have different polynomials.

use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint};
use rustc_hash::FxHashMap;

use crate::monomial::{self, Monomial};
use crate::poly::Poly;

/// A variable of polynomials: an integer from 0 to `high`.
struct Variable {
    high: BigUint,
    /// The variable is this polynomial div 2^k.
    floor: Option<(Poly, u64)>,
}

/// The variables, and the quotient of each polynomial.
#[derive(Default)]
pub struct Integers {
    variables: Vec<Variable>,
    /// The quotient of a polynomial in normal form by 2^k.
    floors: FxHashMap<(Poly, u64), Poly>,
    /// Variables that stand for polynomials.
    names: FxHashMap<Poly, u32>,
    /// Polynomials with values from 0 to 2^k - 1.
    below: FxHashMap<Poly, u64>,
}

impl Integers {
    /// A new variable from 0 to `high`. Bits have odd numbers, as `Poly` requires.
    pub fn variable(&mut self, high: BigUint) -> u32 {
        self.defined(high, None)
    }

    fn defined(&mut self, high: BigUint, floor: Option<(Poly, u64)>) -> u32 {
        let bit = u32::from(high <= BigUint::from(1u8));
        self.variables.push(Variable { high, floor });
        2 * (self.variables.len() as u32 - 1) + bit
    }

    pub fn high(&self, variable: u32) -> &BigUint {
        &self.variables[variable as usize / 2].high
    }

    /// The polynomial div 2^k, rounded down; `None` if its powers are too high.
    pub fn floor(&mut self, p: &Poly, k: u64) -> Option<Poly> {
        let (rest, whole) = p.divided(k);
        Some(match self.form(rest, k) {
            Form::Value(value) => value.add(&whole),
            Form::Below { p, k } => {
                let high = self.most(&p)? >> k;
                let variable = Poly::variable(self.defined(high, Some((p.clone(), k))));
                self.floors.insert((p, k), variable.clone());
                variable.add(&whole)
            }
            Form::Deeper { p, k, more } => self.floor(&p, k)?.add(&more).add(&whole),
            Form::Complement { p, k } => whole.sub(&self.floor(&p, k)?).sub(&Poly::constant(1)),
        })
    }

    /// The quotient as `floor` gives it, if it needs no new variable.
    pub fn floor_if_known(&self, p: &Poly, k: u64) -> Option<Poly> {
        let (rest, whole) = p.divided(k);
        Some(match self.form(rest, k) {
            Form::Value(value) => value.add(&whole),
            Form::Below { .. } => return None,
            Form::Deeper { p, k, more } => self.floor_if_known(&p, k)?.add(&more).add(&whole),
            Form::Complement { p, k } => {
                whole.sub(&self.floor_if_known(&p, k)?).sub(&Poly::constant(1))
            }
        })
    }

    /// Assumes that the polynomial is from 0 to 2^k - 1, which the caller knows for another reason.
    pub fn is_below(&mut self, p: &Poly, k: u64) {
        self.remember(p.clone(), k);
        let (rest, whole) = p.divided(k);
        match self.form(rest, k) {
            Form::Below { p, k } => {
                self.floors.insert((p, k), whole.scaled(&BigInt::from(-1)));
            }
            Form::Deeper { p, k, more } => {
                let whole = whole.add(&more);
                self.is_below(&p.add(&whole.scaled(&(BigInt::from(1) << k))), k)
            }
            // -1 less the quotient of p and the whole is zero.
            Form::Complement { p, k } => {
                let rest = whole.sub(&Poly::constant(1)).scaled(&-(BigInt::from(1) << k));
                self.is_below(&p.add(&rest), k);
            }
            Form::Value(_) => {}
        }
    }

    /// Records that a polynomial is from 0 to 2^k - 1, and so are the polynomials of which it is a
    /// quotient, with another power of two.
    fn remember(&mut self, mut p: Poly, mut k: u64) {
        if p.value().is_some() {
            return;
        }
        loop {
            let known = self.below.entry(p.clone()).or_insert(k);
            *known = k.min(*known);
            let Some((variable, adds)) = self.once(&p, &BigInt::from(-1)) else { break };
            (p, k) = self.deeper(&p, k, variable, adds, &BigInt::from(-1));
        }
    }

    /// The quotient of a polynomial with coefficients in [0, 2^k), if a polynomial that is
    /// congruent to it modulo 2^k is known to lie between 0 and 2^k.
    fn known(&self, p: &Poly, k: u64) -> Option<Poly> {
        let centred = p.centred(k);
        let (_, whole) = p.sub(&centred).divided(k);
        if self.is_known_below(&centred, k) {
            return Some(whole);
        }
        // Its complement is below zero, and not below -2^k.
        let other = Poly::constant(-1).sub(&centred);
        self.is_known_below(&other, k).then(|| whole.sub(&Poly::constant(1)))
    }

    /// The newest quotient that occurs with factor 1 or with factor -1, which is `minus` modulo
    /// 2^k, and whether the factor is 1: it may be made of the others.
    fn once(&self, p: &Poly, minus: &BigInt) -> Option<(u32, bool)> {
        let one = BigInt::from(1);
        let once = p.terms().filter_map(|(monomial, value)| {
            let variable = monomial::single(monomial)?;
            (*value == one || value == minus).then_some((variable, *value == one))
        });
        once.filter(|(variable, _)| self.variables[*variable as usize / 2].floor.is_some()).max()
    }

    /// A quotient by 2^k without the quotient that `once` found. A quotient that is subtracted
    /// occurs `minus + 1` times besides.
    fn deeper(&self, p: &Poly, k: u64, variable: u32, adds: bool, minus: &BigInt) -> (Poly, u64) {
        let (of, j) = self.variables[variable as usize / 2].floor.as_ref().expect("a quotient");
        let (variable, power) = (Poly::variable(variable), BigInt::from(1) << *j);
        let p = match adds {
            true => of.plus(&p.sub(&variable), &power),
            false => {
                let rest = p.plus(&variable, &-minus);
                Poly::constant(&power - 1).sub(of).plus(&rest, &power)
            }
        };
        (p, j + k)
    }

    /// Whether a polynomial was recorded to be from 0 to 2^k - 1.
    pub fn is_known_below(&self, p: &Poly, k: u64) -> bool {
        self.below.get(p).is_some_and(|known| *known <= k)
    }

    /// Brings a quotient of a polynomial with coefficients in [0, 2^k) into the normal form.
    fn form(&self, p: Poly, k: u64) -> Form {
        if let Some(value) = self.known(&p, k) {
            return Form::Value(value);
        }
        if let Some(value) = of_bits(&p, k) {
            return Form::Value(value);
        }
        let near = p.centred(k);
        if let Some(j) = self.signed(&near).filter(|&j| j < k) {
            let (_, more) = p.sub(&near).divided(k);
            return Form::Deeper { p: near, k: j, more };
        }
        // A constant is below 2^k, and so are the other coefficients: some power of two is left.
        let (_, constant) = p.assign(&BTreeMap::new());
        let Some(zeros) = p.sub(&Poly::constant(constant)).zeros() else {
            return Form::Value(Poly::default());
        };
        let (p, k) = if zeros == 0 { (p, k) } else { (p.divided(zeros).1, k - zeros) };
        // A polynomial with a negative first coefficient is the complement of one with a positive
        // one.
        let first = p.terms().find(|(monomial, _)| !monomial.is_empty());
        if first.is_some_and(|(_, value)| *value > BigInt::from(1) << (k - 1)) {
            return Form::Complement { p: Poly::constant(-1).sub(&p), k };
        }
        if self.most(&p).is_some_and(|most| most.bits() <= k) {
            return Form::Value(Poly::default());
        }
        let minus = (BigInt::from(1) << k) - 1;
        if let Some((variable, adds)) = self.once(&p, &minus) {
            let (p, k) = self.deeper(&p, k, variable, adds, &minus);
            let more = if adds { Poly::default() } else { Poly::variable(variable) };
            return Form::Deeper { p, k, more };
        }
        let key = (p, k);
        match self.floors.get(&key) {
            Some(value) => Form::Value(value.clone()),
            None => Form::Below { p: key.0, k },
        }
    }

    /// The least k > 0 for which a polynomial that may be below zero is from -2^k to 2^k - 1.
    fn signed(&self, p: &Poly) -> Option<u64> {
        let bounds = p.bounds(|variable| (BigUint::ZERO, self.high(variable).clone()));
        let (low, high) = bounds.filter(|(low, _)| *low < BigInt::ZERO)?;
        let below: BigInt = -low - 1;
        Some(below.bits().max(high.to_biguint()?.bits()).max(1))
    }

    /// An upper bound of a polynomial.
    fn most(&self, p: &Poly) -> Option<BigUint> {
        let bounds = p.bounds(|variable| (BigUint::ZERO, self.high(variable).clone()));
        bounds.and_then(|(_, high)| high.to_biguint())
    }

    /// Bounds of a polynomial by case analysis of the only bit that multiplies anything in it: a
    /// choice by that bit is as long as the longer alternative, and not as both together. `None` if
    /// there is no such bit, or if there are several.
    pub fn chosen(&self, p: &Poly) -> Option<(BigInt, BigInt)> {
        if p.size() > CHOICES {
            return None;
        }
        let factors = p.terms().filter(|(monomial, _)| monomial.len() > 1);
        let mut bits = factors.flat_map(|(m, _)| m.iter().map(|f| f.0).filter(|v| v % 2 == 1));
        let bit = bits.next()?;
        if bits.any(|other| other != bit) {
            return None;
        }
        let case = |value: u8| {
            let (rest, constant) = p.assign(&BTreeMap::from([(bit, BigInt::from(value))]));
            let bounds = rest.bounds(|variable| (BigUint::ZERO, self.high(variable).clone()));
            bounds.map(|(low, high)| (low + &constant, high + constant))
        };
        let ((low, high), (other_low, other_high)) = (case(0)?, case(1)?);
        Some((low.min(other_low), high.max(other_high)))
    }

    /// A short polynomial that is equal to this polynomial, which is from 0 to `high`: itself, if
    /// it is a constant or a multiple of a variable, or a multiple of a variable that stands for
    /// it. Equal polynomials get the same variable, and multiples of a polynomial get multiples of
    /// it.
    pub fn named(&mut self, p: &Poly, high: &BigUint) -> Poly {
        let (factor, p) = p.primitive();
        // The polynomial is not below zero, and dividing it by a positive factor keeps that.
        let (factor, p) = match factor < BigInt::ZERO {
            true => (-factor, p.scaled(&BigInt::from(-1))),
            false => (factor, p),
        };
        if p.size() <= SHORT && p.terms().all(|(monomial, _)| is_linear(monomial)) {
            return p.scaled(&factor);
        }
        let high = high / factor.magnitude();
        self.name(&p, high).scaled(&factor)
    }

    fn name(&mut self, p: &Poly, high: BigUint) -> Poly {
        if let Some(&variable) = self.names.get(p) {
            return Poly::variable(variable);
        }
        let variable = self.variable(high);
        self.names.insert(p.clone(), variable);
        Poly::variable(variable)
    }
}

/// The most terms of a polynomial for case analysis of a bit.
const CHOICES: usize = 16;

/// The most bits whose values are enumerated.
const FEW: usize = 3;

/// The quotient by 2^k of a polynomial in a few bits: the polynomial that interpolates its values
/// over all values of the bits.
fn of_bits(p: &Poly, k: u64) -> Option<Poly> {
    // A bit equals all of its powers, so the products of distinct bits are all terms.
    if p.size() > 1 << FEW || p.terms().flat_map(|(m, _)| m).any(|(v, _)| v % 2 == 0) {
        return None;
    }
    let bits = p.variables();
    if bits.len() > FEW {
        return None;
    }
    let mut found = Poly::default();
    for row in 0..1u32 << bits.len() {
        let value = |at: usize| row >> at & 1;
        let values = bits.iter().enumerate().map(|(at, &v)| (v, BigInt::from(value(at)))).collect();
        let mut term = Poly::constant(p.assign(&values).1 >> k);
        for (at, &variable) in bits.iter().enumerate() {
            let bit = Poly::variable(variable);
            term = term.mul(&if value(at) == 1 { bit } else { Poly::constant(1).sub(&bit) })?;
        }
        found = found.add(&term);
    }
    Some(found)
}

/// Terms of a linear polynomial that needs no name.
const SHORT: usize = 4;

fn is_linear(monomial: &Monomial) -> bool {
    monomial.is_empty() || monomial::single(monomial).is_some()
}

/// A quotient on its way to the normal form.
enum Form {
    Value(Poly),
    /// The quotient of p by 2^k, not simplified yet.
    Below {
        p: Poly,
        k: u64,
    },
    /// The quotient of p by 2^k plus `more`, where p may have any coefficients.
    Deeper {
        p: Poly,
        k: u64,
        more: Poly,
    },
    /// -1 minus the quotient of p by 2^k.
    Complement {
        p: Poly,
        k: u64,
    },
}

impl Integers {
    /// The quotient that a variable is, or the polynomial that it stands for.
    pub fn definition(&self, variable: u32) -> Option<(Poly, u64)> {
        let named = || self.names.iter().find(|(_, name)| **name == variable);
        let floor = self.variables[variable as usize / 2].floor.clone();
        floor.or_else(|| named().map(|(p, _)| (p.clone(), 0)))
    }
}

#[cfg(test)]
mod tests {
    use usuba::ir::random::Random;

    use super::*;

    fn words(count: usize) -> (Integers, Vec<Poly>) {
        let mut integers = Integers::default();
        let high: BigUint = (BigUint::from(1u8) << 64) - 1u8;
        let words = (0..count).map(|_| Poly::variable(integers.variable(high.clone()))).collect();
        (integers, words)
    }

    fn lower(integers: &mut Integers, p: &Poly, k: u64) -> Poly {
        let floor = integers.floor(p, k).expect("low powers");
        p.plus(&floor, &-(BigInt::from(1) << k))
    }

    /// The value of a polynomial where free variables have the values that are given.
    fn value(integers: &Integers, p: &Poly, free: &[BigInt]) -> BigInt {
        let mut values = BTreeMap::new();
        for variable in p.variables() {
            let found = match integers.definition(variable) {
                Some((of, k)) => value(integers, &of, free) >> k,
                None => free[variable as usize / 2].clone(),
            };
            values.insert(variable, found);
        }
        p.assign(&values).1
    }

    #[test]
    fn carries_of_halves_are_those_of_the_whole() {
        let (mut n, w) = words(4);
        let products = [w[0].mul(&w[1]), w[2].mul(&w[3])].map(|p| p.expect("one term"));
        let low = products.clone().map(|p| lower(&mut n, &p, 64));
        let high = products.clone().map(|p| n.floor(&p, 64).expect("low powers"));
        let carry = n.floor(&low[0].add(&low[1]), 64).expect("low powers");
        let sum = products[0].add(&products[1]);
        let whole = n.floor(&sum, 64).expect("low powers");
        assert_eq!(high[0].add(&high[1]).add(&carry), whole);
        // The contents of two registers, shifted as one.
        let low = lower(&mut n, &sum, 64);
        let (a, b) = (n.floor(&low, 51), n.floor(&sum, 51));
        let b = b.expect("low powers").plus(&whole, &BigInt::from(-(1 << 13)));
        assert_eq!(a.expect("low powers"), b);
        // And shifted once more.
        assert_eq!(n.floor(&whole, 7), n.floor(&sum, 71));
    }

    #[test]
    fn a_comparison_is_the_carry_of_the_sum() {
        let (mut n, w) = words(2);
        let sum = w[0].add(&w[1]);
        let carry = n.floor(&sum, 64).expect("low powers");
        let wrapped = lower(&mut n, &sum, 64);
        let borrow = n.floor(&wrapped.sub(&w[0]), 64).expect("low powers");
        assert_eq!(borrow.scaled(&BigInt::from(-1)), carry);
        assert_ne!(borrow, carry);
        let other = n.floor(&wrapped.sub(&w[1]).sub(&Poly::constant(1)), 64);
        assert_ne!(other.expect("low powers").scaled(&BigInt::from(-1)), carry);
    }

    #[test]
    fn signs_are_those_of_short_numbers() {
        let mut n = Integers::default();
        let short: BigUint = (BigUint::from(1u8) << 51) - 1u8;
        let [a, b] = [(); 2].map(|()| Poly::variable(n.variable(short.clone())));
        let less = a.sub(&b);
        let sign = n.floor(&less, 64).expect("low powers");
        assert_eq!(n.floor(&less, 51), Some(sign.clone()));
        assert_eq!(n.floor(&less.add(&Poly::constant(BigInt::from(3) << 70)), 70), {
            Some(sign.add(&Poly::constant(3)))
        });
        // A number that is not below 2^50 has more than a sign.
        assert_ne!(n.floor(&less, 50), Some(sign.clone()));
        assert_ne!(n.floor(&less.sub(&Poly::constant(1)), 64), Some(sign));
    }

    #[test]
    fn what_a_bit_chooses_is_as_long_as_the_longer() {
        let mut n = Integers::default();
        let [x, y] = [1000u32, 300].map(|high| Poly::variable(n.variable(BigUint::from(high))));
        let [b, c] = [(); 2].map(|()| Poly::variable(n.variable(BigUint::from(1u8))));
        let times = |a: &Poly, b: &Poly| a.mul(b).expect("one term");
        let chosen = x.sub(&times(&b, &x)).add(&times(&b, &y)).add(&Poly::constant(7));
        assert_eq!(n.chosen(&chosen), Some((BigInt::from(7), BigInt::from(1007))));
        // Both are there at once, one of them twice, or taken away.
        let both = x.add(&times(&b, &y));
        assert_eq!(n.chosen(&both), Some((BigInt::ZERO, BigInt::from(1300))));
        let less = times(&b, &y).sub(&times(&b, &x));
        assert_eq!(n.chosen(&less), Some((BigInt::from(-1000), BigInt::from(300))));
        // Another bit chooses, or none does.
        assert_eq!(n.chosen(&x.sub(&times(&b, &x)).add(&times(&c, &y))), None);
        assert_eq!(n.chosen(&x.add(&b)), None);
    }

    #[test]
    fn quotients_of_bits_are_bits() {
        let mut n = Integers::default();
        let [a, b] = [(); 2].map(|()| Poly::variable(n.variable(BigUint::from(1u8))));
        let one = Poly::constant(1);
        let minus = |p: &Poly| p.scaled(&BigInt::from(-1));
        assert_eq!(n.floor(&a.sub(&one), 64), Some(a.sub(&one)));
        assert_eq!(n.floor(&minus(&a), 64), Some(minus(&a)));
        let both = a.mul(&b).expect("one term");
        let other = a.add(&b).plus(&both, &BigInt::from(-2));
        assert_eq!(n.floor(&minus(&other), 51), Some(minus(&other)));
        assert_eq!(n.floor(&a.add(&b), 1), Some(both.clone()));
        assert_eq!(n.floor(&a.add(&b).add(&one), 1), Some(a.add(&b).sub(&both)));
        assert_ne!(n.floor(&a.add(&b).add(&one), 1), Some(a));
    }

    #[test]
    fn quotients_are_what_they_say() {
        let mut random = Random::new(9);
        for _ in 0..40 {
            let (mut n, w) = words(3);
            let free: Vec<BigInt> =
                (0..3).map(|_| BigInt::from(random.word() >> (random.below(3) * 31))).collect();
            let mut pool = w.clone();
            for _ in 0..24 {
                let [a, b] = [0, 1].map(|_| pool[random.below(pool.len())].clone());
                let k = [1, 7, 32, 51, 64, 65][random.below(6)];
                let factor = BigInt::from(random.word() >> 40) - (1 << 20);
                let (p, expected) = match random.below(6) {
                    0 => (a.add(&b), value(&n, &a, &free) + value(&n, &b, &free)),
                    5 => (a.sub(&b), value(&n, &a, &free) - value(&n, &b, &free)),
                    1 => {
                        (a.plus(&b, &factor), value(&n, &a, &free) + value(&n, &b, &free) * &factor)
                    }
                    2 => match n.floor(&a, k) {
                        Some(p) => (p, value(&n, &a, &free) >> k),
                        None => continue,
                    },
                    3 => {
                        (lower(&mut n, &a, k), value(&n, &a, &free) & ((BigInt::from(1) << k) - 1))
                    }
                    _ => {
                        // Named polynomials are not negative.
                        let [a, b] = [a, b].map(|p| lower(&mut n, &p, 64));
                        let high: BigUint = (BigUint::from(1u8) << 64) - 1u8;
                        let [x, y] = [&a, &b].map(|p| n.named(p, &high));
                        let Some(p) = x.mul(&y) else { continue };
                        (p, value(&n, &a, &free) * value(&n, &b, &free))
                    }
                };
                assert_eq!(value(&n, &p, &free), expected);
                if p.size() < 40 {
                    pool.push(p);
                }
            }
        }
    }

    #[test]
    fn multiples_have_multiples_of_one_name() {
        let (mut n, w) = words(5);
        let (three, high) = (BigInt::from(3), BigUint::from(1u8) << 70);
        for negative in 0..5 {
            let one = |(at, word): (usize, &Poly)| {
                word.scaled(&BigInt::from(1 - 2 * i32::from(at == negative)))
            };
            let p = w.iter().enumerate().map(one).fold(Poly::default(), |sum, word| sum.add(&word));
            let name = n.named(&p, &high);
            assert_eq!(
                (name.size(), n.named(&p.scaled(&three), &(&high * 3u8))),
                (1, name.scaled(&three))
            );
        }
    }

    #[test]
    fn a_quotient_that_is_taken_away_is_rounded_up() {
        let (mut n, w) = words(2);
        let quotient = n.floor(&w[1], 5).expect("low powers");
        let all = w[0].scaled(&BigInt::from(32)).sub(&w[1]);
        let one = n.floor(&w[0].sub(&quotient), 7);
        assert_eq!(one, n.floor(&all.add(&Poly::constant(31)), 12));
        assert_ne!(one, n.floor(&all, 12));
        assert_ne!(one, n.floor(&all.add(&Poly::constant(32)), 12));
        // Twice the quotient is no quotient of twice.
        let twice = n.floor(&w[0].sub(&quotient.scaled(&BigInt::from(2))), 7);
        assert_ne!(twice, n.floor(&all.sub(&w[1]).add(&Poly::constant(31)), 12));
    }

    #[test]
    fn what_is_below_one_power_is_below_higher_ones() {
        let (mut n, w) = words(3);
        let p = w[0].sub(&w[1]);
        n.is_below(&p, 64);
        assert!(n.is_known_below(&p, 64) && !n.is_known_below(&p, 63));
        let zero = Some(Poly::default());
        assert_eq!(n.floor(&p, 70), zero);
        let more = p.plus(&w[2], &(BigInt::from(1) << 70));
        assert_eq!(n.floor(&more, 70).as_ref(), Some(&w[2]));
        assert_eq!(n.floor(&Poly::constant(-1).sub(&p), 66), Some(Poly::constant(-1)));
        // Neither its neighbours nor a multiple of it, nor a lower power.
        for (p, k) in [
            (p.add(&Poly::constant(1)), 64),
            (p.scaled(&BigInt::from(3)), 65),
            (p.scaled(&BigInt::from(-1)), 64),
            (p.clone(), 63),
        ] {
            assert_ne!(n.floor(&p, k), zero, "{k}");
        }
        // The dividend of a quotient is below its bound as well.
        let quotient = n.floor(&w[2].sub(&w[1]), 7).expect("low powers");
        n.is_below(&quotient, 20);
        assert_eq!(n.floor(&w[2].sub(&w[1]), 27), zero);
        assert_ne!(n.floor(&w[2].sub(&w[1]), 26), zero);
    }

    #[test]
    fn what_is_below_has_no_quotient() {
        let (mut n, w) = words(2);
        let p = w[0].sub(&w[1]).add(&Poly::constant(5));
        n.is_below(&p, 64);
        assert_eq!(n.floor(&p, 64), Some(Poly::default()));
        let more = p.add(&Poly::constant(BigInt::from(3) << 64));
        assert_eq!(n.floor(&more, 64), Some(Poly::constant(3)));
        assert_ne!(n.floor(&p, 63), Some(Poly::default()));
    }
}
