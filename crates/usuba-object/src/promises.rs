//! Kernels of arithmetic as callees, by the integers that their contracts promise.
//!
//! ```text
//! four(h, m, k)   words(r) = (words(h) + …)·k⁴ + … mod p    words(r) is a polynomial in words of bits
//! reduce(h)       words(r) = words(h) mod p, below p         equal polynomials have equal bits
//! double(p)       the polynomials of twice a point           words(r) are the coordinates of 2 p
//! ```
//!
//! *Soundness:* a callee has a proof that it computes its program, and the program has a proof of
//! its contract, for all parameters in their ranges; ranges are checked at each call. Where a result
//! is below the modulus and its words do not overlap, its bits follow from the integer; of the bits
//! of other results nothing is assumed but their ranges and the integer.

use num_bigint::BigInt;

use super::functions::Functions;
use super::kernel_contract::{Contract, Meaning};
use super::points::{Digits, Sum};
use usuba_bits::cell::{Bits, Cell};
use usuba_contracts::monomial::Exponent;
use usuba_contracts::poly::Poly;

/// A word of a parameter or of a result of a callee.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    pub bits: usize,
    /// Its greatest value.
    pub most: u64,
}

/// An integer that words of results represent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    pub words: Digits,
    /// The integer, modulo the modulus, as a polynomial in which variable `2 n` is word `n` of the
    /// parameters.
    pub equals: Poly,
    /// Whether it is below the modulus, and its words do not overlap.
    pub is_reduced: bool,
}

/// The contract of a kernel of arithmetic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promise {
    pub contract: Contract,
    pub params: Vec<Word>,
    pub results: Vec<Word>,
    /// `None` if the values are equal as integers.
    pub modulus: Option<BigInt>,
    /// Sums and their exponents: variables behind the words of parameters and results.
    pub powers: Vec<(Poly, Exponent)>,
    /// Values of disjoint words.
    pub values: Vec<Value>,
    /// The sum whose coordinates the values are, in order.
    pub sum: Option<Sum>,
}

const TERMS: &str = "the value of a result is a polynomial with too many terms";
const POINTS: &str = "the points that are handed over are not known as multiples of the base point";

impl Promise {
    /// The bits of its parameters, of each the most significant one first.
    fn count(words: &[Word]) -> usize {
        words.iter().map(|word| word.bits).sum()
    }

    /// The words of parameters from the bits of the arrays, of each the lowest bit first; `None` if
    /// a bit between them is not zero.
    pub fn words(&self, bits: &Bits, arrays: &[Vec<Cell>]) -> Option<Vec<Vec<Cell>>> {
        let mut flat = vec![None; Promise::count(&self.params)];
        for (array, cells) in self.contract.arrays.iter().zip(arrays) {
            for (meaning, &cell) in array.entry.iter().flatten().zip(cells) {
                match meaning {
                    Meaning::Zero if bits.value(cell) == Some(false) => {}
                    Meaning::Zero => return None,
                    Meaning::Bit { bit, .. } => flat[*bit as usize] = Some(cell),
                }
            }
        }
        let mut flat = flat.into_iter();
        let word = |word: &Word| -> Option<Vec<Cell>> {
            let mut cells: Vec<Cell> = flat.by_ref().take(word.bits).collect::<Option<_>>()?;
            cells.reverse();
            Some(cells)
        };
        self.params.iter().map(word).collect()
    }

    /// The bits of an array of results.
    pub fn stored(&self, bits: &Bits, exit: &[Meaning], words: &[Vec<Cell>]) -> Vec<Cell> {
        let flat: Vec<Cell> = words.iter().flat_map(|word| word.iter().rev().copied()).collect();
        let zero = bits.constant(false);
        let bit = |meaning: &Meaning| match meaning {
            Meaning::Zero => zero,
            Meaning::Bit { bit, .. } => flat[*bit as usize],
        };
        exit.iter().map(bit).collect()
    }
}

