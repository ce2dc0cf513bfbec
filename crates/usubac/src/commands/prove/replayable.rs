//! Folders of certificates that others can replay: `usubac prove --certificates` makes one, and
//! `usubac verify` replays it.
//!
//! ```text
//! DIR/certificates.toml                      one row for each certificate
//! DIR/rectangle/rectangle.ua                 the program and its includes
//! DIR/rectangle/rectangle.encrypt.V.riscv-gcc.o
//! DIR/rectangle/rectangle.encrypt.V.riscv-gcc.certificate
//! ```
//!
//! A folder appears complete or not at all, and is never changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba_prove::compiler::Compiler;
use usuba_prove::replayable::kernel::{self, Subject};
use usuba_prove::tasks::{self, Request};
use usuba_prove::threads;
use usuba_run::cc::Foreign;
use usuba_run::fingerprint::{fingerprint, hex};

use super::{all, all_programs};
use crate::args::common::Compiler as Named;
use crate::args::{Abi, Language, Prove, Verify};
use crate::commands::{front, slice};
use crate::output::{plain, to_stdout};
use crate::report::Reporter;
use crate::{Failure, fault};

/// The list of a folder.
const LIST: &str = "certificates.toml";

/// The largest accepted file.
const LARGEST: u64 = 256 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    certificate: Vec<Row>,
}

/// A certificate of a folder; paths are relative to it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    program: String,
    entry: String,
    slicing: String,
    /// The flags that change the semantics of the program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reading: String,
    target: String,
    /// Interleaved instances, if they are several.
    #[serde(default = "single", skip_serializing_if = "is_single")]
    copies: u32,
    /// Whether words share a register.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    packed: bool,
    /// The hash of the program with its includes.
    source: String,
    symbol: String,
    object: String,
    /// The hash of the object.
    sha256: String,
    certificate: String,
}

fn single() -> u32 {
    1
}

fn is_single(copies: &u32) -> bool {
    *copies == 1
}

/// One kernel, and the name of its folder among certificates.
struct Task {
    folder: String,
    program: PathBuf,
    language: Language,
}

/// The files of a certificate by their paths, and its row.
struct Made {
    row: Row,
    files: Vec<(String, Vec<u8>)>,
    steps: usize,
}

pub fn run(args: &Prove, folder: &Path, reporter: Reporter) -> Result<(), Failure> {
    fault::stage("certifying kernels");
    let target = target(args)?;
    if folder.read_dir().map_or(folder.exists(), |mut files| files.next().is_some()) {
        return Err(Failure::program(format!(
            "{} is there; help: name a folder that does not exist yet",
            folder.display()
        )));
    }
    let compilers = compilers(args, target)?;
    let tasks = tasks(args, target)?;
    let jobs: Vec<(&Task, &(Named, Compiler))> =
        tasks.iter().flat_map(|task| compilers.iter().map(move |by| (task, by))).collect();
    let done = threads::each(&jobs, args.jobs.jobs, |(task, by)| {
        let made = one(task, by, args, target, reporter)?;
        let file = task.program.file_name().unwrap_or_default().to_string_lossy();
        let entry = task.language.entry().unwrap_or("its entry");
        let slicing = task.language.slicing()?.unwrap_or(Slicing::V);
        let what = format!("{}/{file}, {entry} in {slicing:?} by {}", task.folder, by.0.name());
        if let Some(text) = said(&what, &made, args.form.is_json()) {
            to_stdout(&text)?;
        }
        Ok::<_, Failure>(made)
    });
    let (mut files, mut rows) = (BTreeMap::new(), Vec::new());
    let mut open = 0;
    for made in done.map_err(Failure::Program)? {
        match made? {
            Some(Ok(made)) => {
                files.extend(made.files);
                rows.push(made.row);
            }
            Some(Err(_)) => open += 1,
            None => {}
        }
    }
    if rows.is_empty() {
        return Err(Failure::program("no kernel has a certificate, and no folder was made"));
    }
    let count = rows.len();
    let list = List { certificate: rows };
    let list = toml::to_string(&list).expect("rows have texts and truth values");
    let text = format!("# Certificates of usubac; `usubac verify` replays them.\n\n{list}");
    files.insert(LIST.to_string(), text.into_bytes());
    let bytes: usize = files.values().map(Vec::len).sum();
    written(folder, &files)?;
    if !args.form.is_json() {
        let mb = bytes as f64 / 1e6;
        to_stdout(&format!("{}: {}, {mb:.1} MB\n", folder.display(), certificates(count)))?;
    }
    if open == 0 { Ok(()) } else { Err(Failure::Reported) }
}

