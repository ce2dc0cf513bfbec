//! The command line of `usubac dist`.

use clap::{Args, ValueEnum};

use super::common::{Folder, Functions, OUTPUT, Output, Prefix, Targets};

#[derive(Args, Clone, Debug)]
pub struct Dist {
    /// Names or folders of ciphers [default for library, rust and --measure: all]
    #[arg(value_name = "SUBJECT")]
    pub subjects: Vec<String>,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub targets: Targets,
    /// One file for each cipher, a library, a crate, or NaCl
    #[arg(long, value_enum, value_name = "KIND", default_value_t, help_heading = OUTPUT)]
    pub kind: Packaging,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub prefix: Prefix,
    #[command(flatten)]
    pub functions: Functions,
    /// End with a table of the bytes of C by function and instruction set, as on a terminal
    #[arg(long, conflicts_with_all = ["measure", "ladders", "status", "curves"],
          help_heading = OUTPUT)]
    pub sizes: bool,
    /// Write no C; measure the cost of calls, and write costs.toml into each folder
    #[arg(long, conflicts_with_all = ["kind", "output", "ladders"], help_heading = OUTPUT)]
    pub measure: bool,
    /// Write no C; show the dispatch thresholds of the kernels in blocks, and cycles per byte
    #[arg(long, hide = true, conflicts_with_all = ["kind", "output"], help_heading = OUTPUT)]
    pub ladders: bool,
    /// Write no C; show slicings, modes and speed of all ciphers as a table for documents
    #[arg(long, hide = true, conflicts_with_all = ["kind", "output", "measure", "ladders"],
          help_heading = OUTPUT)]
    pub status: bool,
    /// Write no C; show dispatch tables and curves of all ciphers as a table for documents
    #[arg(long, hide = true, conflicts_with_all = ["kind", "output", "measure", "ladders", "status"],
          help_heading = OUTPUT)]
    pub curves: bool,
}

/// The form of ciphers to embed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Packaging {
    /// One C file and one header for each cipher; with `--target cuda` CUDA C++
    #[default]
    File,
    /// A library, to be built with CMake
    Library,
    /// A Rust crate with the traits of the crate `cipher`
    Rust,
    /// Salsa20, ChaCha20, SHA-2, Poly1305 and Curve25519 in one C file with NaCl's header
    Nacl,
}
