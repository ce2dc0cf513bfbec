//! Technology mapping (LUT covering): covers operators on bits by few instructions of the target.
//!
//! ```text
//! t = a & b;
//! y = t ^ c;        →    y = lut3(0x6a, c, a, b);      where there is ternary logic
//! t = ~a;
//! y = t & b;        →    y = ~a & b as one             where there is andn
//! ```
//!
//! For every equation the pass keeps a few *cuts*: sets of at most three values from which one
//! instruction computes it. It chooses one cut per equation by its share of the instructions below
//! it. Then it revisits equations with the exact number of instructions that another cut would
//! save. Existing ternary logic is an equation like the others, so good circuits stay.
//!
//! Sound because a cut carries the table of its function, made from the tables of the operators.
//! Requires nothing; finds more after `inline` and `unroll`. An instruction stands where the last
//! equation that it replaces stood, so the schedule stays.
//! A block that would not get shorter stays as it is. Limit: cuts do not cross loops, calls and
//! operators that move bits.

use super::logic::{Logic, OPERANDS};
use super::{Pass, PassOptions};
use crate::ir::{Eqn, Loop, Node, Op, OpEqn, Program, Val};

pub const PASS: Pass =
    Pass { name: "fuse", about: "cover operators on bits by instructions of the target", run };

/// Cuts kept per equation.
const KEPT: usize = 8;

/// Cuts of each operand that are examined for an equation of three operands.
const FEW: usize = 5;

/// Times that the choice is revisited.
const ROUNDS: usize = 4;

/// The prices of an instruction of two operands and of one of three: they cost the same, but
/// shorter code wins ties.
const PLAIN: u64 = 16;
const TERNARY: u64 = 17;

/// Shares of instructions are multiples of this part of `PLAIN`.
const SHARE: u64 = 64;

fn run(program: &mut Program, options: &PassOptions) {
    for node in &mut program.nodes {
        let outs = node.outs.clone();
        let mut body = std::mem::take(&mut node.body);
        block(node, &mut body, &outs, options.logic);
        node.body = body;
    }
}

/// Covers one straight list of equations; `wanted` are values with readers outside of it.
fn block(node: &Node, eqns: &mut Vec<Eqn>, wanted: &[Val], logic: Logic) {
    for eqn in eqns.iter_mut() {
        if let Eqn::Loop(lp) = eqn {
            let wanted = ends(lp);
            block(node, &mut lp.body, &wanted, logic);
        }
    }
    let mut cover = Cover::new(node, eqns, wanted, logic);
    cover.first_choice(eqns);
    cover.count();
    for _ in 0..ROUNDS {
        if !cover.improve() {
            break;
        }
    }
    cover.emit(eqns);
}

fn ends(lp: &Loop) -> Vec<Val> {
    let carried = lp.carried.iter().map(|c| c.next);
    carried.chain(lp.collects.iter().map(|c| c.value)).collect()
}

/// Values in ascending order and the truth table of a function of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cut {
    leaves: [Val; 3],
    len: u8,
    /// Does not depend on operands beyond `len`.
    table: u8,
}

impl Cut {
    fn of(v: Val) -> Cut {
        Cut { leaves: [v, Val(0), Val(0)], len: 1, table: OPERANDS[0] }
    }

    fn leaves(&self) -> &[Val] {
        &self.leaves[..self.len as usize]
    }

    /// The leaves of both; the table of `self`, with the leaves of both.
    fn with(mut self, other: &Cut) -> Option<Cut> {
        for &leaf in other.leaves() {
            let at = self.leaves().partition_point(|&l| l < leaf);
            if self.leaves().get(at) == Some(&leaf) {
                continue;
            }
            if self.len == 3 {
                return None;
            }
            self.leaves.copy_within(at..2, at + 1);
            self.leaves[at] = leaf;
            self.len += 1;
        }
        Some(self)
    }

