//! Arithmetic on registers.
//!
//! ```text
//! add  a0, a1, a2
//! sltu a3, a0, a1      a0 < a1: the carry of the sum, as RISC-V computes it without flags
//! ```

use super::recent_sums::Sum;
use super::values::{Value, Word, moved};
use super::{Done, Run};
use crate::memory::Pointer;
use crate::{Fault, Rule, unsupported};
use usuba_bits::cell::Cell;
use usuba_decode::riscv::{Operand, Operation, Register};

/// The exclusive ors that are remembered.
const DIFFERING: usize = 256;

impl Run<'_, '_> {
    /// A register.
    pub fn value(&self, register: Register) -> Value {
        match register {
            0 => Value::Bits(Box::new([self.world.bits.constant(false); 32])),
            _ => self.riscv.registers[register].clone(),
        }
    }

    /// Writes a register.
    pub fn set(&mut self, register: Register, value: Value) {
        if register > 0 {
            self.riscv.registers[register] = value;
        }
    }

    pub fn set_bits(&mut self, register: Register, cells: &[Cell]) {
        let cells: Word = cells.try_into().expect("32 bits");
        self.set(register, Value::Bits(Box::new(cells)));
    }

    /// A number as a word.
    pub fn number(&self, value: i32) -> Word {
        std::array::from_fn(|at| self.world.bits.constant(value >> at & 1 == 1))
    }

    /// The value of a word that is known.
    pub fn known(&self, cells: &[Cell]) -> Option<u32> {
        self.world.bits.word(cells).map(|value| value as u32)
    }

    /// An operand as a value.
    pub fn operand(&self, operand: Operand) -> Value {
        match operand {
            Operand::Register(register) => self.value(register),
            Operand::Immediate(value) => Value::Bits(Box::new(self.number(value))),
        }
    }

    pub fn arithmetic(&mut self, operation: Operation, to: Register, a: Value, b: Value) -> Done {
        let is_zero = |value: &Value| matches!(value, Value::Bits(cells) if self.known(&cells[..]) == Some(0));
        let result = match (operation, &a, &b) {
            (Operation::Add | Operation::Or | Operation::Xor, _, zero) if is_zero(zero) => a,
            (Operation::Add | Operation::Or | Operation::Xor, zero, _) if is_zero(zero) => b,
            (Operation::Add, Value::Pointer(at), Value::Bits(by))
            | (Operation::Add, Value::Bits(by), Value::Pointer(at)) => {
                self.moved(*at, &by[..], true)?
            }
            (Operation::Subtract, Value::Pointer(at), Value::Bits(by)) => {
                self.moved(*at, &by[..], false)?
            }
            (Operation::Subtract, Value::Pointer(a), Value::Pointer(b)) if a.region == b.region => {
                let distance = self.number(a.offset.wrapping_sub(b.offset) as i32);
                Value::Bits(Box::new(distance))
            }
            (_, Value::Bits(a), Value::Bits(b)) => {
                Value::Bits(Box::new(self.of_words(operation, a, b)?))
            }
            _ => return Err(unsupported("an address in arithmetic")),
        };
        self.set(to, result);
        Ok(())
    }

    /// A pointer that is moved up or down by a known number.
    fn moved(&self, at: Pointer, by: &[Cell], is_up: bool) -> Result<Value, Fault> {
        let by = self.known(by).ok_or_else(|| {
            let secret = "an address depends on an input";
            self.world.unknown(by, Rule::SecretAddress, secret, "a sum with an unknown number")
        })? as i32;
        match self.world.is_movable(at) {
            true => Ok(Value::Pointer(moved(at, if is_up { by } else { by.wrapping_neg() }))),
            false => Err(unsupported("a sum with an address of code")),
        }
    }

