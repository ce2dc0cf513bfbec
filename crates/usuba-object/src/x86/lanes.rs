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
use usuba_bits::cell::{Bits, Cell};
use usuba_bits::lane_arithmetic::{CHOICE, Shift, double_shifted, shifted};

/// An operation on two bits.
pub type Gate = fn(&mut Bits, Cell, Cell) -> Cell;

/// An operation on two lanes.
pub type Pair = fn(&mut Bits, &[Cell], &[Cell]) -> Vec<Cell>;

/// Bits of a factor of which a sum takes one half of the product.
const FACTOR: usize = 52;

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
                let count = &cells[..64];
                if self.is_unknown(count) {
                    let lanes = self.vector(from, self.bits())?;
                    let cell =
                        if self.world.is_secret(&lanes) { Cell::OPAQUE } else { Cell::UNSET };
                    return Ok(vec![cell; lanes.len()]);
                }
                self.known(count, "the count")?
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
