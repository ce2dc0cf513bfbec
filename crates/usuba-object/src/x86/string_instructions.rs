//! String instructions: one instruction copies or fills a block of memory.
//!
//! ```text
//! rep stosq        rcx words of 8 bytes at rdi become rax
//! rep movsb        rcx bytes from rsi to rdi
//! ```
//!
//! Addresses and counts must be known; a number of bytes may depend on the number of blocks.
//! Functions of the C library that do the same are in `crate::library`.

use super::{Done, Run};
use crate::Fault;
use crate::address::Address;
use crate::block_copies::{Length, behind};
use crate::word::Word;

/// Numbers of registers.
const RAX: usize = 0;
const RCX: usize = 1;
const RSI: usize = 6;
const RDI: usize = 7;

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
        let stack = self.x86.stack()?;
        self.world.copy_memory(to, from, length, (upward, stack))?;
        self.x86.general[RSI] = behind(from, length)?;
        self.repeated(to, length)
    }

    /// rep stos.
    pub fn repeat_fill(&mut self, size: usize) -> Done {
        let length = self.length(RCX, size)?;
        let to = self.pointed(RDI)?;
        let cells = self.world.data(&self.x86.general[RAX], "an address becomes data")?;
        let stack = self.x86.stack()?;
        self.world.fill_memory(to, &cells[..8 * size], length, stack)?;
        self.repeated(to, length)
    }

    fn repeated(&mut self, to: Address, length: Length) -> Done {
        self.x86.general[RDI] = behind(to, length)?;
        self.x86.general[RCX] = Word::Number(0);
        Ok(())
    }

    /// A number of words of `size` bytes that a register holds.
    pub fn length(&self, register: usize, size: usize) -> Result<Length, Fault> {
        self.world.length(&self.x86.general[register], size)
    }

    /// The address in a register.
    fn pointed(&self, register: usize) -> Result<Address, Fault> {
        self.x86.general[register].pointed()
    }
}
