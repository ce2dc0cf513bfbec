//! The command line. Above 600 lines because it declares every flag with its help and its
//! semantics.
//!
//! - `bench`: the flags of `usubac bench`.
//! - `ciphers`: the flags of `usubac ciphers`.
//! - `dist`: the flags of `usubac dist`.
//! - `generate`: the flags of `usubac generate`.
//! - `library`: the option that says where ciphers are.
//! - `lints`: the levels of warnings.
//! - `new`: the flags of `usubac new`.
//! - `prove`: the flags of `usubac prove`.
//! - `synth`: the flags of `usubac synth`.
//! - `test`: the flags of `usubac test`.
//! - `tune`: the flags of `usubac tune`, and flags without a program.
//! - `values`: the syntax of the values of flags.

use std::path::PathBuf;

use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use usuba::emit::c::COptions;
use usuba::ir::Slicing;
use usuba::isa::cpu::Cpu;
use usuba::isa::{self, Target};
use usuba::lint::Levels;
use usuba::passes::pipeline::{Level, PipelineOptions};
use usuba::passes::{PassOptions, Schedule, When, inline, interleave, unroll};
use usuba::typed::Flags;

use crate::Failure;
use crate::output::to_stderr;
use crate::report::{Color, Format, warning};

mod bench;
mod ciphers;
mod dist;
mod generate;
mod library;
mod lints;
mod new;
pub mod prove;
mod synth;
mod test;
mod tune;
mod values;

pub use bench::{Bench, Compiler, pipeline};
pub use ciphers::{Ciphers, Query, Table};
pub use dist::Dist;
pub use generate::{Generate, Generated};
pub use library::Folder;
use lints::Lints;
pub use new::{Kind, New};
pub use prove::Prove;
pub use synth::{Shape, Synth};
pub use test::{Test, Written};
pub use tune::{Goal, Tune, certified_flags, codegen, tuned_flags};
pub use values::best_for_long_words;
use values::{parse_arch, parse_cpu, parse_pass, parse_pass_or_all, parse_prefix, parse_slug};

/// Compiles Usuba programs (sliced, constant-time symmetric cryptography) to C.
#[derive(Parser, Debug)]
#[command(
    name = "usubac",
    version = env!("USUBAC_VERSION"),
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
    /// List everything of one kind, one item a line
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
    /// Write a folder for a cipher, to begin with
    New(New),
    /// Compare cipher folders with their test vectors, by the reference semantics and by compiled C
    Test(Test),
    /// Verify and time cipher folders on every target of this machine
    Bench(Bench),
    /// The same for two ciphers, to see that everything works
    Demo(Bench),
    /// Choose flags for a program by measuring on this machine; later compiles use them
    Tune(Tune),
    /// Prove that a compilation preserves the semantics of its source
    Prove(Box<Prove>),
    /// Write ciphers as C files to embed, or as a library
    Dist(Dist),
    /// Search small circuits for tables, or few xors for a matrix
    Synth(Synth),
    /// Explain an error code
    Explain {
        /// Such as U0201
        code: String,
    },
    /// List, show and copy ciphers
    Ciphers(Ciphers),
    /// Write manual pages, completions of shells, or headers into a folder
    Generate(Generate),
    /// Write the headers that code from `-abi usubac` includes into a folder
    #[command(hide = true)]
    Headers {
        /// Made if it is not there; headers of the same names in it are replaced
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Write the completions of a shell to standard output
    #[command(hide = true)]
    Completions { shell: clap_complete::Shell },
    /// Write the manual page to standard output
    #[command(hide = true)]
    Man,
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
    #[value(name = "W")]
    W,
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
    /// The form of the output
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
    /// Use the flags that `usubac tune` found for this processor, as its file tuned/TARGET-CPU.toml
    /// beside the program calls it [default: the only file of the target; for --arch native the
    /// file of this machine]
    #[arg(long, value_name = "CPU", value_parser = parse_slug)]
    pub tuned: Option<String>,
    /// Ignore the flags that `usubac tune` found
    #[arg(long, conflicts_with = "tuned")]
    pub no_tuned: bool,
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
    /// Apply the edits of warnings that have exactly one repair to the file
    #[arg(long)]
    pub fix: bool,
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
    /// The engine that runs it
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t)]
    pub engine: Engine,
    /// The flattened atoms of the inputs, as a JSON array of numbers and "0x..." strings
    /// [default: derived from the seed]
    #[arg(long, value_name = "JSON")]
    pub input: Option<String>,
    /// The seed of inputs that are not given
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// The semantics of a program, and which part of it to take.
#[derive(Args, Clone, Debug)]
pub struct Language {
    #[command(flatten)]
    slicing: SlicingFlags,
    /// The word size of an entry that leaves it open
    #[arg(short = 'm', value_name = "BITS", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub word: Option<u8>,
    /// The node to compile, with its index, nats and word sizes as in `f<1>(10, 'm=32)`
    /// [default: the last one]
    #[arg(long, value_name = "NODE")]
    pub entry: Option<String>,
    /// Where to look for included files, after the directory of the including file
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Read tables from one word to one word as array look-ups (not constant-time)
    #[arg(long)]
    pub keep_tables: bool,
    /// Read the ten tables that the OCaml compiler knew in its bit order
    #[arg(long)]
    pub legacy_tables: bool,
    /// Treat warnings as errors
    #[arg(short = 'w', long)]
    pub deny_warnings: bool,
    #[command(flatten)]
    lints: Lints,
}

