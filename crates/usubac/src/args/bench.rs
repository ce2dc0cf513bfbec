//! The command line of measurements, and the flags of code generation that they name.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use usuba::isa::cpu::Cpu;
use usuba::passes::pipeline::PipelineOptions;

use super::{Abi, Direction, Folder, tuned_flags};

#[derive(Args, Clone, Debug)]
pub struct Bench {
    /// Names or folders of ciphers [default: all; for `demo` rectangle and serpent]
    #[arg(value_name = "CIPHER")]
    pub ciphers: Vec<String>,
    /// The same as naming them without a flag; may be repeated
    #[arg(long = "cipher", value_name = "CIPHER")]
    pub more_ciphers: Vec<String>,
    #[command(flatten)]
    pub folder: Folder,
    /// Only this target; may be repeated
    #[arg(long, visible_alias = "arch", value_name = "TARGET")]
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
    /// With this C compiler; several are measured by turns
    #[arg(long, value_enum, value_name = "COMPILER")]
    pub cc: Vec<Compiler>,
    /// Flags of the C compiler after the flags of the target
    #[arg(long, value_name = "FLAGS", default_value = "-O3", allow_hyphen_values = true)]
    pub cflags: String,
    /// Flags of usubac, in one word; several are measured by turns, and compared with the first
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub flags: Vec<String>,
    /// Only the defaults, without the flags that `usubac tune` found for this processor
    #[arg(long)]
    pub no_tuned: bool,
    /// Fewer samples
    #[arg(long)]
    pub quick: bool,
    /// End with status 1 if the machine is too noisy for claims
    #[arg(long)]
    pub strict: bool,
    /// Also write everything that was measured to this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Measure nothing; compare two such files, and end with status 3 if something became slower
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"],
          conflicts_with_all = ["json", "experiment"])]
    pub compare: Vec<PathBuf>,
    /// Repeat a published measurement: a file, or the name of a built-in one
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "flags", "cflags", "cc"])]
    pub experiment: Option<PathBuf>,
    /// Where the files of an experiment go; finished cells in it are kept
    #[arg(long, value_name = "DIR", default_value = "bench/results", requires = "experiment")]
    pub out: PathBuf,
}

/// A family of C compilers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Compiler {
    Gcc,
    Clang,
}

/// The meaning of flags about the optimisation, separated by blanks.
///
/// # Errors
/// In one line: a flag is unknown, or belongs elsewhere.
pub fn pipeline(flags: &str) -> Result<(PipelineOptions, &'static Cpu), String> {
    let codegen = tuned_flags(flags).map_err(|why| format!("the flags `{flags}`: {why}"))?;
    Ok((codegen.pipeline(Abi::Usuba), codegen.cpu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use usuba::passes::unroll;

    #[test]
    fn flags_of_measurements_are_those_of_the_command_line() {
        let (options, cpu) = pipeline("").expect("no flags are good flags");
        assert_eq!((options.pass.unroll, cpu.name), (unroll::Mode::Auto, "generic"));
        let (options, cpu) = pipeline("-unroll --skip cse -cpu zen5").expect("they exist");
        assert_eq!(cpu.name, "zen5");
        assert_eq!(options.pass.unroll, unroll::Mode::All);
        assert_eq!(options.skip, ["cse"]);
        for (flags, why) in
            [("-o x.c", "-o"), ("-masked", "masking"), ("--skip nothing", "nothing")]
        {
            let error = pipeline(flags).map(|_| ()).expect_err("it means nothing here");
            assert!(error.contains(why) && error.lines().count() == 1, "{error}");
        }
    }
}
