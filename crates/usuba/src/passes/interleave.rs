//! Interleaving: runs several independent instances in one kernel, to hide latencies.
//!
//! ```text
//! t = x ^ k;            t1 = x1 ^ k;   y1 = t1 <<< 1;      (copy 1)
//! y = t <<< 1;     →    t2 = x2 ^ k;   y2 = t2 <<< 1;      (copy 2)
//! ```
//!
//! The entry takes and gives every port once per instance, next to each other (`x`, then the port
//! of the second instance, which is called `x''2`). Constant ports stay single, because all
//! instances share them, and so does every value that is computed from them alone, also in loops.
//! Blocks of `grain` equations of the instances alternate. A loop stays one loop, which holds the
//! bodies of all instances. A call counts as an equation: there is one for each instance, of the
//! same node.
//! Sound because instances share only uniform values, which are equal for all of them.
//! Requires `inline`: the pass does not interleave the equations of a remaining call.
//! The user chooses the interleave factor, or else `model` does.

mod model;

use super::{LARGEST_NODE, Pass, PassOptions, size};
use crate::ir::{
    Call, Carried, Collect, Eqn, Loop, Node, OpEqn, Port, Program, Read, Slicing, Val,
};

/// The interleave factor and the size of the blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Instances; 1 leaves the program as it is, and `None` lets the model choose.
    pub factor: Option<u32>,
    /// Equations of one instance before the equations of the next; at least 1.
    pub grain: u32,
}

impl Choice {
    /// The program as it is; the default in this crate, where one run computes one instance.
    pub const SINGLE: Choice = Choice { factor: Some(1), grain: 50 };
    /// The factor that the model chooses; the default of users.
    pub const AUTO: Choice = Choice { factor: None, ..Choice::SINGLE };
}

impl Default for Choice {
    fn default() -> Self {
        Choice::SINGLE
    }
}

pub const PASS: Pass =
    Pass { name: "interleave", about: "run several independent instances side by side", run };

fn run(program: &mut Program, options: &PassOptions) {
    // A second interleaving would give ports that `Program::copies` does not describe.
    if program.copies > 1 {
        return;
    }
    let choice = options.interleave;
    let (wanted, why) = match choice.factor {
        Some(factor) => (factor, "as asked for".to_string()),
        None => model::choose(program, &options.machine),
    };
    let fits = LARGEST_NODE / size(&program.entry().body).max(1);
    let factor = (wanted as u64).min(fits).max(1) as u32;
    if factor < wanted {
        let note = format!("Interleaving: {factor}, because {wanted} copies would be too long");
        program.notes.push(note);
    } else if wanted > 1 || choice.factor.is_none() {
        program.notes.push(format!("Interleaving: {factor}, {why}"));
    }
    if factor > 1 {
        interleave(program, factor, choice.grain.max(1) as usize);
    }
}

fn interleave(program: &mut Program, factor: u32, grain: usize) {
    let slicing = program.slicing;
    let old = program.entry();
    let node = Node {
        name: old.name.clone(),
        params: Vec::new(),
        results: Vec::new(),
        bits: Vec::new(),
        origins: Default::default(),
        body: Vec::new(),
        outs: Vec::new(),
        inline: old.inline,
    };
    let copies = factor as usize;
    let varies = varying(old, slicing);
    let names = vec![Names { first: 0, step: 0 }; old.bits.len()];
    let mut state = Copies { old, node, copies, grain, varies, names };
    let mut at = 0;
    for port in &old.params {
        let values = port.values(slicing);
        let first = state.node.bits.len();
        let (times, step) = if port.constant { (1, 0) } else { (copies, values) };
        for copy in 0..times {
            state.node.params.push(copy_port(port, copy));
            for value in 0..values {
                let v = state.node.fresh(port.value_bits(slicing));
                state.node.origins.set(v, old.origins.of(Val((at + value) as u32)));
            }
        }
        for value in 0..values {
            state.names[at + value] = Names { first: (first + value) as u32, step: step as u32 };
        }
        at += values;
    }
    let body = state.block(&old.body);
    let mut outs = old.outs.iter();
    for port in &old.results {
        let values: Vec<Val> = outs.by_ref().take(port.values(slicing)).copied().collect();
        for copy in 0..copies {
            state.node.results.push(copy_port(port, copy));
            let named: Vec<Val> = values.iter().map(|&v| state.name(v, copy)).collect();
            state.node.outs.extend(named);
        }
    }
    let Copies { mut node, .. } = state;
    node.body = body;
    let entry = program.entry.0 as usize;
    program.nodes[entry] = node;
    program.copies = factor;
}

fn copy_port(port: &Port, copy: usize) -> Port {
    let mut port = port.clone();
    if copy > 0 {
        port.name = format!("{}''{}", port.name, copy + 1);
    }
    port
}

