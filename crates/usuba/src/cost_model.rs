//! The cost model: target, layout and CPU as the plain numbers that passes know.
//!
//! ```text
//! avx2, 32-bit lanes, generic   →   rotate: 3 instructions; turn: 1; logic: latency 2, 4 ports
//! ```
//!
//! Each kind of operator is priced by selecting instructions for one of its operators on words of
//! each width that the layout has.

use crate::emit::layout;
use crate::ir::op::Lanes;
use crate::ir::{Eqn, Inline, Node, Op, Program};
use crate::isa::cpu::{Cpu, GENERIC, Unit};
use crate::isa::{Layout, Target};
use crate::passes::machine::{Cost, Kind, Machine, Pays};

/// The machine that `program` is compiled for, once it is lowered for `target`.
///
/// A CPU without the registers of the target stands for the generic one.
pub fn machine(program: &Program, target: &Target, cpu: &Cpu) -> Machine {
    let layout = layout(program, target);
    let known = cpu.unit(target).map(|unit| (unit, cpu.body));
    let generic = || GENERIC.unit(target).map(|unit| (unit, GENERIC.body));
    let Some((unit, (body, body_bytes))) = known.or_else(generic) else {
        return Machine { regs: target.regs, ..Machine::default() };
    };
    let machine = Machine {
        regs: if unit.regs == 0 { target.regs } else { unit.regs },
        issue: unit.issue,
        loads: unit.loads,
        stores: unit.stores,
        body,
        body_bytes,
        instruction_bytes: unit.bytes,
        straight: unit.straight,
        pays: Pays {
            bitslice: unit.pays.bitslice,
            mslice: unit.pays.mslice,
            pressure: unit.pays.pressure,
        },
        ..Machine::default()
    };
    machine.with_costs(|kind, bits| price(unit, target, layout, program.vector, kind, bits))
}

/// Instructions of one call of `program` that the busier of two pipes executes, a loop as often as it
/// runs: one pipe has logic, shifts and sums, and the other has sums alone.
pub fn instructions(program: &Program, target: &Target, cpu: &Cpu) -> u64 {
    let machine = machine(program, target, cpu);
    let mut nodes: Vec<Count> = Vec::with_capacity(program.nodes.len());
    for node in &program.nodes {
        nodes.push(match node.inline {
            Inline::Instruction => Count { all: 1, sums: 0 },
            _ => Count::of_block(&machine, node, &node.body, &nodes),
        });
    }
    let Count { all, sums } = nodes[program.entry.0 as usize];
    (all - sums).max(all.div_ceil(2))
}

/// Instructions of a block.
#[derive(Clone, Copy, Default)]
struct Count {
    all: u64,
    /// Sums among them.
    sums: u64,
}

impl Count {
    fn of_block(machine: &Machine, node: &Node, eqns: &[Eqn], nodes: &[Count]) -> Count {
        let mut count = Count::default();
        for eqn in eqns {
            let (Count { all, sums }, times) = match eqn {
                Eqn::Op(e) => {
                    let all = u64::from(machine.cost(&e.op, node.bits_of(e.dst)).instructions);
                    let is_sum = matches!(e.op, Op::Add | Op::Sub);
                    (Count { all, sums: if is_sum { all } else { 0 } }, 1)
                }
                Eqn::Call(call) => (nodes[call.node.0 as usize], 1),
                Eqn::Loop(lp) => {
                    (Count::of_block(machine, node, &lp.body, nodes), u64::from(lp.count))
                }
            };
            count.all += times * all;
            count.sums += times * sums;
        }
        count
    }
}

/// The price of a kind; the price of the lane where words of `bits` bits do not exist.
fn price(unit: &Unit, target: &Target, layout: Layout, vector: u8, kind: Kind, bits: u8) -> Cost {
    let bits = match layout {
        Layout::Bits => 1,
        Layout::Elements(m) => m,
        Layout::Lanes(lane) | Layout::Vectors { lane, .. } => bits.min(lane),
        Layout::Words => bits,
    };
    let Some(op) = sample(kind, bits, vector) else { return Cost::FREE };
    match unit.price(target, layout, &op, bits) {
        Some(p) => Cost { instructions: p.instructions, latency: p.latency, ports: p.ports },
        None => Cost::FREE,
    }
}

