//! Control flow and the stack: jumps and calls.
//!
//! The target of a jump must be known. Flags of numbers are known; flags that depend on inputs are
//! not, so every branch on a secret is found.

use iced_x86::{ConditionCode, OpKind, Register};

use super::registers::{Flag, RSP, Word, X87};
use super::{Done, Run, unsupported};
use crate::address::Address;
use crate::callees::Caller as _;
use crate::cell::Cell;
use crate::elf::Object;
use crate::memory::{Pointer, Region};
use crate::summarized::NOWHERE;
use crate::{Fault, Fork, Rule, Step};

/// The condition on the flags that an instruction tests, or the opposite of it.
#[derive(Clone, Copy, PartialEq)]
pub enum Condition {
    Overflow,
    Below,
    Equal,
    BelowOrEqual,
    Sign,
    Less,
    LessOrEqual,
}

impl Condition {
    /// The condition of a code, and whether the code tests its opposite; `None` for parity, which
    /// is not modelled.
    pub fn of(code: ConditionCode) -> Option<(Condition, bool)> {
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
                Err(self.unknown(&cells[..], Rule::SecretBranch, secret, other))
            }
            _ => Err(unsupported(other)),
        }
    }

    pub fn jump(&mut self) -> Result<Step, Fault> {
        let target = self.target()?;
        // A tail call: the callee returns to the caller.
        let above = self.x86.stack()? + 8;
        if let Some(callee) = self.world.calls.functions.at(target).cloned() {
            self.function(&callee, above)?;
            return self.return_to_caller();
        }
        match self.world.calls.at(target) {
            Some(kernel) => self.kernel(kernel, above)?,
            None if self.world.object.code(target, 1).is_empty() => self.outside(target, above)?,
            None => {
                self.x86.next = target;
                return Ok(Step::Next);
            }
        }
        self.return_to_caller()
    }

    /// A call of a function that is not in the object; the return address is below `above`.
    fn outside(&mut self, target: u64, above: i64) -> Done {
        let object = self.world.object;
        let Some(name) = object.outside(target) else {
            let name = object.name(target);
            return Err(unsupported(format!("it calls {name}, which is no code")));
        };
        if let Some(kernel) = self.world.calls.of_symbol(name) {
            return self.kernel(kernel, above);
        }
        let what = || unsupported(format!("it calls {name}, which is not in the object"));
        self.library(name, above).ok_or_else(what)?
    }

    pub fn branch(&mut self) -> Result<Step, Fault> {
        let target = self.target()?;
        match self.decided(self.i.condition_code())? {
            Flag::Is(true) => self.x86.next = target,
            Flag::Is(false) => {}
            flag => {
                let bit = self.condition_bit(self.i.condition_code());
                if self.forked(flag.is_secret(), bit)? {
                    self.x86.next = target;
                }
            }
        }
        Ok(Step::Next)
    }

    /// The outcome of a condition that is not known.
    ///
    /// # Errors
    /// Such conditions are not followed, or this one has no outcome yet.
    pub fn forked(&mut self, is_secret: bool, bit: Option<Cell>) -> Result<bool, Fault> {
        let forks = &mut self.world.forks;
        if let Some(outcome) = forks.outcome.take() {
            return Ok(outcome);
        }
        forks.asked = forks.follows.then_some(Fork { is_secret, bit });
        Err(match is_secret {
            true => Fault::new(Rule::SecretBranch, "the branch depends on an input"),
            false => unsupported("the branch depends on undefined flags"),
        })
    }

    /// Whether a condition holds, as far as the flags alone say.
    pub fn asked(&self, code: ConditionCode) -> Flag {
        let flags = &self.x86.flags;
        // A flag that depends on a secret is secret, though its other part may decide it.
        let joined = |a, b, f: fn(bool, bool) -> bool| match (a, b) {
            (Flag::Is(a), Flag::Is(b)) => Flag::Is(f(a, b)),
            (a, b) if a.is_secret() || b.is_secret() => Flag::Secret,
            (Flag::Public, Flag::Public) => Flag::Public,
            _ => Flag::Undefined,
        };
        let less = joined(flags.sign, flags.overflow, |a, b| a != b);
        let Some((condition, negated)) = Condition::of(code) else { return Flag::Undefined };
        let flag = match condition {
            Condition::Overflow => flags.overflow,
            Condition::Below => flags.carry,
            Condition::Equal => flags.zero,
            Condition::BelowOrEqual => joined(flags.carry, flags.zero, |a, b| a || b),
            Condition::Sign => flags.sign,
            Condition::Less => less,
            Condition::LessOrEqual => joined(flags.zero, less, |a, b| a || b),
        };
        if negated { flag.inverted() } else { flag }
    }

    pub fn call(&mut self) -> Result<Step, Fault> {
        let target = self.target()?;
        let above = self.x86.stack()?;
        let kernel = self.world.calls.at(target);
        if kernel.is_none() && self.world.object.code(target, 1).is_empty() {
            return self.outside(target, above).map(|()| Step::Next);
        }
        let function = self.world.calls.functions.at(target).cloned();
        self.push(Word::Pointer(Object::pointer(self.i.next_ip())))?;
        if let Some(callee) = function {
            self.function(&callee, above)?;
            return self.return_to_caller().map(|_| Step::Next);
        }
        if let Some(kernel) = kernel {
            self.kernel(kernel, above)?;
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
