//! XOR programs for XORs of at most eight inputs, in which terms may cancel.
//!
//! ```text
//! a ^ b,  a ^ b ^ c,  b ^ c ^ d     →    s = a ^ b,  t = s ^ c,  t ^ a ^ d
//! ```
//!
//! The method of Boyar and Peralta (SEA 2010): keep for every vector how few of the sums that are
//! there add up to it, and always make the sum that brings the targets closest. With eight inputs
//! there are 256 vectors, so the distances are a table, which one look per vector keeps exact.

use crate::{
    linear::Random,
    network::{Lit, Network},
};

/// A program of xors: wire `i < inputs` is input `i`, then one wire per pair of earlier ones.
#[derive(Clone, Debug)]
pub(crate) struct Straight {
    inputs: usize,
    pairs: Vec<(usize, usize)>,
    /// The wire of each target.
    outputs: Vec<usize>,
}

/// A program for `targets`, none of them zero: bit `i` of a target says that input `i` is in the
/// sum.
pub(crate) fn straight(targets: &[u8], random: &mut Random) -> Straight {
    let mut base: Vec<u8> = (0..8).map(|i| 1 << i).collect();
    let mut pairs = Vec::new();
    let mut distance: [u8; 256] = std::array::from_fn(|v| v.count_ones() as u8);
    let mut open: Vec<u8> = targets.iter().copied().filter(|&t| distance[t as usize] > 1).collect();
    open.sort_unstable();
    open.dedup();
    while !open.is_empty() {
        let (pair, sum) = next(&base, &distance, &open, random);
        pairs.push(pair);
        base.push(sum);
        distance = with(&distance, sum);
        open.retain(|&target| target != sum);
    }
    let wire = |t: &u8| base.iter().position(|b| b == t).expect("every target has been made");
    Straight { inputs: 8, pairs, outputs: targets.iter().map(wire).collect() }
}

/// The distances once `sum` is there.
fn with(distance: &[u8; 256], sum: u8) -> [u8; 256] {
    std::array::from_fn(|v| distance[v].min(distance[v ^ sum as usize] + 1))
}

/// The pair whose sum is best: a target if there is one, else the sum after which the targets are
/// closest altogether; of equals that with the greater sum of squares, then any.
fn next(
    base: &[u8],
    distance: &[u8; 256],
    open: &[u8],
    random: &mut Random,
) -> ((usize, usize), u8) {
    let near = open.iter().copied().filter(|&t| distance[t as usize] == 2).max();
    let mut tried = [false; 256];
    base.iter().for_each(|&b| tried[b as usize] = true);
    let mut best = None;
    let mut ties = 0;
    for (b, &y) in base.iter().enumerate() {
        for (a, &x) in base[..b].iter().enumerate() {
            let sum = x ^ y;
            if near.is_some_and(|target| target != sum)
                || std::mem::replace(&mut tried[sum as usize], true)
            {
                continue;
            }
            let (mut total, mut squares) = (0u32, 0u32);
            for &target in open {
                let after = distance[target as usize].min(distance[(target ^ sum) as usize] + 1);
                total += after as u32;
                squares += (after as u32).pow(2);
            }
            let rank = (total, u32::MAX - squares);
            match &best {
                Some((least, _, _)) if rank > *least => {}
                Some((least, _, _)) if rank == *least => {
                    ties += 1;
                    if random.below(ties) == 0 {
                        best = Some((rank, (a, b), sum));
                    }
                }
                _ => {
                    ties = 1;
                    best = Some((rank, (a, b), sum));
                }
            }
        }
    }
    let (_, pair, sum) = best.expect("a target that is not there leaves a sum to be made");
    (pair, sum)
}

impl Straight {
    /// Xors of the program.
    pub fn cost(&self) -> usize {
        self.pairs.len()
    }

    /// The targets as literals, the inputs being `terms`.
    pub fn build(&self, net: &mut Network, terms: &[Lit]) -> Vec<Lit> {
        let mut wires = terms.to_vec();
        for &(a, b) in &self.pairs {
            wires.push(net.xor(wires[a], wires[b]));
        }
        self.outputs.iter().map(|&w| wires[w]).collect()
    }

    /// The program read backwards, which multiplies by the transposed matrix: one term for each
    /// target, one result for each input, `outputs - inputs` xors more.
    pub fn build_transposed(&self, net: &mut Network, terms: &[Lit]) -> Vec<Lit> {
        let mut sums = vec![Lit::ZERO; self.inputs + self.pairs.len()];
        for (&wire, &term) in self.outputs.iter().zip(terms) {
            sums[wire] = net.xor(sums[wire], term);
        }
        for (i, &(a, b)) in self.pairs.iter().enumerate().rev() {
            for operand in [a, b] {
                sums[operand] = net.xor(sums[operand], sums[self.inputs + i]);
            }
        }
        sums.truncate(self.inputs);
        sums
    }
}
