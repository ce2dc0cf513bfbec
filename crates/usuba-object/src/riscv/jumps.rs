//! Branches, jumps and calls.

use super::values::{FIRST, PARAMETERS, RA, Value, Word, is_volatile};
use super::{Done, LONGEST, Run};
use crate::callees::Caller;
use crate::elf::Object;
use crate::memory::{Pointer, Region};
use crate::word::Word as Extended;
use crate::{Fault, Rule, Step, World, unsupported};
use usuba_bits::cell::Cell;
use usuba_decode::riscv::{Condition, Instruction, Register, decode};

impl Run<'_, '_> {
    /// jal to a place.
    pub fn jump(&mut self, to: Register, target: u64) -> Result<Step, Fault> {
        match to {
            0 => self.tail(target),
            RA => self.call(target),
            _ => Err(unsupported("a call with another register for the return address")),
        }
    }

    /// auipc and jalr with a distance together, by the offset of the second one.
    pub fn far_jump(
        &mut self,
        register: Register,
        target: impl Fn(i32) -> u64,
    ) -> Result<Step, Fault> {
        let next = decode(self.world.object.code(self.next, LONGEST));
        match next {
            Some((Instruction::JumpRegister { to, base, offset }, bytes)) if base == register => {
                let target = target(offset);
                self.set(register, Value::unset());
                self.next += bytes as u64;
                self.riscv.next = self.next;
                self.jump(to, target)
            }
            _ => Err(unsupported("a distance to code that is no call")),
        }
    }

    /// Whether the next instruction is a jump by this register.
    pub fn is_far_jump(&self, register: Register) -> bool {
        let next = decode(self.world.object.code(self.next, LONGEST));
        matches!(next, Some((Instruction::JumpRegister { base, .. }, _)) if base == register)
    }

    /// jalr to an address in a register.
    pub fn jump_to(&mut self, to: Register, base: Register, offset: i32) -> Result<Step, Fault> {
        let other = "a jump to an address that is data";
        match self.value(base) {
            Value::Pointer(_) if offset != 0 => Err(unsupported(other)),
            Value::Pointer(Pointer { region: Region::Caller, offset: 0 }) if to == 0 => {
                Ok(Step::Returned)
            }
            Value::Pointer(at) => {
                let target = Object::place(at).ok_or_else(|| unsupported(other))?;
                if (to, base) == (0, RA) {
                    self.riscv.next = target;
                    return Ok(Step::Back);
                }
                self.jump(to, target)
            }
            Value::Bits(cells)
                if let Some(base) = self.known(&cells[..])
                    && let address = base.wrapping_add_signed(offset)
                    && let Some(place) = self.world.object.at_address(address.into()) =>
            {
                self.jump(to, place)
            }
            Value::Bits(cells) => {
                let secret = "the target of the jump depends on an input";
                Err(self.world.unknown(&cells[..], Rule::SecretBranch, secret, other))
            }
            Value::High(_) => Err(unsupported(other)),
        }
    }

    /// A jump without a return address: to another place, or a call whose callee returns to the caller.
    fn tail(&mut self, target: u64) -> Result<Step, Fault> {
        if !self.world.is_outside(target) {
            self.riscv.next = target;
            return Ok(Step::Next);
        }
        let back = self.value(RA);
        let above = self.riscv.stack()?;
        self.outside(target, above)?;
        self.set(RA, back);
        self.jump_to(0, RA, 0)
    }

    fn call(&mut self, target: u64) -> Result<Step, Fault> {
        if self.world.is_outside(target) {
            let above = self.riscv.stack()?;
            self.outside(target, above)?;
            // The return address was there, which is no secret.
            self.set(RA, Value::unset());
            return Ok(Step::Next);
        }
        self.set(RA, Value::Pointer(Object::pointer(self.next)));
        self.riscv.next = target;
        Ok(Step::Called)
    }

    /// A branch, whose condition must be known.
    pub fn branch(&mut self, condition: Condition, a: Register, b: Register, target: u64) -> Done {
        let negated =
            matches!(condition, Condition::Unequal | Condition::NotLess | Condition::NotBelow);
        let (a, b) = (self.value(a), self.value(b));
        let holds = match (&a, &b) {
            (Value::Pointer(a), Value::Pointer(b)) if a.region == b.region => match condition {
                Condition::Equal | Condition::Unequal => a.offset == b.offset,
                Condition::Below | Condition::NotBelow
                    if self.world.is_near(a) && self.world.is_near(b) =>
                {
                    a.offset < b.offset
                }
                _ => return Err(unsupported("a comparison of addresses")),
            },
            // No buffer is at address zero.
            (Value::Pointer(at), Value::Bits(cells)) | (Value::Bits(cells), Value::Pointer(at))
                if self.known(&cells[..]) == Some(0)
                    && matches!(condition, Condition::Equal | Condition::Unequal)
                    && self.world.is_near(at) =>
            {
                false
            }
            (Value::Bits(a), Value::Bits(b)) => self.holds(condition, a, b)?,
            _ => return Err(unsupported("a comparison of addresses")),
        };
        if holds != negated {
            self.riscv.next = target;
        }
        Ok(())
    }

    /// Whether the condition that a branch tests, or its opposite, holds for words.
    fn holds(&mut self, condition: Condition, a: &Word, b: &Word) -> Result<bool, Fault> {
        let is_secret = a.iter().chain(b).any(|&cell| self.world.bits.is_secret(cell));
        let bit = match condition {
            Condition::Equal | Condition::Unequal => self.world.bits.equal(a, b),
            Condition::Below | Condition::NotBelow => self.is_below(a, b),
            Condition::Less | Condition::NotLess => self.is_less(a, b),
        };
        self.world.decided(bit, is_secret)
    }
}

impl<'o> Caller<'o> for Run<'_, 'o> {
    const REGISTERS: usize = PARAMETERS;

    fn world(&mut self) -> &mut World<'o> {
        self.world
    }

    fn parameter(&self, at: usize) -> Extended {
        self.value(FIRST + at).extended(&self.world.bits)
    }

    fn stack(&self) -> Result<i64, Fault> {
        self.riscv.stack()
    }

    fn returned(&mut self, result: Extended, handles_secret: bool) -> Done {
        let stack = self.riscv.stack()?;
        let bits = &self.world.bits;
        let mut any = handles_secret;
        for register in (0..32).filter(|&register| is_volatile(register)) {
            let mut cells = self.riscv.registers[register].cells().unwrap_or([Cell::UNSET; 32]);
            for cell in &mut cells {
                *cell = match handles_secret || bits.is_secret(*cell) {
                    true => Cell::OPAQUE,
                    false => Cell::UNSET,
                };
                any |= *cell == Cell::OPAQUE;
            }
            self.riscv.registers[register] = Value::Bits(Box::new(cells));
        }
        let result = Value::of(&result, bits);
        self.set(FIRST, result);
        let World { bits, memory, .. } = &mut *self.world;
        memory.lose_below(stack, |cell| any || bits.is_secret(cell));
        Ok(())
    }
}
