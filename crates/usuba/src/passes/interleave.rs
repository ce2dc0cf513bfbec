//! Several independent instances side by side, to hide latencies.
//!
//! ```text
//! t = x ^ k;            t1 = x1 ^ k;   y1 = t1 <<< 1;      (copy 1)
//! y = t <<< 1;     →    t2 = x2 ^ k;   y2 = t2 <<< 1;      (copy 2)
//! ```
//!
//! The entry takes and gives every port once per copy, next to each other (`x`, then its second
//! copy, which is called `x''2`); constant ports stay single, because all instances share them,
//! and so does everything that is computed from them alone. Blocks of `grain` equations are
//! written for one copy after the other. Loops hold the bodies of all copies. Calls stay calls,
//! one for each copy.
//! Sound because copies share nothing but values that are equal for all of them.
//! Relies on `inline`: what is still a call is not interleaved inside.
//! Does not choose the factor.

use super::{Pass, PassOptions};
use crate::ir::{Call, Carried, Collect, Eqn, Loop, Node, OpEqn, Port, Program, Read, Val};

/// How many copies, in which blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Copies; 1 leaves the program as it is.
    pub factor: u32,
    /// Equations of one copy before those of the next; at least 1.
    pub grain: u32,
}

impl Default for Choice {
    fn default() -> Self {
        Choice { factor: 1, grain: 10 }
    }
}

pub const PASS: Pass =
    Pass { name: "interleave", about: "run several independent instances side by side", run };

fn run(program: &mut Program, options: &PassOptions) {
    let Choice { factor, grain } = options.interleave;
    if factor < 2 {
        return;
    }
    let slicing = program.slicing;
    let old = program.entry();
    let node = Node {
        name: old.name.clone(),
        params: Vec::new(),
        results: Vec::new(),
        bits: Vec::new(),
        body: Vec::new(),
        outs: Vec::new(),
        inline: old.inline,
    };
    let copies = factor as usize;
    let mut state = Copies {
        old,
        node,
        copies,
        grain: grain.max(1) as usize,
        names: vec![None; old.bits.len()],
    };
    let mut first = 0;
    for port in &old.params {
        let values = port.values(slicing);
        let bits = port.value_bits(slicing);
        let times = if port.constant { 1 } else { copies };
        let base = state.node.bits.len();
        for copy in 0..times {
            state.node.params.push(copy_port(port, copy));
            (0..values).for_each(|_| {
                state.node.fresh(bits);
            });
        }
        for at in 0..values {
            let name = |copy: usize| Val((base + copy * values + at) as u32);
            let names = match times {
                1 => Names::Shared(name(0)),
                _ => Names::Each((0..copies).map(name).collect()),
            };
            state.names[first + at] = Some(names);
        }
        first += values;
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
}

fn copy_port(port: &Port, copy: usize) -> Port {
    let mut port = port.clone();
    if copy > 0 {
        port.name = format!("{}''{}", port.name, copy + 1);
    }
    port
}

/// What a value of the old node is in the new one.
#[derive(Clone)]
enum Names {
    /// Equal for all copies.
    Shared(Val),
    Each(Vec<Val>),
}

struct Copies<'a> {
    old: &'a Node,
    node: Node,
    copies: usize,
    grain: usize,
    names: Vec<Option<Names>>,
}

impl Copies<'_> {
    fn name(&self, v: Val, copy: usize) -> Val {
        match self.names[v.0 as usize].as_ref().expect("defined before it is read") {
            Names::Shared(v) => *v,
            Names::Each(list) => list[copy],
        }
    }

    fn shared(&self, values: &[Val]) -> bool {
        values.iter().all(|v| matches!(self.names[v.0 as usize], Some(Names::Shared(_))))
    }

    fn define(&mut self, v: Val, shared: bool) {
        let bits = self.old.bits_of(v);
        let names = match shared {
            true => Names::Shared(self.node.fresh(bits)),
            false => Names::Each((0..self.copies).map(|_| self.node.fresh(bits)).collect()),
        };
        self.names[v.0 as usize] = Some(names);
    }

    /// The copies for which something with these definitions is written.
    fn times(&self, defined: Val) -> usize {
        match self.names[defined.0 as usize] {
            Some(Names::Shared(_)) => 1,
            _ => self.copies,
        }
    }

    fn block(&mut self, eqns: &[Eqn]) -> Vec<Eqn> {
        let mut out = Vec::new();
        let mut block: Vec<&OpEqn> = Vec::new();
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => {
                    let shared = self.shared(&e.args);
                    self.define(e.dst, shared);
                    block.push(e);
                    if block.len() == self.grain {
                        self.flush(&mut block, &mut out);
                    }
                }
                Eqn::Call(call) => {
                    self.flush(&mut block, &mut out);
                    self.call(call, &mut out);
                }
                Eqn::Loop(lp) => {
                    self.flush(&mut block, &mut out);
                    let lp = self.lp(lp);
                    out.push(Eqn::Loop(Box::new(lp)));
                }
            }
        }
        self.flush(&mut block, &mut out);
        out
    }

    fn flush(&self, block: &mut Vec<&OpEqn>, out: &mut Vec<Eqn>) {
        for copy in 0..self.copies {
            for e in block.iter().filter(|e| copy < self.times(e.dst)) {
                out.push(Eqn::Op(OpEqn {
                    dst: self.name(e.dst, copy),
                    op: e.op.clone(),
                    args: e.args.iter().map(|&v| self.name(v, copy)).collect(),
                }));
            }
        }
        block.clear();
    }

    fn call(&mut self, call: &Call, out: &mut Vec<Eqn>) {
        let shared = self.shared(&call.args);
        for &dst in &call.dsts {
            self.define(dst, shared);
        }
        for copy in 0..if shared { 1 } else { self.copies } {
            let named = |list: &[Val]| list.iter().map(|&v| self.name(v, copy)).collect();
            let (dsts, args) = (named(&call.dsts), named(&call.args));
            out.push(Eqn::Call(Call { dsts, node: call.node, args }));
        }
    }

    fn lp(&mut self, lp: &Loop) -> Loop {
        for read in &lp.reads {
            let shared = self.shared(&read.list);
            self.define(read.dst, shared);
        }
        for carried in &lp.carried {
            self.define(carried.param, false);
            self.define(carried.result, false);
        }
        let body = self.block(&lp.body);
        for collect in &lp.collects {
            let shared = self.shared(&[collect.value]);
            for &result in &collect.results {
                self.define(result, shared);
            }
        }
        let named = |list: &[Val], copy| list.iter().map(|&v| self.name(v, copy)).collect();
        let mut new = Loop {
            count: lp.count,
            carried: Vec::new(),
            reads: Vec::new(),
            body,
            collects: Vec::new(),
            keep: lp.keep,
        };
        for copy in 0..self.copies {
            for c in &lp.carried {
                let name = |v| self.name(v, copy);
                new.carried.push(Carried {
                    param: name(c.param),
                    init: name(c.init),
                    next: name(c.next),
                    result: name(c.result),
                });
            }
            for r in lp.reads.iter().filter(|r| copy < self.times(r.dst)) {
                new.reads.push(Read { dst: self.name(r.dst, copy), list: named(&r.list, copy) });
            }
            for c in lp.collects.iter().filter(|c| copy < self.times(c.results[0])) {
                let value = self.name(c.value, copy);
                new.collects.push(Collect { value, results: named(&c.results, copy) });
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
        let slice =
            Slice { slicing: Slicing::V, word: None, profile: crate::circuit::Profile::Basic };
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
            let choice = Choice { factor, grain };
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
        let interleave = Choice { factor: 2, grain: 1 };
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
