//! The cost of translation validation, counted: equations that are executed on the DAG per equation
//! in the result of a pass. The program before a pass is in the cache, so the ratio is about one.

use std::path::Path;

use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::ir::{Eqn, Program, Slicing};
use usuba::passes::pipeline::PipelineOptions;
use usuba::{Options, front, isa, optimise, typed};
use usuba_ciphers::Beside;
use usuba_equiv::Observer;

fn equations(eqns: &[Eqn]) -> u64 {
    let inside = eqns.iter().map(|eqn| match eqn {
        Eqn::Loop(lp) => equations(&lp.body),
        _ => 0,
    });
    eqns.len() as u64 + inside.sum::<u64>()
}

fn size(program: &Program) -> u64 {
    program.nodes.iter().map(|node| equations(&node.body)).sum()
}

/// Executed equations, and equations in the results of passes that changed something.
fn cost(file: &str, node: &str, slicing: Slicing, target: &str) -> (u64, u64) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let path = root.join(file);
    let text = std::fs::read_to_string(&path).expect("the program can be read");
    let mut sources = Sources::default();
    let root = sources.add(path.display().to_string(), text);
    let flags = typed::Flags::default();
    let checked = front(&mut sources, root, &mut Beside, Some(node), flags);
    let options = Options {
        slicing,
        target: isa::find(target).expect("a target"),
        cpu: isa::cpu::ALL[0],
        word: None,
        entry: Some(node.into()),
        flags,
        pipeline: PipelineOptions::default(),
        c: COptions::default(),
    };
    let (mut proof, mut left, mut previous) = (Observer::default(), 0, None);
    let program = checked.expect("the program is right").program;
    let last = optimise(&program, &options, &mut |pass, program| {
        proof.see(pass, program);
        if previous.as_ref() != Some(program) {
            left += size(program);
            previous = Some(program.clone());
        }
    });
    last.expect("it can be sliced");
    let steps = proof.stats().steps;
    proof.finish().expect("the passes are right");
    (steps, left)
}

#[test]
fn each_equation_is_run_about_once() {
    for (file, node, slicing, target, most) in [
        ("aes/aes.ua", "encrypt128", Slicing::B, "gp64", 3),
        ("chacha20/chacha20.ua", "block", Slicing::V, "avx2", 2),
        ("rectangle/rectangle.ua", "encrypt", Slicing::V, "avx2", 2),
        // Where a pass unrolls, loops are executed iteration by iteration, or group by group.
        ("present/present.ua", "encrypt", Slicing::B, "avx2", 6),
        ("spongent/spongent.ua", "spongent176", Slicing::B, "avx512", 4),
        // The cheapest attempt comes first: rounds with other gates before all rounds with few.
        ("aes/aes.ua", "encrypt128", Slicing::B, "avx512", 3),
        ("chacha20/chacha20.ua", "block", Slicing::B, "avx512", 4),
    ] {
        let (steps, left) = cost(file, node, slicing, target);
        println!("{file} {node} {slicing:?} {target}: {steps} for {left}");
        assert!(steps <= most * left, "{file}: {steps} equations were run for {left}");
    }
}
