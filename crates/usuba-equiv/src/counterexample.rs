//! Random testing: searches for a counterexample to the equivalence of two programs.
//!
//! Inputs are zeros, all-ones, single set bits and random words.
//!
//! *Soundness:* a counterexample is certain, as both outputs are computed by `ir::interp`. If the
//! search finds none, nothing is proved.

use usuba::ir::op::mask;
use usuba::ir::random::{self, Random};
use usuba::ir::{Program, interp, live};

use crate::ports::Copies;

/// An input on which two programs differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The flattened inputs of the program after the pass.
    pub input: Vec<u64>,
    /// The expected outputs for each instance, computed by the program before the pass.
    pub expected: Vec<u64>,
    /// The outputs that the program after the pass computes.
    pub found: Vec<u64>,
}

/// The approximate number of operators that one search may run.
const OPERATORS: u64 = 20_000_000;

/// Runs both programs on at most `most` inputs, fewer if they are long.
pub fn search(
    before: &Program,
    after: &Program,
    copies: &Copies,
    most: u64,
) -> Option<Counterexample> {
    let both = cost(before, after, copies);
    let runs = most.min(OPERATORS / both.max(1)).max(2);
    if both > 4 * OPERATORS {
        return None;
    }
    let entry = after.entry();
    let bits = &entry.bits[..entry.arity(after.slicing)];
    let mut random = Random::new(1);
    for run in 0..runs {
        let input: Vec<u64> = match run {
            0 => words(&mut random, bits),
            1 => vec![0; bits.len()],
            2 => bits.iter().map(|&bits| mask(bits)).collect(),
            _ if run % 3 == 0 && !bits.is_empty() => {
                let mut input = vec![0; bits.len()];
                let at = random.below(bits.len());
                input[at] = 1 << random.below(bits[at] as usize);
                input
            }
            _ if run % 3 == 1 => words(&mut random, bits),
            _ => random::inputs(&mut random, after),
        };
        if let Some(example) = differs(before, after, copies, input) {
            return Some(example);
        }
    }
    None
}

/// The outputs of both programs on an input of the one after the pass, if they differ.
pub fn differs(
    before: &Program,
    after: &Program,
    copies: &Copies,
    input: Vec<u64>,
) -> Option<Counterexample> {
    let found = interp::run(after, &input).expect("inputs that fit");
    let mut expected = found.clone();
    for (inputs, outputs) in copies.inputs.iter().zip(&copies.outputs) {
        let own: Vec<u64> = inputs.iter().map(|&at| input[at]).collect();
        let wanted = interp::run(before, &own).expect("inputs that fit");
        for (&at, word) in outputs.iter().zip(wanted) {
            expected[at] = word;
        }
    }
    (found != expected).then_some(Counterexample { input, expected, found })
}

/// A minimal counterexample: zeros, one bit, or else an input of which no single word or bit can be
/// cleared, unless the programs are long.
pub fn smaller(
    before: &Program,
    after: &Program,
    copies: &Copies,
    example: Counterexample,
) -> Counterexample {
    let mut runs = (4 * OPERATORS / cost(before, after, copies).max(1)).max(100);
    let zeros = vec![0; example.input.len()];
    let entry = after.entry();
    let bits = (0..zeros.len()).flat_map(|at| (0..entry.bits[at]).map(move |bit| (at, bit)));
    let single = bits.map(|(at, bit)| {
        let mut input = zeros.clone();
        input[at] = 1 << bit;
        input
    });
    let simple = std::iter::once(zeros.clone()).chain(single);
    for input in simple.take(runs as usize / 2) {
        runs -= 1;
        if let Some(example) = differs(before, after, copies, input) {
            return example;
        }
    }
    let mut best = example;
    loop {
        let weight = best.input.iter().map(|word| word.count_ones()).sum::<u32>();
        for at in 0..best.input.len() {
            let mut tries = vec![0];
            tries.extend((0..64).rev().map(|bit| best.input[at] & !(1 << bit)));
            for word in tries {
                if word >= best.input[at] || runs == 0 {
                    continue;
                }
                runs -= 1;
                let mut input = best.input.clone();
                // An earlier try may have cleared bits of it.
                input[at] &= word;
                best = differs(before, after, copies, input).unwrap_or(best);
            }
        }
        if runs == 0 || weight == best.input.iter().map(|word| word.count_ones()).sum::<u32>() {
            return best;
        }
    }
}

/// The number of operators that both programs run for one input.
fn cost(before: &Program, after: &Program, copies: &Copies) -> u64 {
    let cost = |program| live::executed(program).by_name.values().sum::<u64>();
    cost(before).saturating_mul(copies.factor() as u64).saturating_add(cost(after))
}

fn words(random: &mut Random, bits: &[u8]) -> Vec<u64> {
    bits.iter().map(|&bits| random.word() & mask(bits)).collect()
}
