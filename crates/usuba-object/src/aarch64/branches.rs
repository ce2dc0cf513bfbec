//! Branches, jumps and calls.

use usuba_decode::aarch64::{Instruction, Jump, Register};

use super::register_file::{LINK, PARAMETERS, Value, Vector, is_volatile};
use super::{Done, Run};
use crate::address::Address;
use crate::callees::Caller;
use crate::cell::Cell;
use crate::elf::{Object, Relocation};
use crate::memory::{Loaded, Pointer, Region};
use crate::plain_calls::PlainCaller;
use crate::{Fault, Rule, Step, World, unsupported};

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
                let holds = self.aarch64.flags.holds(&mut self.world.bits, condition)?;
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
                let bit = self.word(register, true)?[bit];
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

    /// Whether a register is zero, and whether it depends on inputs. No buffer is at address zero.
    fn is_zero(&mut self, register: Register, wide: bool) -> Result<(Cell, bool), Fault> {
        let value = self.value(register);
        if let Value::Pointer(at) = &value
            && wide
            && self.world.is_near(at)
        {
            return Ok((self.world.bits.constant(false), false));
        }
        let (cells, zero) = (self.bits_of(&value, wide)?, self.number(0, wide));
        let is_secret = cells.iter().any(|&cell| self.world.bits.is_secret(cell));
        Ok((self.world.bits.equal(&cells, &zero), is_secret))
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
            Value::Pointer(at) => at,
            Value::Bits(cells) => {
                let secret = "the target of the jump depends on an input";
                return Err(self.world.unknown(&cells[..], Rule::SecretBranch, secret, other));
            }
            Value::Page(_) => return Err(unsupported(other)),
        };
        if at == (Pointer { region: Region::Caller, offset: 0 }) && jump != Jump::Call {
            return Ok(Step::Returned);
        }
        let target = Object::place(at).ok_or_else(|| unsupported(other))?;
        match jump {
            Jump::Return => {
                self.aarch64.next = target;
                Ok(Step::Back)
            }
            Jump::Plain => self.tail(target),
            Jump::Call => self.call(target),
        }
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
            self.set(LINK, Value::unset());
            return Ok(Step::Next);
        }
        self.set(LINK, Value::Pointer(Object::pointer(self.following())));
        self.aarch64.next = target;
        Ok(Step::Called)
    }
}

impl<'o> Caller<'o> for Run<'_, 'o> {
    fn world(&mut self) -> &mut World<'o> {
        self.world
    }

    fn address_bytes(&self) -> usize {
        8
    }

    fn check_call(&mut self, above: i64) -> Done {
        let at = Address::Pointer(Pointer { region: Region::Frame, offset: above });
        match self.world.is_aligned(at, 16) {
            true => Ok(()),
            false => Err(Fault::new(Rule::Misaligned, "the stack is not aligned at the call")),
        }
    }

    fn handed(&mut self, at: usize, above: i64) -> Result<Address, Fault> {
        if at < PARAMETERS {
            return self.as_address(&self.value(at));
        }
        let offset = above + 8 * (at - PARAMETERS) as i64;
        self.load_address(Address::Pointer(Pointer { region: Region::Frame, offset }))
    }

    fn handed_number(&self, at: usize) -> Option<u64> {
        self.world.bits.word(&self.value(at).cells()?)
    }

    fn stack(&self) -> Result<i64, Fault> {
        self.aarch64.stack()
    }

    fn is_aligned(&mut self, at: Address, align: u64) -> bool {
        self.world.is_aligned(at, align)
    }

    fn load_cells(&mut self, at: Address, bytes: usize) -> Result<Vec<Cell>, Fault> {
        self.bits_at(at, bytes)
    }

    fn load_address(&mut self, at: Address) -> Result<Address, Fault> {
        match self.loaded(at, 8)? {
            Loaded::Pointer(pointer) => Ok(Address::Pointer(pointer)),
            _ => Err(unsupported("the address that is handed over is not known")),
        }
    }

    fn store(&mut self, at: Address, cells: &[Cell]) -> Done {
        self.put(at, cells)
    }

    fn forget_results(&mut self) -> Done {
        let stack = self.aarch64.stack()?;
        for register in (0..32).filter(|&register| is_volatile(register)) {
            self.set(register, Value::Bits(Box::new([Cell::OPAQUE; 64])));
        }
        // A callee restores the lower halves of some vectors.
        for (number, vector) in self.aarch64.vectors.iter_mut().enumerate() {
            let before = vector.clone();
            *vector = Vector::of([Cell::OPAQUE; 128]);
            if super::register_file::SAVED_VECTORS.contains(&number) {
                vector.cells[..64].copy_from_slice(&before.cells[..64]);
                vector.pointers[0] = before.pointers[0];
            }
        }
        self.aarch64.flags = super::Flags::Unset;
        self.world.memory.lose_below(stack, |_| true);
        Ok(())
    }
}

impl<'o> PlainCaller<'o> for Run<'_, 'o> {
    fn handed_byte(&self, at: usize) -> Option<Vec<Cell>> {
        Some(self.value(at).cells()?[..8].to_vec())
    }

    fn return_address(&mut self, at: Address) {
        let value = match at {
            Address::Pointer(at) => Value::Pointer(at),
            _ => Value::unset(),
        };
        self.set(0, value);
    }
}
