//! General-purpose arithmetic.
//!
//! ```text
//! add a, b       a = a + b mod 2^n, and flags
//! rorx a, b, k   a = b rotated, no flags
//! lea a, [b + 4c + d]
//! ```
//!
//! Numbers are computed, with their flags, so that loops can be counted; bits are nodes; addresses
//! move by numbers. Flags of what depends on inputs do so too, and only branches that ask for them
//! are refused. Flags that an instruction leaves undefined are undefined.
//!
//! Above 600 lines because each operation says its result and its flags in one place.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::long::flag_of;
use super::operands::Address;
use super::registers::{Flag, Flags, Word};
use super::{Outcome, X86, counts, unsupported};
use crate::cell::Cell;
use crate::memory::Pointer;
use crate::{Fault, Rule, World};

/// Arithmetic of two operands that sets all flags.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Binary {
    Add,
    Subtract,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shift {
    Left,
    Right,
    Arithmetic,
    RotateLeft,
    RotateRight,
}

/// The operation, and whether its result is written.
fn binary(mnemonic: Mnemonic) -> Option<(Binary, bool)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Add => (Binary::Add, true),
        Sub => (Binary::Subtract, true),
        Cmp => (Binary::Subtract, false),
        And => (Binary::And, true),
        Test => (Binary::And, false),
        Or => (Binary::Or, true),
        Xor => (Binary::Xor, true),
        _ => return None,
    })
}

/// Shifts that set flags, and those of BMI2 that do not.
fn shift(mnemonic: Mnemonic) -> Option<(Shift, bool)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Shl => (Shift::Left, true),
        Shr => (Shift::Right, true),
        Sar => (Shift::Arithmetic, true),
        Rol => (Shift::RotateLeft, true),
        Ror => (Shift::RotateRight, true),
        Shlx => (Shift::Left, false),
        Shrx => (Shift::Right, false),
        Sarx => (Shift::Arithmetic, false),
        Rorx => (Shift::RotateRight, false),
        _ => return None,
    })
}

pub fn is_varying(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(mnemonic, Div | Idiv)
}

/// Arithmetic that is like no other.
const OTHERS: &[Mnemonic] = {
    use Mnemonic::*;
    &[
        Mov, Movzx, Movsx, Movsxd, Lea, Inc, Dec, Neg, Not, Andn, Imul, Bswap, Cdqe, Cwde, Shld,
        Shrd, Xchg, Bt, Btr, Bts, Btc,
    ]
};

/// Moves and bytes by a condition.
const CONDITIONAL: &[Mnemonic] = {
    use Mnemonic::*;
    &[
        Cmovo, Cmovno, Cmovb, Cmovae, Cmove, Cmovne, Cmovbe, Cmova, Cmovs, Cmovns, Cmovl, Cmovge,
        Cmovle, Cmovg, Seto, Setno, Setb, Setae, Sete, Setne, Setbe, Seta, Sets, Setns, Setl,
        Setge, Setle, Setg,
    ]
};

/// Whether the instruction belongs here.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    binary(mnemonic).is_some()
        || shift(mnemonic).is_some()
        || [OTHERS, CONDITIONAL].iter().any(|list| list.contains(&mnemonic))
}

impl X86 {
    pub(super) fn scalar(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        use Mnemonic::*;
        let mnemonic = i.mnemonic();
        if let Some((operation, writes)) = binary(mnemonic) {
            return Some(self.binary(world, i, operation, writes));
        }
        if let Some((shift, flags)) = shift(mnemonic) {
            return Some(self.shift_word(world, i, shift, flags));
        }
        if is_varying(mnemonic) {
            return Some(self.varying(world, i));
        }
        Some(match mnemonic {
            Mov => self.copy(world, i, false),
            Movzx => self.copy(world, i, false),
            Movsx | Movsxd => self.copy(world, i, true),
            Lea => self.lea(world, i),
            Inc => self.step_by_one(world, i, Binary::Add),
            Dec => self.step_by_one(world, i, Binary::Subtract),
            Neg => self.negate(world, i),
            Not => self.complement(world, i),
            Andn => self.and_not(world, i),
            Imul if i.op_count() > 1 => self.multiply(world, i),
            Bswap => self.swap_bytes(world, i),
            Cdqe => self.sign_extend(world, 4, 8),
            Cwde => self.sign_extend(world, 2, 4),
            Shld | Shrd => self.double_shift_word(world, i),
            Xchg => self.exchange(world, i),
            Bt | Btr | Bts | Btc => self.one_bit(world, i),
            _ => return self.conditional(world, i),
        })
    }

