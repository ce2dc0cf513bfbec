//! States of the processor at the turns of a loop over blocks, for induction.
//!
//! Recent sums are forgotten where states meet.

use super::recent_sums::RecentSums;
use super::values::{PARAMETER_REGISTERS, RA};
use super::{Riscv, plain_flow};
use crate::block_step::{Cover, Joining};
use crate::blocks::Turning;
use crate::elf::Object;
use crate::memory::{Memory, Pointer, Region};
use crate::summarized::Registers;
use crate::word::Word;
use crate::word_turns::{covers_word, is_in, joined_word, lost_word, with_forms};
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::Form;

impl Turning for Riscv {
    fn place(&self) -> u64 {
        self.next
    }

    fn is_choice(object: &Object, place: u64) -> bool {
        plain_flow::is_branch(object, place)
    }

    fn status_at(object: &Object, place: u64) -> Option<usize> {
        plain_flow::status(object, place)
    }

    fn words(&self) -> &[Word] {
        &self.registers
    }

    fn stack_offset(&self) -> i64 {
        self.stack().unwrap_or(0)
    }

    fn return_address(&self, _: &Memory) -> Option<Pointer> {
        match self.registers[RA] {
            Word::Pointer(at) => Some(at),
            _ => None,
        }
    }

    fn go_to(&mut self, place: u64) {
        self.next = place;
    }

    fn map_forms(&mut self, of: &dyn Fn(Form) -> Form) {
        for word in &mut self.registers {
            *word = with_forms(word, of);
        }
    }

    fn forget(&mut self, is_gone: &dyn Fn(Region) -> bool) {
        for word in self.registers.iter_mut().filter(|word| is_in(word, is_gone)) {
            *word = Word::unset();
        }
    }

    fn map_arguments(&mut self, read: Registers, of: &mut dyn FnMut(Form) -> Form) {
        for register in PARAMETER_REGISTERS {
            if let Word::Count(form) = &mut self.registers[register]
                && read >> register & 1 == 1
            {
                *form = of(*form);
            }
        }
    }

    fn map(&mut self, bits: &Bits, of: &impl Fn(Cell) -> Cell) {
        self.recent = RecentSums::default();
        for word in &mut self.registers {
            if let Word::Bits(cells) = word {
                *word = Word::from_cells(bits, &cells.map(of));
            }
        }
    }

    fn joined(&self, other: &Riscv, bits: &Bits, join: &impl Joining) -> Riscv {
        let both = self.registers.iter().zip(&other.registers);
        let mut words = both.map(|(one, next)| joined_word(one, next, bits, join));
        let registers = std::array::from_fn(|_| words.next().expect("as many registers"));
        Riscv { registers, recent: RecentSums::default(), next: self.next }
    }

    fn widen(&mut self, other: &Riscv, bits: &Bits, cover: &Cover) {
        for (claimed, found) in self.registers.iter_mut().zip(&other.registers) {
            if !covers_word(claimed, found, bits, cover) {
                *claimed = Word::Bits(Box::new(lost_word(claimed, found, bits, &cover.join)));
            }
        }
    }

    fn covers(&self, other: &Riscv, bits: &Bits, cover: &Cover) -> bool {
        let mut words = self.registers.iter().zip(&other.registers);
        words.all(|(claimed, found)| covers_word(claimed, found, bits, cover))
            && self.next == other.next
    }
}
