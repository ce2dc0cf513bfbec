//! Addresses of operands in memory.

use super::memory::{Moving, Pointer, Region};
use usuba_ranges::Form;

/// The address of an operand in memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Address {
    Pointer(Pointer),
    /// A number, where nothing is.
    Number(u64),
    /// An address that depends on the number of blocks.
    Moving(Moving),
    /// A count, not an address, that depends on the number of blocks.
    Count(Form),
}

impl Address {
    /// The region and the offset, if it is in one.
    pub fn place(self) -> Option<Moving> {
        match self {
            Address::Pointer(Pointer { region, offset }) => {
                Some(Moving { region, offset: Form::number(offset) })
            }
            Address::Moving(moving) => Some(moving),
            Address::Number(_) | Address::Count(_) => None,
        }
    }
}

impl From<Moving> for Address {
    /// A moving address with a constant offset, outside of streams, is a plain pointer.
    fn from(moving: Moving) -> Address {
        match (moving.offset.value(), moving.region) {
            (Some(offset), region) if !matches!(region, Region::Stream(_)) => {
                Address::Pointer(Pointer { region, offset })
            }
            _ => Address::Moving(moving),
        }
    }
}
