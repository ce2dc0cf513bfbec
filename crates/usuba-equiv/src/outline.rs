//! Sizes of nodes without their operators, which the strategy needs to choose attempts.
//!
//! ```text
//! forall i in [0,9] { t := g(s); ... }     calls g once or ten times, one loop of ten iterations
//! ```

use std::collections::{BTreeMap, BTreeSet};

use usuba::ir::{Eqn, Node, NodeId};

/// The sizes of a node. Pairs are for loops that run once and for unrolled loops.
pub struct Outline {
    /// Equations of its own.
    pub own: [u64; 2],
    /// The number of calls of each node.
    pub calls: BTreeMap<NodeId, [u64; 2]>,
    /// The nesting of loops around the innermost equation.
    pub nesting: usize,
    /// The iteration counts of its outermost loops, and of all its loops, without loops that run
    /// once.
    pub outer: BTreeSet<u32>,
    pub all: BTreeSet<u32>,
}

impl Outline {
    pub fn new(node: &Node) -> Outline {
        let mut outline = Outline {
            own: [0; 2],
            calls: BTreeMap::new(),
            nesting: 0,
            outer: BTreeSet::new(),
            all: BTreeSet::new(),
        };
        outline.block(&node.body, 1, 0);
        outline
    }

    /// Adds a block that runs `times` times when loops are unrolled.
    fn block(&mut self, eqns: &[Eqn], times: u64, nesting: usize) {
        self.nesting = self.nesting.max(nesting);
        for eqn in eqns {
            self.own[0] += 1;
            self.own[1] = self.own[1].saturating_add(times);
            match eqn {
                Eqn::Op(_) => {}
                Eqn::Call(call) => {
                    let counts = self.calls.entry(call.node).or_default();
                    counts[0] += 1;
                    counts[1] = counts[1].saturating_add(times);
                }
                Eqn::Loop(lp) => {
                    if lp.count > 1 {
                        self.all.insert(lp.count);
                        if nesting == 0 {
                            self.outer.insert(lp.count);
                        }
                    }
                    let times = times.saturating_mul(lp.count as u64);
                    self.own[1] = self.own[1].saturating_add(times);
                    self.block(&lp.body, times, nesting + 1);
                }
            }
        }
    }
}
