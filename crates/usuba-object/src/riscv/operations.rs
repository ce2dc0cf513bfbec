//! Arithmetic on registers.
//!
//! ```text
//! add  a0, a1, a2
//! srli a3, a3, 6
//! ```

use super::recent_sums::Sum;
use super::values::{BYTES, Cells, short};
use super::{Done, Run};
use crate::flags::Condition;
use crate::word::{Binary, Word};
use crate::{Fault, Rule, unsupported};
use usuba_bits::cell::Cell;
use usuba_bits::lane_arithmetic::Shift;
use usuba_decode::riscv::{Operand, Operation, Register};

/// Why a word has no bits.
const ADDRESS: &str = "an address in arithmetic";

/// The most bits of an index that a shift scales.
const INDEX: usize = 4;

impl Run<'_, '_> {
    /// A register.
    pub fn value(&self, register: Register) -> Word {
        match register {
            0 => Word::Number(0),
            _ => short(&self.world.bits, &self.riscv.registers[register]),
        }
    }

    /// Writes a register.
    pub fn set(&mut self, register: Register, word: Word) {
        if register == 0 {
            return;
        }
        let mut word = match word {
            Word::Pointer(_) | Word::Moving(_) => word,
            word => self.world.truncated(word, BYTES),
        };
        if let (Word::Bits(cells), true) = (&mut word, self.world.forks.follows) {
            self.world.bits.name_single(&mut cells[..]);
        }
        self.riscv.registers[register] = word;
    }

    pub fn set_bits(&mut self, register: Register, cells: &[Cell]) {
        let word = Word::from_cells(&self.world.bits, cells);
        self.set(register, word);
    }

    /// A number as bits.
    pub fn number(&self, value: i32) -> Cells {
        std::array::from_fn(|at| self.world.bits.constant(value >> at & 1 == 1))
    }

    /// The value of bits that are known.
    pub fn known(&self, cells: &[Cell]) -> Option<u32> {
        self.world.bits.word(cells).map(|value| value as u32)
    }

    /// The bits of a word.
    pub fn bits_of(&self, word: &Word) -> Result<Cells, Fault> {
        let cells = self.world.data(word, ADDRESS)?;
        Ok(std::array::from_fn(|at| cells[at]))
    }

    /// An operand as a word.
    fn operand(&self, operand: Operand) -> Word {
        match operand {
            Operand::Register(register) => self.value(register),
            Operand::Immediate(value) => Word::Number(u64::from(value as u32)),
        }
    }

    pub fn arithmetic(
        &mut self,
        operation: Operation,
        to: Register,
        a: Register,
        b: Operand,
    ) -> Done {
        use Operation::*;
        let (from, a, b) = (a, self.value(a), self.operand(b));
        let result = match operation {
            Add => self.combined(Binary::Add, a, b)?,
            Subtract => self.combined(Binary::Subtract, a, b)?,
            And => self.combined(Binary::And, a, b)?,
            Or => self.combined(Binary::Or, a, b)?,
            Xor => self.combined(Binary::Xor, a, b)?,
            ShiftLeft => {
                let a = self.scaled(from, a);
                self.shifted(Shift::Left, a, &b)?
            }
            ShiftRight => self.shifted(Shift::Right, a, &b)?,
            ShiftRightSigned => self.shifted(Shift::Arithmetic, a, &b)?,
            Less | LessUnsigned => {
                let condition = if operation == Less { Condition::Less } else { Condition::Below };
                let (bit, _) = self.compared(condition, &a, &b)?;
                Word::from_cells(&self.world.bits, &[bit])
            }
            Multiply | High | HighUnsigned | HighSignedUnsigned => {
                self.product(operation, &a, &b)?
            }
            Divide | DivideUnsigned | Remainder | RemainderUnsigned => {
                self.quotient(operation, &a, &b)?
            }
        };
        self.set(to, result);
        Ok(())
    }

