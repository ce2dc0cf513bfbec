//! Engines E2 to E5: nodes that differ in structure and are one function.
//!
//! Before the graph makes an `And` or `Xor`, engines are asked whether some node is known to be
//! the same; what they do not know they learn. E3 is for words; E4 is for single bits, and for words
//! where E3 is asked for the most that it can. They only ever answer with an edge for which
//! they have compared a normal form, so nothing they say needs to be believed elsewhere.

use crate::cut_matching::{Cut, Cuts};
use crate::sat_sweep::Sweep;
use crate::truth_table::MOST;
use crate::value_numbering::{Edge, Graph, Kind};
use crate::xor_forms::Parities;

/// The memory of the engines.
pub struct Rewrites {
    cuts: Cuts,
    parities: Parities,
    sweep: Sweep,
    sweeps_words: bool,
}

/// What was found out about a node that does not exist yet.
pub struct Facts {
    cuts: Vec<Cut>,
    signature: [u64; 4],
    terms: Option<Vec<Edge>>,
}

impl Rewrites {
    /// `leaves` is the number of leaves of a cut, 3 to 5; more see more and take longer.
    pub fn new(leaves: usize) -> Rewrites {
        let (parities, sweep) = (Parities::default(), Sweep::new(false));
        Rewrites { cuts: Cuts::new(leaves), parities, sweep, sweeps_words: leaves == MOST }
    }

    /// The same, and E5 for what they leave open.
    pub fn with_solver(leaves: usize) -> Rewrites {
        Rewrites { sweep: Sweep::new(true), ..Rewrites::new(leaves) }
    }

    /// Is as patient as in the beginning: what one side used up is not taken from the other.
    pub fn renew(&mut self) {
        self.sweep.renew();
    }

    /// An edge that is `kind` of two edges, in the normal form of the graph, if one is known.
    pub fn known(&mut self, g: &mut Graph, kind: Kind, a: Edge, b: Edge) -> Result<Edge, Facts> {
        let terms = match kind {
            // E4 sees whatever E2 does, on bits.
            Kind::Xor if g.bits(a) > 1 => match self.parities.known(g, a, b) {
                Ok(edge) => return Ok(edge),
                Err(terms) => Some(terms),
            },
            _ => None,
        };
        let bits = g.bits(a);
        let mut facts = Facts { cuts: Vec::new(), signature: [0; 4], terms };
        if bits > 1 {
            facts.cuts = match self.cuts.known(g, kind, a, b) {
                Ok(edge) => return Ok(edge),
                Err(cuts) => cuts,
            };
        }
        if bits == 1 || self.sweeps_words {
            facts.signature = match self.sweep.known(g, kind, a, b) {
                Ok(edge) => return Ok(edge),
                Err(signature) => signature,
            };
        }
        Err(facts)
    }

    /// Remembers what was found out about the node that was made then.
    pub fn learn(&mut self, g: &mut Graph, edge: Edge, facts: Facts) {
        if let Some(terms) = facts.terms {
            self.parities.learn(g, edge, terms);
        }
        let bits = g.bits(edge);
        if bits == 1 || self.sweeps_words {
            self.sweep.learn(g, edge, facts.signature);
        }
        if bits > 1 {
            self.cuts.learn(g, edge, facts.cuts);
        }
    }

    /// An edge that is the function `table` of `leaves`, which are plain and sorted.
    pub fn function(&mut self, g: &mut Graph, table: u32, leaves: &[Edge]) -> Option<Edge> {
        if leaves.first().is_some_and(|&leaf| g.bits(leaf) == 1) {
            return None;
        }
        self.cuts.function(g, table, leaves)
    }

    /// Remembers that `edge` is this function.
    pub fn learn_function(&mut self, g: &mut Graph, table: u32, leaves: &[Edge], edge: Edge) {
        if g.bits(edge) != 1 {
            self.cuts.learn_function(g, table, leaves, edge);
        }
    }
}
