//! Flags, and conditions on them.
//!
//! ```text
//! subs x3, x4, x5     carry = no borrow
//! csel x0, x1, x2, cs
//! ```
//!
//! The flags of the last operation are computed where a condition or a carry asks for them.

use usuba_decode::aarch64::Condition;

use crate::cell::{Bits, Cell};
use crate::lane_arithmetic::less;
use crate::{Fault, unsupported};

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
}

impl Flags {
    /// The carry; after a difference the complement of the borrow.
    ///
    /// # Errors
    /// Nothing has set it.
    pub fn carry(&self, bits: &Bits) -> Result<Cell, Fault> {
        match self {
            Flags::Unset => Err(unsupported("flags that nothing has set")),
            Flags::Sum { carry, .. } => Ok(*carry),
            Flags::Logic { .. } => Ok(bits.constant(false)),
            Flags::Given(flags) => Ok(flags[2]),
        }
    }

    fn negative(&self) -> Cell {
        match self {
            Flags::Unset => Cell::UNSET,
            Flags::Sum { result, .. } | Flags::Logic { result } => result[result.len() - 1],
            Flags::Given(flags) => flags[0],
        }
    }

    fn zero(&self, bits: &mut Bits) -> Cell {
        match self {
            Flags::Unset => Cell::UNSET,
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
            Flags::Unset => Cell::UNSET,
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

    /// All of them.
    ///
    /// # Errors
    /// Nothing has set them.
    pub fn all(&self, bits: &mut Bits) -> Result<[Cell; 4], Fault> {
        let carry = self.carry(bits)?;
        Ok([self.negative(), self.zero(bits), carry, self.overflow(bits)])
    }

    /// Whether a condition holds.
    ///
    /// # Errors
    /// Nothing has set the flags.
    pub fn holds(&self, bits: &mut Bits, condition: Condition) -> Result<Cell, Fault> {
        let Condition(code) = condition;
        if code >> 1 == 7 {
            return Ok(bits.constant(true));
        }
        let carry = self.carry(bits)?;
        // Odd ones are the opposites.
        let holds = match code >> 1 {
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
        };
        Ok(if code & 1 == 1 { bits.not(holds) } else { holds })
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

    /// Whether they depend on inputs.
    pub fn are_secret(&self, bits: &Bits) -> bool {
        let is_secret = |cells: &[Cell]| cells.iter().any(|&cell| bits.is_secret(cell));
        match self {
            Flags::Unset => false,
            Flags::Sum { a, b, carry, .. } => {
                is_secret(a) || is_secret(b) || bits.is_secret(*carry)
            }
            Flags::Logic { result } => is_secret(result),
            Flags::Given(flags) => is_secret(flags),
        }
    }
}
