//! Loop unrolling, full or partial: replaces iterations by copies of the loop body.
//!
//! ```text
//! forall i in [0,1] {          t1 = k[0];
//!   t := k[i];            →    s1 = s ^ k[0];
//!   s := s ^ t;                s2 = s1 ^ k[1];
//! }
//! ```
//!
//! Sound because a loop means its body once per iteration, with the loop-carried values handed on.
//! Requires nothing. Decides from the innermost loop outwards: the size of a loop counts the code
//! that remains of the loops inside it.
//! Partial unrolling applies to a loop whose loop-carried values only change places, as the halves
//! of a Feistel network do: after two rounds each half is where it was, and no value moves. It also
//! applies to a short bitsliced round whose state does not fit in registers, and to every loop if
//! the user names an unroll factor. The remaining iterations follow the loop.
//! Limit: a node never grows beyond `LARGEST_NODE` equations.

use super::rename::{Scope, Writer};
use super::{LARGEST_NODE, Pass, PassOptions, inline};
use crate::ir::{Carried, Collect, Eqn, Loop, Node, Program, Read, Slicing, Val};

/// Which loops are unrolled.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Mode {
    /// Of the loops without a request to keep them: loops of at most 64 equations in total (the
    /// machine may say more), loops of at most 1000 inside a loop whose body stays below 4000, and all
    /// loops of one iteration.
    /// Loops that move loop-carried values are partially unrolled, and so are short bitsliced
    /// rounds that carry more values than there are registers.
    #[default]
    Auto,
    /// As `Auto`, with this unroll factor for each remaining innermost loop that the program does
    /// not ask to keep.
    Rounds(u32),
    /// All loops, also those that the program asks to keep.
    All,
    None,
}

pub const PASS: Pass =
    Pass { name: "unroll", about: "replace loops by one copy of their body per iteration", run };

/// The largest body of a loop in which `Mode::Auto` leaves no loops. The S-boxes of one round and
/// the linear layer after them then become one block, in which values need not go through
/// arrays; a few thousand equations still fit in the instruction cache, once for all rounds.
const ROUND: u64 = 4000;

/// The largest total size of a loop that is unrolled in such a body. The S-boxes of AES are larger:
/// as a loop they stay one block, for which C compilers allocate registers well.
const LAYER: u64 = 1000;

/// The largest body of two bitsliced rounds that `Mode::Auto` joins where the loop-carried values
/// are spilled. This halves the spills and reloads of the state; the gain is up to a third. Two
/// rounds of Ascon are larger, and take half as long again.
const PAIR: u64 = 1000;

/// Largest unroll factor for a loop whose loop-carried values change places.
const MOST_TURNS: u32 = 8;

fn run(program: &mut Program, options: &PassOptions) {
    if options.unroll == Mode::None {
        return;
    }
    // A call that waits for `inline-rest` counts as the body that it becomes.
    let waits = inline::waits(program, options.inline);
    let bits = program.is_bitsliced();
    let mut sizes: Vec<u64> = Vec::with_capacity(program.nodes.len());
    for (index, node) in program.nodes.iter_mut().enumerate() {
        let full = inline::full_size(&node.body, &|callee| sizes[callee]);
        let machine = &options.machine;
        let (regs, tiny) = (machine.regs as usize, machine.straight[usize::from(bits)] as u64);
        let rule = Rule { mode: options.unroll, bits, regs, tiny, sizes: &sizes };
        let (plans, _) = rule.plan(&node.body, 0, false);
        sizes.push(if waits[index] { full } else { 1 });
        if plans.iter().any(Plan::changes) {
            *node = rewrite(node, program.slicing, &plans);
        }
    }
}

/// The decision for one loop and for the loops in its body, in order.
struct Plan {
    unroll: bool,
    /// Unroll factor of a loop that is not fully unrolled.
    turns: u32,
    inner: Vec<Plan>,
}

impl Plan {
    fn changes(&self) -> bool {
        self.unroll || self.turns > 1 || self.inner.iter().any(Plan::changes)
    }
}

