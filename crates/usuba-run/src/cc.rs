//! C compilers and emulators of this machine.
//!
//! For each target [`find`] answers either a [`Machine`], which knows how to compile and run, or
//! a [`Skip`], which says in words what is missing. Nobody decides silently that a target is not
//! worth a test: a caller prints the skips it gets.
//!
//! | target | built by | runs on |
//! |---|---|---|
//! | gp64 | host compiler | host |
//! | gp32 | riscv64-unknown-elf-gcc, without a C library | qemu-riscv32, else host |
//! | sse, avx2, avx512, with GFNI or IFMA or without | host compiler, x86-64 only | host, if the CPU has the instructions |
//! | neon | host compiler on AArch64, else aarch64-linux-gnu-gcc | host, else qemu-aarch64 |
//!
//! The environment overrides each choice: `CC` (host, whatever it is), `GCC`, `CLANG`,
//! `AARCH64_CC`, `QEMU_AARCH64`, `RISCV_CC`, `QEMU_RISCV32`.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use usuba::isa::{self, Target};

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

/// Which compiler family a caller wants on the host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Family {
    /// `CC` if set, else gcc, else clang.
    Any,
    Gcc,
    Clang,
}

/// The environment that a program of a [`Machine`] runs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// A C library and an operating system.
    Hosted,
    /// 32-bit RISC-V Linux system calls and nothing else: no C library, no headers beyond the
    /// compiler's own.
    BareRiscv32,
}

/// How to compile and run for one target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The name of the target.
    pub target: &'static str,
    pub compiler: PathBuf,
    /// Flags that choose the instruction set and the environment; no optimisation level.
    pub cflags: Vec<&'static str>,
    /// The emulator, if the host does not run the program itself.
    pub runner: Option<PathBuf>,
    pub system: System,
}

