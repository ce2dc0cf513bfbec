//! The program `usubac`: flags, files, colours and sub-commands around the pure compiler.
//!
//! - `args`: the command line; `legacy`: compatibility with the OCaml compiler's spellings.
//! - `files`: reading and including; `output`: writing.
//! - `interrupt`: Ctrl-C and SIGTERM.
//! - `report`: formats of diagnostics; `explain`: the error index; `fault`: faults of usubac.
//! - `commands`: one file per sub-command; `lsp`: the language server.

mod args;
mod commands;
mod explain;
mod fault;
mod files;
mod interrupt;
mod legacy;
mod lsp;
mod output;
mod report;

use std::process::ExitCode;

/// The reason why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The diagnostics are already written; status 1.
    Reported,
    /// No message, because its reader is gone; status 1.
    Silent,
    /// An error in the program or a file; status 1.
    Program(String),
    /// An error in the command line; status 2.
    Usage(String),
    /// Results that should be equal differ; status 3.
    Refuted(String),
}

impl Failure {
    pub fn program(message: impl Into<String>) -> Failure {
        Failure::Program(message.into())
    }

    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage(message.into())
    }

    /// The message, unless it is already written.
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
