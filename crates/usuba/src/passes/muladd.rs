//! Instruction selection for multiply-add: computes a product and a sum by one instruction.
//!
//! ```text
//! x = u52(a);  y = u52(b);          of words of 64 bits
//! l = u64(x * y);                   →    l = muladd(0, a, b)
//! h = u64(mulhigh(x, y));           →    h = muladdhigh(0, a, b)
//! s = t + l;                        →    s = muladd(t, a, b)
//! ```
//!
//! A product of words of k bits that becomes a word of 64 bits is added to zero, and every sum that
//! takes such a word takes the product itself. The instruction reads the low k bits of its factors,
//! so no equation needs to cut them off. A product plus itself stays a sum of words.
//! Sound because the operator is defined as the equations that it replaces; sums stay in their
//! order.
//! Requires nothing; finds more after `inline` and `cse`. Leaves dead equations to `dce`. Only in
//! V.

use rustc_hash::FxHashMap;
use smallvec::smallvec;

use super::{Pass, PassOptions};
use crate::ir::{Eqn, Node, Op, OpEqn, Program, Slicing, Val};

pub const PASS: Pass =
    Pass { name: "muladd", about: "one instruction for each product with a sum", run };

/// The size of words that are sums.
const SUM: u8 = 64;

fn run(program: &mut Program, options: &PassOptions) {
    let k = options.logic.muladd;
    if k == 0 || program.slicing != Slicing::V {
        return;
    }
    for node in &mut program.nodes {
        let mut body = std::mem::take(&mut node.body);
        let mut sums = Sums { k, ..Sums::default() };
        sums.block(node, &mut body);
        node.body = body;
    }
}

/// Facts about values that are defined above the current place.
#[derive(Default)]
struct Sums {
    k: u8,
    /// For each word of k bits the word of 64 bits whose low bits it is.
    cut: FxHashMap<Val, Val>,
    /// Constants of k bits.
    constants: FxHashMap<Val, u64>,
    /// Products of k bits, with their factors.
    products: FxHashMap<Val, (Op, [Val; 2])>,
    /// Words of 64 bits that are such a product, whose factors have 64 bits.
    wide: FxHashMap<Val, (Op, [Val; 2])>,
}

impl Sums {
    fn block(&mut self, node: &mut Node, eqns: &mut Vec<Eqn>) {
        let mut out = Vec::with_capacity(eqns.len());
        for mut eqn in eqns.drain(..) {
            match &mut eqn {
                Eqn::Op(e) => self.op(node, e, &mut out),
                Eqn::Call(_) => {}
                Eqn::Loop(lp) => {
                    // Words defined inside the loop are not visible after it.
                    let outside = self.cut.clone();
                    self.block(node, &mut lp.body);
                    self.cut = outside;
                }
            }
            out.push(eqn);
        }
        *eqns = out;
    }

    fn op(&mut self, node: &mut Node, e: &mut OpEqn, out: &mut Vec<Eqn>) {
        let bits = node.bits_of(e.dst);
        match (&e.op, &e.args[..]) {
            (Op::Const(value), _) if bits == self.k => {
                self.constants.insert(e.dst, *value);
            }
            (Op::Resize(SUM), &[word]) if bits == self.k => {
                self.cut.insert(e.dst, word);
            }
            (Op::Mul | Op::MulHigh, &[x, y]) if bits == self.k => {
                let op = match e.op {
                    Op::Mul => Op::MulAdd(self.k),
                    _ => Op::MulAddHigh(self.k),
                };
                self.products.insert(e.dst, (op, [x, y]));
            }
            (Op::Resize(_), &[product]) if bits == SUM => {
                let Some((op, factors)) = self.products.get(&product).cloned() else { return };
                let factors = factors.map(|factor| self.whole(node, factor, out));
                self.wide.insert(e.dst, (op.clone(), factors));
                let zero = node.fresh(SUM);
                node.origins.set(zero, node.origins.of(e.dst));
                out.push(Eqn::Op(OpEqn { dst: zero, op: Op::Const(0), args: smallvec![] }));
                (e.op, e.args) = (op, smallvec![zero, factors[0], factors[1]]);
            }
            // Doubling a product is an addition, which is cheaper than a second product.
            (Op::Add, &[a, b]) if bits == SUM && a != b => {
                let found = |v: Val| self.wide.get(&v).cloned();
                let (sum, (op, [x, y])) = match (found(b), found(a)) {
                    (Some(product), _) => (a, product),
                    (None, Some(product)) => (b, product),
                    (None, None) => return,
                };
                (e.op, e.args) = (op, smallvec![sum, x, y]);
            }
            _ => {}
        }
    }

    /// A word of 64 bits with a factor as its low bits.
    fn whole(&mut self, node: &mut Node, factor: Val, out: &mut Vec<Eqn>) -> Val {
        if let Some(&word) = self.cut.get(&factor) {
            return word;
        }
        let word = node.fresh(SUM);
        node.origins.set(word, node.origins.of(factor));
        let (op, args) = match self.constants.get(&factor) {
            Some(&value) => (Op::Const(value), smallvec![]),
            None => (Op::Resize(self.k), smallvec![factor]),
        };
        out.push(Eqn::Op(OpEqn { dst: word, op, args }));
        self.cut.insert(factor, word);
        word
    }
}
