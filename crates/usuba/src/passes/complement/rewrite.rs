//! Inverter absorption, second part: writes a node in the forms that `complement` has chosen.
//!
//! ```text
//! y = a | b     with a and y as their complements     →     y' = a' & ~b
//! ```
//!
//! Values keep their numbers: each now stands for the value or its complement. Where a reader
//! needs the other form, a complement is computed right before it, once for each block.

use rustc_hash::FxHashMap;

use super::{Choice, Literal, product};
use crate::ir::op::mask;
use crate::ir::origins::Origins;
use crate::ir::{Args, Call, Carried, Collect, Eqn, Loop, Node, Op, OpEqn, Read, Val};
use crate::passes::logic::flipped;

/// Writes a node in the chosen forms. Values keep their numbers.
pub(super) struct Rewriter<'a> {
    choice: &'a Choice<'a>,
    bits: Vec<u8>,
    origins: Origins,
    known: FxHashMap<Val, u64>,
    /// Constants that were not there, before everything else.
    constants: Vec<Eqn>,
    made: FxHashMap<(u8, u64), Val>,
    /// The other form of values, by block, innermost last.
    others: Vec<FxHashMap<Val, Val>>,
    /// The members of reads of constants.
    lists: FxHashMap<Val, Vec<Val>>,
    /// The other form of reads of constants.
    reads: FxHashMap<Val, Val>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(node: &'a Node, choice: &'a Choice<'a>) -> Rewriter<'a> {
        Rewriter {
            choice,
            bits: node.bits.clone(),
            origins: node.origins.clone(),
            known: FxHashMap::default(),
            constants: Vec::new(),
            made: FxHashMap::default(),
            others: vec![FxHashMap::default()],
            lists: FxHashMap::default(),
            reads: FxHashMap::default(),
        }
    }

    pub(super) fn node(mut self) -> Node {
        let old = self.choice.node;
        let mut body = self.block(&old.body);
        let mut outs: Vec<Val> =
            old.outs.iter().map(|&v| self.value(v, false, &mut body)).collect();
        let turned: FxHashMap<Val, Val> =
            self.choice.turned().map(|key| (key, self.fresh(key))).collect();
        let mut first: Vec<Eqn> = Vec::new();
        for key in self.choice.turned() {
            let args = Args::from_slice(&[key]);
            first.push(Eqn::Op(OpEqn { dst: turned[&key], op: Op::Not, args }));
        }
        // From here on each of these keys has the name of its complement.
        let name = |v: &mut Val| *v = turned.get(v).copied().unwrap_or(*v);
        operands(&mut body, &name);
        outs.iter_mut().for_each(name);
        self.constants.extend(first);
        self.constants.extend(body);
        Node {
            name: old.name.clone(),
            params: old.params.clone(),
            results: old.results.clone(),
            bits: self.bits,
            origins: self.origins,
            body: self.constants,
            outs,
            inline: old.inline,
        }
    }

    /// A value for an equation that comes from where `like` does, with its width.
    fn fresh(&mut self, like: Val) -> Val {
        self.bits.push(self.bits[like.0 as usize]);
        let v = Val(self.bits.len() as u32 - 1);
        self.origins.set(v, self.origins.of(like));
        v
    }

    fn literal(&self, v: Val) -> Literal {
        self.choice.literal[v.0 as usize]
    }

    /// `v`, or its complement. Equations that this takes go to `out`.
    fn value(&mut self, v: Val, complement: bool, out: &mut Vec<Eqn>) -> Val {
        let literal = self.literal(v);
        let other = self.choice.inverted(literal) ^ complement;
        if other { self.other(literal.0, out) } else { literal.0 }
    }

    /// The complement of the value computed for `root`.
    fn other(&mut self, root: Val, out: &mut Vec<Eqn>) -> Val {
        if let Some(found) = self.existing(root) {
            return found;
        }
        let bits = self.bits[root.0 as usize];
        if let Some(&value) = self.known.get(&root) {
            return self.constant(root, !value & mask(bits));
        }
        let dst = self.fresh(root);
        if self.lists.contains_key(&root) {
            self.reads.insert(root, dst);
            return dst;
        }
        out.push(Eqn::Op(OpEqn { dst, op: Op::Not, args: Args::from_slice(&[root]) }));
        self.others.last_mut().expect("a block").insert(root, dst);
        dst
    }

    fn existing(&self, root: Val) -> Option<Val> {
        let other = self.others.iter().rev().find_map(|block| block.get(&root));
        other.or_else(|| self.reads.get(&root)).copied()
    }

    /// A constant with the width of `like`.
    fn constant(&mut self, like: Val, value: u64) -> Val {
        let bits = self.bits[like.0 as usize];
        if let Some(&v) = self.made.get(&(bits, value)) {
            return v;
        }
        let dst = self.fresh(like);
        self.constants.push(Eqn::Op(OpEqn { dst, op: Op::Const(value), args: Args::new() }));
        self.made.insert((bits, value), dst);
        dst
    }

    fn block(&mut self, eqns: &[Eqn]) -> Vec<Eqn> {
        let mut out = Vec::with_capacity(eqns.len());
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.equation(e, &mut out),
                Eqn::Call(call) => {
                    let args = call.args.iter().map(|&v| self.value(v, false, &mut out)).collect();
                    let dsts = call.dsts.clone();
                    out.push(Eqn::Call(Call { dsts, node: call.node, args }));
                }
                Eqn::Loop(lp) => {
                    let lp = self.lp(lp, &mut out);
                    out.push(Eqn::Loop(Box::new(lp)));
                }
            }
        }
        out
    }

    fn equation(&mut self, e: &OpEqn, out: &mut Vec<Eqn>) {
        let form = self.choice.form(e.dst);
        let wide = !self.choice.logic.is_narrow(self.bits[e.dst.0 as usize]);
        let (op, args) = match &e.op {
            Op::Const(value) => {
                self.known.insert(e.dst, *value);
                return out.push(Eqn::Op(e.clone()));
            }
            Op::Copy | Op::Not => return,
            Op::Xor => self.sum(e, form, out),
            Op::And | Op::Or | Op::Andn => self.product(e, form, out),
            Op::Lut3(table) if wide => {
                let literals: Vec<Literal> = e.args.iter().map(|&v| self.literal(v)).collect();
                let flips = std::array::from_fn(|i| self.choice.inverted(literals[i]));
                let args = literals.iter().map(|l| l.0).collect();
                (Op::Lut3(flipped(*table, flips, form)), args)
            }
            Op::Rotl(_) | Op::Sar(_) | Op::Shuffle(_) | Op::Bitmask(_) => {
                let arg = self.value(e.args[0], form, out);
                (e.op.clone(), Args::from_slice(&[arg]))
            }
            op => (op.clone(), e.args.iter().map(|&v| self.value(v, false, out)).collect()),
        };
        out.push(Eqn::Op(OpEqn { dst: e.dst, op, args }));
    }

    fn sum(&mut self, e: &OpEqn, form: bool, out: &mut Vec<Eqn>) -> (Op, Args) {
        let literals = [self.literal(e.args[0]), self.literal(e.args[1])];
        let mut roots = Args::from_iter(literals.map(|l| l.0));
        let odd = literals.iter().fold(form, |odd, &l| odd ^ self.choice.inverted(l));
        if odd {
            let constant = roots.iter().position(|v| self.choice.constant[v.0 as usize]);
            let known = || roots.iter().position(|&v| self.existing(v).is_some());
            let at = constant.or_else(known).unwrap_or(0);
            roots[at] = self.other(roots[at], out);
        }
        (Op::Xor, roots)
    }

    fn product(&mut self, e: &OpEqn, form: bool, out: &mut Vec<Eqn>) -> (Op, Args) {
        let logic = self.choice.logic;
        let signs = [e.op != Op::And, e.op == Op::Or];
        let literals = [self.literal(e.args[0]), self.literal(e.args[1])];
        let mut roots = literals.map(|l| l.0);
        let mut forms: [bool; 2] =
            std::array::from_fn(|i| self.choice.inverted(literals[i]) ^ signs[i]);
        let result = form ^ (e.op == Op::Or);
        for i in 0..2 {
            let mut turned = forms;
            turned[i] ^= true;
            let fits = |f: [bool; 2]| product(f[0], f[1], result, logic.andn).is_some();
            let constant = self.choice.constant[roots[i].0 as usize];
            if constant && !fits(forms) && fits(turned) {
                roots[i] = self.other(roots[i], out);
                forms = turned;
            }
        }
        if let Some((op, swap)) = product(forms[0], forms[1], result, logic.andn) {
            if swap {
                roots.swap(0, 1);
            }
            return (op, Args::from_slice(&roots));
        }
        match (forms, result) {
            ([false, false], true) | ([true, true], false) => {
                let op = if result { Op::And } else { Op::Or };
                let dst = self.fresh(e.dst);
                out.push(Eqn::Op(OpEqn { dst, op, args: Args::from_slice(&roots) }));
                (Op::Not, Args::from_slice(&[dst]))
            }
            _ => {
                // One operand is in the wrong form: for an `or` the plain one, else the other.
                let at = if forms[0] == result { 1 } else { 0 };
                roots[at] = self.other(roots[at], out);
                let op = if result { Op::Or } else { Op::And };
                (op, Args::from_slice(&roots))
            }
        }
    }

    fn lp(&mut self, lp: &Loop, out: &mut Vec<Eqn>) -> Loop {
        let mut inits = Vec::with_capacity(lp.carried.len());
        for c in &lp.carried {
            inits.push(self.value(c.init, self.choice.form(c.param), out));
        }
        let mut reads = Vec::with_capacity(lp.reads.len());
        for read in &lp.reads {
            // Keys have the form of the read; every other value of the list is itself.
            let form = self.choice.form(read.dst);
            let list = read.list.iter().map(|&v| self.value(v, form, out)).collect();
            if self.choice.constant[read.dst.0 as usize] {
                self.lists.insert(read.dst, read.list.clone());
            }
            reads.push(Read { dst: read.dst, list });
        }
        self.others.push(FxHashMap::default());
        let mut body = self.block(&lp.body);
        let mut carried = Vec::with_capacity(lp.carried.len());
        for (c, init) in lp.carried.iter().zip(inits) {
            let next = self.value(c.next, self.choice.form(c.param), &mut body);
            carried.push(Carried { init, next, ..c.clone() });
        }
        let mut collects = Vec::with_capacity(lp.collects.len());
        for c in &lp.collects {
            let form = c.results.first().is_some_and(|&r| self.choice.form(r));
            let value = self.value(c.value, form, &mut body);
            collects.push(Collect { value, results: c.results.clone() });
        }
        self.others.pop();
        for read in &lp.reads {
            if let Some(&dst) = self.reads.get(&read.dst) {
                let list = read.list.iter().map(|&v| self.value(v, true, out)).collect();
                reads.push(Read { dst, list });
            }
        }
        Loop { count: lp.count, carried, reads, body, collects, keep: lp.keep }
    }
}

/// Visits everything that equations read.
fn operands(eqns: &mut [Eqn], visit: &dyn Fn(&mut Val)) {
    for eqn in eqns {
        match eqn {
            Eqn::Op(e) => e.args.iter_mut().for_each(visit),
            Eqn::Call(call) => call.args.iter_mut().for_each(visit),
            Eqn::Loop(lp) => {
                for c in &mut lp.carried {
                    visit(&mut c.init);
                    visit(&mut c.next);
                }
                lp.reads.iter_mut().flat_map(|read| &mut read.list).for_each(visit);
                lp.collects.iter_mut().for_each(|c| visit(&mut c.value));
                operands(&mut lp.body, visit);
            }
        }
    }
}
