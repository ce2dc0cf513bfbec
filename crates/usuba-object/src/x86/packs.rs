//! Shuffles that make vectors narrower, or choose from two of them by a vector of numbers.
//!
//! ```text
//! vpermt2d a, b, c     word k of a = word b[k] of c above a
//! packuswb a, b        each signed word as a byte, or the nearest byte there is
//! packssdw a, b        the same of signed words and signed halves of them
//! vpmovwb a, b         the lower byte of each word
//! insertps a, b, k     word k >> 6 of b to place k >> 4 of a, and zeros
//! bt a, k; sbb b, b    bit k of a in all bits of b
//! ```

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::operands::{is_legacy, width};
use super::registers::{Flag, Flags, Word};
use super::shuffles::known_control;
use super::{Outcome, X86, unsupported};
use crate::cell::{Bits, Cell};
use crate::{Fault, World};

/// Unit of a shuffle of two vectors, and whether the numbers are replaced by the result.
fn permutation(mnemonic: Mnemonic) -> Option<(usize, bool)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpermt2b => (8, false),
        Vpermt2w => (16, false),
        Vpermt2d | Vpermt2ps => (32, false),
        Vpermt2q | Vpermt2pd => (64, false),
        Vpermi2b => (8, true),
        Vpermi2w => (16, true),
        Vpermi2d | Vpermi2ps => (32, true),
        Vpermi2q | Vpermi2pd => (64, true),
        _ => return None,
    })
}

/// Bits of the signed units that are packed into half of them, and whether the halves are signed.
fn pack(mnemonic: Mnemonic) -> Option<(usize, bool)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Packuswb | Vpackuswb => (16, false),
        Packusdw | Vpackusdw => (32, false),
        Packsswb | Vpacksswb => (16, true),
        Packssdw | Vpackssdw => (32, true),
        _ => return None,
    })
}

/// Units of a vector and of what is kept of each.
fn truncation(mnemonic: Mnemonic) -> Option<(usize, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpmovwb => (16, 8),
        Vpmovdb => (32, 8),
        Vpmovdw => (32, 16),
        Vpmovqb => (64, 8),
        Vpmovqw => (64, 16),
        Vpmovqd => (64, 32),
        _ => return None,
    })
}

/// The lanes of an instruction that may have a mask.
pub fn lane(mnemonic: Mnemonic) -> Option<usize> {
    let permuted = permutation(mnemonic).map(|(unit, _)| unit);
    let packed = || pack(mnemonic).map(|(unit, _)| unit / 2);
    permuted.or_else(packed).or_else(|| truncation(mnemonic).map(|(_, to)| to))
}

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    permutation(mnemonic).is_some()
        || pack(mnemonic).is_some()
        || truncation(mnemonic).is_some()
        || matches!(mnemonic, Insertps | Vinsertps | Sbb)
}

impl X86 {
    pub(super) fn packs(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        use Mnemonic::*;
        let mnemonic = i.mnemonic();
        let cells = if let Some((unit, replaced)) = permutation(mnemonic) {
            self.permute_two(world, i, unit, replaced)
        } else if let Some((unit, signed)) = pack(mnemonic) {
            self.pack(world, i, unit, signed)
        } else if let Some((from, to)) = truncation(mnemonic) {
            return Some(self.truncate(world, i, from, to));
        } else {
            match mnemonic {
                Insertps | Vinsertps => self.insert_word(world, i),
                Sbb => return Some(self.spread_carry(world, i)),
                _ => return None,
            }
        };
        Some(cells.map(|cells| self.set_vector(world, i, i.op0_register(), &cells)))
    }

    fn permute_two(
        &mut self,
        world: &mut World,
        i: &Instruction,
        unit: usize,
        replaced: bool,
    ) -> Result<Vec<Cell>, Fault> {
        let bits = width(i.op0_register());
        let [first, second] = [0, 1].map(|at| self.vector(world, i, at, bits));
        let (first, second) = (first?, second?);
        let (controls, low) = if replaced { (first, second) } else { (second, first) };
        let high = self.vector(world, i, 2, bits)?;
        let units = bits / unit;
        let mut out = Vec::with_capacity(bits);
        for control in controls.chunks(unit) {
            let used = &control[..(2 * units).trailing_zeros() as usize];
            let at = known_control(world, used)? as usize;
            let from = if at < units { &low } else { &high };
            out.extend_from_slice(&from[at % units * unit..][..unit]);
        }
        Ok(out)
    }

