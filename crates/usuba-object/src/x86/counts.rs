//! Numbers and addresses that depend on how many blocks there are.
//!
//! ```text
//! add rsi, 1024      in + 1024 t becomes in + 1024 t + 1024
//! and ecx, 127       128 q + r becomes r
//! cmp rcx, 127       flags of the comparison of two forms
//! ja  loop           taken if 128 q + r - 128 >= 0: q >= 1, or q is to be told apart first
//! ```

use iced_x86::{ConditionCode, Instruction, Register};

use super::operands::{Address, number};
use super::registers::{Flag, Flags, Word};
use super::scalar::{Binary, Shift};
use super::{X86, unsupported};
use crate::cell::Cell;
use crate::memory::{Moving, Pointer, Region};
use crate::symbolic_count::{Form, Range, Ranges, Verdict};
use crate::{Fault, World};

/// What an operation on a count makes, and its flags.
type Made = Result<(Word, Flags), Fault>;

fn ranges(world: &World) -> Ranges {
    world.memory.stream.as_ref().map_or_else(Ranges::default, |stream| stream.ranges)
}

fn too_large() -> Fault {
    unsupported("a number of blocks becomes too large")
}

/// Whether a form always fits into so many bits.
pub fn is_within(world: &World, form: Form, bits: u32) -> bool {
    let (low, high) = ranges(world).bounds(form);
    low >= 0 && high < 1 << bits
}

/// The lowest bytes of a count.
pub fn low(world: &World, form: Form, bytes: usize) -> Word {
    match bytes {
        8.. => Word::Count(form),
        _ if is_within(world, form, 8 * bytes as u32) => Word::Count(form),
        _ => match ranges(world).divided(form, 1 << (8 * bytes)) {
            Some((_, rest)) => match rest.value() {
                Some(value) => Word::Number(value as u64),
                None => Word::Count(rest),
            },
            None => Word::Low(form, bytes as u8),
        },
    }
}

/// A word that holds a form in its lowest bytes.
fn word(world: &World, form: Option<Form>, bytes: usize) -> Result<Word, Fault> {
    let form = form.and_then(|form| ranges(world).reduced(form)).ok_or_else(too_large)?;
    let ones = u64::MAX >> (64 - 8 * bytes);
    Ok(match form.value() {
        Some(value) => Word::Number(value as u64 & ones),
        None => low(world, form, bytes),
    })
}

/// -x - 1
pub fn turned(world: &World, form: Form, bytes: usize) -> Result<Word, Fault> {
    word(world, Form::number(-1).minus(form), bytes)
}

pub fn multiplied(world: &World, form: Form, factor: u64, bytes: usize) -> Result<Word, Fault> {
    word(world, form.times(factor as i64), bytes)
}

/// The number of a word of so many bytes, from the negative ones on.
fn form(word: &Word, bytes: usize) -> Option<Form> {
    let unused = 64 - 8 * bytes as u32;
    match word {
        Word::Number(value) => Some(Form::number(((value << unused) as i64) >> unused)),
        Word::Count(form) => Some(*form),
        _ => None,
    }
}

/// The region and the offset of an address.
fn place(word: &Word) -> Option<Moving> {
    match *word {
        Word::Pointer(Pointer { region, offset }) => {
            Some(Moving { region, offset: Form::number(offset) })
        }
        Word::Moving(moving) => Some(moving),
        _ => None,
    }
}

fn moved(world: &World, region: Region, offset: Option<Form>) -> Result<Moving, Fault> {
    let offset = offset.and_then(|offset| ranges(world).reduced(offset)).ok_or_else(too_large)?;
    Ok(Moving { region, offset })
}

/// An address that may be at a known offset after all.
pub fn address(moving: Moving) -> Word {
    match (moving.offset.value(), moving.region) {
        (Some(offset), region) if !matches!(region, Region::Stream(_)) => {
            Word::Pointer(Pointer { region, offset })
        }
        _ => Word::Moving(moving),
    }
}

