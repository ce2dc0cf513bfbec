//! Cost model for the interleave factor of a kernel on a machine.
//!
//! A kernel is a set of straight bodies: the bodies of its loops, and the equations outside of
//! them. One run of a body with F interleaved instances takes, in cycles,
//!
//! ```text
//! live(F)     peak + (F - 1) · mean, of the values of one instance that live at once
//! spills(F)   (live(F) - registers) · definitions / peak, at least 0
//!             + F · state / 4 where the F states of a loop fill the registers
//! issue(F)    (F · instructions + spills(F) / 2) / issue width,
//!             or F · instructions of some ports / their number if that is more
//! memory(F)   loads and stores, those of spilled values too, by what the machine does in a cycle
//! latency(F)  the longest chain from one iteration to the next, and one cycle more for each of
//!             its values that is spilled
//! cycles(F)   √(max(issue(F), memory(F))² + latency(F)²)
//! ```
//!
//! Every register is redefined `definitions / peak` times in a body, so each value beyond the
//! registers costs that many stores and loads, half of which hide behind other instructions. The
//! root of the sum of squares is close to the larger of the two bounds where they are far apart,
//! and larger where they are equal, since the reorder window is finite. Values that all instances
//! share are operands in memory.
//!
//! Of the factors up to [`MOST`] whose bodies the front end can feed, the model chooses the
//! smallest one within [`NEAR`] of the fewest cycles per instance: more instances make longer code
//! and larger batches. If one instance needs far more than the registers ([`CROWDED`]), as in
//! bitslicing, the program works in memory, and interleaving hides no more latency. A short program
//! ([`WINDOW`]) does not need interleaving either: consecutive calls overlap.
//!
//! The constants were fitted to kernels timed with factors from 1 to 6 on an x86-64 server with
//! AVX-512 and two C compilers, and to factors published for another.

use super::varying;
use crate::ir::{Eqn, Loop, Node, Op, Program, Val};
use crate::passes::machine::{Kind, Machine};

/// A larger interleave factor never pays.
const MOST: u32 = 6;

/// The tolerance of the choice: how much slower a smaller factor may be than the best one.
const NEAR: f64 = 1.05;

/// Size of the reorder window in instructions. If a call has no more, the next call hides its
/// latency.
const WINDOW: f64 = 128.0;

/// Limit on the live values of one instance, as a multiple of the registers.
const CROWDED: f64 = 1.5;

/// Iterations of a loop body that the model simulates to find the growth of the critical path.
const TURNS: u32 = 4;

/// The factor for the entry of `program`, and the reason, in half a sentence.
pub fn choose(program: &Program, machine: &Machine) -> (u32, String) {
    let entry = program.entry();
    if entry.params.iter().all(|port| port.constant) {
        return (1, "because all instances are the same".to_string());
    }
    let kernel = Kernel::new(program, machine);
    let sum = |of: &dyn Fn(&Body) -> f64| -> f64 {
        kernel.bodies.iter().map(|body| body.runs * of(body)).sum()
    };
    let instructions = sum(&|body| body.ports.iter().map(|(_, count)| count).sum());
    if instructions <= WINDOW {
        return (1, format!("because calls of {instructions} instructions overlap"));
    }
    let registers = machine.regs as f64;
    let peak = kernel.bodies.iter().map(|body| body.peak).fold(0.0, f64::max);
    if peak > CROWDED * registers {
        return (1, format!("because an instance has {peak} values for {registers} registers"));
    }
    let fits = |factor: u32| {
        factor == 1 || kernel.bodies.iter().all(|b| machine.fits(b.written * factor as u64))
    };
    let cycles: Vec<(u32, f64)> = (1..=MOST)
        .filter(|&factor| fits(factor))
        .map(|factor| (factor, kernel.cycles(factor, machine)))
        .collect();
    let best = cycles.iter().map(|&(_, cycles)| cycles).fold(f64::INFINITY, f64::min);
    let near = cycles.iter().find(|&&(_, cycles)| cycles <= best * NEAR);
    let factor = near.map_or(1, |&(factor, _)| factor);
    let why = format!(
        "by a model: an instance has {:.0} cycles of latency and {:.0} of issue, and {peak} values \
         for {registers} registers",
        sum(&|body| body.latency),
        sum(&|body| body.issue(1, 0.0, machine)),
    );
    (factor, why)
}

