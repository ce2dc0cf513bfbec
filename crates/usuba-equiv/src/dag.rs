//! Hash-consed DAG of words: the representation on which all engines work.
//!
//! A node denotes a word as a function of the parameters and symbols. An *edge* (n, p, c) denotes
//! the node n with its bits moved by the permutation p, complemented if c is set.
//!
//! *Soundness:* a node is looked up before it is made, so equal edges denote equal words.
//!
//! *Reference:* Ershov 1958 (hash-consing).

use std::ops::Not;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use usuba::ir::op::mask;

use crate::bit_maps::{IDENTITY, MapId, Maps};

/// A node, permuted and perhaps complemented.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge(u64);

impl Edge {
    /// Not an edge of any graph.
    pub const NONE: Edge = Edge(u64::MAX);

    /// The edge to a node as it is.
    pub fn to(node: u32) -> Edge {
        Edge((node as u64) << 32)
    }

    pub fn node(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub fn map(self) -> MapId {
        self.0 as u32 >> 1
    }

    pub fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    /// The edge without its complement.
    pub fn plain(self) -> Edge {
        Edge(self.0 & !1)
    }

    /// The edge to the node as it is.
    pub fn bare(self) -> Edge {
        Edge::to(self.node())
    }

    /// The complement if `flip` is set.
    pub fn flipped(self, flip: bool) -> Edge {
        Edge(self.0 ^ flip as u64)
    }

    fn with_map(self, map: MapId) -> Edge {
        Edge(self.bare().0 | (map as u64) << 1 | self.0 & 1)
    }

    pub fn raw(self) -> u64 {
        self.0
    }

    pub fn from_raw(raw: u64) -> Edge {
        Edge(raw)
    }
}

impl Not for Edge {
    type Output = Edge;

    fn not(self) -> Edge {
        self.flipped(true)
    }
}

/// The kind of a node; `a` and `b` are its two fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// The word `a`.
    Const,
    /// Parameter number `a` of the program.
    Param,
    /// A loop-carried value: its initial value is the edge `a`; `b` is the nesting of the loop and
    /// the number of the symbol among the symbols with the same initial value.
    Carried,
    /// A value that a loop reads: member k of the list node `a` in iteration k; `b` is the
    /// nesting.
    Read,
    And,
    Xor,
    /// Edge `a` moved by map `b`, which is no permutation.
    Map,
    Pack,
    Add,
    Mul,
    /// The upper half of a product.
    MulHigh,
    /// The lower half of a carry-less product.
    Clmul,
    /// The upper half of it.
    ClmulHigh,
    /// Whether edge `a` is below edge `b`.
    Less,
    /// Edge `a` with another number of bits.
    Resize,
    /// Edge `a` looked up in list `b`.
    Lookup,
    /// Result `b` of a call; `a` is the list node of the arguments and the class of the callee.
    Call,
    /// Edge `b` in iteration k of a loop; `a` is a list node and k. The list holds symbols, each
    /// with its value in the next iteration.
    At,
    /// The edges of list `a`.
    List,
}

