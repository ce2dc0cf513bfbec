//! Whether narrow words of V share general-purpose registers.
//!
//! ```text
//! RECTANGLE, gp64      one instance a register    four instances a register
//! 16-bit rotation      1 instruction              5: two shifts of all, three to merge them
//! 25 rounds            528 instructions           835: 209 an instance
//! ```
//!
//! Logic costs nothing more for several instances, and whatever moves bits costs several times as
//! much. So both forms are counted, with the prices of the CPU.

use crate::emit::layout;
use crate::ir::{Eqn, Node, Op, Program};
use crate::passes::When;
use crate::target::cpu::{Cpu, GENERIC, Unit};
use crate::target::{Layout, Target, select};

/// What a packed kernel must save, in percent of the instructions of an instance: constants take
/// registers, and compilers know rotations of whole registers better.
const MARGIN: u64 = 25;

/// Packs `program`, lowered and not yet optimised, where `choice` says so and the target can.
///
/// A note says what was counted.
pub fn run(program: &mut Program, target: &Target, cpu: &Cpu, choice: When) {
    let plain = layout(program, target);
    program.packed = true;
    let packed = layout(program, target);
    program.packed = false;
    let generic = || GENERIC.unit(target);
    let Some(unit) = cpu.unit(target).or_else(generic).filter(|_| target.packs(packed)) else {
        return;
    };
    let possible = |node: &Node| possible(node, &node.body, target, packed);
    if choice == When::Never || !program.nodes.iter().all(possible) {
        return;
    }
    let lanes = target.lanes(packed) as u64;
    let alone = executed(program, target, unit, plain).saturating_mul(lanes);
    let together = executed(program, target, unit, packed);
    let pays = together.saturating_mul(100) <= alone.saturating_mul(100 - MARGIN);
    program.packed = choice.or(pays);
    if program.packed {
        program.notes.push(format!(
            "Packing: {lanes} instances share a register, for {} % of the instructions",
            together.saturating_mul(100).div_ceil(alone.max(1))
        ));
    }
}

/// Whether every operator of `eqns` has instructions under `layout`.
fn possible(node: &Node, eqns: &[Eqn], target: &Target, layout: Layout) -> bool {
    eqns.iter().all(|eqn| match eqn {
        Eqn::Op(eqn) => select(target, layout, &eqn.op, node.bits_of(eqn.dst), false).is_ok(),
        Eqn::Call(_) => true,
        Eqn::Loop(lp) => possible(node, &lp.body, target, layout),
    })
}

/// The instructions that one run of the entry executes under `layout`.
fn executed(program: &Program, target: &Target, unit: &Unit, layout: Layout) -> u64 {
    let mut nodes: Vec<u64> = Vec::with_capacity(program.nodes.len());
    for node in &program.nodes {
        let price = |op: &Op, bits: u8| {
            let price = unit.price(target, layout, op, bits);
            price.map_or(0, |price| price.instructions as u64)
        };
        nodes.push(sum(node, &node.body, &price, &nodes));
    }
    nodes[program.entry.0 as usize]
}

fn sum(node: &Node, eqns: &[Eqn], price: &dyn Fn(&Op, u8) -> u64, callees: &[u64]) -> u64 {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Op(eqn) => price(&eqn.op, node.bits_of(eqn.dst)),
        Eqn::Call(call) => callees[call.node.0 as usize],
        Eqn::Loop(lp) => sum(node, &lp.body, price, callees).saturating_mul(lp.count as u64),
    };
    eqns.iter().map(one).fold(0, u64::saturating_add)
}
