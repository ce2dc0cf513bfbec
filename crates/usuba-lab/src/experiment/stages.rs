//! Experiments with programs: one task in several ways, each a kernel that a driver in C calls.
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
//! flags = "-inter-factor 1"
//! register = "uint64_t"
//! arguments = "plain, subkeys, out"
//!
//! [[published]]
//! stage = "aligned loads"
//! task = "encrypt"
//! speedup = 2.38
//! source = "..."
//! ```
//!
//! For each build all stages and tasks become one program, in which they take slices of the calls
//! by turns. The driver says how it is compiled; it checks what comes out. The first stage is what
//! the others are compared with. A build whose compiler is not there, and a stage whose target the
//! processor lacks, are left out by name.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::target;
use usuba::{Options, compile};

use super::{Compiler, slicing};
use crate::bench::Parse;
use crate::cc;
use crate::cipher::Beside;

/// How often each stage has its turn; the calls are shared among them.
const SLICES: u64 = 100;

/// An experiment with programs as it is written.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Staged {
    pub title: String,
    /// What is to be seen, in a few sentences.
    pub about: String,
    /// The C file of the driver, in the same folder.
    pub driver: String,
    /// Calls of each stage; a multiple of what the driver writes one after the other.
    pub calls: u64,
    pub quick_calls: u64,
    /// What each stage does, with an entry for each.
    pub tasks: Vec<String>,
    #[serde(rename = "build")]
    pub builds: Vec<Compiler>,
    #[serde(rename = "stage")]
    pub stages: Vec<Stage>,
    #[serde(default, rename = "published")]
    pub published: Vec<Claim>,
    /// What was seen where it was measured before, for the end of the report.
    #[serde(default)]
    pub conclusion: String,
}

/// One way to do the tasks.
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
    /// What the driver calls the kernel with.
    pub arguments: String,
    /// Macros of the driver.
    #[serde(default)]
    pub defines: Vec<String>,
    /// Flags of the C compiler for this stage alone.
    #[serde(default)]
    pub cflags: Vec<String>,
    /// Words that are worked on at once, by which a speed-up becomes an efficiency.
    #[serde(default = "one")]
    pub lanes: u32,
}

fn one() -> u32 {
    1
}

/// A number that somebody published.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub stage: String,
    pub task: String,
    pub speedup: f64,
    /// Where, and on which processor.
    pub source: String,
}

/// What one build gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Built {
    pub label: String,
    pub compiler: String,
    /// For each stage and task the seconds of all calls, or why there are none. Slices are counted
    /// by their 10th percentile, because what disturbs them makes them longer.
    pub seconds: Result<Vec<Vec<Result<f64, String>>>, String>,
}

impl Staged {
    /// Whether a file is such an experiment, and which; `None` if it is one of ciphers.
    pub fn read(path: &Path) -> Option<Result<Staged, String>> {
        let text = fs::read_to_string(path).ok()?;
        let wrong = |what: String| format!("{}: {what}", path.display());
        text.lines().any(|line| line.starts_with("driver ")).then(|| {
            let staged: Staged = toml::from_str(&text).map_err(|e| wrong(e.to_string()))?;
            staged.check().map_err(wrong)?;
            Ok(staged)
        })
    }

    fn check(&self) -> Result<(), String> {
        if self.stages.is_empty() || self.builds.is_empty() || self.tasks.is_empty() {
            return Err("an experiment needs a build, a stage and a task".into());
        }
        for stage in &self.stages {
            let label = &stage.label;
            if stage.entries.len() != self.tasks.len() {
                return Err(format!("stage `{label}` needs an entry for each task"));
            }
            if target::find(&stage.target).is_none() {
                return Err(format!("there is no target `{}`", stage.target));
            }
            if slicing(&stage.slicing).is_none() {
                return Err(format!("there is no slicing `{}`", stage.slicing));
            }
        }
        let known = |claim: &&Claim| {
            !self.stages.iter().any(|s| s.label == claim.stage) || !self.tasks.contains(&claim.task)
        };
        match self.published.iter().find(known) {
            Some(claim) => Err(format!("there is no `{}` of stage `{}`", claim.task, claim.stage)),
            None => Ok(()),
        }
    }

