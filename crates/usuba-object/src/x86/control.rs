//! Control flow and the stack: jumps and calls.
//!
//! The target of a jump must be known. Flags of numbers are known; flags that depend on inputs are
//! not, so every branch on a secret is found.

use iced_x86::{ConditionCode, OpKind, Register};

use super::registers::{RSP, X87};
use super::{Done, Run, unsupported};
use crate::address::Address;
use crate::callees::Caller as _;
use crate::elf::Object;
use crate::flags::{Condition, Flag};
use crate::memory::{Pointer, Region};
use crate::summarized::NOWHERE;
use crate::word::Word;
use crate::{Fault, Rule, Step};

/// The condition of a code, and whether the code tests its opposite; `None` for parity, which is not
/// modelled.
pub fn condition_of(code: ConditionCode) -> Option<(Condition, bool)> {
    Some(match code {
        ConditionCode::o => (Condition::Overflow, false),
        ConditionCode::no => (Condition::Overflow, true),
        ConditionCode::b => (Condition::Below, false),
        ConditionCode::ae => (Condition::Below, true),
        ConditionCode::e => (Condition::Equal, false),
        ConditionCode::ne => (Condition::Equal, true),
        ConditionCode::be => (Condition::BelowOrEqual, false),
        ConditionCode::a => (Condition::BelowOrEqual, true),
        ConditionCode::s => (Condition::Sign, false),
        ConditionCode::ns => (Condition::Sign, true),
        ConditionCode::l => (Condition::Less, false),
        ConditionCode::ge => (Condition::Less, true),
        ConditionCode::le => (Condition::LessOrEqual, false),
        ConditionCode::g => (Condition::LessOrEqual, true),
        ConditionCode::None | ConditionCode::p | ConditionCode::np => return None,
    })
}

impl Run<'_, '_> {
    /// The target of a jump or call: in the instruction, in a register, or in memory.
    fn target(&mut self) -> Result<u64, Fault> {
        if let Some(target) = self.linked.branch {
            return Ok(target);
        }
        if self.size(0)? != 8 {
            return Err(unsupported("a jump to another segment"));
        }
        let other = "a jump to an address that is data";
        match self.word(0, 8)? {
            Word::Pointer(at) => Object::place(at).ok_or_else(|| unsupported(other)),
            Word::Bits(cells) => {
                let secret = "the target of the jump depends on an input";
                Err(self.world.unknown(&cells[..], Rule::SecretBranch, secret, other))
            }
            _ => Err(unsupported(other)),
        }
    }

    pub fn jump(&mut self) -> Result<Step, Fault> {
        let target = self.target()?;
        if !self.world.is_outside(target) {
            self.x86.next = target;
            return Ok(Step::Next);
        }
        // A tail call: the callee returns to the caller.
        let above = self.x86.stack()? + 8;
        self.outside(target, above)?;
        self.return_to_caller()
    }

    pub fn branch(&mut self) -> Result<Step, Fault> {
        let target = self.target()?;
        match self.decided(self.i.condition_code())? {
            Flag::Is(true) => self.x86.next = target,
            Flag::Is(false) => {}
            flag => {
                let bit = self.condition_bit(self.i.condition_code());
                if self.world.forked(flag.is_secret(), bit)? {
                    self.x86.next = target;
                }
            }
        }
        Ok(Step::Next)
    }

    /// Whether the condition of a code holds.
    ///
    /// # Errors
    /// It depends on the number of blocks, of which the cases are to be told apart first.
    pub fn decided(&mut self, code: ConditionCode) -> Result<Flag, Fault> {
        let Some((condition, negated)) = condition_of(code) else { return Ok(Flag::Undefined) };
        let flag = self.world.held(&self.x86.flags, condition)?;
        Ok(if negated { flag.inverted() } else { flag })
    }

