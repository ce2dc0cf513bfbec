//! Loop induction: the results of a loop are determined by its initial values and its step.
//!
//! ```text
//! s = x;                                     s:  symbol that starts at x
//! forall k { s := (s <<< 1) ^ key[k] }       step(s) = (s <<< 1) ^ (member k of key)
//!                                            result: step(s) in the last iteration
//! ```
//!
//! The body runs once, on symbols: one for each loop-carried value, named by its initial value, and
//! one for each list that is read, named by the list. Let e be an edge over such symbols. Its value
//! in iteration k is determined by e, k, and the *system* of e: the closure of the symbols of e
//! under their steps, each symbol with its step.
//!
//! *Soundness:* induction on k. The results of a loop are the nodes At(system, k, e), and two loops
//! with equal steps make equal nodes, in any order of their loop-carried values and with any others
//! beside.
//!
//! A loop of n iterations is also a loop of n / g iterations of g bodies each, followed by the
//! remaining iterations; then there is a symbol for each list and each of the g bodies.
//!
//! The body runs under assumptions about loop-carried values (`invariants`), until its step
//! preserves them.

use rustc_hash::FxHashMap;
use usuba::ir::{Loop, Val};

use crate::dag::{Dag, Edge, Kind};
use crate::execution::{Frame, Run, Stop};
use crate::invariants::{Assumed, Guess, all_different, revised};

/// The most runs of a body with assumptions that fail; after them all loop-carried values differ.
const ROUNDS: usize = 6;

impl Run<'_> {
    /// `group` iterations are executed as one; there are at least two such groups.
    pub fn induct(&mut self, frame: &mut Frame, lp: &Loop, group: u32) -> Result<(), Stop> {
        let level = self.nesting;
        self.nesting += 1;
        let inits: Vec<Edge> = lp.carried.iter().map(|c| frame.get(c.init)).collect();
        let count = lp.count / group;
        let reads = self.read_symbols(frame, lp, level, group as usize);
        let Step { symbols, steps, roots, values } =
            self.consistent_step(frame, lp, &inits, level, &reads)?;
        let mut system = System::new(level, symbols, steps);
        system.find_supports(&self.graph, roots.iter().chain(values.iter().flatten()));
        let mut carried = Vec::with_capacity(roots.len());
        for (c, &root) in lp.carried.iter().zip(&roots) {
            let result = system.at(&mut self.graph, count - 1, root);
            frame.set(c.result, result);
            carried.push(result);
        }
        for (body, values) in values.iter().enumerate() {
            for (collect, &value) in lp.collects.iter().zip(values) {
                for k in 0..count {
                    let edge = system.at(&mut self.graph, k, value);
                    frame.set(collect.results[(k * group) as usize + body], edge);
                }
                self.steps += count as u64;
            }
        }
        self.nesting -= 1;
        match lp.count % group {
            0 => Ok(()),
            _ => self.unfold(frame, lp, count * group, carried),
        }
    }

    /// For each body of a group, the symbols of the lists that it reads.
    fn read_symbols(
        &mut self,
        frame: &Frame,
        lp: &Loop,
        level: u16,
        group: usize,
    ) -> Vec<Vec<Edge>> {
        let count = lp.count as usize / group;
        let symbol = |(body, list): (usize, &[Val])| {
            let members = list[body..].iter().step_by(group).take(count);
            let members: Vec<Edge> = members.map(|&v| frame.get(v)).collect();
            read_symbol(&mut self.graph, level, &members)
        };
        let lists = (0..group).flat_map(|body| lp.reads.iter().map(move |r| (body, &*r.list)));
        let symbols: Vec<Edge> = lists.map(symbol).collect();
        match lp.reads.len() {
            0 => vec![Vec::new(); group],
            reads => symbols.chunks(reads).map(<[Edge]>::to_vec).collect(),
        }
    }

    /// Executes the bodies of a group in sequence. Returns the loop-carried values after them, and
    /// the collected values of each.
    fn bodies(
        &mut self,
        frame: &mut Frame,
        lp: &Loop,
        params: &[Edge],
        reads: &[Vec<Edge>],
    ) -> Result<(Vec<Edge>, Vec<Vec<Edge>>), Stop> {
        let (mut carried, mut values) = (params.to_vec(), Vec::with_capacity(reads.len()));
        for symbols in reads {
            for (c, &edge) in lp.carried.iter().zip(&carried) {
                frame.set(c.param, edge);
            }
            for (read, &symbol) in lp.reads.iter().zip(symbols) {
                frame.set(read.dst, symbol);
            }
            self.block(frame, &lp.body)?;
            carried = lp.carried.iter().map(|c| frame.get(c.next)).collect();
            values.push(lp.collects.iter().map(|c| frame.get(c.value)).collect());
        }
        Ok((carried, values))
    }

    /// Runs the bodies under assumptions until the steps preserve them.
    fn consistent_step(
        &mut self,
        frame: &mut Frame,
        lp: &Loop,
        inits: &[Edge],
        level: u16,
        reads: &[Vec<Edge>],
    ) -> Result<Step, Stop> {
        let name = (level, Box::from(inits));
        let known = self.graph.guesses.0.get(&name).cloned();
        let Guess { mut assumed, mut may_be_constant } = known.unwrap_or_else(|| Guess {
            assumed: vec![Assumed::Symbol(0); inits.len()],
            may_be_constant: vec![true; inits.len()],
        });
        for round in 0.. {
            if round == ROUNDS {
                assumed = all_different(inits);
            }
            let mut params = Vec::with_capacity(inits.len());
            for (&init, assumed) in inits.iter().zip(&assumed) {
                params.push(match assumed {
                    Assumed::Constant => init,
                    Assumed::Symbol(number) => carried(&mut self.graph, level, init, *number),
                });
            }
            let (nexts, values) = self.bodies(frame, lp, &params, reads)?;
            let better = match round {
                ROUNDS => assumed.clone(),
                _ => revised(inits, &params, &nexts, &assumed, &mut may_be_constant),
            };
            if better == assumed {
                let guess = Guess { assumed: assumed.clone(), may_be_constant };
                self.graph.guesses.0.insert(name, guess);
                let mut steps: Vec<(Edge, Edge)> =
                    params.into_iter().zip(nexts.iter().copied()).collect();
                let mut kept = assumed.iter().map(|a| *a != Assumed::Constant);
                steps.retain(|_| kept.next().expect("one assumption for each value"));
                steps.sort_unstable();
                steps.dedup();
                let (symbols, steps) = steps.into_iter().unzip();
                return Ok(Step { symbols, steps, roots: nexts, values });
            }
            assumed = better;
        }
        unreachable!("the last round accepts its assumptions")
    }
}