/// The bodies of a program; the bodies of a callee count at each of its calls.
struct Kernel {
    bodies: Vec<Body>,
}

/// One straight body.
#[derive(Clone, Default)]
struct Body {
    /// How often it runs in one run of the entry.
    runs: f64,
    /// Instructions by the ports that they may take, with the instructions of callees.
    ports: Vec<(u16, f64)>,
    /// Cycles that one iteration adds to the critical path.
    latency: f64,
    /// Operands in memory, and values that go there.
    loads: f64,
    stores: f64,
    /// Live values of one instance: the maximum, and the average.
    peak: f64,
    mean: f64,
    /// Values that are defined in it.
    definitions: f64,
    /// Values that are carried from one iteration to the next.
    state: f64,
    /// Instructions written in it, without the instructions of callees.
    written: u64,
}

/// The cost of a call for its caller.
#[derive(Clone, Default)]
struct Callee {
    ports: Vec<(u16, f64)>,
    latency: f64,
}

impl Kernel {
    fn new(program: &Program, machine: &Machine) -> Kernel {
        let mut callees: Vec<Callee> = Vec::with_capacity(program.nodes.len());
        for (id, node) in program.nodes.iter().enumerate() {
            let entry = id == program.entry.0 as usize;
            let varies = varying(node, program.slicing);
            let walk = Walk { node, machine, callees: &callees, varies, bodies: Vec::new() };
            let bodies = walk.bodies(program);
            if entry {
                return Kernel { bodies };
            }
            let mut sum = Callee::default();
            for body in &bodies {
                sum.latency += body.runs * body.latency;
                add_ports(&mut sum.ports, &body.ports, body.runs);
            }
            callees.push(sum);
        }
        Kernel { bodies: Vec::new() }
    }

    /// Cycles for one instance with `factor` copies.
    fn cycles(&self, factor: u32, machine: &Machine) -> f64 {
        let all = self.bodies.iter().map(|body| body.runs * body.cycles(factor, machine));
        all.sum::<f64>() / factor as f64
    }
}

impl Body {
    /// Values that are spilled, each with a store and a load.
    fn spills(&self, factor: u32, machine: &Machine) -> f64 {
        let (factor, registers) = (factor as f64, machine.regs as f64);
        let excess = (self.peak + (factor - 1.0) * self.mean - registers).max(0.0);
        let state = factor * self.state;
        let moved = if state >= registers { state / 4.0 } else { 0.0 };
        excess * self.definitions / self.peak.max(1.0) + moved
    }

    fn issue(&self, factor: u32, spills: f64, machine: &Machine) -> f64 {
        let factor = factor as f64;
        let all: f64 = self.ports.iter().map(|(_, count)| count).sum();
        let mut bound = (factor * all + spills / 2.0) / machine.issue.max(1) as f64;
        for &(ports, _) in &self.ports {
            let within = self.ports.iter().filter(|(other, _)| other & !ports == 0);
            let count: f64 = within.map(|(_, count)| count).sum();
            bound = bound.max(factor * count / ports.count_ones().max(1) as f64);
        }
        bound
    }

    fn cycles(&self, factor: u32, machine: &Machine) -> f64 {
        let spills = self.spills(factor, machine);
        let times = factor as f64;
        let loads = (times * self.loads + spills) * 10.0 / machine.loads.max(1) as f64;
        let stores = (times * self.stores + spills) * 10.0 / machine.stores.max(1) as f64;
        let busy = self.issue(factor, spills, machine).max(loads).max(stores);
        // The critical path has as many values as operators of its latency, and its share of
        // spills.
        let links = self.latency / machine.price(Kind::Logic, 64).latency.max(1) as f64;
        let latency = self.latency + links * spills / (times * self.definitions).max(1.0);
        (busy * busy + latency * latency).sqrt()
    }
}

