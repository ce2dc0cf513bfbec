//! What is known about a function, and why a proof of it ended.
//!
//! ```text
//! Proved(report)     Refuted(an input)     Refused(an instruction, a rule)     Unknown(what resisted)
//! ```
//!
//! What a proof reports, and what an input of a function is, is different for kernels and for
//! functions over blocks; these are parameters here.

use super::Fault;

/// What is known about a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer<Report, Difference> {
    /// It computes the program and breaks no rule, for all of its inputs.
    Proved(Report),
    /// It computes something else.
    Refuted(Difference),
    /// An instruction breaks a rule.
    Refused(Fault),
    /// None of these could be shown; the text says what resisted.
    Unknown(String),
}

/// Why a proof ended.
pub enum Obstacle<Difference> {
    Fault(Fault),
    Differs(Difference),
    /// Another engine may show it.
    Resisted(String),
    /// None will.
    Impossible(String),
}

impl<Report, Difference> Answer<Report, Difference> {
    /// What came of a proof.
    pub fn of(outcome: Result<(), Obstacle<Difference>>, report: Report) -> Self {
        match outcome {
            Ok(()) => Answer::Proved(report),
            Err(Obstacle::Fault(fault)) => Answer::Refused(fault),
            Err(Obstacle::Differs(difference)) => Answer::Refuted(difference),
            Err(Obstacle::Resisted(what) | Obstacle::Impossible(what)) => Answer::Unknown(what),
        }
    }
}
