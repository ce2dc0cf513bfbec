//! Integers modulo a number that words of bits represent.
//!
//! ```text
//! w0 + 2^64 w1 = r k^4 + … mod p     w0 is r k^4 + … - 2^64 w1 mod p
//! ```
//!
//! A word of bits is a variable, without the zeros at its ends. Where words represent a known
//! integer, one of them is that integer without the others, so polynomials have a normal form.
//!
//! *Soundness:* a polynomial names an integer modulo one number. The bits of the number below the
//! modulus follow from the integer, so equal polynomials have equal bits. A variable that is not
//! zero modulo a prime p has the power p - 1 of 1.

use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet};

use super::few_bits::cases;
use usuba_bits::cell::{Bits, Cell};
use usuba_contracts::monomial::{Exponent, Monomial};
use usuba_contracts::poly::Poly;

/// The words of bits of an execution, and the integers that they represent.
#[derive(Clone, Default, Debug)]
pub struct Residues {
    /// The variable of a word, and the word of a variable.
    words: FxHashMap<Vec<Cell>, u32>,
    cells: FxHashMap<u32, Vec<Cell>>,
    /// Variables so far.
    count: u32,
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
    /// The variables of powers of sums.
    powers: FxHashMap<(Poly, Exponent), u32>,
    /// Variables that are not zero; the modulus is a prime.
    units: FxHashSet<u32>,
}

impl Residues {
    fn field(&mut self, modulus: &BigInt) -> &mut Field {
        let at = self.fields.iter().position(|field| field.modulus == *modulus);
        let at = at.unwrap_or_else(|| {
            self.fields.push(Field {
                modulus: modulus.clone(),
                leading: FxHashMap::default(),
                numbers: FxHashMap::default(),
                powers: FxHashMap::default(),
                units: FxHashSet::default(),
            });
            self.fields.len() - 1
        });
        &mut self.fields[at]
    }

    /// The numbers modulo which integers are known.
    pub(super) fn moduli(&self) -> Vec<BigInt> {
        self.fields.iter().map(|field| field.modulus.clone()).collect()
    }

    /// A new variable, of which nothing is known.
    pub(super) fn variable(&mut self) -> u32 {
        self.count += 1;
        2 * (self.count - 1)
    }

    /// A new variable that is not zero modulo a prime.
    pub(super) fn unit(&mut self, prime: &BigInt) -> u32 {
        let variable = self.variable();
        self.field(prime).units.insert(variable);
        variable
    }

    /// The variable of a word without zeros at its ends.
    fn of_word(&mut self, word: &[Cell]) -> u32 {
        if let Some(&known) = self.words.get(word) {
            return known;
        }
        let variable = self.variable();
        self.words.insert(word.to_vec(), variable);
        self.cells.insert(variable, word.to_vec());
        variable
    }

