//! Integers modulo a number that words of bits represent, for callees with contracts of arithmetic.
//!
//! ```text
//! four(h, m, k)   words(r) = (words(h) + …)·k⁴ + … mod p    words(r) is a polynomial in words of bits
//! reduce(h)       words(r) = words(h) mod p, below p         equal polynomials have equal bits
//! ```
//!
//! A word of bits is a variable, without the zeros at its ends. The value of a result is known as a
//! polynomial of the values of the parameters, so its leading word is that polynomial without the
//! other words.
//!
//! *Soundness:* a callee has a proof that it computes its program, and the program has a proof of
//! its contract, for all parameters in their ranges; ranges are checked at each call. A polynomial
//! names an integer modulo one number. Where a result is below the modulus and its words do not
//! overlap, its bits follow from the integer, so equal polynomials have equal bits; nothing else is
//! assumed of them.

use num_bigint::BigInt;
use rustc_hash::FxHashMap;

use super::cell::{Bits, Cell};
use super::functions::Functions;
use super::kernel_contract::{Contract, Meaning};
use usuba_contracts::poly::Poly;

/// A word of a parameter or of a result of a callee.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    pub bits: usize,
    /// Its greatest value.
    pub most: u64,
}

/// The contract of a kernel of arithmetic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promise {
    pub contract: Contract,
    pub params: Vec<Word>,
    pub results: Vec<Word>,
    pub modulus: BigInt,
    /// The value of the result: each of its words with its factor, a power of two by its exponent.
    pub value: Vec<(usize, u64)>,
    /// This value, modulo the modulus, as a polynomial in which variable `2 n` is word `n` of the
    /// parameters.
    pub equals: Poly,
    /// Whether the value is below the modulus.
    pub is_reduced: bool,
}

/// The words of bits of an execution, and the integers that results represent.
#[derive(Clone, Default, Debug)]
pub struct Residues {
    /// The variable of a word.
    words: FxHashMap<Vec<Cell>, u32>,
    /// The greatest value of words of results.
    most: FxHashMap<Vec<Cell>, u64>,
    fields: Vec<Field>,
}

/// The integers modulo one number.
#[derive(Clone, Debug)]
struct Field {
    modulus: BigInt,
    /// The polynomials that leading words are.
    leading: FxHashMap<u32, Poly>,
    /// The bits of the number below the modulus that a polynomial is.
    numbers: FxHashMap<Poly, Vec<Cell>>,
}

const TERMS: &str = "the value of a result is a polynomial with too many terms";

impl Residues {
    fn field(&mut self, modulus: &BigInt) -> &mut Field {
        let at = self.fields.iter().position(|field| field.modulus == *modulus);
        let at = at.unwrap_or_else(|| {
            let (leading, numbers) = (FxHashMap::default(), FxHashMap::default());
            self.fields.push(Field { modulus: modulus.clone(), leading, numbers });
            self.fields.len() - 1
        });
        &mut self.fields[at]
    }

    /// The variable of a word without zeros at its ends.
    fn variable(&mut self, word: &[Cell]) -> u32 {
        let next = 2 * self.words.len() as u32;
        *self.words.entry(word.to_vec()).or_insert(next)
    }

    /// The integer of bits, the lowest one first, modulo a number; `None` if one is not known.
    pub fn integer(&mut self, bits: &Bits, word: &[Cell], modulus: &BigInt) -> Option<Poly> {
        if word.iter().any(|cell| cell.edge().is_none()) {
            return None;
        }
        let mut total = Poly::default();
        for (at, part) in word.chunks(64).enumerate() {
            let (from, part) = trimmed(bits, part);
            let poly = match bits.word(part) {
                Some(value) => Poly::constant(value),
                None => {
                    let variable = self.variable(part);
                    let known = self.field(modulus).leading.get(&variable);
                    known.cloned().unwrap_or_else(|| Poly::variable(variable))
                }
            };
            total = total.plus(&poly, &(BigInt::from(1) << (64 * at + from)));
        }
        Some(total.modulo(modulus))
    }

    /// Whether a word is at most a number.
    fn is_at_most(&self, bits: &Bits, word: &[Cell], most: u64) -> bool {
        let used = used(bits, word);
        let ones = u64::MAX.checked_shr(64 - used as u32).unwrap_or(0);
        ones <= most || self.most.get(&word[..used]).is_some_and(|known| *known <= most)
    }
}

