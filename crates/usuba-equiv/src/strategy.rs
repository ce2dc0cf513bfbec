//! The proof strategy: the engines in order of cost, until one proves the goal.
//!
//! A goal is a node of one program that should be instances of a node of the other. Callees come
//! first: nodes of the same name are proved equal once, form a *class*, and then their calls may be
//! uninterpreted functions in callers. A class that only one side of a goal calls is inlined in
//! both.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use usuba::ir::{NodeId, Program, Slicing};

use crate::Engines;
use crate::dag::Kind;
use crate::enumeration;
use crate::execution::{Classes, Loops, Results, Run, Side, Stop, group};
use crate::facts::{self, Known, Memory};
use crate::miter::{self, Decision};
use crate::outline::Outline;
use crate::ports::{Copies, element};
use crate::rewrites::Rewrites;
use crate::truth_table::MOST;
use crate::value_numbering::Graph;

/// The cost of a proof.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Equations that were executed, in all attempts.
    pub steps: u64,
    /// The number of nodes of the largest DAG.
    pub nodes: usize,
    /// The number of bytes of the largest DAG: its nodes and the table that finds them.
    pub bytes: usize,
    /// The number of attempts, for callees too.
    pub attempts: u32,
    /// The engines that were enabled where attempts proved something.
    pub engines: Engines,
}

impl Stats {
    /// The cost of both proofs.
    pub fn and(self, other: Stats) -> Stats {
        Stats {
            steps: self.steps + other.steps,
            nodes: self.nodes.max(other.nodes),
            bytes: self.bytes.max(other.bytes),
            attempts: self.attempts + other.attempts,
            engines: self.engines.with(other.engines),
        }
    }
}

/// One attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Calls of equal nodes are uninterpreted functions.
    pub calls: bool,
    pub loops: Loops,
    /// Leaves of cuts for engine E3, which comes with E2; zero for E1 alone.
    pub leaves: usize,
    /// A SAT solver decides the pairs that windows leave open.
    pub solver: bool,
}

/// The features of a goal.
#[derive(Clone, Debug)]
struct Shape {
    /// Calls on either side.
    calls: bool,
    /// Whether each side has loops.
    loops: [bool; 2],
    /// Nested loops, perhaps through calls.
    nested: bool,
    /// The iteration counts of the outermost loops of each side, and of all loops.
    outer: [BTreeSet<u32>; 2],
    all: [BTreeSet<u32>; 2],
}

impl Shape {
    /// Whether loops of both sides may correspond in this mode.
    fn may_match(&self, loops: Loops) -> bool {
        let [before, after] = &self.outer;
        match loops {
            Loops::Kept => self.all[0] == self.all[1],
            Loops::OutermostKept => before == after,
            Loops::Grouped => before.iter().any(|&count| group(count, after).is_some()),
            Loops::Unfolded => true,
        }
    }
}

/// The budget of a goal.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Equations that an attempt may execute: with E1 alone, and with all engines.
    pub steps: [u64; 2],
    /// The most leaves of cuts.
    pub leaves: usize,
    /// Whether all engines besides E1 are tried at once, and the SAT solver with them.
    pub solver: bool,
}

/// For the entry.
pub const THOROUGH: Effort = Effort { steps: [20_000_000, 4_000_000], leaves: 5, solver: false };

/// For the entry, on bits, after all other attempts.
pub const LAST: Effort = Effort { solver: true, ..THOROUGH };

/// For a callee: a caller can still be proved with it inlined.
const MODEST: Effort = Effort { steps: [1_000_000, 200_000], leaves: 3, solver: false };

/// The number of runs of both programs that `give_up` makes, in equations of E1: an interpreted one
/// takes a third of the time.
const RUNS: u64 = 3;

/// The approximate cost of all queries to the SAT solver about the results of a goal.
const ASKED: u64 = 256 * miter::RESULTS.conflicts;

/// The cost of an equation with cuts of this number of leaves, relative to E1 alone.
fn weight(leaves: usize) -> u64 {
    match leaves {
        0 => 1,
        3 => 4,
        _ => 20,
    }
}

