//! Proof of a user's file that contains an output of `usubac dist`.
//!
//! ```text
//! usuba-nacl.manifest.toml ─ the same request ─→ units ─ source to final IR ──────────┐
//! usuba-nacl.o, .a, .so, program ─→ functions ─ each unit at its symbol, in the bytes ─┴→ rows
//! ```
//!
//! The user's compiler and its flags are unknown, and no option is guessed: the output is generated
//! again from its sources, and its manifest must be the one beside the file. Each function of the
//! file has a row. A function without a proof has the reason.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use usuba::isa;
use usuba::names::did_you_mean;
use usuba::{Options, Output};
use usuba_ciphers::Cipher;
use usuba_ciphers::loader::plain;
use usuba_library::declarations::{Function, Struct};
use usuba_library::manifest::{Choice, ENDING, Manifest};
use usuba_library::{Unit, UnitKind};
use usuba_object::by_machine;
use usuba_object::callgraph::CallGraph;
use usuba_object::dispatch::Dispatch;
use usuba_object::elf::{self, Object};
use usuba_object::extensions::Extensions;
use usuba_run::objects::{self, Key};

use crate::cache::this_build;
use crate::cell::{Known, fingerprint};
use crate::objects::sha256;
use crate::rows::{self, Callers, Found, Row};
use crate::scenarios::{self, Scenario, Scenarios};
use crate::{Outcome, exported, interfaces, threads, unit};

/// The question about a file.
pub struct Request<'a> {
    pub file: &'a Path,
    /// The manifest; by its name, if it is not given.
    pub manifest: Option<&'a Path>,
    /// The folder of the cipher folders.
    pub folder: &'a Path,
    /// Exported functions and units: only these, if there are any.
    pub functions: &'a [String],
    pub jobs: Option<u16>,
    /// The folder of the proof cache.
    pub cache: Option<objects::Cache>,
}

/// The rows of a file.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The output of `usubac dist`.
    pub package: String,
    /// Functions that the output exports, and how many of them the file has.
    pub declared: usize,
    pub there: usize,
    /// The objects in the file, or the file itself.
    pub members: Vec<Member>,
    /// Functions over blocks with several sources, which are proved to be equal.
    pub several: Vec<Several>,
}

/// A function over blocks and its sources.
#[derive(Debug, Serialize)]
pub struct Several {
    pub function: String,
    pub sources: Vec<String>,
}

/// The rows of an object.
#[derive(Debug, Serialize)]
pub struct Member {
    pub name: String,
    pub sha256: String,
    /// The symbols of other files.
    pub externals: Vec<String>,
    pub rows: Vec<Row>,
}

/// The symbol of the table of addresses, which the linker defines.
const GLOBAL_OFFSET_TABLE: &str = "_GLOBAL_OFFSET_TABLE_";

/// The largest accepted file, in bytes.
const LARGEST: u64 = 256 << 20;

