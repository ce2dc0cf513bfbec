//! A run of measurements, and the comparison of two ways to compile.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use usuba::ir::Slicing;
use usuba::isa;
use usuba::isa::cpu::{self, Cpu};
use usuba::passes::pipeline::PipelineOptions;
use usuba_bench::bench::{Choice, Problem, Side, Variant, compare};
use usuba_bench::difference::Difference;
use usuba_bench::experiment::{Counted, Experiment, Number, Post, Staged};
use usuba_bench::session::{self, Request};
use usuba_run::native::Timing;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers")
}

/// A parser for variants without flags.
fn no_flags(flags: &str) -> Result<(PipelineOptions, &'static Cpu), String> {
    let plain = (PipelineOptions::default(), cpu::ALL[0]);
    if flags.is_empty() { Ok(plain) } else { Err(format!("`{flags}`")) }
}

#[test]
fn a_run_has_a_verified_entry_per_function_and_target() {
    let timing = Timing { rounds: 11, cycles: 20_000 };
    let choice = Choice {
        ciphers: vec!["rectangle".into()],
        targets: vec!["gp64".into()],
        slicings: vec![Slicing::V, Slicing::H],
        timing: Some(timing),
        ..Choice::default()
    };
    let variants = [Variant::default()];
    let ciphers = usuba_ciphers::find(&root()).unwrap_or_else(|e| panic!("{e}"));
    let request = Request {
        tuned: false,
        ciphers: &ciphers,
        choice: &choice,
        variants: &variants,
        parse: &no_flags,
        version: "0",
    };
    let mut heard = Vec::new();
    let run = session::run(&request, &mut |progress| heard.push(progress.next.to_string()));
    let run = run.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(heard, ["rectangle gp64", ""]);
    assert!(run.is_good(), "{run}");
    let rows: Vec<_> =
        run.entries.iter().map(|e| (e.slicing.as_str(), e.target.as_str())).collect();
    assert_eq!(rows, [("V", "gp64"), ("H", "gp64")]);
    for entry in &run.entries {
        let numbers = entry.numbers().unwrap_or_else(|| panic!("{run}"));
        for times in [&numbers.kernel, &numbers.packed, &numbers.whole] {
            let times = times.as_ref().expect("timed");
            assert!(times.median > 0.5 && times.samples.len() == 11, "{run}");
            assert!(times.quartiles[0] <= times.median && times.median <= times.quartiles[1]);
        }
        let limit = numbers.limit.expect("the machine was measured");
        assert!(limit > 0.1 && numbers.work.instructions() > 100, "{run}");
        if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            // In a loop, more is executed than is written.
            let (written, executed) =
                (numbers.written.expect("x86"), numbers.executed.expect("Linux"));
            assert!(written.instructions > 50 && executed.instructions >= numbers.work.stores);
            assert!(numbers.ipc.expect("both are known") > 0.05, "{run}");
        }
    }
    let same = Difference::new(&run, &run).expect("the same machine");
    assert!(!same.regressed() && same.changes.len() == 2 && same.alone.is_empty(), "{same}");
    let nothing = Choice { ciphers: vec!["caesar".into()], ..Choice::default() };
    let request = Request { choice: &nothing, ..request };
    assert!(session::run(&request, &mut |_| {}).is_err());
}

#[test]
fn sides_are_compared_by_turns() {
    let cipher = usuba_ciphers::read(&root().join("gimli")).unwrap_or_else(|e| panic!("{e}"));
    let side = |label: &str, flag: &str| Side {
        label: label.into(),
        flags: vec![flag.into()],
        ..Side::default()
    };
    let sides = [side("slow", "-O0"), side("fast", "-O2"), side("wrong", "-no-such-flag")];
    let target = isa::find("gp64").expect("it is in the list");
    let timing = Timing { rounds: 11, cycles: 20_000 };
    let function = &cipher.functions[0];
    let comparison = compare(&cipher, function, Slicing::V, target, &sides, timing);
    let ratio = comparison.ratio(1).unwrap_or_else(|| panic!("{comparison}"));
    assert!(ratio < 0.9, "optimised code takes {ratio} of the time\n{comparison}");
    assert!(matches!(&comparison.rows[2].1, Err(Problem::Failed(why)) if why.contains("no-such")));
}

#[test]
fn every_experiment_is_well_formed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/experiments");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{e}")) {
        let path = entry.unwrap_or_else(|e| panic!("{e}")).path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        if let Some(staged) = Staged::read(&path) {
            let staged = staged.unwrap_or_else(|e| panic!("{e}"));
            assert!(!staged.stages.is_empty(), "{}", path.display());
            continue;
        }
        if let Some(counted) = Counted::read(&path) {
            let counted = counted.unwrap_or_else(|e| panic!("{e}"));
            assert!(counted.steps.len() >= 5, "{}", path.display());
            continue;
        }
        let experiment = Experiment::read(&path).unwrap_or_else(|e| panic!("{e}"));
        assert!(!experiment.columns(true).is_empty(), "{}", path.display());
        names.push(path);
    }
    assert!(names.len() >= 8, "{names:?}");
}

/// Each published number has one of ours beside it, or a reason; no number has both.
#[test]
fn every_published_number_is_used_or_has_a_reason() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench");
    let files = |folder: &str, ending: &str| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(bench.join(folder)).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
    };
    let mut used = BTreeSet::new();
    let mut use_it = |number: &Number| {
        used.insert([&number.file, &number.row.name, &number.column].map(String::clone));
    };
    let mut shown = Vec::new();
    for path in files("experiments", "toml") {
        if let Some(staged) = Staged::read(&path) {
            staged.unwrap_or_else(|e| panic!("{e}")).published().for_each(&mut use_it);
        } else if let Some(counted) = Counted::read(&path) {
            let counted = counted.unwrap_or_else(|e| panic!("{e}"));
            counted.published().for_each(&mut use_it);
            shown.extend(counted.programs);
        } else {
            let experiment = Experiment::read(&path).unwrap_or_else(|e| panic!("{e}"));
            experiment.published().for_each(&mut use_it);
        }
    }
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in files("published", "json") {
        let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let post = Post::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let in_table = shown.iter().any(|name| name.ends_with(&format!("/{file}.json")));
        for (row, column) in post.numbers() {
            count += 1;
            let is_used = used.contains(&[&*file, row, column].map(String::from));
            match (is_used || in_table, post.apart(row, column)) {
                (true, None) | (false, Some(_)) => {}
                (true, Some(_)) => wrong.push(format!("{file}, {row}, {column}: used, and apart")),
                (false, None) => wrong.push(format!("{file}, {row}, {column}: unused")),
            }
        }
    }
    assert!(count > 600 && wrong.is_empty(), "{count} numbers\n{}", wrong.join("\n"));
}
