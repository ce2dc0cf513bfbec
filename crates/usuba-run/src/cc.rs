//! Discovery of the C compilers and emulators on this machine.
//!
//! For each target [`find`] returns a [`Machine`], which compiles and runs programs, or a [`Skip`]
//! with the missing tool. No test skips a target silently: the caller prints each skip.
//!
//! The tables of `usuba::isa` list the hosts that run a target's code, and the compiler and
//! emulator for all other hosts.
//!
//! Environment variables override each choice: `CC` (the host compiler), `GCC`, `CLANG`, and the
//! variables of the tables.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use usuba::isa::System;
use usuba::isa::{self, Cross, Target, Tool};

use crate::objects::Cache;

/// A target that this machine cannot build or run, and the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skip {
    pub target: String,
    pub why: String,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skipped {}: {}", self.target, self.why)
    }
}

/// The compiler family on the host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Family {
    /// `CC` if set, else gcc, else clang.
    Any,
    Gcc,
    Clang,
}

/// The compiler and emulator of one target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The name of the target.
    pub target: &'static str,
    pub compiler: PathBuf,
    /// Flags that select the instruction set and the environment, without an optimisation level.
    pub cflags: Vec<&'static str>,
    /// The emulator, if the host cannot run the program itself.
    pub runner: Option<PathBuf>,
    /// Arguments of the emulator before the program.
    pub arguments: &'static [&'static str],
    pub system: System,
}

impl Machine {
    /// The first line of the compiler's version output.
    pub fn version(&self) -> String {
        let output = Command::new(&self.compiler).arg("--version").output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        text.unwrap_or_default().lines().next().unwrap_or("unknown").to_string()
    }

    /// Whether programs run on the host's own cores, and are made for them, so that timings are
    /// meaningful.
    pub fn is_native(&self) -> bool {
        let target = isa::find(self.target);
        let is_of_device = target.is_some_and(|target| target.processor.device.is_some());
        self.runner.is_none() && !is_of_device
    }

    /// Whether the compiler also compiles C++; a cross compiler often comes without.
    pub fn has_cxx(&self) -> bool {
        let mut command = self.compile();
        command.args(["-x", "c++", "-fsyntax-only", "-"]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// A compiler command with the flags of the target.
    pub fn compile(&self) -> Command {
        let mut command = Command::new(&self.compiler);
        command.args(&self.cflags);
        command
    }

    /// The command that runs `program`.
    pub fn command(&self, program: &Path) -> Command {
        match &self.runner {
            Some(runner) => {
                let mut command = Command::new(runner);
                command.args(self.arguments).arg(program);
                command
            }
            None => Command::new(program),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        write!(f, "{} by {}", self.target, name(&self.compiler))?;
        match &self.runner {
            Some(runner) => write!(f, " on {}", name(runner)),
            None => Ok(()),
        }
    }
}

/// Finds the compiler and emulator of `target`; aliases (`std`, `avx`) are understood.
///
/// # Errors
/// The reason why this machine has none.
pub fn find(target: &str) -> Result<Machine, Skip> {
    find_with(target, Family::Any)
}

/// Like [`find`], with a choice of the host compiler. Cross targets exist for gcc only.
///
/// # Errors
/// The reason why this machine has none.
pub fn find_with(target: &str, family: Family) -> Result<Machine, Skip> {
    let skip = |why: String| Skip { target: target.to_string(), why };
    let target = isa::find(target).ok_or_else(|| skip("there is no such target".into()))?;
    let is_of_host = is_of_host(target);
    let found = match target.processor.cross {
        None => host(target, family),
        Some(cross) if is_of_host && target.processor.hosts.is_empty() => {
            across(target, cross, family).or_else(|_| host(target, family))
        }
        Some(_) if is_of_host => host(target, family),
        Some(cross) => across(target, cross, family),
    };
    found.map_err(skip)
}

/// Finds the compiler of `target` for timings on the host's own cores, never in an emulator.
///
/// # Errors
/// The reason why this machine has none.
pub fn find_native(target: &str, family: Family) -> Result<Machine, Skip> {
    let skip = |why: String| Skip { target: target.to_string(), why };
    let target = isa::find(target).ok_or_else(|| skip("there is no such target".into()))?;
    if target.processor.device.is_some() {
        return Err(skip("a host tells nothing about its speed; scripts/gpu measures it".into()));
    }
    host(target, family).map_err(skip)
}

/// Finds a compiler for `target` on x86-64, whether or not the processor could run the code.
///
/// # Errors
/// The reason why this machine has none.
pub fn find_to_compile(target: &'static Target, family: Family) -> Result<Machine, Skip> {
    let here = target.processor.runs_on("x86_64") && target.processor.device.is_none();
    let found = match (here, cfg!(target_arch = "x86_64")) {
        (false, _) => Err("its instruction set is not that of x86-64".to_string()),
        (_, false) => Err("the compilers of this machine are not those for x86-64".to_string()),
        _ => host_compiler(family),
    };
    let compiler = found.map_err(|why| Skip { target: target.name.to_string(), why })?;
    Ok(hosted(target, compiler))
}

/// Processors of other machines that the prover has a model of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Foreign {
    /// RV32IM, for the C of general-purpose registers of 32 bits.
    Riscv,
    /// AArch64, for the C of Advanced SIMD and of general-purpose registers of 64 bits.
    Aarch64,
}

impl Foreign {
    pub const ALL: [Foreign; 2] = [Foreign::Riscv, Foreign::Aarch64];

    /// The start of the names of compilers for it.
    pub fn prefix(self) -> &'static str {
        match self {
            Foreign::Riscv => "riscv-",
            Foreign::Aarch64 => "aarch64-",
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Foreign::Riscv => "RISC-V",
            Foreign::Aarch64 => "AArch64",
        }
    }

    /// The targets whose C can be compiled for it, in words.
    pub fn targets(self) -> &'static str {
        match self {
            Foreign::Riscv => "gp32 has",
            Foreign::Aarch64 => "neon and gp64 have",
        }
    }