    /// The operand of a shift to the left. A word with few low bits that are not known, as the index of a
    /// table, becomes a number in its register, too: `3 i` is `(i << 1) + i` without a multiplier.
    fn scaled(&mut self, from: Register, word: Word) -> Word {
        let Word::Bits(cells) = &word else { return word };
        let is_few = cells[INDEX..].iter().all(|&cell| self.world.bits.value(cell) == Some(false));
        match is_few.then(|| self.world.public_offset(&word)).flatten() {
            None => word,
            Some(form) => {
                self.set(from, Word::Count(form));
                Word::Count(form)
            }
        }
    }

    /// Sums, differences and logical operations.
    pub fn combined(&mut self, operation: Binary, a: Word, b: Word) -> Result<Word, Fault> {
        let zero = Word::Number(0);
        match operation {
            Binary::Add | Binary::Or | Binary::Xor if a == zero => return Ok(b),
            Binary::Add | Binary::Or | Binary::Xor | Binary::Subtract if b == zero => return Ok(a),
            _ => {}
        }
        let is_address = |word: &Word| word.place().is_some();
        if matches!(operation, Binary::Add | Binary::Subtract) {
            for (at, by) in [(&a, &b), (&b, &a)] {
                let Word::Bits(cells) = by else { continue };
                if is_address(at) {
                    if let (Binary::Add, Some(form)) = (operation, self.world.public_offset(by)) {
                        return self.combined(operation, at.clone(), Word::Count(form));
                    }
                    let secret = "an address depends on an input";
                    let other = "a sum with an unknown number";
                    return Err(self.world.unknown(&cells[..], Rule::SecretAddress, secret, other));
                }
            }
            let is_code =
                |word: &Word| matches!(word, Word::Pointer(at) if !self.world.is_movable(*at));
            if is_code(&a) || is_code(&b) {
                return Err(unsupported("a sum with an address of code"));
            }
        }
        if let Some(made) = self.world.public(operation, [&a, &b], BYTES) {
            return Ok(made?.0);
        }
        let (a, b) = (self.bits_of(&a)?, self.bits_of(&b)?);
        let bits = &mut self.world.bits;
        let cells: Cells = match operation {
            Binary::Add => self.sum(true, &a, &b),
            Binary::Subtract => self.sum(false, &a, &b),
            Binary::And => std::array::from_fn(|at| bits.and(a[at], b[at])),
            Binary::Or => std::array::from_fn(|at| bits.or(a[at], b[at])),
            Binary::Xor => {
                let word = std::array::from_fn(|at| bits.xor(a[at], b[at]));
                if bits.has_integers() {
                    self.riscv.recent.push_differing([&a, &b], word);
                }
                word
            }
        };
        Ok(Word::from_cells(&self.world.bits, &cells))
    }

    fn shifted(&mut self, shift: Shift, a: Word, b: &Word) -> Result<Word, Fault> {
        let by = &self.bits_of(b)?[..5];
        let count = self.known(by).ok_or_else(|| {
            let secret = "the count of a shift depends on an input";
            self.world.unknown(by, Rule::SecretShift, secret, "a shift by an unknown count")
        })? as usize;
        match a {
            word if count == 0 => Ok(word),
            Word::Count(form) => self.world.shifted_count(form, (shift, count), BYTES),
            Word::Low(form, bytes) if shift == Shift::Left && usize::from(bytes) >= BYTES => {
                self.world.multiplied(form, 1 << count, BYTES)
            }
            word => {
                let a = self.bits_of(&word)?;
                let zero = self.world.bits.constant(false);
                let top = if shift == Shift::Arithmetic { a[31] } else { zero };
                let cells: Cells = std::array::from_fn(|at| match shift {
                    Shift::Left => at.checked_sub(count).map_or(zero, |from| a[from]),
                    _ => a.get(at + count).copied().unwrap_or(top),
                });
                Ok(Word::from_cells(&self.world.bits, &cells))
            }
        }
    }

