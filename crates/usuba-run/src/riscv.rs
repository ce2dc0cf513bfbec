//! Instruction and stack counts on RISC-V, from an emulator with a counting plugin. The counts are
//! deterministic: they do not depend on a clock or on the host.
//!
//! ```text
//! bench/rv32/bare.h    in the program: start-up code, marks, stack depth
//! bench/rv32/count.c   in the emulator: instructions between two marks
//!
//! rv32im               a processor in the notation of `-march`, by gcc
//! rv64imac by clang    the same by clang; gcc links
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSection};
use tempfile::TempDir;

use crate::cc::{self, Family, Machine, System, run};

const BARE: &str = include_str!("../rv32/bare.h");
const COUNT: &str = include_str!("../rv32/count.c");

/// Versions of the plugin interface; each emulator supports some of them.
const VERSIONS: [u32; 6] = [1, 2, 3, 4, 5, 6];

/// Flags of a freestanding program; unused functions are removed.
const FLAGS: [&str; 4] = ["-std=gnu99", "-w", "-ffunction-sections", "-fdata-sections"];

/// gcc must not replace the loop of `memcpy` by a call of it; clang does not.
const GCC: &str = "-fno-tree-loop-distribute-patterns";

/// A probe with a thousand instructions between two marks.
const PROBE: &str = "\
#include \"bare.h\"
static int thousand(void) { __asm__ volatile(\".rept 1000\\nnop\\n.endr\\n\"); return 0; }
static int work(void) { return measure(1, \"thousand\", thousand); }
";

/// The compilers and a counting emulator.
pub struct Counter {
    machine: Machine,
    /// The emulator of 32-bit programs.
    runner: PathBuf,
    /// The folder of the plugin and the header.
    folder: TempDir,
    /// The runtime libraries of gcc for RV32IM and RV64IM.
    own: [String; 2],
    /// The clang that compiles for RISC-V, if there is one.
    clang: Option<PathBuf>,
}

/// A processor and the compiler for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Processor<'p> {
    /// In the notation of `-march`.
    march: &'p str,
    by_clang: bool,
}

impl<'p> Processor<'p> {
    /// Reads `rv32im` or `rv64imac by clang`.
    fn read(text: &'p str) -> Option<Processor<'p>> {
        let (march, by) = text.split_once(" by ").unwrap_or((text, "gcc"));
        let extensions = march.strip_prefix("rv32").or(march.strip_prefix("rv64"))?;
        let letters = extensions.bytes().all(|letter| letter.is_ascii_lowercase());
        let known = letters && !extensions.is_empty() && ["gcc", "clang"].contains(&by);
        known.then_some(Processor { march, by_clang: by == "clang" })
    }

    fn is_64(self) -> bool {
        self.march.starts_with("rv64")
    }
}

/// Whether a text names a processor, and perhaps its compiler, as [`Counter::compile`] takes them.
pub fn is_processor(text: &str) -> bool {
    Processor::read(text).is_some()
}

/// The counts between two marks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    pub name: String,
    /// Executed instructions.
    pub instructions: u64,
    /// Bytes of stack.
    pub stack: u64,
}

impl Counter {
    /// The first line of gcc's version output.
    pub fn version(&self) -> String {
        self.machine.version()
    }

    /// The first line of the version output of each compiler of some processors; gcc links for all.
    pub fn versions(&self, processors: &[String]) -> Vec<String> {
        let by_clang =
            processors.iter().any(|name| Processor::read(name).is_some_and(|p| p.by_clang));
        let clang = self.clang.as_ref().filter(|_| by_clang);
        let said = clang.and_then(|clang| run(Command::new(clang).arg("--version")).ok());
        let first = |text: String| text.lines().next().unwrap_or_default().to_string();
        [self.version()].into_iter().chain(said.map(first)).collect()
    }

    /// Finds the tools on this machine.
    ///
    /// # Errors
    /// The missing tool.
    pub fn find() -> Result<Counter, String> {
        let machine = cc::find("gp32").map_err(|skip| skip.why)?;
        let runner = match (&machine.runner, machine.system) {
            (Some(runner), System::BareRiscv32) => runner.clone(),
            _ => return Err("there is no compiler or no emulator for RISC-V".into()),
        };
        let host = cc::find_native("gp64", Family::Any).map_err(|skip| skip.why)?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        for (name, text) in [("bare.h", BARE), ("count.c", COUNT), ("probe.c", PROBE)] {
            fs::write(folder.path().join(name), text).map_err(|error| error.to_string())?;
        }
        let library = |flags: &[&str]| -> Result<String, String> {
            let found = run(machine.compile().args(flags).arg("-print-libgcc-file-name"))?;
            Ok(found.trim().to_string())
        };
        let own = [library(&[])?, library(&["-march=rv64im", "-mabi=lp64"])?];
        let clang = cc::find_native("gp64", Family::Clang).ok().map(|found| found.compiler);
        let clang = clang.filter(|clang| {
            let targets = run(Command::new(clang).arg("--print-targets"));
            targets.is_ok_and(|list| list.contains("riscv32") && list.contains("riscv64"))
        });
        let counter = Counter { machine, runner, folder, own, clang };
        let place = counter.folder.path();
        counter.link("rv32im", &["-O1"], &[place.join("probe.c")], &place.join("probe"))?;
        let mut why = String::new();
        for version in VERSIONS {
            let mut compile = Command::new(&host.compiler);
            compile.args(["-O2", "-shared", "-fPIC", &format!("-DVERSION={version}")]);
            run(compile.arg("-o").arg(place.join("count.so")).arg(place.join("count.c")))?;
            match counter.run(&place.join("probe")) {
                Ok(parts) if parts.iter().all(|p| (1000..1020).contains(&p.instructions)) => {
                    return Ok(counter);
                }
                Ok(parts) => return Err(format!("1000 instructions are counted as {parts:?}")),
                Err(other) => why = other,
            }
        }
        let why = why.lines().next().unwrap_or_default();
        Err(format!("{} takes no plugin: {why}", counter.runner.display()))
    }

    /// The C compiler.
    pub fn compiler(&self) -> &Path {
        &self.machine.compiler
    }

    /// Why this machine cannot compile for a processor.
    pub fn lacks(&self, processor: &str) -> Option<String> {
        let Some(known) = Processor::read(processor) else {
            return Some(format!("`{processor}` is no processor"));
        };
        if known.by_clang && self.clang.is_none() {
            return Some("there is no clang for RISC-V".into());
        }
        let emulator = self.runner(known.is_64());
        let there = !known.is_64() || run(Command::new(&emulator).arg("--version")).is_ok();
        (!there).then(|| format!("there is no {}", emulator.display()))
    }

    /// The emulator of programs for 32 or 64 bits.
    fn runner(&self, is_64: bool) -> PathBuf {
        let name = self.runner.file_name().unwrap_or_default().to_string_lossy();
        match is_64 {
            true => self.runner.with_file_name(name.replace("riscv32", "riscv64")),
            false => self.runner.clone(),
        }
    }

    /// A compile command for a processor; `bare.h` is on its path.
    fn command(&self, processor: Processor, flags: &[&str]) -> Command {
        let (bits, abi) = if processor.is_64() { (64, "lp64") } else { (32, "ilp32") };
        let mut command = match self.clang.as_ref().filter(|_| processor.by_clang) {
            Some(clang) => {
                let mut command = Command::new(clang);
                command.arg(format!("--target=riscv{bits}-unknown-elf")).arg("-ffreestanding");
                command
            }
            None => {
                let mut command = self.machine.compile();
                command.arg(GCC);
                command
            }
        };
        command.arg(format!("-march={}", processor.march)).arg(format!("-mabi={abi}"));
        command.args(FLAGS).args(flags).arg("-I").arg(self.folder.path());
        command
    }

    /// Compiles a file to an object.
    ///
    /// # Errors
    /// The messages of the compiler, or its absence.
    pub fn compile(
        &self,
        processor: &str,
        flags: &[&str],
        file: &Path,
        to: &Path,
    ) -> Result<(), String> {
        if let Some(why) = self.lacks(processor) {
            return Err(why);
        }
        let processor = Processor::read(processor).expect("it lacks nothing");
        run(self.command(processor, flags).arg("-c").arg(file).arg("-o").arg(to)).map(drop)
    }

    /// Links C files and objects to a program, without unused sections.
    ///
    /// # Errors
    /// The messages of the compiler, or its absence.
    pub fn link(
        &self,
        processor: &str,
        flags: &[&str],
        files: &[PathBuf],
        to: &Path,
    ) -> Result<(), String> {
        if let Some(why) = self.lacks(processor) {
            return Err(why);
        }
        let known = Processor::read(processor).expect("it lacks nothing");
        let mut objects = files.to_vec();
        if known.by_clang {
            for (at, file) in objects.iter_mut().enumerate() {
                if file.extension().is_some_and(|ending| ending == "c") {
                    let object = to.with_extension(format!("{at}.o"));
                    self.compile(processor, flags, file, &object)?;
                    *file = object;
                }
            }
        }
        // Linkers for both are parts of gcc.
        let mut command = self.command(Processor { by_clang: false, ..known }, flags);
        let own = &self.own[usize::from(known.is_64())];
        command.args(&objects).args(["-Wl,--gc-sections", own, "-o"]).arg(to);
        run(&mut command).map(drop)
    }

    /// Runs a program and returns its counts between marks.
    ///
    /// # Errors
    /// The program fails, or its output is malformed.
    pub fn run(&self, program: &Path) -> Result<Vec<Part>, String> {
        let data = fs::read(program).map_err(|error| format!("{}: {error}", program.display()))?;
        let is_64 = object::File::parse(&*data).is_ok_and(|file| file.is_64());
        let mut command = Command::new(self.runner(is_64));
        command.arg("-plugin").arg(self.folder.path().join("count.so")).arg(program);
        let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(match errors.trim() {
                "" => "the program failed".into(),
                _ if errors.starts_with("mark ") => "it computes something else".into(),
                text => text.to_string(),
            });
        }
        let marks = errors.lines().filter_map(|line| match *words(line) {
            ["mark", number, count] if number != "0" => count.parse().ok(),
            _ => None,
        });
        let text = String::from_utf8_lossy(&output.stdout);
        let stacks = text.lines().filter_map(|line| match *words(line) {
            [name, stack] => Some((name.to_string(), stack.parse().ok()?)),
            _ => None,
        });
        let parts = stacks.zip(marks);
        let part = |((name, stack), instructions)| Part { name, instructions, stack };
        let parts: Vec<Part> = parts.map(part).collect();
        if parts.is_empty() { Err("the program said nothing".into()) } else { Ok(parts) }
    }
}

fn words(line: &str) -> Box<[&str]> {
    line.split_whitespace().collect()
}

/// The size of a program's code and constants in bytes.
///
/// # Errors
/// The program cannot be read.
pub fn text(program: &Path) -> Result<u64, String> {
    let data = fs::read(program).map_err(|error| format!("{}: {error}", program.display()))?;
    let object = object::File::parse(&*data).map_err(|error| error.to_string())?;
    let constant = |name: &str| name.starts_with(".text") || name.starts_with(".rodata");
    let sections = object.sections().filter(|section| section.name().is_ok_and(constant));
    Ok(sections.map(|section| section.size()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An independent count: the emulator logs one line per instruction.
    fn lines(counter: &Counter, is_64: bool, program: &Path) -> Option<usize> {
        let log = program.with_extension("log");
        for single in ["-singlestep", "-one-insn-per-tb"] {
            let mut command = Command::new(counter.runner(is_64));
            command.args([single, "-d", "exec,nochain", "-D"]).arg(&log).arg(program);
            if run(&mut command).is_ok() {
                let text = fs::read_to_string(&log).expect("it was just written");
                return Some(text.lines().filter(|line| line.starts_with("Trace")).count());
            }
        }
        None
    }

    #[test]
    fn each_instruction_counts_once() {
        let counter = match Counter::find() {
            Ok(counter) => counter,
            Err(why) => {
                println!("skipped instructions on RISC-V: {why}");
                return;
            }
        };
        // Loops, calls and branches.
        let program = |turns: u32| {
            format!(
                "#include \"bare.h\"\n\
                 static int work(void) {{ unsigned i; mark(0);\n\
                 for (i = 0; i < {turns}; i++) if (i % 3) __asm__ volatile(\"nop\");\n\
                 mark(1); say(\"loop\", 1); return 0; }}\n"
            )
        };
        for processor in ["rv32im", "rv32imac by clang", "rv64imac", "rv64imac by clang"] {
            if let Some(why) = counter.lacks(processor) {
                println!("skipped instructions on {processor}: {why}");
                continue;
            }
            let mut all = Vec::new();
            for turns in [1, 5000] {
                let file = counter.folder.path().join("loop.c");
                fs::write(&file, program(turns)).expect("the folder can be written");
                let to = counter.folder.path().join("loop");
                counter.link(processor, &["-O0"], &[file], &to).expect("it is right");
                let parts = counter.run(&to).expect("it ends");
                let Some(lines) = lines(&counter, processor.starts_with("rv64"), &to) else {
                    println!("skipped: the emulator does not write what it executes");
                    return;
                };
                all.push((parts[0].instructions as usize, lines));
            }
            let [(few, fewer), (many, more)] = all[..] else { panic!("{all:?}") };
            assert!(many > few + 30_000, "{processor}: {all:?}");
            assert_eq!(many - few, more - fewer, "{processor}: {all:?}");
        }
    }

    #[test]
    fn processors_have_a_notation() {
        for good in ["rv32im", "rv64imac", "rv32imc by clang", "rv64im by gcc"] {
            assert!(is_processor(good), "{good}");
        }
        for bad in ["", "rv32", "rv16im", "rv32im by tcc", "rv32im -o x", "rv32IM", "../rv32im"] {
            assert!(!is_processor(bad), "{bad}");
        }
    }
}
