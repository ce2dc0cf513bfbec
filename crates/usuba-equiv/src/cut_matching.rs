//! Engine E3: cut enumeration with truth-table matching.
//!
//! ```text
//! c ^ (s & (c ^ a))                (s & a) | (~s & c)
//! cut {a, c, s}, table 11011000    cut {a, c, s}, the same table: the same node
//! ```
//!
//! A cut of a node is a set of at most k nodes, its leaves, such that the node is a function of
//! them. The cuts of an operator are merged from the cuts of its operands; a truth table gives the
//! function of the leaves.
//!
//! *Soundness:* two nodes with the same leaves and the same table are equal. All operators between
//! a node and its leaves act on each bit alone, so one table holds for all bits of a word;
//! permutations are part of the leaves.
//!
//! *Limits:* a node keeps its first few cuts, nearest first, so the engine is linear, and
//! incomplete beyond them.
//!
//! *Reference:* Mishchenko, Chatterjee, Brayton 2006 (DAG-aware AIG rewriting).

use rustc_hash::FxHashMap;

use crate::bit_maps::{IDENTITY, MapId};
use crate::dag::{Dag, Edge, Kind};
use crate::truth_table::{self, MOST, VARIABLES};

/// Leaves in ascending order, and the function of them that a node computes. Leaves are plain;
/// unused places hold `Edge::NONE`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cut {
    leaves: [Edge; MOST],
    table: u32,
}

impl Cut {
    fn new(leaves: &[Edge], table: u32) -> Cut {
        let mut cut = Cut { leaves: [Edge::NONE; MOST], table };
        cut.leaves[..leaves.len()].copy_from_slice(leaves);
        cut
    }

    fn leaves(&self) -> &[Edge] {
        let used = self.leaves.iter().position(|&leaf| leaf == Edge::NONE);
        &self.leaves[..used.unwrap_or(MOST)]
    }
}

pub struct Cuts {
    /// The most leaves of a cut.
    most: usize,
    /// The most cuts that a node keeps, besides the trivial cut.
    kept: usize,
    cuts: Vec<Cut>,
    /// The first cut of each node in `cuts`, and the number of its cuts.
    ranges: Vec<(u32, u32)>,
    /// The edge for each function in normal form: permutation factored out, false on zeros.
    known: FxHashMap<Cut, Edge>,
}

/// The normal form of a function: the key; the permutation and complement that make it the
/// function again.
struct Normal {
    key: Cut,
    pivot: MapId,
    flip: bool,
}

impl Cuts {
    pub fn new(most: usize) -> Cuts {
        Cuts::with(most, if most <= 3 { 8 } else { 16 })
    }

