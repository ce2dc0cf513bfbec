//! Polynomials with integer coefficients, in which carries are variables like all others.
//!
//! ```text
//! (q, r) = split(x, 51)     r is x - 2^51 q
//! fe(r) - fe(a)·fe(b)       zero modulo p: the congruence holds for all values of all variables
//! ```
//!
//! A variable with an odd number takes the values 0 and 1 only, so its powers are itself.
//! Exponents are as large as those of an inversion, b^(p-2).

use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint};

/// A product of variables: each with its exponent, sorted, none zero.
pub type Monomial = Vec<(u32, BigUint)>;

/// The most terms that a product may have.
const MAX_TERMS: usize = 20_000;

/// A sum with more terms than one is raised to this power at most.
const MAX_POWER: u32 = 16;

#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Poly {
    /// No coefficient is zero.
    terms: BTreeMap<Monomial, BigInt>,
}

impl Poly {
    pub fn constant(value: impl Into<BigInt>) -> Poly {
        let mut terms = BTreeMap::new();
        let value = value.into();
        if value != BigInt::ZERO {
            terms.insert(Monomial::new(), value);
        }
        Poly { terms }
    }

    pub fn variable(variable: u32) -> Poly {
        let monomial = vec![(variable, BigUint::from(1u8))];
        Poly { terms: BTreeMap::from([(monomial, BigInt::from(1))]) }
    }

    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// The number, if it is one.
    pub fn value(&self) -> Option<BigInt> {
        match self.terms.first_key_value() {
            None => Some(BigInt::ZERO),
            Some((monomial, value)) if monomial.is_empty() && self.terms.len() == 1 => {
                Some(value.clone())
            }
            Some(_) => None,
        }
    }

    pub fn add(&self, other: &Poly) -> Poly {
        self.plus(other, &BigInt::from(1))
    }

    pub fn sub(&self, other: &Poly) -> Poly {
        self.plus(other, &BigInt::from(-1))
    }

    /// `self + factor * other`
    pub fn plus(&self, other: &Poly, factor: &BigInt) -> Poly {
        let mut terms = self.terms.clone();
        for (monomial, value) in &other.terms {
            insert(&mut terms, monomial.clone(), value * factor);
        }
        Poly { terms }
    }

    pub fn scaled(&self, factor: &BigInt) -> Poly {
        Poly::default().plus(self, factor)
    }

