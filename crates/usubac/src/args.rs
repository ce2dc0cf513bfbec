//! The command line.
//!
//! It has many lines because every flag stands here once, with what its help shows.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use usuba::ir::Slicing;
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::passes::{self, PassOptions, Schedule, When, inline, interleave, unroll};
use usuba::target::cpu::{self, Cpu};
use usuba::target::{self, Target};
use usuba::typed::Flags;

use crate::Failure;
use crate::report::{Color, Format};

/// Compiles Usuba programs (sliced, constant-time symmetric cryptography) to C.
#[derive(Parser, Debug)]
#[command(
    name = "usubac",
    version,
    disable_version_flag = true,
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "COMMAND",
    after_help = "Long flags may be written with one dash, as in -arch avx2.\n\
                  Exit status: 0 done, 1 errors in the program, 2 wrong usage, 3 answers differ, \
                  101 a fault of usubac itself."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub compile: Compile,
    /// Explain an error code, such as U0201
    #[arg(long, value_name = "CODE", exclusive = true)]
    pub explain: Option<String>,
    /// List what exists, one item a line
    #[arg(long, value_enum, value_name = "WHAT", exclusive = true)]
    pub print: Option<Print>,
    #[command(flatten)]
    pub report: Report,
    /// Print the version
    #[arg(long, action = ArgAction::Version)]
    version: Option<bool>,
}

#[derive(Args, Clone, Copy, Debug)]
pub struct Report {
    /// How errors and warnings are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, global = true)]
    pub error_format: Format,
    /// When they are coloured
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, global = true)]
    pub color: Color,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Check a program without compiling it
    Check(Check),
    /// Bring programs into the house style
    Fmt(Fmt),
    /// Run a program on one input
    Run(Run),
    /// Verify and time cipher folders on every target of this machine
    Bench(Bench),
    /// The same for two ciphers, to see that everything works
    Demo(Bench),
    /// Explain an error code
    Explain {
        /// Such as U0201
        code: String,
    },
    /// Write the headers that code from `-abi usubac` includes into a folder
    Headers {
        /// Made if it is not there; headers of the same names in it are replaced
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Refused by name: a program called `prove` is not meant
    #[command(hide = true, disable_help_flag = true)]
    Prove(Later),
    #[command(hide = true, disable_help_flag = true)]
    Tune(Later),
    /// Write the completions of a shell to standard output
    Completions { shell: clap_complete::Shell },
    /// Write the manual page to standard output
    Man,
}

#[derive(Args, Clone, Debug)]
pub struct Bench {
    /// Names of cipher folders [default: all; for `demo` rectangle and serpent]
    #[arg(value_name = "CIPHER")]
    pub ciphers: Vec<String>,
    /// Where the cipher folders are
    #[arg(long, value_name = "DIR", default_value = "ciphers")]
    pub folder: PathBuf,
    /// Only this target; may be repeated
    #[arg(long, alias = "arch", value_name = "TARGET")]
    pub target: Vec<String>,
    /// Only this slicing; may be repeated
    #[arg(long, value_enum, value_name = "SLICING")]
    pub slicing: Vec<Direction>,
    /// Every function, not only the first one of each slicing of a cipher
    #[arg(long)]
    pub all: bool,
    /// Verify only
    #[arg(long)]
    pub no_timing: bool,
}

/// A slicing by its letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Direction {
    #[value(name = "V")]
    V,
    #[value(name = "H")]
    H,
    #[value(name = "B")]
    B,
}

