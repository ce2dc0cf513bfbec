//! The verdict on a function in machine code, and why a proof of one ends early.
//!
//! ```text
//! Proved(evidence)   Refuted(an input)   Refused(an instruction, a rule)   Unknown(an obligation)
//! ```
//!
//! Kernels and functions over blocks have the same evidence; their counterexamples are of different
//! types.

use usuba_sat::Engines;

use super::{Fault, Residue};

/// The verdict on a function: it computes the program and breaks no rule, for all of its inputs.
pub type Verdict<Difference> = usuba_sat::Verdict<Evidence, Difference, String, Fault>;

/// What a proof of a function found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Evidence {
    /// Engines that showed the results equal.
    pub engines: Engines,
    /// Instructions that were executed, on all paths.
    pub instructions: u64,
    /// Nodes of the largest graph.
    pub nodes: usize,
    /// Bytes of the frame, with saved registers and without the return address.
    pub frame: u64,
    /// Positions of the frame for which the function was executed.
    pub phases: u32,
    /// Secrets that are left behind, the most on any path.
    pub residue: Residue,
    /// Loops over any number of blocks; `None` for a function of fixed size.
    pub turns: Option<Turns>,
}

/// How a function over any number of blocks was shown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Turns {
    /// Loops over blocks, each shown by one induction step.
    pub loops: u32,
    /// Paths to the end.
    pub paths: u32,
}

/// Why a proof ended.
pub enum Obstacle<Difference> {
    /// An instruction breaks a rule.
    Fault(Fault),
    /// A result differs on this input.
    Differs(Difference),
    /// Another engine may show it.
    Resisted(String),
    /// No engine can.
    Impossible(String),
}

/// The verdict of a proof that ended so.
pub fn verdict<Difference>(
    outcome: Result<(), Obstacle<Difference>>,
    evidence: Evidence,
) -> Verdict<Difference> {
    match outcome {
        Ok(()) => Verdict::Proved(evidence),
        Err(Obstacle::Fault(fault)) => Verdict::Refused(fault),
        Err(Obstacle::Differs(difference)) => Verdict::Refuted(difference),
        Err(Obstacle::Resisted(what) | Obstacle::Impossible(what)) => Verdict::Unknown(what),
    }
}
