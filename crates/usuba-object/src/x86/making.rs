//! An instruction that makes a vector: what it acts on, and its operands as bits.

use iced_x86::{Instruction, OpKind};

use super::operands::{is_legacy, number};
use super::{X86, unsupported};
use crate::cell::Cell;
use crate::{Fault, World};

/// The bits of a vector, or why there are none.
pub type Cells = Result<Vec<Cell>, Fault>;

pub struct Making<'a, 'o> {
    pub x86: &'a mut X86,
    pub world: &'a mut World<'o>,
    pub i: &'a Instruction,
    /// Bits of the vector.
    pub bits: usize,
}

impl X86 {
    /// Writes the vector that `make` makes; `None` if the instruction makes none, or `make` does not
    /// know it.
    pub fn make(
        &mut self,
        world: &mut World,
        i: &Instruction,
        make: impl FnOnce(&mut Making) -> Option<Cells>,
    ) -> super::Outcome {
        let bits = self.vector_width(i)?;
        let cells = make(&mut Making { x86: self, world, i, bits })?;
        Some(cells.map(|cells| self.set_vector(world, i, i.op0_register(), &cells)))
    }

    /// The lowest bits of a vector operand, of a general-purpose register, or of memory, without
    /// any wish for alignment.
    pub fn low_part(
        &mut self,
        world: &mut World,
        i: &Instruction,
        operand: u32,
        bits: usize,
    ) -> Cells {
        match i.op_kind(operand) {
            OpKind::Memory => {
                let address = self.address(world, i)?;
                self.load_cells(world, address, bits / 8)
            }
            OpKind::Register if i.op_register(operand).is_gpr() => {
                let word = self.general(number(i.op_register(operand)));
                let cells = word.cells(&world.bits);
                let cells = cells.ok_or_else(|| unsupported("an address becomes data"))?;
                Ok(cells[..bits].to_vec())
            }
            _ => self.vector(world, i, operand, bits),
        }
    }
}

impl Making<'_, '_> {
    pub fn zero(&self) -> Cell {
        self.world.bits.constant(false)
    }

    /// A whole vector.
    pub fn vector(&mut self, operand: u32) -> Cells {
        self.x86.vector(self.world, self.i, operand, self.bits)
    }

    /// The two sources of the form a = b op c, or a = a op b.
    pub fn two(&mut self) -> Result<(Vec<Cell>, Vec<Cell>), Fault> {
        self.x86.two_vectors(self.world, self.i, self.bits)
    }

    /// The number of the first source: the operand that is written, in instructions before AVX.
    pub fn source(&self) -> u32 {
        if is_legacy(self.i) { 0 } else { 1 }
    }

    pub fn low_part(&mut self, operand: u32, bits: usize) -> Cells {
        self.x86.low_part(self.world, self.i, operand, bits)
    }
}