/// The inputs of the decision.
struct Rule<'a> {
    mode: Mode,
    /// Whether the program is bitsliced.
    bits: bool,
    /// Registers of the machine.
    regs: usize,
    /// The largest total size of a loop that `Mode::Auto` unrolls.
    tiny: u64,
    /// The size that a call of each node counts as.
    sizes: &'a [u64],
}

impl Rule<'_> {
    /// The plans of the loops in a block and the size of the block once they are carried out, when
    /// `before` equations of the node come before the block. `enclosed` says that the block is the
    /// body of a loop, or part of it, and that this body is small enough to be one straight line.
    fn plan(&self, eqns: &[Eqn], before: u64, enclosed: bool) -> (Vec<Plan>, u64) {
        let mut plans = Vec::new();
        let mut size = 0u64;
        for eqn in eqns {
            let lp = match eqn {
                Eqn::Op(_) => {
                    size += 1;
                    continue;
                }
                Eqn::Call(call) => {
                    size += self.sizes[call.node.0 as usize];
                    continue;
                }
                Eqn::Loop(lp) => lp,
            };
            let round = enclosed || straight(&lp.body, self.sizes) <= ROUND;
            let (inner, body) = self.plan(&lp.body, before + size, round);
            let count = lp.count as u64;
            let unrolled = body.saturating_mul(count);
            let wanted = match self.mode {
                Mode::All => true,
                Mode::None => false,
                _ if lp.keep => count == 1,
                Mode::Auto | Mode::Rounds(_) => {
                    count == 1
                        || unrolled <= if enclosed { LAYER.max(self.tiny) } else { self.tiny }
                }
            };
            // Writing an iteration costs time even if its body is empty, hence the one.
            let cost = |times: u64| (body + 1).saturating_mul(times).saturating_add(before + size);
            let mut unroll = wanted && cost(count) <= LARGEST_NODE;
            let mut turns = if unroll { 1 } else { self.turns(lp, body, &inner) };
            let times = written(lp.count, turns);
            if cost(times) > LARGEST_NODE {
                turns = 1;
            }
            // A loop that runs once is none.
            unroll |= lp.count / turns <= 1;
            size += if unroll { unrolled } else { body * written(lp.count, turns) + 1 };
            plans.push(Plan { unroll, turns, inner });
        }
        (plans, size)
    }

    /// Unroll factor of a loop that is not fully unrolled; `body` is the size of one iteration, and
    /// `inner` has the plans of the loops in it.
    fn turns(&self, lp: &Loop, body: u64, inner: &[Plan]) -> u32 {
        let innermost = inner.iter().all(|plan| plan.unroll);
        match self.mode {
            _ if lp.keep => 1,
            Mode::Rounds(rounds) if innermost => rounds.clamp(1, lp.count.max(1)),
            Mode::Auto => {
                let in_memory = self.bits && lp.carried.len() > self.regs;
                match roles(lp, body) {
                    1 if innermost && in_memory && 2 * body <= PAIR => 2.min(lp.count.max(1)),
                    roles => roles,
                }
            }
            _ => 1,
        }
    }
}

/// How often the unrolled code contains the body of a loop with unroll factor `turns`: once per
/// unrolled iteration, and once per remaining iteration after the loop.
fn written(count: u32, turns: u32) -> u64 {
    u64::from(turns) + u64::from(count % turns)
}

/// The number of iterations after which every loop-carried value is back in its own place or newly
/// computed, or one if that takes too long or makes the body too large. `body` is the size of one
/// iteration.
fn roles(lp: &Loop, body: u64) -> u32 {
    let at = |v| lp.carried.iter().position(|c| c.param == v);
    let moves: Vec<Option<usize>> = lp.carried.iter().map(|c| at(c.next)).collect();
    // For each loop-carried value its source some turns before, or `None` if it is new.
    let mut from: Vec<Option<usize>> = (0..moves.len()).map(Some).collect();
    for turns in 1..=MOST_TURNS {
        from = moves.iter().map(|&source| source.and_then(|j| from[j])).collect();
        let moved = from.iter().enumerate().any(|(i, &j)| j.is_some_and(|j| j != i));
        if !moved {
            let fits = body * written(lp.count, turns) <= ROUND;
            return if fits && lp.count > turns { turns } else { 1 };
        }
    }
    1
}

