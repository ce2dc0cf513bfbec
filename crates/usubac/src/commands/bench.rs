//! `usubac bench` and `usubac demo`: cipher folders verified and timed on every target.

use usuba_lab::bench::{self, Choice};
use usuba_lab::native::Timing;

use crate::Failure;
use crate::args::{Bench, Direction};
use crate::output::{to_stderr, to_stdout};
use usuba::ir::Slicing;

/// What `demo` shows when nothing is named: a cipher of 16-bit words and one of 32-bit words.
const SHOWN: [&str; 2] = ["rectangle", "serpent"];

pub fn demo(args: &Bench) -> Result<(), Failure> {
    let mut args = args.clone();
    if args.ciphers.is_empty() {
        args.ciphers = SHOWN.map(String::from).to_vec();
    }
    bench(&args)
}

pub fn bench(args: &Bench) -> Result<(), Failure> {
    for name in &args.target {
        if usuba::target::find(name).is_none() {
            return Err(Failure::usage(format!(
                "there is no target `{name}`; `usubac --print targets` lists them"
            )));
        }
    }
    let targets = args.target.iter().filter_map(|name| usuba::target::find(name));
    let choice = Choice {
        ciphers: args.ciphers.clone(),
        targets: targets.map(|target| target.name.to_string()).collect(),
        slicings: args.slicing.iter().map(|direction| slicing(*direction)).collect(),
        all: args.all,
        timing: (!args.no_timing).then(Timing::default),
    };
    let mut progress = |target: &str| to_stderr(&format!("{target}: compiling and running\n"));
    let table = bench::demo(&args.folder, &choice, &mut progress).map_err(|error| {
        let hint = "--folder names the folder that holds the cipher folders";
        Failure::program(format!("{error}; {hint}"))
    })?;
    to_stdout(&table.to_string())?;
    match table.is_good() {
        true => Ok(()),
        false => Err(Failure::Refuted("not everything computes what its vectors say".into())),
    }
}

fn slicing(direction: Direction) -> Slicing {
    match direction {
        Direction::V => Slicing::V,
        Direction::H => Slicing::H,
        Direction::B => Slicing::B,
    }
}
