//! The command line of measurements, and the flags of code generation that they name.

use std::path::PathBuf;

use clap::Args;
use usuba::isa::cpu::Cpu;
use usuba::passes::pipeline::PipelineOptions;

use super::common::{
    AllFunctions, Cflags, Compilers, Folder, Form, NoTuned, OUTPUT, Output, SlicingFlags, TARGET,
    Targets,
};
use super::values::parse_cpu;
use super::{Abi, tuned_flags};

#[derive(Args, Clone, Debug)]
pub struct Bench {
    /// Names or folders of ciphers [default: all; for `demo` rectangle and serpent]
    #[arg(value_name = "SUBJECT")]
    pub subjects: Vec<String>,
    #[command(flatten)]
    pub all_functions: AllFunctions,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub targets: Targets,
    #[command(flatten)]
    pub slicing: SlicingFlags,
    /// Verify only
    #[arg(long, help_heading = TARGET)]
    pub no_timing: bool,
    #[command(flatten)]
    pub compilers: Compilers,
    #[command(flatten)]
    pub cflags: Cflags,
    /// Flags of usubac, in one word; several are measured by turns, and compared with the first
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = TARGET)]
    pub flags: Vec<String>,
    #[command(flatten)]
    pub tuned: NoTuned,
    /// Fewer samples
    #[arg(long, help_heading = TARGET)]
    pub quick: bool,
    /// End with status 1 if the machine is too noisy for claims
    #[arg(long, help_heading = TARGET)]
    pub strict: bool,
    #[command(flatten)]
    pub form: Form,
    #[command(flatten)]
    pub output: Output,
    /// Measure nothing; compare two JSON files of earlier runs
    ///
    /// Ends with status 3 if something became slower.
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"],
          conflicts_with_all = ["format", "output", "experiment"], help_heading = OUTPUT)]
    pub compare: Vec<PathBuf>,
    /// Measure the instructions of this machine, and compare them with a CPU model
    ///
    /// The table has latency and throughput of each group of instructions, of loads, stores and
    /// copies, and cache sizes, beside the figures of the model.
    #[arg(long, conflicts_with_all = ["subjects", "compare", "experiment", "flags", "cflags", "no_timing",
          "target", "strict"], help_heading = TARGET)]
    pub calibrate: bool,
    /// The model of a processor
    ///
    /// --calibrate compares the machine with it; without it with the model of this machine.
    #[arg(long, value_name = "CPU", value_parser = parse_cpu, requires = "calibrate",
          help_heading = TARGET)]
    pub cpu: Option<&'static Cpu>,
    /// Repeat a published measurement: a file, or the name of a built-in one
    ///
    /// The files of an experiment go to the folder of --output, without it to bench/results;
    /// finished cells in it are kept.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["format", "flags", "cflags", "cc"],
          help_heading = OUTPUT)]
    pub experiment: Option<PathBuf>,
    /// Measure nothing; render the chapter on published numbers from folders of experiments
    ///
    /// A folder holds the results of one machine; the page and its plots go to the folder of --output.
    #[arg(long, value_name = "FOLDER", num_args = 1.., requires = "output",
          conflicts_with_all = ["format", "flags", "cflags", "cc", "subjects", "compare", "experiment",
          "calibrate", "quick"], help_heading = OUTPUT)]
    pub chapter: Vec<PathBuf>,
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
        let (options, cpu) = pipeline("--unroll all --skip cse --cpu zen5").expect("they exist");
        assert_eq!(cpu.name, "zen5");
        assert_eq!(options.pass.unroll, unroll::Mode::All);
        assert_eq!(options.skip, ["cse"]);
        if let Ok(here) = usuba_run::cpuid::native() {
            let native = tuned_flags("--cpu native").expect("it is known");
            assert_eq!(native.cpu.name, here.name);
            assert_eq!(native.written(), format!(" --cpu {}", here.name));
        }
        for (flags, why) in
            [("-o x.c", "-o"), ("-masked", "masking"), ("--skip nothing", "nothing")]
        {
            let error = pipeline(flags).map(|_| ()).expect_err("it means nothing here");
            assert!(error.contains(why) && error.lines().count() == 1, "{error}");
        }
    }
}
