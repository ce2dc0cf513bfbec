//! Operations on the lanes of vectors.
//!
//! ```text
//! add   v0.4s, v1.4s, v2.4s     each lane: a + b mod 2^32
//! umull v0.2d, v1.2s, v2.2s     each lane: the whole product
//! usra  v0.2d, v1.2d, #51       each lane: a + (b >> 51)
//! ```

use usuba_decode::aarch64::{LaneShift, Lanes, Lanewise, Long, OfLane, Register, Vector};

use super::{Done, Run};
use crate::{Fault, Rule, unsupported};
use usuba_bits::cell::{Bits, Cell};
use usuba_bits::lane_arithmetic::{self as words, CHOICE, leading_zeros, less, shifted};

/// The lanes of the result.
type Cells = Result<Vec<Cell>, Fault>;

impl Run<'_, '_> {
    pub fn on_lanes(&mut self, vector: Vector) -> Done {
        use Vector::*;
        let (to, cells) = match vector {
            Lanewise { operation, lanes, to, a, b } => {
                let (x, y) = (self.part(a, lanes.all)?, self.part(b, lanes.all)?);
                (to, self.lanewise(operation, lanes, to, (x, y), a == b)?)
            }
            ByElement { operation, lanes, to, a, b, at } => {
                let x = self.part(a, lanes.all)?;
                let y = self.lane(b, lanes.bits, at)?.repeat(lanes.all / lanes.bits);
                (to, self.lanewise(operation, lanes, to, (x, y), false)?)
            }
            Long { operation, signed, bits, upper, to, a, b, at } => {
                (to, self.long(operation, (signed, bits, upper), to, [a, b], at)?)
            }
            OfLane { operation, lanes, to, from } => (to, self.of_lane(operation, lanes, from)?),
            Narrow { bits, upper, shift, to, from } => {
                let from = self.part(from, 128)?;
                let zero = self.world.bits.constant(false);
                let narrow = |lane: &[Cell]| {
                    let count = shift.unwrap_or(0) as u64;
                    shifted(lane, zero, words::Shift::Right, count)[..bits].to_vec()
                };
                let low: Vec<Cell> = from.chunks(2 * bits).flat_map(narrow).collect();
                let cells = if upper { [self.part(to, 64)?, low].concat() } else { low };
                (to, cells)
            }
            Shift { shift, lanes, to, from, count } => {
                (to, self.shift(shift, lanes, to, from, count)?)
            }
            ShiftLong { signed, bits, upper, to, from, count } => {
                let from = self.part(from, 128)?;
                let from = &from[64 * usize::from(upper)..][..64];
                let zero = self.world.bits.constant(false);
                let longer = |lane: &[Cell]| {
                    let long = extended(lane, zero, signed);
                    shifted(&long, zero, words::Shift::Left, count as u64)
                };
                (to, from.chunks(bits).flat_map(longer).collect())
            }
            Sum { lanes, to, from } => {
                let from = self.part(from, lanes.all)?;
                let bits = &mut self.world.bits;
                let mut sum = bits.number(0, lanes.bits);
                for lane in from.chunks(lanes.bits) {
                    sum = bits.sum(&sum, lane, false).0;
                }
                (to, sum)
            }
            SumOfPair { to, from } => {
                let from = self.part(from, 128)?;
                (to, self.world.bits.sum(&from[..64], &from[64..], false).0)
            }
            _ => return Err(unsupported("the use of the instruction is not modelled")),
        };
        self.set_vector(to, &cells);
        Ok(())
    }

    fn lanewise(
        &mut self,
        operation: Lanewise,
        lanes: Lanes,
        to: Register,
        (a, b): (Vec<Cell>, Vec<Cell>),
        is_one: bool,
    ) -> Cells {
        let Lanes { bits: lane, all } = lanes;
        if let Lanewise::Shift { signed } = operation {
            return self.shift_each(signed, lane, &a, &b);
        }
        let old = self.part(to, all)?;
        // The value does not matter.
        if is_one && operation == Lanewise::Equal {
            return Ok(vec![self.world.bits.constant(true); all]);
        }
        if operation == Lanewise::AddPairs {
            let both = [a, b].concat();
            let (even, odd) =
                both.chunks(2 * lane).fold((Vec::new(), Vec::new()), |mut halves, pair| {
                    halves.0.extend_from_slice(&pair[..lane]);
                    halves.1.extend_from_slice(&pair[lane..]);
                    halves
                });
            let bits = &mut self.world.bits;
            return Ok(bits.each_lane([&even, &odd], lane, |bits, [a, b]| bits.sum(a, b, false).0));
        }
        let bits = &mut self.world.bits;
        Ok(bits.each_lane([&a, &b, &old], lane, |bits, [a, b, old]| {
            of_pair(bits, operation, a, b, old)
        }))
    }

