//! What must be proved: every pass on random programs.

use usuba::ir::print;
use usuba::ir::random::{self, Random, Shape};
use usuba::passes::pipeline::{Level, PipelineOptions, run_pass, run_pipeline};
use usuba::passes::{ALL, PassOptions, inline, interleave, unroll};
use usuba_proof::{Observer, Verdict, equivalent};

const SHAPES: [Shape; 3] = [Shape::WORDS, Shape::BITS, Shape::ROWS];

const INLINE: [inline::Mode; 5] = [
    inline::Mode::Auto,
    inline::Mode::All,
    inline::Mode::None,
    inline::Mode::Light,
    inline::Mode::Heavy,
];

const UNROLL: [unroll::Mode; 3] = [unroll::Mode::Auto, unroll::Mode::All, unroll::Mode::None];

fn random_options(random: &mut Random) -> PassOptions {
    let (inline, unroll) = (INLINE[random.below(5)], UNROLL[random.below(3)]);
    let interleave = interleave::Choice {
        factor: 1 + random.below(3) as u32,
        grain: 1 + random.below(20) as u32,
    };
    PassOptions { inline, unroll, interleave, ..PassOptions::default() }
}

#[test]
fn each_pass_on_random_programs() {
    let mut failed = Vec::new();
    let count: u64 = std::env::var("N").map_or(150, |n| n.parse().unwrap());
    for shape in SHAPES {
        for seed in 0..count {
            let before = random::program(seed, shape);
            for pass in ALL {
                let mut after = before.clone();
                run_pass(pass, &mut after, &random_options(&mut Random::new(seed)));
                match equivalent(&before, &after) {
                    Verdict::Proved(_) => {}
                    verdict => failed
                        .push(format!("{seed} {:?} {}: {verdict:?}", shape.slicing, pass.name)),
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} {}", failed.len(), failed.join("\n"));
}
