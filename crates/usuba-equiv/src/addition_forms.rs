//! Engine E2 for additions: sums of words in normal form, as linear combinations modulo 2^n.
//!
//! ```text
//! (a + k) + ~b        {a: 1, k: 1, b: -1} - 1
//! (k - b) + (a - 1)   {a: 1, k: 1, b: -1} - 1     the same node
//! ```
//!
//! *Soundness:* addition modulo 2^n is associative and commutative, and ~w = -w - 1. So sums with one
//! combination are equal. A term is a word that is no sum.
//!
//! *Limits:* a sum of more than `LONGEST` terms is a term itself in sums over it, since combinations
//! would grow from round to round.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use usuba::ir::op::mask;

use crate::bit_maps::IDENTITY;
use crate::dag::{Dag, Edge};

/// The most terms of a combination: the 64 words of the message schedule of SHA-256 are combinations
/// of fewer.
const LONGEST: usize = 128;

/// A linear combination of plain edges, in ascending order, and a constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Combination {
    terms: Vec<(Edge, u64)>,
    constant: u64,
    bits: u8,
}

/// The combinations of the sums of one graph.
#[derive(Default)]
pub struct Additions {
    /// By node.
    combinations: FxHashMap<u32, Rc<Combination>>,
    sums: FxHashMap<Rc<Combination>, Edge>,
}

impl Additions {
    /// The sum of two edges if it exists, else its combination; `None` if that is too long.
    pub fn known(&self, g: &mut Dag, a: Edge, b: Edge) -> Result<Edge, Option<Combination>> {
        let (left, right) = (self.combination(g, a), self.combination(g, b));
        let (bits, ones) = (left.bits, mask(left.bits));
        let constant = left.constant.wrapping_add(right.constant) & ones;
        let mut terms = [&left.terms[..], &right.terms].concat();
        terms.sort_unstable_by_key(|(edge, _)| *edge);
        terms.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.wrapping_add(next.1) & ones;
            }
            is_same
        });
        terms.retain(|(_, factor)| *factor != 0);
        match (&terms[..], constant) {
            ([], _) => return Ok(g.constant(bits, constant)),
            (&[(edge, 1)], 0) => return Ok(edge),
            (&[(edge, factor)], constant) if factor == ones && constant == ones => {
                return Ok(!edge);
            }
            _ if terms.len() > LONGEST => return Err(None),
            _ => {}
        }
        let combination = Combination { terms, constant, bits };
        self.sums.get(&combination).copied().ok_or(Some(combination))
    }

    /// Records the combination of a new node.
    pub fn learn(&mut self, edge: Edge, combination: Option<Combination>) {
        let Some(combination) = combination.map(Rc::new) else { return };
        self.sums.insert(Rc::new(Combination::clone(&combination).complement()), !edge);
        self.sums.insert(Rc::clone(&combination), edge);
        self.combinations.insert(edge.node(), combination);
    }

    /// The combination that an edge is.
    fn combination(&self, g: &Dag, edge: Edge) -> Combination {
        let bits = g.bits(edge);
        if let Some(constant) = g.value(edge) {
            return Combination { terms: Vec::new(), constant, bits };
        }
        let known = self.combinations.get(&edge.node()).filter(|_| edge.map() == IDENTITY);
        let found = match known {
            Some(known) => Combination::clone(known),
            None => Combination { terms: vec![(edge.plain(), 1)], constant: 0, bits },
        };
        if edge.is_complement() { found.complement() } else { found }
    }
}

impl Combination {
    /// ~w = -w - 1.
    fn complement(mut self) -> Combination {
        let ones = mask(self.bits);
        self.terms.iter_mut().for_each(|(_, factor)| *factor = factor.wrapping_neg() & ones);
        self.constant = !self.constant & ones;
        self
    }
}
