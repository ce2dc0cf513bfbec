//! The points of a curve are a commutative group, and no sum has a denominator of zero: identities
//! of polynomials modulo the equations of points.
//!
//! A polynomial in the coordinates of points is zero for all points of the curve if it is zero after
//! each y² is replaced by (1 + x²) / (1 - d x²) and the denominators are multiplied out. They are
//! not zero, because d is not a square.

use num_bigint::BigInt;

use super::{Curve, Point, primes};
use crate::poly::Poly;

/// The coordinates of a point, as polynomials.
pub(super) type Pair = [Poly; 2];

/// The variables x and y of the point of this number.
pub(super) fn point(number: u32) -> Pair {
    [Poly::variable(6 * number), Poly::variable(6 * number + 2)]
}

/// Numerators and denominators of both coordinates of a sum.
pub(super) struct Sum {
    pub above: Pair,
    pub below: Pair,
}

/// Too many terms: the identities are small.
const SMALL: &str = "a small polynomial";

pub(super) fn product(factors: &[&Poly]) -> Poly {
    factors.iter().fold(Poly::constant(1), |all, factor| all.mul(factor).expect(SMALL))
}

/// Fails if an identity of a theorem does not hold.
fn holds(theorem: &str, is_true: bool) -> Result<(), String> {
    if is_true { Ok(()) } else { Err(format!("this does not hold: {theorem}")) }
}

impl Curve {
    /// Whether a polynomial in the coordinates of points with these numbers, and other variables, is
    /// zero for all points of the curve.
    pub(super) fn vanishes(&self, poly: &Poly, points: &[u32]) -> bool {
        let mut poly = poly.modulo(&self.prime);
        for &number in points {
            let [x, y] = point(number);
            let xx = product(&[&x, &x]);
            let above = Poly::constant(1).add(&xx);
            let below = Poly::constant(1).sub(&xx.scaled(&self.d));
            let variable = 6 * number + 2;
            let Some(all) = poly.coefficients(variable) else { return false };
            let most = all.keys().next_back().map_or(0, |exponent| exponent / 2);
            let mut total = Poly::default();
            for (exponent, factor) in all {
                let squares = exponent / 2;
                let mut term = factor;
                for _ in 0..squares {
                    term = product(&[&term, &above]).modulo(&self.prime);
                }
                for _ in squares..most {
                    term = product(&[&term, &below]).modulo(&self.prime);
                }
                if exponent % 2 == 1 {
                    term = product(&[&term, &y]);
                }
                total = total.add(&term);
            }
            poly = total.modulo(&self.prime);
        }
        poly.is_zero()
    }

    /// The sum of two points.
    pub(super) fn sum_of(&self, [x, y]: &Pair, [u, v]: &Pair) -> Sum {
        let one = Poly::constant(1);
        let delta = product(&[x, u, y, v]).scaled(&self.d);
        Sum {
            above: [
                product(&[x, v]).add(&product(&[y, u])),
                product(&[y, v]).add(&product(&[x, u])),
            ],
            below: [one.add(&delta), one.sub(&delta)],
        }
    }

    /// The sum of a sum of two points and a third one; its denominators are multiples of the
    /// denominators of the former.
    fn sum_with(&self, sum: &Sum, [u, v]: &Pair) -> Sum {
        let ([x, y], [below_x, below_y]) = (&sum.above, &sum.below);
        let both = product(&[below_x, below_y]);
        let delta = product(&[x, u, y, v]).scaled(&self.d);
        Sum {
            above: [
                product(&[x, below_y, v]).add(&product(&[y, below_x, u])),
                product(&[y, below_x, v]).add(&product(&[x, below_y, u])),
            ],
            below: [both.add(&delta), both.sub(&delta)],
        }
    }

    /// Proves that the points are a commutative group, that no denominator of a sum is zero, and
    /// that the base point is a point whose multiple by the order is zero.
    ///
    /// # Errors
    /// The theorem that does not hold.
    pub fn check(&self) -> Result<(), String> {
        let one = BigInt::from(1);
        let prime = self.prime.magnitude();
        let is_odd_prime = primes::is_prime(prime) && prime.bit(0);
        holds("the modulus is an odd prime", is_odd_prime)?;
        let half = (&self.prime - 1) / 2;
        let is_square = |number: &BigInt| number.modpow(&half, &self.prime) == one;
        holds("d is not a square", self.d != BigInt::ZERO && !is_square(&self.d))?;
        holds("the base point is on the curve", self.has(&self.base))?;
        let multiple = self.times(&self.order, &self.base);
        holds("the order times the base point is zero", multiple == Point::zero())?;
        self.check_denominators()?;
        let [p, q, r] = [0, 1, 2].map(point);
        let sum = self.sum_of(&p, &q);
        let turned = self.sum_of(&q, &p);
        holds("sums are commutative", sum.above == turned.above && sum.below == turned.below)?;
        holds("a sum is on the curve", self.is_on_curve(&sum))?;
        let (left, right) = (self.sum_with(&sum, &r), self.sum_with(&self.sum_of(&q, &r), &p));
        let are_equal = |at: usize| {
            let difference = product(&[&left.above[at], &right.below[at]])
                .sub(&product(&[&right.above[at], &left.below[at]]));
            self.vanishes(&difference, &[0, 1, 2])
        };
        holds("sums are associative", are_equal(0) && are_equal(1))?;
        let zero = [Poly::default(), Poly::constant(1)];
        let same = self.sum_of(&p, &zero);
        let is_same = same.above == p && same.below == [Poly::constant(1), Poly::constant(1)];
        holds("(0, 1) is neutral", is_same && self.has(&Point::zero()))?;
        let negative = [p[0].scaled(&BigInt::from(-1)), p[1].clone()];
        let none = self.sum_of(&p, &negative);
        let is_zero =
            none.above[0].is_zero() && self.vanishes(&none.above[1].sub(&none.below[1]), &[0]);
        holds("(-x, y) is the negative of (x, y)", is_zero)
    }

