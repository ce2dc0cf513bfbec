//! The command line of `usubac test`.

use clap::{Args, ValueEnum};
use usuba::isa::Target;

use super::values::parse_target;
use super::{Compiler, Direction, Folder};

#[derive(Args, Clone, Debug)]
pub struct Test {
    /// Ciphers: built-in names, folders, or programs in folders [default: the working directory,
    /// if it is a cipher folder]
    #[arg(value_name = "SUBJECT", conflicts_with = "all")]
    pub subjects: Vec<String>,
    /// All ciphers
    #[arg(long)]
    pub all: bool,
    /// Compile every function, not only the first one of each slicing of a cipher
    #[arg(long)]
    pub all_functions: bool,
    /// Only this function; may be repeated
    #[arg(long = "function", value_name = "NAME")]
    pub functions: Vec<String>,
    #[command(flatten)]
    pub folder: Folder,
    /// Only these instruction sets [default: all that this machine runs or emulates]
    #[arg(long, value_name = "TARGET", value_parser = parse_target, value_delimiter = ',')]
    pub target: Vec<&'static Target>,
    /// Only these slicings
    #[arg(long, value_enum, value_name = "SLICING", value_delimiter = ',')]
    pub slicing: Vec<Direction>,
    /// With these C compilers
    #[arg(long, value_enum, value_name = "COMPILER", value_delimiter = ',')]
    pub cc: Vec<Compiler>,
    /// Flags of the C compiler after the flags of the target
    #[arg(long, value_name = "FLAGS", default_value = "-O3", allow_hyphen_values = true)]
    pub cflags: String,
    /// The seed of the random blocks, which are compared besides the vectors
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Tests at the same time [default: one for each core]
    #[arg(short, long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// How the results are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: Written,
}

/// The form of results.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Written {
    /// Lines to read
    #[default]
    Human,
    /// One JSON object
    Json,
}
