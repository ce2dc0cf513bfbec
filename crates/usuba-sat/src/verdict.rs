//! The verdict of a prover on a claim.
//!
//! ```text
//! Proved(evidence)   Refuted(counterexample)   Refused(violation)   Unknown(reason)
//! ```
//!
//! Each prover chooses the types. Programs break no rule of a machine, so only provers of objects
//! have a type of violations; for all others `Refused` cannot be constructed. Text is made of a
//! verdict where a report is printed, and nowhere before.

use std::convert::Infallible;

/// The answer of a prover about a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict<Evidence, Counterexample, Reason = String, Violation = Infallible> {
    /// The claim holds for all inputs.
    Proved(Evidence),
    /// The claim does not hold for this input.
    Refuted(Counterexample),
    /// The code breaks a rule, independently of its results.
    Refused(Violation),
    /// Every engine gave up.
    Unknown(Reason),
}

impl<Evidence, Counterexample, Reason, Violation>
    Verdict<Evidence, Counterexample, Reason, Violation>
{
    /// Whether the claim holds.
    pub fn is_proved(&self) -> bool {
        matches!(self, Verdict::Proved(_))
    }

    /// The word for it in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Proved(_) => "PROVED",
            Verdict::Refuted(_) => "REFUTED",
            Verdict::Refused(_) => "REFUSED",
            Verdict::Unknown(_) => "UNKNOWN",
        }
    }

    /// The same verdict with other evidence and another form of counterexample.
    pub fn map<E, C>(
        self,
        evidence: impl FnOnce(Evidence) -> E,
        counterexample: impl FnOnce(Counterexample) -> C,
    ) -> Verdict<E, C, Reason, Violation> {
        match self {
            Verdict::Proved(found) => Verdict::Proved(evidence(found)),
            Verdict::Refuted(found) => Verdict::Refuted(counterexample(found)),
            Verdict::Refused(violation) => Verdict::Refused(violation),
            Verdict::Unknown(reason) => Verdict::Unknown(reason),
        }
    }
}

impl<Evidence, Counterexample, Reason> Verdict<Evidence, Counterexample, Reason> {
    /// The same verdict beside verdicts on objects.
    pub fn widened<Violation>(self) -> Verdict<Evidence, Counterexample, Reason, Violation> {
        match self {
            Verdict::Proved(evidence) => Verdict::Proved(evidence),
            Verdict::Refuted(example) => Verdict::Refuted(example),
            Verdict::Unknown(reason) => Verdict::Unknown(reason),
        }
    }
}
