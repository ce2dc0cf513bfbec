//! Operations on vectors, and moves between vectors and general-purpose registers.
//!
//! ```text
//! bsl v0.16b, v1.16b, v2.16b     each bit: v0 = v0 ? v1 : v2
//! ext v0.16b, v1.16b, v2.16b, #3 bytes 3 to 18 of v2:v1
//! tbl v0.16b, {v1.16b}, v2.16b   byte k of v0 = byte v2[k] of v1, or zero
//! ```
//!
//! The bits above a result are zero. A look-up by bytes takes the same time for all of them.

use usuba_decode::aarch64::{Extend, Gate, Lanes, Permutation, Register, Vector, expanded};

use super::{Done, Run, register_file};
use crate::memory::{Pointer, Region, Whole};
use crate::word::Word;
use crate::{Fault, Rule};
use usuba_bits::cell::Cell;
use usuba_bits::lane_arithmetic::{CHOICE, andn, looked_up};

impl Run<'_, '_> {
    /// The bits of a vector.
    pub fn vector_bits(&self, register: Register) -> Result<Vec<Cell>, Fault> {
        let vector = &self.aarch64.vectors[register];
        let mut cells = vector.cells.to_vec();
        for (lane, whole) in vector.pointers.iter().enumerate() {
            // The value of a register that must be restored may be a secret of the caller.
            if let Some(Whole::Pointer(Pointer { region, .. })) = whole
                && matches!(region, Region::Entry(_) | Region::Held(..))
            {
                cells[64 * lane..][..64].fill(Cell::OPAQUE);
            }
        }
        Ok(cells)
    }

    /// The lowest bits of a vector.
    pub fn part(&self, register: Register, all: usize) -> Result<Vec<Cell>, Fault> {
        let mut cells = self.vector_bits(register)?;
        cells.truncate(all);
        Ok(cells)
    }

    /// Writes a vector, with zeros above.
    pub fn set_vector(&mut self, register: Register, cells: &[Cell]) {
        let mut all = [self.world.bits.constant(false); 128];
        all[..cells.len()].copy_from_slice(cells);
        *self.aarch64.vector_mut(register) = register_file::Vector::of(all);
    }

    pub fn vector(&mut self, vector: Vector) -> Done {
        use Vector::*;
        match vector {
            Gate { gate, all, to, a, b } => self.gate(gate, all, to, [a, b]),
            Permute { permutation, lanes, to, a, b } => {
                self.permute(permutation, lanes, to, [a, b])
            }
            Align { all, to, a, b, at } => {
                let both = [self.part(a, all)?, self.part(b, all)?].concat();
                self.set_vector(to, &both[8 * at..8 * at + all]);
                Ok(())
            }
            Table { keeps, all, to, first, count, numbers } => {
                self.table((keeps, all), to, (first, count), numbers)
            }
            Duplicate { lanes, to, from, at } => {
                let cells = self.lane(from, lanes.bits, at)?;
                self.set_vector(to, &cells.repeat(lanes.all / lanes.bits));
                Ok(())
            }
            Broadcast { lanes, to, from } => {
                let cells = self.word(from, true)?;
                self.set_vector(to, &cells[..lanes.bits].repeat(lanes.all / lanes.bits));
                Ok(())
            }
            Insert { bits, to, at, from } => {
                if let (64, Some(whole)) = (bits, self.value(from).moved())
                    && !whole.is_public()
                {
                    self.set_lane(to, at, whole);
                    return Ok(());
                }
                let cells = self.word(from, true)?;
                self.insert(to, bits, at, &cells[..bits]);
                Ok(())
            }
            InsertLane { bits, to, at, from, lane } => {
                if bits == 64 {
                    let pointer = self.aarch64.vectors[from].pointers[lane];
                    if let Some(pointer) = pointer {
                        self.set_lane(to, at, pointer);
                        return Ok(());
                    }
                }
                let cells = self.lane(from, bits, lane)?;
                self.insert(to, bits, at, &cells);
                Ok(())
            }
            Extract { signed, wide, bits, to, from, at } => {
                if let (64, Some(pointer)) =
                    (bits, self.aarch64.vectors[from].pointers[at * bits / 64])
                {
                    self.set(to, Word::from(pointer));
                    return Ok(());
                }
                let cells = self.lane(from, bits, at)?;
                let word = self.extend(self.extended(&cells), Extend { signed, bits }, wide)?;
                self.set(to, word);
                Ok(())
            }
            Constant { all, flag, mode, byte, to } => {
                self.constant_vector(all, flag, mode, byte, to)
            }
            ToGeneral { bits, upper, to, from } => {
                let lane = usize::from(upper);
                if let (64, Some(pointer)) = (bits, self.aarch64.vectors[from].pointers[lane]) {
                    self.set(to, Word::from(pointer));
                    return Ok(());
                }
                let cells = self.lane(from, bits, lane)?;
                self.set_bits(to, &cells);
                Ok(())
            }
            FromGeneral { bits, upper, to, from } => {
                let value = self.value(from);
                let zero = self.world.bits.constant(false);
                if !upper {
                    *self.aarch64.vector_mut(to) = register_file::Vector::of([zero; 128]);
                }
                if let (64, Some(whole)) = (bits, value.moved())
                    && !whole.is_public()
                {
                    self.set_lane(to, usize::from(upper), whole);
                    return Ok(());
                }
                let cells = self.bits_of(&value, true)?;
                self.insert(to, bits, usize::from(upper), &cells[..bits]);
                Ok(())
            }
            Move { bits, to, from } => {
                let pointer = self.aarch64.vectors[from].pointers[0].filter(|_| bits == 64);
                let cells = self.part(from, bits)?;
                self.set_vector(to, &cells);
                if let Some(pointer) = pointer {
                    self.set_lane(to, 0, pointer);
                }
                Ok(())
            }
            other => self.on_lanes(other),
        }
    }

