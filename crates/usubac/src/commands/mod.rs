//! The sub-commands, one module each.

mod bench;
mod check;
mod ciphers;
mod compile;
mod dist;
mod experiment;
mod explore;
mod fmt;
mod front;
mod generate;
mod new;
mod origins;
mod passes;
pub mod prove;
mod run;
mod slice;
mod subject;
mod synth;
mod test;
mod tune;
mod tuned;

use usuba::isa;

use crate::args::{Cli, Command, Print};
use crate::output::{to_stderr, to_stdout};
use crate::report::{Reporter, warning};
use crate::{Failure, explain, interrupt, lsp};

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
        Some(Command::Test(args)) => test::run(args, reporter),
        Some(Command::Bench(args)) => bench::bench(args),
        Some(Command::Demo(args)) => bench::demo(args),
        Some(Command::Lsp { .. }) => lsp::run(),
        Some(Command::Ciphers(args)) => ciphers::run(args),
        Some(Command::Generate(args)) => generate::run(args),
        Some(Command::Headers { folder }) => {
            moved("headers DIR", "generate headers --output DIR", reporter);
            generate::headers(folder)
        }
        Some(Command::Prove(args)) => prove::run(args, reporter),
        Some(Command::Verify(args)) => prove::verify(args, reporter),
        Some(Command::Dist(args)) => dist::run(args, reporter),
        Some(Command::Tune(args)) => tune::run(args, reporter),
        Some(Command::Synth(args)) => synth::run(args, reporter),
        Some(Command::Explore(args)) => explore::run(args, reporter),
        Some(Command::Explain { code }) => to_stdout(explain::page(code)?),
        Some(Command::Completions { shell }) => {
            moved("completions", "generate completions --output DIR", reporter);
            to_stdout(&generate::completions(*shell))
        }
        Some(Command::Man) => {
            moved("man", "generate man --output DIR", reporter);
            generate::main_page()
        }
    }
}

/// Warns that a command has another name now.
fn moved(old: &str, new: &str, reporter: Reporter) {
    let text = format!("`usubac {old}` is now `usubac {new}`");
    to_stderr(&warning(reporter.format, &text));
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
            format!("usubac {}\nprofile {profile}\n", env!("USUBAC_VERSION"))
        }
    }
}
