//! Translation validation of passes and pipelines on random programs.

mod support;

use usuba::dump;
use usuba::ir::Program;
use usuba::ir::random::{self, Random, Shape};
use usuba::passes::machine::Machine;
use usuba::passes::pipeline::{Level, PipelineOptions, run_pass, run_pipeline};
use usuba::passes::{ALL, PassOptions, Schedule, When, inline, interleave, logic, unroll};
use usuba_equiv::{Observer, Verdict, equivalent};

const SHAPES: [Shape; 3] = [Shape::WORDS, Shape::BITS, Shape::ROWS];

const INLINE: [inline::Mode; 5] = [
    inline::Mode::Auto,
    inline::Mode::All,
    inline::Mode::None,
    inline::Mode::Light,
    inline::Mode::Heavy,
];

const UNROLL: [unroll::Mode; 5] = [
    unroll::Mode::Auto,
    unroll::Mode::All,
    unroll::Mode::None,
    unroll::Mode::Rounds(2),
    unroll::Mode::Rounds(3),
];

/// Any choices; interleaving at most `most_copies`.
fn random_options(random: &mut Random, most_copies: usize) -> PassOptions {
    let factor = 1 + random.below(most_copies) as u32;
    let interleave =
        interleave::Choice { factor: Some(factor), grain: 1 + random.below(20) as u32 };
    let (inline, unroll) = (INLINE[random.below(5)], UNROLL[random.below(5)]);
    let (andn, ternary) = (random.once_in(2), random.once_in(2));
    let lane = [0, 16, 64][random.below(3)];
    let (affine, muladd) = (random.below(2) == 0, [0, 16, 32][random.below(3)]);
    let logic = logic::Logic { andn, ternary, lane, affine, muladd };
    let machine = Machine { regs: [1, 6, 16][random.below(3)], ..Machine::default() };
    let window = [1, 3, 10][random.below(3)];
    let schedule = Schedule { bitslice: When::Always, mslice: When::Always, window };
    let free_keys = random.once_in(2);
    PassOptions { inline, unroll, interleave, logic, machine, schedule, free_keys }
}

fn check_equal(before: &Program, after: &Program, what: &str) {
    let verdict = equivalent(before, after);
    assert!(
        matches!(verdict, Verdict::Proved(_)),
        "{what}: {verdict:?}\n{}\nbecame\n{}",
        dump::program(before),
        dump::program(after)
    );
}

#[test]
fn each_pass_on_random_programs() {
    for shape in SHAPES {
        for seed in 0..support::random_programs(340) {
            let before = random::program(seed, shape);
            for pass in ALL.iter() {
                let mut after = before.clone();
                run_pass(pass, &mut after, &random_options(&mut Random::new(seed), 3));
                check_equal(&before, &after, &format!("seed {seed}, {}", pass.name));
            }
        }
    }
}

#[test]
fn passes_in_any_order_on_random_programs() {
    for shape in SHAPES {
        for seed in 0..support::random_programs(340) {
            let mut random = Random::new(seed ^ 0xabcd);
            let first = random::program(seed, shape);
            let mut program = first.clone();
            let mut names = Vec::new();
            for _ in 0..1 + random.below(12) {
                let pass = ALL[random.below(ALL.len())];
                // Copies of copies have other ports than the first program.
                run_pass(pass, &mut program, &random_options(&mut random, 1));
                names.push(pass.name);
            }
            check_equal(&first, &program, &format!("seed {seed}, {names:?}"));
        }
    }
}

#[test]
fn each_step_of_pipelines_on_random_programs() {
    let mut proved = 0;
    for shape in SHAPES {
        for seed in 0..support::random_programs(100) {
            for level in [Level::O0, Level::O1, Level::O2] {
                let pass = random_options(&mut Random::new(seed), 3);
                let options = PipelineOptions { level, pass, ..PipelineOptions::default() };
                let mut program = random::program(seed, shape);
                let mut proof = Observer::default();
                proof.see("lower", &program);
                run_pipeline(&mut program, &options, &mut |pass, program| proof.see(pass, program));
                proved += proof.finish().unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
            }
        }
    }
    assert!(proved > 1000, "{proved} passes were proved");
}

#[test]
fn each_pass_on_the_programs_of_the_pass_tests() {
    let programs = support::pass_programs();
    assert!(programs.len() > 10, "{} programs", programs.len());
    for (_, before) in &programs {
        for pass in ALL.iter() {
            for seed in 0..6 {
                let mut after = before.clone();
                run_pass(pass, &mut after, &random_options(&mut Random::new(seed), 3));
                check_equal(before, &after, pass.name);
            }
        }
    }
}
