//! The programs of an experiment with stages: compiled, and run in several processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use usuba::Options;
use usuba::diag::Sources;
use usuba::emit::c::COptions;
use usuba::isa;

use super::{PROCESSES, SLICES, Stage, Staged, Timed, Times, WRONG};
use crate::bench::{NOISY, Parse};
use crate::experiment::verdict::quietest;
use crate::experiment::{Compiler, slicing};
use crate::record::rounded;
use usuba_ciphers::{Beside, files};
use usuba_run::cc::{self, run};
use usuba_run::riscv;
use usuba_run::stats::{quantile, scatter};
use usuba_run::validated::{Proofs, compiled};

/// The file that drivers have in common.
const COMMON: &str = "stages.h";

/// The files of a program, in a folder.
pub(super) struct Program<'p> {
    place: &'p Path,
    compiler: &'p Path,
    build: &'p Compiler,
    driver: String,
    /// Everything that is compiled.
    pub text: String,
    /// For each stage and task the flags of the C compiler, or the reason why it cannot be built.
    files: Vec<Result<Vec<String>, String>>,
}

impl<'p> Program<'p> {
    /// Writes the kernels of all stages into `place`; `folder` contains the experiment.
    pub fn write(
        staged: &Staged,
        folder: &Path,
        build: &'p Compiler,
        compiler: &'p Path,
        parse: &Parse,
        place: &'p Path,
    ) -> Result<Program<'p>, String> {
        let driver = files::on_disk(&folder.join(&staged.driver), place)
            .map_err(|error| format!("{}: {error}", staged.driver))?;
        let mut text = format!("{build:?}\n");
        for name in [&*staged.driver, COMMON] {
            text += &files::read_to_string(&folder.join(name)).unwrap_or_default();
        }
        let mut files = Vec::new();
        for stage in &staged.stages {
            let machine = match cc::find_with(&stage.target, build.family()) {
                Ok(machine) => machine,
                Err(skip) => {
                    files.extend(stage.entries.iter().map(|_| Err(skip.why.clone())));
                    continue;
                }
            };
            for entry in &stage.entries {
                let kernel = kernel(folder, stage, entry, parse)?;
                let file = place.join(format!("{}.h", files.len()));
                fs::write(&file, &kernel).map_err(|e| format!("{}: {e}", file.display()))?;
                let flags = machine.cflags.iter().map(|flag| flag.to_string());
                let flags: Vec<String> = flags.chain(stage.cflags.iter().cloned()).collect();
                text += &format!("{stage:?} {flags:?}\n{kernel}\n");
                files.push(Ok(flags));
            }
        }
        let driver = driver.display().to_string();
        Ok(Program { place, compiler, build, driver, text, files })
    }

    /// Compiles the program and runs it, again if it is noisy: the times of all stages and tasks.
    pub fn times(&self, staged: &Staged, calls: u64) -> Result<Vec<Vec<Timed>>, String> {
        let tasks = staged.tasks.len();
        let number = |(n, flags): (usize, &Result<Vec<String>, String>)| {
            let stage = &staged.stages[n / tasks];
            flags.clone().and_then(|flags| {
                self.compile(n, stage, n % tasks > 0, &flags)?;
                staged.shows_code().then(|| self.code(n, &flags)).transpose()
            })
        };
        let code: Vec<Result<Option<u64>, String>> =
            self.files.iter().enumerate().map(number).collect();
        let there: Vec<usize> = (0..code.len()).filter(|&n| code[n].is_ok()).collect();
        let list: String = there.iter().map(|n| format!("X({n}) ")).collect();
        let mut command = in_folder(self.compiler, self.build, self.place);
        command.args(["-DMAIN", &format!("-DSTAGES(X)={list}"), &self.driver, "-o", "program"]);
        run(command.args(there.iter().map(|n| format!("{n}.o"))))?;
        let program = self.place.join("program");
        let noise = |all: &Vec<Timed>| all.iter().flatten().filter(|t| t.scatter > NOISY).count();
        let best = quietest(|| timed(&program, &code, &there, calls), noise)?;
        Ok(best.chunks(tasks).map(<[Timed]>::to_vec).collect())
    }

    /// Compiles the driver around a kernel.
    fn compile(
        &self,
        n: usize,
        stage: &Stage,
        inverse: bool,
        flags: &[String],
    ) -> Result<(), String> {
        let mut command = in_folder(self.compiler, self.build, self.place);
        command.args(flags);
        command.args(stage.defines.iter().map(|define| format!("-D{define}")));
        command.args(inverse.then_some("-DINVERSE"));
        command.args([
            format!("-DSTAGE={n}"),
            format!("-DKERNEL=\"{n}.h\""),
            format!("-DREGISTER={}", stage.register),
            format!("-DARGUMENTS={}", stage.arguments),
            format!("-I{}", self.place.display()),
        ]);
        command.args(["-c", &self.driver, "-o", &format!("{n}.o")]);
        run(&mut command).map(|_| ()).map_err(first_line)
    }

    /// The bytes of machine code of a kernel alone.
    fn code(&self, n: usize, flags: &[String]) -> Result<u64, String> {
        let mut command = in_folder(self.compiler, self.build, self.place);
        let (source, object) = (format!("{n}.h"), format!("{n}-alone.o"));
        command.args(flags).args(["-x", "c", "-c", &source, "-o", &object]);
        run(&mut command).map_err(first_line)?;
        riscv::text(&self.place.join(object))
    }
}

fn first_line(text: String) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

/// Runs a program in several processes.
fn timed(
    program: &Path,
    code: &[Result<Option<u64>, String>],
    there: &[usize],
    calls: u64,
) -> Result<Vec<Timed>, String> {
    let per_slice = calls / (PROCESSES * SLICES);
    let mut slices: Vec<Vec<f64>> = vec![Vec::new(); code.len()];
    let mut processes = slices.clone();
    let mut wrong = vec![false; code.len()];
    for _ in 0..PROCESSES {
        let arguments = [per_slice, SLICES].map(|number| number.to_string());
        let output = run(Command::new(program).args(arguments))?;
        for &n in there {
            let lines = output.lines().filter_map(|line| line.split_once(' '));
            let own: Vec<&str> =
                lines.filter(|(at, _)| *at == n.to_string()).map(|(_, text)| text).collect();
            wrong[n] |= own.contains(&"wrong");
            let times = own.iter().filter_map(|text| text.parse::<f64>().ok());
            let mut times: Vec<f64> = times.map(|time| time / per_slice as f64).collect();
            times.sort_by(f64::total_cmp);
            if !times.is_empty() {
                processes[n].push(rounded(quantile(&times, 0.1)));
            }
            slices[n].extend(times);
        }
    }
    let one = |n: usize| -> Timed {
        let code = code[n].clone()?;
        let mut slices = slices[n].clone();
        slices.sort_by(f64::total_cmp);
        match () {
            () if wrong[n] => Err(WRONG.into()),
            () if slices.is_empty() => Err("no answer".into()),
            () => {
                let scatter = rounded(scatter(&slices));
                Ok(Times { processes: processes[n].clone(), scatter, code })
            }
        }
    };
    Ok((0..code.len()).map(one).collect())
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
pub(super) fn links(compiler: &Path, build: &Compiler) -> Result<PathBuf, String> {
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
