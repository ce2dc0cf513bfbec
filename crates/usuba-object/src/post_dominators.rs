//! Immediate post-dominators: the places where the paths from a branch, or another instruction with an
//! outcome, meet.
//!
//! ```text
//!    je 1f       both paths meet at 2
//!    ...
//!    jmp 2f
//! 1: ...
//! 2: ...
//! ```
//!
//! The control-flow graph has the instructions that are reachable from the branch without calls. A
//! return, a jump through a register and an instruction that cannot be decoded leave the function.
//!
//! The tests of a loop may be in several places, so that paths meet behind the loop only. Paths that go
//! on to another turn meet before it, then.
//!
//! *Reference:* Cooper, Harvey, Kennedy 2001 (dominators by intersection).

use std::collections::HashMap;

use super::control_flow::{ControlFlow, Transfer};
use super::elf::Object;

/// The most instructions of a function.
const MOST: usize = 1 << 16;

/// Where the paths from a branch meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Met {
    pub place: u64,
    /// Whether some paths leave a loop instead, and do not come to this place.
    pub is_in_loop: bool,
}

/// The most instructions between one that depends on flags and a branch on the same flags.
const NEAR: usize = 8;

/// The place where all paths from an instruction that depends on flags meet; `None` if they leave the
/// function before, and for another instruction. If that is behind a loop, the place where all paths
/// meet that come to the branch again. Paths from an instruction before a branch on the same flags meet
/// where those from the branch do.
pub fn meeting<M: ControlFlow>(object: &Object, branch: u64) -> Option<Met> {
    let met = |place| Met { place, is_in_loop: false };
    if let [next] = M::next(object, branch)[..] {
        let next = next.filter(|_| M::flags(object, branch).reads)?;
        let tested = same_test::<M>(object, branch);
        return tested.and_then(|test| meeting::<M>(object, test)).or(Some(met(next)));
    }
    let flow = Flow::new::<M>(object, branch)?;
    let end = flow.post_dominator();
    let turn = flow.turn();
    let is_inside = |place: u64| turn.as_ref().is_some_and(|turn| turn.has(place));
    match end.filter(|&place| turn.is_none() || is_inside(place)) {
        Some(place) => Some(met(place)),
        None => {
            let place = turn.and_then(|turn| turn.post_dominator());
            place.map(|place| Met { place, is_in_loop: true }).or(end.map(met))
        }
    }
}

/// The branch on the flags that an instruction depends on.
fn same_test<M: ControlFlow>(object: &Object, place: u64) -> Option<u64> {
    let mut at = place;
    for _ in 0..NEAR {
        let [Some(next)] = M::next(object, at)[..] else { return None };
        if M::flags(object, at).writes || M::effects(object, at).transfer != Transfer::Plain {
            return None;
        }
        at = next;
        if M::next(object, at).len() == 2 {
            return M::flags(object, at).reads.then_some(at);
        }
    }
    None
}

/// A control-flow graph. Node 0 is outside, node 1 is the branch.
struct Flow {
    places: Vec<u64>,
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
}

impl Flow {
    /// The instructions that are reachable from a branch; `None` if there are too many.
    fn new<M: ControlFlow>(object: &Object, branch: u64) -> Option<Flow> {
        let mut places = vec![u64::MAX, branch];
        let mut numbers = HashMap::from([(branch, 1)]);
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); 2];
        let mut after: Vec<Vec<usize>> = vec![Vec::new()];
        let mut at = 1;
        while at < places.len() {
            let mut targets = Vec::new();
            for target in M::next(object, places[at]) {
                let number = match target {
                    None => 0,
                    Some(target) => *numbers.entry(target).or_insert_with(|| {
                        places.push(target);
                        before.push(Vec::new());
                        places.len() - 1
                    }),
                };
                before[number].push(at);
                targets.push(number);
            }
            after.push(targets);
            at += 1;
            if at > MOST {
                return None;
            }
        }
        Some(Flow { places, before, after })
    }

    /// The same of the paths that come to the branch again, which is outside then; `None` if a side of
    /// the branch does not.
    fn turn(&self) -> Option<Flow> {
        let mut is_turn = vec![false; self.places.len()];
        let mut open = vec![1];
        while let Some(node) = open.pop() {
            for &from in &self.before[node] {
                if !std::mem::replace(&mut is_turn[from], true) {
                    open.push(from);
                }
            }
        }
        if !self.after[1].iter().all(|&to| to != 0 && is_turn[to]) {
            return None;
        }
        let mut flow = Flow {
            places: self.places.clone(),
            before: vec![Vec::new(); self.places.len()],
            after: vec![Vec::new(); self.places.len()],
        };
        for node in (1..self.places.len()).filter(|&node| is_turn[node]) {
            for &to in self.after[node].iter().filter(|&&to| to != 0 && is_turn[to]) {
                let to = if to == 1 { 0 } else { to };
                flow.after[node].push(to);
                flow.before[to].push(node);
            }
        }
        Some(flow)
    }

    /// Whether a place is in it, or is the branch.
    fn has(&self, place: u64) -> bool {
        let node = self.places.iter().position(|&other| other == place);
        node.is_some_and(|node| node == 1 || !self.after[node].is_empty())
    }

    /// The place of the immediate post-dominator of the branch; `None` if that is outside.
    fn post_dominator(&self) -> Option<u64> {
        let Flow { places, before, after } = self;
        // The order of a depth-first search from outside, against the flow.
        let mut order = Vec::new();
        let mut rank = vec![usize::MAX; places.len()];
        let mut is_seen = vec![false; places.len()];
        let mut stack = vec![(0, 0)];
        is_seen[0] = true;
        while let Some((node, edge)) = stack.pop() {
            match before[node].get(edge) {
                Some(&to) => {
                    stack.push((node, edge + 1));
                    if !std::mem::replace(&mut is_seen[to], true) {
                        stack.push((to, 0));
                    }
                }
                None => {
                    rank[node] = order.len();
                    order.push(node);
                }
            }
        }
        let mut above: Vec<Option<usize>> = vec![None; places.len()];
        above[0] = Some(0);
        loop {
            let mut changed = false;
            for &node in order.iter().rev().filter(|node| **node != 0) {
                let mut common = None;
                for &to in after[node].iter().filter(|to| above[**to].is_some()) {
                    common = Some(common.map_or(to, |mut one: usize| {
                        let mut other = to;
                        while one != other {
                            let lower = if rank[one] < rank[other] { &mut one } else { &mut other };
                            *lower = above[*lower].unwrap_or(0);
                        }
                        one
                    }));
                }
                changed |= above[node] != common;
                above[node] = common;
            }
            if !changed {
                break;
            }
        }
        above[1].filter(|&at| at != 0).map(|at| places[at])
    }
}
