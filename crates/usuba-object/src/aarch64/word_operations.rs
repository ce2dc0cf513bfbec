//! Arithmetic on general-purpose registers.
//!
//! ```text
//! add  x0, x1, x2, lsl #3
//! umulh x3, x1, x2
//! ubfm x0, x1, #3, #10      bits 3 to 10
//! ```

use usuba_decode::aarch64::{
    Choice, Condition, Constant, Extend, Field, Instruction, Logic, One, Operand, Register, Shift,
    Shifted,
};

use super::flags::Flags;
use super::register_file::{LINK, SP, Value};
use super::{Done, Run};
use crate::address::Address;
use crate::cell::Cell;
use crate::lane_arithmetic::{self as words, CHOICE, double_shifted, shifted};
use crate::memory::{Pointer, Region};
use crate::{Fault, Rule, unsupported};

/// A word of 32 or 64 bits.
pub type Word = Vec<Cell>;

/// Bits of a word.
pub fn size(wide: bool) -> usize {
    if wide { 64 } else { 32 }
}

/// The offset of a signed return address, with the stack pointer at entry.
const SIGNED: i64 = 1 << 62;

/// The largest alignment that is asked for.
const PAGE: u64 = 4096;

/// Numbers of which the offsets of two pointers into one region have the same differences.
const MIDDLE: i64 = 1 << 62;

impl Run<'_, '_> {
    /// A register, where 31 is zero.
    pub fn value(&self, register: Register) -> Value {
        match register {
            SP => Value::Bits(Box::new([self.world.bits.constant(false); 64])),
            _ => self.aarch64.general[register].clone(),
        }
    }

    /// The same where 31 is the stack pointer.
    pub fn value_or_stack(&self, register: Register) -> Value {
        self.aarch64.general[register].clone()
    }

    /// Writes a register; 31 takes nothing.
    pub fn set(&mut self, register: Register, value: Value) {
        if register != SP {
            self.aarch64.general[register] = value;
        }
    }

    /// Writes a register or the stack pointer.
    pub fn set_or_stack(&mut self, register: Register, value: Value) {
        self.aarch64.general[register] = value;
    }

    /// A word with zeros above.
    pub fn extended(&self, cells: &[Cell]) -> Value {
        let mut all = [self.world.bits.constant(false); 64];
        all[..cells.len()].copy_from_slice(cells);
        Value::Bits(Box::new(all))
    }

    pub fn set_bits(&mut self, register: Register, cells: &[Cell]) {
        let value = self.extended(cells);
        self.set(register, value);
    }

    /// The bits of a value.
    pub fn bits_of(&self, value: &Value, wide: bool) -> Result<Word, Fault> {
        let cells = value.cells().ok_or_else(|| unsupported("an address in arithmetic"))?;
        Ok(cells[..size(wide)].to_vec())
    }

    /// The bits of a register.
    pub fn word(&self, register: Register, wide: bool) -> Result<Word, Fault> {
        self.bits_of(&self.value(register), wide)
    }

    pub fn number(&self, value: u64, wide: bool) -> Word {
        self.world.bits.number(value, size(wide))
    }

    fn shifted(&self, operand: Shifted, wide: bool) -> Result<Value, Fault> {
        let Shifted { register, shift, count } = operand;
        let value = self.value(register);
        if count == 0 {
            return Ok(value);
        }
        let cells = self.bits_of(&value, wide)?;
        Ok(self.extended(&self.moved(&cells, shift, count)))
    }

    fn moved(&self, cells: &[Cell], shift: Shift, count: usize) -> Word {
        let shift = match shift {
            Shift::Left => words::Shift::Left,
            Shift::Right => words::Shift::Right,
            Shift::Arithmetic => words::Shift::Arithmetic,
            Shift::Rotate => words::Shift::RotateRight,
        };
        shifted(cells, self.world.bits.constant(false), shift, count as u64)
    }

    /// The lowest bits of a word, extended.
    pub fn extend(&self, value: &Value, extend: Extend, wide: bool) -> Result<Value, Fault> {
        if extend.bits == size(wide) {
            return Ok(value.clone());
        }
        let cells = self.bits_of(value, wide)?;
        let low = &cells[..extend.bits.min(cells.len())];
        let zero = self.world.bits.constant(false);
        let above = if extend.signed { low[low.len() - 1] } else { zero };
        let word: Word = (0..size(wide)).map(|at| low.get(at).copied().unwrap_or(above)).collect();
        Ok(self.extended(&word))
    }