fn add_ports(into: &mut Vec<(u16, f64)>, from: &[(u16, f64)], times: f64) {
    for &(ports, count) in from {
        match into.iter_mut().find(|(other, _)| *other == ports) {
            Some((_, sum)) => *sum += count * times,
            None => into.push((ports, count * times)),
        }
    }
}

/// Finds the bodies of one node.
struct Walk<'a> {
    node: &'a Node,
    machine: &'a Machine,
    /// Of the nodes before this one.
    callees: &'a [Callee],
    varies: Vec<bool>,
    bodies: Vec<Body>,
}

impl Walk<'_> {
    fn bodies(mut self, program: &Program) -> Vec<Body> {
        let arity = self.node.arity(program.slicing);
        let mut live = Live::new(self.node.bits.len());
        // Parameters wait in memory until they are read for the first time.
        let mut body = Body { runs: 1.0, ..Body::default() };
        body.loads = (0..arity).filter(|&v| self.varies[v]).count() as f64;
        body.stores = self.node.outs.len() as f64;
        let mut ready = vec![0.0; self.node.bits.len()];
        body.latency = self.chains(&self.node.body, &mut ready);
        self.count(&self.node.body, &mut body);
        live.block(&self.node.body, &self.varies);
        (body.peak, body.mean) = live.finish();
        self.bodies.push(body);
        self.loops(&self.node.body, 1.0);
        self.bodies
    }

    fn loops(&mut self, eqns: &[Eqn], runs: f64) {
        for eqn in eqns {
            let Eqn::Loop(lp) = eqn else { continue };
            let runs = runs * lp.count as f64;
            let mut body = Body { runs, latency: self.growth(lp), ..Body::default() };
            let own = lp.reads.iter().filter(|read| self.varies[read.dst.0 as usize]);
            body.loads = own.count() as f64;
            body.stores = lp.collects.len() as f64;
            let carried = lp.carried.iter().filter(|c| self.varies[c.param.0 as usize]);
            body.state = carried.count() as f64;
            self.count(&lp.body, &mut body);
            let mut live = Live::new(self.node.bits.len());
            live.body(lp, &self.varies);
            (body.peak, body.mean) = live.finish();
            self.bodies.push(body);
            self.loops(&lp.body, runs);
        }
    }

    /// Counts the equations of a body, without its loops.
    fn count(&self, eqns: &[Eqn], body: &mut Body) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => {
                    let cost = self.machine.cost(&e.op, self.node.bits_of(e.dst));
                    if !self.varies[e.dst.0 as usize] || matches!(e.op, Op::Copy) {
                        continue;
                    }
                    body.written += cost.instructions as u64;
                    body.definitions += 1.0;
                    add_ports(&mut body.ports, &[(cost.ports, cost.instructions as f64)], 1.0);
                    let shared = e.args.iter().any(|v| !self.varies[v.0 as usize]);
                    body.loads += shared as u8 as f64;
                }
                Eqn::Call(call) => {
                    let callee = &self.callees[call.node.0 as usize];
                    add_ports(&mut body.ports, &callee.ports, 1.0);
                    body.written += 1;
                    body.definitions += call.dsts.len() as f64;
                }
                Eqn::Loop(_) => {}
            }
        }
    }

    /// Cycles that one iteration adds to the critical path through a loop.
    fn growth(&self, lp: &Loop) -> f64 {
        let turns = TURNS.min(lp.count);
        let mut ready = vec![0.0; self.node.bits.len()];
        let mut first = 0.0;
        let mut last: f64 = 0.0;
        for turn in 0..turns {
            self.chains(&lp.body, &mut ready);
            let next: Vec<f64> = lp.carried.iter().map(|c| ready[c.next.0 as usize]).collect();
            last = next.iter().copied().fold(0.0, f64::max);
            for (c, at) in lp.carried.iter().zip(next) {
                ready[c.param.0 as usize] = at;
            }
            if turn == 0 {
                first = last;
            }
        }
        if turns < 2 { last } else { (last - first) / (turns - 1) as f64 }
    }

    /// The cycle in which every value is ready; returns the largest. Loops take no time of their
    /// own.
    fn chains(&self, eqns: &[Eqn], ready: &mut [f64]) -> f64 {
        let mut longest: f64 = 0.0;
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => {
                    let cost = self.machine.cost(&e.op, self.node.bits_of(e.dst));
                    let at = latest(&e.args, ready) + cost.latency as f64;
                    ready[e.dst.0 as usize] = at;
                    longest = longest.max(at);
                }
                Eqn::Call(call) => {
                    let callee = &self.callees[call.node.0 as usize];
                    let at = latest(&call.args, ready) + callee.latency;
                    call.dsts.iter().for_each(|d| ready[d.0 as usize] = at);
                    longest = longest.max(at);
                }
                Eqn::Loop(lp) => {
                    let inits = lp.carried.iter().map(|c| ready[c.init.0 as usize]);
                    let at = inits.fold(0.0, f64::max);
                    lp.carried.iter().for_each(|c| ready[c.result.0 as usize] = at);
                    let collected = lp.collects.iter().flat_map(|c| &c.results);
                    collected.for_each(|r| ready[r.0 as usize] = at);
                }
            }
        }
        longest
    }
}