    /// The environment variable that names its gcc.
    pub fn variable(self) -> &'static str {
        match self {
            Foreign::Riscv => "RISCV_CC",
            Foreign::Aarch64 => "AARCH64_CC",
        }
    }

    /// Flags of clang for it.
    fn clang(self) -> &'static [&'static str] {
        match self {
            Foreign::Riscv => {
                &["--target=riscv32-unknown-elf", "-march=rv32im", "-mabi=ilp32", "-ffreestanding"]
            }
            Foreign::Aarch64 => &["--target=aarch64-linux-gnu", "-ffreestanding"],
        }
    }

    /// Flags of both compilers: objects of RISC-V have no instruction that the linker replaces.
    fn own(self) -> &'static [&'static str] {
        match self {
            Foreign::Riscv => &["-mno-relax"],
            Foreign::Aarch64 => &[],
        }
    }

    /// Whether the C of a target can be compiled for it.
    pub fn compiles(self, target: &Target) -> bool {
        self.toolchain(target).is_some()
    }

    fn toolchain(self, target: &Target) -> Option<&'static Cross> {
        let own = target.processor.cross;
        match self {
            Foreign::Riscv => own.filter(|cross| cross.system == System::BareRiscv32),
            Foreign::Aarch64 => {
                const HOST: &str = "aarch64";
                let is_plain = own.is_none() && target.bits == 64 && !target.simd;
                let all = isa::all().filter(|other| other.processor.hosts == [HOST]);
                let cross = all.filter_map(|other| other.processor.cross).next();
                let is_fit = target.processor.runs_on(HOST)
                    && (is_plain || target.processor.hosts == [HOST]);
                cross.filter(|_| is_fit)
            }
        }
    }
}

