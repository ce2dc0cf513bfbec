//! Every function of every cipher folder, in every slicing, on every target, and arithmetic.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use usuba::Options;
use usuba::diag::Sources;
use usuba::ir::Slicing;
use usuba::target::{self, Target};
use usuba::typed;
use usuba_lab::cipher::{self, Beside, Cipher};
use usuba_lab::tune::subject::fingerprint;

use super::arithmetic;
use super::binary::{self, Memory, Objects};
use super::cache::Cache;
use super::cell::{Cell, Extent, Known, Obstacle};
use super::certificate::{self, Record};
use super::interface::{self, Interfaces};
use super::show;
use crate::args::{Abi, Prove};
use crate::commands::slice;
use crate::output::{to_stderr, to_stdout};
use crate::report::Reporter;
use crate::{Failure, fault, files};

/// An entry of a folder in one slicing on one target; programs are read where they are proved, as
/// no two threads can have the same.
struct Task {
    folder: PathBuf,
    file: String,
    node: String,
    slicing: Slicing,
    on: &'static Target,
    /// What the names of its functions begin with.
    prefix: &'static str,
    /// The byte interface, if it is to be proved too.
    interfaces: Option<Interfaces>,
}

/// A target, and where objects for it come from.
struct Backend {
    target: &'static Target,
    objects: Objects,
    /// Where those of the byte interface come from.
    functions: Objects,
    /// What the cache knows objects by, first those of kernels.
    identity: [String; 2],
}

/// What came of a task.
enum Done {
    /// Proved now or before.
    Proved(Box<Record>),
    /// Its report is written.
    Failed,
    /// The target or the slicing cannot do what the program asks for.
    Impossible,
}

/// Bytes of the stack of a thread: cases that a proof tells apart are calls in each other.
const STACK: usize = 64 << 20;

pub fn run(args: &Prove) -> Result<(), Failure> {
    let start = Instant::now();
    fault::stage("reading the ciphers");
    let backends = backends(args)?;
    let tasks = tasks(args, &backends)?;
    fault::stage("proving the ciphers");
    let cache = Cache::new(args.cache.clone(), args.no_cache);
    let bar = ProgressBar::new(tasks.len() as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} (about {eta} left)");
    bar.set_style(style.expect("the template is well-formed"));
    let before = Mutex::new(0usize);
    let known = Known::default();
    let prove = |task: &Task| task.prove(args, &backends, (&cache, &known), &bar, &before);
    let threads = rayon::ThreadPoolBuilder::new().num_threads(args.jobs.unwrap_or(0) as usize);
    let pool = threads
        .stack_size(STACK)
        .build()
        .map_err(|why| Failure::program(format!("no threads: {why}")))?;
    // Tasks take very different times, so each is taken by itself.
    let done: Vec<Result<Done, Failure>> =
        pool.install(|| tasks.par_iter().with_max_len(1).map(prove).collect());
    bar.finish_and_clear();
    let mut records: BTreeMap<&Path, Vec<Record>> = BTreeMap::new();
    let (mut proved, mut failed, mut impossible) = (0, 0, 0);
    for (task, done) in tasks.iter().zip(done) {
        match done? {
            Done::Proved(record) => {
                proved += 1;
                records.entry(&task.folder).or_default().push(*record);
            }
            Done::Failed => failed += 1,
            Done::Impossible => impossible += 1,
        }
    }
    if args.certify {
        for (folder, records) in &records {
            certificate::write(folder, records)?;
        }
    }
    let before = *before.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !args.json {
        let mut text = summary(&records, proved, failed, impossible, before, start.elapsed());
        if args.binary || args.interface {
            text.push_str(&of_objects(&records, &backends));
        }
        to_stdout(&text)?;
    }
    if failed == 0 { Ok(()) } else { Err(Failure::Reported) }
}

fn summary(
    records: &BTreeMap<&Path, Vec<Record>>,
    proved: usize,
    failed: usize,
    impossible: usize,
    before: usize,
    time: Duration,
) -> String {
    let mut text = String::new();
    for (folder, records) in records {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut ways: Vec<String> =
            records.iter().map(|r| format!("{}/{}", r.slicing, r.target)).collect();
        ways.sort();
        ways.dedup();
        let entries: BTreeSet<&str> = records.iter().map(|r| r.entry.as_str()).collect();
        text.push_str(&format!(
            "{name}: {} proved, {} entries, {}\n",
            records.len(),
            entries.len(),
            ways.join(" ")
        ));
    }
    let all = proved + failed;
    text.push_str(&format!("{proved} of {all} PROVED in {}", show::time(time)));
    if before > 0 {
        text.push_str(&format!(", {before} of them before"));
    }
    if impossible > 0 {
        text.push_str(&format!("; {impossible} that the slicing or the target does not have"));
    }
    text + "\n"
}