/// The size of a block without the loops that may be unrolled. Saturates.
fn straight(eqns: &[Eqn], sizes: &[u64]) -> u64 {
    let one = |eqn: &Eqn| match eqn {
        Eqn::Op(_) => 1,
        Eqn::Call(call) => sizes[call.node.0 as usize],
        Eqn::Loop(lp) if lp.keep && lp.count > 1 => straight(&lp.body, sizes).saturating_add(1),
        Eqn::Loop(lp) => straight(&lp.body, sizes).saturating_mul(lp.count as u64),
    };
    eqns.iter().map(one).fold(0, u64::saturating_add)
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
                    let carried = lp.carried.iter().map(|c| scope.get(c.init)).collect();
                    iterations(w, scope, lp, 0, carried, &plan.inner, out);
                } else if plan.turns > 1 {
                    in_turns(w, scope, lp, plan.turns as usize, &plan.inner, out);
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

/// The iterations of a loop from number `from` on, in sequence; `carried` has the loop-carried
/// values at the start of iteration `from`.
fn iterations(
    w: &mut Writer,
    scope: &mut Scope,
    lp: &Loop,
    from: usize,
    mut carried: Vec<Val>,
    inner: &[Plan],
    out: &mut Vec<Eqn>,
) {
    for k in from..lp.count as usize {
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

/// A loop with unroll factor `turns`, which leaves at least two iterations; the remaining
/// iterations follow the loop.
fn in_turns(
    w: &mut Writer,
    scope: &mut Scope,
    lp: &Loop,
    turns: usize,
    inner: &[Plan],
    out: &mut Vec<Eqn>,
) {
    let count = lp.count / turns as u32;
    let whole = count as usize * turns;
    let inits = lp.carried.iter().map(|c| scope.get(c.init)).collect::<Vec<_>>();
    let lists = lp.reads.iter().map(|r| scope.all(&r.list[..whole])).collect::<Vec<_>>();
    let params = lp.carried.iter().map(|c| w.define(scope, c.param)).collect::<Vec<_>>();
    let mut next = params.clone();
    let (mut reads, mut body) = (Vec::new(), Vec::new());
    // For each turn the values that are collected.
    let mut values: Vec<Vec<Val>> = Vec::with_capacity(turns);
    for turn in 0..turns {
        for (c, &value) in lp.carried.iter().zip(&next) {
            scope.set(c.param, value);
        }
        for (read, list) in lp.reads.iter().zip(&lists) {
            let list = list.iter().copied().skip(turn).step_by(turns).collect();
            reads.push(Read { dst: w.define(scope, read.dst), list });
        }
        block(w, scope, &lp.body, inner, &mut body);
        values.push(lp.collects.iter().map(|c| scope.get(c.value)).collect());
        next = lp.carried.iter().map(|c| scope.get(c.next)).collect();
    }
    let mut carried = Vec::with_capacity(lp.carried.len());
    for (i, c) in lp.carried.iter().enumerate() {
        let result = w.define(scope, c.result);
        carried.push(Carried { param: params[i], init: inits[i], next: next[i], result });
    }
    let mut collects = Vec::with_capacity(lp.collects.len() * turns);
    for (i, c) in lp.collects.iter().enumerate() {
        let results: Vec<Val> = c.results[..whole].iter().map(|&v| w.define(scope, v)).collect();
        for (turn, values) in values.iter().enumerate() {
            let results = results.iter().copied().skip(turn).step_by(turns).collect();
            collects.push(Collect { value: values[i], results });
        }
    }
    let results = carried.iter().map(|c| c.result).collect();
    out.push(Eqn::Loop(Box::new(Loop { count, carried, reads, body, collects, keep: lp.keep })));
    iterations(w, scope, lp, whole, results, inner, out);
}