impl Kind {
    /// Whether both fields are edges, `And` and `Xor` first of all.
    fn has_two_operands(self) -> bool {
        matches!(self, Kind::And | Kind::Xor | Kind::Add | Kind::Mul | Kind::MulHigh | Kind::Less)
            || matches!(self, Kind::Clmul | Kind::ClmulHigh)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    pub kind: Kind,
    pub bits: u8,
    /// Symbols of loops nested deeper than this do not occur in the node except inside of `At`;
    /// the symbols of an outermost loop have depth 1. An upper bound.
    pub depth: u16,
    pub a: u64,
    pub b: u64,
}

/// The kinds of operators, and the operands that are complemented.
const OPERATORS: [(Kind, bool, bool); 5] = [
    (Kind::Xor, false, false),
    (Kind::And, false, false),
    (Kind::And, true, false),
    (Kind::And, false, true),
    (Kind::And, true, true),
];

/// Free slots of the table.
const FREE: u64 = u64::MAX;

/// Slots of the table for each node that may be an operand, and slots that are searched.
const SLOTS: usize = 2;
const ROW: usize = 16;

/// The number of nodes by which the tables grow.
const CHUNK: usize = 1024;

/// A hash-consed DAG.
#[derive(Default)]
pub struct Dag {
    pub nodes: Vec<Node>,
    /// The numbers of the nodes that have two operands, each in one of the [`ROW`] slots from
    /// [`SLOTS`] times the higher operand on; the upper halves have the hashes, so that other nodes
    /// are hardly ever compared. Most results of a program are used soon, so consecutive searches
    /// are close in memory, and growing moves no entry.
    table: Vec<u64>,
    /// The numbers of the nodes of other kinds, and of nodes that found no slot.
    others: FxHashMap<(Kind, u8, u64, u64), u32>,
    /// One bit for several pairs of nodes: whether one of these pairs has an `And` or `Xor`. Eight
    /// higher operands share a word.
    joined: Vec<u64>,
    pub maps: Maps,
    lists: Vec<Rc<[u64]>>,
    list_ids: FxHashMap<Rc<[u64]>, u32>,
}

/// An `And` or `Xor` of two edges.
pub struct Gate {
    pub kind: Kind,
    pub operands: [Edge; 2],
}

impl Dag {
    /// Bytes that nodes and their table occupy; lists and maps are few.
    pub fn bytes_held(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.table.capacity() * size_of::<u64>()
            + self.others.capacity() * size_of::<((Kind, u8, u64, u64), u32)>()
            + self.joined.capacity() * size_of::<u64>()
    }

    pub fn node(&self, edge: Edge) -> &Node {
        &self.nodes[edge.node() as usize]
    }

    pub fn bits(&self, edge: Edge) -> u8 {
        self.node(edge).bits
    }

    pub fn depth(&self, edge: Edge) -> u16 {
        self.node(edge).depth
    }

    /// The number of a list of words or edges.
    pub fn list(&mut self, list: &[u64]) -> u32 {
        if let Some(&id) = self.list_ids.get(list) {
            return id;
        }
        let (id, list) = (self.lists.len() as u32, Rc::<[u64]>::from(list));
        self.lists.push(list.clone());
        self.list_ids.insert(list, id);
        id
    }

    /// A list of words by its number.
    pub fn words(&self, list: u64) -> Rc<[u64]> {
        self.lists[list as usize].clone()
    }

    /// A node that holds edges. Fields that refer to it may use its low half.
    pub fn list_node(&mut self, edges: &[u64]) -> Edge {
        let depth = edges.iter().map(|&raw| self.depth(Edge::from_raw(raw))).max().unwrap_or(0);
        let list = self.list(edges);
        self.intern(Kind::List, 0, depth, list as u64, 0)
    }

    /// The edges of the list node that a field refers to.
    pub fn members(&self, field: u64) -> Rc<[u64]> {
        self.members_of(self.node(Edge::from_raw(field)))
    }

    /// The edges of a list node.
    pub fn members_of(&self, node: &Node) -> Rc<[u64]> {
        self.lists[node.a as usize].clone()
    }

    /// The node with these fields, made if there is none. `depth` follows from the fields.
    pub fn intern(&mut self, kind: Kind, bits: u8, depth: u16, a: u64, b: u64) -> Edge {
        match self.slot(kind, bits, a, b) {
            Ok(node) => Edge::to(node),
            Err(slot) => self.insert(slot, Node { kind, bits, depth, a, b }),
        }
    }

    /// The node with these fields, or the free slot where it belongs, if it is to have one.
    pub fn slot(&self, kind: Kind, bits: u8, a: u64, b: u64) -> Result<u32, Option<usize>> {
        if kind.has_two_operands() {
            let name = hash(kind, bits, a, b);
            let first = SLOTS * high(a, b);
            for step in 0..ROW {
                let at = first + (name as usize + step) % ROW;
                let entry = self.table[at];
                if entry == FREE {
                    return Err(Some(at));
                }
                let id = entry as u32;
                if (entry >> 32) as u32 == name {
                    let node = &self.nodes[id as usize];
                    if node.a == a && node.b == b && node.kind == kind && node.bits == bits {
                        return Ok(id);
                    }
                }
            }
        }
        self.others.get(&(kind, bits, a, b)).copied().ok_or(None)
    }

