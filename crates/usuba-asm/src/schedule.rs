//! Instruction scheduling: list scheduling of straight code on the ports of a processor.
//!
//! ```text
//! a1 = x ^ k; b1 = a1 <<< 7; a2 = y ^ k; b2 = a2 <<< 7     two chains, in turns:
//! a1 = x ^ k; a2 = y ^ k; b1 = a1 <<< 7; b2 = a2 <<< 7
//! ```
//!
//! A cycle begins the ready instructions with the longest paths behind them, as ports and the
//! width of the processor allow, among a window of the order that the passes left: a path across
//! a whole body would raise register pressure. At the limit of live registers the instruction that
//! frees most goes first. Under bitslicing, where far more values are alive than there are registers,
//! that rule holds from the start.
//!
//! *Reference:* Gibbons, Muchnick 1986 (list scheduling); Goodman, Hsu 1988 (with a limit on live
//! registers).

use usuba::isa::cpu::Unit;

use crate::code::{Code, Inst, Item, Kind, Value, reads};

/// A rule of scheduling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The order of the passes.
    Source,
    /// Longest paths first, in a window of this many instructions.
    Paths(u32),
    /// Least register pressure first, in such a window.
    Pressure(u32),
}

/// Orders the instructions of every straight item; `regs` registers hold values.
pub fn schedule(code: &mut Code, unit: &Unit, regs: usize, rule: Rule) {
    if rule == Rule::Source {
        return;
    }
    let mut all = vec![0u32; code.homes.len()];
    reads(&code.items, &mut |v| all[v.at()] += 1);
    let mut items = std::mem::take(&mut code.items);
    each(&mut items, &mut |insts| *insts = ordered(code, insts, &all, unit, regs, rule));
    code.items = items;
}

fn each(items: &mut [Item], order: &mut impl FnMut(&mut Vec<Inst>)) {
    for item in items {
        match item {
            Item::Straight(insts) => order(insts),
            Item::Loop(l) => each(&mut l.body, order),
        }
    }
}

/// The facts about an instruction.
struct Node {
    latency: u32,
    /// Ports that run it; zero for a store.
    ports: u16,
    /// Cycles from its beginning to the end of the longest path.
    path: u32,
    successors: Vec<u32>,
    /// Operands that are not ready.
    waits: u32,
    /// The first cycle in which all operands are ready.
    ready: u32,
}

fn nodes(code: &Code, insts: &[Inst], unit: &Unit) -> Vec<Node> {
    let mut made: rustc_hash::FxHashMap<Value, u32> = rustc_hash::FxHashMap::default();
    let mut nodes: Vec<Node> = Vec::with_capacity(insts.len());
    for (at, inst) in insts.iter().enumerate() {
        let (latency, ports) = match inst.kind {
            Kind::Op { form, .. } => {
                let form = &code.forms[form as usize];
                let figure = unit.figure(form.inst, form.lane);
                // A cycle more than the latency leaves room for loads and for wrong guesses.
                figure.map_or((2, u16::MAX), |f| (u32::from(f.latency) + 1, f.ports))
            }
            Kind::Store(_) => (1, 0),
        };
        let mut waits = 0;
        for (i, arg) in inst.args.iter().enumerate() {
            if inst.args[..i].contains(arg) {
                continue;
            }
            if let Some(&from) = made.get(arg) {
                nodes[from as usize].successors.push(at as u32);
                waits += 1;
            }
        }
        if let Some(dst) = inst.dst {
            made.insert(dst, at as u32);
        }
        nodes.push(Node { latency, ports, path: 0, successors: Vec::new(), waits, ready: 0 });
    }
    for at in (0..nodes.len()).rev() {
        let longest = nodes[at].successors.iter().map(|&s| nodes[s as usize].path).max();
        nodes[at].path = nodes[at].latency + longest.unwrap_or(0);
    }
    nodes
}

