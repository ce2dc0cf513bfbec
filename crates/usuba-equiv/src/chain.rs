//! Translation validation of a compile: one equivalence claim for each pass, from source to final
//! IR.
//!
//! ```text
//! source ─ lowering ─ pass ─ pass ─ ... ─ last program ─ rows of the target
//! ```
//!
//! Each claim compares two adjacent programs, so the engines see only the changes of one pass.
//! Equality is transitive: if all claims hold, the final IR computes the reference semantics in
//! every instance of an interleaved program. With the lane claims, so does every lane of a register
//! under the target's instruction patterns.

use usuba::ir::lanes::apart as words_of;
use usuba::ir::{Op, Program, halves};
use usuba::isa::{Layout, Target};

use crate::claims::{Claim, Kind, Outcome, outcome};
use crate::facts::Memory;
use crate::source::Source;
use crate::steps::Steps;
use crate::strategy::Search;
use crate::{Engines, Verdict, equivalent, lanes};

/// The programs and claims of the chain up to the current pass.
pub struct Chain {
    source: Source,
    lowered: Option<Program>,
    steps: Steps,
}

impl Chain {
    pub fn new(source: Source) -> Chain {
        Chain { source, lowered: None, steps: Steps::default() }
    }

    /// Compares `program`, the output of `pass`, with the previous program; the first call compares
    /// it with the source.
    pub fn see(&mut self, pass: &str, program: &Program) -> Claim {
        let previous = self.steps.previous().cloned();
        let (kind, outcome) = match (previous, self.steps.see(program)) {
            (Some(previous), Some(verdict)) => (Kind::Pass, told(verdict, &previous, program)),
            _ => {
                self.lowered = Some(program.clone());
                (Kind::Lowering, self.source.outcome(program))
            }
        };
        Claim { kind, subject: pass.to_string(), outcome }
    }

    /// Compares the final IR with the output of lowering in one step. The claim is implied by the
    /// pass claims and checks them independently.
    pub fn direct(&self) -> Option<Claim> {
        let (first, last) = (self.lowered.as_ref()?, self.steps.previous()?);
        let subject = "the last program".to_string();
        Some(Claim { kind: Kind::Direct, subject, outcome: compared(first, last) })
    }

    /// Proves that the target computes every operator of the final IR in every lane. Returns one
    /// claim for all operators, or the claim of the first unproved operator.
    pub fn lanes(&self, target: &Target, layout: Layout) -> Option<Claim> {
        self.lanes_by(target, layout, &|op, bits| lanes::prove(target, layout, op, bits))
    }

    /// Like [`Chain::lanes`], with `prove` as the prover of one operator at a given width:
    /// [`lanes::prove`] or a cache of it.
    pub fn lanes_by(
        &self,
        target: &Target,
        layout: Layout,
        prove: &dyn Fn(&Op, u8) -> Outcome,
    ) -> Option<Claim> {
        let last = self.steps.previous()?;
        let operators = lanes::operators(last);
        let mut engines = Engines::default();
        for (op, bits) in &operators {
            match prove(op, *bits) {
                Outcome::Proved(by) => engines = engines.with(by),
                outcome => {
                    let subject = format!("{} on {bits} bits", op.name());
                    return Some(Claim { kind: Kind::Lanes, subject, outcome });
                }
            }
        }
        let halves = last.nodes.iter().any(|node| halves::products(node).contains(&true));
        match lanes::prove_halves(target, layout).filter(|_| halves) {
            None => {}
            Some(Outcome::Proved(by)) => engines = engines.with(by),
            Some(outcome) => {
                let subject = "products of words below 2^32".to_string();
                return Some(Claim { kind: Kind::Lanes, subject, outcome });
            }
        }
        let subject = match operators.len() {
            1 => "1 operator".to_string(),
            count => format!("{count} operators"),
        };
        Some(Claim { kind: Kind::Lanes, subject, outcome: Outcome::Proved(engines) })
    }
}

fn compared(before: &Program, after: &Program) -> Outcome {
    told(equivalent(before, after), before, after)
}

fn told(verdict: Verdict, before: &Program, after: &Program) -> Outcome {
    // Counterexamples are reported on words.
    let (before, after) = (&words_of(before), &words_of(after));
    let mut memory = Memory::default();
    let pairs = match verdict {
        Verdict::Refuted(_) => Search::new(before, None, after, &mut memory).same_names(),
        _ => Vec::new(),
    };
    outcome(verdict, before, after, &pairs)
}
