//! The proof of a compilation, one claim at a time, so that the page can show each when it is there.

use serde::Serialize;
use usuba::emit::layout;
use usuba::ir::Slicing;
use usuba::isa::Target;
use usuba::{Options, typed};
use usuba_equiv::chain::Chain;
use usuba_equiv::claims::{self, Outcome};
use usuba_equiv::source::Source;

use crate::clock::now;
use crate::compilation::Stage;

/// The state of a proof.
pub struct Proof {
    /// The chain of claims, or why the source has no semantics to compare with.
    chain: Result<Chain, String>,
    /// The claims that were tried.
    done: usize,
}

/// A claim with its verdict; after the last one only `done` is set.
#[derive(Serialize)]
pub struct Claim {
    /// The number of the stage, for lowering and passes.
    stage: Option<usize>,
    kind: &'static str,
    subject: String,
    verdict: &'static str,
    /// The engines that proved it.
    engines: String,
    /// The reason of another verdict.
    reason: String,
    spent: f64,
    /// Whether the proof has no further claims.
    done: bool,
}

impl Proof {
    pub fn new(program: &typed::Program, options: &Options, slicing: Slicing) -> Proof {
        let instance = typed::check::entry_instance(program, slicing, options.word);
        let source = match instance {
            Ok(instance) => Source::new(program, &instance, slicing),
            Err(finding) => Err(finding.message),
        };
        Proof { chain: source.map(Chain::new), done: 0 }
    }

    /// Tries the next claim: lowering, each pass, the rows of the target.
    pub fn next(&mut self, stages: &[Stage], target: &'static Target) -> Claim {
        let start = now();
        let at = self.done;
        self.done += 1;
        let chain = match &mut self.chain {
            Ok(chain) => chain,
            Err(why) => return Claim::unknown(why.clone()),
        };
        let claim = match stages.get(at) {
            Some(stage) => Some(chain.see(&stage.pass, &stage.program)),
            None => {
                let last = &stages.last().expect("lowering is a stage").program;
                chain.lanes(target, layout(last, target)).filter(|_| at == stages.len())
            }
        };
        match claim {
            Some(claim) => {
                let stage = Some(at).filter(|at| *at < stages.len());
                let spent = now() - start;
                Claim { stage, spent, done: at >= stages.len(), ..Claim::new(&claim) }
            }
            None => Claim { done: true, ..Claim::unknown(String::new()) },
        }
    }
}

impl Claim {
    fn new(claim: &claims::Claim) -> Claim {
        let (engines, reason) = match &claim.outcome {
            Outcome::Proved(engines) => (engines.to_string(), String::new()),
            Outcome::Refuted(difference) => (String::new(), difference.to_string()),
            Outcome::Unknown(why) => (String::new(), why.clone()),
            Outcome::Refused(never) => match *never {},
        };
        Claim {
            stage: None,
            kind: claim.kind.name(),
            subject: claim.subject.clone(),
            verdict: claim.outcome.name(),
            engines,
            reason,
            spent: 0.0,
            done: false,
        }
    }

    fn unknown(reason: String) -> Claim {
        Claim {
            stage: None,
            kind: claims::Kind::Lowering.name(),
            subject: String::new(),
            verdict: "UNKNOWN",
            engines: String::new(),
            reason,
            spent: 0.0,
            done: true,
        }
    }
}
