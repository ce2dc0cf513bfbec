//! Dependence graph of a list of equations, for the passes that schedule equations.
//!
//! ```text
//! t = x ^ k; y = t & x       →   item 0 reads x k and defines t; item 1 reads t x, defines y
//! ```
//!
//! Every equation of one body is an item: an operator, a call or a whole loop. The values that
//! items read and define are numbered densely. For all values of a node, a [`Frame`] gives their
//! place in emitted code: values stored right after their definition, values in memory until their
//! first use, and loop-carried values in local variables. The graph contains no schedule.

use smallvec::SmallVec;

use crate::ir::{Eqn, Loop, Node, Op, Val};

/// A list of dense numbers of values or items.
pub type List = SmallVec<[u32; 4]>;

/// The place of each value of a node in emitted code, indexed by [`Val`].
pub struct Frame {
    /// Defined by a literal: costs nothing wherever it is used.
    pub free: Vec<bool>,
    /// Stored right after its definition: results, collected values, and loop-carried values in
    /// arrays.
    pub stored: Vec<bool>,
    /// Read when the body ends: the next value of a loop-carried value in a local variable.
    pub ends: Vec<bool>,
    /// In a register when the body begins: a loop-carried value in a local variable.
    pub held: Vec<bool>,
}

impl Frame {
    /// The frame of a node, where loops that carry more than `regs` values do so in arrays.
    pub fn new(node: &Node, regs: u32) -> Frame {
        let none = || vec![false; node.bits.len()];
        let mut frame = Frame { free: none(), stored: none(), ends: none(), held: none() };
        for out in &node.outs {
            frame.stored[out.0 as usize] = true;
        }
        frame.body(&node.body, regs);
        frame
    }

    fn body(&mut self, body: &[Eqn], regs: u32) {
        for eqn in body {
            match eqn {
                Eqn::Op(e) => self.free[e.dst.0 as usize] = matches!(e.op, Op::Const(_)),
                Eqn::Call(_) => {}
                Eqn::Loop(lp) => {
                    let arrays = lp.carried.len() > regs as usize;
                    for c in &lp.carried {
                        self.held[c.param.0 as usize] = !arrays;
                        let at = if arrays { &mut self.stored } else { &mut self.ends };
                        at[c.next.0 as usize] = true;
                    }
                    lp.collects.iter().for_each(|c| self.stored[c.value.0 as usize] = true);
                    self.body(&lp.body, regs);
                }
            }
        }
    }
}

/// The kind of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    Op,
    /// A literal: no instruction of its own.
    Free,
    Call,
    Loop,
}

/// The graph of one body.
pub struct Graph {
    pub items: Vec<Item>,
    /// The values that each item reads, each once, in the order of its operands.
    pub reads: Vec<List>,
    /// The values that each item defines.
    pub defines: Vec<List>,
    /// For each value the item that defines it; `None` if it comes from outside.
    pub source: Vec<Option<u32>>,
    /// For each value the items that read it, in the order of the program.
    pub users: Vec<List>,
    /// As in [`Frame`], by dense number.
    pub free: Vec<bool>,
    pub stored: Vec<bool>,
    pub ends: Vec<bool>,
    pub held: Vec<bool>,
}

/// Numbers the values of one body after another; the table is as long as the node has values.
pub struct Numbering {
    dense: Vec<u32>,
    taken: Vec<Val>,
}

const NOT_YET: u32 = u32::MAX;

impl Numbering {
    pub fn new(node: &Node) -> Numbering {
        Numbering { dense: vec![NOT_YET; node.bits.len()], taken: Vec::new() }
    }

    fn number(&mut self, v: Val) -> u32 {
        let at = &mut self.dense[v.0 as usize];
        if *at == NOT_YET {
            *at = self.taken.len() as u32;
            self.taken.push(v);
        }
        *at
    }

    fn finish(&mut self) -> Vec<Val> {
        for v in &self.taken {
            self.dense[v.0 as usize] = NOT_YET;
        }
        std::mem::take(&mut self.taken)
    }
}

impl Graph {
    /// The graph of a body of the node of `frame`. `around` is the loop whose body it is.
    pub fn new(
        body: &[Eqn],
        around: Option<&Loop>,
        frame: &Frame,
        numbering: &mut Numbering,
    ) -> Graph {
        let mut graph = Graph {
            items: Vec::with_capacity(body.len()),
            reads: Vec::with_capacity(body.len()),
            defines: Vec::with_capacity(body.len()),
            source: Vec::new(),
            users: Vec::new(),
            free: Vec::new(),
            stored: Vec::new(),
            ends: Vec::new(),
            held: Vec::new(),
        };
        // Loop-carried values in local variables take registers even where the body does not read
        // them.
        for c in around.map_or(&[][..], |lp| &lp.carried) {
            numbering.number(c.param);
        }
        for eqn in body {
            let mut reads = List::new();
            let mut defines = List::new();
            let item = match eqn {
                Eqn::Op(e) => {
                    note(&e.args, numbering, &mut reads);
                    note(&[e.dst], numbering, &mut defines);
                    if matches!(e.op, Op::Const(_)) { Item::Free } else { Item::Op }
                }
                Eqn::Call(call) => {
                    note(&call.args, numbering, &mut reads);
                    note(&call.dsts, numbering, &mut defines);
                    Item::Call
                }
                Eqn::Loop(lp) => {
                    let mut outside = Vec::new();
                    captured(lp, &mut outside);
                    note(&outside, numbering, &mut reads);
                    for c in &lp.carried {
                        note(&[c.result], numbering, &mut defines);
                    }
                    for c in &lp.collects {
                        note(&c.results, numbering, &mut defines);
                    }
                    Item::Loop
                }
            };
            graph.items.push(item);
            graph.reads.push(reads);
            graph.defines.push(defines);
        }
        let values = numbering.finish();
        graph.source = vec![None; values.len()];
        graph.users = vec![List::new(); values.len()];
        for (i, (defines, reads)) in graph.defines.iter().zip(&graph.reads).enumerate() {
            defines.iter().for_each(|&v| graph.source[v as usize] = Some(i as u32));
            reads.iter().for_each(|&v| graph.users[v as usize].push(i as u32));
        }
        let of = |list: &[bool]| values.iter().map(|v| list[v.0 as usize]).collect();
        graph.free = of(&frame.free);
        graph.stored = of(&frame.stored);
        graph.ends = of(&frame.ends);
        graph.held = of(&frame.held);
        graph
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The items whose values item `i` reads, each once.
    pub fn before(&self, i: u32) -> impl Iterator<Item = u32> + '_ {
        self.reads[i as usize].iter().filter_map(|&v| self.source[v as usize])
    }

