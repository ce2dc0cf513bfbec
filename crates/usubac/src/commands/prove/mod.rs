//! `usubac prove`: proves that a compile is equivalent to its source.
//!
//! ```text
//! rectangle.ua, encrypt in V on avx2: PROVED
//!   lowering      proved by tables, E1
//!   19 passes     proved by E1, induction
//!   9 operators   proved in every lane by E1
//! ```
//!
//! - `all`: every cipher folder, with progress; `totals`: the summary of a run.
//! - `certified`: the flags in a certificate.
//! - `linked`: the functions of a user's file.
//! - `replayable`: folders of certificates that others can replay.
//! - `show`: reports, as text and as JSON.
//!
//! The crate `usuba_prove` performs the proofs.

mod all;
mod certified;
mod linked;
mod replayable;
mod show;
mod totals;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use usuba::ir::Slicing;
use usuba::isa::Target;
use usuba_equiv::claims::Kind;
use usuba_prove::cell::{Cell, Extent, Known, Obstacle, Proof};
use usuba_prove::certificate;
use usuba_prove::interfaces::{self, Interfaces};
use usuba_prove::objects::{self, Objects};
use usuba_prove::{Claim, Evidence, Outcome};
use usuba_run::fingerprint::fingerprint;

use super::front;
use super::slice;
use super::subject::changeable;
use crate::args::{self, Abi, Codegen, Language, Prove, Verify};
use crate::output::{Place, plain, to_stdout, write_all};
use crate::report::Reporter;
use crate::{Failure, fault};

pub fn run(args: &Prove, reporter: Reporter) -> Result<(), Failure> {
    if args.codegen.measures() {
        return Err(Failure::usage(
            "--interleave measure measures, and a proof is about one program; --interleave COUNT \
             says how many instances it has",
        ));
    }
    if args.certify {
        let readable = args::certified_flags(&args.codegen.written());
        readable.map_err(|why| {
            Failure::usage(format!("a certificate is about what a compile makes: {why}"))
        })?;
    }
    if let Some(file) = &args.dist {
        return linked::run(args, file);
    }
    if !args.functions.functions.is_empty() {
        return Err(Failure::usage(
            "--function names functions of the file of --dist\n  help: `usubac prove NAME` proves one \
             function of a cipher",
        ));
    }
    if let Some(folder) = &args.certificates {
        return replayable::run(args, folder, reporter);
    }
    match all_programs(&args.subjects)? {
        true => args.subjects.iter().try_for_each(|file| ways(args, file, reporter)),
        false => all::run(args),
    }
}

/// Whether subjects are programs, and not folders or names of ciphers.
fn all_programs(subjects: &[PathBuf]) -> Result<bool, Failure> {
    let is_program = |subject: &&PathBuf| {
        *subject == Path::new("-") || subject.is_file() || subject.extension().is_some()
    };
    match subjects.iter().filter(is_program).count() {
        0 => Ok(false),
        count if count == subjects.len() => Ok(true),
        _ => {
            Err(Failure::usage("there are programs and ciphers; help: prove them by two commands"))
        }
    }
}

/// Proves a program in each slicing on each target that was asked for.
fn ways(args: &Prove, file: &Path, reporter: Reporter) -> Result<(), Failure> {
    if args.cache.cache.is_some() {
        return Err(Failure::usage("--cache belongs to ciphers; the proof of a program is short"));
    }
    let languages: Vec<Language> = match &args.language.slicings()[..] {
        [] => vec![args.language.clone()],
        slicings => slicings.iter().map(|slicing| args.language.in_slicing(*slicing)).collect(),
    };
    let codegens: Vec<Codegen> = match &args.codegen.targets.all()[..] {
        [] | [_] => vec![args.codegen.clone()],
        targets => {
            let on = |target: &&Target| args.codegen.clone().for_target(target.name);
            targets.iter().map(on).collect::<Result<_, _>>().map_err(Failure::Usage)?
        }
    };
    let each =
        |language| codegens.iter().try_for_each(|on| one(args, file, language, on, reporter));
    languages.iter().try_for_each(each)
}

