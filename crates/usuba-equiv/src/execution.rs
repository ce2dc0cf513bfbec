//! Symbolic execution: runs a program on edges of the DAG, so that each result is a function of the
//! inputs.
//!
//! ```text
//! t = sbox(x);       the edge of sbox's body on x     (inlined, once per argument list)
//! t = sbox(x);       Call(sbox, x)                    (uninterpreted: equal nodes in both programs)
//! ```
//!
//! Both programs run into one DAG. The *mode* decides how calls and loops are executed.
//!
//! *Soundness:* every mode is sound; modes differ in completeness and cost.
//!
//! *Reference:* King 1976 (symbolic execution).

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use usuba::ir::{Call, Eqn, Loop, NodeId, OpEqn, Program, Val};

use crate::bitblast::Places;
use crate::dag::{Edge, Kind};
use crate::value_numbering::Graph;

/// The key of results: the function or body, and the arguments.
pub type Name = (u64, Box<[Edge]>);

/// Results of runs.
pub type Results = FxHashMap<Name, Rc<[Edge]>>;

/// One of the two programs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    Before,
    After,
}

/// The treatment of loops.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Loops {
    /// Each loop stands for its step, by induction.
    Kept,
    /// The outermost loops stand for their steps; inner loops are unrolled.
    OutermostKept,
    /// As `OutermostKept`, but an iteration of a loop of the program before stands for several, if
    /// the program after has a loop with fewer iterations by that factor.
    Grouped,
    /// All loops are unrolled.
    Unfolded,
}

/// The mode of a run: its loops, and the classes whose calls are uninterpreted functions, sorted.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Way {
    pub loops: Loops,
    pub opaque: Vec<u32>,
}

/// The proved facts about the nodes of both programs.
#[derive(Clone, Default)]
pub struct Classes {
    /// The class of each node; nodes of one class are proved equal.
    pub of: FxHashMap<(Side, NodeId), u32>,
    /// The number of the body of a node, if its results are to be kept after the run.
    pub bodies: FxHashMap<(Side, NodeId), u32>,
}

/// The reason why a program was not run to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It takes more steps than the budget.
    TooLong,
    /// Calls are nested too deep.
    TooDeep,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::TooLong => "the program is too long to be unfolded",
            Stop::TooDeep => "its calls are nested too deep to be inlined",
        })
    }
}

/// The greatest depth of nested calls and loops, since the run is recursive.
const DEEPEST: usize = 300;

pub struct Run<'a> {
    pub graph: Graph,
    pub loops: Loops,
    programs: [&'a Program; 2],
    classes: &'a Classes,
    /// Classes whose calls are uninterpreted functions.
    opaque: FxHashSet<u32>,
    /// The iteration counts of the outermost loops of the program after.
    counts: BTreeSet<u32>,
    /// Results of inlined calls, and of goals.
    pub seen: Results,
    /// The number of loops around the current equation that stand for their step.
    pub nesting: u16,
    depth: usize,
    pub steps: u64,
    budget: u64,
    /// The positions of bit-blasted additions in the programs.
    places: Option<&'a Places>,
    /// The additions that were executed: operands and result, the least significant bits first.
    pub summed: Vec<[Vec<Edge>; 3]>,
    /// Whether the engines are asked about bits and carries of additions.
    asks_sums: bool,
}

/// The number of iterations that one iteration of a loop with one of these counts stands for, if
/// there is such a loop and none of the same count; the remaining iterations come after that loop.
pub fn group(count: u32, counts: &BTreeSet<u32>) -> Option<u32> {
    if counts.contains(&count) {
        return None;
    }
    (2..=LARGEST_GROUP).find(|group| count / group > 1 && counts.contains(&(count / group)))
}

/// The most iterations that one may stand for.
const LARGEST_GROUP: u32 = 16;

/// Distinguishes the numbers of bodies from the numbers of classes in keys of results.
const BODY: u64 = 1 << 40;
const PLACE: u64 = 2 << 40;
const GOAL: u64 = 3 << 40;

/// The values of the node that runs.
pub struct Frame {
    pub side: Side,
    pub node: NodeId,
    pub values: Vec<Edge>,
}