/// The words after a sub-command that this version does not have.
#[derive(Args, Debug)]
pub struct Later {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

#[derive(Args, Debug)]
pub struct Compile {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Where the output goes; `-` is standard output [default: FILE with the ending of the output,
    /// in the working directory]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub emit: Emit,
    /// Also write the header of the kernel to this file
    #[arg(long, value_name = "FILE")]
    pub header: Option<PathBuf>,
    /// Names and shapes of the C function
    #[arg(long, value_enum, value_name = "INTERFACE", default_value_t)]
    pub abi: Abi,
    #[command(flatten)]
    pub language: Language,
    #[command(flatten)]
    pub codegen: Codegen,
    /// Only parse
    #[arg(long, hide = true)]
    pub parse_only: bool,
    /// Only parse and check
    #[arg(long, hide = true)]
    pub type_only: bool,
}

#[derive(Args, Debug)]
pub struct Check {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub language: Language,
}

#[derive(Args, Debug)]
pub struct Fmt {
    /// The programs; `-` reads standard input and writes standard output
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit with status 1 if a file is not in the house style
    #[arg(long)]
    pub check: bool,
}

#[derive(Args, Debug)]
pub struct Run {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub language: Language,
    #[command(flatten)]
    pub codegen: Codegen,
    /// What runs it
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t)]
    pub engine: Engine,
    /// The flattened atoms of the inputs, as a JSON array of numbers and "0x..." strings
    /// [default: derived from the seed]
    #[arg(long, value_name = "JSON")]
    pub input: Option<String>,
    /// What inputs that are not given are derived from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// What a program means, and which part of it.
#[derive(Args, Debug)]
pub struct Language {
    #[command(flatten)]
    slicing: SlicingFlags,
    /// The word size of an entry that leaves it open
    #[arg(short = 'm', value_name = "BITS", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub word: Option<u8>,
    /// The node to compile [default: the last one]
    #[arg(long, value_name = "NODE")]
    pub entry: Option<String>,
    /// Where to look for included files, after the directory of the including file
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Read tables from one word to one word as array look-ups (not constant-time)
    #[arg(long)]
    pub keep_tables: bool,
    /// Read the ten tables that the original compiler knew in its bit order
    #[arg(long)]
    pub legacy_tables: bool,
    /// Treat warnings as errors
    #[arg(short = 'w', long)]
    pub deny_warnings: bool,
}

#[derive(Args, Debug)]
#[group(multiple = false)]
struct SlicingFlags {
    /// Vertical slicing: a word per lane [default]
    #[arg(short = 'V', long)]
    vertical: bool,
    /// Horizontal slicing: the bits of a word along a register
    #[arg(short = 'H', long)]
    horizontal: bool,
    /// Bitslicing: a bit per register
    #[arg(short = 'B', long)]
    bitslice: bool,
}

impl Language {
    /// The flags that change what a program means or accepts.
    pub fn flags(&self) -> Flags {
        Flags { keep_tables: self.keep_tables, legacy_tables: self.legacy_tables }
    }

    /// The slicing that was asked for.
    pub fn slicing(&self) -> Option<Slicing> {
        match &self.slicing {
            SlicingFlags { vertical: true, .. } => Some(Slicing::V),
            SlicingFlags { horizontal: true, .. } => Some(Slicing::H),
            SlicingFlags { bitslice: true, .. } => Some(Slicing::B),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Emit {
    /// The program in the house style
    Ast,
    /// Usuba0 after all passes, which is Usuba again
    U0,
    /// The kernel in C
    #[default]
    C,
    /// The header of the kernel
    H,
    /// The interface of the kernel and its operation counts
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Abi {
    /// Ours: one pointer to registers for each port
    #[default]
    Usuba,
    /// That of the original compiler, with the headers that `usubac headers` writes
    Usubac,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Engine {
    /// The meaning of the language
    #[default]
    Eval,
    /// The interpreter of Usuba0, after slicing and all passes
    Interp,
    /// The kernel, compiled by the C compiler, with different data in every lane
    Native,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Print {
    /// Instruction sets
    Targets,
    /// Passes in alphabetical order
    Passes,
    /// Processors
    Cpus,
    /// Slicings
    Slicings,
    /// Version and kind of this usubac
    Build,
}

/// How the program becomes code; none of it changes what the program computes.
#[derive(Args, Debug)]
pub struct Codegen {
    /// The instruction set; `native` is the best of this machine
    #[arg(long, value_name = "TARGET", default_value = "gp64", value_parser = parse_target)]
    pub arch: &'static Target,
    /// Whose latencies and ports decide between orders of the same code; see --print cpus
    #[arg(long, value_name = "CPU", default_value = "generic", value_parser = parse_cpu)]
    pub cpu: &'static Cpu,
    /// Register width of general-purpose code: 32 or 64
    #[arg(long, value_name = "BITS")]
    pub bits_per_reg: Option<u32>,
    /// Optimisation level
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(0..=2))]
    level: u8,
    #[command(flatten)]
    inline: InlineFlags,
    #[command(flatten)]
    unroll: UnrollFlags,
    /// Run independent instances side by side, writing so many equations of each in turn
    #[arg(long, visible_alias = "inter-grain", value_name = "GRAIN",
          value_parser = clap::value_parser!(u32).range(1..))]
    interleave: Option<u32>,
    /// How many instances; nothing without --interleave [default: 2]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=16))]
    inter_factor: Option<u32>,
    #[command(flatten)]
    schedule: ScheduleFlags,
    /// Equations between a definition and its use, if there are others to put there
    #[arg(long, value_name = "COUNT", default_value_t = Schedule::default().window,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    sched_n: u32,
    /// Leave out a pass
    #[arg(long, value_name = "PASS", value_parser = parse_pass)]
    pub skip: Vec<String>,
    /// End the pipeline after a pass
    #[arg(long, value_name = "PASS", value_parser = parse_pass)]
    pub stop_after: Option<String>,
    /// Write the program after a pass to standard error, as Usuba; `lower` is
    /// the program before the first one, `all` is every pass
    #[arg(long, value_name = "PASS", value_parser = parse_pass_or_all)]
    pub print_after: Vec<String>,
    /// Take constant parameters (keys) of bitsliced kernels as registers where they would be
    /// 32-bit masks
    #[arg(long)]
    pub key_registers: bool,
    /// Put before every C name that the linker sees
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = parse_prefix)]
    pub prefix: String,
}

#[derive(Args, Debug)]
#[group(multiple = false)]
struct InlineFlags {
    /// Inline every call
    #[arg(long)]
    inline_all: bool,
    /// Inline all but _no_inline nodes
    #[arg(long)]
    heavy_inline: bool,
    /// Inline only _inline nodes
    #[arg(long)]
    light_inline: bool,
    /// Inline nothing
    #[arg(long)]
    no_inline: bool,
}

#[derive(Args, Debug)]
#[group(multiple = false)]
struct UnrollFlags {
    /// Unroll every loop
    #[arg(long)]
    unroll: bool,
    /// Keep every loop
    #[arg(long)]
    no_unroll: bool,
}

#[derive(Args, Debug)]
struct ScheduleFlags {
    /// Run bitslice-sched and mslice-sched also where they do not pay on the CPU
    #[arg(long, conflicts_with_all = ["no_sched", "no_pre_sched"])]
    sched: bool,
    /// Run neither; --skip pressure also leaves the order of bitsliced code alone
    #[arg(long)]
    no_sched: bool,
    /// Do not run bitslice-sched
    #[arg(long)]
    no_pre_sched: bool,
}

impl Codegen {
    /// The instruction set with the register width that was asked for.
    pub fn target(&self) -> Result<&'static Target, Failure> {
        let Some(bits) = self.bits_per_reg else { return Ok(self.arch) };
        let found = target::ALL.iter().find(|t| !t.simd && !self.arch.simd && t.bits == bits);
        found.copied().ok_or_else(|| {
            Failure::usage(format!(
                "`--bits-per-reg {bits}` does not fit --arch {}; general-purpose registers have \
                 32 or 64 bits, the width of others is part of the target",
                self.arch.name
            ))
        })
    }