    pub fn operate(&mut self, instruction: Instruction) -> Done {
        use Instruction::*;
        match instruction {
            Nothing { .. } => Ok(()),
            Sign { checks } => self.sign(checks),
            AddImmediate { wide, subtracts, flags, to, from, value } => {
                let a = self.value_or_stack(from);
                let b = self.extended(&self.number(value, true));
                self.add_to((wide, subtracts, flags), to, !flags, a, b)
            }
            Add { wide, subtracts, flags, to, a, b } => {
                let (a, b) = (self.value(a), self.shifted(b, wide)?);
                self.add_to((wide, subtracts, flags), to, false, a, b)
            }
            AddExtended { wide, subtracts, flags, to, a, b, extend, count } => {
                let a = self.value_or_stack(a);
                let mut b = self.extend(&self.value(b), extend, wide)?;
                if count > 0 {
                    let cells = self.bits_of(&b, wide)?;
                    b = self.extended(&self.moved(&cells, Shift::Left, count));
                }
                self.add_to((wide, subtracts, flags), to, !flags, a, b)
            }
            AddCarry { wide, subtracts, flags, to, a, b } => {
                let (a, b) = (self.word(a, wide)?, self.word(b, wide)?);
                let before = self.aarch64.flags.carry(&self.world.bits)?;
                let bits = &mut self.world.bits;
                let (result, carry) = match subtracts {
                    true => {
                        let (result, borrow) = bits.difference_with(&a, &b, bits.not(before));
                        (result, bits.not(borrow))
                    }
                    false => bits.sum_with(&a, &b, before),
                };
                self.set_bits(to, &result);
                if flags {
                    let with_carry = true;
                    self.aarch64.flags = Flags::Sum { subtracts, with_carry, a, b, result, carry };
                }
                Ok(())
            }
            LogicImmediate { wide, logic, flags, to, from, value } => {
                let (a, b) = (self.value(from), self.extended(&self.number(value, wide)));
                let result = match a {
                    // Bits that are zero in an aligned address.
                    Value::Pointer(at)
                        if wide
                            && logic == self::Logic::Or
                            && value < PAGE
                            && self.world.is_aligned(
                                Address::Pointer(at),
                                (value + 1).next_power_of_two(),
                            ) =>
                    {
                        Value::Pointer(at.plus(value as i64))
                    }
                    a => self.logic(wide, logic, &a, &b)?,
                };
                if flags {
                    self.aarch64.flags = Flags::Logic { result: self.bits_of(&result, wide)? };
                    self.set(to, result);
                } else {
                    self.set_or_stack(to, result);
                }
                Ok(())
            }
            Logic { wide, logic, inverts, flags, to, a, b } => {
                let (a, mut b) = (self.value(a), self.shifted(b, wide)?);
                if inverts {
                    let cells = self.bits_of(&b, wide)?;
                    let other: Word = cells.iter().map(|&cell| self.world.bits.not(cell)).collect();
                    b = self.extended(&other);
                }
                let result = self.logic(wide, logic, &a, &b)?;
                if flags {
                    self.aarch64.flags = Flags::Logic { result: self.bits_of(&result, wide)? };
                }
                self.set(to, result);
                Ok(())
            }
            Constant { wide, constant, to, value, shift } => {
                self.constant(wide, constant, to, value << shift, shift)
            }
            Field { wide, field, to, from, right, top } => {
                self.field(wide, field, to, from, (right, top))
            }
            Extract { wide, to, high, low, at } => {
                let (high, low) = (self.word(high, wide)?, self.word(low, wide)?);
                self.set_bits(to, &double_shifted(&low, &high, false, at));
                Ok(())
            }
            ShiftBy { wide, shift, to, from, count } => {
                let from = self.word(from, wide)?;
                let count = self.word(count, wide)?;
                let used = &count[..size(wide).ilog2() as usize];
                let count = self.world.bits.word(used).ok_or_else(|| {
                    let secret = "the count of a shift depends on an input";
                    let other = "a shift by an unknown count";
                    self.world.unknown(used, Rule::SecretShift, secret, other)
                })?;
                self.set_bits(to, &self.moved(&from, shift, count as usize));
                Ok(())
            }
            One { wide, one, to, from } => {
                let from = self.word(from, wide)?;
                let word: Word = match one {
                    self::One::Bits => from.iter().rev().copied().collect(),
                    self::One::Bytes(part) => from
                        .chunks(part)
                        .flat_map(|part| part.rchunks(8).flatten())
                        .copied()
                        .collect(),
                    self::One::LeadingZeros => self.leading_zeros(&from),
                };
                self.set_bits(to, &word);
                Ok(())
            }
            Divide { wide, signed, to, a, b } => self.divide((wide, signed), to, a, b),
            MultiplyAdd { wide, subtracts, to, a, b, c } => {
                let (a, b) = (self.word(a, wide)?, self.word(b, wide)?);
                let product = self.world.bits.product(&a, &b);
                self.add_product((wide, subtracts), to, product, c)
            }
            MultiplyLong { signed, subtracts, to, a, b, c } => {
                let [a, b] = [a, b].map(|factor| -> Result<Word, Fault> {
                    let low = self.extended(&self.word(factor, false)?);
                    let long = self.extend(&low, Extend { signed, bits: 32 }, true)?;
                    self.bits_of(&long, true)
                });
                let product = self.world.bits.product(&a?, &b?);
                self.add_product((true, subtracts), to, product, c)
            }
            MultiplyHigh { signed, to, a, b } => {
                let (a, b) = (self.word(a, true)?, self.word(b, true)?);
                let bits = &mut self.world.bits;
                let high = match signed {
                    false => bits.whole_product(&a, &b),
                    true => words::whole_signed_product(bits, &a, &b),
                };
                self.set_bits(to, &high[64..]);
                Ok(())
            }
            Select { wide, choice, to, a, b, condition } => {
                self.select((wide, choice), to, [a, b], condition)
            }
            CompareIf { wide, subtracts, a, b, otherwise, condition } => {
                self.compare_if((wide, subtracts), (a, b), otherwise, condition)
            }
            _ => Err(unsupported("the use of the instruction is not modelled")),
        }
    }

