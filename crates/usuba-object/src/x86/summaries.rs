//! Registers at the entry and at the return of calls that are summarized.
//!
//! ```text
//! parameter registers that the callee reads    their values
//! other registers                              a symbol for a public value, else secret bits
//! ```
//!
//! A callee that only saves and restores a register returns its symbol.

use std::ops::Range;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, OpAccess, Register, UsedRegister,
};
use rustc_hash::FxHashMap;

use super::registers::{Flag, Flags, MASK, PARAMETERS, RSP, SAVED, VECTOR, VOLATILE, Word};
use super::{LONGEST, X86, meets};
use crate::cell::{Bits, Cell};
use crate::elf::Object;
use crate::memory::{Pointer, Region, Whole};
use crate::summarized::{IsCase, Summarized};

/// The parts of vector registers that instructions of one width leave alone.
const PARTS: [Range<usize>; 3] = [0..128, 128..256, 256..VECTOR];

/// The most instructions of a function whose parameters are looked for.
const MOST: usize = 1 << 12;

impl Summarized for X86 {
    fn live(object: &Object, entry: u64) -> u16 {
        live(object, entry, mask(&PARAMETERS), &mut FxHashMap::default())
    }

    fn saved(object: &Object, place: u64) -> u16 {
        live(object, place, mask(&SAVED), &mut FxHashMap::default())
    }

    fn results(object: &Object, place: u64) -> u16 {
        live(object, place, mask(&VOLATILE), &mut FxHashMap::default())
    }

