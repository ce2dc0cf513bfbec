//! Experiments: published measurements, repeated with this compiler on this machine.
//!
//! ```toml
//! title = "Interleaving by two on general-purpose registers"
//! ciphers = ["serpent", "ace"]
//! slicings = ["V"]
//! targets = ["gp64"]
//! columns = ["ipc:one", "ipc:two", "speedup:two"]
//!
//! [[compiler]]
//! family = "clang"
//! flags = ["-O3", "-fno-vectorize", "-fno-slp-vectorize"]
//!
//! [[variant]]
//! label = "one"
//!
//! [[variant]]
//! label = "two"
//! flags = "--interleave 2 --interleave-grain 10"
//!
//! [[published]]
//! from = { file = "../published/interleaving-ipc.json", column = "speedup_two" }
//! target = "gp64"
//! compiler = "clang -O3"
//! ours = "speedup:two"
//! ```
//!
//! A *cell* is one function, slicing, target and compiler; all its variants are measured in turns
//! in one process. The first variant is the baseline of the others. A cipher missing from the
//! library has a row that says so.
//!
//! - `run`: measures the unfinished cells.
//! - `results`: the stored results and their quantities; `model`: one that is modelled.
//! - `published`: the numbers of other publications.
//! - `lines`: numbers of ours with their tests, and the published numbers beside them; `verdict`: the
//!   rules of their verdicts.
//! - `markdown`, `plot`: reports; `chapter`: all published numbers beside ours.
//! - `stages`: experiments with programs instead of ciphers.
//! - `counted`: experiments on a small processor that count instructions.

pub mod chapter;
mod counted;
mod lines;
mod markdown;
mod model;
mod plot;
mod published;
mod results;
mod run;
mod stages;
mod verdict;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use usuba::ir::Slicing;
use usuba::names::unknown;
use usuba::{isa, passes};

use usuba_ciphers::files;
use usuba_run::cc::Family;

pub use counted::{Counted, Found, Kernels, Native, Numbers, Peer, Shown, Step, Timed};
pub use lines::{Absent, Beside, Line, Lines, QUICK, written};
pub use markdown::markdown;
pub use plot::plots;
pub use published::{ANY, Figure, Number, Post, Reference};
pub use results::{Cell, Measure, Missing, Quantity, Results};
pub use run::{Conditions, run};
pub use stages::{Built, Stage, Staged};
pub use verdict::{Against, Standing};

/// Reads an experiment of a special kind, identified by a line that starts with `key`; `None` if
/// the file is of another kind or cannot be read.
fn read<T: DeserializeOwned>(
    path: &Path,
    key: &str,
    check: impl Fn(&mut T, &Path) -> Result<(), String>,
) -> Option<Result<T, String>> {
    let text = files::read_to_string(path).ok()?;
    let wrong = |what: String| format!("{}: {what}", path.display());
    let is_key = |line: &str| line.split_whitespace().next() == Some(key);
    text.lines().any(is_key).then(|| {
        let mut experiment: T = usuba_ciphers::toml(path, &text)?;
        check(&mut experiment, folder(path)).map_err(wrong)?;
        Ok(experiment)
    })
}

/// A short hash of texts.
fn hash<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The folder of a file.
pub fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// An experiment, as declared in its file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Experiment {
    pub title: String,
    /// The question of the experiment, in a few sentences.
    pub about: String,
    /// Names of cipher folders, present or not; all folders if empty.
    #[serde(default)]
    pub ciphers: Vec<String>,
    /// All slicings of a cipher, if empty.
    #[serde(default)]
    pub slicings: Vec<String>,
    /// All native targets, if empty.
    #[serde(default)]
    pub targets: Vec<String>,
    #[serde(default, rename = "compiler")]
    pub compilers: Vec<Compiler>,
    #[serde(default, rename = "variant")]
    pub variants: Vec<Flags>,
    /// More variants, one for each choice of values.
    #[serde(default, rename = "grid")]
    pub grids: Vec<Grid>,
    /// More variants: each pass of the compiler left out.
    #[serde(default)]
    pub each_pass: bool,
    /// Quantities of the table, as `quantity:variant`; the speed-up of every variant if empty.
    #[serde(default)]
    pub columns: Vec<String>,
    /// For grids: the parameter along the axis of the plots. Tables show its best value.
    #[serde(default)]
    pub axis: Option<String>,
    #[serde(default)]
    published: Vec<Claim>,
    /// The published numbers that `published` refers to.
    #[serde(skip)]
    pub numbers: Vec<Published>,
    /// The subset for `--quick`.
    #[serde(default)]
    pub quick: Quick,
}

