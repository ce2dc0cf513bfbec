//! Functions of one byte, compared by exhaustive enumeration: tables of 256 values.
//!
//! ```text
//! (x << 1) ^ (Bitmask(x, 7) & 0x1b)         Affine(M)(x)
//! table 00 02 04 .. 1b 19 ..                the same table of the same x: the same node
//! ```
//!
//! A node of eight bits that depends on one other node only, its *leaf*, has a table of 256 values.
//! Nodes over one leaf are merged if their tables are equal, up to complement and rotation. So a
//! table, a circuit for it, and the instructions that replace it are one node, and so are functions
//! that several of them compose.
//!
//! *Soundness:* tables of the same leaf are compared entry by entry.
//!
//! *Limits:* leaves are as far back as possible, and nodes over different leaves are not compared.

use rustc_hash::FxHashMap;

use crate::bit_maps::{IDENTITY, MapId, Maps};
use crate::dag::{Dag, Edge, Kind};

type Table = [u8; 256];

/// The number of a table. Equal tables have one number, and most are tables of many nodes, so each
/// operation on tables is computed once.
type TableId = u32;

/// A node and a function of it.
type Form = (u32, TableId);

/// The table of the byte itself.
const ITSELF: TableId = 0;

/// The operation that makes a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Made {
    Constant(u8),
    /// An operator on two tables.
    Operator(Kind, TableId, TableId),
    /// Rows, by their node, looked up by a table.
    Lookup(u64, TableId),
    /// A table behind a map of eight bits, perhaps complemented.
    Moved(MapId, bool, TableId),
}

/// The facts about nodes of eight bits.
pub struct Bytes {
    tables: Vec<Table>,
    numbers: FxHashMap<Table, TableId>,
    made: FxHashMap<Made, TableId>,
    normals: FxHashMap<TableId, Normal>,
    /// For each node its leaf and table; `None` if it is a leaf itself.
    forms: FxHashMap<u32, Option<Form>>,
    /// The representative of each edge that was queried.
    unified: FxHashMap<Edge, Edge>,
    /// The edge for each leaf and table in its normal form.
    known: FxHashMap<Form, Edge>,
}

impl Default for Bytes {
    fn default() -> Bytes {
        let itself = std::array::from_fn(|x| x as u8);
        Bytes {
            tables: vec![itself],
            numbers: FxHashMap::from_iter([(itself, ITSELF)]),
            made: FxHashMap::default(),
            normals: FxHashMap::default(),
            forms: FxHashMap::default(),
            unified: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }
}

impl Bytes {
    fn table(&self, id: TableId) -> &Table {
        &self.tables[id as usize]
    }

    fn number(&mut self, table: Table) -> TableId {
        *self.numbers.entry(table).or_insert_with(|| {
            self.tables.push(table);
            self.tables.len() as TableId - 1
        })
    }

    /// The number of a table that an operation makes of others.
    fn make(&mut self, how: Made, row: impl Fn(&Bytes, usize) -> u8) -> TableId {
        if let Some(&known) = self.made.get(&how) {
            return known;
        }
        let table = std::array::from_fn(|x| row(self, x));
        let number = self.number(table);
        self.made.insert(how, number);
        number
    }

    fn moved(&mut self, maps: &Maps, map: MapId, flip: bool, id: TableId) -> TableId {
        if map == IDENTITY && !flip {
            return id;
        }
        let ones = if flip { 0xff } else { 0 };
        // Composing maps takes longer than composing their tables.
        if map != IDENTITY && id != ITSELF {
            let by = self.moved(maps, map, false, ITSELF);
            let row = |b: &Bytes, x| b.table(by)[b.table(id)[x] as usize] ^ ones;
            return self.make(Made::Moved(map, flip, id), row);
        }
        let row = |b: &Bytes, x| maps.apply(map, b.table(id)[x] as u64) as u8 ^ ones;
        self.make(Made::Moved(map, flip, id), row)
    }

    fn normal(&mut self, id: TableId) -> Normal {
        if let Some(&known) = self.normals.get(&id) {
            return known;
        }
        let (turn, flip) = normal_way(self.table(id));
        let form = self.number(self.table(id).map(|y| way_back((turn, flip), y)));
        let normal = Normal { form, turn, flip };
        self.normals.insert(id, normal);
        normal
    }

    /// The representative of all edges of eight bits with the same values.
    pub fn unified(&mut self, g: &mut Dag, edge: Edge) -> Edge {
        if let Some(&known) = self.unified.get(&edge) {
            return known;
        }
        let unified = self.same_table(g, edge);
        self.unified.insert(edge, unified);
        unified
    }