/// The answer to a question, or a fault that says which cases are to be told apart.
fn answer(world: &mut World, verdict: Verdict) -> Result<bool, Fault> {
    match verdict {
        Verdict::Is(is) => Ok(is),
        Verdict::Depends(split) => {
            if let Some(stream) = &mut world.memory.stream {
                stream.split = Some(split);
            }
            Err(unsupported("it depends on the number of blocks"))
        }
    }
}

impl X86 {
    /// Whether a part of a memory operand is a count.
    pub fn is_counted(&self, i: &Instruction) -> bool {
        [i.memory_base(), i.memory_index()].into_iter().any(|register| {
            register != Register::None
                && matches!(
                    self.general(number(register)),
                    Word::Count(_) | Word::Low(..) | Word::Moving(_)
                )
        })
    }

    /// The address of such an operand.
    pub fn counted_address(&self, world: &World, i: &Instruction) -> Result<Address, Fault> {
        let mut sum = Form::number(i.memory_displacement64() as i64);
        let mut region = None;
        let parts = [(i.memory_base(), 1), (i.memory_index(), i.memory_index_scale() as i64)];
        for (register, scale) in parts.into_iter().filter(|part| part.0 != Register::None) {
            let part = self.general(number(register));
            let form = match (form(part, 8), place(part)) {
                (Some(form), _) => form,
                (None, Some(moving)) if region.is_none() && scale == 1 => {
                    region = Some(moving.region);
                    moving.offset
                }
                _ => return Err(unsupported("a part of the address is neither known nor a count")),
            };
            let scaled = form.times(scale).and_then(|form| sum.plus(form));
            sum = scaled.ok_or_else(too_large)?;
        }
        let Some(region) = region else {
            return Ok(match word(world, Some(sum), 8)? {
                Word::Count(form) => Address::Count(form),
                Word::Number(value) => Address::Constant(value),
                _ => unreachable!("a count of 8 bytes is whole"),
            });
        };
        Ok(match address(moved(world, region, Some(sum))?) {
            Word::Pointer(pointer) => Address::Pointer(pointer),
            Word::Moving(moving) => Address::Moving(moving),
            _ => unreachable!("an address"),
        })
    }

    /// Arithmetic of two operands of which one is a count or moves; `None` of others.
    pub(super) fn counted(
        &mut self,
        world: &mut World,
        operation: Binary,
        operands: [&Word; 2],
        bytes: usize,
    ) -> Option<Made> {
        let is_count =
            |word: &&Word| matches!(word, Word::Count(_) | Word::Low(..) | Word::Moving(_));
        // Of addresses in one stream the difference may be known.
        operands.iter().any(is_count).then(|| match [place(operands[0]), place(operands[1])] {
            [None, None] => self.combined_counts(world, operation, operands, bytes),
            places => self.moved_by(world, operation, operands, places),
        })
    }

    fn combined_counts(
        &mut self,
        world: &mut World,
        operation: Binary,
        [a, b]: [&Word; 2],
        bytes: usize,
    ) -> Made {
        if operation == Binary::And {
            let result = self.parted(world, [a, b], bytes)?;
            let flags = self.flags_of_count(world, &result, bytes);
            return Ok((result, flags));
        }
        let (Some(x), Some(y)) = (form(a, bytes), form(b, bytes)) else {
            return Err(unsupported("this arithmetic of a number of blocks is not modelled"));
        };
        match operation {
            Binary::Add => {
                let result = word(world, x.plus(y), bytes)?;
                let flags = self.flags_of_count(world, &result, bytes);
                // The carry is another matter.
                Ok((result, Flags { carry: Flag::Undefined, ..flags }))
            }
            Binary::Subtract => {
                let result = word(world, x.minus(y), bytes)?;
                let fits = |form| bytes == 8 || is_within(world, form, 8 * bytes as u32 - 1);
                let flags = match fits(x) && fits(y) {
                    true => {
                        self.compared = Some((x, y));
                        Flags::all(Flag::Public)
                    }
                    false => Flags::UNDEFINED,
                };
                Ok((result, flags))
            }
            _ => Err(unsupported("this arithmetic of a number of blocks is not modelled")),
        }
    }

