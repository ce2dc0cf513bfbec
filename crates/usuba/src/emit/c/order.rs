//! In which order the equations of a loop body that works on arrays are printed.
//!
//! C compilers keep to the order that they are given far more than one would like: once a body
//! has more values alive than the target has registers, the order decides how much goes through
//! memory. Two orders are made, and the one with less of that traffic is taken:
//!
//! - *on demand*: what a result needs comes right before it. Best where layers of single
//!   operators follow each other.
//! - *as written*: S-boxes stay in one piece, but what only loads waits for its first reader, and
//!   what is stored, or is an operand of that, comes as soon as it can. Best where a result needs a
//!   few outputs of S-boxes.
//!
//! Traffic is counted for a register file that always gives up the value that is needed last.
//! Sound because equations are pure and both orders define values before they are read.
//! Does not look into calls and loops: bodies with them are printed on demand (`body`).

use rustc_hash::FxHashMap;

use crate::ir::{Eqn, Op, OpEqn, Val};

/// Registers that a C compiler keeps for itself, as far as we are concerned.
const RESERVED: usize = 2;

/// The live equations of a straight body, in the order to print them in. `stored` says which
/// values go to memory at once. None if the body has calls or loops.
pub fn order(
    body: &[Eqn],
    live: impl Fn(Val) -> bool,
    stored: impl Fn(Val) -> bool,
    regs: usize,
) -> Option<Vec<&OpEqn>> {
    let mut eqns = Vec::with_capacity(body.len());
    for eqn in body {
        match eqn {
            Eqn::Op(op) if live(op.dst) => eqns.push(op),
            Eqn::Op(_) => {}
            Eqn::Call(_) | Eqn::Loop(_) => return None,
        }
    }
    let graph = Graph::new(eqns, stored);
    let regs = regs.saturating_sub(RESERVED).max(4);
    let (demand, written) = (graph.on_demand(), graph.as_written());
    let better = graph.traffic(&written, regs) < graph.traffic(&demand, regs);
    let chosen = if better { written } else { demand };
    Some(chosen.into_iter().map(|i| graph.eqns[i]).collect())
}

struct Graph<'p> {
    eqns: Vec<&'p OpEqn>,
    /// For each equation the equations whose values it reads.
    args: Vec<Vec<usize>>,
    /// For each equation those that read its value.
    users: Vec<Vec<usize>>,
    stored: Vec<bool>,
}

impl<'p> Graph<'p> {
    fn new(eqns: Vec<&'p OpEqn>, stored: impl Fn(Val) -> bool) -> Graph<'p> {
        let at: FxHashMap<Val, usize> = eqns.iter().enumerate().map(|(i, e)| (e.dst, i)).collect();
        let mut users = vec![Vec::new(); eqns.len()];
        let mut args = Vec::with_capacity(eqns.len());
        for (i, eqn) in eqns.iter().enumerate() {
            let mut mine: Vec<usize> = Vec::with_capacity(eqn.args.len());
            for &j in eqn.args.iter().filter_map(|arg| at.get(arg)) {
                if !mine.contains(&j) {
                    mine.push(j);
                    users[j].push(i);
                }
            }
            args.push(mine);
        }
        let stored = eqns.iter().map(|e| stored(e.dst)).collect();
        Graph { eqns, args, users, stored }
    }

    /// What a stored value needs, right before it.
    fn on_demand(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.eqns.len());
        let mut done = vec![false; self.eqns.len()];
        let sinks = (0..self.eqns.len()).filter(|&i| self.stored[i]);
        // Nothing is left after the stored values unless a body stores nothing.
        for root in sinks.chain(0..self.eqns.len()) {
            let mut open = vec![root];
            while let Some(&i) = open.last() {
                match self.args[i].iter().find(|&&j| !done[j]) {
                    Some(&j) if !done[i] => open.push(j),
                    _ => {
                        open.pop();
                        if !std::mem::replace(&mut done[i], true) {
                            order.push(i);
                        }
                    }
                }
            }
        }
        order
    }

    /// The order of the program, with loads late and stores early.
    fn as_written(&self) -> Vec<usize> {
        let near: Vec<bool> = (0..self.eqns.len())
            .map(|i| self.stored[i] || self.users[i].iter().any(|&w| self.stored[w]))
            .collect();
        let leaf = |i: usize| self.args[i].is_empty() && !near[i];
        let mut order = Vec::with_capacity(self.eqns.len());
        let mut done = vec![false; self.eqns.len()];
        for root in (0..self.eqns.len()).filter(|&i| !leaf(i)) {
            let mut open = vec![root];
            while let Some(i) = open.pop() {
                if done[i] {
                    continue;
                }
                for &j in self.args[i].iter().chain([&i]) {
                    if !std::mem::replace(&mut done[j], true) {
                        order.push(j);
                    }
                }
                let ready = |&w: &usize| near[w] && self.args[w].iter().all(|&j| done[j]);
                open.extend(self.users[i].iter().rev().copied().filter(ready));
            }
        }
        order.extend((0..self.eqns.len()).filter(|&i| !done[i]));
        order
    }

