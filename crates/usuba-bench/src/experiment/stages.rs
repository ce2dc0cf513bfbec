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
//! stage = "aligned loads"
//! task = "encrypt"
//! speedup = 2.38
//! source = "..."
//! ```
//!
//! Each build links all stages and tasks into one program, which runs slices of their calls in
//! turns. The driver defines its compilation and checks the results. The first stage is the
//! baseline of the others. A build without its compiler and a stage without processor support are
//! left out and reported.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use usuba::Options;
use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::isa;

use super::{Compiler, slicing};
use crate::bench::Parse;
use usuba_ciphers::{Beside, files};
use usuba_run::cc::{self, run};
use usuba_run::validated::{Proofs, compiled};

/// The number of slices that share the calls of each stage.
const SLICES: u64 = 100;

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
    #[serde(rename = "build")]
    pub builds: Vec<Compiler>,
    #[serde(rename = "stage")]
    pub stages: Vec<Stage>,
    #[serde(default, rename = "published")]
    pub published: Vec<Claim>,
    /// The conclusion of an earlier measurement, for the end of the report.
    #[serde(default)]
    pub conclusion: String,
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

/// A published number.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub stage: String,
    pub task: String,
    pub speedup: f64,
    /// The publication, and the processor of the measurement.
    pub source: String,
}

/// The results of one build.
#[derive(Clone, PartialEq, Debug)]
pub struct Built {
    pub label: String,
    /// The seconds, or the reason why the machine cannot build such programs.
    pub seconds: Result<Seconds, String>,
}

/// For each stage and task the seconds of all calls, or the reason why there are none. The 10th
/// percentile of the slices counts, because disturbances only lengthen them.
pub type Seconds = Vec<Vec<Result<f64, String>>>;

/// The failure of a stage whose results the driver rejects.
const WRONG: &str = "a wrong answer";

impl Staged {
    /// Reads an experiment of this kind; `None` if the file is an experiment with ciphers.
    pub fn read(path: &Path) -> Option<Result<Staged, String>> {
        super::read(path, "driver", Staged::check)
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
            if isa::find(&stage.target).is_none() {
                return Err(isa::unknown(&stage.target));
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

    /// Measures all builds; `folder` contains the experiment.
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
            let seconds = match machine.and_then(|machine| links(&machine.compiler, build)) {
                Ok(compiler) => Ok(self.build(folder, build, &compiler, quick, parse)?),
                Err(why) => Err(why),
            };
            all.push(Built { label: build.label(), seconds });
        }
        Ok(all)
    }

    fn build(
        &self,
        folder: &Path,
        build: &Compiler,
        compiler: &Path,
        quick: bool,
        parse: &Parse,
    ) -> Result<Seconds, String> {
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        let place = place.path();
        let driver = files::on_disk(&folder.join(&self.driver), place)
            .map_err(|error| format!("{}: {error}", self.driver))?;
        let driver = driver.display().to_string();
        let mut seconds: Seconds = Vec::new();
        // The stage and task of each function of the program.
        let mut functions = Vec::new();
        for (number, stage) in self.stages.iter().enumerate() {
            let machine = cc::find_with(&stage.target, build.family()).map_err(|skip| skip.why);
            let mut row = Vec::new();
            for (task, entry) in stage.entries.iter().enumerate() {
                let machine = match &machine {
                    Ok(machine) => machine,
                    Err(why) => {
                        row.push(Err(why.clone()));
                        continue;
                    }
                };
                let n = functions.len();
                let text = kernel(folder, stage, entry, parse)?;
                let file = place.join(format!("{n}.h"));
                fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
                let mut command = in_folder(compiler, build, place);
                command.args(&machine.cflags).args(&stage.cflags);
                command.args(stage.defines.iter().map(|define| format!("-D{define}")));
                command.args((task > 0).then_some("-DINVERSE"));
                command.args([
                    format!("-DSTAGE={n}"),
                    format!("-DKERNEL=\"{n}.h\""),
                    format!("-DREGISTER={}", stage.register),
                    format!("-DARGUMENTS={}", stage.arguments),
                    format!("-I{}", place.display()),
                ]);
                command.args(["-c", &driver, "-o", &format!("{n}.o")]);
                row.push(match run(&mut command) {
                    Ok(_) => {
                        functions.push((number, task));
                        Err("no answer".into())
                    }
                    Err(why) => Err(why.lines().next().unwrap_or_default().to_string()),
                });
            }
            seconds.push(row);
        }
        let list: String = (0..functions.len()).map(|n| format!("X({n}) ")).collect();
        let mut command = in_folder(compiler, build, place);
        command.args(["-DMAIN", &format!("-DSTAGES(X)={list}"), &driver, "-o", "program"]);
        run(command.args((0..functions.len()).map(|n| format!("{n}.o"))))?;
        let calls = if quick { self.quick_calls } else { self.calls };
        let mut program = Command::new(place.join("program"));
        let output = run(program.args([calls / SLICES, SLICES].map(|number| number.to_string())))?;
        for (n, &(stage, task)) in functions.iter().enumerate() {
            let lines = output.lines().filter_map(|line| line.split_once(' '));
            let own: Vec<&str> =
                lines.filter(|(at, _)| *at == n.to_string()).map(|(_, what)| what).collect();
            let mut times: Vec<f64> = own.iter().filter_map(|what| what.parse().ok()).collect();
            times.sort_by(f64::total_cmp);
            if own.contains(&"wrong") {
                seconds[stage][task] = Err(WRONG.into());
            } else if let Some(slice) = times.get(times.len() / 10) {
                seconds[stage][task] = Ok(slice * SLICES as f64);
            }
        }
        Ok(seconds)
    }

