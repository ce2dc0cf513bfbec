//! Flags of `usubac tune`, and separate flags of the back end, as in a tuned file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, ValueEnum};
use usuba::ir::Slicing;

use super::values::{parse_arch, parse_time};
use super::{Abi, Arch, Codegen, Folder, Language, SlicingFlags, long_flags};

/// The subject and the length of tuning.
#[derive(Args, Debug)]
pub struct Tune {
    /// A program, a folder with a cipher.toml, or the name of one in DIR of --ciphers
    #[arg(value_name = "FILE|CIPHER")]
    pub subject: PathBuf,
    #[command(flatten)]
    pub folder: Folder,
    /// The function of the cipher [default: the first that has the slicing]
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// The instruction set; `native` is the best of this machine
    #[arg(long, value_name = "TARGET", default_value = "native", value_parser = parse_arch)]
    pub arch: Arch,
    #[command(flatten)]
    pub language: Language,
    /// How long to search: seconds, or a number with s, m or h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time)]
    pub budget: Duration,
    /// The goal: the kernel on registers, or the byte interface of a cipher with packing
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub goal: Goal,
    /// C compilers at work at the same time [default: one for each core]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Forget earlier measurements
    #[arg(long)]
    pub restart: bool,
    /// Search nothing: write a build.ninja that compiles the candidates into this folder
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "tune-ninja",
          conflicts_with_all = ["from", "candidate"])]
    pub ninja: Option<PathBuf>,
    /// The command before each C compiler in the build.ninja, such as distcc
    #[arg(long, value_name = "COMMAND", default_value = "", requires = "ninja")]
    pub launcher: String,
    /// How many points of each slicing go into the build.ninja
    #[arg(long, value_name = "COUNT", default_value_t = 400, requires = "ninja")]
    pub most: usize,
    /// Measure the objects that a build.ninja made in this folder, and compile nothing else
    #[arg(long, value_name = "DIR", conflicts_with = "candidate")]
    pub from: Option<PathBuf>,
    /// Search nothing: write the C of one candidate, as a build.ninja does
    #[arg(long, value_name = "FLAGS", requires = "output", allow_hyphen_values = true)]
    pub candidate: Option<String>,
    /// Where the C of the candidate goes
    #[arg(short, long, value_name = "FILE", requires = "candidate")]
    pub output: Option<PathBuf>,
}

/// The code that tuning makes fast.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Goal {
    /// The kernel on registers
    #[default]
    Kernel,
    /// The byte interface, with packing
    Bytes,
}

/// Flags of the back end on their own.
#[derive(Parser, Debug)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct BackEnd {
    #[command(flatten)]
    slicing: SlicingFlags,
    #[command(flatten)]
    codegen: Codegen,
}

/// Reads flags of the back end, perhaps with a slicing, like the command line. Only flags about the
/// optimisation are accepted.
pub fn codegen(flags: &str) -> Result<(Option<Slicing>, Codegen), String> {
    let (slicing, codegen) = read(flags)?;
    match codegen.prefix.is_empty() && codegen.link.is_empty() {
        true => Ok((slicing, codegen)),
        false => Err(OTHERS.into()),
    }
}

/// The error for flags that do not change the optimisation.
const OTHERS: &str = "only flags about the optimisation belong here";

/// As [`codegen`], also with flags that select functions and their calls.
fn read(flags: &str) -> Result<(Option<Slicing>, Codegen), String> {
    let words = std::iter::once("usubac").chain(flags.split_whitespace()).map(OsString::from);
    let long = long_flags(&BackEnd::command());
    let known = |name: &str| long.iter().any(|l| l == name);
    let words = crate::legacy::rewrite(words, known, &mut |_| {})
        .map_err(|failure| failure.text().unwrap_or("no such flag").to_string())?;
    let BackEnd { slicing, codegen } =
        BackEnd::try_parse_from(words.into_iter().skip(1)).map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).to_string()
        })?;
    let plain = codegen.arch.target.name == "gp64"
        && !codegen.arch.native
        && codegen.bits_per_reg.is_none()
        && codegen.stop_after.is_none()
        && codegen.print_after.is_empty()
        && !codegen.key_registers
        && !codegen.wipe
        && !codegen.prove
        && !codegen.auto_interleave;
    match plain {
        true => Ok((slicing.chosen(), codegen)),
        false => Err(OTHERS.into()),
    }
}

/// As [`codegen`], without a slicing: the flags of a tuned file.
pub fn tuned_flags(flags: &str) -> Result<Codegen, String> {
    without_slicing(codegen(flags)?)
}

/// The same for the flags of a certificate, in which kernels may call others and have a prefix.
pub fn certified_flags(flags: &str) -> Result<Codegen, String> {
    without_slicing(read(flags)?)
}

fn without_slicing((slicing, codegen): (Option<Slicing>, Codegen)) -> Result<Codegen, String> {
    match slicing {
        None => Ok(codegen),
        Some(_) => Err("the slicing has a field of its own".into()),
    }
}

impl Codegen {
    /// Whether no flag changes the optimisation.
    pub fn is_plain(&self) -> bool {
        let nothing = tuned_flags("").expect("no flags are good flags");
        self.pipeline(Abi::Usuba) == nothing.pipeline(Abi::Usuba)
            && self.cpu.name == nothing.cpu.name
            && !self.auto_interleave
    }

    /// These flags for a target.
    pub fn for_target(self, name: &str) -> Result<Codegen, String> {
        Ok(Codegen { arch: parse_arch(name)?, ..self })
    }

    /// These flags with the optimisation of others.
    pub fn optimised_as(&self, other: Codegen) -> Codegen {
        Codegen {
            arch: self.arch,
            bits_per_reg: self.bits_per_reg,
            print_after: self.print_after.clone(),
            prefix: self.prefix.clone(),
            key_registers: self.key_registers,
            wipe: self.wipe,
            link: self.link.clone(),
            prove: self.prove,
            ..other
        }
    }
}
