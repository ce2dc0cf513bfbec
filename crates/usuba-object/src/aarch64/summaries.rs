//! Registers at the entry and at the return of calls that are summarized.
//!
//! ```text
//! parameter registers that the callee reads    their values
//! other registers                              a symbol for a public value, else secret bits
//! ```
//!
//! A callee that only saves and restores a register returns its symbol.

use super::Aarch64;
use super::flag_bits::Flags;
use super::register_file::{LINK, SAVED_VECTORS, SP, VECTORS, is_volatile};
use crate::memory::{Pointer, Region, Whole};
use crate::memory_calls::RETURN;
use crate::summarized::{IsCase, Registers, Summarized};
use crate::word::Word;
use crate::word_turns::{self, generalised};
use usuba_bits::cell::{Bits, Cell};

/// The lanes of vectors.
const LANES: [std::ops::Range<usize>; 2] = [0..64, 64..128];

/// The symbol of the lower half of a vector that a callee restores.
fn symbol(call: u16, vector: usize) -> Whole {
    let region = Region::Held(call, (VECTORS + vector) as u16);
    Whole::Pointer(Pointer { region, offset: 0 })
}

impl Summarized for Aarch64 {
    const REGISTERS: u16 = 32;

    fn generalised(&self, bits: &Bits, live: Registers, call: u16) -> Option<Aarch64> {
        let is_secret = |cells: &[Cell]| cells.iter().any(|&cell| bits.is_secret(cell));
        let all = |secret| if secret { Cell::OPAQUE } else { Cell::UNSET };
        let mut general = self.general.clone();
        for (number, word) in general.iter_mut().enumerate().filter(|(number, _)| *number != SP) {
            let held = Pointer { region: Region::Held(call, number as u16), offset: 0 };
            *word = generalised(bits, word, live >> number & 1 == 1, held)?;
        }
        let mut vectors = self.vectors.clone();
        for (number, vector) in vectors.iter_mut().enumerate() {
            vector.pointers = [None; 2];
            for (lane, part) in LANES.into_iter().enumerate() {
                let secret = is_secret(&vector.cells[part.clone()]);
                vector.cells[part].fill(all(secret));
                if lane == 0 && !secret && SAVED_VECTORS.contains(&number) {
                    vector.pointers[lane] = Some(symbol(call, number));
                }
            }
        }
        let flags = Flags::Given([Cell::OPAQUE; 4]);
        Some(Aarch64 { general, vectors, written: 0, flags, divided: None, next: self.next })
    }

    fn named(mut self, bits: &mut Bits, live: Registers) -> Aarch64 {
        for (number, word) in self.general.iter_mut().enumerate() {
            if live >> number & 1 == 0 && word_turns::is_secret(bits, word) {
                *word = Word::Bits(Box::new(std::array::from_fn(|_| bits.new_name())));
            }
        }
        self
    }

    fn begin_call(&mut self) {
        self.general[LINK] = Word::Pointer(RETURN);
    }

    fn is_case_of(&self, general: &Aarch64, bits: &Bits, is_case: IsCase) -> bool {
        let is_word = |number: usize| {
            let (claimed, found) = (&general.general[number], &self.general[number]);
            // The return address is another one.
            number == LINK
                || word_turns::is_case_of(found, claimed, bits, is_volatile(number), is_case)
        };
        // All bits of a lane are equal.
        let mut vectors = general.vectors.iter().zip(self.vectors.iter());
        (0..32).all(is_word)
            && vectors.all(|(claimed, found)| {
                claimed.pointers == found.pointers
                    && LANES
                        .into_iter()
                        .all(|lane| is_case(claimed.cells[lane.start], found.cells[lane.start]))
            })
    }

    fn moved(&self, of: &dyn Fn(Whole) -> Option<Whole>) -> Aarch64 {
        let mut moved = self.clone();
        for word in &mut moved.general {
            if !matches!(word, Word::Number(_) | Word::Bits(_)) {
                *word = word.moved().and_then(of).map_or_else(Word::unset, Word::from);
            }
        }
        for lane in moved.vectors.iter_mut().flat_map(|vector| &mut vector.pointers) {
            *lane = lane.and_then(of);
        }
        moved.divided = None;
        moved.flags = match moved.flags.may_be_secret() {
            true => Flags::Given([Cell::OPAQUE; 4]),
            false => Flags::Unset,
        };
        moved
    }

    fn held(&self, register: u16) -> Option<Whole> {
        self.general[register as usize].whole()
    }

    fn hold(&mut self, register: u16, whole: Whole) {
        self.general[register as usize] = Word::from(whole);
    }

    fn returned(&self, exit: &Aarch64, of: &mut dyn FnMut(Cell) -> Cell, place: u64) -> Aarch64 {
        let mut returned = exit.clone();
        for word in &mut returned.general {
            *word = word_turns::returned(word, &self.general, &mut *of);
        }
        for (number, vector) in returned.vectors.iter_mut().enumerate() {
            if exit.written >> number & 1 == 0 {
                *vector = self.vectors[number].clone();
                continue;
            }
            vector.cells = vector.cells.map(&mut *of);
            for lane in 0..2 {
                let own = |part: &super::Vector| (part.pointers[lane], part.cells);
                match vector.pointers[lane] {
                    held if held == Some(symbol(0, number)) && lane == 0 => {
                        let (pointer, cells) = own(&self.vectors[number]);
                        vector.pointers[lane] = pointer;
                        vector.cells[..64].copy_from_slice(&cells[..64]);
                    }
                    Some(Whole::Pointer(Pointer {
                        region: Region::Held(0, _) | Region::Return,
                        ..
                    })) => {
                        // The symbol may be a secret of a caller, in a register that it saves.
                        vector.pointers[lane] = None;
                        vector.cells[64 * lane..][..64].fill(Cell::OPAQUE);
                    }
                    _ => {}
                }
            }
        }
        returned.divided = self.divided;
        returned.written = self.written | exit.written;
        returned.next = place;
        returned
    }
}
