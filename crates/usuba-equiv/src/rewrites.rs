//! Engines E2 to E5 together: merges nodes that differ in structure and compute one function.
//!
//! Before the DAG makes an `And` or `Xor`, the engines look for an equal node; otherwise they
//! record the new one. E3 is for words, and in the last attempt for bits; E4 is for single bits,
//! and for words at the greatest number of leaves.
//!
//! *Soundness:* an engine answers only with an edge for which it has compared a normal form, so no
//! answer has to be trusted elsewhere.

use crate::addition_forms::Additions;
use crate::cut_matching::{Cut, Cuts};
use crate::dag::{Dag, Edge, Kind};
use crate::sat_sweep::Sweep;
use crate::truth_table::MOST;
use crate::xor_forms::Parities;

/// Cuts that a bit keeps in the last attempt: ternary logic stands for several operators, whose cuts
/// are many.
const MANY: usize = 64;

/// The memory of the engines.
pub struct Rewrites {
    cuts: Cuts,
    parities: Parities,
    pub additions: Additions,
    sweep: Sweep,
    sweeps_words: bool,
    /// Whether E3 is for single bits, too. A node that E4 merged with an older one of another
    /// structure keeps the cuts of both, so later nodes over its own leaves are found.
    cuts_bits: bool,
}

/// The facts about a node that does not exist yet.
pub struct Facts {
    cuts: Vec<Cut>,
    signature: [u64; 4],
    terms: Option<Vec<Edge>>,
}

impl Rewrites {
    /// `leaves` is the number of leaves of a cut, 3 to 5; more leaves find more and take longer.
    pub fn new(leaves: usize) -> Rewrites {
        let (parities, sweep) = (Parities::default(), Sweep::new(false));
        let (cuts, additions) = (Cuts::new(leaves), Additions::default());
        let sweeps_words = leaves == MOST;
        Rewrites { cuts, parities, additions, sweep, sweeps_words, cuts_bits: false }
    }

    /// As `new`, with E3 for bits, and with E5 for nodes that the other engines leave open.
    pub fn with_solver(leaves: usize) -> Rewrites {
        let (sweep, cuts) = (Sweep::new(true), Cuts::with(leaves, MANY));
        Rewrites { sweep, cuts, cuts_bits: true, ..Rewrites::new(leaves) }
    }

    /// Resets the budgets, so that failures on one side do not count for the other.
    pub fn renew(&mut self) {
        self.sweep.renew();
    }

    /// An edge that is `kind` of two edges, in the normal form of the graph, if one is known.
    pub fn known(&mut self, g: &mut Dag, kind: Kind, a: Edge, b: Edge) -> Result<Edge, Facts> {
        let terms = match kind {
            // On bits, E4 finds all equalities that E2 finds.
            Kind::Xor if g.bits(a) > 1 => match self.parities.known(g, a, b) {
                Ok(edge) => return Ok(edge),
                Err(terms) => Some(terms),
            },
            _ => None,
        };
        let bits = g.bits(a);
        let mut facts = Facts { cuts: Vec::new(), signature: [0; 4], terms };
        if bits > 1 || self.cuts_bits {
            facts.cuts = match self.cuts.known(g, kind, a, b) {
                Ok(edge) => return Ok(edge),
                Err(cuts) => cuts,
            };
        }
        if bits == 1 || self.sweeps_words {
            facts.signature = match self.sweep.known(g, kind, a, b) {
                Ok(edge) => {
                    self.cuts.learn_more(g, edge, &facts.cuts);
                    return Ok(edge);
                }
                Err(signature) => signature,
            };
        }
        Err(facts)
    }

    /// Records the facts about the node that was made.
    pub fn learn(&mut self, g: &mut Dag, edge: Edge, facts: Facts) {
        if let Some(terms) = facts.terms {
            self.parities.learn(g, edge, terms);
        }
        let bits = g.bits(edge);
        if bits == 1 || self.sweeps_words {
            self.sweep.learn(g, edge, facts.signature);
        }
        if bits > 1 || self.cuts_bits {
            self.cuts.learn(g, edge, facts.cuts);
        }
    }

    /// An edge that is the function `table` of `leaves`, which are plain and sorted.
    pub fn function(&mut self, g: &mut Dag, table: u32, leaves: &[Edge]) -> Option<Edge> {
        if leaves.first().is_some_and(|&leaf| g.bits(leaf) == 1) && !self.cuts_bits {
            return None;
        }
        self.cuts.function(g, table, leaves)
    }

    /// Records that `edge` is this function.
    pub fn learn_function(&mut self, g: &mut Dag, table: u32, leaves: &[Edge], edge: Edge) {
        if g.bits(edge) != 1 || self.cuts_bits {
            self.cuts.learn_function(g, table, leaves, edge);
        }
    }
}
