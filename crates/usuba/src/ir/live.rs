//! Liveness analysis and operator counts: how many operators a program runs, and how many live
//! values it has.
//!
//! Both are facts about one instance, so they are the same for every target. They appear in the
//! comment on top of the generated C and in statistics.

use std::collections::BTreeMap;

use super::{Eqn, Inline, Loop, Node, Program, Val};

/// Operators by [`super::Op::name`], and calls under the name `call`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    pub by_name: BTreeMap<&'static str, u64>,
}

impl Counts {
    /// How often the operator `name` occurs.
    pub fn of(&self, name: &str) -> u64 {
        self.by_name.get(name).copied().unwrap_or(0)
    }

    /// All operators that compute: everything but `const`, `copy`, `call` and `loop`.
    pub fn computing(&self) -> u64 {
        let moves = ["const", "copy", "call", "loop"];
        self.by_name.iter().filter(|(name, _)| !moves.contains(name)).map(|(_, n)| n).sum()
    }

    fn add(&mut self, name: &'static str, times: u64) {
        let count = self.by_name.entry(name).or_insert(0);
        *count = count.saturating_add(times);
    }
}

/// The operators written in a list of equations: a loop body counts once, a call counts as one
/// `call`, a loop as one `loop`.
pub fn written(eqns: &[Eqn]) -> Counts {
    let mut counts = Counts::default();
    count_eqns(eqns, 1, &mut counts, |_| 1, &[]);
    let loops = loops(eqns);
    if loops > 0 {
        counts.add("loop", loops);
    }
    counts
}

fn loops(eqns: &[Eqn]) -> u64 {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Loop(lp) => 1 + loops(&lp.body),
        _ => 0,
    };
    eqns.iter().map(one).sum()
}

/// The operators that one run of the entry executes: a loop body counts once per iteration, a
/// call counts as one `call` and everything that the callee executes. Saturates at 2^64-1.
pub fn executed(program: &Program) -> Counts {
    let mut nodes: Vec<Counts> = Vec::with_capacity(program.nodes.len());
    for node in &program.nodes {
        let mut counts = Counts::default();
        match node.inline {
            Inline::Instruction => counts.add("instruction", 1),
            _ => count_eqns(&node.body, 1, &mut counts, |lp| lp.count as u64, &nodes),
        }
        nodes.push(counts);
    }
    nodes.swap_remove(program.entry.0 as usize)
}

fn count_eqns(
    eqns: &[Eqn],
    times: u64,
    counts: &mut Counts,
    iterations: fn(&Loop) -> u64,
    callees: &[Counts],
) {
    for eqn in eqns {
        match eqn {
            Eqn::Op(e) => counts.add(e.op.name(), times),
            Eqn::Call(call) => {
                counts.add("call", times);
                if let Some(callee) = callees.get(call.node.0 as usize) {
                    for (name, n) in &callee.by_name {
                        counts.add(name, n.saturating_mul(times));
                    }
                }
            }
            Eqn::Loop(lp) => {
                let times = times.saturating_mul(iterations(lp));
                count_eqns(&lp.body, times, counts, iterations, callees);
            }
        }
    }
}

/// The largest number of values that live at once while the entry runs.
///
/// A live range extends from the definition to the last use. Parameters and the lists that loops
/// read rest in memory: a parameter is live from its first use to its last. A result is stored when
/// it is computed, so being a result does not extend the live range. At a call, the values that are
/// live across it add to the need of the callee.
pub fn max_live(program: &Program) -> usize {
    let mut peaks: Vec<usize> = Vec::with_capacity(program.nodes.len());
    for node in &program.nodes {
        // Its results are all that an instruction defines.
        let is_instruction = node.inline == Inline::Instruction;
        peaks.push(if is_instruction { node.outs.len() } else { max_live_in(node, &peaks) });
    }
    peaks[program.entry.0 as usize]
}

