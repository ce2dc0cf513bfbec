//! Functions of the C library that copy and fill memory, which compilers call for loops that do
//! the same, too.
//!
//! ```text
//! call memset      rdx bytes at rdi become sil
//! call memcpy      rdx bytes from rsi to rdi, which do not overlap
//! call memmove     rdx bytes from rsi to rdi
//! call randombytes rsi secret bytes at rdi
//! call __memcpy_chk    the same as memcpy, if rcx >= rdx
//! ```
//!
//! They are not in the object. Trusted: they follow the standard, their time depends on
//! nothing but counts and addresses, and they follow the calling convention. The contents of the
//! caller-saved registers after them are unknown, and may be the copied data.
//!
//! The number of bytes is a constant, or the size of an unknown number of blocks. In the second
//! case the blocks are the last ones:
//!
//! ```text
//! call memcpy      r blocks from in + 1024 t to the frame
//! call memset      zeros in the bytes behind them, to the end of their buffer
//! call memcpy      r blocks from the frame to out + 1024 t
//! ```

use super::registers::{Flag, Flags, PARAMETERS, VOLATILE, Word};
use super::string_instructions::Length;
use super::{Done, Run, unsupported};
use crate::address::Address;
use crate::cell::Cell;
use crate::elf::Object;
use crate::memory::{Moving, Pointer, Region};
use crate::stream::{Side, Stream};
use crate::{Fault, Rule, World};
use usuba_ranges::Form;

/// The buffers of blocks; counts that are not known come from there.
fn stream<'w>(world: &'w mut World) -> Result<&'w mut Stream, Fault> {
    world.memory.stream.as_mut().ok_or_else(|| unsupported("a number of blocks without blocks"))
}

impl Run<'_, '_> {
    /// A call of a function that is not in the object; `None` if it is not modelled. The return
    /// address is below `above`.
    pub fn library(&mut self, name: &str, above: i64) -> Option<Done> {
        // -D_FORTIFY_SOURCE: the program ends if the buffer is too short.
        let checked = name.strip_prefix("__").and_then(|name| name.strip_suffix("_chk"));
        let checked = checked.filter(|name| name.starts_with("mem"));
        if checked.is_some()
            && let Err(fault) = self.check_size()
        {
            return Some(Err(fault));
        }
        let overlap = match checked.unwrap_or(name) {
            "memset" => None,
            "randombytes" => return Some(self.random_bytes(above)),
            "memcpy" => Some(false),
            "memmove" => Some(true),
            _ => return None,
        };
        Some(self.called(overlap, above))
    }

    /// Checks that the size of the first buffer, the fourth parameter, suffices.
    fn check_size(&mut self) -> Done {
        let most = match self.length(PARAMETERS[2], 1)? {
            Length::Known(bytes) => bytes,
            Length::Counted(bytes) => self.world.memory.most(bytes)?,
        };
        match self.x86.general[PARAMETERS[3]] {
            Word::Number(size) if most as u64 <= size => Ok(()),
            _ => Err(unsupported("the size of a buffer may be too small, which ends the program")),
        }
    }

    /// Random bytes, which are secret, in their buffer and nowhere else.
    fn random_bytes(&mut self, above: i64) -> Done {
        self.check_call(above)?;
        let [first, second] = [PARAMETERS[0], PARAMETERS[1]];
        let (to, bytes) = (self.pointed(first)?, self.length(second, 1)?);
        self.check_below(to, bytes)?;
        match self.drawn(bytes) {
            Some(cells) => self.store(to, &cells)?,
            None => self.fill_memory(to, &[Cell::OPAQUE; 8], bytes)?,
        }
        self.library_returned(Word::Bits(Box::new([Cell::UNSET; 64])), false)
    }

    /// The names of the next random bytes, where they have some.
    fn drawn(&mut self, bytes: Length) -> Option<Vec<Cell>> {
        let Length::Known(bytes) = bytes else { return None };
        let World { bits, memory, calls, .. } = &mut *self.world;
        let cells = calls.functions.random(bits, memory.drawn, bytes)?;
        memory.drawn += 1;
        Some(cells)
    }

