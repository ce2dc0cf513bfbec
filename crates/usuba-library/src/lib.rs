//! Library generator: turns cipher folders into one C file, a C library or a Rust crate.
//!
//! ```text
//! cipher.toml → primitives → cores for every slicing and target → dispatch tables → C
//!                                    costs.toml ──────────────────────┘             ↑
//!                                    lib/c (dispatch, modes) ───────────────────────┘
//! ```
//!
//! - `primitive`: groups the functions of a folder into operations and primitives.
//! - `cores`: kernels as C functions over any number of blocks.
//! - `ladder`: dispatch tables with the break-even points between cores.
//! - `interface`: the public C API, from the templates of `lib/c`.
//! - `needs`: the hand-written parts that a file contains.
//! - `composed`: keystreams of two composed functions.
//! - `hash`: hash functions around a compression function.
//! - `arithmetic`: programs with contracts for hand-written C, and `scheme`: that C.
//! - `tables`: multiples of a base point.
//! - `mac`: message authentication codes.
//! - `seal`: authenticated encryption.
//! - `sign`: signatures from hash functions.
//! - `section`: all targets in one file, and `dense`: their functions in little text.
//! - `template`: the hand-written C.
//! - `lengths`: functions that return sizes.
//! - `write`: the output files, and `extent`: their bytes by function.
//! - `rust`: a crate around the library, from the Rust of `lib/rust`.
//! - `nacl`: the NaCl API over some folders.
//! - `grid`: a folder for grids of threads.
//! - `units`: functions that programs specify, `declarations` and `size`: the header as data, and
//!   `manifest`: both in a file, for the prover; `regenerate`: the output from that file.
//! - `measure`: the costs of calls on this machine.
//! - `status`: Markdown tables for the documents.

mod arithmetic;
mod composed;
mod cores;
pub mod declarations;
mod dense;
mod extent;
mod grid;
mod hash;
mod interface;
pub mod ladder;
mod lengths;
mod mac;
pub mod manifest;
pub mod measure;
mod merge;
mod nacl;
mod needs;
mod primitive;
mod regenerate;
mod rust;
mod scheme;
mod seal;
mod section;
mod sign;
pub mod size;
mod status;
mod tables;
mod template;
mod units;
mod write;

use std::collections::BTreeSet;

use usuba::ir::Slicing;
use usuba::isa::{self, Target};

use arithmetic::Kernels;
use cores::{Compiled, Core, Use};
use ladder::{Cost, Costs};
use primitive::primitives;
use rayon::prelude::*;
use usuba_ciphers::{Cipher, Function};

pub use arithmetic::{Form, forms};
pub use extent::{Extent, table};
pub use grid::{grids, is_for_grids};
pub use interface::{Described, Description, Kind};
pub use manifest::Manifest;
pub use nacl::{nacl, nacl_ciphers};
pub use regenerate::{is_stem, regenerate};
pub use rust::rust;
pub use status::{curves, status};
pub use units::{Blocks, Unit, UnitKind};
pub use write::{File, Written, library, single};

/// The parameters of a generated library.
#[derive(Clone, Debug)]
pub struct Request {
    /// The instruction sets; see [`backends`].
    pub targets: Vec<&'static Target>,
    /// The prefix of all names: `usuba_`.
    pub prefix: String,
    /// The compiler's version, for comments.
    pub version: String,
    /// The functions of the cipher of [`single`]; empty for all of them.
    pub functions: Vec<String>,
}

