//! Copies and fillings of memory, of as many bytes as are known, or as a number of blocks has.
//!
//! ```text
//! memcpy      r blocks from in + 1024 t to the frame
//! memset      zeros in the bytes behind them, to the end of their buffer
//! memcpy      r blocks from the frame to out + 1024 t
//! ```
//!
//! `stack` is the offset of the stack pointer everywhere.

use super::address::Address;
use super::elf::Object;
use super::memory::{Moving, Pointer, Region};
use super::stream::{Side, Stream};
use super::word::Word;
use super::{Fault, Rule, World, unsupported};
use usuba_bits::cell::Cell;
use usuba_ranges::Form;

/// An effect, or the rule that a copy breaks.
type Done = Result<(), Fault>;

/// The number of bytes.
#[derive(Clone, Copy)]
pub enum Length {
    Known(usize),
    Counted(Form),
}

/// The buffers of blocks; counts that are not known come from there.
fn stream<'w>(world: &'w mut World) -> Result<&'w mut Stream, Fault> {
    world.memory.stream.as_mut().ok_or_else(|| unsupported("a number of blocks without blocks"))
}

impl World<'_> {
    /// A number of words of `size` bytes that a register holds.
    pub(crate) fn length(&self, word: &Word, size: usize) -> Result<Length, Fault> {
        match word {
            Word::Number(count) => {
                let bytes = count.checked_mul(size as u64);
                let bytes = bytes.ok_or_else(|| unsupported("a count too large"))?;
                // No buffer is longer than a few megabytes.
                match bytes {
                    0..0x100_0000 => Ok(Length::Known(bytes as usize)),
                    _ => Err(Fault::new(Rule::OutOfBounds, format!("a block of {bytes} bytes"))),
                }
            }
            Word::Count(form)
                if size == 1
                    && (self.memory.convention.address == 8 || self.is_within(*form, 32)) =>
            {
                Ok(Length::Counted(*form))
            }
            word => {
                let cells = word.cells(&self.bits).unwrap_or([Cell::UNSET; 64]);
                let secret = "the count depends on an input";
                Err(self.unknown(&cells, Rule::SecretOperand, secret, "the count is not known"))
            }
        }
    }

    /// Copies; both may have bytes in common or not.
    pub(crate) fn copy_memory(
        &mut self,
        to: Address,
        from: Address,
        length: Length,
        (overlap, stack): (bool, i64),
    ) -> Done {
        match length {
            Length::Known(0) => Ok(()),
            Length::Known(bytes) => self.copy_block(to, from, bytes, (overlap, stack)),
            Length::Counted(bytes) if self.memory.stream.is_none() => {
                self.copy_span(to, from, bytes, (overlap, stack))
            }
            Length::Counted(bytes) => self.copy_blocks(to, from, bytes, stack),
        }
    }

    /// Copies a public number of bytes that is not known.
    fn copy_span(
        &mut self,
        to: Address,
        from: Address,
        bytes: Form,
        (overlap, stack): (bool, i64),
    ) -> Done {
        let (Some(to), Some(from)) = (to.place(), from.place()) else {
            return Err(Fault::new(Rule::OutOfBounds, "a copy to or from no buffer"));
        };
        let content = match from.region {
            Region::Section(_) => self.constant_span(from, bytes)?,
            _ => {
                let World { bits, memory, .. } = self;
                memory.read_span(from, bytes, stack, |cell| bits.is_secret(cell))?
            }
        };
        let World { bits, memory, .. } = self;
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
        let ranges = self.ranges();
        let (low, most) = (ranges.bounds(from.offset).0, from.offset.plus(bytes));
        let high = most.map(|most| ranges.bounds(most).1).filter(|_| ranges.never_negative(bytes));
        let span =
            i64::try_from(low).ok().zip(high.and_then(|high| usize::try_from(high - low).ok()));
        let place = |offset| Object::place(Pointer { region: from.region, offset });
        let span = span.and_then(|(offset, count)| Some((place(offset)?, count)));
        let is_there = |&(place, count): &(u64, usize)| self.object.constant(place, count).is_ok();
        match span.filter(is_there) {
            Some(_) => Ok(Cell::UNSET),
            None => Err(unsupported("a copy of a part of the object")),
        }
    }

    /// Copies the blocks that are left, from the caller or to the caller.
    fn copy_blocks(&mut self, to: Address, from: Address, bytes: Form, stack: i64) -> Done {
        let most = self.memory.most(bytes)?;
        match (place(to), place(from)) {
            (Place::Frame(start), Place::Stream(side, offset)) => {
                self.memory.check_frame(start, most, stack)?;
                let unknown = vec![Cell::OPAQUE; 8 * most];
                let at = Pointer { region: Region::Frame, offset: start };
                self.memory.store(at, &unknown, stack)?;
                let World { bits, memory, .. } = self;
                let blocks = memory.stream.as_mut().expect("it was asked for the most");
                blocks.copy_in((&memory.unknowns.ranges, bits), (side, offset), start, bytes)
            }
            (Place::Stream(side, offset), Place::Frame(start)) => {
                self.memory.check_frame(start, most, stack)?;
                let cells = self.load_bytes(from, most, stack)?;
                let World { bits, memory, .. } = self;
                let blocks = memory.stream.as_mut().expect("it was asked for the most");
                blocks.copy_out((&memory.unknowns.ranges, bits), (side, offset), bytes, &cells)
            }
            _ => Err(unsupported("this copy of blocks is not modelled")),
        }
    }

    /// Fills memory with copies of a word.
    pub(crate) fn fill_memory(
        &mut self,
        to: Address,
        word: &[Cell],
        length: Length,
        stack: i64,
    ) -> Done {
        let bytes = match (place(to), length) {
            (_, Length::Known(0)) => return Ok(()),
            (_, Length::Counted(bytes)) if self.memory.stream.is_none() => {
                let to = to.place().ok_or_else(|| unsupported("no buffer is filled"))?;
                let content = if self.is_secret(word) { Cell::OPAQUE } else { Cell::UNSET };
                let World { bits, memory, .. } = self;
                let is_secret = |cell| bits.is_secret(cell);
                return memory.write_span(to, bytes, stack, (content, is_secret));
            }
            (Place::Behind(_), Length::Known(bytes)) if self.memory.stream.is_none() => {
                let cells: Vec<Cell> = word.iter().copied().cycle().take(8 * bytes).collect();
                return self.store(to, &cells, stack);
            }
            // The bytes behind an unknown number of blocks.
            (Place::Behind(_), Length::Known(bytes)) => Form::number(bytes as i64),
            (_, Length::Known(bytes)) => {
                let cells: Vec<Cell> = word.iter().copied().cycle().take(8 * bytes).collect();
                return self.store(to, &cells, stack);
            }
            (_, Length::Counted(bytes)) => bytes,
        };
        if self.bits.word(word) != Some(0) {
            return Err(unsupported("behind blocks there is something else than zeros"));
        }
        let offset = match place(to) {
            Place::Frame(offset) => Form::number(offset),
            Place::Behind(offset) => offset,
            _ => return Err(unsupported("a number of blocks is cleared that are not its own")),
        };
        let ranges = self.ranges();
        let (start, cells) = stream(self)?.fill(&ranges, offset, bytes)?;
        self.memory.check_frame(start, cells.len() / 8, stack)?;
        let at = Pointer { region: Region::Frame, offset: start };
        self.memory.store(at, &cells, stack)
    }

    /// Copies a block, which must not overlap its target, unless `overlap` allows it.
    fn copy_block(
        &mut self,
        to: Address,
        from: Address,
        bytes: usize,
        (overlap, stack): (bool, i64),
    ) -> Done {
        if !overlap && !self.are_apart(to, from, bytes as u64)? {
            return Err(unsupported("a block is copied onto itself"));
        }
        let cells = self.load_bytes(from, bytes, stack)?;
        self.store(to, &cells, stack)
    }

    /// Bytes as data; an address among them becomes unknown.
    pub(crate) fn load_bytes(
        &mut self,
        from: Address,
        bytes: usize,
        stack: i64,
    ) -> Result<Vec<Cell>, Fault> {
        if bytes != self.memory.convention.address {
            return self.load_cells(from, bytes, stack);
        }
        // As many bytes as an address has would be read as one.
        let half = bytes / 2;
        let mut cells = self.load_cells(from, half, stack)?;
        let next = further(from, Form::number(half as i64))?;
        cells.extend(self.load_cells(next, half, stack)?);
        Ok(cells)
    }

    /// Whether two blocks have no byte in common.
    fn are_apart(&self, to: Address, from: Address, bytes: u64) -> Result<bool, Fault> {
        // There is nothing at a number.
        let Some((to, from)) = to.place().zip(from.place()) else { return Ok(true) };
        let between = to.offset.minus(from.offset).ok_or_else(far)?;
        if to.region == from.region && between.value().is_none() {
            self.memory.note_open();
        }
        let (low, high) = self.memory.unknowns.ranges.bounds(between);
        Ok(to.region != from.region || low >= bytes.into() || high <= -i128::from(bytes))
    }
}

/// The target of an address, as far as it matters here.
pub enum Place {
    Frame(i64),
    /// The frame, at an offset that depends on the number of blocks.
    Behind(Form),
    Stream(Side, Form),
    Other,
}

pub fn place(address: Address) -> Place {
    match address {
        Address::Pointer(Pointer { region: Region::Frame, offset }) => Place::Frame(offset),
        Address::Moving(Moving { region: Region::Frame, offset }) => Place::Behind(offset),
        Address::Moving(Moving { region: Region::Stream(side), offset }) => {
            Place::Stream(side, offset)
        }
        _ => Place::Other,
    }
}

/// An address `bytes` further on.
pub fn further(address: Address, bytes: Form) -> Result<Address, Fault> {
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
pub fn behind(address: Address, length: Length) -> Result<Word, Fault> {
    let bytes = match length {
        Length::Known(bytes) => Form::number(bytes as i64),
        Length::Counted(form) => form,
    };
    further(address, bytes).map(Word::from)
}

fn far() -> Fault {
    unsupported("an address that is far away")
}