    /// Signs the return address, or checks its signature; processors without signatures do nothing.
    ///
    /// A signed address is no return address, and has the offset of the stack pointer with which it has
    /// been signed.
    fn sign(&mut self, checks: bool) -> Done {
        let stack = self.aarch64.stack()?;
        let plain = Pointer { region: Region::Caller, offset: 0 };
        let signed = Pointer { offset: SIGNED + stack, ..plain };
        let (before, after) = if checks { (signed, plain) } else { (plain, signed) };
        if self.value(LINK) != Value::Pointer(before) {
            return Err(unsupported("the signature of another address than the return address"));
        }
        self.set(LINK, Value::Pointer(after));
        Ok(())
    }

    /// A sum or difference, which may set flags, and whose result may be the stack pointer.
    fn add_to(
        &mut self,
        (wide, subtracts, flags): (bool, bool, bool),
        to: Register,
        stack: bool,
        a: Value,
        b: Value,
    ) -> Done {
        let result = match (&a, &b) {
            (Value::Pointer(at), Value::Bits(by)) | (Value::Bits(by), Value::Pointer(at))
                if wide && (!subtracts || matches!(a, Value::Pointer(_))) && !flags =>
            {
                self.moved_pointer(*at, &by[..], !subtracts)?
            }
            // Whether an address is zero: no buffer is there.
            (Value::Pointer(at), Value::Bits(zero))
                if wide
                    && flags
                    && to == SP
                    && self.world.bits.word(&zero[..]) == Some(0)
                    && self.world.is_near(at) =>
            {
                let one = self.number(1, true);
                return self.sum(subtracts, flags, to, stack, (one, zero.to_vec()));
            }
            (Value::Pointer(a), Value::Pointer(b)) if wide && subtracts && a.region == b.region => {
                if !flags {
                    let distance = a.offset.wrapping_sub(b.offset) as u64;
                    self.extended(&self.number(distance, true))
                } else if self.world.is_near(a) && self.world.is_near(b) {
                    let [a, b] = [a, b].map(|at| self.number((at.offset + MIDDLE) as u64, true));
                    return self.sum(subtracts, flags, to, stack, (a, b));
                } else {
                    return Err(unsupported("a comparison of addresses"));
                }
            }
            _ => {
                let words = (self.bits_of(&a, wide)?, self.bits_of(&b, wide)?);
                return self.sum(subtracts, flags, to, stack, words);
            }
        };
        match stack {
            true => self.set_or_stack(to, result),
            false => self.set(to, result),
        }
        Ok(())
    }