    /// A half of a product.
    fn product(&mut self, operation: Operation, a: &Word, b: &Word) -> Result<Word, Fault> {
        if let (&Word::Count(form), &Word::Number(factor))
        | (&Word::Number(factor), &Word::Count(form)) = (a, b)
            && operation == Operation::Multiply
        {
            let made = self.world.multiplied(form, factor, BYTES);
            // The bits of a number that is too large are not known.
            return made.or_else(|fault| match self.world.forks.follows {
                true => Ok(Word::unset()),
                false => Err(fault),
            });
        }
        let (a, b) = (self.bits_of(a)?, self.bits_of(b)?);
        let half = match operation {
            Operation::Multiply => word(&self.world.bits.whole_product(&a, &b)[..32]),
            Operation::HighUnsigned => word(&self.world.bits.whole_product(&a, &b)[32..]),
            Operation::High => self.signed_high(&a, &b, true),
            _ => self.signed_high(&a, &b, false),
        };
        Ok(Word::from_cells(&self.world.bits, &half))
    }

    /// The upper half of a product whose first factor, and perhaps the second one, has a sign.
    fn signed_high(&mut self, a: &Cells, b: &Cells, both: bool) -> Cells {
        let bits = &mut self.world.bits;
        let high = word(&bits.whole_product(a, b)[32..]);
        let mut without = |high: &Cells, sign: Cell, other: &Cells| -> Cells {
            let masked: Cells = std::array::from_fn(|at| bits.and(sign, other[at]));
            word(&bits.difference(high, &masked).0)
        };
        let high = without(&high, a[31], b);
        if both { without(&high, b[31], a) } else { high }
    }

    /// A quotient or a remainder.
    fn quotient(&mut self, operation: Operation, a: &Word, b: &Word) -> Result<Word, Fault> {
        let is_quotient = matches!(operation, Operation::Divide | Operation::DivideUnsigned);
        let is_signed = matches!(operation, Operation::Divide | Operation::Remainder);
        let most = 32 - u32::from(is_signed);
        if let (&Word::Count(form), &Word::Number(by)) = (a, b)
            && self.world.is_within(form, most)
            && by > 0
            && by >> most == 0
        {
            let (quotient, rest) = self.world.divided_count(form, by as i64, BYTES)?;
            return Ok(if is_quotient { quotient } else { rest });
        }
        if let &Word::Number(by) = b
            && !is_signed
            && a.cells(&self.world.bits).is_none_or(|a| self.known(&a[..32]).is_none())
        {
            let a = self.bits_of(a)?;
            if let Some((quotient, rest)) = self.world.divided_public(&a, by) {
                return Ok(if is_quotient { quotient } else { rest });
            }
        }
        let (a, b) = (self.bits_of(a)?, self.bits_of(b)?);
        let (Some(x), Some(y)) = (self.known(&a), self.known(&b)) else {
            let both = [a, b].concat();
            let secret = "the time of the instruction depends on an input";
            let other = "the operands of the division are not known";
            return Err(self.world.unknown(&both, Rule::SecretOperand, secret, other));
        };
        Ok(Word::Number(u64::from(divided(operation, x, y))))
    }

    fn sum(&mut self, is_sum: bool, a: &Cells, b: &Cells) -> Cells {
        let bits = &mut self.world.bits;
        let (result, carry) = if is_sum { bits.sum(a, b, false) } else { bits.difference(a, b) };
        let result = self.upper_part(is_sum, [a, b]).unwrap_or_else(|| word(&result));
        // A number, which may be made of two parts, is no sum.
        if self.known(&result).is_none() {
            self.riscv.recent.push(Sum { is_sum, a: *a, b: *b, result, carry });
        }
        result
    }
}

fn word(cells: &[Cell]) -> Cells {
    cells.try_into().expect("32 bits")
}

/// Division, with the results that the manual gives where none exists.
fn divided(operation: Operation, a: u32, b: u32) -> u32 {
    let (x, y) = (a as i32, b as i32);
    match operation {
        Operation::DivideUnsigned => a.checked_div(b).unwrap_or(u32::MAX),
        Operation::RemainderUnsigned => a.checked_rem(b).unwrap_or(a),
        Operation::Divide if b == 0 => u32::MAX,
        Operation::Divide => x.wrapping_div(y) as u32,
        _ if b == 0 => a,
        _ => x.wrapping_rem(y) as u32,
    }
}
