//! Looks for an input on which two programs differ, by running both.
//!
//! Inputs are zeros, all-ones, single set bits and random words. What is found is certain: both
//! outputs are those of `ir::interp`. That nothing is found proves nothing.

use usuba::ir::op::mask;
use usuba::ir::random::{self, Random};
use usuba::ir::{Program, interp, live};

use crate::ports::Copies;

/// An input on which two programs differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The flattened inputs of the program after the pass.
    pub input: Vec<u64>,
    /// What its outputs should be: those of the program before, for each copy.
    pub expected: Vec<u64>,
    /// What they are.
    pub found: Vec<u64>,
}

/// Operators that may be run for one search, about.
const OPERATORS: u64 = 20_000_000;

/// Runs both programs on at most `most` inputs, fewer if they are long.
pub fn search(
    before: &Program,
    after: &Program,
    copies: &Copies,
    most: u64,
) -> Option<Counterexample> {
    let cost = |program| live::executed(program).by_name.values().sum::<u64>();
    let both = cost(before).saturating_mul(copies.factor() as u64).saturating_add(cost(after));
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
        let found = interp::run(after, &input).expect("inputs that fit");
        let mut expected = found.clone();
        for (inputs, outputs) in copies.inputs.iter().zip(&copies.outputs) {
            let own: Vec<u64> = inputs.iter().map(|&at| input[at]).collect();
            let wanted = interp::run(before, &own).expect("inputs that fit");
            for (&at, word) in outputs.iter().zip(wanted) {
                expected[at] = word;
            }
        }
        if found != expected {
            return Some(Counterexample { input, expected, found });
        }
    }
    None
}

fn words(random: &mut Random, bits: &[u8]) -> Vec<u64> {
    bits.iter().map(|&bits| random.word() & mask(bits)).collect()
}