/// How many objects were proved, by whom they were made, and where there were none.
fn of_objects(records: &BTreeMap<&Path, Vec<Record>>, backends: &[Backend]) -> String {
    let mut objects: BTreeMap<&str, usize> = BTreeMap::new();
    for made in records.values().flatten().flat_map(|record| &record.object) {
        *objects.entry(&made.by).or_default() += 1;
    }
    let count: usize = objects.values().sum();
    let by: Vec<String> = objects.iter().map(|(by, count)| format!("{count} by {by}")).collect();
    let mut text = String::new();
    if backends.iter().any(|backend| !matches!(backend.objects, Objects::None)) {
        text = format!("{count} objects PROVED: {}\n", by.join(", "));
    }
    let functions: usize = records.values().flatten().map(|record| record.interface.len()).sum();
    if functions > 0 {
        text.push_str(&format!(
            "{functions} functions of the byte interface PROVED, each way to call one counted\n"
        ));
    }
    for backend in backends.iter().filter(|backend| !binary::has_machine(backend.target)) {
        let name = backend.target.name;
        text.push_str(&format!(
            "SKIPPED: objects for {name}, of whose processors the prover has no model\n"
        ));
    }
    text
}

impl Task {
    fn prove(
        &self,
        args: &Prove,
        backends: &[Backend],
        (cache, shared): (&Cache, &Known),
        bar: &ProgressBar,
        before: &Mutex<usize>,
    ) -> Result<Done, Failure> {
        let path = self.folder.join(&self.file);
        let text = files::read(&path)?;
        let mut sources = Sources::default();
        let root = sources.add(text.name, text.text);
        let flags = args.language.flags();
        let checked = usuba::front(&mut sources, root, &mut Beside, Some(&self.node), flags);
        let checked = checked.map_err(|findings| {
            let first = findings.iter().find(|finding| finding.is_error());
            let first = first.map(|finding| finding.message.clone());
            Failure::program(format!("{}: {}", path.display(), first.unwrap_or_default()))
        })?;
        let sha256 = fingerprint(&sources);
        bar.set_message(format!("{}, {} on {}", self.file, self.node, self.on.name));
        let cell = self.cell(args, self.on, &sha256);
        let backend = backends.iter().find(|backend| backend.target.name == self.on.name);
        let backend = backend.expect("tasks are made of them");
        let of_objects = match &self.interfaces {
            Some(interfaces) if binary::has_machine(self.on) => {
                let [kernels, functions] = &backend.identity;
                format!("{kernels}\n\n{functions}\n\n{}", interfaces.identity(&cell)?)
            }
            _ => backend.identity[0].clone(),
        };
        let known = match args.json {
            true => None,
            false => cache.find(&cell, args.direct, &of_objects),
        };
        let done = match known {
            Some(record) => {
                *before.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
                Ok(Done::Proved(Box::new(record)))
            }
            None => {
                let objects = &backend.objects;
                let interfaces = self.interfaces.as_ref().map(|all| (all, &backend.functions));
                let (direct, plant) = (args.direct, None);
                let extent = Extent { direct, objects, interfaces, plant, known: shared };
                let done = prove(&cell, &checked.program, args, extent, bar)?;
                if let Done::Proved(record) = &done {
                    cache.keep(&cell, args.direct, &of_objects, record);
                }
                Ok(done)
            }
        };
        bar.inc(1);
        done
    }

    fn cell(&self, args: &Prove, target: &'static Target, sha256: &str) -> Cell {
        let mut language = args.language.clone();
        language.set_slicing(self.slicing);
        language.entry = Some(self.node.clone());
        let codegen = &args.codegen;
        let mut options = slice::options(&language, target, codegen.pipeline(Abi::Usuba));
        let mut flags = codegen.written();
        if !self.prefix.is_empty() && codegen.prefix.is_empty() {
            options.c.prefix = self.prefix.to_string();
            flags.push_str(&format!(" --prefix {}", self.prefix));
        }
        Cell {
            program: self.file.clone(),
            reading: language.reading(),
            flags: flags.trim().to_string(),
            sha256: sha256.to_string(),
            options: Options { cpu: codegen.cpu, ..options },
        }
    }
}

