//! The mask registers of AVX-512, and what is made of lanes by them.
//!
//! ```text
//! vpmovb2m k1, zmm0            bit j of k1 = top bit of byte j
//! vpcmpltub k1, zmm0, zmm1     bit j of k1 = byte j of zmm0 < that of zmm1
//! vpaddd zmm0{k1}, zmm1, zmm2  lane j of zmm0 = the sum if bit j of k1, else what it was
//! vpaddd zmm0{k1}{z}, ...      ... else zero
//! ```
//!
//! Masks are bits like all others, and may depend on inputs: the time of an operation on registers
//! does not depend on its mask. That of an access to memory may, so stores with a mask are refused;
//! loads are looked at as if there were none. Masks that choose addresses or where lanes go are in
//! `scatter` and `expand`.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::operands::number;
use super::registers::{Flag, Flags, Word};
use super::{Outcome, X86, expand, field, lanes, logic, packs, scatter, shuffles, unsupported};
use crate::cell::{Bits, Cell};
use crate::{Fault, Rule, World};

/// Bits of a mask register.
pub const MASK: usize = 64;

/// An operation on masks, and how many bits it is about.
#[derive(Clone, Copy)]
enum Gate {
    And,
    Or,
    Xor,
    Andn,
    Xnor,
    Not,
    Move,
    ShiftLeft,
    ShiftRight,
    /// The lower halves of two, the second one below.
    Unpack,
    /// Flags: whether the `or` is zero, whether it is all ones.
    OrTest,
}

fn gate(mnemonic: Mnemonic) -> Option<(Gate, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Kandb => (Gate::And, 8),
        Kandw => (Gate::And, 16),
        Kandd => (Gate::And, 32),
        Kandq => (Gate::And, 64),
        Korb => (Gate::Or, 8),
        Korw => (Gate::Or, 16),
        Kord => (Gate::Or, 32),
        Korq => (Gate::Or, 64),
        Kxorb => (Gate::Xor, 8),
        Kxorw => (Gate::Xor, 16),
        Kxord => (Gate::Xor, 32),
        Kxorq => (Gate::Xor, 64),
        Kandnb => (Gate::Andn, 8),
        Kandnw => (Gate::Andn, 16),
        Kandnd => (Gate::Andn, 32),
        Kandnq => (Gate::Andn, 64),
        Kxnorb => (Gate::Xnor, 8),
        Kxnorw => (Gate::Xnor, 16),
        Kxnord => (Gate::Xnor, 32),
        Kxnorq => (Gate::Xnor, 64),
        Knotb => (Gate::Not, 8),
        Knotw => (Gate::Not, 16),
        Knotd => (Gate::Not, 32),
        Knotq => (Gate::Not, 64),
        Kmovb => (Gate::Move, 8),
        Kmovw => (Gate::Move, 16),
        Kmovd => (Gate::Move, 32),
        Kmovq => (Gate::Move, 64),
        Kshiftlb => (Gate::ShiftLeft, 8),
        Kshiftlw => (Gate::ShiftLeft, 16),
        Kshiftld => (Gate::ShiftLeft, 32),
        Kshiftlq => (Gate::ShiftLeft, 64),
        Kshiftrb => (Gate::ShiftRight, 8),
        Kshiftrw => (Gate::ShiftRight, 16),
        Kshiftrd => (Gate::ShiftRight, 32),
        Kshiftrq => (Gate::ShiftRight, 64),
        Kunpckbw => (Gate::Unpack, 16),
        Kunpckwd => (Gate::Unpack, 32),
        Kunpckdq => (Gate::Unpack, 64),
        Kortestb => (Gate::OrTest, 8),
        Kortestw => (Gate::OrTest, 16),
        Kortestd => (Gate::OrTest, 32),
        Kortestq => (Gate::OrTest, 64),
        _ => return None,
    })
}

/// The lane of an instruction that takes top bits of lanes as a mask.
fn to_mask(mnemonic: Mnemonic) -> Option<usize> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpmovb2m => 8,
        Vpmovw2m => 16,
        Vpmovd2m => 32,
        Vpmovq2m => 64,
        _ => return None,
    })
}

