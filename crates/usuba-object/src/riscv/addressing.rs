//! Loads and stores, and addresses in the object.
//!
//! ```text
//! lui a5, %hi(table)       the upper part of the address of a place
//! lw  a0, %lo(table)(a5)   the place, by its lower part
//! ```

use super::values::{Value, Word, moved};
use super::{Done, Run};
use crate::address::Address;
use crate::elf::{Kind, Object, Part, Relocation};
use crate::memory::Loaded;
use crate::places::{other_use, pointer};
use crate::{Fault, Rule, Step, unsupported};
use usuba_bits::cell::Cell;
use usuba_decode::riscv::{Instruction, Operand, Operation, Register};

/// Half of the bytes that a lower part reaches.
const REACH: u64 = 2048;

impl Run<'_, '_> {
    pub fn execute(&mut self, instruction: Instruction) -> Result<Step, Fault> {
        let bytes = (self.next - self.place) as usize;
        let relocation = self.world.relocation(self.place, bytes)?;
        match (instruction, relocation) {
            (Instruction::Jump { to, offset }, relocation) => {
                let target = match relocation {
                    None => self.place.wrapping_add_signed(offset.into()),
                    Some(Relocation { kind: Kind::Relative, target, .. }) => target,
                    Some(_) => return Err(other_use()),
                };
                return self.jump(to, target);
            }
            (Instruction::UpperRelative { to, .. }, Some(Relocation { size: 8, target, .. })) => {
                return self.far_jump(to, |_| target);
            }
            // In an executable at a fixed address places are numbers.
            (Instruction::UpperRelative { to, value }, None)
                if let Some(address) = self.world.object.address(self.place)
                    && !self.is_far_jump(to) =>
            {
                let number = self.number((address as u32).wrapping_add(value as u32) as i32);
                self.set_bits(to, &number);
            }
            (Instruction::UpperRelative { to, value }, None) => {
                let from = self.place.wrapping_add_signed(value.into());
                return self.far_jump(to, |offset| from.wrapping_add_signed(offset.into()));
            }
            (Instruction::JumpRegister { to, base, offset }, None) => {
                return self.jump_to(to, base, offset);
            }
            (Instruction::Branch { condition, a, b, offset }, relocation) => {
                let target = match relocation {
                    None => self.place.wrapping_add_signed(offset.into()),
                    Some(Relocation { kind: Kind::Relative, target, .. }) => target,
                    Some(_) => return Err(other_use()),
                };
                self.branch(condition, a, b, target)?;
            }
            (Instruction::Upper { to, value }, None) => {
                let number = self.number(value);
                self.set_bits(to, &number);
            }
            (Instruction::Upper { to, .. }, Some(part)) if part.kind == Kind::Part(Part::High) => {
                self.set(to, Value::High(part.target));
            }
            (Instruction::UpperRelative { to, .. }, Some(part))
                if part.kind == Kind::Part(Part::HighRelative) =>
            {
                self.set(to, Value::High(part.target));
            }
            (Instruction::Load { to, base, offset, bytes, signed }, part) => {
                let at = self.address(base, offset, part)?;
                self.load(to, at, bytes, signed)?;
            }
            (Instruction::Store { from, base, offset, bytes }, part) => {
                let at = self.address(base, offset, part)?;
                let value = self.value(from);
                self.store_value(at, &value, bytes)?;
            }
            (Instruction::Arithmetic { operation, to, a, b }, None) => {
                let (a, b) = (self.value(a), self.operand(b));
                self.arithmetic(operation, to, a, b)?;
            }
            (
                Instruction::Arithmetic {
                    operation: Operation::Add,
                    to,
                    a,
                    b: Operand::Immediate(offset),
                },
                part,
            ) => {
                let at = self.address(a, offset, part)?;
                let Address::Pointer(at) = at else { return Err(other_use()) };
                self.set(to, Value::Pointer(at));
            }
            _ => return Err(other_use()),
        }
        Ok(Step::Next)
    }