    /// `None` if the product has too many terms.
    pub fn mul(&self, other: &Poly) -> Option<Poly> {
        if self.len() * other.len() > MAX_TERMS {
            return None;
        }
        let mut terms = BTreeMap::new();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                insert(&mut terms, product(a, b), x * y);
            }
        }
        Some(Poly { terms })
    }

    /// The coefficients modulo `modulus`, not negative.
    pub fn modulo(&self, modulus: &BigInt) -> Poly {
        let mut terms = BTreeMap::new();
        for (monomial, value) in &self.terms {
            insert(&mut terms, monomial.clone(), remainder(value, modulus));
        }
        Poly { terms }
    }

    /// What remains modulo 2^k, with coefficients that are not negative, and the quotient: the
    /// polynomial is `rest + 2^k whole`.
    pub fn divided(&self, k: u64) -> (Poly, Poly) {
        let power = BigInt::from(1) << k;
        let (mut rest, mut whole) = (BTreeMap::new(), BTreeMap::new());
        for (monomial, value) in &self.terms {
            let low = remainder(value, &power);
            insert(&mut whole, monomial.clone(), (value - &low) >> k);
            insert(&mut rest, monomial.clone(), low);
        }
        (Poly { terms: rest }, Poly { terms: whole })
    }

    /// The same modulo 2^k, with coefficients that are as near to zero as can be; those that are in
    /// [0, 2^k) now.
    pub fn centred(&self, k: u64) -> Poly {
        let power = BigInt::from(1) << k;
        let half = BigInt::from(1) << (k - 1);
        let near = |value: &BigInt| if *value > half { value - &power } else { value.clone() };
        let terms = self.terms.iter().map(|(monomial, value)| (monomial.clone(), near(value)));
        Poly { terms: terms.collect() }
    }

    /// The greatest power of two that divides all coefficients; `None` for zero.
    pub fn zeros(&self) -> Option<u64> {
        self.terms.values().filter_map(BigInt::trailing_zeros).min()
    }

    /// The greatest number that divides all coefficients, and what it is multiplied by, of which
    /// the first coefficient is positive; zero is once itself.
    pub fn primitive(&self) -> (BigInt, Poly) {
        let mut shared = self.terms.values().fold(BigInt::ZERO, |a, b| greatest(a, b.clone()));
        if shared == BigInt::ZERO {
            return (BigInt::from(1), self.clone());
        }
        if self.is_negative() {
            shared = -shared;
        }
        let terms = self.terms.iter().map(|(monomial, value)| (monomial.clone(), value / &shared));
        let terms = terms.collect();
        (shared, Poly { terms })
    }

    /// Each product of variables with its coefficient.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, &BigInt)> {
        self.terms.iter()
    }

    /// The variable that is the only product, besides a constant, and occurs once in it; and the
    /// constant.
    pub fn shifted_variable(&self) -> Option<(u32, BigInt)> {
        let constant = self.terms.get(&Monomial::new()).cloned();
        let count = self.terms.len() - usize::from(constant.is_some());
        let (monomial, value) = self.terms.last_key_value().filter(|_| count == 1)?;
        let single = monomial.len() == 1 && monomial[0].1 == BigUint::from(1u8);
        let once = single && *value == BigInt::from(1);
        once.then(|| (monomial[0].0, constant.unwrap_or_default()))
    }

    /// A power, modulo `modulus` if there is one; `None` if it has too many terms.
    pub fn power(&self, exponent: &BigUint, modulus: Option<&BigInt>) -> Option<Poly> {
        if self.terms.len() <= 1 && self.terms.keys().all(|m| !m.is_empty()) {
            let Some((monomial, value)) = self.terms.first_key_value() else {
                return Some(if *exponent == BigUint::ZERO {
                    Poly::constant(1)
                } else {
                    self.clone()
                });
            };
            let value = match (u32::try_from(exponent.clone()), modulus) {
                _ if *value == BigInt::from(1) => value.clone(),
                (_, Some(modulus)) => value.modpow(&BigInt::from(exponent.clone()), modulus),
                (Ok(small), None) if small <= MAX_POWER => value.pow(small),
                _ => return None,
            };
            let raise = |(variable, e): &(u32, BigUint)| {
                (*variable, if variable % 2 == 1 { e.clone() } else { e * exponent })
            };
            let monomial: Monomial = match *exponent == BigUint::ZERO {
                true => Monomial::new(),
                false => monomial.iter().map(raise).collect(),
            };
            let mut terms = BTreeMap::new();
            insert(&mut terms, monomial, value);
            return Some(Poly { terms });
        }
        let small = u32::try_from(exponent.clone()).ok();
        if let Some(value) = self.value() {
            // Exact where it is short: it may be a part of an exponent.
            return match (small, modulus) {
                (Some(small), _) if small <= 4096 => Some(Poly::constant(value.pow(small))),
                (_, Some(modulus)) => {
                    Some(Poly::constant(value.modpow(&BigInt::from(exponent.clone()), modulus)))
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

    /// With values in place of some variables: without its constant, and the constant.
    pub fn assign(&self, values: &BTreeMap<u32, BigInt>) -> (Poly, BigInt) {
        let mut terms = BTreeMap::new();
        for (monomial, value) in &self.terms {
            let mut value = value.clone();
            let mut rest = Monomial::new();
            for (variable, exponent) in monomial {
                match (values.get(variable), u32::try_from(exponent.clone())) {
                    (Some(known), Ok(exponent)) => value *= known.pow(exponent),
                    _ => rest.push((*variable, exponent.clone())),
                }
            }
            insert(&mut terms, rest, value);
        }
        let constant = terms.remove(&Monomial::new()).unwrap_or_default();
        (Poly { terms }, constant)
    }

    /// Whether the first factor is below zero.
    pub fn is_negative(&self) -> bool {
        self.terms.first_key_value().is_some_and(|(_, value)| *value < BigInt::ZERO)
    }

    /// Every variable, once, in order.
    pub fn variables(&self) -> Vec<u32> {
        let all = self.terms.keys().flatten().map(|(variable, _)| *variable);
        let mut all: Vec<u32> = all.collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// If `variable` occurs in one term only, and there alone with this exponent 1, its factor.
    pub fn linear(&self, variable: u32) -> Option<&BigInt> {
        let with = |(monomial, _): &(&Monomial, &BigInt)| monomial.iter().any(|f| f.0 == variable);
        let mut found = self.terms.iter().filter(with);
        let (monomial, value) = found.next()?;
        let alone = monomial.len() == 1 && monomial[0].1 == BigUint::from(1u8);
        (alone && found.next().is_none()).then_some(value)
    }

    /// `with` in place of a variable, modulo `modulus` if there is one; `None` if that has too
    /// many terms.
    pub fn substitute(&self, variable: u32, with: &Poly, modulus: Option<&BigInt>) -> Option<Poly> {
        let mut result = Poly::default();
        for (monomial, value) in &self.terms {
            let Some(at) = monomial.iter().position(|f| f.0 == variable) else {
                insert(&mut result.terms, monomial.clone(), value.clone());
                continue;
            };
            let mut rest = monomial.clone();
            let (_, exponent) = rest.remove(at);
            let power = with.power(&exponent, modulus)?;
            let mut rest_terms = BTreeMap::new();
            insert(&mut rest_terms, rest, value.clone());
            result = result.add(&power.mul(&Poly { terms: rest_terms })?);
            if result.len() > MAX_TERMS {
                return None;
            }
        }
        Some(match modulus {
            Some(modulus) => result.modulo(modulus),
            None => result,
        })
    }

    /// The least and greatest value where each variable lies between its bounds, neither of them
    /// negative; each term by itself.
    pub fn bounds(&self, of: impl Fn(u32) -> (BigUint, BigUint)) -> Option<(BigInt, BigInt)> {
        let (mut low, mut high) = (BigInt::ZERO, BigInt::ZERO);
        for (monomial, value) in &self.terms {
            let (mut least, mut most) = (BigUint::from(1u8), BigUint::from(1u8));
            for (variable, exponent) in monomial {
                let exponent = u32::try_from(exponent.clone()).ok().filter(|&e| e <= MAX_POWER)?;
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

fn insert(terms: &mut BTreeMap<Monomial, BigInt>, monomial: Monomial, value: BigInt) {
    if value == BigInt::ZERO {
        return;
    }
    match terms.entry(monomial) {
        std::collections::btree_map::Entry::Vacant(entry) => {
            entry.insert(value);
        }
        std::collections::btree_map::Entry::Occupied(mut entry) => {
            *entry.get_mut() += value;
            if *entry.get() == BigInt::ZERO {
                entry.remove();
            }
        }
    }
}

/// Both are sorted, so is the result.
fn product(a: &Monomial, b: &Monomial) -> Monomial {
    let mut out = Monomial::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.0 == y.0 => {
                let exponent = if x.0 % 2 == 1 { x.1.clone() } else { &x.1 + &y.1 };
                out.push((x.0, exponent));
                a.next();
                b.next();
            }
            (Some(x), Some(y)) if x.0 < y.0 => {
                out.push((*x).clone());
                a.next();
            }
            (_, Some(y)) => {
                out.push((*y).clone());
                b.next();
            }
            (Some(x), None) => {
                out.push((*x).clone());
                a.next();
            }
            (None, None) => return out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x(n: u32) -> Poly {
        Poly::variable(n)
    }

    #[test]
    fn products_are_sums_of_products() {
        let square = x(2).add(&x(4)).power(&BigUint::from(2u8), None).expect("four terms");
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
        let e = BigUint::from(2u8).pow(255) - 21u8;
        let power = x(2).power(&e, None).expect("one term");
        let p = BigInt::from(2).pow(255) - 19;
        assert_eq!(x(4).substitute(4, &power, Some(&p)), Some(power.clone()));
        let square = x(4).mul(&x(4)).expect("one term").substitute(4, &power, Some(&p));
        assert_eq!(square, x(2).power(&(e * 2u8), Some(&p)));
        assert!(x(2).add(&x(4)).power(&BigUint::from(99u8), None).is_none());
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
