//! Engine E5: a miter, decided by a SAT solver with replayed RUP proofs.
//!
//! ```text
//! x, y       two adders, a ripple-carry adder and a tree of carries
//! cone       the operators below x and y, down to parameters or a limit on its size
//! miter      the cone, and x differs from y      unsatisfiable: one node
//! ```
//!
//! *Soundness:* the leaves of a cone are free variables. If no values of them make two edges
//! differ, the edges are equal, so a cone may end anywhere. A satisfying assignment is a
//! counterexample only if all leaves are parameters. *Unsatisfiable* counts because its proof is
//! replayed (`usuba-sat`).
//!
//! Nodes are compared when they are made, and equal nodes are merged. So a miter compares two nodes
//! over merged operands, and not two whole programs.
//!
//! *Limits:* the size of the cone and the number of conflicts.
//!
//! *Reference:* Brand 1993 (miters); Mishchenko, Chatterjee, Jiang, Brayton 2005 (FRAIGs).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::dag::{Dag, Edge, Gate, Kind};
use usuba_sat::{Answer, Formula, Lit};

/// The budget of a query.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The most operators of a cone.
    pub operators: usize,
    /// The most conflicts of the solver.
    pub conflicts: u64,
}

/// The budget for two inner nodes.
pub const INSIDE: Effort = Effort { operators: 400, conflicts: 500 };

/// The budget for two results of programs.
pub const RESULTS: Effort = Effort { operators: 50_000, conflicts: 50_000 };

/// The answer about two edges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    Equal,
    /// They differ if these plain edges have these values. All other edges are irrelevant.
    Differ(Vec<(Edge, bool)>),
    Unknown,
}

/// Whether `kind` of two edges is a third edge.
pub fn is(g: &mut Dag, kind: Kind, [a, b, c]: [Edge; 3], effort: Effort) -> bool {
    let mut cone = Cone::new(g, &[a, b, c], effort.operators);
    let [a, b, c] = [a, b, c].map(|edge| cone.literal(edge));
    let made = if kind == Kind::And { cone.formula.and(a, b) } else { cone.formula.xor(a, b) };
    let differ = cone.formula.xor(made, c);
    cone.formula.clause(&[differ]);
    matches!(usuba_sat::solve(&cone.formula, effort.conflicts), Answer::Proved(_))
}

/// Whether two edges are equal, and the numbers of operators and conflicts that this took.
pub fn decide(g: &mut Dag, x: Edge, y: Edge, effort: Effort) -> (Decision, u64) {
    let mut cone = Cone::new(g, &[x, y], effort.operators);
    let [a, b] = [x, y].map(|edge| cone.literal(edge));
    let differ = cone.formula.xor(a, b);
    cone.formula.clause(&[differ]);
    let (answer, conflicts) = usuba_sat::solve_counted(&cone.formula, effort.conflicts);
    let decision = match answer {
        Answer::Proved(_) => Decision::Equal,
        Answer::Refuted(model) => {
            let leaves = cone.leaves.iter();
            let values = leaves.map(|&leaf| (leaf, model.holds(cone.literals[&leaf])));
            Decision::Differ(values.collect())
        }
        Answer::Unknown(_) => Decision::Unknown,
    };
    (decision, cone.literals.len() as u64 + conflicts)
}

/// The values of leaves as words of parameters, if the leaves are parameters of one bit.
pub fn input(graph: &Dag, values: &[(Edge, bool)], params: usize) -> Option<Vec<u64>> {
    let mut words = vec![0; params];
    for (leaf, value) in values {
        let node = graph.node(*leaf);
        if graph.value(*leaf).is_some() {
            continue;
        }
        if node.kind != Kind::Param || node.bits != 1 {
            return None;
        }
        words[node.a as usize] = *value as u64;
    }
    Some(words)
}

/// The operators below some edges as a formula.
struct Cone {
    formula: Formula,
    /// Of plain edges.
    literals: FxHashMap<Edge, Lit>,
    leaves: BTreeSet<Edge>,
}

impl Cone {
    fn new(g: &mut Dag, roots: &[Edge], operators: usize) -> Cone {
        let mut leaves: BTreeSet<Edge> = BTreeSet::new();
        let mut inside: BTreeMap<Edge, Gate> = BTreeMap::new();
        let mut open: BTreeSet<Edge> = roots.iter().map(|root| root.plain()).collect();
        // The youngest first: all nodes made of it are inside already.
        while let Some(edge) = open.pop_last() {
            let inner = if inside.len() < operators { g.gate(edge) } else { None };
            let Some(inner) = inner else {
                leaves.insert(edge);
                continue;
            };
            open.extend(inner.operands.iter().map(|operand| operand.plain()));
            inside.insert(edge, inner);
        }
        let mut cone = Cone { formula: Formula::new(), literals: FxHashMap::default(), leaves };
        for &leaf in &cone.leaves {
            // Constants of words differ from bit to bit: a free variable is sound for all bits.
            let zero = g.value(leaf) == Some(0);
            let literal = if zero { Lit::FALSE } else { cone.formula.variable() };
            cone.literals.insert(leaf, literal);
        }
        for (&edge, inner) in &inside {
            let [x, y] = inner.operands.map(|operand| cone.literal(operand));
            let made = match inner.kind {
                Kind::And => cone.formula.and(x, y),
                _ => cone.formula.xor(x, y),
            };
            cone.literals.insert(edge, made);
        }
        cone
    }

    fn literal(&self, edge: Edge) -> Lit {
        self.literals[&edge.plain()].flipped(edge.is_complement())
    }
}
