//! `usubac prove --all`: every function of every cipher folder in every slicing on every target,
//! and arithmetic.
//!
//! ```text
//! tasks ─ 2 threads ─→ in the cache? ─ no ─→ compile, prove, compile C, prove objects ─→ cache
//!                              └ yes ─→ record
//! ```
//!
//! A proved task enters the cache at once, so an interrupted run resumes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use usuba::Options;
use usuba::diag::Sources;
use usuba::isa::Target;
use usuba::passes::interleave::Choice;
use usuba::typed;
use usuba_ciphers::Beside;
use usuba_prove::cache::{Cache, Statement};
use usuba_prove::cell::{Cell, Extent, Known, Obstacle};
use usuba_prove::certificate::Record;
use usuba_prove::objects;
use usuba_prove::tasks::{self, Backend, Request, Task, Tasks};
use usuba_prove::threads;
use usuba_run::fingerprint::fingerprint;

use super::totals::Totals;
use super::{show, write_certificates};
use crate::args::common::Folder;
use crate::args::{Abi, Prove, Verify};
use crate::commands::slice;
use crate::commands::subject::changeable;
use crate::output::{to_stderr, to_stdout};
use crate::report::Reporter;
use crate::{Failure, fault, files};

/// The result of a task.
enum Done {
    /// Proved now or before.
    Proved(Box<Record>),
    /// Refuted or unknown, and reported.
    Failed,
    /// The target or the slicing does not support the program.
    Impossible,
}

/// The state that all tasks of a run share.
struct Run<'a> {
    args: &'a Prove,
    backends: &'a [Backend],
    cache: Cache,
    known: Known,
    bar: ProgressBar,
    totals: Mutex<Totals>,
}

pub fn run(args: &Prove) -> Result<(), Failure> {
    let start = Instant::now();
    fault::stage("reading the ciphers");
    let request = request(args)?;
    if args.certify {
        let folders = request.only.iter().map(|name| request.folder.join(name));
        folders
            .chain(request.only.is_empty().then(|| request.folder.clone()))
            .try_for_each(|folder| changeable(&folder))?;
    }
    let backends = tasks::backends(&request).map_err(Failure::Program)?;
    let tasks = tasks::tasks(&request, &backends).map_err(Failure::Program)?;
    let Tasks { all: tasks, skipped } = tasks;
    if tasks.is_empty() {
        return Err(Failure::program(
            "nothing is proved: no function has these slicings on these targets; help: `slicings` \
             and `targets` in cipher.toml list them",
        ));
    }
    fault::stage("proving the ciphers");
    let bar = ProgressBar::new(tasks.len() as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} (about {eta} left)");
    bar.set_style(style.expect("the template is well-formed"));
    let run = Run {
        args,
        backends: &backends,
        cache: Cache::new(args.cache.cache.clone(), args.cache.no_cache),
        known: Known::default(),
        bar,
        totals: Mutex::default(),
    };
    let done = threads::each(&tasks, args.jobs.jobs, |task| prove_task(task, &run));
    let done = done.map_err(Failure::Program)?;
    run.bar.finish_and_clear();
    let mut totals = run.totals.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut records: BTreeMap<&Path, Vec<Record>> = BTreeMap::new();
    for (task, done) in tasks.iter().zip(done) {
        match done? {
            Done::Proved(record) => {
                totals.proved += 1;
                records.entry(&task.folder).or_default().push(*record);
            }
            Done::Failed => totals.failed += 1,
            Done::Impossible => totals.impossible += 1,
        }
    }
    if args.certify {
        for (folder, records) in &records {
            write_certificates(folder, records)?;
        }
    }
    totals.seconds = start.elapsed().as_secs_f64();
    totals.skipped = skipped;
    totals.look_at(&records, &backends, args);
    to_stdout(&match args.form.is_json() {
        true => totals.json(),
        false => totals.text(&records),
    })?;
    if totals.failed == 0 { Ok(()) } else { Err(Failure::Reported) }
}

/// The proofs that the command line selects.
fn request(args: &Prove) -> Result<Request, Failure> {
    let (folder, only) = folders(&args.folder, &args.subjects)?;
    Ok(Request {
        folder,
        only,
        target: args.codegen.targets.all(),
        slicings: args.language.slicings(),
        flags: args.language.flags(),
        makers: args.makers(),
        afresh: args.cache.no_cache,
        binary: args.binary,
        interface: args.interface,
    })
}

/// The folder of all cipher folders, and the names of those that were asked for.
pub fn folders(all: &Folder, subjects: &[PathBuf]) -> Result<(PathBuf, Vec<String>), Failure> {
    let library = all.library();
    let (mut root, mut names) = (None, Vec::new());
    for subject in subjects {
        let text = subject.to_string_lossy();
        let found = library.folder_of(&text).map_err(Failure::Program)?;
        // Folders of arithmetic have no cipher.toml.
        let path = found.unwrap_or_else(|| library.root().join(subject));
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Failure::program(format!("{text} is no folder of a cipher")));
        };
        let parent = if parent == Path::new("") { Path::new(".") } else { parent };
        if *root.get_or_insert_with(|| parent.to_path_buf()) != *parent {
            return Err(Failure::usage(
                "the ciphers are in several folders; help: name those of one folder at a time",
            ));
        }
        names.push(name.to_string_lossy().into_owned());
    }
    Ok((root.unwrap_or_else(|| library.root()), names))
}