    /// Loads and stores of values that do not stay in one of `regs` registers.
    fn traffic(&self, order: &[usize], regs: usize) -> usize {
        let mut uses: FxHashMap<Val, Vec<usize>> = FxHashMap::default();
        for (at, &i) in order.iter().enumerate().rev() {
            for &arg in &self.eqns[i].args {
                uses.entry(arg).or_default().push(at);
            }
        }
        let mut file = File { uses, held: Vec::new(), regs, traffic: 0 };
        let defined: FxHashMap<Val, usize> = order.iter().map(|&i| (self.eqns[i].dst, i)).collect();
        let mut saved: Vec<bool> = self.stored.clone();
        let mut save = |v: Val| match defined.get(&v) {
            Some(&i) => !std::mem::replace(&mut saved[i], true),
            None => false,
        };
        let constant =
            |v: Val| defined.get(&v).is_some_and(|&i| matches!(self.eqns[i].op, Op::Const(_)));
        for &i in order {
            let eqn = self.eqns[i];
            if matches!(eqn.op, Op::Const(_)) {
                continue;
            }
            for &arg in eqn.args.iter().filter(|&&v| !constant(v)) {
                if !file.held.contains(&arg) {
                    file.traffic += 1;
                    file.hold(arg, &eqn.args, &mut save);
                }
            }
            for arg in &eqn.args {
                file.uses.get_mut(arg).expect("a use of every operand").pop();
            }
            file.forget_dead();
            file.hold(eqn.dst, &[], &mut save);
            file.forget_dead();
        }
        file.traffic
    }
}

/// The registers while an order is tried.
struct File {
    /// Positions that still read each value, the next one last.
    uses: FxHashMap<Val, Vec<usize>>,
    held: Vec<Val>,
    regs: usize,
    traffic: usize,
}

impl File {
    fn next_use(&self, v: Val) -> usize {
        self.uses.get(&v).and_then(|all| all.last()).copied().unwrap_or(usize::MAX)
    }

    /// Takes a value in. `save` says whether a value that must leave has to be stored for that.
    fn hold(&mut self, v: Val, keep: &[Val], save: &mut impl FnMut(Val) -> bool) {
        if self.held.len() >= self.regs {
            let leaving = (0..self.held.len())
                .filter(|&at| !keep.contains(&self.held[at]))
                .max_by_key(|&at| self.next_use(self.held[at]));
            if let Some(at) = leaving {
                let old = self.held.swap_remove(at);
                self.traffic += usize::from(save(old));
            }
        }
        self.held.push(v);
    }

    fn forget_dead(&mut self) {
        let uses = &self.uses;
        self.held.retain(|v| uses.get(v).is_some_and(|all| !all.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(dst: u32, op: Op, args: &[u32]) -> Eqn {
        let args = args.iter().map(|&a| Val(a)).collect();
        Eqn::Op(OpEqn { dst: Val(dst), op, args })
    }

    /// Inputs are 0 to 99, and values from 900 on are stored.
    fn printed(body: &[Eqn], regs: usize) -> Vec<u32> {
        let order = order(body, |_| true, |v| v.0 >= 900, regs).expect("a straight body");
        for (at, eqn) in order.iter().enumerate() {
            let known = |v: &Val| v.0 < 100 || order[..at].iter().any(|e| e.dst == *v);
            assert!(eqn.args.iter().all(known), "{} comes too early", eqn.dst.0);
        }
        assert_eq!(order.len(), body.len());
        order.iter().map(|e| e.dst.0).collect()
    }

    #[test]
    fn layers_are_printed_on_demand() {
        let mut body = Vec::new();
        for i in 0..40 {
            body.push(op(100 + i, Op::Xor, &[i, 40 + i]));
        }
        for i in 0..40 {
            body.push(op(200 + i, Op::And, &[100 + i, 99]));
        }
        for i in 0..40 {
            body.push(op(900 + i, Op::Or, &[200 + i, 98]));
        }
        let expect: Vec<u32> = (0..40).flat_map(|i| [100 + i, 200 + i, 900 + i]).collect();
        assert_eq!(printed(&body, 16), expect);
    }

    #[test]
    fn boxes_stay_in_one_piece() {
        // Eight boxes of twelve steps with four outputs each, which go to distant places.
        let mut body = Vec::new();
        for b in 0..8 {
            for step in 0..12 {
                let old = |back: u32| {
                    if step < back { b * 8 + back - step } else { 100 + b * 12 + step - back }
                };
                body.push(op(100 + b * 12 + step, Op::Xor, &[old(1), old(7)]));
            }
        }
        for k in 0..4 {
            for b in 0..8 {
                body.push(op(900 + k * 8 + b, Op::Xor, &[100 + b * 12 + 8 + k, 90]));
            }
        }
        let order = printed(&body, 6);
        let box_of = |v: u32| if v < 900 { (v - 100) / 12 } else { (v - 900) % 8 };
        let mut boxes: Vec<u32> = order.iter().map(|&v| box_of(v)).collect();
        boxes.dedup();
        assert_eq!(boxes, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn bodies_with_loops_are_left_alone() {
        use crate::ir::Loop;
        let inner = Loop {
            count: 2,
            carried: Vec::new(),
            reads: Vec::new(),
            body: Vec::new(),
            collects: Vec::new(),
            keep: false,
        };
        assert!(order(&[Eqn::Loop(Box::new(inner))], |_| true, |_| false, 16).is_none());
    }
}
