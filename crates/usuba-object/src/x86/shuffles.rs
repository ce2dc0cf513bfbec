//! Shuffles, broadcasts, extensions and packs: vectors whose units come from units of the operands.
//!
//! ```text
//! vpbroadcastd ymm0, [rdi]     word k of ymm0 = the word
//! pshufd xmm0, xmm1, 0x1b      word k of xmm0 = word 3 - k of xmm1
//! vpshufb a, b, c              byte k of a = byte c[k] mod 16 of the same 16 bytes of b, or zero
//! vpermt2d a, b, c             word k of a = word b[k] of c above a
//! packuswb a, b                each signed word as a byte, or the nearest byte there is
//! ```
//!
//! Most are a function from places of the result to places of the operands, which is in the table.
//! The controls of shuffles must be known: compilers take them from constants. The exception is
//! `pshufb` of constant bytes: it looks up a table in a register, as clang does to reverse bits of
//! bytes, and its time does not depend on operands.

use iced_x86::{MemorySize, OpKind};

use super::{Cells, Done, Run};
use crate::Fault;
use usuba_bits::cell::{Bits, Cell};
use usuba_bits::lane_arithmetic::{CHOICE, looked_up};

/// Where a unit of the result comes from: operand and unit, or zero.
pub type From = Option<(usize, usize)>;

/// A unit of the result of a shuffle.
#[derive(Clone, Copy)]
pub struct Place {
    /// The immediate of the instruction, or zero.
    pub control: usize,
    /// The group of 128 bits.
    pub group: usize,
    /// The unit in its group, or in the whole vector.
    pub at: usize,
    /// Units of a group, or of the vector.
    pub units: usize,
}

impl Place {
    /// A field of the control that is `width` bits wide.
    pub fn field(self, at: usize, width: usize) -> usize {
        self.control >> (at * width) & ((1 << width) - 1)
    }
}

/// Bits of the groups in which most shuffles stay.
pub const GROUP: usize = 128;

/// A choice of two fields of eight bits for the halves of a group.
pub fn of_halves(place: Place) -> From {
    Some((place.at / 2, place.field(place.at, 2)))
}

impl Run<'_, '_> {
    /// Whether the last operand is an immediate.
    fn has_number(&self) -> bool {
        self.i.op_kind(self.i.op_count() - 1) == OpKind::Immediate8
    }

    fn control(&self) -> usize {
        match self.has_number() {
            true => self.i.immediate(self.i.op_count() - 1) as usize,
            false => 0,
        }
    }

    /// The sources of a shuffle of one or of two vectors.
    fn sources(&mut self, count: usize) -> Result<[Vec<Cell>; 2], Fault> {
        let bits = self.bits();
        if count == 2 {
            return self.two(bits).map(|(a, b)| [a, b]);
        }
        // Before AVX, shifts have only one operand besides their immediate.
        let source = if self.has_number() { self.i.op_count() - 2 } else { 1 };
        // movddup reads no more than it uses.
        let is_half = self.i.memory_size() == MemorySize::Float64 && bits == GROUP;
        let cells = self.vector(source, if is_half { 64 } else { bits })?;
        Ok([cells, Vec::new()])
    }

    /// A shuffle of units in each group of 128 bits.
    pub fn in_groups(&mut self, sources: usize, from: fn(Place) -> From) -> Cells {
        let (unit, control) = (self.row.lane, self.control());
        let sources = self.sources(sources)?;
        let units = GROUP / unit;
        Ok(self.moved(&sources, unit, |at| {
            let (group, at) = (at / units, at % units);
            let (source, at) = from(Place { control, group, at, units })?;
            Some((source, group * units + at))
        }))
    }

    /// A shuffle of units of a whole vector.
    pub fn whole(&mut self, sources: usize, unit: usize, from: fn(Place) -> From) -> Cells {
        let (units, control) = (self.bits() / unit, self.control());
        let sources = self.sources(sources)?;
        Ok(self.moved(&sources, unit, |at| from(Place { control, group: 0, at, units })))
    }

    fn moved(
        &self,
        sources: &[Vec<Cell>; 2],
        unit: usize,
        from: impl Fn(usize) -> From,
    ) -> Vec<Cell> {
        let zeros = vec![self.zero(); unit];
        let units = (0..self.bits() / unit).flat_map(|at| match from(at) {
            Some((source, at)) => &sources[source][at * unit..][..unit],
            None => &zeros,
        });
        units.copied().collect()
    }

    /// Copies of the lowest part of the source.
    pub fn broadcast(&mut self, part: usize) -> Cells {
        let cells = self.low_part(1, part)?;
        Ok(cells.iter().copied().cycle().take(self.bits()).collect())
    }

    /// Units that become longer.
    pub fn extend(&mut self, from: usize, signed: bool) -> Cells {
        let to = self.row.lane;
        let cells = self.low_part(1, self.bits() / to * from)?;
        let zero = self.zero();
        let units = cells.chunks(from).flat_map(|unit| {
            let above = if signed { unit[from - 1] } else { zero };
            unit.iter().copied().chain(std::iter::repeat_n(above, to - from))
        });
        Ok(units.collect())
    }

    /// A vector with a part from elsewhere.
    pub fn insert(&mut self, part: usize) -> Cells {
        let (into, from) = (self.source(), self.source() + 1);
        let at = self.i.immediate(from + 1) as usize % (self.bits() / part);
        let mut cells = self.vector(into, self.bits())?;
        let new = self.low_part(from, part)?;
        cells[at * part..(at + 1) * part].copy_from_slice(&new);
        Ok(cells)
    }

