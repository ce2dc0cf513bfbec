//! Branches, jumps and calls.

use super::values::{BYTES, FIRST, PARAMETERS, RA, VOLATILE};
use super::{Done, LONGEST, Run};
use crate::callees::Caller;
use crate::elf::Object;
use crate::flags;
use crate::memory::Region;
use crate::summarized::NOWHERE;
use crate::word::Word;
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
                self.set(register, Word::unset());
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
        let is_return = (to, base) == (0, RA);
        match self.value(base) {
            Word::Pointer(at) if offset == 0 => {
                match at.region {
                    Region::Caller if to == 0 && at.offset == 0 => return Ok(Step::Returned),
                    Region::Return if is_return && at.offset == 0 => {
                        self.riscv.next = NOWHERE;
                        return Ok(self.back());
                    }
                    _ => {}
                }
                let target = Object::place(at).ok_or_else(|| unsupported(other))?;
                if is_return {
                    self.riscv.next = target;
                    return Ok(self.back());
                }
                self.jump(to, target)
            }
            Word::Number(base)
                if let address = (base as u32).wrapping_add_signed(offset)
                    && let Some(place) = self.world.object.at_address(address.into()) =>
            {
                self.jump(to, place)
            }
            Word::Bits(cells) => {
                let secret = "the target of the jump depends on an input";
                Err(self.world.unknown(&cells[..], Rule::SecretBranch, secret, other))
            }
            _ => Err(unsupported(other)),
        }
    }

    /// The return of a callee, whose caller does not need its address any more: paths with several calls
    /// have equal registers behind them.
    fn back(&mut self) -> Step {
        self.set(RA, Word::unset());
        Step::Back
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
            self.set(RA, Word::unset());
            return Ok(Step::Next);
        }
        self.set(RA, Word::Pointer(Object::pointer(self.next)));
        self.riscv.next = target;
        Ok(Step::Called)
    }

    /// A branch, whose condition must be known.
    pub fn branch(&mut self, condition: Condition, a: Register, b: Register, target: u64) -> Done {
        let (tested, negated) = match condition {
            Condition::Equal => (flags::Condition::Equal, false),
            Condition::Unequal => (flags::Condition::Equal, true),
            Condition::Less => (flags::Condition::Less, false),
            Condition::NotLess => (flags::Condition::Less, true),
            Condition::Below => (flags::Condition::Below, false),
            Condition::NotBelow => (flags::Condition::Below, true),
        };
        self.name_compared(a, b);
        let (a, b) = (self.value(a), self.value(b));
        let (holds, is_secret) = self.compared(tested, &a, &b)?;
        let taken = if negated { self.world.bits.not(holds) } else { holds };
        if self.world.decided(taken, is_secret)? {
            self.riscv.next = target;
        }
        Ok(())
    }
}

impl<'o> Caller<'o> for Run<'_, 'o> {
    const REGISTERS: usize = PARAMETERS;

    fn world(&mut self) -> &mut World<'o> {
        self.world
    }

    fn parameter(&self, at: usize) -> Word {
        self.value(FIRST + at)
    }

    fn stack(&self) -> Result<i64, Fault> {
        self.riscv.stack()
    }

    fn returned(&mut self, result: Word, handles_secret: bool) -> Done {
        let stack = self.riscv.stack()?;
        let mut any = handles_secret;
        for register in VOLATILE {
            let bits = &self.world.bits;
            let held = self.riscv.registers[register].cells(bits);
            let mut cells = held.unwrap_or([Cell::UNSET; 64]);
            for cell in &mut cells[..8 * BYTES] {
                *cell = match handles_secret || bits.is_secret(*cell) {
                    true => Cell::OPAQUE,
                    false => Cell::UNSET,
                };
                any |= *cell == Cell::OPAQUE;
            }
            self.set_bits(register, &cells[..8 * BYTES]);
        }
        self.set(FIRST, result);
        let World { bits, memory, .. } = &mut *self.world;
        memory.lose_below(stack, |cell| any || bits.is_secret(cell));
        Ok(())
    }
}