/// An operator of the kind on words of `bits` bits, if there is one that does something.
fn sample(kind: Kind, bits: u8, vector: u8) -> Option<Op> {
    let few = |k: u8| (k < bits).then_some(k);
    Some(match kind {
        Kind::Free | Kind::Lookup => return None,
        Kind::Logic => Op::Xor,
        Kind::Andn => Op::Andn,
        Kind::Not => Op::Not,
        // A majority: no two operators make it.
        Kind::Ternary => Op::Lut3(0xe8),
        Kind::Add => Op::Add,
        Kind::Mul => Op::Mul,
        Kind::MulAdd if bits == 64 => Op::MulAdd(52),
        Kind::Shift => Op::Shr(few(3).or(few(1))?),
        Kind::Sar => Op::Sar(few(3).or(few(1))?),
        Kind::Rotate => Op::Rotl(few(3).or(few(1))?),
        Kind::Turn => Op::Rotl(few(8)?),
        Kind::Shuffle if bits > 1 => Op::Shuffle((0..bits).rev().collect()),
        Kind::Bitmask if bits > 1 => Op::Bitmask(1),
        Kind::Pack if bits.is_multiple_of(2) => Op::Pack,
        Kind::Affine if bits == 8 => Op::AffineInverse(1, 0),
        Kind::Each if vector > 1 && bits > 1 => {
            let each = (0..vector).map(|lane| Op::Rotl(1 + lane % (bits - 1)));
            Op::Lanes(Lanes::Each(each.collect()))
        }
        Kind::Move if vector > 1 => {
            let turned = (0..vector).map(|lane| (lane + 1) % vector);
            Op::Lanes(Lanes::Move(turned.collect()))
        }
        Kind::Each | Kind::Move => return None,
        Kind::Shuffle | Kind::Bitmask | Kind::Pack | Kind::Affine | Kind::MulAdd => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::build::Builder;
    use crate::ir::{NodeId, Port, Slicing};
    use crate::isa;

    fn program(bits: u8, slicing: Slicing) -> Program {
        let mut b = Builder::new("f", slicing);
        let x = b.param(Port::new("x", bits, &[]))[0];
        let f = b.finish(vec![(Port::new("y", bits, &[]), vec![x])]);
        Program::new(vec![f], NodeId(0), slicing)
    }

    fn priced(bits: u8, slicing: Slicing, name: &str, cpu: &str) -> Machine {
        let target = isa::find(name).expect("a target");
        machine(&program(bits, slicing), target, isa::cpu::find(cpu).expect("a CPU"))
    }

    #[test]
    fn targets_differ_in_what_rotations_cost() {
        let count =
            |name, kind| priced(32, Slicing::V, name, "generic").price(kind, 32).instructions;
        assert_eq!((count("avx2", Kind::Rotate), count("avx2", Kind::Turn)), (3, 1));
        assert_eq!((count("avx512", Kind::Rotate), count("avx512", Kind::Turn)), (1, 1));
        assert_eq!((count("gp64", Kind::Rotate), count("neon", Kind::Rotate)), (1, 3));
        assert_eq!(count("avx512", Kind::Ternary), 1);
        assert!(count("avx2", Kind::Ternary) > 2);
    }

    #[test]
    fn layouts_differ_too() {
        let h = priced(16, Slicing::H, "avx2", "zen5");
        assert_eq!(h.price(Kind::Rotate, 16).instructions, 1);
        let b = priced(1, Slicing::B, "avx2", "zen5");
        assert_eq!(b.price(Kind::Logic, 1).ports, 0b1111);
        assert_eq!((b.regs, b.parallelism()), (16, 8));
        assert_eq!(priced(1, Slicing::B, "avx2", "skylake").parallelism(), 3);
    }

    #[test]
    fn a_cpu_without_the_registers_stands_for_the_generic_one() {
        let here = priced(32, Slicing::V, "neon", "zen5");
        assert_eq!(here, priced(32, Slicing::V, "neon", "generic"));
    }
}
