//! Operands of an instruction as bits, and the addresses of operands in memory.

use iced_x86::{EncodingKind, OpKind, Register};

use super::registers::{CANARY, VECTOR};
use super::{Cells, Done, Run, unsupported};
use crate::address::Address;
use crate::counts::too_large;
use crate::elf::Object;
use crate::memory::{Loaded, Moving, Pointer};
use crate::word::{Word, form};
use crate::{Fault, Rule};
use usuba_bits::cell::Cell;
use usuba_ranges::Form;

/// The number of the full register that contains a register of any width.
pub fn number(register: Register) -> usize {
    register.full_register().number()
}

/// Bits of a vector register.
pub fn width(register: Register) -> usize {
    8 * register.size()
}

impl Run<'_, '_> {
    /// Whether the instruction precedes AVX: it keeps the upper part of a vector register, and
    /// requires aligned operands in memory.
    pub fn is_legacy(&self) -> bool {
        self.i.encoding() == EncodingKind::Legacy
    }

    /// The bit zero.
    pub fn zero(&self) -> Cell {
        self.world.bits.constant(false)
    }

    /// The number of these bits; `what` names them in the fault.
    pub fn known(&self, cells: &[Cell], what: &str) -> Result<u64, Fault> {
        self.world.bits.word(cells).ok_or_else(|| {
            let [secret, other] = ["depends on an input", "is what nobody has written"]
                .map(|w| format!("{what} {w}"));
            self.world.unknown(cells, Rule::SecretShift, &secret, &other)
        })
    }

    /// Base and index of the memory operand, with their scales.
    pub fn parts(&self) -> impl Iterator<Item = (Register, u64)> + use<> {
        let index = (self.i.memory_index(), self.i.memory_index_scale() as u64);
        let parts = [(self.i.memory_base(), 1), index];
        parts.into_iter().filter(|(register, _)| *register != Register::None)
    }

    pub fn held(&self, register: Register) -> &Word {
        &self.x86.general[number(register)]
    }

    /// Gives a part of an address of which some bits are not known, as the index of a table, a number.
    pub fn number_index(&mut self) {
        let is_address =
            |(register, _)| Register::is_gpr64(register) && self.held(register).place().is_some();
        if !self.parts().any(is_address) {
            return;
        }
        for (register, _) in self.parts().filter(|(register, _)| register.is_gpr64()) {
            if let Some(form) = self.world.public_offset(&self.x86.general[number(register)]) {
                self.x86.general[number(register)] = Word::Count(form);
            }
        }
    }

    /// The address of the memory operand. Its parts must be known: one may be a pointer.
    pub fn address(&self) -> Result<Address, Fault> {
        let (mut pointer, mut sum) = self.displacement();
        if self.i.is_ip_rel_memory_operand() {
            let known = pointer.ok_or_else(|| unsupported("the address is not known"))?;
            return Ok(Address::Pointer(known));
        }
        if !self.parts().all(|(register, _)| register.is_gpr64()) {
            return Err(unsupported("addresses of 32 bits are not modelled"));
        }
        if self.parts().any(|(register, _)| self.held(register).is_counted()) {
            return self.counted_address();
        }
        for (register, scale) in self.parts() {
            match self.held(register) {
                Word::Number(value) => {
                    sum = sum.wrapping_add(value.wrapping_mul(scale) as i64);
                }
                Word::Pointer(other) if pointer.is_none() && scale == 1 => pointer = Some(*other),
                Word::Bits(cells) => {
                    let secret = format!("the address depends on an input, by {register:?}");
                    let other = "the address is made of what nobody has written";
                    return Err(self.world.unknown(
                        &cells[..],
                        Rule::SecretAddress,
                        &secret,
                        other,
                    ));
                }
                _ => return Err(unsupported("the address is a sum of addresses")),
            }
        }
        Ok(match pointer {
            Some(pointer) => Address::Pointer(pointer.plus(sum)),
            None => Address::Number(sum as u64),
        })
    }

    /// The address of a memory operand of which a part is a count.
    fn counted_address(&self) -> Result<Address, Fault> {
        let (base, displacement) = self.displacement();
        let mut sum = Form::number(displacement);
        let mut region = base.map(|base| base.region);
        for (register, scale) in self.parts() {
            let part = self.held(register);
            let form = match (form(part, 8), part.place()) {
                (Some(form), _) => form,
                (None, Some(moving)) if region.is_none() && scale == 1 => {
                    region = Some(moving.region);
                    moving.offset
                }
                _ => return Err(unsupported("a part of the address is neither known nor a count")),
            };
            let scaled = form.times(scale as i64).and_then(|form| sum.plus(form));
            sum = scaled.ok_or_else(too_large)?;
        }
        let offset = self.world.reduced(Some(sum))?;
        Ok(match (region, offset.value()) {
            (Some(region), _) => Address::from(Moving { region, offset }),
            (None, Some(value)) => Address::Number(value as u64),
            (None, None) => Address::Count(offset),
        })
    }

