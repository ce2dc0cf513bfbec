//! General-purpose arithmetic.
//!
//! ```text
//! add a, b       a = a + b mod 2^n, and flags
//! rorx a, b, k   a = b rotated, no flags
//! lea a, [b + 4c + d]
//! ```
//!
//! Numbers are computed, with their flags, so that loops can be counted; bits are nodes; addresses
//! move by numbers. Flags of data depend on inputs as the data does, and only branches on them are
//! refused. Flags that an instruction leaves undefined are undefined.

use iced_x86::{Code, Mnemonic, OpKind};

use super::control::condition_of;
use super::lanes::Gate;
use super::operands::number;
use super::{Done, Run, unsupported};
use crate::address::Address;
use crate::elf::Object;
use crate::flags::{Flag, Flags};
use crate::word::{Binary, Word, lowest, numbers};
use crate::{Fault, Rule};
use usuba_bits::cell::Cell;
use usuba_bits::lane_arithmetic::{CHOICE, Shift, andn, double_shifted, shifted};
use usuba_ranges::Form;

impl Run<'_, '_> {
    /// mov, movzx, movsx.
    pub fn copy(&mut self, signed: bool) -> Done {
        if self.i.op0_kind() == OpKind::Register && !self.i.op0_register().is_gpr() {
            return Err(unsupported("the register is not modelled"));
        }
        if self.i.code() == Code::Movsxd_r16_rm16 {
            return Err(unsupported("some processors read four bytes, and others two"));
        }
        // An immediate is as long as the first operand.
        let sized = matches!(self.i.op1_kind(), OpKind::Register | OpKind::Memory) as u32;
        let (to, bytes) = (self.size(0)?, self.size(sized)?);
        if signed && let Some(distance) = self.distance(bytes, to)? {
            return self.set_word(0, distance);
        }
        let word = self.word(1, bytes)?;
        if self.linked.immediate.is_some() && !self.is_memory(0) {
            self.x86.general[number(self.i.op0_register())] = word;
            return Ok(());
        }
        let word = if signed { self.world.sign_extended(&word, bytes, to)? } else { word };
        self.set_word(0, word)
    }

    /// A distance of 32 bits between sections, extended to 64 bits.
    fn distance(&self, from: usize, to: usize) -> Result<Option<Word>, Fault> {
        if !self.is_memory(1) || (from, to) != (4, 8) {
            return Ok(None);
        }
        let Address::Pointer(at) = self.address()? else { return Ok(None) };
        let target = Object::place(at).and_then(|place| self.world.object.distance(place));
        Ok(target.map(|target| Word::Distance(Object::pointer(target), at)))
    }

    pub fn lea(&mut self) -> Done {
        if let Some(cells) = self.sum_of_bits()? {
            return self.set_bits(0, &cells);
        }
        if let Some(sum) = self.sum_of_lowest()? {
            return self.set_word(0, sum);
        }
        let address = self.address()?;
        self.set_word(0, address.into())
    }

    /// The value of `lea` on numbers of which one has only its lowest bytes, where no more are
    /// needed; `None` of others.
    fn sum_of_lowest(&self) -> Result<Option<Word>, Fault> {
        let is_low = |word: &Word| matches!(word, Word::Low(..));
        let (None, displacement) = self.displacement() else { return Ok(None) };
        if !self.parts().any(|(register, _)| is_low(self.held(register))) {
            return Ok(None);
        }
        let sizes = self.parts().map(|(register, _)| register.size());
        let bytes = sizes.fold(self.size(0)?, usize::min);
        let mut sum = Some(Form::number(displacement));
        for (register, scale) in self.parts() {
            let Some(form) = lowest(self.held(register), bytes) else { return Ok(None) };
            sum = form.times(scale as i64).and_then(|form| sum?.plus(form));
        }
        self.world.count_word(sum, bytes).map(Some)
    }

    /// The value of `lea` on data: base + index * scale + displacement, modulo 2^n, where n is the
    /// size of the result or of addresses, the smaller one: the lowest bits of a sum depend only on
    /// the lowest bits of its terms. `None` if no part is data.
    fn sum_of_bits(&mut self) -> Result<Option<Vec<Cell>>, Fault> {
        let parts: Vec<_> = self.parts().filter(|(register, _)| register.is_gpr()).collect();
        if !parts.iter().any(|(register, _)| matches!(self.held(*register), Word::Bits(_))) {
            return Ok(None);
        }
        let bytes = parts.iter().map(|(register, _)| register.size()).min().unwrap_or(8);
        let size = 8 * bytes.min(self.size(0)?);
        let (None, displacement) = self.displacement() else {
            return Err(unsupported("the sum of data and an address"));
        };
        let mut sum = self.world.bits.number(displacement as u64, size);
        for (register, scale) in parts {
            let cells = self.world.data(self.held(register), "the sum of data and an address")?;
            let scaled = shifted(&cells[..size], self.zero(), Shift::Left, scale.ilog2() as u64);
            sum = self.world.bits.sum(&scaled, &sum, false).0;
        }
        Ok(Some(sum))
    }

