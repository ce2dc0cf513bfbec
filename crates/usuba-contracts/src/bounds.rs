//! Interval analysis of polynomials that keeps a number and its quotients together.
//!
//! ```text
//! x - 2^51 q            with q = x div 2^51: a remainder, in [0, 2^51)
//! a·b - 2^64 r          with quotients in r: each is paired with its dividend, as a remainder
//! ```
//!
//! Interval arithmetic term by term puts a number and its quotient at opposite ends of their
//! intervals. So quotients are eliminated one by one, the newest first, each together with a
//! multiple of its dividend: the pair is a remainder, and its interval is known.
//!
//! *Soundness:* each step is an equation of integers; the intervals of its parts are added.
//!
//! *Limits:* at most `MAX_STEPS` quotients are eliminated, and the rest is bounded term by term.

use num_bigint::BigInt;

use super::numbers::{Def, Numbers};
use super::poly::Poly;

/// The most quotients that are eliminated.
const MAX_STEPS: usize = 64;

/// An interval that contains a polynomial, if one is found.
pub fn bounds(numbers: &Numbers, poly: &Poly) -> Option<(BigInt, BigInt)> {
    let plain = |poly: &Poly| poly.bounds(|variable| numbers.bounds(variable));
    let mut best = plain(poly);
    let mut rest = poly.clone();
    let (mut low, mut high) = (BigInt::ZERO, BigInt::ZERO);
    let mut before = u32::MAX;
    for _ in 0..MAX_STEPS {
        let Some((variable, without, least, most)) = taken_out(numbers, &rest, before) else {
            break;
        };
        (rest, before) = (without, variable);
        low += least;
        high += most;
        if let Some((l, h)) = plain(&rest) {
            let (l, h) = (l + &low, h + &high);
            best = Some(match best {
                Some((a, b)) => (a.max(l), b.min(h)),
                None => (l, h),
            });
        }
    }
    best
}

/// The newest quotient before a variable, the polynomial without it, and the interval of the part
/// that was removed. The excess of its factor over a multiple of 2^k stays.
fn taken_out(numbers: &Numbers, poly: &Poly, before: u32) -> Option<(u32, Poly, BigInt, BigInt)> {
    let variables = poly.variables().into_iter().rev();
    for variable in variables.filter(|&variable| variable < before) {
        let number = Numbers::of_variable(variable);
        let Def::Quotient(whole, k) = numbers.get(number).def else { continue };
        let Some(factor) = poly.linear(variable) else { continue };
        let power = BigInt::from(1) << k;
        // -times·2^k·q is times·(x - 2^k q) - times·x.
        let times = -(factor / &power);
        if times == BigInt::ZERO {
            continue;
        }
        let remainder = numbers.get(whole).poly.plus(&Poly::variable(variable), &-&power);
        let rest = poly.plus(&remainder, &-&times);
        let most = (power - 1) * &times;
        let (low, high) =
            if most < BigInt::ZERO { (most, BigInt::ZERO) } else { (BigInt::ZERO, most) };
        return Some((variable, rest, low, high));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_quotient_are_a_remainder() {
        let mut n = Numbers::default();
        let (x, y) = (n.any(0u8, 1000u32), n.any(0u8, 9u8));
        let sum = n.sum(x, y);
        let (q, _) = n.split(sum, 4);
        let poly = |n: &Numbers, num| (*n.get(num).poly).clone();
        let rest = poly(&n, sum).plus(&poly(&n, q), &BigInt::from(-16));
        assert_eq!(bounds(&n, &rest), Some((BigInt::ZERO, BigInt::from(15))));
        let double = rest.scaled(&BigInt::from(-2));
        assert_eq!(bounds(&n, &double), Some((BigInt::from(-30), BigInt::ZERO)));
        // With another factor the pair is not a remainder.
        let other = poly(&n, sum).plus(&poly(&n, q), &BigInt::from(-15));
        let (low, high) = bounds(&n, &other).expect("an interval");
        assert!(low <= BigInt::ZERO && high >= BigInt::from(15 + 63), "{low} to {high}");
    }

    #[test]
    fn every_value_lies_inside() {
        let mut n = Numbers::default();
        let (x, y) = (n.any(3u8, 99u8), n.any(0u8, 40u8));
        let product = n.product(x, y);
        let (q, r) = n.split(product, 5);
        let (c, _) = n.split(r, 2);
        let poly = |n: &Numbers, num| (*n.get(num).poly).clone();
        let p = poly(&n, product)
            .plus(&poly(&n, q), &BigInt::from(-32))
            .plus(&poly(&n, c), &BigInt::from(-4))
            .plus(&poly(&n, x), &BigInt::from(7));
        let (low, high) = bounds(&n, &p).expect("an interval");
        for a in 3..=99u32 {
            for b in 0..=40u32 {
                let value = BigInt::from(a * b % 32 % 4 + 7 * a);
                assert!(low <= value && value <= high);
            }
        }
        assert_eq!((low, high), (BigInt::from(21), BigInt::from(3 + 7 * 99)));
    }
}
