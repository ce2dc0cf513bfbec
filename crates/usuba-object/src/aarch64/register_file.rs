//! The contents of registers, and their roles in the calling convention AAPCS64.

use super::Aarch64;
use super::flags::Flags;
use crate::cell::{Bits, Cell};
use crate::memory::{Pointer, Region, Whole};
use crate::{Fault, Rule};

/// The content of a general-purpose register.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Pointer(Pointer),
    /// The least significant bit first.
    Bits(Box<[Cell; 64]>),
    /// The page of a place in the object, which adrp computes.
    Page(u64),
}

impl Value {
    /// The bits; addresses have none.
    pub fn cells(&self) -> Option<[Cell; 64]> {
        match self {
            Value::Bits(cells) => Some(**cells),
            Value::Pointer(_) | Value::Page(_) => None,
        }
    }

    /// A word without content.
    pub fn unset() -> Value {
        Value::Bits(Box::new([Cell::UNSET; 64]))
    }
}

/// The content of a vector register: bits, or addresses in lanes of 64 bits.
#[derive(Clone, PartialEq, Debug)]
pub struct Vector {
    pub cells: [Cell; 128],
    pub pointers: [Option<Pointer>; 2],
}

impl Vector {
    pub const fn of(cells: [Cell; 128]) -> Vector {
        Vector { cells, pointers: [None; 2] }
    }
}

/// The registers of return addresses and of the stack pointer.
pub const LINK: usize = 30;
pub const SP: usize = 31;

/// The most parameters in registers.
pub const PARAMETERS: usize = 8;

/// General-purpose registers that a function restores, and vectors whose lower halves it restores.
const SAVED: std::ops::RangeInclusive<usize> = 19..=29;
pub const SAVED_VECTORS: std::ops::Range<usize> = 8..16;

/// The number of the first vector among the registers at entry.
const VECTORS: usize = 32;

/// The value of a register at entry.
fn at_entry(number: usize) -> Pointer {
    Pointer { region: Region::Entry(number as u16), offset: 0 }
}

/// Whether a callee may change a register. The platform may have a use for x18, so that it is one of
/// them here, and is not needed after a call.
pub fn is_volatile(register: usize) -> bool {
    register != SP && !SAVED.contains(&register)
}

impl Aarch64 {
    pub fn entered(parameters: &[Option<Whole>], entry: u64) -> Aarch64 {
        let pointer = |region| Value::Pointer(Pointer { region, offset: 0 });
        let mut general: [Value; 32] =
            std::array::from_fn(|number| Value::Pointer(at_entry(number)));
        general[SP] = pointer(Region::Frame);
        general[LINK] = pointer(Region::Caller);
        for (number, parameter) in parameters.iter().take(PARAMETERS).enumerate() {
            general[number] = match *parameter {
                Some(Whole::Pointer(pointer)) => Value::Pointer(pointer),
                _ => Value::unset(),
            };
        }
        let vectors = std::array::from_fn(|number| {
            let mut vector = Vector::of([Cell::UNSET; 128]);
            if SAVED_VECTORS.contains(&number) {
                vector.pointers[0] = Some(at_entry(VECTORS + number));
            }
            vector
        });
        Aarch64 { general, vectors: Box::new(vectors), flags: Flags::Unset, next: entry }
    }

    /// Checks the state after a return.
    ///
    /// # Errors
    /// A register has not its old value.
    pub fn check_restored(&self) -> Result<(), Fault> {
        let stack = self.stack()?;
        if stack != 0 {
            let what = format!("the stack pointer is {stack} bytes off at return");
            return Err(Fault::new(Rule::NotRestored, what));
        }
        let not = |name: String| {
            let what = format!("{name} is not restored at return");
            Err(Fault::new(Rule::NotRestored, what))
        };
        for number in SAVED {
            if self.general[number] != Value::Pointer(at_entry(number)) {
                return not(format!("x{number}"));
            }
        }
        for number in SAVED_VECTORS {
            if self.vectors[number].pointers[0] != Some(at_entry(VECTORS + number)) {
                return not(format!("d{number}"));
            }
        }
        Ok(())
    }

    /// Registers that depend on inputs.
    pub fn left(&self, bits: &Bits) -> Vec<String> {
        let is_secret = |cells: &[Cell]| cells.iter().any(|&cell| bits.is_secret(cell));
        let general = self.general.iter().enumerate();
        let general = general.filter(|(_, value)| value.cells().is_some_and(|all| is_secret(&all)));
        let vectors = self.vectors.iter().enumerate();
        let vectors = vectors.filter(|(_, vector)| is_secret(&vector.cells));
        let general = general.map(|(number, _)| format!("x{number}"));
        general.chain(vectors.map(|(number, _)| format!("v{number}"))).collect()
    }
}
