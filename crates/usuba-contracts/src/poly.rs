//! Polynomials with integer coefficients, in which carries are variables like all others.
//!
//! ```text
//! (q, r) = split(x, 51)     r is x - 2^51 q
//! fe(r) - fe(a)·fe(b)       zero modulo p: the congruence holds for all values of all variables
//! ```
//!
//! A variable with an odd number has the values 0 and 1 only, so it equals its powers. Exponents
//! can be as large as the exponent of an inversion, b^(p-2).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint};

use super::monomial::{self, Exponent, Monomial};

/// The most terms of a product.
const MAX_TERMS: usize = 20_000;

/// A sum of several terms is raised to at most this power.
const MAX_POWER: u32 = 16;

/// A product of variables with its coefficient.
type Term = (Monomial, BigInt);

#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Poly {
    /// Sorted by their monomials, each once; no coefficient is zero.
    terms: Vec<Term>,
}

impl Poly {
    pub fn constant(value: impl Into<BigInt>) -> Poly {
        Poly::term(Monomial::new(), value.into())
    }

    pub fn variable(variable: u32) -> Poly {
        Poly::term(monomial::variable(variable), BigInt::from(1))
    }

    fn term(monomial: Monomial, value: BigInt) -> Poly {
        let is_there = value != BigInt::ZERO;
        Poly { terms: is_there.then_some((monomial, value)).into_iter().collect() }
    }

    /// The sum of terms in any order, each a monomial and its coefficient.
    pub fn of_terms(terms: impl IntoIterator<Item = (Monomial, BigInt)>) -> Poly {
        Poly::sum(terms.into_iter().collect())
    }

    /// The sum of terms in any order.
    fn sum(mut terms: Vec<Term>) -> Poly {
        terms.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut sum: Vec<Term> = Vec::with_capacity(terms.len());
        for (monomial, value) in terms {
            match sum.last_mut() {
                Some((last, so_far)) if *last == monomial => *so_far += value,
                _ => {
                    sum.pop_if(|(_, value)| *value == BigInt::ZERO);
                    sum.push((monomial, value));
                }
            }
        }
        sum.pop_if(|(_, value)| *value == BigInt::ZERO);
        Poly { terms: sum }
    }

    /// The same monomials with mapped coefficients.
    fn with_values(&self, of: impl Fn(&BigInt) -> BigInt) -> Poly {
        let terms = self.terms.iter().map(|(monomial, value)| (of(value), monomial));
        let terms = terms.filter(|(value, _)| *value != BigInt::ZERO);
        Poly { terms: terms.map(|(value, monomial)| (monomial.clone(), value)).collect() }
    }

    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The number of monomials.
    pub fn size(&self) -> usize {
        self.terms.len()
    }

    /// The constant, if the polynomial is constant.
    pub fn value(&self) -> Option<BigInt> {
        match &self.terms[..] {
            [] => Some(BigInt::ZERO),
            [(monomial, value)] if monomial.is_empty() => Some(value.clone()),
            _ => None,
        }
    }

    pub fn add(&self, other: &Poly) -> Poly {
        self.with(other, BigInt::clone)
    }

    pub fn sub(&self, other: &Poly) -> Poly {
        self.with(other, |value| -value)
    }

    /// `self + factor * other`
    pub fn plus(&self, other: &Poly, factor: &BigInt) -> Poly {
        if *factor == BigInt::ZERO {
            return self.clone();
        }
        self.with(other, |value| value * factor)
    }

    /// The sum with another polynomial whose coefficients are mapped by `times`, never to zero.
    fn with(&self, other: &Poly, times: impl Fn(&BigInt) -> BigInt) -> Poly {
        let mut terms = Vec::with_capacity(self.size() + other.size());
        let (mut own, mut others) = (&self.terms[..], &other.terms[..]);
        while let ([(a, x), rest @ ..], [(b, y), rest_of_other @ ..]) = (own, others) {
            match a.cmp(b) {
                Ordering::Less => {
                    terms.push((a.clone(), x.clone()));
                    own = rest;
                }
                Ordering::Greater => {
                    terms.push((b.clone(), times(y)));
                    others = rest_of_other;
                }
                Ordering::Equal => {
                    let sum = x + times(y);
                    if sum != BigInt::ZERO {
                        terms.push((a.clone(), sum));
                    }
                    (own, others) = (rest, rest_of_other);
                }
            }
        }
        terms.extend_from_slice(own);
        terms.extend(others.iter().map(|(monomial, value)| (monomial.clone(), times(value))));
        Poly { terms }
    }

