//! The flags of `usubac explore`.

use std::path::PathBuf;

use clap::Args;
use usuba::isa::cpu::Cpu;

use super::Language;
use super::common::{INPUT, Output, TARGET, Targets};
use super::values::parse_cpu;

/// The program, and the settings that the page begins with.
#[derive(Args, Debug)]
pub struct Explore {
    /// The program, or the name of a function of a cipher; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub output: Output,
    /// The page of the explorer [default: the one that is installed with usubac]
    ///
    /// `scripts/explorer` builds it.
    #[arg(long, value_name = "PAGE", help_heading = INPUT)]
    pub page: Option<PathBuf>,
    #[command(flatten)]
    pub language: Language,
    #[command(flatten)]
    pub targets: Targets,
    /// The model of a processor
    #[arg(long, value_name = "CPU", default_value = "generic", value_parser = parse_cpu,
          help_heading = TARGET)]
    pub cpu: &'static Cpu,
}