/// The number of live values at each operator and call of the entry, in the order of the text, with
/// the first value that it defines; as [`max_live`] counts them, but without the need of callees.
pub fn at_equations(program: &Program) -> Vec<(Val, usize)> {
    let spans = Spans::of(program.entry());
    let mut live = 0;
    let sums = spans.changes().into_iter().map(|step| {
        live += step;
        live as usize
    });
    let live: Vec<usize> = sums.collect();
    let at = |&(now, v): &(u32, Val)| (v, live[now as usize].max(live[now as usize + 1]));
    spans.equations.iter().map(at).collect()
}

/// As [`max_live`] for one node, given the peaks of the nodes before it.
fn max_live_in(node: &Node, callees: &[usize]) -> usize {
    let spans = Spans::of(node);
    let change = spans.changes();
    let mut live = 0;
    let mut calls = spans.calls.iter().peekable();
    let mut peak = 0;
    for (time, step) in change.iter().enumerate() {
        live += step;
        peak = peak.max(live);
        if let Some(&(_, callee, own)) = calls.next_if(|&&(at, ..)| at as usize == time) {
            let needs = callees.get(callee).copied().unwrap_or(0) as i64;
            peak = peak.max(live - own as i64 + needs);
        }
    }
    peak as usize
}

/// First definition or use and last use of each value, in a numbering of the places of a node.
///
/// Each place has an even number, at which it reads, and the odd one after it, at which it
/// defines: so an operand that is read for the last time hands its register to the result.
struct Spans {
    ranges: Vec<(u32, u32)>,
    now: u32,
    /// When it defines, callee, and how many values it defines.
    calls: Vec<(u32, usize, usize)>,
    /// The places of operators and calls, with the first value that each of them defines.
    equations: Vec<(u32, Val)>,
}

impl Spans {
    fn of(node: &Node) -> Spans {
        let ranges = vec![(u32::MAX, 0); node.bits.len()];
        let mut spans = Spans { ranges, now: 0, calls: Vec::new(), equations: Vec::new() };
        spans.block(&node.body);
        spans
    }

    /// By how much the number of live values grows at each place.
    fn changes(&self) -> Vec<i64> {
        let mut change = vec![0i64; self.now as usize + 3];
        for &(first, last) in &self.ranges {
            if first != u32::MAX {
                change[first as usize] += 1;
                change[last as usize + 1] -= 1;
            }
        }
        change
    }

    fn reads(&mut self, v: Val) {
        self.touch(v, self.now);
    }

    fn defines(&mut self, v: Val) {
        self.touch(v, self.now + 1);
    }

    fn touch(&mut self, v: Val, time: u32) {
        let (first, last) = &mut self.ranges[v.0 as usize];
        *first = (*first).min(time);
        *last = (*last).max(time);
    }

    fn block(&mut self, eqns: &[Eqn]) {
        for eqn in eqns {
            self.now += 2;
            self.equations.extend(eqn.first_value().map(|v| (self.now, v)));
            match eqn {
                Eqn::Op(e) => {
                    e.args.iter().for_each(|&v| self.reads(v));
                    self.defines(e.dst);
                }
                Eqn::Call(call) => {
                    call.args.iter().for_each(|&v| self.reads(v));
                    call.dsts.iter().for_each(|&v| self.defines(v));
                    self.calls.push((self.now + 1, call.node.0 as usize, call.dsts.len()));
                }
                Eqn::Loop(lp) => self.lp(lp),
            }
        }
    }

    fn lp(&mut self, lp: &Loop) {
        lp.carried.iter().for_each(|c| self.reads(c.init));
        let start = self.now;
        lp.carried.iter().for_each(|c| self.defines(c.param));
        lp.reads.iter().for_each(|r| self.defines(r.dst));
        self.block(&lp.body);
        self.now += 2;
        lp.carried.iter().for_each(|c| self.reads(c.next));
        lp.collects.iter().for_each(|c| self.reads(c.value));
        let end = self.now;
        // Values from before the loop that the body reads are read again in the next iteration.
        if lp.count > 1 {
            self.keep_through(lp, start, end);
        }
        lp.carried.iter().for_each(|c| self.defines(c.result));
    }