impl Functions {
    /// The words of the results of a function for words of its parameters.
    ///
    /// # Errors
    /// A parameter is not known, or outside of its range.
    pub fn promised(
        &mut self,
        bits: &mut Bits,
        (function, promise): (usize, &Promise),
        params: &[Vec<Cell>],
    ) -> Result<Vec<Vec<Cell>>, String> {
        for (word, range) in params.iter().zip(&promise.params) {
            if !self.residues.is_at_most(bits, word, range.most) {
                return Err(format!("a word that is handed over may exceed {}", range.most));
            }
        }
        let mut words = self.free(bits, (function, promise), params);
        let moduli = promise.modulus.as_ref().map(|modulus| vec![modulus.clone()]);
        for modulus in moduli.unwrap_or_else(|| self.residues.moduli()) {
            let integers: Option<Vec<Poly>> =
                params.iter().map(|word| self.residues.integer(bits, word, &modulus)).collect();
            let mut integers = integers.ok_or("a word that is handed over is not known")?;
            let sum = match (&promise.sum, self.points.as_mut()) {
                (Some(sum), Some(points)) => {
                    let run = (&*bits, &mut self.residues);
                    Some(points.sum(run, (function, sum), &integers).ok_or(POINTS)?)
                }
                _ => None,
            };
            integers.resize(params.len() + promise.results.len(), Poly::default());
            for (base, exponent) in &promise.powers {
                let base = self.composed(base, &integers, &modulus)?;
                let power = self.residues.power(&base, exponent, &modulus);
                integers.push(power.ok_or(TERMS)?);
            }
            for (at, value) in promise.values.iter().enumerate() {
                let equals = match &sum {
                    Some(numbers) => numbers[at].clone(),
                    None => self.composed(&value.equals, &integers, &modulus)?,
                };
                if value.is_reduced {
                    let number = self.number(bits, &equals, &modulus);
                    for &(at, from) in &value.words {
                        words[at] = self.part(bits, &promise.results[at], &number[..], from);
                    }
                    continue;
                }
                let all: Vec<(&[Cell], u64)> =
                    value.words.iter().map(|&(at, from)| (&words[at][..], from)).collect();
                self.residues.represent(bits, &all, &equals, &modulus);
            }
        }
        Ok(words)
    }

    /// The bits of the number below a modulus that a polynomial is.
    pub fn number(&mut self, bits: &mut Bits, poly: &Poly, modulus: &BigInt) -> Vec<Cell> {
        let poly = self.residues.reduced(poly, modulus);
        if let Some(known) = self.residues.number(&poly, modulus) {
            return known;
        }
        let count = modulus.bits() as usize;
        if let Some(value) = poly.value() {
            return (0..count).map(|at| bits.constant(value.bit(at as u64))).collect();
        }
        let number: Vec<Cell> = (0..count).map(|_| self.parameter(bits)).collect();
        self.residues.name(bits, &number, poly, modulus);
        number
    }

    /// The coordinates of a multiple of the base point, by its factor modulo the order.
    ///
    /// # Errors
    /// The object has no points.
    pub fn multiple(&mut self, scalar: &Poly) -> Result<[Poly; 2], String> {
        let points = self.points.as_mut().ok_or("there are no points")?;
        let scalar = scalar.modulo(&points.curve.order);
        Ok(points.coordinates(&mut self.residues, &scalar))
    }

    /// A polynomial for each variable.
    fn composed(&mut self, of: &Poly, with: &[Poly], modulus: &BigInt) -> Result<Poly, String> {
        let power = |poly: &Poly, exponent: &Exponent| self.residues.power(poly, exponent, modulus);
        let composed = of.composed(with, modulus, power);
        Ok(self.residues.reduced(&composed.ok_or(TERMS)?, modulus))
    }

