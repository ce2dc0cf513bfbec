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
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;
use usuba::diag::Sources;
use usuba::ir::Slicing;
use usuba::isa::{self, Target};
use usuba::typed::{self, Flags};
use usuba_ciphers::{Beside, files, loader};
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

/// A name and its place in `targets.toml`.
type Name = Spanned<String>;

/// Lists of names, keyed by name.
type Lists = BTreeMap<Name, Vec<Name>>;

/// The contents of a folder's `targets.toml`.
#[derive(Default)]
pub struct Listing {
    nodes: BTreeMap<Name, Lists>,
    link: BTreeMap<Name, Lists>,
    slicing: BTreeMap<Name, Sliced>,
    targets: Lists,
    /// The file, for the places of errors.
    path: PathBuf,
    text: String,
}

/// `#[serde(flatten)]` would lose the places.
impl<'de> Deserialize<'de> for Listing {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Listing, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Listing;

            fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
                to.write_str("programs and their targets")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Listing, A::Error> {
                let mut listing = Listing::default();
                while let Some(key) = map.next_key::<Name>()? {
                    match key.get_ref().as_str() {
                        "nodes" => listing.nodes = map.next_value()?,
                        "link" => listing.link = map.next_value()?,
                        "slicing" => listing.slicing = map.next_value()?,
                        _ => drop(listing.targets.insert(key, map.next_value()?)),
                    }
                }
                Ok(listing)
            }
        }
        from.deserialize_map(Fields)
    }
}

impl Listing {
    /// An error at a name.
    fn wrong(&self, name: &Name, expected: &str, help: &str) -> String {
        let place = usuba_ciphers::place(&self.path, &self.text, name.span().start);
        format!("{place}: found `{name}`, expected {expected}; help: {help}")
    }

    /// The targets of the file that do not exist.
    fn check_targets(&self) -> Result<(), String> {
        let special = self.nodes.values().flat_map(|nodes| nodes.values());
        let mut names = self.targets.values().chain(special).flatten();
        let is_other =
            |name: &&Name| isa::find(name.get_ref()).is_none_or(|on| on.name != name.get_ref());
        let help = "run `usubac --print targets` for their names";
        names.find(is_other).map_or(Ok(()), |name| Err(self.wrong(name, "a target", help)))
    }
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
            Some(targets) => targets.iter().any(|name| name.get_ref() == target.name),
            None => self.is_for(target),
        }
    }

    /// The kernels in other objects that a node calls.
    pub fn link(&self, node: &str) -> Vec<String> {
        names(self.link.get(node).cloned().unwrap_or_default())
    }

    /// The first name in `targets.toml` that the program does not define.
    fn unknown(&self) -> Option<&Name> {
        let special = self.special.keys();
        let linked = self.link.iter().flat_map(|(node, kernels)| kernels.iter().chain([node]));
        special.chain(linked).find(|name| !self.nodes.contains(name.get_ref()))
    }
}

/// The names without their places.
fn names(list: Vec<Name>) -> Vec<String> {
    list.into_iter().map(Spanned::into_inner).collect()
}

/// The programs of all folders, sorted by name.
pub fn find(ciphers: &Path, flags: Flags) -> Result<Vec<Source>, String> {
    let root = ciphers.parent().unwrap_or(Path::new("")).join(FOLDER);
    let mut out = Vec::new();
    for folder in listed(&root).into_iter().filter(|path| files::is_folder(path)) {
        let mut listing = listing(&folder)?;
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
            let targets = names(listing.targets.remove(&*file).unwrap_or_default());
            let special = listing.nodes.remove(&*file).unwrap_or_default();
            let link = listing.link.remove(&*file).unwrap_or_default();
            let slicing = match listing.slicing.remove(&*file) {
                Some(Sliced::W) => Slicing::W,
                Some(Sliced::V) | None => Slicing::V,
            };
            let folder = folder.clone();
            let source = Source { folder, file, nodes, targets, special, link, slicing };
            if let Some(name) = source.unknown() {
                let expected = format!("a node of `{}` with a contract", source.file);
                let help = format!("use one of: {}", source.nodes.join(", "));
                return Err(listing.wrong(name, &expected, &help));
            }
            out.push(source);
        }
        let Listing { targets, nodes, link, slicing, .. } = &listing;
        let others = nodes.keys().chain(link.keys()).chain(slicing.keys());
        if let Some(file) = targets.keys().chain(others).next() {
            let help = "rename or remove this entry";
            return Err(listing.wrong(file, "a program in this folder", help));
        }
    }
    Ok(out)
}

/// Reads `text`, the content of `targets.toml` at `path`.
///
/// # Errors
/// The text is no TOML, has another shape, or names an unknown target; the message has the place.
pub fn parse(path: &Path, text: &str) -> Result<Listing, String> {
    let read = usuba_ciphers::toml::<Listing>(path, text);
    let read = read
        .map_err(|why| format!("{why}; help: write lines such as `\"limbs51.ua\" = [\"gp64\"]`"))?;
    let listing = Listing { path: path.into(), text: text.into(), ..read };
    listing.check_targets().map(|()| listing)
}

/// Reads the `targets.toml` of a folder; empty if the file is absent.
fn listing(folder: &Path) -> Result<Listing, String> {
    let path = folder.join(TARGETS);
    match files::read_to_string(&path) {
        Ok(text) => parse(&path, &text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Listing::default()),
        Err(error) => Err(format!("{}: {}", path.display(), plain(&error))),
    }
}

/// The sorted entries of a folder; empty if the folder is absent.
fn listed(folder: &Path) -> Vec<PathBuf> {
    files::entries(folder).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_a_place_and_a_hint() {
        for (text, place, words) in [
            ("\"a.ua\" =", "1:", "help: write lines"),
            ("\n\"a.ua\" = 3", "2:10", "expected a sequence"),
            ("\n\"a.ua\" = [\n\"gp64\", 3]", "3:9", "expected a string"),
            ("\n\"a.ua\" = [\"gp64\",\n\"mmx\"]", "3:1", "found `mmx`, expected a target; help"),
            ("[nodes.\"a.ua\"]\nf = [\"gp\"]", "2:6", "found `gp`, expected a target; help"),
            ("[slicing]\n\"a.ua\" = \"B\"", "2:10", "expected `V` or `W`"),
        ] {
            let error = parse(Path::new(TARGETS), text).err().expect(text);
            assert!(error.starts_with(&format!("{TARGETS}:{place}")), "{text}: {error}");
            assert!(error.contains(words) && error.contains("; help: "), "{text}: {error}");
        }
    }
}