impl Frame {
    pub fn get(&self, v: Val) -> Edge {
        self.values[v.0 as usize]
    }

    pub fn set(&mut self, v: Val, edge: Edge) {
        self.values[v.0 as usize] = edge;
    }
}

impl<'a> Run<'a> {
    /// `budget` is the number of equations that may be run.
    pub fn new(
        graph: Graph,
        programs: [&'a Program; 2],
        classes: &'a Classes,
        opaque: FxHashSet<u32>,
        loops: Loops,
        budget: u64,
    ) -> Run<'a> {
        Run {
            graph,
            loops,
            programs,
            classes,
            opaque,
            counts: BTreeSet::new(),
            seen: Results::default(),
            nesting: 0,
            depth: 0,
            steps: 0,
            budget,
            places: None,
            summed: Vec::new(),
            asks_sums: true,
        }
    }

    /// The same run, which also records the additions at these positions; with `asks`, engines are
    /// asked about their bits and carries.
    pub fn with_sums(self, places: &'a Places, asks: bool) -> Run<'a> {
        Run { places: Some(places), asks_sums: asks, ..self }
    }

    /// The same run, with the iteration counts of the outermost loops of the program after.
    pub fn with_counts(self, counts: BTreeSet<u32>) -> Run<'a> {
        Run { counts, ..self }
    }

    /// The results of a node of a program.
    pub fn node(&mut self, side: Side, id: NodeId, args: &[Edge]) -> Result<Vec<Edge>, Stop> {
        let node = self.programs[side as usize].node(id);
        let mut frame = Frame { side, node: id, values: vec![Edge::NONE; node.bits.len()] };
        frame.values[..args.len()].copy_from_slice(args);
        self.block(&mut frame, &node.body)?;
        Ok(node.outs.iter().map(|&v| frame.get(v)).collect())
    }

    /// The name of a goal with these arguments, if its results are to be kept: by its body alone,
    /// since the equality of its class may be the goal of the proof.
    fn goal_name(&self, side: Side, id: NodeId, args: &[Edge]) -> Option<Name> {
        let body = self.classes.bodies.get(&(side, id))?;
        Some((GOAL | *body as u64, args.into()))
    }

    /// The results of a goal, if they are recorded, with their name.
    pub fn kept(&self, side: Side, id: NodeId, args: &[Edge]) -> Option<(Name, Rc<[Edge]>)> {
        let name = self.goal_name(side, id, args)?;
        let results = self.seen.get(&name)?.clone();
        Some((name, results))
    }

    /// The results of a node, looked up if it has run on these arguments before.
    pub fn goal(&mut self, side: Side, id: NodeId, args: &[Edge]) -> Result<Rc<[Edge]>, Stop> {
        let Some(name) = self.goal_name(side, id, args) else {
            return Ok(self.node(side, id, args)?.into());
        };
        if let Some(results) = self.seen.get(&name) {
            return Ok(results.clone());
        }
        let results: Rc<[Edge]> = self.node(side, id, args)?.into();
        self.seen.insert(name, results.clone());
        Ok(results)
    }

