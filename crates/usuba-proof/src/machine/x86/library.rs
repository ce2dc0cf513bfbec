//! Functions of the C library that copy and clear blocks, of which there are as many as a number
//! says that is not known.
//!
//! ```text
//! call memcpy      r blocks from in + 1024 t to the frame
//! call memset      the bytes behind them, to the end of their buffer
//! call memcpy      r blocks from the frame to out + 1024 t
//! ```
//!
//! What is trusted about these functions is what `blocks` says of calls on known numbers.

use super::super::cell::Cell;
use super::super::count::Form;
use super::super::memory::{Moving, Pointer, Region};
use super::super::{Fault, Rule, World};
use super::operands::Address;
use super::registers::{PARAMETERS, Word};
use super::{X86, unsupported};

/// Bytes that are copied one by one, at most.
const LONGEST: u64 = 1 << 16;

/// How many bytes.
enum Length {
    Known(usize),
    Counted(Form),
}

impl X86 {
    /// Whether a function that is not in the object is called on blocks.
    pub fn is_counted_call(&self, world: &World, name: &str) -> bool {
        let counted = PARAMETERS[..3]
            .iter()
            .any(|&register| matches!(self.general(register), Word::Count(_) | Word::Moving(_)));
        world.memory.stream.is_some() && counted && ["memcpy", "memset"].contains(&name)
    }

    /// Does what the function does, as a call that has returned. The return address is below
    /// `above`.
    pub fn counted_call(&mut self, world: &mut World, name: &str, above: i64) -> Result<(), Fault> {
        self.check_call(world, above)?;
        let [to, from, length] = [0, 1, 2].map(|at| self.general(PARAMETERS[at]).clone());
        let length = self.length(world, &length)?;
        let to_address = self.pointed(&to)?;
        match (name, length) {
            ("memcpy", Length::Known(bytes)) => {
                let from = self.pointed(&from)?;
                self.check_below(to_address, bytes)?;
                self.check_below(from, bytes)?;
                let cells = self.bytes_at(world, from, bytes)?;
                self.put(world, to_address, &cells)?;
            }
            ("memcpy", Length::Counted(bytes)) => {
                let from = self.pointed(&from)?;
                self.copy_blocks(world, to_address, from, bytes)?;
            }
            (_, length) => self.clear(world, to_address, &from, length)?,
        }
        self.library_returned(world, to)
    }

    fn length(&self, world: &World, word: &Word) -> Result<Length, Fault> {
        match word {
            Word::Number(bytes) if *bytes <= LONGEST => Ok(Length::Known(*bytes as usize)),
            Word::Number(_) => Err(unsupported("more bytes are copied than any buffer has")),
            Word::Count(form) => Ok(Length::Counted(*form)),
            Word::Bits(cells) if cells.iter().any(|&cell| world.bits.is_secret(cell)) => {
                let what = "the number of bytes that are copied depends on an input";
                Err(Fault::new(Rule::SecretOperand, what))
            }
            _ => Err(unsupported("it is not known how many bytes are copied")),
        }
    }

    fn pointed(&self, word: &Word) -> Result<Address, Fault> {
        match *word {
            Word::Pointer(pointer) => Ok(Address::Pointer(pointer)),
            Word::Moving(moving) => Ok(Address::Moving(moving)),
            Word::Number(at) => Ok(Address::Constant(at)),
            _ => Err(unsupported("the address that is handed over is not known")),
        }
    }

    /// What is below the stack pointer is the callee's.
    fn check_below(&self, address: Address, bytes: usize) -> Result<(), Fault> {
        let stack = self.stack()?;
        match address {
            Address::Pointer(Pointer { region: Region::Frame, offset })
                if bytes > 0 && offset < stack =>
            {
                let what = "it hands over bytes below its frame";
                Err(Fault::new(Rule::OutOfBounds, what))
            }
            _ => Ok(()),
        }
    }

    fn bytes_at(
        &mut self,
        world: &mut World,
        from: Address,
        bytes: usize,
    ) -> Result<Vec<Cell>, Fault> {
        if bytes == 0 {
            return Ok(Vec::new());
        }
        // Whole words would be read as addresses, which bytes are not.
        let mut cells = Vec::with_capacity(8 * bytes);
        for at in 0..bytes {
            let part = moved(from, at as i64)?;
            cells.extend(self.load_cells(world, part, 1)?);
        }
        Ok(cells)
    }

