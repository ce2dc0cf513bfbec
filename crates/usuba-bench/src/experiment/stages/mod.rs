//! Program experiments: one task in several versions, each a kernel that a C driver calls.
//!
//! ```toml
//! title = "One block in SIMD registers"
//! driver = "threefish-simd.c"          # beside this file
//! calls = 100_000_000
//! quick-calls = 1_000_000
//! tasks = ["encrypt", "decrypt"]
//!
//! [[build]]
//! family = "gcc"
//! flags = ["-O3", "-m32"]
//!
//! [[stage]]
//! label = "scalar"
//! source = "threefish-simd.ua"         # beside this file
//! entries = ["old_encrypt256", "old_decrypt256"]
//! slicing = "V"
//! target = "gp64"
//! flags = "--interleave 1"
//! register = "uint64_t"
//! arguments = "plain, subkeys, out"
//!
//! [[published]]
//! from = { file = "../published/simd-run.json", row = "encrypt", column = "speedup" }
//! stage = "key on the fly"
//! task = "encrypt"
//! builds = ["gcc, 32 bits"]            # or ["any"]
//! ours = "speedup"
//! ```
//!
//! Each build links all stages and tasks into one program, which runs slices of their calls in
//! turns, in several processes. The driver defines its compilation and checks the results. The first
//! stage is the baseline of the others. A build without its compiler and a stage without processor
//! support are left out and reported. A program with noisy stages runs again.
//!
//! - `build`: compiles and runs the programs.
//! - `numbers`: their numbers and tables.

mod build;
mod numbers;

use std::path::Path;

use serde::{Deserialize, Serialize};
use usuba::isa;
use usuba::names::unknown;

use super::published::{ANY, Number, Reference};
use super::{Compiler, hash, slicing};
use crate::bench::Parse;
use crate::session::Progress;
use build::{Program, links};
use usuba_run::cc::{self, Machine};
use usuba_run::stats::quantile;

/// The processes of a build, and the slices that each of them runs of each stage.
const PROCESSES: u64 = 10;
const SLICES: u64 = 10;

/// The numbers of a stage and task, in the notation of `ours`.
const COLUMNS: [&str; 7] =
    ["speedup", "efficiency", "seconds", "microseconds", "cycles", "cycles-per-lane", "code"];

/// A program experiment, as declared in its file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Staged {
    pub title: String,
    /// The question of the experiment, in a few sentences.
    pub about: String,
    /// The C file of the driver, in the same folder.
    pub driver: String,
    /// Calls of each stage; a multiple of the driver's unroll factor.
    pub calls: u64,
    pub quick_calls: u64,
    /// The tasks of each stage, with an entry for each.
    pub tasks: Vec<String>,
    /// The core cycles of a call of the first stage, if they are known by its making.
    #[serde(default)]
    pub clock: Option<f64>,
    #[serde(rename = "build")]
    pub builds: Vec<Compiler>,
    #[serde(rename = "stage")]
    pub stages: Vec<Stage>,
    #[serde(default)]
    published: Vec<Claim>,
    /// The published numbers that `published` refers to, with their references.
    #[serde(skip)]
    numbers: Vec<(Claim, Number)>,
}

/// A version of the tasks.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stage {
    pub label: String,
    /// The program, in the same folder.
    pub source: String,
    /// A node for each task.
    pub entries: Vec<String>,
    pub slicing: String,
    pub target: String,
    /// Flags of `usubac`.
    #[serde(default)]
    pub flags: String,
    /// The C type of a register.
    pub register: String,
    /// The driver's arguments of the kernel.
    pub arguments: String,
    /// Macros of the driver.
    #[serde(default)]
    pub defines: Vec<String>,
    /// Flags of the C compiler for this stage alone.
    #[serde(default)]
    pub cflags: Vec<String>,
    /// Words per operation, which turn a speed-up into an efficiency.
    #[serde(default = "one")]
    pub lanes: u32,
}

fn one() -> u32 {
    1
}

/// A reference to a published number, and the place of ours beside it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    from: Reference,
    stage: String,
    task: String,
    /// Labels of builds, or `any`.
    builds: Vec<String>,
    /// A column, or `speedup` over a stage other than the first, as `speedup/inlined`.
    ours: String,
}

/// The measurement of a build.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Built {
    pub label: String,
    /// The hash of everything that determines its numbers, except the machine.
    pub fingerprint: String,
    /// The first line of the compiler's version output.
    pub compiler: String,
    /// For each stage and task, or the reason why the machine cannot build such programs.
    pub stages: Result<Vec<Vec<Timed>>, String>,
}

/// A stage and task: its times, or the reason why there are none.
pub type Timed = Result<Times, String>;

/// The times of a stage and task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Times {
    /// Seconds for a call: the 10th percentile of the slices of each process, because disturbances
    /// only lengthen them.
    pub processes: Vec<f64>,
    /// The interquartile range of all slices, as a share of their median.
    pub scatter: f64,
    /// Bytes of machine code of the kernel, if a published number is about them.
    pub code: Option<u64>,
}