fn locked<T>(memory: &Mutex<T>) -> MutexGuard<'_, T> {
    memory.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn prove_task(task: &Task, run: &Run) -> Result<Done, Failure> {
    let Run { args, backends, cache, bar, .. } = run;
    let path = task.folder.join(&task.file);
    let text = files::read(&path)?;
    let mut sources = Sources::default();
    let root = sources.add(text.name, text.text);
    let flags = args.language.flags();
    let checked = usuba::front(&mut sources, root, &mut Beside, Some(&task.node), flags);
    let checked = checked.map_err(|findings| {
        let first = findings.iter().find(|finding| finding.is_error());
        let first = first.map(|finding| finding.message.clone());
        Failure::program(format!("{}: {}", path.display(), first.unwrap_or_default()))
    })?;
    let sha256 = fingerprint(&sources);
    bar.set_message(format!("{}, {} on {}", task.file, task.node, task.on.name));
    let cell = cell_of(task, args, task.on, &sha256)?;
    let backend = backends.iter().find(|backend| backend.target.name == task.on.name);
    let backend = backend.expect("tasks are made of them");
    let of_objects = match &task.interfaces {
        Some(interfaces) if objects::has_machine(task.on) => {
            let [kernels, functions] = &backend.identity;
            format!(
                "{kernels}\n\n{functions}\n\n{}",
                interfaces.identity(&cell).map_err(Failure::Program)?
            )
        }
        _ => backend.identity[0].clone(),
    };
    let statement = Statement::new(&cell, args.direct, of_objects);
    let done = match cache.find(&statement) {
        Some(record) => {
            if args.form.is_json() {
                bar.suspend(|| to_stdout(&show::json_before(&record)))?;
            }
            locked(&run.totals).before += 1;
            Ok(Done::Proved(Box::new(record)))
        }
        None => {
            let objects = &backend.objects;
            let interfaces = task.interfaces.as_ref().map(|all| (all, &backend.functions));
            let (direct, plant) = (args.direct, None);
            let extent = Extent { direct, objects, interfaces, plant, known: &run.known };
            let done = prove(&cell, &checked.program, run, extent)?;
            if let Done::Proved(record) = &done {
                cache.keep(statement, (**record).clone());
            }
            Ok(done)
        }
    };
    bar.inc(1);
    done
}

/// The compile of a task.
fn cell_of(
    task: &Task,
    args: &Prove,
    target: &'static Target,
    sha256: &str,
) -> Result<Cell, Failure> {
    let mut language = args.language.clone();
    language.set_slicing(task.slicing);
    language.set_entry(&task.node);
    let codegen = &args.codegen;
    let mut options = slice::options(&language, target, codegen.pipeline(Abi::Usuba))?;
    options.c = codegen.text();
    let mut flags = codegen.written();
    if !task.link.is_empty() && codegen.link.is_empty() {
        // A called kernel has one instance in each lane.
        options.pipeline.pass.interleave = Choice::SINGLE;
        options.c.linked = task.link.clone();
        flags.push_str(&format!(" --interleave 1 --link {}", task.link.join(",")));
    }
    if !task.prefix.is_empty() && codegen.prefix.text().is_empty() {
        options.c.prefix = task.prefix.to_string();
        flags.push_str(&format!(" --prefix {}", task.prefix));
    }
    Ok(Cell {
        program: task.file.clone(),
        reading: language.reading(),
        flags: flags.trim().to_string(),
        sha256: sha256.to_string(),
        options: Options { cpu: codegen.cpu, ..options },
    })
}

/// Proves a cell; reports an unproved one at once.
fn prove(
    cell: &Cell,
    program: &typed::Program,
    run: &Run,
    extent: Extent,
) -> Result<Done, Failure> {
    let Run { args, bar, .. } = run;
    let entry = cell.options.entry.as_deref();
    let promise = extent.known.promise(&cell.sha256, program, entry);
    let proof = match cell.prove(program, extent) {
        Ok(mut proof) => {
            proof.claims.splice(0..0, promise);
            proof
        }
        Err(Obstacle::Findings(_)) => return Ok(Done::Impossible),
        Err(Obstacle::Failure(why)) => {
            let entry = cell.options.entry.as_deref().unwrap_or_default();
            let (program, target) = (&cell.program, cell.options.target.name);
            let slicing = cell.options.slicing;
            let text = format!("{program}, {entry} in {slicing:?} on {target}: {why}\n");
            bar.suspend(|| to_stderr(&text));
            return Ok(Done::Failed);
        }
    };
    locked(&run.totals).add(&proof);
    let said = match args.form.is_json() {
        true => Some(show::json(&proof)),
        false if proof.is_proved() => None,
        false => Some(show::line(&proof)),
    };
    if let Some(text) = said {
        bar.suspend(|| to_stdout(&text))?;
    }
    if !proof.is_proved() {
        return Ok(Done::Failed);
    }
    Ok(Done::Proved(Box::new(proof.record())))
}

/// Proves again the claims of the certificates of folders.
pub fn verify(args: &Verify, reporter: Reporter) -> Result<(), Failure> {
    let (folder, only) = folders(&args.folder, &args.subjects)?;
    let request = Request { folder, only, ..Request::default() };
    let (mut any, mut good) = (false, true);
    let mut folders: BTreeSet<PathBuf> = tasks::ciphers(&request)
        .map_err(Failure::Program)?
        .into_iter()
        .map(|cipher| cipher.folder)
        .collect();
    folders.extend(
        tasks::sources(&request).map_err(Failure::Program)?.into_iter().map(|source| source.folder),
    );
    for folder in folders {
        let records = super::asked(args, &folder)?;
        any |= !records.is_empty();
        match super::checked(args, &folder, &records, reporter) {
            Err(Failure::Reported) => good = false,
            other => other?,
        }
    }
    match (any, good) {
        (true, true) => Ok(()),
        (true, false) => Err(Failure::Reported),
        (false, _) => Err(Failure::program(
            "there are no certificates; `usubac prove --all --certify` writes them",
        )),
    }
}
