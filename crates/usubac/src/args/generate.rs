//! The command line of `usubac generate`.

use clap::{Args, Subcommand};

use super::common::Output;

#[derive(Args, Debug)]
pub struct Generate {
    #[command(subcommand)]
    pub what: Generated,
}

#[derive(Subcommand, Debug)]
pub enum Generated {
    /// Write a manual page for every command
    Man(Output),
    /// Write the completions of every shell
    Completions(Output),
    /// Write the headers that code of `--abi usubac` includes
    Headers(Output),
}
