//! Inlining: replaces calls by the bodies of their callees.
//!
//! ```text
//! t = sbox(x);          t = ~x;
//! y = t ^ k;       →    y = t ^ k;
//! ```
//!
//! Sound because nodes are pure and a call means the callee's body on the arguments.
//! Requires callees before callers: each callee is already rewritten when a caller inlines it. The
//! pass renames arguments and results, so no copies arise.
//! Under bitslicing, calls of likely S-boxes stay until scheduling is done, which moves whole
//! S-boxes: `inline-rest` inlines them afterwards (see `waits`).
//! Limits: does not remove nodes that are no longer called (`dce` does), and does not let loops
//! nest deeper than `DEEPEST`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::rename::{Scope, Writer};
use super::{LARGEST_NODE, Pass, PassOptions, size};
use crate::ir::{Eqn, Inline, Node, NodeId, Program, Slicing, Val};

/// Which calls are inlined.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Mode {
    /// All but `_no_inline`, smallest growth first, while the caller stays below
    /// `COMFORTABLE_NODE` equations; `_inline` always.
    #[default]
    Auto,
    /// All, also `_no_inline`.
    All,
    None,
    /// `_inline` only.
    Light,
    /// All but `_no_inline`, regardless of the size.
    Heavy,
}

pub const PASS: Pass =
    Pass { name: "inline", about: "replace calls by the body of the callee", run };

/// Above this size C compilers take minutes, and the code outgrows the instruction cache anyway.
pub const COMFORTABLE_NODE: u64 = 60_000;

/// Later stages traverse loops recursively.
const DEEPEST: usize = 256;

/// Largest number of inputs and outputs of an S-box together. The largest known ones have 8 and 8;
/// masked and combined ones a few more.
const BOX_PORTS: usize = 31;

/// Nodes with fewer equations are additions of a constant or a key.
const BOX_EQUATIONS: u64 = 10;

fn run(program: &mut Program, options: &PassOptions) {
    let waits = waits(program, options.inline);
    inline(program, options, |callee| !waits[callee]);
}

/// For each node whether its calls wait for `inline-rest`: bitsliced nodes that look like an S-box,
/// which are not too wide, no permutation, and not small; see the constants above. A node that the
/// options do not inline does not wait.
pub fn waits(program: &Program, mode: Mode) -> Vec<bool> {
    let bits = program.is_bitsliced();
    let wait = |node: &Node| {
        let may = match mode {
            _ if matches!(node.inline, Inline::Kernel | Inline::Instruction) => false,
            Mode::None => false,
            Mode::Light => node.inline == Inline::Always,
            Mode::Auto | Mode::Heavy => node.inline != Inline::Never,
            Mode::All => true,
        };
        may && bits && is_box(node, program.slicing)
    };
    program.nodes.iter().map(wait).collect()
}

/// Whether a node looks like an S-box.
fn is_box(node: &Node, slicing: Slicing) -> bool {
    let inputs = node.arity(slicing);
    let size = size(&node.body);
    // Results that the node does not compute: parameters, and repetitions of another result.
    let mut seen: FxHashSet<Val> = (0..inputs as u32).map(Val).collect();
    let copies = node.outs.iter().filter(|&&out| !seen.insert(out)).count() as u64;
    inputs + node.outs.len() <= BOX_PORTS && size >= BOX_EQUATIONS && copies * 7 <= size * 13
}

/// Inlines the calls that the options allow, of the nodes for which `now` says so.
pub(super) fn inline(program: &mut Program, options: &PassOptions, now: impl Fn(usize) -> bool) {
    if options.inline == Mode::None {
        return;
    }
    let mut facts: Vec<Facts> = Vec::with_capacity(program.nodes.len());
    for index in 0..program.nodes.len() {
        let (callees, rest) = program.nodes.split_at_mut(index);
        let node = &mut rest[0];
        // A call that waits counts as its body, which it becomes.
        let mut chosen = choose(callees, &facts, node, options.inline);
        chosen.iter_mut().enumerate().for_each(|(callee, chosen)| *chosen &= now(callee));
        if chosen.iter().any(|&c| c) {
            *node = rewrite(callees, node, program.slicing, &chosen);
        }
        let full =
            full_size(&node.body, &|callee| if now(callee) { 1 } else { facts[callee].size });
        facts.push(Facts { size: full, nesting: nesting(&node.body) });
    }
}