/// The lane of an instruction that makes lanes of copies of the bits of a mask.
fn from_mask(mnemonic: Mnemonic) -> Option<usize> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpmovm2b => 8,
        Vpmovm2w => 16,
        Vpmovm2d => 32,
        Vpmovm2q => 64,
        _ => return None,
    })
}

/// A comparison of lanes into a mask.
#[derive(Clone, Copy)]
enum Relation {
    /// By the immediate, signed or not.
    Compare(bool),
    Equal,
    Greater,
    /// Whether the lanes have a one in common.
    Common,
    /// Whether they have none.
    Disjoint,
}

fn test(mnemonic: Mnemonic) -> Option<(Relation, usize)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpcmpb => (Relation::Compare(true), 8),
        Vpcmpw => (Relation::Compare(true), 16),
        Vpcmpd => (Relation::Compare(true), 32),
        Vpcmpq => (Relation::Compare(true), 64),
        Vpcmpub => (Relation::Compare(false), 8),
        Vpcmpuw => (Relation::Compare(false), 16),
        Vpcmpud => (Relation::Compare(false), 32),
        Vpcmpuq => (Relation::Compare(false), 64),
        Vpcmpeqb => (Relation::Equal, 8),
        Vpcmpeqw => (Relation::Equal, 16),
        Vpcmpeqd => (Relation::Equal, 32),
        Vpcmpeqq => (Relation::Equal, 64),
        Vpcmpgtb => (Relation::Greater, 8),
        Vpcmpgtw => (Relation::Greater, 16),
        Vpcmpgtd => (Relation::Greater, 32),
        Vpcmpgtq => (Relation::Greater, 64),
        Vptestmb => (Relation::Common, 8),
        Vptestmw => (Relation::Common, 16),
        Vptestmd => (Relation::Common, 32),
        Vptestmq => (Relation::Common, 64),
        Vptestnmb => (Relation::Disjoint, 8),
        Vptestnmw => (Relation::Disjoint, 16),
        Vptestnmd => (Relation::Disjoint, 32),
        Vptestnmq => (Relation::Disjoint, 64),
        _ => return None,
    })
}

/// The lane of a choice between two vectors by a mask.
fn choice(mnemonic: Mnemonic) -> Option<usize> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vpblendmb => 8,
        Vpblendmw => 16,
        Vpblendmd | Vblendmps => 32,
        Vpblendmq | Vblendmpd => 64,
        _ => return None,
    })
}

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    gate(mnemonic).is_some()
        || to_mask(mnemonic).is_some()
        || from_mask(mnemonic).is_some()
        || test(mnemonic).is_some()
        || choice(mnemonic).is_some()
}

/// The lanes to which a mask of an instruction belongs; `None` if it is not modelled with one.
fn masked_lane(mnemonic: Mnemonic) -> Option<usize> {
    choice(mnemonic)
        .or_else(|| test(mnemonic).map(|(_, lane)| lane))
        .or_else(|| lanes::lane(mnemonic))
        .or_else(|| logic::lane(mnemonic))
        .or_else(|| field::lane(mnemonic))
        .or_else(|| packs::lane(mnemonic))
        .or_else(|| shuffles::lane(mnemonic))
}

/// Whether the mask of an instruction chooses something else than which lanes of a result are kept.
fn has_its_own(mnemonic: Mnemonic) -> bool {
    scatter::is_modelled(mnemonic) || expand::is_modelled(mnemonic)
}

/// Checks that the mask of an instruction, if it has one, is understood.
pub fn check(i: &Instruction) -> Result<(), Fault> {
    if !i.has_op_mask() || has_its_own(i.mnemonic()) {
        return Ok(());
    }
    if i.op0_kind() != OpKind::Register || masked_lane(i.mnemonic()).is_none() {
        return Err(unsupported("the instruction is not modelled with a mask"));
    }
    Ok(())
}

