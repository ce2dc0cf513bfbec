//! Points of an Edwards curve that numbers in memory represent: multiples of the base point.
//!
//! ```text
//! double(p)          p = n B        2 n B
//! add_affine(p, q)   q = table[d]   (n + 8 d0 + 4 d1 - 6) B, if this is the table for all bits d
//! ```
//!
//! The factor of a multiple is a polynomial modulo the order of the base point, in words and single
//! bits. Its coordinates are two variables, so equal multiples have equal coordinates. A point of
//! numbers is a multiple if it is a power of two times the base point, or its negative. A point that
//! depends on few bits is checked for each of their values.
//!
//! *Soundness:* [`Curve::check`] proves that points are a group in which the order times the base
//! point is zero, and a law is proved for all points and factors. The factor z of the coordinates of a
//! result is a variable that is not zero.

use num_bigint::BigInt;
use rustc_hash::FxHashMap;

use super::few_bits::{Cases, cases};
use super::residues::Residues;
use usuba_bits::cell::Bits;
use usuba_contracts::edwards::law::{Form, Law, Operation};
use usuba_contracts::edwards::{Curve, Point};
use usuba_contracts::poly::{Poly, remainder};

/// Words with their factors, which are powers of two by their exponents.
pub type Digits = Vec<(usize, u64)>;

/// A sum of points that a kernel computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sum {
    pub law: Law,
    /// The numbers of its parameters, as words.
    pub numbers: Vec<Digits>,
}

/// The points of an execution.
#[derive(Clone, Debug)]
pub struct Points {
    pub curve: Curve,
    /// The coordinates of multiples.
    coordinates: FxHashMap<Poly, [Poly; 2]>,
    /// The multiples whose coordinates have a factor.
    factors: FxHashMap<u32, Poly>,
    /// The factors of results by their function and the numbers of its parameters.
    results: FxHashMap<(usize, Vec<Poly>), u32>,
    /// Powers of two times the base point, and their negatives.
    powers: FxHashMap<Point, BigInt>,
    /// The factors of points that depend on bits: a constant, and one for each bit.
    tables: FxHashMap<Vec<Point>, Option<(BigInt, Vec<BigInt>)>>,
}

impl Points {
    /// The points of a curve, which is checked.
    ///
    /// # Errors
    /// It is no group.
    pub fn new(curve: Curve) -> Result<Points, String> {
        curve.check()?;
        let mut powers = FxHashMap::default();
        let (mut point, mut factor) = (curve.base.clone(), BigInt::from(1));
        for _ in 0..256 {
            powers.insert(curve.negative(&point), -&factor);
            powers.insert(point.clone(), factor.clone());
            point = curve.sum(&point, &point);
            factor *= 2;
        }
        powers.insert(Point::zero(), BigInt::ZERO);
        Ok(Points {
            curve,
            coordinates: FxHashMap::default(),
            factors: FxHashMap::default(),
            results: FxHashMap::default(),
            powers,
            tables: FxHashMap::default(),
        })
    }

    /// The coordinates of a multiple of the base point, by its factor below the order.
    pub fn coordinates(&mut self, residues: &mut Residues, scalar: &Poly) -> [Poly; 2] {
        if let Some(known) = self.coordinates.get(scalar) {
            return known.clone();
        }
        let coordinates = match scalar.value() {
            Some(number) => {
                let Point { x, y } = self.curve.times(&number, &self.curve.base);
                [x, y].map(Poly::constant)
            }
            None => [(); 2].map(|()| Poly::variable(residues.variable())),
        };
        self.coordinates.insert(scalar.clone(), coordinates.clone());
        coordinates
    }

    /// The factor of the multiple that numbers represent; `None` if it is not known.
    fn multiple(
        &mut self,
        (bits, residues): (&Bits, &mut Residues),
        form: Form,
        numbers: &[Poly],
    ) -> Option<Poly> {
        let values: Option<Vec<BigInt>> = numbers.iter().map(Poly::value).collect();
        if let Some(values) = values {
            let factor = self.powers.get(&self.point(form, &values)?)?;
            return Some(Poly::constant(factor.clone()).modulo(&self.curve.order));
        }
        if matches!(form, Form::Affine | Form::Summand | Form::Scaled) {
            return self.chosen(bits, residues, form, numbers);
        }
        let z = &numbers[2];
        let (variable, _) = z.shifted_variable().filter(|(_, more)| *more == BigInt::ZERO)?;
        let scalar = self.factors.get(&variable)?.clone();
        let [x, y] = self.coordinates(residues, &scalar);
        (self.curve.numbers(form, [&x, &y, z]) == numbers).then_some(scalar)
    }

