//! The model of AArch64: its decoder against a disassembler, its instructions against an emulator, and
//! functions that break its rules.
//!
//! `decoder` has the texts of instructions; `instructions` runs them; `faults` has functions in
//! assembly, and wrong objects of kernels; `safety` has functions without a specification.

#[path = "../assembly/mod.rs"]
mod assembly;
#[path = "../safety/contracts.rs"]
mod contracts;
mod decoder;
mod faults;
#[path = "../safety/foreign.rs"]
mod foreign;
mod instructions;
mod safety;

use assembly::{Assembly, read};
use usuba_run::cc::Machine;

/// The compiler for AArch64, and an emulator; says if there are none.
fn machine() -> Option<Machine> {
    assembly::machine("neon", &[])
}
