//! Blocks of memory that are copied or filled at once: instructions with `rep`, and the functions
//! that compilers call for loops that do the same.
//!
//! ```text
//! rep stosq        rcx words of 8 bytes at rdi become rax
//! rep movsb        rcx bytes from rsi to rdi
//! call memset      rdx bytes at rdi become sil
//! call memcpy      rdx bytes from rsi to rdi
//! ```
//!
//! Addresses and counts must be known. The functions are those of the C library and not in the
//! object: it is trusted that they do what the standard says, that their time depends on nothing but
//! counts and addresses, and that they follow the calling convention. What they leave in the
//! registers that belong to them is not known, and may be what they copied.

use iced_x86::{Instruction, Mnemonic};

use super::super::cell::Cell;
use super::super::memory::{Pointer, Region};
use super::super::{Fault, Rule, World};
use super::masks::MASK;
use super::operands::Address;
use super::registers::{Flag, Flags, VECTOR, Word};
use super::{X86, unsupported};

/// Numbers of registers.
const RAX: usize = 0;
const RCX: usize = 1;
const RDX: usize = 2;
const RSI: usize = 6;
const RDI: usize = 7;

/// Those that a function may change.
const VOLATILE: [usize; 9] = [RAX, RCX, RDX, RSI, RDI, 8, 9, 10, 11];

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
        let Word::Number(count) = *self.general(RCX) else {
            return Err(self.unknown(world, RCX, "the count"));
        };
        let bytes =
            count.checked_mul(size as u64).ok_or_else(|| unsupported("a count too large"))?;
        let to = self.place(RDI)?;
        if copies {
            let from = self.place(RSI)?;
            // Upward, word by word: the same as all at once unless `from` is below `to`.
            self.copy_block(world, to, from, bytes, to.offset <= from.offset)?;
            self.set_general(RSI, Word::Pointer(from.plus(bytes as i64)));
        } else {
            let cells = self.general(RAX).cells(&world.bits);
            let cells = cells.ok_or_else(|| unsupported("an address becomes data"))?;
            self.fill_block(world, to, &cells[..8 * size], bytes)?;
        }
        self.set_general(RDI, Word::Pointer(to.plus(bytes as i64)));
        self.set_general(RCX, Word::Number(0));
        Ok(())
    }

    /// A call of a function that is not in the object; `None` if nothing is known of it. The return
    /// address is below `above`.
    pub(super) fn library(
        &mut self,
        world: &mut World,
        name: &str,
        above: i64,
    ) -> Option<Result<(), Fault>> {
        let (copies, overlap) = match name {
            "memset" => (false, false),
            "memcpy" => (true, false),
            "memmove" => (true, true),
            _ => return None,
        };
        Some(self.call_library(world, copies, overlap, above))
    }

    fn call_library(
        &mut self,
        world: &mut World,
        copies: bool,
        overlap: bool,
        above: i64,
    ) -> Result<(), Fault> {
        self.check_call(world, above)?;
        let Word::Number(bytes) = *self.general(RDX) else {
            return Err(self.unknown(world, RDX, "the count"));
        };
        let to = self.place(RDI)?;
        if copies {
            let from = self.place(RSI)?;
            self.copy_block(world, to, from, bytes, overlap)?;
        } else {
            let cells = self.general(RSI).cells(&world.bits);
            let cells = cells.ok_or_else(|| unsupported("an address becomes data"))?;
            self.fill_block(world, to, &cells[..8], bytes)?;
        }
        self.library_returned(world, Word::Pointer(to))
    }

    /// Checks what every call must keep.
    pub(super) fn check_call(&self, world: &mut World, above: i64) -> Result<(), Fault> {
        let at = Pointer { region: Region::Frame, offset: above };
        match world.memory.is_aligned(at, 16) {
            true => Ok(()),
            false => Err(Fault::new(Rule::Misaligned, "the stack is not aligned at the call")),
        }
    }

    /// What a function of the library leaves: its result, and anything else.
    pub(super) fn library_returned(
        &mut self,
        world: &mut World,
        result: Word,
    ) -> Result<(), Fault> {
        let stack = self.stack()?;
        for register in VOLATILE {
            self.set_general(register, Word::Bits(Box::new([Cell::OPAQUE; 64])));
        }
        self.set_general(RAX, result);
        for vector in 0..32 {
            self.vectors_mut().get_mut(vector)[..VECTOR].fill(Cell::OPAQUE);
        }
        self.masks = [[Cell::OPAQUE; MASK]; 8];
        self.flags = Flags::all(Flag::Secret);
        world.memory.clobber(stack);
        Ok(())
    }

    /// Why a register that should be a number is none.
    fn unknown(&self, world: &World, register: usize, what: &str) -> Fault {
        let cells = self.general(register).cells(&world.bits);
        match cells.is_some_and(|cells| cells.iter().any(|&cell| world.bits.is_secret(cell))) {
            true => Fault::new(Rule::SecretOperand, format!("{what} depends on an input")),
            false => unsupported(format!("{what} is not known")),
        }
    }

    fn place(&self, register: usize) -> Result<Pointer, Fault> {
        match self.general(register) {
            Word::Pointer(pointer) => Ok(*pointer),
            _ => Err(unsupported("a block at what is no address of the caller or the frame")),
        }
    }

    fn fill_block(
        &mut self,
        world: &mut World,
        to: Pointer,
        word: &[Cell],
        bytes: u64,
    ) -> Result<(), Fault> {
        let cells = word.iter().copied().cycle().take(bits(bytes)?).collect::<Vec<Cell>>();
        self.store(world, Address::Pointer(to), &cells)
    }

    fn copy_block(
        &mut self,
        world: &mut World,
        to: Pointer,
        from: Pointer,
        bytes: u64,
        overlap: bool,
    ) -> Result<(), Fault> {
        let count = bits(bytes)? / 8;
        let apart = to.region != from.region || to.offset.abs_diff(from.offset) >= bytes;
        if !apart && !overlap {
            return Err(unsupported("a block is copied onto itself"));
        }
        let cells = self.load_cells(world, Address::Pointer(from), count)?;
        self.store(world, Address::Pointer(to), &cells)
    }
}

/// Bits of a block; no buffer is longer than a few megabytes.
fn bits(bytes: u64) -> Result<usize, Fault> {
    match bytes {
        0..0x100_0000 => Ok(8 * bytes as usize),
        _ => Err(Fault::new(Rule::OutOfBounds, format!("a block of {bytes} bytes"))),
    }
}
