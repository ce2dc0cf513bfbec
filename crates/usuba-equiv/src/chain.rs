//! A proof from the source to the last program, link by link.
//!
//! ```text
//! source ─ lowering ─ pass ─ pass ─ ... ─ last program ─ rows of the target
//! ```
//!
//! Each link is a claim of its own about two programs, so the engines never see more than what one
//! pass changed. Equality is transitive: when all links hold, the last program computes what the
//! source means, once for each copy of an interleaved program; and with the lanes, so does every
//! lane of a register that runs it by the rows of the target.

use usuba::ir::lanes::apart as words_of;
use usuba::ir::{Op, Program, halves};
use usuba::isa::{Layout, Target};

use crate::claims::{Claim, Kind, Outcome, outcome};
use crate::facts::Memory;
use crate::source::Source;
use crate::steps::Steps;
use crate::strategy::Search;
use crate::{Engines, Verdict, equivalent, lanes};

/// The links that were seen so far.
pub struct Chain {
    source: Source,
    lowered: Option<Program>,
    steps: Steps,
}

impl Chain {
    pub fn new(source: Source) -> Chain {
        Chain { source, lowered: None, steps: Steps::default() }
    }

    /// Compares `program`, which is what `pass` left, with what was seen before; the first one
    /// with the source.
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

    /// Compares the last program with what lowering made in one step. It says nothing that the
    /// links do not say, in another way.
    pub fn direct(&self) -> Option<Claim> {
        let (first, last) = (self.lowered.as_ref()?, self.steps.previous()?);
        let subject = "the last program".to_string();
        Some(Claim { kind: Kind::Direct, subject, outcome: compared(first, last) })
    }

    /// Whether the target computes the operators of the last program in every lane; one claim
    /// for all of them, or for the first one of which it is not known.
    pub fn lanes(&self, target: &Target, layout: Layout) -> Option<Claim> {
        self.lanes_by(target, layout, &|op, bits| lanes::prove(target, layout, op, bits))
    }

    /// The same, where `prove` says so of one operator on so many bits: it is [`lanes::prove`], or
    /// knows what that said before.
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
    // Differences are told on words.
    let (before, after) = (&words_of(before), &words_of(after));
    let mut memory = Memory::default();
    let pairs = match verdict {
        Verdict::Refuted(_) => Search::new(before, None, after, &mut memory).same_names(),
        _ => Vec::new(),
    };
    outcome(verdict, before, after, &pairs)
}