    /// The lowest or the highest bits of a count.
    fn parted(&self, world: &mut World, [a, b]: [&Word; 2], bytes: usize) -> Result<Word, Fault> {
        let ones = u64::MAX >> (64 - 8 * bytes);
        let (count, mask) = match (a, b) {
            (Word::Number(mask), count) | (count, Word::Number(mask)) => (count, mask & ones),
            (Word::Count(x), Word::Count(y)) if x == y => return Ok(a.clone()),
            _ => return Err(unsupported("two numbers of blocks are joined bit by bit")),
        };
        let (form, known) = match *count {
            Word::Count(form) => (form, 64),
            Word::Low(form, bytes) => (form, 8 * bytes as u32),
            _ => return Err(unsupported("this arithmetic of an address is not modelled")),
        };
        let (size, low) = match mask {
            _ if mask == ones => return Ok(count.clone()),
            _ if (mask + 1).is_power_of_two() => (mask + 1, true),
            _ if ((mask ^ ones) + 1).is_power_of_two() => ((mask ^ ones) + 1, false),
            _ => return Err(unsupported("bits in the middle of a number of blocks are taken")),
        };
        let whole = low && size.trailing_zeros() <= known;
        if !whole && !(known == 64 && (bytes == 8 || is_within(world, form, 8 * bytes as u32))) {
            return Err(unsupported("bits of a number of blocks are not known"));
        }
        let size = size as i64;
        let Some((quotient, rest)) = ranges(world).divided(form, size) else {
            return Err(self.divided(world, form, size));
        };
        word(world, if low { Some(rest) } else { quotient.times(size) }, bytes)
    }

    /// Asks for cases in which a quotient is a form.
    fn divided(&self, world: &mut World, form: Form, divisor: i64) -> Fault {
        let verdict = ranges(world).quotient(form, divisor);
        match answer(world, verdict) {
            Err(fault) => fault,
            Ok(_) => unsupported("a part of a number of blocks is not known"),
        }
    }

    pub(super) fn shifted_count(
        &self,
        world: &mut World,
        form: Form,
        (shift, count): (Shift, usize),
        bytes: usize,
    ) -> Result<Word, Fault> {
        let divisor = 1i64.checked_shl(count as u32).filter(|divisor| *divisor > 0);
        let divisor = divisor.ok_or_else(too_large)?;
        match shift {
            Shift::Left => word(world, form.times(divisor), bytes),
            Shift::Right | Shift::Arithmetic
                if ranges(world).never_negative(form)
                    || bytes == 8 && shift == Shift::Arithmetic =>
            {
                match ranges(world).divided(form, divisor) {
                    Some((quotient, _)) => word(world, Some(quotient), bytes),
                    None => Err(self.divided(world, form, divisor)),
                }
            }
            _ => Err(unsupported("this shift of a number of blocks is not modelled")),
        }
    }

    /// Flags of a result, as its comparison with zero has them.
    pub(super) fn flags_of_count(&mut self, world: &World, result: &Word, bytes: usize) -> Flags {
        match *result {
            Word::Count(form) => {
                self.compared = Some((form, Form::default()));
                let flags = Flags { overflow: Flag::Undefined, ..Flags::all(Flag::Public) };
                match bytes == 8 || is_within(world, form, 8 * bytes as u32 - 1) {
                    true => flags,
                    false => Flags { sign: Flag::Undefined, ..flags },
                }
            }
            // Of the sign nobody knows how long the word is.
            Word::Number(value) => Flags { zero: Flag::Is(value == 0), ..Flags::UNDEFINED },
            _ => Flags::UNDEFINED,
        }
    }

