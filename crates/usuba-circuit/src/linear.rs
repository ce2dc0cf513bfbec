//! Greedy common-subexpression elimination for many XORs over the same terms.
//!
//! ```text
//! a ^ b ^ c          t = a ^ b
//! a ^ b ^ d     →    t ^ c,  t ^ d,  d ^ t ^ e
//! a ^ b ^ d ^ e
//! ```
//!
//! Paar's greedy method: as long as two terms occur together in more than one XOR, give the pair
//! that does so most often a name of its own. Ties are broken at random, so that repeated calls
//! find different programs of which the caller keeps the best.

use crate::network::{Lit, Network};

/// Random numbers from a fixed start: xorshift64*. The same seed gives the same circuit.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Below `bound`, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// Which sums a term occurs in: one bit per sum.
type Column = Vec<u64>;

fn common(a: &Column, b: &Column) -> u32 {
    a.iter().zip(b).map(|(x, y)| (x & y).count_ones()).sum()
}

/// A straight-line program for XORs: `pairs[i]` defines term `terms + i` as the XOR of two earlier
/// ones; `sums` lists the remaining terms of each.
pub(crate) struct Plan {
    pairs: Vec<(usize, usize)>,
    sums: Vec<Vec<usize>>,
}

impl Plan {
    /// Xors of the program.
    pub fn cost(&self) -> usize {
        self.pairs.len() + self.sums.iter().map(|sum| sum.len().saturating_sub(1)).sum::<usize>()
    }

    /// The sums as literals; `terms` are those that the sums are made of.
    pub fn build(&self, net: &mut Network, terms: &[Lit]) -> Vec<Lit> {
        let mut terms = terms.to_vec();
        for &(a, b) in &self.pairs {
            terms.push(net.xor(terms[a], terms[b]));
        }
        let sum = |sum: &Vec<usize>| sum.iter().fold(Lit::ZERO, |acc, &t| net.xor(acc, terms[t]));
        self.sums.iter().map(sum).collect()
    }
}

/// A program for `sums` over `terms` terms, each sum being a set of terms as bits of a `u128`
/// (so at most 128 terms).
pub(crate) fn share(terms: usize, sums: &[u128], random: &mut Random) -> Plan {
    let words = sums.len().div_ceil(64);
    let mut columns: Vec<Column> = (0..terms)
        .map(|t| {
            let mut column = vec![0; words];
            for (s, _) in sums.iter().enumerate().filter(|(_, sum)| *sum >> t & 1 == 1) {
                column[s / 64] |= 1 << (s % 64);
            }
            column
        })
        .collect();
    // For each term, how often it meets each earlier one.
    let mut counts: Vec<Vec<u32>> =
        (0..terms).map(|b| (0..b).map(|a| common(&columns[a], &columns[b])).collect()).collect();
    let mut pairs = Vec::new();
    loop {
        let best = counts.iter().flatten().copied().max().unwrap_or(0);
        if best < 2 {
            break;
        }
        let mut ties = 0;
        let mut pick = (0, 0);
        for (b, row) in counts.iter().enumerate() {
            for (a, _) in row.iter().enumerate().filter(|(_, count)| **count == best) {
                ties += 1;
                if random.below(ties) == 0 {
                    pick = (a, b);
                }
            }
        }
        let (a, b) = pick;
        let both: Column = columns[a].iter().zip(&columns[b]).map(|(x, y)| x & y).collect();
        for (word, taken) in both.iter().enumerate() {
            columns[a][word] &= !taken;
            columns[b][word] &= !taken;
        }
        let new = columns.len();
        columns.push(both);
        counts.push(vec![0; new]);
        for other in 0..=new {
            for changed in [a, b, new] {
                if other != changed {
                    let count = common(&columns[other], &columns[changed]);
                    counts[other.max(changed)][other.min(changed)] = count;
                }
            }
        }
        pairs.push((a, b));
    }
    let holds = |t: &usize, s: usize| columns[*t][s / 64] >> (s % 64) & 1 == 1;
    let sums =
        (0..sums.len()).map(|s| (0..columns.len()).filter(|t| holds(t, s)).collect()).collect();
    Plan { pairs, sums }
}