    /// A pointer that is moved up or down by a known number.
    fn moved_pointer(&self, at: Pointer, by: &[Cell], is_up: bool) -> Result<Value, Fault> {
        let by = self.world.bits.word(by).ok_or_else(|| {
            let secret = "an address depends on an input";
            self.world.unknown(by, Rule::SecretAddress, secret, "a sum with an unknown number")
        })? as i64;
        if !self.world.is_movable(at) || at.region == Region::Caller {
            return Err(unsupported("a sum with an address of code"));
        }
        Ok(Value::Pointer(at.plus(if is_up { by } else { by.wrapping_neg() })))
    }

    fn sum(
        &mut self,
        subtracts: bool,
        flags: bool,
        to: Register,
        stack: bool,
        (a, b): (Word, Word),
    ) -> Done {
        let bits = &mut self.world.bits;
        let is_zero = |word: &[Cell]| bits.word(word) == Some(0);
        let (result, carry) = if is_zero(&b) && !flags {
            (a.clone(), bits.constant(false))
        } else if subtracts {
            let (result, borrow) = bits.difference(&a, &b);
            (result, bits.not(borrow))
        } else {
            bits.sum(&a, &b, false)
        };
        let value = self.extended(&result);
        match stack {
            true => self.set_or_stack(to, value),
            false => self.set(to, value),
        }
        if flags {
            let with_carry = false;
            self.aarch64.flags = Flags::Sum { subtracts, with_carry, a, b, result, carry };
        }
        Ok(())
    }

    /// A register plus or minus a product; it may be an address.
    fn add_product(
        &mut self,
        (wide, subtracts): (bool, bool),
        to: Register,
        product: Word,
        c: Register,
    ) -> Done {
        let c = self.value(c);
        let is_zero = |value: &Value| {
            value.cells().is_some_and(|cells| self.world.bits.word(&cells) == Some(0))
        };
        if is_zero(&c) && !subtracts {
            self.set_bits(to, &product);
            return Ok(());
        }
        let product = self.extended(&product);
        self.add_to((wide, subtracts, false), to, false, c, product)
    }

    fn logic(&mut self, wide: bool, logic: Logic, a: &Value, b: &Value) -> Result<Value, Fault> {
        // A move, perhaps of an address.
        let is_zero = |value: &Value| {
            value.cells().is_some_and(|cells| self.world.bits.word(&cells) == Some(0))
        };
        if logic == Logic::Or && wide && is_zero(a) {
            return Ok(b.clone());
        }
        let (a, b) = (self.bits_of(a, wide)?, self.bits_of(b, wide)?);
        let bits = &mut self.world.bits;
        let each = a.iter().zip(&b).map(|(&a, &b)| match logic {
            Logic::And => bits.and(a, b),
            Logic::Or => bits.or(a, b),
            Logic::Xor => bits.xor(a, b),
        });
        let word: Word = each.collect();
        Ok(self.extended(&word))
    }

    fn constant(
        &mut self,
        wide: bool,
        constant: Constant,
        to: Register,
        value: u64,
        shift: usize,
    ) -> Done {
        let word = match constant {
            Constant::Zeros => self.number(value, wide),
            Constant::Complement => self.number(!value, wide),
            Constant::Keep => {
                let mut word = self.word(to, wide)?;
                let part = self.number(value, wide);
                word[shift..shift + 16].copy_from_slice(&part[shift..shift + 16]);
                word
            }
        };
        self.set_bits(to, &word);
        Ok(())
    }

    fn field(
        &mut self,
        wide: bool,
        field: Field,
        to: Register,
        from: Register,
        (right, top): (usize, usize),
    ) -> Done {
        let cells = self.word(from, wide)?;
        let zero = self.world.bits.constant(false);
        let (from, at) = match top >= right {
            true => (&cells[right..=top], 0),
            false => (&cells[..=top], size(wide) - right),
        };
        let mut word = match field {
            Field::Inserted => self.word(to, wide)?,
            Field::Unsigned => vec![zero; size(wide)],
            Field::Signed => {
                let sign = from[from.len() - 1];
                let end = at + from.len();
                (0..size(wide)).map(|bit| if bit < end { zero } else { sign }).collect()
            }
        };
        word[at..at + from.len()].copy_from_slice(from);
        self.set_bits(to, &word);
        Ok(())
    }

