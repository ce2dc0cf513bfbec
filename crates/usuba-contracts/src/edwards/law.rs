//! Formulas of sums: which sum of points a kernel computes, by the polynomials of its contract.
//!
//! ```text
//! X, Y, Z = x z, y z, z      double     2 X Y (2 Z² + X² - Y²), …       twice (x, y)
//! ```
//!
//! Coordinates are homogeneous: a point (x, y) is written with any z that is not zero. A kernel
//! computes a sum if, for all points and factors, quotients of its results are the coordinates of
//! the sum, and the last one is a product of factors and denominators, so it is not zero.

use num_bigint::BigInt;

use super::Curve;
use super::theorems::{Pair, Sum, point, product};
use crate::monomial::Exponent;
use crate::poly::Poly;

/// How numbers represent a point (x, y) with a factor z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// x z, y z, z, x y z
    Extended,
    /// x z, y z, z
    Projective,
    /// x, y
    Affine,
    /// y + x, y - x, 2 d x y
    Summand,
    /// (y + x) z, (y - x) z, 2 z, 2 d x y z
    Scaled,
}

/// A sum of points.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// The same point.
    Same,
    Double,
    Add,
    Subtract,
}

/// The sum that a kernel computes, the forms of its parameters and of its result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Law {
    pub operation: Operation,
    pub parameters: Vec<Form>,
    pub result: Form,
}

impl Form {
    /// How many numbers it has.
    pub fn count(self) -> usize {
        match self {
            Form::Extended | Form::Scaled => 4,
            Form::Projective | Form::Summand => 3,
            Form::Affine => 2,
        }
    }
}

/// The sums that kernels may compute.
const LAWS: &[(Operation, &[Form], Form)] = &[
    (Operation::Double, &[Form::Projective], Form::Extended),
    (Operation::Double, &[Form::Projective], Form::Projective),
    (Operation::Same, &[Form::Extended], Form::Scaled),
    (Operation::Same, &[Form::Affine], Form::Summand),
    (Operation::Add, &[Form::Extended, Form::Summand], Form::Extended),
    (Operation::Subtract, &[Form::Extended, Form::Summand], Form::Extended),
    (Operation::Add, &[Form::Extended, Form::Scaled], Form::Extended),
    (Operation::Subtract, &[Form::Extended, Form::Scaled], Form::Extended),
];

impl Curve {
    /// The numbers of a point in a form, from polynomials x, y and z.
    pub fn numbers(&self, form: Form, [x, y, z]: [&Poly; 3]) -> Vec<Poly> {
        let twice = BigInt::from(2);
        let both = product(&[x, y]);
        let all = match form {
            Form::Extended => {
                vec![product(&[x, z]), product(&[y, z]), z.clone(), product(&[&both, z])]
            }
            Form::Projective => vec![product(&[x, z]), product(&[y, z]), z.clone()],
            Form::Affine => vec![x.clone(), y.clone()],
            Form::Summand => vec![y.add(x), y.sub(x), both.scaled(&(twice * &self.d))],
            Form::Scaled => vec![
                product(&[&y.add(x), z]),
                product(&[&y.sub(x), z]),
                z.scaled(&twice),
                product(&[&both, z]).scaled(&(twice * &self.d)),
            ],
        };
        all.into_iter().map(|poly| poly.modulo(&self.prime)).collect()
    }

    /// The sum that results are, as polynomials in which variable 2 n is number n of the parameters;
    /// `None` if they are none.
    pub fn law(&self, parameters: usize, results: &[Poly]) -> Option<Law> {
        let fits = |(_, forms, result): &&(Operation, &[Form], Form)| {
            forms.iter().map(|form| form.count()).sum::<usize>() == parameters
                && result.count() == results.len()
        };
        let law = |&(operation, forms, result): &(Operation, &[Form], Form)| Law {
            operation,
            parameters: forms.to_vec(),
            result,
        };
        LAWS.iter().filter(fits).map(law).find(|law| self.is_law(law, results) == Some(true))
    }

    /// Whether results are the sum of a law for all points and factors.
    fn is_law(&self, law: &Law, results: &[Poly]) -> Option<bool> {
        let points: Vec<Pair> = (0..law.parameters.len() as u32).map(point).collect();
        // The factor of the point of this number.
        let factor = |number: usize| Poly::variable(6 * number as u32 + 4);
        let numbers = law.parameters.iter().zip(&points).enumerate();
        let numbers = numbers
            .flat_map(|(number, (form, [x, y]))| self.numbers(*form, [x, y, &factor(number)]));
        let numbers: Vec<Poly> = numbers.collect();
        let power = |poly: &Poly, exponent: &Exponent| poly.power(exponent, Some(&self.prime));
        let result = |result: &Poly| result.composed(&numbers, &self.prime, power);
        let results: Option<Vec<Poly>> = results.iter().map(result).collect();
        let results = results?;
        let all: Vec<u32> = (0..points.len() as u32).collect();
        let first = points.first()?;
        let sum = match law.operation {
            Operation::Same => {
                let expected = self.numbers(law.result, [&first[0], &first[1], &factor(0)]);
                let mut pairs = results.iter().zip(&expected);
                return Some(pairs.all(|(a, b)| self.vanishes(&a.sub(b), &all)));
            }
            Operation::Double => self.sum_of(first, first),
            Operation::Add => self.sum_of(first, points.get(1)?),
            Operation::Subtract => {
                let [x, y] = points.get(1)?;
                self.sum_of(first, &[x.scaled(&BigInt::from(-1)), y.clone()])
            }
        };
        Some(self.is_sum(&sum, &results, &points))
    }

