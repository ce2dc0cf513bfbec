//! Vector operations on bytes as elements of the field of 256 elements, of GFNI.
//!
//! ```text
//! vgf2p8affineqb a, b, c, k      each byte: bit i = parity of (b & byte 7 - i of c) ^ bit i of k
//! vgf2p8affineinvqb a, b, c, k   the same of the inverse of b
//! ```
//!
//! Each eight bytes of `c` are the matrix for the eight bytes beside them.

use usuba::ir::Op;

use super::{Cells, Run};
use usuba_bits::cell::{Bits, Cell};
use usuba_bits::lane_arithmetic::looked_up;

impl Run<'_, '_> {
    pub fn affine(&mut self, inverse: bool) -> Cells {
        let (cells, matrices) = self.two(self.bits())?;
        let constant = self.i.immediate(self.source() + 2) as u8;
        let bits = &self.world.bits;
        // One matrix that is known, or one for each eight bytes.
        let is_one = bits.word(&matrices[..64]).is_some()
            && matrices.chunks(64).all(|matrix| matrix == &matrices[..64]);
        let group = if is_one { cells.len() } else { 64 };
        let mut out = Vec::with_capacity(cells.len());
        for (cells, matrix) in cells.chunks(group).zip(matrices.chunks(group)) {
            let matrix = &matrix[..64];
            let table = match inverse {
                true => {
                    let matrix = self.known(matrix, "the matrix")?;
                    let operator = Op::AffineInverse(matrix, constant);
                    Some((0..256).map(|x| operator.eval(8, &[x])).collect::<Vec<u64>>())
                }
                false => None,
            };
            let make = |bits: &mut Bits, byte: &[Cell]| match &table {
                Some(table) => looked_up(bits, table, byte),
                None => mapped(bits, matrix, constant, byte),
            };
            let bits = &mut self.world.bits;
            match is_one {
                true => out.extend(bits.each_lane([cells], 8, |bits, [byte]| make(bits, byte))),
                // A matrix may be of some instance.
                false => out.extend(cells.chunks(8).flat_map(|byte| make(bits, byte))),
            }
        }
        Ok(out)
    }
}

/// A byte times a matrix, and a constant.
fn mapped(bits: &mut Bits, matrix: &[Cell], constant: u8, byte: &[Cell]) -> Vec<Cell> {
    let mut out = Vec::with_capacity(8);
    for i in 0..8 {
        let mut sum = bits.constant(constant >> i & 1 == 1);
        for (j, &bit) in byte.iter().enumerate().rev() {
            let kept = bits.and(bit, matrix[8 * (7 - i) + j]);
            sum = bits.xor(sum, kept);
        }
        out.push(sum);
    }
    out
}
