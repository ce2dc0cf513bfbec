//! Functions of one byte by all their values.
//!
//! ```text
//! (x << 1) ^ (Bitmask(x, 7) & 0x1b)         Affine(M)(x)
//! table 00 02 04 .. 1b 19 ..                the same table of the same x: the same node
//! ```
//!
//! A node of eight bits that depends on one other node only, its *leaf*, has a table of 256 values.
//! A new node with the table of a known one, or with its complement, or with one of their
//! rotations, is that one. So a table, the operators of a circuit for it, and the instructions that
//! replace it are one node, and so is whatever is made of them in several steps. Leaves are as far
//! back as they can be: two nodes over different leaves are not compared.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::graph::{Edge, Graph, Kind};
use crate::maps::MapId;

type Table = [u8; 256];

/// A node and a function of it.
type Form = (u32, Rc<Table>);

/// What is known about nodes of eight bits.
#[derive(Default)]
pub struct Bytes {
    /// For each node its leaf and table; `None` if it is a leaf itself.
    forms: FxHashMap<u32, Option<Form>>,
    known: FxHashMap<Form, Edge>,
}

impl Graph {
    /// The edge that stands for all edges of eight bits with the same values.
    pub fn unified(&mut self, edge: Edge) -> Edge {
        if self.value(edge).is_some() {
            return edge;
        }
        let Some((leaf, table)) = self.node_form(edge.node()) else { return edge };
        let table = self.through(edge, &table);
        if table.iter().all(|&y| y == table[0]) {
            return self.constant(8, table[0] as u64);
        }
        for turn in 0..8u8 {
            for flip in [false, true] {
                let ones = if flip { 0xff } else { 0 };
                let wanted = table.map(|y| (y ^ ones).rotate_right(turn as u32));
                let identity = wanted.iter().enumerate().all(|(x, &y)| x == y as usize);
                let known = match identity {
                    true => Some(self.leaf(leaf)),
                    false => self.bytes.known.get(&(leaf, Rc::new(wanted))).copied(),
                };
                if let Some(known) = known {
                    let turned = match turn {
                        0 => known,
                        _ => {
                            let map = self.maps.rotation(8, turn);
                            self.permute(map, known)
                        }
                    };
                    return turned.flipped(flip);
                }
            }
        }
        self.bytes.known.insert((leaf, Rc::new(table)), edge);
        edge
    }

    fn leaf(&self, node: u32) -> Edge {
        Edge::from_raw((node as u64) << 32)
    }

    /// The values of an edge for the table of its node.
    fn through(&self, edge: Edge, table: &Table) -> Table {
        let ones = if edge.is_complement() { 0xff } else { 0 };
        table.map(|y| self.maps.apply(edge.map(), y as u64) as u8 ^ ones)
    }

    /// The leaf and the table of a node that is no leaf.
    fn node_form(&mut self, number: u32) -> Option<Form> {
        if let Some(form) = self.bytes.forms.get(&number) {
            return form.clone();
        }
        let form = self.new_form(number);
        self.bytes.forms.insert(number, form.clone());
        form
    }

    fn new_form(&mut self, number: u32) -> Option<Form> {
        let node = self.nodes[number as usize];
        if node.bits != 8 {
            return None;
        }
        let (a, b) = (Edge::from_raw(node.a), Edge::from_raw(node.b));
        match node.kind {
            Kind::And | Kind::Xor | Kind::Add | Kind::Mul => {
                let (x, y) = (self.operand(a), self.operand(b));
                let leaf = match (x.0, y.0) {
                    (Some(leaf), None) | (None, Some(leaf)) => leaf,
                    (Some(leaf), Some(other)) if leaf == other => leaf,
                    _ => return None,
                };
                let both = |i: usize| {
                    let (x, y) = (x.1[i], y.1[i]);
                    match node.kind {
                        Kind::And => x & y,
                        Kind::Xor => x ^ y,
                        Kind::Add => x.wrapping_add(y),
                        _ => x.wrapping_mul(y),
                    }
                };
                Some((leaf, Rc::new(std::array::from_fn(both))))
            }
            Kind::Map => self.after(a, |g, x| g.maps.apply(node.b as MapId, x as u64) as u8),
            Kind::Lookup => {
                let rows = self.words(node.b);
                self.after(a, |_, x| rows.get(x as usize).map_or(0, |&y| y as u8))
            }
            _ => None,
        }
    }

    /// A function of an edge as a function of its leaf.
    fn after(&mut self, edge: Edge, f: impl Fn(&Graph, u8) -> u8) -> Option<Form> {
        let (leaf, table) = self.operand(edge);
        Some((leaf?, Rc::new(table.map(|x| f(self, x)))))
    }

    /// The values of an edge, and its leaf unless it is constant.
    fn operand(&mut self, edge: Edge) -> (Option<u32>, Table) {
        if let Some(value) = self.value(edge) {
            return (None, [value as u8; 256]);
        }
        let node = edge.node();
        let identity = || (node, Rc::new(std::array::from_fn(|x| x as u8)));
        let (leaf, table) = self.node_form(node).unwrap_or_else(identity);
        (Some(leaf), self.through(edge, &table))
    }
}

#[cfg(test)]
mod tests {
    use usuba::ir::Op;
    use usuba::ir::op::{INVERSES, affine_form, affine_inverse_form};

    use super::*;
    use crate::graph::Kind;

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
