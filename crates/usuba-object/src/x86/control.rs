//! Jumps, calls, the stack.
//!
//! Where a jump goes must be known. The flags of numbers are; those of what depends on inputs are
//! not, so a branch on a secret is always found.

use iced_x86::{ConditionCode, FlowControl, Instruction, Mnemonic, OpKind};

use super::operands::Address;
use super::registers::{Flag, RSP, Word};
use super::{X86, unsupported};
use crate::memory::{Loaded, Pointer, Region};
use crate::{Fault, Rule, Step, World};

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Nop | Endbr64
            | Push
            | Pop
            | Leave
            | Call
            | Ret
            | Jmp
            | Jo
            | Jno
            | Jb
            | Jae
            | Je
            | Jne
            | Jbe
            | Ja
            | Js
            | Jns
            | Jl
            | Jge
            | Jle
            | Jg
    )
}

impl X86 {
    /// Jumps, calls, returns, the stack and what does nothing; `None` for all others.
    pub(super) fn control(
        &mut self,
        world: &mut World,
        i: &Instruction,
    ) -> Option<Result<Step, Fault>> {
        use Mnemonic::*;
        let done = |outcome: Result<(), Fault>| Some(outcome.map(|()| Step::Next));
        match i.mnemonic() {
            Nop | Endbr64 => return Some(Ok(Step::Next)),
            Push => return done(self.push_operand(world, i)),
            Pop => return done(self.pop_operand(world, i)),
            Leave => {
                self.set_general(RSP, self.general(5).clone());
                return done(self.pop(world).map(|word| self.set_general(5, word)));
            }
            Ret => return Some(self.return_to(world, i)),
            _ => {}
        }
        match i.flow_control() {
            FlowControl::Next => None,
            FlowControl::UnconditionalBranch => Some(self.jump(world, i)),
            FlowControl::ConditionalBranch => Some(self.branch(world, i)),
            FlowControl::Call => Some(self.call(world, i)),
            FlowControl::IndirectBranch | FlowControl::IndirectCall => {
                Some(Err(unsupported("a jump to an address that is data")))
            }
            _ => Some(Err(unsupported("this change of control is not modelled"))),
        }
    }

    fn jump(&mut self, world: &mut World, i: &Instruction) -> Result<Step, Fault> {
        if i.op0_kind() != OpKind::NearBranch64 {
            return Err(unsupported("a far jump"));
        }
        let target = i.near_branch_target();
        if !world.object.code(target, 1).is_empty() {
            self.next = target;
            return Ok(Step::Next);
        }
        // The last call of a function: the one that is called returns to the caller.
        let above = self.stack()? + 8;
        self.outside(world, target, above)?;
        self.return_to_caller(world)
    }

    /// A call of what is not in the object; the return address is below `above`.
    fn outside(&mut self, world: &mut World, target: u64, above: i64) -> Result<(), Fault> {
        let name = world.object.name(target);
        if let Some(kernel) = world.calls.of_symbol(&name) {
            return self.kernel(world, kernel, above);
        }
        let what = || unsupported(format!("it calls {name}, which is not in the object"));
        self.library(world, &name, above).ok_or_else(what)?
    }

    fn branch(&mut self, world: &mut World, i: &Instruction) -> Result<Step, Fault> {
        if i.condition_code() == ConditionCode::None || i.op0_kind() != OpKind::NearBranch64 {
            return Err(unsupported("this branch is not modelled"));
        }
        match self.decided(world, i.condition_code())? {
            Flag::Is(true) => self.next = i.near_branch_target(),
            Flag::Is(false) => {}
            Flag::Secret | Flag::Bit(_) => {
                return Err(Fault::new(Rule::SecretBranch, "the branch depends on an input"));
            }
            Flag::Undefined | Flag::Public => {
                return Err(unsupported("the branch depends on undefined flags"));
            }
        }
        Ok(Step::Next)
    }

