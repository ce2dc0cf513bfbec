//! Multivariate Horner scheme: a network for any table, from the polynomials of its outputs.
//!
//! Every output is a polynomial modulo two in the inputs (algebraic normal form). The scheme splits
//! the inputs into low and high ones:
//!
//! ```text
//! f = f0 ^ x & (f1 ^ y & f2)        x, y high;  f0, f1, f2 sums of products of low inputs
//! ```
//!
//! The products of low inputs are computed once, the sums of all outputs share their parts
//! (`linear.rs`), and each high input costs one and and one xor for every pair of sums. Which
//! inputs are low, and which are read complemented, decides the size: a fixed sequence of random
//! choices is tried within a budget of steps, so the result depends on the table alone.

use crate::{
    Circuit, Profile, Table,
    linear::{Random, share},
    network::{Lit, Network},
    polish,
    simulate::{Truth, table_truths},
};

/// Roughly the elementary steps spent on one table.
const BUDGET: usize = 12_000_000;

/// Roughly the visits of nodes spent on making the best network smaller.
const POLISH: usize = 160_000;

/// A choice of how to write all outputs.
struct Split {
    /// Index bits (0 is the least significant of the index) of the low inputs, then the high ones.
    order: Vec<u8>,
    low: usize,
    /// Index bits that are read complemented.
    flipped: u8,
}

/// A circuit for a table.
pub(crate) fn synthesise(table: &Table, profile: Profile) -> Circuit {
    let truths = table_truths(table);
    let n = table.inputs as usize;
    let mut random = Random::new(1);
    let mut best: Option<(usize, Network)> = None;
    let mut spent = 0;
    let mut round = 0;
    while spent < BUDGET && round < 600 {
        let mut order: Vec<u8> = (0..n as u8).collect();
        random.shuffle(&mut order);
        // Products of more than six inputs are too many to share sums over.
        let most = n.min(6);
        let low = 1.max(most - round % 4.min(most));
        let flipped = if round < 4 { 0 } else { random.below(1 << n) as u8 };
        let split = Split { order, low, flipped };
        let (net, steps) = build(table.inputs, &truths, &split, &mut random);
        spent += steps;
        round += 1;
        let size = net.size();
        if best.as_ref().is_none_or(|(least, _)| size < *least) {
            best = Some((size, net));
        }
    }
    let (_, net) = best.expect("the first round is always within the budget");
    // Each step for three-input gates covers the network anew.
    let budget = if profile == Profile::Lut3 { POLISH / 4 } else { POLISH };
    let steps = (budget / net.size().max(1)).min(budget / 40);
    polish::circuits(&net, &[profile], steps, 1).swap_remove(0)
}

/// The coefficients of the polynomial of a function of `n` inputs: bit `m` belongs to the product
/// of the inputs in `m`.
fn polynomial(truth: &Truth, n: usize, split: &Split) -> Vec<bool> {
    let spread = |index: usize| {
        (0..n).fold(0, |sum, i| sum | (index >> i & 1) << split.order[i]) ^ split.flipped as usize
    };
    let mut poly: Vec<bool> = (0..1 << n)
        .map(|index| {
            let i = spread(index);
            truth[i / 64] >> (i % 64) & 1 == 1
        })
        .collect();
    for i in 0..n {
        for m in (0..1 << n).filter(|m| m >> i & 1 == 1) {
            poly[m] ^= poly[m ^ 1 << i];
        }
    }
    poly
}

/// The network for one split, and the steps that it took.
fn build(inputs: u8, truths: &[Truth], split: &Split, random: &mut Random) -> (Network, usize) {
    let n = inputs as usize;
    let products = 1 << split.low;
    let mut net = Network::new(inputs);
    let variable: Vec<Lit> = split
        .order
        .iter()
        .map(|&bit| net.input(inputs - 1 - bit).flipped_if(split.flipped >> bit & 1 == 1))
        .collect();

    // Each leaf is a sum of products of low inputs; bit 0 is the constant, kept apart.
    let mut leaves: Vec<(u128, bool)> = Vec::new();
    for truth in truths {
        let poly = polynomial(truth, n, split);
        for leaf in poly.chunks(products) {
            let bits = (1..products).fold(0, |sum, m| sum | (leaf[m] as u128) << (m - 1));
            leaves.push((bits, leaf[0]));
        }
    }
    let mut sums: Vec<u128> = leaves.iter().map(|leaf| leaf.0).filter(|&bits| bits != 0).collect();
    sums.sort_unstable();
    sums.dedup();
    let used = sums.iter().fold(0, |all, sum| all | sum);

    // A product is made from a product that is there already, if any is.
    let mut terms = vec![Lit::ZERO; products - 1];
    for m in 1..products {
        if used >> (m - 1) & 1 == 1 {
            terms[m - 1] = product(&mut net, m, &variable, used);
        }
    }
    let plan = share(products - 1, &sums, random);
    let steps = (plan.cost() + products) * (plan.cost() + products) / 2 + (n << n) * truths.len();
    let built = plan.build(&mut net, &terms);
    let leaf = |(bits, one): &(u128, bool)| {
        let lit = match sums.binary_search(bits) {
            Ok(s) => built[s],
            Err(_) => Lit::ZERO,
        };
        lit.flipped_if(*one)
    };
    let leaves: Vec<Lit> = leaves.iter().map(leaf).collect();
    net.outputs = leaves
        .chunks(1 << (n - split.low))
        .map(|leaves| horner(&mut net, leaves, &variable[split.low..]))
        .collect();
    (net, steps)
}

/// The product of the low inputs in `m`, from two parts of which the larger is wanted anyway
/// where there is such a one.
fn product(net: &mut Network, m: usize, variable: &[Lit], used: u128) -> Lit {
    let bits: Vec<usize> = (0..variable.len()).filter(|i| m >> i & 1 == 1).collect();
    if let [bit] = bits[..] {
        return variable[bit];
    }
    let wanted = |bit: &&usize| used >> ((m ^ 1 << **bit) - 1) & 1 == 1;
    let bit = *bits.iter().rev().find(wanted).unwrap_or(&bits[bits.len() - 1]);
    let rest = product(net, m ^ 1 << bit, variable, used);
    net.and(rest, variable[bit])
}

/// `leaves[m]` is the coefficient of the product of the high inputs in `m`.
fn horner(net: &mut Network, leaves: &[Lit], high: &[Lit]) -> Lit {
    let Some((&last, others)) = high.split_last() else { return leaves[0] };
    let (low, up) = leaves.split_at(leaves.len() / 2);
    let low = horner(net, low, others);
    let up = horner(net, up, others);
    let product = net.and(up, last);
    net.xor(low, product)
}