    fn put(&mut self, world: &mut World, to: Address, cells: &[Cell]) -> Result<(), Fault> {
        match cells {
            [] => Ok(()),
            _ => self.store(world, to, cells),
        }
    }

    /// memcpy of the blocks that are left, from the caller or to the caller.
    fn copy_blocks(
        &mut self,
        world: &mut World,
        to: Address,
        from: Address,
        bytes: Form,
    ) -> Result<(), Fault> {
        let stack = self.stack()?;
        let World { bits, memory, .. } = world;
        let frame = |address| match address {
            Address::Pointer(Pointer { region: Region::Frame, offset }) => Some(offset),
            _ => None,
        };
        let stream = |address| match address {
            Address::Moving(Moving { region: Region::Stream(side), offset }) => {
                Some((side, offset))
            }
            _ => None,
        };
        match (frame(to), stream(from), stream(to), frame(from)) {
            (Some(start), Some(from), None, None) => {
                let blocks = memory.stream.as_mut().expect("there are blocks");
                let most = blocks.most(bytes)?;
                memory.check_written(start, most, stack)?;
                let unknown = vec![Cell::OPAQUE; 8 * most];
                let at = Pointer { region: Region::Frame, offset: start };
                memory.store(at, &unknown, stack)?;
                let blocks = memory.stream.as_mut().expect("there are blocks");
                blocks.copy_in(bits, from, start, bytes)
            }
            (None, None, Some(to), Some(start)) => {
                let blocks = memory.stream.as_mut().expect("there are blocks");
                let most = blocks.most(bytes)?;
                memory.check_written(start, most, stack)?;
                let at = Address::Pointer(Pointer { region: Region::Frame, offset: start });
                let cells = self.bytes_at(world, at, most)?;
                let World { bits, memory, .. } = world;
                let blocks = memory.stream.as_mut().expect("there are blocks");
                blocks.copy_out(bits, to, bytes, &cells)
            }
            _ => Err(unsupported("this copy of blocks is not modelled")),
        }
    }

    /// memset to zero.
    fn clear(
        &mut self,
        world: &mut World,
        to: Address,
        value: &Word,
        length: Length,
    ) -> Result<(), Fault> {
        let is_zero = match value {
            Word::Number(value) => value & 0xff == 0,
            _ => false,
        };
        if !is_zero {
            return Err(unsupported("memory is filled with something else than zeros"));
        }
        let bytes = match (to, length) {
            (Address::Pointer(_), Length::Known(bytes)) => {
                self.check_below(to, bytes)?;
                let zeros = vec![world.bits.constant(false); 8 * bytes];
                return self.put(world, to, &zeros);
            }
            (_, Length::Known(bytes)) => Form::number(bytes as i64),
            (_, Length::Counted(bytes)) => bytes,
        };
        let offset = match to {
            Address::Pointer(Pointer { region: Region::Frame, offset }) => Form::number(offset),
            Address::Moving(Moving { region: Region::Frame, offset }) => offset,
            _ => return Err(unsupported("a number of blocks is cleared that are not its own")),
        };
        let stack = self.stack()?;
        let blocks = world.memory.stream.as_mut().expect("there are blocks");
        let (start, cells) = blocks.fill(offset, bytes)?;
        world.memory.check_written(start, cells.len() / 8, stack)?;
        let at = Pointer { region: Region::Frame, offset: start };
        world.memory.store(at, &cells, stack)
    }
}

/// An address so many bytes further on.
fn moved(address: Address, by: i64) -> Result<Address, Fault> {
    Ok(match address {
        Address::Pointer(pointer) => Address::Pointer(pointer.plus(by)),
        Address::Constant(at) => Address::Constant(at.wrapping_add(by as u64)),
        Address::Moving(Moving { region, offset }) => {
            let offset = offset.plus(Form::number(by));
            let offset = offset.ok_or_else(|| unsupported("an address that is far away"))?;
            Address::Moving(Moving { region, offset })
        }
        other @ Address::Count(_) => other,
    })
}