    /// A copy, with or without overlap, or `memset` if `overlap` is `None`.
    fn called(&mut self, overlap: Option<bool>, above: i64) -> Done {
        self.check_call(above)?;
        let [first, second, third] = [PARAMETERS[0], PARAMETERS[1], PARAMETERS[2]];
        let bytes = self.length(third, 1)?;
        let (result, to) = (self.x86.general[first].clone(), self.pointed(first)?);
        self.check_below(to, bytes)?;
        let handles_secret = match overlap {
            Some(overlap) => {
                let from = self.pointed(second)?;
                self.check_below(from, bytes)?;
                self.copy_memory(to, from, bytes, overlap)?;
                match bytes {
                    Length::Known(0) => false,
                    Length::Known(bytes) => {
                        let copied = self.load_bytes(to, bytes)?;
                        self.is_secret(&copied)
                    }
                    Length::Counted(_) => true,
                }
            }
            None => {
                let cells = self.data(&self.x86.general[second], "an address becomes data")?;
                self.fill_memory(to, &cells[..8], bytes)?;
                self.is_secret(&cells[..8])
            }
        };
        self.library_returned(result, handles_secret)
    }

    /// Checks the alignment of the stack that every call must keep.
    pub fn check_call(&mut self, above: i64) -> Done {
        let at = Pointer { region: Region::Frame, offset: above };
        match self.world.memory.is_aligned(at, 16) {
            true => Ok(()),
            false => Err(Fault::new(Rule::Misaligned, "the stack is not aligned at the call")),
        }
    }

    /// The state that a function of the library leaves: its result, and anything else. Where it
    /// handles no secret, secrets are where they were, or below the stack pointer.
    pub fn library_returned(&mut self, result: Word, handles_secret: bool) -> Done {
        let stack = self.x86.stack()?;
        let bits = &self.world.bits;
        let lost = |cell: Cell| match handles_secret || bits.is_secret(cell) {
            true => Cell::OPAQUE,
            false => Cell::UNSET,
        };
        let mut any = handles_secret;
        let mut lose = |cells: &mut [Cell]| {
            for cell in cells {
                *cell = lost(*cell);
                any |= *cell == Cell::OPAQUE;
            }
        };
        for register in VOLATILE {
            let held = self.x86.general[register].cells(bits);
            let mut cells = held.unwrap_or([Cell::UNSET; 64]);
            lose(&mut cells);
            self.x86.general[register] = Word::Bits(Box::new(cells));
        }
        self.x86.general[VOLATILE[0]] = result;
        for vector in 0..32 {
            lose(self.x86.vectors.get_mut(vector));
        }
        self.x86.masks.iter_mut().for_each(|mask| lose(mask));
        let flags = self.x86.flags;
        any |= [flags.carry, flags.zero, flags.sign, flags.overflow].iter().any(|f| f.is_secret());
        self.x86.flags = if any { Flags::all(Flag::Secret) } else { Flags::UNDEFINED };
        let World { bits, memory, .. } = &mut *self.world;
        memory.lose_below(stack, |cell| any || bits.is_secret(cell));
        Ok(())
    }