fn certificates(count: usize) -> String {
    format!("{count} certificate{}", if count == 1 { "" } else { "s" })
}

/// The target of certificates.
fn target(args: &Prove) -> Result<&'static Target, Failure> {
    let gp32 = isa::find("gp32").expect("a target of the table");
    match &args.codegen.targets.all()[..] {
        [] => Ok(gp32),
        [one] if one.name == gp32.name => Ok(gp32),
        _ => Err(Failure::usage(
            "certificates that others replay are for RV32IM, of the C of gp32; help: --target gp32",
        )),
    }
}

fn compilers(args: &Prove, target: &'static Target) -> Result<Vec<(Named, Compiler)>, Failure> {
    let named = match &args.compilers.cc[..] {
        [] => &[Named::RiscvGcc],
        named => named,
    };
    let find = |&named: &Named| {
        if !matches!(named, Named::RiscvGcc | Named::RiscvClang) {
            return Err(Failure::usage(format!(
                "{} makes no objects for RV32IM; help: --cc riscv-gcc or --cc riscv-clang",
                named.name()
            )));
        }
        let found = Compiler::find_foreign(target, Foreign::Riscv, named.family());
        let found = found.map_err(|skip| Failure::program(skip.to_string()))?;
        Ok((named, if args.cache.no_cache { found.afresh() } else { found }))
    };
    named.iter().map(find).collect()
}

/// The kernels that the command line selects.
fn tasks(args: &Prove, target: &'static Target) -> Result<Vec<Task>, Failure> {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.is_empty() { "program".to_string() } else { word(&name) }
    };
    if all_programs(&args.subjects)? {
        let slicings = args.language.slicings();
        let slicings = if slicings.is_empty() { vec![Slicing::V] } else { slicings };
        let task = |program: &PathBuf, slicing| {
            let folder = std::path::absolute(program).unwrap_or_default();
            let folder = name(folder.parent().unwrap_or(Path::new("")));
            let language = args.language.in_slicing(slicing);
            Task { folder, program: program.clone(), language }
        };
        let each = |program| slicings.iter().map(move |&slicing| (program, slicing));
        return Ok(args.subjects.iter().flat_map(each).map(|(p, s)| task(p, s)).collect());
    }
    let (folder, only) = all::folders(&args.folder, &args.subjects)?;
    let request = Request {
        folder,
        only,
        target: vec![target],
        slicings: args.language.slicings(),
        flags: args.language.flags(),
        ..Request::default()
    };
    let backends = tasks::backends(&request).map_err(Failure::Program)?;
    let found = tasks::tasks(&request, &backends).map_err(Failure::Program)?.all;
    // The others are nodes with contracts, which are no functions of bits alone.
    let kernels = found.into_iter().filter(|task| task.prefix.is_empty());
    let task = |task: tasks::Task| {
        let mut language = args.language.in_slicing(task.slicing);
        language.set_entry(&task.node);
        Task { folder: name(&task.folder), program: task.folder.join(&task.file), language }
    };
    let tasks: Vec<Task> = kernels.map(task).collect();
    match tasks.is_empty() {
        true => Err(Failure::program("no function has these slicings on gp32")),
        false => Ok(tasks),
    }
}

/// A text as a part of a file name.
fn word(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    text.chars().map(plain).collect()
}