    /// Words of results of which only their ranges are known.
    fn free(
        &mut self,
        bits: &mut Bits,
        (function, promise): (usize, &Promise),
        params: &[Vec<Cell>],
    ) -> Vec<Vec<Cell>> {
        let bytes = Promise::count(&promise.results).div_ceil(8);
        let flat = self.apply(bits, function, params.concat(), bytes);
        let zero = bits.constant(false);
        let mut flat = flat.into_iter();
        let mut words = Vec::new();
        for word in &promise.results {
            let used = (64 - word.most.leading_zeros()) as usize;
            let cells = flat.by_ref().take(word.bits).enumerate();
            let cells: Vec<Cell> =
                cells.map(|(at, cell)| if at < used { cell } else { zero }).collect();
            self.residues.bound(&cells[..used.min(word.bits)], word.most);
            words.push(cells);
        }
        words
    }

    /// The bits of a number from one on, as many as a word has.
    fn part(&self, bits: &Bits, word: &Word, number: &[Cell], from: u64) -> Vec<Cell> {
        let used = (64 - word.most.leading_zeros()) as usize;
        let bit = |at: usize| number.get(from as usize + at).copied().filter(|_| at < used);
        let zero = bits.constant(false);
        (0..word.bits).map(|at| bit(at).unwrap_or(zero)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use usuba_equiv::value_numbering::Graph;

    /// The kernel of `words(r) == words(x) * words(x) mod 7`, with x below 16.
    fn square(is_reduced: bool) -> Promise {
        let word = |most| Word { bits: 8, most };
        let x = Poly::variable(0);
        Promise {
            contract: Contract { symbol: "square".into(), arrays: vec![], pointers: vec![] },
            params: vec![word(15)],
            results: vec![word(if is_reduced { 6 } else { 20 })],
            modulus: Some(BigInt::from(7)),
            powers: vec![],
            values: vec![Value {
                words: vec![(0, 0)],
                equals: x.mul(&x).expect("a product"),
                is_reduced,
            }],
            sum: None,
        }
    }

    fn free(bits: &mut Bits, functions: &mut Functions, count: usize) -> Vec<Cell> {
        let mut word: Vec<Cell> = (0..count).map(|_| functions.parameter(bits)).collect();
        word.resize(8, bits.constant(false));
        word
    }

    #[test]
    fn a_word_above_its_range_is_refused() {
        let (mut bits, mut functions) = (Bits::new(Graph::new(None)), Functions::default());
        let word = free(&mut bits, &mut functions, 5);
        let refused = functions.promised(&mut bits, (0, &square(true)), &[word]);
        assert!(refused.expect_err("it has five bits").contains("may exceed 15"));
        // A result of up to 20 has five bits, too.
        let word = free(&mut bits, &mut functions, 4);
        let larger = functions.promised(&mut bits, (1, &square(false)), &[word]).expect("a result");
        assert!(functions.promised(&mut bits, (0, &square(true)), &larger).is_err());
    }

    #[test]
    fn equal_polynomials_have_equal_bits() {
        let (mut bits, mut functions) = (Bits::new(Graph::new(None)), Functions::default());
        let seven = BigInt::from(7);
        let word = free(&mut bits, &mut functions, 4);
        let x = functions.residues.integer(&bits, &word, &seven).expect("known bits");
        let found = functions.promised(&mut bits, (0, &square(true)), std::slice::from_ref(&word));
        let found = found.expect("a result");
        let wanted = functions.number(&mut bits, &x.mul(&x).expect("a product"), &seven);
        assert_eq!(found[0][..3], wanted);
        assert_eq!(bits.word(&found[0][3..]), Some(0));
        let other = functions.number(&mut bits, &x, &seven);
        assert_ne!(wanted, other);
        // A number is its remainder.
        let twelve = bits.number(12, 8);
        let found = functions.promised(&mut bits, (0, &square(true)), &[twelve]).expect("a result");
        assert_eq!(bits.word(&found[0]), Some(144 % 7));
    }

    /// The value of a result is known where the next kernel reads its word.
    #[test]
    fn values_go_from_result_to_parameter() {
        let (mut bits, mut functions) = (Bits::new(Graph::new(None)), Functions::default());
        let seven = BigInt::from(7);
        let word = free(&mut bits, &mut functions, 4);
        let x = functions.residues.integer(&bits, &word, &seven).expect("known bits");
        let once = functions.promised(&mut bits, (1, &square(false)), &[word]).expect("a result");
        let value = functions.residues.integer(&bits, &once[0], &seven).expect("known bits");
        assert_eq!(value, x.mul(&x).expect("a product").modulo(&seven));
    }
    /// An equation of integers holds modulo each number that is in use.
    #[test]
    fn equations_hold_modulo_all_numbers() {
        let (mut bits, mut functions) = (Bits::new(Graph::new(None)), Functions::default());
        let moduli = [7, 11].map(BigInt::from);
        let word = free(&mut bits, &mut functions, 4);
        let x: Vec<Poly> = moduli
            .iter()
            .map(|modulus| functions.residues.integer(&bits, &word, modulus).expect("known bits"))
            .collect();
        let exact = Promise { modulus: None, ..square(false) };
        let once = functions.promised(&mut bits, (1, &exact), &[word]).expect("a result");
        for (modulus, x) in moduli.iter().zip(x) {
            let value = functions.residues.integer(&bits, &once[0], modulus);
            assert_eq!(value, Some(x.mul(&x).expect("a product").modulo(modulus)));
        }
    }

    /// The bits and the words of a number below the modulus are its integer again.
    #[test]
    fn parts_of_a_number_are_its_integer() {
        let (mut bits, mut functions) = (Bits::new(Graph::new(None)), Functions::default());
        let prime = (BigInt::from(1) << 255) - 19;
        let word = free(&mut bits, &mut functions, 4);
        let x = functions.residues.integer(&bits, &word, &prime).expect("known bits");
        let number = functions.number(&mut bits, &x, &prime);
        let whole = functions.residues.integer(&bits, &number, &prime);
        assert_eq!(whole, Some(x.clone()));
        let mut sum = Poly::default();
        for (at, bit) in number.iter().enumerate() {
            let bit = functions.residues.integer(&bits, &[*bit], &prime).expect("known bits");
            sum = sum.plus(&bit, &(BigInt::from(1) << at));
        }
        assert_eq!(sum.modulo(&prime), x);
        assert_ne!(functions.residues.integer(&bits, &number[1..], &prime), Some(x));
    }

    /// Fermat: a factor that is not zero goes; a sum and a variable that may be zero stay.
    #[test]
    fn powers_of_what_is_not_zero_go() {
        let mut functions = Functions::default();
        let prime = (BigInt::from(1) << 255) - 19;
        let residues = &mut functions.residues;
        let (z, x) = (residues.unit(&prime), residues.variable());
        let [z, x] = [z, x].map(Poly::variable);
        let exponent = Exponent::from(prime.magnitude() - 2u8);
        let mut times_inverse = |of: &Poly, above: &Poly| {
            let inverse = residues.power(of, &exponent, &prime).expect("a power");
            residues.reduced(&inverse.mul(above).expect("a product"), &prime)
        };
        assert_eq!(times_inverse(&z, &z), Poly::constant(1));
        assert_eq!(times_inverse(&z, &z.mul(&x).expect("a product")), x);
        assert_ne!(times_inverse(&x, &x), Poly::constant(1));
        // (1 + x) / (1 - x), with and without the factor z.
        let (above, below) = (Poly::constant(1).add(&x), Poly::constant(1).sub(&x));
        let plain = times_inverse(&below, &above);
        let scaled = [below, above].map(|side| side.mul(&z).expect("a product"));
        assert_eq!(times_inverse(&scaled[0], &scaled[1]), plain);
        assert_ne!(times_inverse(&scaled[0], &plain), plain);
    }
}
