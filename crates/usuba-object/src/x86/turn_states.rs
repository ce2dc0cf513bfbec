//! States of the processor at the turns of a loop over blocks, for induction.

use super::registers::{LANES, PARAMETERS, VECTOR, VOLATILE};
use super::{X86, decoded_flow};
use crate::block_step::{Cover, Joining, parts};
use crate::blocks::Turning;
use crate::elf::Object;
use crate::flags::{Flag, Flags};
use crate::memory::{Memory, Pointer, Region, Whole};
use crate::summarized::Registers;
use crate::word::Word;
use crate::word_turns::{
    covers_lane, covers_word, is_in, joined_word, lane_with_forms, lost_word, with_forms,
};
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::Form;

impl Turning for X86 {
    fn place(&self) -> u64 {
        self.next
    }

    fn is_choice(object: &Object, place: u64) -> bool {
        decoded_flow::is_choice(object, place)
    }

    fn status_at(object: &Object, place: u64) -> Option<usize> {
        decoded_flow::status(object, place)
    }

    fn is_like(&self, other: &X86) -> bool {
        self.x87 == other.x87
    }

    fn words(&self) -> &[Word] {
        &self.general
    }

    fn stack_offset(&self) -> i64 {
        self.stack().unwrap_or(0)
    }

    fn return_address(&self, memory: &Memory) -> Option<Pointer> {
        memory.address_at(self.stack().ok()?)
    }

    fn go_to(&mut self, place: u64) {
        self.next = place;
    }

    fn map_forms(&mut self, of: &dyn Fn(Form) -> Form) {
        if let Some((a, b)) = &mut self.flags.compared {
            (*a, *b) = (of(*a), of(*b));
        }
        for word in &mut self.general {
            *word = with_forms(word, of);
        }
        for (number, lane) in lanes() {
            let whole = self.vectors.pointer(number, lane);
            if let Some(whole @ (Whole::Count(_) | Whole::Moving(_))) = whole {
                self.vectors.set_pointer(number, lane, lane_with_forms(whole, of));
            }
        }
    }

    fn forget(&mut self, is_gone: &dyn Fn(Region) -> bool) {
        for word in self.general.iter_mut().filter(|word| is_in(word, is_gone)) {
            *word = Word::unset();
        }
        let is_kept = |whole: &Whole| parts(*whole).0.is_none_or(|region| !is_gone(region));
        self.vectors.map_wholes(&|whole| Some(whole).filter(is_kept));
    }

    fn map_arguments(&mut self, read: Registers, of: &mut dyn FnMut(Form) -> Form) {
        for register in PARAMETERS {
            if let Word::Count(form) = &mut self.general[register]
                && read >> register & 1 == 1
            {
                *form = of(*form);
            }
        }
    }

    fn forget_dead(&mut self, read: Registers) {
        for register in VOLATILE.into_iter().filter(|register| read >> register & 1 == 0) {
            // Callers of functions in one file may read the others.
            if let Word::Bits(cells) = &self.general[register]
                && cells.contains(&Cell::UNSET)
            {
                self.general[register] = Word::unset();
            }
        }
        self.flags = Flags::all(Flag::Secret);
        (self.zero_of, self.subtracted) = ((0, Vec::new()), None);
    }

    fn is_same(&self, other: &X86) -> bool {
        self == other
    }

    fn map(&mut self, bits: &Bits, of: &impl Fn(Cell) -> Cell) {
        for word in &mut self.general {
            if let Word::Bits(cells) = word {
                *word = Word::from_cells(bits, &cells.map(of));
            }
        }
        let others = self.masks.iter_mut().flatten().chain(&mut self.zero_of.1);
        self.vectors.cells_mut().iter_mut().chain(others).for_each(|cell| *cell = of(*cell));
        let Flags { carry, zero, sign, overflow, .. } = &mut self.flags;
        for flag in [carry, zero, sign, overflow] {
            if let Flag::Bit(cell) = flag {
                *flag = bits.value(of(*cell)).map_or(*flag, Flag::Is);
            }
        }
    }

