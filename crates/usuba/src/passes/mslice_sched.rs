//! List scheduling for instruction-level parallelism, with a window of n independent equations.
//!
//! ```text
//! t = x + k; u = t <<< 7; y = u ^ x;         t = x + k; v = z + k;
//! v = z + k; w = v <<< 7; a = w ^ z;    →    u = t <<< 7; w = v <<< 7;
//!                                            y = u ^ x; a = w ^ z;
//! ```
//!
//! The scheduler chooses a ready equation that reads no result of the last n equations, and whose
//! instructions run on the ports that these use least; ties keep the order of the program. If there
//! is none, the window shrinks until there is one. The pass schedules stretches without calls and
//! loops, in nodes and in loops.
//! Interleaved programs stay as they are unless the user asks for this pass.
//! If the schedule has more live values than the machine has registers and than the program had, or
//! a higher spill cost, the pass tries smaller windows; finally the program stays as it is.
//! Sound because equations are pure and every schedule defines values before they are read.
//! Takes nearly linear time: ready equations wait in a queue until the window has passed, then in
//! heaps, one for each set of ports.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::graph::{Frame, Graph, Item, Numbering, reorder};
use super::machine::Machine;
use super::spills::{Calls, Memory};
use super::{Pass, PassOptions};
use crate::ir::{Eqn, Loop, Node, Program};

pub const PASS: Pass = Pass {
    name: "mslice-sched",
    about: "put independent equations next to each other where words are sliced",
    run,
};

fn run(program: &mut Program, options: &PassOptions) {
    let machine = &options.machine;
    // Interleaved instances are independent already, and leave no registers for more.
    let pays = machine.pays.mslice && program.copies < 2;
    let wanted = options.schedule.mslice.or(pays);
    if program.is_bitsliced() || !wanted {
        return;
    }
    let window = options.schedule.window as usize;
    for node in &mut program.nodes {
        let frame = Frame::new(node, machine.regs);
        let mut numbering = Numbering::new(node);
        let mut body = std::mem::take(&mut node.body);
        let scheduler = Scheduler { node, frame: &frame, machine, window };
        scheduler.body(&mut body, None, &mut numbering);
        node.body = body;
    }
}

struct Scheduler<'a> {
    /// Without its body.
    node: &'a Node,
    frame: &'a Frame,
    machine: &'a Machine,
    window: usize,
}

impl Scheduler<'_> {
    fn body(&self, body: &mut Vec<Eqn>, around: Option<&Loop>, numbering: &mut Numbering) {
        for eqn in body.iter_mut() {
            if let Eqn::Loop(lp) = eqn {
                let mut inner = std::mem::take(&mut lp.body);
                self.body(&mut inner, Some(lp), numbering);
                lp.body = inner;
            }
        }
        let graph = Graph::new(body, around, self.frame, numbering);
        let ports: Vec<u16> = body.iter().map(|eqn| self.ports(eqn)).collect();
        let written: Vec<u32> = (0..graph.len() as u32).collect();
        let limit = graph.most_live(&written).max(self.machine.free_regs() as usize);
        let memory = Memory::new(self.machine, Calls::Stay);
        let spills = memory.cost(&graph, &written);
        let mut window = self.window;
        while window > 0 {
            let order = spread(&graph, &ports, window);
            if graph.most_live(&order) <= limit && memory.cost(&graph, &order) <= spills {
                return reorder(&order, body);
            }
            window /= 2;
        }
    }

    fn ports(&self, eqn: &Eqn) -> u16 {
        match eqn {
            Eqn::Op(e) => self.machine.cost(&e.op, self.node.bits_of(e.dst)).ports,
            Eqn::Call(_) | Eqn::Loop(_) => 0,
        }
    }
}