/// The compiler of a family for another machine.
///
/// # Errors
/// The reason why this machine has none.
pub fn find_foreign(
    target: &'static Target,
    foreign: Foreign,
    family: Family,
) -> Result<Machine, Skip> {
    let skip = |why: String| Skip { target: target.name.to_string(), why };
    let other = || skip(format!("its C is not for {}", foreign.name()));
    let cross = foreign.toolchain(target).ok_or_else(other)?;
    let (compiler, cflags) = match family {
        Family::Clang => (host_compiler(family).map_err(skip)?, foreign.clang()),
        _ => {
            let Tool { variable, names, about, .. } = cross.compiler;
            let found = program(variable, names);
            (found.map_err(|names| skip(format!("there is no {about} ({names})")))?, cross.cflags)
        }
    };
    let cflags = [cflags, target.cflags, foreign.own()].concat();
    Ok(Machine { cflags, ..hosted(target, compiler) })
}

/// The result of [`find`] for every target, in the order of [`isa::all`].
pub fn survey() -> Vec<Result<Machine, Skip>> {
    isa::all().map(|target| find(target.name)).collect()
}

/// Whether the host's processor has the instructions of `target`.
pub fn runs_here(target: &Target) -> bool {
    is_of_host(target) && missing(target).is_empty()
}

/// Whether the host's processor is one of the target's family. Vectors are little-endian.
fn is_of_host(target: &Target) -> bool {
    let order = !target.simd || cfg!(target_endian = "little");
    order && target.processor.runs_on(env::consts::ARCH)
}

/// The features in the flags of a target that the host's processor lacks.
fn missing(target: &Target) -> Vec<&'static str> {
    let features = target.cflags.iter().filter_map(|flag| flag.strip_prefix("-m"));
    features.filter(|feature| !has_feature(feature)).collect()
}

/// The host's compiler with the flags of the target, if the processor has all required features.
fn host(target: &'static Target, family: Family) -> Result<Machine, String> {
    if !is_of_host(target) {
        return Err("the processor has another instruction set".into());
    }
    match missing(target)[..] {
        [] => Ok(hosted(target, host_compiler(family)?)),
        ref missing => Err(format!("the processor lacks {}", missing.join(", "))),
    }
}

fn hosted(target: &'static Target, compiler: PathBuf) -> Machine {
    let cflags = target.cflags.to_vec();
    let system = System::Hosted;
    Machine { target: target.name, compiler, cflags, runner: None, arguments: &[], system }
}

/// Whether the processor has the feature that the compiler flag `-mfeature` enables. One line per
/// feature, because the detecting macro takes literals only.
#[cfg(target_arch = "x86_64")]
pub fn has_feature(feature: &str) -> bool {
    match feature {
        "ssse3" => is_x86_feature_detected!("ssse3"),
        "sse4.1" => is_x86_feature_detected!("sse4.1"),
        "sse4.2" => is_x86_feature_detected!("sse4.2"),
        "avx2" => is_x86_feature_detected!("avx2"),
        "adx" => is_x86_feature_detected!("adx"),
        "bmi" => is_x86_feature_detected!("bmi1"),
        "bmi2" => is_x86_feature_detected!("bmi2"),
        "avx512f" => is_x86_feature_detected!("avx512f"),
        "avx512bw" => is_x86_feature_detected!("avx512bw"),
        "avx512dq" => is_x86_feature_detected!("avx512dq"),
        "avx512vl" => is_x86_feature_detected!("avx512vl"),
        "avx512vbmi" => is_x86_feature_detected!("avx512vbmi"),
        "avx512vbmi2" => is_x86_feature_detected!("avx512vbmi2"),
        "avx512ifma" => is_x86_feature_detected!("avx512ifma"),
        "gfni" => is_x86_feature_detected!("gfni"),
        "pclmul" => is_x86_feature_detected!("pclmulqdq"),
        "vpclmulqdq" => is_x86_feature_detected!("vpclmulqdq"),
        "aes" => is_x86_feature_detected!("aes"),
        "vaes" => is_x86_feature_detected!("vaes"),
        "sha" => is_x86_feature_detected!("sha"),
        _ => false,
    }
}

/// Whether the processor has the feature that the compiler flag `-mfeature` enables; all of these
/// are x86 features.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_feature(_: &str) -> bool {
    false
}