/// The attempts for a goal. Loops that only one side has are unrolled at once.
fn attempts(shape: &Shape, effort: Effort) -> Vec<Attempt> {
    let &Shape { calls, loops, nested, .. } = shape;
    let (any, both) = (loops[0] || loops[1], loops[0] && loops[1]);
    let mut ways = Vec::new();
    if both || !any {
        ways.push((true, Loops::Kept));
    }
    if both && nested {
        ways.push((true, Loops::OutermostKept));
    }
    if both && shape.may_match(Loops::Grouped) {
        ways.push((true, Loops::Grouped));
    }
    if any {
        ways.push((true, Loops::Unfolded));
    }
    if calls && both {
        ways.push((false, Loops::Kept));
    }
    if calls {
        ways.push((false, Loops::Unfolded));
    }
    let solver = effort.solver;
    let with = |leaves: usize| {
        let solver = solver && leaves > 0;
        let attempt = move |(calls, loops)| Attempt { calls, loops, leaves, solver };
        ways.clone().into_iter().map(attempt)
    };
    let leaves: &[usize] = if solver { &[0, MOST] } else { &[0, 3, MOST] };
    let leaves = leaves.iter().filter(|&&leaves| leaves <= effort.leaves);
    leaves.flat_map(|&leaves| with(leaves)).collect()
}

pub struct Search<'a> {
    programs: [&'a Program; 2],
    /// The outlines of both programs.
    outlines: [Vec<Outline>; 2],
    classes: Classes,
    memory: &'a mut Memory,
    pub stats: Stats,
    /// A counterexample of the SAT solver, unverified: a word for each parameter of the entry
    /// after.
    pub suspect: Option<Vec<u64>>,
}

