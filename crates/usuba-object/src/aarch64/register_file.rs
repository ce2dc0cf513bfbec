//! The contents of registers, and their roles in the calling convention AAPCS64.

use super::Aarch64;
use super::flag_bits::Flags;
use crate::memory::{Pointer, Region, Whole};
use crate::word::Word;
use crate::{Fault, Rule};
use usuba_bits::cell::{Bits, Cell};

/// The content of a vector register: bits, or addresses and
/// counts in lanes of 64 bits, which are then unset.
#[derive(Clone, PartialEq, Debug)]
pub struct Vector {
    pub cells: [Cell; 128],
    pub pointers: [Option<Whole>; 2],
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

/// The registers of the first parameters.
pub const PARAMETER_REGISTERS: [usize; PARAMETERS] = [0, 1, 2, 3, 4, 5, 6, 7];

/// General-purpose registers that a function restores, and vectors whose lower halves it restores.
pub const SAVED_REGISTERS: [usize; 11] = [19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29];
pub const SAVED_VECTORS: std::ops::Range<usize> = 8..16;

/// The number of the first vector among the registers at entry.
pub const VECTORS: usize = 32;

/// General-purpose registers that a callee may change. The platform may have a use for x18, so that it
/// is one of them here, and is not needed after a call.
pub const VOLATILE: [usize; 20] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, LINK];

/// The value of a register at entry.
fn at_entry(number: usize) -> Pointer {
    Pointer { region: Region::Entry(number as u16), offset: 0 }
}

/// Whether a callee may change a register.
pub fn is_volatile(register: usize) -> bool {
    VOLATILE.contains(&register)
}

impl Aarch64 {
    pub fn entered(parameters: &[Option<Whole>], entry: u64) -> Aarch64 {
        let pointer = |region| Word::Pointer(Pointer { region, offset: 0 });
        let mut general: [Word; 32] = std::array::from_fn(|number| Word::Pointer(at_entry(number)));
        general[SP] = pointer(Region::Frame);
        general[LINK] = pointer(Region::Caller);
        for (number, parameter) in parameters.iter().take(PARAMETERS).enumerate() {
            general[number] = parameter.map_or_else(Word::unset, Word::from);
        }
        let vectors = std::array::from_fn(|number| {
            let mut vector = Vector::of([Cell::UNSET; 128]);
            if SAVED_VECTORS.contains(&number) {
                vector.pointers[0] = Some(Whole::Pointer(at_entry(VECTORS + number)));
            }
            vector
        });
        Aarch64 {
            general,
            vectors: Box::new(vectors),
            written: 0,
            flags: Flags::Unset,
            divided: None,
            next: entry,
        }
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
        for number in SAVED_REGISTERS {
            if self.general[number] != Word::Pointer(at_entry(number)) {
                return not(format!("x{number}"));
            }
        }
        for number in SAVED_VECTORS {
            let was = Whole::Pointer(at_entry(VECTORS + number));
            if self.vectors[number].pointers[0] != Some(was) {
                return not(format!("d{number}"));
            }
        }
        Ok(())
    }

    /// Registers that depend on inputs.
    pub fn left(&self, bits: &Bits) -> Vec<String> {
        let is_secret = |cells: &[Cell]| cells.iter().any(|&cell| bits.is_secret(cell));
        let general = self.general.iter().enumerate();
        let general =
            general.filter(|(_, word)| matches!(word, Word::Bits(cells) if is_secret(&cells[..])));
        let vectors = self.vectors.iter().enumerate();
        let vectors = vectors.filter(|(_, vector)| is_secret(&vector.cells));
        let general = general.map(|(number, _)| format!("x{number}"));
        general.chain(vectors.map(|(number, _)| format!("v{number}"))).collect()
    }
}
