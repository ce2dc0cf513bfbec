//! Loads and stores, and addresses in the object.
//!
//! ```text
//! adrp x0, table               the page of a place
//! ldr  q0, [x0, :lo12:table]   the place, by its lower part
//! ```
//!
//! An access need not be aligned, as on operating systems for applications, but the stack pointer is
//! a multiple of 16 where it is a base.

use usuba_decode::aarch64::{After, At, Content, Extend, Instruction, Lanes, Register, Shift};

use super::register_file::{SP, Vector};
use super::word_operations::size;
use super::{BYTES, Done, Run};
use crate::address::Address;
use crate::block_copies::further;
use crate::elf::{Kind, Object, Part, Relocation};
use crate::memory::{Pointer, Region, Whole};
use crate::places::other_use;
use crate::word::{Binary, Word};
use crate::{Fault, Rule, unsupported};
use usuba_bits::cell::Cell;
use usuba_ranges::Form;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

impl Run<'_, '_> {
    /// Executes an access, or an instruction that computes an address; false for others.
    pub fn accessed(
        &mut self,
        instruction: Instruction,
        relocation: Option<Relocation>,
    ) -> Result<bool, Fault> {
        match (instruction, relocation) {
            (Instruction::Place { is_page: true, to, .. }, Some(relocation))
                if relocation.kind == Kind::Part(Part::High) =>
            {
                let upper = Pointer { region: Region::Upper, offset: relocation.target as i64 };
                self.set(to, Word::Pointer(upper));
            }
            // In a linked file.
            (Instruction::Place { is_page: true, to, offset }, None) => {
                let at = Object::pointer(self.place);
                if !self.world.object.is_aligned(Pointer { offset: 0, ..at }, PAGE) {
                    return Err(unsupported("the page of an instruction is not known"));
                }
                let page = Pointer { offset: at.offset & !(PAGE as i64 - 1), ..at };
                self.set(to, Word::Pointer(page.plus(offset)));
            }
            (Instruction::Place { is_page: false, to, offset }, relocation) => {
                let target = self.near(offset, relocation)?;
                self.set(to, Word::Pointer(Object::pointer(target)));
            }
            (
                Instruction::AddImmediate {
                    wide: true,
                    subtracts: false,
                    flags: false,
                    to,
                    from,
                    ..
                },
                Some(part),
            ) if part.kind == Kind::Part(Part::Low) => {
                let at = self.in_page(from, part)?;
                self.set_or_stack(to, Word::Pointer(at));
            }
            (Instruction::Access { loads, bytes, content, register, at }, part) => {
                let place = self.address(at, part, bytes)?;
                self.access(loads, bytes, content, register, place)?;
                self.change_after(at, place)?;
            }
            (Instruction::AccessPair { loads, bytes, content, registers, at }, None) => {
                let place = self.address(at, None, bytes)?;
                let places = [place, moved(place, bytes)?];
                for (register, at) in registers.into_iter().zip(places) {
                    self.access(loads, bytes, content, register, at)?;
                }
                self.change_after(at, place)?;
            }
            (Instruction::LoadNear { bytes, content, register, offset }, relocation) => {
                let target = self.near(offset, relocation)?;
                let at = Address::Pointer(Object::pointer(target));
                self.access(true, bytes, content, register, at)?;
            }
            (Instruction::Vectors { loads, by_turns, lanes, first, count, base, after }, None) => {
                let (at, end) = self.changing(base, after)?;
                let registers: Vec<Register> = (0..count).map(|at| (first + at) % 32).collect();
                match by_turns {
                    true => self.by_turns(loads, lanes, &registers, at)?,
                    false => {
                        for (number, register) in registers.into_iter().enumerate() {
                            let at = moved(at, lanes.all / 8 * number)?;
                            self.access(loads, lanes.all / 8, Content::Vector, register, at)?;
                        }
                    }
                }
                self.set_address(base, end);
            }
            (Instruction::Lane { loads, bits, register, lane, base, after }, None) => {
                let (at, end) = self.changing(base, after)?;
                let part = bits * lane..bits * (lane + 1);
                if loads {
                    let cells = self.bits_at(at, bits / 8)?;
                    let mut vector = self.vector_bits(register)?;
                    vector[part].copy_from_slice(&cells);
                    self.set_vector(register, &vector);
                } else {
                    let vector = self.vector_bits(register)?;
                    self.put(at, &vector[part])?;
                }
                self.set_address(base, end);
            }
            (Instruction::LoadCopies { lanes, register, base, after }, None) => {
                let Lanes { bits, all } = lanes;
                let (at, end) = self.changing(base, after)?;
                let cells = self.bits_at(at, bits / 8)?;
                self.set_vector(register, &cells.repeat(all / bits));
                self.set_address(base, end);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Loads or stores of vectors whose lanes are beside each other in memory: the first ones, then the
    /// second ones.
    fn by_turns(&mut self, loads: bool, lanes: Lanes, registers: &[Register], at: Address) -> Done {
        let Lanes { bits, all } = lanes;
        let vectors = registers.iter().map(|&register| self.part(register, all));
        let mut vectors: Vec<Vec<Cell>> = vectors.collect::<Result<_, _>>()?;
        let count = registers.len();
        let parts = (0..all / bits).flat_map(|lane| (0..count).map(move |vector| (lane, vector)));
        if !loads {
            let cells = parts.flat_map(|(lane, vector)| &vectors[vector][bits * lane..][..bits]);
            let cells: Vec<Cell> = cells.copied().collect();
            return self.put(at, &cells);
        }
        let cells = self.bits_at(at, count * all / 8)?;
        for ((lane, vector), cells) in parts.zip(cells.chunks(bits)) {
            vectors[vector][bits * lane..][..bits].copy_from_slice(cells);
        }
        for (&register, vector) in registers.iter().zip(&vectors) {
            self.set_vector(register, vector);
        }
        Ok(())
    }

    /// A place at a distance, which the linker may know.
    pub fn near(&self, offset: i64, relocation: Option<Relocation>) -> Result<u64, Fault> {
        match relocation {
            None => Ok(self.place.wrapping_add_signed(offset)),
            Some(Relocation { kind: Kind::Relative, target, .. }) => Ok(target),
            Some(_) => Err(other_use()),
        }
    }

    /// The place whose lower part the linker writes; the register has its page.
    fn in_page(&self, base: Register, part: Relocation) -> Result<Pointer, Fault> {
        let (Word::Pointer(Pointer { region: Region::Upper, offset: page }), Kind::Part(Part::Low)) =
            (self.value_or_stack(base), part.kind)
        else {
            return Err(other_use());
        };
        if !self.world.have_one_upper_part(page as u64, part.target, PAGE) {
            return Err(unsupported("the parts of an address are of two places"));
        }
        Ok(Object::pointer(part.target))
    }

    /// The address in a register that is a base.
    fn base(&mut self, base: Register) -> Result<Address, Fault> {
        let address = self.as_address(&self.value_or_stack(base))?;
        if base == SP && !self.world.is_aligned(address, 16) {
            let what = "the stack pointer is a base, and no multiple of 16";
            return Err(Fault::new(Rule::Misaligned, what));
        }
        Ok(address)
    }

    /// A word as an address.
    pub fn as_address(&self, word: &Word) -> Result<Address, Fault> {
        match word {
            Word::Pointer(at) => Ok(Address::Pointer(*at)),
            Word::Number(number) => Ok(Address::Number(*number)),
            Word::Moving(moving) => Ok(Address::Moving(*moving)),
            Word::Count(form) => Ok(Address::Count(*form)),
            Word::Bits(cells) => {
                let secret = "the address depends on an input";
                let other = "the address is made of what nobody has written";
                Err(self.world.unknown(&cells[..], Rule::SecretAddress, secret, other))
            }
            Word::Low(..) | Word::Distance(..) => Err(other_use()),
        }
    }

    /// The address of an access, whose base may change before it.
    fn address(
        &mut self,
        at: At,
        part: Option<Relocation>,
        bytes: usize,
    ) -> Result<Address, Fault> {
        if let Some(part) = part {
            let At::Offset { base, unscaled: false, .. } = at else { return Err(other_use()) };
            let at = self.in_page(base, part)?;
            // The field has no place for the lowest bits.
            return match self.world.object.is_aligned(at, bytes as u64) {
                true => Ok(Address::Pointer(at)),
                false => Err(other_use()),
            };
        }
        match at {
            At::Offset { base, offset, .. } => {
                let base = self.base(base)?;
                by(base, offset)
            }
            At::Before { base: register, offset } => {
                let at = by(self.base(register)?, offset)?;
                self.set_address(register, at);
                Ok(at)
            }
            At::After { base, .. } => self.base(base),
            At::Index { base, index, extend, shift } => {
                let base = self.base(base)?;
                self.indexed(base, index, extend, shift.unwrap_or(0))
            }
        }
    }

    /// Changes the base of an access at `place` after it.
    fn change_after(&mut self, at: At, place: Address) -> Done {
        if let At::After { base, offset } = at {
            self.set_address(base, by(place, offset)?);
        }
        Ok(())
    }

    /// The sum of a base and an index, one of which is an address.
    fn indexed(
        &mut self,
        base: Address,
        index: Register,
        extend: Extend,
        shift: usize,
    ) -> Result<Address, Fault> {
        let index = self.extend(self.value(index), extend, true)?;
        let index = self.moved(index, Shift::Left, shift, true)?;
        self.summed(base, &index)
    }

    /// The sum of an address and a word.
    fn summed(&mut self, base: Address, by: &Word) -> Result<Address, Fault> {
        let is_place = |word: &Word| word.place().is_some();
        let base = Word::from(base);
        if matches!(by, Word::Bits(_)) {
            return self.as_address(by);
        }
        if is_place(&base) && is_place(by) {
            return Err(unsupported("the sum of two addresses"));
        }
        let sum = self.world.public(Binary::Add, [&base, by], 8);
        let (sum, _) = sum.ok_or_else(other_use)??;
        self.as_address(&sum)
    }

    fn set_address(&mut self, register: Register, at: Address) {
        self.set_or_stack(register, Word::from(at));
    }

    /// The address in a base, and the one that it has after the access.
    fn changing(
        &mut self,
        base: Register,
        after: Option<After>,
    ) -> Result<(Address, Address), Fault> {
        let at = self.base(base)?;
        let end = match after {
            None => at,
            Some(After::Bytes(bytes)) => by(at, bytes as i64)?,
            Some(After::Register(register)) => self.summed(at, &self.value(register))?,
        };
        Ok((at, end))
    }

    fn access(
        &mut self,
        loads: bool,
        bytes: usize,
        content: Content,
        register: Register,
        at: Address,
    ) -> Done {
        match (content, loads) {
            (Content::General { signed, wide }, true) => {
                let stack = self.aarch64.stack()?;
                let word = self.world.load_word(at, bytes, stack)?;
                let low = self.world.truncated(word, bytes);
                let word = match signed {
                    true => self.world.sign_extended(&low, bytes, size(wide) / 8)?,
                    false => low,
                };
                self.set(register, word);
                Ok(())
            }
            (Content::General { .. }, false) => {
                let word = self.world.truncated(self.value(register), bytes);
                let stack = self.aarch64.stack()?;
                self.world.store_word(at, &word, bytes, stack)
            }
            (Content::Vector, true) => {
                let vector = self.load_vector(at, bytes)?;
                *self.aarch64.vector_mut(register) = vector;
                Ok(())
            }
            (Content::Vector, false) => {
                let vector = self.aarch64.vectors[register].clone();
                self.store_vector(at, bytes, &vector)
            }
        }
    }

    /// A vector in memory, with zeros above, whose lanes may be addresses.
    fn load_vector(&mut self, at: Address, bytes: usize) -> Result<Vector, Fault> {
        let mut vector = Vector::of([self.world.bits.constant(false); 128]);
        let stack = self.aarch64.stack()?;
        if bytes == 8 {
            let word = self.world.load_word(at, bytes, stack)?;
            vector.pointers[0] = word.moved();
            let cells = word.cells(&self.world.bits).unwrap_or([Cell::UNSET; 64]);
            vector.cells[..64].copy_from_slice(&cells);
            return Ok(vector);
        }
        if let (Address::Pointer(at), 16) = (at, bytes) {
            vector.pointers = [0, 8].map(|lane| self.world.memory.whole(at.plus(lane)));
        }
        let cells = self.world.load_cells(at, bytes, stack)?;
        vector.cells[..8 * bytes].copy_from_slice(&cells);
        Ok(vector)
    }

    fn store_vector(&mut self, at: Address, bytes: usize, vector: &Vector) -> Done {
        let wholes = vector.pointers.into_iter().zip([0, 8]).take(bytes.div_ceil(8));
        let wholes: Vec<(Whole, i64)> =
            wholes.filter_map(|(whole, lane)| Some((whole?, lane))).collect();
        if !wholes.is_empty() && bytes < 8 {
            return Err(unsupported("a part of an address is stored"));
        }
        let stack = self.aarch64.stack()?;
        self.world.store(at, &vector.cells[..8 * bytes], stack)?;
        for (whole, lane) in wholes {
            let Address::Pointer(at) = at else {
                return Err(unsupported("an address is stored where none should be"));
            };
            self.world.memory.store_whole(at.plus(lane), whole, stack)?;
        }
        Ok(())
    }

    /// The content of memory as bits.
    pub fn bits_at(&mut self, at: Address, bytes: usize) -> Result<Vec<Cell>, Fault> {
        let stack = self.aarch64.stack()?;
        self.world.load_cells(at, bytes, stack)
    }

    /// Writes bits to memory.
    pub fn put(&mut self, at: Address, cells: &[Cell]) -> Done {
        let stack = self.aarch64.stack()?;
        self.world.store(at, cells, stack)
    }

    /// The place of the next instruction.
    pub fn following(&self) -> u64 {
        self.place + BYTES
    }
}

/// An address that is moved by a number of bytes.
fn by(at: Address, offset: i64) -> Result<Address, Fault> {
    further(at, Form::number(offset))
}

fn moved(at: Address, bytes: usize) -> Result<Address, Fault> {
    by(at, bytes as i64)
}