    /// A lane of a vector.
    pub fn lane(&self, register: Register, bits: usize, at: usize) -> Result<Vec<Cell>, Fault> {
        Ok(self.vector_bits(register)?[bits * at..][..bits].to_vec())
    }

    /// Puts an address or a count into a lane of 64 bits.
    fn set_lane(&mut self, register: Register, lane: usize, whole: Whole) {
        let vector = self.aarch64.vector_mut(register);
        vector.pointers[lane] = Some(whole);
        vector.cells[64 * lane..][..64].fill(Cell::UNSET);
    }

    /// Writes a lane; the others stay.
    fn insert(&mut self, register: Register, bits: usize, at: usize, cells: &[Cell]) {
        let vector = self.aarch64.vector_mut(register);
        let half = bits * at / 64;
        if vector.pointers[half].take().is_some() {
            vector.cells[64 * half..][..64].fill(Cell::OPAQUE);
        }
        vector.cells[bits * at..][..bits].copy_from_slice(cells);
    }

    fn gate(&mut self, gate: Gate, all: usize, to: Register, [x, y]: [Register; 2]) -> Done {
        // A move of all bits, perhaps of addresses.
        if gate == Gate::Or && x == y {
            let mut vector = self.aarch64.vectors[x].clone();
            if all == 64 {
                vector.cells[64..].fill(self.world.bits.constant(false));
                vector.pointers[1] = None;
            }
            *self.aarch64.vector_mut(to) = vector;
            return Ok(());
        }
        // The value does not matter.
        if gate == Gate::Xor && x == y {
            self.set_vector(to, &[]);
            return Ok(());
        }
        let (a, b, old) = (self.part(x, all)?, self.part(y, all)?, self.part(to, all)?);
        let bits = &mut self.world.bits;
        let cells = match gate {
            Gate::And => bits.each_bit([&a, &b], |bits, [a, b]| bits.and(a, b)),
            Gate::AndNot => bits.each_bit([&a, &b], |bits, [a, b]| andn(bits, b, a)),
            Gate::Or => bits.each_bit([&a, &b], |bits, [a, b]| bits.or(a, b)),
            Gate::OrNot => bits.each_bit([&a, &b], |bits, [a, b]| {
                let b = bits.not(b);
                bits.or(a, b)
            }),
            Gate::Xor => bits.each_bit([&a, &b], |bits, [a, b]| bits.xor(a, b)),
            Gate::Choose | Gate::InsertTrue | Gate::InsertFalse => {
                let choice = match gate {
                    Gate::Choose => [&old, &a, &b],
                    Gate::InsertTrue => [&b, &a, &old],
                    _ => [&b, &old, &a],
                };
                bits.each_bit(choice.map(|word| &word[..]), |bits, cells| {
                    bits.function(CHOICE, cells)
                })
            }
        };
        self.set_vector(to, &cells);
        Ok(())
    }

