//! Workload of a kernel on a machine, and the least cycles in which a processor can run it.
//!
//! ```text
//! 12 logic on ports 0 to 3, 6 shifts on ports 1 and 2     ports 1 and 2: 6 / 2 = 3 cycles
//!                                                         ports 0 to 3: 18 / 4 = 4.5 cycles, the bound
//! ```
//!
//! The bound is about execution ports, the front end, loads and stores: no latencies, no spills, no
//! caches. It counts the instructions of the target's rows for the final IR; a C
//! compiler that fuses two of them can stay below it.

use std::collections::{BTreeMap, BTreeSet};

use usuba::emit::{instruction, lanes, layout};
use usuba::ir::{Eqn, Node, Op, Port, Program};
use usuba::isa::cpu::Unit;
use usuba::isa::{Inst, Layout, Target, select};

/// Instructions with the number of bits of their lanes.
pub type Counts = BTreeMap<(Inst, u8), u64>;

/// The work of one call of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Workload {
    /// Computing instructions, a loop as often as it runs.
    pub computing: Counts,
    /// Each register of a parameter once.
    pub loads: u64,
    /// Each register of a result once.
    pub stores: u64,
    /// Instances of one call.
    pub instances: u32,
}

/// The least cycles of a call by the model of a processor.
#[derive(Clone, PartialEq, Debug)]
pub struct Bound {
    pub cycles: f64,
    /// The resource that takes as long.
    pub by: String,
    /// Cycles for each resource, the longest first.
    pub resources: Vec<(String, f64)>,
    /// For each execution port the cycles in which it is busy, if the work is spread evenly.
    pub ports: Vec<f64>,
}

impl Workload {
    /// Counts the entry of `program` on `target`.
    pub fn of(program: &Program, target: &Target) -> Workload {
        let layout = layout(program, target);
        let mut nodes: Vec<Counts> = Vec::with_capacity(program.nodes.len());
        for node in &program.nodes {
            let mut counts = Counts::new();
            match instruction(program, node, target) {
                Some((row, lane)) => *counts.entry((row.inst, lane)).or_insert(0) += 1,
                None => count(node, &node.body, 1, &mut counts, &nodes, target, layout),
            }
            nodes.push(counts);
        }
        let values = |ports: &[Port]| {
            ports.iter().map(|port| port.values(program.slicing) as u64).sum::<u64>()
        };
        let entry = program.entry();
        Workload {
            computing: nodes.swap_remove(program.entry.0 as usize),
            loads: values(&entry.params),
            stores: values(&entry.results),
            instances: lanes(program, target) * program.copies,
        }
    }

    /// The bound on the ports of a processor.
    pub fn bound(&self, unit: &Unit) -> Bound {
        let mut by_ports: BTreeMap<u16, u64> = BTreeMap::new();
        let mut micro_operations = 0;
        for (&(inst, lane), &number) in &self.computing {
            // Conversions have no figure and cost nothing.
            let Some(figure) = unit.figure(inst, lane) else { continue };
            let uops = number * u64::from(figure.uops);
            *by_ports.entry(figure.ports).or_insert(0) += uops;
            micro_operations += uops;
        }
        let tenths = |number: u64, rate: u32| number as f64 * 10.0 / f64::from(rate.max(1));
        let mut resources = vec![
            ("front end".to_string(), micro_operations as f64 / f64::from(unit.issue.max(1))),
            ("loads".to_string(), tenths(self.loads, unit.loads)),
            ("stores".to_string(), tenths(self.stores, unit.stores)),
        ];
        for set in unions(by_ports.keys().copied()) {
            resources.push((named(set), share(&by_ports, set)));
        }
        resources.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (by, cycles) = resources[0].clone();
        Bound { cycles, by, ports: spread(by_ports), resources }
    }
}

/// Adds the instructions of `eqns`, executed `times` times.
fn count(
    node: &Node,
    eqns: &[Eqn],
    times: u64,
    counts: &mut Counts,
    callees: &[Counts],
    target: &Target,
    layout: Layout,
) {
    let add = |counts: &mut Counts, inst: (Inst, u8), number: u64| {
        let count = counts.entry(inst).or_insert(0);
        *count = count.saturating_add(number.saturating_mul(times));
    };
    for eqn in eqns {
        match eqn {
            Eqn::Op(eqn) => {
                for inst in instructions(target, layout, &eqn.op, node.bits_of(eqn.dst)) {
                    add(counts, inst, 1);
                }
            }
            Eqn::Call(call) => {
                for (&inst, &number) in &callees[call.node.0 as usize] {
                    add(counts, inst, number);
                }
            }
            Eqn::Loop(lp) => {
                let times = times.saturating_mul(lp.count as u64);
                count(node, &lp.body, times, counts, callees, target, layout);
            }
        }
    }
}

/// The instructions of one operator. C compilers know the rotation of a general-purpose register.
fn instructions(target: &Target, layout: Layout, op: &Op, bits: u8) -> Vec<(Inst, u8)> {
    if matches!(op, Op::Rotl(_)) && target.rotates(layout, bits) {
        return vec![(Inst::Rotl, bits)];
    }
    match select(target, layout, op, bits, false) {
        Ok(selected) => selected.steps.iter().map(|step| (step.row.inst, step.lane)).collect(),
        Err(_) => Vec::new(),
    }
}

