//! Elements at many addresses at once: gathers and scatters of AVX-512.
//!
//! ```text
//! vpgatherdd zmm0{k1}, [rsi + 4 * zmm1]     lane j of zmm0 = the 4 bytes at rsi + 4 * (lane j of zmm1)
//! vpscatterdd [rsi + 4 * zmm1]{k1}, zmm0    the other way round, lane 0 first
//! ```
//!
//! Only where bit j of k1 is one; afterwards k1 is zero. Compilers write the loops of key set-up like
//! this, whose addresses are the same for all keys: indices and mask must be known. What the index
//! is of and how wide elements are is in the name: `dq` is words of 64 bits by indices of 32.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::operands::{Address, number, width};
use super::registers::{VECTOR, Word};
use super::{Outcome, X86, unsupported};
use crate::cell::Cell;
use crate::memory::Moving;
use crate::symbolic_count::Form;
use crate::{Fault, Rule, World};

/// Whether it stores, bits of an index, and bits of an element.
fn kind(mnemonic: Mnemonic) -> Option<(bool, usize, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpgatherdd | Vgatherdps => (false, 32, 32),
        Vpgatherdq | Vgatherdpd => (false, 32, 64),
        Vpgatherqd | Vgatherqps => (false, 64, 32),
        Vpgatherqq | Vgatherqpd => (false, 64, 64),
        Vpscatterdd | Vscatterdps => (true, 32, 32),
        Vpscatterdq | Vscatterdpd => (true, 32, 64),
        Vpscatterqd | Vscatterqps => (true, 64, 32),
        Vpscatterqq | Vscatterqpd => (true, 64, 64),
        _ => return None,
    })
}

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    kind(mnemonic).is_some()
}

impl X86 {
    pub(super) fn scatter(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        kind(i.mnemonic()).map(|kind| self.elements(world, i, kind))
    }

    fn elements(
        &mut self,
        world: &mut World,
        i: &Instruction,
        (stores, index, element): (bool, usize, usize),
    ) -> Result<(), Fault> {
        if !i.has_op_mask() || i.op_kind(if stores { 0 } else { 1 }) != OpKind::Memory {
            return Err(unsupported("gathers of AVX2 are not modelled"));
        }
        let data = if stores { i.op1_register() } else { i.op0_register() };
        let indices = i.memory_index();
        let count = (width(indices) / index).min(width(data) / element);
        let (name, bytes) = (number(data), element / 8);
        for at in self.known_mask(world, i, count)? {
            let place = self.indexed(world, i, number(indices), (at, index))?;
            let lane = at * element..(at + 1) * element;
            if stores {
                let cells = self.vectors().get(name, VECTOR)[lane].to_vec();
                self.store(world, place, &cells)?;
            } else {
                let cells = self.load_cells(world, place, bytes)?;
                self.vectors_mut().get_mut(name)[lane].copy_from_slice(&cells);
            }
        }
        let zero = world.bits.constant(false);
        if !stores {
            self.vectors_mut().get_mut(name)[count * element..VECTOR].fill(zero);
        }
        self.masks[i.op_mask().number()].fill(zero);
        Ok(())
    }

    /// The address of an element.
    fn indexed(
        &self,
        world: &World,
        i: &Instruction,
        indices: usize,
        (at, bits): (usize, usize),
    ) -> Result<Address, Fault> {
        let cells: &[Cell] = &self.vectors().get(indices, VECTOR)[at * bits..(at + 1) * bits];
        let known = world.bits.word(cells).filter(|_| {
            // An address in the lane is no index.
            self.vectors().pointer(indices, at * bits / 64).is_none()
        });
        let index = known.ok_or_else(|| match cells.iter().any(|&c| world.bits.is_secret(c)) {
            true => Fault::new(Rule::SecretAddress, "an index depends on an input"),
            false => unsupported("an index is not known"),
        })?;
        let index = (index << (64 - bits)) as i64 >> (64 - bits);
        let scale = i.memory_index_scale() as i64;
        let further = index.wrapping_mul(scale).wrapping_add(i.memory_displacement64() as i64);
        let base = match i.memory_base() {
            Register::None => &Word::Number(0),
            base if base.is_gpr64() => self.general(number(base)),
            _ => return Err(unsupported("addresses of 32 bits are not modelled")),
        };
        match *base {
            Word::Number(at) => Ok(Address::Constant(at.wrapping_add(further as u64))),
            Word::Pointer(pointer) => Ok(Address::Pointer(pointer.plus(further))),
            Word::Moving(Moving { region, offset }) => {
                let offset = offset.plus(Form::number(further));
                let offset = offset.ok_or_else(|| unsupported("an address that is far away"))?;
                Ok(Address::Moving(Moving { region, offset }))
            }
            Word::Bits(ref cells) if cells.iter().any(|&c| world.bits.is_secret(c)) => {
                Err(Fault::new(Rule::SecretAddress, "the address depends on an input"))
            }
            _ => Err(unsupported("the address is not known")),
        }
    }
}
