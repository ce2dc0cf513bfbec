//! Multi-precision arithmetic: whole products, sums with a carry, and flags as bits.
//!
//! ```text
//! mulx rdx, rax, rcx     rdx:rax = rdx * rcx
//! add  r8, rax           the carry is bit 64 of the sum
//! adc  r9, rdx           and goes in here
//! setb al                or here
//! cmovb rax, rcx         or chooses here, in constant time
//! ```

use iced_x86::ConditionCode;

use super::control::Condition;
use super::registers::{Flag, Flags, Word};
use super::{Done, Run, unsupported};
use crate::Fault;
use crate::cell::Cell;
use crate::memory::Whole;

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
        let b = self.data(&self.x86.general[register], ADDRESS)?;
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

    /// div: quotient and remainder of rdx:rax, all of which must be known.
    pub fn divide(&mut self) -> Done {
        let bytes = self.size(0)?;
        let operands =
            [self.word(0, bytes)?, self.x86.general[RAX].clone(), self.x86.general[RDX].clone()];
        let dividend = match operands[1] {
            Word::Count(form) => Some(form),
            Word::Low(form, low) if usize::from(low) == bytes => {
                Some(self.divided(form, 1 << (8 * bytes))?.1)
            }
            _ => None,
        };
        if let ([Word::Number(divisor), _, Word::Number(0)], Some(form)) = (&operands, dividend)
            && self.is_within(form, (8 * bytes as u32).min(62))
            && let Some(divisor) = i64::try_from(*divisor).ok().filter(|&divisor| divisor > 0)
        {
            let (quotient, rest) = self.divided(form, divisor)?;
            self.x86.flags = Flags::UNDEFINED;
            self.x86.general[RAX] = Word::from(Whole::Count(quotient));
            self.x86.general[RDX] = Word::from(Whole::Count(rest));
            return Ok(());
        }
        let [Word::Number(divisor), Word::Number(low), Word::Number(high)] = operands else {
            return Err(unsupported("a quotient of numbers that are not known"));
        };
        let ones = u64::MAX >> (64 - 8 * bytes);
        let whole = u128::from(high & ones) << (8 * bytes) | u128::from(low & ones);
        let quotient = whole.checked_div(divisor.into()).filter(|&all| all <= ones.into());
        let quotient = quotient.filter(|_| bytes >= 4).ok_or_else(|| {
            unsupported("a quotient of short words, or one that its register cannot hold")
        })?;
        self.x86.flags = Flags::UNDEFINED;
        self.x86.general[RAX] = Word::Number(quotient as u64);
        self.x86.general[RDX] = Word::Number((whole % u128::from(divisor)) as u64);
        Ok(())
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
        let carry = carried(self, self.x86.flags.carry)?;
        let (a, b) = (self.word_bits(0, bytes, ADDRESS)?, self.word_bits(1, bytes, ADDRESS)?);
        let (out, carry) = match adds {
            true => self.world.bits.sum_with(&a, &b, carry),
            false => self.world.bits.difference_with(&a, &b, carry),
        };
        self.x86.flags = self.flags_of_word(&out, carry, &[&a, &b]);
        self.set_bits(0, &out)
    }

    /// sbb of a register from itself: all of its bits become the carry.
    fn spread_carry(&mut self, bits: usize) -> Done {
        let carry = self.x86.flags.carry;
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
        Flags { carry: self.flag_of(carry), zero, sign, overflow: unknown }
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
        let Flags { carry, zero, sign, overflow } = self.x86.flags;
        let (condition, negated) = Condition::of(code)?;
        let bit = match condition {
            Condition::Overflow => carried(self, overflow).ok()?,
            Condition::Below => carried(self, carry).ok()?,
            Condition::Equal => self.zero_bit(zero)?,
            Condition::Sign => carried(self, sign).ok()?,
            Condition::BelowOrEqual => {
                let (carry, zero) = (carried(self, carry).ok()?, self.zero_bit(zero)?);
                self.world.bits.or(carry, zero)
            }
            Condition::Less | Condition::LessOrEqual if self.world.forks.follows => Cell::OPAQUE,
            Condition::Less | Condition::LessOrEqual => return None,
        };
        Some(if negated { self.world.bits.not(bit) } else { bit })
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
