//! Benchmark session: a run of measurements over cipher folders.

use std::collections::BTreeMap;

use usuba::ir::Slicing;
use usuba::isa::{self, Target};

use crate::bench::{Batch, Choice, Parse, Scope, Side, Subject, Variant, subjects};
use crate::record::{Entry, Outcome, Run};
use crate::throughput;
use crate::tune::{cpu, tuned};
use crate::work::Throughput;
use usuba_ciphers::Cipher;
use usuba_run::cc::{self, Family};
use usuba_run::native::Timing;

/// The parameters of a run.
pub struct Request<'a> {
    pub ciphers: &'a [Cipher],
    pub choice: &'a Choice,
    /// The variants, measured in turns for each function.
    pub variants: &'a [Variant],
    /// Whether to add the variant that `usubac tune` found for a function on this processor.
    pub tuned: bool,
    pub parse: &'a Parse<'a>,
    /// The version of the calling program.
    pub version: &'a str,
}

/// The progress of a run.
pub struct Progress<'a> {
    pub done: usize,
    pub total: usize,
    /// The next measurement; empty at the end.
    pub next: &'a str,
    /// The results so far, in the order in which they were measured.
    pub entries: &'a [Entry],
}

/// Samples of each micro-kernel: throughputs change little.
const MACHINE_ROUNDS: u32 = 31;

/// Verifies the selected functions in all variants on all selected targets, and times them if the
/// choice asks for it and the target is native. Entries are sorted by function and slicing, then
/// target, then variant.
///
/// # Errors
/// Flags are invalid, or the selection is empty.
pub fn run(request: &Request, progress: &mut dyn FnMut(Progress)) -> Result<Run, String> {
    let Request { ciphers, choice, variants, parse, version, .. } = *request;
    let wanted = |name: &str| choice.targets.is_empty() || choice.targets.iter().any(|t| t == name);
    let any = Side::default();
    let subjects = subjects(ciphers, choice, &any);
    let chosen: Vec<&Cipher> = ciphers
        .iter()
        .filter(|cipher| subjects.iter().any(|subject| subject.cipher.folder == cipher.folder))
        .collect();
    let used = |target: &Target| subjects.iter().any(|subject| subject.function.is_for(target));
    let known = isa::all().chain(isa::NARROW.iter().copied());
    let targets: Vec<&'static Target> =
        known.filter(|target| wanted(target.name) && used(target)).collect();
    if chosen.is_empty() || targets.is_empty() {
        return Err("no function of these ciphers fits the choice".into());
    }
    let mut run = Run::new(version);
    let total = chosen.len() * targets.len();
    let mut done = 0;
    for &target in &targets {
        if let Some(timing) = choice.timing {
            measure_machine(target, timing, &mut run.throughput);
        }
        let sides: Vec<Side> = variants.iter().map(|v| v.side(parse)).collect::<Result<_, _>>()?;
        for cipher in &chosen {
            progress(Progress {
                done,
                total,
                next: &format!("{} {}", folder(cipher), target.name),
                entries: &run.entries,
            });
            measure_cipher(cipher, target, &sides, request, &mut run)?;
            done += 1;
        }
    }
    progress(Progress { done, total, next: "", entries: &run.entries });
    // Sorted by function and slicing; the targets and variants keep their order.
    run.entries.sort_by_key(|entry| {
        subjects
            .iter()
            .position(|s| s.function.name == entry.function && letter(s.slicing) == entry.slicing)
    });
    run.remark();
    Ok(run)
}

/// Measures the functions of one cipher, all sides in turns.
///
/// # Errors
/// A file of tuned flags is malformed.
fn measure_cipher(
    cipher: &Cipher,
    target: &'static Target,
    sides: &[Side],
    request: &Request,
    run: &mut Run,
) -> Result<(), String> {
    let any = Side::default();
    let mut functions = subjects(std::slice::from_ref(cipher), request.choice, &any);
    functions.retain(|subject| {
        let mut slicings = subject.function.slicings_on(target);
        subject.function.is_for(target) && slicings.any(|slicing| slicing == subject.slicing)
    });
    let mut tuned = Vec::new();
    for subject in &functions {
        let found = tuned_variant(subject, target, request)?;
        tuned.push(match found {
            Some(variant) => Some((variant.side(request.parse)?, variant)),
            None => None,
        });
    }
    let mut list = Vec::new();
    for (subject, tuned) in functions.iter().zip(&tuned) {
        let given = sides.iter().zip(request.variants);
        let tuned = tuned.iter().map(|(side, variant)| (side, variant));
        list.extend(
            given.chain(tuned).map(|(side, variant)| (Subject { side, ..*subject }, variant)),
        );
    }
    let measured: Vec<Subject> = list.iter().map(|(subject, _)| *subject).collect();
    let results = Batch::new(target, &measured).measure(request.choice.timing, Scope::All);
    for ((subject, variant), result) in list.iter().zip(results) {
        let machine = cc::find_with(target.name, variant.family).ok();
        if let Some(machine) = &machine {
            run.note_compiler(machine);
        }
        let flags = machine.iter().flat_map(|machine| machine.cflags.iter().map(|f| f.to_string()));
        run.entries.push(Entry {
            cipher: folder(cipher),
            function: subject.function.name.clone(),
            slicing: letter(subject.slicing).into(),
            target: target.name.into(),
            variant: variant.label.clone(),
            flags: variant.flags.clone(),
            compiler: machine.as_ref().map_or(String::new(), |m| m.compiler.display().to_string()),
            cflags: flags.chain(variant.cflags.iter().cloned()).collect(),
            outcome: Outcome::new(&result, run.throughput.get(target.name)),
        });
    }
    Ok(())
}

/// The tuned variant of a function, if requested and the target is native.
fn tuned_variant(
    subject: &Subject,
    target: &'static Target,
    request: &Request,
) -> Result<Option<Variant>, String> {
    let native = cc::find(target.name).is_ok_and(|machine| machine.is_native());
    if !request.tuned || !native {
        return Ok(None);
    }
    let check = |flags: &str| (request.parse)(flags).map(|_| ());
    let cpu = cpu::slug(&cpu::model());
    let Subject { cipher, function, slicing, .. } = *subject;
    let found = tuned::of_function(cipher, function, slicing, target.name, &cpu, &check)?;
    Ok(found.map(|choice| {
        let clang = choice.compiler.starts_with("clang");
        let own = choice.cflags.split_whitespace().filter(|flag| !target.cflags.contains(flag));
        Variant {
            label: "tuned".into(),
            flags: choice.flags.clone(),
            family: if clang { Family::Clang } else { Family::Gcc },
            assembly: false,
            cflags: own.map(String::from).collect(),
        }
    }))
}

/// Measures the throughputs of the machine, unless they are known or the target is not native.
pub fn measure_machine(
    target: &'static Target,
    timing: Timing,
    known: &mut BTreeMap<String, Throughput>,
) {
    if known.contains_key(target.name) {
        return;
    }
    let Ok(machine) = cc::find_with(target.name, Family::Any) else { return };
    let timing = Timing { rounds: timing.rounds.min(MACHINE_ROUNDS), ..timing };
    if machine.is_native()
        && let Ok(throughput) = throughput::measure(target, &machine, timing)
    {
        known.insert(target.name.to_string(), throughput);
    }
}

/// The name of the folder of a cipher.
pub fn folder(cipher: &Cipher) -> String {
    cipher.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The letter of a slicing.
pub fn letter(slicing: Slicing) -> &'static str {
    match slicing {
        Slicing::V => "V",
        Slicing::H => "H",
        Slicing::B => "B",
        Slicing::W => "W",
    }
}
