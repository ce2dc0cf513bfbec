//! Operands of an instruction as bits, and the addresses of those in memory.

use iced_x86::{EncodingKind, Instruction, OpKind, Register};

use super::counts::low;
use super::registers::{VECTOR, Word};
use super::{X86, unsupported};
use crate::cell::Cell;
use crate::memory::{Loaded, Moving, Pointer, Whole};
use crate::symbolic_count::Form;
use crate::{Fault, Rule, World};

/// The address of an operand in memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Address {
    Pointer(Pointer),
    /// In a section of the object.
    Constant(u64),
    /// It depends on how many blocks there are.
    Moving(Moving),
    /// A number that does, and no address.
    Count(Form),
}

/// The number of the full register that contains a register of any width.
pub fn number(register: Register) -> usize {
    register.full_register().number()
}

/// Bits of a vector register.
pub fn width(register: Register) -> usize {
    8 * register.size()
}

/// Whether the instruction leaves the upper part of a vector register as it is and wants operands
/// in memory to be aligned: whether it is neither of AVX nor later.
pub fn is_legacy(i: &Instruction) -> bool {
    i.encoding() == EncodingKind::Legacy
}

impl X86 {
    /// The address of the memory operand. Its parts must be known: one may be a pointer.
    pub fn address(&self, world: &World, i: &Instruction) -> Result<Address, Fault> {
        if i.is_ip_rel_memory_operand() {
            return Ok(Address::Constant(i.ip_rel_memory_address()));
        }
        let full = |r: Register| r == Register::None || r.is_gpr64();
        if !full(i.memory_base()) || !full(i.memory_index()) {
            return Err(unsupported("addresses of 32 bits are not modelled"));
        }
        let mut sum = i.memory_displacement64();
        if self.is_counted(i) {
            return self.counted_address(world, i);
        }
        let mut pointer: Option<Pointer> = None;
        let parts = [(i.memory_base(), 1), (i.memory_index(), i.memory_index_scale() as u64)];
        for (register, scale) in parts.into_iter().filter(|part| part.0 != Register::None) {
            match self.general(number(register)) {
                Word::Number(value) => sum = sum.wrapping_add(value.wrapping_mul(scale)),
                Word::Pointer(other) if pointer.is_none() && scale == 1 => pointer = Some(*other),
                Word::Pointer(_) => return Err(unsupported("the address is a sum of addresses")),
                Word::Count(_) | Word::Low(..) | Word::Moving(_) => {
                    unreachable!("these have been looked for")
                }
                Word::Bits(cells) => {
                    let secret = cells.iter().any(|&cell| world.bits.is_secret(cell));
                    return Err(match secret {
                        true => Fault::new(
                            Rule::SecretAddress,
                            format!("the address depends on an input, by {register:?}"),
                        ),
                        false => unsupported("the address is made of what nobody has written"),
                    });
                }
            }
        }
        Ok(match pointer {
            Some(pointer) => Address::Pointer(pointer.plus(sum as i64)),
            None => Address::Constant(sum),
        })
    }

    /// What is in memory at an address.
    pub fn load(&mut self, world: &mut World, at: Address, bytes: usize) -> Result<Loaded, Fault> {
        match at {
            Address::Pointer(at) => world.memory.load(at, bytes, self.stack()?),
            Address::Moving(at) => world.memory.load_moving(at, bytes).map(Loaded::Cells),
            Address::Count(_) => Err(no_address()),
            Address::Constant(at) => {
                let Some(found) = world.object.constant(at, bytes) else {
                    let what = format!("there are no constants at {}", world.object.name(at));
                    return Err(Fault::new(Rule::OutOfBounds, what));
                };
                let bit = |bit: usize| world.bits.constant(found[bit / 8] >> (bit % 8) & 1 == 1);
                Ok(Loaded::Cells((0..8 * bytes).map(bit).collect()))
            }
        }
    }

    pub fn load_cells(
        &mut self,
        world: &mut World,
        at: Address,
        bytes: usize,
    ) -> Result<Vec<Cell>, Fault> {
        match self.load(world, at, bytes)? {
            Loaded::Cells(cells) => Ok(cells),
            _ => Err(unsupported("an address is read as data")),
        }
    }

    /// Writes bits to memory.
    pub fn store(&mut self, world: &mut World, at: Address, cells: &[Cell]) -> Result<(), Fault> {
        let stack = self.stack()?;
        match at {
            Address::Pointer(at) => world.memory.store(at, cells, stack),
            Address::Moving(at) => world.memory.store_moving(at, cells),
            Address::Count(_) => Err(no_address()),
            Address::Constant(_) => {
                Err(Fault::new(Rule::OutOfBounds, "it writes to the object itself"))
            }
        }
    }

