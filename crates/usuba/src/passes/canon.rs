//! Canonical operand order: sorts the operands of commutative operators, for value numbering.
//!
//! ```text
//! t1 = b ^ a          t1 = a ^ b
//! t2 = a ^ b    →     t2 = a ^ b
//! ```
//!
//! Sound because the operators concerned are commutative (`Op::is_commutative`).
//! Requires nothing. The order of the values' numbers decides, which depends on nothing but the
//! program.
//! Limit: does not touch association: `(a ^ b) ^ c` and `a ^ (b ^ c)` stay different.

use super::Pass;
use crate::ir::Eqn;

pub const PASS: Pass = Pass {
    name: "canon",
    about: "order the operands of commutative operators",
    run: |program, _| program.nodes.iter_mut().for_each(|node| block(&mut node.body)),
};

fn block(eqns: &mut [Eqn]) {
    for eqn in eqns {
        match eqn {
            Eqn::Op(e) if e.op.is_commutative() => e.args.sort_unstable(),
            Eqn::Op(_) | Eqn::Call(_) => {}
            Eqn::Loop(lp) => block(&mut lp.body),
        }
    }
}
