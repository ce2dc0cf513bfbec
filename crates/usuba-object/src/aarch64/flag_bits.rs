//! Flags, and conditions on them.
//!
//! ```text
//! subs x3, x4, x5     carry = no borrow
//! csel x0, x1, x2, cs
//! ```
//!
//! The flags of the last operation are computed where a condition or a carry asks for them.

use usuba_decode::aarch64::Condition;

use super::Run;
use crate::block_step::{Cover, Joining};
use crate::flags::{Condition as SharedCondition, Flag, Flags as SharedFlags};
use crate::{Fault, unsupported};
use usuba_bits::cell::{Bits, Cell};
use usuba_bits::lane_arithmetic::less;

/// The flags.
#[derive(Clone, Debug)]
pub enum Flags {
    /// Nothing has set them, or a call may have changed them.
    Unset,
    /// Of `result = a + b`, or `a - b`, perhaps with the carry before it.
    Sum {
        subtracts: bool,
        with_carry: bool,
        a: Vec<Cell>,
        b: Vec<Cell>,
        result: Vec<Cell>,
        carry: Cell,
    },
    /// Of a logical operation.
    Logic { result: Vec<Cell> },
    /// Negative, zero, carry, overflow.
    Given([Cell; 4]),
    /// Of numbers and addresses, where the carry is the complement of this one.
    Public(Box<SharedFlags>),
}

impl Run<'_, '_> {
    /// The carry; after a difference the complement of the borrow.
    ///
    /// # Errors
    /// Nothing has set it.
    pub fn carry(&self) -> Result<Cell, Fault> {
        let bits = &self.world.bits;
        match &self.aarch64.flags {
            Flags::Unset if self.world.forks.follows => Ok(Cell::UNSET),
            Flags::Unset => Err(unsupported("flags that nothing has set")),
            Flags::Sum { carry, .. } => Ok(*carry),
            Flags::Logic { .. } => Ok(bits.constant(false)),
            Flags::Given(flags) => Ok(flags[2]),
            Flags::Public(flags) => self.bit(flags.carry.inverted()),
        }
    }

    /// The bit that a flag of numbers is.
    pub fn bit(&self, flag: Flag) -> Result<Cell, Fault> {
        match flag {
            Flag::Is(is) => Ok(self.world.bits.constant(is)),
            flag if flag.is_secret() => Ok(Cell::OPAQUE),
            _ if self.world.forks.follows => Ok(Cell::UNSET),
            _ => Err(unsupported("the flag is not known")),
        }
    }

    /// All flags.
    ///
    /// # Errors
    /// Nothing has set them.
    pub fn all_flags(&mut self) -> Result<[Cell; 4], Fault> {
        let carry = self.carry()?;
        if let Flags::Public(flags) = &self.aarch64.flags {
            let [sign, zero, overflow] =
                [flags.sign, flags.zero, flags.overflow].map(|flag| self.bit(flag));
            return Ok([sign?, zero?, carry, overflow?]);
        }
        let (flags, bits) = (&self.aarch64.flags, &mut self.world.bits);
        Ok([flags.negative(), flags.zero(bits), carry, flags.overflow(bits)])
    }

    /// Whether a condition holds, as a bit that may not be known.
    ///
    /// # Errors
    /// Nothing has set the flags, or it depends on numbers whose cases are to be told apart first.
    pub fn holds(&mut self, condition: Condition) -> Result<Cell, Fault> {
        let Condition(code) = condition;
        if code >> 1 == 7 {
            return Ok(self.world.bits.constant(true));
        }
        // Odd ones are the opposites.
        let holds = match &self.aarch64.flags {
            Flags::Public(flags) => {
                let (shared, negated) = shared_condition(code);
                let flag = self.world.held(flags, shared)?;
                self.bit(if negated { flag.inverted() } else { flag })?
            }
            _ => {
                let carry = self.carry()?;
                self.aarch64.flags.holds(&mut self.world.bits, code, carry)
            }
        };
        Ok(if code & 1 == 1 { self.world.bits.not(holds) } else { holds })
    }