    fn copy(&mut self, world: &mut World, i: &Instruction, signed: bool) -> Result<(), Fault> {
        if i.op0_kind() == OpKind::Register && !i.op0_register().is_gpr() {
            return Err(unsupported("the register is not modelled"));
        }
        let (to, bytes) = (self.size(i, 0)?, self.source_size(i)?);
        let word = self.word(world, i, 1, bytes)?;
        let word = if signed { sign_extended(world, &word, bytes, to)? } else { word };
        self.set_word(world, i, 0, word)
    }

    /// Bytes of the second operand; those of the first for an immediate.
    fn source_size(&self, i: &Instruction) -> Result<usize, Fault> {
        match i.op1_kind() {
            OpKind::Register | OpKind::Memory => self.size(i, 1),
            _ => self.size(i, 0),
        }
    }

    fn lea(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        if let Some(word) = self.sum_of_bits(world, i)? {
            return self.set_word(world, i, 0, word);
        }
        let word = match self.address(world, i)? {
            Address::Pointer(pointer) => Word::Pointer(pointer),
            Address::Constant(value) => Word::Number(value),
            Address::Moving(moving) => Word::Moving(moving),
            Address::Count(form) => Word::Count(form),
        };
        self.set_word(world, i, 0, word)
    }

    /// What `lea` computes of data: base + index * scale + displacement, modulo 2^n, where n is the
    /// size of the result or that of addresses, whatever is smaller: the lowest bits of a sum are
    /// those of the sum of the lowest bits. `None` if no part is data.
    fn sum_of_bits(&mut self, world: &mut World, i: &Instruction) -> Result<Option<Word>, Fault> {
        use iced_x86::Register;
        let parts = [(i.memory_base(), 1), (i.memory_index(), i.memory_index_scale())];
        let parts: Vec<(Register, u32)> = parts
            .into_iter()
            .filter(|(register, _)| *register != Register::None && register.is_gpr())
            .collect();
        let words = parts.iter().map(|(r, _)| self.general(super::operands::number(*r)));
        if !words.clone().any(|word| matches!(word, Word::Bits(_))) {
            return Ok(None);
        }
        let cells = words.map(|word| word.cells(&world.bits)).collect::<Option<Vec<_>>>();
        let cells = cells.ok_or_else(|| unsupported("the sum of data and an address"))?;
        let bytes = parts.iter().map(|(register, _)| register.size()).min().unwrap_or(8);
        let size = 8 * bytes.min(self.size(i, 0)?);
        let mut sum = world.bits.number(i.memory_displacement64(), size);
        for (cells, (_, scale)) in cells.iter().zip(&parts) {
            let place = scale.trailing_zeros() as usize;
            let mut scaled = world.bits.number(0, size);
            scaled[place..].copy_from_slice(&cells[..size - place]);
            sum = world.bits.sum(&scaled, &sum, false).0;
        }
        Ok(Some(Word::from_cells(&world.bits, &sum)))
    }