impl X86 {
    pub(super) fn masks(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        let mnemonic = i.mnemonic();
        if let Some((gate, bits)) = gate(mnemonic) {
            return Some(self.mask_gate(world, i, gate, bits));
        }
        if let Some(lane) = to_mask(mnemonic) {
            let outcome = self.vector(world, i, 1, 8 * i.op1_register().size());
            return Some(outcome.map(|cells| {
                let tops: Vec<Cell> = cells.chunks(lane).map(|lane| lane[lane.len() - 1]).collect();
                self.set_mask(world, i.op0_register(), &tops);
            }));
        }
        if let Some(lane) = from_mask(mnemonic) {
            let mask = *self.mask(i.op1_register());
            let count = 8 * i.op0_register().size() / lane;
            let bits = mask[..count].iter().flat_map(|&bit| std::iter::repeat_n(bit, lane));
            let cells: Vec<Cell> = bits.collect();
            self.set_vector(world, i, i.op0_register(), &cells);
            return Some(Ok(()));
        }
        if let Some((test, lane)) = test(mnemonic) {
            // Those with a vector as result are of another family.
            return i.op0_register().is_k().then(|| self.test(world, i, test, lane));
        }
        choice(mnemonic).map(|lane| self.choose(world, i, lane))
    }

    /// A mask register, with zeros above its bits.
    fn mask(&self, register: Register) -> &[Cell; MASK] {
        &self.masks[register.number()]
    }

    fn set_mask(&mut self, world: &World, register: Register, cells: &[Cell]) {
        let mask = &mut self.masks[register.number()];
        mask.fill(world.bits.constant(false));
        mask[..cells.len()].copy_from_slice(cells);
    }

    fn mask_gate(
        &mut self,
        world: &mut World,
        i: &Instruction,
        gate: Gate,
        size: usize,
    ) -> Result<(), Fault> {
        if let Gate::Move = gate {
            return self.move_mask(world, i, size);
        }
        let (a, b) = match gate {
            Gate::Not | Gate::ShiftLeft | Gate::ShiftRight => (1, 1),
            Gate::OrTest => (0, 1),
            _ => (1, 2),
        };
        let (a, b) = (*self.mask(i.op_register(a)), *self.mask(i.op_register(b)));
        let bits = &mut world.bits;
        let zero = bits.constant(false);
        let each = |bits: &mut Bits, f: fn(&mut Bits, Cell, Cell) -> Cell| -> Vec<Cell> {
            a[..size].iter().zip(&b).map(|(&a, &b)| f(bits, a, b)).collect()
        };
        let out = match gate {
            Gate::And => each(bits, |bits, a, b| bits.and(a, b)),
            Gate::Or | Gate::OrTest => each(bits, |bits, a, b| bits.or(a, b)),
            Gate::Xor => each(bits, |bits, a, b| bits.xor(a, b)),
            Gate::Andn => each(bits, |bits, a, b| {
                let a = bits.not(a);
                bits.and(a, b)
            }),
            Gate::Xnor if i.op1_register() == i.op2_register() => vec![bits.constant(true); size],
            Gate::Xnor => each(bits, |bits, a, b| {
                let differ = bits.xor(a, b);
                bits.not(differ)
            }),
            Gate::Not => a[..size].iter().map(|&bit| bits.not(bit)).collect(),
            Gate::ShiftLeft | Gate::ShiftRight => {
                let count = i.immediate8() as usize;
                let left = matches!(gate, Gate::ShiftLeft);
                let from = |p: usize| if left { p.checked_sub(count) } else { Some(p + count) };
                let bit = |p: usize| from(p).filter(|&at| at < size).map_or(zero, |at| a[at]);
                (0..size).map(bit).collect()
            }
            Gate::Unpack => [&b[..size / 2], &a[..size / 2]].concat(),
            Gate::Move => unreachable!("moves have been made"),
        };
        if let Gate::OrTest = gate {
            self.flags = match world.bits.word(&out) {
                Some(word) => Flags {
                    zero: Flag::Is(word == 0),
                    carry: Flag::Is(word.count_ones() as usize == size),
                    sign: Flag::Is(false),
                    overflow: Flag::Is(false),
                },
                None if out.iter().any(|&cell| world.bits.is_secret(cell)) => {
                    Flags::all(Flag::Secret)
                }
                None => Flags::UNDEFINED,
            };
            return Ok(());
        }
        self.set_mask(world, i.op0_register(), &out);
        Ok(())
    }

