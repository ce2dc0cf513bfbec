//! Proof cache: one small file for each earlier proof, so that a second run takes seconds.
//!
//! ```text
//! statement ─ SHA-256 → file: digest, statement, record
//! ```
//!
//! The statement has every dependency of a proof: source, flags, target, the content of usubac and
//! of the C compilers. A file answers a question only if its digest is right and every field of its
//! statement is equal. Any other file counts as absent, and the proof runs again. The cache stores
//! proved claims only, so a failed proof is tried again.
//!
//! A cached object proof states that the bytes with this hash compute the program. The cache does
//! not check that the compiler still produces these bytes; `usubac verify` recompiles.
//!
//! *Limits:* a digest is no signature. A writer of the folder can forge a consistent file.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use usuba_run::fingerprint;
use usuba_run::objects::{self, Key};

use crate::cell::Cell;
use crate::certificate::Record;

/// The question that a proof answers, with all of its dependencies.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The fingerprint of usubac.
    build: String,
    source: String,
    program: String,
    entry: String,
    reading: String,
    flags: String,
    slicing: String,
    target: String,
    /// Whether lowering and final IR are compared in one step.
    direct: bool,
    /// The identity of the compilers and of other inputs of the objects.
    objects: String,
}

impl Statement {
    /// The statement of a cell; `objects` identifies the source of its objects.
    pub fn new(cell: &Cell, direct: bool, objects: String) -> Statement {
        Statement {
            build: this_build().unwrap_or_default().to_string(),
            source: cell.sha256.clone(),
            program: cell.program.clone(),
            entry: cell.options.entry.clone().unwrap_or_default(),
            reading: cell.reading.clone(),
            flags: cell.flags.clone(),
            slicing: format!("{:?}", cell.options.slicing),
            target: cell.options.target.name.to_string(),
            direct,
            objects,
        }
    }

    fn key(&self) -> Key {
        Key::of(toml::to_string(self).expect("strings"))
    }

    fn is_of(&self, record: &Record) -> bool {
        let Statement { program, entry, slicing, target, reading, flags, source, .. } = self;
        record.subject() == [target, program, entry, slicing, reading, flags]
            && record.source == *source
    }
}

/// The content of a cache file behind its digest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    statement: Statement,
    record: Record,
}

/// Reads `text`, the content of the cache file at `path`.
///
/// # Errors
/// The text is no cache entry; the message has the place.
pub fn parse(path: &Path, text: &str) -> Result<Entry, String> {
    let mut entry: Entry = usuba_ciphers::toml(path, text)?;
    entry.record.target.clone_from(&entry.statement.target);
    Ok(entry)
}

/// The proof cache in a folder, or a disabled one.
pub struct Cache(Option<objects::Cache>);

impl Cache {
    /// `folder` comes from the command line; without it, the cache lies in the user's cache folder.
    pub fn new(folder: Option<PathBuf>, off: bool) -> Cache {
        Cache(store(folder, off))
    }

    /// The record of an earlier proof of a statement.
    pub fn find(&self, asked: &Statement) -> Option<Record> {
        let text = String::from_utf8(self.0.as_ref()?.find(asked.key())?).ok()?;
        let Entry { statement, record } = parse(Path::new(""), &text).ok()?;
        (statement == *asked && asked.is_of(&record)).then_some(record)
    }

    /// Stores a proof. A write error is ignored: the proof runs again next time.
    pub fn keep(&self, statement: Statement, record: Record) {
        let Some(store) = &self.0 else { return };
        let key = statement.key();
        let text = toml::to_string(&Entry { statement, record }).expect("strings and numbers");
        store.keep(key, text.into_bytes());
    }
}

/// The files of proofs in a folder, or in the user's cache folder; `None` if there are none.
pub fn store(folder: Option<PathBuf>, off: bool) -> Option<objects::Cache> {
    let folder = folder.or_else(|| home("proofs"));
    folder.filter(|_| !off && this_build().is_some()).map(objects::Cache::at)
}

/// The folder `name` in the user's cache folder of usubac.
pub fn home(name: &str) -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    Some(base.or_else(home)?.join("usubac").join(name))
}

/// The fingerprint of the running program: the hash of its content.
pub fn this_build() -> Option<&'static str> {
    static BUILD: OnceLock<Option<String>> = OnceLock::new();
    let hash = || fingerprint::of_file(&std::env::current_exe().ok()?);
    BUILD.get_or_init(hash).as_deref()
}

