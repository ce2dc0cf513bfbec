//! Case analysis of bits that are joined by logic: borrows, truth tables, and integers by the
//! values of a bit.

use super::*;

/// Bits whose truth tables have at most sixteen rows.
const ROWS_OF: usize = 4;

impl Words {
    /// Records the borrow of the difference `d` of two words as a function of three bits, as code
    /// computes it without a carry flag: ~a & b | ~(a ^ b) & d, of the top bits.
    pub(super) fn remember(&mut self, bits: &mut Bits, [a, b, d]: [Edge; 3], borrow: Edge) {
        let [a, b, d] = [a, b, d].map(|edge| Cell::new(edge, Instance::Every));
        let formula = bits.function(0x8e, [a, b, d]);
        let Some(edge) = formula.edge().filter(|_| bits.value(formula).is_none()) else { return };
        if let Some(leaves) = self.leaves(bits, edge) {
            self.borrows.entry(leaves).or_default().push((edge, borrow));
        }
    }

    /// The borrow of a difference, if this bit is one.
    pub(super) fn borrow(&mut self, bits: &mut Bits, edge: Edge) -> Option<Edge> {
        if self.borrows.is_empty() {
            return None;
        }
        let leaves = self.leaves(bits, edge).filter(|leaves| leaves.len() <= 3)?;
        let known = self.borrows.get(&leaves)?.clone();
        let found = self.table(bits, edge, &leaves)?;
        let all = (1u16 << (1 << leaves.len())) - 1;
        known.into_iter().find_map(|(formula, borrow)| {
            let table = self.table(bits, formula, &leaves)?;
            match found ^ table {
                0 => Some(borrow),
                differ if differ == all => Some(!borrow),
                _ => None,
            }
        })
    }

    /// Whether two bits are one function of few bits, by their truth tables.
    pub(super) fn are_one(&self, bits: &mut Bits, x: Edge, y: Edge) -> bool {
        if x == y {
            return true;
        }
        let few = |edge| self.leaves(bits, edge).filter(|leaves| leaves.len() <= ROWS_OF);
        let Some(leaves) = few(x).filter(|leaves| few(y).as_ref() == Some(leaves)) else {
            return false;
        };
        let table = self.table(bits, x, &leaves);
        table.is_some() && table == self.table(bits, y, &leaves)
    }

    /// The truth table of a bit in at most [`ROWS_OF`] others; `None` if it depends on more.
    pub(super) fn table(&self, bits: &mut Bits, edge: Edge, leaves: &[u32]) -> Option<u16> {
        (0..1u32 << leaves.len()).try_fold(0, |table, row| {
            let value = |(at, &leaf): (usize, &u32)| (leaf, edge_of(bits, row >> at & 1 == 1));
            let mut known: FxHashMap<u32, Edge> = leaves.iter().enumerate().map(value).collect();
            let value = self.with(bits, edge, &mut known);
            Some(table | u16::from(is_constant(bits, value)?) << row)
        })
    }

    /// A bit on which all of these depend.
    pub(super) fn shared(&self, bits: &Bits, mut edges: impl Iterator<Item = Edge>) -> Option<u32> {
        let mut shared = self.leaves(bits, edges.next()?)?;
        for edge in edges {
            let leaves = self.leaves(bits, edge)?;
            shared.retain(|leaf| leaves.contains(leaf));
            if shared.is_empty() {
                return None;
            }
        }
        shared.first().copied()
    }

    /// Nodes with a place that a bit depends on.
    pub(super) fn leaves(&self, bits: &Bits, edge: Edge) -> Option<Vec<u32>> {
        let (mut seen, mut next, mut leaves) = (vec![edge.node()], 0, Vec::new());
        while let Some(&number) = seen.get(next) {
            next += 1;
            if self.places.contains_key(&number) {
                leaves.push(number);
                continue;
            }
            let node = bits.graph.nodes[number as usize];
            if !matches!(node.kind, Kind::And | Kind::Xor) {
                continue;
            }
            for raw in [node.a, node.b] {
                let operand = Edge::from_raw(raw).node();
                if !seen.contains(&operand) {
                    seen.push(operand);
                }
            }
            if seen.len() > CONE {
                return None;
            }
        }
        leaves.sort_unstable();
        Some(leaves)
    }

    /// The integer for each value of a bit.
    pub(super) fn by_cases(
        &mut self,
        bits: &mut Bits,
        edges: &[Edge],
        control: u32,
        depth: usize,
    ) -> Option<Integer> {
        let mut cases = Vec::with_capacity(2);
        for value in [false, true] {
            let mut known = FxHashMap::from_iter([(control, edge_of(bits, value))]);
            let with: Vec<Edge> =
                edges.iter().map(|&edge| self.with(bits, edge, &mut known)).collect();
            cases.push(self.sum(bits, &with, false, depth - 1)?);
        }
        let control = self.bit(Edge::from_raw((control as u64) << 32));
        let difference = cases[1].poly.sub(&cases[0].poly);
        let poly = cases[0].poly.add(&control.mul(&difference)?);
        let [one, other] = <[Integer; 2]>::try_from(cases).expect("two cases");
        Some(Integer { poly, low: one.low.min(other.low), high: one.high.max(other.high) })
    }

    /// A bit where some nodes are known.
    pub(super) fn with(
        &self,
        bits: &mut Bits,
        edge: Edge,
        known: &mut FxHashMap<u32, Edge>,
    ) -> Edge {
        let flip = edge.is_complement();
        if let Some(found) = known.get(&edge.node()) {
            return found.flipped(flip);
        }
        let node = bits.graph.nodes[edge.node() as usize];
        let found = match node.kind {
            Kind::And | Kind::Xor if !self.places.contains_key(&edge.node()) => {
                let [a, b] = [node.a, node.b].map(|raw| {
                    let edge = self.with(bits, Edge::from_raw(raw), known);
                    Cell::new(edge, Instance::Every)
                });
                let cell = if node.kind == Kind::And { bits.and(a, b) } else { bits.xor(a, b) };
                cell.edge().expect("bits of one instance")
            }
            _ => edge.plain(),
        };
        known.insert(edge.node(), found);
        found.flipped(flip)
    }

    /// An integer modulo 2^width, and its quotient by 2^width. It lies between its bounds; without
    /// any it may be below zero.
    pub(super) fn reduced(
        &mut self,
        bits: &mut Bits,
        total: &Poly,
        bounds: Option<(&BigUint, &BigUint)>,
        width: usize,
    ) -> Option<(Vec<Edge>, Poly)> {
        let key = (total.clone(), width);
        if let Some(known) = self.sums.get(&key) {
            return Some(known.clone());
        }
        let (low, quotient) = match bounds.filter(|(_, high)| high.bits() as usize <= width) {
            Some((low, high)) => {
                self.integers.is_below(total, width as u64);
                self.integers.is_below(total, high.bits().max(1));
                let (low, high) = (low.clone(), high.clone());
                (Integer { poly: total.clone(), low, high }, Poly::default())
            }
            None => {
                let floor = self.integers.floor(total, width as u64)?;
                let poly = total.plus(&floor, &-power(width));
                if let Some((_, high)) = bounds {
                    self.integers.is_below(&floor, high.bits() - width as u64);
                }
                (Integer::up_to(ones(width), poly), floor)
            }
        };
        let low = self.word(bits, low, width);
        self.sums.insert(key, (low.clone(), quotient.clone()));
        Some((low, quotient))
    }
}
