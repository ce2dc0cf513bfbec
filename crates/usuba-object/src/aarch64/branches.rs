//! Branches, jumps and calls.

use usuba_decode::aarch64::{Instruction, Jump, Register};

use super::flag_bits::Flags;
use super::register_file::{LINK, PARAMETERS, SAVED_VECTORS, SP, is_volatile};
use super::word_operations::size;
use super::{Done, Run};
use crate::callees::Caller;
use crate::elf::{Object, Relocation};
use crate::flags::Condition;
use crate::memory::Region;
use crate::summarized::NOWHERE;
use crate::word::{Binary, Word};
use crate::{Fault, Rule, Step, World, unsupported};
use usuba_bits::cell::Cell;

impl Run<'_, '_> {
    /// Executes a branch or a jump; `None` for other instructions.
    pub fn jumped(
        &mut self,
        instruction: Instruction,
        relocation: Option<Relocation>,
    ) -> Result<Option<Step>, Fault> {
        let step = match instruction {
            Instruction::Branch { is_call, offset } => {
                let target = self.near(offset, relocation)?;
                if is_call { self.call(target)? } else { self.tail(target)? }
            }
            Instruction::BranchIf { condition, offset } => {
                let target = self.near(offset, relocation)?;
                let is_secret = self.aarch64.flags.are_secret(&self.world.bits);
                let holds = self.holds(condition)?;
                self.branch(holds, is_secret, target)?
            }
            Instruction::BranchZero { wide, if_zero, register, offset } => {
                let target = self.near(offset, relocation)?;
                let (holds, is_secret) = self.is_zero(register, wide)?;
                let holds = if if_zero { holds } else { self.world.bits.not(holds) };
                self.branch(holds, is_secret, target)?
            }
            Instruction::BranchBit { if_zero, register, bit, offset } => {
                let target = self.near(offset, relocation)?;
                let bit = self.tested_bit(register, bit)?;
                let is_secret = self.world.bits.is_secret(bit);
                let holds = if if_zero { self.world.bits.not(bit) } else { bit };
                self.branch(holds, is_secret, target)?
            }
            Instruction::JumpTo { jump, register } if relocation.is_none() => {
                self.jump_to(jump, register)?
            }
            _ => return Ok(None),
        };
        Ok(Some(step))
    }

    /// Whether a register is zero, and whether it depends on inputs.
    fn is_zero(&mut self, register: Register, wide: bool) -> Result<(Cell, bool), Fault> {
        if register != SP {
            self.name_tested(register);
        }
        let word = self.low(self.value(register), wide);
        let bytes = size(wide) / 8;
        if let Some(made) = self.world.public(Binary::Subtract, [&word, &Word::Number(0)], bytes) {
            let (_, flags) = made?;
            let zero = self.world.held(&flags, Condition::Equal)?;
            return Ok((self.bit(zero)?, false));
        }
        let (cells, zero) = (self.bits_of(&word, wide)?, self.number(0, wide));
        let is_secret = self.world.is_secret(&cells);
        Ok((self.world.bits.equal(&cells, &zero), is_secret))
    }

    /// A bit of a register.
    fn tested_bit(&mut self, register: Register, bit: usize) -> Result<Cell, Fault> {
        let word = self.value(register);
        if !word.is_counted() {
            return Ok(self.word(register, true)?[bit]);
        }
        let (operation, number, condition) = match bit {
            63 => (Binary::Subtract, 0, Condition::Sign),
            _ => (Binary::And, 1 << bit, Condition::Equal),
        };
        let made = self.world.public(operation, [&word, &Word::Number(number)], 8);
        let (_, flags) = made.expect("it is counted")?;
        let flag = self.world.held(&flags, condition)?;
        self.bit(if bit == 63 { flag } else { flag.inverted() })
    }

    /// A branch, whose condition must be known.
    fn branch(&mut self, holds: Cell, is_secret: bool, target: u64) -> Result<Step, Fault> {
        if self.world.decided(holds, is_secret)? {
            self.aarch64.next = target;
        }
        Ok(Step::Next)
    }