    fn joined(&self, other: &X86, bits: &Bits, join: &impl Joining) -> X86 {
        let mut joined = self.clone();
        for (one, next) in joined.general.iter_mut().zip(&other.general) {
            *one = joined_word(one, next, bits, join);
        }
        for number in 0..32 {
            let next = other.vectors.get(number, VECTOR);
            for (cell, &next) in joined.vectors.get_mut(number).iter_mut().zip(next) {
                *cell = join.cell(*cell, next);
            }
        }
        for (number, lane) in lanes() {
            let [one, next] = [self, other].map(|state| state.vectors.pointer(number, lane));
            match one.zip(next).map(|(one, next)| join.whole(one, next)) {
                Some(Some(whole)) => joined.vectors.set_pointer(number, lane, whole),
                // An address is no secret, but its value is unknown from here on.
                _ if one.is_some() || next.is_some() => joined.vectors.forget(number, lane),
                _ => {}
            }
        }
        joined.vectors.written = self.vectors.written | other.vectors.written;
        for (mask, next) in joined.masks.iter_mut().zip(&other.masks) {
            for (cell, &next) in mask.iter_mut().zip(next) {
                *cell = join.cell(*cell, next);
            }
        }
        let compared = self.flags.compared.zip(other.flags.compared);
        let compared = compared.and_then(|((a, b), (x, y))| join.form(a, x).zip(join.form(b, y)));
        joined.flags = self.flags.joined(&other.flags, compared);
        joined
    }

    fn widen(&mut self, other: &X86, bits: &Bits, cover: &Cover) {
        for (claimed, found) in self.general.iter_mut().zip(&other.general) {
            if !covers_word(claimed, found, bits, cover) {
                *claimed = Word::Bits(Box::new(lost_word(claimed, found, bits, &cover.join)));
            }
        }
        for number in 0..32 {
            let found = other.vectors.get(number, VECTOR).to_vec();
            let lanes =
                (0..LANES).map(|lane| [self, other].map(|x| x.vectors.pointer(number, lane)));
            let is_kept = |[claimed, found]: [Option<Whole>; 2]| covers_lane(claimed, found, cover);
            if lanes.into_iter().all(is_kept) && self.vectors.holds_none(number) {
                let claimed = self.vectors.get_mut(number);
                for (lane, found) in claimed.chunks_mut(64).zip(found.chunks(64)) {
                    cover.widen_word(lane, found);
                }
            } else {
                self.vectors.get_mut(number).fill(Cell::OPAQUE);
            }
        }
        let masks = self.masks.iter_mut().flatten().zip(other.masks.iter().flatten());
        masks.for_each(|(cell, &found)| *cell = cover.widened(*cell, found));
    }

    fn covers(&self, other: &X86, bits: &Bits, cover: &Cover) -> bool {
        let mut general = self.general.iter().zip(&other.general);
        let general = general.all(|(claimed, found)| covers_word(claimed, found, bits, cover));
        let vectors = (0..32).all(|number| {
            let claimed = self.vectors.get(number, VECTOR).iter();
            let found = other.vectors.get(number, VECTOR);
            claimed.zip(found).all(|(&claimed, &found)| cover.cell(claimed, found))
        });
        let pointers = lanes().all(|(number, lane)| {
            let [claimed, found] = [self, other].map(|state| state.vectors.pointer(number, lane));
            covers_lane(claimed, found, cover)
        });
        let masks = self.masks.iter().flatten().zip(other.masks.iter().flatten());
        let mut masks = masks.map(|(&claimed, &found)| cover.cell(claimed, found));
        let masks = masks.all(|same| same);
        let flags = self.flags.covers(&other.flags, |a, b| cover.form(a, b));
        let place = self.next == other.next && self.x87 == other.x87;
        general && vectors && pointers && masks && flags && place
    }
}

/// The vector registers with their lanes.
fn lanes() -> impl Iterator<Item = (usize, usize)> {
    (0..32).flat_map(|number| (0..LANES).map(move |lane| (number, lane)))
}
