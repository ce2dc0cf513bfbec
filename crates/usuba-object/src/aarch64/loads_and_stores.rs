//! Loads and stores, and addresses in the object.
//!
//! ```text
//! adrp x0, table               the page of a place
//! ldr  q0, [x0, :lo12:table]   the place, by its lower part
//! ```
//!
//! An access need not be aligned, as on operating systems for applications, but the stack pointer is
//! a multiple of 16 where it is a base.

use usuba_decode::aarch64::{After, At, Content, Extend, Instruction, Lanes, Register};

use super::register_file::{SP, Value, Vector};
use super::{BYTES, Done, Run};
use crate::address::Address;
use crate::cell::Cell;
use crate::elf::{Kind, Object, Part, Relocation};
use crate::memory::{Loaded, Pointer};
use crate::plain_accesses::other_use;
use crate::{Fault, Rule, unsupported};

/// Bytes of a page.
const PAGE: u64 = 4096;

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
                self.set(to, Value::Page(relocation.target));
            }
            (Instruction::Place { is_page: false, to, offset }, relocation) => {
                let target = self.near(offset, relocation)?;
                self.set(to, Value::Pointer(Object::pointer(target)));
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
                self.set_or_stack(to, Value::Pointer(at));
            }
            (Instruction::Access { loads, bytes, content, register, at }, part) => {
                let place = self.address(at, part, bytes)?;
                self.access(loads, bytes, content, register, place)?;
                self.change_after(at, place);
            }
            (Instruction::AccessPair { loads, bytes, content, registers, at }, None) => {
                let place = self.address(at, None, bytes)?;
                let places = [place, moved(place, bytes)];
                for (register, at) in registers.into_iter().zip(places) {
                    self.access(loads, bytes, content, register, at)?;
                }
                self.change_after(at, place);
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
                            let at = moved(at, lanes.all / 8 * number);
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
        let (Value::Page(page), Kind::Part(Part::Low)) = (self.value_or_stack(base), part.kind)
        else {
            return Err(other_use());
        };
        if !self.world.have_one_upper_part(page, part.target, PAGE) {
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

    /// A value as an address.
    pub fn as_address(&self, value: &Value) -> Result<Address, Fault> {
        match value {
            Value::Pointer(at) => Ok(Address::Pointer(*at)),
            Value::Bits(cells) => match self.world.bits.word(&cells[..]) {
                Some(number) => Ok(Address::Number(number)),
                None => {
                    let secret = "the address depends on an input";
                    let other = "the address is made of what nobody has written";
                    Err(self.world.unknown(&cells[..], Rule::SecretAddress, secret, other))
                }
            },
            Value::Page(_) => Err(other_use()),
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
                Ok(by(base, offset))
            }
            At::Before { base: register, offset } => {
                let at = by(self.base(register)?, offset);
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
    fn change_after(&mut self, at: At, place: Address) {
        if let At::After { base, offset } = at {
            self.set_address(base, by(place, offset));
        }
    }

    /// The sum of a base and an index, one of which is an address.
    fn indexed(
        &self,
        base: Address,
        index: Register,
        extend: Extend,
        shift: usize,
    ) -> Result<Address, Fault> {
        let index = match extend.bits {
            64 => self.value(index),
            _ => {
                let low = self.extended(&self.word(index, true)?);
                self.extend(&low, extend, true)?
            }
        };
        match (base, self.as_address(&index)?) {
            (base, Address::Number(number)) => Ok(by(base, (number << shift) as i64)),
            (Address::Number(number), Address::Pointer(at)) if shift == 0 => {
                Ok(by(Address::Pointer(at), number as i64))
            }
            _ => Err(unsupported("the sum of two addresses")),
        }
    }

    fn set_address(&mut self, register: Register, at: Address) {
        let value = match at {
            Address::Pointer(at) => Value::Pointer(at),
            Address::Number(number) => self.extended(&self.number(number, true)),
            Address::Moving(_) | Address::Count(_) => Value::unset(),
        };
        self.set_or_stack(register, value);
    }

    /// The address in a base, and the one that it has after the access.
    fn changing(
        &mut self,
        base: Register,
        after: Option<After>,
    ) -> Result<(Address, Address), Fault> {
        let at = self.base(base)?;
        let offset = match after {
            None => 0,
            Some(After::Bytes(bytes)) => bytes as i64,
            Some(After::Register(register)) => match self.as_address(&self.value(register))? {
                Address::Number(number) => number as i64,
                _ => return Err(unsupported("the sum of two addresses")),
            },
        };
        Ok((at, by(at, offset)))
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
                let value = match self.loaded(at, bytes)? {
                    Loaded::Pointer(pointer) if bytes == 8 => Value::Pointer(pointer),
                    Loaded::Cells(cells) => {
                        let bits = 8 * bytes;
                        let low = self.extended(&cells);
                        let value = self.extend(&low, Extend { signed, bits }, wide)?;
                        // Zeros are above a word of 32 bits.
                        if wide { value } else { self.extended(&self.bits_of(&value, false)?) }
                    }
                    _ => return Err(unsupported("a part of an address is read")),
                };
                self.set(register, value);
                Ok(())
            }
            (Content::General { .. }, false) => match self.value(register) {
                Value::Pointer(pointer) if bytes == 8 => {
                    let stack = self.aarch64.stack()?;
                    self.world.put_pointer(at, pointer, stack)
                }
                Value::Bits(cells) => self.put(at, &cells[..8 * bytes]),
                _ => Err(unsupported("a part of an address is stored")),
            },
            (Content::Vector, true) => {
                let vector = self.load_vector(at, bytes)?;
                self.aarch64.vectors[register] = vector;
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
        for lane in 0..bytes.div_ceil(8) {
            let size = bytes.min(8);
            let cells = match self.loaded(moved(at, 8 * lane), size)? {
                Loaded::Pointer(pointer) if size == 8 => {
                    vector.pointers[lane] = Some(pointer);
                    vec![Cell::UNSET; 64]
                }
                Loaded::Cells(cells) => cells,
                _ => return Err(unsupported("a part of an address is read")),
            };
            vector.cells[64 * lane..][..8 * size].copy_from_slice(&cells);
        }
        Ok(vector)
    }

    fn store_vector(&mut self, at: Address, bytes: usize, vector: &Vector) -> Done {
        for lane in 0..bytes.div_ceil(8) {
            let (at, size) = (moved(at, 8 * lane), bytes.min(8));
            match vector.pointers[lane] {
                Some(pointer) if size == 8 => {
                    let stack = self.aarch64.stack()?;
                    self.world.put_pointer(at, pointer, stack)?;
                }
                Some(_) => return Err(unsupported("a part of an address is stored")),
                None => self.put(at, &vector.cells[64 * lane..][..8 * size])?,
            }
        }
        Ok(())
    }

    /// The content of memory as bits.
    pub fn bits_at(&mut self, at: Address, bytes: usize) -> Result<Vec<Cell>, Fault> {
        let stack = self.aarch64.stack()?;
        self.world.bits_at(at, bytes, stack)
    }

    pub fn loaded(&mut self, at: Address, bytes: usize) -> Result<Loaded, Fault> {
        let stack = self.aarch64.stack()?;
        self.world.loaded(at, bytes, stack)
    }

    /// Writes bits to memory.
    pub fn put(&mut self, at: Address, cells: &[Cell]) -> Done {
        let stack = self.aarch64.stack()?;
        self.world.put(at, cells, stack)
    }

    /// The place of the next instruction.
    pub fn following(&self) -> u64 {
        self.place + BYTES
    }
}

/// An address that is moved by a number of bytes.
fn by(at: Address, offset: i64) -> Address {
    match at {
        Address::Pointer(pointer) => Address::Pointer(pointer.plus(offset)),
        Address::Number(number) => Address::Number(number.wrapping_add_signed(offset)),
        other => other,
    }
}

fn moved(at: Address, bytes: usize) -> Address {
    by(at, bytes as i64)
}
