//! Vector operations that act on each bit alone.
//!
//! ```text
//! pand a, b            a[p] = a[p] & b[p]
//! vpandn a, b, c       a[p] = ~b[p] & c[p]
//! vpternlogd a, b, c, t    a[p] = bit 4 a[p] + 2 b[p] + c[p] of t
//! vpblendvb a, b, c, m     a[p] = m[8 (p/8) + 7] ? c[p] : b[p]
//! ```
//!
//! for every bit p of the register. What a register holds does not matter where the result does
//! not depend on it: `vpxor a, b, b` and `vpternlogd a, a, a, 0xff` make constants of anything.

use iced_x86::{Instruction, Mnemonic};

use super::operands::is_legacy;
use super::{Outcome, X86, unsupported};
use crate::Fault;
use crate::World;
use crate::cell::{Bits, Cell};

/// An operation on two bits.
#[derive(Clone, Copy, PartialEq)]
enum Gate {
    And,
    Or,
    Xor,
    Andn,
}

impl Gate {
    fn of(mnemonic: Mnemonic) -> Option<Gate> {
        use Mnemonic::*;
        Some(match mnemonic {
            Pand | Andps | Andpd | Vpand | Vandps | Vandpd | Vpandd | Vpandq => Gate::And,
            Por | Orps | Orpd | Vpor | Vorps | Vorpd | Vpord | Vporq => Gate::Or,
            Pxor | Xorps | Xorpd | Vpxor | Vxorps | Vxorpd | Vpxord | Vpxorq => Gate::Xor,
            Pandn | Andnps | Andnpd | Vpandn | Vandnps | Vandnpd | Vpandnd | Vpandnq => Gate::Andn,
            _ => return None,
        })
    }

    fn apply(self, bits: &mut Bits, a: Cell, b: Cell) -> Cell {
        match self {
            Gate::And => bits.and(a, b),
            Gate::Or => bits.or(a, b),
            Gate::Xor => bits.xor(a, b),
            Gate::Andn => {
                let a = bits.not(a);
                bits.and(a, b)
            }
        }
    }
}

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let others = [Vpternlogd, Vpternlogq, Pblendvb, Vpblendvb];
    Gate::of(mnemonic).is_some() || others.contains(&mnemonic)
}

/// The lanes of an instruction that may have a mask.
pub fn lane(mnemonic: Mnemonic) -> Option<usize> {
    use Mnemonic::*;
    match mnemonic {
        Vpandd | Vpord | Vpxord | Vpandnd | Vandps | Vorps | Vxorps | Vandnps | Vpternlogd => {
            Some(32)
        }
        Vpandq | Vporq | Vpxorq | Vpandnq | Vandpd | Vorpd | Vxorpd | Vandnpd | Vpternlogq => {
            Some(64)
        }
        _ => None,
    }
}

impl X86 {
    pub(super) fn logic(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        match i.mnemonic() {
            Mnemonic::Vpternlogd | Mnemonic::Vpternlogq => Some(self.ternary(world, i)),
            Mnemonic::Pblendvb | Mnemonic::Vpblendvb => Some(self.blend_by_sign(world, i)),
            mnemonic => Gate::of(mnemonic).map(|gate| self.gate(world, i, gate)),
        }
    }

    fn gate(&mut self, world: &mut World, i: &Instruction, gate: Gate) -> Result<(), Fault> {
        let width = self.vector_width(i).ok_or_else(|| unsupported("not of vectors"))?;
        if self.is_same_register(i) && matches!(gate, Gate::Xor | Gate::Andn) {
            let zeros = vec![world.bits.constant(false); width];
            self.set_vector(world, i, i.op0_register(), &zeros);
            return Ok(());
        }
        let (a, b) = self.two_vectors(world, i, width)?;
        let out = world.bits.each_bit([&a, &b], |bits, [a, b]| gate.apply(bits, a, b));
        self.set_vector(world, i, i.op0_register(), &out);
        Ok(())
    }

    fn ternary(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let width = self.vector_width(i).ok_or_else(|| unsupported("not of vectors"))?;
        let a = self.vector(world, i, 0, width)?;
        let b = self.vector(world, i, 1, width)?;
        let c = self.vector(world, i, 2, width)?;
        let table = i.immediate8();
        let out = world.bits.each_bit([&a, &b, &c], |bits, cells| bits.function(table, cells));
        self.set_vector(world, i, i.op0_register(), &out);
        Ok(())
    }

    fn blend_by_sign(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let width = self.vector_width(i).ok_or_else(|| unsupported("not of vectors"))?;
        let (a, b) = self.two_vectors(world, i, width)?;
        let mask = if is_legacy(i) {
            // It is xmm0, and not named.
            self.vectors().get(0, width).to_vec()
        } else {
            self.vector(world, i, 3, width)?
        };
        let choose = |at: usize| {
            // The table of `m ? b : a`.
            world.bits.function(0xca, [mask[at / 8 * 8 + 7], b[at], a[at]])
        };
        let out: Vec<Cell> = (0..width).map(choose).collect();
        self.set_vector(world, i, i.op0_register(), &out);
        Ok(())
    }
}