    /// kmov between masks, general-purpose registers and memory.
    fn move_mask(&mut self, world: &mut World, i: &Instruction, size: usize) -> Result<(), Fault> {
        let is_mask =
            |operand: u32| i.op_kind(operand) == OpKind::Register && i.op_register(operand).is_k();
        let cells = match is_mask(1) {
            true => self.mask(i.op1_register())[..size].to_vec(),
            false => {
                let word = self.word(world, i, 1, size / 8)?;
                let cells = word.cells(&world.bits);
                cells.ok_or_else(|| unsupported("an address becomes data"))?[..size].to_vec()
            }
        };
        if is_mask(0) {
            self.set_mask(world, i.op0_register(), &cells);
            return Ok(());
        }
        if i.op0_kind() == OpKind::Memory {
            let address = self.address(world, i)?;
            return self.store(world, address, &cells);
        }
        let word = Word::from_cells(&world.bits, &cells);
        self.set_word(world, i, 0, word)
    }

    fn test(
        &mut self,
        world: &mut World,
        i: &Instruction,
        test: Relation,
        lane: usize,
    ) -> Result<(), Fault> {
        let width = 8 * i.op1_register().size();
        let (a, b) = (self.vector(world, i, 1, width)?, self.vector(world, i, 2, width)?);
        let allowed = i.has_op_mask().then(|| *self.mask(i.op_mask()));
        let mut out = Vec::with_capacity(width / lane);
        for (at, (a, b)) in a.chunks(lane).zip(b.chunks(lane)).enumerate() {
            let bits = &mut world.bits;
            let mut bit = tested(bits, test, i, a, b);
            if let Some(mask) = &allowed {
                bit = bits.and(bit, mask[at]);
            }
            out.push(bit);
        }
        self.set_mask(world, i.op0_register(), &out);
        Ok(())
    }

    /// The second vector where the mask has ones, else the first, or zeros.
    fn choose(&mut self, world: &mut World, i: &Instruction, lane: usize) -> Result<(), Fault> {
        let width = 8 * i.op0_register().size();
        let (a, b) = self.two_vectors(world, i, width)?;
        let out = match i.has_op_mask() {
            true => self.merged(world, i, lane, &b, &a),
            false => b,
        };
        self.write_vector(world, i, i.op0_register(), &out);
        Ok(())
    }

    /// Which of the lowest bits of the mask of an instruction are ones, if that is known.
    pub(super) fn known_mask(
        &self,
        world: &World,
        i: &Instruction,
        count: usize,
    ) -> Result<Vec<usize>, Fault> {
        let touches_memory = (0..i.op_count()).any(|at| i.op_kind(at) == OpKind::Memory);
        let mut ones = Vec::new();
        for (at, &bit) in self.mask(i.op_mask())[..count].iter().enumerate() {
            match world.bits.value(bit) {
                Some(true) => ones.push(at),
                Some(false) => {}
                None if touches_memory && world.bits.is_secret(bit) => {
                    let what = "which addresses depends on an input";
                    return Err(Fault::new(Rule::SecretAddress, what));
                }
                None => return Err(unsupported("the mask is not known")),
            }
        }
        Ok(ones)
    }

    /// What an instruction with a mask leaves in a register where it makes `new` without one.
    pub(super) fn masked(&self, world: &mut World, i: &Instruction, new: &[Cell]) -> Vec<Cell> {
        let lane = masked_lane(i.mnemonic()).expect("it has been checked");
        let old = self.vectors().get(number(i.op0_register()), new.len());
        self.merged(world, i, lane, new, old)
    }