#[derive(Args, Clone, Debug)]
#[group(multiple = false)]
#[allow(rustdoc::broken_intra_doc_links)] // The text of the help has a word in brackets.
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
    /// Words in lanes: a register holds the words of a block
    #[arg(short = 'W', long)]
    words: bool,
}

impl Language {
    /// The flags that change the semantics of a program or the set of accepted programs.
    pub fn flags(&self) -> Flags {
        Flags { keep_tables: self.keep_tables, legacy_tables: self.legacy_tables }
    }

    /// The levels of warnings.
    pub fn levels(&self) -> Levels {
        self.lints.levels(self.deny_warnings)
    }

    /// The slicing that was asked for.
    pub fn slicing(&self) -> Option<Slicing> {
        self.slicing.chosen()
    }

    /// Asks for a slicing.
    pub fn set_slicing(&mut self, slicing: Slicing) {
        self.slicing = SlicingFlags {
            vertical: slicing == Slicing::V,
            horizontal: slicing == Slicing::H,
            bitslice: slicing == Slicing::B,
            words: slicing == Slicing::W,
        };
    }

    /// The flags that change the semantics of the program, besides the entry.
    pub fn reading(&self) -> String {
        let word = self.word.map(|bits| format!("-m {bits}"));
        let keep = self.keep_tables.then(|| "--keep-tables".to_string());
        let legacy = self.legacy_tables.then(|| "--legacy-tables".to_string());
        [word, keep, legacy].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

impl Language {
    /// Reads the text of [`Language::reading`].
    pub fn read_as(&mut self, reading: &str) -> Result<(), String> {
        (self.word, self.keep_tables, self.legacy_tables) = (None, false, false);
        let mut words = reading.split_whitespace();
        while let Some(word) = words.next() {
            match (word, words.clone().next().map(str::parse)) {
                ("-m", Some(Ok(bits))) => {
                    self.word = Some(bits);
                    words.next();
                }
                ("--keep-tables", _) => self.keep_tables = true,
                ("--legacy-tables", _) => self.legacy_tables = true,
                _ => return Err(format!("`{word}` does not say how a program is read")),
            }
        }
        Ok(())
    }
}

impl SlicingFlags {
    fn chosen(&self) -> Option<Slicing> {
        match self {
            SlicingFlags { vertical: true, .. } => Some(Slicing::V),
            SlicingFlags { horizontal: true, .. } => Some(Slicing::H),
            SlicingFlags { bitslice: true, .. } => Some(Slicing::B),
            SlicingFlags { words: true, .. } => Some(Slicing::W),
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
    /// The interface of the OCaml compiler, with the headers that `usubac headers` writes
    Usubac,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Engine {
    /// The reference semantics of the language
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

/// An instruction set, and whether it was asked for as `native`.
#[derive(Clone, Copy, Debug)]
pub struct Arch {
    pub target: &'static Target,
    pub native: bool,
}

/// How the program becomes code; none of it changes the function of the program.
#[derive(Args, Debug)]
pub struct Codegen {
    /// The instruction set; `native` is the best of this machine
    #[arg(long, value_name = "TARGET", default_value = "gp64", value_parser = parse_arch)]
    pub arch: Arch,
    /// The microarchitecture whose latencies and ports drive scheduling; see --print cpus
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
    #[command(flatten)]
    packing: PackingFlags,
    /// Interleave two instances, or --inter-factor of them, and emit this number of consecutive
    /// equations per instance
    #[arg(long, visible_alias = "inter-grain", value_name = "GRAIN",
          value_parser = clap::value_parser!(u32).range(1..))]
    interleave: Option<u32>,
    /// Interleave factor: instances that one kernel runs; 1 is none [default: chosen by a model,
    /// but 1 below -O2 and with --abi usubac]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=16))]
    inter_factor: Option<u32>,
    /// Measure on this machine which interleave factor is fastest
    #[arg(long, conflicts_with_all = ["inter_factor"])]
    pub auto_interleave: bool,
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
    /// Clear the stack below the kernel and all registers that are not the caller's before it
    /// returns
    #[arg(long)]
    pub wipe: bool,
    /// Call these nodes as kernels of their own, which are compiled to other files with the same
    /// prefix
    #[arg(long, value_name = "NODES", value_delimiter = ',')]
    pub link: Vec<String>,
    /// Prove after each pass that the program still computes the same function
    #[arg(long)]
    pub prove: bool,
    /// The prefix of every C name that the linker sees
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = parse_prefix)]
    pub prefix: String,
}

#[derive(Args, Clone, Debug)]
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

#[derive(Args, Clone, Debug)]
#[group(multiple = false)]
struct UnrollFlags {
    /// Unroll every loop
    #[arg(long)]
    unroll: bool,
    /// Keep every loop
    #[arg(long)]
    no_unroll: bool,
    /// Unroll factor of each loop that stays; 1 is none [default: two or more where values would
    /// otherwise only change places]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    unroll_factor: Option<u32>,
}

#[derive(Args, Clone, Debug)]
#[group(multiple = false)]
struct PackingFlags {
    /// Let narrow words of V share a general-purpose register, in the layout of H [default: where
    /// the operators say that it pays, but not below -O2 and with --abi usubac]
    #[arg(long)]
    packed: bool,
    /// Give every word a register
    #[arg(long)]
    no_packed: bool,
}

#[derive(Args, Debug)]
struct ScheduleFlags {
    /// Run bitslice-sched and mslice-sched also where they do not pay on the CPU
    #[arg(long, conflicts_with_all = ["no_sched", "no_pre_sched"])]
    sched: bool,
    /// Run neither; --skip pressure also keeps the schedule of bitsliced code
    #[arg(long)]
    no_sched: bool,
    /// Do not run bitslice-sched
    #[arg(long)]
    no_pre_sched: bool,
}

impl Codegen {
    /// The instruction set with the register width that was asked for.
    pub fn target(&self) -> Result<&'static Target, Failure> {
        let Some(bits) = self.bits_per_reg else { return Ok(self.arch.target) };
        let found = isa::ALL.iter().find(|t| !t.simd && !self.arch.target.simd && t.bits == bits);
        found.copied().ok_or_else(|| {
            Failure::usage(format!(
                "`--bits-per-reg {bits}` does not fit --arch {}; general-purpose registers have \
                 32 or 64 bits, the width of others is part of the target",
                self.arch.target.name
            ))
        })
    }

    /// The interleave factor and the grain. Drivers of the OCaml compiler know the ports that they
    /// pass: there only the grain requests more than one instance.
    fn interleave(&self, abi: Abi) -> interleave::Choice {
        let grain = self.interleave.unwrap_or(interleave::Choice::AUTO.grain);
        let factor = match (self.inter_factor, self.interleave, abi) {
            (_, None, Abi::Usubac) => Some(1),
            (Some(factor), _, _) => Some(factor),
            (None, Some(_), _) => Some(2),
            (None, None, Abi::Usuba) => None,
        };
        interleave::Choice { factor, grain }
    }

    /// Drivers of the OCaml compiler pass words.
    fn packing(&self, abi: Abi) -> When {
        match (&self.packing, abi) {
            (PackingFlags { packed: true, .. }, _) => When::Always,
            (PackingFlags { no_packed: true, .. }, _) | (_, Abi::Usubac) => When::Never,
            _ => When::Auto,
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

    pub fn pipeline(&self, abi: Abi) -> PipelineOptions {
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
            UnrollFlags { unroll_factor: Some(rounds), .. } => unroll::Mode::Rounds(rounds),
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
            packing: self.packing(abi),
            pass: PassOptions {
                inline,
                unroll,
                interleave: self.interleave(abi),
                schedule: self.schedule(),
                ..PassOptions::default()
            },
        }
    }

    /// The options of the C text.
    pub fn text(&self) -> COptions {
        COptions {
            prefix: self.prefix.clone(),
            registers: self.key_registers,
            wipe: self.wipe,
            linked: self.link.clone(),
            ..COptions::default()
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
        if let Some(rounds) = self.unroll.unroll_factor {
            flag(true, &format!("unroll-factor {rounds}"));
        }
        flag(self.packing.packed, "packed");
        flag(self.packing.no_packed, "no-packed");
        if let Some(grain) = self.interleave {
            flag(true, &format!("interleave {grain}"));
        }
        if let Some(factor) = self.inter_factor {
            flag(true, &format!("inter-factor {factor}"));
        }
        flag(self.auto_interleave, "auto-interleave");
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
        flag(self.wipe, "wipe");
        if !self.link.is_empty() {
            flag(true, &format!("link {}", self.link.join(",")));
        }
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

/// The long flags of a command and of its sub-commands.
fn long_flags(command: &clap::Command) -> Vec<String> {
    std::iter::once(command)
        .chain(command.get_subcommands())
        .flat_map(|c| c.get_arguments())
        .flat_map(|a| a.get_long_and_visible_aliases().unwrap_or_default())
        .map(str::to_string)
        .collect()
}

/// The message format that a command line requests, valid or not.
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
    let long = long_flags(&command);
    let known = |name: &str| long.iter().any(|l| l == name);
    let args = crate::legacy::rewrite(std::env::args_os(), known, &mut |text| {
        to_stderr(&warning(format, text));
    })?;
    Cli::try_parse_from(args).map_err(|error| {
        if !error.use_stderr() || format == Format::Human {
            error.exit();
        }
        let text = error.to_string();
        // The text after the first empty line is advice for people.
        let message = text.split("\n\n").next().unwrap_or_default();
        let words: Vec<&str> = message.split_whitespace().collect();
        let message = words.join(" ");
        Failure::usage(message.strip_prefix("error: ").unwrap_or(&message))
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The language options of a command line without flags.
    pub fn language() -> Language {
        Cli::try_parse_from(["usubac"]).expect("no flags").compile.language
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
