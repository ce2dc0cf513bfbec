//! Flags of `usubac tune`, and separate flags of the back end, as in a tuned file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, ValueEnum};
use usuba::ir::Slicing;

use super::common::{
    Folder, Functions, INPUT, Jobs, OPTIMISATION, OUTPUT, Output, SlicingFlags, Targets,
};
use super::values::parse_time;
use super::{Abi, Codegen, Language};
use crate::Failure;

/// The subject and the length of tuning.
#[derive(Args, Debug)]
pub struct Tune {
    /// A program, or the folder or name of a cipher
    #[arg(value_name = "SUBJECT")]
    pub subject: PathBuf,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub functions: Functions,
    #[command(flatten)]
    pub targets: Targets,
    #[command(flatten)]
    pub language: Language,
    /// How long to search: seconds, or a number with s, m or h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time,
          help_heading = OPTIMISATION)]
    pub time_limit: Duration,
    /// The goal: the kernel on registers, or the byte interface of a cipher with packing
    #[arg(long, value_enum, value_name = "WHAT", default_value_t, help_heading = OPTIMISATION)]
    pub goal: Goal,
    #[command(flatten)]
    pub jobs: Jobs,
    /// Forget earlier measurements
    #[arg(long, help_heading = OPTIMISATION)]
    pub restart: bool,
    /// Search nothing: write a build.ninja that compiles the candidates into this folder
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "tune-ninja",
          conflicts_with_all = ["from", "candidate"], help_heading = OUTPUT)]
    pub ninja: Option<PathBuf>,
    /// The command before each C compiler in the build.ninja, such as distcc
    #[arg(long, value_name = "COMMAND", default_value = "", requires = "ninja",
          hide_short_help = true, help_heading = OUTPUT)]
    pub launcher: String,
    /// How many points of each slicing go into the build.ninja
    #[arg(long, value_name = "COUNT", default_value_t = 400, requires = "ninja",
          hide_short_help = true, help_heading = OUTPUT)]
    pub points: usize,
    /// Measure the objects that a build.ninja made in this folder, and compile nothing else
    #[arg(long, value_name = "DIR", conflicts_with = "candidate", help_heading = INPUT)]
    pub from: Option<PathBuf>,
    /// Search nothing: write the C of one candidate, as a build.ninja does
    #[arg(long, value_name = "FLAGS", requires = "output", allow_hyphen_values = true,
          help_heading = OUTPUT)]
    pub candidate: Option<String>,
    #[command(flatten)]
    pub output: Output,
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
    match codegen.prefix.text().is_empty() && codegen.link.is_empty() {
        true => Ok((slicing, codegen)),
        false => Err(OTHERS.into()),
    }
}

/// The error for flags that do not change the optimisation.
const OTHERS: &str = "only flags about the optimisation belong here";

/// As [`codegen`], also with flags that select functions and their calls.
fn read(flags: &str) -> Result<(Option<Slicing>, Codegen), String> {
    let words = std::iter::once("usubac").chain(flags.split_whitespace()).map(OsString::from);
    let words = crate::legacy::rewrite(words, &BackEnd::command(), &mut |_| {}).map_err(told)?;
    let BackEnd { slicing, codegen } =
        BackEnd::try_parse_from(words.into_iter().skip(1)).map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).to_string()
        })?;
    let plain = codegen.targets.is_empty()
        && codegen.bits_per_reg.is_none()
        && codegen.stop_after.is_none()
        && codegen.print_after.is_empty()
        && !codegen.key_registers
        && !codegen.wipe
        && !codegen.prove
        && !codegen.measures();
    match plain {
        true => Ok((slicing.one().map_err(told)?, codegen)),
        false => Err(OTHERS.into()),
    }
}

fn told(failure: Failure) -> String {
    failure.text().unwrap_or("no such flag").to_string()
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
            && !self.measures()
    }

    /// These flags for a target.
    pub fn for_target(mut self, name: &str) -> Result<Codegen, String> {
        self.targets = Targets::named(name)?;
        Ok(self)
    }

    /// These flags with the optimisation of others.
    pub fn optimised_as(&self, mut other: Codegen) -> Codegen {
        other.targets = self.targets.clone();
        other.bits_per_reg = self.bits_per_reg;
        other.print_after.clone_from(&self.print_after);
        other.prefix = self.prefix.clone();
        other.key_registers = self.key_registers;
        other.wipe = self.wipe;
        other.link.clone_from(&self.link);
        other.prove = self.prove;
        other
    }
}
