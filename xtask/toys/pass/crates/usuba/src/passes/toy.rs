//! Idempotence: replaces `x & x` by `x`.
//!
//! ```text
//! y = x & x        y = x
//! ```

use super::Pass;
use crate::ir::{Eqn, Op};

pub const PASS: Pass = Pass {
    name: "toy",
    about: "replace `x & x` by `x`",
    run: |program, _| program.nodes.iter_mut().for_each(|node| visit(&mut node.body)),
};

fn visit(eqns: &mut [Eqn]) {
    for eqn in eqns {
        match eqn {
            Eqn::Op(eqn) if eqn.op == Op::And && eqn.args[0] == eqn.args[1] => {
                eqn.op = Op::Copy;
                eqn.args.truncate(1);
            }
            Eqn::Loop(lp) => visit(&mut lp.body),
            _ => {}
        }
    }
}