/// Proves the functions of a file. `progress` hears of each unit that is done, and how many there
/// are.
///
/// # Errors
/// The file, its manifest or the sources of its programs cannot be read, or the manifest is not of
/// these sources.
pub fn prove(request: &Request, progress: &(dyn Fn(usize, &str) + Sync)) -> Result<Report, String> {
    let bytes = read(request.file)?;
    let members = elf::members(&bytes)?;
    let members = members.into_iter().map(|(name, bytes)| {
        let object = Object::read_any(&bytes, Extensions::ALL);
        let object = object.map_err(|why| format!("{}: {why}", request.file.display()))?;
        let name = if name.is_empty() { file_name(request.file) } else { name };
        Ok(Opened { name, sha256: sha256(&bytes), object })
    });
    let mut members: Vec<Opened> = members.collect::<Result<_, String>>()?;
    let path = match request.manifest {
        Some(path) => path.to_path_buf(),
        None => found(request.file)?,
    };
    let manifest = Manifest::read(&path)?;
    let written = usuba_library::regenerate(&manifest, request.folder)?;
    if let Some(choice) = &manifest.dispatch {
        for Opened { object, .. } in &mut members {
            let host = object.processor().host();
            let is_here = |choice: &&Choice| {
                let target = isa::find(&choice.target);
                let machine = target.map(|target| target.machine.unwrap_or(target));
                machine.is_none_or(|machine| machine.processor.runs_on(host))
            };
            let values = choice.values.iter().filter(is_here);
            let values = values.map(|choice| (choice.value, &*choice.features));
            object.dispatch =
                Dispatch::new(|name| object.variable(name), &choice.cell, values).map(Arc::new);
        }
    }
    let (types, cache) = (&manifest.structs, &request.cache);
    let work = Work { members: &members, cache, types, proofs: Known::default() };
    let is_there = |name: &str| members.iter().any(|member| member.has(name));
    let all: BTreeMap<&str, &Unit> =
        written.units.iter().map(|unit| (&*unit.symbol, unit)).collect();
    let declared = manifest.functions.len();
    let there = manifest.functions.iter().filter(|function| is_there(&function.name)).count();
    if !all.keys().any(|unit| is_there(unit)) && there == 0 {
        return Err(format!(
            "{} has no function of {}; it has been stripped, its code is not made yet because of \
             -flto, or the manifest is of another file",
            request.file.display(),
            manifest.package
        ));
    }
    let units = written.units.iter().map(Task::Unit);
    let exported = manifest.functions.iter().map(Task::Declared);
    let mut tasks: Vec<Task> = units.chain(exported).filter(|task| is_there(task.name())).collect();
    let (primitives, folders) = &written.with_dependencies;
    let ciphers = folders.iter().map(|folder| usuba_ciphers::read(folder));
    let ciphers = ciphers.collect::<Result<Vec<Cipher>, String>>()?;
    let known = scenarios::Known::new(&written.units, &manifest.functions)?;
    let mut scenarios = Scenarios::of(&manifest.prefix, primitives, &ciphers, &known);
    if let Some(other) = request.functions.iter().find(|f| tasks.iter().all(|t| t.name() != **f)) {
        let near = did_you_mean(other, tasks.iter().map(Task::name));
        let help = near.map_or(String::new(), |near| format!("; help: {near}"));
        return Err(format!(
            "found no function `{other}` with a contract in {}, expected an exported function or a unit \
             of its manifest{help}",
            request.file.display()
        ));
    }
    let is_wanted = |name: &str| {
        request.functions.is_empty() || request.functions.iter().any(|wanted| wanted == name)
    };
    let mut needed: Vec<&str> =
        tasks.iter().map(Task::name).filter(|name| is_wanted(name)).collect();
    scenarios.retain(|scenario| scenario.functions.iter().any(|name| is_wanted(name)));
    // Scenarios first: they say which functions over blocks they rely on.
    // Specifications, and the contracts of the functions that proofs rely on.
    let texts = sha256(format!("{ciphers:?} {:?} {:?}", known.callees, known.several).as_bytes());
    let total = scenarios.len() + needed.len();
    let proved = threads::each(&scenarios, request.jobs, |scenario| {
        let found = work.scenario(scenario, &known, &texts);
        progress(total, &scenario.functions[0]);
        found
    })?;
    let mut proofs: BTreeMap<(usize, &str), Vec<&Found>> = BTreeMap::new();
    for (scenario, of_members) in scenarios.iter().zip(&proved) {
        for (member, found) in of_members {
            needed.extend(found.applies.iter().map(String::as_str));
            for name in &scenario.functions {
                proofs.entry((*member, name)).or_default().push(found);
            }
        }
    }
    let mut at = 0;
    while let Some(name) = needed.get(at) {
        let calls = all.get(name).map_or(&[][..], |unit| unit.calls());
        needed.extend(calls.iter().map(String::as_str));
        at += 1;
    }
    tasks.retain(|task| needed.contains(&task.name()));
    let found = threads::each(&tasks, request.jobs, |task| {
        let answers = match task {
            Task::Unit(unit) => work.unit(unit, &all),
            Task::Declared(function) => Ok(work.declared(function)),
        };
        progress(scenarios.len() + tasks.len(), task.name());
        answers
    })?;
    let mut rows: BTreeMap<(usize, String), Found> = BTreeMap::new();
    for (task, of_members) in tasks.iter().zip(found) {
        for (member, found) in of_members? {
            rows.insert((member, task.name().to_string()), found);
        }
    }
    for ((member, name), found) in &mut rows {
        for proof in proofs.get(&(*member, &**name)).into_iter().flatten() {
            found.add_scenario(proof);
        }
    }
    let member = |(at, member): (usize, &Opened)| {
        let mut rows = member.rows(|symbol| rows.remove(&(at, symbol.to_string())));
        rows.retain(|row| is_wanted(&row.function));
        let Opened { name, sha256, object } = member;
        let is_function = |name: &&str| *name != GLOBAL_OFFSET_TABLE;
        let externals = object.undefined().into_iter().filter(is_function);
        let externals = externals.map(str::to_string).collect();
        Member { name: name.clone(), sha256: sha256.clone(), externals, rows }
    };
    let package = manifest.package.clone();
    let members = members.iter().enumerate().map(member).collect();
    let several = known.united();
    Ok(Report { package, declared, there, members, several })
}

