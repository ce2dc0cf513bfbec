//! Copy propagation: replaces uses of a copy by its source.
//!
//! ```text
//! t1 = x;                      forall i in [0,3] {
//! forall i in [0,3] {            s := s ^ x;
//!   c := (c, s ^ t1)      →    }
//! }                            y = s ^ x;
//! y = s ^ c;                   (where c was x before the loop)
//! ```
//!
//! Loops have copies, too: a loop-carried value that never changes is its initial value, a read
//! whose list has one member is that member, a collected value from before the loop is that value,
//! and a loop that collects a value that it reads gives the list back.
//! Sound because a copy is in scope only where its source is, and sources never change.
//! Requires nothing. Removes the copies; `dce` removes carried values, reads and collects that
//! become unused.

use rustc_hash::FxHashMap;

use super::Pass;
use crate::ir::{Eqn, Loop, Node, Op, Val};

pub const PASS: Pass = Pass {
    name: "copy-prop",
    about: "use values instead of their copies",
    run: |program, _| program.nodes.iter_mut().for_each(node),
};

fn node(node: &mut Node) {
    let mut copies = Copies {
        source: (0..node.bits.len() as u32).map(Val).collect(),
        order: vec![0; node.bits.len()],
        now: 0,
    };
    copies.learn(&node.body);
    copies.apply(&mut node.body);
    node.outs.iter_mut().for_each(|v| *v = copies.find(*v));
}

struct Copies {
    /// The source of each copy; the value itself if it is no copy.
    source: Vec<Val>,
    /// Number of its equation in textual order; zero for parameters of the node.
    order: Vec<u32>,
    now: u32,
}

/// The values that a loop defines at the start of each iteration.
enum Head<'a> {
    /// With its initial value.
    Carried(Val),
    Read(&'a [Val]),
}

impl Copies {
    fn find(&self, v: Val) -> Val {
        self.source[v.0 as usize]
    }

    /// Definitions come before uses, so the source of a new copy is already final, and chains are
    /// never longer than one step. The exception are values whose source is found only at the end
    /// of a loop (loop-carried ones), so `apply` resolves again.
    fn copy(&mut self, v: Val, source: Val) {
        self.source[v.0 as usize] = self.root(source);
    }

    fn root(&self, v: Val) -> Val {
        let mut v = v;
        while self.find(v) != v {
            v = self.find(v);
        }
        v
    }

    fn learn(&mut self, eqns: &[Eqn]) {
        for eqn in eqns {
            self.now += 1;
            match eqn {
                Eqn::Op(e) => {
                    self.order[e.dst.0 as usize] = self.now;
                    if e.op == Op::Copy {
                        self.copy(e.dst, e.args[0]);
                    }
                }
                Eqn::Call(call) => {
                    call.dsts.iter().for_each(|dst| self.order[dst.0 as usize] = self.now);
                }
                Eqn::Loop(lp) => self.learn_loop(lp),
            }
        }
    }

    fn learn_loop(&mut self, lp: &Loop) {
        let start = self.now;
        for c in &lp.carried {
            self.order[c.param.0 as usize] = start;
        }
        for read in &lp.reads {
            self.order[read.dst.0 as usize] = start;
            let first = self.root(read.list[0]);
            if read.list.iter().all(|&v| self.root(v) == first) {
                self.copy(read.dst, first);
            }
        }
        self.learn(&lp.body);
        for c in &lp.carried {
            let (next, init) = (self.root(c.next), self.root(c.init));
            if next == c.param || next == init {
                self.copy(c.param, init);
            }
        }
        let mut heads = FxHashMap::default();
        heads.extend(lp.carried.iter().map(|c| (c.param, Head::Carried(c.init))));
        heads.extend(lp.reads.iter().map(|r| (r.dst, Head::Read(&r.list))));
        self.now += 1;
        for c in &lp.carried {
            self.order[c.result.0 as usize] = self.now;
            let next = self.root(c.next);
            if let Some(value) = self.outside(&heads, next, start, lp.count as usize - 1) {
                self.copy(c.result, value);
            }
        }
        for collect in &lp.collects {
            let value = self.root(collect.value);
            for (k, &result) in collect.results.iter().enumerate() {
                self.order[result.0 as usize] = self.now;
                if let Some(value) = self.outside(&heads, value, start, k) {
                    self.copy(result, value);
                }
            }
        }
    }

    /// The name of `v`, read in iteration k of the loop that begins at `start`, outside of the
    /// loop, if it is visible there.
    fn outside(&self, heads: &FxHashMap<Val, Head>, v: Val, start: u32, k: usize) -> Option<Val> {
        match heads.get(&v) {
            Some(Head::Read(list)) => Some(list[k]),
            Some(Head::Carried(init)) => (k == 0).then_some(*init),
            None => (self.order[v.0 as usize] < start).then_some(v),
        }
    }

    fn apply(&mut self, eqns: &mut Vec<Eqn>) {
        for v in 0..self.source.len() as u32 {
            self.source[v as usize] = self.root(Val(v));
        }
        self.rewrite(eqns);
    }

    /// Rewrites uses; `source` has only roots by now.
    fn rewrite(&self, eqns: &mut Vec<Eqn>) {
        eqns.retain_mut(|eqn| {
            match eqn {
                Eqn::Op(e) if e.op == Op::Copy => return false,
                Eqn::Op(e) => e.args.iter_mut().for_each(|v| *v = self.find(*v)),
                Eqn::Call(call) => call.args.iter_mut().for_each(|v| *v = self.find(*v)),
                Eqn::Loop(lp) => {
                    for c in &mut lp.carried {
                        c.init = self.find(c.init);
                        c.next = self.find(c.next);
                    }
                    for read in &mut lp.reads {
                        read.list.iter_mut().for_each(|v| *v = self.find(*v));
                    }
                    for collect in &mut lp.collects {
                        collect.value = self.find(collect.value);
                    }
                    self.rewrite(&mut lp.body);
                }
            }
            true
        });
    }
}
