//! `usubac tune`: chooses flags by measurement, and stores them beside the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use usuba::diag::Sources;
use usuba::ir::Slicing;
use usuba_bench::tune::compilers;
use usuba_bench::tune::cpu;
use usuba_bench::tune::ninja;
use usuba_bench::tune::search::{self, Answer, Event, Outcome, Stop};
use usuba_bench::tune::search_log::SearchLog;
use usuba_bench::tune::space::{Chosen, Space};
use usuba_bench::tune::subject::{self, Node, Subject, Texts};
use usuba_bench::tune::tuned::{self, About, FOLDER, Tuned};
use usuba_bench::tune::workshop::{Given, Job, Workshop};
use usuba_ciphers::{Beside, Cipher, Function};
use usuba_run::fingerprint::fingerprint;

use super::front::reported;
use super::subject::changeable;
use super::tuned::read;
use crate::args::{self, Abi, Goal, Tune};
use crate::output::{Place, plain, to_stderr, to_stdout, write_all};
use crate::report::Reporter;
use crate::{Failure, fault, files, interrupt};

pub fn run(args: &Tune, reporter: Reporter) -> Result<(), Failure> {
    match cipher(args)? {
        Some(cipher) => function(args, &cipher, reporter),
        None => node(args, reporter),
    }
}

/// The cipher, if the subject is one and not a program.
fn cipher(args: &Tune) -> Result<Option<Cipher>, Failure> {
    if args.subject.is_file() {
        return Ok(None);
    }
    let subject = args.subject.to_string_lossy();
    let found = args.folder.library().there(&subject).map_err(Failure::Program)?;
    found.map(Some).ok_or_else(|| {
        Failure::program(format!(
            "{subject} is neither a program nor a folder with a cipher.toml, nor a built-in cipher; \
             help: --ciphers names the folder of your cipher folders"
        ))
    })
}

/// Tunes a function of a cipher folder.
fn function(args: &Tune, cipher: &Cipher, reporter: Reporter) -> Result<(), Failure> {
    if args.language.entry().is_some() || !args.language.reading().is_empty() {
        return Err(Failure::usage(
            "a cipher.toml says how its programs are read; --function names the function",
        ));
    }
    let names = || cipher.functions.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ");
    let wanted = |name: &str| cipher.functions.iter().find(|f| f.name == name);
    let asked = args.language.slicing()?;
    let function = match args.functions.one()? {
        None => {
            let fits = |f: &&Function| asked.is_none_or(|s| f.slicings.contains(&s));
            let named = cipher.function(&args.subject.to_string_lossy());
            let first = cipher.functions.iter().find(fits).or(cipher.functions.first());
            named.or(first)
        }
        Some(name) => wanted(name),
    };
    let Some(function) = function else {
        return Err(Failure::usage(format!("the functions are {}", names())));
    };
    if args.candidate.is_none() {
        changeable(&cipher.folder)?;
    }
    let path = cipher.folder.join(&function.source);
    let mut sources = Sources::default();
    let text = files::read(&path)?;
    let root = sources.add(text.name, text.text);
    let flags = args.language.flags();
    let found = Texts::gather(&mut sources, root, &mut Beside, Some(&function.node), flags);
    found.map_err(|findings| reported(&sources, &findings, reporter))?;
    let goal = match args.goal {
        Goal::Kernel => subject::Goal::Kernel,
        Goal::Bytes => subject::Goal::Bytes,
    };
    let about = About {
        program: function.source.clone(),
        sha256: fingerprint(&sources),
        entry: function.node.clone(),
        reading: String::new(),
        goal: goal.name(),
    };
    tune(args, &Subject::Function { cipher, function, goal }, &path, &about)
}

/// Tunes the entry of a program.
fn node(args: &Tune, reporter: Reporter) -> Result<(), Failure> {
    if !args.functions.functions.is_empty() || args.goal == Goal::Bytes {
        return Err(Failure::usage(
            "only a folder with a cipher.toml has functions and a byte interface; --entry names \
             the node of a program",
        ));
    }
    fault::stage("reading the program");
    let mut sources = Sources::default();
    let language = &args.language;
    let (root, mut loader) = files::open(&mut sources, &args.subject, &language.includes.include)?;
    let (entry, flags) = (language.entry(), language.flags());
    let (texts, checked) = Texts::gather(&mut sources, root, &mut loader, entry, flags)
        .map_err(|findings| reported(&sources, &findings, reporter))?;
    reporter.show(&sources, &checked.warnings);
    let program = &checked.program;
    let about = About {
        program: args.subject.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        sha256: fingerprint(&sources),
        entry: program.entry_text(),
        reading: language.reading(),
        goal: subject::Goal::Kernel.name(),
    };
    let node = Node::new(texts, language.entry().map(str::to_string), flags, language.word);
    tune(args, &Subject::Node(node), &args.subject, &about)
}