    /// The displacement of the memory operand: a place in the object, or a number.
    pub fn displacement(&self) -> (Option<Pointer>, i64) {
        match self.linked.displacement {
            Some(place) => (Some(Object::pointer(place)), 0),
            None => (None, self.i.memory_displacement64() as i64),
        }
    }

    /// The contents of memory at an address.
    pub fn load(&mut self, at: Address, bytes: usize) -> Result<Loaded, Fault> {
        let stack = self.x86.stack()?;
        self.world.load(at, bytes, stack)
    }

    /// The contents of memory as bits.
    pub fn load_cells(&mut self, at: Address, bytes: usize) -> Cells {
        let stack = self.x86.stack()?;
        self.world.load_cells(at, bytes, stack)
    }

    /// The contents of memory at an address, as a word.
    pub fn load_word(&mut self, at: Address, bytes: usize) -> Result<Word, Fault> {
        let stack = self.x86.stack()?;
        self.world.load_word(at, bytes, stack)
    }

    /// Writes bits to memory.
    pub fn store(&mut self, at: Address, cells: &[Cell]) -> Done {
        let stack = self.x86.stack()?;
        self.world.store(at, cells, stack)
    }

    /// Writes a word to memory, where an address stays whole.
    pub fn store_word(&mut self, at: Address, word: &Word, bytes: usize) -> Done {
        let stack = self.x86.stack()?;
        self.world.store_word(at, word, bytes, stack)
    }

    /// Writes bits to the operand in memory.
    pub fn store_operand(&mut self, cells: &[Cell]) -> Done {
        let address = self.address()?;
        self.store(address, cells)
    }

    /// Checks that the memory operand is a multiple of its own size.
    pub fn check_alignment(&mut self, bytes: usize) -> Done {
        let address = self.address()?;
        if self.world.is_aligned(address, bytes as u64) {
            return Ok(());
        }
        let what = format!("the address is not a multiple of {bytes}, or not always");
        Err(Fault::new(Rule::Misaligned, what))
    }

    pub fn is_memory(&self, operand: u32) -> bool {
        self.i.op_kind(operand) == OpKind::Memory
    }

    /// The first `bits` bits of a vector operand, from a register or from memory. A word that is
    /// broadcast from memory is repeated.
    pub fn vector(&mut self, operand: u32, bits: usize) -> Cells {
        match self.i.op_kind(operand) {
            OpKind::Register if self.i.op_register(operand).is_vector_register() => {
                Ok(self.x86.vectors.get(number(self.i.op_register(operand)), bits).to_vec())
            }
            OpKind::Memory if self.i.is_broadcast() => {
                let cells = self.load_operand(self.i.memory_size().element_size())?;
                Ok(cells.iter().copied().cycle().take(bits).collect())
            }
            OpKind::Memory => {
                if self.is_legacy() && bits == 128 {
                    self.check_alignment(16)?;
                }
                self.load_operand(bits / 8)
            }
            _ => Err(unsupported("the operand is no vector")),
        }
    }

    /// The operand in memory as data, without an alignment check.
    pub fn load_operand(&mut self, bytes: usize) -> Cells {
        let address = self.address()?;
        self.load_cells(address, bytes)
    }

    /// The lowest bits of a vector operand, of a general-purpose register, or of memory, without an
    /// alignment check.
    pub fn low_part(&mut self, operand: u32, bits: usize) -> Cells {
        let register = self.i.op_register(operand);
        match self.i.op_kind(operand) {
            OpKind::Memory => self.load_operand(bits / 8),
            OpKind::Register if register.is_gpr() => {
                Ok(self.world.data(self.held(register), "an address becomes data")?[..bits]
                    .to_vec())
            }
            _ => self.vector(operand, bits),
        }
    }

    /// Writes the result, only the lanes that the mask of the instruction names, if it has one.
    pub fn set_vector(&mut self, cells: &[Cell]) {
        if self.i.has_op_mask() {
            let old = self.x86.vectors.get(number(self.i.op0_register()), cells.len()).to_vec();
            let merged = self.merged(cells, &old);
            return self.write_vector(&merged);
        }
        self.write_vector(cells);
    }

    /// Ignores the mask. The bits above become zero, or stay if the instruction is older than AVX.
    pub fn write_vector(&mut self, cells: &[Cell]) {
        let (zero, keep) = (self.zero(), self.is_legacy());
        let all = self.x86.vectors.get_mut(number(self.i.op0_register()));
        all[..cells.len()].copy_from_slice(cells);
        if !keep {
            all[cells.len()..VECTOR].fill(zero);
        }
    }