    /// The items that read the values of item `i`, with repeats.
    pub fn after(&self, i: u32) -> impl Iterator<Item = u32> + '_ {
        self.defines[i as usize].iter().flat_map(|&v| self.users[v as usize].iter().copied())
    }

    /// Whether some value of item `i` goes to memory at once.
    pub fn stores(&self, i: u32) -> bool {
        self.defines[i as usize].iter().any(|&v| self.stored[v as usize])
    }

    /// The largest number of live values in the schedule `order`. The live range of a value from
    /// outside starts at its first use; literals and values that are only stored do not count.
    pub fn most_live(&self, order: &[u32]) -> usize {
        let mut left: Vec<u32> = self.users.iter().map(|users| users.len() as u32).collect();
        let mut live = self.held.clone();
        let mut now = live.iter().filter(|&&l| l).count();
        let mut most = now;
        for &i in order {
            let reads = self.reads[i as usize].iter().filter(|&&v| !self.free[v as usize]);
            for &v in reads.clone() {
                now += usize::from(!std::mem::replace(&mut live[v as usize], true));
            }
            most = most.max(now);
            for &v in reads {
                left[v as usize] -= 1;
                now -= usize::from(left[v as usize] == 0 && !self.ends[v as usize]);
            }
            for &v in self.defines[i as usize].iter().filter(|&&v| !self.free[v as usize]) {
                let stays = left[v as usize] > 0 || self.ends[v as usize];
                live[v as usize] = stays;
                now += usize::from(stays);
            }
            most = most.max(now);
        }
        most
    }

    #[cfg(test)]
    /// Whether `order` has each item once, after the items that it depends on.
    pub fn allows(&self, order: &[u32]) -> bool {
        let mut done = vec![false; self.len()];
        order.len() == self.len()
            && order.iter().all(|&i| {
                let ready = self.before(i).all(|j| done[j as usize]);
                ready && !std::mem::replace(&mut done[i as usize], true)
            })
    }
}

/// Schedules the equations of a body in the order of their items.
pub fn reorder(order: &[u32], body: &mut Vec<Eqn>) {
    let mut old: Vec<Option<Eqn>> = std::mem::take(body).into_iter().map(Some).collect();
    let item = |&i: &u32| old[i as usize].take().expect("an order has each item once");
    *body = order.iter().map(item).collect();
}

/// Adds values to a list without duplicates. Lists of operators are short; lists of loops may be
/// long, and there a linear search would take quadratic time.
fn note(values: &[Val], numbering: &mut Numbering, into: &mut List) {
    let few = values.len() + into.len() <= 16;
    for &v in values {
        let v = numbering.number(v);
        if !few || !into.contains(&v) {
            into.push(v);
        }
    }
    if !few {
        into.sort_unstable();
        into.dedup();
    }
}

/// The values that a loop reads and that are defined outside of it.
fn captured(lp: &Loop, into: &mut Vec<Val>) {
    let (mut used, mut own) = (Vec::new(), Vec::new());
    inside(lp, &mut used, &mut own);
    own.sort_unstable();
    used.retain(|v| own.binary_search(v).is_err());
    used.sort_unstable();
    used.dedup();
    into.append(&mut used);
}

/// The values that a loop reads and the values that its body defines, with all inner loops.
fn inside(lp: &Loop, used: &mut Vec<Val>, own: &mut Vec<Val>) {
    for c in &lp.carried {
        used.extend([c.init, c.next]);
        own.push(c.param);
    }
    for read in &lp.reads {
        used.extend(&read.list);
        own.push(read.dst);
    }
    used.extend(lp.collects.iter().map(|c| c.value));
    for eqn in &lp.body {
        match eqn {
            Eqn::Op(e) => {
                used.extend(&e.args);
                own.push(e.dst);
            }
            Eqn::Call(call) => {
                used.extend(&call.args);
                own.extend(&call.dsts);
            }
            Eqn::Loop(inner) => {
                inside(inner, used, own);
                own.extend(inner.carried.iter().map(|c| c.result));
                own.extend(inner.collects.iter().flat_map(|c| &c.results));
            }
        }
    }
}
