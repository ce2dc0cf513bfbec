//! Which engine is tried when: from cheap to thorough, until one proves the goal.
//!
//! A goal is a node of one program that should be copies of a node of the other. Callees come
//! first: nodes of the same name are proved equal once, form a *class*, and then their calls may
//! stay opaque in callers. A class that only one side of a goal still calls is inlined in both.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use usuba::ir::{Eqn, Node, NodeId, Program};

use crate::graph::{Graph, Kind};
use crate::ports::Copies;
use crate::rewrites::Rewrites;
use crate::run::{Classes, Loops, Run, Side};

/// What a proof took.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Equations that were run on edges, in all attempts.
    pub steps: u64,
    /// Nodes of the largest graph.
    pub nodes: usize,
    /// Attempts that were made, for callees too.
    pub attempts: u32,
}

/// One way to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Calls of equal nodes stay opaque.
    pub calls: bool,
    pub loops: Loops,
    /// Leaves of cuts for engine E3, which comes with E2; zero for E1 alone.
    pub leaves: usize,
}

/// Equations that an attempt may run: with E1 alone, and with all engines.
const BUDGET: [u64; 2] = [40_000_000, 6_000_000];

/// The attempts for a goal, cheap ones first.
fn attempts(calls: bool, loops: bool, nested: bool) -> Vec<Attempt> {
    let mut ways = vec![(true, Loops::Kept)];
    if nested {
        ways.push((true, Loops::OutermostKept));
    }
    if loops {
        ways.push((true, Loops::Unfolded));
    }
    if calls && loops {
        ways.push((false, Loops::Kept));
    }
    if calls {
        ways.push((false, Loops::Unfolded));
    }
    let with = |leaves: usize| {
        ways.clone().into_iter().map(move |(calls, loops)| Attempt { calls, loops, leaves })
    };
    with(0).chain(with(3)).chain(with(5)).collect()
}

/// The largest number of leaves with which callees are tried: a caller can still be proved with
/// its callee inlined.
const CALLEE_LEAVES: usize = 3;

pub struct Search<'a> {
    programs: [&'a Program; 2],
    /// The callees of each node of both programs.
    callees: [Vec<BTreeSet<NodeId>>; 2],
    classes: Classes,
    pub stats: Stats,
}

