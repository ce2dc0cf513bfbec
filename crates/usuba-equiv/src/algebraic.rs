//! Algebraic normal forms of short degree: programs of bits as sums of products of at most two inputs.
//!
//! ```text
//! (a1 ^ a0) & (b1 ^ b0) ^ a1 & b1 ^ a0 & b0     a1 b0 + a0 b1     what four products make, too
//! ```
//!
//! Carry-less products are such sums. The forms are unique, so two programs are equal if and only if
//! their forms are; no search is needed for products that were regrouped (Karatsuba).
//!
//! *Limits:* and, xor, or, not; products of more than two inputs and long sums have no form.

use std::collections::HashMap;

use usuba::ir::{Eqn, Op, Program, Val};

/// A product of at most two inputs: 0 for none, else one more than the number of the input.
type Product = (u32, u32);

/// The products with an odd count, in ascending order.
type Form = Vec<Product>;

/// The longest form.
const LONGEST: usize = 1 << 14;

/// Whether two programs of bits have the same forms; false if one has none.
pub fn same(left: &Program, right: &Program) -> bool {
    matches!((forms(left), forms(right)), (Some(left), Some(right)) if left == right)
}

fn forms(program: &Program) -> Option<Vec<Form>> {
    let [node] = &program.nodes[..] else { return None };
    let inputs = node.params.iter().map(|port| port.values(program.slicing) as u32).sum();
    let mut known: HashMap<Val, Form> =
        (0..inputs).map(|at| (Val(at), vec![(0, at + 1)])).collect();
    for eqn in &node.body {
        let Eqn::Op(e) = eqn else { return None };
        let args: Vec<&Form> = e.args.iter().map(|arg| known.get(arg)).collect::<Option<_>>()?;
        let form = match (&e.op, &args[..]) {
            (Op::Const(word), []) => vec![(0, 0); *word as usize & 1],
            (Op::Copy, [a]) => a.to_vec(),
            (Op::Not, [a]) => sum(a, &[(0, 0)]),
            (Op::Xor, [a, b]) => sum(a, b),
            (Op::And, [a, b]) => product(a, b)?,
            (Op::Andn, [a, b]) => product(&sum(a, &[(0, 0)]), b)?,
            (Op::Or, [a, b]) => sum(&sum(a, b), &product(a, b)?),
            _ => return None,
        };
        if form.len() > LONGEST {
            return None;
        }
        known.insert(e.dst, form);
    }
    node.outs.iter().map(|val| known.get(val).cloned()).collect()
}

/// Products that both have cancel.
fn sum(a: &[Product], b: &[Product]) -> Form {
    let mut out = Form::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => out.extend(a.next()),
            std::cmp::Ordering::Greater => out.extend(b.next()),
            std::cmp::Ordering::Equal => {
                a.next();
                b.next();
            }
        }
    }
    out.extend(a);
    out.extend(b);
    out
}

fn product(a: &[Product], b: &[Product]) -> Option<Form> {
    if a.len().saturating_mul(b.len()) > LONGEST {
        return None;
    }
    let mut all = Form::new();
    for &(w, x) in a {
        for &(y, z) in b {
            let mut inputs = [w, x, y, z];
            inputs.sort_unstable();
            let mut inputs = inputs.to_vec();
            inputs.dedup();
            inputs.retain(|&input| input != 0);
            all.push(match inputs[..] {
                [] => (0, 0),
                [one] => (0, one),
                [one, other] => (one, other),
                _ => return None,
            });
        }
    }
    all.sort_unstable();
    let odd = all.chunk_by(|x, y| x == y).filter(|equal| equal.len() % 2 == 1);
    Some(odd.map(|equal| equal[0]).collect())
}

#[cfg(test)]
mod tests {
    use usuba::ir::build::Builder;
    use usuba::ir::{NodeId, Port, Slicing};

    use super::*;

    type Made = fn(&mut Builder, &[Val]) -> Val;

    fn program(make: Made) -> Program {
        let mut b = Builder::new("f", Slicing::B);
        let x = b.param(Port::new("x", 1, &[4]));
        let y = make(&mut b, &x);
        let node = b.finish(vec![(Port::new("y", 1, &[]), vec![y])]);
        Program::new(vec![node], NodeId(0), Slicing::B)
    }

    #[test]
    fn forms_are_equal_where_functions_are() {
        let majority: Made = |b, x| {
            let (differ, both) = (b.op(Op::Xor, &[x[0], x[1]]), b.op(Op::And, &[x[0], x[1]]));
            let other = b.op(Op::And, &[differ, x[2]]);
            b.op(Op::Xor, &[both, other])
        };
        let carry: Made = |b, x| {
            let (differ, both) = (b.op(Op::Or, &[x[0], x[1]]), b.op(Op::And, &[x[0], x[1]]));
            let other = b.op(Op::And, &[differ, x[2]]);
            b.op(Op::Xor, &[both, other])
        };
        let choice: Made = |b, x| {
            let (on, off) = (b.op(Op::And, &[x[2], x[0]]), b.op(Op::Andn, &[x[2], x[1]]));
            b.op(Op::Or, &[on, off])
        };
        let chosen: Made = |b, x| {
            let differ = b.op(Op::Xor, &[x[0], x[1]]);
            let taken = b.op(Op::And, &[differ, x[2]]);
            b.op(Op::Xor, &[taken, x[1]])
        };
        let all = [majority, carry, choice, chosen].map(program);
        // A union of both and of three has a product of three, and no form.
        assert!(same(&all[0], &all[0]) && !same(&all[1], &all[1]));
        assert!(!same(&all[0], &all[3]));
        assert!(same(&all[3], &all[3]) && !same(&all[2], &all[3]));
    }
}
