//! The mask registers of AVX-512, and instructions with a mask.
//!
//! ```text
//! vpmovb2m k1, zmm0              bit j of k1 = top bit of byte j
//! vpcmpltub k1, zmm0, zmm1       bit j of k1 = byte j of zmm0 < that of zmm1
//! vpaddd zmm0{k1}, zmm1, zmm2    lane j of zmm0 = the sum if bit j of k1, else what it was
//! vpaddd zmm0{k1}{z}, ...        ... else zero
//! vpexpandd zmm0{k1}, zmm1       lane j of zmm0 = the next lane of zmm1, if bit j of k1 is one
//! vpcompressd zmm0{k1}, zmm1     the next lane of zmm0 = lane j of zmm1, if bit j of k1 is one
//! vpgatherdd zmm0{k1}, [rsi + 4 * zmm1]     lane j of zmm0 = the 4 bytes at rsi + 4 * (lane j of zmm1)
//! vpscatterdd [rsi + 4 * zmm1]{k1}, zmm0    the other way round, lane 0 first
//! ```
//!
//! Masks are bits like all others, and may depend on inputs: the time of an operation on registers
//! does not depend on its mask. The time of a memory access may, so stores with a mask are
//! rejected; loads are treated like loads without one. Masks that choose addresses, or the places
//! of lanes, must be known, and so must the indices of gathers and scatters: compilers emit those
//! for constants and for the loops of key schedules, whose addresses are the same for all keys.

use iced_x86::Register;

use super::lanes::Gate;
use super::operands::{number, width};
use super::registers::{MASK, VECTOR};
use super::{Cells, Done, Run, unsupported};
use crate::address::Address;
use crate::flags::{Flag, Flags};
use crate::memory::Moving;
use crate::word::Word;
use crate::{Fault, Rule};
use usuba_bits::cell::{Bits, Cell};
use usuba_bits::lane_arithmetic::{CHOICE, Shift, less, shifted};
use usuba_ranges::Form;

/// A comparison of lanes into a mask.
#[derive(Clone, Copy)]
pub enum Relation {
    /// By the immediate, signed or not.
    Compare(bool),
    Equal,
    Greater,
    /// Whether the lanes have a one in common.
    Common,
    /// Whether they have none.
    Disjoint,
}

impl Run<'_, '_> {
    /// A mask register, with zeros above its bits.
    fn mask(&self, register: Register) -> &[Cell; MASK] {
        &self.x86.masks[register.number()]
    }

    /// The bits of a mask operand that the instruction is about.
    fn mask_bits(&self, operand: u32) -> Vec<Cell> {
        self.mask(self.i.op_register(operand))[..self.row.lane].to_vec()
    }

    fn set_mask(&mut self, cells: &[Cell]) -> Done {
        let zero = self.zero();
        let mask = &mut self.x86.masks[self.i.op0_register().number()];
        mask.fill(zero);
        mask[..cells.len()].copy_from_slice(cells);
        Ok(())
    }

    pub fn mask_gate(&mut self, gate: Gate) -> Done {
        let (a, b) = (self.mask_bits(1), self.mask_bits(2));
        let bits = &mut self.world.bits;
        let out: Vec<Cell> = a.iter().zip(&b).map(|(&a, &b)| gate(bits, a, b)).collect();
        self.set_mask(&out)
    }

    /// XNOR of masks; of a mask with itself it is all ones.
    pub fn mask_xnor(&mut self) -> Done {
        if self.are_same(1, 2) {
            return self.set_mask(&vec![self.world.bits.constant(true); self.row.lane]);
        }
        self.mask_gate(|bits, a, b| {
            let differ = bits.xor(a, b);
            bits.not(differ)
        })
    }

    pub fn mask_not(&mut self) -> Done {
        let out: Vec<Cell> = self.mask_bits(1).iter().map(|&a| self.world.bits.not(a)).collect();
        self.set_mask(&out)
    }

    pub fn mask_shift(&mut self, shift: Shift) -> Done {
        let count = self.i.immediate8() as u64;
        self.set_mask(&shifted(&self.mask_bits(1), self.zero(), shift, count))
    }

    /// The lower halves of two masks, the second one below.
    pub fn mask_unpack(&mut self) -> Done {
        let half = self.row.lane / 2;
        self.set_mask(&[&self.mask_bits(2)[..half], &self.mask_bits(1)[..half]].concat())
    }

    /// Flags: whether the `or` of two masks is zero, whether it is all ones.
    pub fn mask_test(&mut self) -> Done {
        let (a, b) = (self.mask_bits(0), self.mask_bits(1));
        let bits = &mut self.world.bits;
        let out: Vec<Cell> = a.iter().zip(&b).map(|(&a, &b)| bits.or(a, b)).collect();
        self.x86.flags = match self.world.bits.word(&out) {
            Some(word) => Flags {
                zero: Flag::Is(word == 0),
                carry: Flag::Is(word.count_ones() as usize == out.len()),
                ..Flags::all(Flag::Is(false))
            },
            None => Flags::all(self.unknown_flag(&[&out])),
        };
        Ok(())
    }

