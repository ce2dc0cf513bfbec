//! `usubac prove`: that what a compile makes is what the source means.
//!
//! ```text
//! rectangle.ua, encrypt in V on avx2: PROVED
//!   lowering      proved by tables, E1
//!   19 passes     proved by E1, induction
//!   9 operators   proved in every lane by E1
//! ```
//!
//! - `cell`: one entry, slicing, target and set of flags: the compile and its proof.
//! - `binary`: object files; `interface`: those of the byte interface.
//! - `all`: every cipher folder; `tasks`: what they have; `totals`: what came of a run.
//! - `arithmetic`: programs with contracts beside the cipher folders.
//! - `cache`: what need not be proved again.
//! - `certificate`: the files beside programs, written and checked.
//! - `plant`: faults on purpose; `show`: reports, for people and as JSON.

mod all;
mod arithmetic;
mod binary;
pub mod cache;
mod cell;
pub mod certificate;
mod interface;
pub mod plant;
mod show;
mod tasks;
mod totals;

use std::path::Path;
use std::time::{Duration, Instant};

use usuba_equiv::claims::{Claim, Kind, Outcome};
use usuba_run::fingerprint::fingerprint;

use self::binary::Objects;
pub use self::cell::fingerprint as program_fingerprint;
use self::cell::{Cell, Extent, Known, Obstacle, Proof};
use self::interface::Interfaces;
use super::front;
use super::slice;
use crate::args::{self, Abi, Codegen, Language, Prove};
use crate::output::to_stdout;
use crate::report::Reporter;
use crate::{Failure, fault};

pub fn run(args: &Prove, reporter: Reporter) -> Result<(), Failure> {
    if args.codegen.auto_interleave {
        return Err(Failure::usage(
            "--auto-interleave measures, and a proof is about one program; --inter-factor says how \
             many instances it has",
        ));
    }
    if args.certify {
        let readable = args::certified_flags(&args.codegen.written());
        readable.map_err(|why| {
            Failure::usage(format!("a certificate is about what a compile makes: {why}"))
        })?;
    }
    match (&args.file, args.check) {
        (None, false) => all::run(args),
        (None, true) => all::check(args, reporter),
        (Some(file), false) => one(args, file, reporter),
        (Some(file), true) => check(args, file, reporter),
    }
}

/// Proves one entry, as a compile with the same flags makes it.
fn one(args: &Prove, file: &Path, reporter: Reporter) -> Result<(), Failure> {
    let plant = args.plant.as_ref();
    let target = args.codegen.target()?;
    let objects = Objects::asked(args, target)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let functions = Interfaces::asked(args, folder, target)?;
    let interfaces = functions.as_ref().map(|(all, objects)| (all, objects));
    let known = &Known::default();
    let extent = Extent { direct: args.direct, objects: &objects, interfaces, plant, known };
    let mut language = args.language.clone();
    language.entry = language.entry.or(args.node.clone());
    let proof = prove(file, &language, &args.codegen, extent, reporter)?;
    if let Some(plant) = plant.filter(|_| proof.is_proved()) {
        return Err(Failure::program(format!(
            "there is no place for the fault after {}, or it changes nothing",
            plant.pass
        )));
    }
    to_stdout(&match args.json {
        true => show::json(&proof),
        false => show::report(&proof),
    })?;
    if args.certify && proof.is_proved() {
        certificate::write(folder, &[proof.record()])?;
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
    let promised = promised(&input, reporter)?;
    let mut options = slice::chosen(language, codegen, Abi::Usuba)?;
    options.c.prefix = codegen.prefix.clone();
    options.c.registers = codegen.key_registers;
    options.c.wipe = codegen.wipe;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    if extent.interfaces.is_some() {
        let program = &input.checked.program;
        options.entry.get_or_insert_with(|| program.decls[program.entry].name.to_string());
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
        return Err(interfaces.nothing(&cell));
    }
    fault::stage("proving the program");
    let proof = cell.prove(&input.checked.program, extent);
    let mut proof = proof.map_err(|obstacle| match obstacle {
        Obstacle::Findings(findings) => front::reported(&input.sources, &findings, reporter),
        Obstacle::Failure(failure) => failure,
    })?;
    proof.claims.splice(0..0, promised);
    Ok(proof)
}

/// Proves what nodes promise of their arithmetic; findings are at the line that fails.
fn promised(input: &front::Input, reporter: Reporter) -> Result<Vec<(Claim, Duration)>, Failure> {
    fault::stage("proving the contracts");
    let program = &input.checked.program;
    let (mut claims, mut findings) = (Vec::new(), Vec::new());
    for node in usuba_contracts::promising(program) {
        let start = Instant::now();
        let report = usuba_contracts::check_node(program, node);
        match report.outcome {
            usuba_contracts::Outcome::Proved => {
                let outcome = Outcome::Proved(report.means);
                let claim = Claim { kind: Kind::Contract, subject: report.node, outcome };
                claims.push((claim, start.elapsed()));
            }
            usuba_contracts::Outcome::Refuted(found) => findings.push(found.finding),
            usuba_contracts::Outcome::Unknown(finding) => findings.push(finding),
        }
    }
    if findings.is_empty() {
        return Ok(claims);
    }
    Err(front::reported(&input.sources, &findings, reporter))
}

/// Proves again what the certificates beside a program say of it.
fn check(args: &Prove, file: &Path, reporter: Reporter) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let records = certificate::read(folder)?;
    let records: Vec<_> = records.into_iter().filter(|record| record.program == name).collect();
    if records.is_empty() {
        let folder = folder.join(certificate::FOLDER);
        return Err(Failure::program(format!(
            "{} has no certificate of {name}; `usubac prove --certify` writes one",
            folder.display()
        )));
    }
    checked(args, folder, &records, reporter)
}

/// Proves records again, and says of each whether it still holds.
fn checked(
    args: &Prove,
    folder: &Path,
    records: &[certificate::Record],
    reporter: Reporter,
) -> Result<(), Failure> {
    let mut good = true;
    let known = &Known::default();
    for record in records {
        let (language, codegen) = record.flags(&args.language)?;
        let objects = record.objects(folder)?;
        let interfaces = record.interfaces(folder)?;
        let interfaces = interfaces.as_ref().map(|(all, objects)| (all, objects));
        let extent = Extent { direct: false, objects: &objects, interfaces, plant: None, known };
        let proof = prove(&folder.join(&record.program), &language, &codegen, extent, reporter)?;
        let stale = record.differs(&proof.record());
        good &= stale.is_none() && proof.is_proved();
        to_stdout(&match args.json {
            true => show::json_check(&proof, stale),
            false => show::check(&proof, stale),
        })?;
    }
    if good { Ok(()) } else { Err(Failure::Reported) }
}
