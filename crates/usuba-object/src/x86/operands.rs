//! Operands of an instruction as bits, and the addresses of operands in memory.

use iced_x86::{EncodingKind, OpKind, Register};

use super::registers::{CANARY, VECTOR, Word};
use super::{Cells, Done, Run, unsupported};
use crate::address::Address;
use crate::cell::Cell;
use crate::elf::{Content, Object};
use crate::memory::{Loaded, Moving, Pointer, Region, Whole};
use crate::{Fault, Rule, World};
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

    pub fn is_secret(&self, cells: &[Cell]) -> bool {
        cells.iter().any(|&cell| self.world.bits.is_secret(cell))
    }

    /// The fault for bits that are no number: they depend on an input, or were never written.
    pub fn unknown(&self, cells: &[Cell], rule: Rule, secret: &str, other: &str) -> Fault {
        match self.is_secret(cells) {
            true => Fault::new(rule, secret),
            false => unsupported(other),
        }
    }

    /// The number of these bits; `what` names them in the fault.
    pub fn known(&self, cells: &[Cell], what: &str) -> Result<u64, Fault> {
        self.world.bits.word(cells).ok_or_else(|| {
            let [secret, other] = ["depends on an input", "is what nobody has written"]
                .map(|w| format!("{what} {w}"));
            self.unknown(cells, Rule::SecretShift, &secret, &other)
        })
    }

    /// The bits of a word, unless it is an address.
    pub fn data(&self, word: &Word, otherwise: &str) -> Result<[Cell; 64], Fault> {
        // The bits of a count are public, and not known.
        let count = self.world.forks.follows && matches!(word, Word::Count(_) | Word::Low(..));
        let cells = word.cells(&self.world.bits).or(count.then_some([Cell::UNSET; 64]));
        cells.ok_or_else(|| unsupported(otherwise))
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
                    return Err(self.unknown(&cells[..], Rule::SecretAddress, &secret, other));
                }
                _ => return Err(unsupported("the address is a sum of addresses")),
            }
        }
        Ok(match pointer {
            Some(pointer) => Address::Pointer(pointer.plus(sum)),
            None => Address::Number(sum as u64),
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
        let memory = &mut self.world.memory;
        let found = match at.place() {
            Some(at) => match memory.element(at, bytes)? {
                None => memory.byte_of_text(at, bytes)?,
                element => element,
            },
            None => None,
        };
        if let Some(whole) = found {
            return Ok(match whole {
                Whole::Pointer(pointer) => Loaded::Pointer(pointer),
                Whole::Moving(moving) => Loaded::Moving(moving),
                Whole::Count(form) => Loaded::Count(form),
            });
        }
        match at {
            Address::Pointer(at) if matches!(at.region, Region::Section(_)) => {
                self.load_constant(at, bytes)
            }
            Address::Pointer(at) => self.world.memory.load(at, bytes, self.x86.stack()?),
            Address::Moving(Moving { region: Region::Section(_), offset })
                if self.world.forks.follows =>
            {
                self.any_constant(at, offset, bytes)
            }
            Address::Moving(Moving { region: Region::Section(_), .. }) => {
                Err(unsupported("an index into constants depends on the number of blocks"))
            }
            Address::Moving(at) => {
                let stack = self.x86.stack()?;
                let World { bits, memory, .. } = &mut *self.world;
                let cells = memory.load_moving(at, bytes, stack, |cell| bits.is_secret(cell));
                cells.map(Loaded::Cells)
            }
            Address::Count(_) | Address::Number(_) => Err(self.no_address()),
        }
    }

    /// Constants of the object.
    fn load_constant(&mut self, at: Pointer, bytes: usize) -> Result<Loaded, Fault> {
        let outside = |what: String| Fault::new(Rule::OutOfBounds, what);
        let place = Object::place(at).ok_or_else(|| outside("a place far from its section".into()));
        let place = place?;
        if let Some(cells) = self.load_choice(place, bytes)? {
            return Ok(Loaded::Cells(cells));
        }
        match self.world.object.constant(place, bytes).map_err(outside)? {
            Content::Address(target) => Ok(Loaded::Pointer(Object::pointer(target))),
            Content::Bytes(found) => {
                let bits = &self.world.bits;
                let bit = |bit: usize| bits.constant(found[bit / 8] >> (bit % 8) & 1 == 1);
                Ok(Loaded::Cells((0..8 * bytes).map(bit).collect()))
            }
        }
    }

    /// The choice of a backend at a place, or features of the processor; `None` at other places.
    fn load_choice(&mut self, place: u64, bytes: usize) -> Result<Option<Vec<Cell>>, Fault> {
        let Some(dispatch) = &self.world.object.dispatch else { return Ok(None) };
        loop {
            let known = self.world.memory.choice;
            let question = match dispatch.read(place, bytes, &known) {
                None => return Ok(None),
                Some(Err(question)) => question,
                Some(Ok(found)) => {
                    let bits = &self.world.bits;
                    let cell =
                        |bit: Option<bool>| bit.map_or(Cell::UNSET, |bit| bits.constant(bit));
                    return Ok(Some(found.into_iter().map(cell).collect()));
                }
            };
            let answer = self.forked(false, None)?;
            self.world.memory.choice = dispatch.decided(&known, question, answer);
        }
    }

    /// Writes the choice of a backend; `None` at other places.
    fn store_choice(&mut self, at: Pointer, cells: &[Cell]) -> Option<Done> {
        let dispatch = self.world.object.dispatch.as_ref()?;
        Object::place(at).filter(|&place| dispatch.is_variable(place))?;
        let bits: Option<Vec<bool>> = cells.iter().map(|&bit| self.world.bits.value(bit)).collect();
        let bits = bits.filter(|bits| bits.len() == u32::BITS as usize);
        let number = |bits: Vec<bool>| {
            bits.into_iter().rev().fold(0, |number, bit| number << 1 | u32::from(bit))
        };
        let value = bits.map(number);
        let written = value.and_then(|value| dispatch.written(&self.world.memory.choice, value));
        Some(match written {
            Some(known) => {
                self.world.memory.choice = known;
                Ok(())
            }
            None => {
                let what = match value {
                    Some(value) => format!("it chooses backend {value} without its features"),
                    None => "it is not known which backend it chooses".to_string(),
                };
                Err(Fault::new(Rule::Unsupported, what))
            }
        })
    }

    /// A constant at a public index that is not known.
    fn any_constant(&self, at: Address, offset: Form, bytes: usize) -> Result<Loaded, Fault> {
        let (low, high) = self.world.memory.unknowns.ranges.bounds(offset);
        let low = at.place().map(|at| Pointer { region: at.region, offset: low as i64 });
        let place = low.and_then(Object::place);
        let span = usize::try_from(high - self.world.memory.unknowns.ranges.bounds(offset).0);
        let (Some(place), Ok(span)) = (place, span) else { return Err(self.no_address()) };
        match self.world.object.constant(place, span.saturating_add(bytes)) {
            Ok(_) => Ok(Loaded::Cells(vec![Cell::UNSET; 8 * bytes])),
            Err(what) => Err(Fault::new(Rule::OutOfBounds, what)),
        }
    }

    pub fn load_cells(&mut self, at: Address, bytes: usize) -> Cells {
        match self.load(at, bytes)? {
            Loaded::Cells(cells) => Ok(cells),
            Loaded::Count(form) if let Some(value) = form.value() => {
                Ok(self.world.bits.number(value as u64, 8 * bytes))
            }
            Loaded::Count(_) if self.world.forks.follows => Ok(vec![Cell::UNSET; 8 * bytes]),
            _ => Err(unsupported("an address is read as data")),
        }
    }

    /// The contents of memory at an address, as a word.
    pub fn load_word(&mut self, at: Address, bytes: usize) -> Result<Word, Fault> {
        Ok(match self.load(at, bytes)? {
            Loaded::Cells(cells) => Word::from_cells(&self.world.bits, &cells),
            Loaded::Pointer(pointer) => Word::Pointer(pointer),
            Loaded::Moving(moving) => Word::Moving(moving),
            Loaded::Count(form) => Word::from(Whole::Count(form)),
        })
    }

    /// Writes bits to memory.
    pub fn store(&mut self, at: Address, cells: &[Cell]) -> Done {
        match at {
            Address::Pointer(at) if let Some(done) = self.store_choice(at, cells) => done,
            Address::Pointer(at) => self.world.memory.store(at, cells, self.x86.stack()?),
            Address::Moving(at) => {
                let stack = self.x86.stack()?;
                let World { bits, memory, .. } = &mut *self.world;
                memory.store_moving(at, cells, stack, |cell| bits.is_secret(cell))
            }
            Address::Count(_) | Address::Number(_) => Err(self.no_address()),
        }
    }

    fn no_address(&self) -> Fault {
        let what = match self.world.object.is_fixed() {
            true => "a number is used as an address; -pie makes files without such numbers",
            false => "a number is used as an address",
        };
        Fault::new(Rule::OutOfBounds, what)
    }

    /// Writes a word to memory, where an address stays whole.
    pub fn store_word(&mut self, address: Address, word: &Word, bytes: usize) -> Done {
        if let (Address::Pointer(at), 8, Some(whole)) = (address, bytes, word.moved()) {
            return self.world.memory.store_whole(at, whole, self.x86.stack()?);
        }
        // Numbers in the frame may be counters of loops.
        if let (Address::Pointer(at), 8, Word::Number(value)) = (address, bytes, word)
            && at.region == Region::Frame
            && self.world.forks.counts
        {
            let whole = Whole::Count(Form::number(*value as i64));
            return self.world.memory.store_whole(at, whole, self.x86.stack()?);
        }
        let cells = self.data(word, "a part of an address is stored")?;
        self.store(address, &cells[..8 * bytes])
    }

    /// Writes bits to the operand in memory.
    pub fn store_operand(&mut self, cells: &[Cell]) -> Done {
        let address = self.address()?;
        self.store(address, cells)
    }

    /// Checks that the memory operand is a multiple of its own size.
    pub fn check_alignment(&mut self, bytes: usize) -> Done {
        let address = self.address()?;
        if self.is_aligned(address, bytes as u64) {
            return Ok(());
        }
        let what = format!("the address is not a multiple of {bytes}, or not always");
        Err(Fault::new(Rule::Misaligned, what))
    }

    /// Whether an address is a multiple of `align`, wherever its region is.
    pub fn is_aligned(&mut self, at: Address, align: u64) -> bool {
        match at {
            Address::Pointer(at) if matches!(at.region, Region::Section(_)) => {
                self.world.object.is_aligned(at, align)
            }
            Address::Pointer(at) => self.world.memory.is_aligned(at, align),
            Address::Moving(at) => {
                self.world.memory.note_open();
                let is_multiple = |term: &i64| (*term as u64).is_multiple_of(align);
                let Moving { region, offset } = at;
                let start = Pointer { region, offset: offset.constant };
                offset.terms.iter().all(is_multiple)
                    && self.is_aligned(Address::Pointer(start), align)
            }
            Address::Count(_) | Address::Number(_) => false,
        }
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
                Ok(self.data(self.held(register), "an address becomes data")?[..bits].to_vec())
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
                        let cells = self.data(self.held(register), "a part of an address")?;
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
        Ok(self.truncated(word, bytes))
    }

    /// The bits of a general-purpose operand, unless it is an address.
    pub fn word_bits(&mut self, operand: u32, bytes: usize, otherwise: &str) -> Cells {
        let word = self.word(operand, bytes)?;
        Ok(self.data(&word, otherwise)?[..8 * bytes].to_vec())
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
        let mut word = self.truncated(word, bytes);
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
        let word = self.truncated(word, bytes);
        if bytes >= 4 {
            self.x86.general[at] = word;
            return Ok(());
        }
        let part = self.data(&word, "a part of an address")?;
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

    /// The lowest bytes of a word, with zeros above. An address must stay whole.
    pub fn truncated(&self, word: Word, bytes: usize) -> Word {
        let bits = &self.world.bits;
        match word {
            word if bytes >= 8 => word,
            Word::Number(value) => Word::Number(value & ((1 << (8 * bytes)) - 1)),
            Word::Bits(cells) => Word::from_cells(bits, &cells[..8 * bytes]),
            Word::Count(form) => self.low(form, bytes),
            Word::Low(form, had) => Word::Low(form, had.min(bytes as u8)),
            // The number of an address is not known.
            Word::Pointer(_) | Word::Moving(_) | Word::Distance(..) => {
                Word::from_cells(bits, &[Cell::UNSET; 64][..8 * bytes])
            }
        }
    }
}

fn is_high_byte(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}