/// The number of bits without the zeros at the upper end.
fn used(bits: &Bits, word: &[Cell]) -> usize {
    let is_zero = |cell: &Cell| bits.value(*cell) == Some(false);
    word.iter().rposition(|cell| !is_zero(cell)).map_or(0, |top| top + 1)
}

/// A word without the zeros at its ends, and the number of those at the lower one.
fn trimmed<'w>(bits: &Bits, word: &'w [Cell]) -> (usize, &'w [Cell]) {
    let word = &word[..used(bits, word)];
    let from = word.iter().position(|cell| bits.value(*cell) != Some(false)).unwrap_or(0);
    (from, &word[from..])
}

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
    /// The bits of the number below a modulus that a polynomial is.
    pub fn number(&mut self, bits: &mut Bits, poly: &Poly, modulus: &BigInt) -> Vec<Cell> {
        let poly = poly.modulo(modulus);
        if let Some(known) = self.residues.field(modulus).numbers.get(&poly) {
            return known.clone();
        }
        let count = modulus.bits() as usize;
        let number: Vec<Cell> = match poly.value() {
            Some(value) => (0..count).map(|at| bits.constant(value.bit(at as u64))).collect(),
            None => (0..count).map(|_| self.parameter(bits)).collect(),
        };
        self.residues.field(modulus).numbers.insert(poly, number.clone());
        number
    }

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
        let Promise { modulus, .. } = promise;
        for (word, range) in params.iter().zip(&promise.params) {
            if !self.residues.is_at_most(bits, word, range.most) {
                return Err(format!("a word that is handed over may exceed {}", range.most));
            }
        }
        let integers: Option<Vec<Poly>> =
            params.iter().map(|word| self.residues.integer(bits, word, modulus)).collect();
        let integers = integers.ok_or("a word that is handed over is not known")?;
        let value = substituted(&promise.equals, &integers, modulus).ok_or(TERMS)?;
        if promise.is_reduced {
            let number = self.number(bits, &value, modulus);
            let zero = bits.constant(false);
            let word = |at: usize, word: &Word| -> Vec<Cell> {
                let place = promise.value.iter().find(|(of, _)| *of == at);
                let from = place.map_or(number.len(), |(_, exponent)| *exponent as usize);
                let most = (64 - word.most.leading_zeros()) as usize;
                let bit = |at: usize| number.get(from + at).copied().filter(|_| at < most);
                (0..word.bits).map(|at| bit(at).unwrap_or(zero)).collect()
            };
            return Ok(promise.results.iter().enumerate().map(|(at, of)| word(at, of)).collect());
        }
        let bytes = Promise::count(&promise.results).div_ceil(8);
        let flat = self.apply(bits, function, params.concat(), bytes);
        let zero = bits.constant(false);
        let mut flat = flat.into_iter();
        let mut words = Vec::new();
        for word in &promise.results {
            let most = (64 - word.most.leading_zeros()) as usize;
            let cells = flat.by_ref().take(word.bits).enumerate();
            let cells: Vec<Cell> =
                cells.map(|(at, cell)| if at < most { cell } else { zero }).collect();
            self.residues.most.insert(cells[..most.min(word.bits)].to_vec(), word.most);
            words.push(cells);
        }
        // The leading word is the value without the other words.
        let mut leading = value;
        let mut place = None;
        for &(at, exponent) in &promise.value {
            if exponent == 0 {
                place = Some(at);
                continue;
            }
            let word = self.residues.integer(bits, &words[at], modulus).ok_or(TERMS)?;
            leading = leading.sub(&word.scaled(&(BigInt::from(1) << exponent)));
        }
        if let Some(at) = place {
            let (from, cells) = trimmed(bits, &words[at]);
            if from == 0 {
                let variable = self.residues.variable(cells);
                let leading = leading.modulo(modulus);
                self.residues.field(modulus).leading.insert(variable, leading);
            }
        }
        Ok(words)
    }
}

/// A polynomial with a polynomial for each variable, modulo a number; `None` if it has too many
/// terms.
fn substituted(poly: &Poly, with: &[Poly], modulus: &BigInt) -> Option<Poly> {
    let mut total = Poly::default();
    for (monomial, factor) in poly.terms() {
        let mut term = Poly::constant(factor.clone());
        for (variable, exponent) in monomial {
            let power = with[*variable as usize / 2].power(exponent, Some(modulus))?;
            term = term.mul(&power)?.modulo(modulus);
        }
        total = total.add(&term);
    }
    Some(total.modulo(modulus))
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
            modulus: BigInt::from(7),
            value: vec![(0, 0)],
            equals: x.mul(&x).expect("a product"),
            is_reduced,
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
}