/// Proves one entry, compiled like `usubac` with the same flags.
fn one(
    args: &Prove,
    file: &Path,
    language: &Language,
    codegen: &Codegen,
    reporter: Reporter,
) -> Result<(), Failure> {
    let plant = args.plant.as_ref();
    let target = codegen.target()?;
    let objects = objects_asked(args, target)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    if args.certify {
        changeable(folder)?;
    }
    let functions = interfaces_asked(args, folder, target)?;
    let interfaces = functions.as_ref().map(|(all, objects)| (all, objects));
    let known = &Known::default();
    let extent = Extent { direct: args.direct, objects: &objects, interfaces, plant, known };
    let proof = prove(file, language, codegen, extent, reporter)?;
    if let Some(plant) = plant.filter(|_| proof.is_proved()) {
        return Err(Failure::program(format!(
            "there is no place for the fault after {}, or it changes nothing",
            plant.pass
        )));
    }
    to_stdout(&match args.form.is_json() {
        true => show::json(&proof),
        false => show::report(&proof),
    })?;
    if args.certify && proof.is_proved() {
        write_certificates(folder, &[proof.record()])?;
    }
    if proof.is_proved() { Ok(()) } else { Err(Failure::Reported) }
}

fn prove(
    file: &Path,
    language: &Language,
    codegen: &Codegen,
    extent: Extent,
    reporter: Reporter,
) -> Result<Proof, Failure> {
    let input = front::read(file, language, reporter)?;
    let promised = promised(&input, language.entry(), reporter)?;
    let mut options = slice::chosen(language, codegen, Abi::Usuba)?;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    if extent.interfaces.is_some() {
        options.entry = Some(input.checked.program.entry_text());
    }
    let cell = Cell {
        program: name,
        reading: language.reading(),
        flags: codegen.written().trim().to_string(),
        sha256: fingerprint(&input.sources),
        options,
    };
    if let Some(interfaces) =
        extent.interfaces.map(|(all, _)| all).filter(|all| !all.has_any(&cell))
    {
        return Err(Failure::usage(interfaces.nothing(&cell)));
    }
    fault::stage("proving the program");
    let proof = cell.prove(&input.checked.program, extent);
    let mut proof = proof.map_err(|obstacle| match obstacle {
        Obstacle::Findings(findings) => front::reported(&input.sources, &findings, reporter),
        Obstacle::Failure(why) => Failure::program(why),
    })?;
    proof.claims.splice(0..0, promised);
    Ok(proof)
}

/// Proves the arithmetic contracts of nodes, of all without an entry on the command line;
/// diagnostics point at the violated line.
fn promised(
    input: &front::Input,
    entry: Option<&str>,
    reporter: Reporter,
) -> Result<Vec<(Claim, Duration)>, Failure> {
    fault::stage("proving the contracts");
    let program = &input.checked.program;
    let (mut claims, mut findings) = (Vec::new(), Vec::new());
    let reached = entry.map(|_| program.reached(program.entry));
    let asked = |node: &usize| reached.as_ref().is_none_or(|all| all.contains(node));
    for node in usuba_contracts::promising(program).filter(asked) {
        let start = Instant::now();
        let report = usuba_contracts::check_node(program, node);
        let usuba_contracts::Verdict::Proved(engines) = report.verdict else {
            findings.extend(usuba_contracts::finding(report.verdict));
            continue;
        };
        let outcome = Outcome::Proved(Evidence::Engines(engines));
        let claim = Claim { kind: Kind::Contract, subject: report.node, outcome };
        claims.push((claim, start.elapsed()));
    }
    if findings.is_empty() {
        return Ok(claims);
    }
    Err(front::reported(&input.sources, &findings, reporter))
}

/// The kernel objects that the command line selects, on a target.
fn objects_asked(args: &Prove, target: &'static Target) -> Result<Objects, Failure> {
    if args.object.is_none() && !args.binary {
        return Ok(Objects::None);
    }
    let found = match &args.object {
        Some(path) => Objects::given(path, args.symbol.clone()),
        None => Objects::compiled(
            target,
            &args.makers(),
            objects::Memory::default(),
            args.cache.no_cache,
        ),
    };
    found.map_err(Failure::Program)
}

