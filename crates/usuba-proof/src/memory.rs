//! What stays true from one proof to the next.
//!
//! ```text
//! lower ──cse→ program 1 ──dce→ program 2        two proofs: lower = 1, and 1 = 2
//!                  └ its edges are known when the second one begins
//! ```
//!
//! What a node of a program computes is a function of its arguments, whatever it is compared with;
//! an edge denotes that function in every proof with this graph. So the graph of E1, the results
//! of runs and the classes of equal nodes outlive a proof. After a pass the program before it is
//! looked up, and the program after it mostly finds nodes that exist.
//!
//! Nodes of programs go by two numbers that are never given twice: a *body* number for what is
//! written, and a *class* for what is computed, which nodes that are proved equal share. Results
//! are known by either, by the arguments, and by the *way* of the run: which calls stayed opaque
//! and how loops were taken. Any way gives right edges; only those of one way are much alike.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use usuba::ir::{Eqn, NodeId, Program};

use crate::graph::{Edge, Graph};
use crate::run::{Loops, Way};
use crate::search::Outline;

/// Nodes of the graph above which everything is forgotten.
const LARGEST: usize = 3_000_000;

/// Results of runs: what is run, on which arguments.
pub type Results = FxHashMap<(u64, Box<[Edge]>), Rc<[Edge]>>;

#[derive(Default)]
pub struct Memory {
    /// The graph of E1; absent while a run has it.
    pub graph: Option<Graph>,
    pub results: FxHashMap<Way, Results>,
    numbers: u32,
}

impl Memory {
    /// A number that nothing else has.
    pub fn fresh(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// Forgets everything if it is much. Numbers stay taken.
    pub fn tidy(&mut self) {
        if self.graph.as_ref().is_some_and(|graph| graph.nodes.len() > LARGEST) {
            self.graph = None;
            self.results.clear();
        }
    }
}

/// What is known of one program.
pub struct Known {
    pub outlines: Vec<Outline>,
    /// The class of each node that has one.
    pub classes: FxHashMap<NodeId, u32>,
    /// The number of the body of each node.
    pub bodies: Vec<u32>,
}

impl Known {
    /// Nothing but what can be read off a program.
    pub fn new(program: &Program, memory: &mut Memory) -> Known {
        Known {
            outlines: program.nodes.iter().map(Outline::new).collect(),
            classes: FxHashMap::default(),
            bodies: program.nodes.iter().map(|_| memory.fresh()).collect(),
        }
    }
}

/// Whether two blocks are written alike, but for calls of nodes that are `same`.
pub fn alike(before: &[Eqn], after: &[Eqn], same: &dyn Fn(NodeId, NodeId) -> bool) -> bool {
    let pair = |(before, after): (&Eqn, &Eqn)| match (before, after) {
        (Eqn::Op(a), Eqn::Op(b)) => a == b,
        (Eqn::Call(a), Eqn::Call(b)) => {
            a.dsts == b.dsts && a.args == b.args && same(a.node, b.node)
        }
        (Eqn::Loop(a), Eqn::Loop(b)) => {
            a.count == b.count
                && a.carried == b.carried
                && a.reads == b.reads
                && a.collects == b.collects
                && alike(&a.body, &b.body, same)
        }
        _ => false,
    };
    before.len() == after.len() && before.iter().zip(after).all(pair)
}

/// How a run takes loops and calls, as a name.
pub fn way(loops: Loops, opaque: impl Iterator<Item = u32>) -> Way {
    let mut opaque: Vec<u32> = opaque.collect();
    opaque.sort_unstable();
    Way { loops, opaque }
}
