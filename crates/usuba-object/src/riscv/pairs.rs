//! Sums and differences of words in pairs of registers.
//!
//! ```text
//! add  a4, a0, a2       lower halves
//! sltu a6, a4, a0       their carry
//! add  a5, a1, a3       upper halves
//! add  a5, a5, a6       with the carry: the upper half of one sum of 64 bits
//! ```
//!
//! Compilers add the upper halves and the carries of several sums in any order. Where upper halves and
//! carries belong to one tree of sums of lower halves, and the program has words of these pairs, the
//! result is the upper half of the sum of the pairs, which is in normal form.
//!
//! *Soundness:* the sum of the carries of a tree of sums is the number of multiples of 2^32 that all
//! of its leaves together exceed its root by, in any order; a borrow counts as -1.

use super::Run;
use super::recent_sums::Sum;
use super::values::Cells;
use usuba_bits::cell::Cell;

/// The most words of a sum.
const MOST: usize = 64;

/// A word with its sign.
type Term = (bool, Cells);

/// The terms of the upper half.
#[derive(Default)]
struct Upper {
    words: Vec<Term>,
    /// The sums of lower halves whose carries are terms, by their numbers.
    carries: Vec<(bool, usize)>,
}

impl Run<'_, '_> {
    /// The sum or difference of two words, if it is the upper half of a sum of pairs.
    pub fn upper_part(&mut self, is_sum: bool, [a, b]: [&Cells; 2]) -> Option<Cells> {
        if !self.world.bits.has_sums() {
            return None;
        }
        let mut upper = Upper::default();
        self.add_terms(&mut upper, true, a)?;
        self.add_terms(&mut upper, is_sum, b)?;
        let (lower, leaves) = match upper.carries[..] {
            // A number may be added to an upper half alone.
            [] => self.whole(&upper)?,
            _ => self.lower(&upper)?,
        };
        let pairs = self.paired(upper.words, &leaves)?;
        let bits = &mut self.world.bits;
        let mut total = bits.number(0, 64);
        for (is_plus, pair) in &pairs {
            total = match is_plus {
                true => bits.sum(&total, pair, false).0,
                false => bits.difference(&total, pair).0,
            };
        }
        let half: Cells = total[32..].try_into().expect("32 bits");
        self.riscv.recent.upper_halves.insert(half, lower);
        Some(half)
    }

    /// Adds the terms of a word; `None` if these are too many. A part of a sum is older than the sum.
    fn add_terms(&self, upper: &mut Upper, is_plus: bool, word: &Cells) -> Option<()> {
        let mut open = vec![(is_plus, *word, usize::MAX)];
        while let Some((is_plus, word, before)) = open.pop() {
            if open.len() + upper.words.len() + upper.carries.len() > MOST {
                return None;
            }
            if self.known(&word) == Some(0) {
                continue;
            }
            if self.riscv.recent.upper_halves.contains_key(&word) {
                upper.words.push((is_plus, word));
            } else if let Some(at) = self.carry(&word) {
                upper.carries.push((is_plus, at));
            } else if let Some((at, sum)) = self.riscv.recent.of_result(&word, before) {
                open.push((is_plus == sum.is_sum, sum.b, at));
                open.push((is_plus, sum.a, at));
            } else {
                upper.words.push((is_plus, word));
            }
        }
        Some(())
    }

    /// The sum whose carry a word is.
    fn carry(&self, word: &Cells) -> Option<usize> {
        let (&bit, rest) = word.split_first()?;
        let bits = &self.world.bits;
        let is_bit = bits.value(bit).is_none() && bit.edge().is_some();
        let is_flag = is_bit && rest.iter().all(|&cell| bits.value(cell) == Some(false));
        self.riscv.recent.of_carry(bit).filter(|_| is_flag)
    }

    /// The only upper half among numbers: its lower half, which is the leaf.
    fn whole(&self, upper: &Upper) -> Option<(Cells, Vec<Term>)> {
        let mut words = upper.words.iter().filter(|(_, word)| self.known(word).is_none());
        // Nothing is borrowed from a number whose lower half is zero.
        let (Some((true, half)), None) = (words.next(), words.next()) else { return None };
        let lower = *self.riscv.recent.upper_halves.get(half)?;
        Some((lower, vec![(true, lower)]))
    }

    /// The root and the leaves of the tree of the sums of lower halves, all of whose carries are
    /// terms of the upper half, with their signs.
    fn lower(&self, upper: &Upper) -> Option<(Cells, Vec<Term>)> {
        let sums = &self.riscv.recent;
        let part_of = |at: usize, other: usize| {
            [sums.get(other).a, sums.get(other).b].contains(&sums.get(at).result) && at != other
        };
        let mut roots = upper
            .carries
            .iter()
            .filter(|(_, at)| !upper.carries.iter().any(|(_, other)| part_of(*at, *other)));
        let (Some(&(_, root)), None) = (roots.next(), roots.next()) else { return None };
        let mut left = upper.carries.clone();
        let mut leaves = Vec::new();
        let mut open = vec![(true, root)];
        while let Some((is_plus, at)) = open.pop() {
            let Sum { is_sum, a, b, .. } = sums.get(at);
            // The carry of a sum counts as the sum does, a borrow against it.
            let taken = left.iter().position(|&carry| carry == (is_plus == *is_sum, at))?;
            left.swap_remove(taken);
            for (sign, word) in [(is_plus, a), (is_plus == *is_sum, b)] {
                let inner = left.iter().find(|(_, at)| sums.get(*at).result == *word);
                match inner {
                    Some(&(_, at)) => open.push((sign, at)),
                    None => leaves.push((sign, *word)),
                }
            }
        }
        left.is_empty().then(|| (sums.get(root).result, leaves))
    }

    /// The pairs of lower and upper halves that the program has as words.
    fn paired(&self, mut upper: Vec<Term>, leaves: &[Term]) -> Option<Vec<(bool, Vec<Cell>)>> {
        let zero = self.number(0);
        let mut pairs = Vec::new();
        for (is_plus, lower) in leaves {
            let both = |upper: &Cells| [&lower[..], &upper[..]].concat();
            let is_word = |pair: &[Cell]| self.world.bits.are_summands(pair, pair);
            let found =
                upper.iter().position(|(sign, word)| sign == is_plus && is_word(&both(word)));
            let pair = match found {
                Some(at) => both(&upper.swap_remove(at).1),
                None => Some(both(&zero)).filter(|pair| is_word(pair))?,
            };
            pairs.push((*is_plus, pair));
        }
        for (is_plus, word) in upper {
            self.known(&word)?;
            pairs.push((is_plus, [&zero[..], &word[..]].concat()));
        }
        // The first ones are not taken away from zero.
        pairs.sort_by_key(|(is_plus, _)| !is_plus);
        Some(pairs)
    }
}