    /// The number of zeros above the highest one of a word.
    fn leading_zeros(&mut self, word: &[Cell]) -> Word {
        words::leading_zeros(&mut self.world.bits, word)
    }

    fn divide(
        &mut self,
        (wide, signed): (bool, bool),
        to: Register,
        a: Register,
        b: Register,
    ) -> Done {
        let (a, b) = (self.word(a, wide)?, self.word(b, wide)?);
        let bits = &self.world.bits;
        let (Some(x), Some(y)) = (bits.word(&a), bits.word(&b)) else {
            let secret = "the time of the instruction depends on an input";
            let other = "the operands of the division are not known";
            let both = [a, b].concat();
            return Err(self.world.unknown(&both, Rule::SecretOperand, secret, other));
        };
        let sign = |x: u64| if wide { x as i64 } else { i64::from(x as u32 as i32) };
        let quotient = match (y, signed) {
            (0, _) => 0,
            (_, false) => x / y,
            (_, true) => sign(x).wrapping_div(sign(y)) as u64,
        };
        let word = self.number(quotient, wide);
        self.set_bits(to, &word);
        Ok(())
    }

    fn select(
        &mut self,
        (wide, choice): (bool, Choice),
        to: Register,
        [a, b]: [Register; 2],
        condition: Condition,
    ) -> Done {
        let holds = self.aarch64.flags.holds(&mut self.world.bits, condition)?;
        let first = self.value(a);
        if a == b && choice == Choice::Increment {
            // The sum with a bit, such as a carry.
            let word = self.bits_of(&first, wide)?;
            let bits = &mut self.world.bits;
            let one = bits.not(holds);
            let mut sum = bits.number(0, size(wide));
            match bits.word(&word) {
                Some(0) => sum[0] = one,
                _ => sum = bits.sum_with(&word, &sum, one).0,
            }
            self.set_bits(to, &sum);
            return Ok(());
        }
        let second = match choice {
            Choice::Plain => self.value(b),
            _ => {
                let b = self.word(b, wide)?;
                let bits = &mut self.world.bits;
                let word = match choice {
                    Choice::Increment => {
                        let one = bits.number(1, size(wide));
                        bits.sum(&b, &one, false).0
                    }
                    Choice::Negate => {
                        let zero = bits.number(0, size(wide));
                        bits.difference(&zero, &b).0
                    }
                    _ => b.iter().map(|&cell| bits.not(cell)).collect(),
                };
                self.extended(&word)
            }
        };
        let chosen = match self.world.bits.value(holds) {
            Some(holds) => {
                let value = if holds { first } else { second };
                match wide {
                    true => value,
                    false => self.extended(&self.bits_of(&value, false)?),
                }
            }
            None => {
                let (a, b) = (self.bits_of(&first, wide)?, self.bits_of(&second, wide)?);
                let bits = &mut self.world.bits;
                let chosen = a.iter().zip(&b).map(|(&a, &b)| bits.function(CHOICE, [holds, a, b]));
                let chosen: Word = chosen.collect();
                self.extended(&chosen)
            }
        };
        self.set(to, chosen);
        Ok(())
    }

    fn compare_if(
        &mut self,
        (wide, subtracts): (bool, bool),
        (a, b): (Register, Operand),
        otherwise: u8,
        condition: Condition,
    ) -> Done {
        let holds = self.aarch64.flags.holds(&mut self.world.bits, condition)?;
        let given = [3, 2, 1, 0].map(|at| self.world.bits.constant(otherwise >> at & 1 == 1));
        if self.world.bits.value(holds) == Some(false) {
            self.aarch64.flags = Flags::Given(given);
            return Ok(());
        }
        let a = self.value(a);
        let b = match b {
            Operand::Register(b) => self.value(b),
            Operand::Immediate(value) => self.extended(&self.number(value, true)),
        };
        self.add_to((wide, subtracts, true), SP, false, a, b)?;
        if self.world.bits.value(holds).is_none() {
            let bits = &mut self.world.bits;
            let made = self.aarch64.flags.all(bits)?;
            let mut flags = given;
            for (flag, made) in flags.iter_mut().zip(made) {
                *flag = bits.function(CHOICE, [holds, made, *flag]);
            }
            self.aarch64.flags = Flags::Given(flags);
        }
        Ok(())
    }
}
