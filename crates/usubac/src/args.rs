//! The command line.

use std::path::PathBuf;

use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use usuba::ir::Slicing;

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
    /// Explain an error code
    Explain {
        /// Such as U0201
        code: String,
    },
    /// Write the completions of a shell to standard output
    Completions { shell: clap_complete::Shell },
    /// Write the manual page to standard output
    Man,
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
    /// Usuba0, which is Usuba again
    U0,
    #[default]
    C,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Engine {
    /// The meaning of the language
    #[default]
    Eval,
    /// The interpreter of Usuba0, after slicing and all passes
    Interp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Print {
    Slicings,
    Build,
}

#[derive(Args, Debug)]
pub struct Codegen {}

/// Parses the command line of this process; help and version end it.
pub fn parse() -> Result<Cli, Failure> {
    let mut command = Cli::command();
    command.build();
    let long: Vec<String> = std::iter::once(&command)
        .chain(command.get_subcommands())
        .flat_map(|c| c.get_arguments())
        .filter_map(|a| a.get_long().map(str::to_string))
        .collect();
    let known = |name: &str| long.iter().any(|l| l == name);
    let args = crate::legacy::rewrite(std::env::args_os(), known)?;
    Ok(Cli::parse_from(args))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
