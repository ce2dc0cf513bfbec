//! Lanes that a mask chooses, beside each other in one operand and at their places in the other.
//!
//! ```text
//! vpexpandd   zmm0{k1}, zmm1     lane j of zmm0 = the next lane of zmm1, if bit j of k1 is one
//! vpcompressd zmm0{k1}, zmm1     the next lane of zmm0 = lane j of zmm1, if bit j of k1 is one
//! ```
//!
//! The other lanes of a register stay, or become zero. Of memory, only as many lanes are read or
//! written as the mask has ones. Compilers write these where constants have gaps, with masks that
//! are constants as well: the mask must be known.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::operands::{number, width};
use super::{Outcome, X86};
use crate::cell::Cell;
use crate::{Fault, World};

/// Whether it puts lanes beside each other, and bits of a lane.
fn kind(mnemonic: Mnemonic) -> Option<(bool, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpexpandb => (false, 8),
        Vpexpandw => (false, 16),
        Vpexpandd | Vexpandps => (false, 32),
        Vpexpandq | Vexpandpd => (false, 64),
        Vpcompressb => (true, 8),
        Vpcompressw => (true, 16),
        Vpcompressd | Vcompressps => (true, 32),
        Vpcompressq | Vcompresspd => (true, 64),
        _ => return None,
    })
}

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    kind(mnemonic).is_some()
}

impl X86 {
    pub(super) fn expand(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        kind(i.mnemonic()).map(|kind| self.chosen_lanes(world, i, kind))
    }

    fn chosen_lanes(
        &mut self,
        world: &mut World,
        i: &Instruction,
        (compresses, lane): (bool, usize),
    ) -> Result<(), Fault> {
        let operand = if i.op0_kind() == OpKind::Register { 0 } else { 1 };
        let bits = width(i.op_register(operand));
        let chosen: Vec<usize> = match i.has_op_mask() {
            true => self.known_mask(world, i, bits / lane)?,
            false => (0..bits / lane).collect(),
        };
        let together = chosen.len() * lane;
        let source = match i.op1_kind() {
            OpKind::Memory => {
                let address = self.address(world, i)?;
                self.load_cells(world, address, together / 8)?
            }
            _ => self.vector(world, i, 1, bits)?,
        };
        if i.op0_kind() == OpKind::Memory {
            let address = self.address(world, i)?;
            let cells: Vec<Cell> = picked(&source, lane, &chosen);
            return self.store(world, address, &cells);
        }
        let mut out = match i.zeroing_masking() {
            true => vec![world.bits.constant(false); bits],
            false => self.vectors().get(number(i.op0_register()), bits).to_vec(),
        };
        if compresses {
            out[..together].copy_from_slice(&picked(&source, lane, &chosen));
        } else {
            for (lanes, &at) in source.chunks(lane).zip(&chosen) {
                out[at * lane..][..lane].copy_from_slice(lanes);
            }
        }
        self.write_vector(world, i, i.op0_register(), &out);
        Ok(())
    }
}

/// The chosen lanes, beside each other.
fn picked(cells: &[Cell], lane: usize, chosen: &[usize]) -> Vec<Cell> {
    chosen.iter().flat_map(|at| cells[at * lane..][..lane].iter().copied()).collect()
}
