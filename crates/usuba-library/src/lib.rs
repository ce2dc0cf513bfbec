//! Cipher folders as C that people embed: one file, or a library.
//!
//! ```text
//! cipher.toml → primitives → cores for every slicing and target → ladders → C
//!                                        costs.toml ─────────────────┘    ↑
//!                                        lib/c (dispatch, modes) ─────────┘
//! ```
//!
//! - `primitive`: what the functions of a folder are to their users.
//! - `cores`: kernels as C functions over any number of blocks.
//! - `ladder`: from how many blocks which of them.
//! - `interface`: the C that users call, from the templates of `lib/c`.
//! - `composed`: key streams that two functions make together.
//! - `hash`: hash functions around a function that is applied to its own results.
//! - `arithmetic`: programs with contracts for hand-written C, and `scheme`: that C.
//! - `tables`: multiples of a base point.
//! - `seal`: authenticated encryption.
//! - `section`: all targets in one file.
//! - `template`: the hand-written C.
//! - `write`: the files.
//! - `rust`: a crate around the library, from the Rust of `lib/rust`.
//! - `nacl`: some folders with the interface of NaCl.
//! - `measure`: what calls cost on this machine.
//! - `status`: tables of all of it for documents.

mod arithmetic;
mod composed;
mod cores;
mod hash;
mod interface;
pub mod ladder;
pub mod measure;
mod nacl;
mod primitive;
mod rust;
mod scheme;
mod seal;
mod section;
mod status;
mod tables;
mod template;
mod write;

use std::collections::BTreeSet;

use usuba::ir::Slicing;
use usuba::isa::{self, Target};

use cores::{Compiled, Core, Use};
use ladder::Cost;
use primitive::primitives;
use usuba_ciphers::Cipher;

pub use arithmetic::short;
pub use interface::{Described, Description, Kind};
pub use nacl::{nacl, nacl_ciphers};
pub use rust::rust;
pub use status::{curves, status};
pub use write::{File, Single, library, single};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The instruction sets; see [`backends`].
    pub targets: Vec<&'static Target>,
    /// What all names begin with: `usuba_`.
    pub prefix: String,
    /// Of the compiler, for comments.
    pub version: String,
}

/// The instruction sets of a request, narrowest first, so that the last one that a processor has
/// is its best. One that every processor has is among them. A target with a base stands for its
/// base where nothing of `ciphers` is made for it.
pub fn backends(targets: &[&'static Target], ciphers: &[Cipher]) -> Vec<&'static Target> {
    let functions = || ciphers.iter().flat_map(|cipher| &cipher.functions);
    let lanes = || ciphers.iter().filter_map(|cipher| cipher.lanes.as_ref());
    let used = |target: &Target| {
        functions().any(|function| function.is_for(target))
            || lanes().any(|lanes| lanes.is_special(target))
    };
    let plain = |target: &&'static Target| match target.base {
        Some(base) if !used(target) => base,
        _ => *target,
    };
    let mut all: Vec<_> = targets.iter().map(plain).collect();
    if all.iter().all(|target| section::processors(target).is_some()) {
        all.push(usuba_run::functions::scalar(isa::ALL[0]));
    }
    all.sort_by_key(|target| (section::processors(target), target.bits, target.base.is_some()));
    all.dedup_by_key(|target| target.name);
    all
}

/// The instruction sets of a library if the user names none: without that of small processors, and
/// without those whose code a program cannot choose.
pub fn usual() -> Vec<&'static Target> {
    let scalar = usuba_run::functions::scalar(isa::ALL[0]);
    let wanted =
        |target: &&Target| target.processor.library && (target.simd || target.name == scalar.name);
    isa::all().filter(wanted).collect()
}

/// A step of a ladder: from so many blocks on, this core with these words of the context.
#[derive(Clone, Copy, Debug)]
struct Rung {
    from: usize,
    used: Use,
    /// Whether it follows from measurements.
    measured: bool,
}

