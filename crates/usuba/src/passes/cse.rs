//! Common-subexpression elimination: computes each right-hand side once, by value numbering.
//!
//! ```text
//! t1 = a ^ b;         t1 = a ^ b;
//! t2 = a ^ b;    →    z  = t1 & t1;
//! z  = t1 & t2;
//! ```
//!
//! The pass also merges equal calls, and equal reads of one loop. A loop may use values computed
//! before it, but no value of a loop body is used after the loop.
//! Sound because equations and nodes are pure and every value is defined once.
//! Requires `canon` for operand order: `a ^ b` and `b ^ a` are equal only after it.
//! Lengthens live ranges, also of constants, and with them register pressure. Limit: does not merge
//! loops.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Pass;
use crate::ir::{Args, Eqn, Loop, Node, NodeId, Op, Val};

pub const PASS: Pass = Pass {
    name: "cse",
    about: "compute each common subexpression once",
    run: |program, _| program.nodes.iter_mut().for_each(node),
};

struct Merger<'a> {
    bits: &'a [u8],
    /// The first value with the same right-hand side; itself if it is the first.
    first: Vec<Val>,
    /// The width tells equal constants of different width apart.
    ops: Scoped<(Op, u8, Args), Val>,
    calls: Scoped<(NodeId, Vec<Val>), Vec<Val>>,
}

fn node(node: &mut Node) {
    let mut merger = Merger {
        bits: &node.bits,
        first: (0..node.bits.len() as u32).map(Val).collect(),
        ops: Scoped::new(node.body.len()),
        calls: Scoped::new(0),
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
                let key = (e.op.clone(), self.bits[e.dst.0 as usize], e.args.clone());
                let first = *self.ops.first(key, || e.dst);
                self.first[e.dst.0 as usize] = first;
                first == e.dst
            }
            Eqn::Call(call) => {
                call.args.iter_mut().for_each(|v| *v = self.get(*v));
                let key = (call.node, call.args.clone());
                let firsts = self.calls.first(key, || call.dsts.clone());
                for (&dst, &first) in call.dsts.iter().zip(firsts) {
                    self.first[dst.0 as usize] = first;
                }
                *firsts == call.dsts
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
        self.ops.open();
        self.calls.open();
        self.block(&mut lp.body);
        self.ops.close();
        self.calls.close();
        lp.carried.iter_mut().for_each(|c| c.next = self.get(c.next));
        lp.collects.iter_mut().for_each(|c| c.value = self.get(c.value));
    }
}

/// The first value of each right-hand side that is visible; inner scopes see outer ones.
struct Scoped<K, V> {
    seen: FxHashMap<K, V>,
    /// The entries of each open loop, which end with it.
    added: Vec<Vec<K>>,
}

impl<K: Clone + Eq + Hash, V> Scoped<K, V> {
    fn new(expected: usize) -> Scoped<K, V> {
        let seen = FxHashMap::with_capacity_and_hasher(expected, FxBuildHasher);
        Scoped { seen, added: Vec::new() }
    }

    fn open(&mut self) {
        self.added.push(Vec::new());
    }

    fn close(&mut self) {
        for key in self.added.pop().expect("an open loop") {
            self.seen.remove(&key);
        }
    }

    /// The first value with `key`: `value` if the key is new.
    fn first(&mut self, key: K, value: impl FnOnce() -> V) -> &V {
        match self.seen.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                if let Some(added) = self.added.last_mut() {
                    added.push(entry.key().clone());
                }
                entry.insert(value())
            }
        }
    }
}
