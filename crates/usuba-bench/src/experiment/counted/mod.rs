//! Instruction-count experiments on a small processor: a program in several steps, counted in an
//! emulator and proved in each step.
//!
//! ```toml
//! title = "Signing on RV32"
//! program = "nacl-sign.c"              # beside this file
//! library = "../../ciphers/curve25519" # becomes it.c and it.h
//! processors = ["rv32im", "rv32imc"]
//! levels = ["-O0", "-O2"]
//! quick = ["-O2"]
//!
//! [[common]]                           # kernels in all steps
//! source = "../../arithmetic/order25519/limbs28.ua"
//! prefix = "sc_"
//! nodes = ["reduce", "muladd"]
//!
//! [[step]]
//! label = "baseline"
//! source = "nacl-sign/baseline.ua"
//! nodes = ["times", "sum"]
//! link = ["times"]                     # `sum` calls it
//! flags = "--unroll none"
//! defines = ["LIMBS=16"]
//!
//! [[step]]
//! label = "the library"                # no kernels but the library's
//!
//! [[published]]
//! from = { file = "../published/sparknacl-steps.json", row = "-O2", column = "Baseline" }
//! step = "baseline"
//! processor = "rv32im"
//! level = "-O2"
//! ours = "instructions"                # in millions; `text`, `stack`, or one of them over another
//! ```                                  # step or processor, as `instructions/no copies`
//!
//! The program includes `bare.h` of `bench/rv32`; any exit status but 0 is a wrong result. A step
//! is *proved* if each of its kernels is equivalent to its source, pass by pass and through the
//! instruction patterns of its target, and all contracts of that source hold. `usubac prove` proves
//! the same claims.

mod kernel;
mod native;
pub(crate) mod report;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use usuba::ir::Slicing;
use usuba::isa;
use usuba::names::unknown;
use usuba::passes::pipeline::PipelineOptions;

use super::published::{Number, Post, Reference};
use super::{hash, read};
use crate::bench::Parse;
use crate::session::Progress;
use kernel::{Contracts, Kernel, Wanted};
use report::QUANTITIES;
use usuba_ciphers::{Cipher, files};
use usuba_library::Request;
use usuba_run::fingerprint;
use usuba_run::riscv::{self, Counter};

pub use native::{Native, Peer, Timed};

/// An experiment on a small processor, as declared in its file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Counted {
    pub title: String,
    /// The question of the experiment, in a few sentences.
    pub about: String,
    /// The C file, in the same folder.
    pub program: String,
    /// A folder of `ciphers`, whose functions the program calls, or `nacl` for all of NaCl.
    #[serde(default)]
    pub library: Option<String>,
    /// In the notation of `-march`, and perhaps with a compiler: `rv32im`, `rv32im by clang`.
    pub processors: Vec<String>,
    /// Flags of the C compiler, each a column.
    pub levels: Vec<String>,
    /// The levels of `--quick`, which uses the first processor only.
    pub quick: Vec<String>,
    #[serde(default)]
    pub common: Vec<Kernels>,
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
    #[serde(default)]
    published: Vec<Claim>,
    /// The published numbers that `published` refers to, with their references.
    #[serde(skip)]
    numbers: Vec<(Claim, Number)>,
    /// Files with figures of other programs, whose columns are levels.
    #[serde(default)]
    pub programs: Vec<String>,
    #[serde(skip)]
    others: Vec<Post>,
    /// A timing of the same library on the host.
    #[serde(default)]
    pub native: Option<Native>,
}

/// The library that has several cipher folders.
const NACL: &str = "nacl";

/// All results.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The first line of each compiler's version output.
    pub compilers: Vec<String>,
    /// One for each step.
    pub steps: Vec<Shown>,
    /// One for each C compiler.
    pub native: Vec<Timed>,
}

/// Nodes of a program, each a kernel.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Kernels {
    /// Relative to the folder of the experiment.
    pub source: String,
    pub prefix: String,
    pub nodes: Vec<String>,
    /// Flags of `usubac`.
    #[serde(default)]
    pub flags: String,
    /// On the targets that the library compiles them for; they are proved only. Kernels of the
    /// program are on gp32.
    #[serde(default)]
    pub target: Option<String>,
}

/// A version of the program.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Step {
    pub label: String,
    /// Relative to the folder of the experiment; without it, the library provides all arithmetic.
    #[serde(default)]
    pub source: Option<String>,
    /// Kernels, whose C names begin with `k_`.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// External nodes that other nodes call.
    #[serde(default)]
    pub link: Vec<String>,
    /// Flags of `usubac`.
    #[serde(default)]
    pub flags: String,
    /// Macros of the program and of the library.
    #[serde(default)]
    pub defines: Vec<String>,
    /// Whether to use the library's kernels for small memory.
    #[serde(default)]
    pub small: bool,
}

