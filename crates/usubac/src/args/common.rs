//! Options that several commands have: one type for each, which the commands flatten, so that an
//! option has one spelling, one kind of value and one help text everywhere.
//!
//! The first paragraph of a comment is the text of `-h`; `--help` also shows the others. Headings
//! group the options in both.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use usuba::ir::Slicing;
use usuba::isa::Target;
use usuba_ciphers::Library;
use usuba_prove::objects::By;
use usuba_run::cc::{Family, Foreign};

use super::values::{parse_arch, parse_prefix, parse_slug};
use crate::Failure;

/// The headings of help texts.
pub const INPUT: &str = "Input";
pub const TARGET: &str = "Target";
pub const OPTIMISATION: &str = "Optimisation";
pub const OUTPUT: &str = "Output";
pub const DIAGNOSTICS: &str = "Diagnostics";

#[derive(Args, Clone, Default, Debug)]
pub struct Entry {
    /// The node of the program [default: the last one]
    ///
    /// With its index, nats and word sizes, as in `f<1>(10, 'm=32)`.
    #[arg(long, value_name = "NODE", help_heading = INPUT)]
    pub entry: Option<String>,
}

#[derive(Args, Clone, Default, Debug)]
pub struct Includes {
    /// Where to look for included files
    ///
    /// After the directory of the including file.
    #[arg(short = 'I', value_name = "DIR", help_heading = INPUT)]
    pub include: Vec<PathBuf>,
}

#[derive(Args, Clone, Default, Debug)]
pub struct Folder {
    /// Look for ciphers in this folder first, then among the built-in ones
    #[arg(id = "folder", long = "ciphers", value_name = "DIR", help_heading = INPUT)]
    ciphers: Option<PathBuf>,
}

impl Folder {
    pub fn library(&self) -> Library {
        Library { folder: self.ciphers.clone() }
    }
}

#[derive(Args, Clone, Default, Debug)]
pub struct Functions {
    /// Functions of the cipher, separated by commas
    #[arg(long = "function", value_name = "NAME", value_delimiter = ',', help_heading = INPUT)]
    pub functions: Vec<String>,
}

impl Functions {
    /// The function of a command that has one.
    pub fn one(&self) -> Result<Option<&str>, Failure> {
        match &self.functions[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => Err(Failure::usage("--function takes one function here, and several are named")),
        }
    }
}

#[derive(Args, Clone, Copy, Default, Debug)]
pub struct Seed {
    /// The seed of random choices [default: 0; for `synth` 1]
    #[arg(long, value_name = "N", help_heading = INPUT)]
    pub seed: Option<u64>,
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

impl Direction {
    pub fn slicing(self) -> Slicing {
        match self {
            Direction::V => Slicing::V,
            Direction::H => Slicing::H,
            Direction::B => Slicing::B,
            Direction::W => Slicing::W,
        }
    }
}

#[derive(Args, Clone, Default, Debug)]
#[group(id = "slicings", multiple = false)]
pub struct SlicingFlags {
    /// How data lies in registers: V, H, B or W [default: V]
    ///
    /// V is vertical, a word for each lane; H is horizontal, the bits of a word along a register;
    /// B is bitslicing, a bit for each register; W has words in lanes, a register for the words of
    /// a block. Commands about ciphers take several, separated by commas, and without one all that
    /// a cipher has.
    #[arg(long = "slicing", value_enum, value_name = "SLICING", value_delimiter = ',',
          hide_possible_values = true, help_heading = TARGET)]
    named: Vec<Direction>,
    /// The same as --slicing V
    #[arg(short = 'V', hide_short_help = true, help_heading = TARGET)]
    v: bool,
    /// The same as --slicing H
    #[arg(short = 'H', hide_short_help = true, help_heading = TARGET)]
    h: bool,
    /// The same as --slicing B
    #[arg(short = 'B', hide_short_help = true, help_heading = TARGET)]
    b: bool,
    /// The same as --slicing W
    #[arg(short = 'W', hide_short_help = true, help_heading = TARGET)]
    w: bool,
}

impl SlicingFlags {
    pub fn new(slicing: Slicing) -> SlicingFlags {
        let mut flags = SlicingFlags::default();
        match slicing {
            Slicing::V => flags.v = true,
            Slicing::H => flags.h = true,
            Slicing::B => flags.b = true,
            Slicing::W => flags.w = true,
        }
        flags
    }

