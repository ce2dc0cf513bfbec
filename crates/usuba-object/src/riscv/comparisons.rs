//! Comparisons of words, of numbers that are not known and of addresses.
//!
//! ```text
//! sltu a3, a0, a1      a0 < a1: the carry of the sum, as RISC-V computes it without flags
//! bltu a0, a1, loop    the same, and a branch
//! ```

use usuba_bits::cell::Cell;
use usuba_decode::riscv::Register;

use super::Run;
use super::recent_sums::Sum;
use super::values::{BYTES, Cells};
use crate::flags::{Condition, Flag};
use crate::word::{Binary, Word};
use crate::{Fault, Rule, unsupported};

impl Run<'_, '_> {
    /// Whether a condition holds for two words, as a bit that may not be known, and whether it depends
    /// on a secret.
    ///
    /// # Errors
    /// It depends on numbers whose cases are to be told apart first, or is outside of the model.
    pub fn compared(
        &mut self,
        condition: Condition,
        a: &Word,
        b: &Word,
    ) -> Result<(Cell, bool), Fault> {
        let is_bits = matches!(a, Word::Bits(_));
        // An address or a number is below one where it is zero.
        let (condition, b) = match (condition, b) {
            (Condition::Below, Word::Number(1)) if !is_bits => (Condition::Equal, &Word::Number(0)),
            given => given,
        };
        for (at, other) in [(a, b), (b, a)] {
            if let (Some(_), Word::Bits(cells)) = (at.place(), other) {
                let secret = "the comparison of data and an address depends on an input";
                let other = "a comparison of data and an address";
                return Err(self.world.unknown(&cells[..], Rule::SecretBranch, secret, other));
            }
        }
        if let Some(made) = self.world.public(Binary::Subtract, [a, b], BYTES) {
            let flag = self.world.held(&made?.1, condition)?;
            return Ok((self.bit(flag)?, flag.is_secret()));
        }
        let (a, b) = (self.bits_of(a)?, self.bits_of(b)?);
        let is_secret = self.world.is_secret(&a) || self.world.is_secret(&b);
        let bit = match condition {
            Condition::Below => self.is_below(&a, &b),
            Condition::Less => self.is_less(&a, &b),
            _ => self.world.bits.equal(&a, &b),
        };
        Ok((bit, is_secret))
    }

    /// The bit that a flag of numbers is.
    fn bit(&self, flag: Flag) -> Result<Cell, Fault> {
        match flag {
            Flag::Is(is) => Ok(self.world.bits.constant(is)),
            flag if flag.is_secret() => Ok(Cell::OPAQUE),
            _ if self.world.forks.follows => Ok(Cell::UNSET),
            _ => Err(unsupported("a comparison of addresses")),
        }
    }

    /// Makes public words that are compared numbers of their own, and names single bits that are not
    /// known: a join of paths leaves the bit of a status without its name.
    pub fn name_compared(&mut self, a: Register, b: Register) {
        if !self.world.forks.follows {
            return;
        }
        for (register, other) in [(a, b), (b, a)] {
            let mut word = self.value(register);
            if let Word::Bits(cells) = &mut word {
                self.world.bits.name_single(&mut cells[..]);
            }
            let other = self.value(other);
            let number = match other {
                // Whether a word is zero says little about it.
                Word::Number(0) => None,
                other => self.world.numbered(&word, &other, BYTES),
            };
            self.set(register, number.map_or(word, Word::Count));
        }
    }

    /// Whether a word is zero. The exclusive or of two words is where they are equal.
    pub fn is_zero(&mut self, a: &Cells) -> Cell {
        let zero = self.number(0);
        let parts = match self.riscv.recent.differing(a) {
            Some(parts) if self.world.bits.has_integers() => *parts,
            _ => return self.world.bits.equal(a, &zero),
        };
        let difference = self.world.bits.difference(&parts[0], &parts[1]).0;
        self.world.bits.equal(&difference, &zero)
    }

    /// Whether a word is below another one, as numbers without sign.
    fn is_below(&mut self, a: &Cells, b: &Cells) -> Cell {
        if let Some(sum) = self.riscv.recent.told_by(a, b) {
            return sum.carry;
        }
        let zero = self.number(0);
        if *a == zero || *b == self.number(1) {
            let (word, is_zero) = if *a == zero { (b, false) } else { (a, true) };
            let equal = self.is_zero(word);
            return if is_zero { equal } else { self.world.bits.not(equal) };
        }
        // The borrow of a difference, which may come later.
        let (result, carry) = self.world.bits.difference(a, b);
        let result = result.try_into().expect("32 bits");
        self.riscv.recent.push(Sum { is_sum: false, a: *a, b: *b, result, carry });
        carry
    }

    /// The same as numbers with sign.
    fn is_less(&mut self, a: &Cells, b: &Cells) -> Cell {
        let zero = self.number(0);
        if *b == zero {
            return a[31];
        }
        let bits = &self.world.bits;
        let [mut x, mut y] = [*a, *b];
        (x[31], y[31]) = (bits.not(x[31]), bits.not(y[31]));
        self.is_below(&x, &y)
    }
}
