//! Arithmetic on general-purpose registers.
//!
//! ```text
//! add  x0, x1, x2, lsl #3
//! umulh x3, x1, x2
//! bic  x0, x1, x2
//! ```

use usuba_decode::aarch64::{Extend, Instruction, Logic, One, Register, Shift, Shifted};

use super::flag_bits::Flags;
use super::register_file::{LINK, SP};
use super::{Done, Run};
use crate::address::Address;
use crate::flags::{Flag, Flags as SharedFlags};
use crate::memory::{Moving, Pointer, Region};
use crate::word::{Binary, Word, numbers};
use crate::{Fault, Rule, unsupported};
use usuba_bits::cell::Cell;
use usuba_bits::lane_arithmetic::{self as words, double_shifted, shifted};
use usuba_ranges::Form;

/// The bits of a word of 32 or 64 bits.
pub type Cells = Vec<Cell>;

/// Bits of a word.
pub fn size(wide: bool) -> usize {
    if wide { 64 } else { 32 }
}

/// The offset of a signed return address is this one, the stack pointer times the next one, and the
/// offset of the return address.
const SIGNED: i64 = 1 << 62;
const STACK: i64 = 1 << 33;

/// The largest alignment that is asked for.
const PAGE: u64 = 4096;

/// Numbers of which the offsets of two pointers into one region have the same differences.
const MIDDLE: i64 = 1 << 62;

/// Why a word has no bits.
const ADDRESS: &str = "an address in arithmetic";

impl Run<'_, '_> {
    /// A register, where 31 is zero.
    pub fn value(&self, register: Register) -> Word {
        match register {
            SP => Word::Number(0),
            _ => self.aarch64.general[register].clone(),
        }
    }

    /// The same where 31 is the stack pointer.
    pub fn value_or_stack(&self, register: Register) -> Word {
        self.aarch64.general[register].clone()
    }

    /// Writes a register; 31 takes nothing.
    pub fn set(&mut self, register: Register, word: Word) {
        if register != SP {
            self.set_or_stack(register, word);
        }
    }

    /// Writes a register or the stack pointer.
    pub fn set_or_stack(&mut self, register: Register, mut word: Word) {
        self.name_single(&mut word);
        self.aarch64.general[register] = word;
    }

    /// Names the only bit of a word that is not known, where branches on it are followed.
    fn name_single(&mut self, word: &mut Word) {
        if let (Word::Bits(cells), true) = (word, self.world.forks.follows) {
            self.world.bits.name_single(&mut cells[..]);
        }
    }

    /// Names the only bit of a register that is not known before it is tested: a join of paths leaves
    /// the bit of a status without its name.
    pub fn name_tested(&mut self, register: Register) {
        let mut word = std::mem::replace(&mut self.aarch64.general[register], Word::Number(0));
        self.name_single(&mut word);
        self.aarch64.general[register] = word;
    }

    /// A word with zeros above.
    pub fn extended(&self, cells: &[Cell]) -> Word {
        Word::from_cells(&self.world.bits, cells)
    }

    pub fn set_bits(&mut self, register: Register, cells: &[Cell]) {
        let word = self.extended(cells);
        self.set(register, word);
    }

    /// The lowest bits of a word, with zeros above.
    pub fn low(&self, word: Word, wide: bool) -> Word {
        self.world.truncated(word, size(wide) / 8)
    }

    /// The bits of a word.
    pub fn bits_of(&self, word: &Word, wide: bool) -> Result<Cells, Fault> {
        Ok(self.world.data(word, ADDRESS)?[..size(wide)].to_vec())
    }

    /// The bits of a register.
    pub fn word(&self, register: Register, wide: bool) -> Result<Cells, Fault> {
        self.bits_of(&self.value(register), wide)
    }

    /// The bits of a number.
    pub fn number(&self, value: u64, wide: bool) -> Cells {
        self.world.bits.number(value, size(wide))
    }

    fn shifted(&mut self, operand: Shifted, wide: bool) -> Result<Word, Fault> {
        let Shifted { register, shift, count } = operand;
        let word = self.value(register);
        self.moved(word, shift, count, wide)
    }

