//! List-scheduling heuristics for the items of a body, for the passes that compare schedules.
//!
//! ```text
//! items 0 1 2 3, where 2 reads 0 and is stored, 3 reads 1 and is stored
//!     on demand   0 2 1 3
//! ```
//!
//! Every function schedules each item once and after the items that it depends on. All but
//! [`improve`] take nearly linear time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{Graph, Item, List};
use super::spills::Memory;

/// The operands of a stored value come right before it, from left to right.
pub fn on_demand(graph: &Graph) -> Vec<u32> {
    demanded(graph, |_| {})
}

/// As [`on_demand`], but the operand that needs more registers comes first.
pub fn deepest_first(graph: &Graph) -> Vec<u32> {
    let mut needs = vec![0u32; graph.len()];
    let mut operands: Vec<u32> = Vec::new();
    for i in 0..graph.len() {
        operands.clear();
        operands.extend(graph.before(i as u32).map(|j| needs[j as usize]));
        operands.sort_unstable_by_key(|&need| Reverse(need));
        let most = operands.iter().enumerate().map(|(at, &need)| need + at as u32).max();
        needs[i] = if graph.items[i] == Item::Free { 0 } else { most.unwrap_or(0).max(1) };
    }
    demanded(graph, |operands| operands.sort_by_key(|&j| Reverse(needs[j as usize])))
}

fn demanded(graph: &Graph, arrange: impl Fn(&mut List)) -> Vec<u32> {
    let mut order = Vec::with_capacity(graph.len());
    let mut done = vec![false; graph.len()];
    let all = 0..graph.len() as u32;
    let sinks = all.clone().filter(|&i| graph.stores(i));
    for root in sinks.chain(all) {
        demand(graph, root, &arrange, &mut done, &mut order);
    }
    order
}

/// Appends `root` after the items that it needs; each item once.
pub fn demand(
    graph: &Graph,
    root: u32,
    arrange: impl Fn(&mut List),
    done: &mut [bool],
    order: &mut Vec<u32>,
) {
    if done[root as usize] {
        return;
    }
    let operands = |i: u32| {
        let mut list: List = graph.before(i).collect();
        arrange(&mut list);
        list
    };
    let mut open = vec![(root, operands(root), 0)];
    while let Some((i, list, at)) = open.last_mut() {
        if let Some(&j) = list.get(*at) {
            *at += 1;
            if !done[j as usize] {
                open.push((j, operands(j), 0));
            }
        } else {
            if !std::mem::replace(&mut done[*i as usize], true) {
                order.push(*i);
            }
            open.pop();
        }
    }
}

/// The order of the program, with loads late and stores early.
pub fn eager(graph: &Graph) -> Vec<u32> {
    let all = 0..graph.len() as u32;
    let stored: Vec<bool> = all.clone().map(|i| graph.stores(i)).collect();
    let near = |i: u32| stored[i as usize] || graph.after(i).any(|w| stored[w as usize]);
    let near: Vec<bool> = all.clone().map(near).collect();
    let leaf = |i: u32| {
        let single = matches!(graph.items[i as usize], Item::Op | Item::Free);
        single && graph.before(i).next().is_none() && !near[i as usize]
    };
    let mut order = Vec::with_capacity(graph.len());
    let mut done = vec![false; graph.len()];
    for root in all.clone().filter(|&i| !leaf(i)) {
        let mut open = vec![root];
        while let Some(i) = open.pop() {
            if done[i as usize] {
                continue;
            }
            for j in graph.before(i).chain([i]) {
                if !std::mem::replace(&mut done[j as usize], true) {
                    order.push(j);
                }
            }
            let from = open.len();
            let ready = |&w: &u32| near[w as usize] && graph.before(w).all(|j| done[j as usize]);
            open.extend(graph.after(i).filter(ready));
            open[from..].reverse();
        }
    }
    order.extend(all.filter(|&i| !done[i as usize]));
    order
}

/// Always the ready item that leaves the fewest live values; on a tie the item with the newest
/// operand, then the first of the program.
pub fn greedy(graph: &Graph) -> Vec<u32> {
    let mut state = Greedy {
        graph,
        left: graph.users.iter().map(|u| u.len() as u32).collect(),
        live: graph.held.clone(),
        waits: (0..graph.len() as u32).map(|i| graph.before(i).count() as u32).collect(),
        newest: vec![0; graph.len()],
        turn: vec![0; graph.len()],
        ready: BinaryHeap::new(),
        done: vec![false; graph.len()],
    };
    let mut order: Vec<u32> = Vec::with_capacity(graph.len());
    // Literals cost nothing where they are.
    let literal = |i: &u32| graph.items[*i as usize] == Item::Free;
    for i in (0..graph.len() as u32).filter(literal) {
        state.done[i as usize] = true;
        order.push(i);
        state.release(i, 0);
    }
    for i in (0..graph.len() as u32).filter(|i| !literal(i)) {
        if graph.before(i).all(|j| literal(&j)) {
            state.offer(i);
        }
    }
    while let Some((_, _, Reverse(i), turn)) = state.ready.pop() {
        if state.done[i as usize] || state.turn[i as usize] != turn {
            continue;
        }
        state.done[i as usize] = true;
        order.push(i);
        state.take(i, order.len() as u32);
    }
    order
}

