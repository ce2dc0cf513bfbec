//! The command line of `usubac ciphers`.

use clap::{Args, Subcommand};

use super::common::{Folder, Output, Targets};

/// Built-in ciphers, and ciphers of your folders.
#[derive(Args, Debug)]
pub struct Ciphers {
    #[command(subcommand)]
    pub query: Query,
}

#[derive(Subcommand, Debug)]
pub enum Query {
    /// List all ciphers with their titles
    List {
        #[command(flatten)]
        folder: Folder,
    },
    /// Show the functions, keystreams, hash functions and seals of a cipher, and its programs
    Show {
        /// Names or folders of ciphers
        #[arg(value_name = "SUBJECT", required = true)]
        subjects: Vec<String>,
        #[command(flatten)]
        folder: Folder,
    },
    /// Write the files of built-in ciphers, to change them
    Copy {
        /// Names of built-in ciphers, or of their functions
        #[arg(value_name = "SUBJECT", required = true)]
        subjects: Vec<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Show slicings, modes and speed as a table for documents
    Status(Table),
    /// Show the dispatch thresholds of the kernels in blocks, and cycles per byte
    Thresholds(Table),
    /// Show dispatch tables and curves as a table for documents
    Curves(Table),
}

/// Ciphers and instruction sets of a table.
#[derive(Args, Debug)]
pub struct Table {
    /// Names or folders of ciphers [default: all]
    #[arg(value_name = "SUBJECT")]
    pub subjects: Vec<String>,
    #[command(flatten)]
    pub targets: Targets,
    #[command(flatten)]
    pub folder: Folder,
}
