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

use super::cell::{Bits, Cell};
use super::functions::Functions;
use super::kernel_contract::{Contract, Meaning};
use usuba_contracts::edwards::law::Law;
use usuba_contracts::monomial::Exponent;
use usuba_contracts::poly::Poly;

/// A word of a parameter or of a result of a callee.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    pub bits: usize,
    /// Its greatest value.
    pub most: u64,
}

/// Words with their factors, which are powers of two by their exponents.
pub type Digits = Vec<(usize, u64)>;

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

/// A sum of points that a kernel computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sum {
    pub law: Law,
    /// The numbers of its parameters, as words.
    pub numbers: Vec<Digits>,
}

/// The contract of a kernel of arithmetic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promise {
    pub contract: Contract,
    pub params: Vec<Word>,
    pub results: Vec<Word>,
    /// `None` if the values are equal as integers.
    pub modulus: Option<BigInt>,
    /// Sums and their exponents: variables behind those of parameters and results.
    pub powers: Vec<(Poly, Exponent)>,
    /// Values of disjoint words.
    pub values: Vec<Value>,
    /// The sum whose coordinates the values are, in order.
    pub sum: Option<Sum>,
}

const TERMS: &str = "the value of a result is a polynomial with too many terms";

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
            let sum = promise.sum.as_ref();
            let sum = sum.and_then(|sum| self.sum(bits, sum, &integers));
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