    /// The word of a variable; `None` if it is no word.
    pub(super) fn word(&self, variable: u32) -> Option<&[Cell]> {
        self.cells.get(&variable).map(|word| &word[..])
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
                    let variable = self.of_word(part);
                    let known = self.field(modulus).leading.get(&variable);
                    known.cloned().unwrap_or_else(|| Poly::variable(variable))
                }
            };
            total = total.plus(&poly, &(BigInt::from(1) << (64 * at + from)));
        }
        Some(total.modulo(modulus))
    }

    /// Says that words with these exponents of their factors are an integer modulo a number: the
    /// word with the factor 1 is the integer without the others. An earlier integer of this word stays.
    pub(super) fn represent(
        &mut self,
        bits: &Bits,
        words: &[(&[Cell], u64)],
        integer: &Poly,
        modulus: &BigInt,
    ) -> Option<()> {
        let mut leading = integer.clone();
        let mut place = None;
        for &(word, exponent) in words {
            let (from, trimmed) = trimmed(bits, word);
            if exponent == 0 && from == 0 && bits.word(trimmed).is_none() && place.is_none() {
                place = Some(trimmed);
                continue;
            }
            let word = self.integer(bits, word, modulus)?;
            leading = leading.sub(&word.scaled(&(BigInt::from(1) << exponent)));
        }
        let variable = self.of_word(place?);
        let leading = leading.modulo(modulus);
        self.field(modulus).leading.entry(variable).or_insert(leading);
        Some(())
    }

    /// The bits of the number below a modulus that a polynomial is, if they are known.
    pub(super) fn number(&mut self, poly: &Poly, modulus: &BigInt) -> Option<Vec<Cell>> {
        self.field(modulus).numbers.get(poly).cloned()
    }

    /// Names the bits of the number below a modulus that a polynomial is, and its words of 64 bits.
    pub(super) fn name(&mut self, bits: &Bits, number: &[Cell], poly: Poly, modulus: &BigInt) {
        for size in [1, 64] {
            let parts = number.chunks(size).enumerate();
            let parts: Vec<(&[Cell], u64)> =
                parts.map(|(at, part)| (part, (size * at) as u64)).collect();
            self.represent(bits, &parts, &poly, modulus);
        }
        self.field(modulus).numbers.insert(poly, number.to_vec());
    }

    /// Bounds a word of a result.
    pub(super) fn bound(&mut self, word: &[Cell], most: u64) {
        self.most.insert(word.to_vec(), most);
    }

    /// Whether a word is at most a number.
    pub(super) fn is_at_most(&self, bits: &Bits, word: &[Cell], most: u64) -> bool {
        let used = used(bits, word);
        let ones = u64::MAX.checked_shr(64 - used as u32).unwrap_or(0);
        if ones <= most || self.most.get(&word[..used]).is_some_and(|known| *known <= most) {
            return true;
        }
        let all = cases(bits, &[word.to_vec()]);
        all.is_some_and(|all| all.words.iter().flatten().all(|value| *value <= most))
    }

    /// A power; one of a sum is a variable, where it has too many terms. `None` if the polynomial
    /// has.
    pub fn power(&mut self, poly: &Poly, exponent: &Exponent, modulus: &BigInt) -> Option<Poly> {
        if let Some(power) = poly.power(exponent, Some(modulus)) {
            return Some(self.reduced(&power, modulus));
        }
        let field = self.field(modulus);
        let shared = shared(poly, &field.units);
        let less = |(variable, exponent): &(u32, Exponent)| {
            let by = shared.iter().find(|factor| factor.0 == *variable);
            let left = exponent.number() - by.map_or_else(Default::default, |by| by.1.number());
            (left > 0u8.into()).then(|| (*variable, Exponent::from(left)))
        };
        let rest = poly.terms().map(|(monomial, value)| {
            (monomial.iter().filter_map(less).collect::<Monomial>(), value.clone())
        });
        let rest = Poly::of_terms(rest);
        let key = (rest, exponent.clone());
        let known = field.powers.get(&key).copied();
        let variable = known.unwrap_or_else(|| {
            let variable = self.variable();
            self.field(modulus).powers.insert(key, variable);
            variable
        });
        let shared = Poly::of_terms([(shared, BigInt::from(1))]).power(exponent, Some(modulus))?;
        Some(self.reduced(&shared.mul(&Poly::variable(variable))?, modulus))
    }

    /// The polynomial modulo a number, with the least exponents of variables that are not zero.
    pub(super) fn reduced(&mut self, poly: &Poly, modulus: &BigInt) -> Poly {
        let field = self.field(modulus);
        if field.units.is_empty() {
            return poly.modulo(modulus);
        }
        let order = modulus.magnitude() - 1u8;
        let factor = |(variable, exponent): &(u32, Exponent)| {
            if exponent.small().is_some() || !field.units.contains(variable) {
                return Some((*variable, exponent.clone()));
            }
            let left = exponent.number() % &order;
            (left > 0u8.into()).then(|| (*variable, Exponent::from(left)))
        };
        let terms = poly.terms().map(|(monomial, value)| {
            (monomial.iter().filter_map(factor).collect::<Monomial>(), value.clone())
        });
        Poly::of_terms(terms).modulo(modulus)
    }
}

/// The greatest product of some variables that divides all terms.
fn shared(poly: &Poly, of: &FxHashSet<u32>) -> Monomial {
    let mut terms = poly.terms().map(|(monomial, _)| monomial);
    let Some(first) = terms.next() else { return Monomial::new() };
    let mut shared: Monomial =
        first.iter().filter(|factor| of.contains(&factor.0)).cloned().collect();
    for monomial in terms {
        shared.retain(|factor| {
            let other = monomial.iter().find(|other| other.0 == factor.0);
            other.inspect(|other| factor.1 = factor.1.clone().min(other.1.clone())).is_some()
        });
    }
    shared
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