/// The instruction sets of a request, narrowest first, so that the last one with processor support
/// is the best. One of them runs on every processor. A target with a base represents its base if
/// `ciphers` has no code specific to it.
pub fn backends(targets: &[&'static Target], ciphers: &[Cipher]) -> Vec<&'static Target> {
    let functions = || ciphers.iter().flat_map(|cipher| &cipher.functions);
    let lanes = || ciphers.iter().filter_map(|cipher| cipher.lanes.as_ref());
    let used = |target: &Target| {
        let beyond = |other: &Target| target.base.is_none_or(|base| !includes(base, other));
        let on_it = |other: &&&Target| includes(target, other) && beyond(other);
        let mut each = isa::NARROW.iter().filter(on_it).chain([&target]);
        each.any(|target| functions().any(|function| function.is_for(target)))
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

/// The default instruction sets of a library: without small processors, and without targets that a
/// program cannot select at run time.
pub fn usual() -> Vec<&'static Target> {
    let scalar = usuba_run::functions::scalar(isa::ALL[0]);
    let wanted =
        |target: &&Target| target.processor.library && (target.simd || target.name == scalar.name);
    isa::all().filter(wanted).collect()
}

/// A dispatch step: a core and its key words, from a minimal number of blocks.
#[derive(Clone, Copy, Debug)]
struct Rung {
    from: usize,
    used: Use,
    /// Whether it is based on measurements.
    measured: bool,
}

/// A compiled cipher folder with its dispatch tables.
struct Folder<'a> {
    /// A C identifier.
    name: String,
    cipher: &'a Cipher,
    cores: Vec<Core>,
    compiled: Vec<Compiled<'a>>,
    /// For each primitive, operation and backend.
    ladders: Vec<Vec<Vec<Vec<Rung>>>>,
    /// Arithmetic kernels for hand-written C.
    arithmetic: Kernels,
    /// Arithmetic kernels in lanes, for wide registers.
    lanes: Vec<(&'static Target, Kernels)>,
    /// Arithmetic kernels across the lanes of one operation.
    across: Option<(&'static Target, Kernels)>,
    /// The C linkage of tables that other folders use: `static ` in one file.
    linkage: String,
}

/// The register files of the code of `ciphers` for `backends`: the backends themselves, and
/// narrower targets of the same machines with functions of their own.
fn registers(backends: &[&'static Target], ciphers: &[&Cipher]) -> Vec<&'static Target> {
    let functions = || ciphers.iter().flat_map(|cipher| &cipher.functions);
    let used = |target: &&Target| functions().any(|function| function.is_for(target));
    let there = |target: &&Target| backends.iter().any(|backend| includes(backend, target));
    let narrow = isa::NARROW.iter().copied().filter(used).filter(there);
    backends.iter().copied().chain(narrow).collect()
}

/// The features that a program checks before it runs code for `target`, each once, with the features of
/// targets that are used beside it. A program queries the features of x86; other processors always have
/// their vectors, and plain general-purpose registers need no query.
fn asked_features(target: &'static Target, registers: &[&'static Target]) -> Vec<&'static str> {
    let beside = |other: &&Target| other.machine.is_some() && includes(target, other);
    let beside = registers.iter().copied().filter(beside);
    let all = [target].into_iter().chain(beside).filter(|target| target.processor.asks);
    let mut asked: Vec<&str> = Vec::new();
    for feature in all.flat_map(section::features) {
        if !asked.contains(&feature) {
            asked.push(feature);
        }
    }
    asked
}

/// Whether code for `below` runs wherever code for `target` does.
fn includes(target: &Target, below: &Target) -> bool {
    let below = below.machine.unwrap_or(below);
    let (one, other) = (section::processors(target), section::processors(below));
    let instructions = below.base.is_none() || target.base.is_some();
    below.bits <= target.bits && instructions && (other.is_none() || one == other)
}

/// The compiled folders of a library, in the order of `ciphers`.
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
    let folders = ciphers.iter().map(each).collect::<Result<Vec<_>, String>>()?;
    seal::check_ciphers(&folders)?;
    Ok(folders)
}

impl<'a> Folder<'a> {
    fn new(
        cipher: &'a Cipher,
        backends: &[&'static Target],
        linkage: &'a str,
        small: bool,
    ) -> Result<Folder<'a>, String> {
        let name = usuba_ciphers::folder_name(&cipher.folder)?;
        let registers = registers(backends, &[cipher]);
        // The wide form of a hash function may exist for some targets only.
        let is_wide = |name: &str| {
            let hashes = cipher.seals.iter().flat_map(|seal| &seal.hash);
            hashes.flat_map(|hash| &hash.wide).any(|wide| wide == name)
        };
        let exists = |function: &Function| registers.iter().any(|t| function.is_for(t));
        let mut primitives = primitives(cipher);
        primitives.retain(|primitive| {
            let functions = || primitive.operations.iter().flat_map(|o| &o.functions);
            functions().any(|function| exists(function))
                || !functions().any(|function| is_wide(&function.name))
        });
        let mut operations = primitives.iter().flat_map(|primitive| &primitive.operations);
        let is_lost =
            |operation: &&primitive::Operation| !operation.functions.iter().any(|f| exists(f));
        let lost = operations.find(is_lost);
        if let Some(lost) = lost {
            let targets: Vec<&str> = backends.iter().map(|target| target.name).collect();
            return Err(format!(
                "{name}: found no function that computes `{}` for {}, expected one; help: name its \
                 targets by `--target`",
                lost.name,
                targets.join(", ")
            ));
        }
        // In one file, compilers would take a function over blocks apart in its callers.
        let apart = match linkage {
            "static " => "static USUBA_LINKED ",
            other => other,
        };
        let (cores, compiled) = cores::compile(cipher, primitives, &registers, apart, small)?;
        let measured = Costs::read(&cipher.folder)?;
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
        let linkage = linkage.to_string();
        let mut folder =
            Folder { name, cipher, cores, compiled, ladders, arithmetic, lanes, across, linkage };
        folder.drop_unused();
        folder.assemble(&measured)?;
        folder.check_counters()?;
        folder.check_streams()?;
        folder.check_hashes()?;
        folder.check_seals()?;
        folder.check_signs()?;
        Ok(folder)
    }

    /// Drops the functions that XOR results to a text where no mode calls them.
    fn drop_unused(&mut self) {
        let called = |at: usize| match self.kind(at) {
            Kind::Stream(_) | Kind::Tweakable { .. } => vec![0],
            Kind::Block { inverse: Some(inverse), wide: true } => vec![0, inverse],
            Kind::Block { .. } => vec![0],
            _ => Vec::new(),
        };
        let mut used = BTreeSet::new();
        for (at, tables) in self.ladders.iter().enumerate() {
            let rungs = called(at).into_iter().flat_map(|number| &tables[number]).flatten();
            used.extend(rungs.map(|rung| rung.used.core));
        }
        for (at, core) in self.cores.iter_mut().enumerate() {
            core.fused.take_if(|_| !used.contains(&at));
        }
    }

    /// Adds the kernels in assembly language that dispatch tables use, where `measured` says that
    /// they are the faster ones.
    fn assemble(&mut self, measured: &Costs) -> Result<(), String> {
        let is_shipped = |core: &Core| {
            let (function, slicing, target) = core.name();
            measured.ships_assembly(function, slicing, target)
        };
        let cores = self.cores.iter().enumerate();
        let shipped: Vec<usize> = cores
            .filter(|(at, core)| is_shipped(core) && self.is_used(*at))
            .map(|(at, _)| at)
            .collect();
        let made = shipped
            .par_iter()
            .map(|&at| self.cores[at].assembled(&self.cipher.folder))
            .collect::<Result<Vec<_>, _>>()?;
        for (at, assembly) in shipped.into_iter().zip(made) {
            self.cores[at].assembly = assembly;
        }
        Ok(())
    }

    /// The processors that dispatch to a core, as the condition of an `#if`; `None` for all
    /// processors.
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

    /// Whether a dispatch table uses a core on a processor whose objects are proved.
    fn is_used_where_proved(&self, core: usize, backends: &[&'static Target]) -> bool {
        let used = |rungs: &Vec<Rung>| rungs.iter().any(|rung| rung.used.core == core);
        let here = |(target, rungs): (&&'static Target, &Vec<Rung>)| {
            section::is_proved(target) && used(rungs)
        };
        self.ladders.iter().flatten().any(|ladders| backends.iter().zip(ladders).any(here))
    }

    /// Whether a dispatch table uses a core.
    fn is_used(&self, core: usize) -> bool {
        self.ladders.iter().flatten().flatten().flatten().any(|rung| rung.used.core == core)
    }
}

/// The dispatch tables of a cipher folder as text: each step with its threshold, and cycles per
/// byte against the number of blocks.
///
/// # Errors
/// The diagnostics of the compiler, one per line.
pub fn ladders(request: &Request, cipher: &Cipher) -> Result<String, String> {
    let backends = backends(&request.targets, std::slice::from_ref(cipher));
    let folder = Folder::new(cipher, &backends, "static ", false)?;
    let measured = Costs::read(&cipher.folder)?;
    let mut text = String::new();
    for (compiled, ladders) in folder.compiled.iter().zip(&folder.ladders) {
        for (operation, ladders) in compiled.primitive.operations.iter().zip(ladders) {
            let there = backends.iter().zip(ladders).filter(|(_, rungs)| !rungs.is_empty());
            for (target, rungs) in there {
                text += &folder.curve(&operation.name, target, rungs, &measured);
            }
        }
    }
    Ok(text)
}

/// Numbers of blocks on the curves.
const CURVE: [usize; 7] = [1, 4, 16, 64, 256, 1024, 4096];

impl Folder<'_> {
    fn curve(&self, name: &str, target: &Target, rungs: &[Rung], measured: &Costs) -> String {
        let guessed = if rungs.iter().all(|rung| rung.measured) { "" } else { ", not measured" };
        let mut text = format!("{name} on {}{guessed}\n", target.name);
        let families = measured.families(target.family());
        let cost = |rung: &Rung| {
            let core = &self.cores[rung.used.core];
            let known = measured.shipped(core.name(), &families).filter(|_| rung.measured);
            known.unwrap_or_else(|| core.guess.clone())
        };
        for rung in rungs.iter().rev() {
            let core = &self.cores[rung.used.core];
            let (letter, target) = (cores::letter(core.slicing), core.target.name);
            text += &format!("  from {:>4}  {letter} {target}, {} at once\n", rung.from, core.unit);
        }
        let costs: Vec<Cost> = rungs.iter().map(cost).collect();
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

/// The dispatch table of an operation on a backend.
fn rungs(cores: &[Core], uses: &[Use], backend: &Target, measured: &Costs) -> Vec<Rung> {
    let candidates: Vec<Use> =
        uses.iter().copied().filter(|u| includes(backend, cores[u.core].target)).collect();
    // Measurements on another machine do not apply: a machine that has the backend measured some
    // kernel for it.
    let families = measured.families(backend.family());
    let known: Vec<Option<Cost>> =
        candidates.iter().map(|u| measured.shipped(cores[u.core].name(), &families)).collect();
    let own = |u: &Use| {
        let target = cores[u.core].target;
        target.machine.unwrap_or(target).family() == backend.family()
    };
    let is_known = |at: usize| known[at].is_some();
    let wide: Vec<usize> = (0..candidates.len()).filter(|at| own(&candidates[*at])).collect();
    // One kernel alone is chosen at any cost.
    let alone = candidates.len() == 1 && is_known(0);
    let here = !families.is_empty();
    // Estimates and measurements are not comparable, and neither are measurements of other kernels.
    let is_current = |(u, cost): (&Use, &Option<Cost>)| {
        let core = &cores[u.core];
        cost.as_ref().is_none_or(|cost| (cost.unit, cost.batch) == (core.unit, core.batch))
    };
    let trusted = (alone || here && wide.is_empty() || wide.into_iter().any(is_known))
        && candidates.iter().zip(&known).all(is_current);
    let kept = candidates.into_iter().zip(known).filter(|(_, cost)| !trusted || cost.is_some());
    let (candidates, costs): (Vec<Use>, Vec<Cost>) = kept
        .map(|(u, cost)| {
            let guess = || cores[u.core].guess.clone();
            (u, cost.filter(|_| trusted).unwrap_or_else(guess))
        })
        .unzip();
    let steps = ladder::ladder(&costs);
    let rung = |step: ladder::Step| Rung {
        from: step.from,
        used: candidates[step.kernel],
        measured: trusted,
    };
    steps.into_iter().map(rung).collect()
}
