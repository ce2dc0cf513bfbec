//! Memory: arrays, the frame, and constants.

use usuba_replay::trace::{Id, Op};

use super::{Cell, Machine, Region, SP, Value};
use crate::Run;
use crate::elf::Kind;

impl Machine<'_> {
    /// The parts of an array: words, then bytes; offsets and sizes.
    fn parts(bytes: usize) -> impl Iterator<Item = (i32, u32)> {
        let words = bytes / 4 * 4;
        (0..words)
            .step_by(4)
            .map(|at| (at as i32, 4))
            .chain((words..bytes).map(|at| (at as i32, 1)))
    }

    /// Puts the inputs into the arrays.
    pub fn inputs(&mut self) {
        for (number, array) in self.arrays.iter().enumerate().filter(|(_, array)| array.is_read) {
            for (at, size) in Self::parts(array.bytes) {
                let word = self.writer.input(8 * size as u8);
                for byte in 0..size as u8 {
                    let place = (Region::Array(number), at + i32::from(byte));
                    self.memory.insert(place, (Value::Word(word), byte));
                }
            }
        }
    }

    /// The outputs in the arrays.
    pub fn outputs(&mut self) -> Run<Vec<Id>> {
        let mut outputs = Vec::new();
        for (number, array) in self.arrays.iter().enumerate().filter(|(_, array)| array.is_written)
        {
            for (at, size) in Self::parts(array.bytes) {
                let cells = self.cells(Region::Array(number), at, size)?;
                match self.together(&cells)? {
                    Value::Word(word) => outputs.push(word),
                    _ => return Err(format!("byte {at} of array {number} is an address")),
                }
            }
        }
        Ok(outputs)
    }

    /// Checks an access of a few bytes.
    fn check(&self, at: Value, size: u32, is_store: bool) -> Run<(Region, i32)> {
        let Value::Pointer(region, offset) = at else {
            return Err("an address depends on an input".into());
        };
        let end = i64::from(offset) + i64::from(size);
        let fits = match region {
            Region::Array(number) => {
                let array = self.arrays[number];
                let may = if is_store { array.is_written } else { true };
                may && offset >= 0 && end <= array.bytes as i64
            }
            Region::Frame => {
                let Value::Pointer(Region::Frame, stack) = self.registers[SP] else {
                    return Err("the stack pointer is not in the frame".into());
                };
                offset >= stack && end <= 0
            }
            Region::Section(number) => {
                let section = &self.object.sections[number];
                let is_here = offset >= 0 && end <= section.bytes.len() as i64;
                section.is_constant && !is_store && is_here
            }
            Region::Caller => false,
        };
        let align = match region {
            Region::Section(number) => self.object.sections[number].align,
            _ => 16,
        };
        match offset.rem_euclid(size as i32) {
            _ if !fits => Err("an access outside of the arrays, the frame and constants".into()),
            0 if align >= size => Ok((region, offset)),
            _ => Err("an access that is not aligned".into()),
        }
    }

    /// The bytes at a place, which lies in its region.
    pub fn cells(&mut self, region: Region, offset: i32, size: u32) -> Run<Vec<Cell>> {
        let mut cells = Vec::new();
        for at in offset..offset + size as i32 {
            cells.push(match region {
                Region::Section(number) => {
                    let section = &self.object.sections[number];
                    let written = (0..4).any(|back| {
                        section.relocations.contains_key(&(at as u32).wrapping_sub(back))
                    });
                    if written {
                        return Err("a part of an address".into());
                    }
                    let byte = section.bytes[at as usize];
                    (Value::Word(self.writer.number(8, u64::from(byte))), 0)
                }
                _ => *self.memory.get(&(region, at)).ok_or("a byte that nobody has written")?,
            });
        }
        Ok(cells)
    }

    /// Bytes as one value.
    fn together(&mut self, cells: &[Cell]) -> Run<Value> {
        if let Some(&(value, 0)) = cells.first()
            && !matches!(value, Value::Word(_))
        {
            let is_whole = cells.iter().zip(0..).all(|(cell, byte)| *cell == (value, byte));
            return match is_whole && cells.len() == 4 {
                true => Ok(value),
                false => Err("a part of an address".into()),
            };
        }
        // The runs of bytes of one word: the word, the first byte, and how many they are.
        let mut runs: Vec<(Id, u8, u8)> = Vec::new();
        for &(value, byte) in cells {
            let Value::Word(word) = value else { return Err("a part of an address".into()) };
            match runs.last_mut() {
                Some((last, first, count)) if (*last, *first + *count) == (word, byte) => {
                    *count += 1;
                }
                _ => runs.push((word, byte, 1)),
            }
        }
        let mut fields = Vec::new();
        for (word, first, count) in runs {
            fields.push(self.writer.op(Op::Field, 8 * count, 8 * u64::from(first), &[word]));
        }
        Ok(Value::Word(self.writer.op(Op::Join, 8 * cells.len() as u8, 0, &fields)))
    }

    /// A load of 1, 2 or 4 bytes.
    pub fn load(&mut self, at: Value, size: u32, is_signed: bool) -> Run<Value> {
        let (region, offset) = self.check(at, size, false)?;
        if let (Region::Section(number), 4) = (region, size)
            && let Some([relocation]) =
                self.object.sections[number].relocations.get(&(offset as u32)).map(Vec::as_slice)
            && relocation.kind == Kind::Word
        {
            let (section, offset) = self.object.target(relocation)?;
            return Ok(Value::Pointer(Region::Section(section), offset as i32));
        }
        let cells = self.cells(region, offset, size)?;
        let value = self.together(&cells)?;
        let Value::Word(word) = value else { return Ok(value) };
        let op = if is_signed { Op::ExtendSigned } else { Op::Extend };
        Ok(Value::Word(self.writer.op(op, 32, 0, &[word])))
    }

    /// A store of 1, 2 or 4 bytes.
    pub fn store(&mut self, at: Value, size: u32, value: Value) -> Run<()> {
        let (region, offset) = self.check(at, size, true)?;
        let value = match value {
            Value::Word(word) => Value::Word(self.writer.op(Op::Field, 8 * size as u8, 0, &[word])),
            Value::Unset => return Err("a value that nobody has written is stored".into()),
            _ if size == 4 => value,
            _ => return Err("a part of an address is stored".into()),
        };
        for byte in 0..size as u8 {
            self.memory.insert((region, offset + i32::from(byte)), (value, byte));
        }
        Ok(())
    }

    /// Copies bytes as they are; both places may overlap.
    pub fn copy(&mut self, to: Value, from: Value, size: u32) -> Run<()> {
        let mut cells = Vec::new();
        for byte in 0..size {
            let (region, at) = self.check(moved(from, byte), 1, false)?;
            cells.extend(self.cells(region, at, 1)?);
        }
        for (byte, cell) in (0..).zip(cells) {
            let place = self.check(moved(to, byte), 1, true)?;
            self.memory.insert(place, cell);
        }
        Ok(())
    }

    /// Fills bytes with the lowest byte of a word.
    pub fn fill(&mut self, to: Value, value: Value, size: u32) -> Run<()> {
        (0..size).try_for_each(|byte| self.store(moved(to, byte), 1, value))
    }
}

/// A pointer that is some bytes further; other values as they are.
fn moved(value: Value, by: u32) -> Value {
    match value {
        Value::Pointer(region, at) => Value::Pointer(region, at.wrapping_add(by as i32)),
        other => other,
    }
}
