//! The command line of `usubac dist`.

use std::path::PathBuf;

use clap::Args;

use super::Folder;
use super::values::parse_prefix;

/// A prefix that is not empty: without one, names would be words of C.
fn parse_name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("a prefix has at least one letter".into()),
        text => parse_prefix(text),
    }
}

#[derive(Args, Clone, Debug)]
pub struct Dist {
    /// Names or folders of ciphers; each becomes one C file and one header [default for --library,
    /// --rust and --measure: all]
    #[arg(value_name = "CIPHER", required_unless_present_any = ["library", "rust", "nacl", "measure", "status", "curves"])]
    pub ciphers: Vec<String>,
    /// Where the files go: a folder, or a file that ends with .c [default: the working directory]
    #[arg(short, long, value_name = "PATH", conflicts_with = "library")]
    pub out: Option<PathBuf>,
    /// Write a library of all ciphers into this folder, to be built with CMake
    #[arg(long, value_name = "DIR")]
    pub library: Option<PathBuf>,
    /// Write a Rust crate of all ciphers into this folder, with the traits of the crate `cipher`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["library", "out"])]
    pub rust: Option<PathBuf>,
    /// Write NaCl: Salsa20, ChaCha20, SHA-2, Poly1305 and Curve25519 in one C file with NaCl's header,
    /// for all processors unless targets are named
    #[arg(long, value_name = "DIR", conflicts_with_all = ["ciphers", "library", "rust", "out"])]
    pub nacl: Option<PathBuf>,
    /// The prefix of all names
    #[arg(long, value_name = "PREFIX", default_value = "usuba_", value_parser = parse_name,
          conflicts_with = "library")]
    pub prefix: String,
    /// Instruction sets, separated by commas [default: gp64 and all vectors]
    #[arg(long, visible_alias = "arch", value_name = "TARGETS", value_delimiter = ',')]
    pub targets: Vec<String>,
    /// Write these functions of one cipher, and what belongs to them: both directions of `aes128`, or
    /// `sha512` alone
    #[arg(long = "function", value_name = "NAME", value_delimiter = ',',
          conflicts_with_all = ["library", "rust", "nacl", "measure", "ladders", "status", "curves"])]
    pub functions: Vec<String>,
    /// End with a table of the bytes of C by function and instruction set, as on a terminal
    #[arg(long, conflicts_with_all = ["library", "rust", "nacl", "measure", "ladders", "status", "curves"])]
    pub sizes: bool,
    /// Write no C; measure on this machine the cost of calls, and write costs.toml into each folder
    #[arg(long, conflicts_with_all = ["library", "rust", "nacl", "out", "ladders"])]
    pub measure: bool,
    /// Write no C; show the dispatch thresholds of the kernels in blocks, and cycles per byte
    #[arg(long, hide = true, conflicts_with_all = ["library", "rust", "nacl", "out"])]
    pub ladders: bool,
    /// Write no C; show slicings, modes and speed of all ciphers as a table for documents
    #[arg(long, hide = true, conflicts_with_all = ["library", "rust", "nacl", "out", "measure", "ladders"])]
    pub status: bool,
    /// Write no C; show dispatch tables and curves of all ciphers as a table for documents
    #[arg(long, hide = true, conflicts_with_all = ["library", "rust", "nacl", "out", "measure", "ladders", "status"])]
    pub curves: bool,
    #[command(flatten)]
    pub folder: Folder,
}
