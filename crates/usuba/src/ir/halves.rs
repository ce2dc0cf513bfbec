//! Products of words of 64 bits that are below 2^32, for which lanes have one instruction.
//!
//! ```text
//! x = resize(a:u32):u64; y = resize(b:u32):u64; z = x * y        z is a product of halves
//! ```
//!
//! Only what the definition of a word says is looked at: a change of size, a constant, a shift, a
//! mask.

use super::{Eqn, Node, Op};

/// For each value of a node whether it is such a product.
pub fn products(node: &Node) -> Vec<bool> {
    let mut found = Found { small: vec![false; node.bits.len()], products: Vec::new() };
    found.products = found.small.clone();
    found.block(node, &node.body);
    found.products
}

struct Found {
    /// Words that are below 2^32.
    small: Vec<bool>,
    products: Vec<bool>,
}

impl Found {
    fn block(&mut self, node: &Node, block: &[Eqn]) {
        for eqn in block {
            let eqn = match eqn {
                Eqn::Op(eqn) => eqn,
                Eqn::Loop(l) => {
                    self.block(node, &l.body);
                    continue;
                }
                Eqn::Call(_) => continue,
            };
            let small = |at: usize| self.small[eqn.args[at].0 as usize];
            let half = match &eqn.op {
                Op::Resize(from) => *from <= 32,
                Op::Const(value) => *value >> 32 == 0,
                Op::Shr(k) => *k >= 32,
                Op::Copy => small(0),
                Op::And => small(0) || small(1),
                _ => false,
            };
            let product = eqn.op == Op::Mul && node.bits_of(eqn.dst) == 64 && small(0) && small(1);
            self.small[eqn.dst.0 as usize] = half;
            self.products[eqn.dst.0 as usize] = product;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::Builder;
    use super::super::{Port, Slicing};
    use super::*;

    #[test]
    fn both_operands_must_be_small() {
        let mut b = Builder::new("f", Slicing::V);
        let a = b.param(Port::new("a", 32, &[]))[0];
        let w = b.param(Port::new("w", 64, &[]))[0];
        let x = b.resize(64, a);
        let upper = b.op(Op::Shr(32), &[w]);
        let almost = b.op(Op::Shr(31), &[w]);
        let wanted = [(x, x, true), (x, upper, true), (x, w, false), (upper, almost, false)];
        let products: Vec<_> = wanted.iter().map(|&(l, r, _)| b.op(Op::Mul, &[l, r])).collect();
        let node = b.finish(vec![(Port::new("y", 64, &[4]), products.clone())]);
        let found = super::products(&node);
        for (product, (.., want)) in products.iter().zip(wanted) {
            assert_eq!(found[product.0 as usize], want);
        }
        assert!(!found[x.0 as usize]);
    }
}
