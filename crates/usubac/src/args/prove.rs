//! Flags of `usubac prove` and `usubac verify`.

use std::path::PathBuf;

use clap::Args;
use usuba_prove::objects::By;
use usuba_run::cc::Family;

use super::common::{
    All, Cache, Compilers, Folder, Form, Functions, INPUT, Includes, Jobs, OUTPUT, SlicingFlags,
    Targets,
};
use super::{Codegen, Language};
use usuba_prove::fault_injection::{self, Plant};

/// The subject of the proof.
#[derive(Args, Debug)]
pub struct Prove {
    /// A program, or cipher folders or their names; `-` is standard input
    ///
    /// Of a program one entry is proved, of ciphers every function in every slicing on every
    /// target.
    #[arg(value_name = "SUBJECT", required_unless_present_any = ["all", "dist"],
          conflicts_with_all = ["all", "dist"])]
    pub subjects: Vec<PathBuf>,
    #[command(flatten)]
    pub all: All,
    /// Prove the functions of this object, archive or program
    ///
    /// Or shared object. You made it from the output of `usubac dist` with any compiler and any flags.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "binary", "interface", "object",
          "certify", "plant"], help_heading = INPUT)]
    pub dist: Option<PathBuf>,
    /// The manifest that `usubac dist` wrote
    ///
    /// [default: by the name of the file, in its folder or above]
    #[arg(long, value_name = "FILE.toml", requires = "dist", hide_short_help = true, help_heading = INPUT)]
    pub manifest: Option<PathBuf>,
    #[command(flatten)]
    pub functions: Functions,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub language: Language,
    #[command(flatten)]
    pub codegen: Codegen,
    /// Also compare the final IR with the result of lowering in one step
    #[arg(long, help_heading = OUTPUT)]
    pub direct: bool,
    /// Also compile the kernel, and prove the object file
    ///
    /// It computes the program in every lane and in constant time.
    #[arg(long, help_heading = OUTPUT)]
    pub binary: bool,
    #[command(flatten)]
    pub compilers: Compilers,
    /// Also compile the byte interface, and prove its functions
    ///
    /// For any number of blocks. The cipher.toml beside the program describes it; its functions
    /// contain the kernel.
    #[arg(long, help_heading = OUTPUT)]
    pub interface: bool,
    /// Prove this object file
    ///
    /// You compiled it from the output of usubac with the same flags.
    #[arg(long, value_name = "FILE.o", conflicts_with_all = ["binary", "interface", "all"],
          help_heading = INPUT)]
    pub object: Option<PathBuf>,
    /// The function of the object [default: the name that usubac gives the kernel]
    #[arg(long, value_name = "FUNCTION", requires = "object", help_heading = INPUT,
          hide_short_help = true)]
    pub symbol: Option<String>,
    /// Record the proofs in proof/TARGET.toml beside the program
    #[arg(long, help_heading = OUTPUT)]
    pub certify: bool,
    /// Write certificates that others can replay to a new folder
    ///
    /// For RV32IM: the object that riscv-gcc or riscv-clang makes of each kernel, the steps that show
    /// that it computes the program, and the program; `usubac verify DIR` replays them.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["dist", "binary", "interface", "object",
          "certify", "plant", "direct"], hide_short_help = true, help_heading = OUTPUT)]
    pub certificates: Option<PathBuf>,
    /// Fault injection, which the prover must find, such as gate@lower
    ///
    /// Into the result of a pass: gate, rotation, operands, ports, equation. After `object`, into
    /// one bit of the machine code: gate, address.
    #[arg(long, value_name = "FAULT@PASS", value_parser = fault_injection::parse,
          conflicts_with_all = ["all", "certify"], hide_short_help = true,
          help_heading = OUTPUT)]
    pub plant: Option<Plant>,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub jobs: Jobs,
    #[command(flatten)]
    pub cache: Cache,
}

/// The certificates whose proofs are repeated.
#[derive(Args, Debug)]
pub struct Verify {
    /// Programs, or cipher folders or their names, with certificates, or folders of `--certificates`
    #[arg(value_name = "SUBJECT", required_unless_present = "all", conflicts_with = "all")]
    pub subjects: Vec<PathBuf>,
    #[command(flatten)]
    pub all: All,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub includes: Includes,
    #[command(flatten)]
    pub targets: Targets,
    #[command(flatten)]
    pub slicing: SlicingFlags,
    #[command(flatten)]
    pub form: Form,
}

impl Prove {
    /// The makers of objects.
    pub fn makers(&self) -> Vec<By> {
        match &self.compilers.cc[..] {
            [] => vec![By::C(Family::Gcc), By::C(Family::Clang)],
            named => named.iter().map(|compiler| compiler.maker()).collect(),
        }
    }
}
