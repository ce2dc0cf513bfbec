//! Words as bits, and their lowest bytes.

use super::word::Word;
use super::{Fault, Rule, World, unsupported};
use usuba_bits::cell::Cell;

impl World<'_> {
    /// The fault where a value must be known and is not.
    pub(crate) fn unknown(&self, cells: &[Cell], rule: Rule, secret: &str, other: &str) -> Fault {
        match self.is_secret(cells) {
            true => Fault::new(rule, secret),
            false => unsupported(other),
        }
    }

    /// Whether bits depend on inputs.
    pub(crate) fn is_secret(&self, cells: &[Cell]) -> bool {
        cells.iter().any(|&cell| self.bits.is_secret(cell))
    }

    /// The bits of a word, unless it is an address.
    pub(crate) fn data(&self, word: &Word, otherwise: &str) -> Result<[Cell; 64], Fault> {
        // The bits of a count are public, and not known, but for zeros above its largest value.
        let most = match word {
            Word::Count(form) => match self.memory.unknowns.ranges.bounds(*form) {
                (0.., high) => u64::try_from(high).unwrap_or(u64::MAX),
                _ => u64::MAX,
            },
            _ => u64::MAX,
        };
        let is_count = matches!(word, Word::Count(_) | Word::Low(..)) || word.is_public();
        let count = (self.forks.follows && is_count).then(|| {
            let used = most.checked_ilog2().map_or(0, |top| top as usize + 1);
            let zero = self.bits.constant(false);
            std::array::from_fn(|at| if at < used { Cell::UNSET } else { zero })
        });
        word.cells(&self.bits).or(count).ok_or_else(|| unsupported(otherwise))
    }

    /// The lowest bytes of a word, with zeros above. An address must stay whole.
    pub(crate) fn truncated(&self, word: Word, bytes: usize) -> Word {
        let bits = &self.bits;
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

    /// The lowest `from` bytes of a word extended by copies of their top bit to `to` bytes.
    pub(crate) fn sign_extended(&self, word: &Word, from: usize, to: usize) -> Result<Word, Fault> {
        if let Word::Count(form) = word
            && self.is_within(*form, 8 * from as u32 - 1)
        {
            return Ok(word.clone());
        }
        let mut cells = self.data(word, "a part of an address")?;
        let top = cells[8 * from - 1];
        cells[8 * from..8 * to].fill(top);
        Ok(Word::from_cells(&self.bits, &cells[..8 * to]))
    }
}