/// The certificate of a kernel, or the reason why there is none; `None` if the program cannot be sliced
/// this way.
fn one(
    task: &Task,
    (named, compiler): &(Named, Compiler),
    args: &Prove,
    target: &'static Target,
    reporter: Reporter,
) -> Result<Option<Result<Made, String>>, Failure> {
    let input = front::read(&task.program, &task.language, reporter)?;
    let mut options = slice::options(&task.language, target, args.codegen.pipeline(Abi::Usuba))?;
    options.c = args.codegen.text();
    let program = &input.checked.program;
    let entry = program.entry_text();
    options.entry = Some(entry.clone());
    let made = match kernel::made(program, &options, compiler) {
        Ok(Some(made)) => made,
        Ok(None) => return Ok(None),
        Err(why) => return Ok(Some(Err(why))),
    };
    let mut files = match copies(&input, &task.folder) {
        Ok(files) => files,
        Err(why) => return Ok(Some(Err(why))),
    };
    let stem = word(&task.program.file_stem().unwrap_or_default().to_string_lossy());
    let slicing = format!("{:?}", options.slicing);
    let start = format!("{}/{stem}.{}.{slicing}.{}", task.folder, word(&entry), named.name());
    let row = Row {
        program: files[0].0.clone(),
        entry,
        slicing,
        reading: task.language.reading(),
        target: target.name.to_string(),
        copies: made.copies,
        packed: made.is_packed,
        source: fingerprint(&input.sources),
        symbol: made.symbol.clone(),
        object: format!("{start}.o"),
        sha256: hex(&Sha256::digest(&made.object)),
        certificate: format!("{start}.certificate"),
    };
    let bytes = made.certificate.bytes();
    let subject = Subject {
        program,
        slicing: options.slicing,
        word: options.word,
        target,
        symbol: &made.symbol,
        object: &made.object,
        copies: made.copies,
        is_packed: made.is_packed,
    };
    if let Err(why) = kernel::replayed(&bytes, &subject) {
        return Ok(Some(Err(format!("its certificate is refused: {why}"))));
    }
    let steps = made.certificate.steps.len();
    files.extend([(row.object.clone(), made.object), (row.certificate.clone(), bytes)]);
    Ok(Some(Ok(Made { row, files, steps })))
}

/// The program and its includes, the program first. Each lies where the others find it.
fn copies(input: &front::Input, folder: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    let files = &input.sources.files;
    let parent = Path::new(&files[0].name).parent().unwrap_or(Path::new(""));
    let copy = |file: &usuba::diag::SourceFile| {
        let mut parts = vec![folder.to_string()];
        let inside = Path::new(&file.name).strip_prefix(parent).ok();
        for part in inside.into_iter().flat_map(Path::components) {
            match part {
                Component::ParentDir => drop(parts.pop()),
                _ => parts.push(part.as_os_str().to_string_lossy().into_owned()),
            }
        }
        match inside.is_some() && parts.len() > 1 && file.name.ends_with(".ua") {
            true => Ok((parts.join("/"), file.text.clone().into_bytes())),
            false => Err(format!("{} is too far from {}", file.name, files[0].name)),
        }
    };
    files.iter().map(copy).collect()
}

/// The line about a kernel; `None` if it cannot be sliced this way.
fn said(what: &str, made: &Option<Result<Made, String>>, is_json: bool) -> Option<String> {
    Some(match (made.as_ref()?, is_json) {
        (Ok(made), true) => {
            let Row { program, entry, slicing, certificate, .. } = &made.row;
            let (steps, bytes) = (made.steps, made.files.last().map_or(0, |file| file.1.len()));
            let line = json!({ "program": program, "entry": entry, "slicing": slicing,
                "certificate": certificate, "steps": steps, "bytes": bytes });
            format!("{line}\n")
        }
        (Ok(made), false) => {
            let (subject, steps) = (subject(&made.row), made.steps);
            let bytes = made.files.last().map_or(0, |file| file.1.len());
            format!("{subject}: {steps} steps, {bytes} bytes\n")
        }
        (Err(why), true) => format!("{}\n", json!({ "program": what, "why": why })),
        (Err(why), false) => format!("{what}: no certificate: {why}\n"),
    })
}

/// Writes the files of a folder, all or none.
fn written(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::program(format!("cannot write {}: {}", folder.display(), plain(&error)))
    };
    let parent = folder.parent().filter(|parent| *parent != Path::new(""));
    let beside = tempfile::tempdir_in(parent.unwrap_or(Path::new("."))).map_err(failed)?;
    let new = beside.path().join("certificates");
    for (name, bytes) in files {
        let path = new.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&new)).map_err(failed)?;
        fs::write(path, bytes).map_err(failed)?;
    }
    fs::rename(&new, folder).map_err(failed)
}

/// Whether a folder has certificates that are replayed.
pub fn is_folder(path: &Path) -> bool {
    path.join(LIST).is_file()
}

/// The subject of a row, for people.
fn subject(row: &Row) -> String {
    let Row { program, entry, slicing, object, .. } = row;
    let object = Path::new(object).file_name().unwrap_or_default().to_string_lossy();
    format!("{program}, {entry} in {slicing}, and {object}")
}