    /// How many instances run side by side, in which blocks. As in the original compiler, only the
    /// grain asks for it.
    pub fn interleave(&self) -> interleave::Choice {
        match self.interleave {
            Some(grain) => interleave::Choice { factor: self.inter_factor.unwrap_or(2), grain },
            None => interleave::Choice::default(),
        }
    }

    fn schedule(&self) -> Schedule {
        let (bitslice, mslice) = match self.schedule {
            ScheduleFlags { sched: true, .. } => (When::Always, When::Always),
            ScheduleFlags { no_sched: true, .. } => (When::Never, When::Never),
            ScheduleFlags { no_pre_sched: true, .. } => (When::Never, When::Auto),
            _ => (When::Auto, When::Auto),
        };
        Schedule { bitslice, mslice, window: self.sched_n }
    }

    pub fn pipeline(&self) -> PipelineOptions {
        let inline = match self.inline {
            InlineFlags { inline_all: true, .. } => inline::Mode::All,
            InlineFlags { heavy_inline: true, .. } => inline::Mode::Heavy,
            InlineFlags { light_inline: true, .. } => inline::Mode::Light,
            InlineFlags { no_inline: true, .. } => inline::Mode::None,
            _ => inline::Mode::Auto,
        };
        let unroll = match self.unroll {
            UnrollFlags { unroll: true, .. } => unroll::Mode::All,
            UnrollFlags { no_unroll: true, .. } => unroll::Mode::None,
            _ => unroll::Mode::Auto,
        };
        let level = match self.level {
            0 => Level::O0,
            1 => Level::O1,
            _ => Level::O2,
        };
        PipelineOptions {
            level,
            skip: self.skip.clone(),
            stop_after: self.stop_after.clone(),
            pass: PassOptions {
                inline,
                unroll,
                interleave: self.interleave(),
                schedule: self.schedule(),
                ..PassOptions::default()
            },
        }
    }

