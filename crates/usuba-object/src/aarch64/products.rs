//! Products, quotients and remainders.
//!
//! ```text
//! udiv x3, x1, x2          quotient
//! msub x4, x3, x2, x1      remainder: x1 - x3 * x2
//! ```

use usuba_decode::aarch64::Register;

use super::register_file::SP;
use super::word_operations::size;
use super::{Division, Done, Run};
use crate::memory::{Pointer, Region};
use crate::word::Word;
use crate::{Fault, Rule};
use usuba_bits::cell::Cell;
use usuba_ranges::Range;

/// Divisors by which the quotients and remainders of public words are numbers.
const DIVISORS: (u64, u64) = (4, 1 << 16);

impl Run<'_, '_> {
    pub fn product(&mut self, [a, b]: [Word; 2], wide: bool) -> Result<Word, Fault> {
        let (a, b) = (self.low(a, wide), self.low(b, wide));
        if let (&Word::Count(form), &Word::Number(factor))
        | (&Word::Number(factor), &Word::Count(form)) = (&a, &b)
        {
            let made = self.world.multiplied(form, factor, size(wide) / 8);
            // The bits of a number that is too large are not known.
            return made.or_else(|fault| match self.world.forks.follows {
                true => Ok(Word::unset()),
                false => Err(fault),
            });
        }
        let (a, b) = (self.bits_of(&a, wide)?, self.bits_of(&b, wide)?);
        let product = self.world.bits.product(&a, &b);
        Ok(self.extended(&product))
    }

    /// A register plus or minus a product; it may be an address.
    pub fn add_product(
        &mut self,
        (wide, subtracts): (bool, bool),
        to: Register,
        product: Word,
        c: Register,
    ) -> Done {
        match self.value(c) {
            Word::Number(0) if !subtracts => {
                self.set(to, product);
                Ok(())
            }
            c => self.add_to((wide, subtracts, false), to, false, c, product),
        }
    }

    pub fn divide(
        &mut self,
        (wide, signed): (bool, bool),
        to: Register,
        a: Register,
        b: Register,
    ) -> Done {
        let dividend = a;
        let [a, b] = [a, b].map(|register| self.low(self.value(register), wide));
        let most = size(wide) as u32 - u32::from(signed);
        if let (&Word::Count(form), &Word::Number(by)) = (&a, &b)
            && self.world.is_within(form, most)
            && by > 0
            && by >> most.min(63) == 0
        {
            let (quotient, _) = self.world.divided_count(form, by as i64, size(wide) / 8)?;
            self.set(to, quotient);
            return Ok(());
        }
        if let &Word::Number(by) = &b
            && wide
            && !signed
            && let Some(quotient) = self.divided_public(dividend, by)
        {
            self.set(to, quotient);
            return Ok(());
        }
        let (a, b) = (self.bits_of(&a, wide)?, self.bits_of(&b, wide)?);
        let bits = &self.world.bits;
        let (Some(x), Some(y)) = (bits.word(&a), bits.word(&b)) else {
            let secret = "the time of the instruction depends on an input";
            let other = "the operands of the division are not known";
            let both = [a, b].concat();
            return Err(self.world.unknown(&both, Rule::SecretOperand, secret, other));
        };
        let sign = |x: u64| if wide { x as i64 } else { i64::from(x as u32 as i32) };
        let quotient = match (y, signed) {
            (0, _) => 0,
            (_, false) => x / y,
            (_, true) => sign(x).wrapping_div(sign(y)) as u64,
        };
        let word = self.number(quotient, wide);
        self.set_bits(to, &word);
        Ok(())
    }

    /// The quotient of a public word of which nothing is known by a number. The dividend gets a number,
    /// so that its remainder is known later.
    fn divided_public(&mut self, register: Register, divisor: u64) -> Option<Word> {
        let word = self.value(register);
        let is_unknown = match &word {
            Word::Bits(cells) => cells.iter().all(|&cell| cell == Cell::UNSET),
            word => word.is_public(),
        };
        let is_divisor = (DIVISORS.0..=DIVISORS.1).contains(&divisor) && register != SP;
        if !is_unknown || !is_divisor || !self.world.forks.follows {
            return None;
        }
        let memory = &mut self.world.memory;
        let most = |high: u64| Range { low: 0, high: high as i64 };
        let before = memory.unknowns.clone();
        let quotient = memory.unknowns.unknown(most(u64::MAX / divisor));
        let rest = memory.unknowns.unknown(most(divisor - 1));
        let Some((quotient, rest)) = quotient.zip(rest) else {
            memory.unknowns = before;
            return None;
        };
        let dividend = memory.publics;
        memory.publics = memory.publics.checked_add(1)?;
        self.aarch64.divided = Some(Division { dividend, divisor, quotient, rest });
        let region = Region::Public(dividend);
        self.set(register, Word::Pointer(Pointer { region, offset: 0 }));
        Some(Word::Count(quotient))
    }

    /// The remainder that the difference of a dividend and the product of its quotient and its divisor
    /// is.
    pub fn remainder(&self, dividend: &Word, factors: [&Word; 2]) -> Option<Word> {
        let Division { dividend: number, divisor, quotient, rest } = self.aarch64.divided?;
        let (by, of) = (Word::Number(divisor), Word::Count(quotient));
        let region = Region::Public(number);
        let is_of = *dividend == Word::Pointer(Pointer { region, offset: 0 })
            && (factors == [&by, &of] || factors == [&of, &by]);
        is_of.then_some(Word::Count(rest))
    }
}