/// Proves a cell; what is not proved is reported at once.
fn prove(
    cell: &Cell,
    program: &typed::Program,
    args: &Prove,
    extent: Extent,
    bar: &ProgressBar,
) -> Result<Done, Failure> {
    let entry = cell.options.entry.as_deref();
    let promise = extent.known.promise(&cell.sha256, program, entry);
    let proof = match cell.prove(program, extent) {
        Ok(mut proof) => {
            proof.claims.splice(0..0, promise);
            proof
        }
        Err(Obstacle::Findings(_)) => return Ok(Done::Impossible),
        Err(Obstacle::Failure(failure)) => {
            let entry = cell.options.entry.as_deref().unwrap_or_default();
            let why = failure.text().unwrap_or_default();
            let (program, target) = (&cell.program, cell.options.target.name);
            let slicing = cell.options.slicing;
            let text = format!("{program}, {entry} in {slicing:?} on {target}: {why}\n");
            bar.suspend(|| to_stderr(&text));
            return Ok(Done::Failed);
        }
    };
    let said = match args.json {
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

/// The targets with their objects. A compiler that is missing is so for all of them.
fn backends(args: &Prove) -> Result<Vec<Backend>, Failure> {
    let targets = match args.target.is_empty() {
        true => target::all().collect(),
        false => args.target.clone(),
    };
    let memory = Memory::default();
    let backend = |target: &'static Target| {
        let made = |asked: bool| match asked && binary::has_machine(target) {
            true => Objects::compiled(target, args.cc, memory.clone()),
            false => Ok(Objects::None),
        };
        let (objects, functions) = (made(args.binary)?, made(args.interface)?);
        let identity = [objects.identity(), functions.identity()];
        Ok(Backend { target, objects, functions, identity })
    };
    targets.into_iter().map(backend).collect()
}

/// The entries of all folders: functions in the slicings that they have, key schedules in V, and in
/// B if a function of theirs is in H or B; unless one slicing was asked for.
fn tasks(args: &Prove, backends: &[Backend]) -> Result<Vec<Task>, Failure> {
    let mut out = Vec::new();
    let memory = interface::Memory::default();
    for cipher in ciphers(args)? {
        let interfaces = args.interface.then(|| Interfaces::new(&cipher.folder, memory.clone()));
        let interfaces = interfaces.transpose()?;
        let mut nodes: BTreeMap<(String, String), BTreeSet<Slicing>> = BTreeMap::new();
        for function in &cipher.functions {
            let main = (function.source.clone(), function.node.clone());
            nodes.entry(main).or_default().extend(&function.slicings);
            if let Some(schedule) = function.key.as_ref().and_then(|key| key.schedule.clone()) {
                let bits = function.slicings.iter().any(|s| matches!(s, Slicing::H | Slicing::B));
                let slicings = nodes.entry(schedule).or_default();
                slicings.insert(Slicing::V);
                slicings.extend(bits.then_some(Slicing::B));
            }
        }
        for ((file, node), slicings) in nodes {
            let wanted = args.language.slicing();
            for slicing in slicings.into_iter().filter(|&s| wanted.is_none_or(|w| w == s)) {
                for Backend { target: on, .. } in backends {
                    let (folder, file, node) = (cipher.folder.clone(), file.clone(), node.clone());
                    let interfaces = interfaces.clone();
                    let prefix = "";
                    out.push(Task { folder, file, node, slicing, on, prefix, interfaces });
                }
            }
        }
    }
    // Arithmetic computes on whole words.
    let slicing = args.language.slicing();
    for source in sources(args)?.iter().filter(|_| slicing.is_none_or(|s| s == Slicing::V)) {
        for node in &source.nodes {
            for Backend { target: on, .. } in backends {
                let (folder, file) = (source.folder.clone(), source.file.clone());
                let (node, slicing, prefix) = (node.clone(), Slicing::V, arithmetic::PREFIX);
                let interfaces = None;
                out.push(Task { folder, file, node, slicing, on, prefix, interfaces });
            }
        }
    }
    Ok(out)
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn ciphers(args: &Prove) -> Result<Vec<Cipher>, Failure> {
    let mut ciphers = cipher::find(&args.folder).map_err(Failure::program)?;
    let others = arithmetic::find(&args.folder, args.language.flags())?;
    let mut names: BTreeSet<String> = others.iter().map(|source| name(&source.folder)).collect();
    names.extend(ciphers.iter().map(|cipher| name(&cipher.folder)));
    if let Some(missing) = args.only.iter().find(|only| !names.contains(*only)) {
        let folder = args.folder.display();
        return Err(Failure::program(format!("there is no cipher `{missing}` in {folder}")));
    }
    ciphers.retain(|cipher| is_asked(args, &cipher.folder));
    Ok(ciphers)
}

/// The programs of arithmetic.
fn sources(args: &Prove) -> Result<Vec<arithmetic::Source>, Failure> {
    let mut sources = arithmetic::find(&args.folder, args.language.flags())?;
    sources.retain(|source| is_asked(args, &source.folder));
    Ok(sources)
}

fn is_asked(args: &Prove, folder: &Path) -> bool {
    args.only.is_empty() || args.only.contains(&name(folder))
}

/// Proves again what the certificates of all folders say.
pub fn check(args: &Prove, reporter: Reporter) -> Result<(), Failure> {
    let (mut any, mut good) = (false, true);
    let mut folders: BTreeSet<PathBuf> =
        ciphers(args)?.into_iter().map(|cipher| cipher.folder).collect();
    folders.extend(sources(args)?.into_iter().map(|source| source.folder));
    for folder in folders {
        let mut records = certificate::read(&folder)?;
        records.retain(|record| {
            args.target.is_empty() || args.target.iter().any(|t| t.name == record.target)
        });
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