    /// Checks that the memory operand is a multiple of its own size.
    pub fn check_alignment(
        &mut self,
        world: &mut World,
        i: &Instruction,
        bytes: usize,
    ) -> Result<(), Fault> {
        let aligned = match self.address(world, i)? {
            Address::Pointer(at) => world.memory.is_aligned(at, bytes as u64),
            Address::Constant(at) => world.object.is_aligned(at, bytes as u64),
            // Blocks may lie anywhere.
            Address::Moving(_) | Address::Count(_) => false,
        };
        if aligned {
            return Ok(());
        }
        let what = format!("the address is not a multiple of {bytes}, or not always");
        Err(Fault::new(Rule::Misaligned, what))
    }

    /// The first `bits` bits of a vector operand, from a register or from memory. A word that is
    /// broadcast from memory is repeated.
    pub fn vector(
        &mut self,
        world: &mut World,
        i: &Instruction,
        operand: u32,
        bits: usize,
    ) -> Result<Vec<Cell>, Fault> {
        match i.op_kind(operand) {
            OpKind::Register if i.op_register(operand).is_vector_register() => {
                Ok(self.vectors().get(number(i.op_register(operand)), bits).to_vec())
            }
            OpKind::Memory if i.is_broadcast() => {
                let address = self.address(world, i)?;
                let cells = self.load_cells(world, address, i.memory_size().element_size())?;
                Ok(cells.iter().copied().cycle().take(bits).collect())
            }
            OpKind::Memory => {
                if is_legacy(i) && bits == 128 {
                    self.check_alignment(world, i, 16)?;
                }
                let address = self.address(world, i)?;
                self.load_cells(world, address, bits / 8)
            }
            _ => Err(unsupported("the operand is no vector")),
        }
    }

    /// Writes a vector register, only the lanes that the mask of the instruction names, if it has
    /// one. What is above becomes zero, or stays if the instruction is older than AVX.
    pub fn set_vector(
        &mut self,
        world: &mut World,
        i: &Instruction,
        register: Register,
        cells: &[Cell],
    ) {
        if i.has_op_mask() {
            let merged = self.masked(world, i, cells);
            return self.write_vector(world, i, register, &merged);
        }
        self.write_vector(world, i, register, cells);
    }

    /// The same whatever the mask.
    pub fn write_vector(
        &mut self,
        world: &World,
        i: &Instruction,
        register: Register,
        cells: &[Cell],
    ) {
        let zero = world.bits.constant(false);
        let keep = is_legacy(i);
        let all = self.vectors_mut().get_mut(number(register));
        all[..cells.len()].copy_from_slice(cells);
        if !keep {
            all[cells.len()..VECTOR].fill(zero);
        }
    }

    /// Bits of the vector that the instruction makes; `None` if its first operand is no vector.
    pub fn vector_width(&self, i: &Instruction) -> Option<usize> {
        let register = i.op0_register();
        (i.op0_kind() == OpKind::Register && register.is_vector_register()).then(|| width(register))
    }

    /// The two operands of a vector instruction of the form a = b op c, or a = a op b.
    pub fn two_vectors(
        &mut self,
        world: &mut World,
        i: &Instruction,
        bits: usize,
    ) -> Result<(Vec<Cell>, Vec<Cell>), Fault> {
        let (first, second) = if is_legacy(i) { (0, 1) } else { (1, 2) };
        Ok((self.vector(world, i, first, bits)?, self.vector(world, i, second, bits)?))
    }

    /// Whether both operands of a vector instruction are one register.
    pub fn is_same_register(&self, i: &Instruction) -> bool {
        let (first, second) = if is_legacy(i) { (0, 1) } else { (1, 2) };
        i.op_kind(first) == OpKind::Register
            && i.op_kind(second) == OpKind::Register
            && i.op_register(first) == i.op_register(second)
    }

