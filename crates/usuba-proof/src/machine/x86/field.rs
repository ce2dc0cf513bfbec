//! Vector operations on bytes as elements of the field of 256 elements, of GFNI.
//!
//! ```text
//! vgf2p8affineqb a, b, c, k      each byte: bit i = parity of (b & byte 7 - i of c) ^ bit i of k
//! vgf2p8affineinvqb a, b, c, k   the same of the inverse of b
//! ```
//!
//! Each eight bytes of `c` are the matrix for the eight bytes beside them.

use iced_x86::{Instruction, Mnemonic};
use usuba::ir::Op;

use super::super::World;
use super::super::cell::{Bits, Cell};
use super::lanes::known;
use super::making::{Cells, Making};
use super::{Outcome, X86};

/// Whether the byte is inverted first.
fn affine(mnemonic: Mnemonic) -> Option<bool> {
    use Mnemonic::*;
    Some(match mnemonic {
        Gf2p8affineqb | Vgf2p8affineqb => false,
        Gf2p8affineinvqb | Vgf2p8affineinvqb => true,
        _ => return None,
    })
}

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    affine(mnemonic).is_some()
}

impl X86 {
    pub(super) fn field(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        let inverse = affine(i.mnemonic())?;
        self.make(world, i, |making| Some(making.affine(inverse)))
    }
}

impl Making<'_, '_> {
    fn affine(&mut self, inverse: bool) -> Cells {
        let (cells, matrices) = self.two()?;
        let constant = self.i.immediate(self.source() + 2) as u8;
        let mut out = Vec::with_capacity(self.bits);
        for (eight, matrix) in cells.chunks(64).zip(matrices.chunks(64)) {
            let table = match inverse {
                true => {
                    let matrix = known(self.world, matrix, "the matrix")?;
                    let operator = Op::AffineInverse(matrix, constant);
                    Some((0..256).map(|x| operator.eval(8, &[x])).collect::<Vec<u64>>())
                }
                false => None,
            };
            for byte in eight.chunks(8) {
                match &table {
                    Some(table) => out.extend(looked_up(&mut self.world.bits, table, byte)),
                    None => out.extend(mapped(&mut self.world.bits, matrix, constant, byte)),
                }
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

/// The entry of a table of 256 bytes, bit by bit.
fn looked_up(bits: &mut Bits, table: &[u64], byte: &[Cell]) -> Vec<Cell> {
    (0..8)
        .map(|bit| {
            let column: Vec<bool> = table.iter().map(|row| row >> bit & 1 == 1).collect();
            picked(bits, &column, byte)
        })
        .collect()
}

/// The entry of a column whose number has these bits, the least significant first.
fn picked(bits: &mut Bits, column: &[bool], index: &[Cell]) -> Cell {
    let Some((&top, rest)) = index.split_last() else { return bits.constant(column[0]) };
    let (low, high) = column.split_at(column.len() / 2);
    let (low, high) = (picked(bits, low, rest), picked(bits, high, rest));
    let differ = bits.xor(low, high);
    let change = bits.and(top, differ);
    bits.xor(low, change)
}