    /// Extends values from before `start` that are used in the body up to `end`.
    fn keep_through(&mut self, lp: &Loop, start: u32, end: u32) {
        let mut used = Vec::new();
        uses(&lp.body, &mut used);
        used.extend(lp.carried.iter().map(|c| c.next));
        used.extend(lp.collects.iter().map(|c| c.value));
        for v in used {
            let (first, last) = &mut self.ranges[v.0 as usize];
            if *first <= start {
                *last = (*last).max(end);
            }
        }
    }
}

fn uses(eqns: &[Eqn], into: &mut Vec<Val>) {
    for eqn in eqns {
        match eqn {
            Eqn::Op(e) => into.extend(&e.args),
            Eqn::Call(call) => into.extend(&call.args),
            Eqn::Loop(lp) => {
                into.extend(lp.carried.iter().map(|c| c.init));
                into.extend(lp.carried.iter().map(|c| c.next));
                into.extend(lp.collects.iter().map(|c| c.value));
                uses(&lp.body, into);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::Builder;
    use super::super::{NodeId, Op, Port, Slicing};
    use super::*;

    fn word(name: &str) -> Port {
        Port::new(name, 8, &[])
    }

    #[test]
    fn counts_multiply_through_loops_and_calls() {
        let mut b = Builder::new("g", Slicing::V);
        let x = b.param(word("x"))[0];
        let y = b.op(Op::Not, &[x]);
        let g = b.finish(vec![(word("y"), vec![y])]);
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(word("x"))[0];
        b.begin_loop(10, false);
        let s = b.carry(x);
        let t = b.call(NodeId(0), &g, &[s])[0];
        let u = b.op(Op::Xor, &[t, x]);
        let done = b.end_loop(&[u], &[]);
        let f = b.finish(vec![(word("y"), done.carried)]);
        let once = written(&f.body);
        assert_eq!((once.of("xor"), once.of("call"), once.of("loop")), (1, 1, 1));
        let program = Program::new(vec![g, f], NodeId(1), Slicing::V);
        let counts = executed(&program);
        assert_eq!((counts.of("not"), counts.of("xor"), counts.of("call")), (10, 10, 10));
        assert_eq!(counts.computing(), 20);
    }

    #[test]
    fn operands_hand_their_place_to_the_result() {
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 8, &[4]));
        let a = b.op(Op::Xor, &[x[0], x[1]]);
        let c = b.op(Op::Xor, &[x[2], x[3]]);
        let d = b.op(Op::Xor, &[a, c]);
        let f = b.finish(vec![(word("y"), vec![d])]);
        let program = Program::new(vec![f], NodeId(0), Slicing::V);
        // `a`, and the two operands of the second xor.
        assert_eq!(max_live(&program), 3);
        assert_eq!(at_equations(&program), [(a, 2), (c, 3), (d, 2)]);
    }

    #[test]
    fn values_read_in_a_loop_live_through_it() {
        let build = |outside: bool| {
            let mut b = Builder::new("f", Slicing::V);
            let x = b.param(Port::new("x", 8, &[2]));
            let k = b.op(Op::Not, &[x[1]]);
            b.begin_loop(4, false);
            let s = b.carry(x[0]);
            let t = b.op(Op::Xor, &[s, if outside { k } else { s }]);
            let u = b.op(Op::Rotl(1), &[t]);
            let v = b.op(Op::And, &[t, u]);
            let done = b.end_loop(&[v], &[]);
            let f = b.finish(vec![(word("y"), done.carried)]);
            max_live(&Program::new(vec![f], NodeId(0), Slicing::V))
        };
        assert_eq!(build(true), build(false) + 1);
    }
}