/// An item that may be next: its change of the number of live values, the place of its newest
/// operand, itself, and how often it had been offered before.
type Offer = (Reverse<i32>, u32, Reverse<u32>, u32);

struct Greedy<'g> {
    graph: &'g Graph,
    /// Uses of each value that are still to come.
    left: Vec<u32>,
    live: Vec<bool>,
    /// Operands of each item, with repeats, that are not computed yet.
    waits: Vec<u32>,
    newest: Vec<u32>,
    turn: Vec<u32>,
    ready: BinaryHeap<Offer>,
    done: Vec<bool>,
}

impl Greedy<'_> {
    fn offer(&mut self, i: u32) {
        let change = self.change(i);
        let turn = &mut self.turn[i as usize];
        *turn += 1;
        self.ready.push((Reverse(change), self.newest[i as usize], Reverse(i), *turn));
    }

    /// The change of the number of live values by item `i`.
    fn change(&self, i: u32) -> i32 {
        let graph = self.graph;
        let born = |&&v: &&u32| !graph.users[v as usize].is_empty() || graph.ends[v as usize];
        let mut change = graph.defines[i as usize].iter().filter(born).count() as i32;
        for &v in graph.reads[i as usize].iter().filter(|&&v| !graph.free[v as usize]) {
            let last = self.left[v as usize] == 1 && !graph.ends[v as usize];
            change += i32::from(!self.live[v as usize]) - i32::from(last);
        }
        change
    }

    fn take(&mut self, i: u32, now: u32) {
        let graph = self.graph;
        for &v in &graph.reads[i as usize] {
            self.left[v as usize] -= 1;
            let first = !std::mem::replace(&mut self.live[v as usize], true);
            if first || self.left[v as usize] == 1 {
                let open = |&&u: &&u32| !self.done[u as usize] && self.waits[u as usize] == 0;
                let users: List = graph.users[v as usize].iter().filter(open).copied().collect();
                users.iter().for_each(|&u| self.offer(u));
            }
        }
        graph.defines[i as usize].iter().for_each(|&v| self.live[v as usize] = true);
        for u in self.release(i, now) {
            self.offer(u);
        }
    }

    /// The items that become ready because of item `i`.
    fn release(&mut self, i: u32, now: u32) -> List {
        let mut ready = List::new();
        for u in self.graph.after(i) {
            self.newest[u as usize] = now;
            self.waits[u as usize] -= 1;
            if self.waits[u as usize] == 0 {
                ready.push(u);
            }
        }
        ready
    }
}

/// How many items the search may look at while it improves a schedule, and in how many steps.
const LOOKS: usize = 1_000_000;
const STEPS: usize = 400;

/// The number of steps without any gain after which the search stops.
const PATIENCE: usize = 80;

/// A cheaper schedule than `order`, which costs `least`, if a few steps find one. Each step defines
/// a reloaded value just before its first reader, or moves its reader as early as possible.
pub fn improve(graph: &Graph, memory: &Memory, order: &[u32], least: u64) -> Option<Vec<u32>> {
    let steps = STEPS.min(LOOKS / graph.len().max(1));
    let mut best = order.to_vec();
    let mut spills = memory.reloads(graph, &best);
    let mut random = 1u64;
    let mut vain = 0;
    for _ in 0..steps {
        if spills.reloads.is_empty() || vain > PATIENCE {
            break;
        }
        // The multiplier of Knuth's generator; only the high bits are good.
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pick = (random >> 33) as usize;
        let (v, at) = spills.reloads[pick / 2 % spills.reloads.len()];
        let mut trial = best.clone();
        let moved = match graph.source[v as usize] {
            Some(source) if pick.is_multiple_of(2) => later(graph, &mut trial, source),
            _ => earlier(graph, &mut trial, at as usize, v),
        };
        vain += 1;
        if !moved {
            continue;
        }
        let new = memory.reloads(graph, &trial);
        // Steps that change nothing may open the way for others.
        if new.cost <= spills.cost {
            if new.cost < spills.cost {
                vain = 0;
            }
            best = trial;
            spills = new;
        }
    }
    (spills.cost < least).then_some(best)
}

/// Moves an item right before the first that reads it.
fn later(graph: &Graph, order: &mut [u32], item: u32) -> bool {
    let Some(from) = order.iter().position(|&i| i == item) else { return false };
    let reads = |&i: &u32| graph.before(i).any(|j| j == item);
    match order[from + 1..].iter().position(reads) {
        Some(gap) if gap > 0 => {
            order[from..=from + gap].rotate_left(1);
            true
        }
        _ => false,
    }
}

/// Moves the item at `at` after its last operand, or after the last reader of `v`.
fn earlier(graph: &Graph, order: &mut [u32], at: usize, v: u32) -> bool {
    let item = order[at];
    let sources: List = graph.before(item).collect();
    let stop = |i: &u32| sources.contains(i) || graph.reads[*i as usize].contains(&v);
    match order[..at].iter().rposition(stop) {
        Some(place) if place + 1 < at => {
            order[place + 1..=at].rotate_right(1);
            true
        }
        _ => false,
    }
}