    /// A general-purpose operand of `bytes` bytes: a register, memory, or an immediate, which is
    /// extended to 64 bits as the instruction says.
    pub fn word(
        &mut self,
        world: &mut World,
        i: &Instruction,
        operand: u32,
        bytes: usize,
    ) -> Result<Word, Fault> {
        let word = match i.op_kind(operand) {
            OpKind::Register => {
                let register = i.op_register(operand);
                if !register.is_gpr() {
                    return Err(unsupported("the operand is no general-purpose register"));
                }
                let word = self.general(number(register)).clone();
                if is_high_byte(register) {
                    let cells = word.cells(&world.bits);
                    let cells = cells.ok_or_else(|| unsupported("a part of an address"))?;
                    Word::from_cells(&world.bits, &cells[8..16])
                } else {
                    word
                }
            }
            OpKind::Memory => {
                let address = self.address(world, i)?;
                match self.load(world, address, bytes)? {
                    Loaded::Cells(cells) => Word::from_cells(&world.bits, &cells),
                    Loaded::Pointer(pointer) => Word::Pointer(pointer),
                    Loaded::Moving(moving) => Word::Moving(moving),
                    Loaded::Count(form) => Word::Count(form),
                }
            }
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => Word::Number(i.immediate(operand)),
            _ => return Err(unsupported("the operand is not modelled")),
        };
        truncated(world, word, bytes)
    }

    /// Bytes of a general-purpose operand.
    pub fn size(&self, i: &Instruction, operand: u32) -> Result<usize, Fault> {
        match i.op_kind(operand) {
            OpKind::Register if i.op_register(operand).is_gpr() => {
                Ok(i.op_register(operand).size())
            }
            OpKind::Memory => Ok(i.memory_size().size()),
            _ => Err(unsupported("the operand is not modelled")),
        }
    }

    /// Writes a general-purpose operand of `bytes` bytes. Registers of four bytes are extended by
    /// zeros; of smaller ones the rest stays.
    pub fn set_word(
        &mut self,
        world: &mut World,
        i: &Instruction,
        operand: u32,
        word: Word,
    ) -> Result<(), Fault> {
        let bytes = self.size(i, operand)?;
        let word = truncated(world, word, bytes)?;
        match i.op_kind(operand) {
            OpKind::Register => {
                let register = i.op_register(operand);
                let at = number(register);
                if bytes >= 4 {
                    self.set_general(at, word);
                    return Ok(());
                }
                let part =
                    word.cells(&world.bits).ok_or_else(|| unsupported("a part of an address"))?;
                // What is left of an address beside a part of something else is of no use.
                let mut all = self.general(at).cells(&world.bits).unwrap_or([Cell::UNSET; 64]);
                let first = if is_high_byte(register) { 8 } else { 0 };
                all[first..first + 8 * bytes].copy_from_slice(&part[..8 * bytes]);
                self.set_general(at, Word::from_cells(&world.bits, &all));
                Ok(())
            }
            OpKind::Memory => {
                let address = self.address(world, i)?;
                self.store_word(world, address, &word, bytes)
            }
            _ => Err(unsupported("the operand cannot be written")),
        }
    }

    pub fn store_word(
        &mut self,
        world: &mut World,
        address: Address,
        word: &Word,
        bytes: usize,
    ) -> Result<(), Fault> {
        match (word, address) {
            (Word::Pointer(what), Address::Pointer(at)) if bytes == 8 => {
                let stack = self.stack()?;
                world.memory.store_pointer(at, *what, stack)
            }
            (Word::Moving(what), Address::Pointer(at)) if bytes == 8 => {
                let stack = self.stack()?;
                world.memory.store_whole(at, Whole::Moving(*what), stack)
            }
            (Word::Count(what), Address::Pointer(at)) if bytes == 8 => {
                let stack = self.stack()?;
                world.memory.store_whole(at, Whole::Count(*what), stack)
            }
            _ => {
                let cells = word.cells(&world.bits);
                let cells = cells.ok_or_else(|| unsupported("a part of an address is stored"))?;
                self.store(world, address, &cells[..8 * bytes])
            }
        }
    }
}

fn no_address() -> Fault {
    Fault::new(Rule::OutOfBounds, "a number of blocks is used as an address")
}

fn is_high_byte(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}

/// The lowest bytes of a word, with zeros above. An address must stay whole.
fn truncated(world: &World, word: Word, bytes: usize) -> Result<Word, Fault> {
    if bytes >= 8 {
        return Ok(word);
    }
    match word {
        Word::Number(value) => Ok(Word::Number(value & ((1 << (8 * bytes)) - 1))),
        Word::Bits(cells) => Ok(Word::from_cells(&world.bits, &cells[..8 * bytes])),
        Word::Count(form) => Ok(low(world, form, bytes)),
        Word::Low(form, had) => Ok(Word::Low(form, had.min(bytes as u8))),
        // The number of an address is not known.
        Word::Pointer(_) | Word::Moving(_) => {
            Ok(Word::from_cells(&world.bits, &[Cell::UNSET; 64][..8 * bytes]))
        }
    }
}