    /// Whether a condition holds.
    pub(super) fn condition(&self, code: ConditionCode) -> Flag {
        let flags = &self.flags;
        let not = |flag| match flag {
            Flag::Is(is) => Flag::Is(!is),
            Flag::Bit(_) => Flag::Secret,
            other => other,
        };
        // What depends on a secret is secret, though its other part may decide it.
        let joined = |a, b, f: fn(bool, bool) -> bool| match (a, b) {
            (Flag::Is(a), Flag::Is(b)) => Flag::Is(f(a, b)),
            (Flag::Secret | Flag::Bit(_), _) | (_, Flag::Secret | Flag::Bit(_)) => Flag::Secret,
            (Flag::Public, Flag::Public) => Flag::Public,
            _ => Flag::Undefined,
        };
        let or: fn(bool, bool) -> bool = |a, b| a || b;
        let below_or_equal = joined(flags.carry, flags.zero, or);
        let less = joined(flags.sign, flags.overflow, |a, b| a != b);
        let less_or_equal = joined(flags.zero, less, or);
        match code {
            ConditionCode::o => flags.overflow,
            ConditionCode::no => not(flags.overflow),
            ConditionCode::b => flags.carry,
            ConditionCode::ae => not(flags.carry),
            ConditionCode::e => flags.zero,
            ConditionCode::ne => not(flags.zero),
            ConditionCode::be => below_or_equal,
            ConditionCode::a => not(below_or_equal),
            ConditionCode::s => flags.sign,
            ConditionCode::ns => not(flags.sign),
            ConditionCode::l => less,
            ConditionCode::ge => not(less),
            ConditionCode::le => less_or_equal,
            ConditionCode::g => not(less_or_equal),
            // Parity is not kept.
            _ => Flag::Undefined,
        }
    }

    fn call(&mut self, world: &mut World, i: &Instruction) -> Result<Step, Fault> {
        let target = i.near_branch_target();
        if world.object.code(target, 1).is_empty() {
            let above = self.stack()?;
            return self.outside(world, target, above).map(|()| Step::Next);
        }
        self.push(world, Word::Number(i.next_ip()))?;
        self.next = target;
        Ok(Step::Next)
    }

    fn return_to(&mut self, world: &mut World, i: &Instruction) -> Result<Step, Fault> {
        if i.op_count() > 0 {
            return Err(unsupported("a return that moves the stack pointer"));
        }
        self.return_to_caller(world)
    }

    fn return_to_caller(&mut self, world: &mut World) -> Result<Step, Fault> {
        match self.pop(world)? {
            Word::Pointer(Pointer { region: Region::Caller, offset: 0 }) => Ok(Step::Returned),
            Word::Number(address) => {
                self.next = address;
                Ok(Step::Next)
            }
            _ => Err(Fault::new(Rule::NotRestored, "it returns to what is no return address")),
        }
    }

    fn push_operand(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let is_word = match i.op0_kind() {
            OpKind::Register => i.op0_register().is_gpr64(),
            OpKind::Memory => i.memory_size().size() == 8,
            kind => matches!(kind, OpKind::Immediate8to64 | OpKind::Immediate32to64),
        };
        if !is_word {
            return Err(unsupported("a push of less than eight bytes"));
        }
        let word = self.word(world, i, 0, 8)?;
        self.push(world, word)
    }

    fn pop_operand(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        if i.op0_kind() != OpKind::Register || !i.op0_register().is_gpr64() {
            return Err(unsupported("a pop to anything but a register of 64 bits"));
        }
        let word = self.pop(world)?;
        self.set_general(i.op0_register().number(), word);
        Ok(())
    }

    fn push(&mut self, world: &mut World, word: Word) -> Result<(), Fault> {
        let at = Pointer { region: Region::Frame, offset: self.stack()? - 8 };
        self.set_general(RSP, Word::Pointer(at));
        self.store_word(world, Address::Pointer(at), &word, 8)
    }

    fn pop(&mut self, world: &mut World) -> Result<Word, Fault> {
        let at = Pointer { region: Region::Frame, offset: self.stack()? };
        let word = match self.load(world, Address::Pointer(at), 8)? {
            Loaded::Pointer(pointer) => Word::Pointer(pointer),
            Loaded::Moving(moving) => Word::Moving(moving),
            Loaded::Count(form) => Word::Count(form),
            Loaded::Cells(cells) => Word::from_cells(&world.bits, &cells),
        };
        self.set_general(RSP, Word::Pointer(at.plus(8)));
        Ok(word)
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::Register;

    use super::*;

    /// A register that no instruction of these is about would make the list of names wrong.
    #[test]
    fn numbers_are_those_of_the_encoding() {
        assert_eq!(Register::RSP.number(), RSP);
        assert_eq!(Register::RBP.number(), 5);
        assert_eq!([Register::RDI, Register::RSI, Register::R9].map(|r| r.number()), [7, 6, 9]);
    }
}