/// As `size`, with `of(callee)` for each call. Saturates.
pub(super) fn full_size(eqns: &[Eqn], of: &impl Fn(usize) -> u64) -> u64 {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Op(_) => 1,
        Eqn::Call(call) => of(call.node.0 as usize),
        Eqn::Loop(lp) => 1 + full_size(&lp.body, of),
    };
    eqns.iter().map(one).fold(0, u64::saturating_add)
}

struct Facts {
    size: u64,
    /// Number of loops around the innermost equation.
    nesting: usize,
}

fn nesting(eqns: &[Eqn]) -> usize {
    let inner = |eqn: &Eqn| match eqn {
        Eqn::Loop(lp) => 1 + nesting(&lp.body),
        _ => 0,
    };
    eqns.iter().map(inner).max().unwrap_or(0)
}

/// For each possible callee whether its calls in `node` are inlined.
fn choose(callees: &[Node], facts: &[Facts], node: &Node, mode: Mode) -> Vec<bool> {
    let mut calls = FxHashMap::default();
    count_calls(&node.body, &mut calls);
    // Growth, callee, forced; sorted, so the order of the map does not matter.
    let mut candidates: Vec<(u64, NodeId, bool)> = calls
        .into_iter()
        .filter_map(|(id, times): (NodeId, u64)| {
            let wanted = match (mode, callees[id.0 as usize].inline) {
                (Mode::None, _) | (_, Inline::Kernel | Inline::Instruction) => return None,
                (Mode::All, _) | (_, Inline::Always) => true,
                (Mode::Heavy, Inline::Auto) => true,
                (Mode::Auto, Inline::Auto) => false,
                (Mode::Light, Inline::Auto) | (_, Inline::Never) => return None,
            };
            let growth = facts[id.0 as usize].size.saturating_mul(times);
            Some((growth, id, wanted))
        })
        .collect();
    candidates.sort_unstable_by_key(|&(growth, id, forced)| (!forced, growth, id));
    let mut chosen = vec![false; callees.len()];
    let mut total = size(&node.body);
    let mut nested = nesting(&node.body);
    for (growth, id, forced) in candidates {
        let limit = if forced { LARGEST_NODE } else { COMFORTABLE_NODE };
        let deeper = nested + facts[id.0 as usize].nesting;
        // A body that is empty or one equation replaces its call at no cost.
        let fits = total.saturating_add(growth) <= limit || facts[id.0 as usize].size <= 1;
        if fits && deeper <= DEEPEST {
            chosen[id.0 as usize] = true;
            total = total.saturating_add(growth);
            nested = nested.max(deeper);
        }
    }
    chosen
}

fn count_calls(eqns: &[Eqn], calls: &mut FxHashMap<NodeId, u64>) {
    for eqn in eqns {
        match eqn {
            Eqn::Op(_) => {}
            Eqn::Call(call) => *calls.entry(call.node).or_insert(0) += 1,
            Eqn::Loop(lp) => count_calls(&lp.body, calls),
        }
    }
}

fn rewrite(callees: &[Node], node: &Node, slicing: Slicing, chosen: &[bool]) -> Node {
    let params: Vec<Val> = (0..node.arity(slicing) as u32).map(Val).collect();
    let mut scope = Scope::new(node, &params);
    let mut writer = Writer::new(node, params.len());
    let mut body = Vec::new();
    block(&mut writer, &mut scope, callees, chosen, &node.body, &mut body);
    let outs = scope.all(&node.outs);
    writer.finish(node, body, outs)
}

/// Writes `eqns`; calls to chosen callees become their bodies, in which `chosen` is empty.
fn block<'a>(
    w: &mut Writer,
    scope: &mut Scope<'a>,
    callees: &'a [Node],
    chosen: &[bool],
    eqns: &[Eqn],
    out: &mut Vec<Eqn>,
) {
    for eqn in eqns {
        match eqn {
            Eqn::Op(e) => out.push(w.op(scope, e)),
            Eqn::Call(call) if chosen.get(call.node.0 as usize) == Some(&true) => {
                let callee = &callees[call.node.0 as usize];
                let mut inner = Scope::new(callee, &scope.all(&call.args));
                block(w, &mut inner, callees, &[], &callee.body, out);
                for (&dst, &value) in call.dsts.iter().zip(&callee.outs) {
                    scope.set(dst, inner.get(value));
                }
            }
            Eqn::Call(call) => out.push(w.call(scope, call)),
            Eqn::Loop(lp) => out.push(w.lp(scope, lp, |w, scope| {
                let mut body = Vec::new();
                block(w, scope, callees, chosen, &lp.body, &mut body);
                body
            })),
        }
    }
}
