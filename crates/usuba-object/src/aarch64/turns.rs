//! States of the processor at the turns of a loop over blocks, for induction.

use super::flag_bits::Flags;
use super::register_file::{PARAMETERS, Vector};
use super::{Aarch64, Division, flow};
use crate::block_step::{Cover, Joining, parts};
use crate::blocks::Turning;
use crate::elf::Object;
use crate::memory::{Memory, Pointer, Region, Whole};
use crate::summarized::Registers;
use crate::word::Word;
use crate::word_turns::{
    covers_lane, covers_word, is_in, joined_word, lane_with_forms, lost_word, with_forms,
};
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::Form;

impl Turning for Aarch64 {
    fn place(&self) -> u64 {
        self.next
    }

    fn is_choice(object: &Object, place: u64) -> bool {
        flow::is_choice(object, place)
    }

    fn status_at(object: &Object, place: u64) -> Option<usize> {
        flow::status(object, place)
    }

    fn words(&self) -> &[Word] {
        &self.general
    }

    fn stack_offset(&self) -> i64 {
        self.stack().unwrap_or(0)
    }

    fn return_address(&self, _: &Memory) -> Option<Pointer> {
        match self.general[super::register_file::LINK] {
            Word::Pointer(at) => Some(at),
            _ => None,
        }
    }

    fn go_to(&mut self, place: u64) {
        self.next = place;
    }

    fn map_forms(&mut self, of: &dyn Fn(Form) -> Form) {
        if let Flags::Public(flags) = &mut self.flags
            && let Some((a, b)) = &mut flags.compared
        {
            (*a, *b) = (of(*a), of(*b));
        }
        if let Some(Division { quotient, rest, .. }) = &mut self.divided {
            (*quotient, *rest) = (of(*quotient), of(*rest));
        }
        for word in &mut self.general {
            *word = with_forms(word, of);
        }
        for whole in self.vectors.iter_mut().flat_map(|vector| vector.pointers.iter_mut().flatten())
        {
            *whole = lane_with_forms(*whole, of);
        }
    }

    fn forget(&mut self, is_gone: &dyn Fn(Region) -> bool) {
        for word in self.general.iter_mut().filter(|word| is_in(word, is_gone)) {
            *word = Word::unset();
        }
        for lane in self.vectors.iter_mut().flat_map(|vector| &mut vector.pointers) {
            *lane = lane.filter(|whole| parts(*whole).0.is_none_or(|region| !is_gone(region)));
        }
    }

    fn map_arguments(&mut self, read: Registers, of: &mut dyn FnMut(Form) -> Form) {
        for (number, word) in self.general[..PARAMETERS].iter_mut().enumerate() {
            if let Word::Count(form) = word
                && read >> number & 1 == 1
            {
                *form = of(*form);
            }
        }
    }

    fn map(&mut self, bits: &Bits, of: &impl Fn(Cell) -> Cell) {
        for word in &mut self.general {
            if let Word::Bits(cells) = word {
                *word = Word::from_cells(bits, &cells.map(of));
            }
        }
        let cells = self.vectors.iter_mut().flat_map(|vector| &mut vector.cells);
        cells.chain(self.flags.cells_mut()).for_each(|cell| *cell = of(*cell));
    }

    fn joined(&self, other: &Aarch64, bits: &Bits, join: &impl Joining) -> Aarch64 {
        let mut joined = self.clone();
        for (one, next) in joined.general.iter_mut().zip(&other.general) {
            *one = joined_word(one, next, bits, join);
        }
        for (one, next) in joined.vectors.iter_mut().zip(other.vectors.iter()) {
            *one = joined_vector(one, next, join);
        }
        joined.divided = self.divided.zip(other.divided).and_then(|(one, next)| {
            let quotient = join.form(one.quotient, next.quotient)?;
            let rest = join.form(one.rest, next.rest)?;
            let is_same = (one.dividend, one.divisor) == (next.dividend, next.divisor);
            is_same.then_some(Division { quotient, rest, ..one })
        });
        joined.written = self.written | other.written;
        joined.flags = self.flags.joined(&other.flags, bits, join);
        joined
    }

    fn widen(&mut self, other: &Aarch64, bits: &Bits, cover: &Cover) {
        for (claimed, found) in self.general.iter_mut().zip(&other.general) {
            if !covers_word(claimed, found, bits, cover) {
                *claimed = Word::Bits(Box::new(lost_word(claimed, found, bits, &cover.join)));
            }
        }
        if !covers_division(self.divided, other.divided, cover) {
            self.divided = None;
        }
        if !self.flags.cover(&other.flags, bits, cover) {
            self.flags = Flags::unknown([&self.flags, &other.flags], bits);
        }
        for (claimed, found) in self.vectors.iter_mut().zip(other.vectors.iter()) {
            let lanes = claimed.pointers.iter_mut().zip(found.pointers).enumerate();
            for (lane, (claim, found)) in lanes {
                if !covers_lane(*claim, found, cover) {
                    *claim = None;
                    claimed.cells[64 * lane..][..64].fill(Cell::OPAQUE);
                }
            }
            for (cell, &found) in claimed.cells.iter_mut().zip(&found.cells) {
                *cell = cover.widened(*cell, found);
            }
        }
    }

    fn covers(&self, other: &Aarch64, bits: &Bits, cover: &Cover) -> bool {
        let mut general = self.general.iter().zip(&other.general);
        let general = general.all(|(claimed, found)| covers_word(claimed, found, bits, cover));
        let vectors = self.vectors.iter().zip(other.vectors.iter()).all(|(claimed, found)| {
            let mut lanes = claimed.pointers.into_iter().zip(found.pointers);
            let mut cells = claimed.cells.iter().zip(&found.cells);
            lanes.all(|(claimed, found)| covers_lane(claimed, found, cover))
                && cells.all(|(&claimed, &found)| cover.cell(claimed, found))
        });
        general
            && vectors
            && covers_division(self.divided, other.divided, cover)
            && self.flags.cover(&other.flags, bits, cover)
            && self.next == other.next
    }
}

/// Whether a claim about the last division holds.
fn covers_division(claimed: Option<Division>, found: Option<Division>, cover: &Cover) -> bool {
    match (claimed, found) {
        (None, _) => true,
        (Some(claimed), Some(found)) => {
            (claimed.dividend, claimed.divisor) == (found.dividend, found.divisor)
                && cover.form(claimed.quotient, found.quotient)
                && cover.form(claimed.rest, found.rest)
        }
        (Some(_), None) => false,
    }
}

/// A vector of two states.
fn joined_vector(one: &Vector, next: &Vector, join: &impl Joining) -> Vector {
    let mut joined = one.clone();
    for (cell, &next) in joined.cells.iter_mut().zip(&next.cells) {
        *cell = join.cell(*cell, next);
    }
    for (lane, (one, next)) in one.pointers.into_iter().zip(next.pointers).enumerate() {
        let whole: Option<Whole> = one.zip(next).and_then(|(one, next)| join.whole(one, next));
        joined.pointers[lane] = whole;
        if whole.is_none() && (one.is_some() || next.is_some()) {
            joined.cells[64 * lane..][..64].fill(Cell::OPAQUE);
        }
    }
    joined
}
