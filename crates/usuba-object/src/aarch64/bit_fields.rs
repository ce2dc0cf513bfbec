//! Constants, fields of bits, and counts of zeros.
//!
//! ```text
//! movk x0, #7, lsl #16      bits 16 to 31
//! ubfx x0, x1, #3, #8       bits 3 to 10
//! ```

use usuba_decode::aarch64::{Constant, Extend, Field, Register, Shift};

use super::word_operations::{Cells, size};
use super::{Done, Run};
use crate::word::Word;
use crate::{Fault, unsupported};
use usuba_bits::cell::Cell;
use usuba_bits::lane_arithmetic as words;

impl Run<'_, '_> {
    pub fn constant(
        &mut self,
        wide: bool,
        constant: Constant,
        to: Register,
        value: u64,
        shift: usize,
    ) -> Done {
        let word = match constant {
            Constant::Zeros => self.number(value, wide),
            Constant::Complement => self.number(!value, wide),
            Constant::Keep => {
                let mut word = self.word(to, wide)?;
                let part = self.number(value, wide);
                word[shift..shift + 16].copy_from_slice(&part[shift..shift + 16]);
                word
            }
        };
        self.set_bits(to, &word);
        Ok(())
    }

    pub fn field(
        &mut self,
        wide: bool,
        field: Field,
        to: Register,
        from: Register,
        (right, top): (usize, usize),
    ) -> Done {
        let word = self.low(self.value(from), wide);
        if let (Word::Count(_) | Word::Low(..), true) = (&word, field != Field::Inserted) {
            let word = self.field_of_count(wide, field, word, (right, top))?;
            self.set(to, word);
            return Ok(());
        }
        // A number behind lowest bits that are known.
        let left = size(wide) - right;
        if let (Word::Count(_), true) = (&word, top < right && top + 1 + left == size(wide)) {
            let low = self.masked(self.value(to), (1 << left) - 1, wide)?;
            let high = self.moved(word, Shift::Left, left, wide)?;
            return self.add_to((wide, false, false), to, false, high, low);
        }
        let cells = self.bits_of(&word, wide)?;
        let zero = self.world.bits.constant(false);
        let (from, at) = match top >= right {
            true => (&cells[right..=top], 0),
            false => (&cells[..=top], size(wide) - right),
        };
        let mut word = match field {
            Field::Inserted => self.word(to, wide)?,
            Field::Unsigned => vec![zero; size(wide)],
            Field::Signed => {
                let sign = from[from.len() - 1];
                let end = at + from.len();
                (0..size(wide)).map(|bit| if bit < end { zero } else { sign }).collect()
            }
        };
        word[at..at + from.len()].copy_from_slice(from);
        self.set_bits(to, &word);
        Ok(())
    }

    /// A field of a number that depends on the number of blocks: shifts, and lowest bits.
    fn field_of_count(
        &mut self,
        wide: bool,
        field: Field,
        word: Word,
        (right, top): (usize, usize),
    ) -> Result<Word, Fault> {
        let is_top = top == size(wide) - 1;
        let (shift, count) = match top >= right {
            true if field == Field::Signed => (Shift::Arithmetic, right),
            true => (Shift::Right, right),
            false => (Shift::Left, size(wide) - right),
        };
        // The bits above go away by a shift to the left.
        let keeps_all = is_top || shift == Shift::Left && top + 1 + count == size(wide);
        let word = match field {
            _ if keeps_all => word,
            Field::Signed if (top + 1) % 8 == 0 => {
                self.extend(word, Extend { signed: true, bits: top + 1 }, wide)?
            }
            Field::Signed => return Err(unsupported("a field of a number of blocks")),
            _ => self.masked(word, (1 << (top + 1)) - 1, wide)?,
        };
        self.moved(word, shift, count, wide)
    }

    /// The number of zeros above the highest one of a word.
    pub fn leading_zeros(&mut self, word: &[Cell]) -> Cells {
        words::leading_zeros(&mut self.world.bits, word)
    }
}