    /// The bytes below the stack pointer belong to the callee.
    fn check_below(&mut self, address: Address, length: Length) -> Done {
        let stack = self.x86.stack()?;
        let lowest = match place(address) {
            Place::Frame(offset) => offset.into(),
            Place::Behind(offset) => self.world.memory.unknowns.ranges.bounds(offset).0,
            _ => return Ok(()),
        };
        if lowest < stack.into() && !matches!(length, Length::Known(0)) {
            let what = "it hands over bytes below its frame";
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        Ok(())
    }

    /// Copies; both may have bytes in common or not.
    pub fn copy_memory(
        &mut self,
        to: Address,
        from: Address,
        length: Length,
        overlap: bool,
    ) -> Done {
        match length {
            Length::Known(0) => Ok(()),
            Length::Known(bytes) => self.copy_block(to, from, bytes, overlap),
            Length::Counted(bytes) if self.world.memory.stream.is_none() => {
                self.copy_span(to, from, bytes, overlap)
            }
            Length::Counted(bytes) => self.copy_blocks(to, from, bytes),
        }
    }

    /// Copies a public number of bytes that is not known.
    fn copy_span(&mut self, to: Address, from: Address, bytes: Form, overlap: bool) -> Done {
        let stack = self.x86.stack()?;
        let (Some(to), Some(from)) = (to.place(), from.place()) else {
            return Err(Fault::new(Rule::OutOfBounds, "a copy to or from no buffer"));
        };
        let content = match from.region {
            Region::Section(_) => self.constant_span(from, bytes)?,
            _ => {
                let World { bits, memory, .. } = &mut *self.world;
                memory.read_span(from, bytes, stack, |cell| bits.is_secret(cell))?
            }
        };
        let World { bits, memory, .. } = &mut *self.world;
        let is_secret = |cell| bits.is_secret(cell);
        let apart = |low: Moving, high: Moving| {
            let gap = high.offset.minus(low.offset).and_then(|gap| gap.minus(bytes));
            gap.is_some_and(|gap| memory.unknowns.ranges.never_negative(gap))
        };
        if !overlap && to.region == from.region && !apart(to, from) && !apart(from, to) {
            return Err(unsupported("a block is copied onto itself"));
        }
        memory.write_span(to, bytes, stack, (content, is_secret))
    }

    /// One bit that stands for constants of the object.
    fn constant_span(&self, from: Moving, bytes: Form) -> Result<Cell, Fault> {
        let ranges = self.world.memory.unknowns.ranges;
        let (low, most) = (ranges.bounds(from.offset).0, from.offset.plus(bytes));
        let high = most.map(|most| ranges.bounds(most).1).filter(|_| ranges.never_negative(bytes));
        let span =
            i64::try_from(low).ok().zip(high.and_then(|high| usize::try_from(high - low).ok()));
        let place = |offset| Object::place(Pointer { region: from.region, offset });
        let span = span.and_then(|(offset, count)| Some((place(offset)?, count)));
        let is_there =
            |&(place, count): &(u64, usize)| self.world.object.constant(place, count).is_ok();
        match span.filter(is_there) {
            Some(_) => Ok(Cell::UNSET),
            None => Err(unsupported("a copy of a part of the object")),
        }
    }

    /// Copies the blocks that are left, from the caller or to the caller.
    fn copy_blocks(&mut self, to: Address, from: Address, bytes: Form) -> Done {
        let stack = self.x86.stack()?;
        let most = self.world.memory.most(bytes)?;
        match (place(to), place(from)) {
            (Place::Frame(start), Place::Stream(side, offset)) => {
                self.world.memory.check_frame(start, most, stack)?;
                let unknown = vec![Cell::OPAQUE; 8 * most];
                let at = Pointer { region: Region::Frame, offset: start };
                self.world.memory.store(at, &unknown, stack)?;
                let World { bits, memory, .. } = &mut *self.world;
                let blocks = memory.stream.as_mut().expect("it was asked for the most");
                blocks.copy_in((&memory.unknowns.ranges, bits), (side, offset), start, bytes)
            }
            (Place::Stream(side, offset), Place::Frame(start)) => {
                self.world.memory.check_frame(start, most, stack)?;
                let cells = self.load_bytes(from, most)?;
                let World { bits, memory, .. } = &mut *self.world;
                let blocks = memory.stream.as_mut().expect("it was asked for the most");
                blocks.copy_out((&memory.unknowns.ranges, bits), (side, offset), bytes, &cells)
            }
            _ => Err(unsupported("this copy of blocks is not modelled")),
        }
    }

    /// Fills memory with copies of a word.
    pub fn fill_memory(&mut self, to: Address, word: &[Cell], length: Length) -> Done {
        let bytes = match (place(to), length) {
            (_, Length::Known(0)) => return Ok(()),
            (_, Length::Counted(bytes)) if self.world.memory.stream.is_none() => {
                let stack = self.x86.stack()?;
                let to = to.place().ok_or_else(|| unsupported("no buffer is filled"))?;
                let content = if self.is_secret(word) { Cell::OPAQUE } else { Cell::UNSET };
                let World { bits, memory, .. } = &mut *self.world;
                let is_secret = |cell| bits.is_secret(cell);
                return memory.write_span(to, bytes, stack, (content, is_secret));
            }
            (Place::Behind(_), Length::Known(bytes)) if self.world.memory.stream.is_none() => {
                let cells: Vec<Cell> = word.iter().copied().cycle().take(8 * bytes).collect();
                return self.store(to, &cells);
            }
            // The bytes behind an unknown number of blocks.
            (Place::Behind(_), Length::Known(bytes)) => Form::number(bytes as i64),
            (_, Length::Known(bytes)) => {
                let cells: Vec<Cell> = word.iter().copied().cycle().take(8 * bytes).collect();
                return self.store(to, &cells);
            }
            (_, Length::Counted(bytes)) => bytes,
        };
        if self.world.bits.word(word) != Some(0) {
            return Err(unsupported("behind blocks there is something else than zeros"));
        }
        let offset = match place(to) {
            Place::Frame(offset) => Form::number(offset),
            Place::Behind(offset) => offset,
            _ => return Err(unsupported("a number of blocks is cleared that are not its own")),
        };
        let stack = self.x86.stack()?;
        let ranges = self.world.memory.unknowns.ranges;
        let (start, cells) = stream(self.world)?.fill(&ranges, offset, bytes)?;
        self.world.memory.check_frame(start, cells.len() / 8, stack)?;
        let at = Pointer { region: Region::Frame, offset: start };
        self.world.memory.store(at, &cells, stack)
    }
}

/// The target of an address, as far as it matters here.
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
