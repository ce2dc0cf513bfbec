//! States of the processor at the turns of a loop over blocks, for induction.

use super::registers::{Flag, Flags, LANES, PARAMETERS, RSP, SAVED, VECTOR, Word};
use super::{X86, meets};
use crate::block_step::{Cover, Joining, parts};
use crate::blocks::Turning;
use crate::cell::{Bits, Cell};
use crate::elf::Object;
use crate::memory::{Moving, Region, Whole};
use usuba_ranges::Form;

impl Turning for X86 {
    fn place(&self) -> u64 {
        self.next
    }

    fn is_choice(object: &Object, place: u64) -> bool {
        meets::is_choice(object, place)
    }

    fn is_branch(object: &Object, place: u64) -> bool {
        meets::is_branch(object, place)
    }

    fn meeting(object: &Object, place: u64) -> Option<u64> {
        meets::meeting(object, place)
    }

    /// Statuses that differ stay apart, and so do addresses in different regions and pointers to code or
    /// to steps of a table of addresses.
    fn is_like(&self, other: &X86, object: &Object, live: Option<u16>) -> bool {
        let returns = live.is_none();
        let register = if returns { Some(0) } else { meets::status(object, self.next) };
        let status = |x86: &X86| match x86.general[register?] {
            Word::Number(status) => Some(status),
            _ => None,
        };
        let is_live = |register: &usize| live.is_none_or(|live| live >> register & 1 == 1);
        let regions = SAVED.into_iter().filter(is_live).all(|register| {
            let word = |state: &X86| parts(state.general[register].whole()?).0;
            word(self).zip(word(other)).is_none_or(|(one, next)| one == next)
        });
        regions
            && self.next == other.next
            && self.x87 == other.x87
            && self.general[RSP] == other.general[RSP]
            && status(self) == status(other)
            && self.general.iter().zip(&other.general).all(|pair| match pair {
                (Word::Pointer(one), Word::Pointer(next)) if !returns && one != next => {
                    !object.has_addresses(*one, *next)
                }
                _ => true,
            })
    }

    fn stack_offset(&self) -> i64 {
        self.stack().unwrap_or(0)
    }

    fn go_to(&mut self, place: u64) {
        self.next = place;
    }

    fn map_forms(&mut self, of: &dyn Fn(Form) -> Form) {
        if let Some((a, b)) = &mut self.compared {
            (*a, *b) = (of(*a), of(*b));
        }
        for word in &mut self.general {
            let refined = match *word {
                Word::Count(form) => Whole::Count(of(form)),
                Word::Moving(Moving { region, offset }) => {
                    Whole::Moving(Moving { region, offset: of(offset) })
                }
                Word::Low(form, bytes) => {
                    *word = Word::Low(of(form), bytes);
                    continue;
                }
                _ => continue,
            };
            *word = Word::from(refined);
        }
        for (number, lane) in lanes() {
            let refined = match self.vectors.pointer(number, lane) {
                Some(Whole::Count(form)) => Whole::Count(of(form)),
                Some(Whole::Moving(Moving { region, offset })) => {
                    Whole::Moving(Moving { region, offset: of(offset) })
                }
                _ => continue,
            };
            self.vectors.set_pointer(number, lane, refined);
        }
    }

    fn forget(&mut self, is_gone: &dyn Fn(Region) -> bool) {
        let of = |whole| parts(whole).0.is_none_or(|region| !is_gone(region)).then_some(whole);
        for word in &mut self.general {
            let is_lost = match &*word {
                Word::Distance(to, from) => is_gone(to.region) || is_gone(from.region),
                word => word.moved().is_some_and(|whole| of(whole).is_none()),
            };
            if is_lost {
                *word = Word::Bits(Box::new([Cell::UNSET; 64]));
            }
        }
        self.vectors.map_wholes(&of);
    }