    /// Names the only bit of a tested register that is not known: a join of paths leaves the bit of a
    /// status without its name.
    fn name_tested(&mut self) {
        let register = self.i.op0_register();
        if register.is_gpr()
            && self.world.forks.follows
            && let Word::Bits(cells) = &mut self.x86.general[number(register)]
        {
            self.world.bits.name_single(&mut cells[..]);
        }
    }

    /// Makes a public word in a register that is compared with a number a number of its own.
    pub fn number_operands(&mut self, bytes: usize) -> Result<(), Fault> {
        for (operand, other) in [(0, 1), (1, 0)] {
            let register = self.i.op_register(operand);
            if !self.world.forks.follows || register.size() < 4 || !register.is_gpr() {
                continue;
            }
            if !matches!(self.held(register), Word::Bits(_)) {
                continue;
            }
            let other = self.word(other, bytes)?;
            let word = self.held(register).clone();
            if let Some(form) = self.world.numbered(&word, &other, bytes) {
                self.x86.general[number(register)] = Word::Count(form);
            }
        }
        Ok(())
    }

    /// Arithmetic of two operands, whose result is written or not.
    pub fn binary(&mut self, operation: Binary, writes: bool) -> Done {
        let bytes = self.size(0)?;
        if !writes {
            self.name_tested();
        }
        if operation == Binary::Subtract {
            self.number_operands(bytes)?;
        }
        let (a, b) = match operation {
            // The value of the register does not matter.
            Binary::Xor | Binary::Subtract if self.are_same(0, 1) => {
                (Word::Number(0), Word::Number(0))
            }
            _ => (self.word(0, bytes)?, self.word(1, bytes)?),
        };
        let (result, flags) = self.combined(operation, &a, &b, bytes)?;
        self.x86.flags = flags;
        if writes { self.set_word(0, result) } else { Ok(()) }
    }

    pub fn combined(
        &mut self,
        operation: Binary,
        a: &Word,
        b: &Word,
        bytes: usize,
    ) -> Result<(Word, Flags), Fault> {
        if let Some(outcome) = self.world.public(operation, [a, b], bytes) {
            return outcome;
        }
        let [a, b] = [a, b].map(|word| self.world.data(word, "a part of an address"));
        let (a, b) = (&a?[..8 * bytes], &b?[..8 * bytes]);
        let bits = &mut self.world.bits;
        let zero = bits.constant(false);
        let mut each = |gate: Gate| -> Vec<Cell> {
            a.iter().zip(b).map(|(&x, &y)| gate(bits, x, y)).collect()
        };
        let (out, carry) = match operation {
            Binary::And => (each(|bits, x, y| bits.and(x, y)), zero),
            Binary::Or => (each(|bits, x, y| bits.or(x, y)), zero),
            Binary::Xor => (each(|bits, x, y| bits.xor(x, y)), zero),
            Binary::Add => bits.sum(a, b, false),
            Binary::Subtract => bits.difference(a, b),
        };
        let flags = self.flags_of_word(&out, carry, &[a, b]);
        if operation == Binary::Subtract && self.world.bits.has_integers() {
            self.x86.subtracted = Some(Box::new((flags, [a.to_vec(), b.to_vec()])));
        }
        Ok((Word::from_cells(&self.world.bits, &out), flags))
    }

    /// The flag of data when no later instruction needs its value: it depends on inputs if the data
    /// does.
    pub fn unknown_flag(&self, data: &[&[Cell]]) -> Flag {
        match data.iter().any(|cells| self.world.is_secret(cells)) {
            true => Flag::Secret,
            false => Flag::Undefined,
        }
    }

    /// inc, dec.
    pub fn step_by_one(&mut self, operation: Binary) -> Done {
        let bytes = self.size(0)?;
        let word = self.word(0, bytes)?;
        let (result, flags) = self.combined(operation, &word, &Word::Number(1), bytes)?;
        // The carry stays. Beside flags of counts only its secrecy matters: it may be a flag of other
        // counts, or known in some turns of a loop.
        let before = self.x86.flags;
        self.x86.flags = match flags.compared {
            Some(_) if !before.carry.is_secret() => Flags { carry: Flag::Undefined, ..flags },
            Some(_) => Flags { carry: before.carry, ..flags },
            None => Flags { carry: before.carry, compared: before.compared, ..flags },
        };
        self.set_word(0, result)
    }