    pub fn scaled(&self, factor: &BigInt) -> Poly {
        self.with_values(|value| value * factor)
    }

    /// `None` if the product has too many terms.
    pub fn mul(&self, other: &Poly) -> Option<Poly> {
        let count = self.size() * other.size();
        if count > MAX_TERMS {
            return None;
        }
        let mut terms = Vec::with_capacity(count);
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                terms.push((monomial::product(a, b), x * y));
            }
        }
        Some(Poly::sum(terms))
    }

    /// The coefficients modulo `modulus`, not negative.
    pub fn modulo(&self, modulus: &BigInt) -> Poly {
        self.with_values(|value| remainder(value, modulus))
    }

    /// The remainder modulo 2^k, with coefficients that are not negative, and the quotient: the
    /// polynomial is `rest + 2^k whole`.
    pub fn divided(&self, k: u64) -> (Poly, Poly) {
        let power = BigInt::from(1) << k;
        // The quotient is rounded down.
        (self.modulo(&power), self.with_values(|value| value >> k))
    }

    /// The polynomial modulo 2^k with coefficients as close to zero as possible; they must be in
    /// [0, 2^k) now.
    pub fn centred(&self, k: u64) -> Poly {
        let power = BigInt::from(1) << k;
        let half = BigInt::from(1) << (k - 1);
        self.with_values(|value| if *value > half { value - &power } else { value.clone() })
    }

    /// The greatest power of two that divides all coefficients; `None` for zero.
    pub fn zeros(&self) -> Option<u64> {
        self.terms.iter().filter_map(|(_, value)| value.trailing_zeros()).min()
    }

    /// The content, which is the greatest common divisor of all coefficients, and the primitive
    /// part, whose first coefficient is positive; the parts of zero are 1 and zero.
    pub fn primitive(&self) -> (BigInt, Poly) {
        let values = self.terms.iter().map(|(_, value)| value);
        let mut shared = values.fold(BigInt::ZERO, |a, b| greatest(a, b.clone()));
        if shared == BigInt::ZERO {
            return (BigInt::from(1), self.clone());
        }
        if self.is_negative() {
            shared = -shared;
        }
        let primitive = match shared == BigInt::from(1) {
            true => self.clone(),
            false => self.with_values(|value| value / &shared),
        };
        (shared, primitive)
    }

    /// The terms, each as a monomial and its coefficient.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, &BigInt)> {
        self.terms.iter().map(|(monomial, value)| (monomial, value))
    }

    /// The variable and the constant, if the polynomial is a variable with coefficient 1 plus a
    /// constant.
    pub fn shifted_variable(&self) -> Option<(u32, BigInt)> {
        // The constant term is the first.
        let (constant, (monomial, value)) = match &self.terms[..] {
            [only] => (BigInt::ZERO, only),
            [(first, constant), other] if first.is_empty() => (constant.clone(), other),
            _ => return None,
        };
        let once = *value == BigInt::from(1);
        monomial::single(monomial).filter(|_| once).map(|variable| (variable, constant))
    }

    /// A power, modulo `modulus` if there is one; `None` if it has too many terms.
    pub fn power(&self, exponent: &Exponent, modulus: Option<&BigInt>) -> Option<Poly> {
        let small = exponent.small();
        if small == Some(1) {
            return Some(self.clone());
        }
        match &self.terms[..] {
            [] => return Some(if small == Some(0) { Poly::constant(1) } else { Poly::default() }),
            [(monomial, value)] if !monomial.is_empty() => {
                let value = match (small, modulus) {
                    _ if *value == BigInt::from(1) => value.clone(),
                    (_, Some(modulus)) => value.modpow(&BigInt::from(exponent.number()), modulus),
                    (Some(small), None) if small <= MAX_POWER => value.pow(small),
                    _ => return None,
                };
                return Some(Poly::term(monomial::power(monomial, exponent), value));
            }
            _ => {}
        }
        if let Some(value) = self.value() {
            // Exact where it is short: it may be a part of an exponent.
            return match (small, modulus) {
                (Some(small), _) if small <= 4096 => Some(Poly::constant(value.pow(small))),
                (_, Some(modulus)) => {
                    Some(Poly::constant(value.modpow(&BigInt::from(exponent.number()), modulus)))
                }
                _ => None,
            };
        }
        let small = small.filter(|&small| small <= MAX_POWER)?;
        let mut result = Poly::constant(1);
        for _ in 0..small {
            result = result.mul(self)?;
        }
        Some(result)
    }

    /// Puts values in place of some variables: the polynomial without its constant, and the
    /// constant.
    pub fn assign(&self, values: &BTreeMap<u32, BigInt>) -> (Poly, BigInt) {
        let assigned = |(monomial, value): &Term| {
            let mut value = value.clone();
            let mut rest = Monomial::new();
            for (variable, exponent) in monomial {
                match (values.get(variable), exponent.small()) {
                    (Some(known), Some(exponent)) => value *= known.pow(exponent),
                    _ => rest.push((*variable, exponent.clone())),
                }
            }
            (rest, value)
        };
        let mut sum = Poly::sum(self.terms.iter().map(assigned).collect());
        let constant = match sum.terms.first() {
            Some((monomial, _)) if monomial.is_empty() => sum.terms.remove(0).1,
            _ => BigInt::ZERO,
        };
        (sum, constant)
    }

    /// Whether the first factor is below zero.
    pub fn is_negative(&self) -> bool {
        self.terms.first().is_some_and(|(_, value)| *value < BigInt::ZERO)
    }

    /// Every variable, once, in order.
    pub fn variables(&self) -> Vec<u32> {
        let all = self.terms.iter().flat_map(|(monomial, _)| monomial);
        let mut all: Vec<u32> = all.map(|(variable, _)| *variable).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// If `variable` occurs in one term only, and there alone with this exponent 1, its factor.
    pub fn linear(&self, variable: u32) -> Option<&BigInt> {
        let with = |(monomial, _): &&Term| monomial.iter().any(|f| f.0 == variable);
        let mut found = self.terms.iter().filter(with);
        let (monomial, value) = found.next()?;
        let alone = monomial::single(monomial).is_some();
        (alone && found.next().is_none()).then_some(value)
    }

    /// `with` in place of a variable, modulo `modulus` if there is one; `None` if that has too
    /// many terms.
    pub fn substitute(&self, variable: u32, with: &Poly, modulus: Option<&BigInt>) -> Option<Poly> {
        let (mut kept, mut made) = (Vec::new(), Poly::default());
        for (monomial, value) in &self.terms {
            let Some(at) = monomial.iter().position(|f| f.0 == variable) else {
                kept.push((monomial.clone(), value.clone()));
                continue;
            };
            let mut rest = monomial.clone();
            let (_, exponent) = rest.remove(at);
            let power = with.power(&exponent, modulus)?;
            made = made.add(&power.mul(&Poly::term(rest, value.clone()))?);
            if made.size() + kept.len() > MAX_TERMS {
                return None;
            }
        }
        let result = Poly { terms: kept }.add(&made);
        Some(match modulus {
            Some(modulus) => result.modulo(modulus),
            None => result,
        })
    }

    /// A polynomial for each variable, which have even numbers, modulo `modulus`; `None` if that has
    /// too many terms, a variable has no polynomial, or a power has none.
    pub fn composed(
        &self,
        with: &[Poly],
        modulus: &BigInt,
        mut power: impl FnMut(&Poly, &Exponent) -> Option<Poly>,
    ) -> Option<Poly> {
        let mut total = Poly::default();
        for (monomial, factor) in &self.terms {
            let mut term = Poly::constant(factor.clone());
            for (variable, exponent) in monomial {
                let power = power(with.get(*variable as usize / 2)?, exponent)?;
                term = term.mul(&power)?.modulo(modulus);
            }
            total = total.add(&term);
        }
        Some(total.modulo(modulus))
    }

    /// The coefficient of each power of a variable, by its exponent; `None` if one does not fit.
    pub fn coefficients(&self, variable: u32) -> Option<BTreeMap<u32, Poly>> {
        let mut all: BTreeMap<u32, Vec<Term>> = BTreeMap::new();
        for (monomial, value) in &self.terms {
            let mut rest = monomial.clone();
            let exponent = match rest.iter().position(|factor| factor.0 == variable) {
                Some(at) => rest.remove(at).1.small()?,
                None => 0,
            };
            all.entry(exponent).or_default().push((rest, value.clone()));
        }
        Some(all.into_iter().map(|(exponent, terms)| (exponent, Poly::sum(terms))).collect())
    }

    /// The least and greatest value where each variable lies between its bounds, which are not
    /// negative: interval arithmetic term by term.
    pub fn bounds(&self, of: impl Fn(u32) -> (BigUint, BigUint)) -> Option<(BigInt, BigInt)> {
        let (mut low, mut high) = (BigInt::ZERO, BigInt::ZERO);
        for (monomial, value) in &self.terms {
            let (mut least, mut most) = (BigUint::from(1u8), BigUint::from(1u8));
            for (variable, exponent) in monomial {
                let exponent = exponent.small().filter(|&e| e <= MAX_POWER)?;
                let (a, b) = of(*variable);
                (least, most) = (least * a.pow(exponent), most * b.pow(exponent));
            }
            let (least, most) = (BigInt::from(least), BigInt::from(most));
            let negative = *value < BigInt::ZERO;
            let (l, h) = if negative { (most, least) } else { (least, most) };
            low += l * value;
            high += h * value;
        }
        Some((low, high))
    }
}

