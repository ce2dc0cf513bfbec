//! Engine E1: value numbering in a hash-consed DAG of words.
//!
//! ```text
//! ~(~a | (b <<< 1))     a ──┐
//! a & ~(b <<< 1)        b ──┴ And       both are the edge to this one node
//! ```
//!
//! *Soundness:* each rule of the normal form is an identity of words, and nodes of the DAG are made
//! in that form only.
//!
//! *Limits:* the converse does not hold, which is why there are other engines.
//!
//! The normal form:
//! - `And` and `Xor` act on each bit alone, so permutations and (for `Xor`) complements move out of
//!   them: p(x) & p(y) = p(x & y). The operand with the smallest node has the identity; the
//!   permutation   that this takes is on the edge to the result. Operands are sorted.
//! - An expression of one word z and constants is a ^ (b & z).
//! - An operator on x and on an operator that has x as an operand is simplified: x & (x ^ r) is   x
//!   & ~r.
//! - A constant is even; odd constants are complements. Constants and words moved by a map that is
//!   no   permutation absorb permutations.
//! - Shifts are rotations masked by a constant, arithmetic shifts and `Bitmask` are maps, a - b is
//!   ~(~a + b), and three-input logic is its algebraic normal form.
//! - Additions, products, comparisons, packed and resized words, look-ups, calls and loops are
//!   uninterpreted functions: equal if their operands are.
//!
//! *Reference:* Alpern, Wegman, Zadeck 1988 (value numbering).

use std::ops::{Deref, DerefMut};

use rustc_hash::FxHashMap;
use usuba::ir::op::mask;

use crate::addition_forms::Combination;
use crate::byte_functions::Bytes;
use crate::dag::{Dag, Edge, Kind, Node};
use crate::invariants::Guesses;
use crate::rewrites::Rewrites;

/// The DAG with the engines that merge its nodes.
pub struct Graph {
    pub dag: Dag,
    /// The edge for each function of three edges that was requested, in a normal form: the
    /// permutation factored out, zero on zeros.
    pub functions: FxHashMap<(u8, [Edge; 3]), Edge>,
    /// The engines that find more equalities than structural ones.
    pub rewrites: Option<Rewrites>,
    /// Functions of one byte.
    pub bytes: Bytes,
    /// The assumptions of earlier loop inductions.
    pub guesses: Guesses,
}

/// Two edges of which one, without its complement, is an operator on the other one.
struct Shared {
    /// The operand, up to complement.
    x: Edge,
    /// The operator of this kind on it.
    other: Edge,
    kind: Kind,
    /// The operand that is `x` or its complement, and the other operand.
    own: Edge,
    rest: Edge,
}

impl Deref for Graph {
    type Target = Dag;

    fn deref(&self) -> &Dag {
        &self.dag
    }
}

impl DerefMut for Graph {
    fn deref_mut(&mut self) -> &mut Dag {
        &mut self.dag
    }
}

impl Graph {
    /// Runs `act` with E1 alone.
    pub fn quietly<R>(&mut self, act: impl FnOnce(&mut Graph) -> R) -> R {
        let engines = self.rewrites.take();
        let result = act(self);
        self.rewrites = engines;
        result
    }

    /// An empty graph; with `rewrites` all engines merge nodes, without them only E1 does.
    pub fn new(rewrites: Option<Rewrites>) -> Graph {
        Graph {
            dag: Dag::default(),
            functions: FxHashMap::default(),
            rewrites,
            bytes: Bytes::default(),
            guesses: Guesses::default(),
        }
    }

    pub fn and(&mut self, x: Edge, y: Edge) -> Edge {
        let zero = |g: &mut Graph| {
            let bits = g.bits(x);
            g.constant(bits, 0)
        };
        if x == y {
            return x;
        }
        if x == !y {
            return zero(self);
        }
        for (c, other) in [(x, y), (y, x)] {
            let Some(word) = self.value(c) else { continue };
            if word == 0 {
                return c;
            }
            if word == mask(self.bits(c)) {
                return other;
            }
            // With constants a function of one word z is a ^ (b & z), in one way.
            if other.is_complement() {
                let kept = self.and(c, !other);
                return self.xor(c, kept);
            }
            if let Some((d, z)) = self.masked(other, Kind::And) {
                let both = self.dag.constant(self.dag.bits(c), word & d);
                return self.and(both, z);
            }
            if let Some((d, z)) = self.masked(other, Kind::Xor) {
                let both = self.dag.constant(self.dag.bits(c), word & d);
                let kept = self.and(c, z);
                return self.xor(both, kept);
            }
            return self.bitwise(Kind::And, x, y);
        }
        if let Some(Shared { x, other, kind, own, rest }) = self.shared(x, y) {
            // The operand is x or its complement, as `inverse` says.
            let inverse = own.is_complement() != x.is_complement();
            return match (kind, inverse, other.is_complement()) {
                (Kind::And, false, false) => other,
                (Kind::And, true, false) => zero(self),
                (Kind::And, false, true) => self.and(x, !rest),
                (Kind::And, true, true) => x,
                // Where x is 1, it complements the rest; `inverse` complements it.
                (_, inverse, flip) => self.and(x, rest.flipped(inverse == flip)),
            };
        }
        self.bitwise(Kind::And, x, y)
    }

