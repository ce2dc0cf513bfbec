//! Loops into straight lines.
//!
//! ```text
//! forall i in [0,1] {          t1 = k[0];
//!   t := k[i];            →    s1 = s ^ k[0];
//!   s := s ^ t;                s2 = s1 ^ k[1];
//! }
//! ```
//!
//! Sound because a loop means its body once per iteration, with the carried values handed on.
//! Relies on nothing. Decides from the innermost loop outwards, so a loop that holds a short
//! unrolled one counts what is left of it.
//! Does not unroll in part, and never beyond `LARGEST_NODE` equations.

use super::rename::{Scope, Writer};
use super::{LARGEST_NODE, Pass, PassOptions};
use crate::ir::{Eqn, Loop, Node, Program, Slicing, Val};

/// Which loops are unrolled.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Mode {
    /// Loops of one iteration, and loops of at most 64 equations in all that nobody asked to keep.
    #[default]
    Auto,
    /// All loops, also those that the program asks to keep.
    All,
    None,
}

pub const PASS: Pass =
    Pass { name: "unroll", about: "replace loops by one copy of their body per iteration", run };

/// The largest total size of a loop that `Mode::Auto` unrolls.
const TINY: u64 = 64;

fn run(program: &mut Program, options: &PassOptions) {
    if options.unroll == Mode::None {
        return;
    }
    for node in &mut program.nodes {
        let (plans, _) = plan(&node.body, options.unroll, 0);
        if plans.iter().any(Plan::changes) {
            *node = rewrite(node, program.slicing, &plans);
        }
    }
}

/// What happens to one loop and to the loops in its body, in order.
struct Plan {
    unroll: bool,
    inner: Vec<Plan>,
}

impl Plan {
    fn changes(&self) -> bool {
        self.unroll || self.inner.iter().any(Plan::changes)
    }
}

/// The plans of the loops in a block and the size of the block once they are carried out, when
/// `before` equations of the node come before the block.
fn plan(eqns: &[Eqn], mode: Mode, before: u64) -> (Vec<Plan>, u64) {
    let mut plans = Vec::new();
    let mut size = 0u64;
    for eqn in eqns {
        let Eqn::Loop(lp) = eqn else {
            size += 1;
            continue;
        };
        let (inner, body) = plan(&lp.body, mode, before + size);
        let count = lp.count as u64;
        let unrolled = body.saturating_mul(count);
        let wanted = match mode {
            Mode::All => true,
            Mode::Auto => count == 1 || (!lp.keep && unrolled <= TINY),
            Mode::None => false,
        };
        // Writing an iteration costs time even if its body is empty, hence the one.
        let cost = (body + 1).saturating_mul(count).saturating_add(before + size);
        let unroll = wanted && cost <= LARGEST_NODE;
        size += if unroll { unrolled } else { body + 1 };
        plans.push(Plan { unroll, inner });
    }
    (plans, size)
}

fn rewrite(node: &Node, slicing: Slicing, plans: &[Plan]) -> Node {
    let params: Vec<_> = (0..node.arity(slicing) as u32).map(Val).collect();
    let mut scope = Scope::new(node, &params);
    let mut writer = Writer::new(node, params.len());
    let mut body = Vec::new();
    block(&mut writer, &mut scope, &node.body, plans, &mut body);
    let outs = scope.all(&node.outs);
    writer.finish(node, body, outs)
}

fn block<'a>(
    w: &mut Writer,
    scope: &mut Scope<'a>,
    eqns: &[Eqn],
    plans: &[Plan],
    out: &mut Vec<Eqn>,
) {
    let mut plans = plans.iter();
    for eqn in eqns {
        match eqn {
            Eqn::Op(e) => out.push(w.op(scope, e)),
            Eqn::Call(call) => out.push(w.call(scope, call)),
            Eqn::Loop(lp) => {
                let plan = plans.next().expect("a plan per loop");
                if plan.unroll {
                    unroll(w, scope, lp, &plan.inner, out);
                } else {
                    out.push(w.lp(scope, lp, |w, scope| {
                        let mut body = Vec::new();
                        block(w, scope, &lp.body, &plan.inner, &mut body);
                        body
                    }));
                }
            }
        }
    }
}

fn unroll(w: &mut Writer, scope: &mut Scope, lp: &Loop, inner: &[Plan], out: &mut Vec<Eqn>) {
    let mut carried: Vec<_> = lp.carried.iter().map(|c| scope.get(c.init)).collect();
    for k in 0..lp.count as usize {
        for (c, &value) in lp.carried.iter().zip(&carried) {
            scope.set(c.param, value);
        }
        for read in &lp.reads {
            scope.set(read.dst, scope.get(read.list[k]));
        }
        block(w, scope, &lp.body, inner, out);
        for collect in &lp.collects {
            scope.set(collect.results[k], scope.get(collect.value));
        }
        carried = lp.carried.iter().map(|c| scope.get(c.next)).collect();
    }
    for (c, &value) in lp.carried.iter().zip(&carried) {
        scope.set(c.result, value);
    }
}