    /// Addresses that move, and differences of such in one region.
    fn moved_by(
        &mut self,
        world: &mut World,
        operation: Binary,
        [a, b]: [&Word; 2],
        places: [Option<Moving>; 2],
    ) -> Made {
        let plain = |moving: Moving, offset: Option<Form>| {
            let moving = moved(world, moving.region, offset)?;
            Ok((address(moving), Flags::UNDEFINED))
        };
        match (operation, places) {
            (Binary::Add, [Some(at), None]) => match form(b, 8) {
                Some(by) => plain(at, at.offset.plus(by)),
                None => Err(unsupported("the sum of data and an address")),
            },
            (Binary::Add, [None, Some(at)]) => match form(a, 8) {
                Some(by) => plain(at, at.offset.plus(by)),
                None => Err(unsupported("the sum of data and an address")),
            },
            (Binary::Subtract, [Some(at), None]) => match form(b, 8) {
                Some(by) => plain(at, at.offset.minus(by)),
                None => Err(unsupported("the difference of data and an address")),
            },
            (Binary::Subtract, [Some(x), Some(y)]) if x.region == y.region => {
                let result = word(world, x.offset.minus(y.offset), 8)?;
                self.compared = Some((x.offset, y.offset));
                let ranges = ranges(world);
                // Before its region an address may be that of the end of memory.
                let ordered = [x, y].iter().all(|at| ranges.never_negative(at.offset));
                let carry = if ordered { Flag::Public } else { Flag::Undefined };
                Ok((result, Flags { zero: Flag::Public, carry, ..Flags::UNDEFINED }))
            }
            // Which of two buffers lies below the other one, or whether one begins where the other
            // one ends, nobody knows: each case is looked at where something depends on it.
            (Binary::Subtract, [Some(_), Some(_)]) => {
                let stream = world.memory.stream.as_mut();
                let order = stream.and_then(|stream| stream.unknown(Range { low: 0, high: 2 }));
                let order =
                    order.ok_or_else(|| unsupported("too many comparisons of addresses"))?;
                self.compared = Some((order, Form::number(1)));
                let flags = Flags { zero: Flag::Public, carry: Flag::Public, ..Flags::UNDEFINED };
                // The difference itself is of no use.
                Ok((Word::Bits(Box::new([Cell::UNSET; 64])), flags))
            }
            _ => Err(unsupported("this arithmetic of an address is not modelled")),
        }
    }

    /// Whether a condition holds, also where that depends on the number of blocks.
    ///
    /// # Errors
    /// It holds for some numbers only; the stream says which are to be told apart.
    pub fn decided(&self, world: &mut World, code: ConditionCode) -> Result<Flag, Fault> {
        let flag = self.condition(code);
        let (Flag::Public, Some((a, b))) = (flag, self.compared) else { return Ok(flag) };
        let minus = |a: Form, b: Form| a.minus(b).ok_or_else(too_large);
        let is = match code {
            ConditionCode::e | ConditionCode::ne => {
                let verdict = ranges(world).is_zero(minus(a, b)?);
                answer(world, verdict)? == (code == ConditionCode::e)
            }
            ConditionCode::b => below(world, a, b)?,
            ConditionCode::ae => !below(world, a, b)?,
            ConditionCode::a => below(world, b, a)?,
            ConditionCode::be => !below(world, b, a)?,
            ConditionCode::l | ConditionCode::s => less(world, a, b)?,
            ConditionCode::ge | ConditionCode::ns => !less(world, a, b)?,
            ConditionCode::g => less(world, b, a)?,
            ConditionCode::le => !less(world, b, a)?,
            _ => return Ok(Flag::Undefined),
        };
        Ok(Flag::Is(is))
    }
}

/// a < b
fn less(world: &mut World, a: Form, b: Form) -> Result<bool, Fault> {
    let difference = a.minus(b).ok_or_else(too_large)?;
    let verdict = ranges(world).at_least_zero(difference);
    Ok(!answer(world, verdict)?)
}

/// a < b where negative numbers are those above all others.
fn below(world: &mut World, a: Form, b: Form) -> Result<bool, Fault> {
    let zero = Form::default();
    match (less(world, a, zero)?, less(world, b, zero)?) {
        (true, false) => Ok(false),
        (false, true) => Ok(true),
        _ => less(world, a, b),
    }
}