    /// The first edge that has the values of an edge of eight bits.
    fn same_table(&mut self, g: &mut Dag, edge: Edge) -> Edge {
        if g.value(edge).is_some() {
            return edge;
        }
        let Some((leaf, table)) = self.node_form(g, edge.node()) else { return edge };
        let table = self.through(g, edge, table);
        let rows = self.table(table);
        if rows.iter().all(|&y| y == rows[0]) {
            return g.constant(8, rows[0] as u64);
        }
        let Normal { form, turn, flip } = self.normal(table);
        let known = match form {
            ITSELF => Some(Edge::to(leaf)),
            form => self.known.get(&(leaf, form)).copied(),
        };
        match known {
            Some(known) => turned(g, turn, known).flipped(flip),
            None => {
                let bare = turned(g, (8 - turn) % 8, edge).flipped(flip);
                self.known.insert((leaf, form), bare);
                edge
            }
        }
    }

    /// The values of an edge, given the table of its node.
    fn through(&mut self, g: &mut Dag, edge: Edge, table: TableId) -> TableId {
        self.moved(&g.maps, edge.map(), edge.is_complement(), table)
    }

    /// The leaf and the table of a node that is no leaf.
    fn node_form(&mut self, g: &mut Dag, number: u32) -> Option<Form> {
        if let Some(&form) = self.forms.get(&number) {
            return form;
        }
        let form = self.new_form(g, number);
        self.forms.insert(number, form);
        form
    }

    fn new_form(&mut self, g: &mut Dag, number: u32) -> Option<Form> {
        let node = g.nodes[number as usize];
        if node.bits != 8 {
            return None;
        }
        let (a, b) = (Edge::from_raw(node.a), Edge::from_raw(node.b));
        // An operand of another width is no byte.
        if matches!(node.kind, Kind::Map | Kind::Lookup) && g.bits(a) != 8 {
            return None;
        }
        match node.kind {
            Kind::And | Kind::Xor | Kind::Add | Kind::Mul => {
                let leaf = match (self.leaf_of(g, a), self.leaf_of(g, b)) {
                    (Some(leaf), None) | (None, Some(leaf)) => leaf,
                    (Some(leaf), Some(other)) if leaf == other => leaf,
                    _ => return None,
                };
                let (x, y) = (self.operand(g, a), self.operand(g, b));
                let both = |bytes: &Bytes, i: usize| {
                    let (x, y) = (bytes.table(x)[i], bytes.table(y)[i]);
                    match node.kind {
                        Kind::And => x & y,
                        Kind::Xor => x ^ y,
                        Kind::Add => x.wrapping_add(y),
                        _ => x.wrapping_mul(y),
                    }
                };
                Some((leaf, self.make(Made::Operator(node.kind, x, y), both)))
            }
            Kind::Map => {
                let leaf = self.leaf_of(g, a)?;
                let table = self.operand(g, a);
                Some((leaf, self.moved(&g.maps, node.b as MapId, false, table)))
            }
            Kind::Lookup => {
                let leaf = self.leaf_of(g, a)?;
                let by = self.operand(g, a);
                let rows = g.words(node.b);
                let row = |bytes: &Bytes, x| {
                    rows.get(bytes.table(by)[x] as usize).map_or(0, |&y| y as u8)
                };
                Some((leaf, self.make(Made::Lookup(node.b, by), row)))
            }
            _ => None,
        }
    }

    /// The leaf of an edge unless it is constant.
    fn leaf_of(&mut self, g: &mut Dag, edge: Edge) -> Option<u32> {
        if g.value(edge).is_some() {
            return None;
        }
        let node = edge.node();
        Some(self.node_form(g, node).map_or(node, |(leaf, _)| leaf))
    }

