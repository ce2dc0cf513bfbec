//! Alpha-renaming: copies equations under new names, for `inline` and `unroll`.
//!
//! The writer emits a node anew, from its first equation to its last. Meanwhile a [`Scope`] maps
//! each old value to its current name. Definitions get fresh names, so the same equations may be
//! written several times. A definition that disappears (the result of an inlined call, of an
//! unrolled loop) only redirects its name, so no copies arise.

use crate::ir::origins::Origins;
use crate::ir::{Call, Carried, Collect, Eqn, Loop, Node, OpEqn, Read, Val};

/// The names in the new node of the values of one old one.
pub struct Scope<'a> {
    pub node: &'a Node,
    names: Vec<Val>,
}

impl<'a> Scope<'a> {
    /// `args` are the new names of the parameters.
    pub fn new(node: &'a Node, args: &[Val]) -> Scope<'a> {
        // Values without a name yet are never read: definitions come before uses.
        let mut names = vec![Val(u32::MAX); node.bits.len()];
        names[..args.len()].copy_from_slice(args);
        Scope { node, names }
    }

    pub fn get(&self, old: Val) -> Val {
        self.names[old.0 as usize]
    }

    pub fn all(&self, old: &[Val]) -> Vec<Val> {
        old.iter().map(|&v| self.get(v)).collect()
    }

    pub fn set(&mut self, old: Val, new: Val) {
        self.names[old.0 as usize] = new;
    }
}

/// The widths of the values of the new node, and where they come from.
pub struct Writer {
    bits: Vec<u8>,
    origins: Origins,
}

impl Writer {
    /// A new node whose first `params` values are the parameters of `node`.
    pub fn new(node: &Node, params: usize) -> Writer {
        let values: Vec<Val> = (0..params as u32).map(Val).collect();
        Writer { bits: node.bits[..params].to_vec(), origins: node.origins.renumbered(&values) }
    }

    /// The new node, with the name and ports of `old`.
    pub fn finish(self, old: &Node, body: Vec<Eqn>, outs: Vec<Val>) -> Node {
        Node {
            name: old.name.clone(),
            params: old.params.clone(),
            results: old.results.clone(),
            bits: self.bits,
            origins: self.origins,
            body,
            outs,
            inline: old.inline,
        }
    }

    pub fn define(&mut self, scope: &mut Scope, old: Val) -> Val {
        self.bits.push(scope.node.bits_of(old));
        let new = Val(self.bits.len() as u32 - 1);
        self.origins.set(new, scope.node.origins.of(old));
        scope.set(old, new);
        new
    }

    fn define_all(&mut self, scope: &mut Scope, old: &[Val]) -> Vec<Val> {
        old.iter().map(|&v| self.define(scope, v)).collect()
    }

    pub fn op(&mut self, scope: &mut Scope, e: &OpEqn) -> Eqn {
        let args = e.args.iter().map(|&v| scope.get(v)).collect();
        Eqn::Op(OpEqn { dst: self.define(scope, e.dst), op: e.op.clone(), args })
    }

    pub fn call(&mut self, scope: &mut Scope, call: &Call) -> Eqn {
        let args = scope.all(&call.args);
        let dsts = self.define_all(scope, &call.dsts);
        Eqn::Call(Call { dsts, node: call.node, args })
    }

    /// A loop that stays; `body` writes its equations.
    pub fn lp<'a>(
        &mut self,
        scope: &mut Scope<'a>,
        lp: &Loop,
        body: impl FnOnce(&mut Writer, &mut Scope<'a>) -> Vec<Eqn>,
    ) -> Eqn {
        let inits: Vec<Val> = lp.carried.iter().map(|c| scope.get(c.init)).collect();
        let lists: Vec<Vec<Val>> = lp.reads.iter().map(|r| scope.all(&r.list)).collect();
        let params: Vec<Val> = lp.carried.iter().map(|c| self.define(scope, c.param)).collect();
        let dsts: Vec<Val> = lp.reads.iter().map(|r| self.define(scope, r.dst)).collect();
        let reads = dsts.into_iter().zip(lists).map(|(dst, list)| Read { dst, list }).collect();
        let body = body(self, scope);
        let nexts: Vec<Val> = lp.carried.iter().map(|c| scope.get(c.next)).collect();
        let values: Vec<Val> = lp.collects.iter().map(|c| scope.get(c.value)).collect();
        let mut carried = Vec::with_capacity(lp.carried.len());
        for (i, c) in lp.carried.iter().enumerate() {
            let result = self.define(scope, c.result);
            carried.push(Carried { param: params[i], init: inits[i], next: nexts[i], result });
        }
        let mut collects = Vec::with_capacity(lp.collects.len());
        for (c, value) in lp.collects.iter().zip(values) {
            collects.push(Collect { value, results: self.define_all(scope, &c.results) });
        }
        Eqn::Loop(Box::new(Loop { count: lp.count, carried, reads, body, collects, keep: lp.keep }))
    }
}