    pub fn negate(&mut self) -> Done {
        let bytes = self.size(0)?;
        let word = self.word(0, bytes)?;
        let (result, flags) = self.combined(Binary::Subtract, &Word::Number(0), &word, bytes)?;
        self.x86.flags = flags;
        self.set_word(0, result)
    }

    pub fn complement(&mut self) -> Done {
        let bytes = self.size(0)?;
        let word = self.word(0, bytes)?;
        if let Word::Count(form) = word {
            let word = self.world.turned(form, bytes)?;
            return self.set_word(0, word);
        }
        let cells = self.world.data(&word, "the complement of an address")?;
        let out = cells[..8 * bytes].iter().map(|&bit| self.world.bits.not(bit));
        let out: Vec<Cell> = out.collect();
        self.set_bits(0, &out)
    }

    /// andn: a = ~b & c.
    pub fn and_not(&mut self) -> Done {
        let bytes = self.size(0)?;
        let [b, c] = [1, 2].map(|operand| self.word_bits(operand, bytes, "a part of an address"));
        let (b, c) = (b?, c?);
        let bits = &mut self.world.bits;
        let out: Vec<Cell> = b.iter().zip(&c).map(|(&b, &c)| andn(bits, b, c)).collect();
        self.x86.flags = match bits.word(&out) {
            Some(value) => numbers(Binary::And, value, value, bytes).1,
            None => Flags::all(self.unknown_flag(&[&b, &c])),
        };
        self.set_bits(0, &out)
    }

    /// Shifts of the first operand, which set flags, and shifts of BMI2 into it, which do not.
    pub fn shift_word(&mut self, shift: Shift) -> Done {
        let bytes = self.size(0)?;
        let from = self.i.op_count() - 2;
        let count = self.count_bits(from + 1, bytes)?;
        if self.is_unknown(&count) {
            return self.shift_by_unknown(from, bytes);
        }
        let count = self.known(&count, "the count")? as usize;
        let word = self.word(from, bytes)?;
        let sets_flags = from == 0 && count > 0;
        if let Word::Count(form) = word {
            let word = self.world.shifted_count(form, (shift, count), bytes)?;
            if sets_flags {
                self.x86.flags = self.world.flags_of_count(&word, bytes);
            }
            return self.set_word(0, word);
        }
        let cells = &self.world.data(&word, "an address is shifted")?[..8 * bytes];
        let out = shifted(cells, self.zero(), shift, count as u64);
        if sets_flags {
            self.x86.flags = self.flags_of_shift(&out, shift, cells, count);
        }
        self.set_bits(0, &out)
    }

    /// Whether a count is public, and may be any number, where results need not be known.
    pub fn is_unknown(&self, count: &[Cell]) -> bool {
        let is_open = |&cell: &Cell| self.world.bits.value(cell).is_none();
        let mut open = count.iter().filter(|cell| is_open(cell)).peekable();
        self.world.forks.follows && open.peek().is_some() && open.all(|&cell| cell == Cell::UNSET)
    }

    /// A shift by a public count that is not known, which may be zero: then flags stay.
    fn shift_by_unknown(&mut self, from: u32, bytes: usize) -> Done {
        let cells = self.word_bits(from, bytes, "an address is shifted")?;
        let is_secret = self.world.is_secret(&cells);
        if from == 0 {
            let before = &self.x86.flags;
            let kept = [before.carry, before.zero, before.sign, before.overflow];
            let is_secret = is_secret || kept.iter().any(|flag| flag.is_secret());
            self.x86.flags = Flags::all(if is_secret { Flag::Secret } else { Flag::Undefined });
        }
        self.set_bits(0, &vec![if is_secret { Cell::OPAQUE } else { Cell::UNSET }; 8 * bytes])
    }

    /// Flags after a shift by a count that is not zero. The model leaves some defined flags
    /// undefined, because compilers do not use them.
    fn flags_of_shift(&self, out: &[Cell], shift: Shift, from: &[Cell], count: usize) -> Flags {
        let unknown = self.unknown_flag(&[from]);
        if matches!(shift, Shift::RotateLeft | Shift::RotateRight) {
            // Carry and overflow change, the others stay.
            return Flags { carry: unknown, overflow: unknown, ..self.x86.flags };
        }
        let last = match shift {
            Shift::Left => out.len().checked_sub(count).map(|at| from[at]),
            _ => from.get(count - 1).copied(),
        };
        let carry = last.map_or(unknown, |cell| self.flag_of(cell));
        match self.world.bits.word(out) {
            None => Flags { carry, ..Flags::all(unknown) },
            Some(value) => Flags {
                carry,
                zero: Flag::Is(value == 0),
                sign: Flag::Is(value >> (out.len() - 1) & 1 == 1),
                overflow: unknown,
                compared: None,
            },
        }
    }

