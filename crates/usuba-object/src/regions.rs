//! Arithmetic and comparisons of addresses, of which only the region and the offset are known.
//!
//! ```text
//! add rsi, 16         in + 16
//! sub rdi, rsi        a number in one region; in two regions it is public, and not known
//! cmp rdi, rsi        in two regions each order is a case
//! xor rax, rsi        public, and not known; a secret if rax is one
//! ```

use super::address::Address;
use super::elf::Object;
use super::flags::{Flag, Flags};
use super::memory::{Moving, Pointer, Region};
use super::word::{Binary, Word, numbers};
use super::{Fault, World, unsupported};
use usuba_bits::cell::Cell;
use usuba_ranges::{Form, Range};

impl World<'_> {
    /// An operation with an address: moves by numbers, differences in one region, rounding down of
    /// the stack pointer. Of flags only whether a difference is zero can be known, and its carry.
    pub(crate) fn pointers(
        &mut self,
        operation: Binary,
        a: &Word,
        b: &Word,
    ) -> Result<(Word, Flags), Fault> {
        let convention = self.memory.convention;
        let plus = |at: &Pointer, by: u64| {
            let offset = convention.wrapped(at.offset.wrapping_add(by as i64));
            Word::Pointer(Pointer { offset, ..*at })
        };
        let moved = |at: &Pointer, by: u64| Ok((plus(at, by), Flags::UNDEFINED));
        let moving = |at: &Pointer| Moving { region: at.region, offset: Form::number(at.offset) };
        let flags_of = |at: &Pointer| self.flags_of_address(moving(at));
        let is_upper = |word: &Word| word.place().is_some_and(|at| at.region == Region::Upper);
        if is_upper(a) || is_upper(b) {
            return Err(unsupported("arithmetic of a part of an address"));
        }
        match (operation, a, b) {
            (Binary::And | Binary::Or, Word::Pointer(at), Word::Pointer(same)) if at == same => {
                Ok((a.clone(), flags_of(at)))
            }
            (Binary::Subtract, Word::Pointer(at), Word::Number(0)) => Ok((a.clone(), flags_of(at))),
            (Binary::Add, Word::Pointer(at), Word::Number(by))
            | (Binary::Add, Word::Number(by), Word::Pointer(at)) => moved(at, *by),
            (Binary::Subtract, Word::Number(0), Word::Pointer(at)) => {
                let flags = Flags { carry: flags_of(at).zero.inverted(), ..flags_of(at) };
                Ok((Word::Bits(Box::new([Cell::UNSET; 64])), flags))
            }
            (Binary::Subtract, Word::Pointer(at), Word::Number(by)) => moved(at, by.wrapping_neg()),
            (Binary::Subtract, Word::Pointer(a), Word::Pointer(b)) if a.region == b.region => {
                let difference = a.offset.wrapping_sub(b.offset);
                let zero = Flag::Is(difference == 0);
                // Before its region an address may be the end of memory; after it, it is not. The
                // value of a register at entry may be any number.
                let is_address =
                    !matches!(a.region, Region::Entry(_) | Region::Held(..) | Region::Public(_));
                let ordered = is_address && [a, b].iter().all(|at| self.is_ordered(moving(at)));
                if ordered && a.region == Region::Frame {
                    self.memory.note_open();
                }
                let carry = if ordered { Flag::Is(a.offset < b.offset) } else { Flag::Undefined };
                Ok((Word::Number(difference as u64), Flags { zero, carry, ..Flags::UNDEFINED }))
            }
            // The comparison of a canary, and the probe of a page of the stack.
            (Binary::Xor, a, b) if a == b => Ok(numbers(operation, 0, 0, convention.address)),
            (Binary::Or, Word::Pointer(at), Word::Number(0)) => moved(at, 0),
            (Binary::Or, ..) if self.forks.follows => Ok(self.address_or([a, b])),
            (Binary::Add, Word::Pointer(at), Word::Distance(to, from))
            | (Binary::Add, Word::Distance(to, from), Word::Pointer(at))
                if at.region == from.region =>
            {
                moved(to, at.offset.wrapping_sub(from.offset) as u64)
            }
            (Binary::And, Word::Pointer(at), &Word::Number(mask)) => {
                Ok((self.rounded(moving(at), mask)?, Flags::UNDEFINED))
            }
            (Binary::Subtract, Word::Pointer(a), Word::Pointer(b)) if self.forks.follows => {
                // The distance of two regions is public, and not known.
                let flags = self.compared_regions(moving(a), moving(b))?;
                Ok((Word::Bits(Box::new([Cell::UNSET; 64])), flags))
            }
            (Binary::And | Binary::Or | Binary::Xor, ..) if self.forks.follows => {
                Ok(self.unknown_result([a, b]))
            }
            _ => Err(unsupported("this arithmetic of an address is not modelled")),
        }
    }

    /// A result of which is known only whether it depends on secrets: addresses and counts do not.
    pub(crate) fn unknown_result(&self, operands: [&Word; 2]) -> (Word, Flags) {
        let is_secret = |word: &Word| matches!(word, Word::Bits(bits) if self.is_secret(&bits[..]));
        let (cell, flag) = match operands.into_iter().any(is_secret) {
            true => (Cell::OPAQUE, Flag::Secret),
            false => (Cell::UNSET, Flag::Undefined),
        };
        (Word::Bits(Box::new([cell; 64])), Flags::all(flag))
    }

    /// The disjunction of an address and another word.
    pub(crate) fn address_or(&self, operands: [&Word; 2]) -> (Word, Flags) {
        let is_zero = |word: &Word| *word == Word::Number(0);
        let address = operands.iter().find_map(|word| word.place());
        let inside = address.filter(|&at| self.is_inside(at));
        match (operands.into_iter().any(is_zero), address, inside) {
            (true, Some(at), _) => (Word::from(Address::from(at)), self.flags_of_address(at)),
            (false, _, Some(_)) => {
                let (word, flags) = self.unknown_result(operands);
                let zero = if flags.zero.is_secret() { flags.zero } else { Flag::Is(false) };
                (word, Flags { zero, ..flags })
            }
            _ => self.unknown_result(operands),
        }
    }

    /// Whether an address is above the start of its region, and below the end of memory.
    pub(crate) fn is_ordered(&self, at: Moving) -> bool {
        let Moving { offset, .. } = at;
        // A short address that is moved far away begins again at zero.
        self.memory.unknowns.ranges.never_negative(offset)
            && (self.memory.convention.address == 8 || self.is_inside(at))
    }

    /// Whether an address is in the frame, in a buffer or in the object, or behind its last byte.
    pub(crate) fn is_inside(&self, at: Moving) -> bool {
        let Moving { region, offset } = at;
        match (region, offset.value()) {
            (Region::Buffer(number), _) => self.memory.is_in_buffer(number, offset),
            (Region::Frame, _) => self.memory.is_in_frame(offset),
            (_, Some(offset)) => {
                let constant = |place| self.object.constant(place, 0).is_ok();
                Object::place(Pointer { region, offset }).is_some_and(constant)
            }
            _ => false,
        }
    }

    /// An address rounded down, perhaps by a public number that is not known. Other bits of an
    /// address are not known at all.
    pub(crate) fn rounded(&mut self, at: Moving, mask: u64) -> Result<Word, Fault> {
        let mask = self.memory.convention.wrapped(mask as i64) as u64;
        if at.offset.value().is_none() {
            self.memory.note_open();
        }
        let align = Some(mask.wrapping_neg()).filter(|&align| align.is_power_of_two());
        let start = align.and_then(|align| self.memory.start_modulo(at.region, align));
        let over = match (align, start) {
            (Some(align), Some(start)) => {
                let number = at.offset.plus(Form::number(start));
                let number = number.ok_or_else(|| unsupported("an address that is far away"))?;
                Some(self.divided(number, align as i64)?.1)
            }
            (_, None) if !self.forks.follows => {
                return Err(unsupported("bits of an address are not known"));
            }
            (Some(align @ ..=64), None) => {
                let range = Range { low: 0, high: align as i64 - 1 };
                self.memory.unknowns.unknown(range)
            }
            _ => None,
        };
        Ok(match over.and_then(|over| at.offset.minus(over)) {
            Some(offset) => Word::from(Address::from(Moving { offset, ..at })),
            None => Word::Bits(Box::new([Cell::UNSET; 64])),
        })
    }

    /// The flags of the comparison of an address with zero: nothing is there.
    pub(crate) fn flags_of_address(&self, at: Moving) -> Flags {
        match self.is_inside(at) {
            true => Flags { zero: Flag::Is(false), carry: Flag::Is(false), ..Flags::UNDEFINED },
            false => Flags::UNDEFINED,
        }
    }

    /// The flags of the comparison of addresses in two regions, each order of which is a case.
    pub(crate) fn compared_regions(&mut self, a: Moving, b: Moving) -> Result<Flags, Fault> {
        if ![a, b].iter().all(|&at| self.is_inside(at)) {
            return Ok(Flags::UNDEFINED);
        }
        let regions = [a.region, b.region];
        if self.memory.may_overlap(regions) {
            return Ok(Flags::UNDEFINED);
        }
        let is_below = match self.memory.is_below(regions) {
            Some(is_below) => is_below,
            None => {
                let is_below = self.forked(false, None)?;
                self.memory.put_below(regions, is_below);
                is_below
            }
        };
        // The end of the lower region may be the start of the upper one.
        let (low, high) = if is_below { (a, b) } else { (b, a) };
        let next = low.offset.plus(Form::number(1)).map(|offset| Moving { offset, ..low });
        let is_start = !self
            .memory
            .unknowns
            .ranges
            .never_negative(high.offset.minus(Form::number(1)).unwrap_or(Form::number(-1)));
        let is_equal = is_start
            && !next.is_some_and(|next| self.is_inside(next))
            && self.forked(false, None)?;
        let (carry, zero) = (Flag::Is(is_below && !is_equal), Flag::Is(is_equal));
        Ok(Flags { carry, zero, ..Flags::UNDEFINED })
    }
}