    pub fn block(&mut self, frame: &mut Frame, eqns: &[Eqn]) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Stop::TooDeep);
        }
        self.steps += eqns.len() as u64;
        if self.steps > self.budget {
            return Err(Stop::TooLong);
        }
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.op(frame, e),
                Eqn::Call(call) => self.call(frame, call)?,
                Eqn::Loop(lp) => self.repeat(frame, lp)?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn op(&mut self, frame: &mut Frame, e: &OpEqn) {
        let mut args = [Edge::NONE; 3];
        for (arg, &v) in args.iter_mut().zip(&e.args) {
            *arg = frame.get(v);
        }
        let node = self.programs[frame.side as usize].node(frame.node);
        let places = self.places.filter(|places| places.is_part(frame.node, e.dst));
        let made = |graph: &mut Graph| graph.op(&e.op, node.bits_of(e.dst), &args[..e.args.len()]);
        let edge = match places {
            Some(_) if !self.asks_sums => self.graph.quietly(made),
            _ => made(&mut self.graph),
        };
        frame.set(e.dst, edge);
        if let Some(sum) = places.and_then(|places| places.sum(frame.node, e.dst)) {
            let edges = |bits: &Vec<Val>| bits.iter().rev().map(|&bit| frame.get(bit)).collect();
            self.summed.push([edges(&sum[0]), edges(&sum[1]), edges(&sum[2])]);
        }
    }

    fn call(&mut self, frame: &mut Frame, call: &Call) -> Result<(), Stop> {
        let args: Box<[Edge]> = call.args.iter().map(|&v| frame.get(v)).collect();
        let class = self.classes.of.get(&(frame.side, call.node)).copied();
        if let Some(class) = class.filter(|class| self.opaque.contains(class)) {
            self.opaque_call(frame, call, class, &args);
            return Ok(());
        }
        // Nodes of one class are one function, in both programs.
        let key = match (class, self.classes.bodies.get(&(frame.side, call.node))) {
            (Some(class), _) => class as u64,
            (None, Some(&body)) => BODY | body as u64,
            (None, None) => PLACE | (frame.side as u64) << 32 | call.node.0 as u64,
        };
        let results = match self.seen.get(&(key, args.clone())) {
            Some(results) => results.clone(),
            None => {
                let results: Rc<[Edge]> = self.node(frame.side, call.node, &args)?.into();
                self.seen.insert((key, args), results.clone());
                results
            }
        };
        self.steps += results.len() as u64;
        for (&dst, &edge) in call.dsts.iter().zip(results.iter()) {
            frame.set(dst, edge);
        }
        Ok(())
    }

    fn opaque_call(&mut self, frame: &mut Frame, call: &Call, class: u32, args: &[Edge]) {
        let raw: Vec<u64> = args.iter().map(|arg| arg.raw()).collect();
        let list = self.graph.list_node(&raw);
        let (depth, name) = (self.graph.depth(list), list.raw() | class as u64);
        let node = self.programs[frame.side as usize].node(frame.node);
        for (at, &dst) in call.dsts.iter().enumerate() {
            let bits = node.bits_of(dst);
            let edge = self.graph.intern(Kind::Call, bits, depth, name, at as u64);
            frame.set(dst, edge);
        }
        self.steps += call.dsts.len() as u64;
    }

    fn repeat(&mut self, frame: &mut Frame, lp: &Loop) -> Result<(), Stop> {
        let unfold = match self.loops {
            _ if lp.count == 1 => true,
            Loops::Kept => false,
            Loops::OutermostKept | Loops::Grouped => self.nesting > 0,
            Loops::Unfolded => true,
        };
        if unfold {
            let first = lp.carried.iter().map(|c| frame.get(c.init)).collect();
            return self.unfold(frame, lp, 0, first);
        }
        let group = match (self.loops, frame.side) {
            (Loops::Grouped, Side::Before) => group(lp.count, &self.counts).unwrap_or(1),
            _ => 1,
        };
        self.induct(frame, lp, group)
    }

    /// Unrolls the body from iteration `start` on, given the loop-carried values.
    pub fn unfold(
        &mut self,
        frame: &mut Frame,
        lp: &Loop,
        start: u32,
        mut carried: Vec<Edge>,
    ) -> Result<(), Stop> {
        for k in start as usize..lp.count as usize {
            for (c, &edge) in lp.carried.iter().zip(&carried) {
                frame.set(c.param, edge);
            }
            for read in &lp.reads {
                frame.set(read.dst, frame.get(read.list[k]));
            }
            self.block(frame, &lp.body)?;
            // An iteration takes time even if its body is empty.
            self.steps += 1 + (lp.carried.len() + lp.reads.len() + lp.collects.len()) as u64;
            for collect in &lp.collects {
                frame.set(collect.results[k], frame.get(collect.value));
            }
            carried = lp.carried.iter().map(|c| frame.get(c.next)).collect();
            if self.steps > self.budget {
                return Err(Stop::TooLong);
            }
        }
        for (c, &edge) in lp.carried.iter().zip(&carried) {
            frame.set(c.result, edge);
        }
        Ok(())
    }
}