/// A function to be proved.
enum Task<'a> {
    Unit(&'a Unit),
    Declared(&'a Function),
}

impl<'a> Task<'a> {
    fn name(&self) -> &'a str {
        match self {
            Task::Unit(unit) => &unit.symbol,
            Task::Declared(function) => &function.name,
        }
    }
}

/// An object of the file.
struct Opened {
    name: String,
    sha256: String,
    object: Object,
}

impl Opened {
    fn has(&self, function: &str) -> bool {
        self.object.functions().iter().any(|symbol| symbol.name == function)
    }

    /// The rows of all functions, in the order of their names. `found` has the answers about units.
    fn rows(&self, mut found: impl FnMut(&str) -> Option<Found>) -> Vec<Row> {
        let symbols = self.object.functions();
        let row = |symbol: &elf::Function| {
            let found = found(&symbol.name);
            let found = found.unwrap_or_else(|| Found::nothing("it has no contract"));
            Row::new(symbol.name.clone(), symbol.is_exported, symbol.size, found)
        };
        let mut rows: Vec<Row> = symbols.iter().map(row).collect();
        rows::by_callees(&mut rows);
        rows::by_applied(&mut rows);
        let graph = CallGraph::new(&self.object);
        let mut callers = Callers::new();
        for (at, symbol) in symbols.iter().enumerate() {
            let owner = graph.owner(symbol.place);
            let places = match owner == symbol.place {
                // Its part in another place runs as the function does.
                false => [owner].into(),
                true if symbol.is_exported => continue,
                true => match graph.callers(symbol.place) {
                    Ok(places) => places,
                    Err(_) => continue,
                },
            };
            // Several names may have one place.
            let indices = symbols.iter().enumerate().filter(|(_, s)| places.contains(&s.place));
            callers.insert(at, indices.map(|(at, _)| at).collect());
        }
        rows::by_callers(&mut rows, &callers);
        rows
    }
}

/// The dependencies of the answers about a function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    /// The fingerprint of usubac.
    build: String,
    /// The fingerprints of the source, of the final IR, and of the final IR of the key schedule;
    /// empty without a program.
    source: String,
    program: String,
    schedule: String,
    /// The C name, the prototype and the compile options; or the declaration.
    function: String,
    /// The fingerprint of the object.
    object: String,
}

/// A file of the cache.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    statement: Statement,
    found: Found,
}

struct Work<'a> {
    members: &'a [Opened],
    cache: &'a Option<objects::Cache>,
    types: &'a [Struct],
    proofs: Known,
}

