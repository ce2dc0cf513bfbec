//! Dead-code elimination: removes equations that no output depends on.
//!
//! ```text
//! t1 = a ^ b;
//! t2 = ~t1;       →     y = a & b;
//! y  = a & b;
//! ```
//!
//! Removes equations, calls, carried values, reads and collected values that no result depends
//! on, loops that are left with nothing to do, and nodes that the entry does not reach.
//! Sound because an equation has no effect besides its values.
//! Requires nothing. A loop-carried value that only feeds itself is dead, too.
//! Renumbers the remaining values, in the order of their definitions, and the nodes. Limit: a call
//! stays whole if one of its results is live.

use super::Pass;
use crate::ir::{Eqn, Loop, Node, NodeId, Program, Slicing, Val};

pub const PASS: Pass =
    Pass { name: "dce", about: "remove what no result depends on", run: |program, _| run(program) };

fn run(program: &mut Program) {
    let slicing = program.slicing;
    for node in &mut program.nodes {
        let needed = Needs::new(node).mark(&node.outs);
        sweep(&mut node.body, &needed);
        renumber(node, slicing);
    }
    remove_unreached(program);
}

/// Which values each value is made from.
struct Needs {
    /// Number of the source of each value, `NO_SOURCE` for parameters of the node.
    source: Vec<u32>,
    /// The values from which the values of a source are made.
    operands: Vec<Val>,
    /// Where the operands of each source begin; one more at the end.
    starts: Vec<u32>,
}

const NO_SOURCE: u32 = u32::MAX;

impl Needs {
    fn new(node: &Node) -> Needs {
        let mut needs = Needs {
            source: vec![NO_SOURCE; node.bits.len()],
            operands: Vec::new(),
            starts: vec![0],
        };
        needs.block(&node.body);
        needs
    }

    fn add<'a>(
        &mut self,
        dsts: impl IntoIterator<Item = &'a Val>,
        operands: impl IntoIterator<Item = &'a Val>,
    ) {
        let source = self.starts.len() as u32 - 1;
        dsts.into_iter().for_each(|dst| self.source[dst.0 as usize] = source);
        self.operands.extend(operands);
        self.starts.push(self.operands.len() as u32);
    }

    fn block(&mut self, eqns: &[Eqn]) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.add([&e.dst], &e.args),
                Eqn::Call(call) => self.add(&call.dsts, &call.args),
                Eqn::Loop(lp) => {
                    lp.carried
                        .iter()
                        .for_each(|c| self.add([&c.param, &c.result], [&c.init, &c.next]));
                    lp.reads.iter().for_each(|r| self.add([&r.dst], &r.list));
                    lp.collects.iter().for_each(|c| self.add(&c.results, [&c.value]));
                    self.block(&lp.body);
                }
            }
        }
    }

    /// For each value whether it is made by a source that one of `roots` depends on.
    fn mark(&self, roots: &[Val]) -> Vec<bool> {
        let mut reached = vec![false; self.starts.len()];
        let mut work: Vec<Val> = roots.to_vec();
        while let Some(v) = work.pop() {
            let source = self.source[v.0 as usize];
            if source != NO_SOURCE && !std::mem::replace(&mut reached[source as usize], true) {
                let range = self.starts[source as usize]..self.starts[source as usize + 1];
                work.extend(&self.operands[range.start as usize..range.end as usize]);
            }
        }
        self.source.iter().map(|&s| s != NO_SOURCE && reached[s as usize]).collect()
    }
}

fn sweep(eqns: &mut Vec<Eqn>, needed: &[bool]) {
    let is_needed = |v: Val| needed[v.0 as usize];
    eqns.retain_mut(|eqn| match eqn {
        Eqn::Op(e) => is_needed(e.dst),
        Eqn::Call(call) => call.dsts.iter().any(|&dst| is_needed(dst)),
        Eqn::Loop(lp) => {
            lp.carried.retain(|c| is_needed(c.param));
            lp.reads.retain(|r| is_needed(r.dst));
            lp.collects.retain(|c| is_needed(c.results[0]));
            sweep(&mut lp.body, needed);
            // Every live value of the body leaves the loop in one of these ways.
            !lp.carried.is_empty() || !lp.collects.is_empty()
        }
    });
}

