//! Certificates: `proof/TARGET.toml` beside a program records its proved claims.
//!
//! ```text
//! [[proof]]
//! program = "rectangle.ua"      the subject: program,
//! entry = "encrypt"             entry,
//! slicing = "V"
//! reading = ""                  flags that change its semantics,
//! flags = ""                    and optimisation flags
//! source = "5a1f..."            fingerprint of its text and its includes
//! usuba0 = "09c3..."            fingerprint of the final IR
//! passes = 19
//! lanes = "9 operators"
//! engines = "tables, E1, induction"
//!
//! [[proof.contract]]            arithmetic contracts of nodes, if any
//! node = "freeze"
//! by = "intervals, polynomials, cases"
//!
//! [[proof.object]]              proved object files
//! by = "gcc 14.2.0"             the compiler, or the name of the file
//! flags = "-mavx2 -O3"
//! sha256 = "1b7e..."            the hash of its bytes
//!
//! [[proof.interface]]           functions of the byte interface, with the same fields;
//! [[proof.beside]]              further programs inside them
//! ```
//!
//! The text is a deterministic function of the proof: no dates, no times, a fixed order.
//! Certificates are not trusted: `usubac verify` proves them again, and no other command
//! prints their claims.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use usuba::isa::{self, Target};
use usuba_run::cc::{Family, Foreign};
use usuba_sat::Engines;

use crate::interfaces::{self, Interfaces};
use crate::objects::{ASSEMBLY, By, Made, Memory, Objects};
use usuba_ciphers::loader::plain;

/// The name of the folder beside the program.
pub const FOLDER: &str = "proof";

/// The proved claims of one entry in one slicing on one target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub program: String,
    pub entry: String,
    pub slicing: String,
    /// The target: given by the file name, absent from the file.
    #[serde(skip)]
    pub target: String,
    pub reading: String,
    pub flags: String,
    pub source: String,
    pub usuba0: String,
    pub passes: usize,
    pub lanes: String,
    #[serde(with = "as_text")]
    pub engines: Engines,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contract: Vec<Promise>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub object: Vec<Made>,
    /// The hash of `cipher.toml`, which fixes the byte order of the byte interface.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<interfaces::Program>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interface: Vec<Made>,
}

/// A proved contract.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    pub node: String,
    /// The engines that proved it.
    #[serde(with = "as_text")]
    pub by: Engines,
}

/// Serializes engines as their names.
mod as_text {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;
    use usuba_sat::Engines;

    pub fn serialize<S: Serializer>(engines: &Engines, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(engines)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Engines, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    proof: Vec<Record>,
}

impl Record {
    /// The subject of the record, without the fingerprints.
    pub(crate) fn subject(&self) -> [&str; 6] {
        let Record { program, entry, slicing, target, reading, flags, .. } = self;
        [target, program, entry, slicing, reading, flags]
    }

    /// The first difference from a new proof.
    pub fn differs(&self, new: &Record) -> Option<String> {
        let why = match () {
            () if self.source != new.source => "the source is another one",
            () if self.usuba0 != new.usuba0 => "usubac makes another program of it",
            () if self.subject() != new.subject() => "it is about something else",
            () if self
                .contract
                .iter()
                .any(|old| new.contract.iter().all(|c| c.node != old.node)) =>
            {
                "a contract is missing"
            }
            () if self.description != new.description => "the words lie in other bytes",
            () if self.beside != new.beside => "the byte interface contains another program",
            () => {
                let object = self.object.iter().find_map(|made| made.differs(&new.object));
                let of_interface = |made: &Made| made.differs(&new.interface);
                return object.or_else(|| self.interface.iter().find_map(of_interface));
            }
        };
        Some(why.to_string())
    }

    /// The objects to prove again: outputs of the same compilers, or the file beside the program.
    pub fn objects(&self, folder: &Path) -> Result<Objects, String> {
        let target = self.on()?;
        if let Some(file) = self.object.iter().find(|made| made.is_file()) {
            return Objects::given(&folder.join(&file.by), Some(file.symbol.clone()));
        }
        compiled(target, &self.object)
    }

    /// The byte interface, if it is to be proved again.
    pub fn interfaces(&self, folder: &Path) -> Result<Option<(Interfaces, Objects)>, String> {
        if self.interface.is_empty() {
            return Ok(None);
        }
        let interfaces = Interfaces::new(folder, interfaces::Memory::default())?;
        Ok(Some((interfaces, compiled(self.on()?, &self.interface)?)))
    }

