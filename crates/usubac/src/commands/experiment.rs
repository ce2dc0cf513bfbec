//! `usubac bench --experiment`: repeats a published measurement. A JSON file stores the finished
//! cells; rows with verdicts, Markdown and plots derive from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde::Serialize;
use serde::de::DeserializeOwned;
use usuba_bench::experiment::chapter::Machine;
use usuba_bench::experiment::{
    self, Built, Conditions, Counted, Experiment, Lines, Results, Shown as Step, Staged,
};
use usuba_bench::session::Progress;
use usuba_run::native::Timing;

use super::bench::{bar, choice, show};
use crate::args::{self, Bench};
use crate::output::{Place, plain, to_stderr, to_stdout, write_all};
use crate::{Failure, files};

/// Samples of one kernel: experiments have many kernels.
const ROUNDS: u32 = 101;
const QUICK_ROUNDS: u32 = 48;

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
    make_folder(args)?;
    let file = || cells(args, &path);
    let before = read(&file())?;
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
    let mut save = |results: &Results| written(&file(), &json(results));
    let mut bar = Shown::new();
    let results = experiment::run(&experiment, &conditions, before, &mut save, &mut |progress| {
        bar.show(&progress);
    });
    bar.end();
    let results = results.map_err(Failure::program)?;
    let lines = results.lines(&experiment, &called(&path));
    let text = experiment::markdown(&experiment, &results, &lines);
    let plots = experiment::plots(&experiment, &results, &lines).map_err(Failure::program)?;
    let plots = plots.into_iter();
    let plots = plots.map(|(name, text)| (Place::File(folder(args).join(name)), text)).collect();
    told(args, &lines, text, plots)?;
    match results.is_good() {
        true => Ok(()),
        false => Err(Failure::Refuted("not everything computes what its vectors say".into())),
    }
}

/// The name of the page that [`chapter`] writes.
const CHAPTER: &str = "studies.md";

/// Renders the chapter on published numbers from the folders of `--chapter`.
pub fn chapter(args: &Bench) -> Result<(), Failure> {
    let machines: Result<Vec<Machine>, String> =
        args.chapter.iter().map(|folder| Machine::read(folder)).collect();
    let posts = experiment::chapter::posts().map_err(Failure::program)?;
    let machines = machines.map_err(Failure::program)?;
    let made = experiment::chapter::chapter(&machines, &posts).map_err(Failure::program)?;
    make_folder(args)?;
    let files = made.plots.into_iter().chain([(CHAPTER.to_string(), made.text)]);
    let files: Vec<(Place, String)> =
        files.map(|(name, text)| (Place::File(folder(args).join(name)), text)).collect();
    write_all(&files)?;
    let page = folder(args).join(CHAPTER);
    to_stderr(&format!("written: {} and {} plots\n", page.display(), files.len() - 1));
    Ok(())
}

/// Makes the folder of reports.
fn make_folder(args: &Bench) -> Result<(), Failure> {
    fs::create_dir_all(folder(args)).map_err(|error| {
        Failure::program(format!("cannot make {}: {}", folder(args).display(), plain(&error)))
    })
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
    make_folder(args)?;
    let file = cells(args, path);
    let before: Vec<Built> = read(&file)?.unwrap_or_default();
    let mut save = |built: &[Built]| written(&file, &json(&built));
    let mut bar = Shown::new();
    let built = staged.measure(
        experiment::folder(path),
        args.quick,
        &args::pipeline,
        &before,
        &mut save,
        &mut |progress| bar.show(&progress),
    );
    bar.end();
    let built = built.map_err(Failure::program)?;
    let lines = staged.lines(&built, args.quick, env!("CARGO_PKG_VERSION"), &called(path));
    told(args, &lines, staged.report(&built, &lines), Vec::new())?;
    match Staged::is_wrong(&built) {
        true => Err(Failure::Refuted("not everything computes what it should".into())),
        false => Ok(()),
    }
}

/// Runs an experiment on a small processor.
fn run_counted(args: &Bench, path: &Path, counted: &Counted) -> Result<(), Failure> {
    make_folder(args)?;
    let file = cells(args, path);
    let before: Vec<Step> = read(&file)?.unwrap_or_default();
    let mut save = |steps: &[Step]| written(&file, &json(&steps));
    let mut bar = Shown::new();
    let found = counted.measure(
        experiment::folder(path),
        args.quick,
        &args::pipeline,
        &before,
        &mut save,
        &mut |progress| bar.show(&progress),
    );
    bar.end();
    let found = found.map_err(Failure::program)?;
    let lines = counted.lines(&found, args.quick, env!("CARGO_PKG_VERSION"), &called(path));
    told(args, &lines, counted.report(&found, &lines), Vec::new())?;
    match Counted::is_wrong(&found) {
        true => Err(Failure::Refuted("not everything is proved and right".into())),
        false => Ok(()),
    }
}

/// The name of an experiment.
fn called(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The file of the finished cells of a run.
fn cells(args: &Bench, path: &Path) -> PathBuf {
    let quick = if args.quick { experiment::QUICK } else { "" };
    folder(args).join(format!("{}{quick}.json", called(path)))
}

/// Writes a report and its numbers, and shows the report.
fn told(
    args: &Bench,
    lines: &Lines,
    text: String,
    mut files: Vec<(Place, String)>,
) -> Result<(), Failure> {
    let file = |ending: &str| folder(args).join(format!("{}.{ending}", lines.stem()));
    let plots = files.len();
    files.push((Place::File(file("rows.json")), experiment::written(lines)));
    files.push((Place::File(file("md")), text.clone()));
    write_all(&files)?;
    to_stdout(&text)?;
    let names = ["rows.json", "md"].map(|ending| file(ending).display().to_string());
    to_stderr(&format!("written: {} and {plots} plots\n", names.join(", ")));
    Ok(())
}

/// Replaces a file, for the library.
fn written(path: &Path, text: &str) -> Result<(), String> {
    let written = write_all(&[(Place::File(path.to_path_buf()), text.to_string())]);
    written.map_err(|failure| failure.text().unwrap_or("cannot write").to_string())
}

fn json(results: &impl Serialize) -> String {
    serde_json::to_string(results).expect("strings and numbers have a JSON form") + "\n"
}

/// The results of an earlier run. An existing file with other contents is an error and is not
/// overwritten.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
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

/// The progress of a run: a bar on a terminal, elsewhere a line every minute.
struct Shown {
    bar: ProgressBar,
    start: Instant,
    /// The last line.
    last: Instant,
}

/// The time between two lines.
const MINUTE: Duration = Duration::from_secs(60);

impl Shown {
    fn new() -> Shown {
        let now = Instant::now();
        Shown { bar: bar(), start: now, last: now }
    }

    fn show(&mut self, progress: &Progress) {
        show(&self.bar, progress);
        if self.bar.is_hidden() && self.last.elapsed() >= MINUTE {
            self.last = Instant::now();
            let Progress { done, total, next, .. } = progress;
            let each = self.start.elapsed().as_secs_f64() / (*done).max(1) as f64;
            let left = (each * (total - done) as f64 / 60.0).ceil();
            to_stderr(&format!("{done} of {total} done, about {left} min left: {next}\n"));
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}