    pub fn insert(&mut self, slot: Option<usize>, node: Node) -> Edge {
        let Node { kind, bits, a, b, .. } = node;
        let id = self.nodes.len() as u32;
        match slot {
            Some(slot) => self.table[slot] = (hash(kind, bits, a, b) as u64) << 32 | id as u64,
            None => {
                self.others.insert((kind, bits, a, b), id);
            }
        }
        if matches!(kind, Kind::And | Kind::Xor) {
            let (word, bit) = joint(a, b);
            self.joined[word] |= bit;
        }
        self.nodes.push(node);
        // Slots for nodes that have this node as an operand.
        let slots = SLOTS * id as usize + ROW;
        if slots > self.table.len() {
            self.table.resize(slots + CHUNK * SLOTS, FREE);
            self.joined.resize((id as usize + CHUNK) / 8 + 1, 0);
        }
        Edge::to(id)
    }

    /// Whether an `And` or `Xor` of two edges may exist, up to normal form.
    fn is_joined(&self, a: Edge, b: Edge) -> bool {
        let (word, bit) = joint(a.raw(), b.raw());
        self.joined[word] & bit != 0
    }

    /// The word `value`, which fits in `bits` bits.
    pub fn constant(&mut self, bits: u8, value: u64) -> Edge {
        let odd = value & 1 == 1;
        let even = if odd { !value & mask(bits) } else { value };
        self.intern(Kind::Const, bits, 0, even, 0).flipped(odd)
    }

    /// The word that an edge is, if it is constant.
    pub fn value(&self, edge: Edge) -> Option<u64> {
        let node = self.node(edge);
        let flip = if edge.is_complement() { mask(node.bits) } else { 0 };
        (node.kind == Kind::Const).then_some(node.a ^ flip)
    }

    /// Whether permutations of the word are absorbed by the node.
    fn is_rigid(&self, edge: Edge) -> bool {
        matches!(self.node(edge).kind, Kind::Const | Kind::Map)
    }

    /// `edge` with its bits moved by a permutation.
    pub fn permute(&mut self, outer: MapId, edge: Edge) -> Edge {
        if outer == IDENTITY {
            return edge;
        }
        if self.is_rigid(edge) {
            return self.moved(outer, edge);
        }
        let map = self.maps.compose(outer, edge.map());
        edge.with_map(map)
    }

    /// `edge` with its bits moved by any map.
    pub fn moved(&mut self, outer: MapId, edge: Edge) -> Edge {
        let Node { kind, bits, depth, a, b } = *self.node(edge);
        let flip = edge.is_complement();
        if kind == Kind::Const {
            let word = self.maps.apply(outer, a);
            return self.constant(bits, word).flipped(flip);
        }
        let map = self.maps.compose(outer, edge.map());
        if kind == Kind::Map {
            // Its own map is no permutation, so neither is the composition.
            let map = self.maps.compose(map, b as MapId);
            return self.intern(Kind::Map, bits, depth, a, map as u64).flipped(flip);
        }
        match self.maps.inverse(map) {
            Some(_) => edge.with_map(map),
            None => {
                let bare = edge.bare().raw();
                self.intern(Kind::Map, bits, depth, bare, map as u64).flipped(flip)
            }
        }
    }

    /// The permutation that moves out of an operator on these edges, which acts on each bit alone.
    /// It depends on the edges as a set, and permuting all edges permutes it.
    pub fn pivot(&mut self, edges: &[Edge]) -> MapId {
        if edges.iter().all(|e| e.map() == IDENTITY) {
            return IDENTITY;
        }
        let flexible = edges.iter().filter(|&&e| !self.is_rigid(e)).map(|e| e.node());
        let Some(first) = flexible.min() else { return IDENTITY };
        let mut choices = edges.iter().filter(|e| e.node() == first).map(|e| e.map());
        if let (Some(only), None) = (choices.next(), choices.next()) {
            return only;
        }
        let choices: SmallVec<[MapId; 3]> =
            edges.iter().filter(|e| e.node() == first).map(|e| e.map()).collect();
        let moved = choices.into_iter().map(|choice| (self.moved_back(choice, edges), choice));
        moved.min().expect("the smallest node is that of an edge").1
    }

    /// The edges with a permutation taken out of them, sorted.
    fn moved_back(&mut self, map: MapId, edges: &[Edge]) -> SmallVec<[Edge; 3]> {
        let back = self.maps.inverse(map).expect("edges have permutations");
        let mut moved: SmallVec<[Edge; 3]> = edges.iter().map(|&e| self.permute(back, e)).collect();
        moved.sort_unstable();
        moved
    }

