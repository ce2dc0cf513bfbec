//! The contents of registers, and their roles in the calling convention ILP32.

use super::Riscv;
use super::recent_sums::RecentSums;
use crate::memory::{Pointer, Region, Whole};
use crate::word::Word;
use crate::word_turns::is_secret;
use crate::{Fault, Rule};
use usuba_bits::cell::{Bits, Cell};
use usuba_decode::riscv::NAMES;

/// The bits of a register, the least significant one first.
pub type Cells = [Cell; 32];

/// The bytes of a register.
pub const BYTES: usize = 4;

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

/// Registers that a callee may change.
pub const VOLATILE: [usize; 16] = [FIRST, RA, 5, 6, 7, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31];

/// Whether a callee may change a register.
pub fn is_volatile(register: usize) -> bool {
    VOLATILE.contains(&register)
}

/// The bits of a register as a word, with zeros above.
pub fn short(bits: &Bits, word: &Word) -> Word {
    let zero = bits.constant(false);
    match word {
        Word::Bits(cells) if cells[32..].iter().any(|&cell| cell != zero) => {
            Word::from_cells(bits, &cells[..32])
        }
        word => word.clone(),
    }
}

impl Riscv {
    pub fn entered(parameters: &[Option<Whole>], entry: u64) -> Riscv {
        let pointer = |region| Word::Pointer(Pointer { region, offset: 0 });
        let mut registers: [Word; 32] =
            std::array::from_fn(|number| pointer(Region::Entry(number as u16)));
        registers[SP] = pointer(Region::Frame);
        registers[RA] = pointer(Region::Caller);
        for (number, parameter) in parameters.iter().take(PARAMETERS).enumerate() {
            registers[FIRST + number] = parameter.map_or_else(Word::unset, Word::from);
        }
        Riscv { registers, recent: RecentSums::default(), next: entry }
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
            if self.registers[number] != Word::Pointer(was) {
                let what = format!("{} is not restored at return", NAMES[number]);
                return Err(Fault::new(Rule::NotRestored, what));
            }
        }
        Ok(())
    }

    /// Registers that depend on inputs.
    pub fn left(&self, bits: &Bits) -> Vec<String> {
        let named = self.registers.iter().zip(NAMES);
        named.filter(|(word, _)| is_secret(bits, word)).map(|(_, name)| name.to_string()).collect()
    }
}