/// A cipher folder, compiled and with its ladders.
struct Folder<'a> {
    /// A C identifier.
    name: String,
    cipher: &'a Cipher,
    cores: Vec<Core>,
    compiled: Vec<Compiled<'a>>,
    /// For each primitive, operation and backend.
    ladders: Vec<Vec<Vec<Vec<Rung>>>>,
    /// What hand-written C calls.
    arithmetic: String,
    /// What it calls where registers are wide.
    lanes: Vec<(&'static Target, String)>,
    /// The same for the numbers of one operation.
    across: Option<(&'static Target, String)>,
}

/// The registers that code of `ciphers` for `backends` is in: those of the backends, and narrower
/// ones of their machines that functions are made for.
fn registers(backends: &[&'static Target], ciphers: &[&Cipher]) -> Vec<&'static Target> {
    let functions = || ciphers.iter().flat_map(|cipher| &cipher.functions);
    let used = |target: &&Target| functions().any(|function| function.is_for(target));
    let there = |target: &&Target| backends.iter().any(|backend| includes(backend, target));
    let narrow = isa::NARROW.iter().copied().filter(used).filter(there);
    backends.iter().copied().chain(narrow).collect()
}

/// Whether code for `below` runs wherever code for `target` does.
fn includes(target: &Target, below: &Target) -> bool {
    let below = below.machine.unwrap_or(below);
    let (one, other) = (section::processors(target), section::processors(below));
    let instructions = below.base.is_none() || target.base.is_some();
    below.bits <= target.bits && instructions && (other.is_none() || one == other)
}

/// The folders of a library, in the order of `ciphers`.
fn folders<'a>(
    ciphers: &'a [Cipher],
    backends: &[&'static Target],
    done: &mut dyn FnMut(&str),
) -> Result<Vec<Folder<'a>>, String> {
    let each = |cipher| {
        let folder = Folder::new(cipher, backends, "USUBA_HIDDEN ", false)?;
        done(&folder.name);
        Ok(folder)
    };
    ciphers.iter().map(each).collect()
}

impl<'a> Folder<'a> {
    fn new(
        cipher: &'a Cipher,
        backends: &[&'static Target],
        linkage: &str,
        small: bool,
    ) -> Result<Folder<'a>, String> {
        let name = usuba_ciphers::folder_name(&cipher.folder)?;
        let primitives = primitives(cipher);
        let registers = registers(backends, &[cipher]);
        let (cores, compiled) = cores::compile(cipher, primitives, &registers, linkage, small)?;
        let measured = ladder::measured(&cipher.folder)?;
        let ladders = compiled
            .iter()
            .map(|primitive| {
                let of = |uses: &Vec<Use>| {
                    backends.iter().map(|target| rungs(&cores, uses, target, &measured)).collect()
                };
                primitive.uses.iter().map(of).collect()
            })
            .collect();
        let arithmetic = arithmetic::compile(cipher)?;
        let mut lanes = Vec::new();
        if let Some(own) = &cipher.lanes {
            for target in arithmetic::wide(backends, own) {
                lanes.push((target, arithmetic::lanes(cipher, own, (Slicing::V, target))?));
            }
        }
        let mut across = None;
        if let (Some(own), Some(target)) = (&cipher.across, arithmetic::across(backends)) {
            across = Some((target, arithmetic::lanes(cipher, own, (Slicing::W, target))?));
        }
        let folder = Folder { name, cipher, cores, compiled, ladders, arithmetic, lanes, across };
        folder.check_counters()?;
        folder.check_streams()?;
        folder.check_hashes()?;
        Ok(folder)
    }

    /// The processors whose ladders use a core, as the condition of an `#if`; `None` if all do.
    fn users(&self, core: usize, backends: &[&'static Target]) -> Option<String> {
        let mut names = BTreeSet::new();
        for ladders in self.ladders.iter().flatten() {
            for (target, rungs) in backends.iter().zip(ladders) {
                if rungs.iter().any(|rung| rung.used.core == core) {
                    names.insert(section::processors(target)?);
                }
            }
        }
        let terms: Vec<String> = names.iter().map(|name| format!("defined({name})")).collect();
        Some(terms.join(" || "))
    }

    /// Whether a ladder uses a core.
    fn is_used(&self, core: usize) -> bool {
        self.ladders.iter().flatten().flatten().flatten().any(|rung| rung.used.core == core)
    }
}

/// The ladders of a cipher folder for people: each step with its number of blocks, and the curve
/// of cycles per byte over the number of blocks.
///
/// # Errors
/// What the compiler says, one finding a line.
pub fn ladders(request: &Request, cipher: &Cipher) -> Result<String, String> {
    let backends = backends(&request.targets, std::slice::from_ref(cipher));
    let folder = Folder::new(cipher, &backends, "static ", false)?;
    let measured = ladder::measured(&cipher.folder)?;
    let mut text = String::new();
    for (compiled, ladders) in folder.compiled.iter().zip(&folder.ladders) {
        for (operation, ladders) in compiled.primitive.operations.iter().zip(ladders) {
            for (target, rungs) in backends.iter().zip(ladders) {
                text += &folder.curve(&operation.name, target, rungs, &measured);
            }
        }
    }
    Ok(text)
}

/// Numbers of blocks on the curves.
const CURVE: [usize; 7] = [1, 4, 16, 64, 256, 1024, 4096];

impl Folder<'_> {
    fn curve(&self, name: &str, target: &Target, rungs: &[Rung], measured: &[Cost]) -> String {
        let guessed = if rungs.iter().all(|rung| rung.measured) { "" } else { ", not measured" };
        let mut text = format!("{name} on {}{guessed}\n", target.name);
        let cost = |rung: &Rung| {
            let core = &self.cores[rung.used.core];
            known(core, measured).filter(|_| rung.measured).unwrap_or(&core.guess)
        };
        for rung in rungs.iter().rev() {
            let core = &self.cores[rung.used.core];
            let (letter, target) = (cores::letter(core.slicing), core.target.name);
            text += &format!("  from {:>4}  {letter} {target}, {} at once\n", rung.from, core.unit);
        }
        let costs: Vec<&Cost> = rungs.iter().map(cost).collect();
        let steps = rungs.iter().enumerate();
        let steps: Vec<_> =
            steps.map(|(kernel, rung)| ladder::Step { from: rung.from, kernel }).collect();
        for blocks in CURVE {
            let cycles = ladder::cycles(&costs, &steps, blocks);
            let bytes = blocks * self.cores[rungs[0].used.core].bytes();
            let each = cycles / bytes as f64;
            let bar = "#".repeat((each.log2() * 4.0).clamp(1.0, 60.0) as usize);
            text += &format!("  {blocks:>4} blocks {each:>9.2} {bar}\n");
        }
        text
    }
}

/// The measured cost of a core.
fn known<'a>(core: &Core, measured: &'a [Cost]) -> Option<&'a Cost> {
    measured.iter().find(|cost| {
        cost.function == core.function
            && cost.slicing == cores::letter(core.slicing).to_string()
            && cost.target == core.target.name
    })
}

