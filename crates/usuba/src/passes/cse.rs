//! Common subexpressions: compute each right-hand side once.
//!
//! ```text
//! t1 = a ^ b;         t1 = a ^ b;
//! t2 = a ^ b;    →    z  = t1 & t1;
//! z  = t1 & t2;
//! ```
//!
//! Equal calls are merged too, and equal reads of one loop. A loop may use what was computed
//! before it, but nothing leaves a loop.
//! Sound because equations and nodes are pure and every value is defined once.
//! Relies on `canon` for operand order: `a ^ b` and `b ^ a` are equal only after it.
//! Lengthens live ranges, constants' included; where registers are short, a later pass has to
//! compute again. Does not merge loops.

use rustc_hash::FxHashMap;

use super::Pass;
use crate::ir::{Args, Eqn, Loop, Node, NodeId, Op, Val};

pub const PASS: Pass = Pass {
    name: "cse",
    about: "compute each common subexpression once",
    run: |program, _| program.nodes.iter_mut().for_each(node),
};

#[derive(PartialEq, Eq, Hash, Clone)]
enum Key {
    /// The width tells equal constants of different width apart.
    Op(Op, u8, Args),
    Call(NodeId, Vec<Val>),
}

struct Merger<'a> {
    bits: &'a [u8],
    /// The first value with the same right-hand side; itself if it is the first.
    first: Vec<Val>,
    seen: FxHashMap<Key, Vec<Val>>,
    /// What the open loops have added to `seen`, to be forgotten at their end.
    added: Vec<Key>,
    loops: usize,
}

fn node(node: &mut Node) {
    let mut merger = Merger {
        bits: &node.bits,
        first: (0..node.bits.len() as u32).map(Val).collect(),
        seen: FxHashMap::default(),
        added: Vec::new(),
        loops: 0,
    };
    merger.block(&mut node.body);
    node.outs.iter_mut().for_each(|v| *v = merger.get(*v));
}

impl Merger<'_> {
    fn get(&self, v: Val) -> Val {
        self.first[v.0 as usize]
    }

    fn block(&mut self, eqns: &mut Vec<Eqn>) {
        eqns.retain_mut(|eqn| match eqn {
            Eqn::Op(e) => {
                e.args.iter_mut().for_each(|v| *v = self.get(*v));
                let bits = self.bits[e.dst.0 as usize];
                self.is_first(Key::Op(e.op.clone(), bits, e.args.clone()), &[e.dst])
            }
            Eqn::Call(call) => {
                call.args.iter_mut().for_each(|v| *v = self.get(*v));
                self.is_first(Key::Call(call.node, call.args.clone()), &call.dsts)
            }
            Eqn::Loop(lp) => {
                self.lp(lp);
                true
            }
        });
    }

    fn lp(&mut self, lp: &mut Loop) {
        lp.carried.iter_mut().for_each(|c| c.init = self.get(c.init));
        let mut lists: FxHashMap<Vec<Val>, Val> = FxHashMap::default();
        lp.reads.retain_mut(|read| {
            read.list.iter_mut().for_each(|v| *v = self.get(*v));
            let first = *lists.entry(read.list.clone()).or_insert(read.dst);
            self.first[read.dst.0 as usize] = first;
            first == read.dst
        });
        let before = self.added.len();
        self.loops += 1;
        self.block(&mut lp.body);
        self.loops -= 1;
        for key in self.added.drain(before..) {
            self.seen.remove(&key);
        }
        lp.carried.iter_mut().for_each(|c| c.next = self.get(c.next));
        lp.collects.iter_mut().for_each(|c| c.value = self.get(c.value));
    }

    /// Whether `key` is new; if not, `dsts` stand for the values that have it.
    fn is_first(&mut self, key: Key, dsts: &[Val]) -> bool {
        match self.seen.get(&key) {
            Some(values) => {
                for (&dst, &value) in dsts.iter().zip(values) {
                    self.first[dst.0 as usize] = value;
                }
                false
            }
            None => {
                if self.loops > 0 {
                    self.added.push(key.clone());
                }
                self.seen.insert(key, dsts.to_vec());
                true
            }
        }
    }
}
