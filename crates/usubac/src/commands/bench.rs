//! `usubac bench` and `usubac demo`: verifies and times cipher folders on every target, and
//! compares two such runs.

use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use usuba_bench::bench::{Choice, Side, Variant};
use usuba_bench::calibrate;
use usuba_bench::difference::Difference;
use usuba_bench::record::{Entry, FORMAT, Outcome, Run};
use usuba_bench::session::{self, Progress, Request};
use usuba_run::cc::Family;
use usuba_run::cpuid;
use usuba_run::native::Timing;

use super::experiment;
use crate::args::common::Compiler;
use crate::args::{self, Bench};
use crate::output::{Place, to_stderr, to_stdout, write_all};
use crate::{Failure, files};

/// The default subjects of `demo`: a cipher of 16-bit words and one of 32-bit words.
const SHOWN: [&str; 2] = ["rectangle", "serpent"];

/// Samples of `--quick`.
const QUICK_ROUNDS: u32 = 31;

/// The length of `--calibrate --quick`: a few milliseconds for each row.
const CALIBRATION_QUICK: Timing = Timing { rounds: 11, cycles: 20_000 };

/// Tests and times two ciphers, and reports each result as soon as it is there.
pub fn demo(args: &Bench) -> Result<(), Failure> {
    let mut args = args.clone();
    if args.subjects.is_empty() {
        args.subjects = SHOWN.map(String::from).to_vec();
    }
    known_answers(&args)?;
    let mut told = 0;
    run(&args, &mut |bar, progress| {
        show(bar, progress);
        let lines: String = progress.entries[told..].iter().map(line).collect();
        told = progress.entries.len();
        bar.suspend(|| to_stderr(&lines));
    })
}

pub fn bench(args: &Bench) -> Result<(), Failure> {
    run(args, &mut |bar, progress| show(bar, progress))
}

/// Tests the functions by the reference semantics, which takes no C compiler.
fn known_answers(args: &Bench) -> Result<(), Failure> {
    let chosen = args.folder.library().chosen(&args.subjects).map_err(Failure::Program)?;
    for cipher in &chosen {
        for function in &cipher.functions {
            let vectors = cipher.verify_function(function, None).map_err(Failure::Program)?;
            let name = &function.name;
            to_stderr(&format!(
                "{name}: {vectors} of {vectors} vectors right by the reference semantics\n"
            ));
        }
    }
    Ok(())
}

/// A result as a line.
fn line(entry: &Entry) -> String {
    let about = match &entry.outcome {
        Outcome::Measured(numbers) => {
            let time = numbers.kernel.as_ref();
            let time = time.map(|times| format!(", {:.2} cycles per byte", times.median));
            format!("verified in every lane{}", time.unwrap_or_default())
        }
        Outcome::Skipped(why) => format!("skipped: {why}"),
        Outcome::Failed(_) => "WRONG".into(),
    };
    format!("{} in {} on {}: {about}\n", entry.function, entry.slicing, entry.target)
}

fn run(args: &Bench, tell: &mut dyn FnMut(&ProgressBar, &Progress)) -> Result<(), Failure> {
    if let [before, after] = &args.compare[..] {
        return compare(before, after);
    }
    if args.calibrate {
        return calibrate(args);
    }
    if !args.chapter.is_empty() {
        return experiment::chapter(args);
    }
    if let Some(name) = &args.experiment {
        return experiment::run(args, name);
    }
    let choice = choice(args)?;
    let variants = variants(args)?;
    let ciphers = args.folder.library().chosen(&choice.ciphers).map_err(Failure::program)?;
    let choice = Choice { ciphers: Vec::new(), ..choice };
    let request = Request {
        ciphers: &ciphers,
        choice: &choice,
        variants: &variants,
        // Explicit flags or compilers exclude all other variants.
        tuned: !args.tuned.no_tuned && variants == [Variant::default()],
        parse: &args::pipeline,
        version: env!("CARGO_PKG_VERSION"),
    };
    let bar = bar();
    let run = session::run(&request, &mut |progress| tell(&bar, &progress));
    bar.finish_and_clear();
    let run = run.map_err(Failure::program)?;
    let place = args.output.output.as_deref().map_or(Place::Stdout, Place::new);
    match args.form.is_json() {
        true => {
            // A file with the figures does not replace the table on the screen.
            let table = if place == Place::Stdout { String::new() } else { run.to_string() };
            write_all(&[(place, json(&run))])?;
            to_stdout(&table)?;
        }
        false => write_all(&[(place, run.to_string())])?,
    }
    let noisy = run.noisy();
    match run.is_good() {
        true if args.strict && !noisy.is_empty() => Err(Failure::program(format!(
            "the machine is too noisy for claims about {}; end other programs, or leave out --strict",
            noisy.join(", ")
        ))),
        true => Ok(()),
        false => Err(Failure::Refuted("not everything computes what its vectors say".into())),
    }
}