    /// kmov between masks, general-purpose registers and memory.
    pub fn move_mask(&mut self) -> Done {
        let bits = self.row.lane;
        let cells = match self.i.op1_register().is_k() {
            true => self.mask_bits(1),
            false => self.word_bits(1, bits / 8, "an address becomes data")?,
        };
        match self.i.op0_register().is_k() {
            true => self.set_mask(&cells),
            false if self.is_memory(0) => self.store_operand(&cells),
            false => self.set_bits(0, &cells),
        }
    }

    /// The top bits of lanes as a mask.
    pub fn mask_of_signs(&mut self) -> Done {
        let cells = self.vector(1, width(self.i.op1_register()))?;
        let tops = cells.chunks(self.row.lane).map(|lane| lane[lane.len() - 1]);
        self.set_mask(&tops.collect::<Vec<Cell>>())
    }

    /// The signs of lanes, in the lowest bits of a general-purpose register.
    pub fn signs(&mut self) -> Done {
        let cells = self.vector(1, width(self.i.op1_register()))?;
        let tops = cells.chunks(self.row.lane).map(|lane| lane[lane.len() - 1]);
        self.set_bits(0, &tops.collect::<Vec<Cell>>())
    }

    /// Lanes of copies of the bits of a mask.
    pub fn lanes_of_mask(&mut self) -> Cells {
        let mask = self.mask(self.i.op1_register());
        let bits = mask[..self.bits() / self.row.lane].iter();
        Ok(bits.flat_map(|&bit| std::iter::repeat_n(bit, self.row.lane)).collect())
    }

    /// A mask of the lanes that a relation holds for, among the lanes of the mask of the
    /// instruction.
    pub fn test(&mut self, relation: Relation) -> Done {
        let width = width(self.i.op1_register());
        let (a, b) = (self.vector(1, width)?, self.vector(2, width)?);
        let allowed = self.i.has_op_mask().then(|| *self.mask(self.i.op_mask()));
        let predicate = self.i.immediate8() % 8;
        let lanes = a.chunks(self.row.lane).zip(b.chunks(self.row.lane));
        let mut out = Vec::with_capacity(width / self.row.lane);
        for (at, (a, b)) in lanes.enumerate() {
            let bits = &mut self.world.bits;
            let bit = tested(bits, relation, predicate, a, b);
            out.push(allowed.map_or(bit, |mask| bits.and(bit, mask[at])));
        }
        self.set_mask(&out)
    }

    /// The second vector where the mask has ones, else the first, or zeros.
    pub fn choose(&mut self) -> Done {
        let (a, b) = self.two(self.bits())?;
        let out = if self.i.has_op_mask() { self.merged(&b, &a) } else { b };
        self.write_vector(&out);
        Ok(())
    }

    /// `new` where the mask of the instruction has ones, else `old`, or zeros.
    pub fn merged(&mut self, new: &[Cell], old: &[Cell]) -> Vec<Cell> {
        let (mask, lane) = (*self.mask(self.i.op_mask()), self.row.lane);
        let bits = &mut self.world.bits;
        let choose = |at: usize| match self.i.zeroing_masking() {
            true => bits.and(mask[at / lane], new[at]),
            false => bits.function(CHOICE, [mask[at / lane], new[at], old[at]]),
        };
        (0..new.len()).map(choose).collect()
    }

    /// The positions of ones in the lowest bits of the mask of the instruction, if they are known;
    /// all positions without a mask.
    fn known_mask(&self, count: usize) -> Result<Vec<usize>, Fault> {
        if !self.i.has_op_mask() {
            return Ok((0..count).collect());
        }
        let touches_memory = (0..self.i.op_count()).any(|at| self.is_memory(at));
        let mut ones = Vec::new();
        for (at, &bit) in self.mask(self.i.op_mask())[..count].iter().enumerate() {
            match self.world.bits.value(bit) {
                Some(true) => ones.push(at),
                Some(false) => {}
                None if touches_memory && self.world.bits.is_secret(bit) => {
                    let what = "which addresses depends on an input";
                    return Err(Fault::new(Rule::SecretAddress, what));
                }
                None => return Err(unsupported("the mask is not known")),
            }
        }
        Ok(ones)
    }

    /// Lanes that the mask chooses: beside each other in the source and at their places in the
    /// result, or the other way round. Of memory, only as many lanes are read or written as the mask
    /// has ones.
    pub fn expand(&mut self, compresses: bool) -> Done {
        let lane = self.row.lane;
        let bits = width(self.i.op_register(self.is_memory(0) as u32));
        let chosen = self.known_mask(bits / lane)?;
        let together = chosen.len() * lane;
        let source = match self.is_memory(1) {
            true => self.load_operand(together / 8)?,
            false => self.vector(1, bits)?,
        };
        let picked = chosen.iter().filter(|_| compresses);
        let picked = picked.flat_map(|at| source[at * lane..][..lane].iter().copied());
        let picked: Vec<Cell> = picked.collect();
        if self.is_memory(0) {
            return self.store_operand(&picked);
        }
        let mut out = match self.i.zeroing_masking() {
            true => vec![self.zero(); bits],
            false => self.vector(0, bits)?,
        };
        if compresses {
            out[..together].copy_from_slice(&picked);
        } else {
            for (lanes, &at) in source.chunks(lane).zip(&chosen) {
                out[at * lane..][..lane].copy_from_slice(lanes);
            }
        }
        self.write_vector(&out);
        Ok(())
    }

