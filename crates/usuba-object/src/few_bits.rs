//! Words that depend on few free bits: their values for all of them.
//!
//! ```text
//! entry of a table that four bits choose     16 numbers
//! ```

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use usuba_equiv::dag::{Edge, Kind};

use usuba_bits::cell::{Bits, Cell, Instance};

/// The most free bits: their values fit the bits of a word.
const MOST: usize = 6;

/// The most operators between free bits and a word.
const LONGEST: usize = 100_000;

/// The values of free bit `number` in all cases: bit i is this bit of i.
fn values(number: usize) -> u64 {
    (0..1u64 << MOST).filter(|case| case >> number & 1 == 1).fold(0, |all, case| all | 1 << case)
}

/// Free bits on which words depend, and the words for each of their values.
pub struct Cases {
    pub free: Vec<Cell>,
    /// For each word its numbers: number i where free bit j is bit j of i.
    pub words: Vec<Vec<u64>>,
}

/// The cases of words of at most 64 bits, the lowest bit first; `None` if they depend on more free
/// bits, or are not known.
pub fn cases(bits: &Bits, words: &[Vec<Cell>]) -> Option<Cases> {
    let mut seen = BTreeSet::new();
    let mut free = Vec::new();
    let cells = words.iter().flatten().filter(|cell| bits.value(**cell).is_none());
    let mut open: Vec<u32> = cells.map(|cell| node(*cell)).collect::<Option<_>>()?;
    while let Some(next) = open.pop() {
        if !seen.insert(next) {
            continue;
        }
        let node = bits.graph.nodes[next as usize];
        match node.kind {
            Kind::Const => {}
            Kind::Param => free.push(next),
            Kind::And | Kind::Xor => {
                open.extend([node.a, node.b].map(|edge| Edge::from_raw(edge).node()));
            }
            _ => return None,
        }
        if free.len() > MOST || seen.len() > LONGEST {
            return None;
        }
    }
    free.sort_unstable();
    // Operands precede the nodes that use them.
    let mut tables: FxHashMap<u32, u64> = FxHashMap::default();
    for &at in &seen {
        let node = bits.graph.nodes[at as usize];
        let of = |raw: u64| table(&tables, Edge::from_raw(raw));
        let value = match node.kind {
            Kind::Param => values(free.iter().position(|bit| *bit == at)?),
            Kind::And => of(node.a)? & of(node.b)?,
            Kind::Xor => of(node.a)? ^ of(node.b)?,
            _ => 0,
        };
        tables.insert(at, value);
    }
    let word = |word: &Vec<Cell>| -> Option<Vec<u64>> {
        let columns: Vec<u64> = word
            .iter()
            .map(|&cell| match bits.value(cell) {
                Some(value) => Some(if value { u64::MAX } else { 0 }),
                None => table(&tables, cell.edge()?),
            })
            .collect::<Option<_>>()?;
        let number = |case: usize| {
            columns.iter().enumerate().fold(0, |all, (at, column)| all | (column >> case & 1) << at)
        };
        (word.len() <= 64).then(|| (0..1 << free.len()).map(number).collect())
    };
    let words = words.iter().map(word).collect::<Option<_>>()?;
    let cell = |&node: &u32| Cell::new(Edge::to(node), Instance::Every);
    Some(Cases { free: free.iter().map(cell).collect(), words })
}

/// The node of a bit that holds for all instances.
fn node(cell: Cell) -> Option<u32> {
    (cell.instance() == Instance::Every).then_some(cell.edge()?.node())
}

fn table(tables: &FxHashMap<u32, u64>, edge: Edge) -> Option<u64> {
    let table = *tables.get(&edge.node())?;
    Some(if edge.is_complement() { !table } else { table })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::Functions;
    use usuba_equiv::value_numbering::Graph;

    #[test]
    fn words_have_a_number_for_each_case() {
        let (mut bits, mut functions) = (Bits::new(Graph::new(None)), Functions::default());
        let [a, b] = [(); 2].map(|()| functions.parameter(&mut bits));
        let one = bits.constant(true);
        let (both, not) = (bits.and(a, b), bits.not(b));
        let word = vec![a, both, not, one];
        let found = cases(&bits, &[word, vec![b]]).expect("two free bits");
        assert_eq!(found.free, [a, b]);
        assert_eq!(found.words, [vec![0b1100, 0b1101, 0b1000, 0b1011], vec![0, 0, 1, 1]]);
        let none = cases(&bits, &[bits.number(5, 8)]).expect("no free bits");
        assert_eq!((none.free.len(), none.words), (0, vec![vec![5]]));
    }

    #[test]
    fn more_free_bits_have_no_cases() {
        let (mut bits, mut functions) = (Bits::new(Graph::new(None)), Functions::default());
        let free: Vec<Cell> = (0..7).map(|_| functions.parameter(&mut bits)).collect();
        assert!(cases(&bits, &[free[..6].to_vec()]).is_some());
        assert!(cases(&bits, &[free]).is_none());
        assert!(cases(&bits, &[vec![Cell::OPAQUE]]).is_none());
    }
}