/// The step of an iteration, or of a group of iterations.
struct Step {
    /// Sorted, each once, and the step of each.
    symbols: Vec<Edge>,
    steps: Vec<Edge>,
    /// The loop-carried values after the step.
    roots: Vec<Edge>,
    /// The collected values, for each body of the group.
    values: Vec<Vec<Edge>>,
}

fn carried(g: &mut Dag, level: u16, init: Edge, number: u32) -> Edge {
    let name = (level as u64) << 32 | number as u64;
    g.intern(Kind::Carried, g.bits(init), level + 1, init.raw(), name)
}

/// Member k of a list in iteration k.
fn read_symbol(g: &mut Dag, level: u16, list: &[Edge]) -> Edge {
    let first = list[0];
    if list.iter().all(|&member| member == first) {
        return first;
    }
    // A list of complements is read as the complement of a member.
    let flip = first.is_complement();
    let raw: Vec<u64> = list.iter().map(|member| member.flipped(flip).raw()).collect();
    let list = g.list_node(&raw);
    g.intern(Kind::Read, g.bits(first), level + 1, list.raw(), level as u64).flipped(flip)
}

/// The symbols of a loop and their steps.
struct System {
    level: u16,
    /// Sorted loop-carried symbols, and the step of each.
    symbols: Vec<Edge>,
    steps: Vec<Edge>,
    /// The number of words of a set of symbols; the last bit says whether some list is read.
    words: usize,
    /// The index in `sets` of the symbols of a node; nodes that cannot have symbols are left out.
    supports: FxHashMap<u32, usize>,
    sets: Vec<u64>,
    /// The closure of each symbol under the steps, itself included, once it is computed; and the
    /// set of the symbols whose closures are.
    closures: Vec<Option<Box<[u64]>>>,
    known: Vec<u64>,
    /// The list node of each set of symbols, and of each node for which it was made.
    lists: FxHashMap<Box<[u64]>, Edge>,
    lists_of: FxHashMap<u32, Edge>,
}

