//! Vector operations on bits, and on lanes of 8 to 64 bits.
//!
//! ```text
//! vpandn a, b, c           each bit: a = ~b & c
//! vpternlogd a, b, c, t    each bit: a = bit 4 a + 2 b + c of t
//! vpaddd a, b, c           each lane: a = b + c mod 2^32
//! vpsrlw a, b, 3           each lane: bit p of a = bit p + 3 of b, zeros above
//! vpcmpgtb a, b, c         each lane: all ones if b > c as signed numbers, else zeros
//! vpmadd52huq a, b, c      each lane: a = a + (b mod 2^52)(c mod 2^52) div 2^52 mod 2^64
//! ```
//!
//! Instructions that ignore the value of a register make constants: `vpxor a, b, b` and `vpternlogd
//! a, a, a, 0xff`.

use iced_x86::OpKind;

use super::{Cells, Run, unsupported};
use crate::cell::{Bits, Cell};

/// An operation on two bits.
pub type Gate = fn(&mut Bits, Cell, Cell) -> Cell;

/// An operation on two lanes.
pub type Pair = fn(&mut Bits, &[Cell], &[Cell]) -> Vec<Cell>;

/// The truth table of `a ? b : c`.
pub const CHOICE: u8 = 0xca;

/// Bits of a factor of which a sum takes one half of the product.
const FACTOR: usize = 52;

/// The treatment of the bits that a shift moves out.
#[derive(Clone, Copy, PartialEq)]
pub enum Shift {
    Left,
    Right,
    /// Copies of the top bit enter.
    Arithmetic,
    RotateLeft,
    RotateRight,
}

impl Run<'_, '_> {
    /// A gate at each bit; zero if `cancels` is set and both sources are one register.
    pub fn gate(&mut self, gate: Gate, cancels: bool) -> Cells {
        let bits = self.bits();
        if cancels && self.are_same(self.source(), self.source() + 1) {
            return Ok(vec![self.zero(); bits]);
        }
        let (a, b) = self.two(bits)?;
        Ok(self.world.bits.each_bit([&a, &b], |bits, [a, b]| gate(bits, a, b)))
    }

    /// Any function of three bits.
    pub fn ternary(&mut self) -> Cells {
        let bits = self.bits();
        let [a, b, c] = [self.vector(0, bits)?, self.vector(1, bits)?, self.vector(2, bits)?];
        let table = self.i.immediate8();
        Ok(self.world.bits.each_bit([&a, &b, &c], |bits, cells| bits.function(table, cells)))
    }

    /// Bytes of the second source where the top bit of a byte of the third is set.
    pub fn blend_by_sign(&mut self, lane: usize) -> Cells {
        let bits = self.bits();
        let (a, b) = self.two(bits)?;
        let mask = match self.is_legacy() {
            // The implicit operand xmm0.
            true => self.x86.vectors.get(0, bits).to_vec(),
            false => self.vector(3, bits)?,
        };
        let choose = |at: usize| {
            let sign = mask[at / lane * lane + lane - 1];
            self.world.bits.function(CHOICE, [sign, b[at], a[at]])
        };
        Ok((0..bits).map(choose).collect())
    }

    /// The absolute value of each lane, modulo 2^n.
    pub fn absolute(&mut self) -> Cells {
        let (bits, lane) = (self.bits(), self.row.lane);
        let a = self.vector(1, bits)?;
        Ok(self.world.bits.each_lane([&a, &a], lane, |bits, [a, _]| {
            let zero = vec![bits.constant(false); lane];
            let negative = bits.difference(&zero, a).0;
            let choose = |at: usize| bits.function(CHOICE, [a[lane - 1], negative[at], a[at]]);
            (0..lane).map(choose).collect()
        }))
    }

    /// An operation on the lanes of both sources; the bit of the result where both are one register,
    /// if it does not depend on its value.
    pub fn pair(&mut self, of_same: Option<bool>, pair: Pair) -> Cells {
        let bits = self.bits();
        if let Some(bit) = of_same.filter(|_| self.are_same(self.source(), self.source() + 1)) {
            return Ok(vec![self.world.bits.constant(bit); bits]);
        }
        let (a, b) = self.two(bits)?;
        Ok(self.world.bits.each_lane([&a, &b], self.row.lane, |bits, [a, b]| pair(bits, a, b)))
    }

    /// A shift by one count for all lanes.
    pub fn shift(&mut self, shift: Shift) -> Cells {
        let from = self.source();
        let count = match self.i.op_kind(from + 1) {
            OpKind::Immediate8 => self.i.immediate(from + 1),
            // The count is the lower half of a vector of 128 bits.
            _ => {
                let cells = self.vector(from + 1, 128)?;
                self.known(&cells[..64], "the count")?
            }
        };
        let (cells, zero) = (self.vector(from, self.bits())?, self.zero());
        Ok(cells.chunks(self.row.lane).flat_map(|lane| shifted(lane, zero, shift, count)).collect())
    }

    /// A shift with a count for each lane.
    pub fn variable_shift(&mut self, shift: Shift) -> Cells {
        let (cells, counts) = self.two(self.bits())?;
        let lanes = cells.chunks(self.row.lane).zip(counts.chunks(self.row.lane));
        let mut out = Vec::with_capacity(cells.len());
        for (cells, count) in lanes {
            out.extend(shifted(cells, self.zero(), shift, self.known(count, "a count")?));
        }
        Ok(out)
    }