    /// In each group of 128 bits: the units of the first operand, then those of the second.
    fn pack(
        &mut self,
        world: &mut World,
        i: &Instruction,
        unit: usize,
        signed: bool,
    ) -> Result<Vec<Cell>, Fault> {
        let bits = width(i.op0_register());
        let (a, b) = self.two_vectors(world, i, bits)?;
        let mut out = Vec::with_capacity(bits);
        let packed = if signed { to_signed } else { to_unsigned };
        for (a, b) in a.chunks(128).zip(b.chunks(128)) {
            for word in a.chunks(unit).chain(b.chunks(unit)) {
                out.extend(packed(&mut world.bits, word));
            }
        }
        Ok(out)
    }

    fn truncate(
        &mut self,
        world: &mut World,
        i: &Instruction,
        from: usize,
        to: usize,
    ) -> Result<(), Fault> {
        let bits = width(i.op1_register());
        let cells = self.vector(world, i, 1, bits)?;
        let kept = cells.chunks(from).flat_map(|unit| unit[..to].iter().copied());
        let kept: Vec<Cell> = kept.collect();
        if i.op0_kind() == OpKind::Memory {
            if i.has_op_mask() {
                return Err(unsupported("a store with a mask"));
            }
            let address = self.address(world, i)?;
            return self.store(world, address, &kept);
        }
        self.set_vector(world, i, i.op0_register(), &kept);
        Ok(())
    }

    fn insert_word(&mut self, world: &mut World, i: &Instruction) -> Result<Vec<Cell>, Fault> {
        let (into, from) = if is_legacy(i) { (0, 1) } else { (1, 2) };
        let control = i.immediate(from + 1) as usize;
        let mut cells = self.vector(world, i, into, 128)?;
        let word = match i.op_kind(from) {
            OpKind::Memory => {
                let address = self.address(world, i)?;
                self.load_cells(world, address, 4)?
            }
            _ => self.vector(world, i, from, 128)?[control >> 6 << 5..][..32].to_vec(),
        };
        cells[(control >> 4 & 3) * 32..][..32].copy_from_slice(&word);
        let zero = world.bits.constant(false);
        for at in (0..4).filter(|at| control >> at & 1 == 1) {
            cells[32 * at..][..32].fill(zero);
        }
        Ok(cells)
    }

    /// sbb of a register from itself: all of its bits become the carry.
    fn spread_carry(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let same = i.op0_kind() == OpKind::Register
            && i.op1_kind() == OpKind::Register
            && i.op0_register() == i.op1_register();
        if !same {
            return Err(unsupported("a difference with a carry"));
        }
        let bit = match self.flags.carry {
            Flag::Is(is) => world.bits.constant(is),
            Flag::Bit(bit) => bit,
            Flag::Secret | Flag::Public | Flag::Undefined => {
                return Err(unsupported("the carry is not known"));
            }
        };
        let bytes = self.size(i, 0)?;
        let secret = if world.bits.is_secret(bit) { Flag::Secret } else { Flag::Undefined };
        self.flags = Flags { carry: self.flags.carry, ..Flags::all(secret) };
        let word = Word::from_cells(&world.bits, &[bit; 64][..8 * bytes]);
        self.set_word(world, i, 0, word)
    }
}

/// The nearest number of half as many bits, without a sign, to a signed one: zero for those below
/// zero, all ones for those that are too large.
fn to_unsigned(bits: &mut Bits, word: &[Cell]) -> Vec<Cell> {
    let (low, high) = word[..word.len() - 1].split_at(word.len() / 2);
    let positive = bits.not(word[word.len() - 1]);
    let mut large = bits.constant(false);
    for &bit in high {
        large = bits.or(large, bit);
    }
    let bit = |&bit: &Cell| {
        let bit = bits.or(bit, large);
        bits.and(positive, bit)
    };
    low.iter().map(bit).collect()
}

/// The table of `a ? b : c`.
const CHOICE: u8 = 0xca;

/// The nearest signed number of half as many bits to a signed one: the sign, and below it what the
/// sign is not, where a bit above tells that the number is too long.
fn to_signed(bits: &mut Bits, word: &[Cell]) -> Vec<Cell> {
    let sign = word[word.len() - 1];
    let (low, high) = word.split_at(word.len() / 2 - 1);
    let mut long = bits.constant(false);
    for &bit in high {
        let differs = bits.xor(bit, sign);
        long = bits.or(long, differs);
    }
    let nearest = bits.not(sign);
    let bit = |&bit: &Cell| bits.function(CHOICE, [long, nearest, bit]);
    low.iter().map(bit).chain([sign]).collect()
}