    /// The slicings that were asked for.
    pub fn all(&self) -> Vec<Slicing> {
        let short = [
            (self.v, Slicing::V),
            (self.h, Slicing::H),
            (self.b, Slicing::B),
            (self.w, Slicing::W),
        ];
        let short = short.into_iter().filter_map(|(on, slicing)| on.then_some(slicing));
        self.named.iter().map(|direction| direction.slicing()).chain(short).collect()
    }

    /// The slicing of a command that has one.
    pub fn one(&self) -> Result<Option<Slicing>, Failure> {
        match self.all()[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => Err(Failure::usage("--slicing takes one slicing here, and several are named")),
        }
    }
}

/// An instruction set, and whether it was asked for as `native`.
#[derive(Clone, Copy, Debug)]
pub struct Arch {
    pub target: &'static Target,
    pub native: bool,
}

#[derive(Args, Clone, Default, Debug)]
pub struct Targets {
    /// Instruction sets, separated by commas
    ///
    /// `native` is the best of this machine. Commands that compile one program take one; without it they make portable C for gp64, and
    /// `tune` takes native. `usubac --print targets` lists all.
    #[arg(long, value_name = "TARGET", value_delimiter = ',', value_parser = parse_arch,
          help_heading = TARGET)]
    target: Vec<Arch>,
}

impl Targets {
    /// The target of one name.
    pub fn named(name: &str) -> Result<Targets, String> {
        Ok(Targets { target: vec![parse_arch(name)?] })
    }

    /// The instruction sets that were asked for.
    pub fn all(&self) -> Vec<&'static Target> {
        self.target.iter().map(|arch| arch.target).collect()
    }

    /// The instruction set of a command that has one, or `default`.
    pub fn one(&self, default: &str) -> Result<Arch, Failure> {
        match self.target[..] {
            [] => parse_arch(default).map_err(Failure::usage),
            [one] => Ok(one),
            _ => Err(Failure::usage("--target takes one target here, and several are named")),
        }
    }

    /// Whether the only one that was asked for is called `native`.
    pub fn is_native(&self) -> bool {
        matches!(self.target[..], [Arch { native: true, .. }])
    }

    pub fn is_empty(&self) -> bool {
        self.target.is_empty()
    }
}

#[derive(Args, Clone, Copy, Default, Debug)]
pub struct NoTuned {
    /// Ignore the flags that `usubac tune` found
    #[arg(long, hide_short_help = true, help_heading = OPTIMISATION)]
    pub no_tuned: bool,
}

#[derive(Args, Clone, Default, Debug)]
pub struct Tuned {
    /// Use the flags that `usubac tune` found for this processor
    ///
    /// As its file tuned/TARGET-CPU.toml beside the program calls it [default: the only file of
    /// the target; for --target native the file of this machine]
    #[arg(long, value_name = "CPU", value_parser = parse_slug, conflicts_with = "no_tuned",
          help_heading = OPTIMISATION)]
    pub tuned: Option<String>,
    #[command(flatten)]
    pub ignored: NoTuned,
}

/// The compiler of kernels: a family of C compilers, for this machine or for another one, or our back end
/// for assembly language.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Compiler {
    Gcc,
    Clang,
    Asm,
    RiscvGcc,
    RiscvClang,
    Aarch64Gcc,
    Aarch64Clang,
}

impl Compiler {
    pub fn name(self) -> &'static str {
        match self {
            Compiler::Gcc => "gcc",
            Compiler::Clang => "clang",
            Compiler::Asm => "asm",
            Compiler::RiscvGcc => "riscv-gcc",
            Compiler::RiscvClang => "riscv-clang",
            Compiler::Aarch64Gcc => "aarch64-gcc",
            Compiler::Aarch64Clang => "aarch64-clang",
        }
    }

    /// The family of the C compiler; of the assembler for our assembly language.
    pub fn family(self) -> Family {
        match self {
            Compiler::Gcc | Compiler::RiscvGcc | Compiler::Aarch64Gcc => Family::Gcc,
            Compiler::Clang | Compiler::RiscvClang | Compiler::Aarch64Clang => Family::Clang,
            Compiler::Asm => Family::Any,
        }
    }

    pub fn is_assembly(self) -> bool {
        self == Compiler::Asm
    }

    /// The other machine whose objects it makes.
    fn foreign(self) -> Option<Foreign> {
        match self {
            Compiler::RiscvGcc | Compiler::RiscvClang => Some(Foreign::Riscv),
            Compiler::Aarch64Gcc | Compiler::Aarch64Clang => Some(Foreign::Aarch64),
            Compiler::Gcc | Compiler::Clang | Compiler::Asm => None,
        }
    }

    /// The maker of the objects that are proved.
    pub fn maker(self) -> By {
        match (self, self.foreign()) {
            (Compiler::Asm, _) => By::Assembly,
            (compiler, Some(foreign)) => By::Foreign(foreign, compiler.family()),
            (compiler, None) => By::C(compiler.family()),
        }
    }
}

