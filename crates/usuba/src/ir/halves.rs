//! Products of words of 64 bits that are below 2^32, for which lanes have one instruction.
//!
//! ```text
//! x = resize(a:u32):u64; y = resize(b:u32):u64; z = x * y        z is a product of halves
//! ```
//!
//! The analysis looks only at the definition of a word: a change of size, a constant, a shift, a
//! mask.

use super::{Eqn, Node, Op, Val};

/// For each value of a node whether it is such a product.
pub fn products(node: &Node) -> Vec<bool> {
    let mut found = Found { small: vec![false; node.bits.len()], products: Vec::new() };
    found.products = found.small.clone();
    found.block(node, &node.body);
    found.products
}

/// The same node, in which these products take words of which only the lower half counts: an
/// instruction that cuts off the upper half of a factor becomes dead code.
///
/// ```text
/// x = resize(resize(a:u64):u32):u64; z = x * y        →        z = a * y
/// ```
///
/// Only a printer that multiplies lower halves may print it.
pub fn uncut(node: &Node, products: &[bool]) -> Node {
    let mut node = node.clone();
    let mut cut = Cut { narrow: vec![None; node.bits.len()], lower: vec![None; node.bits.len()] };
    let mut body = std::mem::take(&mut node.body);
    cut.block(&node, products, &mut body);
    node.body = body;
    node
}

struct Cut {
    /// Constants, and for each word of 32 bits the word of 64 bits whose lower half it is.
    narrow: Vec<Option<Low>>,
    /// For each word of 64 bits the word whose lower half it is.
    lower: Vec<Option<Val>>,
}

#[derive(Clone, Copy)]
enum Low {
    Mask,
    Of(Val),
}

impl Cut {
    fn block(&mut self, node: &Node, products: &[bool], block: &mut [Eqn]) {
        for eqn in block {
            let eqn = match eqn {
                Eqn::Op(eqn) => eqn,
                Eqn::Loop(l) => {
                    self.block(node, products, &mut l.body);
                    continue;
                }
                Eqn::Call(_) => continue,
            };
            let at = eqn.dst.0 as usize;
            if products[at] {
                for arg in &mut eqn.args {
                    *arg = self.lower[arg.0 as usize].unwrap_or(*arg);
                }
                continue;
            }
            let narrow = |v: Val| self.narrow[v.0 as usize];
            match (&eqn.op, node.bits_of(eqn.dst), &eqn.args[..]) {
                (Op::Const(0xffff_ffff), 64, _) => self.narrow[at] = Some(Low::Mask),
                (Op::Resize(64), 32, &[a]) => self.narrow[at] = Some(Low::Of(a)),
                (Op::Resize(32), 64, &[a]) => {
                    if let Some(Low::Of(whole)) = narrow(a) {
                        self.lower[at] = Some(whole);
                    }
                }
                (Op::And, 64, &[a, b]) => {
                    self.lower[at] = match (narrow(a), narrow(b)) {
                        (Some(Low::Mask), _) => Some(b),
                        (_, Some(Low::Mask)) => Some(a),
                        _ => None,
                    };
                }
                _ => {}
            }
        }
    }
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

    #[test]
    fn only_products_take_uncut_words() {
        let mut b = Builder::new("f", Slicing::V);
        let w = b.param(Port::new("w", 64, &[]))[0];
        let cut = b.resize(32, w);
        let x = b.resize(64, cut);
        let product = b.op(Op::Mul, &[x, x]);
        let sum = b.op(Op::Add, &[x, product]);
        let node = b.finish(vec![(Port::new("y", 64, &[]), vec![sum])]);
        let found = super::products(&node);
        let args = |node: &Node, v: Val| {
            let of = |eqn: &Eqn| match eqn {
                Eqn::Op(eqn) if eqn.dst == v => Some(eqn.args.to_vec()),
                _ => None,
            };
            node.body.iter().find_map(of)
        };
        let uncut = super::uncut(&node, &found);
        assert_eq!(args(&uncut, product), Some(vec![w, w]));
        assert_eq!(args(&uncut, sum), args(&node, sum));
    }
}