    /// The point that numbers represent.
    fn point(&self, form: Form, values: &[BigInt]) -> Option<Point> {
        match (form, values) {
            (Form::Summand, [sum, difference, product]) => {
                self.curve.summand([sum, difference, product])
            }
            (Form::Extended | Form::Projective, [x, y, z, ..]) if *z != BigInt::ZERO => {
                let point = Point { x: self.curve.quotient(x, z), y: self.curve.quotient(y, z) };
                let z = Poly::constant(z.clone());
                let [x, y] = [&point.x, &point.y].map(|number| Poly::constant(number.clone()));
                let numbers = self.curve.numbers(form, [&x, &y, &z]);
                let are_equal = numbers
                    .iter()
                    .zip(values)
                    .all(|(number, value)| number.value().as_ref() == Some(value));
                (are_equal && self.curve.has(&point)).then_some(point)
            }
            _ => None,
        }
    }

    /// The factor of a summand that depends on few bits.
    fn chosen(
        &mut self,
        bits: &Bits,
        residues: &mut Residues,
        form: Form,
        numbers: &[Poly],
    ) -> Option<Poly> {
        let mut variables: Vec<u32> = numbers.iter().flat_map(Poly::variables).collect();
        variables.sort_unstable();
        variables.dedup();
        let word = |variable: &u32| residues.word(*variable).map(<[_]>::to_vec);
        let words: Vec<_> = variables.iter().map(word).collect::<Option<_>>()?;
        let Cases { free, words } = cases(bits, &words)?;
        let point = |case: usize| {
            let values = variables.iter().zip(&words);
            let values = values.map(|(variable, word)| (*variable, BigInt::from(word[case])));
            let values = values.collect();
            let number = |poly: &Poly| {
                let (rest, constant) = poly.assign(&values);
                rest.is_zero().then(|| remainder(&constant, &self.curve.prime))
            };
            let numbers: Vec<BigInt> = numbers.iter().map(number).collect::<Option<_>>()?;
            self.point(form, &numbers)
        };
        let points: Vec<Point> = (0..1 << free.len()).map(point).collect::<Option<_>>()?;
        let (constant, factors) = self.table(points)?;
        let order = self.curve.order.clone();
        let mut scalar = Poly::constant(constant);
        for (bit, factor) in free.into_iter().zip(factors) {
            let bit = residues.integer(bits, &[bit], &order)?;
            scalar = scalar.plus(&bit, &factor);
        }
        Some(scalar.modulo(&order))
    }

    /// The factors with which points, one for each value of some bits, are multiples: a constant,
    /// and the number that each bit adds to it.
    fn table(&mut self, points: Vec<Point>) -> Option<(BigInt, Vec<BigInt>)> {
        if let Some(known) = self.tables.get(&points) {
            return known.clone();
        }
        let found = self.factors_of(&points);
        self.tables.insert(points, found.clone());
        found
    }

    fn factors_of(&self, points: &[Point]) -> Option<(BigInt, Vec<BigInt>)> {
        let curve = &self.curve;
        let first = points.first()?;
        let negative = curve.negative(first);
        let bits = points.len().trailing_zeros() as usize;
        let steps: Vec<Point> =
            (0..bits).map(|bit| curve.sum(&points[1 << bit], &negative)).collect();
        let factors: Vec<BigInt> =
            steps.iter().map(|step| self.powers.get(step).cloned()).collect::<Option<_>>()?;
        // The sums of earlier points and steps are the later ones.
        for case in 1..points.len() {
            let top = case.ilog2() as usize;
            if curve.sum(&points[case - (1 << top)], &steps[top]) != points[case] {
                return None;
            }
        }
        // Signed digits: each bit adds half of its factor, or subtracts it.
        let half: BigInt = factors.iter().sum::<BigInt>() / 2;
        let rest = curve.sum(first, &curve.times(&half, &curve.base));
        Some((self.powers.get(&rest)? - half, factors))
    }

