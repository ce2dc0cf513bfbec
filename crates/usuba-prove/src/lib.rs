//! Proof pipeline of `usubac prove`; the command prints the reports.
//!
//! ```text
//! tasks ─→ cell: compile ─→ lowering, passes, lanes ─→ objects ─→ byte interface ─→ record
//!             └ claims with typed verdicts ──────────────────────────────────────────┘
//! ```
//!
//! - `cell`: one entry, slicing, target and set of flags: the compile and its proof.
//! - `compiler`: objects that C compilers make; `objects`: their proofs.
//! - `byte_interface`: proofs of functions over any number of blocks; `interfaces`: their driver
//!   for a cipher folder; `key_setup`: contracts of key setups.
//! - `arithmetic_folder`: programs with contracts beside the cipher folders.
//! - `dist`: the functions of a user's file that contains an output of `usubac dist`; `unit`: a
//!   function that a program specifies; `exported`: contracts of declared functions; `rows`: the
//!   answers about each function; `scenarios`: exported functions and specifications of modes.
//! - `tasks`: all proofs of a library; `threads`: work on several threads.
//! - `cache`: records of earlier proofs; `certificate`: files with records beside programs;
//!   `replayable`: certificates with their steps, which `usuba-replay` replays.
//! - `fault_injection`: faults in programs; `machine_faults`: faults in machine code.

pub mod arithmetic_folder;
pub mod byte_interface;
pub mod cache;
pub mod cell;
pub mod certificate;
pub mod compiler;
pub mod dist;
pub mod exported;

pub mod fault_injection;
pub mod interfaces;
pub mod key_setup;
pub mod machine_faults;
pub mod objects;
pub mod replayable;
pub mod rows;
mod scenarios;
mod sources;
pub mod tasks;
pub mod threads;
pub mod unit;

use usuba_equiv::claims::{self, Difference};
use usuba_object::Fault;
use usuba_object::verdict::Evidence as Machine;
use usuba_sat::{Engines, Verdict};

/// The evidence for a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// A program, an operator or a contract: the engines that showed it.
    Engines(Engines),
    /// A function in machine code.
    Machine(Machine),
}

/// The verdict on a claim about a program or about machine code.
pub type Outcome = Verdict<Evidence, Box<Difference>, String, Fault>;

/// A claim of a report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    pub kind: claims::Kind,
    /// The object of the claim: a pass, an operator, an object.
    pub subject: String,
    pub outcome: Outcome,
}

impl Claim {
    /// The engines of a proved claim.
    pub fn engines(&self) -> Option<Engines> {
        match &self.outcome {
            Verdict::Proved(Evidence::Engines(engines)) => Some(*engines),
            Verdict::Proved(Evidence::Machine(machine)) => Some(machine.engines),
            _ => None,
        }
    }

    /// The evidence of a proved claim about machine code.
    pub fn machine(&self) -> Option<&Machine> {
        match &self.outcome {
            Verdict::Proved(Evidence::Machine(machine)) => Some(machine),
            _ => None,
        }
    }
}

impl From<claims::Claim> for Claim {
    fn from(claim: claims::Claim) -> Claim {
        let outcome = claim.outcome.widened().map(Evidence::Engines, |difference| difference);
        Claim { kind: claim.kind, subject: claim.subject, outcome }
    }
}