/// A reference to a published number, and the place of ours beside it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    from: Reference,
    step: String,
    processor: String,
    /// The name of the published row, if absent.
    #[serde(default)]
    level: String,
    /// A quantity, or one over another step or processor.
    ours: String,
}

/// The number of proved kernels, or the first unproved kernel with the reason.
pub type Proofs = Result<usize, String>;

/// The results of a step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shown {
    /// The hash of everything that determines them.
    pub fingerprint: String,
    pub proof: Proofs,
    /// By processor, then by level.
    pub numbers: Vec<Vec<Result<Numbers, String>>>,
}

/// One program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Numbers {
    pub instructions: u64,
    /// Bytes of code and constants, and of stack.
    pub text: u64,
    pub stack: u64,
}

impl Counted {
    /// Reads an experiment of this kind; `None` if the file is of another kind or cannot be read.
    pub fn read(path: &Path) -> Option<Result<Counted, String>> {
        read(path, "processors", Counted::check)
    }

    fn check(&mut self, folder: &Path) -> Result<(), String> {
        if self.steps.is_empty() || self.levels.is_empty() || self.processors.is_empty() {
            return Err("an experiment needs a processor, a level and a step".into());
        }
        if let Some(name) = self.processors.iter().find(|name| !riscv::is_processor(name)) {
            return Err(format!(
                "`{name}` is no processor; they are as rv32im, or rv64imac by clang"
            ));
        }
        if let Some(level) = self.quick.iter().find(|level| !self.levels.contains(level)) {
            return Err(unknown("level", level, self.levels.iter().map(String::as_str)));
        }
        for kernels in &self.common {
            if let Some(name) = kernels.target.as_ref().filter(|name| isa::find(name).is_none()) {
                return Err(isa::unknown(name));
            }
        }
        for step in &self.steps {
            if step.source.is_some() == step.nodes.is_empty() {
                return Err(format!("step `{}` needs a source and nodes, or none", step.label));
            }
            if step.source.is_none() && self.library.is_none() {
                return Err(format!(
                    "step `{}` has no kernels, and there is no library",
                    step.label
                ));
            }
        }
        for claim in &self.published {
            self.check_claim(claim)?;
            for number in claim.from.find(folder, |row| self.levels.contains(&row.name))? {
                let mut claim = claim.clone();
                if claim.level.is_empty() {
                    claim.level.clone_from(&number.row.name);
                }
                self.numbers.push((claim, number));
            }
        }
        for name in &self.programs {
            self.others.push(Post::read(&folder.join(name))?);
        }
        Ok(())
    }

    fn check_claim(&self, claim: &Claim) -> Result<(), String> {
        let steps = self.steps.iter().map(|step| &*step.label);
        let processors = self.processors.iter().map(String::as_str);
        let levels = self.levels.iter().map(String::as_str);
        let (quantity, other) = claim.ours.split_once('/').unwrap_or((&claim.ours, &claim.step));
        let quantities = QUANTITIES.iter().map(|quantity| quantity.name);
        let others = steps.clone().chain(processors.clone());
        let names: [(&str, &str, Vec<&str>); 5] = [
            ("step", &claim.step, steps.collect()),
            ("processor", &claim.processor, processors.collect()),
            ("level", &claim.level, levels.chain([""]).collect()),
            ("quantity", quantity, quantities.collect()),
            ("step or processor", other, others.collect()),
        ];
        match names.into_iter().find(|(_, name, known)| !known.contains(name)) {
            Some((noun, name, known)) => Err(unknown(noun, name, known)),
            None => Ok(()),
        }
    }

    /// The published numbers to which the experiment refers.
    pub fn published(&self) -> impl Iterator<Item = &Number> {
        self.numbers.iter().map(|(_, number)| number)
    }

    /// The selected processors and levels.
    pub fn scope(&self, quick: bool) -> (&[String], &[String]) {
        match quick {
            true => (&self.processors[..1], &self.quick),
            false => (&self.processors, &self.levels),
        }
    }

