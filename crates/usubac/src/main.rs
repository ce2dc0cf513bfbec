//! The program `usubac`: flags, files, colours and sub-commands around the pure compiler.
//!
//! - `args`: the command line; `legacy`: the spellings of the original compiler.
//! - `files`: reading and including; `output`: writing.
//! - `report`: how findings look; `explain`: the error index; `fault`: our own bugs.
//! - `commands`: one file per sub-command.

mod args;
mod commands;
mod explain;
mod fault;
mod files;
mod legacy;
mod output;
mod report;

use std::process::ExitCode;

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub enum Failure {
    /// The findings are already written; status 1.
    Reported,
    /// Nothing more to say, and nobody left to hear it; status 1.
    Silent,
    /// The program or a file; status 1.
    Program(String),
    /// The command line; status 2.
    Usage(String),
    /// Answers that should be equal are not; status 3.
    Refuted(String),
}

impl Failure {
    pub fn program(message: impl Into<String>) -> Failure {
        Failure::Program(message.into())
    }

    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage(message.into())
    }

    /// What is still to be said.
    pub fn text(&self) -> Option<&str> {
        match self {
            Failure::Reported | Failure::Silent => None,
            Failure::Program(text) | Failure::Usage(text) | Failure::Refuted(text) => Some(text),
        }
    }

    fn status(&self) -> u8 {
        match self {
            Failure::Reported | Failure::Silent | Failure::Program(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Refuted(_) => 3,
        }
    }
}

fn main() -> ExitCode {
    fault::install();
    let format = args::error_format();
    match args::parse(format).and_then(commands::run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(text) = failure.text() {
                output::to_stderr(&report::failure(format, text));
            }
            ExitCode::from(failure.status())
        }
    }
}