/// A C compiler with its flags.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compiler {
    pub family: FamilyName,
    pub flags: Vec<String>,
    /// In tables; the family and the first flag if absent.
    #[serde(default)]
    pub label: Option<String>,
}

/// A family of C compilers by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FamilyName {
    Gcc,
    Clang,
}

impl Compiler {
    /// The family of the compiler discovery.
    pub fn family(&self) -> Family {
        match self.family {
            FamilyName::Gcc => Family::Gcc,
            FamilyName::Clang => Family::Clang,
        }
    }

    /// The name in tables.
    pub fn label(&self) -> String {
        self.label.clone().unwrap_or_else(|| {
            let family = format!("{:?}", self.family).to_lowercase();
            self.flags.first().map_or(family.clone(), |flag| format!("{family} {flag}"))
        })
    }
}

/// Named flags of `usubac`.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flags {
    pub label: String,
    #[serde(default)]
    pub flags: String,
    /// The grid values that produced it.
    #[serde(skip)]
    pub values: BTreeMap<String, u32>,
}

/// Parameterized variants: `{name}` in label and flags stands for each of the values.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    pub label: String,
    pub flags: String,
    pub over: BTreeMap<String, Vec<u32>>,
    /// Replacements of values in `over`, with `--quick`.
    #[serde(default)]
    pub quick: BTreeMap<String, Vec<u32>>,
}

/// A reference to published numbers, and the place of ours beside them.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    from: Reference,
    /// Taken from the published rows, if absent.
    #[serde(default)]
    cipher: Option<String>,
    #[serde(default)]
    slicing: Option<String>,
    /// A target, or `any`.
    target: String,
    /// The label of a compiler, or `any`.
    compiler: String,
    /// A column of ours.
    ours: String,
}

/// A published number, and the place of ours beside it.
#[derive(Clone, PartialEq, Debug)]
pub struct Published {
    pub number: Number,
    pub cipher: String,
    pub slicing: Option<String>,
    /// Any, if `None`.
    pub target: Option<String>,
    pub compiler: Option<String>,
    pub ours: Measure,
}

/// A smaller experiment. Empty fields keep the full values.
#[derive(Clone, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    #[serde(default)]
    pub ciphers: Vec<String>,
    #[serde(default)]
    pub targets: Vec<String>,
    /// Labels of compilers.
    #[serde(default)]
    pub compilers: Vec<String>,
}

impl Experiment {
    /// Reads an experiment and checks its consistency.
    ///
    /// # Errors
    /// The file cannot be read or is malformed; the message names it.
    pub fn read(path: &Path) -> Result<Experiment, String> {
        let text = files::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Experiment::parse(path, &text)
    }

    /// Like [`Experiment::read`], from `text`, the content of `path`.
    ///
    /// # Errors
    /// The first error in the text.
    pub fn parse(path: &Path, text: &str) -> Result<Experiment, String> {
        let mut experiment: Experiment = usuba_ciphers::toml(path, text)?;
        let wrong = |wrong: String| format!("{}: {wrong}", path.display());
        experiment.check().map_err(wrong)?;
        let claims = experiment.published.iter();
        let numbers: Result<Vec<_>, String> =
            claims.map(|claim| experiment.find(claim, folder(path))).collect();
        experiment.numbers = numbers.map_err(wrong)?.concat();
        Ok(experiment)
    }

    /// The published numbers of a reference.
    fn find(&self, claim: &Claim, folder: &Path) -> Result<Vec<Published>, String> {
        let chosen = |name: &str| (name != ANY).then(|| name.to_string());
        let ours = self.measure(&claim.ours)?;
        let mut all = Vec::new();
        for number in claim.from.find(folder, |row| row.cipher.is_some())? {
            let cipher = claim.cipher.clone().or(number.row.cipher.clone());
            let cipher = cipher.ok_or_else(|| {
                format!("the published row `{}` has no cipher; help: add `cipher`", number.row.name)
            })?;
            let slicing = claim.slicing.clone().or(number.row.slicing.clone());
            let (target, compiler) = (chosen(&claim.target), chosen(&claim.compiler));
            all.push(Published { number, cipher, slicing, target, compiler, ours: ours.clone() });
        }
        Ok(all)
    }