    fn permute(
        &mut self,
        permutation: Permutation,
        lanes: Lanes,
        to: Register,
        [a, b]: [Register; 2],
    ) -> Done {
        let Lanes { bits, all } = lanes;
        let both = [self.part(a, all)?, self.part(b, all)?];
        let count = all / bits;
        let from = |at: usize| match permutation {
            Permutation::Even => (2 * at / count, 2 * at % count),
            Permutation::Odd => (2 * at / count, (2 * at + 1) % count),
            Permutation::TransposeEven => (at % 2, at & !1),
            Permutation::TransposeOdd => (at % 2, at | 1),
            Permutation::ZipLow => (at % 2, at / 2),
            Permutation::ZipHigh => (at % 2, count / 2 + at / 2),
        };
        let lane = |at: usize| {
            let (source, at) = from(at);
            both[source][bits * at..][..bits].iter().copied()
        };
        let cells: Vec<Cell> = (0..count).flat_map(lane).collect();
        self.set_vector(to, &cells);
        Ok(())
    }

    fn table(
        &mut self,
        (keeps, all): (bool, usize),
        to: Register,
        (first, count): (Register, usize),
        numbers: Register,
    ) -> Done {
        let mut table = Vec::new();
        for at in 0..count {
            table.extend(self.vector_bits((first + at) % 32)?);
        }
        let (numbers, old) = (self.part(numbers, all)?, self.part(to, all)?);
        let entries = table.len() / 8;
        let mut cells = Vec::with_capacity(all);
        for (number, old) in numbers.chunks(8).zip(old.chunks(8)) {
            let bits = &mut self.world.bits;
            let zeros = bits.number(0, 8);
            let otherwise = if keeps { old } else { &zeros };
            if let Some(number) = bits.word(number) {
                let at = number as usize;
                let is_inside = at < entries;
                cells.extend(if is_inside { &table[8 * at..][..8] } else { otherwise });
                continue;
            }
            let known: Option<Vec<u64>> = table.chunks(8).map(|byte| bits.word(byte)).collect();
            let Some(mut known) = known.filter(|_| !keeps) else {
                let (secret, other) = (CONTROL, "the control of the shuffle is not known");
                return Err(self.world.unknown(number, Rule::SecretShift, secret, other));
            };
            // Numbers beyond the table give zeros.
            let used = entries.next_power_of_two().ilog2() as usize;
            known.resize(1 << used, 0);
            let byte = looked_up(bits, &known, &number[..used]);
            let none = bits.constant(false);
            let above = number[used..].iter().fold(none, |above, &bit| bits.or(above, bit));
            cells.extend(byte.into_iter().map(|bit| andn(bits, above, bit)));
        }
        self.set_vector(to, &cells);
        Ok(())
    }

    fn constant_vector(
        &mut self,
        all: usize,
        flag: bool,
        mode: usize,
        byte: u64,
        to: Register,
    ) -> Done {
        let (value, size) = match mode {
            0..8 => (byte << (mode / 2 * 8), 32),
            8..12 => (byte << ((mode - 8) / 2 * 8), 16),
            12 => (byte << 8 | 0xff, 32),
            13 => (byte << 16 | 0xffff, 32),
            14 if !flag => (byte, 8),
            _ => (expanded(flag, mode, byte), 64),
        };
        let old = self.part(to, all)?;
        let bits = &mut self.world.bits;
        let constant = bits.number(value, size).repeat(all / size);
        let is_changed = mode < 12 && mode & 1 == 1;
        let cells: Vec<Cell> = match (is_changed, flag) {
            (true, false) => old.iter().zip(&constant).map(|(&a, &b)| bits.or(a, b)).collect(),
            (true, true) => old.iter().zip(&constant).map(|(&a, &b)| andn(bits, b, a)).collect(),
            (false, true) if mode < 14 => constant.iter().map(|&cell| bits.not(cell)).collect(),
            (false, _) => constant,
        };
        self.set_vector(to, &cells);
        Ok(())
    }
}

/// The fault of a shuffle by a vector that is no constant.
const CONTROL: &str = "the control of the shuffle depends on an input";