    /// Elements at many addresses at once, by indices of `index` bits.
    pub fn scatter(&mut self, stores: bool, index: usize) -> Done {
        if !self.i.has_op_mask() || !self.is_memory(!stores as u32) {
            return Err(unsupported("gathers of AVX2 are not modelled"));
        }
        let (data, indices) = (self.i.op_register(stores as u32), self.i.memory_index());
        let (name, element) = (number(data), self.row.lane);
        let count = (width(indices) / index).min(width(data) / element);
        for at in self.known_mask(count)? {
            let place = self.indexed(number(indices), at * index, index)?;
            let lane = at * element..(at + 1) * element;
            if stores {
                let cells = self.x86.vectors.get(name, VECTOR)[lane].to_vec();
                self.store(place, &cells)?;
            } else {
                let cells = self.load_cells(place, element / 8)?;
                self.x86.vectors.get_mut(name)[lane].copy_from_slice(&cells);
            }
        }
        let zero = self.zero();
        if !stores {
            self.x86.vectors.get_mut(name)[count * element..VECTOR].fill(zero);
        }
        self.x86.masks[self.i.op_mask().number()].fill(zero);
        Ok(())
    }

    /// The address of an element, whose index is in these bits of a register.
    fn indexed(&self, indices: usize, first: usize, bits: usize) -> Result<Address, Fault> {
        let cells = &self.x86.vectors.get(indices, VECTOR)[first..first + bits];
        // An address in the lane is no index.
        let is_data = self.x86.vectors.pointer(indices, first / 64).is_none();
        let index = self.world.bits.word(cells).filter(|_| is_data).ok_or_else(|| {
            let secret = "an index depends on an input";
            self.world.unknown(cells, Rule::SecretAddress, secret, "an index is not known")
        })?;
        let index = (index << (64 - bits)) as i64 >> (64 - bits);
        let scaled = index.wrapping_mul(self.i.memory_index_scale() as i64);
        let (table, displacement) = self.displacement();
        let further = scaled.wrapping_add(displacement);
        let base = match self.i.memory_base() {
            Register::None => &Word::Number(0),
            base if base.is_gpr64() => self.held(base),
            _ => return Err(unsupported("addresses of 32 bits are not modelled")),
        };
        match (base, table) {
            (&Word::Number(at), None) => Ok(Address::Number(at.wrapping_add(further as u64))),
            (&Word::Number(at), Some(table)) => {
                Ok(Address::Pointer(table.plus(further).plus(at as i64)))
            }
            (_, Some(_)) => Err(unsupported("the address is a sum of addresses")),
            (Word::Pointer(pointer), None) => Ok(Address::Pointer(pointer.plus(further))),
            (&Word::Moving(Moving { region, offset }), None) => {
                let offset = offset.plus(Form::number(further));
                let offset = offset.ok_or_else(|| unsupported("an address that is far away"))?;
                Ok(Address::Moving(Moving { region, offset }))
            }
            (Word::Bits(cells), None) => {
                let secret = "the address depends on an input";
                let other = "the address is not known";
                Err(self.world.unknown(&cells[..], Rule::SecretAddress, secret, other))
            }
            _ => Err(unsupported("the address is not known")),
        }
    }
}

/// Whether two lanes have a one in common.
fn common(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Cell {
    let both: Vec<Cell> = a.iter().zip(b).map(|(&a, &b)| bits.and(a, b)).collect();
    if bits.has_integers() {
        let none = bits.number(0, both.len());
        let is_zero = bits.equal(&both, &none);
        return bits.not(is_zero);
    }
    both.into_iter().fold(bits.constant(false), |any, both| bits.or(any, both))
}

/// One comparison.
fn tested(bits: &mut Bits, relation: Relation, predicate: u8, a: &[Cell], b: &[Cell]) -> Cell {
    let (signed, predicate) = match relation {
        Relation::Common => return common(bits, a, b),
        Relation::Disjoint => {
            let any = common(bits, a, b);
            return bits.not(any);
        }
        Relation::Compare(signed) => (signed, predicate),
        Relation::Equal => (false, 0),
        Relation::Greater => (true, 6),
    };
    // Equal, less, less or equal, never, and their complements.
    let bit = match predicate % 4 {
        0 => bits.equal(a, b),
        1 => less(bits, a, b, signed),
        2 => {
            let greater = less(bits, b, a, signed);
            bits.not(greater)
        }
        _ => bits.constant(false),
    };
    if predicate < 4 { bit } else { bits.not(bit) }
}
