//! The model of RISC-V: its decoder against a disassembler, its instructions against an emulator, and
//! functions that break its rules.
//!
//! `decoder` has the texts of instructions; `instructions` runs them; `faults` has functions in
//! assembly, and wrong objects of kernels; `safety` has functions without a specification; `traces`
//! has objects that a second model of the machine runs.

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
mod traces;

use assembly::{Assembly, read};
use usuba_run::cc::Machine;

/// The compiler for RV32IMC, without relaxation, and an emulator; says if there are none.
fn machine() -> Option<Machine> {
    assembly::machine("gp32", &["-march=rv32imc", "-mno-relax", "-O2"])
}