    fn of_words(&mut self, operation: Operation, a: &Word, b: &Word) -> Result<Word, Fault> {
        use Operation::*;
        let bits = &mut self.world.bits;
        let mut gate =
            |f: &mut dyn FnMut(&mut usuba_bits::cell::Bits, Cell, Cell) -> Cell| -> Word {
                std::array::from_fn(|at| f(bits, a[at], b[at]))
            };
        Ok(match operation {
            And => gate(&mut |bits, a, b| bits.and(a, b)),
            Or => gate(&mut |bits, a, b| bits.or(a, b)),
            Xor => {
                let word = gate(&mut |bits, a, b| bits.xor(a, b));
                if self.world.bits.has_integers() {
                    let differing = &mut self.riscv.differing;
                    if differing.len() > DIFFERING {
                        differing.drain(..DIFFERING / 2);
                    }
                    differing.push(([*a, *b], word));
                }
                word
            }
            Add | Subtract => self.sum(operation == Add, a, b),
            ShiftLeft | ShiftRight | ShiftRightSigned => {
                let count = self.known(&b[..5]).ok_or_else(|| {
                    let secret = "the count of a shift depends on an input";
                    self.world.unknown(
                        &b[..5],
                        Rule::SecretShift,
                        secret,
                        "a shift by an unknown count",
                    )
                })? as usize;
                let zero = self.world.bits.constant(false);
                let top = if operation == ShiftRightSigned { a[31] } else { zero };
                std::array::from_fn(|at| match operation {
                    ShiftLeft => at.checked_sub(count).map_or(zero, |from| a[from]),
                    _ => a.get(at + count).copied().unwrap_or(top),
                })
            }
            LessUnsigned => {
                let less = self.is_below(a, b);
                self.flag(less)
            }
            Less => {
                let less = self.is_less(a, b);
                self.flag(less)
            }
            Multiply => word(&self.world.bits.whole_product(a, b)[..32]),
            HighUnsigned => word(&self.world.bits.whole_product(a, b)[32..]),
            High => self.signed_high(a, b, true),
            HighSignedUnsigned => self.signed_high(a, b, false),
            Divide | DivideUnsigned | Remainder | RemainderUnsigned => {
                let (Some(x), Some(y)) = (self.known(a), self.known(b)) else {
                    let both = [&a[..], &b[..]].concat();
                    let secret = "the time of the instruction depends on an input";
                    let other = "the operands of the division are not known";
                    return Err(self.world.unknown(&both, Rule::SecretOperand, secret, other));
                };
                self.number(divided(operation, x, y) as i32)
            }
        })
    }

    /// The upper half of a product whose first factor, and perhaps the second one, has a sign.
    fn signed_high(&mut self, a: &Word, b: &Word, both: bool) -> Word {
        let bits = &mut self.world.bits;
        let high = word(&bits.whole_product(a, b)[32..]);
        let mut without = |high: &Word, sign: Cell, other: &Word| -> Word {
            let masked: Word = std::array::from_fn(|at| bits.and(sign, other[at]));
            word(&bits.difference(high, &masked).0)
        };
        let high = without(&high, a[31], b);
        if both { without(&high, b[31], a) } else { high }
    }

    /// Whether a word is zero. The exclusive or of two words is where they are equal.
    pub fn is_zero(&mut self, a: &Word) -> Cell {
        let zero = self.number(0);
        let parts = match self.riscv.differing.iter().rev().find(|(_, word)| word == a) {
            Some((parts, _)) if self.world.bits.has_integers() => *parts,
            _ => return self.world.bits.equal(a, &zero),
        };
        let difference = self.world.bits.difference(&parts[0], &parts[1]).0;
        self.world.bits.equal(&difference, &zero)
    }

    /// A word that is 0 or 1.
    fn flag(&self, bit: Cell) -> Word {
        let zero = self.world.bits.constant(false);
        std::array::from_fn(|at| if at == 0 { bit } else { zero })
    }

    /// Whether a word is below another one, as numbers without sign.
    pub fn is_below(&mut self, a: &Word, b: &Word) -> Cell {
        if let Some(sum) = self.riscv.sums.told_by(a, b) {
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
        let result = word(&result);
        self.riscv.sums.push(Sum { is_sum: false, a: *a, b: *b, result, carry });
        carry
    }

    /// The same as numbers with sign.
    pub fn is_less(&mut self, a: &Word, b: &Word) -> Cell {
        let zero = self.number(0);
        if *b == zero {
            return a[31];
        }
        let bits = &self.world.bits;
        let [mut x, mut y] = [*a, *b];
        (x[31], y[31]) = (bits.not(x[31]), bits.not(y[31]));
        self.is_below(&x, &y)
    }

    fn sum(&mut self, is_sum: bool, a: &Word, b: &Word) -> Word {
        let bits = &mut self.world.bits;
        let (result, carry) = if is_sum { bits.sum(a, b, false) } else { bits.difference(a, b) };
        let result = self.upper_part(is_sum, [a, b]).unwrap_or_else(|| word(&result));
        // A number, which may be made of two parts, is no sum.
        if self.known(&result).is_none() {
            self.riscv.sums.push(Sum { is_sum, a: *a, b: *b, result, carry });
        }
        result
    }
}

fn word(cells: &[Cell]) -> Word {
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