    /// The table of `self` on the leaves of `whole`, which has all of them.
    fn table_on(&self, whole: &Cut) -> u8 {
        let place = |leaf: &Val| whole.leaves().iter().position(|l| l == leaf).expect("a leaf");
        let at: [usize; 3] = std::array::from_fn(|i| self.leaves().get(i).map_or(2, place));
        let bit = |row: u8, i: usize| row >> (2 - at[i]) & 1;
        (0..8u8)
            .filter(|&row| {
                let from = (0..self.len as usize).fold(0, |sum, i| sum | bit(row, i) << (2 - i));
                self.table >> from & 1 == 1
            })
            .fold(0, |table, row| table | 1 << row)
    }

    /// Without the leaves on which the table does not depend.
    fn reduced(mut self) -> Cut {
        let mut i = 0;
        while i < self.len as usize {
            let step = 4u8 >> i;
            let depends = (0..8).any(|r| (self.table >> r ^ self.table >> (r ^ step)) & 1 == 1);
            if depends {
                i += 1;
                continue;
            }
            let mut shorter = self;
            shorter.leaves.copy_within(i + 1.., i);
            shorter.len -= 1;
            // Row r of the shorter cut with any value of the leaf that goes.
            let low = step - 1;
            let row = |r: u8| {
                let high = (r & !(low << 1 | 1)) & 7;
                high | (r >> 1 & low)
            };
            shorter.table = (0..8u8)
                .filter(|&r| self.table >> row(r) & 1 == 1)
                .fold(0, |table, r| table | 1 << r);
            self = shorter;
        }
        self
    }
}

/// One equation on bits.
struct Gate {
    /// Where it is in the block.
    at: usize,
    dst: Val,
    /// Read outside of the gates of the block.
    wanted: bool,
    /// The number of its readers, gates and others.
    uses: u32,
    /// Share of the instructions below it and of its own, for each of its readers.
    flow: u64,
    /// The equation itself, then other cuts; each with the price of its instruction.
    cuts: Vec<(Cut, u64)>,
    chosen: usize,
    /// Readers under the present choice.
    needed: u32,
}

struct Cover<'a> {
    node: &'a Node,
    logic: Logic,
    gates: Vec<Gate>,
    /// The gate that makes a value; `NONE` if none of the block does.
    gate_of: Vec<u32>,
}

const NONE: u32 = u32::MAX;

fn is_gate(op: &Op) -> bool {
    op.is_bitwise() && !matches!(op, Op::Copy)
}

