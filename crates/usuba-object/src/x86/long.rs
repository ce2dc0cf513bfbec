//! Multi-precision arithmetic: whole products, sums with a carry, and flags as bits.
//!
//! ```text
//! mulx rdx, rax, rcx     rdx:rax = rdx * rcx
//! add  r8, rax           the carry is bit 64 of the sum
//! adc  r9, rdx           and goes in here
//! setb al                or here
//! cmovb rax, rcx         or chooses here, in constant time
//! ```

use iced_x86::{ConditionCode, Register};

use super::control::condition_of;
use super::{Done, Run, unsupported};
use crate::Fault;
use crate::flags::{Condition, Flag, Flags};
use crate::word::{Binary, Word};
use usuba_bits::cell::Cell;

/// rax and rdx, as instructions encode them.
const RAX: usize = 0;
const RDX: usize = 2;

/// Why a word has no bits.
const ADDRESS: &str = "an address in long arithmetic";

impl Run<'_, '_> {
    /// The lower and the upper half of an operand times a register.
    fn halves(
        &mut self,
        operand: u32,
        register: usize,
        bytes: usize,
    ) -> Result<(Vec<Cell>, Vec<Cell>), Fault> {
        let a = self.word_bits(operand, bytes, ADDRESS)?;
        let b = self.world.data(&self.x86.general[register], ADDRESS)?;
        let mut low = self.world.bits.whole_product(&a, &b[..8 * bytes]);
        let high = low.split_off(8 * bytes);
        Ok((low, high))
    }

    /// mul: rdx:rax = rax * a.
    pub fn whole_product(&mut self) -> Done {
        let bytes = self.size(0)?;
        if bytes < 4 {
            return Err(unsupported("a product of short words"));
        }
        let factors =
            [self.word(0, bytes)?, self.world.truncated(self.x86.general[RAX].clone(), bytes)];
        if let [Word::Count(form), Word::Number(factor)] | [Word::Number(factor), Word::Count(form)] =
            factors
            && let Word::Count(product) = self.world.multiplied(form, factor, bytes)?
            && self.world.is_within(product, 8 * bytes as u32)
        {
            self.x86.flags =
                Flags { carry: Flag::Is(false), overflow: Flag::Is(false), ..Flags::UNDEFINED };
            self.x86.general[RAX] = Word::Count(product);
            self.x86.general[RDX] = Word::Number(0);
            return Ok(());
        }
        let (low, high) = self.halves(0, RAX, bytes)?;
        // Carry and overflow say whether the upper half is zero; of data the model leaves them
        // unknown.
        let carry = match self.world.bits.word(&high) {
            Some(high) => Flag::Is(high != 0),
            None => self.unknown_flag(&[&low, &high]),
        };
        self.x86.flags = Flags { carry, overflow: carry, ..Flags::UNDEFINED };
        self.x86.general[RAX] = Word::from_cells(&self.world.bits, &low);
        self.x86.general[RDX] = Word::from_cells(&self.world.bits, &high);
        Ok(())
    }

    /// div, idiv: rax and rdx become quotient and remainder of rdx:rax, which must be known, or a
    /// count that is divided by a number.
    pub fn divide(&mut self, signed: bool) -> Done {
        let bytes = self.size(0)?;
        let (quotient, rest) = match bytes {
            2 => (Register::AX, Register::DX),
            4 => (Register::EAX, Register::EDX),
            8 => (Register::RAX, Register::RDX),
            _ => return Err(unsupported("a division of short words")),
        };
        let by = self.word(0, bytes)?;
        let part = |number: usize| self.world.truncated(self.x86.general[number].clone(), bytes);
        let bits = 8 * bytes as u32 - signed as u32;
        let divided = match (part(RDX), part(RAX), by) {
            (Word::Number(high), Word::Number(low), Word::Number(by)) => {
                let divided = match signed {
                    true => signed_division(high, low, by, bytes),
                    false => unsigned_division(high, low, by, bytes),
                };
                let (quotient, rest) = divided.ok_or_else(|| {
                    unsupported("the divisor is zero, or the quotient does not fit")
                })?;
                (Word::Number(quotient), Word::Number(rest))
            }
            (Word::Number(0), Word::Count(form), Word::Number(by))
                if self.world.is_within(form, bits) && by > 0 && by >> (bits.min(63)) == 0 =>
            {
                self.world.divided_count(form, by as i64, bytes)?
            }
            (Word::Number(0), Word::Low(form, low), Word::Number(by))
                if usize::from(low) == bytes && !signed && by > 0 && by >> bits == 0 =>
            {
                let (_, low) = self.world.divided(form, 1 << bits)?;
                self.world.divided_count(low, by as i64, bytes)?
            }
            (Word::Number(0), Word::Bits(cells), Word::Number(by)) if !signed => {
                let divided = self.world.divided_public(&cells[..8 * bytes], by);
                divided.ok_or_else(|| unsupported("the dividend is not known"))?
            }
            _ => return Err(unsupported("the operands of the division are not known")),
        };
        self.x86.flags = Flags::UNDEFINED;
        self.set_register(quotient, divided.0)?;
        self.set_register(rest, divided.1)
    }