    /// Left: the upper lane of b:c << k; right: the lower lane of c:b >> k.
    pub fn double_shift(&mut self, left: bool) -> Cells {
        if self.i.op_kind(3) != OpKind::Immediate8 {
            return Err(unsupported("the count is no constant"));
        }
        let (lane, bits) = (self.row.lane, self.bits());
        let count = self.i.immediate(3) as usize % lane;
        let (b, c) = (self.vector(1, bits)?, self.vector(2, bits)?);
        let lanes = b.chunks(lane).zip(c.chunks(lane));
        Ok(lanes.flat_map(|(b, c)| double_shifted(b, c, left, count)).collect())
    }

    /// The vector that is written, and one half of the product of the others' lower 52 bits.
    pub fn sum_of_product(&mut self, upper: bool) -> Cells {
        let width = self.bits();
        let (before, (b, c)) = (self.vector(0, width)?, self.two(width)?);
        let mut out = Vec::with_capacity(width);
        let lanes = before.chunks(64).zip(b.chunks(64)).zip(c.chunks(64));
        for ((before, b), c) in lanes {
            let bits = &mut self.world.bits;
            let mut half = bits.whole_product(&b[..FACTOR], &c[..FACTOR]);
            let mut half = if upper { half.split_off(FACTOR) } else { half[..FACTOR].to_vec() };
            half.resize(64, bits.constant(false));
            out.extend(bits.sum(before, &half, false).0);
        }
        Ok(out)
    }

    /// The carry-less product of one word of 64 bits of each group of 128 by one of the other.
    pub fn carryless(&mut self) -> Cells {
        let width = self.bits();
        let (a, b) = self.two(width)?;
        let choice = self.i.immediate(self.source() + 2) as usize;
        let mut out = Vec::with_capacity(width);
        for (a, b) in a.chunks(128).zip(b.chunks(128)) {
            let (a, b) = (&a[64 * (choice & 1)..][..64], &b[64 * (choice >> 4 & 1)..][..64]);
            out.extend(self.world.bits.carryless(a, b));
        }
        Ok(out)
    }
}

/// ~a & b
pub fn andn(bits: &mut Bits, a: Cell, b: Cell) -> Cell {
    let a = bits.not(a);
    bits.and(a, b)
}

/// A word, shifted. Counts beyond its length clear it, or fill it with its top bit.
pub fn shifted(cells: &[Cell], zero: Cell, shift: Shift, count: u64) -> Vec<Cell> {
    let lane = cells.len();
    let turn = (count % lane as u64) as usize;
    let count = count.min(lane as u64) as usize;
    let bit = |p: usize| match shift {
        Shift::Left => p.checked_sub(count).map_or(zero, |from| cells[from]),
        Shift::Right => cells.get(p + count).copied().unwrap_or(zero),
        Shift::Arithmetic => cells[(p + count).min(lane - 1)],
        Shift::RotateLeft => cells[(p + lane - turn) % lane],
        Shift::RotateRight => cells[(p + turn) % lane],
    };
    (0..lane).map(bit).collect()
}

/// A word into which the bits of another one are shifted.
pub fn double_shifted(a: &[Cell], b: &[Cell], left: bool, count: usize) -> Vec<Cell> {
    let (low, high) = if left { (b, a) } else { (a, b) };
    let first = if left { a.len() - count } else { count };
    [low, high].concat()[first..first + a.len()].to_vec()
}

pub fn add(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    bits.sum(a, b, false).0
}

pub fn subtract(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    bits.difference(a, b).0
}

/// A word of twice as many bits.
fn extended(bits: &Bits, word: &[Cell], signed: bool) -> Vec<Cell> {
    let above = if signed { word[word.len() - 1] } else { bits.constant(false) };
    [word, &vec![above; word.len()]].concat()
}

/// The upper half of the product.
pub fn multiply_high(bits: &mut Bits, a: &[Cell], b: &[Cell], signed: bool) -> Vec<Cell> {
    // Numbers of twice as many bits, modulo which the product is exact.
    let [x, y] = [a, b].map(|word| extended(bits, word, signed));
    // A constant factor selects the terms.
    let product = match a.iter().all(|&cell| bits.value(cell).is_some()) {
        true => bits.product(&y, &x),
        false => bits.product(&x, &y),
    };
    product[a.len()..].to_vec()
}

/// The product of the lower halves.
pub fn multiply_halves(bits: &mut Bits, a: &[Cell], b: &[Cell], signed: bool) -> Vec<Cell> {
    let [a, b] = [a, b].map(|word| extended(bits, &word[..word.len() / 2], signed));
    bits.product(&a, &b)
}

/// The sum of the products of both halves, as signed numbers.
pub fn multiply_add(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    let (low, high) = (multiply_halves(bits, a, b, true), a.len() / 2);
    let [a, b] = [a, b].map(|word| extended(bits, &word[high..], true));
    let high = bits.product(&a, &b);
    bits.sum(&low, &high, false).0
}

pub fn equal(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    vec![bits.equal(a, b); a.len()]
}

pub fn greater(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    vec![less(bits, b, a, true); a.len()]
}

/// Whether a < b.
pub fn less(bits: &mut Bits, a: &[Cell], b: &[Cell], signed: bool) -> Cell {
    // With both signs flipped this is the order of unsigned numbers.
    let [a, b] = [a, b].map(|word| {
        let mut word = word.to_vec();
        if let Some(top) = word.last_mut().filter(|_| signed) {
            *top = bits.not(*top);
        }
        word
    });
    bits.difference(&a, &b).1
}
