//! Blocks of memory that one instruction copies or fills.
//!
//! ```text
//! rep stosq        rcx words of 8 bytes at rdi become rax
//! rep movsb        rcx bytes from rsi to rdi
//! ```
//!
//! Addresses and counts must be known; of bytes there may be as many as some blocks have. What functions of the C library do is in `library`.

use iced_x86::{Instruction, Mnemonic};

use super::library::{Length, pointed};
use super::operands::Address;
use super::registers::Word;
use super::{X86, unsupported};
use crate::cell::Cell;
use crate::memory::{Moving, Pointer};
use crate::symbolic_count::Form;
use crate::{Fault, Rule, World};

/// Numbers of registers.
const RAX: usize = 0;
const RCX: usize = 1;
const RSI: usize = 6;
const RDI: usize = 7;

/// Whether it copies or fills, and bytes of a word.
fn block(mnemonic: Mnemonic) -> Option<(bool, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Movsb => (true, 1),
        Movsw => (true, 2),
        Movsd => (true, 4),
        Movsq => (true, 8),
        Stosb => (false, 1),
        Stosw => (false, 2),
        Stosd => (false, 4),
        Stosq => (false, 8),
        _ => return None,
    })
}

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    block(mnemonic).is_some()
}

/// Whether the prefix that repeats has a meaning here.
pub fn may_repeat(i: &Instruction) -> bool {
    // Names of two of them are also those of others, which have no such prefix.
    block(i.mnemonic()).is_some()
}

impl X86 {
    /// rep movs and rep stos. The direction is upward, as the calling convention says.
    pub(super) fn blocks(
        &mut self,
        world: &mut World,
        i: &Instruction,
    ) -> Option<Result<(), Fault>> {
        let (copies, size) = block(i.mnemonic()).filter(|_| i.has_rep_prefix())?;
        Some(self.repeated(world, copies, size))
    }

    fn repeated(&mut self, world: &mut World, copies: bool, size: usize) -> Result<(), Fault> {
        let length = match *self.general(RCX) {
            Word::Number(count) => {
                let bytes = count.checked_mul(size as u64);
                let bytes = bytes.ok_or_else(|| unsupported("a count too large"))?;
                Length::Known(bits(bytes)? / 8)
            }
            Word::Count(form) if size == 1 => Length::Counted(form),
            _ => return Err(self.unknown(world, RCX, "the count")),
        };
        let to = pointed(self.general(RDI))?;
        if copies {
            let from = pointed(self.general(RSI))?;
            // Upward, word by word: the same as all at once unless `from` is below `to`.
            let upward = match (to, from) {
                (Address::Pointer(to), Address::Pointer(from)) => to.offset <= from.offset,
                _ => false,
            };
            self.copy_memory(world, to, from, length, upward)?;
            self.set_general(RSI, behind(from, length)?);
        } else {
            let cells = self.general(RAX).cells(&world.bits);
            let cells = cells.ok_or_else(|| unsupported("an address becomes data"))?;
            self.fill_memory(world, to, &cells[..8 * size], length)?;
        }
        self.set_general(RDI, behind(to, length)?);
        self.set_general(RCX, Word::Number(0));
        Ok(())
    }

    /// Why a register that should be a number is none.
    pub(super) fn unknown(&self, world: &World, register: usize, what: &str) -> Fault {
        let cells = self.general(register).cells(&world.bits);
        match cells.is_some_and(|cells| cells.iter().any(|&cell| world.bits.is_secret(cell))) {
            true => Fault::new(Rule::SecretOperand, format!("{what} depends on an input")),
            false => unsupported(format!("{what} is not known")),
        }
    }

    /// Writes a word again and again.
    pub(super) fn fill_block(
        &mut self,
        world: &mut World,
        to: Address,
        word: &[Cell],
        bytes: u64,
    ) -> Result<(), Fault> {
        let cells = word.iter().copied().cycle().take(bits(bytes)?).collect::<Vec<Cell>>();
        self.store(world, to, &cells)
    }

    /// Copies a block, which must not have a byte in common with where it goes, unless the order of
    /// bytes is one in which that does not matter.
    pub(super) fn copy_block(
        &mut self,
        world: &mut World,
        to: Address,
        from: Address,
        bytes: u64,
        overlap: bool,
    ) -> Result<(), Fault> {
        let count = bits(bytes)? / 8;
        if !overlap && !are_apart(world, to, from, bytes)? {
            return Err(unsupported("a block is copied onto itself"));
        }
        let cells = self.load_bytes(world, from, count)?;
        self.store(world, to, &cells)
    }

    /// Bytes as data: of an address among them nothing is known.
    pub(super) fn load_bytes(
        &mut self,
        world: &mut World,
        from: Address,
        bytes: usize,
    ) -> Result<Vec<Cell>, Fault> {
        if bytes != 8 {
            return self.load_cells(world, from, bytes);
        }
        // Eight bytes would be read as an address.
        let mut cells = self.load_cells(world, from, 4)?;
        cells.extend(self.load_cells(world, moved(from, 4)?, 4)?);
        Ok(cells)
    }
}

/// Whether two blocks have no byte in common.
fn are_apart(world: &World, to: Address, from: Address, bytes: u64) -> Result<bool, Fault> {
    let part = |address| match address {
        Address::Pointer(Pointer { region, offset }) => Some((region, Form::number(offset))),
        Address::Moving(Moving { region, offset }) => Some((region, offset)),
        // The object itself is no buffer, and is not written.
        Address::Constant(_) | Address::Count(_) => None,
    };
    let Some((to, from)) = part(to).zip(part(from)) else { return Ok(true) };
    let between = to.1.minus(from.1).ok_or_else(far)?;
    let between = match &world.memory.stream {
        Some(stream) => stream.ranges.reduced(between).and_then(Form::value),
        None => between.value(),
    };
    let is_far = |between: i64| between.unsigned_abs() >= bytes;
    Ok(to.0 != from.0 || between.is_some_and(is_far))
}

/// An address so many bytes further on.
fn moved(address: Address, by: i64) -> Result<Address, Fault> {
    Ok(match address {
        Address::Pointer(pointer) => Address::Pointer(pointer.plus(by)),
        Address::Constant(at) => Address::Constant(at.wrapping_add(by as u64)),
        Address::Moving(Moving { region, offset }) => {
            let offset = offset.plus(Form::number(by)).ok_or_else(far)?;
            Address::Moving(Moving { region, offset })
        }
        other @ Address::Count(_) => other,
    })
}

/// The address behind a block.
fn behind(address: Address, length: Length) -> Result<Word, Fault> {
    let bytes = match length {
        Length::Known(bytes) => Form::number(bytes as i64),
        Length::Counted(form) => form,
    };
    let (region, offset) = match address {
        Address::Pointer(Pointer { region, offset }) => (region, Form::number(offset)),
        Address::Moving(Moving { region, offset }) => (region, offset),
        Address::Constant(at) => {
            let bytes = bytes.value().ok_or_else(far)?;
            return Ok(Word::Number(at.wrapping_add(bytes as u64)));
        }
        Address::Count(_) => return Err(far()),
    };
    let offset = offset.plus(bytes).ok_or_else(far)?;
    Ok(super::counts::address(Moving { region, offset }))
}

fn far() -> Fault {
    unsupported("an address that is far away")
}

/// Bits of a block; no buffer is longer than a few megabytes.
pub(super) fn bits(bytes: u64) -> Result<usize, Fault> {
    match bytes {
        0..0x100_0000 => Ok(8 * bytes as usize),
        _ => Err(Fault::new(Rule::OutOfBounds, format!("a block of {bytes} bytes"))),
    }
}