    /// Proves and counts all steps; `folder` contains the experiment. Steps of `before` with the same
    /// fingerprint are kept; `save` gets the finished ones after each step.
    ///
    /// # Errors
    /// There is no compiler or no emulator, a program of the experiment is missing or wrong, or
    /// `save` fails.
    pub fn measure(
        &self,
        folder: &Path,
        quick: bool,
        parse: &Parse,
        before: &[Shown],
        save: &mut dyn FnMut(&[Shown]) -> Result<(), String>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Found, String> {
        let counter = Counter::find()?;
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        let place = place.path();
        let library = self.write_library(folder, place)?;
        let mut contracts = Contracts::new();
        let (common, of_common) = self.common(folder, parse, &mut contracts)?;
        let program = files::on_disk(&folder.join(&self.program), place)
            .map_err(|error| format!("{}: {error}", self.program))?;
        let (processors, levels) = self.scope(quick);
        if let Some(why) = processors.iter().find_map(|processor| counter.lacks(processor)) {
            return Err(why);
        }
        // The prover is a part of this program.
        let prover = std::env::current_exe().ok().and_then(|path| fingerprint::of_file(&path));
        let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let fixed = [
            prover.ok_or("this program cannot read itself")?,
            counter.versions(processors).join("; "),
            text(&program),
            text(&place.join("it.c")),
            format!("{:?} {processors:?} {levels:?}", self.common),
        ];
        let mut objects = HashMap::new();
        let mut all: Vec<Shown> = Vec::new();
        let total = self.steps.len();
        for (done, step) in self.steps.iter().enumerate() {
            progress(Progress { done, total, next: &step.label, entries: &[] });
            let wanted = step.wanted(folder, &library, processors, parse)?;
            let texts: Vec<String> = wanted.iter().map(Wanted::text).collect::<Result<_, _>>()?;
            let own = format!("{step:?}");
            let fingerprint = hash(fixed.iter().chain(&texts).chain([&own]).map(String::as_str));
            if let Some(old) = before.iter().find(|old| old.fingerprint == fingerprint) {
                all.push(old.clone());
                continue;
            }
            let (own, proof) = step.kernels(&wanted, &mut contracts)?;
            let files = written(common.iter().chain(&own), place)?;
            let mut numbers = Vec::new();
            for processor in processors {
                let mut row = Vec::new();
                for level in levels {
                    let build = Build { counter: &counter, place, processor, level, step };
                    row.push(build.numbers(&program, &files, &mut objects));
                }
                numbers.push(row);
            }
            let proof = of_common.clone().and_then(|common| Ok(common + proof?));
            all.push(Shown { fingerprint, proof, numbers });
            save(&all)?;
        }
        let native = match &self.native {
            Some(native) => native.measure(folder, place, quick, &mut |name| {
                progress(Progress { done: total, total, next: name, entries: &[] });
            })?,
            None => Vec::new(),
        };
        Ok(Found { compilers: counter.versions(processors), steps: all, native })
    }

    /// Writes the library as `it.c`, and returns its ciphers.
    fn write_library(&self, folder: &Path, place: &Path) -> Result<Vec<Cipher>, String> {
        let request = Request {
            targets: vec![isa::find("gp64").expect("it exists")],
            prefix: "usuba_".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            functions: Vec::new(),
        };
        let (ciphers, files) = match self.library.as_deref() {
            None => return Ok(Vec::new()),
            Some(NACL) => {
                let ciphers = usuba_library::nacl_ciphers(&files::ciphers())?;
                let written = usuba_library::nacl(&request, &ciphers, &mut |_| {})?;
                (ciphers, written.files)
            }
            Some(name) => {
                let cipher = usuba_ciphers::read(&folder.join(name))?;
                let written = usuba_library::single(&request, &cipher, Some("it"))?;
                (vec![cipher], written.files)
            }
        };
        for file in files {
            let name = if file.path == "usuba-nacl.c" { "it.c" } else { &file.path };
            write(&place.join(name), &file.text)?;
        }
        Ok(ciphers)
    }

    /// The common kernels of all steps, and the number of proved ones, including the library's.
    fn common(
        &self,
        folder: &Path,
        parse: &Parse,
        contracts: &mut Contracts,
    ) -> Result<(Vec<Kernel>, Proofs), String> {
        let (mut all, mut proof) = (Vec::new(), Ok(0));
        for kernels in &self.common {
            let target = kernels.target.as_deref().unwrap_or("gp32");
            for node in &kernels.nodes {
                let wanted = Wanted {
                    source: folder.join(&kernels.source),
                    node,
                    target: isa::find(target).expect("it was checked"),
                    pipeline: parse(&kernels.flags)?.0,
                    prefix: &kernels.prefix,
                    link: &[],
                };
                let (kernel, shown) = wanted.proved(contracts)?;
                proof = proof.and_then(|count| shown.map(|()| count + 1));
                if kernels.target.is_none() {
                    all.push(kernel);
                }
            }
        }
        Ok((all, proof))
    }

    /// Whether a step is wrong or unproved.
    pub fn is_wrong(found: &Found) -> bool {
        let failed = |shown: &Shown| shown.numbers.iter().flatten().any(Result::is_err);
        found.steps.iter().any(|shown| shown.proof.is_err() || failed(shown))
    }
}

impl Step {
    /// The step's own kernels; the library's if it has none.
    fn wanted<'w>(
        &'w self,
        folder: &Path,
        library: &'w [Cipher],
        processors: &[String],
        parse: &Parse,
    ) -> Result<Vec<Wanted<'w>>, String> {
        let target = isa::find("gp32").expect("it exists");
        let mut all = Vec::new();
        if let Some(source) = &self.source {
            for node in &self.nodes {
                let (source, pipeline) = (folder.join(source), parse(&self.flags)?.0);
                all.push(Wanted { source, node, target, pipeline, prefix: "k_", link: &self.link });
            }
            return Ok(all);
        }
        for cipher in library {
            let widths = [false, true].into_iter().filter(|is_64| {
                processors.iter().any(|processor| processor.starts_with("rv64") == *is_64)
            });
            for is_64 in widths {
                for form in usuba_library::forms(cipher, is_64, self.small) {
                    all.push(Wanted {
                        source: cipher.folder.join(form.source),
                        node: form.node,
                        target: form.target,
                        pipeline: form.pipeline,
                        prefix: "usuba_",
                        link: form.linked,
                    });
                }
            }
            for function in cipher.functions.iter().filter(|f| f.slicings.contains(&Slicing::V)) {
                let small = function.small.as_ref().filter(|_| self.small);
                all.push(Wanted {
                    source: cipher.folder.join(&function.source),
                    node: small.unwrap_or(&function.node),
                    target: isa::find("gp64").expect("it exists"),
                    pipeline: PipelineOptions::default(),
                    prefix: "usuba_",
                    link: &[],
                });
            }
        }
        Ok(all)
    }

    /// Compiles and proves kernels, and returns the kernels of the step's own program.
    fn kernels(
        &self,
        wanted: &[Wanted],
        contracts: &mut Contracts,
    ) -> Result<(Vec<Kernel>, Proofs), String> {
        let (mut all, mut proof) = (Vec::new(), Ok(0));
        for wanted in wanted {
            let (kernel, shown) = wanted.proved(contracts)?;
            proof = proof.and_then(|count| shown.map(|()| count + 1));
            if self.source.is_some() {
                all.push(kernel);
            }
        }
        Ok((all, proof))
    }
}

