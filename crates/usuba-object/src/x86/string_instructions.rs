//! String instructions: one instruction copies or fills a block of memory.
//!
//! ```text
//! rep stosq        rcx words of 8 bytes at rdi become rax
//! rep movsb        rcx bytes from rsi to rdi
//! ```
//!
//! Addresses and counts must be known; a number of bytes may depend on the number of blocks.
//! Functions of the C library that do the same are in `library`.

use super::registers::Word;
use super::{Cells, Done, Run, unsupported};
use crate::address::Address;
use crate::cell::Cell;
use crate::memory::Moving;
use crate::{Fault, Rule};
use usuba_ranges::Form;

/// Numbers of registers.
const RAX: usize = 0;
const RCX: usize = 1;
const RSI: usize = 6;
const RDI: usize = 7;

/// The number of bytes.
#[derive(Clone, Copy)]
pub enum Length {
    Known(usize),
    Counted(Form),
}

impl Run<'_, '_> {
    /// rep movs. The direction is upward, as the calling convention says.
    pub fn repeat_copy(&mut self, size: usize) -> Done {
        let length = self.length(RCX, size)?;
        let (to, from) = (self.pointed(RDI)?, self.pointed(RSI)?);
        // Upward, word by word: the same as all at once unless `from` is below `to`.
        let upward = match (to, from) {
            (Address::Pointer(to), Address::Pointer(from)) => to.offset <= from.offset,
            _ => false,
        };
        self.copy_memory(to, from, length, upward)?;
        self.x86.general[RSI] = behind(from, length)?;
        self.repeated(to, length)
    }

    /// rep stos.
    pub fn repeat_fill(&mut self, size: usize) -> Done {
        let length = self.length(RCX, size)?;
        let to = self.pointed(RDI)?;
        let cells = self.data(&self.x86.general[RAX], "an address becomes data")?;
        self.fill_memory(to, &cells[..8 * size], length)?;
        self.repeated(to, length)
    }

    fn repeated(&mut self, to: Address, length: Length) -> Done {
        self.x86.general[RDI] = behind(to, length)?;
        self.x86.general[RCX] = Word::Number(0);
        Ok(())
    }

    /// A number of words of `size` bytes that a register holds.
    pub fn length(&self, register: usize, size: usize) -> Result<Length, Fault> {
        match &self.x86.general[register] {
            Word::Number(count) => {
                let bytes = count.checked_mul(size as u64);
                let bytes = bytes.ok_or_else(|| unsupported("a count too large"))?;
                // No buffer is longer than a few megabytes.
                match bytes {
                    0..0x100_0000 => Ok(Length::Known(bytes as usize)),
                    _ => Err(Fault::new(Rule::OutOfBounds, format!("a block of {bytes} bytes"))),
                }
            }
            Word::Count(form) if size == 1 => Ok(Length::Counted(*form)),
            word => {
                let cells = word.cells(&self.world.bits).unwrap_or([Cell::UNSET; 64]);
                let secret = "the count depends on an input";
                Err(self.unknown(&cells, Rule::SecretOperand, secret, "the count is not known"))
            }
        }
    }

    /// The address in a register.
    pub fn pointed(&self, register: usize) -> Result<Address, Fault> {
        match self.x86.general[register] {
            Word::Pointer(pointer) => Ok(Address::Pointer(pointer)),
            Word::Moving(moving) => Ok(Address::Moving(moving)),
            Word::Number(at) => Ok(Address::Number(at)),
            _ => Err(unsupported("the address that is handed over is not known")),
        }
    }

    /// Copies a block, which must not overlap its target, unless `overlap` allows it.
    pub fn copy_block(&mut self, to: Address, from: Address, bytes: usize, overlap: bool) -> Done {
        if !overlap && !self.are_apart(to, from, bytes as u64)? {
            return Err(unsupported("a block is copied onto itself"));
        }
        let cells = self.load_bytes(from, bytes)?;
        self.store(to, &cells)
    }

    /// Bytes as data; an address among them becomes unknown.
    pub fn load_bytes(&mut self, from: Address, bytes: usize) -> Cells {
        if bytes != 8 {
            return self.load_cells(from, bytes);
        }
        // Eight bytes would be read as an address.
        let mut cells = self.load_cells(from, 4)?;
        cells.extend(self.load_cells(further(from, Form::number(4))?, 4)?);
        Ok(cells)
    }

    /// Whether two blocks have no byte in common.
    fn are_apart(&self, to: Address, from: Address, bytes: u64) -> Result<bool, Fault> {
        // There is nothing at a number.
        let Some((to, from)) = to.place().zip(from.place()) else { return Ok(true) };
        let between = to.offset.minus(from.offset).ok_or_else(far)?;
        if to.region == from.region && between.value().is_none() {
            self.world.memory.note_open();
        }
        let (low, high) = self.world.memory.unknowns.ranges.bounds(between);
        Ok(to.region != from.region || low >= bytes.into() || high <= -i128::from(bytes))
    }
}

/// An address `bytes` further on.
fn further(address: Address, bytes: Form) -> Result<Address, Fault> {
    match (address, address.place()) {
        (Address::Number(at), _) => {
            let bytes = bytes.value().ok_or_else(far)?;
            Ok(Address::Number(at.wrapping_add(bytes as u64)))
        }
        (_, Some(Moving { region, offset })) => {
            let offset = offset.plus(bytes).ok_or_else(far)?;
            Ok(Address::from(Moving { region, offset }))
        }
        _ => Err(far()),
    }
}

/// The address behind a block.
fn behind(address: Address, length: Length) -> Result<Word, Fault> {
    let bytes = match length {
        Length::Known(bytes) => Form::number(bytes as i64),
        Length::Counted(form) => form,
    };
    further(address, bytes).map(Word::from)
}

fn far() -> Fault {
    unsupported("an address that is far away")
}
