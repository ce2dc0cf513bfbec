//! List scheduling around S-box calls: moves linear layers and key additions next to the calls.
//!
//! ```text
//! a = x0 ^ k0; b = x1 ^ k1; ...         a = x0 ^ k0; c = S(a); y0 = c ^ l;
//! c = S(a); d = S(b); ...         →     b = x1 ^ k1; d = S(b); y1 = d ^ l;
//! y0 = c ^ l; y1 = d ^ l; ...           ...
//! ```
//! Each call comes right after the equations that its arguments still need. Behind it come
//! equations that its results make ready: all of them, only equations that do not increase the
//! number of live values, or none. The pass tries the calls in program order and in the order in
//! which stored values need them, each with the three choices. It takes the schedule with the
//! lowest spill cost (`spills`); on a tie the program stays as it is. Bodies of loops are scheduled
//! like nodes. Sound because equations are pure and every schedule defines values before they are
//! read. Requires `inline` to keep calls of likely S-boxes, and to remove the calls that only move
//! bits or add keys. Limit: does not schedule inside callees; `pressure` does, once they are
//! inlined.

use super::graph::{Frame, Graph, Item, List, Numbering, reorder};
use super::schedules::{demand, on_demand};
use super::spills::{Calls, Memory};
use super::{Pass, PassOptions};
use crate::ir::{Eqn, Loop, Program};

pub const PASS: Pass = Pass {
    name: "bitslice-sched",
    about: "in bitslicing, put linear layers between the calls of S-boxes",
    run,
};

fn run(program: &mut Program, options: &PassOptions) {
    let machine = &options.machine;
    let wanted = options.schedule.bitslice.or(machine.pays.bitslice);
    if !program.is_bitsliced() || !wanted {
        return;
    }
    let memory = Memory::new(machine, Calls::Vanish);
    for node in &mut program.nodes {
        let frame = Frame::new(node, machine.regs);
        let mut numbering = Numbering::new(node);
        schedule(&mut node.body, None, &frame, &memory, &mut numbering);
    }
}

fn schedule(
    body: &mut Vec<Eqn>,
    around: Option<&Loop>,
    frame: &Frame,
    memory: &Memory,
    numbering: &mut Numbering,
) {
    for eqn in body.iter_mut() {
        if let Eqn::Loop(lp) = eqn {
            let mut inner = std::mem::take(&mut lp.body);
            schedule(&mut inner, Some(lp), frame, memory, numbering);
            lp.body = inner;
        }
    }
    if !body.iter().any(|eqn| matches!(eqn, Eqn::Call(_))) {
        return;
    }
    let graph = Graph::new(body, around, frame, numbering);
    let written: Vec<u32> = (0..graph.len() as u32).collect();
    let mut least = memory.cost(&graph, &written);
    let mut best = None;
    let demanded = on_demand(&graph);
    for calls in [&written, &demanded] {
        for pull in [Pull::All, Pull::Shorter, Pull::Nothing] {
            let order = around_calls(&graph, calls, pull);
            let cost = memory.cost(&graph, &order);
            if cost < least {
                least = cost;
                best = Some(order);
            }
        }
    }
    if let Some(order) = best {
        reorder(&order, body);
    }
}

/// The equations that come right after a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pull {
    /// Every equation that has become ready.
    All,
    /// The ready equations that do not increase the number of live values.
    Shorter,
    Nothing,
}

/// Takes the calls in the order of `sequence`, each between the equations that it needs and the
/// equations that it makes ready; the remaining equations keep the order of the program.
fn around_calls(graph: &Graph, sequence: &[u32], pull: Pull) -> Vec<u32> {
    let mut state = State {
        graph,
        pull,
        left: graph.users.iter().map(|users| users.len() as u32).collect(),
        waits: (0..graph.len() as u32).map(|i| graph.before(i).count() as u32).collect(),
        wanted: vec![false; graph.len()],
        done: vec![false; graph.len()],
        order: Vec::with_capacity(graph.len()),
    };
    let call = |&&i: &&u32| matches!(graph.items[i as usize], Item::Call | Item::Loop);
    for &i in sequence.iter().filter(call) {
        state.want(i);
    }
    for i in 0..graph.len() as u32 {
        state.want(i);
    }
    state.order
}

struct State<'g> {
    graph: &'g Graph,
    pull: Pull,
    /// Uses of each value that are still to come.
    left: Vec<u32>,
    /// Operands of each item that are not computed yet.
    waits: Vec<u32>,
    /// Items that are in the schedule, or about to be.
    wanted: Vec<bool>,
    done: Vec<bool>,
    order: Vec<u32>,
}

impl State<'_> {
    /// Appends an item after the items that it needs.
    fn want(&mut self, i: u32) {
        let mut needed = Vec::new();
        demand(self.graph, i, |_| {}, &mut self.wanted, &mut needed);
        for j in needed {
            self.take(j);
        }
    }

    fn take(&mut self, i: u32) {
        if self.done[i as usize] {
            return;
        }
        let pulls = self.graph.items[i as usize] == Item::Call && self.pull != Pull::Nothing;
        let mut open = self.append(i);
        if !pulls {
            return;
        }
        open.reverse();
        while let Some(w) = open.pop() {
            let fits = self.pull == Pull::All || self.shorter(w);
            let single = self.graph.items[w as usize] == Item::Op;
            if single && fits && !self.done[w as usize] {
                self.wanted[w as usize] = true;
                let mut ready = self.append(w);
                ready.reverse();
                open.extend(ready);
            }
        }
    }

    /// Appends an item; returns the items that become ready because of it.
    fn append(&mut self, i: u32) -> List {
        let graph = self.graph;
        self.done[i as usize] = true;
        self.order.push(i);
        graph.reads[i as usize].iter().for_each(|&v| self.left[v as usize] -= 1);
        let mut ready = List::new();
        for w in graph.after(i) {
            self.waits[w as usize] -= 1;
            if self.waits[w as usize] == 0 {
                ready.push(w);
            }
        }
        ready
    }

    /// Whether an item does not increase the number of live values. Values that wait in memory do
    /// not count.
    fn shorter(&self, i: u32) -> bool {
        let graph = self.graph;
        let lives = |&&v: &&u32| !graph.users[v as usize].is_empty() || graph.ends[v as usize];
        let inside = |v: u32| graph.source[v as usize].is_some() || graph.held[v as usize];
        let dies = |&&v: &&u32| {
            let last = self.left[v as usize] == 1 && !graph.ends[v as usize];
            last && inside(v) && !graph.free[v as usize]
        };
        let born = graph.defines[i as usize].iter().filter(lives).count();
        born <= graph.reads[i as usize].iter().filter(dies).count()
    }
}
