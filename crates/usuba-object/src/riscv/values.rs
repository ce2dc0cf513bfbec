//! The contents of registers, and their roles in the calling convention ILP32.

use rustc_hash::FxHashMap;

use super::Riscv;
use super::recent_sums::RecentSums;
use crate::memory::{Pointer, Region, Whole};
use crate::word::Word as Extended;
use crate::{Fault, Rule};
use usuba_bits::cell::{Bits, Cell};
use usuba_decode::riscv::NAMES;

/// The bits of a register, the least significant one first.
pub type Word = [Cell; 32];

/// The content of a register.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Pointer(Pointer),
    Bits(Box<Word>),
    /// The upper part of the address of a place in the object.
    High(u64),
}

impl Value {
    /// The bits; addresses have none.
    pub fn cells(&self) -> Option<[Cell; 32]> {
        match self {
            Value::Bits(cells) => Some(**cells),
            Value::Pointer(_) | Value::High(_) => None,
        }
    }

    /// The same in a word of 64 bits, with zeros above.
    pub fn extended(&self, bits: &Bits) -> Extended {
        match self {
            Value::Pointer(pointer) => Extended::Pointer(*pointer),
            Value::Bits(cells) => Extended::from_cells(bits, &cells[..]),
            Value::High(place) => {
                Extended::Pointer(Pointer { region: Region::Upper, offset: *place as i64 })
            }
        }
    }

    /// The lower half of a word.
    pub fn of(word: &Extended, bits: &Bits) -> Value {
        match word {
            Extended::Pointer(pointer) => Value::Pointer(*pointer),
            word => match word.cells(bits) {
                Some(cells) => Value::Bits(Box::new(std::array::from_fn(|at| cells[at]))),
                None => Value::unset(),
            },
        }
    }

    /// A word without content.
    pub fn unset() -> Value {
        Value::Bits(Box::new([Cell::UNSET; 32]))
    }
}

/// A pointer that is moved; addresses have 32 bits.
pub fn moved(at: Pointer, by: i32) -> Pointer {
    let offset = (at.offset as i32).wrapping_add(by);
    Pointer { offset: offset.into(), ..at }
}

/// The registers of return addresses, of the stack pointer, and of the first parameter and the
/// result.
pub const RA: usize = 1;
pub const SP: usize = 2;
pub const FIRST: usize = 10;

/// The most parameters in registers.
pub const PARAMETERS: usize = 8;

/// The registers of the first parameters.
pub const PARAMETER_REGISTERS: [usize; PARAMETERS] = [10, 11, 12, 13, 14, 15, 16, 17];

/// Registers that a function restores: the pointers to global and to thread data, s0 to s11.
pub const SAVED: [usize; 14] = [3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

/// Whether a callee may change a register.
pub fn is_volatile(register: usize) -> bool {
    register != 0 && register != SP && !SAVED.contains(&register)
}

impl Riscv {
    pub fn entered(parameters: &[Option<Whole>], entry: u64) -> Riscv {
        let pointer = |region| Value::Pointer(Pointer { region, offset: 0 });
        let mut registers: [Value; 32] =
            std::array::from_fn(|number| pointer(Region::Entry(number as u16)));
        registers[SP] = pointer(Region::Frame);
        registers[RA] = pointer(Region::Caller);
        for (number, parameter) in parameters.iter().take(PARAMETERS).enumerate() {
            registers[FIRST + number] = match *parameter {
                Some(Whole::Pointer(pointer)) => Value::Pointer(pointer),
                _ => Value::unset(),
            };
        }
        Riscv {
            registers,
            sums: RecentSums::default(),
            upper_halves: FxHashMap::default(),
            differing: Vec::new(),
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
        for number in SAVED {
            let was = Pointer { region: Region::Entry(number as u16), offset: 0 };
            if self.registers[number] != Value::Pointer(was) {
                let what = format!("{} is not restored at return", NAMES[number]);
                return Err(Fault::new(Rule::NotRestored, what));
            }
        }
        Ok(())
    }

    /// Registers that depend on inputs.
    pub fn left(&self, bits: &Bits) -> Vec<String> {
        let is_secret =
            |value: &Value| value.cells().is_some_and(|all| all.iter().any(|&c| bits.is_secret(c)));
        let named = self.registers.iter().zip(NAMES);
        named.filter(|(value, _)| is_secret(value)).map(|(_, name)| name.to_string()).collect()
    }
}