fn parse(flags: &str) -> Result<Chosen, String> {
    let codegen = args::tuned_flags(flags)?;
    Ok(Chosen { pipeline: codegen.pipeline(Abi::Usuba), cpu: codegen.cpu })
}

fn tune(args: &Tune, subject: &Subject, file: &Path, about: &About) -> Result<(), Failure> {
    let target = args.targets.one("native")?.target;
    if let (Some(flags), Some(output)) = (&args.candidate, &args.output.output) {
        fault::stage("writing a candidate");
        let (slicing, codegen) = args::codegen(flags).map_err(Failure::usage)?;
        let chosen = Chosen { pipeline: codegen.pipeline(Abi::Usuba), cpu: codegen.cpu };
        let made = subject.make(slicing.unwrap_or(Slicing::V), target, &chosen);
        return write_all(&[(Place::new(output), made.map_err(Failure::program)?.code)]);
    }
    let asked = args.language.slicing()?;
    let mut slicings = subject.slicings();
    slicings.retain(|&slicing| asked.is_none_or(|asked| asked == slicing));
    if slicings.is_empty() {
        return Err(Failure::program("the program has no such slicing"));
    }
    let compilers = compilers::compilers(target).map_err(|why| {
        Failure::program(format!("nothing can be timed for {} here: {why}", target.name))
    })?;
    let space = Space::new(target, compilers, &parse);
    let model = cpu::model();
    let jobs = args
        .jobs
        .jobs
        .map(usize::from)
        .or_else(|| std::thread::available_parallelism().ok().map(std::num::NonZero::get));
    let job =
        Job { subject, target, space: &space, parse: &parse, cpu: &model, jobs: jobs.unwrap_or(1) };
    if let Some(folder) = &args.ninja {
        return plan(args, &job, &slicings, folder, file);
    }
    let name = cpu::slug(&model);
    let home = file.parent().unwrap_or(Path::new(""));
    let place = tuned::path(home, target.name, &name);
    let mut kept = match place.is_file() {
        true => read(&place)?,
        false => Tuned { cpu: model.clone(), target: target.name.into(), choices: Vec::new() },
    };
    to_stderr(&format!("{} of {}: {} on {model}\n", about.entry, about.program, target.name));
    let outcome = measure(args, &job, &slicings, home, &name)?;
    kept.cpu.clone_from(&model);
    kept.replace(tuned::choices(&outcome, &space, about));
    write_all(&[(Place::File(place.clone()), tuned::print(&kept))])?;
    to_stdout(&summary(&outcome, &job, &place))
}

/// Runs the search.
fn measure(
    args: &Tune,
    job: &Job,
    slicings: &[Slicing],
    home: &Path,
    name: &str,
) -> Result<Outcome, Failure> {
    fault::stage("tuning");
    let mut record = open(args, job, home, name)?;
    let given = match &args.from {
        None => None,
        Some(folder) => Some(Given { folder: objects(folder)?, known: record.challengers() }),
    };
    let interrupted = interrupt::postpone();
    let mut workshop =
        Workshop::new(job, args.time_limit, given, interrupted).map_err(Failure::program)?;
    let bar = bar(args.time_limit);
    let start = Instant::now();
    let mut tell = |event: &Event| {
        bar.set_position((start.elapsed().as_millis() as u64).min(bar.length().unwrap_or(0)));
        match event {
            Event::LeftOut(slicing, why) => {
                let why = why.lines().next().unwrap_or_default();
                bar.suspend(|| to_stderr(&format!("no {slicing:?}: {why}\n")));
            }
            Event::Raced { slicing, point, answer, .. } => {
                let ratio = match answer {
                    Answer::Raced(race) => format!("{:.3}", race.ratio),
                    Answer::Failed(_) => "fails".into(),
                };
                bar.set_message(format!("{ratio}  {}", job.label(*slicing, point)));
            }
        }
    };
    let outcome = search::search(job.space, slicings, &mut workshop, &mut record, &mut tell);
    bar.finish_and_clear();
    outcome.map_err(|stop| match stop {
        Stop::Wrong(what) => Failure::Refuted(format!(
            "a candidate computes something else than its program: {what}; this is a bug in usubac \
             or in a C compiler, and nothing was written"
        )),
        Stop::Interrupted => {
            Failure::program("interrupted; what was measured is kept, and the same command goes on")
        }
        Stop::System(why) => Failure::program(why),
        Stop::Budget => Failure::program("the time is up"),
    })
}

/// Opens the log of measurements.
fn open(args: &Tune, job: &Job, home: &Path, name: &str) -> Result<SearchLog, Failure> {
    let state = home.join(FOLDER).join(".state");
    let path = state.join(format!("{}-{name}.jsonl", job.target.name));
    if args.restart && path.is_file() {
        fs::remove_file(&path).map_err(|error| {
            Failure::program(format!("cannot remove {}: {}", path.display(), plain(&error)))
        })?;
    }
    let record = SearchLog::open(&path).map_err(Failure::program)?;
    // The log does not belong in a repository; the result does.
    let ignore = state.join(".gitignore");
    if !ignore.is_file() {
        write_all(&[(Place::File(ignore), "*\n".into())])?;
    }
    if !record.is_empty() {
        to_stderr(&format!("{} measurements are there already\n", record.len()));
    }
    Ok(record)
}