impl Work<'_> {
    /// The answers about a unit in each object that has its symbol.
    fn unit(
        &self,
        unit: &Unit,
        units: &BTreeMap<&str, &Unit>,
    ) -> Result<Vec<(usize, Found)>, String> {
        let output = unit.compile()?;
        let schedule = match &unit.kind {
            UnitKind::Key { schedule: Some(schedule), .. } => {
                let unit = units.get(&**schedule).ok_or("a key schedule is missing")?;
                Some(unit.compile()?)
            }
            _ => None,
        };
        let is_beside =
            |name: &String| units.get(&**name).is_some_and(|other| unit.is_beside(other));
        if let Some(name) = unit.calls().iter().find(|name| !is_beside(name)) {
            return Err(format!("{} calls {name}, which is no kernel of its source", unit.symbol));
        }
        let node = unit.task.options.entry.as_deref().unwrap_or_default();
        let (_, source) = interfaces::read(&unit.folder.join(&unit.task.source), node)?;
        let Unit { symbol, kind, task, section, .. } = unit;
        let prototype = format!("{symbol} {kind:?} {:?} {}", task.options, section.name);
        let mut proved = None;
        let mut all = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            if !member.has(&unit.symbol) {
                continue;
            }
            let statement = Statement {
                build: this_build().unwrap_or_default().to_string(),
                source: source.clone(),
                program: fingerprint(&output.program),
                schedule: schedule.as_ref().map(|s| fingerprint(&s.program)).unwrap_or_default(),
                function: sha256(prototype.as_bytes()),
                object: member.sha256.clone(),
            };
            let found = self.known(statement, || {
                let source =
                    proved.get_or_insert_with(|| unit::source(unit, &output, &self.proofs));
                examined(unit, &output, schedule.as_ref(), &member.object, source)
            });
            all.push((at, found));
        }
        Ok(all)
    }

    /// The answers about a declared function in each object that exports it.
    fn declared(&self, function: &Function) -> Vec<(usize, Found)> {
        let members = self.members.iter().enumerate();
        let there = members.filter(|(_, member)| member.has(&function.name));
        let answer = |(at, member): (usize, &Opened)| {
            let dispatch = &member.object.dispatch;
            let statement = Statement {
                build: this_build().unwrap_or_default().to_string(),
                source: String::new(),
                program: String::new(),
                schedule: String::new(),
                function: sha256(format!("{function:?} {:?} {dispatch:?}", self.types).as_bytes()),
                object: member.sha256.clone(),
            };
            (at, self.known(statement, || safe(function, self.types, &member.object)))
        };
        there.map(answer).collect()
    }

    /// The proof of a scenario in each object that has its functions.
    fn scenario(
        &self,
        scenario: &Scenario,
        known: &scenarios::Known,
        texts: &str,
    ) -> Vec<(usize, Found)> {
        let mut all = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            if !scenario.functions.iter().all(|name| member.has(name)) {
                continue;
            }
            let (formula, sizes) = (&scenario.formula, scenario.extent());
            let about = format!("{:?} {formula} {sizes}", scenario.functions);
            let statement = Statement {
                build: this_build().unwrap_or_default().to_string(),
                source: texts.to_string(),
                program: String::new(),
                schedule: String::new(),
                function: sha256(about.as_bytes()),
                object: member.sha256.clone(),
            };
            let found = self.known(statement, || {
                let start = Instant::now();
                let proof = scenario.prove(known, &member.object);
                let seconds = start.elapsed().as_secs_f64();
                Found { seconds, ..Found::of_scenario(formula, &sizes, proof) }
            });
            all.push((at, found));
        }
        all
    }

    /// The answers of an earlier run, or new ones.
    fn known(&self, statement: Statement, find: impl FnOnce() -> Found) -> Found {
        self.find(&statement).unwrap_or_else(|| {
            let found = find();
            self.keep(statement, &found);
            found
        })
    }

    fn find(&self, asked: &Statement) -> Option<Found> {
        let key = Key::of(toml::to_string(asked).ok()?);
        let text = String::from_utf8(self.cache.as_ref()?.find(key)?).ok()?;
        let Kept { statement, found } = toml::from_str(&text).ok()?;
        (statement == *asked).then_some(found)
    }

    /// Stores answers. A write error is ignored: the proof runs again next time.
    fn keep(&self, statement: Statement, found: &Found) {
        let Some(cache) = self.cache else { return };
        let key = Key::of(toml::to_string(&statement).expect("strings"));
        let kept = Kept { statement, found: found.clone() };
        cache.keep(key, toml::to_string(&kept).expect("strings and numbers").into_bytes());
    }
}