/// For each value of `node` whether it may differ between instances: whether it comes from a
/// parameter that is not constant.
fn varying(node: &Node, slicing: Slicing) -> Vec<bool> {
    let mut flow = Flow { sinks: Vec::new(), reads: vec![Vec::new(); node.bits.len()] };
    flow.block(&node.body);
    let mut varies = vec![false; node.bits.len()];
    let mut reached = vec![false; flow.sinks.len()];
    let mut open = Vec::new();
    let mut at = 0;
    for port in &node.params {
        let values = at..at + port.values(slicing);
        at = values.end;
        if !port.constant {
            open.extend(values.map(|v| Val(v as u32)));
        }
    }
    while let Some(v) = open.pop() {
        if std::mem::replace(&mut varies[v.0 as usize], true) {
            continue;
        }
        for &sink in &flow.reads[v.0 as usize] {
            if !std::mem::replace(&mut reached[sink as usize], true) {
                open.extend(&flow.sinks[sink as usize]);
            }
        }
    }
    varies
}

/// Data flow between values: a sink is the list of values that one reader computes.
struct Flow {
    sinks: Vec<Vec<Val>>,
    /// For each value its sinks.
    reads: Vec<Vec<u32>>,
}

impl Flow {
    fn sink(&mut self, from: impl IntoIterator<Item = Val>, to: Vec<Val>) {
        let sink = self.sinks.len() as u32;
        self.sinks.push(to);
        for v in from {
            self.reads[v.0 as usize].push(sink);
        }
    }

    fn block(&mut self, eqns: &[Eqn]) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.sink(e.args.iter().copied(), vec![e.dst]),
                // A call is written once, or for each instance, so all of its results vary
                // together.
                Eqn::Call(call) => self.sink(call.args.iter().copied(), call.dsts.clone()),
                Eqn::Loop(lp) => {
                    for c in &lp.carried {
                        self.sink([c.init, c.next], vec![c.param, c.result]);
                    }
                    for read in &lp.reads {
                        self.sink(read.list.iter().copied(), vec![read.dst]);
                    }
                    self.block(&lp.body);
                    for collect in &lp.collects {
                        self.sink([collect.value], collect.results.clone());
                    }
                }
            }
        }
    }
}

/// The numbers in the new node of a value of the old one: `first` in the first instance, `step`
/// more in each next one. Values that all instances share have a step of 0.
#[derive(Clone, Copy)]
struct Names {
    first: u32,
    step: u32,
}

struct Copies<'a> {
    old: &'a Node,
    node: Node,
    copies: usize,
    grain: usize,
    varies: Vec<bool>,
    names: Vec<Names>,
}

