//! Instruction selection for affine maps: computes a function of one byte by one instruction.
//!
//! ```text
//! t = x << 1;
//! u = Bitmask(x, 7) & 0x1b;
//! y = t ^ u;                     →    y = affine(x)
//!
//! s = affine_inverse(x);
//! y = s <<< 1;                   →    y = affine_inverse'(x)
//! ```
//!
//! For every word of eight bits that is a function of one other word, the pass knows its 256
//! values. If they are an affine map, or the affine map of an inverse, one instruction computes
//! them. It replaces the last equation of a chain if that equation is no bitwise operator, which
//! would cost as little, or if the chain ends in it.
//! Sound because an operator is only made from all values of the function that it replaces.
//! Requires nothing; finds more after `inline` and `unroll`. Leaves dead equations to `dce`.
//! Limits: only in V, where a word is a byte of a register. Does not look for maps of several bytes
//! at once, as in MixColumns.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::smallvec;

use super::{Pass, PassOptions};
use crate::ir::op::{affine_form, affine_inverse_form};
use crate::ir::{Args, Eqn, Node, Op, OpEqn, Program, Slicing, Val};

pub const PASS: Pass =
    Pass { name: "affine", about: "one instruction for each affine map of a byte", run };

fn run(program: &mut Program, options: &PassOptions) {
    if !options.logic.affine || program.slicing != Slicing::V {
        return;
    }
    for node in &mut program.nodes {
        let mut body = std::mem::take(&mut node.body);
        let mut maps = Maps::new(node, &body);
        maps.block(&mut body);
        node.body = body;
    }
}

type Table = [u8; 256];

struct Maps<'a> {
    bits: &'a [u8],
    /// How often each value is read.
    uses: Vec<u32>,
    constants: FxHashMap<Val, u8>,
    /// Words that are functions of another one, which is none itself.
    forms: FxHashMap<Val, (Val, Rc<Table>)>,
}

impl Maps<'_> {
    fn new<'a>(node: &'a Node, body: &[Eqn]) -> Maps<'a> {
        let mut uses = vec![0; node.bits.len()];
        node.outs.iter().for_each(|v| uses[v.0 as usize] += 1);
        count(body, &mut uses);
        let (constants, forms) = Default::default();
        Maps { bits: &node.bits, uses, constants, forms }
    }

    fn block(&mut self, eqns: &mut [Eqn]) {
        for eqn in eqns {
            match eqn {
                Eqn::Op(e) => self.op(e),
                Eqn::Call(_) => {}
                Eqn::Loop(lp) => self.block(&mut lp.body),
            }
        }
    }

    fn op(&mut self, e: &mut OpEqn) {
        if let Op::Const(value) = e.op {
            self.constants.insert(e.dst, value as u8);
            return;
        }
        let byte = |v: &Val| self.bits[v.0 as usize] == 8;
        if !byte(&e.dst) || e.args.is_empty() || !e.args.iter().all(byte) {
            return;
        }
        let Some((leaf, table, op)) = self.function(e) else { return };
        self.forms.insert(e.dst, (leaf, Rc::new(table)));
        let inner = e.args.iter().filter(|v| **v != leaf && !self.constants.contains_key(v));
        let ends = inner.clone().any(|v| self.uses[v.0 as usize] == 1);
        if ends || !e.op.is_bitwise() {
            inner.for_each(|v| self.uses[v.0 as usize] -= 1);
            let args: Args = if op.arity() == 0 { smallvec![] } else { smallvec![leaf] };
            args.iter().for_each(|v| self.uses[v.0 as usize] += 1);
            (e.op, e.args) = (op, args);
        }
    }

    /// The equation as a function of one value, and the operator that this is: the value is as far
    /// back as there is such an operator.
    fn function(&self, e: &OpEqn) -> Option<(Val, Table, Op)> {
        let deep = e.args.iter().filter_map(|v| self.forms.get(v)).map(|(leaf, _)| *leaf);
        let direct = e.args.iter().copied().filter(|v| !self.constants.contains_key(v));
        let mut leaves: Vec<Val> = Vec::new();
        for leaf in deep.chain(direct) {
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        }
        leaves.into_iter().find_map(|leaf| {
            let table = self.table(e, leaf)?;
            Some((leaf, table, operator(&table)?))
        })
    }

    /// The values of the equation for each value of `leaf`, if it depends on nothing else.
    fn table(&self, e: &OpEqn, leaf: Val) -> Option<Table> {
        let operand = |v: &Val| -> Option<Rc<Table>> {
            if *v == leaf {
                return Some(Rc::new(std::array::from_fn(|x| x as u8)));
            }
            if let Some(&value) = self.constants.get(v) {
                return Some(Rc::new([value; 256]));
            }
            self.forms.get(v).filter(|(from, _)| *from == leaf).map(|(_, table)| table.clone())
        };
        let operands = e.args.iter().map(operand).collect::<Option<Vec<_>>>()?;
        Some(std::array::from_fn(|x| {
            let words: Vec<u64> = operands.iter().map(|table| table[x] as u64).collect();
            e.op.eval(8, &words) as u8
        }))
    }
}

/// Counts the reads of each value.
fn count(eqns: &[Eqn], uses: &mut [u32]) {
    let mut read = |v: &Val| uses[v.0 as usize] += 1;
    for eqn in eqns {
        match eqn {
            Eqn::Op(e) => e.args.iter().for_each(&mut read),
            Eqn::Call(call) => call.args.iter().for_each(&mut read),
            Eqn::Loop(lp) => {
                lp.carried.iter().flat_map(|c| [&c.init, &c.next]).for_each(&mut read);
                lp.reads.iter().flat_map(|r| &r.list).for_each(&mut read);
                lp.collects.iter().for_each(|c| read(&c.value));
            }
        }
    }
    for eqn in eqns {
        if let Eqn::Loop(lp) = eqn {
            count(&lp.body, uses);
        }
    }
}

/// The operator with these values, if there is one.
fn operator(table: &Table) -> Option<Op> {
    if table.iter().all(|&y| y == table[0]) {
        return Some(Op::Const(table[0] as u64));
    }
    if table.iter().enumerate().all(|(x, &y)| x == y as usize) {
        return Some(Op::Copy);
    }
    if let Some((matrix, c)) = affine_form(table) {
        return Some(Op::Affine(matrix, c));
    }
    affine_inverse_form(table).map(|(matrix, c)| Op::AffineInverse(matrix, c))
}