    fn check(&self) -> Result<(), String> {
        if let Some(name) = self.targets.iter().find(|name| isa::find(name).is_none()) {
            return Err(isa::unknown(name));
        }
        if let Some(name) = self.slicings.iter().find(|name| slicing(name).is_none()) {
            return Err(format!("there is no slicing `{name}`"));
        }
        let variants = self.variants(false);
        if variants.is_empty() || self.compilers.is_empty() {
            return Err("an experiment needs a compiler and a variant".into());
        }
        let mut labels: Vec<&str> = variants.iter().map(|v| v.label.as_str()).collect();
        labels.sort_unstable();
        if let Some(pair) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("two variants are called `{}`", pair[0]));
        }
        for column in &self.columns {
            self.measure(column)?;
        }
        let claims = || self.published.iter();
        let targets = claims().map(|claim| &claim.target).filter(|name| *name != ANY);
        if let Some(name) = targets.into_iter().find(|name| !self.has_target(name)) {
            return Err(format!("a published number is for `{name}`, which is no target here"));
        }
        let slicings = claims().filter_map(|claim| claim.slicing.as_ref());
        if let Some(name) = slicings.into_iter().find(|name| slicing(name).is_none()) {
            return Err(format!("there is no slicing `{name}`"));
        }
        let compilers: Vec<String> = self.compilers.iter().map(Compiler::label).collect();
        let named = claims().map(|claim| &claim.compiler).filter(|name| *name != ANY);
        match named.chain(&self.quick.compilers).find(|label| !compilers.contains(label)) {
            Some(label) => Err(unknown("compiler", label, compilers.iter().map(String::as_str))),
            None => Ok(()),
        }
    }

    fn has_target(&self, name: &str) -> bool {
        match self.targets.is_empty() {
            true => isa::find(name).is_some(),
            false => self.targets.iter().any(|target| target == name),
        }
    }

    /// The published numbers to which the experiment refers.
    pub fn published(&self) -> impl Iterator<Item = &Number> {
        self.numbers.iter().map(|published| &published.number)
    }

    /// A column by its notation.
    ///
    /// # Errors
    /// There is no such quantity or variant.
    pub fn measure(&self, column: &str) -> Result<Measure, String> {
        let labels: Vec<String> = self.variants(false).into_iter().map(|v| v.label).collect();
        Measure::parse(column, &labels)
    }

    /// Whether a number needs the model of a processor.
    fn is_modelled(&self) -> bool {
        let published = self.numbers.iter().map(|published| &published.ours);
        let columns = self.measures(false);
        columns.iter().chain(published).any(|ours| matches!(ours.quantity, Quantity::Busy(_)))
    }

    /// The columns of the table.
    pub fn measures(&self, quick: bool) -> Vec<Measure> {
        let columns = self.columns(quick);
        columns.iter().filter_map(|column| self.measure(column).ok()).collect()
    }

    /// All variants; the first is the baseline of the others.
    pub fn variants(&self, quick: bool) -> Vec<Flags> {
        let mut all = self.variants.clone();
        for grid in &self.grids {
            let mut made = vec![Flags {
                label: grid.label.clone(),
                flags: grid.flags.clone(),
                values: BTreeMap::new(),
            }];
            for (name, values) in &grid.over {
                let values = grid.quick.get(name).filter(|_| quick).unwrap_or(values);
                let place = format!("{{{name}}}");
                let filled = |old: &Flags, value: u32| {
                    let mut new = old.clone();
                    new.label = old.label.replace(&place, &value.to_string());
                    new.flags = old.flags.replace(&place, &value.to_string());
                    new.values.insert(name.clone(), value);
                    new
                };
                made = made
                    .iter()
                    .flat_map(|old| values.iter().map(move |&value| filled(old, value)))
                    .collect();
            }
            all.extend(made);
        }
        if self.each_pass {
            let without = |pass: &&passes::Pass| Flags {
                label: format!("without {}", pass.name),
                flags: format!("--skip {}", pass.name),
                values: BTreeMap::new(),
            };
            all.extend(passes::ALL.iter().map(without));
        }
        all
    }

    /// The columns of the table: the declared ones, or the speed-up of every variant.
    pub fn columns(&self, quick: bool) -> Vec<String> {
        if !self.columns.is_empty() {
            return self.columns.clone();
        }
        let variants = self.variants(quick);
        variants.iter().skip(1).map(|variant| format!("speedup:{}", variant.label)).collect()
    }
}

