//! How much work a kernel is: operators of one call, and values that are alive at once.

use std::collections::BTreeMap;
use std::fmt;

use crate::ir::{Eqn, Node, Op, Program, Val};
use crate::target::{Layout, Target, select};

/// Counts for one call of the entry: a loop counts as often as it runs, a node as often as it is
/// called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Operators by kind, without literals and copies.
    pub operations: BTreeMap<&'static str, u64>,
    /// Instructions of the target for them, before the C compiler joins any.
    pub instructions: u64,
    /// The most values that are alive at once in one node, memory operands not counted apart.
    pub live: usize,
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<String> =
            self.operations.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let kinds = if kinds.is_empty() { "none".to_string() } else { kinds.join(", ") };
        write!(f, "{kinds}; {} instructions; {} values alive", self.instructions, self.live)
    }
}

/// Counts the operators of `program` and their instructions on `target`.
pub fn stats(program: &Program, target: &Target, layout: Layout) -> Stats {
    let mut per_node: Vec<Stats> = Vec::new();
    let mut costs = Costs { target, layout, known: BTreeMap::new() };
    for node in &program.nodes[..=program.entry.0 as usize] {
        let mut stats = Stats { live: max_live(node), ..Stats::default() };
        count(node, &node.body, 1, &per_node, &mut costs, &mut stats);
        per_node.push(stats);
    }
    per_node.pop().expect("the entry is a node")
}

/// Instructions of each operator, asked once.
struct Costs<'t> {
    target: &'t Target,
    layout: Layout,
    known: BTreeMap<String, u64>,
}

impl Costs<'_> {
    fn of(&mut self, op: &Op, bits: u8) -> u64 {
        // The bitwise operators are most of every program and need no look-up.
        if matches!(op, Op::And | Op::Or | Op::Xor) {
            return 1;
        }
        let (target, layout) = (self.target, self.layout);
        let ask = || {
            select(target, layout, op, bits, false).map_or(0, |selected| selected.count() as u64)
        };
        *self.known.entry(format!("{op:?} {bits}")).or_insert_with(ask)
    }
}

fn count(
    node: &Node,
    body: &[Eqn],
    times: u64,
    callees: &[Stats],
    costs: &mut Costs,
    stats: &mut Stats,
) {
    for eqn in body {
        match eqn {
            Eqn::Op(eqn) => {
                if let Some(kind) = kind(&eqn.op) {
                    *stats.operations.entry(kind).or_default() += times;
                    stats.instructions += times * costs.of(&eqn.op, node.bits_of(eqn.dst));
                }
            }
            Eqn::Call(call) => {
                let callee = &callees[call.node.0 as usize];
                for (kind, count) in &callee.operations {
                    *stats.operations.entry(kind).or_default() += times * count;
                }
                stats.instructions += times * callee.instructions;
                stats.live = stats.live.max(callee.live);
            }
            Eqn::Loop(l) => {
                count(node, &l.body, times * l.count as u64, callees, costs, stats);
            }
        }
    }
}

fn kind(op: &Op) -> Option<&'static str> {
    Some(match op {
        Op::Const(_) | Op::Copy => return None,
        Op::Not => "not",
        Op::And => "and",
        Op::Or => "or",
        Op::Xor => "xor",
        Op::Andn => "andn",
        Op::Lut3(_) => "lut3",
        Op::Add => "add",
        Op::Sub => "sub",
        Op::Mul => "mul",
        Op::Shl(_) | Op::Shr(_) | Op::Sar(_) => "shift",
        Op::Rotl(_) => "rotate",
        Op::Shuffle(_) => "shuffle",
        Op::Bitmask(_) => "bitmask",
        Op::Pack => "pack",
        Op::Lookup(_) => "lookup",
    })
}

/// The most values alive at once. Parameters are in memory until their first use; literals do
/// not count.
fn max_live(node: &Node) -> usize {
    let mut alive = vec![false; node.bits.len()];
    let mut now = 0;
    let mut most = 0;
    for &out in &node.outs {
        now += !std::mem::replace(&mut alive[out.0 as usize], true) as usize;
    }
    live_before(&node.body, &mut alive, &mut now, &mut most);
    most
}

/// Walks backwards: definitions end a life, reads begin one.
fn live_before(body: &[Eqn], alive: &mut [bool], now: &mut usize, most: &mut usize) {
    fn begin(v: Val, alive: &mut [bool], now: &mut usize) {
        *now += !std::mem::replace(&mut alive[v.0 as usize], true) as usize;
    }
    fn end(v: Val, alive: &mut [bool], now: &mut usize) {
        *now -= std::mem::replace(&mut alive[v.0 as usize], false) as usize;
    }
    *most = (*most).max(*now);
    for eqn in body.iter().rev() {
        match eqn {
            Eqn::Op(op) => {
                end(op.dst, alive, now);
                op.args.iter().for_each(|&a| begin(a, alive, now));
            }
            Eqn::Call(call) => {
                call.dsts.iter().for_each(|&d| end(d, alive, now));
                call.args.iter().for_each(|&a| begin(a, alive, now));
            }
            Eqn::Loop(l) => {
                let results = l.carried.iter().map(|c| c.result);
                let collected = l.collects.iter().flat_map(|c| c.results.iter().copied());
                results.chain(collected).for_each(|r| end(r, alive, now));
                let nexts = l.carried.iter().map(|c| c.next);
                nexts.chain(l.collects.iter().map(|c| c.value)).for_each(|v| begin(v, alive, now));
                live_before(&l.body, alive, now, most);
                let own = l.carried.iter().map(|c| c.param).chain(l.reads.iter().map(|r| r.dst));
                own.for_each(|v| end(v, alive, now));
                let outer = l.carried.iter().map(|c| c.init);
                outer
                    .chain(l.reads.iter().flat_map(|r| r.list.iter().copied()))
                    .for_each(|v| begin(v, alive, now));
            }
        }
        *most = (*most).max(*now);
    }
}