    fn merged(
        &self,
        world: &mut World,
        i: &Instruction,
        lane: usize,
        new: &[Cell],
        old: &[Cell],
    ) -> Vec<Cell> {
        let mask = self.mask(i.op_mask());
        let choose = |at: usize| match i.zeroing_masking() {
            true => world.bits.and(mask[at / lane], new[at]),
            // The table of `mask ? new : old`.
            false => world.bits.function(0xca, [mask[at / lane], new[at], old[at]]),
        };
        (0..new.len()).map(choose).collect()
    }
}

/// One comparison.
fn tested(bits: &mut Bits, test: Relation, i: &Instruction, a: &[Cell], b: &[Cell]) -> Cell {
    let common = |bits: &mut Bits| {
        let mut any = bits.constant(false);
        if bits.has_integers() {
            let both: Vec<Cell> = a.iter().zip(b).map(|(&a, &b)| bits.and(a, b)).collect();
            let none = bits.number(0, both.len());
            let is_zero = bits.equal(&both, &none);
            return bits.not(is_zero);
        }
        for (&a, &b) in a.iter().zip(b) {
            let both = bits.and(a, b);
            any = bits.or(any, both);
        }
        any
    };
    let (signed, predicate) = match test {
        Relation::Common => return common(bits),
        Relation::Disjoint => {
            let any = common(bits);
            return bits.not(any);
        }
        Relation::Compare(signed) => (signed, i.immediate8() % 8),
        Relation::Equal => (false, 0),
        Relation::Greater => (true, 6),
    };
    let flipped = |bits: &Bits, word: &[Cell]| -> Vec<Cell> {
        let mut word = word.to_vec();
        if let Some(top) = word.last_mut().filter(|_| signed) {
            *top = bits.not(*top);
        }
        word
    };
    // Equal, less, less or equal, never, and their complements.
    let bit = match predicate % 4 {
        0 => bits.equal(a, b),
        1 => {
            let (a, b) = (flipped(bits, a), flipped(bits, b));
            bits.difference(&a, &b).1
        }
        2 => {
            let (a, b) = (flipped(bits, a), flipped(bits, b));
            let greater = bits.difference(&b, &a).1;
            bits.not(greater)
        }
        _ => bits.constant(false),
    };
    if predicate < 4 { bit } else { bits.not(bit) }
}

#[cfg(test)]
mod tests {
    use iced_x86::Code;

    use super::*;
    use crate::x86::is_modelled;

    /// The decoder says of what size the elements are that an instruction reads or writes in memory:
    /// the lanes of its mask, where it makes none wider or narrower.
    #[test]
    fn lanes_of_masks_are_those_that_the_decoder_knows() {
        use Mnemonic::*;
        let mut compared = 0;
        let mut wrong = Vec::new();
        for code in Code::values() {
            let name = format!("{code:?}");
            let mnemonic = code.mnemonic();
            // An instruction on the lowest lane alone leaves the others alone, mask or not.
            let is_lowest = matches!(mnemonic, Vmovss | Vmovsd);
            let is_masked = name.starts_with("EVEX_") && name.contains("_k1");
            if !is_masked || !is_modelled(mnemonic) || has_its_own(mnemonic) || is_lowest {
                continue;
            }
            let Some(lane) = masked_lane(mnemonic) else {
                wrong.push(format!("{name} has no lanes"));
                continue;
            };
            let mut i = Instruction::new();
            i.set_code(code);
            let size = i.memory_size();
            let is_other_size = ["Vpmovzx", "Vpmovsx", "Vpack"].iter().any(|x| name.contains(x))
                || matches!(mnemonic, Vpmuludq | Vpmuldq | Vpmaddwd);
            // A count of shifts is one number for all lanes.
            let is_count = name.ends_with("_xmmm128");
            if size.size() == 0 || is_other_size || is_count {
                continue;
            }
            if lane != 8 * size.element_size() {
                wrong.push(format!("{name} has lanes of {lane} bits, and elements of {size:?}"));
            }
            compared += 1;
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(compared > 300, "{compared}");
    }
}