fn latest(args: &[Val], ready: &[f64]) -> f64 {
    args.iter().map(|v| ready[v.0 as usize]).fold(0.0, f64::max)
}

/// Live ranges of the values of one instance, by equation of one body. Values that inner loops need
/// are counted with them.
struct Live {
    /// First and last place of each value.
    spans: Vec<(u32, u32)>,
    now: u32,
}

impl Live {
    fn new(values: usize) -> Live {
        Live { spans: vec![(u32::MAX, 0); values], now: 0 }
    }

    fn touch(&mut self, v: Val, varies: &[bool]) {
        if varies[v.0 as usize] {
            let (first, last) = &mut self.spans[v.0 as usize];
            *first = (*first).min(self.now);
            *last = (*last).max(self.now);
        }
    }

    /// A loop body: values carried in live from its start, values carried out to its end.
    fn body(&mut self, lp: &Loop, varies: &[bool]) {
        lp.carried.iter().for_each(|c| self.touch(c.param, varies));
        self.block(&lp.body, varies);
        self.now += 1;
        lp.carried.iter().for_each(|c| self.touch(c.next, varies));
    }

    fn block(&mut self, eqns: &[Eqn], varies: &[bool]) {
        for eqn in eqns {
            // Operands are read before the result is written.
            match eqn {
                Eqn::Op(e) => {
                    e.args.iter().for_each(|&v| self.touch(v, varies));
                    self.now += 1;
                    self.touch(e.dst, varies);
                }
                Eqn::Call(call) => {
                    call.args.iter().for_each(|&v| self.touch(v, varies));
                    self.now += 1;
                    call.dsts.iter().for_each(|&v| self.touch(v, varies));
                }
                Eqn::Loop(lp) => {
                    lp.carried.iter().for_each(|c| self.touch(c.init, varies));
                    self.now += 1;
                    lp.carried.iter().for_each(|c| self.touch(c.result, varies));
                }
            }
        }
    }

    /// The most live values, and the average.
    fn finish(self) -> (f64, f64) {
        let mut change = vec![0i64; self.now as usize + 2];
        for &(first, last) in self.spans.iter().filter(|(first, _)| *first != u32::MAX) {
            change[first as usize] += 1;
            // The last use of a value makes room for the value that is defined there.
            change[last.max(first + 1) as usize] -= 1;
        }
        let (mut live, mut peak, mut sum) = (0, 0, 0);
        for step in &change[..=self.now as usize] {
            live += step;
            peak = peak.max(live);
            sum += live;
        }
        (peak as f64, sum as f64 / (self.now + 1) as f64)
    }
}
