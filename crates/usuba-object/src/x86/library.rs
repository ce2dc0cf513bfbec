//! Functions of the C library that copy and fill memory, which compilers call for loops that do
//! the same, too.
//!
//! ```text
//! call memset      rdx bytes at rdi become sil
//! call memcpy      rdx bytes from rsi to rdi, which do not overlap
//! call memmove     rdx bytes from rsi to rdi
//! ```
//!
//! They are not in the object: it is trusted that they do what the standard says, that their time
//! depends on nothing but counts and addresses, and that they follow the calling convention. What
//! they leave in the registers that belong to them is not known, and may be what they copied.
//!
//! The number of bytes is known, or it is that of some blocks, of which there are as many as a
//! number says that is not known. Then the blocks are the last ones:
//!
//! ```text
//! call memcpy      r blocks from in + 1024 t to the frame
//! call memset      zeros in the bytes behind them, to the end of their buffer
//! call memcpy      r blocks from the frame to out + 1024 t
//! ```

use super::blocks::bits;
use super::masks::MASK;
use super::operands::Address;
use super::registers::{Flag, Flags, PARAMETERS, VECTOR, Word};
use super::{X86, unsupported};
use crate::cell::Cell;
use crate::memory::{Moving, Pointer, Region};
use crate::stream::{Side, Stream};
use crate::symbolic_count::Form;
use crate::{Fault, Rule, World};

/// Those that a function may change: rax, rcx, rdx, rsi, rdi, r8 to r11.
const VOLATILE: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

/// How many bytes.
#[derive(Clone, Copy)]
pub(super) enum Length {
    Known(usize),
    Counted(Form),
}

/// The buffers of blocks; counts that are not known come from there.
fn stream<'w>(world: &'w mut World) -> Result<&'w mut Stream, Fault> {
    world.memory.stream.as_mut().ok_or_else(|| unsupported("a number of blocks without blocks"))
}

impl X86 {
    /// A call of a function that is not in the object; `None` if nothing is known of it. The return
    /// address is below `above`.
    pub(super) fn library(
        &mut self,
        world: &mut World,
        name: &str,
        above: i64,
    ) -> Option<Result<(), Fault>> {
        let overlap = match name {
            "memset" => None,
            "memcpy" => Some(false),
            "memmove" => Some(true),
            _ => return None,
        };
        Some(self.called(world, overlap, above))
    }

    /// A copy, whose parts may overlap or not, or else a filling.
    fn called(
        &mut self,
        world: &mut World,
        overlap: Option<bool>,
        above: i64,
    ) -> Result<(), Fault> {
        self.check_call(world, above)?;
        let [to, from, length] = [0, 1, 2].map(|at| self.general(PARAMETERS[at]).clone());
        let bytes = match length {
            Word::Number(bytes) => Length::Known(bits(bytes)? / 8),
            Word::Count(form) => Length::Counted(form),
            _ => return Err(self.unknown(world, PARAMETERS[2], "the count")),
        };
        let address = pointed(&to)?;
        self.check_below(address, bytes)?;
        match overlap {
            Some(overlap) => {
                let from = pointed(&from)?;
                self.check_below(from, bytes)?;
                self.copy_memory(world, address, from, bytes, overlap)?;
            }
            None => {
                let cells = from.cells(&world.bits);
                let cells = cells.ok_or_else(|| unsupported("an address becomes data"))?;
                self.fill_memory(world, address, &cells[..8], bytes)?;
            }
        }
        self.library_returned(world, to)
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
        self.set_general(VOLATILE[0], result);
        for vector in 0..32 {
            self.vectors_mut().get_mut(vector)[..VECTOR].fill(Cell::OPAQUE);
        }
        self.masks = [[Cell::OPAQUE; MASK]; 8];
        self.flags = Flags::all(Flag::Secret);
        world.memory.clobber(stack);
        Ok(())
    }

    /// What is below the stack pointer is the callee's.
    fn check_below(&self, address: Address, length: Length) -> Result<(), Fault> {
        let stack = self.stack()?;
        match place(address) {
            Place::Frame(offset) if offset < stack && !matches!(length, Length::Known(0)) => {
                let what = "it hands over bytes below its frame";
                Err(Fault::new(Rule::OutOfBounds, what))
            }
            _ => Ok(()),
        }
    }