    /// The same; where it is public and not known, and conditions are followed, it has an outcome.
    pub fn condition(&mut self, condition: Condition) -> Result<Cell, Fault> {
        let holds = self.holds(condition)?;
        let is_open = self.world.bits.value(holds).is_none() && holds == Cell::UNSET;
        if is_open && self.world.forks.follows {
            let outcome = self.world.forked(false, None)?;
            self.tell(condition, outcome)?;
            return Ok(self.world.bits.constant(outcome));
        }
        Ok(holds)
    }

    /// Notes the outcome of a condition on one flag in that flag, for later conditions on it.
    fn tell(&mut self, Condition(code): Condition, outcome: bool) -> Result<(), Fault> {
        let is_set = outcome != (code & 1 == 1);
        if let Flags::Public(flags) = &mut self.aarch64.flags {
            let (shared, negated) = shared_condition(code);
            flags.tell(shared, is_set != negated);
        } else if let Some(&at) = [1, 2, 0, 3].get(code as usize >> 1) {
            let mut flags = self.all_flags()?;
            flags[at] = self.world.bits.constant(is_set);
            self.aarch64.flags = Flags::Given(flags);
        }
        Ok(())
    }
}

/// The condition of an even code on flags whose carry is a borrow, and whether it is the opposite.
fn shared_condition(code: u8) -> (SharedCondition, bool) {
    match code >> 1 {
        0 => (SharedCondition::Equal, false),
        1 => (SharedCondition::Below, true),
        2 => (SharedCondition::Sign, false),
        3 => (SharedCondition::Overflow, false),
        4 => (SharedCondition::BelowOrEqual, true),
        5 => (SharedCondition::Less, true),
        _ => (SharedCondition::LessOrEqual, true),
    }
}

impl Flags {
    fn negative(&self) -> Cell {
        match self {
            Flags::Unset | Flags::Public(_) => Cell::UNSET,
            Flags::Sum { result, .. } | Flags::Logic { result } => result[result.len() - 1],
            Flags::Given(flags) => flags[0],
        }
    }

    fn zero(&self, bits: &mut Bits) -> Cell {
        match self {
            Flags::Unset | Flags::Public(_) => Cell::UNSET,
            Flags::Sum { subtracts: true, with_carry: false, a, b, .. } => bits.equal(a, b),
            Flags::Sum { result, .. } | Flags::Logic { result } => {
                let zeros = vec![bits.constant(false); result.len()];
                bits.equal(result, &zeros)
            }
            Flags::Given(flags) => flags[1],
        }
    }

    fn overflow(&self, bits: &mut Bits) -> Cell {
        match self {
            Flags::Unset | Flags::Public(_) => Cell::UNSET,
            Flags::Sum { subtracts, a, b, result, .. } => {
                let top = result.len() - 1;
                let (a, b, result) = (a[top], b[top], result[top]);
                // The signs of both operands are one, and the sign of the sum is another one.
                let b = if *subtracts { bits.not(b) } else { b };
                let (x, y) = (bits.xor(a, result), bits.xor(b, result));
                bits.and(x, y)
            }
            Flags::Logic { .. } => bits.constant(false),
            Flags::Given(flags) => flags[3],
        }
    }

    /// Whether the condition of an even code holds, with this carry.
    fn holds(&self, bits: &mut Bits, code: u8, carry: Cell) -> Cell {
        match code >> 1 {
            0 => self.zero(bits),
            1 => carry,
            2 => self.negative(),
            3 => self.overflow(bits),
            4 => match self {
                Flags::Sum { subtracts: true, with_carry: false, a, b, .. } => {
                    less(bits, b, a, false)
                }
                _ => {
                    let zero = self.zero(bits);
                    let other = bits.not(zero);
                    bits.and(carry, other)
                }
            },
            5 => {
                let below = self.is_less(bits);
                bits.not(below)
            }
            _ => {
                let (below, zero) = (self.is_less(bits), self.zero(bits));
                let either = bits.or(below, zero);
                bits.not(either)
            }
        }
    }

    /// Whether the first number with sign was less than the second one.
    fn is_less(&self, bits: &mut Bits) -> Cell {
        match self {
            Flags::Sum { subtracts: true, with_carry: false, a, b, .. } => less(bits, a, b, true),
            _ => {
                let overflow = self.overflow(bits);
                bits.xor(self.negative(), overflow)
            }
        }
    }

