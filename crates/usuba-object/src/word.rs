//! Words of general-purpose registers, on all machines.
//!
//! ```text
//! 17                   a number
//! in + 32              an address: a region and an offset
//! f, g, h, ... @ 0     bits, the least significant first
//! 128 q + r            a number that depends on the number of blocks
//! in + 1024 t          an address that does
//! ```
//!
//! A word of a machine of 32 bits has zeros above; a count is a number modulo 2^32 there.

use super::address::Address;
use super::flags::{Flag, Flags};
use super::memory::{Moving, Pointer, Region, Whole};
use super::{Fault, unsupported};
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::Form;

/// The contents of a general-purpose register.
#[derive(Clone, PartialEq, Debug)]
pub enum Word {
    Number(u64),
    Pointer(Pointer),
    /// 64 bits, the least significant first.
    Bits(Box<[Cell; 64]>),
    /// A number that depends on the number of blocks.
    Count(Form),
    /// The lowest bytes of such a number; the bytes above are zero.
    Low(Form, u8),
    /// The distance to the first address from the second one, which the linker knows.
    Distance(Pointer, Pointer),
    /// An address that depends on the number of blocks.
    Moving(Moving),
}

impl Word {
    /// The bits of a word, least significant first; `None` for addresses and counts, which have
    /// none.
    pub fn cells(&self, bits: &Bits) -> Option<[Cell; 64]> {
        match self {
            Word::Number(value) => {
                Some(std::array::from_fn(|at| bits.constant(value >> at & 1 == 1)))
            }
            Word::Bits(cells) => Some(**cells),
            Word::Pointer(_) | Word::Count(_) | Word::Low(..) | Word::Moving(_) => None,
            Word::Distance(..) => None,
        }
    }

    /// Whether it depends on the number of blocks.
    pub fn is_counted(&self) -> bool {
        matches!(self, Word::Count(_) | Word::Low(..) | Word::Moving(_))
    }

    /// Whether it is a public word with a number, of which nothing is known.
    pub fn is_public(&self) -> bool {
        matches!(self, Word::Pointer(Pointer { region: Region::Public(_), .. }))
    }

    /// A public word of which nothing is known.
    pub fn unset() -> Word {
        Word::Bits(Box::new([Cell::UNSET; 64]))
    }

    /// The address that a word is, also one that depends on the number of blocks.
    pub fn pointed(&self) -> Result<Address, Fault> {
        match *self {
            Word::Pointer(pointer) => Ok(Address::Pointer(pointer)),
            Word::Moving(moving) => Ok(Address::Moving(moving)),
            Word::Number(at) => Ok(Address::Number(at)),
            _ => Err(unsupported("the address that is handed over is not known")),
        }
    }

    /// A word that is whole; bits and parts of counts are not.
    pub fn whole(&self) -> Option<Whole> {
        match *self {
            Word::Number(value) => Some(Whole::Count(Form::number(value as i64))),
            _ => self.moved(),
        }
    }

    /// The region and the offset of an address.
    pub fn place(&self) -> Option<Moving> {
        match *self {
            Word::Pointer(pointer) => Address::Pointer(pointer).place(),
            Word::Moving(moving) => Some(moving),
            _ => None,
        }
    }

    /// An address or a count.
    pub fn moved(&self) -> Option<Whole> {
        match *self {
            Word::Pointer(pointer) => Some(Whole::Pointer(pointer)),
            Word::Moving(moving) => Some(Whole::Moving(moving)),
            Word::Count(form) => Some(Whole::Count(form)),
            Word::Number(_) | Word::Bits(_) | Word::Low(..) | Word::Distance(..) => None,
        }
    }

    /// At most 64 bits, with zeros above.
    pub fn from_cells(bits: &Bits, cells: &[Cell]) -> Word {
        if let Some(value) = bits.word(cells) {
            return Word::Number(value);
        }
        let mut all = [bits.constant(false); 64];
        all[..cells.len()].copy_from_slice(cells);
        Word::Bits(Box::new(all))
    }
}

impl From<Whole> for Word {
    fn from(whole: Whole) -> Word {
        match whole {
            Whole::Pointer(pointer) => Word::Pointer(pointer),
            Whole::Moving(moving) => Address::from(moving).into(),
            Whole::Count(form) => match form.value() {
                Some(value) => Word::Number(value as u64),
                None => Word::Count(form),
            },
        }
    }
}

impl From<Address> for Word {
    fn from(address: Address) -> Word {
        match address {
            Address::Pointer(pointer) => Word::Pointer(pointer),
            Address::Number(value) => Word::Number(value),
            Address::Moving(moving) => Word::Moving(moving),
            Address::Count(form) => Word::Count(form),
        }
    }
}

/// Arithmetic of two operands that sets all flags.
#[derive(Clone, Copy, PartialEq)]
pub enum Binary {
    Add,
    Subtract,
    And,
    Or,
    Xor,
}

/// The number of a word of `bytes` bytes, from the negative ones on.
pub fn form(word: &Word, bytes: usize) -> Option<Form> {
    let unused = 64 - 8 * bytes as u32;
    match word {
        Word::Number(value) => Some(Form::number(((value << unused) as i64) >> unused)),
        Word::Count(form) => Some(*form),
        _ => None,
    }
}

/// A form with the lowest bytes of a word; a sum needs no others.
pub fn lowest(word: &Word, bytes: usize) -> Option<Form> {
    match *word {
        Word::Low(form, low) if usize::from(low) >= bytes => Some(form),
        _ => form(word, bytes),
    }
}

/// An operation on numbers of `bytes` bytes, with its flags.
pub fn numbers(operation: Binary, a: u64, b: u64, bytes: usize) -> (Word, Flags) {
    let lane = 8 * bytes as u32;
    let ones = u64::MAX >> (64 - lane);
    let (a, b) = (a & ones, b & ones);
    let value = ones
        & match operation {
            Binary::Add => a.wrapping_add(b),
            Binary::Subtract => a.wrapping_sub(b),
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
        };
    let sign = |x: u64| x >> (lane - 1) & 1 == 1;
    let (carry, overflow) = match operation {
        Binary::Add => (value < a, sign(a) == sign(b) && sign(value) != sign(a)),
        Binary::Subtract => (a < b, sign(a) != sign(b) && sign(value) != sign(a)),
        _ => (false, false),
    };
    let flags = Flags {
        carry: Flag::Is(carry),
        zero: Flag::Is(value == 0),
        sign: Flag::Is(sign(value)),
        overflow: Flag::Is(overflow),
        compared: None,
    };
    (Word::Number(value), flags)
}
