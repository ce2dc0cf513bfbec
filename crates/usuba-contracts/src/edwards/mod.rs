//! The group of points of a twisted Edwards curve with a = -1 over a prime field.
//!
//! ```text
//! -x² + y² = 1 + d x² y²     (x, y) + (u, v) = ((x v + y u) / (1 + δ), (y v + x u) / (1 - δ))
//!                            δ = d x u y v
//! ```
//!
//! [`Curve::check`] proves that this is a group in which no denominator is zero, so a point can be
//! written as a multiple of the base point, by a number modulo the order. `law` recognizes
//! polynomials of coordinates as sums of points.
//!
//! - `primes`: certificates of primes; `theorems`: the group; `law`: formulas of sums.
//!
//! *Reference:* Bernstein and Lange, *Faster addition and doubling on elliptic curves*, ASIACRYPT
//! 2007, theorems 3.1 and 3.3; RFC 8032, section 5.1, for the numbers of edwards25519.

pub mod law;
mod primes;
mod theorems;

use num_bigint::BigInt;

use super::poly::remainder;

/// A curve with a base point.
#[derive(Clone, Debug)]
pub struct Curve {
    pub prime: BigInt,
    d: BigInt,
    pub base: Point,
    /// A number whose multiple of the base point is zero.
    pub order: BigInt,
}

/// A point of a curve, with coordinates modulo its prime, not negative.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Point {
    pub x: BigInt,
    pub y: BigInt,
}

impl Point {
    /// The neutral point.
    pub fn zero() -> Point {
        Point { x: BigInt::ZERO, y: BigInt::from(1) }
    }
}

impl Curve {
    /// Edwards25519: RFC 8032, section 5.1.
    pub fn edwards25519() -> Curve {
        let prime = (BigInt::from(1) << 255) - 19;
        let more: BigInt = "27742317777372353535851937790883648493".parse().expect("digits");
        let order = (BigInt::from(1) << 252) + more;
        let x = "15112221349535400772501151409588531511454012693041857206046113283949847762202";
        let x = x.parse().expect("digits");
        let mut curve = Curve { prime, d: BigInt::ZERO, base: Point::zero(), order };
        curve.d = curve.quotient(&BigInt::from(-121_665), &BigInt::from(121_666));
        curve.base = Point { x, y: curve.quotient(&BigInt::from(4), &BigInt::from(5)) };
        curve
    }

    fn reduced(&self, number: BigInt) -> BigInt {
        remainder(&number, &self.prime)
    }

    /// A number times the inverse of another one, which is not zero, modulo the prime.
    pub fn quotient(&self, number: &BigInt, by: &BigInt) -> BigInt {
        let inverse = self.reduced(by.clone()).modpow(&(&self.prime - 2), &self.prime);
        self.reduced(number * inverse)
    }

    /// Whether the point is on the curve.
    pub fn has(&self, Point { x, y }: &Point) -> bool {
        let (xx, yy) = (x * x, y * y);
        self.reduced(&yy - &xx - 1 - &self.d * &xx * &yy) == BigInt::ZERO
    }

    /// The sum of two points of the curve.
    pub fn sum(&self, a: &Point, b: &Point) -> Point {
        let (x, y) = (&a.x * &b.y + &a.y * &b.x, &a.y * &b.y + &a.x * &b.x);
        let delta = self.reduced(&self.d * &a.x * &b.x % &self.prime * &a.y * &b.y);
        let (below_x, below_y) = (&delta + 1, 1 - &delta);
        let below = self.quotient(&BigInt::from(1), &(&below_x * &below_y));
        Point { x: self.reduced(x * &below_y * &below), y: self.reduced(y * below_x * below) }
    }

    pub fn negative(&self, point: &Point) -> Point {
        Point { x: self.reduced(-&point.x), y: point.y.clone() }
    }

    /// A multiple of a point of the curve.
    pub fn times(&self, number: &BigInt, point: &Point) -> Point {
        let is_negative = *number < BigInt::ZERO;
        let number = number.magnitude();
        let mut total = Point::zero();
        for bit in (0..number.bits()).rev() {
            total = self.sum(&total, &total);
            if number.bit(bit) {
                total = self.sum(&total, point);
            }
        }
        if is_negative { self.negative(&total) } else { total }
    }

    /// The point of a summand y + x, y - x, 2 d x y; `None` if they are no point of the curve.
    pub fn summand(&self, [sum, difference, product]: [&BigInt; 3]) -> Option<Point> {
        let half = |number: BigInt| self.quotient(&number, &BigInt::from(2));
        let point = Point { x: half(sum - difference), y: half(sum + difference) };
        let is_product = self.reduced(2 * &self.d * &point.x * &point.y - product) == BigInt::ZERO;
        (is_product && self.has(&point)).then_some(point)
    }
}