impl System {
    fn new(level: u16, symbols: Vec<Edge>, steps: Vec<Edge>) -> System {
        let words = symbols.len() / 64 + 1;
        let (closures, known) = (vec![None; symbols.len()], vec![0; words]);
        let (supports, sets) = (FxHashMap::default(), Vec::new());
        let (lists, lists_of) = (FxHashMap::default(), FxHashMap::default());
        System { level, symbols, steps, words, supports, sets, closures, known, lists, lists_of }
    }

    /// Computes the symbols of the steps and of `roots`.
    fn find_supports<'a>(&mut self, g: &Dag, roots: impl Iterator<Item = &'a Edge>) {
        // A node is ready when it comes off the stack after its operands.
        let steps = self.steps.iter().copied().chain(roots.copied());
        let mut stack: Vec<(u32, bool)> = steps.map(|e| (e.node(), false)).collect();
        let mut operands = Vec::new();
        while let Some((node, ready)) = stack.pop() {
            if g.nodes[node as usize].depth <= self.level || self.supports.contains_key(&node) {
                continue;
            }
            let symbol = self.symbol(g, node);
            operands.clear();
            if symbol.is_none() {
                children(g, node, &mut operands);
                if !ready {
                    stack.push((node, true));
                    stack.extend(operands.iter().map(|e| (e.node(), false)));
                    continue;
                }
            }
            let start = self.sets.len();
            self.sets.resize(start + self.words, 0);
            if let Some(bit) = symbol {
                insert(&mut self.sets[start..], bit);
            }
            let (known, set) = self.sets.split_at_mut(start);
            for child in operands.iter().filter_map(|e| self.supports.get(&e.node())) {
                unite(set, &known[*child..][..self.words]);
            }
            self.supports.insert(node, start);
        }
    }

    /// The symbols of a node, if it can have any.
    fn support(&self, node: u32) -> Option<&[u64]> {
        self.supports.get(&node).map(|&start| &self.sets[start..][..self.words])
    }

    /// The number of a symbol of this loop: of a loop-carried one, or one more than all of these
    /// for a list that is read.
    fn symbol(&self, g: &Dag, node: u32) -> Option<usize> {
        let fields = &g.nodes[node as usize];
        match fields.kind {
            Kind::Read if fields.b == self.level as u64 => Some(self.symbols.len()),
            Kind::Carried => self.symbols.binary_search_by_key(&node, |symbol| symbol.node()).ok(),
            _ => None,
        }
    }

    /// The value of an edge over the symbols in iteration `k`.
    fn at(&mut self, g: &mut Dag, k: u32, edge: Edge) -> Edge {
        let (mut k, mut edge) = (k, edge);
        loop {
            if self.is_closed(edge) {
                return edge;
            }
            let node = *g.node(edge);
            if node.kind == Kind::Read && node.b == self.level as u64 {
                let member = Edge::from_raw(g.members(node.a)[k as usize]);
                return g.permute(edge.map(), member).flipped(edge.is_complement());
            }
            let Ok(at) = self.symbols.binary_search(&edge.bare()) else { break };
            let value = match k {
                0 => Edge::from_raw(node.a),
                _ => self.steps[at],
            };
            edge = g.permute(edge.map(), value).flipped(edge.is_complement());
            if k == 0 {
                return edge;
            }
            k -= 1;
        }
        let list = match self.lists_of.get(&edge.node()) {
            Some(&list) => list,
            None => {
                let list = self.list(g, edge);
                self.lists_of.insert(edge.node(), list);
                list
            }
        };
        // Symbols of this loop are bound now.
        let depth = g.depth(list).max(g.depth(edge)).min(self.level);
        let node =
            g.intern(Kind::At, g.bits(edge), depth, list.raw() | k as u64, edge.bare().raw());
        g.permute(edge.map(), node).flipped(edge.is_complement())
    }

    /// Whether an edge has no symbol of this loop. Up to maps and complements, every queried edge
    /// is a root, a step or the initial value of a symbol.
    fn is_closed(&self, edge: Edge) -> bool {
        self.support(edge.node()).is_none_or(|set| set.iter().all(|&word| word == 0))
    }

    /// The list node of the system of an edge.
    fn list(&mut self, g: &mut Dag, edge: Edge) -> Edge {
        let mut needed = Box::from(self.support(edge.node()).expect("it is not closed"));
        let mut closed = vec![0u64; self.words];
        while let Some(at) = self.first(&needed, &closed) {
            let closure = self.closure(at);
            unite(&mut needed, closure);
            unite(&mut closed, closure);
        }
        if let Some(&list) = self.lists.get(&needed) {
            return list;
        }
        let mut raw = Vec::new();
        for at in members(&needed, self.symbols.len()) {
            raw.extend([self.symbols[at].raw(), self.steps[at].raw()]);
        }
        let list = g.list_node(&raw);
        self.lists.insert(needed, list);
        list
    }

    fn closure(&mut self, start: usize) -> &[u64] {
        if self.closures[start].is_none() {
            let mut set = vec![0u64; self.words].into_boxed_slice();
            let mut closed = set.clone();
            insert(&mut set, start);
            while let Some(at) = self.first(&set, &closed) {
                if let Some(closure) = &self.closures[at] {
                    unite(&mut set, closure);
                    unite(&mut closed, closure);
                    continue;
                }
                insert(&mut closed, at);
                if let Some(direct) = self.support(self.steps[at].node()) {
                    unite(&mut set, direct);
                }
            }
            insert(&mut self.known, start);
            self.closures[start] = Some(set);
        }
        self.closures[start].as_ref().expect("just found")
    }

    /// A symbol in one set and not in the other: one with a known closure, if there is one.
    fn first(&self, set: &[u64], except: &[u64]) -> Option<usize> {
        let rest = || set.iter().zip(except).map(|(word, except)| word & !except).enumerate();
        let symbol = |(at, word): (usize, u64)| at * 64 + word.trailing_zeros() as usize;
        let known = rest().zip(&self.known).map(|((at, word), known)| (at, word & known));
        let found = known.chain(rest()).find(|(_, word)| *word != 0).map(symbol);
        found.filter(|&at| at < self.symbols.len())
    }
}