impl<'a> Search<'a> {
    /// `known` has the facts about the program before, from an earlier proof with the same cache.
    pub fn new(
        before: &'a Program,
        known: Option<Known>,
        after: &'a Program,
        memory: &'a mut Memory,
    ) -> Search<'a> {
        let before_known = known.unwrap_or_else(|| Known::new(before, memory));
        let after_known = Known::new(after, memory);
        let mut classes = Classes::default();
        for (&id, &class) in &before_known.classes {
            classes.of.insert((Side::Before, id), class);
        }
        let sides = [(Side::Before, &before_known.bodies), (Side::After, &after_known.bodies)];
        for (side, bodies) in sides {
            let ids = (0..).map(NodeId);
            classes.bodies.extend(ids.zip(bodies).map(|(id, &body)| ((side, id), body)));
        }
        let outlines = [before_known.outlines, after_known.outlines];
        let stats = Stats::default();
        Search { programs: [before, after], outlines, classes, memory, stats, suspect: None }
    }

    /// The facts about the program after, for the next proof.
    pub fn known(self) -> Known {
        let of_after = |(&(side, id), &class): (&(Side, NodeId), &u32)| {
            (side == Side::After).then_some((id, class))
        };
        let bodies = (0..self.programs[1].nodes.len() as u32)
            .map(|id| self.classes.bodies[&(Side::After, NodeId(id))]);
        Known {
            classes: self.classes.of.iter().filter_map(of_after).collect(),
            bodies: bodies.collect(),
            outlines: self.outlines.into_iter().next_back().expect("two sides"),
        }
    }

    /// Whether both nodes have equal bodies. Then the second one gets the number of the first.
    pub fn alike(&mut self, old: NodeId, new: NodeId) -> bool {
        let [before, after] = self.programs;
        let (a, b) = (before.node(old), after.node(new));
        let same = |old: NodeId, new: NodeId| {
            let class = self.classes.of.get(&(Side::Before, old));
            class.is_some() && class == self.classes.of.get(&(Side::After, new))
        };
        let alike = a.arity(before.slicing) == b.arity(after.slicing)
            && a.outs == b.outs
            && a.bits == b.bits
            && facts::alike(&a.body, &b.body, &same);
        if alike {
            let body = self.classes.bodies[&(Side::Before, old)];
            self.classes.bodies.insert((Side::After, new), body);
        }
        alike
    }

    /// The nodes of the same name that both entries reach, callees first.
    pub fn same_names(&self) -> Vec<(NodeId, NodeId)> {
        let reached = [Side::Before, Side::After].map(|side| self.reached(side));
        let [before, after] = self.programs;
        let names: BTreeMap<&str, NodeId> =
            reached[0].iter().map(|&id| (before.node(id).name.as_str(), id)).collect();
        let pair = |&new: &NodeId| Some((*names.get(after.node(new).name.as_str())?, new));
        reached[1].iter().filter_map(pair).collect()
    }

    /// Puts pairs of callees, callees first, into one class if they can be proved equal.
    ///
    /// Returns the first undischarged obligation, for reports.
    pub fn prove_pairs(&mut self, pairs: &[(NodeId, NodeId)]) -> Option<String> {
        let mut resisted = None;
        let [before, after] = self.programs;
        for &(old, new) in pairs {
            if new == after.entry || old == before.entry {
                continue;
            }
            let copies = Copies::find(before.node(old), after.node(new), after.slicing);
            let Some(copies) = copies.ok().filter(|copies| copies.factor() == 1) else { continue };
            let answer = match enumeration::compare((before, old), (after, new)) {
                _ if self.alike(old, new) => Ok(()),
                Some(Ok(())) => {
                    self.used(Engines::TABLES);
                    Ok(())
                }
                Some(Err(_)) => Err(format!("`{}` is another function", after.node(new).name)),
                None => self.prove(old, new, &copies, MODEST, &mut || false),
            };
            if let Err(what) = answer {
                resisted.get_or_insert(what);
            } else {
                // One node may equal several of the other side.
                let ends = [(Side::Before, old), (Side::After, new)];
                let known = ends.iter().find_map(|end| self.classes.of.get(end).copied());
                let class = known.unwrap_or_else(|| self.memory.fresh());
                for end in ends {
                    self.classes.of.entry(end).or_insert(class);
                }
            }
        }
        resisted
    }

    /// The nodes that the entry of a program reaches, callees first.
    fn reached(&self, side: Side) -> BTreeSet<NodeId> {
        let mut out = BTreeSet::from([self.programs[side as usize].entry]);
        let mut work = vec![self.programs[side as usize].entry];
        while let Some(id) = work.pop() {
            let callees = self.outlines[side as usize][id.0 as usize].calls.keys();
            work.extend(callees.filter(|&&callee| out.insert(callee)));
        }
        out
    }

    /// Tries to prove that the node `new` is instances of the node `old`: cheap attempts first, and
    /// attempts that cannot succeed with these iteration counts last. Before the first attempt that
    /// takes longer than to run both programs a few times, `give_up` is called once: it may find a
    /// counterexample.
    ///
    /// # Errors
    /// No attempt proved it; the text says which outputs resisted the last one.
    pub fn prove(
        &mut self,
        old: NodeId,
        new: NodeId,
        copies: &Copies,
        effort: Effort,
        give_up: &mut dyn FnMut() -> bool,
    ) -> Result<(), String> {
        let shape = self.shape(old, new);
        let opaque = self.common(old, new);
        let mut resisted = String::from("nothing was tried");
        let mut asked = false;
        let unfolded = self.equations((old, new), copies, false, true, &opaque);
        let mut tries: Vec<(u64, Attempt)> = attempts(&shape, effort)
            .into_iter()
            .map(|attempt| {
                let cost = self.cost((old, new), copies, attempt, &opaque);
                let in_vain = !shape.may_match(attempt.loops);
                (if in_vain { cost.max(unfolded.saturating_add(1)) } else { cost }, attempt)
            })
            .collect();
        tries.sort_by_key(|&(cost, attempt)| (attempt.solver, cost));
        for (cost, attempt) in tries {
            // More leaves are for words.
            let bits = self.programs[0].slicing == Slicing::B;
            if bits && attempt.leaves > 3 && !attempt.solver {
                continue;
            }
            let dear = attempt.leaves > 0 && cost > unfolded.saturating_mul(RUNS);
            if dear && !std::mem::replace(&mut asked, true) && give_up() {
                return Err("an input shows that they differ".into());
            }
            match self.attempt(old, new, copies, attempt, effort, &opaque) {
                Ok(()) => {
                    self.used(self.engines(attempt, &shape));
                    return Ok(());
                }
                Err(what) => resisted = what,
            }
        }
        Err(resisted)
    }

    fn used(&mut self, engines: Engines) {
        self.stats.engines = self.stats.engines.with(engines);
    }

    /// The engines that an attempt turns on.
    fn engines(&self, attempt: Attempt, shape: &Shape) -> Engines {
        let bits = self.programs[0].slicing == Slicing::B;
        let mut on = Engines::GRAPH;
        if attempt.leaves > 0 && !bits {
            on = on.with(Engines::SUMS).with(Engines::CUTS);
        }
        if attempt.leaves > 0 && (bits || attempt.leaves == MOST) {
            on = on.with(Engines::WINDOWS);
        }
        if attempt.solver {
            on = on.with(Engines::SOLVER);
        }
        if attempt.loops != Loops::Unfolded && (shape.loops[0] || shape.loops[1]) {
            on = on.with(Engines::INDUCTION);
        }
        on
    }

    /// The cost of an attempt, in equations of E1. Unrolling only inner loops costs less than
    /// unrolling all; it counts as if all were unrolled.
    fn cost(
        &self,
        goal: (NodeId, NodeId),
        copies: &Copies,
        attempt: Attempt,
        opaque: &FxHashSet<u32>,
    ) -> u64 {
        let unfold = attempt.loops != Loops::Kept;
        self.equations(goal, copies, attempt.calls, unfold, opaque)
            .saturating_mul(weight(attempt.leaves))
    }

    /// The number of equations that both sides execute; calls of `opaque` classes are not entered
    /// if `calls` is set.
    fn equations(
        &self,
        (old, new): (NodeId, NodeId),
        copies: &Copies,
        calls: bool,
        unfold: bool,
        opaque: &FxHashSet<u32>,
    ) -> u64 {
        let none = FxHashSet::default();
        let opaque = if calls { opaque } else { &none };
        let before = self.steps(Side::Before, old, unfold, opaque);
        let after = self.steps(Side::After, new, unfold, opaque);
        before.saturating_mul(copies.factor() as u64).saturating_add(after)
    }

    fn attempt(
        &mut self,
        old: NodeId,
        new: NodeId,
        copies: &Copies,
        attempt: Attempt,
        effort: Effort,
        opaque: &FxHashSet<u32>,
    ) -> Result<(), String> {
        let (rewrites, budget) = match attempt.leaves {
            0 => (None, effort.steps[0]),
            _ if attempt.solver => (Some(Rewrites::with_solver(MOST)), effort.steps[1]),
            leaves => (Some(Rewrites::new(leaves)), effort.steps[1]),
        };
        let unfold = attempt.loops == Loops::Unfolded;
        if self.equations((old, new), copies, attempt.calls, unfold, opaque) > budget {
            return Err(Stop::TooLong.to_string());
        }
        let counts = self.shape(old, new).outer[Side::After as usize].clone();
        let opaque = if attempt.calls { opaque.clone() } else { FxHashSet::default() };
        // The results of E1 are kept.
        let way = facts::way(attempt.loops, opaque.iter().copied());
        let (graph, seen) = match rewrites {
            None => {
                let graph = self.memory.graph.take();
                let seen = self.memory.results.remove(&way).unwrap_or_default();
                (graph.unwrap_or_else(|| Graph::new(None)), seen)
            }
            rewrites => (Graph::new(rewrites), Results::default()),
        };
        let keep = graph.rewrites.is_none();
        let run = Run::new(graph, self.programs, &self.classes, opaque, attempt.loops, budget);
        let mut run = run.with_counts(counts);
        run.seen = seen;
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
            match run.goal(Side::Before, old, &own) {
                Ok(results) => {
                    for (&at, &edge) in outputs.iter().zip(results.iter()) {
                        wanted[at] = Some(edge);
                    }
                }
                Err(stop) => outcome = Err(stop),
            }
        }
        let outcome = outcome.and_then(|()| run.goal(Side::After, new, &params));
        self.stats.steps += run.steps;
        self.stats.nodes = self.stats.nodes.max(run.graph.nodes.len());
        self.stats.bytes = self.stats.bytes.max(run.graph.bytes_held());
        let mut suspect = None;
        if let Ok(found) = &outcome
            && attempt.solver
        {
            let differ = found.iter().zip(&mut wanted).filter(|(f, w)| **w != Some(**f));
            let mut spent = 0;
            for (&found, wanted) in differ {
                let Some(edge) = *wanted else { continue };
                let (decision, cost) = miter::decide(&mut run.graph, edge, found, miter::RESULTS);
                spent += cost;
                match decision {
                    Decision::Equal => *wanted = Some(found),
                    Decision::Differ(values) => {
                        suspect = miter::input(&run.graph, &values, params.len());
                        break;
                    }
                    Decision::Unknown => break,
                }
                if spent > ASKED {
                    break;
                }
            }
        }
        if keep {
            // The loops of the program after were not grouped. If they have no loops inside, the
            // next proof needs these results.
            let outline = &self.outlines[Side::After as usize][new.0 as usize];
            let plain = outline.nesting == 1 && outline.calls.is_empty();
            if attempt.loops == Loops::Grouped
                && plain
                && let Some((name, results)) = run.kept(Side::After, new, &params)
            {
                let kept = facts::way(Loops::Kept, way.opaque.iter().copied());
                self.memory.results.entry(kept).or_default().insert(name, results);
            }
            self.memory.results.insert(way, run.seen);
            self.memory.graph = Some(run.graph);
            self.memory.tidy();
        }
        self.suspect = suspect.or(self.suspect.take());
        let found = outcome.map_err(|stop| stop.to_string())?;
        let differ: Vec<usize> =
            (0..found.len()).filter(|&at| wanted[at] != Some(found[at])).collect();
        match differ.first() {
            None => Ok(()),
            Some(first) => Err(format!(
                "{} of {} outputs of `{}` could not be shown equal; the first is `{}`",
                differ.len(),
                found.len(),
                after.name,
                element(&after.results, self.programs[1].slicing, *first)
            )),
        }
    }

    /// The features of both sides of a goal.
    fn shape(&self, old: NodeId, new: NodeId) -> Shape {
        let (mut calls, mut loops, mut nesting) = (false, [false; 2], 0);
        let (mut outer, mut all): ([BTreeSet<u32>; 2], [BTreeSet<u32>; 2]) = Default::default();
        for (side, id) in [(Side::Before, old), (Side::After, new)] {
            let mut work = vec![id];
            let mut seen = FxHashSet::default();
            while let Some(id) = work.pop() {
                if !seen.insert(id) {
                    continue;
                }
                let outline = &self.outlines[side as usize][id.0 as usize];
                calls |= !outline.calls.is_empty();
                work.extend(outline.calls.keys());
                loops[side as usize] |= outline.nesting > 0;
                nesting += outline.nesting;
                outer[side as usize].extend(&outline.outer);
                all[side as usize].extend(&outline.all);
            }
        }
        // Calls may put loops into loops.
        Shape { calls, loops, nested: nesting > 2, outer, all }
    }

    /// The number of equations that a run of a node executes, with loops unrolled or run once, and
    /// calls of `opaque` classes not entered. Saturates.
    fn steps(&self, side: Side, id: NodeId, unfold: bool, opaque: &FxHashSet<u32>) -> u64 {
        let outlines = &self.outlines[side as usize];
        let mut known: FxHashMap<NodeId, u64> = FxHashMap::default();
        let mut work = vec![(id, false)];
        // A node is ready when it comes off the stack after its callees.
        while let Some((id, ready)) = work.pop() {
            if known.contains_key(&id) {
                continue;
            }
            let outline = &outlines[id.0 as usize];
            let entered = outline.calls.iter().filter(|(callee, _)| {
                let class = self.classes.of.get(&(side, **callee));
                class.is_none_or(|class| !opaque.contains(class))
            });
            if ready {
                let steps = entered.fold(outline.own[unfold as usize], |sum, (callee, times)| {
                    sum.saturating_add(known[callee].saturating_mul(times[unfold as usize]))
                });
                known.insert(id, steps);
            } else {
                work.push((id, true));
                work.extend(entered.map(|(&callee, _)| (callee, false)));
            }
        }
        known[&id]
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

    /// The classes that a node calls when calls of `inlined` classes, and of nodes without class,
    /// are inlined.
    fn calls(&self, side: Side, id: NodeId, inlined: &FxHashSet<u32>) -> FxHashSet<u32> {
        let mut out = FxHashSet::default();
        let mut seen = FxHashSet::default();
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            for &callee in self.outlines[side as usize][id.0 as usize].calls.keys() {
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