/// The slicing of a letter.
fn slicing(letter: &str) -> Option<Slicing> {
    match letter {
        "V" => Some(Slicing::V),
        "H" => Some(Slicing::H),
        "W" => Some(Slicing::W),
        "B" => Some(Slicing::B),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "title = \"t\"\nabout = \"a\"\n";
    const TAIL: &str = "[[compiler]]\nfamily = \"gcc\"\nflags = [\"-O1\"]\n";

    fn parse(middle: &str) -> Result<Experiment, String> {
        Experiment::parse(Path::new("x.toml"), &format!("{HEAD}{middle}\n{TAIL}"))
    }

    #[test]
    fn grids_become_variants() {
        let grid = "[[variant]]\nlabel = \"one\"\n[[grid]]\nlabel = \"x{factor} g{grain}\"\n\
                    flags = \"--interleave {factor} --interleave-grain {grain}\"\n\
                    [grid.over]\nfactor = [2, 3]\ngrain = [1, 10]\n[grid.quick]\ngrain = [10]\n";
        let experiment = parse(grid).expect("it is well-formed");
        let labels = |quick| -> Vec<String> {
            experiment.variants(quick).into_iter().map(|v| v.label).collect()
        };
        assert_eq!(labels(false), ["one", "x2 g1", "x2 g10", "x3 g1", "x3 g10"]);
        assert_eq!(labels(true), ["one", "x2 g10", "x3 g10"]);
        let last = experiment.variants(false).pop().expect("five");
        assert_eq!(last.flags, "--interleave 3 --interleave-grain 10");
        assert_eq!((last.values["factor"], last.values["grain"]), (3, 10));
        assert_eq!(experiment.columns(true), ["speedup:x2 g10", "speedup:x3 g10"]);
    }

    #[test]
    fn each_pass_is_a_variant() {
        let experiment = parse("each-pass = true\n[[variant]]\nlabel = \"all\"\n").expect("fine");
        assert_eq!(experiment.variants(false).len(), 1 + passes::ALL.len());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let one = "[[variant]]\nlabel = \"one\"\n";
        for (text, why) in [
            (format!("targets = [\"mmx\"]\n{one}"), "no target `mmx`"),
            (format!("slicings = [\"X\"]\n{one}"), "no slicing `X`"),
            (format!("columns = [\"ipc:two\"]\n{one}"), "no variant `two`"),
            (format!("columns = [\"joy:one\"]\n{one}"), "no quantity:variant"),
            (format!("columns = [\"ratio:one/two\"]\n{one}"), "no variant `one/two`"),
            (
                format!(
                    "{one}[[published]]\nfrom = {{ file = \"no.json\", column = \"x\" }}\n\
                         target = \"any\"\ncompiler = \"any\"\nours = \"cycles:one\"\n"
                ),
                "x.toml: cannot read no.json",
            ),
            (
                format!(
                    "{one}[[published]]\nfrom = {{ file = \"no.json\", column = \"x\" }}\n\
                         target = \"any\"\ncompiler = \"gc\"\nours = \"cycles:one\"\n"
                ),
                "no compiler `gc`",
            ),
            (
                format!(
                    "{one}[[published]]\nfrom = {{ file = \"no.json\", column = \"x\" }}\n\
                         compiler = \"any\"\nours = \"cycles:one\"\n"
                ),
                "missing field `target`",
            ),
            (format!("{one}{one}"), "two variants are called `one`"),
            (String::new(), "needs a compiler and a variant"),
            (format!("colour = 1\n{one}"), "x.toml:3:1: unknown field `colour`"),
            (format!("target = 1\n{one}"), "help: did you mean `targets`?"),
        ] {
            let error = parse(&text).expect_err("it does not fit");
            assert!(error.contains(why), "{error}");
        }
    }
}
