//! The command line.
//!
//! - `common`: options that several commands have, one type for each.
//! - `lints`: the levels of warnings.
//! - `language`: the options about the semantics of a program; `codegen`: about its code.
//! - `bench`, `ciphers`, `dist`, `explore`, `generate`, `new`, `prove`, `synth`, `test`, `tune`: the options of one command.
//! - `values`: the syntax of the values of options.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::Failure;
use crate::output::to_stderr;
use crate::report::{Color, Format, warning};

mod bench;
mod ciphers;
mod codegen;
pub mod common;
mod dist;
mod explore;
mod generate;
mod language;
mod lints;
mod new;
pub mod prove;
mod synth;
mod test;
mod tune;
mod values;

pub use bench::{Bench, pipeline};
pub use ciphers::{Ciphers, Query, Table};
pub use codegen::Codegen;
use common::{DIAGNOSTICS, Form, INPUT, OPTIMISATION, OUTPUT, Output, Seed, TARGET, Tuned};
pub use dist::{Dist, Packaging};
pub use explore::Explore;
pub use generate::{Generate, Generated};
pub use language::Language;
pub use new::{Kind, New};
pub use prove::{Prove, Verify};
pub use synth::{Shape, Synth};
pub use test::Test;
pub use tune::{Goal, Tune, certified_flags, codegen, tuned_flags};
use values::parse_data_bits;
pub use values::{best_for_long_words, parse_loops};

/// Compiles Usuba programs (sliced, constant-time symmetric cryptography) to C.
#[derive(Parser, Debug)]
#[command(
    name = "usubac",
    version = env!("USUBAC_VERSION"),
    disable_version_flag = true,
    disable_help_flag = true,
    subcommand_value_name = "COMMAND",
    override_usage = "usubac [OPTIONS] FILE      (the same as usubac build)\n       \
                      usubac COMMAND [OPTIONS]",
    after_help = "`usubac COMMAND -h` lists the options of a command, `--help` explains them.\n\
                  Exit status: 0 done, 1 errors in the program, 2 wrong usage, 3 answers differ, \
                  101 a fault of usubac itself."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// List everything of one kind, one item a line
    #[arg(long, value_enum, value_name = "WHAT", exclusive = true, help_heading = OUTPUT)]
    pub print: Option<Print>,
    #[command(flatten)]
    pub report: Report,
    /// Print the version
    #[arg(long, action = ArgAction::Version, help_heading = DIAGNOSTICS)]
    version: Option<bool>,
}

#[derive(Args, Clone, Copy, Debug)]
pub struct Report {
    /// How errors are written: human, short or json
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, hide_possible_values = true,
          global = true, help_heading = DIAGNOSTICS)]
    pub error_format: Format,
    /// When they are coloured: auto, always or never
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, hide_possible_values = true,
          global = true, hide_short_help = true, help_heading = DIAGNOSTICS)]
    pub color: Color,
    /// Explain the options; -h lists the common ones
    #[arg(short, long, action = ArgAction::Help, global = true, help_heading = DIAGNOSTICS)]
    help: Option<bool>,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compile a program to C
    Build(Box<Compile>),
    /// Check a program without compiling it
    Check(Check),
    /// Bring programs into the house style
    Fmt(Fmt),
    /// Run a program on one input
    Run(Box<Run>),
    /// Write a folder for a cipher, to begin with
    New(New),
    /// Compare ciphers with their test vectors, by the reference semantics and by compiled C
    Test(Test),
    /// Verify and time cipher folders on every target of this machine
    Bench(Box<Bench>),
    /// The same for two ciphers, to see that everything works
    Demo(Box<Bench>),
    /// Choose flags for a program by measuring on this machine; later compiles use them
    Tune(Box<Tune>),
    /// Prove that a compilation preserves the semantics of its source
    Prove(Box<Prove>),
    /// Repeat the proofs that certificates record
    Verify(Verify),
    /// Write ciphers as C files to embed, or as a library
    Dist(Dist),
    /// Search small circuits for tables, or few xors for a matrix
    Synth(Synth),
    /// Write a page that shows every stage of a compilation, for a browser
    Explore(Box<Explore>),
    /// Explain an error code
    Explain {
        /// Such as U0201
        #[arg(value_name = "CODE")]
        code: String,
    },
    /// Serve an editor: the language server protocol on standard input and output
    Lsp {
        /// For editors that name the channel; there is no other one
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// List, show and copy ciphers
    Ciphers(Ciphers),
    /// Write manual pages, completions of shells, or headers into a folder
    Generate(Generate),
    /// Write the headers that code from `--abi usubac` includes into a folder
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

#[derive(Args, Debug)]
pub struct Compile {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
    /// The form of the output: c, h, u0, ast, json or origins
    #[arg(long, value_enum, value_name = "WHAT", default_value_t,
          hide_possible_values = true, help_heading = OUTPUT)]
    pub emit: Emit,
    /// Say in the C and in assembly language which line of the source equations come from
    ///
    /// As comments in C, and as `.loc` in assembly language.
    #[arg(long, hide_short_help = true, help_heading = OUTPUT)]
    pub origins: bool,
    /// Also write the header of the kernel to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub header: Option<PathBuf>,
    /// Names and shapes of the C function: usuba or usubac
    #[arg(long, value_enum, value_name = "INTERFACE", default_value_t, hide_possible_values = true,
          hide_short_help = true, help_heading = OUTPUT)]
    pub abi: Abi,
    /// Bits of DATATYPE for bitsliced code with --abi usubac: 8 or 16 [default: as in registers]
    #[arg(long, value_name = "BITS", value_parser = parse_data_bits, hide_short_help = true,
          help_heading = OUTPUT)]
    pub data_bits: Option<u32>,
    #[command(flatten)]
    pub language: Language,
    #[command(flatten)]
    pub codegen: Codegen,
    #[command(flatten)]
    pub tuned: Tuned,
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
    #[arg(long, help_heading = OUTPUT)]
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
    #[arg(long, help_heading = OUTPUT)]
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
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t, help_heading = TARGET)]
    pub engine: Engine,
    /// The words of the inputs, as a JSON array [default: derived from the seed]
    ///
    /// The flattened atoms in order, as numbers and "0x..." strings.
    #[arg(long, value_name = "JSON", help_heading = INPUT)]
    pub input: Option<String>,
    #[command(flatten)]
    pub seed: Seed,
    #[command(flatten)]
    pub form: Form,
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
    /// The kernel in assembly language, for x86-64 with AVX2 or AVX-512
    Asm,
    /// The header of the kernel
    H,
    /// The interface of the kernel and its operation counts
    Json,
    /// The place in the source of every equation, and its lines of C, as JSON
    Origins,
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

