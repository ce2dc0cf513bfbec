//! Functions of the arguments of tables: nodes between an S-box's inputs and its outputs, by their truth
//! tables over the inputs.
//!
//! ```text
//! leaves x0 ... x7      the arguments of a table of the source
//! x3 & (x0 ^ x5)        a node of the circuit in the final IR, with a truth table over them
//! picked(T, x0 ... x7)  an entry of the table: the same truth table, so the same node
//! ```
//!
//! An affine map before the S-box can have a node that is the XOR of two leaves. The gate x0 ^ x5 of the
//! circuit is this node then, by an earlier step, and the window of the S-box names that step.

use std::collections::BTreeSet;

use usuba_replay::hash::{Map, Set};
use usuba_replay::net::{Evidence, Kind, Lit, Net, Node, Step};

/// The most arguments of a table, as in windows of the replay.
const LEAVES: usize = 8;

/// The most sets of leaves of one node.
const SETS: usize = 8;

/// The values of a function of eight leaves.
type Values = [u64; 4];

/// A gate, and the literal that it equals: by a step with this number, or because it is the node.
struct Equation {
    kind: Kind,
    of: [Lit; 2],
    equals: Lit,
    step: Option<u32>,
}

/// A function of a set of leaves, and the equation that showed it.
#[derive(Clone, Copy)]
struct Function {
    set: usize,
    values: Values,
    /// `None` for a leaf.
    by: Option<usize>,
}

/// The functions that are known.
#[derive(Default)]
pub struct Tables {
    /// Sets of leaves, and their numbers.
    sets: Vec<Vec<u32>>,
    numbers: Map<Vec<u32>, usize>,
    equations: Vec<Equation>,
    /// The equations with an operand.
    users: Map<u32, Vec<usize>>,
    functions: Map<u32, Vec<Function>>,
    /// The literal of a function whose first value is 0.
    literals: Map<(usize, Values), Lit>,
}

impl Tables {
    /// Makes these literals leaves of a set.
    pub fn learn_leaves(&mut self, leaves: &[Lit]) {
        let leaves: BTreeSet<u32> = leaves.iter().map(|leaf| leaf / 2).collect();
        let leaves: Vec<u32> = leaves.into_iter().filter(|&node| node != 0).collect();
        if leaves.len() > LEAVES || self.numbers.contains_key(&leaves) {
            return;
        }
        let set = self.sets.len();
        self.numbers.insert(leaves.clone(), set);
        self.sets.push(leaves.clone());
        let mut open = BTreeSet::new();
        for (at, &leaf) in leaves.iter().enumerate() {
            self.record(leaf, Function { set, values: variable(at), by: None });
            open.extend(self.users.get(&leaf).into_iter().flatten());
        }
        while let Some(at) = open.pop_first() {
            let Equation { kind, of, equals, .. } = self.equations[at];
            let values = of.map(|literal| self.value(literal, set));
            let [Some(a), Some(b)] = values else { continue };
            let values = flipped(both(kind, a, b), equals);
            if self.record(equals / 2, Function { set, values, by: Some(at) }) {
                open.extend(self.users.get(&(equals / 2)).into_iter().flatten());
            }
        }
    }

    /// The step for a gate that is a known function of some leaves.
    pub fn step(&self, kind: Kind, of: [Lit; 2]) -> Option<Step> {
        self.of_gate(kind, of).into_iter().find_map(|(set, values)| {
            let flip = values[0] as Lit & 1;
            let values = flipped(values, flip);
            let known = match values {
                [0, 0, 0, 0] => 0,
                _ => *self.literals.get(&(set, values))?,
            };
            let mut window = Window { tables: self, set, seen: Set::default(), steps: Vec::new() };
            [of[0], of[1], known].iter().for_each(|literal| window.collect(literal / 2));
            let is_used = |leaf: &u32| window.seen.contains(leaf);
            let leaves = self.sets[set].iter().copied().filter(is_used).collect();
            let evidence = Evidence::Window(leaves, window.steps);
            Some(Step { equals: known ^ flip, evidence })
        })
    }

    /// Records that a gate is the node that was made last.
    pub fn learn_node(&mut self, net: &Net) {
        let node = net.nodes().len() as Lit - 1;
        if let Node::Gate(kind, of) = net.nodes()[node as usize] {
            self.learn(Equation { kind, of, equals: 2 * node, step: None });
        }
    }

    /// Records that a gate equals a literal, by the step with this number.
    pub fn learn_step(&mut self, kind: Kind, of: [Lit; 2], equals: Lit, step: u32) {
        self.learn(Equation { kind, of, equals, step: Some(step) });
    }

    fn learn(&mut self, equation: Equation) {
        let at = self.equations.len();
        let Equation { kind, of, equals, .. } = equation;
        self.equations.push(equation);
        for literal in of {
            self.users.entry(literal / 2).or_default().push(at);
        }
        for (set, values) in self.of_gate(kind, of) {
            self.record(
                equals / 2,
                Function { set, values: flipped(values, equals), by: Some(at) },
            );
        }
    }

    /// The functions that a gate is.
    fn of_gate(&self, kind: Kind, [a, b]: [Lit; 2]) -> Vec<(usize, Values)> {
        let functions = self.functions.get(&(a / 2)).into_iter().flatten();
        let values = |function: &Function| {
            let Function { set, values, .. } = *function;
            Some((set, both(kind, flipped(values, a), self.value(b, set)?)))
        };
        functions.filter_map(values).collect()
    }

    fn function(&self, node: u32, set: usize) -> Option<&Function> {
        self.functions.get(&node)?.iter().find(|function| function.set == set)
    }

    fn value(&self, literal: Lit, set: usize) -> Option<Values> {
        self.function(literal / 2, set).map(|function| flipped(function.values, literal))
    }

    /// Records a function of a node, if it is new and the node has few.
    fn record(&mut self, node: u32, function: Function) -> bool {
        let functions = self.functions.entry(node).or_default();
        let is_known = functions.iter().any(|known| known.set == function.set);
        if node == 0 || is_known || functions.len() == SETS {
            return false;
        }
        functions.push(function);
        let flip = function.values[0] as Lit & 1;
        let values = flipped(function.values, flip);
        self.literals.entry((function.set, values)).or_insert(2 * node + flip);
        true
    }
}

/// A window over leaves of a set.
struct Window<'a> {
    tables: &'a Tables,
    set: usize,
    /// Its nodes.
    seen: Set<u32>,
    /// The earlier steps that it names.
    steps: Vec<u32>,
}

impl Window<'_> {
    /// Collects the nodes between a node and the leaves, each step after the ones below it.
    fn collect(&mut self, node: u32) {
        if !self.seen.insert(node) {
            return;
        }
        let function = self.tables.function(node, self.set);
        if let Some(by) = function.and_then(|function| function.by) {
            let equation = &self.tables.equations[by];
            equation.of.iter().for_each(|literal| self.collect(literal / 2));
            self.steps.extend(equation.step);
        }
    }
}

/// The values of a literal, or of its node, by the values of the other one.
fn flipped(values: Values, literal: Lit) -> Values {
    values.map(|word| word ^ 0u64.wrapping_sub(u64::from(literal & 1)))
}

fn both(kind: Kind, a: Values, b: Values) -> Values {
    std::array::from_fn(|i| if kind == Kind::And { a[i] & b[i] } else { a[i] ^ b[i] })
}

/// The values of a leaf.
fn variable(at: usize) -> Values {
    let bit = |row: usize| (row >> at & 1) as u64;
    std::array::from_fn(|word| (0..64).fold(0, |sum, row| sum | bit(64 * word + row) << row))
}
