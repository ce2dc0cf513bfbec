//! Opaque words: products, and names for single bits.
//!
//! ```text
//! a = ???0, b = 0??0      a * b = 0?????00
//! status = 0000?000       a name for the bit: copies of the status are known to be equal
//! ```
//!
//! *Soundness:* a name stands for any value of the bit.

use rustc_hash::FxHashMap;

use super::cell::{Bits, Cell, Instance};
use usuba_equiv::dag::Kind;
use usuba_equiv::value_numbering::Graph;

impl Bits {
    /// Without operators: functions of two named bits are opaque.
    pub fn flat() -> Bits {
        let mut bits = Bits::new(Graph::new(None));
        bits.is_flat = true;
        bits
    }

    /// The lowest `count` bits of a product of words without known functions of inputs: nothing is
    /// known of it but zeros at both ends.
    pub(super) fn opaque_product(&self, a: &[Cell], b: &[Cell], count: usize) -> Option<Vec<Cell>> {
        let is_plain = |&cell: &Cell| !cell.is_known() || self.value(cell).is_some();
        let is_known = |&cell: &Cell| self.value(cell).is_some();
        if !a.iter().chain(b).all(is_plain) || a.iter().chain(b).all(is_known) {
            return None;
        }
        let zero = self.constant(false);
        let first = |word: &[Cell]| word.iter().position(|&cell| cell != zero);
        let end = |word: &[Cell]| word.iter().rposition(|&cell| cell != zero).map(|at| at + 1);
        let mut product = vec![zero; count];
        if let (Some(low), Some(high)) = (first(a).zip(first(b)), end(a).zip(end(b))) {
            let is_secret = a.iter().chain(b).any(|&cell| self.is_secret(cell));
            let unknown = if is_secret { Cell::OPAQUE } else { Cell::UNSET };
            let bits = (low.0 + low.1).min(count)..(high.0 + high.1).min(count);
            product[bits].fill(unknown);
        }
        Some(product)
    }

    /// Gives a name to the only bit of a word that is not constant, if it is opaque. Copies of the
    /// bit are then known to be equal.
    pub fn name_single(&mut self, cells: &mut [Cell]) {
        let mut unknown = (0..cells.len()).filter(|&at| self.value(cells[at]).is_none());
        if let (Some(at), None) = (unknown.next(), unknown.next())
            && cells[at] == Cell::OPAQUE
        {
            cells[at] = self.new_name();
        }
    }

    /// Whether a bit has a name; the graph has no operators.
    pub fn is_name(&self, cell: Cell) -> bool {
        cell.edge().is_some() && self.value(cell).is_none()
    }

    /// A bit of which nothing is known, with a name: a fresh parameter of the graph.
    pub fn new_name(&mut self) -> Cell {
        let number = self.graph.nodes.len() as u64;
        let edge = self.graph.intern(Kind::Param, 1, 0, number, 0);
        Cell::new(edge, Instance::Every)
    }

    /// The bit that a name stands for. A name that is not older than `first` nodes is new, and gets
    /// another one.
    pub fn renamed(&mut self, cell: Cell, first: usize, names: &mut FxHashMap<u32, Cell>) -> Cell {
        match cell.edge() {
            Some(edge) => {
                if edge.node() as usize >= first {
                    names.entry(edge.node()).or_insert_with(|| self.new_name());
                }
                match names.get(&edge.node()) {
                    Some(&name) if edge.is_complement() => self.not(name),
                    Some(&name) => name,
                    None => cell,
                }
            }
            None => cell,
        }
    }

    /// The cell where `bit` has this value.
    pub fn assumed(&self, cell: Cell, bit: Cell, value: bool) -> Cell {
        match (cell.edge(), bit.edge()) {
            (Some(own), Some(edge)) if own.node() == edge.node() => {
                self.constant(value ^ own.is_complement() ^ edge.is_complement())
            }
            _ => cell,
        }
    }
}
