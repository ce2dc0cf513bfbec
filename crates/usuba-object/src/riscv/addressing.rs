//! Loads and stores, and addresses in the object.
//!
//! ```text
//! lui a5, %hi(table)       the upper part of the address of a place
//! lw  a0, %lo(table)(a5)   the place, by its lower part
//! ```

use super::values::BYTES;
use super::{Done, Run};
use crate::address::Address;
use crate::elf::{Kind, Object, Part, Relocation};
use crate::memory::{Pointer, Region};
use crate::places::other_use;
use crate::word::{Binary, Word};
use crate::{Fault, Rule, Step, unsupported};
use usuba_decode::riscv::{Instruction, Operand, Operation, Register};

/// Half of the bytes that a lower part reaches.
const REACH: u64 = 2048;

/// The upper part of the address of a place in the object.
fn upper(place: u64) -> Word {
    Word::Pointer(Pointer { region: Region::Upper, offset: place as i64 })
}

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
                let number = (address as u32).wrapping_add(value as u32);
                self.set(to, Word::Number(number.into()));
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
                self.set(to, Word::Number(u64::from(value as u32)));
            }
            (Instruction::Upper { to, .. }, Some(part)) if part.kind == Kind::Part(Part::High) => {
                self.set(to, upper(part.target));
            }
            (Instruction::UpperRelative { to, .. }, Some(part))
                if part.kind == Kind::Part(Part::HighRelative) =>
            {
                self.set(to, upper(part.target));
            }
            (Instruction::Load { to, base, offset, bytes, signed }, part) => {
                let at = self.address(base, offset, part)?;
                self.load(to, at, bytes, signed)?;
            }
            (Instruction::Store { from, base, offset, bytes }, part) => {
                let at = self.address(base, offset, part)?;
                self.store_register(at, from, bytes)?;
            }
            (Instruction::Arithmetic { operation, to, a, b }, None) => {
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
                self.set(to, Word::Pointer(at));
            }
            _ => return Err(other_use()),
        }
        Ok(Step::Next)
    }

    /// The address of an access: a register and an offset, or the lower part of the address of a
    /// place, whose upper part is in the register.
    fn address(
        &mut self,
        base: Register,
        offset: i32,
        part: Option<Relocation>,
    ) -> Result<Address, Fault> {
        let word = self.value(base);
        let Some(part) = part else {
            let by = Word::Number(u64::from(offset as u32));
            return match word {
                Word::Number(base) => {
                    let number = u64::from((base as u32).wrapping_add_signed(offset));
                    let place = self.world.object.at_address(number).map(Object::pointer);
                    Ok(place.map_or(Address::Number(number), Address::Pointer))
                }
                Word::Pointer(_) | Word::Moving(_) | Word::Count(_) => {
                    match self.combined(Binary::Add, word, by)? {
                        Word::Pointer(at) => Ok(Address::Pointer(at)),
                        Word::Moving(at) => Ok(Address::Moving(at)),
                        Word::Count(form) => Ok(Address::Count(form)),
                        _ => Err(other_use()),
                    }
                }
                Word::Bits(cells) => {
                    let secret = "the address depends on an input";
                    let other = "the address is made of what nobody has written";
                    Err(self.world.unknown(&cells[..], Rule::SecretAddress, secret, other))
                }
                Word::Low(..) | Word::Distance(..) => Err(other_use()),
            };
        };
        let Word::Pointer(Pointer { region: Region::Upper, offset: upper }) = word else {
            return Err(other_use());
        };
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
        if !self.world.have_one_upper_part(upper as u64, target, REACH) {
            return Err(unsupported("the parts of an address are of two places"));
        }
        Ok(Address::Pointer(Object::pointer(target)))
    }

    fn load(&mut self, to: Register, at: Address, bytes: usize, signed: bool) -> Done {
        self.check_alignment(at, bytes)?;
        let stack = self.riscv.stack()?;
        let word = self.world.load_word(at, bytes, stack)?;
        let word = match bytes {
            BYTES => word,
            _ => self.world.truncated(word, bytes),
        };
        let word = match signed && bytes < BYTES {
            true => self.world.sign_extended(&word, bytes, BYTES)?,
            false => word,
        };
        self.set(to, word);
        Ok(())
    }

    fn store_register(&mut self, at: Address, register: Register, bytes: usize) -> Done {
        self.check_alignment(at, bytes)?;
        let word = match (self.value(register), bytes) {
            (word, BYTES) => word,
            (Word::Pointer(_) | Word::Moving(_), _) if !self.world.forks.follows => {
                return Err(unsupported("a part of an address is stored"));
            }
            (word, bytes) => self.world.truncated(word, bytes),
        };
        let stack = self.riscv.stack()?;
        self.world.store_word(at, &word, bytes, stack)
    }

    /// Checks that an access is a multiple of its own size.
    fn check_alignment(&mut self, at: Address, bytes: usize) -> Done {
        let is_address = at.place().is_some();
        if bytes == 1 || !is_address || self.world.is_aligned(at, bytes as u64) {
            return Ok(());
        }
        let what = format!("the address is not a multiple of {bytes}, or not always");
        Err(Fault::new(Rule::Misaligned, what))
    }
}