    /// A shift with a count for each lane: the lowest byte, with its sign.
    fn shift_each(&mut self, signed: bool, lane: usize, a: &[Cell], b: &[Cell]) -> Cells {
        let zero = self.world.bits.constant(false);
        let mut cells = Vec::with_capacity(a.len());
        for (a, b) in a.chunks(lane).zip(b.chunks(lane)) {
            let count = self.world.bits.word(&b[..8]).ok_or_else(|| {
                let (secret, other) = ("a count depends on an input", "a count is not known");
                self.world.unknown(&b[..8], Rule::SecretShift, secret, other)
            })? as u8 as i8;
            let shift = match (count < 0, signed) {
                (false, _) => words::Shift::Left,
                (true, true) => words::Shift::Arithmetic,
                (true, false) => words::Shift::Right,
            };
            cells.extend(shifted(a, zero, shift, count.unsigned_abs().into()));
        }
        Ok(cells)
    }

    fn long(
        &mut self,
        operation: Long,
        (signed, lane, upper): (bool, usize, bool),
        to: Register,
        [a, b]: [Register; 2],
        at: Option<usize>,
    ) -> Cells {
        let half = |cells: Vec<Cell>| cells[64 * usize::from(upper)..][..64].to_vec();
        let is_wide = matches!(operation, Long::AddWide | Long::SubtractWide);
        let zero = self.world.bits.constant(false);
        let longer = |cells: &[Cell]| -> Vec<Cell> {
            cells.chunks(lane).flat_map(|lane| extended(lane, zero, signed)).collect()
        };
        let x = match is_wide {
            true => self.part(a, 128)?,
            false => longer(&half(self.part(a, 128)?)),
        };
        let y = match at {
            None => half(self.part(b, 128)?),
            Some(at) => self.lane(b, lane, at)?.repeat(64 / lane),
        };
        let y = longer(&y);
        let old = self.part(to, 128)?;
        let bits = &mut self.world.bits;
        Ok(bits.each_lane([&x, &y, &old], 2 * lane, |bits, [a, b, old]| {
            let mut product = || match (operation, signed) {
                (Long::Polynomial, _) => bits.carryless(&a[..lane], &b[..lane]),
                // Of the whole lanes, as the language has it.
                _ => bits.product(a, b),
            };
            match operation {
                Long::Add | Long::AddWide => bits.sum(a, b, false).0,
                Long::Subtract | Long::SubtractWide => bits.difference(a, b).0,
                Long::Multiply | Long::Polynomial => product(),
                Long::MultiplyAdd => {
                    let product = product();
                    bits.sum(old, &product, false).0
                }
                Long::MultiplySubtract => {
                    let product = product();
                    bits.difference(old, &product).0
                }
            }
        }))
    }

    fn of_lane(&mut self, operation: OfLane, lanes: Lanes, from: Register) -> Cells {
        let Lanes { bits: lane, all } = lanes;
        let from = self.part(from, all)?;
        if let OfLane::Reverse(part) = operation {
            let reversed = from.chunks(part).flat_map(|part| part.rchunks(lane).flatten());
            return Ok(reversed.copied().collect());
        }
        let bits = &mut self.world.bits;
        Ok(bits.each_lane([&from], lane, |bits, [a]| {
            let zero = bits.number(0, lane);
            let sign = a[lane - 1];
            let all = |bit: Cell| vec![bit; lane];
            match operation {
                OfLane::Not => a.iter().map(|&cell| bits.not(cell)).collect(),
                OfLane::Bits | OfLane::Reverse(_) => a.iter().rev().copied().collect(),
                OfLane::Count => a.iter().fold(zero, |count, &bit| {
                    let mut one = bits.number(0, lane);
                    one[0] = bit;
                    bits.sum(&count, &one, false).0
                }),
                OfLane::LeadingZeros => leading_zeros(bits, a),
                OfLane::Sign => [&a[..lane - 1], &[bits.not(sign)]].concat(),
                OfLane::NoSign => [&a[..lane - 1], &zero[..1]].concat(),
                OfLane::Negate => bits.difference(&zero, a).0,
                OfLane::Absolute => {
                    let other = bits.difference(&zero, a).0;
                    let choose = |at: usize| bits.function(CHOICE, [sign, other[at], a[at]]);
                    (0..lane).map(choose).collect()
                }
                OfLane::EqualZero => all(bits.equal(a, &zero)),
                OfLane::LessZero => all(sign),
                OfLane::GreaterOrEqualZero => all(bits.not(sign)),
                OfLane::GreaterZero => all(less(bits, &zero, a, true)),
                OfLane::LessOrEqualZero => {
                    let greater = less(bits, &zero, a, true);
                    all(bits.not(greater))
                }
            }
        }))
    }

