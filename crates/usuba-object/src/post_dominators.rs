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
//! *Reference:* Cooper, Harvey, Kennedy 2001 (dominators by intersection).

use std::collections::HashMap;

use super::control_flow::ControlFlow;
use super::elf::Object;

/// The most instructions of a function.
const MOST: usize = 1 << 16;

/// The place where all paths from an instruction that depends on flags meet; `None` if they leave the
/// function before, and for another instruction.
pub fn meeting<M: ControlFlow>(object: &Object, branch: u64) -> Option<u64> {
    if let [next] = M::next(object, branch)[..] {
        return next.filter(|_| M::reads_flags(object, branch));
    }
    // Node 0 is outside of the function, node 1 is the branch.
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
