//! Products of variables, the keys of a polynomial.
//!
//! ```text
//! x2 · x4^3          [(2, 3), (4, 3)]
//! ```
//!
//! Nearly all monomials have one or two variables and small exponents, and are stored inline.

use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::BigUint;
use smallvec::SmallVec;

/// A product of variables: each with its exponent, sorted, none zero.
pub type Monomial = SmallVec<[Factor; 2]>;

/// A power of a variable.
pub type Factor = (u32, Exponent);

/// The exponent of a variable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Exponent {
    Small(u32),
    /// An exponent that does not fit 32 bits; smaller ones are never stored here, so equality is
    /// structural.
    Large(Arc<BigUint>),
}

impl From<u32> for Exponent {
    fn from(number: u32) -> Exponent {
        Exponent::Small(number)
    }
}

impl From<BigUint> for Exponent {
    fn from(number: BigUint) -> Exponent {
        match u32::try_from(&number) {
            Ok(small) => Exponent::Small(small),
            Err(_) => Exponent::Large(Arc::new(number)),
        }
    }
}

impl Exponent {
    /// The number, if it fits.
    pub fn small(&self) -> Option<u32> {
        match self {
            Exponent::Small(number) => Some(*number),
            Exponent::Large(_) => None,
        }
    }

    pub fn number(&self) -> BigUint {
        match self {
            Exponent::Small(number) => BigUint::from(*number),
            Exponent::Large(number) => BigUint::clone(number),
        }
    }

    fn plus(&self, other: &Exponent) -> Exponent {
        let small = self.small().zip(other.small());
        match small.and_then(|(a, b)| a.checked_add(b)) {
            Some(sum) => Exponent::Small(sum),
            None => Exponent::from(self.number() + other.number()),
        }
    }

    fn times(&self, other: &Exponent) -> Exponent {
        let small = self.small().zip(other.small());
        match small.and_then(|(a, b)| a.checked_mul(b)) {
            Some(product) => Exponent::Small(product),
            None => Exponent::from(self.number() * other.number()),
        }
    }
}

/// A variable alone.
pub fn variable(variable: u32) -> Monomial {
    Monomial::from_iter([(variable, Exponent::Small(1))])
}

/// The variable, if the monomial is one variable with exponent 1.
pub fn single(monomial: &[Factor]) -> Option<u32> {
    match monomial {
        [(variable, Exponent::Small(1))] => Some(*variable),
        _ => None,
    }
}

/// Raises each factor to a power. A variable with an odd number is a bit, which equals its powers.
pub fn power(monomial: &[Factor], exponent: &Exponent) -> Monomial {
    if exponent.small() == Some(0) {
        return Monomial::new();
    }
    let raise = |(variable, e): &Factor| {
        (*variable, if variable % 2 == 1 { e.clone() } else { e.times(exponent) })
    };
    monomial.iter().map(raise).collect()
}

/// The product of two.
pub fn product(mut a: &[Factor], mut b: &[Factor]) -> Monomial {
    let mut out = Monomial::with_capacity(a.len() + b.len());
    while let ([x, rest_of_a @ ..], [y, rest_of_b @ ..]) = (a, b) {
        match x.0.cmp(&y.0) {
            Ordering::Less => {
                out.push(x.clone());
                a = rest_of_a;
            }
            Ordering::Greater => {
                out.push(y.clone());
                b = rest_of_b;
            }
            Ordering::Equal => {
                out.push((x.0, if x.0 % 2 == 1 { x.1.clone() } else { x.1.plus(&y.1) }));
                (a, b) = (rest_of_a, rest_of_b);
            }
        }
    }
    out.extend(a.iter().chain(b).cloned());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(factors: &[(u32, u32)]) -> Monomial {
        factors.iter().map(|&(variable, exponent)| (variable, exponent.into())).collect()
    }

    #[test]
    fn exponents_add_and_those_of_bits_do_not() {
        assert_eq!(product(&of(&[(2, 1), (5, 1)]), &of(&[(2, 3), (5, 1), (8, 2)])), {
            of(&[(2, 4), (5, 1), (8, 2)])
        });
        assert_eq!(product(&of(&[]), &of(&[(4, 7)])), of(&[(4, 7)]));
        assert_eq!(power(&of(&[(2, 3), (5, 1)]), &4.into()), of(&[(2, 12), (5, 1)]));
        assert_eq!(power(&of(&[(2, 3), (5, 1)]), &0.into()), of(&[]));
    }

    #[test]
    fn an_exponent_is_large_only_where_it_must_be() {
        let most = Exponent::from(u32::MAX);
        let one = Exponent::from(1);
        assert_eq!(most.plus(&one).number(), BigUint::from(1u64 << 32));
        assert_eq!(most.times(&most).number(), BigUint::from(u32::MAX).pow(2));
        assert!(most < most.plus(&one), "in the order of their numbers");
        assert_eq!(Exponent::from(BigUint::from(u32::MAX)), most);
    }

    #[test]
    fn a_variable_is_alone_only_once() {
        assert_eq!(single(&variable(6)), Some(6));
        assert_eq!(single(&of(&[(6, 2)])), None);
        assert_eq!(single(&of(&[(6, 1), (7, 1)])), None);
        assert_eq!(single(&of(&[])), None);
    }
}