    /// The flags that differ from their defaults, for the comment on top of the output.
    pub fn written(&self) -> String {
        let mut text = String::new();
        let mut flag = |on: bool, name: &str| {
            if on {
                text.push_str(" --");
                text.push_str(name);
            }
        };
        flag(self.inline.inline_all, "inline-all");
        flag(self.inline.heavy_inline, "heavy-inline");
        flag(self.inline.light_inline, "light-inline");
        flag(self.inline.no_inline, "no-inline");
        flag(self.unroll.unroll, "unroll");
        flag(self.unroll.no_unroll, "no-unroll");
        let interleave = self.interleave();
        if interleave.factor > 1 {
            flag(true, &format!("interleave {}", interleave.grain));
            flag(true, &format!("inter-factor {}", interleave.factor));
        }
        flag(self.schedule.sched, "sched");
        flag(self.schedule.no_sched, "no-sched");
        flag(self.schedule.no_pre_sched, "no-pre-sched");
        if self.sched_n != Schedule::default().window {
            flag(true, &format!("sched-n {}", self.sched_n));
        }
        for pass in &self.skip {
            flag(true, &format!("skip {pass}"));
        }
        flag(self.key_registers, "key-registers");
        if let Some(pass) = &self.stop_after {
            flag(true, &format!("stop-after {pass}"));
        }
        if self.cpu.name != "generic" {
            flag(true, &format!("cpu {}", self.cpu.name));
        }
        if !self.prefix.is_empty() {
            flag(true, &format!("prefix {}", self.prefix));
        }
        if self.level != 2 {
            text.push_str(&format!(" -O{}", self.level));
        }
        text
    }
}

fn parse_target(name: &str) -> Result<&'static Target, String> {
    let name = if name == "native" { best_here() } else { name };
    target::find(name).ok_or_else(|| {
        let names: Vec<&str> = target::ALL.iter().map(|t| t.name).collect();
        format!("the targets are {} and native", names.join(", "))
    })
}

fn parse_cpu(name: &str) -> Result<&'static Cpu, String> {
    cpu::find(name).ok_or_else(|| {
        let names: Vec<&str> = cpu::ALL.iter().map(|c| c.name).collect();
        format!("the CPUs are {}", names.join(", "))
    })
}

/// The widest instruction set that this machine runs. Its name ends up in the output, which so
/// depends on the machine only if `native` was asked for.
fn best_here() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl");
        if avx512 {
            return "avx512";
        }
        if is_x86_feature_detected!("avx2") {
            return "avx2";
        }
        if is_x86_feature_detected!("sse4.1") {
            return "sse";
        }
    }
    match () {
        () if cfg!(target_arch = "aarch64") => "neon",
        () if cfg!(target_pointer_width = "64") => "gp64",
        () => "gp32",
    }
}

fn parse_pass(name: &str) -> Result<String, String> {
    match passes::find(name) {
        Some(pass) => Ok(pass.name.to_string()),
        None => {
            let names: Vec<&str> = passes::ALL.iter().map(|p| p.name).collect();
            Err(format!("the passes are {}", names.join(", ")))
        }
    }
}

fn parse_pass_or_all(name: &str) -> Result<String, String> {
    if name == "all" || name == "lower" { Ok(name.to_string()) } else { parse_pass(name) }
}

fn parse_prefix(text: &str) -> Result<String, String> {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fits = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match text.is_empty() || starts && fits {
        true => Ok(text.to_string()),
        false => Err("a prefix is made of letters, digits and `_`, and begins no number".into()),
    }
}

/// The form of messages that a command line asks for, right or wrong as it may be otherwise.
pub fn error_format() -> Format {
    let mut words = std::env::args_os().skip(1).take_while(|word| word != "--");
    let mut format = Format::default();
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        let value = match word.trim_start_matches('-').split_once('=') {
            Some(("error-format", value)) => Some(value.to_string()),
            None if word == "--error-format" || word == "-error-format" => {
                words.next().map(|value| value.to_string_lossy().into_owned())
            }
            _ => None,
        };
        if let Some(found) = value.and_then(|value| Format::from_str(&value, false).ok()) {
            format = found;
        }
    }
    format
}

/// Parses the command line of this process; help and version end it, and so do mistakes that are
/// reported to people.
pub fn parse(format: Format) -> Result<Cli, Failure> {
    let mut command = Cli::command();
    command.build();
    let long: Vec<String> = std::iter::once(&command)
        .chain(command.get_subcommands())
        .flat_map(|c| c.get_arguments())
        .filter_map(|a| a.get_long().map(str::to_string))
        .collect();
    let known = |name: &str| long.iter().any(|l| l == name);
    let args = crate::legacy::rewrite(std::env::args_os(), known)?;
    Cli::try_parse_from(args).map_err(|error| {
        if !error.use_stderr() || format == Format::Human {
            error.exit();
        }
        let text = error.to_string();
        // What follows the first empty line is advice for people.
        let message = text.split("\n\n").next().unwrap_or_default();
        let words: Vec<&str> = message.split_whitespace().collect();
        let message = words.join(" ");
        Failure::usage(message.strip_prefix("error: ").unwrap_or(&message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
