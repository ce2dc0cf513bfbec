//! Translation validation of a pipeline: one equivalence check after each pass.

use std::fmt;

use usuba::ir::Program;

use crate::steps::Steps;
use crate::{Stats, Verdict};

/// Sees a program after lowering and after each pass, and proves each step.
///
/// ```text
/// let mut proof = Observer::default();
/// compile(..., &mut |pass, program| proof.see(pass, program));
/// proof.finish()?;
/// ```
#[derive(Default)]
pub struct Observer {
    steps: Steps,
    proved: usize,
    stats: Stats,
    fault: Option<Fault>,
}

/// A pass that could not be proved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub pass: String,
    /// The number of earlier passes that were proved.
    pub proved: usize,
    /// Never `Verdict::Proved`.
    pub verdict: Verdict,
}

impl Observer {
    /// Compares `program`, the result of `pass`, with the previous program. After a fault it does
    /// nothing more: the first fault is reported.
    pub fn see(&mut self, pass: &str, program: &Program) {
        if self.fault.is_some() {
            return;
        }
        match self.steps.see(program) {
            None => {}
            Some(Verdict::Proved(stats)) => {
                self.proved += 1;
                self.stats = self.stats.and(stats);
            }
            Some(verdict) => {
                let (pass, proved) = (pass.to_string(), self.proved);
                self.fault = Some(Fault { pass, proved, verdict });
            }
        }
    }

    /// The cost of all proofs so far.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// The pass that could not be proved, if there is one so far.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Number of passes that were proved.
    ///
    /// # Errors
    /// The first pass that could not be proved.
    pub fn finish(self) -> Result<usize, Fault> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(self.proved),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pass = &self.pass;
        match &self.verdict {
            Verdict::Refused(never) => match *never {},
            Verdict::Proved(_) => write!(f, "the pass {pass} is proved"),
            Verdict::Unknown(what) => {
                write!(f, "the pass {pass} could not be proved: {what}")
            }
            Verdict::Refuted(example) => {
                let (expected, found) = (&example.expected, &example.found);
                let at = expected.iter().zip(found).position(|(a, b)| a != b).unwrap_or(0);
                write!(
                    f,
                    "the pass {pass} changed what the program computes: on the inputs {:x?} \
                     output {at} is {:#x} and was {:#x}",
                    example.input, found[at], expected[at]
                )
            }
        }
    }
}

impl std::error::Error for Fault {}