/// Replays the certificates of a folder.
pub fn verify(args: &Verify, folder: &Path, reporter: Reporter) -> Result<(), Failure> {
    fault::stage("replaying certificates");
    let path = folder.join(LIST);
    let wrong = |why: String| Failure::program(format!("{}: {why}", path.display()));
    let text = String::from_utf8(content(&path)?);
    let text = text.map_err(|_| wrong("the list is no UTF-8".into()))?;
    // A damaged list may be one long line, so it is not shown.
    let list: List = toml::from_str(&text).map_err(|why| {
        let line = why.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        wrong(format!("line {line}: {}", why.message()))
    })?;
    let (targets, slicings) = (args.targets.all(), args.slicing.all());
    let is_asked = |row: &&Row| {
        let in_slicing = |slicing: &Slicing| format!("{slicing:?}") == row.slicing;
        (targets.is_empty() || targets.iter().any(|target| target.name == row.target))
            && (slicings.is_empty() || slicings.iter().any(in_slicing))
    };
    let rows: Vec<&Row> = list.certificate.iter().filter(is_asked).collect();
    if rows.is_empty() {
        return Err(wrong("it lists no certificate for these slicings and targets".into()));
    }
    let done = threads::each(&rows, None, |row| {
        let replayed = replayed(folder, row, reporter)?;
        let Row { program, entry, slicing, object, .. } = row;
        to_stdout(&match (&replayed, args.form.is_json()) {
            (Ok(nodes), false) => format!("{}: REPLAYED, {nodes} nodes\n", subject(row)),
            (Err(why), false) => format!("{}: REFUSED: {why}\n", subject(row)),
            (of, true) => {
                let line = json!({ "program": program, "entry": entry, "slicing": slicing,
                    "object": object, "symbol": row.symbol, "sha256": row.sha256, "replayed": of.is_ok(),
                    "nodes": of.as_ref().ok(), "why": of.as_ref().err() });
                format!("{line}\n")
            }
        })?;
        Ok::<bool, Failure>(replayed.is_ok())
    });
    let done = done.map_err(Failure::Program)?.into_iter().collect::<Result<Vec<bool>, _>>()?;
    let good = done.iter().filter(|&&good| good).count();
    if !args.form.is_json() {
        to_stdout(&format!("{good} of {} replayed\n", certificates(done.len())))?;
    }
    if good == done.len() { Ok(()) } else { Err(Failure::Reported) }
}

/// Replays a certificate against the program and the object of its row.
fn replayed(
    folder: &Path,
    row: &Row,
    reporter: Reporter,
) -> Result<Result<usize, String>, Failure> {
    let path = |name: &str| {
        let parts = Path::new(name).components();
        let inside = parts.clone().count() > 0
            && parts.into_iter().all(|part| matches!(part, Component::Normal(_)));
        match inside {
            true => Ok(folder.join(name)),
            false => Err(Failure::program(format!("`{name}` is no file of the folder"))),
        }
    };
    let mut language = Language::default();
    language.set_entry(&row.entry);
    if let Err(why) = language.read_as(&row.reading) {
        return Ok(Err(why));
    }
    let all = [Slicing::V, Slicing::H, Slicing::B, Slicing::W];
    let slicing = all.into_iter().find(|slicing| format!("{slicing:?}") == row.slicing);
    let (Some(slicing), Some(target)) = (slicing, isa::find(&row.target)) else {
        return Ok(Err(format!("`{}` or `{}` is unknown", row.slicing, row.target)));
    };
    if target.name != "gp32" {
        return Ok(Err(format!("there is no writer of traces for {}", target.name)));
    }
    language.set_slicing(slicing);
    let (program, object) = (path(&row.program)?, content(&path(&row.object)?)?);
    let certificate = content(&path(&row.certificate)?)?;
    if hex(&Sha256::digest(&object)) != row.sha256 {
        return Ok(Err("the object is another one than in the list".into()));
    }
    let input = match front::read(&program, &language, reporter) {
        Err(Failure::Reported) => return Ok(Err("the program has errors".into())),
        input => input?,
    };
    if fingerprint(&input.sources) != row.source {
        return Ok(Err("the program is another one than in the list".into()));
    }
    let subject = Subject {
        program: &input.checked.program,
        slicing,
        word: language.word,
        target,
        symbol: &row.symbol,
        object: &object,
        copies: row.copies,
        is_packed: row.packed,
    };
    Ok(kernel::replayed(&certificate, &subject))
}

/// The bytes of a file.
fn content(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |why: String| Failure::program(format!("cannot read {}: {why}", path.display()));
    let size = fs::metadata(path).map_err(|error| failed(plain(&error)))?.len();
    if size > LARGEST {
        return Err(failed(format!("it is larger than {} MiB", LARGEST >> 20)));
    }
    fs::read(path).map_err(|error| failed(plain(&error)))
}