impl<'a> Cover<'a> {
    /// The gates of a block, with their readers.
    fn new(node: &'a Node, eqns: &[Eqn], wanted: &[Val], logic: Logic) -> Cover<'a> {
        let mut cover =
            Cover { node, logic, gates: Vec::new(), gate_of: vec![NONE; node.bits.len()] };
        for (at, eqn) in eqns.iter().enumerate() {
            match eqn {
                Eqn::Op(e) if is_gate(&e.op) => {
                    for &arg in &e.args {
                        if let Some(at) = cover.gate(arg) {
                            cover.gates[at].uses += 1;
                        }
                    }
                    cover.gate_of[e.dst.0 as usize] = cover.gates.len() as u32;
                    cover.gates.push(Gate {
                        at,
                        dst: e.dst,
                        wanted: false,
                        uses: 0,
                        flow: 0,
                        cuts: Vec::new(),
                        chosen: 0,
                        needed: 0,
                    });
                }
                _ => cover.want_operands(eqn),
            }
        }
        wanted.iter().for_each(|&v| cover.want(v));
        cover
    }

    fn gate(&self, v: Val) -> Option<usize> {
        let at = self.gate_of[v.0 as usize];
        (at != NONE).then_some(at as usize)
    }

    fn want(&mut self, v: Val) {
        if let Some(at) = self.gate(v) {
            let gate = &mut self.gates[at];
            gate.uses += u32::from(!gate.wanted);
            gate.wanted = true;
        }
    }

    fn want_operands(&mut self, eqn: &Eqn) {
        match eqn {
            Eqn::Op(e) => e.args.iter().for_each(|&v| self.want(v)),
            Eqn::Call(call) => call.args.iter().for_each(|&v| self.want(v)),
            Eqn::Loop(lp) => {
                lp.carried.iter().for_each(|c| self.want(c.init));
                lp.reads.iter().flat_map(|r| &r.list).for_each(|&v| self.want(v));
                lp.body.iter().for_each(|eqn| self.want_operands(eqn));
                ends(lp).into_iter().for_each(|v| self.want(v));
            }
        }
    }

    /// All cuts, and for each gate the one with the least share of instructions below it.
    fn first_choice(&mut self, eqns: &[Eqn]) {
        for i in 0..self.gates.len() {
            let Eqn::Op(e) = &eqns[self.gates[i].at] else { unreachable!("gates are operators") };
            let mut cuts = self.cuts(e);
            let flows: Vec<u64> = cuts
                .iter()
                .map(|(cut, price)| {
                    let below = cut.leaves().iter().filter_map(|&l| self.gate(l));
                    price * SHARE + below.map(|g| self.gates[g].flow).fold(0, u64::saturating_add)
                })
                .collect();
            let mut order: Vec<usize> = (1..cuts.len()).collect();
            order.sort_by_key(|&c| flows[c]);
            order.truncate(KEPT);
            order.insert(0, 0);
            cuts = order.iter().map(|&c| cuts[c]).collect();
            let best = (0..order.len()).min_by_key(|&c| flows[order[c]]).expect("itself");
            let gate = &mut self.gates[i];
            gate.flow = flows[order[best]] / u64::from(gate.uses.max(1));
            gate.cuts = cuts;
            gate.chosen = best;
        }
    }

    /// The cuts of an equation that are one instruction; first the equation as it is.
    fn cuts(&self, e: &OpEqn) -> Vec<(Cut, u64)> {
        let [x, y, _] = OPERANDS;
        let table = match e.op {
            Op::Not => !x,
            Op::And => x & y,
            Op::Or => x | y,
            Op::Xor => x ^ y,
            Op::Andn => !x & y,
            Op::Lut3(table) => table,
            _ => unreachable!("{:?} is no gate", e.op),
        };
        let bits = self.node.bits_of(e.dst);
        let seen = if e.args.len() == 3 { FEW } else { KEPT + 1 };
        let choices: Vec<Vec<Cut>> = e.args.iter().map(|&v| self.operand(v, seen)).collect();
        let mut parts: Vec<(Cut, [Cut; 3])> =
            choices[0].iter().map(|&cut| (cut, [cut; 3])).collect();
        for (i, more) in choices.iter().enumerate().skip(1) {
            let mut longer = Vec::with_capacity(parts.len() * more.len());
            for (whole, chosen) in &parts {
                for cut in more {
                    if let Some(whole) = whole.with(cut) {
                        let mut chosen = *chosen;
                        chosen[i] = *cut;
                        longer.push((whole, chosen));
                    }
                }
            }
            parts = longer;
        }
        let mut cuts: Vec<(Cut, u64)> = Vec::new();
        for (i, (whole, chosen)) in parts.into_iter().enumerate() {
            let words = chosen.map(|cut| u64::from(cut.table_on(&whole)));
            let table = Op::Lut3(table).eval(8, &words[..]) as u8;
            let whole = Cut { table, ..whole };
            let cut = whole.reduced();
            if i == 0 {
                cuts.push((whole, self.price(&e.op)));
                if cut == whole {
                    continue;
                }
            }
            let made = self.logic.instruction(cut.table, cut.leaves(), bits);
            if let Some((op, _)) = made
                && cuts[1..].iter().all(|(known, _)| *known != cut)
            {
                cuts.push((cut, self.price(&op)));
            }
        }
        cuts
    }

    fn price(&self, op: &Op) -> u64 {
        match op {
            Op::Lut3(_) => TERNARY,
            _ => PLAIN * self.logic.price(op),
        }
    }

    /// An operand itself, then its cuts.
    fn operand(&self, v: Val, seen: usize) -> Vec<Cut> {
        let made = self.gate(v).map_or(&[][..], |g| &self.gates[g].cuts);
        std::iter::once(Cut::of(v)).chain(made.iter().map(|(cut, _)| *cut)).take(seen).collect()
    }

    /// Counts the readers of each gate under the first choice.
    fn count(&mut self) {
        for i in 0..self.gates.len() {
            if self.gates[i].wanted {
                self.take(i);
            }
        }
    }

    /// One more reader of gate `i`; returns the price of the gates that this adds.
    fn take(&mut self, i: usize) -> u64 {
        let mut added = 0;
        let mut open = vec![i];
        while let Some(i) = open.pop() {
            let gate = &mut self.gates[i];
            gate.needed += 1;
            if gate.needed == 1 {
                let (cut, price) = gate.cuts[gate.chosen];
                added += price;
                open.extend(cut.leaves().iter().filter_map(|&l| self.gate(l)));
            }
        }
        added
    }

    /// One reader of gate `i` less; returns the price of the gates that this saves.
    fn drop(&mut self, i: usize) -> u64 {
        let mut saved = 0;
        let mut open = vec![i];
        while let Some(i) = open.pop() {
            let gate = &mut self.gates[i];
            gate.needed -= 1;
            if gate.needed == 0 {
                let (cut, price) = gate.cuts[gate.chosen];
                saved += price;
                open.extend(cut.leaves().iter().filter_map(|&l| self.gate(l)));
            }
        }
        saved
    }

    /// Gives every needed gate its cheapest cut under the present choice; whether any changed.
    fn improve(&mut self) -> bool {
        let mut better = false;
        for i in 0..self.gates.len() {
            if self.gates[i].needed == 0 || self.gates[i].cuts.len() == 1 {
                continue;
            }
            let old = self.gates[i].chosen;
            self.leave(i);
            let mut best: Option<(u64, usize)> = None;
            for at in 0..self.gates[i].cuts.len() {
                self.gates[i].chosen = at;
                let cost = self.gates[i].cuts[at].1 + self.enter(i);
                self.leave(i);
                // On a tie the old cut stays.
                let key = (cost, usize::from(at != old));
                if best.is_none_or(|(least, b)| key < (least, usize::from(b != old))) {
                    best = Some((cost, at));
                }
            }
            let (_, chosen) = best.expect("a gate has a cut");
            self.gates[i].chosen = chosen;
            self.enter(i);
            better |= chosen != old;
        }
        better
    }

    fn enter(&mut self, i: usize) -> u64 {
        let cut = self.gates[i].cuts[self.gates[i].chosen].0;
        cut.leaves()
            .iter()
            .filter_map(|&l| self.gate(l))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|g| self.take(g))
            .sum()
    }

