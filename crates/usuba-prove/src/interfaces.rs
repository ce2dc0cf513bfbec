//! Proof driver for the byte interface: the C functions that `cipher.toml` describes, as each C
//! compiler translates them.
//!
//! ```text
//! cipher.toml ─→ name_init, name_blocks in C ─ gcc, clang → object ─ for any number of blocks:
//! equal to the final IR on every block, apart and in place? to the key schedule?
//! ```
//!
//! The functions contain further programs besides the proved kernel: the key schedule, and
//! sometimes a kernel without transposition or with complemented keys. Each of these is proved from
//! its source first, once in a run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::byte_interface;
use crate::{Claim, Evidence, Outcome};
use serde::{Deserialize, Serialize};
use usuba::diag::Sources;
use usuba::ir::{self, Slicing};
use usuba::passes::{When, interleave};
use usuba::{Options, typed};
use usuba_ciphers::{Beside, Cipher, Function, files, loader};
use usuba_equiv::claims::Kind;
use usuba_object::compare::Demands;
use usuba_run::fingerprint::fingerprint as of_sources;
use usuba_run::functions::Built;

use crate::cell::{Cell, Extent, Known, Obstacle, fingerprint};
use crate::objects::{Made, Objects, outside_of_comments, sha256};

/// A cipher folder, and the proofs of its functions in this run.
#[derive(Clone)]
pub struct Interfaces {
    cipher: Arc<Cipher>,
    /// The text of `cipher.toml`.
    text: String,
    memory: Memory,
}

/// The claims of a run, by their subjects.
pub type Memory = Arc<Mutex<HashMap<String, Vec<Found>>>>;

/// A claim, its subject, and the duration of its proof.
#[derive(Clone)]
pub struct Found {
    pub claim: Claim,
    pub spent: Duration,
    pub about: About,
}

#[derive(Clone)]
pub enum About {
    Program(Program),
    Function(Made),
}

impl About {
    pub fn program(&self) -> Option<&Program> {
        match self {
            About::Program(program) => Some(program),
            About::Function(_) => None,
        }
    }

    pub fn made(&self) -> Option<&Made> {
        match self {
            About::Program(_) => None,
            About::Function(made) => Some(made),
        }
    }
}

/// The certificate entry of a program other than the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Entry, slicing and target.
    pub what: String,
    pub usuba0: String,
}

impl Interfaces {
    /// Reads the byte interfaces of a folder.
    pub fn new(folder: &Path, memory: Memory) -> Result<Interfaces, String> {
        let path = folder.join("cipher.toml");
        if !files::is_file(&path) {
            return Err(format!(
                "there is no {}, and --interface proves the functions that it describes; --binary \
                 proves kernels without it",
                path.display()
            ));
        }
        let cipher = Arc::new(usuba_ciphers::read(folder)?);
        let text = loader::read(&path)?;
        Ok(Interfaces { cipher, text, memory })
    }

    /// The functions of a program.
    fn functions(&self, cell: &Cell) -> impl Iterator<Item = &Function> {
        let Options { entry, slicing, target, .. } = &cell.options;
        self.cipher.functions.iter().filter(move |function| {
            function.source == cell.program
                && Some(&function.node) == entry.as_ref()
                && function.slicings.contains(slicing)
                && function.is_for(target)
        })
    }

    pub fn has_any(&self, cell: &Cell) -> bool {
        self.functions(cell).next().is_some()
    }

    /// The reason why a cell has no provable byte interface.
    pub fn nothing(&self, cell: &Cell) -> String {
        let Options { entry, slicing, target, .. } = &cell.options;
        format!(
            "{} has no function of {} in {slicing:?} on {}; --interface is about functions that it \
             describes, and --entry names their node",
            self.cipher.folder.join("cipher.toml").display(),
            entry.as_deref().unwrap_or("this program"),
            target.name
        )
    }

    /// The fingerprint of the description, which fixes the byte order of the words.
    pub fn description(&self) -> String {
        sha256(self.text.as_bytes())
    }

    /// The fingerprint of all dependencies of the proofs besides the program.
    pub fn identity(&self, cell: &Cell) -> Result<String, String> {
        let schedules = self.functions(cell).filter_map(schedule);
        let hashes =
            schedules.map(|(file, node)| Ok(read(&self.cipher.folder.join(file), node)?.1));
        let hashes: Vec<String> = hashes.collect::<Result<_, String>>()?;
        Ok([&[self.description()], &hashes[..]].concat().join("\n"))
    }

    /// Proves each function with each compiler. A failed proof does not stop the others. `last` is
    /// the proved final IR, `program` its source.
    pub fn prove(
        &self,
        cell: &Cell,
        program: &typed::Program,
        last: &ir::Program,
        objects: &Objects,
    ) -> Result<Vec<Found>, Obstacle> {
        let mut all = Vec::new();
        if matches!(objects, Objects::None) {
            return Ok(all);
        }
        for function in self.functions(cell) {
            let Options { slicing, .. } = cell.options;
            let built =
                usuba_run::functions::build_as(&self.cipher, function, slicing, &cell.options);
            let built = match built {
                Ok(built) => built,
                Err(why) => return Err(Obstacle::Failure(why)),
            };
            all.extend(self.programs(cell, program, last, function, &built)?);
            for compiler in objects.compilers(&built.text) {
                let more = byte_interface::flags(compiler);
                let flags = [compiler.flags(), more.to_vec()].concat().join(" ");
                let about = [
                    outside_of_comments(&built.text),
                    usuba::dump::program(&built.program),
                    built.schedule.as_ref().map(usuba::dump::program).unwrap_or_default(),
                    self.text.clone(),
                    format!("{} {} {flags}", function.name, compiler.name),
                ];
                let made = |symbol: &str, bytes: &[u8]| Made {
                    by: compiler.name.clone(),
                    flags: flags.clone(),
                    symbol: symbol.to_string(),
                    sha256: sha256(bytes),
                };
                all.extend(self.known(&about.join("\0"), || {
                    let bytes = compiler
                        .object(&built.text, "c", more)
                        .map_err(|what| format!("{} says: {}", compiler.name, what.trim_end()))?;
                    let target = cell.options.target;
                    let demands = Demands { wiped: cell.options.c.wipe };
                    let proofs =
                        byte_interface::prove_object(&bytes, &built, function, target, demands);
                    let found = proofs?.into_iter().map(|proof| {
                        let made = made(&proof.what, &bytes);
                        let about = About::Function(made);
                        Found { claim: proof.claim(&compiler.name), spent: proof.spent, about }
                    });
                    Ok(found.collect())
                })?);
            }
        }
        Ok(all)
    }

