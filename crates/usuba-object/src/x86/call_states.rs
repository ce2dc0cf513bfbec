//! Registers at the entry and at the return of calls that are summarized.
//!
//! ```text
//! parameter registers that the callee reads    their values
//! other registers                              a symbol for a public value, else secret bits
//! ```
//!
//! A callee that only saves and restores a register returns its symbol.

use std::ops::Range;

use super::X86;
use super::registers::{MASK, RSP, VECTOR, VOLATILE};
use crate::flags::{Flag, Flags};
use crate::memory::{Pointer, Region, Whole};
use crate::summarized::{IsCase, Registers, Summarized};
use crate::word::Word;
use crate::word_turns::{self, generalised};
use usuba_bits::cell::{Bits, Cell};

/// The parts of vector registers that instructions of one width leave alone.
const PARTS: [Range<usize>; 3] = [0..128, 128..256, 256..VECTOR];

impl Summarized for X86 {
    const REGISTERS: u16 = 16;

    fn generalised(&self, bits: &Bits, live: Registers, call: u16) -> Option<X86> {
        let is_secret = |cells: &[Cell]| cells.iter().any(|&cell| bits.is_secret(cell));
        let all = |secret| if secret { Cell::OPAQUE } else { Cell::UNSET };
        let mut general = self.general.clone();
        for (number, word) in general.iter_mut().enumerate().filter(|(number, _)| *number != RSP) {
            let held = Pointer { region: Region::Held(call, number as u16), offset: 0 };
            *word = generalised(bits, word, live >> number & 1 == 1, held)?;
        }
        let mut vectors = self.vectors.clone();
        for number in 0..32 {
            for part in PARTS {
                let part = &mut vectors.get_mut(number)[part];
                part.fill(all(is_secret(part)));
            }
        }
        vectors.written = 0;
        let masks = self.masks.map(|mask| [all(is_secret(&mask)); MASK]);
        let flags = Flags::all(Flag::Secret);
        let (zero_of, subtracted) = ((0, Vec::new()), None);
        let X86 { x87, next, .. } = *self;
        let left = X86 { general, vectors, masks, flags, zero_of, subtracted, x87, next };
        (x87 == 0).then_some(left)
    }

    fn named(mut self, bits: &mut Bits, live: Registers) -> X86 {
        for (number, word) in self.general.iter_mut().enumerate() {
            if live >> number & 1 == 0 && word_turns::is_secret(bits, word) {
                *word = Word::Bits(Box::new(std::array::from_fn(|_| bits.new_name())));
            }
        }
        self
    }

    fn begin_call(&mut self) {}

    fn is_case_of(&self, general: &X86, bits: &Bits, is_case: IsCase) -> bool {
        let is_word = |number: usize| {
            let (claimed, found) = (&general.general[number], &self.general[number]);
            word_turns::is_case_of(found, claimed, bits, VOLATILE.contains(&number), is_case)
        };
        // All bits of each of the others are equal.
        let firsts = |x86: &X86| {
            let vectors = (0..32).map(|number| x86.vectors.get(number, VECTOR));
            let vectors = vectors.flat_map(|cells| PARTS.map(|part| cells[part.start]));
            vectors.chain(x86.masks.iter().map(|mask| mask[0])).collect::<Vec<Cell>>()
        };
        let mut others = firsts(general).into_iter().zip(firsts(self));
        (0..16).all(is_word) && others.all(|(claimed, found)| is_case(claimed, found))
    }

    fn moved(&self, of: &dyn Fn(Whole) -> Option<Whole>) -> X86 {
        let mut moved = self.clone();
        for word in &mut moved.general {
            if !matches!(word, Word::Number(_) | Word::Bits(_)) {
                *word = word.moved().and_then(of).map_or_else(Word::unset, Word::from);
            }
        }
        moved.vectors.map_wholes(of);
        let Flags { carry, zero, sign, overflow, .. } = &mut moved.flags;
        for flag in [carry, zero, sign, overflow] {
            *flag = match *flag {
                Flag::Is(is) => Flag::Is(is),
                flag if flag.is_secret() => Flag::Secret,
                _ => Flag::Undefined,
            };
        }
        moved.flags.compared = None;
        (moved.zero_of, moved.subtracted) = ((0, Vec::new()), None);
        moved
    }

    fn held(&self, register: u16) -> Option<Whole> {
        self.general[register as usize].whole()
    }

    fn hold(&mut self, register: u16, whole: Whole) {
        self.general[register as usize] = Word::from(whole);
    }

    fn returned(&self, exit: &X86, of: &mut dyn FnMut(Cell) -> Cell, place: u64) -> X86 {
        let mut returned = exit.clone();
        for word in &mut returned.general {
            *word = word_turns::returned(word, &self.general, &mut *of);
        }
        let others = returned.masks.iter_mut().flatten();
        returned.vectors.cells_mut().iter_mut().chain(others).for_each(|cell| *cell = of(*cell));
        returned.vectors.map_wholes(&|whole| match whole {
            Whole::Pointer(Pointer { region: Region::Held(0, _) | Region::Return, .. }) => None,
            whole => Some(whole),
        });
        returned.vectors.take_unwritten(&self.vectors);
        returned.next = place;
        returned
    }
}