impl Machine {
    /// Whether programs run on the host's own cores, so that timing them means something.
    pub fn is_native(&self) -> bool {
        self.runner.is_none()
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
                command.arg(program);
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

/// How to build and run `target` here; aliases (`std`, `avx`) are understood.
///
/// # Errors
/// The reason why this machine cannot.
pub fn find(target: &str) -> Result<Machine, Skip> {
    find_with(target, Family::Any)
}

/// As [`find`], with a choice of the host compiler. Cross targets exist for gcc only.
///
/// # Errors
/// The reason why this machine cannot.
pub fn find_with(target: &str, family: Family) -> Result<Machine, Skip> {
    let skip = |why: String| Skip { target: target.to_string(), why };
    let target = isa::find(target).ok_or_else(|| skip("there is no such target".into()))?;
    match target.name {
        "gp32" if family != Family::Clang => riscv32().or_else(|_| host(target, family)),
        "neon" if !cfg!(target_arch = "aarch64") => match family {
            Family::Clang => Err("there is no AArch64 C library set up for clang".to_string()),
            _ => aarch64(),
        },
        _ => host(target, family),
    }
    .map_err(skip)
}

/// How to build and time `target` on the host's own cores, never in an emulator.
///
/// # Errors
/// The reason why this machine cannot.
pub fn find_native(target: &str, family: Family) -> Result<Machine, Skip> {
    let skip = |why: String| Skip { target: target.to_string(), why };
    let target = isa::find(target).ok_or_else(|| skip("there is no such target".into()))?;
    host(target, family).map_err(skip)
}

/// How to compile for `target` on x86-64, whether or not the processor could run it.
///
/// # Errors
/// The reason why this machine cannot.
pub fn find_to_compile(target: &'static Target, family: Family) -> Result<Machine, Skip> {
    let found = match (target.name, cfg!(target_arch = "x86_64")) {
        ("neon", _) => Err("its instruction set is not that of x86-64".to_string()),
        (_, false) => Err("the compilers of this machine are not those for x86-64".to_string()),
        _ => host_compiler(family),
    };
    let compiler = found.map_err(|why| Skip { target: target.name.to_string(), why })?;
    let cflags = target.cflags.to_vec();
    Ok(Machine { target: target.name, compiler, cflags, runner: None, system: System::Hosted })
}

/// Every target with its answer, in the order of [`isa::all`].
pub fn survey() -> Vec<Result<Machine, Skip>> {
    isa::all().map(|target| find(target.name)).collect()
}

/// The host's compiler with the flags of the target, if the processor has what they ask for.
fn host(target: &'static Target, family: Family) -> Result<Machine, String> {
    let features = target.cflags.iter().filter_map(|flag| flag.strip_prefix("-m"));
    let missing: Vec<&str> = features.filter(|feature| !has_feature(feature)).collect();
    if !missing.is_empty() {
        return Err(format!("the processor lacks {}", missing.join(", ")));
    }
    if !may_run(target.name) {
        return Err("the processor has another instruction set".into());
    }
    let compiler = host_compiler(family)?;
    let cflags = target.cflags.to_vec();
    Ok(Machine { target: target.name, compiler, cflags, runner: None, system: System::Hosted })
}

/// Whether a target belongs to the instruction set of the host, or to none.
fn may_run(target: &str) -> bool {
    match target {
        "gp64" | "gp32" => true,
        "neon" => cfg!(target_arch = "aarch64"),
        _ => cfg!(target_arch = "x86_64"),
    }
}

/// Whether the processor has what the compiler flag `-mfeature` lets the compiler use. One line
/// per feature, because the detecting macro takes literals only.
#[cfg(target_arch = "x86_64")]
pub fn has_feature(feature: &str) -> bool {
    match feature {
        "ssse3" => is_x86_feature_detected!("ssse3"),
        "sse4.1" => is_x86_feature_detected!("sse4.1"),
        "sse4.2" => is_x86_feature_detected!("sse4.2"),
        "avx2" => is_x86_feature_detected!("avx2"),
        "adx" => is_x86_feature_detected!("adx"),
        "bmi2" => is_x86_feature_detected!("bmi2"),
        "avx512f" => is_x86_feature_detected!("avx512f"),
        "avx512bw" => is_x86_feature_detected!("avx512bw"),
        "avx512dq" => is_x86_feature_detected!("avx512dq"),
        "avx512vl" => is_x86_feature_detected!("avx512vl"),
        "avx512vbmi" => is_x86_feature_detected!("avx512vbmi"),
        "avx512vbmi2" => is_x86_feature_detected!("avx512vbmi2"),
        "avx512ifma" => is_x86_feature_detected!("avx512ifma"),
        "gfni" => is_x86_feature_detected!("gfni"),
        _ => false,
    }
}

/// Whether the processor has what the compiler flag `-mfeature` lets the compiler use: these are
/// all features of x86.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_feature(_: &str) -> bool {
    false
}

/// The file that a compiler is, links followed.
pub fn real_path(compiler: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(on_path(compiler.as_os_str())?).ok()
}

fn host_compiler(family: Family) -> Result<PathBuf, String> {
    let gcc = || program("GCC", &["gcc"]);
    let clang = || program("CLANG", &["clang", "clang-19", "clang-18", "clang-17"]);
    match family {
        Family::Gcc => gcc(),
        Family::Clang => clang(),
        Family::Any => program("CC", &[]).or_else(|_| gcc()).or_else(|_| clang()),
    }
    .map_err(|names| format!("there is no C compiler ({names})"))
}

fn aarch64() -> Result<Machine, String> {
    let compiler = program("AARCH64_CC", &["aarch64-linux-gnu-gcc"])
        .map_err(|names| format!("there is no AArch64 compiler ({names})"))?;
    let runner = program("QEMU_AARCH64", &["qemu-aarch64", "qemu-aarch64-static"])
        .map_err(|names| format!("there is no AArch64 emulator ({names})"))?;
    // Static, so that the emulator needs no sysroot.
    let cflags = vec!["-static"];
    Ok(Machine { target: "neon", compiler, cflags, runner: Some(runner), system: System::Hosted })
}

fn riscv32() -> Result<Machine, String> {
    let compiler = program("RISCV_CC", &["riscv64-unknown-elf-gcc", "riscv32-unknown-elf-gcc"])
        .map_err(|names| format!("there is no RISC-V compiler ({names})"))?;
    let runner = program("QEMU_RISCV32", &["qemu-riscv32", "qemu-riscv32-static"])
        .map_err(|names| format!("there is no RISC-V emulator ({names})"))?;
    let system = System::BareRiscv32;
    // Relaxation moves data after it has chosen which of it the global pointer reaches, and large
    // batches then fail to link.
    let cflags = vec![
        "-march=rv32im",
        "-mabi=ilp32",
        "-ffreestanding",
        "-nostdlib",
        "-nostartfiles",
        "-Wl,--no-relax",
    ];
    Ok(Machine { target: "gp32", compiler, cflags, runner: Some(runner), system })
}

/// What a command prints.
///
/// # Errors
/// What it prints as an error, if it fails.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = Cache::user().run(command);
    let output = output.map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
    }
}

/// The program that `variable` names, else the first of `names` that the path has. The error
/// lists what was looked for.
fn program(variable: &str, names: &[&str]) -> Result<PathBuf, String> {
    if let Some(choice) = env::var_os(variable).filter(|choice| !choice.is_empty()) {
        return on_path(&choice)
            .ok_or_else(|| format!("{variable} names {choice:?}, which is not there"));
    }
    let found = names.iter().find_map(|name| on_path(OsStr::new(name)));
    found.ok_or_else(|| format!("looked for {}", names.join(", ")))
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
        let skip = find("altivec").expect_err("no such target");
        assert_eq!(skip.to_string(), "skipped altivec: there is no such target");
    }

    /// A flag that `has_feature` has never heard of would skip a target everywhere.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_flag_of_the_targets_is_known() {
        for flag in isa::all().flat_map(|target| target.cflags) {
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
