//! The flags of `usubac synth`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use usuba::circuit;

/// The subject and the length of the search.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("subject").required(true).args(["file", "table", "matrix"]))]
pub struct Synth {
    /// A program; every table in it, or the one that `--entry` names
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The entries of a table, most significant bit first, such as 1,0,3,2
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    pub table: Option<String>,
    /// A file with a matrix of bits: a row of 0 and 1 for each output
    #[arg(long, value_name = "FILE")]
    pub matrix: Option<PathBuf>,
    /// Input and output bits of the table [default: as few as the entries need]
    #[arg(long, value_name = "IN,OUT", requires = "table", value_parser = parse_shape)]
    pub bits: Option<Shape>,
    /// The table of the program
    #[arg(long, value_name = "TABLE", requires = "file")]
    pub entry: Option<String>,
    /// Where to look for included files, after the directory of the including file
    #[arg(short = 'I', value_name = "DIR", requires = "file")]
    pub include: Vec<PathBuf>,
    /// Which gates there are; may be given again [default: each of them, for a matrix xors only]
    #[arg(long, value_enum, value_name = "GATES")]
    pub profile: Vec<Gates>,
    /// How much to search, in nodes: a number, or a number with k, M or G
    #[arg(long, value_name = "NODES", default_value = "100M", value_parser = parse_budget)]
    pub budget: u64,
    /// The seed of the random choices for a matrix
    #[arg(long, value_name = "N", default_value_t = 1, requires = "matrix")]
    pub seed: u64,
    /// Keep the circuits that the search finds in this folder, and look there first
    #[arg(long, value_name = "DIR", conflicts_with = "matrix")]
    pub cache: Option<PathBuf>,
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

fn parse_budget(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'k')) => (&text[..at], 1_000),
        Some((at, 'M')) => (&text[..at], 1_000_000),
        Some((at, 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let nodes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    nodes.ok_or_else(|| "a number of nodes, or a number with k, M or G".into())
}