    /// A jump to the address in a register.
    fn jump_to(&mut self, jump: Jump, register: Register) -> Result<Step, Fault> {
        let other = "a jump to an address that is data";
        let at = match self.value(register) {
            Word::Pointer(at) => at,
            Word::Bits(cells) => {
                let secret = "the target of the jump depends on an input";
                return Err(self.world.unknown(&cells[..], Rule::SecretBranch, secret, other));
            }
            _ => return Err(unsupported(other)),
        };
        if jump != Jump::Call && at.offset == 0 {
            match at.region {
                Region::Caller => return Ok(Step::Returned),
                Region::Return => {
                    self.aarch64.next = NOWHERE;
                    return Ok(self.back());
                }
                _ => {}
            }
        }
        let target = Object::place(at).ok_or_else(|| unsupported(other))?;
        match jump {
            Jump::Return => {
                self.aarch64.next = target;
                Ok(self.back())
            }
            Jump::Plain => self.tail(target),
            Jump::Call => self.call(target),
        }
    }

    /// The return of a callee, whose caller does not need its address any more: paths with several calls
    /// have equal registers behind them.
    fn back(&mut self) -> Step {
        self.set(LINK, Word::unset());
        Step::Back
    }

    /// A jump without a return address: to another place, or a call whose callee returns to the
    /// caller.
    fn tail(&mut self, target: u64) -> Result<Step, Fault> {
        if !self.world.is_outside(target) {
            self.aarch64.next = target;
            return Ok(Step::Next);
        }
        let back = self.value(LINK);
        let above = self.aarch64.stack()?;
        self.outside(target, above)?;
        self.set(LINK, back);
        self.jump_to(Jump::Return, LINK)
    }

    fn call(&mut self, target: u64) -> Result<Step, Fault> {
        if self.world.is_outside(target) {
            let above = self.aarch64.stack()?;
            self.outside(target, above)?;
            // The return address was there, which is no secret.
            self.set(LINK, Word::unset());
            return Ok(Step::Next);
        }
        self.set(LINK, Word::Pointer(Object::pointer(self.following())));
        self.aarch64.next = target;
        Ok(Step::Called)
    }
}

impl<'o> Caller<'o> for Run<'_, 'o> {
    const REGISTERS: usize = PARAMETERS;

    fn world(&mut self) -> &mut World<'o> {
        self.world
    }

    fn parameter(&self, at: usize) -> Word {
        self.value(at)
    }

    fn stack(&self) -> Result<i64, Fault> {
        self.aarch64.stack()
    }

    fn returned(&mut self, result: Word, handles_secret: bool) -> Done {
        let stack = self.aarch64.stack()?;
        let mut any = handles_secret || self.aarch64.flags.are_secret(&self.world.bits);
        let bits = &self.world.bits;
        let mut lose = |cells: &mut [Cell]| {
            for cell in cells {
                *cell = match handles_secret || bits.is_secret(*cell) {
                    true => Cell::OPAQUE,
                    false => Cell::UNSET,
                };
                any |= *cell == Cell::OPAQUE;
            }
        };
        for register in (0..32).filter(|&register| is_volatile(register)) {
            let held = self.aarch64.general[register].cells(bits);
            let mut cells = held.unwrap_or([Cell::UNSET; 64]);
            lose(&mut cells);
            self.aarch64.general[register] = Word::Bits(Box::new(cells));
        }
        for number in 0..32 {
            let vector = self.aarch64.vector_mut(number);
            // A callee restores the lower halves of some vectors.
            let kept = if SAVED_VECTORS.contains(&number) { 1 } else { 0 };
            lose(&mut vector.cells[64 * kept..]);
            vector.pointers[kept..].fill(None);
        }
        self.set(0, result);
        self.aarch64.flags = match any {
            true => Flags::Given([Cell::OPAQUE; 4]),
            false => Flags::Unset,
        };
        let World { bits, memory, .. } = &mut *self.world;
        memory.lose_below(stack, |cell| any || bits.is_secret(cell));
        Ok(())
    }
}