    fn binary(
        &mut self,
        world: &mut World,
        i: &Instruction,
        operation: Binary,
        writes: bool,
    ) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let same = i.op0_kind() == OpKind::Register
            && i.op1_kind() == OpKind::Register
            && i.op0_register() == i.op1_register();
        let (a, b) = if same && matches!(operation, Binary::Xor | Binary::Subtract) {
            // Whatever the register holds.
            (Word::Number(0), Word::Number(0))
        } else {
            (self.word(world, i, 0, bytes)?, self.word(world, i, 1, bytes)?)
        };
        let (result, flags) = self.combined(world, operation, &a, &b, bytes)?;
        self.flags = flags;
        if writes { self.set_word(world, i, 0, result) } else { Ok(()) }
    }

    fn combined(
        &mut self,
        world: &mut World,
        operation: Binary,
        a: &Word,
        b: &Word,
        bytes: usize,
    ) -> Result<(Word, Flags), Fault> {
        if let Some(outcome) = self.counted(world, operation, [a, b], bytes) {
            return outcome;
        }
        match (a, b) {
            (&Word::Number(a), &Word::Number(b)) => Ok(numbers(operation, a, b, bytes)),
            (Word::Pointer(_), _) | (_, Word::Pointer(_)) => {
                pointers(world, operation, a, b).map(|(word, zero)| {
                    // Only whether it is zero can be known of a difference of addresses, or not.
                    (word, zero.unwrap_or(Flags::UNDEFINED))
                })
            }
            _ => {
                let cells = |word: &Word| word.cells(&world.bits).expect("no address");
                let (a, b) = (cells(a), cells(b));
                let (a, b) = (&a[..8 * bytes], &b[..8 * bytes]);
                let bits = &mut world.bits;
                let zero = bits.constant(false);
                let mut each = |f: fn(&mut crate::cell::Bits, Cell, Cell) -> Cell| {
                    a.iter().zip(b).map(|(&x, &y)| f(bits, x, y)).collect::<Vec<Cell>>()
                };
                let (out, carry) = match operation {
                    Binary::And => (each(|bits, x, y| bits.and(x, y)), zero),
                    Binary::Or => (each(|bits, x, y| bits.or(x, y)), zero),
                    Binary::Xor => (each(|bits, x, y| bits.xor(x, y)), zero),
                    Binary::Add => bits.sum(a, b, false),
                    Binary::Subtract => bits.difference(a, b),
                };
                let word = Word::from_cells(&world.bits, &out);
                let carry = flag_of(world, carry);
                Ok((word, self.flags_of_word(world, &out, carry, &[a, b])))
            }
        }
    }

    /// Flags of an operation on bits that are not all known.
    fn flags_of(&self, world: &World, a: &[Cell], b: &[Cell]) -> Flags {
        let secret = a.iter().chain(b).any(|&cell| world.bits.is_secret(cell));
        Flags::all(if secret { Flag::Secret } else { Flag::Undefined })
    }

    fn step_by_one(
        &mut self,
        world: &mut World,
        i: &Instruction,
        operation: Binary,
    ) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let word = self.word(world, i, 0, bytes)?;
        let (result, flags) = self.combined(world, operation, &word, &Word::Number(1), bytes)?;
        // The carry stays, unless the flags are now those of other counts.
        let carry = if flags.zero == Flag::Public { Flag::Undefined } else { self.flags.carry };
        self.flags = Flags { carry, ..flags };
        self.set_word(world, i, 0, result)
    }

    fn negate(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let word = self.word(world, i, 0, bytes)?;
        let zero = Word::Number(0);
        let (result, flags) = self.combined(world, Binary::Subtract, &zero, &word, bytes)?;
        self.flags = flags;
        self.set_word(world, i, 0, result)
    }

    fn complement(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let word = self.word(world, i, 0, bytes)?;
        if let Word::Count(form) = word {
            // -x - 1
            let word = counts::turned(world, form, bytes)?;
            return self.set_word(world, i, 0, word);
        }
        let cells =
            word.cells(&world.bits).ok_or_else(|| unsupported("the complement of an address"))?;
        let out: Vec<Cell> = cells[..8 * bytes].iter().map(|&bit| world.bits.not(bit)).collect();
        let word = Word::from_cells(&world.bits, &out);
        self.set_word(world, i, 0, word)
    }

    /// andn: a = ~b & c.
    fn and_not(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let (b, c) = (self.word(world, i, 1, bytes)?, self.word(world, i, 2, bytes)?);
        let (Some(b), Some(c)) = (b.cells(&world.bits), c.cells(&world.bits)) else {
            return Err(unsupported("a part of an address"));
        };
        let flags = self.flags_of(world, &b, &c);
        let both = b[..8 * bytes].iter().zip(&c);
        let out = both.map(|(&x, &y)| {
            let x = world.bits.not(x);
            world.bits.and(x, y)
        });
        let out: Vec<Cell> = out.collect();
        let word = Word::from_cells(&world.bits, &out);
        self.flags = match word {
            Word::Number(value) => {
                let (_, flags) = numbers(Binary::And, value, value, bytes);
                flags
            }
            _ => flags,
        };
        self.set_word(world, i, 0, word)
    }

    fn shift_word(
        &mut self,
        world: &mut World,
        i: &Instruction,
        shift: Shift,
        sets_flags: bool,
    ) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let (from, count) = if sets_flags { (0, 1) } else { (1, 2) };
        let count = self.count(world, i, count, bytes)?;
        let word = self.word(world, i, from, bytes)?;
        if let Word::Count(form) = word {
            let word = self.shifted_count(world, form, (shift, count), bytes)?;
            if sets_flags && count > 0 {
                self.flags = self.flags_of_count(world, &word, bytes);
            }
            return self.set_word(world, i, 0, word);
        }
        let Some(cells) = word.cells(&world.bits) else {
            return Err(unsupported("an address is shifted"));
        };
        let lane = 8 * bytes;
        let cells = &cells[..lane];
        let zero = world.bits.constant(false);
        let turn = count % lane;
        let bit = |p: usize| match shift {
            Shift::Left => p.checked_sub(count).map_or(zero, |from| cells[from]),
            Shift::Right => cells.get(p + count).copied().unwrap_or(zero),
            Shift::Arithmetic => cells[(p + count).min(lane - 1)],
            Shift::RotateLeft => cells[(p + lane - turn) % lane],
            Shift::RotateRight => cells[(p + turn) % lane],
        };
        let out: Vec<Cell> = (0..lane).map(bit).collect();
        if sets_flags && count > 0 {
            self.flags = self.flags_of_shift(world, &out, shift, cells, count);
        }
        let word = Word::from_cells(&world.bits, &out);
        self.set_word(world, i, 0, word)
    }

    /// Flags after a shift by a count that is not zero. Some are left undefined here that are
    /// defined, because nobody asks for them.
    fn flags_of_shift(
        &self,
        world: &World,
        out: &[Cell],
        shift: Shift,
        from: &[Cell],
        count: usize,
    ) -> Flags {
        let secret = self.flags_of(world, from, &[]);
        if matches!(shift, Shift::RotateLeft | Shift::RotateRight) {
            // Carry and overflow change, the others stay.
            let changed = if secret.carry == Flag::Secret { Flag::Secret } else { Flag::Undefined };
            return Flags { carry: changed, overflow: changed, ..self.flags };
        }
        let lane = out.len();
        let last = match shift {
            Shift::Left => lane.checked_sub(count).map(|at| from[at]),
            _ => from.get(count - 1).copied(),
        };
        let unknown = secret.carry;
        let carry = last.map_or(unknown, |cell| flag_of(world, cell));
        let Some(value) = world.bits.word(out) else { return Flags { carry, ..secret } };
        Flags {
            carry,
            zero: Flag::Is(value == 0),
            sign: Flag::Is(value >> (lane - 1) & 1 == 1),
            overflow: unknown,
        }
    }

    /// The count of a shift: the lowest five bits, or six for 64-bit words.
    fn count(
        &mut self,
        world: &mut World,
        i: &Instruction,
        operand: u32,
        bytes: usize,
    ) -> Result<usize, Fault> {
        let size = match i.op_kind(operand) {
            OpKind::Register => self.size(i, operand)?,
            OpKind::Memory => return Err(unsupported("the count is in memory")),
            _ => 8,
        };
        let word = self.word(world, i, operand, size)?;
        let used = if bytes == 8 { 6 } else { 5 };
        let cells =
            word.cells(&world.bits).ok_or_else(|| unsupported("the count is an address"))?;
        match world.bits.word(&cells[..used]) {
            Some(count) => Ok(count as usize),
            None if cells[..used].iter().any(|&cell| world.bits.is_secret(cell)) => {
                Err(Fault::new(Rule::SecretShift, "the count depends on an input"))
            }
            None => Err(unsupported("the count is what nobody has written")),
        }
    }

    /// shld, shrd: bits of a second register enter.
    fn double_shift_word(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let count = self.count(world, i, 2, bytes)?;
        let lane = 8 * bytes;
        if count > lane {
            return Err(unsupported("the result is undefined"));
        }
        let (a, b) = (self.word(world, i, 0, bytes)?, self.word(world, i, 1, bytes)?);
        let (Some(a), Some(b)) = (a.cells(&world.bits), b.cells(&world.bits)) else {
            return Err(unsupported("an address is shifted"));
        };
        let left = i.mnemonic() == Mnemonic::Shld;
        let (low, high) = if left { (b, a) } else { (a, b) };
        let both: Vec<Cell> = low[..lane].iter().chain(&high[..lane]).copied().collect();
        let first = if left { lane - count } else { count };
        if count > 0 {
            self.flags = self.flags_of(world, &a[..lane], &b[..lane]);
        }
        let word = Word::from_cells(&world.bits, &both[first..first + lane]);
        self.set_word(world, i, 0, word)
    }

    /// imul with two or three operands: the lower half of the product. Its time does not depend on
    /// its operands on any processor that has AVX, and it is on Intel's list of such instructions.
    fn multiply(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let first = if i.op_count() == 3 { 1 } else { 0 };
        let (a, b) = (self.word(world, i, first, bytes)?, self.word(world, i, first + 1, bytes)?);
        if let (&Word::Count(form), &Word::Number(factor))
        | (&Word::Number(factor), &Word::Count(form)) = (&a, &b)
        {
            self.flags = Flags::UNDEFINED;
            let word = counts::multiplied(world, form, factor, bytes)?;
            return self.set_word(world, i, 0, word);
        }
        let (Some(a), Some(b)) = (a.cells(&world.bits), b.cells(&world.bits)) else {
            return Err(unsupported("an address is multiplied"));
        };
        let (a, b) = (&a[..8 * bytes], &b[..8 * bytes]);
        self.flags = self.flags_of(world, a, b);
        let out = match (world.bits.word(a), world.bits.word(b)) {
            (Some(a), Some(b)) => world.bits.number(a.wrapping_mul(b), 8 * bytes),
            // The known factor says which terms there are.
            (Some(_), None) => world.bits.product(b, a),
            _ => world.bits.product(a, b),
        };
        let word = Word::from_cells(&world.bits, &out);
        self.set_word(world, i, 0, word)
    }

    fn swap_bytes(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        if bytes < 4 {
            return Err(unsupported("the result is undefined"));
        }
        let word = self.word(world, i, 0, bytes)?;
        let cells = word.cells(&world.bits).ok_or_else(|| unsupported("a part of an address"))?;
        let out: Vec<Cell> = cells[..8 * bytes].chunks(8).rev().flatten().copied().collect();
        let word = Word::from_cells(&world.bits, &out);
        self.set_word(world, i, 0, word)
    }

    /// bt, btr, bts, btc: the carry is a bit of a word, which is then cleared, set or complemented.
    fn one_bit(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        let place = match i.op1_kind() {
            OpKind::Immediate8 => i.immediate8() as usize,
            // In memory a register counts bits from the address on, beyond the word.
            OpKind::Register if i.op0_kind() == OpKind::Register => {
                self.count(world, i, 1, bytes)?
            }
            _ => return Err(unsupported("the place of the bit in memory is no constant")),
        };
        let word = self.word(world, i, 0, bytes)?;
        let cells = word.cells(&world.bits).ok_or_else(|| unsupported("a part of an address"))?;
        let mut out = cells[..8 * bytes].to_vec();
        let place = place % out.len();
        let carry = flag_of(world, out[place]);
        // All but the carry and the zero flag are undefined then, and may be what they were.
        let secret = self.flags_of(world, &out, &[]).carry == Flag::Secret;
        let stale = |flag: Flag| match flag {
            Flag::Secret | Flag::Bit(_) => Flag::Secret,
            _ if secret => Flag::Secret,
            _ => Flag::Undefined,
        };
        let Flags { zero, sign, overflow, .. } = self.flags;
        self.flags = Flags { carry, zero, sign: stale(sign), overflow: stale(overflow) };
        out[place] = match i.mnemonic() {
            Mnemonic::Btr => world.bits.constant(false),
            Mnemonic::Bts => world.bits.constant(true),
            Mnemonic::Btc => world.bits.not(out[place]),
            _ => return Ok(()),
        };
        let word = Word::from_cells(&world.bits, &out);
        self.set_word(world, i, 0, word)
    }

    fn sign_extend(&mut self, world: &mut World, from: usize, to: usize) -> Result<(), Fault> {
        let word = sign_extended(world, self.general(0), from, to)?;
        self.set_general(0, word);
        Ok(())
    }

    fn exchange(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        if i.op0_kind() != OpKind::Register || i.op1_kind() != OpKind::Register {
            return Err(unsupported("an exchange with memory"));
        }
        let bytes = self.size(i, 0)?;
        let (a, b) = (self.word(world, i, 0, bytes)?, self.word(world, i, 1, bytes)?);
        self.set_word(world, i, 0, b)?;
        self.set_word(world, i, 1, a)
    }

    /// Division: never done here, but refused for the right reason.
    fn varying(&mut self, world: &mut World, i: &Instruction) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        for word in
            [self.word(world, i, 0, bytes)?, self.general(0).clone(), self.general(2).clone()]
        {
            let cells = word.cells(&world.bits);
            if cells.is_some_and(|cells| cells.iter().any(|&cell| world.bits.is_secret(cell))) {
                let what = "the time of the instruction depends on an input";
                return Err(Fault::new(Rule::SecretOperand, what));
            }
        }
        Err(unsupported("the instruction is not modelled"))
    }

    /// cmov and set of a condition that is known, or is a bit: their time depends on neither.
    fn conditional(&mut self, world: &mut World, i: &Instruction) -> Outcome {
        if !CONDITIONAL.contains(&i.mnemonic()) {
            return None;
        }
        // `control` has taken the jumps.
        let condition = match self.decided(world, i.condition_code()) {
            Ok(Flag::Is(is)) => Some(world.bits.constant(is)),
            Ok(Flag::Secret | Flag::Bit(_)) => self.condition_bit(world, i.condition_code()),
            Ok(Flag::Public | Flag::Undefined) => None,
            Err(fault) => return Some(Err(fault)),
        };
        let Some(condition) = condition else {
            return Some(Err(unsupported("the condition is not known, and no branch")));
        };
        Some(match i.op_count() {
            1 => {
                let word = Word::from_cells(&world.bits, &[condition]);
                self.set_word(world, i, 0, word)
            }
            _ => self.chosen(world, i, condition),
        })
    }

    /// The second operand where a bit is set, else the first.
    fn chosen(&mut self, world: &mut World, i: &Instruction, bit: Cell) -> Result<(), Fault> {
        let bytes = self.size(i, 0)?;
        if let Some(is) = world.bits.value(bit) {
            let word = self.word(world, i, if is { 1 } else { 0 }, bytes)?;
            return self.set_word(world, i, 0, word);
        }
        let (a, b) = (self.word(world, i, 0, bytes)?, self.word(world, i, 1, bytes)?);
        let (Some(a), Some(b)) = (a.cells(&world.bits), b.cells(&world.bits)) else {
            return Err(unsupported("a choice of addresses that depends on an input"));
        };
        // The table of `bit ? b : a`.
        let choose = |(&a, &b)| world.bits.function(0xca, [bit, b, a]);
        let out: Vec<Cell> = a[..8 * bytes].iter().zip(&b).map(choose).collect();
        let word = Word::from_cells(&world.bits, &out);
        self.set_word(world, i, 0, word)
    }
}