    /// Whether homogeneous coordinates are the coordinates of a sum.
    fn is_sum(&self, sum: &Sum, results: &[Poly], points: &[Pair]) -> bool {
        let all: Vec<u32> = (0..points.len() as u32).collect();
        let [x, y, z, rest @ ..] = results else { return false };
        let ([above_x, above_y], [below_x, below_y]) = (&sum.above, &sum.below);
        let are_equal =
            |a: &[&Poly], b: &[&Poly]| self.vanishes(&product(a).sub(&product(b)), &all);
        // Where all points are neutral, the denominators are 1.
        let neutral = |poly: &Poly| {
            let terms = poly.terms().filter_map(|(monomial, value)| {
                let of = |variable: u32| monomial.iter().any(|factor| factor.0 == variable);
                let has_x = (0..points.len() as u32).any(|number| of(6 * number));
                let is_factor = |factor: &&(u32, _)| factor.0 % 6 == 4;
                (!has_x)
                    .then(|| (monomial.iter().filter(is_factor).cloned().collect(), value.clone()))
            });
            Poly::of_terms(terms).modulo(&self.prime)
        };
        let unit = neutral(z);
        unit.size() == 1
            && are_equal(&[z], &[&unit, below_x, below_y])
            && are_equal(&[x, below_x], &[above_x, z])
            && are_equal(&[y, below_y], &[above_y, z])
            && rest.iter().all(|t| are_equal(&[t, below_x, below_y], &[above_x, above_y, z]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(at: u32) -> Poly {
        Poly::variable(2 * at)
    }

    /// The formulas for doubling of Hisil, Wong, Carter and Dawson, ePrint 2008/522, section 3.3.
    fn doubled() -> Vec<Poly> {
        let [x, y, z] = [0, 1, 2].map(number);
        let square = |a: &Poly| product(&[a, a]);
        let h = square(&x).add(&square(&y));
        let g = square(&y).sub(&square(&x));
        let e = product(&[&x, &y]).scaled(&BigInt::from(2));
        let f = square(&z).scaled(&BigInt::from(2)).sub(&g);
        vec![product(&[&e, &f]), product(&[&g, &h]), product(&[&f, &g]), product(&[&e, &h])]
    }

    #[test]
    fn doubling_is_recognized() {
        let curve = Curve::edwards25519();
        let law = curve.law(3, &doubled()).expect("a law");
        assert_eq!((law.operation, law.result), (Operation::Double, Form::Extended));
        let short = curve.law(3, &doubled()[..3]).expect("a law");
        assert_eq!((short.operation, short.result), (Operation::Double, Form::Projective));
    }

    /// A changed sign, factor or coordinate of any result, and a last coordinate that may be zero.
    #[test]
    fn other_polynomials_are_no_sums() {
        let curve = Curve::edwards25519();
        for at in 0..4 {
            for change in [
                |poly: &Poly| poly.scaled(&BigInt::from(-1)),
                |poly: &Poly| poly.scaled(&BigInt::from(2)),
                |poly: &Poly| poly.add(&Poly::variable(0)),
                |_: &Poly| Poly::default(),
            ] {
                let mut wrong = doubled();
                wrong[at] = change(&wrong[at]);
                assert_eq!(curve.law(3, &wrong), None, "{at}");
            }
        }
        let scaled =
            |by: &Poly| doubled().iter().map(|poly| product(&[poly, by])).collect::<Vec<_>>();
        assert!(curve.law(3, &scaled(&number(2))).is_some());
        for zero in [Poly::default(), number(0), number(1), number(2).add(&number(1))] {
            assert_eq!(curve.law(3, &scaled(&zero)), None, "{zero:?}");
        }
    }

    /// The same numbers as another form of the point.
    #[test]
    fn forms_are_recognized() {
        let curve = Curve::edwards25519();
        let [x, y, z, t] = [0, 1, 2, 3].map(number);
        let twice_d = BigInt::from(2) * &curve.d;
        let scaled = vec![y.add(&x), y.sub(&x), z.scaled(&BigInt::from(2)), t.scaled(&twice_d)];
        let law = curve.law(4, &scaled).expect("a law");
        assert_eq!((law.operation, law.result), (Operation::Same, Form::Scaled));
        let turned =
            vec![scaled[1].clone(), scaled[0].clone(), scaled[2].clone(), scaled[3].clone()];
        assert_eq!(curve.law(4, &turned), None);
    }
}