    /// The values of an edge as a function of its leaf.
    fn operand(&mut self, g: &mut Dag, edge: Edge) -> TableId {
        if let Some(value) = g.value(edge) {
            return self.make(Made::Constant(value as u8), |_, _| value as u8);
        }
        let table = self.node_form(g, edge.node()).map_or(ITSELF, |(_, table)| table);
        self.through(g, edge, table)
    }
}

/// An edge of eight bits rotated to the left.
fn turned(g: &mut Dag, turn: u8, edge: Edge) -> Edge {
    let map = g.maps.rotation(8, turn);
    g.permute(map, edge)
}

/// The way from a table to another table: rotated to the left, then perhaps complemented.
#[derive(Clone, Copy)]
struct Normal {
    form: TableId,
    turn: u8,
    flip: bool,
}

/// An entry before it was rotated and perhaps complemented.
fn way_back((turn, flip): (u8, bool), y: u8) -> u8 {
    (if flip { !y } else { y }).rotate_right(turn as u32)
}

/// The way from the normal form of a table to the table. The normal form is the smallest, in the
/// order of entries, of the sixteen rotated and complemented tables, and is the same for all
/// sixteen. The normal form of the identity is the identity.
fn normal_way(table: &Table) -> (u8, bool) {
    let mut left: Vec<(u8, bool)> =
        [false, true].into_iter().flat_map(|flip| (0..8).map(move |turn| (turn, flip))).collect();
    for &y in table {
        // All ways left leave these as they are, or all exchange them.
        if matches!(y, 0 | 0xff) && left.iter().all(|way| way.1 == left[0].1) {
            continue;
        }
        let least = left.iter().map(|&way| way_back(way, y)).min();
        let least = least.expect("there is always a way");
        left.retain(|&way| way_back(way, y) == least);
        if left.len() == 1 {
            break;
        }
    }
    left[0]
}

#[cfg(test)]
mod tests {
    use usuba::ir::Op;
    use usuba::ir::op::{INVERSES, affine_form, affine_inverse_form};

    use super::*;
    use crate::value_numbering::Graph;

    fn table(f: impl Fn(u8) -> u8) -> Table {
        std::array::from_fn(|x| f(x as u8))
    }

    /// Multiplication by x, written with operators on words.
    fn doubled(g: &mut Graph, x: Edge) -> Edge {
        let shifted = g.op(&Op::Shl(1), 8, &[x]);
        let top = g.op(&Op::Bitmask(7), 8, &[x]);
        let modulus = g.constant(8, 0x1b);
        let reduced = g.op(&Op::And, 8, &[top, modulus]);
        g.op(&Op::Xor, 8, &[shifted, reduced])
    }

    fn matrix(f: impl Fn(u8) -> u8) -> Op {
        let (matrix, c) = affine_form(&table(f)).expect("an affine map");
        Op::Affine(matrix, c)
    }

    fn twice(x: u8) -> u8 {
        x << 1 ^ if x >> 7 == 1 { 0x1b } else { 0 }
    }

    #[test]
    fn operators_and_a_matrix_are_one_node() {
        let mut g = Graph::new(None);
        let x = g.intern(Kind::Param, 8, 0, 0, 0);
        let once = doubled(&mut g, x);
        let four = doubled(&mut g, once);
        assert_eq!(g.op(&matrix(twice), 8, &[x]), once);
        assert_eq!(g.op(&matrix(|x| twice(twice(x))), 8, &[x]), four);
        assert_eq!(g.op(&matrix(twice), 8, &[once]), four);
        assert_eq!(g.op(&matrix(|x| !twice(x)), 8, &[x]), !once);
        let turned = g.op(&Op::Rotl(3), 8, &[once]);
        assert_eq!(g.op(&matrix(|x| twice(x).rotate_left(3)), 8, &[x]), turned);
        assert_ne!(g.op(&matrix(|x| twice(x) ^ 1), 8, &[x]), once);
        let y = g.intern(Kind::Param, 8, 0, 1, 0);
        assert_ne!(g.op(&matrix(twice), 8, &[y]), once);
    }

    #[test]
    fn a_table_and_its_instructions_are_one_node() {
        let mut g = Graph::new(None);
        let x = g.intern(Kind::Param, 8, 0, 0, 0);
        let front = |x: u8| x.rotate_left(1) ^ x.rotate_left(4) ^ x ^ 0x5a;
        let back = |x: u8| x.rotate_left(2) ^ x.rotate_left(3) ^ x ^ 0x63;
        let rows = table(|x| back(INVERSES[front(x) as usize]));
        let whole = g.op(&Op::Lookup(rows.iter().map(|&y| y as u64).collect()), 8, &[x]);
        let inverted = table(|x| back(INVERSES[x as usize]));
        let (last, c) = affine_inverse_form(&inverted).expect("an affine map after inversion");
        let first = g.op(&matrix(front), 8, &[x]);
        assert_eq!(g.op(&Op::AffineInverse(last, c), 8, &[first]), whole);
        assert_ne!(g.op(&Op::AffineInverse(last, c ^ 1), 8, &[first]), whole);
        assert_ne!(g.op(&Op::AffineInverse(last ^ 1, c), 8, &[first]), whole);
    }
}