    /// Units of vectors, chosen by the vector `controls`.
    fn chosen(&self, controls: &[Cell], from: &[Cell]) -> Cells {
        let unit = self.row.lane;
        let used = (from.len() / unit).trailing_zeros() as usize;
        let mut out = Vec::with_capacity(controls.len());
        for control in controls.chunks(unit) {
            let at = self.known(&control[..used], CONTROL)? as usize;
            out.extend_from_slice(&from[at * unit..][..unit]);
        }
        Ok(out)
    }

    /// Units of the second source, chosen by the first.
    pub fn permute(&mut self) -> Cells {
        let (controls, cells) = (self.vector(1, self.bits())?, self.vector(2, self.bits())?);
        self.chosen(&controls, &cells)
    }

    /// Units of two vectors, of which the result replaces the lower one, or the controls.
    pub fn permute_two(&mut self, replaces_controls: bool) -> Cells {
        let bits = self.bits();
        let [first, second, high] = [0, 1, 2].map(|at| self.vector(at, bits));
        let (first, second) = (first?, second?);
        let (controls, low) = if replaces_controls { (first, second) } else { (second, first) };
        self.chosen(&controls, &[low, high?].concat())
    }

    pub fn shuffle_bytes(&mut self) -> Cells {
        let (cells, controls) = self.two(self.bits())?;
        let mut out = Vec::with_capacity(cells.len());
        for (cells, controls) in cells.chunks(GROUP).zip(controls.chunks(GROUP)) {
            for control in controls.chunks(8) {
                let is_zero = self.known(&control[7..], CONTROL);
                match (is_zero, self.known(&control[..4], CONTROL)) {
                    (Ok(1), _) => out.extend([self.zero(); 8]),
                    (Ok(_), Ok(at)) => out.extend_from_slice(&cells[8 * at as usize..][..8]),
                    (Err(fault), _) | (_, Err(fault)) => {
                        let bits = &mut self.world.bits;
                        let table = cells.chunks(8).map(|byte| bits.word(byte));
                        let table: Vec<u64> = table.collect::<Option<_>>().ok_or(fault)?;
                        let byte = looked_up(bits, &table, &control[..4]);
                        let kept = bits.not(control[7]);
                        out.extend(byte.into_iter().map(|bit| bits.and(kept, bit)));
                    }
                }
            }
        }
        Ok(out)
    }

    /// In each group of 128 bits: the units of the first operand, then the units of the second,
    /// each as the nearest number of half as many bits.
    pub fn pack(&mut self, nearest: fn(&mut Bits, &[Cell]) -> Vec<Cell>) -> Cells {
        let (a, b) = self.two(self.bits())?;
        let unit = 2 * self.row.lane;
        let groups = a.chunks(GROUP).zip(b.chunks(GROUP));
        let words = groups.flat_map(|(a, b)| a.chunks(unit).chain(b.chunks(unit)));
        Ok(words.flat_map(|word| nearest(&mut self.world.bits, word)).collect())
    }

    /// The lower part of each unit, beside each other.
    pub fn truncate(&mut self, from: usize) -> Done {
        let cells = self.vector(1, 8 * self.i.op1_register().size())?;
        let kept = cells.chunks(from).flat_map(|unit| unit[..self.row.lane].iter().copied());
        let kept: Vec<Cell> = kept.collect();
        if self.is_memory(0) {
            return self.store_operand(&kept);
        }
        self.set_vector(&kept);
        Ok(())
    }

    /// insertps: word k >> 6 of b to place k >> 4 of a, and zeros.
    pub fn insert_word(&mut self) -> Cells {
        let (into, from) = (self.source(), self.source() + 1);
        let control = self.i.immediate(from + 1) as usize;
        let mut cells = self.vector(into, GROUP)?;
        let word = match self.is_memory(from) {
            true => self.load_operand(4)?,
            false => self.vector(from, GROUP)?[control >> 6 << 5..][..32].to_vec(),
        };
        cells[(control >> 4 & 3) * 32..][..32].copy_from_slice(&word);
        for at in (0..4).filter(|at| control >> at & 1 == 1) {
            cells[32 * at..][..32].fill(self.zero());
        }
        Ok(cells)
    }
}

/// The name of the control vector of a shuffle in faults.
const CONTROL: &str = "the control of the shuffle";

/// Unsigned saturation of a signed number to half as many bits: zero for negative numbers, all ones
/// for numbers that are too large.
pub fn to_unsigned(bits: &mut Bits, word: &[Cell]) -> Vec<Cell> {
    let (low, high) = word[..word.len() - 1].split_at(word.len() / 2);
    let positive = bits.not(word[word.len() - 1]);
    let large = high.iter().fold(bits.constant(false), |large, &bit| bits.or(large, bit));
    let bit = |&bit: &Cell| {
        let bit = bits.or(bit, large);
        bits.and(positive, bit)
    };
    low.iter().map(bit).collect()
}

/// Signed saturation of a signed number to half as many bits: the sign, and below it the complement
/// of the sign if a bit above shows that the number is too large.
pub fn to_signed(bits: &mut Bits, word: &[Cell]) -> Vec<Cell> {
    let sign = word[word.len() - 1];
    let (low, high) = word.split_at(word.len() / 2 - 1);
    let long = high.iter().fold(bits.constant(false), |long, &bit| {
        let differs = bits.xor(bit, sign);
        bits.or(long, differs)
    });
    let nearest = bits.not(sign);
    let bit = |&bit: &Cell| bits.function(CHOICE, [long, nearest, bit]);
    low.iter().map(bit).chain([sign]).collect()
}