/// The ladder of an operation on a backend.
fn rungs(cores: &[Core], uses: &[Use], backend: &Target, measured: &[Cost]) -> Vec<Rung> {
    let candidates: Vec<Use> =
        uses.iter().copied().filter(|u| includes(backend, cores[u.core].target)).collect();
    let measured_on = |u: &Use| known(&cores[u.core], measured);
    // Guesses and measurements do not compare, and measurements of other kernels mean nothing.
    let own = |u: &&Use| cores[u.core].target.family() == backend.family();
    let trusted = candidates.iter().filter(own).any(|u| measured_on(u).is_some())
        && candidates.iter().filter_map(|u| Some((u, measured_on(u)?))).all(|(u, cost)| {
            let core = &cores[u.core];
            (cost.unit, cost.batch) == (core.unit, core.batch)
        });
    let candidates: Vec<Use> =
        candidates.into_iter().filter(|u| !trusted || measured_on(u).is_some()).collect();
    let cost = |u: &Use| measured_on(u).filter(|_| trusted).unwrap_or(&cores[u.core].guess);
    let costs: Vec<&Cost> = candidates.iter().map(cost).collect();
    let steps = ladder::ladder(&costs);
    let rung = |step: ladder::Step| Rung {
        from: step.from,
        used: candidates[step.kernel],
        measured: trusted,
    };
    steps.into_iter().map(rung).collect()
}
