//! Translation validation of every pass on every cipher, for all slicings and gates, with the
//! options that change programs most; and of every choice of passes from the first program to the
//! final IR.

use std::collections::BTreeMap;
use std::path::Path;
use usuba_gen::{asks, asks_rarely, level};

use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::ir::{Program, Slicing};
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::passes::{ALL, PassOptions, inline, interleave, unroll};
use usuba::{Options, front, isa, optimise, typed};
use usuba_ciphers::{Beside, Cipher};
use usuba_equiv::{Observer, Verdict, equivalent};

/// One target for each set of gates.
const TARGETS: [&str; 3] = ["gp64", "avx2", "avx512"];

/// File and node of everything that a cipher folder compiles, with its slicings. Key schedules
/// may exist in fewer slicings than are named here.
fn entries(cipher: &Cipher) -> BTreeMap<(String, String), Vec<Slicing>> {
    let mut out: BTreeMap<_, Vec<Slicing>> = BTreeMap::new();
    for function in &cipher.functions {
        let main = (function.source.clone(), function.node.clone());
        out.entry(main).or_default().extend(&function.slicings);
        if let Some(schedule) = function.key.as_ref().and_then(|key| key.schedule.clone()) {
            let bits = function.slicings.iter().any(|s| matches!(s, Slicing::H | Slicing::B));
            let slicings = out.entry(schedule).or_default();
            slicings.push(Slicing::V);
            slicings.extend(bits.then_some(Slicing::B));
        }
    }
    out
}

/// The targets of a program: the targets that its function names, or one for each set of gates.
fn targets<'a>(cipher: &'a Cipher, file: &str, node: &str) -> Vec<&'a str> {
    let same = |f: &&usuba_ciphers::Function| f.source == file && f.node == node;
    match cipher.functions.iter().find(same) {
        Some(function) if !function.targets.is_empty() => {
            function.targets.iter().map(String::as_str).collect()
        }
        _ => TARGETS.to_vec(),
    }
}

/// A program in a slicing, on one set of gates.
struct Subject<'a> {
    /// For messages.
    name: &'a str,
    /// The family of the target.
    target: &'a str,
    /// How many programs came before it.
    number: usize,
    /// Whether the program has its turn on this target: each has on one.
    turn: bool,
}

