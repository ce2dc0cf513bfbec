//! The command line of `usubac generate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
pub struct Generate {
    #[command(subcommand)]
    pub what: Generated,
}

#[derive(Subcommand, Debug)]
pub enum Generated {
    /// Write a manual page for every command
    Man(Out),
    /// Write the completions of every shell
    Completions(Out),
    /// Write the headers that code of `--abi usubac` includes
    Headers(Out),
}

#[derive(Args, Debug)]
pub struct Out {
    /// The folder of the files; made if it is not there, and files of the same names are replaced
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
}