/// Gives the values of a node the numbers 0, 1, 2, ... in the order of their definitions.
fn renumber(node: &mut Node, slicing: Slicing) {
    let mut numbers = Numbers { new: vec![Val(u32::MAX); node.bits.len()], old: Vec::new() };
    (0..node.arity(slicing) as u32).for_each(|v| numbers.define(&mut Val(v)));
    numbers.block(&mut node.body);
    node.outs.iter_mut().for_each(|v| numbers.read(v));
    node.bits = numbers.old.iter().map(|v| node.bits[v.0 as usize]).collect();
    node.origins = node.origins.renumbered(&numbers.old);
}

struct Numbers {
    new: Vec<Val>,
    old: Vec<Val>,
}

impl Numbers {
    fn define(&mut self, v: &mut Val) {
        let new = Val(self.old.len() as u32);
        self.old.push(*v);
        self.new[v.0 as usize] = new;
        *v = new;
    }

    fn read(&self, v: &mut Val) {
        *v = self.new[v.0 as usize];
    }

    fn block(&mut self, eqns: &mut [Eqn]) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => {
                    e.args.iter_mut().for_each(|v| self.read(v));
                    self.define(&mut e.dst);
                }
                Eqn::Call(call) => {
                    call.args.iter_mut().for_each(|v| self.read(v));
                    call.dsts.iter_mut().for_each(|v| self.define(v));
                }
                Eqn::Loop(lp) => self.lp(lp),
            }
        }
    }

    fn lp(&mut self, lp: &mut Loop) {
        lp.carried.iter_mut().for_each(|c| self.read(&mut c.init));
        lp.reads.iter_mut().flat_map(|r| &mut r.list).for_each(|v| self.read(v));
        lp.carried.iter_mut().for_each(|c| self.define(&mut c.param));
        lp.reads.iter_mut().for_each(|r| self.define(&mut r.dst));
        self.block(&mut lp.body);
        lp.carried.iter_mut().for_each(|c| self.read(&mut c.next));
        lp.collects.iter_mut().for_each(|c| self.read(&mut c.value));
        lp.carried.iter_mut().for_each(|c| self.define(&mut c.result));
        lp.collects.iter_mut().flat_map(|c| &mut c.results).for_each(|v| self.define(v));
    }
}

/// Removes nodes that the entry does not call, directly or not.
fn remove_unreached(program: &mut Program) {
    let mut reached = vec![false; program.nodes.len()];
    reached[program.entry.0 as usize] = true;
    // Callers come after callees, so one backward traversal sees every caller first.
    for index in (0..program.nodes.len()).rev() {
        if reached[index] {
            each_call(&mut program.nodes[index].body, &mut |id| reached[id.0 as usize] = true);
        }
    }
    let mut count = 0;
    let new_ids: Vec<NodeId> = reached
        .iter()
        .map(|&r| {
            count += r as u32;
            NodeId(count.wrapping_sub(1))
        })
        .collect();
    let mut keep = reached.iter();
    program.nodes.retain(|_| *keep.next().expect("a mark per node"));
    program.entry = new_ids[program.entry.0 as usize];
    for node in &mut program.nodes {
        each_call(&mut node.body, &mut |id| *id = new_ids[id.0 as usize]);
    }
}

fn each_call(eqns: &mut [Eqn], visit: &mut dyn FnMut(&mut NodeId)) {
    for eqn in eqns {
        match eqn {
            Eqn::Op(_) => {}
            Eqn::Call(call) => visit(&mut call.node),
            Eqn::Loop(lp) => each_call(&mut lp.body, visit),
        }
    }
}