    fn generalised(&self, bits: &Bits, live: u16, call: u16) -> Option<X86> {
        let is_secret = |cells: &[Cell]| cells.iter().any(|&cell| bits.is_secret(cell));
        let all = |secret| if secret { Cell::OPAQUE } else { Cell::UNSET };
        let is_live = |number: usize| live >> number & 1 == 1;
        let mut general = self.general.clone();
        for (number, word) in general.iter_mut().enumerate().filter(|(number, _)| *number != RSP) {
            match word {
                Word::Number(_) | Word::Pointer(_) | Word::Moving(_) | Word::Bits(_)
                    if is_live(number) =>
                {
                    continue;
                }
                _ if is_live(number) => return None,
                _ => {}
            }
            if !is_secret_word(bits, word) {
                let region = Region::Held(call, number as u16);
                *word = Word::Pointer(Pointer { region, offset: 0 });
            }
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
        let (compared, zero_of, subtracted) = (None, (0, Vec::new()), None);
        let X86 { x87, next, .. } = *self;
        let left = X86 { general, vectors, masks, flags, compared, zero_of, subtracted, x87, next };
        (x87 == 0).then_some(left)
    }

    fn named(mut self, bits: &mut Bits, live: u16) -> X86 {
        for (number, word) in self.general.iter_mut().enumerate() {
            if live >> number & 1 == 0 && is_secret_word(bits, word) {
                *word = Word::Bits(Box::new(std::array::from_fn(|_| bits.new_name())));
            }
        }
        self
    }

    fn is_case_of(&self, general: &X86, bits: &Bits, is_case: IsCase) -> bool {
        let is_word = |number: usize| {
            let (claimed, found) = (&general.general[number], &self.general[number]);
            // An address in a register that the caller does not use any more is unknown bits.
            let lost = VOLATILE.contains(&number).then_some([Cell::UNSET; 64]);
            match (claimed, found.cells(bits).or(lost)) {
                (Word::Bits(claimed), Some(found)) => {
                    claimed.iter().zip(&found).all(|(&claimed, &found)| is_case(claimed, found))
                }
                _ => claimed == found,
            }
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
                *word = word.moved().and_then(of).map_or_else(unknown, Word::from);
            }
        }
        moved.vectors.map_wholes(of);
        let Flags { carry, zero, sign, overflow } = &mut moved.flags;
        for flag in [carry, zero, sign, overflow] {
            *flag = match *flag {
                Flag::Is(is) => Flag::Is(is),
                flag if flag.is_secret() => Flag::Secret,
                _ => Flag::Undefined,
            };
        }
        (moved.compared, moved.zero_of, moved.subtracted) = (None, (0, Vec::new()), None);
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
            match word {
                Word::Bits(cells) => **cells = cells.map(&mut *of),
                Word::Pointer(Pointer { region: Region::Held(0, register), offset }) => {
                    let was = self.general[*register as usize].clone();
                    *word = if *offset == 0 { was } else { unknown() };
                }
                Word::Pointer(Pointer { region: Region::Return, .. }) => *word = unknown(),
                _ => {}
            }
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

/// Whether a word depends on a secret.
fn is_secret_word(bits: &Bits, word: &Word) -> bool {
    matches!(word, Word::Bits(cells) if cells.iter().any(|&cell| bits.is_secret(cell)))
}

/// A public word that is not known.
fn unknown() -> Word {
    Word::Bits(Box::new([Cell::UNSET; 64]))
}

/// The registers in a mask.
fn mask(registers: &[usize]) -> u16 {
    registers.iter().fold(0, |mask, number| mask | 1 << number)
}

/// The registers among `all` that a function may read from a place on before it writes them, as a
/// mask, by a backward analysis of live registers. Calls read parameters only. `known` has the
/// functions around it, which may read all.
fn live(object: &Object, entry: u64, all: u16, known: &mut FxHashMap<u64, u16>) -> u16 {
    if let Some(&mask) = known.get(&entry) {
        return mask;
    }
    known.insert(entry, all);
    let mut places = vec![entry];
    let mut numbers = FxHashMap::from_iter([(entry, 0)]);
    // The registers that an instruction reads, and that it writes, and the next ones.
    let mut effects: Vec<(u16, u16, Vec<usize>)> = Vec::new();
    let mut infos = InstructionInfoFactory::new();
    while let Some(&place) = places.get(effects.len()) {
        if places.len() > MOST {
            return all;
        }
        let code = object.code(place, LONGEST);
        let i = Decoder::with_ip(64, code, place, DecoderOptions::NONE).decode();
        let (mut read, mut written) = (0, 0);
        for used in infos.info(&i).used_registers() {
            let register = used.register().full_register();
            let number = if register.is_gpr() { 1 << register.number() & all } else { 0 };
            match (used.access(), writes_all(used)) {
                (OpAccess::Write, true) => written |= number,
                (OpAccess::Write | OpAccess::CondWrite, _) => {}
                _ => read |= number,
            }
        }
        let (next, outside) = meets::after(object, place);
        read |= match i.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall if all == mask(&SAVED) => 0,
            FlowControl::Call => match meets::target(object, place) {
                Some(callee) if !object.code(callee, 1).is_empty() => {
                    live(object, callee, all, known)
                }
                // Functions of the library have three parameters, and four if they check a size.
                Some(other) => {
                    let name = object.outside(other);
                    let checks = name.is_some_and(|name| name.ends_with("_chk"));
                    mask(&PARAMETERS[..3 + checks as usize])
                }
                None => all,
            },
            FlowControl::Return => 0,
            _ if outside || i.flow_control() == FlowControl::IndirectCall => all,
            _ => 0,
        };
        let mut number = |next: u64| {
            *numbers.entry(next).or_insert_with(|| {
                places.push(next);
                places.len() - 1
            })
        };
        effects.push((read, written, next.into_iter().map(&mut number).collect()));
    }
    let mut before = vec![0; places.len()];
    loop {
        let mut changed = false;
        for (at, (read, written, next)) in effects.iter().enumerate().rev() {
            let after = next.iter().fold(0, |mask, &next| mask | before[next]);
            let mask = read | after & !written;
            changed |= before[at] != mask;
            before[at] = mask;
        }
        if !changed {
            break;
        }
    }
    known.insert(entry, before[0]);
    before[0]
}

/// Whether a write of a register writes all of it: the upper half becomes zero.
fn writes_all(used: &UsedRegister) -> bool {
    let register: Register = used.register();
    register.is_gpr64() || register.is_gpr32()
}
