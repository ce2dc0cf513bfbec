//! The sub-commands, one module each.

mod bench;
mod check;
mod compile;
mod dist;
mod experiment;
mod fmt;
mod front;
mod headers;
mod new;
mod passes;
pub mod prove;
mod run;
mod slice;
mod subject;
mod synth;
mod test;
mod tune;
mod tuned;

use clap_complete::generate;
use usuba::isa;

use crate::args::{self, Cli, Command, Print};
use crate::output::to_stdout;
use crate::report::Reporter;
use crate::{Failure, explain, interrupt};

pub fn run(mut cli: Cli) -> Result<(), Failure> {
    let reporter = Reporter { format: cli.report.error_format, color: cli.report.color };
    if let Some(what) = cli.print {
        return to_stdout(&list(what));
    }
    subject::resolve(&mut cli)?;
    let scratch = match &cli.command {
        Some(Command::Run(_) | Command::Test(_) | Command::Bench(_) | Command::Demo(_)) => {
            interrupt::guard()?
        }
        Some(Command::Prove(_) | Command::Dist(_) | Command::Tune(_)) => interrupt::guard()?,
        _ => None,
    };
    let done = command(&cli, reporter);
    drop(scratch);
    done
}

fn command(cli: &Cli, reporter: Reporter) -> Result<(), Failure> {
    match &cli.command {
        None => Err(Failure::usage("there is no program to compile; `usubac --help` shows how")),
        Some(Command::Build(args)) => compile::run(args, reporter),
        Some(Command::Check(args)) => check::run(args, reporter),
        Some(Command::Fmt(args)) => fmt::run(args, reporter),
        Some(Command::Run(args)) => run::run(args, reporter),
        Some(Command::New(args)) => new::run(args),
        Some(Command::Test(args)) => test::run(args),
        Some(Command::Bench(args)) => bench::bench(args),
        Some(Command::Demo(args)) => bench::demo(args),
        Some(Command::Headers { folder }) => headers::run(folder),
        Some(Command::Prove(args)) => prove::run(args, reporter),
        Some(Command::Verify(args)) => prove::verify(args, reporter),
        Some(Command::Dist(args)) => dist::run(args),
        Some(Command::Tune(args)) => tune::run(args, reporter),
        Some(Command::Synth(args)) => synth::run(args, reporter),
        Some(Command::Explain { code }) => to_stdout(explain::page(code)?),
        Some(Command::Completions { shell }) => {
            let mut text = Vec::new();
            generate(*shell, &mut args::command(), "usubac", &mut text);
            to_stdout(&String::from_utf8_lossy(&text))
        }
        Some(Command::Man) => {
            let mut text = Vec::new();
            let page = clap_mangen::Man::new(args::command()).render(&mut text);
            page.map_err(|error| Failure::program(format!("cannot write the page: {error}")))?;
            to_stdout(&String::from_utf8_lossy(&text))
        }
    }
}

fn list(what: Print) -> String {
    let lines = |names: Vec<&str>| names.join("\n") + "\n";
    match what {
        Print::Targets => lines(isa::all().map(|t| t.name).collect()),
        Print::Cpus => lines(isa::cpu::ALL.iter().map(|c| c.name).collect()),
        Print::Passes => lines(usuba::passes::ALL.iter().map(|p| p.name).collect()),
        Print::Slicings => "V\nH\nB\n".to_string(),
        Print::Build => {
            let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
            format!("usubac {}\nprofile {profile}\n", env!("CARGO_PKG_VERSION"))
        }
    }
}