/// The command line as clap knows it. The options of `build` about the optimisation are not in the
/// short help of the commands that also have them.
pub fn command() -> clap::Command {
    let shorter = |arg: Arg| {
        let about_code = ["prove", "wipe", "prefix", "cpu"].contains(&arg.get_id().as_str())
            || arg.get_help_heading() == Some(OPTIMISATION);
        let hide = about_code || arg.is_hide_short_help_set();
        arg.hide_short_help(hide)
    };
    ["prove", "run"].into_iter().fold(Cli::command(), |command, name| {
        command.mut_subcommand(name, |c| {
            c.mut_args(shorter).after_help("--help also lists the options about the optimisation.")
        })
    })
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
    let args = crate::legacy::rewrite(std::env::args_os(), &command(), &mut |text| {
        to_stderr(&warning(format, text));
    })?;
    let matches = command().try_get_matches_from(args);
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|mut error| {
        let written: Vec<String> =
            std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        as_written(&mut error, &written);
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

/// Names the options in a usage error as the user wrote them.
fn as_written(error: &mut clap::Error, written: &[String]) {
    let mut all = command();
    all.build();
    let options = || all.get_subcommands().flat_map(clap::Command::get_arguments);
    let own = |long: &str| -> Option<String> {
        if written.iter().any(|word| word.split('=').next() == Some(long)) {
            return None;
        }
        if let Some(former) = written.iter().find_map(|word| crate::legacy::written(word, long)) {
            return Some(former);
        }
        let short = options().find(|arg| arg.get_long() == long.strip_prefix("--"))?.get_short()?;
        let short = format!("-{short}");
        written.iter().any(|word| word.starts_with(&short)).then_some(short)
    };
    for kind in [ContextKind::InvalidArg, ContextKind::PriorArg] {
        let Some(ContextValue::String(shown)) = error.get(kind) else { continue };
        let (long, rest) = shown.split_at(shown.find([' ', '=']).unwrap_or(shown.len()));
        if let Some(own) = own(long) {
            let shown = format!("{own}{rest}");
            error.insert(kind, ContextValue::String(shown));
        }
    }
}

#[cfg(test)]
pub mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The language options of a command line without flags.
    pub fn language() -> Language {
        let cli = Cli::try_parse_from(["usubac", "build", "-"]).expect("no flags");
        let Some(Command::Build(args)) = cli.command else { panic!("a compile") };
        args.language
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    /// All commands with their options, global ones included.
    fn commands() -> Vec<clap::Command> {
        let mut all = command().term_width(100);
        all.build();
        let outer = all.get_subcommands().filter(|c| c.get_name() != "help");
        outer.flat_map(|c| std::iter::once(c).chain(c.get_subcommands())).cloned().collect()
    }

    #[test]
    fn an_option_is_the_same_in_all_commands() {
        let mut known: BTreeMap<String, (String, String)> = BTreeMap::new();
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for command in commands() {
            for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
                let spelling = format!("{:?} {:?}", arg.get_short(), arg.get_long());
                let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let kind = format!(
                    "{spelling} {:?} {:?} {:?} {text}",
                    arg.get_value_parser().type_id(),
                    arg.get_value_names(),
                    arg.get_action(),
                );
                let name = command.get_name().to_string();
                for key in [arg.get_short().map(String::from), arg.get_long().map(String::from)] {
                    let Some(key) = key else { continue };
                    let (other, was) =
                        known.entry(key).or_insert_with(|| (name.clone(), kind.clone()));
                    assert_eq!(*was, kind, "{other} and {name} have one option in two ways");
                }
                let was = texts.entry(text).or_insert_with(|| spelling.clone());
                assert_eq!(*was, spelling, "{name} has a second spelling of one meaning");
            }
        }
    }

    #[test]
    fn options_are_in_groups() {
        let groups = [common::INPUT, common::TARGET, OPTIMISATION, OUTPUT, DIAGNOSTICS];
        for command in commands() {
            let options = command.get_arguments().filter(|arg| !arg.is_positional());
            for arg in options.filter(|arg| !arg.is_hide_set()) {
                let group = arg.get_help_heading().unwrap_or("none");
                let name = command.get_name();
                assert!(groups.contains(&group), "{name}: {} is in {group}", arg.get_id());
            }
        }
    }

    #[test]
    fn the_short_help_of_each_command_fits_on_a_screen() {
        for mut command in commands().into_iter().chain([command().term_width(100)]) {
            let lines = command.render_help().to_string().lines().count();
            assert!(lines <= 40, "{} -h has {lines} lines", command.get_name());
        }
    }
}