    fn map_arguments(&mut self, of: &mut dyn FnMut(Form) -> Form) {
        for register in PARAMETERS {
            if let Word::Count(form) = &mut self.general[register] {
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
        let others = self.masks.iter_mut().flatten().chain(&mut self.zero_of.1);
        self.vectors.cells_mut().iter_mut().chain(others).for_each(|cell| *cell = of(*cell));
        let Flags { carry, zero, sign, overflow } = &mut self.flags;
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
        joined.compared = match (self.compared, other.compared) {
            (Some((a, b)), Some((x, y))) => join.form(a, x).zip(join.form(b, y)),
            _ => None,
        };
        let known = |one: Flag, next: Flag| match one == next {
            _ if one.is_secret() || next.is_secret() => Flag::Secret,
            true if one != Flag::Public || joined.compared.is_some() => one,
            _ => Flag::Undefined,
        };
        joined.flags = Flags {
            carry: known(self.flags.carry, other.flags.carry),
            zero: known(self.flags.zero, other.flags.zero),
            sign: known(self.flags.sign, other.flags.sign),
            overflow: known(self.flags.overflow, other.flags.overflow),
        };
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
            let is_kept = |[claimed, found]: [Option<Whole>; 2]| match (claimed, found) {
                (Some(claimed), Some(found)) => cover.whole(claimed, found),
                (claimed, _) => claimed.is_none(),
            };
            if lanes.into_iter().all(is_kept) && self.vectors.holds_none(number) {
                for (cell, found) in self.vectors.get_mut(number).iter_mut().zip(found) {
                    *cell = cover.widened(*cell, found);
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
            match (claimed, found) {
                (Some(claimed), Some(found)) => cover.whole(claimed, found),
                (Some(_), None) => false,
                (None, _) => true,
            }
        });
        let masks = self.masks.iter().flatten().zip(other.masks.iter().flatten());
        let mut masks = masks.map(|(&claimed, &found)| cover.cell(claimed, found));
        let masks = masks.all(|same| same);
        let [claimed, found] = [&self.flags, &other.flags]
            .map(|flags| [flags.carry, flags.zero, flags.sign, flags.overflow]);
        let flags = claimed.iter().zip(found).all(|(&claimed, found)| {
            let is_any = claimed == Flag::Undefined && !found.is_secret();
            is_any || claimed == Flag::Secret || claimed == found
        });
        let compared = match (self.compared, other.compared) {
            _ if !claimed.contains(&Flag::Public) => true,
            (Some((a, b)), Some((x, y))) => cover.form(a, x) && cover.form(b, y),
            _ => false,
        };
        let place = self.next == other.next && self.x87 == other.x87;
        general && vectors && pointers && masks && flags && compared && place
    }
}

/// The vector registers with their lanes.
fn lanes() -> impl Iterator<Item = (usize, usize)> {
    (0..32).flat_map(|number| (0..LANES).map(move |lane| (number, lane)))
}

fn joined_word(one: &Word, next: &Word, bits: &Bits, join: &impl Joining) -> Word {
    let both = one.whole().zip(next.whole());
    if let Some(joined) = both.and_then(|(one, next)| join.whole(one, next)) {
        return Word::from(joined);
    }
    let cells = match (one.cells(bits), next.cells(bits)) {
        (Some(one), Some(next)) => std::array::from_fn(|at| join.cell(one[at], next[at])),
        _ => lost_word(one, next, bits, join),
    };
    Word::Bits(Box::new(cells))
}

/// The bits of a word that is whole in one of two states.
fn lost_word(one: &Word, next: &Word, bits: &Bits, join: &impl Joining) -> [Cell; 64] {
    let [one, next] = [one, next].map(|word| word.cells(bits).unwrap_or([join.lost(); 64]));
    std::array::from_fn(|at| join.cell(one[at], next[at]))
}

fn covers_word(claimed: &Word, found: &Word, bits: &Bits, cover: &Cover) -> bool {
    if let Some(claimed) = claimed.whole() {
        return found.whole().is_some_and(|found| cover.whole(claimed, found));
    }
    let Word::Bits(claimed) = claimed else { return false };
    match found.cells(bits) {
        Some(found) => {
            claimed.iter().zip(&found).all(|(&claimed, &found)| cover.cell(claimed, found))
        }
        None => claimed.iter().all(|&cell| cell == Cell::OPAQUE || cell == cover.join.lost()),
    }
}