fn insert(set: &mut [u64], member: usize) {
    set[member / 64] |= 1 << (member % 64);
}

/// Adds the members of a set to another one.
fn unite(set: &mut [u64], more: &[u64]) {
    set.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
}

/// The numbers below `count` in a set.
fn members(set: &[u64], count: usize) -> Vec<usize> {
    let mut out = Vec::new();
    for (at, &word) in set.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            out.push(at * 64 + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
    if out.last() == Some(&count) {
        out.pop();
    }
    out
}

/// The edges from which a node is made.
pub fn children(g: &Dag, node: u32, out: &mut Vec<Edge>) {
    let node = &g.nodes[node as usize];
    match node.kind {
        Kind::Const | Kind::Param => {}
        Kind::Carried | Kind::Map | Kind::Lookup | Kind::Resize => out.push(Edge::from_raw(node.a)),
        Kind::And | Kind::Xor | Kind::Pack | Kind::Add | Kind::Mul | Kind::MulHigh | Kind::Less => {
            out.extend([node.a, node.b].map(Edge::from_raw));
        }
        Kind::Clmul | Kind::ClmulHigh => out.extend([node.a, node.b].map(Edge::from_raw)),
        Kind::Read | Kind::Call => out.push(Edge::from_raw(node.a).bare()),
        Kind::At => out.extend([Edge::from_raw(node.a).bare(), Edge::from_raw(node.b)]),
        Kind::List => {
            out.extend(g.members_of(node).iter().map(|&raw| Edge::from_raw(raw)));
        }
    }
}