    /// The bits that they are made of.
    pub fn cells_mut(&mut self) -> impl Iterator<Item = &mut Cell> {
        let (words, cells): (Vec<&mut Vec<Cell>>, &mut [Cell]) = match self {
            Flags::Unset | Flags::Public(_) => (Vec::new(), &mut []),
            Flags::Sum { a, b, result, carry, .. } => {
                (vec![a, b, result], std::slice::from_mut(carry))
            }
            Flags::Logic { result } => (vec![result], &mut []),
            Flags::Given(flags) => (Vec::new(), flags),
        };
        words.into_iter().flatten().chain(cells)
    }

    /// Whether they depend on inputs.
    pub fn are_secret(&self, bits: &Bits) -> bool {
        let are_secret = |cells: &[Cell]| cells.iter().any(|&cell| bits.is_secret(cell));
        match self {
            Flags::Unset => false,
            Flags::Sum { a, b, carry, .. } => {
                are_secret(a) || are_secret(b) || bits.is_secret(*carry)
            }
            Flags::Logic { result } => are_secret(result),
            Flags::Given(flags) => are_secret(flags),
            Flags::Public(flags) => flags.are_secret(),
        }
    }

    /// Whether they may depend on inputs.
    pub fn may_be_secret(&self) -> bool {
        match self {
            Flags::Unset => false,
            Flags::Public(flags) => flags.are_secret(),
            Flags::Sum { .. } | Flags::Logic { .. } | Flags::Given(_) => true,
        }
    }

    /// Whether two flags are made of bits in one way.
    fn is_like(&self, other: &Flags) -> bool {
        match (self, other) {
            (
                Flags::Sum { subtracts, with_carry, a, .. },
                Flags::Sum { subtracts: s, with_carry: w, a: x, .. },
            ) => (subtracts, with_carry, a.len()) == (s, w, x.len()),
            (Flags::Logic { result }, Flags::Logic { result: other }) => {
                result.len() == other.len()
            }
            (Flags::Given(_), Flags::Given(_)) => true,
            _ => false,
        }
    }

    /// The flags of two states.
    pub fn joined(&self, other: &Flags, bits: &Bits, join: &impl Joining) -> Flags {
        if let (Flags::Public(one), Flags::Public(next)) = (self, other) {
            let compared = one.compared.zip(next.compared);
            let compared =
                compared.and_then(|((a, b), (x, y))| join.form(a, x).zip(join.form(b, y)));
            return Flags::Public(Box::new(one.joined(next, compared)));
        }
        if self.is_like(other) {
            let (mut joined, mut other) = (self.clone(), other.clone());
            for (cell, next) in joined.cells_mut().zip(other.cells_mut()) {
                *cell = join.cell(*cell, *next);
            }
            return joined;
        }
        Flags::unknown([self, other], bits)
    }

    /// Flags of which is known only whether one of these depends on inputs.
    pub fn unknown(all: [&Flags; 2], bits: &Bits) -> Flags {
        match all.iter().any(|flags| flags.are_secret(bits)) {
            true => Flags::Given([Cell::OPAQUE; 4]),
            false => Flags::Unset,
        }
    }

    /// Whether these flags are claimed, and others were found that are a case of them.
    pub fn cover(&self, found: &Flags, bits: &Bits, cover: &Cover) -> bool {
        match (self, found) {
            (Flags::Unset, found) => !found.are_secret(bits),
            (Flags::Given([Cell::OPAQUE, Cell::OPAQUE, Cell::OPAQUE, Cell::OPAQUE]), _) => true,
            (Flags::Public(claimed), Flags::Public(found)) => {
                claimed.covers(found, |a, b| cover.form(a, b))
            }
            (claimed, found) if claimed.is_like(found) => {
                let (mut claimed, mut found) = (claimed.clone(), found.clone());
                claimed.cells_mut().zip(found.cells_mut()).all(|(a, b)| cover.cell(*a, *b))
            }
            _ => false,
        }
    }
}