/// The remainder that is not negative.
pub fn remainder(value: &BigInt, modulus: &BigInt) -> BigInt {
    let rest = value % modulus;
    if rest < BigInt::ZERO { rest + modulus } else { rest }
}

/// The greatest common divisor, not negative.
fn greatest(mut a: BigInt, mut b: BigInt) -> BigInt {
    while b != BigInt::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    if a < BigInt::ZERO { -a } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x(n: u32) -> Poly {
        Poly::variable(n)
    }

    #[test]
    fn products_are_sums_of_products() {
        let square = x(2).add(&x(4)).power(&Exponent::from(2), None).expect("four terms");
        let two = Poly::constant(2);
        let cross = x(2).mul(&x(4)).and_then(|p| p.mul(&two)).expect("one term");
        let want = x(2).mul(&x(2)).expect("one").add(&cross).add(&x(4).mul(&x(4)).expect("one"));
        assert_eq!(square, want);
        assert!(square.sub(&want).is_zero());
        assert_ne!(square, want.add(&Poly::constant(1)));
    }

    #[test]
    fn powers_of_bits_are_bits() {
        assert_eq!(x(3).mul(&x(3)), Some(x(3)));
        assert_ne!(x(2).mul(&x(2)), Some(x(2)));
    }

    #[test]
    fn exponents_are_large() {
        let e = Exponent::from(BigUint::from(2u8).pow(255) - 21u8);
        let power = x(2).power(&e, None).expect("one term");
        let p = BigInt::from(2).pow(255) - 19;
        assert_eq!(x(4).substitute(4, &power, Some(&p)), Some(power.clone()));
        let square = x(4).mul(&x(4)).expect("one term").substitute(4, &power, Some(&p));
        assert_eq!(square, x(2).power(&Exponent::from(e.number() * 2u8), Some(&p)));
        assert!(x(2).add(&x(4)).power(&Exponent::from(99), None).is_none());
    }

    #[test]
    fn bounds_hold_term_by_term() {
        let p = x(2).sub(&x(4)).add(&Poly::constant(7));
        let of = |v| if v == 2 { (1u8.into(), 5u8.into()) } else { (0u8.into(), 2u8.into()) };
        assert_eq!(p.bounds(of), Some((BigInt::from(6), BigInt::from(12))));
    }

    #[test]
    fn linear_variables_stand_alone() {
        let p = x(2).scaled(&BigInt::from(3)).add(&x(4).mul(&x(6)).expect("one term"));
        assert_eq!(p.linear(2), Some(&BigInt::from(3)));
        assert_eq!(p.linear(4), None);
        assert_eq!(p.linear(8), None);
    }
}