    /// The count of a shift: the lowest five bits, or six for 64-bit words.
    fn count_bits(&mut self, operand: u32, bytes: usize) -> Result<Vec<Cell>, Fault> {
        let size = match self.i.op_kind(operand) {
            OpKind::Register => self.size(operand)?,
            OpKind::Memory => return Err(unsupported("the count is in memory")),
            _ => 8,
        };
        let word = self.word(operand, size)?;
        let cells = self.world.data(&word, "the count is an address")?;
        let used = if bytes == 8 { 6 } else { 5 };
        Ok(cells[..used].to_vec())
    }

    /// The same number, which must be known.
    fn count(&mut self, operand: u32, bytes: usize) -> Result<usize, Fault> {
        let cells = self.count_bits(operand, bytes)?;
        Ok(self.known(&cells, "the count")? as usize)
    }

    /// shld, shrd: bits of a second register enter.
    pub fn double_shift_word(&mut self, left: bool) -> Done {
        let bytes = self.size(0)?;
        let count = self.count(2, bytes)?;
        if count > 8 * bytes {
            return Err(unsupported("the result is undefined"));
        }
        let [a, b] = [0, 1].map(|operand| self.word_bits(operand, bytes, "an address is shifted"));
        let (a, b) = (a?, b?);
        if count > 0 {
            self.x86.flags = Flags::all(self.unknown_flag(&[&a, &b]));
        }
        self.set_bits(0, &double_shifted(&a, &b, left, count))
    }

    /// imul with two or three operands: the lower half of the product. Its time does not depend on
    /// its operands on any processor that has AVX, and it is on Intel's list of such instructions.
    pub fn multiply(&mut self) -> Done {
        if self.i.op_count() == 1 {
            return Err(unsupported("a whole product of signed numbers"));
        }
        let bytes = self.size(0)?;
        let first = self.i.op_count() - 2;
        let (a, b) = (self.word(first, bytes)?, self.word(first + 1, bytes)?);
        if let (&Word::Count(form), &Word::Number(factor))
        | (&Word::Number(factor), &Word::Count(form)) = (&a, &b)
        {
            self.x86.flags = Flags::UNDEFINED;
            let word = self.world.multiplied(form, factor, bytes)?;
            return self.set_word(0, word);
        }
        let [a, b] = [a, b].map(|word| self.world.data(&word, "an address is multiplied"));
        let (a, b) = (&a?[..8 * bytes], &b?[..8 * bytes]);
        self.x86.flags = Flags::all(self.unknown_flag(&[a, b]));
        let bits = &mut self.world.bits;
        let out = match (bits.word(a), bits.word(b)) {
            (Some(a), Some(b)) => bits.number(a.wrapping_mul(b), 8 * bytes),
            // The constant factor selects the terms.
            (Some(_), None) => bits.product(b, a),
            _ => bits.product(a, b),
        };
        self.set_bits(0, &out)
    }

    pub fn swap_bytes(&mut self) -> Done {
        let bytes = self.size(0)?;
        if bytes < 4 {
            return Err(unsupported("the result is undefined"));
        }
        let cells = self.word_bits(0, bytes, "a part of an address")?;
        let out: Vec<Cell> = cells.chunks(8).rev().flatten().copied().collect();
        self.set_bits(0, &out)
    }

    /// bt, btr, bts, btc: the carry is a bit of a word, which is then cleared, set or complemented.
    pub fn one_bit(&mut self) -> Done {
        let bytes = self.size(0)?;
        let place = match self.i.op1_kind() {
            OpKind::Immediate8 => self.i.immediate8() as usize,
            // In memory a register counts bits from the address on, beyond the word.
            OpKind::Register if self.i.op0_kind() == OpKind::Register => self.count(1, bytes)?,
            _ => return Err(unsupported("the place of the bit in memory is no constant")),
        };
        let mut out = self.word_bits(0, bytes, "a part of an address")?;
        let place = place % out.len();
        let carry = self.flag_of(out[place]);
        // All but the carry and the zero flag are undefined then, and may keep their old values.
        let unknown = self.unknown_flag(&[&out]);
        let stale = |flag: Flag| if flag.is_secret() { Flag::Secret } else { unknown };
        let before = self.x86.flags;
        let (sign, overflow) = (stale(before.sign), stale(before.overflow));
        self.x86.flags = Flags { carry, sign, overflow, ..before };
        out[place] = match self.i.mnemonic() {
            Mnemonic::Btr => self.world.bits.constant(false),
            Mnemonic::Bts => self.world.bits.constant(true),
            Mnemonic::Btc => self.world.bits.not(out[place]),
            _ => return Ok(()),
        };
        self.set_bits(0, &out)
    }