    fn shift(
        &mut self,
        shift: LaneShift,
        lanes: Lanes,
        to: Register,
        from: Register,
        count: usize,
    ) -> Cells {
        let Lanes { bits: lane, all } = lanes;
        let (from, old) = (self.part(from, all)?, self.part(to, all)?);
        let bits = &mut self.world.bits;
        let zero = bits.constant(false);
        Ok(bits.each_lane([&from, &old], lane, |bits, [a, old]| {
            let by = |shift: words::Shift| shifted(a, zero, shift, count as u64);
            let right =
                |signed: bool| if signed { words::Shift::Arithmetic } else { words::Shift::Right };
            match shift {
                LaneShift::Left => by(words::Shift::Left),
                LaneShift::Right { signed } => by(right(signed)),
                LaneShift::RightAdd { signed } => added(bits, old, &by(right(signed))),
                LaneShift::InsertLeft => [&old[..count], &a[..lane - count]].concat(),
                LaneShift::InsertRight => [&a[count..], &old[lane - count..]].concat(),
            }
        }))
    }
}

/// A word of twice as many bits.
fn extended(word: &[Cell], zero: Cell, signed: bool) -> Vec<Cell> {
    let above = if signed { word[word.len() - 1] } else { zero };
    [word, &vec![above; word.len()]].concat()
}

/// The sum of two words. Without a common place it is their union: compilers rotate so.
fn added(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    let is_zero = |cell: Cell| bits.value(cell) == Some(false);
    match a.iter().zip(b).all(|(&a, &b)| is_zero(a) || is_zero(b)) {
        true => a.iter().zip(b).map(|(&a, &b)| bits.or(a, b)).collect(),
        false => bits.sum(a, b, false).0,
    }
}

/// An operation on two lanes, and the old lane of the result.
fn of_pair(
    bits: &mut Bits,
    operation: Lanewise,
    a: &[Cell],
    b: &[Cell],
    old: &[Cell],
) -> Vec<Cell> {
    let all = |bit: Cell| vec![bit; a.len()];
    let choose = |bits: &mut Bits, first: Cell| {
        let pairs = a.iter().zip(b);
        pairs.map(|(&a, &b)| bits.function(CHOICE, [first, a, b])).collect()
    };
    match operation {
        Lanewise::Add => added(bits, a, b),
        Lanewise::Subtract => bits.difference(a, b).0,
        Lanewise::Multiply => bits.product(a, b),
        Lanewise::MultiplyAdd => {
            let product = bits.product(a, b);
            bits.sum(old, &product, false).0
        }
        Lanewise::MultiplySubtract => {
            let product = bits.product(a, b);
            bits.difference(old, &product).0
        }
        Lanewise::Equal => all(bits.equal(a, b)),
        Lanewise::Test => {
            let none = bits.constant(false);
            let common = a.iter().zip(b).fold(none, |common, (&a, &b)| {
                let both = bits.and(a, b);
                bits.or(common, both)
            });
            all(common)
        }
        Lanewise::Greater => all(less(bits, b, a, true)),
        Lanewise::Higher => all(less(bits, b, a, false)),
        Lanewise::GreaterOrEqual | Lanewise::HigherOrSame => {
            let below = less(bits, a, b, operation == Lanewise::GreaterOrEqual);
            all(bits.not(below))
        }
        Lanewise::Most { signed } => {
            let below = less(bits, b, a, signed);
            choose(bits, below)
        }
        Lanewise::Least { signed } => {
            let below = less(bits, a, b, signed);
            choose(bits, below)
        }
        // They are not lane by lane.
        Lanewise::Shift { .. } | Lanewise::AddPairs => vec![Cell::OPAQUE; a.len()],
    }
}