/// The selection by the flags.
pub fn choice(args: &Bench) -> Result<Choice, Failure> {
    let timing = match args.quick {
        true => Timing { rounds: QUICK_ROUNDS, ..Timing::default() },
        false => Timing::default(),
    };
    Ok(Choice {
        ciphers: args.subjects.clone(),
        targets: args.targets.all().iter().map(|target| target.name.to_string()).collect(),
        slicings: args.slicing.all(),
        all: args.all_functions.all_functions,
        timing: (!args.no_timing).then_some(timing),
    })
}

/// Each set of flags with each compiler. The labels differ where the variants do.
fn variants(args: &Bench) -> Result<Vec<Variant>, Failure> {
    let flags = if args.flags.is_empty() { vec![String::new()] } else { args.flags.clone() };
    let named = args.compilers.for_here().map_err(Failure::usage)?;
    let families: Vec<Option<Compiler>> = match named.is_empty() {
        true => vec![None],
        false => named.iter().copied().map(Some).collect(),
    };
    let mut variants = Vec::new();
    for flags in &flags {
        args::pipeline(flags).map_err(Failure::usage)?;
        for family in &families {
            let (name, assembly) =
                family.map_or(("", false), |compiler| (compiler.name(), compiler.is_assembly()));
            let family = family.map_or(Family::Any, Compiler::family);
            let parts: Vec<&str> =
                [name, flags.trim()].into_iter().filter(|part| !part.is_empty()).collect();
            let label = if parts.is_empty() { Side::default().label } else { parts.join(" ") };
            let cflags = args.cflags.cflags.split_whitespace().map(String::from).collect();
            variants.push(Variant { label, flags: flags.clone(), family, assembly, cflags });
        }
    }
    Ok(variants)
}

/// Measures this machine beside the model of `--cpu`, or of the machine itself if there is one.
fn calibrate(args: &Bench) -> Result<(), Failure> {
    let family = match args.compilers.for_here().map_err(Failure::usage)?[..] {
        [] => Family::Any,
        [compiler] if !compiler.is_assembly() => compiler.family(),
        _ => return Err(Failure::usage("--calibrate takes one C compiler as --cc")),
    };
    let timing = match args.quick {
        true => CALIBRATION_QUICK,
        false => Timing::default(),
    };
    let cpu = args.cpu.or_else(|| cpuid::native().ok());
    let found = calibrate::calibrate(cpu, family, timing).map_err(Failure::program)?;
    let place = args.output.output.as_deref().map_or(Place::Stdout, Place::new);
    if !args.form.is_json() {
        return write_all(&[(place, found.to_string())]);
    }
    // A file with the figures does not replace the table on the screen.
    let table = if place == Place::Stdout { String::new() } else { found.to_string() };
    let json = serde_json::to_string_pretty(&found).expect("numbers have a JSON form") + "\n";
    write_all(&[(place, json)])?;
    to_stdout(&table)
}

fn compare(before: &Path, after: &Path) -> Result<(), Failure> {
    let (before, after) = (read(before)?, read(after)?);
    let difference = Difference::new(&before, &after).map_err(Failure::program)?;
    to_stdout(&difference.to_string())?;
    match difference.regressed() {
        true => Err(Failure::Refuted("something became slower".into())),
        false => Ok(()),
    }
}

/// Serializes a run.
pub fn json(run: &Run) -> String {
    serde_json::to_string_pretty(run).expect("strings and numbers have a JSON form") + "\n"
}

/// Reads the output of [`json`].
fn read(path: &Path) -> Result<Run, Failure> {
    let text = files::read(path)?;
    let wrong = |what: &str| Failure::program(format!("{}: {what}", text.name));
    let run: Run = serde_json::from_str(&text.text).map_err(|error| {
        wrong(&format!("no measurements of `usubac bench --format json`: {error}"))
    })?;
    match run.format {
        FORMAT => Ok(run),
        _ => Err(wrong("measurements of another version; measure again")),
    }
}

/// A progress bar on standard error, hidden if it is no terminal.
pub fn bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} (about {eta} left)");
    bar.set_style(style.expect("the template is well-formed"));
    bar
}

/// Shows the progress of a run.
pub fn show(bar: &ProgressBar, progress: &Progress) {
    bar.set_length(progress.total as u64);
    bar.set_position(progress.done as u64);
    bar.set_message(progress.next.to_string());
}