/// The executable of a compiler, with links resolved.
pub fn real_path(compiler: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(on_path(compiler.as_os_str())?).ok()
}

fn host_compiler(family: Family) -> Result<PathBuf, String> {
    const CHOICES: [(&str, &[&str]); 3] =
        [("CC", &[]), ("GCC", &["gcc"]), ("CLANG", &["clang", "clang-19", "clang-18", "clang-17"])];
    let choices = match family {
        Family::Any => &CHOICES[..],
        Family::Gcc => &CHOICES[1..2],
        Family::Clang => &CHOICES[2..],
    };
    let mut reasons = Vec::new();
    for (variable, names) in choices {
        match program(variable, names) {
            Ok(compiler) => return Ok(compiler),
            Err(why) => reasons.extend(Some(why).filter(|why| !why.is_empty())),
        }
    }
    let (variable, reasons) = (choices[0].0, reasons.join("; "));
    Err(format!("there is no C compiler ({reasons}); help: set {variable} to the path of one"))
}

/// A cross compiler and an emulator. Each target has one cross compiler of each family.
fn across(target: &'static Target, cross: &Cross, family: Family) -> Result<Machine, String> {
    let other = if cross.clang { Family::Gcc } else { Family::Clang };
    if family == other {
        let name = if cross.clang { "gcc" } else { "clang" };
        return Err(format!("there is no {} C library set up for {name}", target.processor.name));
    }
    let find = |tool: &Tool| {
        program(tool.variable, tool.names)
            .map_err(|names| format!("there is no {} ({names})", tool.about))
    };
    Ok(Machine {
        target: target.name,
        compiler: find(&cross.compiler)?,
        cflags: [cross.cflags, target.cflags].concat(),
        runner: Some(find(&cross.emulator)?),
        arguments: cross.arguments,
        system: cross.system,
    })
}

/// Runs a command and returns its standard output.
///
/// # Errors
/// The command fails; the message is its standard error.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = Cache::user().run(command);
    let output = output.map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
    }
}

/// The program that `variable` names, else the first of `names` on the path. The error lists the
/// names, and is empty if there are none.
fn program(variable: &str, names: &[&str]) -> Result<PathBuf, String> {
    if let Some(choice) = env::var_os(variable).filter(|choice| !choice.is_empty()) {
        return on_path(&choice)
            .ok_or_else(|| format!("{variable} names {choice:?}, which is not there"));
    }
    let found = names.iter().find_map(|name| on_path(OsStr::new(name)));
    found.ok_or_else(|| match names {
        [] => String::new(),
        _ => format!("looked for {}", names.join(", ")),
    })
}

fn on_path(name: &OsStr) -> Option<PathBuf> {
    let direct = Path::new(name);
    if direct.components().count() > 1 {
        return direct.is_file().then(|| direct.to_path_buf());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_an_answer() {
        for (target, answer) in isa::all().zip(survey()) {
            match answer {
                Ok(machine) => assert_eq!(machine.target, target.name),
                Err(skip) => assert!(!skip.why.is_empty() && skip.target == target.name),
            }
        }
    }

    #[test]
    fn aliases_and_unknown_names() {
        assert_eq!(find("std"), find("gp64"));
        let skip = find("mmx").expect_err("no such target");
        assert_eq!(skip.to_string(), "skipped mmx: there is no such target");
    }

    /// A target with a flag unknown to `has_feature` would be skipped on every machine.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_flag_of_the_targets_is_known() {
        let native = isa::all().filter(|target| target.processor.runs_on("x86_64"));
        for flag in native.flat_map(|target| target.cflags) {
            let feature = flag.strip_prefix("-m").expect("only features");
            let source = include_str!("cc.rs");
            assert!(source.contains(&format!("is_x86_feature_detected!(\"{feature}\")")), "{flag}");
        }
    }

    #[test]
    fn a_missing_program_is_named() {
        let why = program("USUBA_LAB_UNSET_VARIABLE", &["no-such-compiler"]);
        assert_eq!(why, Err("looked for no-such-compiler".to_string()));
    }
}