    pub fn moved(
        &mut self,
        word: Word,
        by: Shift,
        count: usize,
        wide: bool,
    ) -> Result<Word, Fault> {
        let by = match by {
            Shift::Left => words::Shift::Left,
            Shift::Right => words::Shift::Right,
            Shift::Arithmetic => words::Shift::Arithmetic,
            Shift::Rotate => words::Shift::RotateRight,
        };
        match self.low(word, wide) {
            word if count == 0 => Ok(word),
            Word::Count(form) => self.world.shifted_count(form, (by, count), size(wide) / 8),
            word => {
                let cells = self.bits_of(&word, wide)?;
                let zero = self.world.bits.constant(false);
                Ok(self.extended(&shifted(&cells, zero, by, count as u64)))
            }
        }
    }

    /// The lowest bits of a word, extended.
    pub fn extend(&self, word: Word, extend: Extend, wide: bool) -> Result<Word, Fault> {
        let (from, to) = (extend.bits / 8, size(wide) / 8);
        let low = self.world.truncated(word, from.min(to));
        match extend.signed && from < to {
            true => self.world.sign_extended(&low, from, to),
            false => Ok(low),
        }
    }

    /// The conjunction of a word and a number.
    pub fn masked(&mut self, word: Word, mask: u64, wide: bool) -> Result<Word, Fault> {
        self.logic(wide, Logic::And, &word, &Word::Number(mask)).map(|(word, _)| word)
    }

