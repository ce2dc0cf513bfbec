//! Engines E2 and E3: nodes that differ in structure and are one function.
//!
//! Before the graph makes an `And` or `Xor`, both engines are asked whether some node is known to
//! be the same; what they do not know they learn. They only ever answer with an edge for which
//! they have compared a normal form, so nothing they say needs to be believed elsewhere.

use crate::cuts::{Cut, Cuts};
use crate::graph::{Edge, Graph, Kind};
use crate::parity::Parities;

/// The memory of both engines.
pub struct Rewrites {
    cuts: Cuts,
    parities: Parities,
}

/// What was found out about a node that does not exist yet.
pub struct Facts {
    cuts: Vec<Cut>,
    terms: Option<Vec<Edge>>,
}

impl Rewrites {
    /// `leaves` is the number of leaves of a cut, 3 to 5; more see more and take longer.
    pub fn new(leaves: usize) -> Rewrites {
        Rewrites { cuts: Cuts::new(leaves), parities: Parities::new() }
    }

    /// An edge that is `kind` of two edges, in the normal form of the graph, if one is known.
    pub fn known(&mut self, g: &mut Graph, kind: Kind, a: Edge, b: Edge) -> Result<Edge, Facts> {
        let terms = match kind {
            Kind::Xor => match self.parities.known(g, a, b) {
                Ok(edge) => return Ok(edge),
                Err(terms) => Some(terms),
            },
            _ => None,
        };
        self.cuts.known(g, kind, a, b).map_err(|cuts| Facts { cuts, terms })
    }

    /// Remembers what was found out about the node that was made then.
    pub fn learn(&mut self, g: &mut Graph, edge: Edge, facts: Facts) {
        if let Some(terms) = facts.terms {
            self.parities.learn(g, edge, terms);
        }
        self.cuts.learn(g, edge, facts.cuts);
    }

    /// An edge that is the function `table` of `leaves`, which are plain and sorted.
    pub fn function(&mut self, g: &mut Graph, table: u32, leaves: &[Edge]) -> Option<Edge> {
        self.cuts.function(g, table, leaves)
    }

    /// Remembers that `edge` is this function.
    pub fn learn_function(&mut self, g: &mut Graph, table: u32, leaves: &[Edge], edge: Edge) {
        self.cuts.learn_function(g, table, leaves, edge);
    }
}
