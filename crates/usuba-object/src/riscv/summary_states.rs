//! Registers at the entry and at the return of calls that are summarized.
//!
//! ```text
//! parameter registers that the callee reads    their values
//! other registers                              a symbol for a public value, else secret bits
//! ```
//!
//! A callee that only saves and restores a register returns its symbol.

use super::Riscv;
use super::recent_sums::RecentSums;
use super::values::{RA, SP, is_volatile};
use crate::memory::{Pointer, Region, Whole};
use crate::memory_calls::RETURN;
use crate::summarized::{IsCase, Registers, Summarized};
use crate::word::Word;
use crate::word_turns::{self, generalised};
use usuba_bits::cell::{Bits, Cell};

impl Summarized for Riscv {
    const REGISTERS: u16 = 32;

    fn generalised(&self, bits: &Bits, live: Registers, call: u16) -> Option<Riscv> {
        let mut general = self.clone();
        general.recent = RecentSums::default();
        let words = general.registers.iter_mut().enumerate();
        for (number, word) in words.filter(|(number, _)| *number != SP) {
            let held = Pointer { region: Region::Held(call, number as u16), offset: 0 };
            *word = generalised(bits, word, live >> number & 1 == 1, held)?;
        }
        Some(general)
    }

    fn named(mut self, bits: &mut Bits, live: Registers) -> Riscv {
        for (number, word) in self.registers.iter_mut().enumerate() {
            if live >> number & 1 == 0 && word_turns::is_secret(bits, word) {
                let cells: Vec<Cell> = (0..32).map(|_| bits.new_name()).collect();
                *word = Word::from_cells(bits, &cells);
            }
        }
        self
    }

    fn begin_call(&mut self) {
        self.registers[RA] = Word::Pointer(RETURN);
    }

    fn is_case_of(&self, general: &Riscv, bits: &Bits, is_case: IsCase) -> bool {
        (0..32).all(|number| {
            let (claimed, found) = (&general.registers[number], &self.registers[number]);
            // The return address is another one.
            number == RA
                || word_turns::is_case_of(found, claimed, bits, is_volatile(number), is_case)
        })
    }

    fn moved(&self, of: &dyn Fn(Whole) -> Option<Whole>) -> Riscv {
        let mut moved = self.clone();
        moved.recent = RecentSums::default();
        for word in &mut moved.registers {
            if !matches!(word, Word::Number(_) | Word::Bits(_)) {
                *word = word.moved().and_then(of).map_or_else(Word::unset, Word::from);
            }
        }
        moved
    }

    fn held(&self, register: u16) -> Option<Whole> {
        self.registers[register as usize].whole()
    }

    fn hold(&mut self, register: u16, whole: Whole) {
        self.registers[register as usize] = Word::from(whole);
    }

    fn returned(&self, exit: &Riscv, of: &mut dyn FnMut(Cell) -> Cell, place: u64) -> Riscv {
        let mut returned = exit.clone();
        returned.recent = RecentSums::default();
        for word in &mut returned.registers {
            *word = word_turns::returned(word, &self.registers, &mut *of);
        }
        returned.next = place;
        returned
    }
}
