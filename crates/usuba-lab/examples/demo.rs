//! Prints the table of all cipher functions on all targets, verified and timed.
//!
//! `cargo run --release -p usuba-lab --example demo [FOLDER...]` shows the named cipher folders,
//! or all.

use std::path::Path;
use std::process::ExitCode;

use usuba_lab::bench::{Choice, demo};
use usuba_lab::native::Timing;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ciphers");
    let ciphers = std::env::args().skip(1).collect();
    let choice = Choice { ciphers, timing: Some(Timing::default()), ..Choice::default() };
    match demo(&root, &choice, &mut |target| eprintln!("{target} ...")) {
        Ok(table) => {
            print!("{table}");
            if table.is_good() { ExitCode::SUCCESS } else { ExitCode::from(3) }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}