/// Writes kernels and their header, and returns their paths.
fn written<'k>(
    kernels: impl Iterator<Item = &'k Kernel>,
    place: &Path,
) -> Result<Vec<PathBuf>, String> {
    let (mut files, mut header) = (Vec::new(), "#include <stdint.h>\n".to_string());
    for kernel in kernels {
        let file = place.join(format!("{}.c", kernel.name));
        write(&file, &kernel.text)?;
        header += &format!("{};\n", kernel.prototype);
        files.push(file);
    }
    write(&place.join("kernels.h"), &header)?;
    Ok(files)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// A build of a step for a processor at a level.
struct Build<'b> {
    counter: &'b Counter,
    place: &'b Path,
    processor: &'b str,
    level: &'b str,
    step: &'b Step,
}

impl Build<'_> {
    fn numbers(
        &self,
        program: &Path,
        kernels: &[PathBuf],
        objects: &mut HashMap<Vec<String>, PathBuf>,
    ) -> Result<Numbers, String> {
        let defines: Vec<String> =
            self.step.defines.iter().map(|define| format!("-D{define}")).collect();
        let mut flags = vec![self.level, "-DKERNELS=\"kernels.h\""];
        flags.extend(defines.iter().map(String::as_str));
        let place = self.place.display().to_string();
        flags.extend(["-I", &place]);
        let mut files = vec![program.to_path_buf()];
        let library = self.place.join("it.c");
        if library.exists() {
            // Most steps share this setting.
            let small = if self.step.small { "-DUSUBA_SMALL" } else { "-DLARGE" };
            let object = self.place.join(format!("library{}.o", objects.len()));
            let key = [self.processor, self.level, small].map(String::from).to_vec();
            if !objects.contains_key(&key) {
                self.counter.compile(self.processor, &[self.level, small], &library, &object)?;
                objects.insert(key.clone(), object);
            }
            files.push(objects[&key].clone());
        }
        files.extend(kernels.iter().cloned());
        let to = self.place.join("program");
        self.counter.link(self.processor, &flags, &files, &to)?;
        let parts = self.counter.run(&to)?;
        let part = parts.first().ok_or("the program said nothing")?;
        let text = riscv::text(&to)?;
        Ok(Numbers { instructions: part.instructions, text, stack: part.stack })
    }
}

#[cfg(test)]
mod tests;