    /// The constant d and the edge z for which the plain edge is `kind` of them.
    pub fn masked(&mut self, edge: Edge, kind: Kind) -> Option<(u64, Edge)> {
        let node = *self.node(edge);
        if node.kind != kind {
            return None;
        }
        let (a, b) = (Edge::from_raw(node.a), Edge::from_raw(node.b));
        let (c, z) = if self.node(a).kind == Kind::Const { (a, b) } else { (b, a) };
        let word = self.value(c)?;
        Some((self.maps.apply(edge.map(), word), self.permute(edge.map(), z)))
    }

    /// The existing operators on two plain edges, each as an operator on them: the kind, and the
    /// operands that are complemented.
    pub fn made(&mut self, x: Edge, y: Edge, found: &mut Vec<(Kind, bool, bool, Edge)>) {
        found.clear();
        if x.node() == y.node() {
            // The permutation that moves out may depend on complements.
            if x == y {
                return;
            }
            for (kind, p, q) in OPERATORS {
                let (pivot, a, b, flip) = self.operands(kind, x.flipped(p), y.flipped(q));
                if let Ok(node) = self.slot(kind, self.bits(a), a.raw(), b.raw()) {
                    let edge = self.permute(pivot, Edge::to(node)).flipped(flip);
                    found.push((kind, p, q, edge));
                }
            }
            return;
        }
        let (pivot, mut a, mut b) = (self.pivot(&[x, y]), x, y);
        if pivot != IDENTITY {
            let back = self.maps.inverse(pivot).expect("edges have permutations");
            (a, b) = (self.permute(back, x), self.permute(back, y));
        }
        if !self.is_joined(a, b) {
            return;
        }
        for (kind, p, q) in OPERATORS {
            let (mut a, mut b, mut flip) = (a.flipped(p), b.flipped(q), false);
            if kind == Kind::Xor {
                // Moving a constant may have made it odd.
                flip = a.is_complement() != b.is_complement();
                (a, b) = (a.plain(), b.plain());
            }
            let (low, high) = (a.min(b), a.max(b));
            if let Ok(node) = self.slot(kind, self.bits(low), low.raw(), high.raw()) {
                let edge = self.permute(pivot, Edge::to(node)).flipped(flip);
                found.push((kind, p, q, edge));
            }
        }
    }

    /// The operands of `And` or `Xor` as the node has them; the permutation and the complement of
    /// its result.
    pub fn operands(&mut self, kind: Kind, x: Edge, y: Edge) -> (MapId, Edge, Edge, bool) {
        let pivot = self.pivot(&[x, y]);
        let (mut a, mut b) = (x, y);
        if pivot != IDENTITY {
            let back = self.maps.inverse(pivot).expect("edges have permutations");
            (a, b) = (self.permute(back, x), self.permute(back, y));
        }
        let mut flip = false;
        if kind == Kind::Xor {
            // Moving a constant may have made it odd.
            flip = a.is_complement() != b.is_complement();
            (a, b) = (a.plain(), b.plain());
        }
        (pivot, a.min(b), a.max(b), flip)
    }

    /// The operands of a plain edge to an `And` or `Xor`.
    pub fn gate(&mut self, edge: Edge) -> Option<Gate> {
        let node = *self.node(edge);
        if !matches!(node.kind, Kind::And | Kind::Xor) {
            return None;
        }
        let operands = [node.a, node.b].map(|raw| self.permute(edge.map(), Edge::from_raw(raw)));
        Some(Gate { kind: node.kind, operands })
    }
}

/// The higher of the nodes that two fields refer to.
fn high(a: u64, b: u64) -> usize {
    Edge(a.max(b)).node() as usize
}

/// The word and the bit of `joined` for two fields, in any order.
fn joint(a: u64, b: u64) -> (usize, u64) {
    let [low, high] = [a.min(b), a.max(b)].map(|raw| Edge(raw).node());
    let mixed = (low ^ high.rotate_left(16)).wrapping_mul(0x9e37_79b9);
    (high as usize / 8, 1 << (mixed >> 26))
}

fn hash(kind: Kind, bits: u8, a: u64, b: u64) -> u32 {
    let tag = (kind as u64) << 8 | bits as u64;
    let mixed = (a ^ tag << 16).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b;
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 32) as u32
}