    /// Proves the further programs in the functions.
    fn programs(
        &self,
        cell: &Cell,
        program: &typed::Program,
        last: &ir::Program,
        function: &Function,
        built: &Built,
    ) -> Result<Vec<Found>, Obstacle> {
        let mut all = Vec::new();
        if fingerprint(&built.program) != fingerprint(last) {
            let mut cell = cell.clone();
            // The interface complements the keys and moves whole words.
            cell.options.c.complemented_keys = built.kernel.complemented_keys;
            if !built.program.packed {
                cell.options.pipeline.packing = When::Never;
            }
            all.extend(self.compiled(&cell, program, &built.program)?);
        }
        if let (Some(made), Some((file, node))) = (&built.schedule, schedule(function)) {
            let (program, sha256) =
                read(&self.cipher.folder.join(file), node).map_err(Obstacle::Failure)?;
            let mut cell = cell.clone();
            let options = &mut cell.options;
            options.target = usuba_run::functions::scalar(options.target);
            options.slicing = made.slicing;
            options.entry = Some(node.to_string());
            options.c.complemented_keys = made.slicing != Slicing::V;
            options.pipeline.packing = When::Never;
            options.pipeline.pass.interleave = interleave::Choice::SINGLE;
            let cell = Cell { program: file.to_string(), sha256, ..cell };
            all.extend(self.compiled(&cell, &program, made)?);
        }
        Ok(all)
    }

    /// Proves a compile against its source, and its final IR equal to `made`.
    fn compiled(
        &self,
        cell: &Cell,
        program: &typed::Program,
        made: &ir::Program,
    ) -> Result<Vec<Found>, Obstacle> {
        let Options { target, slicing, .. } = cell.options;
        let entry = cell.options.entry.as_deref().unwrap_or_default();
        let what = format!("{entry} in {slicing:?} on {}", target.name);
        let usuba0 = fingerprint(made);
        let about = [&cell.program, &what, &cell.sha256, &usuba0].map(String::as_str).join("\0");
        self.known(&about, || {
            let start = Instant::now();
            let (objects, known) = (&Objects::None, &Known::default());
            let extent = Extent { direct: false, objects, interfaces: None, plant: None, known };
            let outcome = match cell.prove(program, extent) {
                Err(Obstacle::Failure(failure)) => return Err(failure),
                Err(Obstacle::Findings(_)) => Outcome::Unknown("it does not compile alone".into()),
                Ok(proof) => match proof.faults().next() {
                    Some(fault) => fault.outcome.clone(),
                    None if proof.usuba0 == usuba0 => {
                        let kinds = [Kind::Lowering, Kind::Pass, Kind::Lanes];
                        Outcome::Proved(Evidence::Engines(proof.engines(&kinds)))
                    }
                    None => Outcome::Unknown("the functions have another program".into()),
                },
            };
            let claim = Claim { kind: Kind::Beside, subject: what.clone(), outcome };
            let about = About::Program(Program { what: what.clone(), usuba0: usuba0.clone() });
            Ok(vec![Found { claim, spent: start.elapsed(), about }])
        })
    }

    /// The cached result of this run, computed on the first request.
    fn known(
        &self,
        about: &str,
        find: impl FnOnce() -> Result<Vec<Found>, String>,
    ) -> Result<Vec<Found>, Obstacle> {
        let name = sha256(about.as_bytes());
        if let Some(found) = self.locked().get(&name) {
            return Ok(found.clone());
        }
        let found = find().map_err(Obstacle::Failure)?;
        self.locked().insert(name, found.clone());
        Ok(found)
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Vec<Found>>> {
        self.memory.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Reads an entry of the program at `path`, with the fingerprint of its text.
///
/// # Errors
/// The program has an error; the message has the first one.
pub fn read(path: &Path, node: &str) -> Result<(typed::Program, String), String> {
    let text = loader::read(path)?;
    let mut sources = Sources::default();
    let root = sources.add(path.display().to_string(), text);
    let flags = Default::default();
    let checked = usuba::front(&mut sources, root, &mut Beside, Some(node), flags);
    let checked = checked.map_err(|findings| {
        let first = findings.iter().find(|finding| finding.is_error());
        let first = first.map(|finding| finding.message.clone());
        format!("{}: {}", path.display(), first.unwrap_or_default())
    })?;
    Ok((checked.program, of_sources(&sources)))
}

/// The file and node of a function's key schedule.
fn schedule(function: &Function) -> Option<(&str, &str)> {
    let (file, node) = function.key.as_ref()?.schedule.as_ref()?;
    Some((file, node))
}