    pub fn xor(&mut self, x: Edge, y: Edge) -> Edge {
        let flip = x.is_complement() != y.is_complement();
        let (x, y) = (x.plain(), y.plain());
        if x == y {
            return self.dag.constant(self.dag.bits(x), 0).flipped(flip);
        }
        for (c, other) in [(x, y), (y, x)] {
            let Some(word) = self.value(c) else { continue };
            if word == 0 {
                return other.flipped(flip);
            }
            if let Some((d, z)) = self.masked(other, Kind::Xor) {
                let both = self.dag.constant(self.dag.bits(c), word ^ d);
                return self.xor(both, z).flipped(flip);
            }
            return self.bitwise(Kind::Xor, x, y).flipped(flip);
        }
        if let Some(Shared { kind, own, rest, .. }) = self.shared(x, y) {
            return match kind {
                // x ^ (x & r) = x & ~r, and x ^ (~x & r) = ~(~x & ~r)
                Kind::And => self.and(own, !rest).flipped(own.is_complement()),
                _ => rest.flipped(own.is_complement()),
            }
            .flipped(flip);
        }
        self.bitwise(Kind::Xor, x, y).flipped(flip)
    }

    /// The relation of two edges of which one is an operator on the other, if any. Operands are
    /// made before the nodes that have them.
    fn shared(&mut self, x: Edge, y: Edge) -> Option<Shared> {
        let (x, other) = if x.node() < y.node() { (x, y) } else { (y, x) };
        let node = self.node(other);
        if !matches!(node.kind, Kind::And | Kind::Xor) {
            return None;
        }
        let (kind, a, b) = (node.kind, Edge::from_raw(node.a), Edge::from_raw(node.b));
        if a.node() != x.node() && b.node() != x.node() {
            return None;
        }
        let [a, b] = [a, b].map(|operand| self.permute(other.map(), operand));
        if a.plain() == x.plain() {
            Some(Shared { x, other, kind, own: a, rest: b })
        } else if b.plain() == x.plain() {
            Some(Shared { x, other, kind, own: b, rest: a })
        } else {
            None
        }
    }

    pub fn or(&mut self, x: Edge, y: Edge) -> Edge {
        !self.and(!x, !y)
    }

    /// `And` or `Xor` of two edges that are neither equal nor complements nor trivial constants;
    /// operands of `Xor` are plain.
    fn bitwise(&mut self, kind: Kind, x: Edge, y: Edge) -> Edge {
        let (pivot, a, b, flip) = self.operands(kind, x, y);
        let found = match self.slot(kind, self.bits(a), a.raw(), b.raw()) {
            Ok(node) => Edge::to(node),
            Err(slot) => self.new_bitwise(slot, kind, a, b),
        };
        self.permute(pivot, found).flipped(flip)
    }

    /// A sum that the engines know, or its combination.
    pub(crate) fn known_sum(&mut self, a: Edge, b: Edge) -> Result<Edge, Option<Combination>> {
        let Some(rewrites) = &self.rewrites else { return Err(None) };
        rewrites.additions.known(&mut self.dag, a, b)
    }

    pub(crate) fn learn_sum(&mut self, edge: Edge, combination: Option<Combination>) {
        if let Some(rewrites) = &mut self.rewrites {
            rewrites.additions.learn(edge, combination);
        }
    }

    fn new_bitwise(&mut self, slot: Option<usize>, kind: Kind, a: Edge, b: Edge) -> Edge {
        let depth = self.depth(a).max(self.depth(b));
        let node = Node { kind, bits: self.bits(a), depth, a: a.raw(), b: b.raw() };
        let Some(rewrites) = &mut self.rewrites else { return self.dag.insert(slot, node) };
        rewrites.known(&mut self.dag, kind, a, b).unwrap_or_else(|facts| {
            // The engines may have made nodes, so the slot may be another one now.
            let edge = self.dag.intern(kind, node.bits, depth, node.a, node.b);
            rewrites.learn(&mut self.dag, edge, facts);
            edge
        })
    }
}
