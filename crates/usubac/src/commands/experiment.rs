//! `usubac bench --experiment`: repeats a published measurement. A JSON file stores the finished
//! cells; Markdown and SVG reports derive from it.

use std::fs;
use std::path::{Path, PathBuf};

use usuba_bench::experiment::{self, Conditions, Counted, Experiment, Results, Staged};
use usuba_run::native::Timing;

use super::bench::{bar, choice, show};
use crate::args::{self, Bench};
use crate::output::{Place, plain, to_stderr, to_stdout, write_all};
use crate::{Failure, files};

/// Samples of one kernel: experiments have many kernels.
const ROUNDS: u32 = 101;
const QUICK_ROUNDS: u32 = 31;

/// The folder of reports, unless another one is named.
const RESULTS: &str = "bench/results";

fn folder(args: &Bench) -> &Path {
    args.output.output.as_deref().unwrap_or(Path::new(RESULTS))
}

pub fn run(args: &Bench, name: &Path) -> Result<(), Failure> {
    let path = match name.extension() {
        Some(_) => name.to_path_buf(),
        None => built_in(name)?,
    };
    if let Some(staged) = Staged::read(&path) {
        return run_staged(args, &path, &staged.map_err(Failure::program)?);
    }
    if let Some(counted) = Counted::read(&path) {
        return run_counted(args, &path, &counted.map_err(Failure::program)?);
    }
    let experiment = Experiment::read(&path).map_err(Failure::program)?;
    let chosen = choice(args)?;
    if !chosen.targets.is_empty() || !chosen.slicings.is_empty() {
        return Err(Failure::usage(
            "an experiment says itself which targets and slicings it needs",
        ));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stem = if args.quick { format!("{stem}-quick") } else { stem };
    fs::create_dir_all(folder(args)).map_err(|error| {
        Failure::program(format!("cannot make {}: {}", folder(args).display(), plain(&error)))
    })?;
    let file = |ending: &str| folder(args).join(format!("{stem}.{ending}"));
    let before = read(&file("json"))?;
    let root = args.folder.library().root();
    let conditions = Conditions {
        root: &root,
        quick: args.quick,
        only: &chosen.ciphers,
        timing: Timing {
            rounds: if args.quick { QUICK_ROUNDS } else { ROUNDS },
            ..Timing::default()
        },
        parse: &args::pipeline,
        version: env!("CARGO_PKG_VERSION"),
    };
    let mut save = |results: &Results| {
        let written = write_all(&[(Place::File(file("json")), json(results))]);
        written.map_err(|failure| failure.text().unwrap_or("cannot write").to_string())
    };
    let bar = bar();
    let results = experiment::run(&experiment, &conditions, before, &mut save, &mut |progress| {
        show(&bar, &progress);
    });
    bar.finish_and_clear();
    let results = results.map_err(Failure::program)?;
    let text = experiment::markdown(&experiment, &results);
    let plots = experiment::plots(&experiment, &results, &stem).map_err(Failure::program)?;
    let mut written: Vec<(Place, String)> = plots
        .into_iter()
        .map(|(name, text)| (Place::File(folder(args).join(name)), text))
        .collect();
    written.push((Place::File(file("md")), text.clone()));
    write_all(&written)?;
    to_stdout(&text)?;
    let names: Vec<PathBuf> = vec![file("json"), file("md")];
    let names: Vec<String> = names.iter().map(|name| name.display().to_string()).collect();
    to_stderr(&format!("written: {} and {} plots\n", names.join(", "), written.len() - 1));
    match results.is_good() {
        true => Ok(()),
        false => Err(Failure::Refuted("not everything computes what its vectors say".into())),
    }
}

/// The built-in experiment of this name.
fn built_in(name: &Path) -> Result<PathBuf, Failure> {
    let folder = usuba_ciphers::files::experiments();
    let path = folder.join(name).with_extension("toml");
    if usuba_ciphers::files::is_file(&path) {
        return Ok(path);
    }
    let mut known = usuba_ciphers::files::entries(&folder).unwrap_or_default();
    known.retain(|path| path.extension() == Some("toml".as_ref()));
    let stem = |path: &PathBuf| path.file_stem().unwrap_or_default().display().to_string();
    Err(Failure::usage(format!(
        "there is no experiment `{}`; help: name a file, or one of {}",
        name.display(),
        known.iter().map(stem).collect::<Vec<_>>().join(", ")
    )))
}

/// Runs an experiment with programs of its own.
fn run_staged(args: &Bench, path: &Path, staged: &Staged) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut progress = |build: &str| {
        to_stderr(&format!("measuring: {build}\n"));
    };
    let built = staged.measure(folder, args.quick, &args::pipeline, &mut progress);
    let built = built.map_err(Failure::program)?;
    told(args, path, &staged.report(&built, args.quick))?;
    match Staged::is_wrong(&built) {
        true => Err(Failure::Refuted("not everything computes what it should".into())),
        false => Ok(()),
    }
}

/// Runs an experiment on a small processor.
fn run_counted(args: &Bench, path: &Path, counted: &Counted) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut progress = |step: &str| {
        to_stderr(&format!("counting: {step}\n"));
    };
    let shown = counted.measure(folder, args.quick, &args::pipeline, &mut progress);
    let shown = shown.map_err(Failure::program)?;
    told(args, path, &counted.report(&shown, args.quick))?;
    match Counted::is_wrong(&shown) {
        true => Err(Failure::Refuted("not everything is proved and right".into())),
        false => Ok(()),
    }
}

/// Writes a report, and shows it.
fn told(args: &Bench, path: &Path, text: &str) -> Result<(), Failure> {
    fs::create_dir_all(folder(args)).map_err(|error| {
        Failure::program(format!("cannot make {}: {}", folder(args).display(), plain(&error)))
    })?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}{}.md", if args.quick { "-quick" } else { "" });
    write_all(&[(Place::File(folder(args).join(name)), text.to_string())])?;
    to_stdout(text)
}

fn json(results: &Results) -> String {
    serde_json::to_string(results).expect("strings and numbers have a JSON form") + "\n"
}

/// The results of an earlier run. An existing file with other contents is an error and is not
/// overwritten.
fn read(path: &Path) -> Result<Option<Results>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    let text = files::read(path)?;
    let results = serde_json::from_str(&text.text).map_err(|error| {
        Failure::program(format!(
            "{} holds no results of this version ({error}); remove it to measure again",
            text.name
        ))
    })?;
    Ok(Some(results))
}