/// The byte interface that the command line selects, and the source of its objects.
fn interfaces_asked(
    args: &Prove,
    folder: &Path,
    target: &'static Target,
) -> Result<Option<(Interfaces, Objects)>, Failure> {
    if !args.interface {
        return Ok(None);
    }
    let objects =
        Objects::compiled(target, &args.makers(), objects::Memory::default(), args.cache.no_cache);
    let interfaces = Interfaces::new(folder, interfaces::Memory::default());
    let both = objects.and_then(|objects| Ok((interfaces?, objects)));
    both.map(Some).map_err(Failure::Program)
}

/// Writes the records of a folder to its certificates.
fn write_certificates(folder: &Path, records: &[certificate::Record]) -> Result<(), Failure> {
    let files = certificate::files(folder, records).map_err(Failure::Program)?;
    let proofs = folder.join(certificate::FOLDER);
    std::fs::create_dir_all(&proofs).map_err(|error| {
        Failure::program(format!("cannot make {}: {}", proofs.display(), plain(&error)))
    })?;
    let place = |(path, text)| (Place::File(path), text);
    write_all(&files.into_iter().map(place).collect::<Vec<_>>())
}

/// Proves again the claims of certificates, or replays the certificates of folders.
pub fn verify(args: &Verify, reporter: Reporter) -> Result<(), Failure> {
    if args.subjects.iter().any(|subject| replayable::is_folder(subject)) {
        return args
            .subjects
            .iter()
            .try_for_each(|folder| replayable::verify(args, folder, reporter));
    }
    match all_programs(&args.subjects)? {
        true => args.subjects.iter().try_for_each(|file| beside(args, file, reporter)),
        false => all::verify(args, reporter),
    }
}

/// Proves again the claims of the certificates beside a program.
fn beside(args: &Verify, file: &Path, reporter: Reporter) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut records = asked(args, folder)?;
    records.retain(|record| record.program == name);
    if records.is_empty() {
        let folder = folder.join(certificate::FOLDER);
        return Err(Failure::program(format!(
            "{} has no certificate of {name}; `usubac prove --certify` writes one",
            folder.display()
        )));
    }
    checked(args, folder, &records, reporter)
}

/// The records of a folder for the targets and slicings of the command line.
fn asked(args: &Verify, folder: &Path) -> Result<Vec<certificate::Record>, Failure> {
    let (targets, slicings) = (args.targets.all(), args.slicing.all());
    let mut records = certificate::read(folder).map_err(Failure::Program)?;
    records.retain(|record| {
        let in_slicing = |slicing: &Slicing| format!("{slicing:?}") == record.slicing;
        (targets.is_empty() || targets.iter().any(|target| target.name == record.target))
            && (slicings.is_empty() || slicings.iter().any(in_slicing))
    });
    Ok(records)
}

/// Proves records again, and reports whether each still holds.
fn checked(
    args: &Verify,
    folder: &Path,
    records: &[certificate::Record],
    reporter: Reporter,
) -> Result<(), Failure> {
    let mut good = true;
    let known = &Known::default();
    let given = Language::including(args.includes.clone());
    for record in records {
        let (language, codegen) = certified::flags(record, &given)?;
        let objects = record.objects(folder).map_err(Failure::Program)?;
        let interfaces = record.interfaces(folder).map_err(Failure::Program)?;
        let interfaces = interfaces.as_ref().map(|(all, objects)| (all, objects));
        let extent = Extent { direct: false, objects: &objects, interfaces, plant: None, known };
        let proof = prove(&folder.join(&record.program), &language, &codegen, extent, reporter)?;
        let stale = record.differs(&proof.record());
        good &= stale.is_none() && proof.is_proved();
        to_stdout(&match args.form.is_json() {
            true => show::json_check(&proof, stale),
            false => show::check(&proof, stale),
        })?;
    }
    if good { Ok(()) } else { Err(Failure::Reported) }
}
