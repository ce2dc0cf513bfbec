//! Recent sums and differences, by their results and by their carries.

use rustc_hash::FxHashMap;

use super::values::Word;
use usuba_bits::cell::Cell;

/// A sum or difference, and its carry or borrow.
#[derive(Clone, Debug)]
pub struct Sum {
    pub is_sum: bool,
    pub a: Word,
    pub b: Word,
    pub result: Word,
    pub carry: Cell,
}

impl Sum {
    /// Whether it has a carry or borrow where one word is less than another one: `a + b < a`, and
    /// `a < a - b`.
    fn is_told_by(&self, less: &Word, other: &Word) -> bool {
        match self.is_sum {
            true => self.result == *less && [self.a, self.b].contains(other),
            false => self.a == *less && [self.b, self.result].contains(other),
        }
    }
}

/// The most sums that are kept: a kernel with several copies uses a carry thousands of instructions
/// after its sum.
const MOST: usize = 1 << 13;

#[derive(Clone, Default)]
pub struct RecentSums {
    all: Vec<Sum>,
    /// Their numbers by the lowest bit of the result of a sum, or of the minuend of a difference.
    by_lowest: FxHashMap<Cell, Vec<usize>>,
    /// Their numbers by the lowest bit of the result.
    by_result: FxHashMap<Cell, Vec<usize>>,
    by_carry: FxHashMap<Cell, usize>,
}

impl RecentSums {
    pub fn push(&mut self, sum: Sum) {
        if self.all.len() == MOST {
            let kept = self.all.split_off(MOST / 2);
            *self = RecentSums::default();
            kept.into_iter().for_each(|sum| self.add(sum));
        }
        self.add(sum);
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
    pub fn of_result(&self, word: &Word, before: usize) -> Option<(usize, &Sum)> {
        let all = self.by_result.get(&word[0])?.iter().rev();
        let mut all = all.filter(|&&at| at < before).map(|&at| (at, &self.all[at]));
        all.find(|(_, sum)| sum.result == *word)
    }

    /// The last sum whose carry tells whether a word is less than another one.
    pub fn told_by(&self, less: &Word, other: &Word) -> Option<&Sum> {
        let mut all = self.by_lowest.get(&less[0])?.iter().rev().map(|&at| &self.all[at]);
        all.find(|sum| sum.is_told_by(less, other))
    }
}