/// All unions of sets of ports.
fn unions(sets: impl Iterator<Item = u16>) -> BTreeSet<u16> {
    let mut all = BTreeSet::new();
    for set in sets.filter(|set| *set != 0) {
        let with: Vec<u16> = all.iter().map(|other| other | set).collect();
        all.extend(with);
        all.insert(set);
    }
    all
}

/// Cycles of the work that only ports of a set can do.
fn share(by_ports: &BTreeMap<u16, u64>, set: u16) -> f64 {
    let inside = by_ports.iter().filter(|(ports, _)| **ports != 0 && **ports & !set == 0);
    inside.map(|(_, number)| number).sum::<u64>() as f64 / f64::from(set.count_ones())
}

/// Cycles of each port: the set of ports with the longest queue takes just this long, and the rest
/// of the work goes to the rest of the ports.
fn spread(mut by_ports: BTreeMap<u16, u64>) -> Vec<f64> {
    let all = by_ports.keys().fold(0, |all, ports| all | ports);
    let mut busy = vec![0.0; (u16::BITS - all.leading_zeros()) as usize];
    loop {
        let sets = unions(by_ports.keys().copied());
        let longest = |a: &u16, b: &u16| share(&by_ports, *a).total_cmp(&share(&by_ports, *b));
        let Some(set) = sets.iter().copied().max_by(longest) else { return busy };
        let cycles = share(&by_ports, set);
        for (port, busy) in busy.iter_mut().enumerate() {
            *busy = if set >> port & 1 == 1 { cycles } else { *busy };
        }
        let mut rest = BTreeMap::new();
        for (ports, number) in by_ports.into_iter().filter(|(ports, _)| ports & !set != 0) {
            *rest.entry(ports & !set).or_insert(0) += number;
        }
        by_ports = rest;
    }
}

/// `port 1`, or `ports 0 1 2 3`.
fn named(set: u16) -> String {
    let ports = (0..u16::BITS).filter(|port| set >> port & 1 == 1).map(|port| port.to_string());
    let ports: Vec<String> = ports.collect();
    let noun = if ports.len() == 1 { "port" } else { "ports" };
    format!("{noun} {}", ports.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use usuba::ir::build::Builder;
    use usuba::ir::{NodeId, Slicing};
    use usuba::isa;

    /// `s = x; 10 times: s = (s ^ x) <<< 5; y = s`, of 32-bit words.
    fn program() -> Program {
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 32, &[]))[0];
        b.begin_loop(10, false);
        let s = b.carry(x);
        let t = b.op(Op::Xor, &[s, x]);
        let next = b.op(Op::Rotl(5), &[t]);
        let done = b.end_loop(&[next], &[]);
        let f = b.finish(vec![(Port::new("y", 32, &[]), done.carried)]);
        Program::new(vec![f], NodeId(0), Slicing::V)
    }

    #[test]
    fn loops_count_as_often_as_they_run() {
        let avx512 = Workload::of(&program(), isa::find("avx512").expect("a target"));
        let counts = BTreeMap::from([((Inst::Xor, 32), 10), ((Inst::Rotl, 32), 10)]);
        let found: Counts = avx512.computing.into_iter().map(|((i, _), n)| ((i, 32), n)).collect();
        assert_eq!((found, avx512.loads, avx512.stores), (counts, 1, 1));
        let gp64 = Workload::of(&program(), isa::find("gp64").expect("a target"));
        assert_eq!(gp64.computing.values().sum::<u64>(), 20);
    }

    #[test]
    fn work_is_spread_over_the_ports_that_can_do_it() {
        assert_eq!(spread(BTreeMap::from([(0b1111, 12), (0b0110, 6)])), [4.5; 4]);
        assert_eq!(spread(BTreeMap::from([(0b1111, 4), (0b0110, 12)])), [2.0, 6.0, 6.0, 2.0]);
        assert_eq!(spread(BTreeMap::new()), [0.0; 0]);
        let by_ports = BTreeMap::from([(0b0011, 3), (0b0110, 5), (0b1000, 1)]);
        assert_eq!(unions(by_ports.keys().copied()).len(), 7);
        assert_eq!(spread(by_ports)[3], 1.0);
    }

    #[test]
    fn the_longest_queue_is_the_bound() {
        let target = isa::find("avx2").expect("a target");
        let unit = isa::cpu::find("zen4").and_then(|cpu| cpu.unit(target)).expect("a unit");
        let work = Workload::of(&program(), target);
        let bound = work.bound(unit);
        let total: f64 = bound.ports.iter().sum();
        assert_eq!(total, work.computing.values().sum::<u64>() as f64);
        assert_eq!((bound.resources[0].1, &bound.resources[0].0), (bound.cycles, &bound.by));
        assert!(bound.ports.iter().all(|port| *port <= bound.cycles + 1e-9), "{bound:?}");
    }
}