/// Proves a unit in an object, where `source` is the proof of its program.
fn examined(
    unit: &Unit,
    output: &Output,
    schedule: Option<&Output>,
    object: &Object,
    source: &Outcome,
) -> Found {
    let start = Instant::now();
    let Options { slicing, target, entry, .. } = &unit.task.options;
    let (entry, file) = (entry.as_deref().unwrap_or_default(), &unit.task.source);
    let what = match &unit.kind {
        UnitKind::Blocks(_) | UnitKind::Chained(_) => "each block by ",
        UnitKind::Xored(_) => "XOR of a text and of each block by ",
        UnitKind::Schedule { .. } => "key schedule ",
        UnitKind::Key { .. } => "key words of ",
        UnitKind::Kernel { .. } => "",
    };
    let specification = format!("{what}{entry} of {file} in {slicing:?} on {}", target.name);
    let found = match unit::object(unit, output, schedule, object) {
        Ok(proofs) => {
            let outcomes: Vec<Outcome> = proofs.into_iter().map(|proof| proof.outcome).collect();
            Found::specified(specification, source, &outcomes)
        }
        Err(why) => Found { specification, ..Found::nothing(&why) },
    };
    let found = match &unit.kind {
        UnitKind::Chained(_) => found.at_sizes(&unit::block_counts()),
        _ => found,
    };
    let calls = unit.calls().to_vec();
    Found { calls, seconds: start.elapsed().as_secs_f64(), ..found }
}

/// The most instructions of a function without a specification.
const LONGEST: u64 = 100_000_000;

/// Proves the safety of a declared function in an object.
fn safe(function: &Function, types: &[Struct], object: &Object) -> Found {
    let start = Instant::now();
    let found = match exported::contract(function, types, object.processor().address()) {
        Ok(contract) => Found::safe(by_machine::prove_safety(object, &contract, LONGEST)),
        Err(why) => Found::nothing(&why),
    };
    Found { seconds: start.elapsed().as_secs_f64(), ..found }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let wrong = |why: String| format!("cannot read {}: {why}", path.display());
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| wrong(plain(&error)))?;
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| wrong(plain(&error)))?;
    match bytes.len() as u64 > LARGEST {
        true => Err(wrong(format!("it is larger than {} MiB", LARGEST >> 20))),
        false => Ok(bytes),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The manifest of a file: beside it or in a folder above, with its name, or alone in that folder.
///
/// # Errors
/// There is none.
fn found(file: &Path) -> Result<PathBuf, String> {
    let whole = fs::canonicalize(file)
        .map_err(|error| format!("cannot read {}: {}", file.display(), plain(&error)))?;
    let names = names(&file_name(file));
    for folder in whole.ancestors().skip(1) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut manifests: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        manifests.retain(|path| file_name(path).ends_with(ENDING));
        let is_named = |path: &&PathBuf| names.contains(&file_name(path));
        match (manifests.iter().find(is_named), &manifests[..]) {
            (Some(path), _) => return Ok(path.clone()),
            (None, [path]) => return Ok(path.clone()),
            _ => {}
        }
    }
    let first = names.last().map(String::as_str).unwrap_or_default();
    Err(format!(
        "found no manifest of {}, expected {first} beside it or in a folder above; help: \
         `usubac dist` writes it beside the C, and --manifest names it",
        file.display()
    ))
}

/// The names that the manifest of a file may have.
fn names(file: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut stem = file;
    loop {
        let plain = stem.strip_prefix("lib").filter(|_| !stem.is_empty());
        names.extend([Some(stem), plain].into_iter().flatten().map(|s| format!("{s}{ENDING}")));
        let Some((shorter, _)) = stem.rsplit_once('.') else { return names };
        stem = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_found_by_the_name_of_the_file() {
        let has = |file: &str, name: &str| names(file).contains(&format!("{name}{ENDING}"));
        assert!(has("usuba-nacl.c.o", "usuba-nacl") && has("libusuba-nacl.so.1", "usuba-nacl"));
        assert!(has("usuba_aes", "usuba_aes") && !has("usuba_aes.o", "aes"));
    }

    /// The nearest folder counts, and there a manifest with the name of the file.
    #[test]
    fn the_nearest_manifest_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let (top, below) = (folder.path(), folder.path().join("build/deep"));
        fs::create_dir_all(&below).expect("folders");
        let touch = |path: PathBuf| fs::write(path, "").expect("a file");
        touch(below.join("f.o"));
        let place = |name: &str| {
            let path = found(&below.join("f.o")).expect(name);
            path.ends_with(name)
        };
        touch(top.join("other.manifest.toml"));
        assert!(place("other.manifest.toml"));
        touch(top.join("f.manifest.toml"));
        assert!(place("f.manifest.toml"));
        touch(top.join("build/g.manifest.toml"));
        assert!(place("build/g.manifest.toml"));
    }
}