    /// mulx: the same of rdx, without flags, into two registers.
    pub fn mulx(&mut self) -> Done {
        let bytes = self.size(0)?;
        let (low, high) = self.halves(2, RDX, bytes)?;
        // If both are one register, it has the upper half.
        self.set_bits(1, &low)?;
        self.set_bits(0, &high)
    }

    /// adc, sbb: a sum or difference with the carry flag.
    pub fn with_carry(&mut self, adds: bool) -> Done {
        let bytes = self.size(0)?;
        if !adds && self.are_same(0, 1) {
            return self.spread_carry(8 * bytes);
        }
        let flag = self.world.held(&self.x86.flags, Condition::Below)?;
        let words = [self.word(0, bytes)?, self.word(1, bytes)?];
        if let (Flag::Is(carry), [Word::Count(_), Word::Number(by)]) = (flag, &words) {
            return self.count_with(adds, &words[0], u128::from(*by) + u128::from(carry), bytes);
        }
        let carry = carried(self, flag)?;
        let (a, b) = (self.word_bits(0, bytes, ADDRESS)?, self.word_bits(1, bytes, ADDRESS)?);
        let (out, carry) = match adds {
            true => self.world.bits.sum_with(&a, &b, carry),
            false => self.world.bits.difference_with(&a, &b, carry),
        };
        self.x86.flags = self.flags_of_word(&out, carry, &[&a, &b]);
        self.set_bits(0, &out)
    }

    /// A count and a number, of which one is the carry.
    fn count_with(&mut self, adds: bool, count: &Word, by: u128, bytes: usize) -> Done {
        if by >> (8 * bytes) != 0 {
            // The count stays, and there is a carry.
            self.x86.flags = Flags { carry: Flag::Is(true), ..Flags::UNDEFINED };
            return Ok(());
        }
        let operation = if adds { Binary::Add } else { Binary::Subtract };
        let (word, flags) = self.combined(operation, count, &Word::Number(by as u64), bytes)?;
        self.x86.flags = flags;
        self.set_word(0, word)
    }

    /// sbb of a register from itself: all of its bits become the carry.
    fn spread_carry(&mut self, bits: usize) -> Done {
        let carry = self.world.held(&self.x86.flags, Condition::Below)?;
        let bit = carried(self, carry).map_err(|_| unsupported("the carry is not known"))?;
        let out = &[bit; 64][..bits];
        self.x86.flags = Flags { carry, ..self.flags_of_word(out, bit, &[&[bit]]) };
        self.set_bits(0, out)
    }

    /// adcx, adox: sums with one flag each, in which no other flag changes.
    pub fn chained(&mut self, flag: fn(&mut Flags) -> &mut Flag) -> Done {
        let bytes = self.size(0)?;
        let carry = *flag(&mut self.x86.flags);
        let carry = carried(self, carry)?;
        let (a, b) = (self.word_bits(0, bytes, ADDRESS)?, self.word_bits(1, bytes, ADDRESS)?);
        let (out, carry) = self.world.bits.sum_with(&a, &b, carry);
        *flag(&mut self.x86.flags) = self.flag_of(carry);
        self.set_bits(0, &out)
    }