    pub fn operate(&mut self, instruction: Instruction) -> Done {
        use Instruction::*;
        match instruction {
            Nothing { .. } => Ok(()),
            Sign { checks } => self.sign(checks),
            AddImmediate { wide, subtracts, flags, to, from, value } => {
                if subtracts && flags && from != SP {
                    self.name_tested(from);
                    self.number_compared(from, &Word::Number(value), wide);
                }
                let a = self.value_or_stack(from);
                self.add_to((wide, subtracts, flags), to, !flags, a, Word::Number(value))
            }
            Add { wide, subtracts, flags, to, a, b } => {
                if subtracts && flags {
                    self.number_both(a, b, wide);
                }
                // The value does not matter.
                let is_zero = subtracts && a == b.register && b.count == 0;
                let (a, b) = match is_zero {
                    true => (Word::Number(0), Word::Number(0)),
                    false => (self.value(a), self.shifted(b, wide)?),
                };
                self.add_to((wide, subtracts, flags), to, false, a, b)
            }
            AddExtended { wide, subtracts, flags, to, a, b, extend, count } => {
                let a = self.value_or_stack(a);
                let b = self.extend(self.value(b), extend, wide)?;
                let b = self.moved(b, Shift::Left, count, wide)?;
                self.add_to((wide, subtracts, flags), to, !flags, a, b)
            }
            AddCarry { wide, subtracts, flags, to, a, b } => {
                let (a, b) = (self.word(a, wide)?, self.word(b, wide)?);
                let before = self.carry()?;
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
                if flags && from != SP {
                    self.name_tested(from);
                }
                let a = self.value(from);
                let result = match a {
                    // Bits that are zero in an aligned address.
                    Word::Pointer(at)
                        if wide
                            && logic == self::Logic::Or
                            && value < PAGE
                            && self.world.is_aligned(
                                Address::Pointer(at),
                                (value + 1).next_power_of_two(),
                            ) =>
                    {
                        Word::Pointer(at.plus(value as i64))
                    }
                    a => {
                        let (result, found) = self.logic(wide, logic, &a, &Word::Number(value))?;
                        if flags {
                            self.aarch64.flags = found;
                        }
                        result
                    }
                };
                match flags {
                    true => self.set(to, result),
                    false => self.set_or_stack(to, result),
                }
                Ok(())
            }
            Logic { wide, logic, inverts, flags, to, a, b } => {
                if flags && a != SP {
                    self.name_tested(a);
                }
                // The value does not matter.
                if logic == self::Logic::Xor && a == b.register && b.count == 0 {
                    self.set(
                        to,
                        Word::Number(if inverts { u64::MAX >> (64 - size(wide)) } else { 0 }),
                    );
                    return Ok(());
                }
                let (a, mut b) = (self.value(a), self.shifted(b, wide)?);
                if inverts {
                    b = self.complement(b, wide)?;
                }
                let (result, found) = self.logic(wide, logic, &a, &b)?;
                if flags {
                    self.aarch64.flags = found;
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
                let from = self.value(from);
                let count = self.word(count, wide)?;
                let used = &count[..size(wide).ilog2() as usize];
                let count = self.world.bits.word(used).ok_or_else(|| {
                    let secret = "the count of a shift depends on an input";
                    let other = "a shift by an unknown count";
                    self.world.unknown(used, Rule::SecretShift, secret, other)
                })?;
                let result = self.moved(from, shift, count as usize, wide)?;
                self.set(to, result);
                Ok(())
            }
            One { wide, one, to, from } => {
                let from = self.word(from, wide)?;
                let word: Cells = match one {
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
                let factors = [a, b].map(|factor| self.value(factor));
                if let Some(rest) = self.remainder(&self.value(c), factors.each_ref())
                    && (wide, subtracts) == (true, true)
                {
                    self.set(to, rest);
                    return Ok(());
                }
                let product = self.product(factors, wide)?;
                self.add_product((wide, subtracts), to, product, c)
            }
            MultiplyLong { signed, subtracts, to, a, b, c } => {
                let extend = Extend { signed, bits: 32 };
                let [a, b] = [a, b].map(|factor| self.extend(self.value(factor), extend, true));
                let product = self.product([a?, b?], true)?;
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
    /// A signed address is no return address: its offset has the stack pointer with which it has been
    /// signed.
    fn sign(&mut self, checks: bool) -> Done {
        let signature = SIGNED + self.aarch64.stack()? * STACK;
        let other = || unsupported("the signature of another address than the return address");
        let Word::Pointer(at) = self.value(LINK) else { return Err(other()) };
        let plain = if checks { at.offset.wrapping_sub(signature) } else { at.offset };
        let is_code = match at.region {
            Region::Caller | Region::Return => plain == 0,
            Region::Section(_) => (0..STACK).contains(&plain),
            _ => false,
        };
        if !is_code {
            return Err(other());
        }
        let offset = if checks { plain } else { plain + signature };
        self.set(LINK, Word::Pointer(Pointer { offset, ..at }));
        Ok(())
    }

    /// A sum or difference, which may set flags, and whose result may be the stack pointer.
    pub fn add_to(
        &mut self,
        (wide, subtracts, flags): (bool, bool, bool),
        to: Register,
        stack: bool,
        a: Word,
        b: Word,
    ) -> Done {
        let (a, b) = (self.low(a, wide), self.low(b, wide));
        let is_return = |word: &Word| match word {
            Word::Pointer(Pointer { region: Region::Section(_), offset }) => *offset >= SIGNED / 2,
            Word::Pointer(at) => matches!(at.region, Region::Caller | Region::Return),
            _ => false,
        };
        if [&a, &b].into_iter().any(is_return) && !flags {
            return Err(unsupported("a sum with a return address"));
        }
        if let (Word::Pointer(_) | Word::Moving(_), Word::Bits(cells))
        | (Word::Bits(cells), Word::Pointer(_) | Word::Moving(_)) = (&a, &b)
            && !flags
        {
            let secret = "an address depends on an input";
            let other = "a sum with an unknown number";
            return Err(self.world.unknown(&cells[..], Rule::SecretAddress, secret, other));
        }
        let operation = if subtracts { Binary::Subtract } else { Binary::Add };
        let made = match (&a, &b) {
            (_, Word::Number(0)) if !flags => Ok((a, SharedFlags::UNDEFINED)),
            // Addresses of one region have an order where they are in it.
            (&Word::Pointer(a), &Word::Pointer(b))
                if subtracts && flags && a.region == b.region =>
            {
                let place =
                    |at: Pointer| Moving { region: at.region, offset: Form::number(at.offset) };
                if [a, b].iter().all(|&at| self.world.is_inside(place(at))) {
                    let [a, b] = [a, b].map(|at| (at.offset + MIDDLE) as u64);
                    Ok(numbers(operation, a, b, 8))
                } else {
                    let zero = Flag::Is(a.offset == b.offset);
                    let distance = Word::Number(a.offset.wrapping_sub(b.offset) as u64);
                    Ok((distance, SharedFlags { zero, ..SharedFlags::UNDEFINED }))
                }
            }
            _ => match self.world.public(operation, [&a, &b], size(wide) / 8) {
                Some(made) => made,
                None => return self.sum((wide, subtracts, flags), to, stack, [&a, &b]),
            },
        };
        let (result, found) = made?;
        if flags {
            // The carry of a sum, or the complement of a borrow.
            let carry = if subtracts { found.carry } else { found.carry.inverted() };
            self.aarch64.flags = Flags::Public(Box::new(SharedFlags { carry, ..found }));
        }
        let result = self.low(result, wide);
        match stack {
            true => self.set_or_stack(to, result),
            false => self.set(to, result),
        }
        Ok(())
    }

    /// Makes a public word in a register that is compared a number of its own.
    fn number_compared(&mut self, register: Register, other: &Word, wide: bool) {
        // Its upper half must be zero, too.
        let word = self.value(register);
        if self.world.forks.follows
            && let Some(form) = self.world.numbered(&word, other, size(wide) / 8)
        {
            self.set(register, Word::Count(form));
        }
    }

    /// The same of two registers that are compared.
    fn number_both(&mut self, a: Register, b: Shifted, wide: bool) {
        if a != SP {
            self.name_tested(a);
        }
        if b.count == 0 {
            let other = self.low(self.value(b.register), wide);
            self.number_compared(a, &other, wide);
            let other = self.low(self.value(a), wide);
            self.number_compared(b.register, &other, wide);
        }
    }

    /// A sum or difference of bits.
    fn sum(
        &mut self,
        (wide, subtracts, flags): (bool, bool, bool),
        to: Register,
        stack: bool,
        words: [&Word; 2],
    ) -> Done {
        let [a, b] = words.map(|word| self.bits_of(word, wide));
        let (a, b) = (a?, b?);
        let bits = &mut self.world.bits;
        let (result, carry) = if subtracts {
            let (result, borrow) = bits.difference(&a, &b);
            (result, bits.not(borrow))
        } else {
            bits.sum(&a, &b, false)
        };
        let word = self.extended(&result);
        match stack {
            true => self.set_or_stack(to, word),
            false => self.set(to, word),
        }
        if flags {
            let with_carry = false;
            self.aarch64.flags = Flags::Sum { subtracts, with_carry, a, b, result, carry };
        }
        Ok(())
    }

    pub fn complement(&mut self, word: Word, wide: bool) -> Result<Word, Fault> {
        match self.low(word, wide) {
            Word::Count(form) => self.world.turned(form, size(wide) / 8),
            word => {
                let cells = self.bits_of(&word, wide)?;
                let other: Cells = cells.iter().map(|&cell| self.world.bits.not(cell)).collect();
                Ok(self.extended(&other))
            }
        }
    }

    /// A logical operation, and its flags.
    pub fn logic(
        &mut self,
        wide: bool,
        logic: Logic,
        a: &Word,
        b: &Word,
    ) -> Result<(Word, Flags), Fault> {
        // A move, perhaps of an address.
        if logic == Logic::Or && *a == Word::Number(0) {
            return Ok((self.low(b.clone(), wide), Flags::Unset));
        }
        let (a, b) = (self.low(a.clone(), wide), self.low(b.clone(), wide));
        let operation = match logic {
            Logic::And => Binary::And,
            Logic::Or => Binary::Or,
            Logic::Xor => Binary::Xor,
        };
        if let Some(made) = self.world.public(operation, [&a, &b], size(wide) / 8) {
            let (word, found) = made?;
            // The carry is zero, which is no borrow's.
            let (carry, overflow) = (Flag::Is(true), Flag::Is(false));
            let found = SharedFlags { carry, overflow, ..found };
            return Ok((word, Flags::Public(Box::new(found))));
        }
        let (a, b) = (self.bits_of(&a, wide)?, self.bits_of(&b, wide)?);
        let bits = &mut self.world.bits;
        let each = a.iter().zip(&b).map(|(&a, &b)| match logic {
            Logic::And => bits.and(a, b),
            Logic::Or => bits.or(a, b),
            Logic::Xor => bits.xor(a, b),
        });
        let result: Cells = each.collect();
        Ok((self.extended(&result), Flags::Logic { result }))
    }
}
