//! Engine E4, for bits: nodes that agree on many inputs are compared over what both depend on.
//!
//! ```text
//! t = a ^ b;  u = t & c;   ...        before: an S-box of ands and xors
//! v = Lut3(a, b, c);       ...        after: the same S-box of other operators
//! ```
//!
//! Every node has a *signature*, its values on random inputs. A new node whose signature is that
//! of a known one, or of its complement, is probably equal to it. The proof is local: both are
//! taken apart, the youngest node first, until the few nodes that are left, the leaves of the
//! *window*, have truth tables over which both are one function. What is random about a signature
//! decides what is tried, never what is believed.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::graph::{Edge, Graph, Kind};
use crate::table::VARIABLES;

/// Values on random inputs.
type Signature = [u64; 4];

/// A truth table over the leaves of a window.
type Table = [u64; 4];

/// Leaves of a window whose tables are compared, at most: the tables have 256 rows.
const MOST: usize = 8;

/// Leaves that a window may have while it is being opened.
const WIDEST: usize = 24;

/// Nodes in a window, at most.
const LARGEST: usize = 160;

/// Nodes with one signature that are remembered; more are hardly ever different.
const ALIKE: usize = 3;

/// Windows in vain after which no more are opened: such programs are not made of small functions.
const PATIENCE: u32 = 3000;

pub struct Sweep {
    /// Signatures of the nodes that are operators.
    signatures: FxHashMap<u32, Signature>,
    /// Nodes by signature, complemented if its first bit would be set.
    alike: FxHashMap<Signature, Vec<Edge>>,
    failures: u32,
}

impl Sweep {
    pub fn new() -> Sweep {
        let (signatures, alike) = (FxHashMap::default(), FxHashMap::default());
        Sweep { signatures, alike, failures: 0 }
    }

    /// An edge that is `kind` of two bits, or the signature of a new node.
    pub fn known(
        &mut self,
        g: &mut Graph,
        kind: Kind,
        a: Edge,
        b: Edge,
    ) -> Result<Edge, Signature> {
        let (x, y) = (self.signature(g, a), self.signature(g, b));
        let own =
            std::array::from_fn(|i| if kind == Kind::And { x[i] & y[i] } else { x[i] ^ y[i] });
        let (name, flip) = normal(own);
        if name == [0; 4] {
            let constant = g.constant(1, 0).flipped(flip);
            if self.is(g, kind, a, b, constant) {
                return Ok(constant);
            }
        }
        for candidate in self.alike.get(&name).cloned().unwrap_or_default() {
            let candidate = candidate.flipped(flip);
            if self.is(g, kind, a, b, candidate) {
                return Ok(candidate);
            }
        }
        Err(own)
    }

    /// Remembers the node that was made.
    pub fn learn(&mut self, edge: Edge, signature: Signature) {
        self.signatures.insert(edge.node(), signature);
        self.remember(edge, signature);
    }

    fn remember(&mut self, edge: Edge, signature: Signature) {
        let (name, flip) = normal(signature);
        let list = self.alike.entry(name).or_default();
        if list.len() < ALIKE {
            list.push(edge.flipped(flip));
        }
    }

    fn signature(&mut self, g: &Graph, edge: Edge) -> Signature {
        let node = g.node(edge);
        let bare = match self.signatures.get(&edge.node()) {
            Some(known) => *known,
            None if node.kind == Kind::Const => [0; 4],
            None => {
                // Parameters, and whatever else is not taken apart: any values will do.
                let signature =
                    std::array::from_fn(|i| scrambled((edge.node() as u64) << 2 | i as u64));
                self.signatures.insert(edge.node(), signature);
                self.remember(edge.bare(), signature);
                signature
            }
        };
        if edge.is_complement() { bare.map(|word| !word) } else { bare }
    }

    /// Whether a window shows that `kind` of two bits is a third one.
    fn is(&mut self, g: &Graph, kind: Kind, a: Edge, b: Edge, c: Edge) -> bool {
        if self.failures > PATIENCE {
            return false;
        }
        let mut leaves: BTreeSet<u32> = [a, b, c].map(Edge::node).into();
        let mut inside: Vec<u32> = Vec::new();
        loop {
            // Parents are younger than children, so the youngest leaf is below no other one.
            let open = leaves.iter().rev().copied().find(|&leaf| is_operator(g, leaf));
            let before = leaves.len();
            let next = open.map(|leaf| (leaf, operands(g, leaf)));
            let grows = next.is_none_or(|(_, [x, y])| {
                x.node() != y.node() && !leaves.contains(&x.node()) && !leaves.contains(&y.node())
            });
            // What a window shows, those below it show, too; so only small ones are looked at.
            if grows && before <= MOST && agree(g, &leaves, &inside, kind, [a, b, c]) {
                return true;
            }
            let Some((leaf, children)) = next else { break };
            leaves.remove(&leaf);
            leaves.extend(children.map(Edge::node));
            inside.push(leaf);
            if leaves.len() > WIDEST || inside.len() > LARGEST {
                break;
            }
        }
        self.failures += 1;
        false
    }
}

/// The signature or its complement: that which is zero on the first input.
fn normal(signature: Signature) -> (Signature, bool) {
    let flip = signature[0] & 1 == 1;
    (if flip { signature.map(|word| !word) } else { signature }, flip)
}

/// Bits that look random (the finalizer of Stafford's variant 13).
fn scrambled(seed: u64) -> u64 {
    let z = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn is_operator(g: &Graph, node: u32) -> bool {
    matches!(g.nodes[node as usize].kind, Kind::And | Kind::Xor)
}

fn operands(g: &Graph, node: u32) -> [Edge; 2] {
    let node = &g.nodes[node as usize];
    [node.a, node.b].map(Edge::from_raw)
}

/// Whether `kind` of `a` and `b` is `c`, as functions of the leaves. `inside` holds the nodes
/// between, parents first.
fn agree(
    g: &Graph,
    leaves: &BTreeSet<u32>,
    inside: &[u32],
    kind: Kind,
    [a, b, c]: [Edge; 3],
) -> bool {
    let mut tables: FxHashMap<u32, Table> = FxHashMap::default();
    let open = leaves.iter().filter(|&&leaf| g.nodes[leaf as usize].kind != Kind::Const);
    for (at, &leaf) in open.enumerate() {
        tables.insert(leaf, variable(at));
    }
    let table = |tables: &FxHashMap<u32, Table>, edge: Edge| {
        // Constants of one bit are zero or its complement.
        let bare = tables.get(&edge.node()).copied().unwrap_or([0; 4]);
        if edge.is_complement() { bare.map(|word| !word) } else { bare }
    };
    let both = |kind: Kind, x: Table, y: Table| -> Table {
        std::array::from_fn(|i| if kind == Kind::And { x[i] & y[i] } else { x[i] ^ y[i] })
    };
    for &node in inside.iter().rev() {
        let [x, y] = operands(g, node).map(|edge| table(&tables, edge));
        tables.insert(node, both(g.nodes[node as usize].kind, x, y));
    }
    both(kind, table(&tables, a), table(&tables, b)) == table(&tables, c)
}

/// The table of a variable among eight.
fn variable(at: usize) -> Table {
    match VARIABLES.get(at) {
        Some(&low) => [(low as u64) << 32 | low as u64; 4],
        None if at == 5 => [0xffff_ffff_0000_0000; 4],
        None => std::array::from_fn(|i| if i >> (at - 6) & 1 == 1 { u64::MAX } else { 0 }),
    }
}