impl Times {
    /// Seconds for a call.
    fn seconds(&self) -> f64 {
        let mut ascending = self.processes.clone();
        ascending.sort_by(f64::total_cmp);
        quantile(&ascending, 0.5)
    }
}

impl Claim {
    fn fits_build(&self, label: &str) -> bool {
        self.builds.iter().any(|build| build == label || build == ANY)
    }
}

/// The failure of a stage whose results the driver rejects.
const WRONG: &str = "a wrong answer";

impl Staged {
    /// Reads an experiment of this kind; `None` if the file is an experiment with ciphers.
    pub fn read(path: &Path) -> Option<Result<Staged, String>> {
        super::read(path, "driver", Staged::check)
    }

    fn check(&mut self, folder: &Path) -> Result<(), String> {
        if self.stages.is_empty() || self.builds.is_empty() || self.tasks.is_empty() {
            return Err("an experiment needs a build, a stage and a task".into());
        }
        for stage in &self.stages {
            let label = &stage.label;
            if stage.entries.len() != self.tasks.len() {
                return Err(format!("stage `{label}` needs an entry for each task"));
            }
            if isa::find(&stage.target).is_none() {
                return Err(isa::unknown(&stage.target));
            }
            if slicing(&stage.slicing).is_none() {
                return Err(format!("there is no slicing `{}`", stage.slicing));
            }
        }
        let stages: Vec<&str> = self.stages.iter().map(|stage| &*stage.label).collect();
        let tasks: Vec<&str> = self.tasks.iter().map(|task| &**task).collect();
        let labels: Vec<String> = self.builds.iter().map(Compiler::label).collect();
        let builds: Vec<&str> = labels.iter().map(|label| &**label).chain([ANY]).collect();
        for claim in &self.published {
            let (column, other) = match claim.ours.split_once('/') {
                Some(("speedup", other)) => ("speedup", other),
                _ => (&*claim.ours, &*claim.stage),
            };
            let mut names = vec![
                ("stage", &*claim.stage, &stages[..]),
                ("stage", other, &stages[..]),
                ("task", &claim.task, &tasks),
                ("column", column, &COLUMNS),
            ];
            names.extend(claim.builds.iter().map(|build| ("build", &**build, &builds[..])));
            let wrong = names.into_iter().find(|(_, name, known)| !known.contains(name));
            if let Some((noun, name, known)) = wrong {
                return Err(unknown(noun, name, known.iter().copied()));
            }
        }
        for claim in &self.published {
            for number in claim.from.find(folder, |_| false)? {
                self.numbers.push((claim.clone(), number));
            }
        }
        Ok(())
    }

    /// The published numbers to which the experiment refers.
    pub fn published(&self) -> impl Iterator<Item = &Number> {
        self.numbers.iter().map(|(_, number)| number)
    }

    /// Whether a published number is about the bytes of code.
    fn shows_code(&self) -> bool {
        self.numbers.iter().any(|(claim, _)| claim.ours == "code")
    }

    /// Measures all builds; `folder` contains the experiment. Builds of `before` with the same
    /// fingerprint are kept; `save` gets the finished ones after each build.
    ///
    /// # Errors
    /// A program of the experiment is missing or wrong, or `save` fails.
    pub fn measure(
        &self,
        folder: &Path,
        quick: bool,
        parse: &Parse,
        before: &[Built],
        save: &mut dyn FnMut(&[Built]) -> Result<(), String>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Built>, String> {
        let total = self.builds.len();
        let mut all = Vec::new();
        for (done, build) in self.builds.iter().enumerate() {
            let label = build.label();
            progress(Progress { done, total, next: &label, entries: &[] });
            let machine = cc::find_with("gp64", build.family()).map_err(|skip| skip.why);
            let compiler = machine.as_ref().map(Machine::version).unwrap_or_default();
            let mut built =
                Built { label, fingerprint: String::new(), compiler, stages: Ok(vec![]) };
            match machine.and_then(|machine| links(&machine.compiler, build)) {
                Ok(path) => {
                    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
                    let program = Program::write(self, folder, build, &path, parse, place.path())?;
                    let calls = if quick { self.quick_calls } else { self.calls };
                    let key = [&*program.text, &built.compiler, &calls.to_string()];
                    built.fingerprint = hash(key);
                    let same = |old: &&Built| {
                        old.label == built.label && old.fingerprint == built.fingerprint
                    };
                    match before.iter().find(same) {
                        Some(old) => built = old.clone(),
                        None => built.stages = Ok(program.times(self, calls)?),
                    }
                }
                Err(why) => built.stages = Err(why),
            }
            all.push(built);
            save(&all)?;
        }
        Ok(all)
    }

    /// Whether a stage of a build computes a wrong result.
    pub fn is_wrong(built: &[Built]) -> bool {
        let rows = built.iter().filter_map(|build| build.stages.as_ref().ok()).flatten();
        rows.flatten().any(|time| time.as_ref().is_err_and(|why| why == WRONG))
    }
}

#[cfg(test)]
mod tests {
    use usuba::passes::pipeline::PipelineOptions;