/// The schedule for a window of `window` items.
fn spread(graph: &Graph, ports: &[u16], window: usize) -> Vec<u32> {
    let mut kinds: Vec<u16> = ports.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    let kind: Vec<usize> =
        ports.iter().map(|p| kinds.binary_search(p).expect("it is listed")).collect();
    let mut state = State {
        graph,
        window,
        recent: Recent { used: [0; 16], last: VecDeque::new(), window },
        cool: vec![BinaryHeap::new(); kinds.len()],
        warm: VecDeque::new(),
        waits: Vec::with_capacity(graph.len()),
        order: Vec::with_capacity(graph.len()),
    };
    // A stretch ends at each call and loop: later equations wait for it.
    let mut begin = 0;
    for end in 0..=graph.len() {
        let single = |i: usize| matches!(graph.items[i], Item::Op | Item::Free);
        if end < graph.len() && single(end) {
            continue;
        }
        state.stretch(begin, end, &kinds, &kind);
        if end < graph.len() {
            state.order.push(end as u32);
        }
        begin = end + 1;
    }
    state.order
}

struct State<'g> {
    graph: &'g Graph,
    window: usize,
    recent: Recent,
    /// Items that may come next, for each set of ports.
    cool: Vec<BinaryHeap<Reverse<u32>>>,
    /// Items that are ready but read a result of the window, with the place after which they are
    /// ready.
    warm: VecDeque<(usize, u32)>,
    waits: Vec<u32>,
    order: Vec<u32>,
}

impl State<'_> {
    /// Appends the items from `begin` to `end`, which are all operators.
    fn stretch(&mut self, begin: usize, end: usize, kinds: &[u16], kind: &[usize]) {
        let graph = self.graph;
        let inside = |i: u32| (begin..end).contains(&(i as usize));
        self.waits.clear();
        for (i, &kind) in kind.iter().enumerate().take(end).skip(begin) {
            let waits = graph.before(i as u32).filter(|&j| inside(j)).count() as u32;
            self.waits.push(waits);
            if waits == 0 {
                self.cool[kind].push(Reverse(i as u32));
            }
        }
        for _ in begin..end {
            let now = self.order.len();
            while let Some(&(since, i)) = self.warm.front() {
                if since + self.window > now && self.cool.iter().any(|heap| !heap.is_empty()) {
                    break;
                }
                // The window shrinks as far as necessary if no other item is left.
                let shrunk = since + self.window > now;
                self.warm.pop_front();
                self.cool[kind[i as usize]].push(Reverse(i));
                if shrunk {
                    let together = |&&(other, _): &&(usize, u32)| other == since;
                    while let Some(&(_, i)) = self.warm.front().filter(together) {
                        self.warm.pop_front();
                        self.cool[kind[i as usize]].push(Reverse(i));
                    }
                    break;
                }
            }
            let first = |k: &usize| self.cool[*k].peek().map(|&Reverse(i)| i);
            let choice = (0..kinds.len())
                .filter_map(|k| first(&k).map(|i| (self.recent.load(kinds[k]), i, k)))
                .min();
            let Some((_, i, k)) = choice else { return };
            self.cool[k].pop();
            self.recent.add(kinds[k]);
            self.order.push(i);
            for w in graph.after(i).filter(|&w| inside(w)) {
                let waits = &mut self.waits[w as usize - begin];
                *waits -= 1;
                if *waits == 0 {
                    self.warm.push_back((now + 1, w));
                }
            }
        }
    }
}

/// The ports of the last equations.
struct Recent {
    used: [u32; 16],
    last: VecDeque<Option<usize>>,
    window: usize,
}

impl Recent {
    /// How many of the last equations are on the least used of these ports.
    fn load(&self, ports: u16) -> u32 {
        self.least(ports).map_or(0, |port| self.used[port])
    }

    fn least(&self, ports: u16) -> Option<usize> {
        (0..16).filter(|port| ports >> port & 1 == 1).min_by_key(|&port| self.used[port])
    }

    fn add(&mut self, ports: u16) {
        let port = self.least(ports);
        if let Some(port) = port {
            self.used[port] += 1;
        }
        self.last.push_back(port);
        if self.last.len() > self.window
            && let Some(Some(old)) = self.last.pop_front()
        {
            self.used[old] -= 1;
        }
    }
}