/// The lowest `from` bytes of a word extended by copies of their top bit to `to` bytes.
fn sign_extended(world: &World, word: &Word, from: usize, to: usize) -> Result<Word, Fault> {
    if let Word::Count(form) = word
        && counts::is_within(world, *form, 8 * from as u32 - 1)
    {
        return Ok(word.clone());
    }
    let Some(mut cells) = word.cells(&world.bits) else {
        return Err(unsupported("a part of an address"));
    };
    let top = cells[8 * from - 1];
    cells[8 * from..8 * to].fill(top);
    Ok(Word::from_cells(&world.bits, &cells[..8 * to]))
}

/// An operation on numbers of `bytes` bytes, with its flags.
fn numbers(operation: Binary, a: u64, b: u64, bytes: usize) -> (Word, Flags) {
    let lane = 8 * bytes as u32;
    let ones = u64::MAX >> (64 - lane);
    let (a, b) = (a & ones, b & ones);
    let value = ones
        & match operation {
            Binary::Add => a.wrapping_add(b),
            Binary::Subtract => a.wrapping_sub(b),
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
        };
    let sign = |x: u64| x >> (lane - 1) & 1 == 1;
    let (carry, overflow) = match operation {
        Binary::Add => (value < a, sign(a) == sign(b) && sign(value) != sign(a)),
        Binary::Subtract => (a < b, sign(a) != sign(b) && sign(value) != sign(a)),
        _ => (false, false),
    };
    let flags = Flags {
        carry: Flag::Is(carry),
        zero: Flag::Is(value == 0),
        sign: Flag::Is(sign(value)),
        overflow: Flag::Is(overflow),
    };
    (Word::Number(value), flags)
}

