//! The chores of this repository as functions, so that tests can run them.
//!
//! - `repo`: the text files of the repository, in memory.
//! - `rust`: Rust text without its tests, and what it imports.
//! - `tidy`: the house rules, one file each.
//! - `docs`: programs and commands that documents show.
//! - `runner`: all checks of a change, in one run.
//! - `peers`: the table of other libraries in the README.

pub mod docs;
pub mod peers;
pub mod repo;
pub mod runner;
pub mod rust;

pub mod tidy;
