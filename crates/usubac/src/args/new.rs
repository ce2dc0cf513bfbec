//! The command line of `usubac new`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::INPUT;

#[derive(Args, Clone, Debug)]
pub struct New {
    /// The folder to write, whose name becomes the name of the cipher
    #[arg(value_name = "NAME")]
    pub folder: PathBuf,
    /// The kind of primitive
    #[arg(long, value_enum, value_name = "KIND", default_value_t, help_heading = INPUT)]
    pub like: Kind,
    /// The size in bits: of a block, a state, a block of keystream, or a hash [default: 128, 256,
    /// 512, 256]
    #[arg(long, value_name = "BITS", help_heading = INPUT)]
    pub bits: Option<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Kind {
    /// A block cipher of rounds with an S-box
    #[default]
    Block,
    /// A permutation of rounds with an S-box
    Permutation,
    /// A stream cipher whose blocks are additions, rotations and XORs
    Stream,
    /// A hash function around a compression function
    Hash,
}