    /// With at most `kept` cuts of a node, besides the trivial cut.
    pub fn with(most: usize, kept: usize) -> Cuts {
        Cuts {
            most: most.min(MOST),
            kept,
            cuts: Vec::new(),
            ranges: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    /// An edge that is `kind` of two edges if some cut shows it, else the cuts.
    pub fn known(&mut self, g: &mut Dag, kind: Kind, a: Edge, b: Edge) -> Result<Edge, Vec<Cut>> {
        let (left, right) = (self.of(g, a), self.of(g, b));
        let mut found: Vec<Cut> = Vec::with_capacity(self.kept);
        // Near cuts first: those whose numbers have a small sum.
        for sum in 0..left.len() + right.len() - 1 {
            for i in sum.saturating_sub(right.len() - 1)..=sum.min(left.len() - 1) {
                let Some(cut) = self.merged(kind, &left[i], &right[sum - i]) else { continue };
                match cut.leaves() {
                    [] => {
                        let zero = g.constant(g.bits(a), 0);
                        return Ok(zero.flipped(cut.table & 1 == 1));
                    }
                    &[leaf] => return Ok(leaf.flipped(cut.table & 1 == 1)),
                    _ => {}
                }
                if found.iter().any(|known| known.leaves == cut.leaves) {
                    continue;
                }
                if let Some(edge) = self.look_up(g, &cut) {
                    return Ok(edge);
                }
                found.push(cut);
                if found.len() == self.kept {
                    return Err(found);
                }
            }
        }
        Err(found)
    }

    /// Records the cuts of a new node.
    pub fn learn(&mut self, g: &mut Dag, edge: Edge, cuts: Vec<Cut>) {
        let node = edge.node() as usize;
        if self.ranges.len() <= node {
            self.ranges.resize(node + 1, (0, 0));
        }
        self.ranges[node] = (self.cuts.len() as u32, cuts.len() as u32);
        for cut in cuts {
            self.cuts.push(cut);
            self.remember(g, &cut, edge);
        }
    }

    /// Records that a known node has these cuts, too: another structure of it was merged with it.
    pub fn learn_more(&mut self, g: &mut Dag, edge: Edge, cuts: &[Cut]) {
        for cut in cuts {
            self.remember(g, cut, edge);
        }
    }

    pub fn function(&mut self, g: &mut Dag, table: u32, leaves: &[Edge]) -> Option<Edge> {
        if leaves.len() < 2 {
            return None;
        }
        self.look_up(g, &Cut::new(leaves, table))
    }

    pub fn learn_function(&mut self, g: &mut Dag, table: u32, leaves: &[Edge], edge: Edge) {
        if leaves.len() > 1 {
            self.remember(g, &Cut::new(leaves, table), edge);
        }
    }

    fn look_up(&self, g: &mut Dag, cut: &Cut) -> Option<Edge> {
        let Normal { key, pivot, flip } = normal(g, cut);
        let edge = *self.known.get(&key)?;
        Some(g.permute(pivot, edge).flipped(flip))
    }

    fn remember(&mut self, g: &mut Dag, cut: &Cut, edge: Edge) {
        let Normal { key, pivot, flip } = normal(g, cut);
        let back = g.maps.inverse(pivot).expect("edges have permutations");
        let edge = g.permute(back, edge).flipped(flip);
        self.known.entry(key).or_insert(edge);
    }

    /// The cuts of an edge: the trivial one, then the cuts of its node, permuted and complemented.
    fn of(&self, g: &mut Dag, edge: Edge) -> Vec<Cut> {
        let flip = if edge.is_complement() { u32::MAX } else { 0 };
        let mut out = vec![Cut::new(&[edge.plain()], VARIABLES[0] ^ flip)];
        let (start, count) = self.ranges.get(edge.node() as usize).copied().unwrap_or((0, 0));
        let cuts = &self.cuts[start as usize..(start + count) as usize];
        for cut in cuts {
            let moved = if edge.map() == IDENTITY { *cut } else { permuted(g, edge.map(), cut) };
            out.push(Cut { table: moved.table ^ flip, ..moved });
        }
        out
    }

    /// The operator on two cuts, over all leaves of both on which it depends.
    fn merged(&self, kind: Kind, a: &Cut, b: &Cut) -> Option<Cut> {
        let mut leaves = [Edge::NONE; MOST];
        let mut count = 0;
        let (left, right) = (a.leaves(), b.leaves());
        let (mut from_a, mut from_b) = ([0; MOST], [0; MOST]);
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            if count == self.most {
                return None;
            }
            let next = match (left.get(i), right.get(j)) {
                (Some(&x), Some(&y)) => x.min(y),
                (x, y) => *x.or(y).expect("one list goes on"),
            };
            if left.get(i) == Some(&next) {
                from_a[i] = VARIABLES[count];
                i += 1;
            }
            if right.get(j) == Some(&next) {
                from_b[j] = VARIABLES[count];
                j += 1;
            }
            leaves[count] = next;
            count += 1;
        }
        let x = truth_table::compose(a.table, &from_a[..left.len()]);
        let y = truth_table::compose(b.table, &from_b[..right.len()]);
        let table = if kind == Kind::And { x & y } else { x ^ y };
        Some(reduced(&leaves[..count], table))
    }
}

/// The cut without the leaves on which its function does not depend.
fn reduced(leaves: &[Edge], table: u32) -> Cut {
    if (0..leaves.len()).all(|v| truth_table::depends(table, v)) {
        return Cut::new(leaves, table);
    }
    let mut places = [0; MOST];
    let mut left: Vec<Edge> = Vec::with_capacity(MOST);
    for (v, &leaf) in leaves.iter().enumerate() {
        if truth_table::depends(table, v) {
            places[v] = VARIABLES[left.len()];
            left.push(leaf);
        }
    }
    Cut::new(&left, truth_table::compose(table, &places[..leaves.len()]))
}

/// The cut of the permuted node.
fn permuted(g: &mut Dag, map: MapId, cut: &Cut) -> Cut {
    let leaves = cut.leaves();
    let moved: Vec<Edge> = leaves.iter().map(|&leaf| g.permute(map, leaf)).collect();
    let mut order: Vec<usize> = (0..moved.len()).collect();
    order.sort_by_key(|&v| moved[v].plain());
    let mut places = [0; MOST];
    for (to, &from) in order.iter().enumerate() {
        // Moving a constant may have made it odd.
        let flip = if moved[from].is_complement() { u32::MAX } else { 0 };
        places[from] = VARIABLES[to] ^ flip;
    }
    let sorted: Vec<Edge> = order.iter().map(|&v| moved[v].plain()).collect();
    Cut::new(&sorted, truth_table::compose(cut.table, &places[..moved.len()]))
}

fn normal(g: &mut Dag, cut: &Cut) -> Normal {
    let pivot = g.pivot(cut.leaves());
    let mut key = *cut;
    if pivot != IDENTITY {
        let back = g.maps.inverse(pivot).expect("edges have permutations");
        key = permuted(g, back, cut);
    }
    let flip = key.table & 1 == 1;
    if flip {
        key.table = !key.table;
    }
    Normal { key, pivot, flip }
}
