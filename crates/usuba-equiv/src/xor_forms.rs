//! Engine E2: XOR expressions in normal form, as sets of terms.
//!
//! ```text
//! (a ^ b) ^ (c ^ b)    {a, c}
//! c ^ a                {a, c}     the same node
//! ```
//!
//! *Soundness:* XOR is associative and commutative, and x ^ x = 0, so XORs with equal sets of terms
//! are equal. A term is a word that is no XOR.
//!
//! *Limits:* an XOR of more than `LONGEST` terms is a term itself in expressions over it: linear
//! layers of ciphers are shorter, and without a bound the sets would grow from round to round.

use rustc_hash::FxHashMap;

use crate::bit_maps::IDENTITY;
use crate::dag::{Dag, Edge};

/// The most terms of a normal form.
const LONGEST: usize = 32;

/// XOR normal forms of the nodes of one graph.
#[derive(Default)]
pub struct Parities {
    /// The terms of nodes that are XORs, sorted.
    terms: FxHashMap<u32, Box<[Edge]>>,
    /// The XOR of each set of terms, with the permutation of the normal form of the DAG factored
    /// out.
    sums: FxHashMap<Box<[Edge]>, Edge>,
}

impl Parities {
    /// The XOR of two plain edges if it exists, else its terms.
    pub fn known(&mut self, g: &mut Dag, a: Edge, b: Edge) -> Result<Edge, Vec<Edge>> {
        let (left, right) = (self.terms(g, a), self.terms(g, b));
        let mut flip = false;
        let mut all: Vec<Edge> = Vec::with_capacity(left.len() + right.len());
        for term in left.into_iter().chain(right) {
            flip ^= term.is_complement();
            all.push(term.plain());
        }
        all.sort_unstable();
        let mut terms: Vec<Edge> = Vec::with_capacity(all.len());
        for term in all {
            if terms.last() == Some(&term) {
                terms.pop();
            } else {
                terms.push(term);
            }
        }
        match terms[..] {
            [] => return Ok(g.constant(g.bits(a), 0).flipped(flip)),
            [only] => return Ok(only.flipped(flip)),
            _ => {}
        }
        if terms.len() > LONGEST || flip {
            // The XOR as it stands, without a normal form. A flip comes from a moved constant only.
            return Err(vec![a, b]);
        }
        let (key, pivot, odd) = normal(g, &terms);
        match self.sums.get(&key[..]) {
            Some(&sum) => Ok(g.permute(pivot, sum).flipped(odd)),
            None => Err(terms),
        }
    }

    /// Records the terms of a new node.
    pub fn learn(&mut self, g: &mut Dag, edge: Edge, terms: Vec<Edge>) {
        let (key, pivot, odd) = normal(g, &terms);
        let back = g.maps.inverse(pivot).expect("edges have permutations");
        let sum = g.permute(back, edge).flipped(odd);
        self.sums.entry(key.into()).or_insert(sum);
        self.terms.insert(edge.node(), terms.into());
    }

    fn terms(&self, g: &mut Dag, edge: Edge) -> Vec<Edge> {
        match self.terms.get(&edge.node()) {
            Some(terms) if edge.map() == IDENTITY => terms.to_vec(),
            Some(terms) => terms.iter().map(|&t| g.permute(edge.map(), t)).collect(),
            None => vec![edge],
        }
    }
}

/// The terms with their common permutation factored out, sorted; that permutation; and whether the
/// XOR of the rest is the complement.
fn normal(g: &mut Dag, terms: &[Edge]) -> (Vec<Edge>, u32, bool) {
    let pivot = g.pivot(terms);
    if pivot == IDENTITY {
        return (terms.to_vec(), pivot, false);
    }
    let back = g.maps.inverse(pivot).expect("edges have permutations");
    let moved: Vec<Edge> = terms.iter().map(|&t| g.permute(back, t)).collect();
    let odd = moved.iter().filter(|t| t.is_complement()).count() % 2 == 1;
    let mut plain: Vec<Edge> = moved.into_iter().map(Edge::plain).collect();
    plain.sort_unstable();
    (plain, pivot, odd)
}