    /// Flags of the result of a sum or difference, of operands that are not all known.
    pub fn flags_of_word(&mut self, out: &[Cell], carry: Cell, operands: &[&[Cell]]) -> Flags {
        let unknown = self.unknown_flag(operands);
        let bits = &mut self.world.bits;
        let zero = match bits.word(out).is_some() || bits.has_integers() {
            true => {
                let zeros = bits.number(0, out.len());
                let zero = bits.equal(out, &zeros);
                self.flag_of(zero)
            }
            false if unknown == Flag::Secret => {
                self.x86.zero_of = (self.x86.zero_of.0 + 1, out.to_vec());
                Flag::Zero(self.x86.zero_of.0)
            }
            false => unknown,
        };
        let sign = match out.last().map(|&top| self.flag_of(top)) {
            None | Some(Flag::Undefined) => unknown,
            Some(sign) => sign,
        };
        Flags { carry: self.flag_of(carry), zero, sign, overflow: unknown, compared: None }
    }

    /// The flag that is a bit.
    pub fn flag_of(&self, bit: Cell) -> Flag {
        match self.world.bits.value(bit) {
            Some(is) => Flag::Is(is),
            None if bit == Cell::UNSET => Flag::Undefined,
            None if bit == Cell::OPAQUE => Flag::Secret,
            None => Flag::Bit(bit),
        }
    }

    /// A condition as a bit, where its flags are bits.
    pub fn condition_bit(&mut self, code: ConditionCode) -> Option<Cell> {
        let Flags { carry, zero, sign, overflow, .. } = self.x86.flags;
        let (condition, negated) = condition_of(code)?;
        let bit = match condition {
            Condition::Overflow => carried(self, overflow).ok()?,
            Condition::Below => carried(self, carry).ok()?,
            Condition::Equal => self.zero_bit(zero)?,
            Condition::Sign => carried(self, sign).ok()?,
            Condition::BelowOrEqual => match self.subtracted() {
                // Not b < a: a borrow may be the carry of a sum.
                Some([a, b]) => {
                    let above = self.world.bits.difference(&b, &a).1;
                    self.world.bits.not(above)
                }
                None => {
                    let (carry, zero) = (carried(self, carry).ok()?, self.zero_bit(zero)?);
                    self.world.bits.or(carry, zero)
                }
            },
            Condition::Less | Condition::LessOrEqual if self.world.forks.follows => Cell::OPAQUE,
            Condition::Less | Condition::LessOrEqual => return None,
        };
        Some(if negated { self.world.bits.not(bit) } else { bit })
    }

    /// The words whose difference has set the flags.
    fn subtracted(&self) -> Option<[Vec<Cell>; 2]> {
        let (flags, words) = &**self.x86.subtracted.as_ref()?;
        (*flags == self.x86.flags).then(|| words.clone())
    }

    /// The zero flag as a bit.
    fn zero_bit(&mut self, zero: Flag) -> Option<Cell> {
        match zero {
            Flag::Zero(number) if number == self.x86.zero_of.0 => {
                let bits = &mut self.world.bits;
                let zeros = bits.number(0, self.x86.zero_of.1.len());
                Some(bits.equal(&self.x86.zero_of.1, &zeros))
            }
            other => carried(self, other).ok(),
        }
    }
}

/// The bit that a flag is.
fn carried(run: &Run, flag: Flag) -> Result<Cell, Fault> {
    match flag {
        Flag::Is(is) => Ok(run.world.bits.constant(is)),
        Flag::Bit(bit) => Ok(bit),
        flag if run.world.forks.follows => match flag.is_secret() {
            true => Ok(Cell::OPAQUE),
            false => Ok(Cell::UNSET),
        },
        _ => Err(unsupported("the flag is not known")),
    }
}

/// Quotient and remainder of a number of two words of `bytes` bytes; `None` if the processor
/// faults.
fn unsigned_division(high: u64, low: u64, by: u64, bytes: usize) -> Option<(u64, u64)> {
    let number = u128::from(high) << (8 * bytes) | u128::from(low);
    let quotient = number.checked_div(by.into())?;
    let rest = number % u128::from(by);
    (quotient >> (8 * bytes) == 0).then_some((quotient as u64, rest as u64))
}

/// The same of signed numbers.
fn signed_division(high: u64, low: u64, by: u64, bytes: usize) -> Option<(u64, u64)> {
    let unused = 128 - 16 * bytes as u32;
    let number = (u128::from(high) << (8 * bytes) | u128::from(low)) << unused;
    let number = number as i128 >> unused;
    let by = i128::from(((by << (64 - 8 * bytes)) as i64) >> (64 - 8 * bytes));
    let (quotient, rest) = (number.checked_div(by)?, number.checked_rem(by)?);
    let most = 1i128 << (8 * bytes - 1);
    (-most..most).contains(&quotient).then_some((quotient as u64, rest as u64))
}