impl<'a> Search<'a> {
    pub fn new(before: &'a Program, after: &'a Program) -> Search<'a> {
        let callees = [before, after].map(|program| {
            let of = |node: &Node| {
                let mut out = BTreeSet::new();
                called(&node.body, &mut out);
                out
            };
            program.nodes.iter().map(of).collect()
        });
        let (classes, stats) = (Classes::default(), Stats::default());
        Search { programs: [before, after], callees, classes, stats }
    }

    /// Puts callees of the same name and ports into one class if they can be proved equal.
    pub fn prove_callees(&mut self) {
        let reached = [Side::Before, Side::After].map(|side| self.reached(side));
        let [before, after] = self.programs;
        let names: std::collections::BTreeMap<&str, NodeId> =
            reached[0].iter().map(|&id| (before.node(id).name.as_str(), id)).collect();
        for &new in &reached[1] {
            let Some(&old) = names.get(after.node(new).name.as_str()) else { continue };
            if new == after.entry || old == before.entry {
                continue;
            }
            let copies = Copies::find(before.node(old), after.node(new), after.slicing);
            let Some(copies) = copies.ok().filter(|copies| copies.factor() == 1) else { continue };
            if self.prove(old, new, &copies, CALLEE_LEAVES, &mut || false).is_ok() {
                let class = self.classes.of.len() as u32;
                self.classes.of.insert((Side::Before, old), class);
                self.classes.of.insert((Side::After, new), class);
            }
        }
    }

    /// The nodes that the entry of a program reaches, callees first.
    fn reached(&self, side: Side) -> BTreeSet<NodeId> {
        let mut out = BTreeSet::from([self.programs[side as usize].entry]);
        let mut work = vec![self.programs[side as usize].entry];
        while let Some(id) = work.pop() {
            let callees = &self.callees[side as usize][id.0 as usize];
            work.extend(callees.iter().filter(|&&callee| out.insert(callee)));
        }
        out
    }

    /// Tries to prove that the node `new` is copies of the node `old`. After the attempts with E1
    /// alone `give_up` is asked once whether it knows better.
    ///
    /// # Errors
    /// No attempt proved it; the text says which outputs resisted the last one.
    pub fn prove(
        &mut self,
        old: NodeId,
        new: NodeId,
        copies: &Copies,
        most_leaves: usize,
        give_up: &mut dyn FnMut() -> bool,
    ) -> Result<(), String> {
        let (calls, loops, nested) = self.shape(old, new);
        let opaque = self.common(old, new);
        let mut resisted = String::from("nothing was tried");
        let mut asked = false;
        for attempt in attempts(calls, loops, nested) {
            if attempt.leaves > most_leaves {
                break;
            }
            if attempt.leaves > 0 && !std::mem::replace(&mut asked, true) && give_up() {
                return Err("an input shows that they differ".into());
            }
            let t = std::time::Instant::now();
            let r = self.attempt(old, new, copies, attempt, &opaque);
            if t.elapsed().as_millis() > 100 { eprintln!("   attempt {attempt:?} {:?} {:?} {r:?}", t.elapsed(), self.stats); }
            match r {
                Ok(()) => return Ok(()),
                Err(what) => resisted = what,
            }
        }
        Err(resisted)
    }

    fn attempt(
        &mut self,
        old: NodeId,
        new: NodeId,
        copies: &Copies,
        attempt: Attempt,
        opaque: &FxHashSet<u32>,
    ) -> Result<(), String> {
        let (rewrites, budget) = match attempt.leaves {
            0 => (None, BUDGET[0]),
            leaves => (Some(Rewrites::new(leaves)), BUDGET[1]),
        };
        let opaque = if attempt.calls { opaque.clone() } else { FxHashSet::default() };
        let graph = Graph::new(rewrites);
        let mut run = Run::new(graph, self.programs, &self.classes, opaque, attempt.loops, budget);
        let after = self.programs[1].node(new);
        let bits = &after.bits[..after.arity(self.programs[1].slicing)];
        let params: Vec<_> = bits
            .iter()
            .enumerate()
            .map(|(at, &bits)| run.graph.intern(Kind::Param, bits, 0, at as u64, 0))
            .collect();
        self.stats.attempts += 1;
        let mut wanted = vec![None; after.outs.len()];
        let mut outcome = Ok(());
        for (inputs, outputs) in copies.inputs.iter().zip(&copies.outputs) {
            let own: Vec<_> = inputs.iter().map(|&at| params[at]).collect();
            match run.node(Side::Before, old, &own) {
                Ok(results) => {
                    for (&at, edge) in outputs.iter().zip(results) {
                        wanted[at] = Some(edge);
                    }
                }
                Err(stop) => outcome = Err(stop),
            }
        }
        let outcome = outcome.and_then(|()| run.node(Side::After, new, &params));
        self.stats.steps += run.steps;
        self.stats.nodes = self.stats.nodes.max(run.graph.nodes.len());
        let found = outcome.map_err(|stop| stop.to_string())?;
        let differ: Vec<usize> =
            (0..found.len()).filter(|&at| wanted[at] != Some(found[at])).collect();
        match differ.first() {
            None => Ok(()),
            Some(first) => Err(format!(
                "{} of {} outputs could not be shown equal; the first is number {first}",
                differ.len(),
                found.len()
            )),
        }
    }

    /// Whether calls, loops, and loops in loops occur on either side of a goal.
    fn shape(&self, old: NodeId, new: NodeId) -> (bool, bool, bool) {
        let mut shape = (false, false, 0);
        for (side, id) in [(Side::Before, old), (Side::After, new)] {
            let mut work = vec![id];
            let mut seen = FxHashSet::default();
            while let Some(id) = work.pop() {
                if !seen.insert(id) {
                    continue;
                }
                let callees = &self.callees[side as usize][id.0 as usize];
                shape.0 |= !callees.is_empty();
                work.extend(callees);
                let nesting = nesting(&self.programs[side as usize].node(id).body);
                shape.1 |= nesting > 0;
                shape.2 += nesting;
            }
        }
        // Calls may put loops into loops.
        (shape.0, shape.1, shape.2 > 2)
    }

    /// The classes that both sides of a goal call, once all others are inlined.
    fn common(&self, old: NodeId, new: NodeId) -> FxHashSet<u32> {
        let mut inlined = FxHashSet::default();
        loop {
            let before = self.calls(Side::Before, old, &inlined);
            let after = self.calls(Side::After, new, &inlined);
            let one_sided: Vec<u32> = before.symmetric_difference(&after).copied().collect();
            if one_sided.is_empty() {
                return before;
            }
            inlined.extend(one_sided);
        }
    }

    /// The classes that a node calls when those of `inlined`, and nodes without class, are
    /// replaced by what they call.
    fn calls(&self, side: Side, id: NodeId, inlined: &FxHashSet<u32>) -> FxHashSet<u32> {
        let mut out = FxHashSet::default();
        let mut seen = FxHashSet::default();
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            for &callee in &self.callees[side as usize][id.0 as usize] {
                match self.classes.of.get(&(side, callee)) {
                    Some(class) if !inlined.contains(class) => {
                        out.insert(*class);
                    }
                    _ if seen.insert(callee) => work.push(callee),
                    _ => {}
                }
            }
        }
        out
    }
}

fn called(eqns: &[Eqn], out: &mut BTreeSet<NodeId>) {
    for eqn in eqns {
        match eqn {
            Eqn::Op(_) => {}
            Eqn::Call(call) => {
                out.insert(call.node);
            }
            Eqn::Loop(lp) => called(&lp.body, out),
        }
    }
}

/// Number of loops around the innermost equation.
fn nesting(eqns: &[Eqn]) -> usize {
    let inner = |eqn: &Eqn| match eqn {
        Eqn::Loop(lp) => 1 + nesting(&lp.body),
        _ => 0,
    };
    eqns.iter().map(inner).max().unwrap_or(0)
}