/// An operation with an address: moves by numbers, differences in one region, rounding down of the
/// stack pointer.
fn pointers(
    world: &mut World,
    operation: Binary,
    a: &Word,
    b: &Word,
) -> Result<(Word, Option<Flags>), Fault> {
    let moved = |at: &Pointer, by: u64| Ok((Word::Pointer(at.plus(by as i64)), None));
    match (operation, a, b) {
        (Binary::Add, Word::Pointer(at), Word::Number(by))
        | (Binary::Add, Word::Number(by), Word::Pointer(at)) => moved(at, *by),
        (Binary::Subtract, Word::Pointer(at), Word::Number(by)) => moved(at, by.wrapping_neg()),
        (Binary::Subtract, Word::Pointer(a), Word::Pointer(b)) if a.region == b.region => {
            let difference = a.offset.wrapping_sub(b.offset);
            let zero = Flag::Is(difference == 0);
            // Before its region an address may be that of the end of memory; after it, it is not.
            let ordered = a.offset >= 0 && b.offset >= 0;
            let carry = if ordered { Flag::Is(a.offset < b.offset) } else { Flag::Undefined };
            let flags = Flags { zero, carry, ..Flags::UNDEFINED };
            Ok((Word::Number(difference as u64), Some(flags)))
        }
        (Binary::And, Word::Pointer(at), &Word::Number(mask)) => {
            let align = mask.wrapping_neg();
            let rounded = align.is_power_of_two().then(|| world.memory.rounded_down(*at, align));
            match rounded.flatten() {
                Some(rounded) => Ok((Word::Pointer(rounded), None)),
                None => Err(unsupported("bits of an address are not known")),
            }
        }
        _ => Err(unsupported("this arithmetic of an address is not modelled")),
    }
}