    /// Measures all builds; `folder` is that of the experiment.
    ///
    /// # Errors
    /// A program of the experiment is missing or wrong.
    pub fn measure(
        &self,
        folder: &Path,
        quick: bool,
        parse: &Parse,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Vec<Built>, String> {
        let mut all = Vec::new();
        for build in &self.builds {
            progress(&build.label());
            let machine = cc::find_with("gp64", build.family()).map_err(|skip| skip.why);
            let compiler = machine.as_ref().map(|m| m.compiler.display().to_string());
            let seconds = match &machine {
                Ok(machine) => self.build(folder, build, &machine.compiler, quick, parse)?,
                Err(why) => Err(why.clone()),
            };
            let compiler = compiler.unwrap_or_default();
            all.push(Built { label: build.label(), compiler, seconds });
        }
        Ok(all)
    }

    /// The inner error is that of a machine that cannot, the outer one that of a wrong experiment.
    #[allow(clippy::type_complexity)] // As in `Built`.
    fn build(
        &self,
        folder: &Path,
        build: &Compiler,
        compiler: &Path,
        quick: bool,
        parse: &Parse,
    ) -> Result<Result<Vec<Vec<Result<f64, String>>>, String>, String> {
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        let place = place.path();
        let driver = fs::canonicalize(folder.join(&self.driver))
            .map_err(|error| format!("{}: {error}", self.driver))?;
        let gcc = |flags: &[String]| {
            let mut command = Command::new(compiler);
            command.current_dir(place).args(&build.flags).args(flags).arg("-w");
            run(&mut command)
        };
        // A build that cannot link a program says so here.
        let probe = place.join("probe.c");
        fs::write(&probe, "#include <stdint.h>\nint main(void) { return 0; }\n")
            .map_err(|error| error.to_string())?;
        if let Err(why) = gcc(&["probe.c".into(), "-o".into(), "probe".into()]) {
            let first = why.lines().next().unwrap_or_default();
            return Ok(Err(format!("no program can be built: {first}")));
        }
        let mut seconds: Vec<Vec<Result<f64, String>>> = Vec::new();
        // Stage and task of each function of the program.
        let mut functions = Vec::new();
        for (number, stage) in self.stages.iter().enumerate() {
            let machine = cc::find_with(&stage.target, build.family());
            let mut row = Vec::new();
            for (task, entry) in stage.entries.iter().enumerate() {
                row.push(Err(match &machine {
                    Err(skip) => skip.why.clone(),
                    Ok(machine) => {
                        let text = kernel(folder, stage, entry, parse)?;
                        let n = functions.len();
                        fs::write(place.join(format!("{n}.h")), text)
                            .map_err(|error| error.to_string())?;
                        let mut flags: Vec<String> =
                            machine.cflags.iter().map(|flag| flag.to_string()).collect();
                        flags.extend(stage.cflags.iter().cloned());
                        flags.extend(stage.defines.iter().map(|define| format!("-D{define}")));
                        flags.extend((task > 0).then(|| "-DINVERSE".to_string()));
                        flags.extend([
                            format!("-DSTAGE={n}"),
                            format!("-DKERNEL=\"{n}.h\""),
                            format!("-DREGISTER={}", stage.register),
                            format!("-DARGUMENTS={}", stage.arguments),
                            format!("-I{}", place.display()),
                            "-c".into(),
                            driver.display().to_string(),
                            "-o".into(),
                            format!("{n}.o"),
                        ]);
                        match gcc(&flags) {
                            Ok(_) => {
                                functions.push((number, task));
                                "it was not timed".to_string()
                            }
                            Err(why) => why.lines().next().unwrap_or_default().to_string(),
                        }
                    }
                }));
            }
            seconds.push(row);
        }
        let list: String = (0..functions.len()).map(|n| format!("X({n}) ")).collect();
        let mut flags = vec!["-DMAIN".to_string(), format!("-DSTAGES(X)={list}")];
        flags.push(driver.display().to_string());
        flags.extend((0..functions.len()).map(|n| format!("{n}.o")));
        flags.extend(["-o", "program"].map(String::from));
        gcc(&flags)?;
        let calls = if quick { self.quick_calls } else { self.calls };
        let mut command = Command::new(place.join("program"));
        command.arg((calls / SLICES).to_string()).arg(SLICES.to_string());
        let output = run(&mut command)?;
        for (n, (stage, task)) in functions.iter().enumerate() {
            let lines = output.lines().filter_map(|line| line.split_once(' '));
            let own: Vec<&str> =
                lines.filter(|(at, _)| *at == n.to_string()).map(|(_, what)| what).collect();
            let mut times: Vec<f64> = own.iter().filter_map(|what| what.parse().ok()).collect();
            times.sort_by(f64::total_cmp);
            seconds[*stage][*task] = match times.get(times.len() / 10) {
                _ if own.contains(&"wrong") => Err("a wrong answer".into()),
                Some(slice) => Ok(slice * SLICES as f64),
                None => Err("no answer".into()),
            };
        }
        Ok(Ok(seconds))
    }

    /// A table for each build: seconds, speed-ups, efficiencies, and what was published.
    pub fn report(&self, built: &[Built], quick: bool) -> String {
        let calls = if quick { self.quick_calls } else { self.calls };
        let mut out = format!("# {}\n\n{}\n\n{calls} calls.\n", self.title, self.about.trim());
        for build in built {
            let _ = write!(out, "\n## {}\n\n", build.label);
            let seconds = match &build.seconds {
                Ok(seconds) => seconds,
                Err(why) => {
                    let _ = writeln!(out, "Left out: {why}.");
                    continue;
                }
            };
            out += "| stage |";
            for task in &self.tasks {
                let _ = write!(out, " {task}: seconds | speed-up | efficiency | published |");
            }
            out += "\n|---|";
            out += &"---:|---:|---:|---:|".repeat(self.tasks.len());
            out.push('\n');
            for (stage, row) in self.stages.iter().zip(seconds) {
                let _ = write!(out, "| {} |", stage.label);
                for (at, (task, time)) in self.tasks.iter().zip(row).enumerate() {
                    let claim = |c: &&Claim| c.stage == stage.label && c.task == *task;
                    let claim = self.published.iter().find(claim);
                    let claim = claim.map_or(String::new(), |claim| {
                        let efficiency = claim.speedup / stage.lanes as f64;
                        format!("{:.2}×/{efficiency:.2}", claim.speedup)
                    });
                    let _ = match (time, &seconds[0][at]) {
                        (Ok(time), Ok(first)) => {
                            let speedup = first / time;
                            let efficiency = speedup / stage.lanes as f64;
                            write!(out, " {time:.3} | {speedup:.3}× | {efficiency:.3} | {claim} |")
                        }
                        (Ok(time), Err(_)) => write!(out, " {time:.3} | | | {claim} |"),
                        (Err(why), _) => write!(out, " {why} | | | {claim} |"),
                    };
                }
                out.push('\n');
            }
        }
        let mut sources: Vec<&str> = self.published.iter().map(|c| c.source.as_str()).collect();
        sources.dedup();
        for source in sources {
            let _ = write!(out, "\nPublished: {source}.\n");
        }
        if !self.conclusion.is_empty() {
            let _ = write!(out, "\n{}\n", self.conclusion.trim());
        }
        out
    }
}

/// The C of one entry.
fn kernel(folder: &Path, stage: &Stage, entry: &str, parse: &Parse) -> Result<String, String> {
    let (pipeline, cpu) = parse(&stage.flags)?;
    let path = folder.join(&stage.source);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut sources = Sources::default();
    let root = sources.add(path.display().to_string(), text);
    let options = Options {
        slicing: slicing(&stage.slicing).expect("it was checked"),
        target: target::find(&stage.target).expect("it was checked"),
        cpu,
        word: None,
        entry: Some(entry.to_string()),
        flags: Default::default(),
        pipeline,
        c: COptions { name: "kernel".into(), ..COptions::default() },
    };
    let output = compile(&mut sources, root, &mut Beside, &options, &mut |_, _| {});
    output.map(|output| output.kernel.text).map_err(|findings| {
        let lines = findings.iter().filter(|finding| finding.is_error());
        let lines = lines.map(|finding| format!("{}: {}", finding.code, finding.message));
        format!("{}, {entry}: {}", path.display(), lines.collect::<Vec<_>>().join("; "))
    })
}

/// What a command prints.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
    }
}