impl Copies<'_> {
    fn name(&self, v: Val, copy: usize) -> Val {
        let Names { first, step } = self.names[v.0 as usize];
        Val(first + step * copy as u32)
    }

    fn named(&self, values: &[Val], copy: usize) -> Vec<Val> {
        values.iter().map(|&v| self.name(v, copy)).collect()
    }

    /// The number of instances for which the equation that defines `v` is written.
    fn times(&self, v: Val) -> usize {
        if self.varies[v.0 as usize] { self.copies } else { 1 }
    }

    fn define(&mut self, v: Val) {
        let first = self.node.bits.len() as u32;
        for _ in 0..self.times(v) {
            let new = self.node.fresh(self.old.bits_of(v));
            self.node.origins.set(new, self.old.origins.of(v));
        }
        self.names[v.0 as usize] = Names { first, step: self.varies[v.0 as usize] as u32 };
    }

    fn block(&mut self, eqns: &[Eqn]) -> Vec<Eqn> {
        let mut out = Vec::new();
        let mut block: Vec<&Eqn> = Vec::new();
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.define(e.dst),
                Eqn::Call(call) => call.dsts.iter().for_each(|&dst| self.define(dst)),
                Eqn::Loop(lp) => {
                    self.flush(&mut block, &mut out);
                    let lp = self.lp(lp);
                    out.push(Eqn::Loop(Box::new(lp)));
                    continue;
                }
            }
            block.push(eqn);
            if block.len() == self.grain {
                self.flush(&mut block, &mut out);
            }
        }
        self.flush(&mut block, &mut out);
        out
    }

    fn flush(&self, block: &mut Vec<&Eqn>, out: &mut Vec<Eqn>) {
        for copy in 0..self.copies {
            for eqn in block.iter() {
                match eqn {
                    Eqn::Op(e) if copy < self.times(e.dst) => out.push(Eqn::Op(OpEqn {
                        dst: self.name(e.dst, copy),
                        op: e.op.clone(),
                        args: e.args.iter().map(|&v| self.name(v, copy)).collect(),
                    })),
                    // A call without results computes nothing.
                    Eqn::Call(call) if call.dsts.first().is_some_and(|&d| copy < self.times(d)) => {
                        out.push(Eqn::Call(Call {
                            dsts: self.named(&call.dsts, copy),
                            node: call.node,
                            args: self.named(&call.args, copy),
                        }));
                    }
                    _ => {}
                }
            }
        }
        block.clear();
    }

    fn lp(&mut self, lp: &Loop) -> Loop {
        lp.reads.iter().for_each(|read| self.define(read.dst));
        for carried in &lp.carried {
            self.define(carried.param);
            self.define(carried.result);
        }
        let body = self.block(&lp.body);
        for &result in lp.collects.iter().flat_map(|collect| &collect.results) {
            self.define(result);
        }
        let mut new = Loop {
            count: lp.count,
            carried: Vec::new(),
            reads: Vec::new(),
            body,
            collects: Vec::new(),
            keep: lp.keep,
        };
        for copy in 0..self.copies {
            for c in lp.carried.iter().filter(|c| copy < self.times(c.param)) {
                let name = |v| self.name(v, copy);
                new.carried.push(Carried {
                    param: name(c.param),
                    init: name(c.init),
                    next: name(c.next),
                    result: name(c.result),
                });
            }
            for r in lp.reads.iter().filter(|r| copy < self.times(r.dst)) {
                let list = self.named(&r.list, copy);
                new.reads.push(Read { dst: self.name(r.dst, copy), list });
            }
            for c in lp.collects.iter().filter(|c| copy < self.times(c.value)) {
                let results = self.named(&c.results, copy);
                new.collects.push(Collect { value: self.name(c.value, copy), results });
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Sources;
    use crate::ir::{Slicing, interp, verify};
    use crate::passes::pipeline::run_pass;
    use crate::syntax::splice::NoIncludes;
    use crate::{Slice, front, to_usuba0};

    fn program(text: &str) -> Program {
        let mut sources = Sources::default();
        let root = sources.add("test.ua", text);
        let checked = front(&mut sources, root, &mut NoIncludes, None, Default::default())
            .expect("the program is right");
        let slice = Slice {
            slicing: Slicing::V,
            word: None,
            profile: crate::circuit::Profile::Basic,
            vectors: true,
            instructions: None,
        };
        to_usuba0(&checked.program, slice, &|_, _, _| None).expect("it lowers")
    }

    const CIPHER: &str = "node g(x:u16) returns (y:u16) let y = (x <<< 5) ^ x tel
        node f(a:u16x2, k:const u16[6]) returns (b:u16x2, c:u16[6])
        vars s:u16x2[7]
        let
          s[0] = a;
          forall i in [0,5] {
            s[i+1] = (s[i][1], s[i][0] ^ (s[i][1] & (k[i] <<< 3)));
            c[i] = g(s[i+1][1])
          }
          b = s[6]
        tel";

    #[test]
    fn copies_are_independent_and_share_constants() {
        let single = program(CIPHER);
        for (factor, grain) in [(2, 1), (3, 2), (2, 100)] {
            let mut double = single.clone();
            let choice = Choice { factor: Some(factor), grain };
            let options = PassOptions { interleave: choice, ..PassOptions::default() };
            run_pass(&PASS, &mut double, &options);
            verify::verify(&double).expect("it is well-formed");
            let keys = [9, 8, 7, 6, 5, 4];
            let blocks: Vec<[u64; 2]> =
                (0..factor as u64).map(|c| [(0x1234 * (c + 1)) & 0xffff, 77 + c]).collect();
            let mut inputs: Vec<u64> = blocks.iter().flatten().copied().collect();
            inputs.extend(keys);
            let outs = interp::run(&double, &inputs).expect("it runs");
            for (copy, block) in blocks.iter().enumerate() {
                let one: Vec<u64> = block.iter().chain(&keys).copied().collect();
                let want = interp::run(&single, &one).expect("it runs");
                let copies = factor as usize;
                assert_eq!(outs[copy * 2..][..2], want[..2], "b of copy {copy}");
                assert_eq!(outs[copies * 2 + copy * 6..][..6], want[2..], "c of copy {copy}");
            }
        }
    }

    #[test]
    fn constant_ports_stay_single() {
        let mut double = program(CIPHER);
        let interleave = Choice { factor: Some(2), grain: 1 };
        run_pass(&PASS, &mut double, &PassOptions { interleave, ..PassOptions::default() });
        let names: Vec<&str> = double.entry().params.iter().map(|p| &*p.name).collect();
        assert_eq!(names, ["a", "a''2", "k"]);
    }

    #[test]
    fn one_copy_changes_nothing() {
        let single = program(CIPHER);
        let mut same = single.clone();
        run_pass(&PASS, &mut same, &PassOptions::default());
        assert_eq!(single, same);
    }
}