    fn is_on_curve(&self, Sum { above: [x, y], below: [a, b] }: &Sum) -> bool {
        let square = |factors: &[&Poly]| {
            let product = product(factors);
            product.mul(&product).expect(SMALL)
        };
        let difference = square(&[y, a])
            .sub(&square(&[x, b]))
            .sub(&square(&[a, b]))
            .sub(&square(&[x, y]).scaled(&self.d));
        self.vanishes(&difference, &[0, 1])
    }

    /// With i² = -1 and δ = d x u y v, the difference of (i x ± δ y)² and d (x y)² (i u ± v)² is
    /// (1 - δ²) (1 - y²). If δ² were 1, then x, y, u, v would not be zero, so one of i u + v and
    /// i u - v would not be, and d would be a square.
    fn check_denominators(&self) -> Result<(), String> {
        // A power of a number that is not a square is a root of -1.
        let quarter = (&self.prime - 1) / 4;
        let i = self.d.modpow(&quarter, &self.prime);
        holds("-1 is a square", self.reduced(&i * &i + 1) == BigInt::ZERO)?;
        let ([x, y], [u, v]) = (point(0), point(1));
        let delta = product(&[&x, &u, &y, &v]).scaled(&self.d);
        for sign in [1, -1].map(BigInt::from) {
            let left = x.scaled(&i).plus(&product(&[&delta, &y]), &sign);
            let right = product(&[&x, &y, &u.scaled(&i).plus(&v, &sign)]);
            let squares = product(&[&left, &left]).sub(&product(&[&right, &right]).scaled(&self.d));
            let one = Poly::constant(1);
            let rest =
                product(&[&one.sub(&product(&[&delta, &delta])), &one.sub(&product(&[&y, &y]))]);
            let holds_for_all = self.vanishes(&squares.sub(&rest), &[0, 1]);
            holds("no denominator of a sum is zero", holds_for_all)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edwards25519_is_a_group() {
        Curve::edwards25519().check().expect("a group");
    }

    #[test]
    fn other_numbers_are_no_group() {
        let right = Curve::edwards25519();
        let refused = |curve: Curve, why: &str| {
            assert_eq!(curve.check().expect_err(why), format!("this does not hold: {why}"));
        };
        refused(Curve { prime: &right.prime + 2, ..right.clone() }, "the modulus is an odd prime");
        refused(Curve { d: BigInt::from(4), ..right.clone() }, "d is not a square");
        let off = Point { x: &right.base.x + 1, ..right.base.clone() };
        refused(Curve { base: off, ..right.clone() }, "the base point is on the curve");
        let order = &right.order - 1;
        refused(Curve { order, ..right.clone() }, "the order times the base point is zero");
    }

    /// A polynomial vanishes on the curve only if its values at points are zero.
    #[test]
    fn the_equation_vanishes_and_others_do_not() {
        let curve = Curve::edwards25519();
        let [x, y] = point(0);
        let (xx, yy) = (product(&[&x, &x]), product(&[&y, &y]));
        let equation =
            yy.sub(&xx).sub(&Poly::constant(1)).sub(&product(&[&xx, &yy]).scaled(&curve.d));
        assert!(curve.vanishes(&equation, &[0]));
        assert!(curve.vanishes(&product(&[&equation, &x, &y]), &[0]));
        assert!(!curve.vanishes(&equation, &[1]));
        for other in [equation.add(&x), equation.add(&y), yy.sub(&xx), x, y] {
            assert!(!curve.vanishes(&other, &[0]), "{other:?}");
        }
    }

    #[test]
    fn multiples_are_consistent() {
        let curve = Curve::edwards25519();
        let point = |n: i32| curve.times(&BigInt::from(n), &curve.base);
        assert_eq!(curve.sum(&point(5), &point(7)), point(12));
        assert_eq!(curve.sum(&point(5), &point(-5)), Point::zero());
        assert_eq!(curve.negative(&point(3)), point(-3));
        assert!(curve.has(&point(11)));
    }
}