    fn on(&self) -> Result<&'static Target, String> {
        isa::find(&self.target).ok_or_else(|| String::from("there is no such target"))
    }
}

/// The objects of the compilers that the records name.
fn compiled(target: &'static Target, made: &[Made]) -> Result<Objects, String> {
    let all = [
        ("gcc", By::C(Family::Gcc)),
        ("clang", By::C(Family::Clang)),
        ("riscv-gcc", By::Foreign(Foreign::Riscv, Family::Gcc)),
        ("riscv-clang", By::Foreign(Foreign::Riscv, Family::Clang)),
        ("aarch64-gcc", By::Foreign(Foreign::Aarch64, Family::Gcc)),
        ("aarch64-clang", By::Foreign(Foreign::Aarch64, Family::Clang)),
        (ASSEMBLY, By::Assembly),
    ];
    let is_used = |name: &str| made.iter().any(|made| made.by.starts_with(name));
    let makers: Vec<By> =
        all.into_iter().filter(|(name, _)| is_used(name)).map(|(_, by)| by).collect();
    match makers.is_empty() {
        true => Ok(Objects::None),
        false => Objects::compiled(target, &makers, Memory::default(), true),
    }
}

/// The path of a target's certificate beside a program.
pub fn path(folder: &Path, target: &str) -> PathBuf {
    folder.join(FOLDER).join(target).with_extension("toml")
}

/// The records of one file; empty if the file is absent.
fn file(path: &Path) -> Result<Vec<Record>, String> {
    match fs::read_to_string(path) {
        Ok(text) => parse(path, &text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("cannot read {}: {}", path.display(), plain(&error))),
    }
}

/// The records in `text`, the content of the certificate at `path`, which names their target.
///
/// # Errors
/// The text is no certificate; the message has the place.
pub fn parse(path: &Path, text: &str) -> Result<Vec<Record>, String> {
    let file: File = usuba_ciphers::toml(path, text)?;
    let target = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let named = |record| Record { target: target.clone(), ..record };
    Ok(file.proof.into_iter().map(named).collect())
}

/// All records beside a program, sorted by file name.
pub fn read(folder: &Path) -> Result<Vec<Record>, String> {
    let Ok(entries) = fs::read_dir(folder.join(FOLDER)) else { return Ok(Vec::new()) };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    let records: Result<Vec<_>, _> = paths.iter().map(|path| file(path)).collect();
    Ok(records?.into_iter().flatten().collect())
}

/// The updated certificate files: new records replace older records of the same subject.
///
/// # Errors
/// An existing file cannot be read.
pub fn files(folder: &Path, records: &[Record]) -> Result<Vec<(PathBuf, String)>, String> {
    let mut targets: Vec<&str> = records.iter().map(|record| record.target.as_str()).collect();
    targets.sort_unstable();
    targets.dedup();
    let mut results = Vec::new();
    for target in targets {
        let path = path(folder, target);
        let own = || records.iter().filter(|record| record.target == target);
        let mut all = file(&path)?;
        all.retain(|old| own().all(|new| new.subject() != old.subject()));
        all.extend(own().cloned());
        all.sort_by(|a, b| a.subject().cmp(&b.subject()));
        let text = toml::to_string(&File { proof: all }).expect("strings and numbers");
        let head = "# What `usubac prove` has shown of programs in this folder; `usubac prove \
                    --check` shows it again.\n\n";
        results.push((path, format!("{head}{text}")));
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(entry: &str, usuba0: &str) -> Record {
        Record {
            program: "f.ua".into(),
            entry: entry.into(),
            slicing: "V".into(),
            target: "avx2".into(),
            reading: "-m 16".into(),
            flags: "--interleave 2".into(),
            source: "00".into(),
            usuba0: usuba0.into(),
            passes: 3,
            lanes: "2 operators".into(),
            engines: Engines::GRAPH,
            contract: Vec::new(),
            object: Vec::new(),
            description: String::new(),
            beside: Vec::new(),
            interface: Vec::new(),
        }
    }

    fn write(folder: &Path, records: &[Record]) {
        fs::create_dir_all(folder.join(FOLDER)).expect("a folder");
        for (path, text) in files(folder, records).expect("files") {
            fs::write(path, text).expect("written");
        }
    }

    #[test]
    fn records_replace_older_ones_about_the_same() {
        let dir = tempfile::tempdir().expect("a folder");
        write(dir.path(), &[record("g", "1"), record("f", "2")]);
        write(dir.path(), &[record("f", "3")]);
        let found = read(dir.path()).expect("read");
        assert_eq!(found, [record("f", "3"), record("g", "1")]);
    }
}
