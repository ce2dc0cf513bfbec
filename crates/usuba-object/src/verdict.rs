//! Verdicts on functions in machine code, and the obstacles that end a proof early.
//!
//! ```text
//! Proved(evidence)   Refuted(an input)   Refused(an instruction, a rule)   Unknown(an obligation)
//! ```
//!
//! Kernels and functions over blocks share the evidence type; the types of their counterexamples
//! differ.

use usuba_sat::Engines;

use super::{Fault, Residue, Rule};

/// The verdict on a function: it computes the program and is constant-time, for all inputs.
pub type Verdict<Difference> = usuba_sat::Verdict<Evidence, Difference, String, Fault>;

/// The evidence from a proof of a function.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Evidence {
    /// Engines that proved the results equal.
    pub engines: Engines,
    /// Executed instructions, summed over all paths.
    pub instructions: u64,
    /// Nodes of the largest graph.
    pub nodes: usize,
    /// Bytes of the frame, with saved registers and without the return address.
    pub frame: u64,
    /// Frame residues for which the function was executed.
    pub phases: u32,
    /// Secrets that remain after the return, the most on any path.
    pub residue: Residue,
    /// Loops over any number of blocks; `None` for a function of fixed size.
    pub turns: Option<Turns>,
}

/// The structure of the proof for any number of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Turns {
    /// Loops over blocks, each shown by one induction step.
    pub loops: u32,
    /// Paths to the end.
    pub paths: u32,
}

/// The reason why a proof ends.
pub enum Obstacle<Difference> {
    /// An instruction breaks a rule.
    Fault(Fault),
    /// A result differs on this input.
    Differs(Difference),
    /// Another engine may prove it.
    Resisted(String),
    /// No engine can prove it.
    Impossible(String),
}

/// The verdict of a proof that an obstacle ended.
pub fn verdict<Difference>(
    outcome: Result<(), Obstacle<Difference>>,
    evidence: Evidence,
) -> Verdict<Difference> {
    match outcome {
        Ok(()) => Verdict::Proved(evidence),
        // A bound of the search is no broken rule.
        Err(Obstacle::Fault(fault)) if fault.rule == Rule::TooLong => {
            Verdict::Unknown(fault.to_string())
        }
        Err(Obstacle::Fault(fault)) => Verdict::Refused(fault),
        Err(Obstacle::Differs(difference)) => Verdict::Refuted(difference),
        Err(Obstacle::Resisted(what) | Obstacle::Impossible(what)) => Verdict::Unknown(what),
    }
}