    /// cdqe, cwde.
    pub fn extend_rax(&mut self, to: usize) -> Done {
        let word = self.world.sign_extended(&self.x86.general[0], to / 2, to)?;
        self.x86.general[0] = word;
        Ok(())
    }

    /// cqo, cdq: all bits of rdx, or of edx, are the sign of rax, or of eax.
    pub fn sign_of_rax(&mut self, bytes: usize) -> Done {
        let word = self.world.truncated(self.x86.general[0].clone(), bytes);
        let is_positive = |form| self.world.is_within(form, 8 * bytes as u32 - 1);
        let sign = match word {
            Word::Count(form) if is_positive(form) => self.zero(),
            word => self.world.data(&word, "the sign of an address")?[8 * bytes - 1],
        };
        let mut cells = [self.zero(); 64];
        cells[..8 * bytes].fill(sign);
        self.x86.general[2] = Word::from_cells(&self.world.bits, &cells);
        Ok(())
    }

    pub fn exchange(&mut self) -> Done {
        if (0..2).any(|operand| self.i.op_kind(operand) != OpKind::Register) {
            return Err(unsupported("an exchange with memory"));
        }
        let bytes = self.size(0)?;
        let (a, b) = (self.word(0, bytes)?, self.word(1, bytes)?);
        self.set_word(0, b)?;
        self.set_word(1, a)
    }

    /// Checks that the operands of a division, whose time depends on them, do not depend on inputs.
    pub fn check_public(&mut self) -> Done {
        let bytes = self.size(0)?;
        let operand = self.word(0, bytes)?;
        for word in [&operand, &self.x86.general[0], &self.x86.general[2]] {
            if matches!(word, Word::Bits(cells) if self.world.is_secret(&cells[..])) {
                let what = "the time of the instruction depends on an input";
                return Err(Fault::new(Rule::SecretOperand, what));
            }
        }
        Ok(())
    }

    /// The condition of the instruction as a bit, if it is known or depends on data.
    fn condition(&mut self) -> Result<Cell, Fault> {
        let code = self.i.condition_code();
        let bit = match self.decided(code)? {
            Flag::Is(is) => Some(self.world.bits.constant(is)),
            Flag::Secret | Flag::Bit(_) | Flag::Zero(_) => self.condition_bit(code),
            Flag::Public | Flag::Undefined if self.world.forks.follows => {
                let outcome = self.world.forked(false, None)?;
                if let Some((condition, negated)) = condition_of(code) {
                    self.x86.flags.tell(condition, outcome != negated);
                }
                Some(self.world.bits.constant(outcome))
            }
            Flag::Public | Flag::Undefined => None,
        };
        bit.ok_or_else(|| unsupported("the condition is not known, and no branch"))
    }

    /// set of a condition, whose time does not depend on it.
    pub fn set_by_condition(&mut self) -> Done {
        let condition = self.condition()?;
        self.set_bits(0, &[condition])
    }

    /// cmov, whose time does not depend on the condition either. It loads an operand in memory under
    /// any condition.
    pub fn move_by_condition(&mut self) -> Done {
        let bytes = self.size(0)?;
        let (a, b) = (self.word(0, bytes)?, self.word(1, bytes)?);
        let is_bits = [&a, &b].iter().any(|word| matches!(word, Word::Bits(_)));
        let condition = match self.condition() {
            // A choice of bits that are not known need not be known either.
            Err(_) if is_bits && self.world.asks_public() => Cell::UNSET,
            condition => condition?,
        };
        if let Some(is) = self.world.bits.value(condition) {
            return self.set_word(0, if is { b } else { a });
        }
        let otherwise = "a choice of addresses that depends on an input";
        let [a, b] = [a, b].map(|word| self.world.data(&word, otherwise));
        let (a, b) = (&a?[..8 * bytes], &b?[..8 * bytes]);
        let bits = &mut self.world.bits;
        let choose = |(&a, &b)| bits.function(CHOICE, [condition, b, a]);
        let out: Vec<Cell> = a.iter().zip(b).map(choose).collect();
        self.set_bits(0, &out)
    }
}