    /// The address of an access: a register and an offset, or the lower part of the address of a
    /// place, whose upper part is in the register.
    fn address(
        &self,
        base: Register,
        offset: i32,
        part: Option<Relocation>,
    ) -> Result<Address, Fault> {
        let value = self.value(base);
        let Some(part) = part else {
            return match value {
                Value::Pointer(at) => Ok(Address::Pointer(moved(at, offset))),
                Value::Bits(cells) => match self.known(&cells[..]) {
                    Some(base) => {
                        let number = u64::from(base.wrapping_add_signed(offset));
                        let place = self.world.object.at_address(number).map(Object::pointer);
                        Ok(place.map_or(Address::Number(number), Address::Pointer))
                    }
                    None => {
                        let secret = "the address depends on an input";
                        let other = "the address is made of what nobody has written";
                        Err(self.world.unknown(&cells[..], Rule::SecretAddress, secret, other))
                    }
                },
                Value::High(_) => Err(other_use()),
            };
        };
        let Value::High(upper) = value else { return Err(other_use()) };
        let target = match part.kind {
            Kind::Part(Part::Low) => part.target,
            // The other instruction has the upper part and names the place.
            Kind::Part(Part::LowRelative) => {
                let mut other = self.world.object.relocations(part.target, 1);
                let named = other.find(|(at, other)| {
                    *at == part.target && other.kind == Kind::Part(Part::HighRelative)
                });
                named.ok_or_else(other_use)?.1.target
            }
            _ => return Err(other_use()),
        };
        if !self.world.have_one_upper_part(upper, target, REACH) {
            return Err(unsupported("the parts of an address are of two places"));
        }
        Ok(Address::Pointer(Object::pointer(target)))
    }

    pub fn loaded(&mut self, at: Address, bytes: usize) -> Result<Loaded, Fault> {
        let stack = self.riscv.stack()?;
        self.world.load(at, bytes, stack)
    }

    fn load(&mut self, to: Register, at: Address, bytes: usize, signed: bool) -> Done {
        self.check_alignment(at, bytes)?;
        match self.loaded(at, bytes)? {
            Loaded::Pointer(pointer) => self.set(to, Value::Pointer(pointer)),
            Loaded::Cells(cells) => {
                let zero = self.world.bits.constant(false);
                let top = if signed { *cells.last().expect("a byte") } else { zero };
                let word: Word = std::array::from_fn(|at| cells.get(at).copied().unwrap_or(top));
                self.set_bits(to, &word);
            }
            Loaded::Moving(_) | Loaded::Count(_) => {
                return Err(unsupported("a number of blocks in memory"));
            }
        }
        Ok(())
    }

    fn store_value(&mut self, at: Address, value: &Value, bytes: usize) -> Done {
        self.check_alignment(at, bytes)?;
        match value {
            Value::Bits(cells) => self.put(at, &cells[..8 * bytes]),
            Value::Pointer(whole) if bytes == 4 => {
                let stack = self.riscv.stack()?;
                self.world.store_word(at, &crate::word::Word::Pointer(*whole), 4, stack)
            }
            _ => Err(unsupported("a part of an address is stored")),
        }
    }

    /// Writes bits to memory.
    pub fn put(&mut self, at: Address, cells: &[Cell]) -> Done {
        let stack = self.riscv.stack()?;
        self.world.store(at, cells, stack)
    }

    /// Checks that an access is a multiple of its own size.
    fn check_alignment(&mut self, at: Address, bytes: usize) -> Done {
        let at = Address::Pointer(pointer(at)?);
        if bytes == 1 || self.world.is_aligned(at, bytes as u64) {
            return Ok(());
        }
        let what = format!("the address is not a multiple of {bytes}, or not always");
        Err(Fault::new(Rule::Misaligned, what))
    }
}