#[cfg(test)]
mod tests {
    use toml::{Table, Value};
    use usuba::ir::Slicing;
    use usuba::isa;
    use usuba_sat::Engines;

    use super::*;
    use crate::byte_interface::options;

    /// Tables with one change of `table` each: another value, a missing field, an unknown field.
    fn changed(table: &Table) -> Vec<Table> {
        let mut all = Vec::new();
        let mut with = |name: &str, value: Option<Value>| {
            let mut other = table.clone();
            match value {
                Some(value) => other.insert(name.to_string(), value),
                None => other.remove(name),
            };
            all.push(other);
        };
        for (name, value) in table {
            let others = match value {
                Value::String(text) => {
                    vec![format!("{text}x").into(), text[..text.len().max(1) - 1].into()]
                }
                Value::Boolean(is) => vec![(!is).into(), 1.into()],
                Value::Table(inner) => changed(inner).into_iter().map(Value::Table).collect(),
                other => panic!("a field without a change: {other}"),
            };
            others.into_iter().filter(|other| other != value).for_each(|v| with(name, Some(v)));
            with(name, None);
        }
        with("unknown", Some("".into()));
        all
    }

    /// Swapped, damaged and edited files answer nothing, whichever field differs.
    #[test]
    fn only_the_same_statement_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(Some(folder.path().to_path_buf()), false);
        let target = isa::find("avx2").expect("a target");
        let mut options = options(Slicing::V, target);
        options.entry = Some("f".into());
        let text = |text: &str| text.to_string();
        let (program, reading, flags) = (text("f.ua"), text("-m 16"), text("--interleave 2"));
        let cell = Cell { program, reading, flags, sha256: text("5a1f"), options };
        let asked = Statement::new(&cell, false, text("gcc"));
        let record = Record {
            program: asked.program.clone(),
            entry: asked.entry.clone(),
            slicing: asked.slicing.clone(),
            target: asked.target.clone(),
            reading: asked.reading.clone(),
            flags: asked.flags.clone(),
            source: asked.source.clone(),
            usuba0: text("09c3"),
            passes: 19,
            lanes: text("9 operators"),
            engines: Engines::GRAPH,
            contract: Vec::new(),
            object: Vec::new(),
            description: String::new(),
            beside: Vec::new(),
            interface: Vec::new(),
        };
        assert_eq!(cache.find(&asked), None);
        cache.keep(asked.clone(), record.clone());
        assert_eq!(cache.find(&asked), Some(record.clone()));

        // Every other statement has another file, and rejects this one in its place.
        let store = cache.0.as_ref().expect("a folder");
        let file = store.find(asked.key()).expect("a file");
        let statement = Table::try_from(&asked).expect("a table");
        assert_eq!(statement.len(), 10);
        let others = changed(&statement);
        let others: Vec<Statement> =
            others.into_iter().filter_map(|other| other.try_into().ok()).collect();
        assert!(others.len() > 10);
        for other in &others {
            assert_eq!(cache.find(other), None, "{other:?}");
            store.keep(other.key(), file.clone());
            assert_eq!(cache.find(other), None, "{other:?}");
        }
        // Every edit of the statement or of the subject of the record, even with a right digest.
        let table: Table = String::from_utf8(file).expect("text").parse().expect("TOML");
        let Value::Table(evidence) = &table["record"] else { panic!("{table}") };
        let subject = |name: &String| statement.contains_key(name);
        let (of_subject, evidence): (Table, Table) =
            evidence.clone().into_iter().partition(|(name, _)| subject(name));
        assert_eq!(of_subject.len(), 6);
        let mut edited = changed(&Table::from_iter([
            ("statement".to_string(), statement.into()),
            ("record".to_string(), of_subject.into()),
        ]));
        edited
            .iter_mut()
            .filter_map(|table| table.get_mut("record")?.as_table_mut())
            .for_each(|record| record.extend(evidence.clone()));
        for edited in edited {
            store.keep(asked.key(), edited.to_string().into_bytes());
            assert_eq!(cache.find(&asked), None, "{edited}");
        }
        store.keep(asked.key(), table.to_string().into_bytes());
        assert_eq!(cache.find(&asked), Some(record));
    }
}