    pub fn call(&mut self) -> Result<Step, Fault> {
        let target = self.target()?;
        let above = self.x86.stack()?;
        if self.world.object.code(target, 1).is_empty() && self.world.calls.at(target).is_none() {
            return self.outside(target, above).map(|()| Step::Next);
        }
        self.push(Word::Pointer(Object::pointer(self.i.next_ip())))?;
        if self.world.is_outside(target) {
            self.outside(target, above)?;
            return self.return_to_caller().map(|_| Step::Next);
        }
        self.x86.next = target;
        Ok(Step::Called)
    }

    pub fn return_to(&mut self) -> Result<Step, Fault> {
        if self.i.op_count() > 0 {
            return Err(unsupported("a return that moves the stack pointer"));
        }
        self.return_to_caller()
    }

    fn return_to_caller(&mut self) -> Result<Step, Fault> {
        match self.pop()? {
            Word::Pointer(Pointer { region: Region::Caller, offset: 0 }) => Ok(Step::Returned),
            Word::Pointer(Pointer { region: Region::Return, offset: 0 }) => {
                self.x86.next = NOWHERE;
                Ok(Step::Back)
            }
            Word::Pointer(at) if let Some(place) = Object::place(at) => {
                self.x86.next = place;
                Ok(Step::Back)
            }
            _ => Err(Fault::new(Rule::NotRestored, "it returns to what is no return address")),
        }
    }

    pub fn push_operand(&mut self) -> Done {
        let is_word = match self.i.op0_kind() {
            OpKind::Register => self.i.op0_register().is_gpr64(),
            OpKind::Memory => self.i.memory_size().size() == 8,
            kind => matches!(kind, OpKind::Immediate8to64 | OpKind::Immediate32to64),
        };
        if !is_word {
            return Err(unsupported("a push of less than eight bytes"));
        }
        let word = self.word(0, 8)?;
        self.push(word)
    }

    pub fn pop_operand(&mut self) -> Done {
        if self.i.op0_kind() != OpKind::Register || !self.i.op0_register().is_gpr64() {
            return Err(unsupported("a pop to anything but a register of 64 bits"));
        }
        let word = self.pop()?;
        self.set_word(0, word)
    }

    /// leave: rsp becomes rbp, and rbp is popped.
    pub fn leave(&mut self) -> Done {
        const RBP: usize = 5;
        self.x86.general[RSP] = self.x86.general[RBP].clone();
        self.x86.general[RBP] = self.pop()?;
        Ok(())
    }

    /// fldz: pushes a zero on the stack of the x87 registers. Compilers clear these registers so; no
    /// other instruction uses them, and they hold nothing else.
    pub fn push_zero(&mut self) -> Done {
        if self.x86.x87 == X87 {
            return Err(unsupported("more x87 registers than there are"));
        }
        self.x86.x87 += 1;
        Ok(())
    }

    /// fstp st(0): pops it.
    pub fn pop_zero(&mut self) -> Done {
        if self.i.op_count() != 1 || self.i.op0_register() != Register::ST0 || self.x86.x87 == 0 {
            return Err(unsupported("a use of x87 registers that does not clear them"));
        }
        self.x86.x87 -= 1;
        Ok(())
    }

    fn push(&mut self, word: Word) -> Done {
        let at = Pointer { region: Region::Frame, offset: self.x86.stack()? - 8 };
        self.x86.general[RSP] = Word::Pointer(at);
        self.store_word(Address::Pointer(at), &word, 8)
    }

    fn pop(&mut self) -> Result<Word, Fault> {
        let at = Pointer { region: Region::Frame, offset: self.x86.stack()? };
        let word = self.load_word(Address::Pointer(at), 8)?;
        self.x86.general[RSP] = Word::Pointer(at.plus(8));
        Ok(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another number of a register would make the names and the calling convention wrong.
    #[test]
    fn numbers_are_those_of_the_encoding() {
        assert_eq!(Register::RSP.number(), RSP);
        assert_eq!(Register::RBP.number(), 5);
        assert_eq!([Register::RDI, Register::RSI, Register::R9].map(|r| r.number()), [7, 6, 9]);
    }
}