    /// Copies; both may have bytes in common or not.
    pub(super) fn copy_memory(
        &mut self,
        world: &mut World,
        to: Address,
        from: Address,
        length: Length,
        overlap: bool,
    ) -> Result<(), Fault> {
        match length {
            Length::Known(0) => Ok(()),
            Length::Known(bytes) => self.copy_block(world, to, from, bytes as u64, overlap),
            Length::Counted(bytes) => self.copy_blocks(world, to, from, bytes),
        }
    }

    /// Copies the blocks that are left, from the caller or to the caller.
    fn copy_blocks(
        &mut self,
        world: &mut World,
        to: Address,
        from: Address,
        bytes: Form,
    ) -> Result<(), Fault> {
        let stack = self.stack()?;
        let most = stream(world)?.most(bytes)?;
        match (place(to), place(from)) {
            (Place::Frame(start), Place::Stream(side, offset)) => {
                world.memory.check_written(start, most, stack)?;
                let unknown = vec![Cell::OPAQUE; 8 * most];
                let at = Pointer { region: Region::Frame, offset: start };
                world.memory.store(at, &unknown, stack)?;
                let World { bits, memory, .. } = world;
                let blocks = memory.stream.as_mut().expect("it was asked for the most");
                blocks.copy_in(bits, (side, offset), start, bytes)
            }
            (Place::Stream(side, offset), Place::Frame(start)) => {
                world.memory.check_written(start, most, stack)?;
                let cells = self.load_bytes(world, from, most)?;
                let World { bits, memory, .. } = world;
                let blocks = memory.stream.as_mut().expect("it was asked for the most");
                blocks.copy_out(bits, (side, offset), bytes, &cells)
            }
            _ => Err(unsupported("this copy of blocks is not modelled")),
        }
    }

    /// Writes a word again and again.
    pub(super) fn fill_memory(
        &mut self,
        world: &mut World,
        to: Address,
        word: &[Cell],
        length: Length,
    ) -> Result<(), Fault> {
        let bytes = match (place(to), length) {
            (_, Length::Known(0)) => return Ok(()),
            // What stands behind a number of blocks that is not known.
            (Place::Behind(_), Length::Known(bytes)) => Form::number(bytes as i64),
            (_, Length::Known(bytes)) => return self.fill_block(world, to, word, bytes as u64),
            (_, Length::Counted(bytes)) => bytes,
        };
        if world.bits.word(word) != Some(0) {
            return Err(unsupported("behind blocks there is something else than zeros"));
        }
        let offset = match place(to) {
            Place::Frame(offset) => Form::number(offset),
            Place::Behind(offset) => offset,
            _ => return Err(unsupported("a number of blocks is cleared that are not its own")),
        };
        let stack = self.stack()?;
        let (start, cells) = stream(world)?.fill(offset, bytes)?;
        world.memory.check_written(start, cells.len() / 8, stack)?;
        let at = Pointer { region: Region::Frame, offset: start };
        world.memory.store(at, &cells, stack)
    }
}

/// What an address points into, as far as it matters here.
enum Place {
    Frame(i64),
    /// The frame, at an offset that depends on the number of blocks.
    Behind(Form),
    Stream(Side, Form),
    Other,
}

fn place(address: Address) -> Place {
    match address {
        Address::Pointer(Pointer { region: Region::Frame, offset }) => Place::Frame(offset),
        Address::Moving(Moving { region: Region::Frame, offset }) => Place::Behind(offset),
        Address::Moving(Moving { region: Region::Stream(side), offset }) => {
            Place::Stream(side, offset)
        }
        _ => Place::Other,
    }
}

/// What a register points to.
pub(super) fn pointed(word: &Word) -> Result<Address, Fault> {
    match *word {
        Word::Pointer(pointer) => Ok(Address::Pointer(pointer)),
        Word::Moving(moving) => Ok(Address::Moving(moving)),
        Word::Number(at) => Ok(Address::Constant(at)),
        _ => Err(unsupported("the address that is handed over is not known")),
    }
}