    /// Whether a stage of a build computes a wrong result.
    pub fn is_wrong(built: &[Built]) -> bool {
        let rows = built.iter().filter_map(|build| build.seconds.as_ref().ok()).flatten();
        rows.flatten().any(|time| time.as_ref().is_err_and(|why| why == WRONG))
    }

    /// A table for each build: seconds, speed-ups, efficiencies, and the published numbers.
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
    let text = files::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut sources = Sources::default();
    let root = sources.add(path.display().to_string(), text);
    let options = Options {
        slicing: slicing(&stage.slicing).expect("it was checked"),
        target: isa::find(&stage.target).expect("it was checked"),
        cpu,
        word: None,
        entry: Some(entry.to_string()),
        flags: Default::default(),
        pipeline,
        c: COptions { name: "kernel".into(), ..COptions::default() },
    };
    let output = compiled(&mut sources, root, &mut Beside, &options, Proofs::Always);
    output.map(|output| output.kernel.text).map_err(|trouble| {
        let lines = trouble.explained(|findings| {
            let lines = findings.iter().filter(|finding| finding.is_error());
            let lines = lines.map(|finding| format!("{}: {}", finding.code, finding.message));
            lines.collect::<Vec<_>>().join("; ")
        });
        format!("{}, {entry}: {lines}", path.display())
    })
}

/// The compiler, if it links programs with the flags of a build.
fn links(compiler: &Path, build: &Compiler) -> Result<PathBuf, String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let text = "#include <stdint.h>\nint main(void) { return 0; }\n";
    fs::write(place.path().join("probe.c"), text).map_err(|error| error.to_string())?;
    let mut command = in_folder(compiler, build, place.path());
    match run(command.args(["probe.c", "-o", "probe"])) {
        Ok(_) => Ok(compiler.to_path_buf()),
        Err(why) => {
            let first = why.lines().next().unwrap_or_default();
            Err(format!("no program can be built: {first}"))
        }
    }
}

fn in_folder(compiler: &Path, build: &Compiler, place: &Path) -> Command {
    let mut command = Command::new(compiler);
    command.current_dir(place).args(&build.flags).arg("-w");
    command
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
        [[published]]
        stage = "two"
        task = "forth"
        speedup = 2.5
        source = "s"
    "#;

    fn parse(text: &str) -> Result<Staged, String> {
        let staged: Staged = toml::from_str(text).map_err(|error| error.to_string())?;
        staged.check().map(|()| staged)
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (old, new, why) in [
            ("target = \"sse\"", "target = \"mmx\"", "no target `mmx`"),
            ("slicing = \"W\"", "slicing = \"X\"", "no slicing `X`"),
            ("stage = \"two\"", "stage = \"three\"", "no `forth` of stage `three`"),
            ("tasks = [\"forth\"]", "tasks = [\"forth\", \"back\"]", "an entry for each task"),
            ("lanes = 2", "colour = 2", "colour"),
        ] {
            let error = parse(&TEXT.replace(old, new)).expect_err("it does not fit");
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn speed_ups_are_over_the_first_stage() {
        let staged = parse(TEXT).expect("it is well-formed");
        let built = |label: &str, seconds| Built { label: label.to_string(), seconds };
        let report = staged.report(
            &[
                built("all", Ok(vec![vec![Ok(3.0)], vec![Ok(2.0)]])),
                built("some", Ok(vec![vec![Ok(3.0)], vec![Err("no such registers".into())]])),
                built("none", Err("no compiler".into())),
            ],
            true,
        );
        assert!(report.contains("100 calls."), "{report}");
        assert!(report.contains("| two | 2.000 | 1.500× | 0.750 | 2.50×/1.25 |"), "{report}");
        assert!(report.contains("| two | no such registers | | | 2.50×/1.25 |"), "{report}");
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
        staged.quick_calls = 100 * SLICES;
        let parse = |_: &str| Ok((PipelineOptions::default(), usuba::isa::cpu::ALL[0]));
        let built = staged.measure(&folder, true, &parse, &mut |_| {}).expect("it can be built");
        assert!(!Staged::is_wrong(&built), "{built:?}");
        // Every available compiler compiles at least the scalar code.
        let scalar = built[0].seconds.as_ref().map(|seconds| &seconds[0]);
        assert!(scalar.is_ok_and(|times| times.iter().all(Result::is_ok)), "{built:?}");
    }
}