/// The folder of a `build.ninja`, as an absolute path; reports its missing objects.
fn objects(folder: &Path) -> Result<PathBuf, Failure> {
    let whole = fs::canonicalize(folder).map_err(|error| {
        Failure::program(format!("cannot read {}: {}", folder.display(), plain(&error)))
    })?;
    let (all, lost) = ninja::missing(&whole).map_err(Failure::program)?;
    let mut text = format!("{} of {all} objects are there\n", all - lost.len());
    /// More names would hide the rest of the output.
    const SHOWN: usize = 10;
    for what in lost.iter().take(SHOWN) {
        text.push_str(&format!("missing: {what}\n"));
    }
    if lost.len() > SHOWN {
        text.push_str(&format!("missing: {} more\n", lost.len() - SHOWN));
    }
    to_stderr(&text);
    Ok(whole)
}

fn bar(budget: Duration) -> ProgressBar {
    let bar = ProgressBar::new(budget.as_millis().min(u128::from(u64::MAX)) as u64);
    let style = ProgressStyle::with_template("[{elapsed}] {bar:30} {wide_msg}");
    bar.set_style(style.expect("the template is fixed"));
    bar
}

/// Exports the search for a compile farm.
fn plan(
    args: &Tune,
    job: &Job,
    slicings: &[Slicing],
    folder: &Path,
    file: &Path,
) -> Result<(), Failure> {
    fault::stage("planning the candidates");
    let whole = |path: &Path| {
        fs::canonicalize(path).map(|path| path.display().to_string()).map_err(|error| {
            let why = plain(&error);
            Failure::program(format!("cannot find {}: {why}", path.display()))
        })
    };
    let program = std::env::current_exe();
    let program = program.map_err(|error| Failure::program(format!("who am I? {error}")))?;
    let subject = match job.subject {
        Subject::Function { cipher, .. } => whole(&cipher.folder)?,
        Subject::Node(_) => whole(file)?,
    };
    let mut words = vec![program.display().to_string(), "tune".into(), subject];
    words.extend(["--target".into(), job.target.name.to_string()]);
    if let Subject::Function { function, goal, .. } = job.subject {
        let goal = goal.name().to_string();
        words.extend(["--function".into(), function.name.clone(), "--goal".into(), goal]);
    }
    if let Some(entry) = args.language.entry() {
        words.extend(["--entry".into(), entry.to_string()]);
    }
    words.extend(args.language.reading().split_whitespace().map(str::to_string));
    for dir in &args.language.includes.include {
        words.extend(["-I".into(), whole(dir)?]);
    }
    let plan = ninja::plan(job, slicings, args.points, &words, &args.launcher);
    let plan = plan.map_err(Failure::program)?;
    fs::create_dir_all(folder).map_err(|error| {
        Failure::program(format!("cannot make {}: {}", folder.display(), plain(&error)))
    })?;
    write_all(&[
        (Place::File(folder.join("build.ninja")), plan.ninja),
        (Place::File(folder.join("candidates.txt")), plan.list),
    ])?;
    let (folder, subject) = (folder.display(), args.subject.display());
    to_stdout(&format!(
        "{} C files and {} objects\ncompile them with: ninja -k 0 -C {folder}\n\
         measure them with: usubac tune {subject} --target {} --from {folder}\n",
        plan.sources, plan.objects, job.target.name
    ))
}

/// The result of a search as text.
fn summary(outcome: &Outcome, job: &Job, place: &Path) -> String {
    let mut text = String::new();
    for (at, lane) in outcome.lanes.iter().enumerate() {
        let mark = if at == outcome.fastest && outcome.lanes.len() > 1 { ", fastest" } else { "" };
        text += &match &lane.race {
            None => format!("{:?}: the defaults{mark}\n", lane.slicing),
            Some(race) => format!(
                "{:?}: {:.3} of the time of the defaults ({:.3} to {:.3}){mark}: {}\n",
                lane.slicing,
                race.ratio,
                race.low,
                race.high,
                job.label(lane.slicing, &lane.best)
            ),
        };
    }
    text += &format!(
        "{} candidates timed, {} given up early, {} not compiled\n",
        outcome.raced,
        outcome.hopeless,
        outcome.failed.len()
    );
    for why in outcome.failed.iter().take(3) {
        text += &format!("  {why}\n");
    }
    if outcome.cut {
        text += "the time is up; the same command goes on where it ended\n";
    }
    text + &format!("written: {}\n", place.display())
}
