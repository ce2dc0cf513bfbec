//! Whether narrow words of V share general-purpose registers.
//!
//! ```text
//! 16-bit words, gp64   one instance a register     four instances a register
//! in the register      ............aaaabbbbccccd   a a' a" a"' b b' b" b"' c ...
//! rotation by 3        1 instruction               1 instruction: by 12
//! ```
//!
//! Packed words have the layout of H: next to each bit of the first instance sits the same bit of
//! the second. Logic, shifts and rotations then cost as much for all instances as for one. In
//! return the byte interface transposes the data, which pays if there is enough computation in
//! between. Sums have no such form.

use crate::emit::layout;
use crate::ir::{Eqn, Node, Op, Program};
use crate::isa::cpu::{Cpu, GENERIC, Unit};
use crate::isa::{Layout, Target, select};
use crate::passes::When;

/// Instructions that transpose a register of several instances, beyond the instructions for one
/// instance.
const MOVE: u64 = 30;

/// The most that packing may cost, in percent of the instructions without it.
const PAYS: u64 = 90;

/// Packs `program`, lowered and not yet optimised, where `choice` says so and the target can.
///
/// A note reports the counts.
pub fn run(program: &mut Program, target: &Target, cpu: &Cpu, choice: When) {
    let Some(unit) = cpu.unit(target).or_else(|| GENERIC.unit(target)) else { return };
    if choice == When::Never || layout(program, target) != Layout::Words {
        return;
    }
    program.packed = true;
    let packed = layout(program, target);
    let possible = |node: &Node| {
        let same = node.bits.iter().all(|&bits| packed == Layout::Elements(bits));
        same && possible(node, &node.body, target, packed)
    };
    if !program.nodes.iter().all(possible) {
        program.packed = false;
        return;
    }
    let instances = target.lanes(packed) as u64;
    let entry = program.entry();
    let ports = entry.params.iter().filter(|port| !port.constant).chain(&entry.results);
    let moved: u64 = ports.map(|port| port.values(program.slicing) as u64).sum();
    let together = executed(program, target, unit, packed).saturating_add(MOVE * moved);
    let alone = executed(program, target, unit, Layout::Words).saturating_mul(instances);
    let percent = together.saturating_mul(100).div_ceil(alone.max(1));
    program.packed = choice.or(percent <= PAYS);
    if program.packed {
        program.notes.push(format!(
            "Packing: {instances} instances share a register, for {percent} % of the instructions \
             together with what brings bytes there and back"
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::build::Builder;
    use crate::ir::{NodeId, Port, Slicing};
    use crate::isa::find;

    /// `rounds` times `s = (s <<< 3) ^ (s op s)` on one word of `bits` bits.
    fn packed(bits: u8, op: Op, rounds: u32, target: &str, choice: When) -> bool {
        let mut b = Builder::new("f", Slicing::V);
        let mut s = b.param(Port::new("x", bits, &[]))[0];
        for _ in 0..rounds {
            let turned = b.op(Op::Rotl(3), &[s]);
            let other = b.op(op.clone(), &[turned, s]);
            s = b.op(Op::Xor, &[turned, other]);
        }
        let f = b.finish(vec![(Port::new("y", bits, &[]), vec![s])]);
        let mut program = Program::new(vec![f], NodeId(0), Slicing::V);
        run(&mut program, find(target).expect("a target"), &GENERIC, choice);
        assert_eq!(program.packed, !program.notes.is_empty());
        program.packed
    }

    #[test]
    fn narrow_words_share_a_register_where_there_is_enough_to_do() {
        assert!(packed(16, Op::And, 100, "gp64", When::Auto));
        assert!(packed(32, Op::And, 100, "gp64", When::Auto));
        assert!(!packed(32, Op::And, 5, "gp64", When::Auto));
        assert!(packed(32, Op::And, 5, "gp64", When::Always));
        assert!(!packed(16, Op::And, 100, "gp64", When::Never));
        assert!(packed(16, Op::And, 100, "gp32", When::Auto));
    }

    #[test]
    fn nothing_shares_what_has_no_room_or_no_layout() {
        assert!(!packed(64, Op::And, 100, "gp64", When::Always));
        assert!(!packed(32, Op::And, 100, "gp32", When::Always));
        assert!(!packed(24, Op::And, 100, "gp64", When::Always));
        assert!(!packed(16, Op::Add, 100, "gp64", When::Always));
        assert!(!packed(16, Op::And, 100, "avx2", When::Always));
    }
}
