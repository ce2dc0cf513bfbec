//! What must be proved: every pass on every cipher, for all slicings and gates, with the options
//! that change programs most; and that no choice of passes changes what a cipher computes.

use std::collections::BTreeMap;
use std::path::Path;

use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::ir::{Program, Slicing};
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::passes::{ALL, PassOptions, inline, interleave, unroll};
use usuba::{Options, front, optimise, target, typed};
use usuba_lab::cipher::{self, Beside, Cipher};
use usuba_proof::{Observer, Verdict, equivalent};

/// One target for each set of gates.
const TARGETS: [&str; 3] = ["gp64", "avx2", "avx512"];

/// Whether everything is asked of every cipher on every target, as in other long runs; by default
/// a part of it is.
fn is_long() -> bool {
    std::env::var_os("RANDOM_PROGRAMS").is_some()
}

/// File and node of everything that a cipher folder compiles, with its slicings. Key schedules
/// may exist in fewer slicings than are named here.
fn entries(cipher: &Cipher) -> BTreeMap<(String, String), Vec<Slicing>> {
    let mut out: BTreeMap<_, Vec<Slicing>> = BTreeMap::new();
    for function in &cipher.functions {
        let main = (function.source.clone(), function.node.clone());
        out.entry(main).or_default().extend(&function.slicings);
        if let Some(schedule) = function.key.as_ref().and_then(|key| key.schedule.clone()) {
            out.entry(schedule).or_default().extend([Slicing::V, Slicing::B]);
        }
    }
    out
}

/// Calls `check` for every program that is sliced in a direction, on each set of gates. It gets
/// words for messages, and what compiles the program with a pipeline; that is `None` where the
/// program does not exist in this slicing.
fn each_program(wanted: Slicing, check: &mut dyn FnMut(&str, &str, &mut Compile)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    for cipher in cipher::find(&root).expect("the cipher folders can be read") {
        let mains: Vec<_> = cipher.functions.iter().map(|f| (&*f.source, &*f.node)).collect();
        for (number, ((file, node), slicings)) in entries(&cipher).into_iter().enumerate() {
            if !slicings.contains(&wanted) {
                continue;
            }
            let is_schedule = !mains.contains(&(&*file, &*node));
            let path = cipher.folder.join(&file);
            let text = std::fs::read_to_string(&path).expect("the program can be read");
            let mut sources = Sources::default();
            let root = sources.add(path.display().to_string(), text);
            let flags = typed::Flags::default();
            let checked = front(&mut sources, root, &mut Beside, Some(&node), flags);
            let program = checked.expect("the program is right").program;
            for (at, name) in TARGETS.into_iter().enumerate() {
                // Schedules are much alike, and many.
                if is_schedule && !is_long() && number % TARGETS.len() != at {
                    continue;
                }
                let what = format!("{file}, {node} in {wanted:?} for {name}");
                check(&what, name, &mut |pipeline, observer| {
                    let options = Options {
                        slicing: wanted,
                        target: target::find(name).expect("a target"),
                        cpu: target::cpu::ALL[0],
                        word: None,
                        entry: Some(node.clone()),
                        flags,
                        pipeline,
                        c: COptions { complemented_keys: name == "gp64", ..COptions::default() },
                    };
                    optimise(&program, &options, observer).ok()
                });
            }
        }
    }
}

type Compile<'a> =
    dyn FnMut(PipelineOptions, &mut dyn FnMut(&str, &Program)) -> Option<Program> + 'a;

/// Pipelines of which each step is proved, each with its name and the targets for which it is
/// proved by default.
fn pipelines() -> [(&'static str, &'static [&'static str], PipelineOptions); 4] {
    let with = |level, pass| PipelineOptions { level, pass, ..PipelineOptions::default() };
    let single = PassOptions { interleave: interleave::Choice::AUTO, ..PassOptions::default() };
    let two = interleave::Choice { factor: Some(2), ..interleave::Choice::default() };
    let double = PassOptions { interleave: two, ..PassOptions::default() };
    let (inline, unroll) = (inline::Mode::All, unroll::Mode::All);
    [
        ("as by default", &TARGETS, with(Level::O2, single)),
        ("two copies of what is written", &["gp64"], with(Level::O1, double)),
        (
            "two copies, flat",
            &["avx512"],
            with(Level::O2, PassOptions { inline, unroll, ..double }),
        ),
        // By default only random programs are treated so.
        (
            "three rounds in one",
            &[],
            with(Level::O2, PassOptions { unroll: unroll::Mode::Rounds(3), ..single }),
        ),
    ]
}

#[test]
fn explore() {
    use std::time::Instant;
    for slicing in [Slicing::V, Slicing::H, Slicing::B] {
        each_program(slicing, &mut |what, target, compile| {
            if target == "x" {
                return;
            }
            let mut prev: Option<Program> = None;
            let (_, _, pipeline) = pipelines()[0].clone();
            let mut spent = 0.0;
            let start = Instant::now();
            let mut rows = vec![];
            compile(pipeline, &mut |pass, program| {
                let t = Instant::now();
                if let Some(p) = &prev {
                    if p != program {
                        match equivalent(p, program) {
                            Verdict::Proved(s) => {
                                rows.push((pass.to_string(), s, t.elapsed().as_secs_f64()))
                            }
                            v => panic!("{what} {pass} {v:?}"),
                        }
                    }
                }
                spent += t.elapsed().as_secs_f64();
                prev = Some(program.clone());
            });
            let all = start.elapsed().as_secs_f64() - spent;
            println!(
                "## {what}: prove {spent:.4} optimise {all:.4} ratio {:.2} steps {} attempts {}",
                spent / all,
                rows.iter().map(|r| r.1.steps).sum::<u64>(),
                rows.iter().map(|r| r.1.attempts).sum::<u32>()
            );
            for (pass, s, t) in rows {
                println!("   {pass} {t:.4} {s:?}");
            }
        });
    }
}