    /// The numbers of a sum of points, by the integers of the words of its parameters; `None` if its
    /// points are not known. Different kernels are different functions.
    pub fn sum(
        &mut self,
        (bits, residues): (&Bits, &mut Residues),
        (function, sum): (usize, &Sum),
        words: &[Poly],
    ) -> Option<Vec<Poly>> {
        let prime = self.curve.prime.clone();
        let number = |digits: &Digits| {
            let terms = digits.iter().map(|&(at, exponent)| (&words[at], exponent));
            let total = terms.fold(Poly::default(), |total, (word, exponent)| {
                total.plus(word, &(BigInt::from(1) << exponent))
            });
            residues.reduced(&total, &prime)
        };
        let numbers: Vec<Poly> = sum.numbers.iter().map(number).collect();
        let mut rest = &numbers[..];
        let mut operands = Vec::new();
        for form in &sum.law.parameters {
            let (own, others) = rest.split_at_checked(form.count())?;
            operands.push(self.multiple((bits, residues), *form, own)?);
            rest = others;
        }
        let scalar = match (sum.law.operation, &operands[..]) {
            (Operation::Double, [one]) => one.add(one),
            (Operation::Add, [one, other]) => one.add(other),
            (Operation::Subtract, [one, other]) => one.sub(other),
            _ => return None,
        };
        let scalar = scalar.modulo(&self.curve.order);
        let z = *self.results.entry((function, numbers)).or_insert_with(|| residues.unit(&prime));
        self.factors.insert(z, scalar.clone());
        let [x, y] = self.coordinates(residues, &scalar);
        Some(self.curve.numbers(sum.law.result, [&x, &y, &Poly::variable(z)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::Functions;
    use usuba_bits::cell::Cell;
    use usuba_equiv::value_numbering::Graph;

    /// An execution in which words of 256 bits are numbers.
    struct Run {
        bits: Bits,
        functions: Functions,
    }

    impl Run {
        fn new() -> Run {
            let points = Points::new(Curve::edwards25519()).expect("a group");
            let mut functions = Functions::default();
            functions.points = Some(points);
            Run { bits: Bits::new(Graph::new(None)), functions }
        }

        fn curve(&self) -> Curve {
            self.functions.points.as_ref().expect("points").curve.clone()
        }

        fn sum(&mut self, law: &Law, numbers: &[Poly]) -> Option<Vec<Poly>> {
            self.sum_by(0, law, numbers)
        }

        /// The sum by the kernel of this number.
        fn sum_by(&mut self, kernel: usize, law: &Law, numbers: &[Poly]) -> Option<Vec<Poly>> {
            let own = (0..numbers.len()).map(|at| vec![(at, 0)]).collect();
            let sum = Sum { law: law.clone(), numbers: own };
            let Functions { points, residues, .. } = &mut self.functions;
            let run = (&self.bits, residues);
            points.as_mut()?.sum(run, (kernel, &sum), numbers)
        }

        /// The factor of the multiple that homogeneous coordinates are.
        fn factor(&mut self, numbers: &[Poly]) -> Option<Poly> {
            let Functions { points, residues, .. } = &mut self.functions;
            points.as_mut()?.multiple((&self.bits, residues), Form::Extended, numbers)
        }

        fn numbers(&self, form: Form, factor: i32) -> Vec<Poly> {
            let curve = self.curve();
            let Point { x, y } = curve.times(&BigInt::from(factor), &curve.base);
            let [x, y] = [x, y].map(Poly::constant);
            curve.numbers(form, [&x, &y, &Poly::constant(5)])
        }
    }

    fn double() -> Law {
        let parameters = vec![Form::Projective];
        Law { operation: Operation::Double, parameters, result: Form::Extended }
    }

    fn add() -> Law {
        let parameters = vec![Form::Extended, Form::Summand];
        Law { operation: Operation::Add, parameters, result: Form::Extended }
    }

    #[test]
    fn sums_of_numbers_are_multiples() {
        let mut run = Run::new();
        let four = run.numbers(Form::Extended, 4);
        let eight = run.sum(&double(), &four[..3]).expect("a multiple");
        assert_eq!(run.factor(&eight).and_then(|factor| factor.value()), Some(BigInt::from(8)));
        let numbers = [eight, run.numbers(Form::Summand, -2)].concat();
        let six = run.sum(&add(), &numbers).expect("a multiple");
        assert_eq!(run.factor(&six).and_then(|factor| factor.value()), Some(BigInt::from(6)));
        // The same numbers have the same factor z, others have another one.
        assert_eq!(run.sum(&add(), &numbers), Some(six.clone()));
        // So has another kernel, whose last coordinate may differ by a factor.
        let by_other = run.sum_by(1, &add(), &numbers).expect("a multiple");
        assert_ne!(by_other, six);
        assert_eq!(run.factor(&by_other), run.factor(&six));
        let turned = [run.numbers(Form::Extended, 4), run.numbers(Form::Summand, 2)].concat();
        let other = run.sum(&add(), &turned).expect("a multiple");
        assert_eq!(run.factor(&other), run.factor(&six));
        assert_ne!(other, six);
        // Three is no power of two.
        let three = run.numbers(Form::Extended, 3);
        assert_eq!(run.sum(&double(), &three[..3]), None);
        let swapped = [&four[1], &four[0], &four[2]].map(Poly::clone);
        assert_eq!(run.sum(&double(), &swapped), None);
        let mut wrong = four.clone();
        wrong[3] = wrong[3].add(&Poly::constant(1));
        assert_eq!(run.sum(&add(), &[wrong, run.numbers(Form::Summand, 2)].concat()), None);
        let zero = [four[0].clone(), four[1].clone(), Poly::default()];
        assert_eq!(run.sum(&double(), &zero), None);
    }

    /// A summand that one bit chooses from two numbers.
    fn chosen(run: &mut Run, factors: [i32; 2]) -> (Poly, Vec<Poly>) {
        let (prime, order) = (run.curve().prime, run.curve().order);
        let bit = run.functions.parameter(&mut run.bits);
        let [zero, one] = factors.map(|factor| run.numbers(Form::Summand, factor));
        let number = |(zero, one): (&Poly, &Poly)| {
            let [zero, one] = [zero, one].map(|poly| poly.value().expect("a number"));
            let cells: Vec<Cell> = (0..256)
                .map(|at| match (zero.bit(at), one.bit(at)) {
                    (false, false) => run.bits.constant(false),
                    (true, true) => run.bits.constant(true),
                    (false, true) => bit,
                    (true, false) => run.bits.not(bit),
                })
                .collect();
            run.functions.residues.integer(&run.bits, &cells, &prime).expect("known bits")
        };
        let numbers = zero.iter().zip(&one).map(number).collect();
        let bit = run.functions.residues.integer(&run.bits, &[bit], &order).expect("a known bit");
        (bit, numbers)
    }

    #[test]
    fn summands_depend_on_bits() {
        let mut run = Run::new();
        for (factors, constant, each) in [([-4, 4], -4, 8), ([4, -4], 4, -8), ([0, 2], 0, 2)] {
            let (bit, summand) = chosen(&mut run, factors);
            let numbers = [run.numbers(Form::Extended, 1), summand].concat();
            let sum = run.sum(&add(), &numbers).expect("a multiple");
            let expected = bit.scaled(&BigInt::from(each)).add(&Poly::constant(constant + 1));
            assert_eq!(run.factor(&sum), Some(expected.modulo(&run.curve().order)), "{factors:?}");
        }
        // The difference is no power of two, or the sum of one is none.
        for factors in [[1, 4], [3, 4]] {
            let (_, summand) = chosen(&mut run, factors);
            let numbers = [run.numbers(Form::Extended, 1), summand].concat();
            assert_eq!(run.sum(&add(), &numbers), None, "{factors:?}");
        }
        // One number is changed where the bit is 1.
        let (_, mut summand) = chosen(&mut run, [-4, 4]);
        let (_, other) = chosen(&mut run, [-4, 2]);
        summand[2] = other[2].clone();
        let numbers = [run.numbers(Form::Extended, 1), summand].concat();
        assert_eq!(run.sum(&add(), &numbers), None);
    }

    #[test]
    fn equal_multiples_have_equal_coordinates() {
        let mut run = Run::new();
        let [a, b] = [0, 1].map(|_| Poly::variable(run.functions.residues.variable()));
        let mut of = |scalar: &Poly| run.functions.multiple(scalar).expect("points");
        assert_eq!(of(&a.add(&b)), of(&b.add(&a)));
        assert_ne!(of(&a), of(&b));
        let order = Curve::edwards25519().order;
        assert_eq!(of(&a.plus(&Poly::constant(order), &BigInt::from(3))), of(&a));
        assert_eq!(of(&Poly::default()), [Poly::default(), Poly::constant(1)]);
    }
}