    fn leave(&mut self, i: usize) -> u64 {
        let cut = self.gates[i].cuts[self.gates[i].chosen].0;
        cut.leaves()
            .iter()
            .filter_map(|&l| self.gate(l))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|g| self.drop(g))
            .sum()
    }

    /// Writes the instructions, if they are fewer.
    fn emit(&self, eqns: &mut Vec<Eqn>) {
        let used = self.gates.iter().filter(|g| g.uses > 0);
        let before: u64 = used.map(|g| g.cuts[0].1 / PLAIN).sum();
        let needed = self.gates.iter().filter(|g| g.needed > 0);
        let after: u64 = needed.map(|g| g.cuts[g.chosen].1 / PLAIN).sum();
        if after >= before {
            return;
        }
        let mut gates = self.gates.iter().peekable();
        let mut at = 0;
        eqns.retain_mut(|eqn| {
            at += 1;
            let Some(gate) = gates.next_if(|g| g.at + 1 == at) else { return true };
            let Eqn::Op(e) = eqn else { unreachable!("gates are operators") };
            if gate.needed > 0 && gate.chosen > 0 {
                let (cut, _) = gate.cuts[gate.chosen];
                let bits = self.node.bits_of(gate.dst);
                let made = self.logic.instruction(cut.table, cut.leaves(), bits);
                (e.op, e.args) = made.expect("only cuts of one instruction are kept");
            }
            gate.needed > 0
        });
    }
}