    use super::*;

    const TEXT: &str = r#"
        title = "t"
        about = "a"
        driver = "d.c"
        calls = 1000
        quick-calls = 100
        tasks = ["forth"]
        [[build]]
        family = "gcc"
        flags = ["-O1"]
        [[stage]]
        label = "one"
        source = "p.ua"
        entries = ["f"]
        slicing = "V"
        target = "gp64"
        register = "uint64_t"
        arguments = "plain, out"
        [[stage]]
        label = "two"
        source = "p.ua"
        entries = ["f"]
        slicing = "W"
        target = "sse"
        register = "__m128i"
        arguments = "plain, out"
        lanes = 2
    "#;

    fn parse(text: &str) -> Result<Staged, String> {
        let mut staged: Staged = toml::from_str(text).map_err(|error| error.to_string())?;
        staged.check(Path::new(".")).map(|()| staged)
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (old, new, why) in [
            ("target = \"sse\"", "target = \"mmx\"", "no target `mmx`"),
            ("slicing = \"W\"", "slicing = \"X\"", "no slicing `X`"),
            ("tasks = [\"forth\"]", "tasks = [\"forth\", \"back\"]", "an entry for each task"),
            ("lanes = 2", "colour = 2", "colour"),
        ] {
            let error = parse(&TEXT.replace(old, new)).expect_err("it does not fit");
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn unknown_places_of_published_numbers_are_refused() {
        let claim = "[[published]]\nfrom = { file = \"no.json\", row = \"r\", column = \"c\" }\n\
                     stage = \"two\"\ntask = \"forth\"\nbuilds = [\"any\"]\nours = \"speedup\"\n";
        for (old, new, why) in [
            ("\"two\"", "\"tow\"", "no stage `tow`; help: did you mean `two`?"),
            ("\"forth\"", "\"back\"", "no task `back`"),
            ("\"any\"", "\"gcc -O9\"", "no build `gcc -O9`; help: did you mean `gcc -O1`?"),
            ("\"speedup\"", "\"speed\"", "no column `speed`; help: did you mean `speedup`?"),
            ("\"two\"", "\"two\"", "cannot read ./no.json"),
        ] {
            let error = parse(&format!("{TEXT}{}", claim.replace(old, new))).expect_err("unknown");
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn speed_ups_are_over_the_first_stage() {
        let staged = parse(TEXT).expect("it is well-formed");
        let times = |seconds: f64, scatter: f64| {
            let processes = (0..10).map(|i| seconds * (1.0 + 0.0001 * i as f64)).collect();
            Ok(Times { processes, scatter, code: Some(99) })
        };
        let built = |label: &str, stages| Built {
            label: label.into(),
            fingerprint: String::new(),
            compiler: "cc 1".into(),
            stages,
        };
        let all = [
            built("all", Ok(vec![vec![times(3e-6, 0.01)], vec![times(2e-6, 0.01)]])),
            built("loud", Ok(vec![vec![times(3e-6, 0.01)], vec![times(2e-6, 0.2)]])),
            built("some", Ok(vec![vec![times(3e-6, 0.01)], vec![Err("no such registers".into())]])),
            built("none", Err("no compiler".into())),
        ];
        let lines = staged.lines(&all, true, "1", "t");
        let report = staged.report(&all, &lines);
        assert!(report.contains("100 calls in"), "{report}");
        let two = "| two | 0.002 | 99 | 1.500 | 1.500–1.500 | 0.750 | p < 0.0001 | faster |";
        assert!(report.contains(two), "{report}");
        assert!(report.contains("| noisy |"), "{report}");
        assert!(report.contains("| two | no such registers | | | | | | |"), "{report}");
        assert!(report.contains("## none\n\nLeft out: no compiler."), "{report}");
    }

    /// Scalar and vector code both give the output of the series, and recover its plaintext.
    #[test]
    fn one_block_in_registers_is_what_was_published() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/experiments");
        let file = folder.join("threefish-simd.toml");
        let mut staged = Staged::read(&file).expect("it has a driver").expect("it is well-formed");
        staged.builds.truncate(1);
        staged.stages.retain(|stage| ["scalar", "key on the fly"].contains(&&*stage.label));
        staged.quick_calls = 100 * SLICES * PROCESSES;
        let parse = |_: &str| Ok((PipelineOptions::default(), usuba::isa::cpu::ALL[0]));
        let mut save = |_: &[Built]| Ok(());
        let built = staged.measure(&folder, true, &parse, &[], &mut save, &mut |_| {});
        let built = built.expect("it can be built");
        assert!(!Staged::is_wrong(&built), "{built:?}");
        // Every available compiler compiles at least the scalar code.
        let scalar = built[0].stages.as_ref().map(|stages| &stages[0]);
        assert!(scalar.is_ok_and(|times| times.iter().all(Result::is_ok)), "{built:?}");
        // A finished build is kept.
        let again = staged.measure(&folder, true, &parse, &built, &mut save, &mut |_| {});
        assert_eq!(again.expect("it was measured"), built);
    }
}