#[derive(Args, Clone, Default, Debug)]
pub struct Compilers {
    /// Compilers: gcc, clang, asm, or of another machine
    ///
    /// Several are separated by commas; asm is our assembly language. Measurements take the first C
    /// compiler that is there, or all that are named, by turns (`--against` is the same); proofs take
    /// both C compilers unless one is named. riscv-gcc and riscv-clang (RV32IM, for the C of gp32),
    /// aarch64-gcc and aarch64-clang (for the C of neon and gp64) make objects for proofs only.
    #[arg(long, alias = "against", value_enum, value_name = "COMPILER", value_delimiter = ',',
          hide_possible_values = true, help_heading = TARGET)]
    pub cc: Vec<Compiler>,
}

impl Compilers {
    /// The compilers whose objects run here.
    ///
    /// # Errors
    /// One is for another machine.
    pub fn for_here(&self) -> Result<&[Compiler], String> {
        match self.cc.iter().find(|compiler| compiler.foreign().is_some()) {
            Some(compiler) => {
                Err(format!("{} makes objects for `usubac prove --binary` only", compiler.name()))
            }
            None => Ok(&self.cc),
        }
    }
}

#[derive(Args, Clone, Debug)]
pub struct Cflags {
    /// Flags of the C compiler after the flags of the target
    #[arg(long, value_name = "FLAGS", default_value = "-O3", allow_hyphen_values = true,
          help_heading = TARGET)]
    pub cflags: String,
}

#[derive(Args, Clone, Copy, Default, Debug)]
pub struct Jobs {
    /// How many at the same time [default: one for each core]
    #[arg(short, long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..),
          help_heading = OUTPUT)]
    pub jobs: Option<u16>,
}

#[derive(Args, Clone, Default, Debug)]
pub struct Cache {
    /// The folder of earlier results, which are not computed again
    ///
    /// `prove` keeps proofs, in usubac/proofs in the folder of the user's caches unless a folder
    /// is named; `synth` keeps circuits, if a folder is named.
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache", help_heading = OUTPUT)]
    pub cache: Option<PathBuf>,
    /// Neither read nor write earlier results
    #[arg(long, hide_short_help = true, help_heading = OUTPUT)]
    pub no_cache: bool,
}

#[derive(Args, Clone, Default, Debug)]
pub struct Output {
    /// Where the output goes; `-` is standard output
    #[arg(short, long, value_name = "PATH", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
}

/// The form of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Written {
    /// Lines to read
    Human,
    /// JSON
    Json,
}

#[derive(Args, Clone, Copy, Default, Debug)]
pub struct Form {
    /// How results are written: human or json [default: human; for `run` json]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true,
          help_heading = OUTPUT)]
    format: Option<Written>,
}

impl Form {
    pub fn or(self, default: Written) -> Written {
        self.format.unwrap_or(default)
    }

    pub fn is_json(self) -> bool {
        self.format == Some(Written::Json)
    }
}

#[derive(Args, Clone, Copy, Default, Debug)]
pub struct All {
    /// All ciphers
    #[arg(long, help_heading = INPUT)]
    pub all: bool,
}

#[derive(Args, Clone, Copy, Default, Debug)]
pub struct AllFunctions {
    /// Every function, not only the first one of each slicing
    #[arg(long, help_heading = INPUT)]
    pub all_functions: bool,
}

#[derive(Args, Clone, Default, Debug)]
pub struct Prefix {
    /// The prefix of C names [default: none; for ciphers usuba_]
    ///
    /// Of all that the linker sees.
    #[arg(long, value_name = "TEXT", value_parser = parse_prefix, help_heading = OUTPUT)]
    prefix: Option<String>,
}

impl Prefix {
    pub fn is_given(&self) -> bool {
        self.prefix.is_some()
    }

    pub fn text(&self) -> &str {
        self.prefix.as_deref().unwrap_or_default()
    }

    /// The prefix of a cipher's names, which has at least one letter: names alone could be words
    /// of C.
    pub fn of_cipher(&self) -> Result<&str, Failure> {
        match self.prefix.as_deref() {
            None => Ok("usuba_"),
            Some("") => {
                Err(Failure::usage("--prefix: a prefix has at least one letter for a cipher"))
            }
            Some(prefix) => Ok(prefix),
        }
    }
}
