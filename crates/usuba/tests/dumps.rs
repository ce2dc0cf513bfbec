//! Dumps of Usuba0 are formatted programs: they pass every check without a warning and have the
//! same semantics. Random programs, before and after the passes.

use usuba::circuit::Profile;
use usuba::diag::Sources;
use usuba::dump;
use usuba::ir::build::Builder;
use usuba::ir::random::{self, Random, Shape};
use usuba::ir::{NodeId, Op, Port, Program, Slicing, interp, verify};
use usuba::passes::pipeline::{Level, PipelineOptions, run_pipeline};
use usuba::syntax::parse;
use usuba::syntax::print::format;
use usuba::syntax::splice::NoIncludes;
use usuba::{Slice, front, to_usuba0, typed};

/// Reads a dump back.
fn reread(text: &str, like: &Program) -> Program {
    let mut sources = Sources::default();
    let root = sources.add("dump.ua", text);
    let flags = typed::Flags { keep_tables: false, legacy_tables: false };
    let entry = like.entry().name.clone();
    let (tree, _) = parse(&sources, root);
    assert_eq!(format(&tree, text), text, "dumps are formatted");
    let checked = front(&mut sources, root, &mut NoIncludes, Some(&entry), flags)
        .unwrap_or_else(|diags| panic!("{}\n{text}", explain(&sources, &diags)));
    assert!(checked.warnings.is_empty(), "{}\n{text}", explain(&sources, &checked.warnings));
    let slice = Slice {
        slicing: like.slicing,
        word: None,
        profile: Profile::Basic,
        vectors: true,
        instructions: None,
    };
    to_usuba0(&checked.program, slice, &|_, _, _| None)
        .unwrap_or_else(|diags| panic!("{}\n{text}", explain(&sources, &diags)))
}

fn explain(sources: &Sources, diags: &[usuba::diag::Diagnostic]) -> String {
    let one = |d: &usuba::diag::Diagnostic| {
        let place = d.span.map(|s| sources.line_col(s.file, s.start));
        format!("{} {place:?} {}", d.code, d.message)
    };
    diags.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn check(program: &Program, seed: u64) {
    let text = dump::program(program);
    let again = reread(&text, program);
    verify::verify(&again).expect("a sound program");
    let mut random = Random::new(seed);
    for _ in 0..4 {
        let inputs = random::inputs(&mut random, program);
        assert_eq!(
            interp::run(program, &inputs),
            interp::run(&again, &inputs),
            "seed {seed}, inputs {inputs:x?}\n{text}\nwas read as\n{}",
            dump::program(&again)
        );
    }
}

#[test]
fn dumps_read_back_as_the_same_function() {
    for shape in [Shape::WORDS, Shape::BITS, Shape::ROWS] {
        for seed in 0..150 {
            check(&random::program(seed, shape), seed);
        }
    }
}

#[test]
fn dumps_after_each_pass_read_back_as_the_same_function() {
    for shape in [Shape::WORDS, Shape::BITS, Shape::ROWS] {
        for seed in 0..40 {
            for level in [Level::O1, Level::O2] {
                let mut program = random::program(seed, shape);
                let options = PipelineOptions { level, ..PipelineOptions::default() };
                run_pipeline(&mut program, &options, &mut |_, program| check(program, seed));
            }
        }
    }
}

/// A cipher-like program: whitening, kept rounds over a key array, two words that swap.
#[test]
fn a_dumped_loop_is_still_a_loop() {
    let mut b = Builder::new("f", Slicing::V);
    let x = b.param(Port::new("x", 16, &[2]));
    let k = b.param(Port::new("k", 16, &[12]).constant());
    b.begin_loop(10, true);
    let (l, r) = (b.carry(x[0]), b.carry(x[1]));
    let key = b.read(k[1..11].to_vec());
    let turned = b.op(Op::Rotl(3), &[l]);
    let keyed = b.op(Op::Xor, &[turned, key]);
    let mixed = b.op(Op::Add, &[keyed, r]);
    let done = b.end_loop(&[r, mixed], &[]);
    let out = b.op(Op::Xor, &[done.carried[0], k[11]]);
    let node = b.finish(vec![(Port::new("y", 16, &[2]), vec![out, done.carried[1]])]);
    let program = Program::new(vec![node], NodeId(0), Slicing::V);
    let text = dump::program(&program);
    assert_eq!(dump::program(&reread(&text, &program)), text);
}
