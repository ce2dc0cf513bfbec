//! Flags of `usubac prove`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use usuba::isa::Target;
use usuba_run::cc::Family;

use super::values::parse_target;
use super::{Codegen, Folder, Language};
use usuba_prove::fault_injection::{self, Plant};

/// The subject of the proof.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("objects").args(["binary", "interface"]).multiple(true)))]
#[command(group(ArgGroup::new("folders").args(["all", "dist"])))]
pub struct Prove {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["all", "dist"],
          conflicts_with_all = ["all", "dist"])]
    pub file: Option<PathBuf>,
    /// Prove every function of every cipher folder, in every slicing, on every target
    #[arg(long)]
    pub all: bool,
    /// Prove the functions of this object, archive, shared object or program, which you made from
    /// the output of `usubac dist` with any compiler and any flags
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "binary", "interface", "object",
          "check", "certify", "plant"])]
    pub dist: Option<PathBuf>,
    /// The manifest that `usubac dist` wrote [default: by the name of the file, in its folder or
    /// above]
    #[arg(long, value_name = "FILE.toml", requires = "dist")]
    pub manifest: Option<PathBuf>,
    /// Only these functions of the file; may be repeated
    #[arg(long = "function", value_name = "NAME", requires = "dist")]
    pub functions: Vec<String>,
    #[command(flatten)]
    pub folder: Folder,
    /// Only the folders of these names; may be repeated
    #[arg(long, value_name = "CIPHER", requires = "all")]
    pub only: Vec<String>,
    /// Only these targets; may be repeated. Without --all, --arch names the target
    #[arg(long, value_name = "TARGET", value_parser = parse_target, requires = "all")]
    pub target: Vec<&'static Target>,
    #[command(flatten)]
    pub language: Language,
    #[command(flatten)]
    pub codegen: Codegen,
    /// Also compare the final IR with the result of lowering in one step
    #[arg(long)]
    pub direct: bool,
    /// Also compile the kernel, and prove that the object file computes the program in every lane
    /// and in constant time
    #[arg(long)]
    pub binary: bool,
    /// Which C compilers make objects
    #[arg(long, value_enum, value_name = "COMPILER", default_value_t, requires = "objects")]
    pub cc: Cc,
    /// Also compile the byte interface that cipher.toml beside the program describes, and prove its
    /// functions, which contain the kernel, for any number of blocks
    #[arg(long)]
    pub interface: bool,
    /// Prove this object file, which you compiled from the output of usubac with the same flags
    #[arg(long, value_name = "FILE.o", conflicts_with_all = ["binary", "interface", "all", "check"])]
    pub object: Option<PathBuf>,
    /// The node that the object computes: the same as --entry
    #[arg(long, value_name = "NODE", requires = "object", conflicts_with = "entry")]
    pub node: Option<String>,
    /// The function of the object [default: the name that usubac gives the kernel]
    #[arg(long, value_name = "FUNCTION", requires = "object")]
    pub symbol: Option<String>,
    /// Record the proofs in proof/TARGET.toml beside the program
    #[arg(long)]
    pub certify: bool,
    /// Repeat the proofs that the files proof/TARGET.toml record
    #[arg(long, conflicts_with_all = ["certify", "direct"])]
    pub check: bool,
    /// Fault injection into the result of a pass, such as gate@lower, which the prover must find:
    /// gate, rotation, operands, ports, equation. After `object`, one bit of the machine code:
    /// gate, address
    #[arg(long, value_name = "FAULT@PASS", value_parser = fault_injection::parse,
          conflicts_with_all = ["all", "certify", "check"])]
    pub plant: Option<Plant>,
    /// Write JSON, one object for each proof
    #[arg(long)]
    pub json: bool,
    /// Proofs at the same time [default: one for each core]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// With --all and --dist: the folder of the proof cache, whose proofs are not repeated
    /// [default: usubac/proofs in the folder of the user's caches]
    #[arg(long, value_name = "DIR", requires = "folders")]
    pub cache: Option<PathBuf>,
    /// With --all and --dist: neither read nor write the proof cache
    #[arg(long, requires = "folders", conflicts_with = "cache")]
    pub no_cache: bool,
}

/// C compilers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Cc {
    Gcc,
    Clang,
    /// One object by each
    #[default]
    Both,
}

impl Cc {
    pub fn families(self) -> &'static [Family] {
        match self {
            Cc::Gcc => &[Family::Gcc],
            Cc::Clang => &[Family::Clang],
            Cc::Both => &[Family::Gcc, Family::Clang],
        }
    }
}
