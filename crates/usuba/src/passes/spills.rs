//! Spill cost of a schedule under Belady's policy: evict the value with the furthest next use.
//!
//! ```text
//! 4 registers, five values that are all needed again   →   1 store, 1 load more
//! ```
//!
//! The policy is optimal when only reloads count. Values from outside of the body wait in memory; a
//! value that is stored anyway, or was evicted before, can leave without another store. Literals
//! cost nothing. A store weighs as many loads as the machine does in the same time.

use super::graph::{Graph, Item};
use super::machine::Machine;

/// The effect of calls on registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calls {
    /// They stay calls: results come in memory, and no register survives.
    Stay,
    /// They are inlined later: they need a few registers of their own.
    Vanish,
}

/// Registers that a callee needs besides its arguments or its results.
const CALLEE: usize = 3;

/// The memory of a machine, for one way of counting.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    regs: usize,
    load: u64,
    store: u64,
    calls: Calls,
}

/// The spill cost of a schedule.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Spills {
    /// Loads and stores, weighted.
    pub cost: u64,
    /// Values that were evicted and reloaded, with the place in the schedule of the reload; only if
    /// requested.
    pub reloads: Vec<(u32, u32)>,
}

impl Memory {
    pub fn new(machine: &Machine, calls: Calls) -> Memory {
        let (load, store) = (machine.stores.max(1) as u64, machine.loads.max(1) as u64);
        Memory { regs: machine.free_regs() as usize, load, store, calls }
    }

    /// The weight of a load.
    pub fn load(&self) -> u64 {
        self.load
    }

    /// The spill cost of `order`.
    pub fn cost(&self, graph: &Graph, order: &[u32]) -> u64 {
        self.count(graph, order, false).cost
    }

    /// The spill cost of `order`, with the reloaded values.
    pub fn reloads(&self, graph: &Graph, order: &[u32]) -> Spills {
        self.count(graph, order, true)
    }

    fn count(&self, graph: &Graph, order: &[u32], watch: bool) -> Spills {
        let mut file = File::new(self, graph, order);
        for v in 0..graph.source.len() as u32 {
            if graph.held[v as usize] {
                file.hold(v, &[]);
            }
        }
        for (at, &i) in order.iter().enumerate() {
            let reads = &graph.reads[i as usize];
            let defines = &graph.defines[i as usize];
            match graph.items[i as usize] {
                Item::Free => {}
                Item::Loop => file.leave_all(reads),
                Item::Call if self.calls == Calls::Stay => file.leave_all(reads),
                Item::Call | Item::Op => {
                    for &v in reads.iter().filter(|&&v| !graph.free[v as usize]) {
                        file.read(v, reads, watch.then_some(at as u32));
                    }
                    file.pass(reads);
                    if graph.items[i as usize] == Item::Call {
                        file.room(CALLEE + defines.len());
                    }
                    for &v in defines {
                        file.hold(v, &[]);
                        file.drop_if_dead(v);
                    }
                    continue;
                }
            }
            file.pass(reads);
            defines.iter().for_each(|&v| file.saved[v as usize] = true);
        }
        file.spills
    }
}

/// The register file during the simulation of a schedule.
struct File<'g> {
    memory: Memory,
    graph: &'g Graph,
    /// The places that read each value, in order: the start of each value's places, and all places.
    begins: Vec<u32>,
    places: Vec<u32>,
    /// For each value the next of its places.
    next: Vec<u32>,
    held: Vec<u32>,
    is_held: Vec<bool>,
    /// Whether memory has the value.
    saved: Vec<bool>,
    spills: Spills,
}

const NEVER: u32 = u32::MAX;

impl<'g> File<'g> {
    fn new(memory: &Memory, graph: &'g Graph, order: &[u32]) -> File<'g> {
        let values = graph.source.len();
        let mut begins = vec![0u32; values + 1];
        for reads in &graph.reads {
            reads.iter().for_each(|&v| begins[v as usize + 1] += 1);
        }
        for v in 0..values {
            begins[v + 1] += begins[v];
        }
        let mut fill: Vec<u32> = begins[..values].to_vec();
        let mut places = vec![0u32; begins[values] as usize];
        for (at, &i) in order.iter().enumerate() {
            for &v in &graph.reads[i as usize] {
                places[fill[v as usize] as usize] = at as u32;
                fill[v as usize] += 1;
            }
        }
        let from_memory = |v: usize| graph.source[v].is_none() && !graph.held[v];
        File {
            memory: *memory,
            graph,
            next: begins[..values].to_vec(),
            begins,
            places,
            held: Vec::with_capacity(memory.regs + 8),
            is_held: vec![false; values],
            saved: (0..values).map(|v| from_memory(v) || graph.stored[v]).collect(),
            spills: Spills::default(),
        }
    }

    /// The next use of a value; the end of the body counts.
    fn next_use(&self, v: u32) -> u32 {
        let at = self.next[v as usize];
        if at < self.begins[v as usize + 1] {
            self.places[at as usize]
        } else if self.graph.ends[v as usize] {
            NEVER - 1
        } else {
            NEVER
        }
    }

    fn read(&mut self, v: u32, keep: &[u32], watch: Option<u32>) {
        if self.is_held[v as usize] {
            return;
        }
        self.spills.cost += self.memory.load;
        let own = self.graph.source[v as usize].is_some() || self.graph.held[v as usize];
        if let (Some(at), true) = (watch, own) {
            self.spills.reloads.push((v, at));
        }
        self.hold(v, keep);
    }

    /// Takes a value in; if there is no room, a value that is not in `keep` leaves.
    fn hold(&mut self, v: u32, keep: &[u32]) {
        if self.held.len() >= self.memory.regs {
            self.spill(keep);
        }
        self.is_held[v as usize] = true;
        self.held.push(v);
    }

    fn spill(&mut self, keep: &[u32]) {
        let leaving = (0..self.held.len())
            .filter(|&at| !keep.contains(&self.held[at]))
            .max_by_key(|&at| self.next_use(self.held[at]));
        if let Some(at) = leaving {
            self.leave(at);
        }
    }

    fn leave(&mut self, at: usize) {
        let v = self.held.swap_remove(at);
        self.is_held[v as usize] = false;
        if self.next_use(v) != NEVER && !std::mem::replace(&mut self.saved[v as usize], true) {
            self.spills.cost += self.memory.store;
        }
    }

    /// Makes room for `count` values.
    fn room(&mut self, count: usize) {
        let limit = self.memory.regs.saturating_sub(count);
        while self.held.len() > limit {
            self.spill(&[]);
        }
    }

    /// Spills all live values, and the values that are read now.
    fn leave_all(&mut self, reads: &[u32]) {
        while !self.held.is_empty() {
            self.leave(self.held.len() - 1);
        }
        for &v in reads.iter().filter(|&&v| !self.graph.free[v as usize]) {
            if !std::mem::replace(&mut self.saved[v as usize], true) {
                self.spills.cost += self.memory.store;
            }
        }
    }

    /// Ends one use of each of these values.
    fn pass(&mut self, reads: &[u32]) {
        for &v in reads {
            self.next[v as usize] += 1;
            self.drop_if_dead(v);
        }
    }

    fn drop_if_dead(&mut self, v: u32) {
        if self.is_held[v as usize] && self.next_use(v) == NEVER {
            let at = self.held.iter().position(|&h| h == v).expect("it is held");
            self.held.swap_remove(at);
            self.is_held[v as usize] = false;
        }
    }
}
