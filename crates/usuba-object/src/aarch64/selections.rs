//! Choices by flags, and comparisons under a condition.
//!
//! ```text
//! csel x0, x1, x2, lo      x0 = lower ? x1 : x2
//! ccmp x1, x2, #4, hi      compares if higher, else the zero flag alone
//! ```

use usuba_decode::aarch64::{Choice, Condition, Operand, Register};

use super::flag_bits::Flags;
use super::register_file::SP;
use super::word_operations::{Cells, size};
use super::{Done, Run};
use crate::flags::Flag;
use crate::word::{Binary, Word};
use usuba_bits::cell::Cell;
use usuba_bits::lane_arithmetic::CHOICE;

impl Run<'_, '_> {
    pub fn select(
        &mut self,
        (wide, choice): (bool, Choice),
        to: Register,
        [a, b]: [Register; 2],
        condition: Condition,
    ) -> Done {
        let [first, second] = [a, b].map(|register| self.low(self.value(register), wide));
        let is_bits = [&first, &second].iter().any(|word| matches!(word, Word::Bits(_)));
        let holds = match self.condition(condition) {
            // A choice of bits that are not known need not be known either.
            Err(_) if is_bits && self.world.asks_public() => Cell::UNSET,
            holds => holds?,
        };
        let known = self.world.bits.value(holds);
        if a == b && choice == Choice::Increment && known.is_none() {
            // The sum with a bit, such as a carry.
            let word = self.bits_of(&first, wide)?;
            let bits = &mut self.world.bits;
            let one = bits.not(holds);
            let mut sum = bits.number(0, size(wide));
            match bits.word(&word) {
                Some(0) => sum[0] = one,
                _ => sum = bits.sum_with(&word, &sum, one).0,
            }
            self.set_bits(to, &sum);
            return Ok(());
        }
        if known == Some(true) {
            self.set(to, first);
            return Ok(());
        }
        let bytes = size(wide) / 8;
        let mut made = |operation, words: [&Word; 2]| {
            self.world
                .public(operation, words, bytes)
                .transpose()
                .map(|made| made.map(|made| made.0))
        };
        let changed = match choice {
            Choice::Plain => Some(second.clone()),
            Choice::Increment => made(Binary::Add, [&second, &Word::Number(1)])?,
            Choice::Negate => made(Binary::Subtract, [&Word::Number(0), &second])?,
            _ => Some(self.complement(second.clone(), wide)?),
        };
        let second = match changed {
            Some(word) => self.low(word, wide),
            None => {
                let b = self.bits_of(&second, wide)?;
                let bits = &mut self.world.bits;
                let (zero, one) = (bits.number(0, size(wide)), bits.number(1, size(wide)));
                let word = match choice {
                    Choice::Increment => bits.sum(&b, &one, false).0,
                    _ => bits.difference(&zero, &b).0,
                };
                self.extended(&word)
            }
        };
        if known == Some(false) {
            self.set(to, second);
            return Ok(());
        }
        let (a, b) = (self.bits_of(&first, wide)?, self.bits_of(&second, wide)?);
        let bits = &mut self.world.bits;
        let chosen = a.iter().zip(&b).map(|(&a, &b)| bits.function(CHOICE, [holds, a, b]));
        let chosen: Cells = chosen.collect();
        self.set_bits(to, &chosen);
        Ok(())
    }

    pub fn compare_if(
        &mut self,
        (wide, subtracts): (bool, bool),
        (a, b): (Register, Operand),
        otherwise: u8,
        condition: Condition,
    ) -> Done {
        let given = [3, 2, 1, 0].map(|at| self.world.bits.constant(otherwise >> at & 1 == 1));
        let a = self.value(a);
        let b = match b {
            Operand::Register(b) => self.value(b),
            Operand::Immediate(value) => Word::Number(value),
        };
        let before = self.aarch64.flags.clone();
        self.add_to((wide, subtracts, true), SP, false, a, b)?;
        let made = std::mem::replace(&mut self.aarch64.flags, before);
        let holds = match self.condition(condition) {
            // Where the zero flag does not depend on the condition, no other flag need be known.
            Err(_) if self.is_zero_flag(&made, given[1]) && self.world.asks_public() => Cell::UNSET,
            holds => holds?,
        };
        self.aarch64.flags = match self.world.bits.value(holds) {
            Some(true) => made,
            Some(false) => Flags::Given(given),
            None => {
                self.aarch64.flags = made;
                let made = self.all_flags()?;
                let bits = &mut self.world.bits;
                let mut flags = given;
                for (flag, made) in flags.iter_mut().zip(made) {
                    *flag = bits.function(CHOICE, [holds, made, *flag]);
                }
                Flags::Given(flags)
            }
        };
        Ok(())
    }

    /// Whether the zero flag of numbers is this constant.
    fn is_zero_flag(&self, flags: &Flags, zero: Cell) -> bool {
        let Flags::Public(flags) = flags else { return false };
        let known = if let Flag::Is(is) = flags.zero { Some(is) } else { None };
        known.is_some() && self.world.bits.value(zero) == known
    }
}
