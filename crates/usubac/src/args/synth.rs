//! The flags of `usubac synth`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use usuba::circuit;

use super::common::{Cache, Entry, INPUT, Includes, OPTIMISATION, Seed};

/// The subject and the length of the search.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("subject").required(true).args(["file", "table", "matrix"]))]
pub struct Synth {
    /// A program; every table in it, or the one that `--entry` names
    #[arg(value_name = "SUBJECT")]
    pub file: Option<PathBuf>,
    /// The entries of a table, most significant bit first, such as 1,0,3,2
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true, help_heading = INPUT)]
    pub table: Option<String>,
    /// A file with a matrix of bits: a row of 0 and 1 for each output
    #[arg(long, value_name = "FILE", help_heading = INPUT)]
    pub matrix: Option<PathBuf>,
    /// Input and output bits of the table [default: as few as the entries need]
    #[arg(long, value_name = "IN,OUT", requires = "table", value_parser = parse_shape,
          help_heading = INPUT)]
    pub shape: Option<Shape>,
    #[command(flatten)]
    pub entry: Entry,
    #[command(flatten)]
    pub includes: Includes,
    /// Which gates there are; may be given again [default: each of them, for a matrix xors only]
    #[arg(long, value_enum, value_name = "GATES", help_heading = OPTIMISATION)]
    pub gates: Vec<Gates>,
    /// How much to search, in nodes: a number, or a number with k, M or G
    #[arg(long, value_name = "NODES", default_value = "100M", value_parser = parse_nodes,
          help_heading = OPTIMISATION)]
    pub node_limit: u64,
    #[command(flatten)]
    pub seed: Seed,
    #[command(flatten)]
    pub cache: Cache,
}

/// Input and output bits of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    pub inputs: u8,
    pub outputs: u8,
}

/// The gates of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Gates {
    /// and, or, xor, not
    Basic,
    /// and ~a & b
    Andn,
    /// and every function of three bits
    Lut3,
}

impl Gates {
    pub fn profile(self) -> circuit::Profile {
        match self {
            Gates::Basic => circuit::Profile::Basic,
            Gates::Andn => circuit::Profile::Andn,
            Gates::Lut3 => circuit::Profile::Lut3,
        }
    }
}

fn parse_shape(text: &str) -> Result<Shape, String> {
    let (inputs, outputs) = text.split_once(',').ok_or("two numbers with a comma between them")?;
    let number = |text: &str, most: u8| match text.trim().parse::<u8>() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(format!("1 to {} input bits and 1 to 64 output bits", circuit::MAX_INPUTS)),
    };
    Ok(Shape { inputs: number(inputs, circuit::MAX_INPUTS)?, outputs: number(outputs, 64)? })
}

fn parse_nodes(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'k')) => (&text[..at], 1_000),
        Some((at, 'M')) => (&text[..at], 1_000_000),
        Some((at, 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let nodes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    nodes.ok_or_else(|| "a number of nodes, or a number with k, M or G".into())
}
