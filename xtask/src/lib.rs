//! Maintenance tasks of this repository as functions, so that tests can run them.
//!
//! - `repo`: the text files of the repository, in memory.
//! - `rust`: Rust text without its tests, and its imports.
//! - `tidy`: the house rules, one file each.
//! - `modules`: lists of modules that follow from folders.
//! - `bless`: writes all that follows from tables, tests and folders.
//! - `budgets`: the cost of an extension, counted on toys.
//! - `runner`: all checks of a change, in one run.
//! - `turns`: which long tests one run has.

pub mod bless;
pub mod budgets;
pub mod modules;
pub mod repo;
pub mod runner;
pub mod rust;
pub mod turns;

pub mod tidy;

use std::io;
use std::process::ExitCode;

use repo::Finding;

/// Prints the findings of a command; its exit status.
pub fn answer(command: &str, findings: io::Result<Vec<Finding>>) -> ExitCode {
    match findings {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            for finding in &findings {
                eprintln!("{finding}");
            }
            eprintln!("{command}: {} to mend", findings.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{command}: {error}");
            ExitCode::FAILURE
        }
    }
}