/// Calls `check` for every program that is sliced in a direction, on each set of gates: for the
/// programs whose folder names this slicing, or for all others. It gets a function that compiles the
/// program with a pipeline, or `None` if the program does not exist in this slicing.
fn each_program(wanted: Slicing, named: bool, check: &mut dyn FnMut(Subject, &mut Compile)) {
    let mut programs = 0;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    for cipher in usuba_ciphers::find(&root).expect("the cipher folders can be read") {
        let mains: Vec<_> = cipher.functions.iter().map(|f| (&*f.source, &*f.node)).collect();
        for ((file, node), slicings) in entries(&cipher) {
            if slicings.contains(&wanted) != named {
                continue;
            }
            let number = programs;
            programs += 1;
            let is_schedule = !mains.contains(&(&*file, &*node));
            let path = cipher.folder.join(&file);
            let text = std::fs::read_to_string(&path).expect("the program can be read");
            let mut sources = Sources::default();
            let root = sources.add(path.display().to_string(), text);
            let flags = typed::Flags::default();
            let checked = front(&mut sources, root, &mut Beside, Some(&node), flags);
            let program = checked.expect("the program is right").program;
            let targets = targets(&cipher, &file, &node);
            for (at, name) in targets.iter().copied().enumerate() {
                let what = format!("{file}, {node} in {wanted:?} for {name}");
                let turn = number % targets.len() == at;
                // Schedules are much alike, and many.
                if is_schedule && !turn && !asks!("{what}") {
                    continue;
                }
                let target = isa::find(name).expect("a target");
                let subject = Subject { name: &what, target: target.family(), number, turn };
                check(subject, &mut |pipeline, observer| {
                    let options = Options {
                        slicing: wanted,
                        target,
                        cpu: isa::cpu::ALL[0],
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

/// Pipelines of which each step is proved, each with its name and the targets on which the quick run
/// proves programs that have their turn there.
fn pipelines() -> [(&'static str, &'static [&'static str], PipelineOptions); 5] {
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
        // By default only random programs get these.
        (
            "three rounds in one",
            &[],
            with(Level::O2, PassOptions { unroll: unroll::Mode::Rounds(3), ..single }),
        ),
        // The short form of libraries.
        (
            "in loops",
            &[],
            with(
                Level::O2,
                PassOptions {
                    interleave: interleave::Choice::SINGLE,
                    inline: inline::Mode::Light,
                    unroll: unroll::Mode::None,
                    ..single
                },
            ),
        ),
    ]
}

fn check_steps(slicing: Slicing) {
    let mut failed = Vec::new();
    let mut passes = 0;
    each_program(slicing, true, &mut |Subject { name: what, number, target, turn }, compile| {
        // The quick run has every fourth program on one target, and others for the next commit.
        let is_quick = turn && (number + level::turn() as usize).is_multiple_of(4);
        for (name, targets, pipeline) in pipelines() {
            // The defaults on all targets, the others on one.
            let is_asked = || (turn || targets.len() > 1) && asks!("{what}, {name}");
            if !(is_quick && targets.contains(&target) || is_asked()) {
                continue;
            }
            let mut proof = Observer::default();
            let program = compile(pipeline, &mut |pass, program| proof.see(pass, program));
            match proof.finish() {
                Ok(count) => passes += count,
                Err(fault) => failed.push(format!("{what}, {name}: {fault}")),
            }
            if program.is_none() {
                break;
            }
        }
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(passes > 100, "only {passes} passes were proved");
}

/// All passes on, all off, each one off: the final IR equals the first program.
fn check_choices(slicing: Slicing) {
    let mut pipelines = vec![
        PipelineOptions::default(),
        PipelineOptions { level: Level::O0, ..PipelineOptions::default() },
    ];
    pipelines.extend(ALL.iter().map(|pass| {
        let skip = vec![pass.name.to_string()];
        PipelineOptions { skip, ..PipelineOptions::default() }
    }));
    let mut failed = Vec::new();
    let mut proved = 0;
    each_program(slicing, true, &mut |Subject { name: what, number, turn, .. }, compile| {
        for (at, pipeline) in pipelines.iter().enumerate() {
            // The quick run has all passes for every other program, and each sixteenth one off in turn.
            let next = number + level::turn() as usize;
            let is_next = (at == 0 && next.is_multiple_of(2)) || at % 16 == next % 16;
            let name = format!("{:?} without {:?}", pipeline.level, pipeline.skip);
            // All on and all off on all targets, one pass off on one.
            let is_asked = || (turn || at < 2) && asks_rarely!("{what}, {name}");
            if !(turn && is_next || is_asked()) {
                continue;
            }
            let mut lowered = None;
            let last = compile(pipeline.clone(), &mut |_, program| {
                lowered.get_or_insert_with(|| program.clone());
            });
            let (Some(lowered), Some(last)) = (lowered, last) else { break };
            match equivalent(&lowered, &last) {
                Verdict::Proved(_) => proved += 1,
                verdict => failed.push(format!("{what}, {name}: {verdict:?}")),
            }
        }
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(proved > 20, "only {proved} programs were proved");
}

/// People may slice a program in other ways than its folder does: on one target, in the whole run.
#[test]
fn each_step_in_slicings_that_no_folder_names() {
    let (_, _, pipeline) = &pipelines()[0];
    let mut failed = Vec::new();
    for slicing in [Slicing::V, Slicing::H, Slicing::B, Slicing::W] {
        each_program(slicing, false, &mut |Subject { name: what, turn, .. }, compile| {
            if !turn || !asks!("{what}") {
                return;
            }
            let mut proof = Observer::default();
            compile(pipeline.clone(), &mut |pass, program| proof.see(pass, program));
            if let Err(fault) = proof.finish() {
                failed.push(format!("{what}: {fault}"));
            }
        });
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn each_step_vertical() {
    check_steps(Slicing::V);
}

#[test]
fn each_step_horizontal() {
    check_steps(Slicing::H);
}

#[test]
fn each_step_bitsliced() {
    check_steps(Slicing::B);
}

#[test]
fn any_choice_of_passes_vertical() {
    check_choices(Slicing::V);
}

#[test]
fn any_choice_of_passes_horizontal() {
    check_choices(Slicing::H);
}

#[test]
fn any_choice_of_passes_bitsliced() {
    check_choices(Slicing::B);
}
