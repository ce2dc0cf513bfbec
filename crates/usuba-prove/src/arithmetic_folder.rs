//! Discovery of programs with contracts beside the cipher folders: their nodes, postconditions and
//! targets.
//!
//! ```toml
//! # arithmetic/curve25519/targets.toml
//! "limbs51.ua" = ["gp64"]
//! "lanes25.ua" = ["avx2", "avx512"]
//!
//! [link."limbs51.ua"]             # kernels that a node calls
//! inverse = ["mul", "square"]
//! [nodes."lanes26.ua"]            # nodes that are for other targets
//! narrow = ["gp64"]
//! [slicing]                       # programs in W; all others are in V
//! "across25.ua" = "W"
//! ```
//!
//! A program that the file omits is proved on every target.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use usuba::diag::Sources;
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::typed::{self, Flags};
use usuba_ciphers::{Beside, loader};
use usuba_equiv::claims::Kind;

use crate::{Claim, Evidence, Outcome};

use usuba_ciphers::loader::plain;

/// Names of kernels begin with this: `select` alone is a function of the C library.
pub const PREFIX: &str = "usuba_";

/// The folder of these programs, beside the cipher folders.
const FOLDER: &str = "arithmetic";

/// The file that restricts programs of a folder to targets.
const TARGETS: &str = "targets.toml";

/// A program and its nodes with postconditions, in source order.
pub struct Source {
    pub folder: PathBuf,
    pub file: String,
    pub nodes: Vec<String>,
    /// The names of its targets; every target if empty.
    pub targets: Vec<String>,
    /// Targets of nodes that restrict them further.
    special: Lists,
    /// The kernels in other objects that each node calls.
    link: Lists,
    /// V or W: arithmetic computes on whole words.
    pub slicing: Slicing,
}

/// Lists of names, keyed by name.
type Lists = BTreeMap<String, Vec<String>>;

/// The contents of a folder's `targets.toml`.
#[derive(Default, Deserialize)]
struct Meant {
    #[serde(default)]
    nodes: BTreeMap<String, Lists>,
    #[serde(default)]
    link: BTreeMap<String, Lists>,
    #[serde(default)]
    slicing: BTreeMap<String, Sliced>,
    #[serde(flatten)]
    targets: Lists,
}

/// The slicing of an arithmetic program.
#[derive(Clone, Copy, Deserialize)]
enum Sliced {
    V,
    W,
}

impl Source {
    pub fn is_for(&self, target: &Target) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|name| name == target.name)
    }

    /// Whether one of its nodes is for `target`.
    pub fn has(&self, node: &str, target: &Target) -> bool {
        match self.special.get(node) {
            Some(targets) => targets.iter().any(|name| name == target.name),
            None => self.is_for(target),
        }
    }

    /// The kernels in other objects that a node calls.
    pub fn link(&self, node: &str) -> Vec<String> {
        self.link.get(node).cloned().unwrap_or_default()
    }

    /// The first name in `targets.toml` that the program does not define.
    fn unknown(&self) -> Option<&String> {
        let special = self.special.keys();
        let linked = self.link.iter().flat_map(|(node, kernels)| kernels.iter().chain([node]));
        special.chain(linked).find(|name| !self.nodes.contains(name))
    }
}

/// The programs of all folders, sorted by name.
pub fn find(ciphers: &Path, flags: Flags) -> Result<Vec<Source>, String> {
    let root = ciphers.parent().unwrap_or(Path::new("")).join(FOLDER);
    let mut out = Vec::new();
    for folder in listed(&root).into_iter().filter(|path| path.is_dir()) {
        let mut meant = meant(&folder)?;
        let wrong = |why: String| format!("{}: {why}", folder.join(TARGETS).display());
        for path in
            listed(&folder).into_iter().filter(|path| path.extension() == Some("ua".as_ref()))
        {
            let text = loader::read(&path)?;
            let mut sources = Sources::default();
            let root = sources.add(path.display().to_string(), text);
            let checked = usuba::front(&mut sources, root, &mut Beside, None, flags);
            let checked = checked.map_err(|findings| {
                let first = findings.into_iter().find(|finding| finding.is_error());
                let message = first.map(|finding| finding.message).unwrap_or_default();
                format!("{}: {message}", path.display())
            })?;
            let program = &checked.program;
            let name = |id: usize| program.decls[id].name.to_string();
            let nodes = usuba_contracts::promising(program).map(name).collect();
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let targets = meant.targets.remove(&file).unwrap_or_default();
            let special = meant.nodes.remove(&file).unwrap_or_default();
            let link = meant.link.remove(&file).unwrap_or_default();
            let slicing = match meant.slicing.remove(&file) {
                Some(Sliced::W) => Slicing::W,
                Some(Sliced::V) | None => Slicing::V,
            };
            let folder = folder.clone();
            let source = Source { folder, file, nodes, targets, special, link, slicing };
            if let Some(name) = source.unknown() {
                return Err(wrong(format!("{} has no `{name}` with a contract", source.file)));
            }
            out.push(source);
        }
        let Meant { targets, nodes, link, slicing } = &meant;
        let others = nodes.keys().chain(link.keys()).chain(slicing.keys());
        if let Some(file) = targets.keys().chain(others).next() {
            return Err(wrong(format!("there is no {file}")));
        }
    }
    Ok(out)
}

/// Reads the `targets.toml` of a folder; empty if the file is absent.
fn meant(folder: &Path) -> Result<Meant, String> {
    let path = folder.join(TARGETS);
    let wrong = |why: String| format!("{}: {why}", path.display());
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Meant::default()),
        Err(error) => return Err(wrong(plain(&error))),
    };
    let meant: Meant = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let special = meant.nodes.values().flat_map(|nodes| nodes.values());
    for name in meant.targets.values().chain(special).flatten() {
        if isa::find(name).is_none_or(|target| target.name != name) {
            return Err(wrong(format!("there is no target `{name}`")));
        }
    }
    Ok(meant)
}

/// The sorted entries of a folder; empty if the folder is absent.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Proves the contract of an entry, if it has one, and returns the claim with its time.
pub fn promise(program: &typed::Program, entry: Option<&str>) -> Option<(Claim, Duration)> {
    let named = |id: &usize| entry == Some(&*program.decls[*id].name);
    let node = usuba_contracts::promising(program).find(named)?;
    let start = Instant::now();
    let report = usuba_contracts::check_node(program, node);
    let outcome = match report.verdict {
        usuba_contracts::Verdict::Proved(engines) => Outcome::Proved(Evidence::Engines(engines)),
        usuba_contracts::Verdict::Refuted(found) => Outcome::Unknown(found.finding.message),
        usuba_contracts::Verdict::Unknown(finding) => Outcome::Unknown(finding.message),
    };
    let claim = Claim { kind: Kind::Contract, subject: report.node, outcome };
    Some((claim, start.elapsed()))
}
