//! Double-word arithmetic: numbers of two 64-bit words that C compilers see as one.
//!
//! ```text
//! l = a * b; h = mulhigh(a, b)                      uint64_t h;
//!                                                   const uint64_t l = f_product128(a, b, &h);
//! l = a + b; c = less(l, a); s = x + y; h = c + s   uint64_t h;
//!                                                   const uint64_t l = f_sum128(a, x, b, y, &h);
//! ```
//!
//! With one expression per word, a product takes two multiplications, and a carry is a comparison
//! and more; as one number both are the instructions that a processor has for them. For compilers
//! without such numbers the helpers compute both words separately.

use rustc_hash::{FxHashMap, FxHashSet};

use super::demand::Demand;
use crate::ir::{Eqn, Node, Op, OpEqn, Val};

/// Two words that are defined together.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub low: Val,
    pub high: Val,
    pub of: Wide,
}

/// The form of a pair.
#[derive(Clone, Copy, Debug)]
pub enum Wide {
    Product(Val, Val),
    /// Lower words, and upper ones where there are some.
    Sum([Val; 2], [Option<Val>; 2]),
}

/// The pairs of a node.
#[derive(Default, Debug)]
pub struct Pairs {
    /// By the equation in whose place a pair is.
    at: FxHashMap<Val, Pair>,
    /// Values whose equations are obsolete.
    gone: FxHashSet<Val>,
}

/// The pairs of `node`, in which words of 64 bits are words of C.
pub fn pairs(node: &Node, demand: &Demand) -> Pairs {
    let mut leaving: FxHashSet<Val> = node.outs.iter().copied().collect();
    leave(&node.body, &mut leaving);
    let mut finder = Finder { node, demand, leaving, pairs: Pairs::default() };
    finder.block(&node.body);
    finder.pairs
}

impl Pairs {
    /// The pair in place of the equation of `v`.
    pub fn at(&self, v: Val) -> Option<Pair> {
        self.at.get(&v).copied()
    }

    /// Whether the equation of `v` is part of a pair before it, or of none of its words.
    pub fn took(&self, v: Val) -> bool {
        self.gone.contains(&v)
    }
}

/// Values that loops carry or collect, which no count of reads contains.
fn leave(block: &[Eqn], leaving: &mut FxHashSet<Val>) {
    for eqn in block {
        if let Eqn::Loop(l) = eqn {
            leaving.extend(l.carried.iter().map(|c| c.next));
            leaving.extend(l.collects.iter().map(|c| c.value));
            leave(&l.body, leaving);
        }
    }
}

struct Finder<'a> {
    node: &'a Node,
    demand: &'a Demand,
    leaving: FxHashSet<Val>,
    pairs: Pairs,
}

impl Finder<'_> {
    fn block(&mut self, block: &[Eqn]) {
        let mut places: FxHashMap<Val, usize> = FxHashMap::default();
        let mut own: Vec<(usize, &OpEqn)> = Vec::new();
        for (at, eqn) in block.iter().enumerate() {
            match eqn {
                Eqn::Op(op) => {
                    places.insert(op.dst, at);
                    if self.demand.live[op.dst.0 as usize] && self.node.bits_of(op.dst) == 64 {
                        own.push((at, op));
                    }
                }
                Eqn::Call(call) => places.extend(call.dsts.iter().map(|&v| (v, at))),
                Eqn::Loop(l) => {
                    places.extend(l.carried.iter().map(|c| (c.result, at)));
                    let results = l.collects.iter().flat_map(|c| &c.results);
                    places.extend(results.map(|&v| (v, at)));
                    self.block(&l.body);
                }
            }
        }
        self.products(&own);
        self.sums(&own, &places);
    }

    /// The lower half of a product with its upper half, in the place of the first of them.
    fn products(&mut self, own: &[(usize, &OpEqn)]) {
        let key = |eqn: &OpEqn| {
            let (a, b) = (eqn.args[0], eqn.args[1]);
            if a <= b { (a, b) } else { (b, a) }
        };
        let of = |op: Op| own.iter().filter(move |(_, eqn)| eqn.op == op);
        let low: FxHashMap<(Val, Val), (usize, Val)> =
            of(Op::Mul).map(|&(at, eqn)| (key(eqn), (at, eqn.dst))).collect();
        for &(at, eqn) in of(Op::MulHigh) {
            let Some(&(other, low)) = low.get(&key(eqn)) else { continue };
            let (first, last) = if at < other { (eqn.dst, low) } else { (low, eqn.dst) };
            let of = Wide::Product(eqn.args[0], eqn.args[1]);
            self.pairs.at.insert(first, Pair { low, high: eqn.dst, of });
            self.pairs.gone.insert(last);
        }
    }

    /// Sums of words with the additions of their carries, in the place of the lower sum.
    fn sums(&mut self, own: &[(usize, &OpEqn)], places: &FxHashMap<Val, usize>) {
        let by: FxHashMap<Val, (usize, &OpEqn)> =
            own.iter().map(|&(at, eqn)| (eqn.dst, (at, eqn))).collect();
        // Read once, and by an equation.
        let passing = |v: Val| self.demand.reads[v.0 as usize] == 1 && !self.leaving.contains(&v);
        let carry = |v: Val| {
            let (_, eqn) = by.get(&v).filter(|(_, eqn)| eqn.op == Op::Less && passing(v))?;
            let &(at, sum) = by.get(&eqn.args[0]).filter(|(_, sum)| sum.op == Op::Add)?;
            let x = eqn.args[1];
            let other = match (sum.args[0], sum.args[1]) {
                (a, b) if a == x => b,
                (a, b) if b == x => a,
                _ => return None,
            };
            Some((at, sum.dst, [x, other]))
        };
        let mut found = Vec::new();
        for &(_, high) in own.iter().filter(|(_, eqn)| eqn.op == Op::Add) {
            let args = [high.args[0], high.args[1]];
            let Some((which, (place, low, words))) =
                (0..2).find_map(|which| Some((which, carry(args[which])?)))
            else {
                continue;
            };
            let before = |v: Val| places.get(&v).is_none_or(|&at| at < place);
            let rest = args[1 - which];
            let mut gone = vec![args[which], high.dst];
            let upper = match by.get(&rest) {
                _ if before(rest) => [Some(rest), None],
                Some((_, sum)) if sum.op == Op::Add && passing(rest) => {
                    gone.push(rest);
                    [Some(sum.args[0]), Some(sum.args[1])]
                }
                _ => continue,
            };
            if upper.iter().flatten().all(|&v| before(v)) {
                found.push((Pair { low, high: high.dst, of: Wide::Sum(words, upper) }, gone));
            }
        }
        for (pair, gone) in found {
            // One sum has one carry, and no equation is part of two pairs: the upper word of one is
            // not the lower word of another.
            let Pairs { at, gone: taken } = &self.pairs;
            let free = |v: &Val| !at.contains_key(v) && !taken.contains(v);
            if free(&pair.low) && gone.iter().all(free) {
                self.pairs.at.insert(pair.low, pair);
                self.pairs.gone.extend(gone);
            }
        }
    }
}