/// The instructions in the order of a rule; `all` has the reads of values in the whole function.
fn ordered(
    code: &Code,
    insts: &[Inst],
    all: &[u32],
    unit: &Unit,
    regs: usize,
    rule: Rule,
) -> Vec<Inst> {
    let mut nodes = nodes(code, insts, unit);
    let (window, limit) = match rule {
        Rule::Source => return insts.to_vec(),
        Rule::Paths(window) => (window as usize, regs.saturating_sub(2)),
        Rule::Pressure(window) => (window as usize, 0),
    };
    // Reads that are to come, and reads by other items.
    let mut left: rustc_hash::FxHashMap<Value, u32> = rustc_hash::FxHashMap::default();
    for &arg in insts.iter().flat_map(|inst| &inst.args) {
        left.entry(arg).or_insert(all[arg.at()]);
    }
    let needs_register = |v: &Value| code.home(*v).is_none();
    let mut live = left.keys().filter(|v| needs_register(v)).count();
    for inst in insts {
        // A value of this item is not alive before its definition.
        live -= inst.dst.is_some_and(|dst| left.contains_key(&dst)) as usize;
    }
    // The change of register pressure.
    let delta = |inst: &Inst, left: &rustc_hash::FxHashMap<Value, u32>| {
        let used = inst.dst.is_some_and(|dst| all[dst.at()] > 0);
        let mut freed = 0;
        for (i, arg) in inst.args.iter().enumerate() {
            let times = inst.args.iter().filter(|other| *other == arg).count() as u32;
            let first = !inst.args[..i].contains(arg);
            freed += i32::from(first && needs_register(arg) && left[arg] == times);
        }
        i32::from(used) - freed
    };
    let mut ready: Vec<u32> =
        (0..nodes.len() as u32).filter(|&at| nodes[at as usize].waits == 0).collect();
    let mut done = vec![false; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let (mut cycle, mut first) = (0, 0);
    while order.len() < nodes.len() {
        let mut ports = u16::MAX;
        let (mut begun, mut stored) = (0, false);
        while begun < unit.issue {
            while first < nodes.len() && done[first] {
                first += 1;
            }
            let pressed = live >= limit;
            let mut best: Option<((i32, u32, u32), usize)> = None;
            for (place, &at) in ready.iter().enumerate() {
                let node = &nodes[at as usize];
                let far = at as usize >= first + window;
                let busy = node.ports & ports == 0 && node.ports != 0 || node.ports == 0 && stored;
                if far || node.ready > cycle || busy {
                    continue;
                }
                let freed = if pressed { delta(&insts[at as usize], &left) } else { 0 };
                let path = if limit == 0 { 0 } else { u32::MAX - node.path };
                let key = (freed, path, at);
                if best.is_none_or(|(known, _)| key < known) {
                    best = Some((key, place));
                }
            }
            let Some((_, place)) = best else { break };
            let at = ready.swap_remove(place) as usize;
            let node = &nodes[at];
            match node.ports & ports {
                0 => stored = true,
                free => ports &= !(1 << free.trailing_zeros()),
            }
            let end = cycle + node.latency;
            let inst = &insts[at];
            for (i, arg) in inst.args.iter().enumerate() {
                let count = left.get_mut(arg).expect("its reads are counted");
                *count -= 1;
                let last = *count == 0 && !inst.args[i + 1..].contains(arg);
                live -= usize::from(last && needs_register(arg));
            }
            live += usize::from(inst.dst.is_some_and(|dst| all[dst.at()] > 0));
            done[at] = true;
            order.push(at);
            begun += 1;
            for successor in std::mem::take(&mut nodes[at].successors) {
                let node = &mut nodes[successor as usize];
                node.waits -= 1;
                node.ready = node.ready.max(end);
                if node.waits == 0 {
                    ready.push(successor);
                }
            }
        }
        cycle += 1;
    }
    order.into_iter().map(|at| insts[at].clone()).collect()
}
