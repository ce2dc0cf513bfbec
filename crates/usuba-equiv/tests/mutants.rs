//! Mutation tests of the prover: programs with one changed equation must not be proved if they
//! differ.
//!
//! A mutant that the interpreter cannot distinguish from the original may be equal; any other must
//! be refuted with a counterexample.

mod mutator;
mod support;

use mutator::Mutator;
use usuba::dump;
use usuba::ir::random::{self, Random, Shape};
use usuba::ir::{Program, interp, verify};
use usuba::passes::pipeline::{PipelineOptions, run_pipeline};
use usuba_equiv::observer::Fault;
use usuba_equiv::{Observer, Verdict, equivalent};

/// Compares a program with mutants of it. Returns how many were refuted and proved.
fn check_mutants(before: &Program, original: &Program, seed: u64, count: usize) -> [usize; 3] {
    let mut random = Random::new(seed);
    let mut seen = [0; 3];
    for _ in 0..count {
        let mut mutant = original.clone();
        let changed = Mutator { random: &mut random }.change(&mut mutant);
        if !changed || verify::verify(&mutant).is_err() {
            continue;
        }
        let mut differs = false;
        for _ in 0..24 {
            let inputs = random::inputs(&mut random, before);
            let want = interp::run(before, &inputs).expect("inputs that fit");
            let got = interp::run(&mutant, &inputs).expect("inputs that fit");
            differs |= want != got;
        }
        let verdict = equivalent(before, &mutant);
        check_with_a_past(before, original, &mutant, &verdict);
        let show = || format!("{}\nbecame\n{}", dump::program(before), dump::program(&mutant));
        match verdict {
            Verdict::Proved(_) => {
                assert!(!differs, "a wrong program is proved, seed {seed}:\n{}", show());
                seen[0] += 1;
            }
            Verdict::Refuted(example) => {
                let got = interp::run(&mutant, &example.input);
                let want = interp::run(before, &example.input);
                assert_eq!(got.as_ref(), Ok(&example.found));
                assert_eq!(want.as_ref(), Ok(&example.expected));
                assert_ne!(got, want);
                seen[1] += 1;
            }
            Verdict::Unknown(_) => seen[2] += 1,
        }
    }
    seen
}

/// The cache of earlier proofs must not change a verdict.
fn check_with_a_past(before: &Program, original: &Program, mutant: &Program, alone: &Verdict) {
    let mut proof = Observer::default();
    for program in [before, original, before, original] {
        proof.see("right", program);
    }
    match proof.fault() {
        None => {}
        // No engine proves the whole pipeline at once, so there is no past.
        Some(Fault { verdict: Verdict::Unknown(_), .. }) => return,
        Some(fault) => panic!("the right program: {fault:?}"),
    }
    proof.see("wrong", mutant);
    match (alone, proof.finish()) {
        (Verdict::Refuted(_), Err(fault)) => assert_eq!(fault.pass, "wrong"),
        (Verdict::Refuted(_), Ok(_)) => panic!("memory makes a wrong program right"),
        _ => {}
    }
}

fn check_all(programs: impl Iterator<Item = Program>, count: usize) {
    let mut seen = [0; 3];
    for (seed, before) in programs.enumerate() {
        let mut after = before.clone();
        if seed % 2 == 1 {
            run_pipeline(&mut after, &PipelineOptions::default(), &mut |_, _| {});
        }
        let more = check_mutants(&before, &after, seed as u64, count);
        seen.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    let [proved, refuted, unknown] = seen;
    assert!(refuted > 100 && proved > 0, "{seen:?} is no campaign");
    // The rest: differences that random inputs do not meet, and equalities that no engine proves.
    assert!(unknown * 10 < proved + refuted, "{seen:?}: too much stays open");
}

#[test]
fn mutants_of_random_programs() {
    for shape in [Shape::WORDS, Shape::BITS, Shape::ROWS] {
        check_all((0..support::random_programs(180)).map(|seed| random::program(seed, shape)), 8);
    }
}

#[test]
fn mutants_of_the_programs_of_the_pass_tests() {
    check_all(support::pass_programs().into_iter().map(|(_, program)| program), 60);
}
