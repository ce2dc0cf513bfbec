//! Recent sums and differences, by their results and by their carries; upper halves of sums of pairs,
//! and pairs of words whose exclusive or was computed.

use rustc_hash::FxHashMap;

use super::values::Cells;
use usuba_bits::cell::Cell;

/// A sum or difference, and its carry or borrow.
#[derive(Clone, Debug)]
pub struct Sum {
    pub is_sum: bool,
    pub a: Cells,
    pub b: Cells,
    pub result: Cells,
    pub carry: Cell,
}

impl Sum {
    /// Whether it has a carry or borrow where one word is less than another one: `a + b < a`, and
    /// `a < a - b`.
    fn is_told_by(&self, less: &Cells, other: &Cells) -> bool {
        match self.is_sum {
            true => self.result == *less && [self.a, self.b].contains(other),
            false => self.a == *less && [self.b, self.result].contains(other),
        }
    }
}

/// The most sums that are kept: a kernel with several copies uses a carry thousands of instructions
/// after its sum.
const MOST: usize = 1 << 13;

/// The pairs of words with an exclusive or that are kept.
const DIFFERING: usize = 256;

#[derive(Clone, Default)]
pub struct RecentSums {
    all: Vec<Sum>,
    /// Their numbers by the lowest bit of the result of a sum, or of the minuend of a difference.
    by_lowest: FxHashMap<Cell, Vec<usize>>,
    /// Their numbers by the lowest bit of the result.
    by_result: FxHashMap<Cell, Vec<usize>>,
    by_carry: FxHashMap<Cell, usize>,
    /// Upper halves of sums of pairs, with the lower ones.
    pub upper_halves: FxHashMap<Cells, Cells>,
    /// Pairs of words, and their exclusive or, which is zero where they are equal.
    differing: Vec<([Cells; 2], Cells)>,
}

/// Whether all bits are known: of two equal words that are not, the values may differ.
fn are_known(words: &[&Cells]) -> bool {
    words.iter().all(|word| word.iter().all(|cell| cell.edge().is_some()))
}

impl RecentSums {
    pub fn push(&mut self, sum: Sum) {
        if !are_known(&[&sum.a, &sum.b, &sum.result]) {
            return;
        }
        if self.all.len() == MOST {
            let kept = self.all.split_off(MOST / 2);
            let (upper_halves, differing) =
                (std::mem::take(&mut self.upper_halves), std::mem::take(&mut self.differing));
            *self = RecentSums { upper_halves, differing, ..RecentSums::default() };
            kept.into_iter().for_each(|sum| self.add(sum));
        }
        self.add(sum);
    }

    /// Keeps two words and their exclusive or.
    pub fn push_differing(&mut self, words: [&Cells; 2], difference: Cells) {
        if !are_known(&words) {
            return;
        }
        if self.differing.len() > DIFFERING {
            self.differing.drain(..DIFFERING / 2);
        }
        self.differing.push((words.map(|word| *word), difference));
    }

    /// The words whose exclusive or a word is.
    pub fn differing(&self, word: &Cells) -> Option<&[Cells; 2]> {
        let mut all = self.differing.iter().rev();
        all.find(|(_, difference)| difference == word).map(|(words, _)| words)
    }

    fn add(&mut self, sum: Sum) {
        let number = self.all.len();
        let lowest = if sum.is_sum { sum.result[0] } else { sum.a[0] };
        self.by_lowest.entry(lowest).or_default().push(number);
        self.by_result.entry(sum.result[0]).or_default().push(number);
        self.by_carry.insert(sum.carry, number);
        self.all.push(sum);
    }

    pub fn get(&self, number: usize) -> &Sum {
        &self.all[number]
    }

    /// The last sum with this carry.
    pub fn of_carry(&self, carry: Cell) -> Option<usize> {
        self.by_carry.get(&carry).copied()
    }

    /// The last sum with this result before another one, and its number.
    pub fn of_result(&self, word: &Cells, before: usize) -> Option<(usize, &Sum)> {
        let all = self.by_result.get(&word[0])?.iter().rev();
        let mut all = all.filter(|&&at| at < before).map(|&at| (at, &self.all[at]));
        all.find(|(_, sum)| sum.result == *word)
    }

    /// The last sum whose carry tells whether a word is less than another one.
    pub fn told_by(&self, less: &Cells, other: &Cells) -> Option<&Sum> {
        let mut all = self.by_lowest.get(&less[0])?.iter().rev().map(|&at| &self.all[at]);
        all.find(|sum| sum.is_told_by(less, other))
    }
}