    /// Bits of the vector that the instruction makes; `None` if its first operand is no vector.
    pub fn vector_width(&self) -> Option<usize> {
        let register = self.i.op0_register();
        let is_vector = self.i.op0_kind() == OpKind::Register && register.is_vector_register();
        is_vector.then(|| width(register))
    }

    /// Bits of the vector in the first operand.
    pub fn bits(&self) -> usize {
        width(self.i.op0_register())
    }

    /// The number of the first source: the operand that is written, in instructions before AVX.
    pub fn source(&self) -> u32 {
        if self.is_legacy() { 0 } else { 1 }
    }

    /// The two sources of the form a = b op c, or a = a op b.
    pub fn two(&mut self, bits: usize) -> Result<(Vec<Cell>, Vec<Cell>), Fault> {
        let first = self.source();
        Ok((self.vector(first, bits)?, self.vector(first + 1, bits)?))
    }

    /// Whether two operands are one register.
    pub fn are_same(&self, first: u32, second: u32) -> bool {
        [first, second].iter().all(|&at| self.i.op_kind(at) == OpKind::Register)
            && self.i.op_register(first) == self.i.op_register(second)
    }

    /// A general-purpose operand of `bytes` bytes: a register, memory, or an immediate, which the
    /// instruction extends to 64 bits.
    pub fn word(&mut self, operand: u32, bytes: usize) -> Result<Word, Fault> {
        let word = match self.i.op_kind(operand) {
            OpKind::Register => {
                let register = self.i.op_register(operand);
                if !register.is_gpr() {
                    return Err(unsupported("the operand is no general-purpose register"));
                }
                match is_high_byte(register) {
                    true => {
                        let cells = self.world.data(self.held(register), "a part of an address")?;
                        Word::from_cells(&self.world.bits, &cells[8..16])
                    }
                    false => self.held(register).clone(),
                }
            }
            // The prefix is allowed for this word alone.
            OpKind::Memory if self.i.segment_prefix() == Register::FS => Word::Pointer(CANARY),
            OpKind::Memory => {
                let address = self.address()?;
                self.load_word(address, bytes)?
            }
            _ if let Some(place) = self.linked.immediate => {
                return Ok(Word::Pointer(Object::pointer(place)));
            }
            _ => match self.i.try_immediate(operand) {
                Ok(value) => Word::Number(value),
                Err(_) => return Err(unsupported("the operand is not modelled")),
            },
        };
        Ok(self.world.truncated(word, bytes))
    }

    /// The bits of a general-purpose operand, unless it is an address.
    pub fn word_bits(&mut self, operand: u32, bytes: usize, otherwise: &str) -> Cells {
        let word = self.word(operand, bytes)?;
        Ok(self.world.data(&word, otherwise)?[..8 * bytes].to_vec())
    }

    /// Bytes of a general-purpose operand.
    pub fn size(&self, operand: u32) -> Result<usize, Fault> {
        match self.i.op_kind(operand) {
            OpKind::Register if self.i.op_register(operand).is_gpr() => {
                Ok(self.i.op_register(operand).size())
            }
            OpKind::Memory => Ok(self.i.memory_size().size()),
            _ => Err(unsupported("the operand is not modelled")),
        }
    }

    /// Writes a general-purpose operand.
    pub fn set_word(&mut self, operand: u32, word: Word) -> Done {
        let bytes = self.size(operand)?;
        let mut word = self.world.truncated(word, bytes);
        if let (Word::Bits(cells), true) = (&mut word, self.world.forks.follows) {
            self.world.bits.name_single(&mut cells[..]);
        }
        if self.is_memory(operand) {
            let address = self.address()?;
            return self.store_word(address, &word, bytes);
        }
        self.set_register(self.i.op_register(operand), word)
    }

    /// Writes a general-purpose register. One of four bytes is extended by zeros; of smaller ones
    /// the rest stays.
    pub fn set_register(&mut self, register: Register, word: Word) -> Done {
        let (at, bytes) = (number(register), register.size());
        let word = self.world.truncated(word, bytes);
        if bytes >= 4 {
            self.x86.general[at] = word;
            return Ok(());
        }
        let part = self.world.data(&word, "a part of an address")?;
        // A write to a part of an address leaves its other bits unset.
        let mut all = self.held(register).cells(&self.world.bits).unwrap_or([Cell::UNSET; 64]);
        let first = if is_high_byte(register) { 8 } else { 0 };
        all[first..first + 8 * bytes].copy_from_slice(&part[..8 * bytes]);
        self.x86.general[at] = Word::from_cells(&self.world.bits, &all);
        Ok(())
    }

    pub fn set_bits(&mut self, operand: u32, cells: &[Cell]) -> Done {
        self.set_word(operand, Word::from_cells(&self.world.bits, cells))
    }
}

fn is_high_byte(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}
