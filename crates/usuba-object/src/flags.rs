//! Flags of the last operation, and conditions on them.
//!
//! ```text
//! cmp rcx, 127     carry = rcx < 127: known, a bit, or by two numbers that are compared
//! ja  loop         neither carry nor zero
//! ```
//!
//! The carry of a difference is its borrow.

use usuba_bits::cell::Cell;
use usuba_ranges::Form;

/// The abstract value of a flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flag {
    Is(bool),
    /// It depends on inputs.
    Secret,
    /// It is this bit, which depends on inputs.
    Bit(Cell),
    /// Whether the result of this number is zero, which depends on inputs; which a machine keeps.
    Zero(u64),
    /// It depends on the number of blocks, by the numbers in [`Flags::compared`].
    Public,
    /// Undefined after the last instruction, or never set.
    Undefined,
}

impl Flag {
    /// The complement of a flag.
    pub fn inverted(self) -> Flag {
        match self {
            Flag::Is(is) => Flag::Is(!is),
            Flag::Bit(_) | Flag::Zero(_) => Flag::Secret,
            other => other,
        }
    }

    /// Whether it depends on inputs.
    pub fn is_secret(self) -> bool {
        matches!(self, Flag::Secret | Flag::Bit(_) | Flag::Zero(_))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    pub carry: Flag,
    pub zero: Flag,
    pub sign: Flag,
    pub overflow: Flag,
    /// The numbers whose difference set the flags that are [`Flag::Public`].
    pub compared: Option<(Form, Form)>,
}

/// A condition on flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    Overflow,
    Below,
    Equal,
    BelowOrEqual,
    Sign,
    Less,
    LessOrEqual,
}

impl Flags {
    pub const UNDEFINED: Flags = Flags::all(Flag::Undefined);

    pub const fn all(flag: Flag) -> Flags {
        Flags { carry: flag, zero: flag, sign: flag, overflow: flag, compared: None }
    }

    /// Whether one depends on inputs.
    pub fn are_secret(&self) -> bool {
        let Flags { carry, zero, sign, overflow, .. } = self;
        [carry, zero, sign, overflow].iter().any(|flag| flag.is_secret())
    }

    /// Whether a condition holds, as far as the flags alone say.
    pub fn tested(&self, condition: Condition) -> Flag {
        // A flag that depends on a secret is secret, though its other part may decide it.
        let joined = |a, b, f: fn(bool, bool) -> bool| match (a, b) {
            (Flag::Is(a), Flag::Is(b)) => Flag::Is(f(a, b)),
            (a, b) if a.is_secret() || b.is_secret() => Flag::Secret,
            (Flag::Public, Flag::Public) => Flag::Public,
            _ => Flag::Undefined,
        };
        let less = joined(self.sign, self.overflow, |a, b| a != b);
        match condition {
            Condition::Overflow => self.overflow,
            Condition::Below => self.carry,
            Condition::Equal => self.zero,
            Condition::BelowOrEqual => joined(self.carry, self.zero, |a, b| a || b),
            Condition::Sign => self.sign,
            Condition::Less => less,
            Condition::LessOrEqual => joined(self.zero, less, |a, b| a || b),
        }
    }

    /// Notes the outcome of a condition on one flag in that flag, for later conditions on it.
    pub fn tell(&mut self, condition: Condition, outcome: bool) {
        let flag = match condition {
            Condition::Overflow => &mut self.overflow,
            Condition::Below => &mut self.carry,
            Condition::Equal => &mut self.zero,
            Condition::Sign => &mut self.sign,
            _ => return,
        };
        *flag = Flag::Is(outcome);
    }

    /// The flags at another turn of a loop.
    pub fn joined(&self, other: &Flags, compared: Option<(Form, Form)>) -> Flags {
        let known = |one: Flag, next: Flag| match one == next {
            _ if one.is_secret() || next.is_secret() => Flag::Secret,
            true if one != Flag::Public || compared.is_some() => one,
            _ => Flag::Undefined,
        };
        Flags {
            carry: known(self.carry, other.carry),
            zero: known(self.zero, other.zero),
            sign: known(self.sign, other.sign),
            overflow: known(self.overflow, other.overflow),
            compared,
        }
    }

    /// Whether a claim about flags holds for others, by a claim about numbers.
    pub fn covers(&self, found: &Flags, covers: impl Fn(Form, Form) -> bool) -> bool {
        let all = |flags: &Flags| [flags.carry, flags.zero, flags.sign, flags.overflow];
        let (claimed, others) = (all(self), all(found));
        let is_each = claimed.iter().zip(others).all(|(&claimed, found)| {
            let is_any = claimed == Flag::Undefined && !found.is_secret();
            is_any || claimed == Flag::Secret || claimed == found
        });
        let is_compared = match (self.compared, found.compared) {
            _ if !claimed.contains(&Flag::Public) => true,
            (Some((a, b)), Some((x, y))) => covers(a, x) && covers(b, y),
            _ => false,
        };
        is_each && is_compared
    }
}
