//! Memoisation across lanes: vectors whose lanes compute the same for consecutive instances.
//!
//! ```text
//! a = f@0 f@1 f@2 ...      b = g@0 g@1 g@2 ...
//! a & b: f&g at 0 is looked up in the DAG; then come f&g at 1, f&g at 2, ...
//! ```
//!
//! Bitsliced code spends nearly all instructions on such vectors, of 512 bits.

use super::cell::{Bits, Cell, Instance};

impl Bits {
    /// Maps the bits of some vectors by `make`, lane by lane of `lane` bits: each call gets one
    /// lane of each vector.
    ///
    /// Lanes mostly compute the same for consecutive instances. No operator depends on the instance
    /// of a bit, only on equality of instances. So where the operands of a lane are the operands of
    /// an earlier lane at the next instance, the results are, too.
    pub fn each_lane<const N: usize>(
        &mut self,
        vectors: [&[Cell]; N],
        lane: usize,
        mut make: impl FnMut(&mut Bits, [&[Cell]; N]) -> Vec<Cell>,
    ) -> Vec<Cell> {
        let size = vectors.iter().map(|vector| vector.len()).min().unwrap_or(0);
        let mut out: Vec<Cell> = Vec::with_capacity(size);
        let stride = stride(&vectors, lane);
        for at in (0..size).step_by(lane) {
            let before = at.checked_sub(stride).filter(|_| {
                let follows = |bit: usize| {
                    vectors.iter().all(|vector| next(vector[bit - stride]) == Some(vector[bit]))
                };
                (at..at + lane).all(follows)
            });
            let known = before.and_then(|before| {
                out[before..before + lane].iter().copied().map(next).collect::<Option<Vec<Cell>>>()
            });
            match known {
                Some(known) => out.extend(known),
                None => {
                    let made = make(self, vectors.map(|vector| &vector[at..at + lane]));
                    out.extend(made);
                }
            }
        }
        out
    }

    /// The same bit by bit.
    pub fn each_bit<const N: usize>(
        &mut self,
        vectors: [&[Cell]; N],
        mut make: impl FnMut(&mut Bits, [Cell; N]) -> Cell,
    ) -> Vec<Cell> {
        let size = vectors.iter().map(|vector| vector.len()).min().unwrap_or(0);
        let mut out: Vec<Cell> = Vec::with_capacity(size);
        let stride = stride(&vectors, 1);
        for at in 0..size {
            let follows =
                |one: usize| vectors.iter().all(|vector| next(vector[one]) == Some(vector[at]));
            let before = at.checked_sub(stride).filter(|&one| follows(one));
            let bit = before.and_then(|one| next(out[one]));
            let bit = bit.unwrap_or_else(|| make(self, vectors.map(|vector| vector[at])));
            out.push(bit);
        }
        out
    }
}

/// The same function of the inputs of the next instance; constants of all instances stay. `None`
/// for bits without an edge.
fn next(cell: Cell) -> Option<Cell> {
    let edge = cell.edge()?;
    Some(match cell.instance() {
        Instance::Every => cell,
        Instance::Number(number) => Cell::new(edge, Instance::Number(number.checked_add(1)?)),
    })
}

/// The distance in bits to the same computation for the next instance: whole lanes, by the first
/// bit of a vector with instances. Any answer is sound.
fn stride(vectors: &[&[Cell]], lane: usize) -> usize {
    let has = |vector: &&&[Cell]| {
        vector
            .first()
            .is_some_and(|cell| cell.edge().is_some() && cell.instance() != Instance::Every)
    };
    let Some(vector) = vectors.iter().find(has) else { return lane };
    let following = next(vector[0]);
    let strides = [1, 8, 16, 32, 64, 128, 256];
    let found = strides.into_iter().filter(|stride| stride % lane == 0);
    let mut found = found.filter(|&stride| vector.get(stride).copied() == following);
    found.next().unwrap_or(lane)
}

#[cfg(test)]
mod tests {
    use usuba::ir::random::Random;

    use super::*;
    use usuba_equiv::dag::{Edge, Kind};
    use usuba_equiv::value_numbering::Graph;

    /// The result equals the result lane by lane, for all contents of the lanes.
    #[test]
    fn lanes_are_made_one_by_one() {
        let mut bits = Bits::new(Graph::new(None));
        let params: Vec<Edge> =
            (0..6).map(|at| bits.graph.intern(Kind::Param, 1, 0, at + 7, 0)).collect();
        let (zero, one) = (bits.constant(false), bits.constant(true));
        let mut random = Random::new(3);
        for run in 0..600 {
            let size = [16, 64, 128][run % 3];
            let period = [1, 8, 16, 32][run / 3 % 4].min(size / 2);
            let mut vector = || -> Vec<Cell> {
                let base: Vec<Edge> = (0..period).map(|_| params[random.below(6)]).collect();
                let regular = |at: usize| {
                    Cell::new(base[at % period], Instance::Number((at / period) as u16))
                };
                let mut cells: Vec<Cell> = (0..size).map(regular).collect();
                // Some bits are unset, constant, or belong to another instance.
                for _ in 0..random.below(5) {
                    let at = random.below(size);
                    let other = cells[random.below(size)];
                    let odd = [zero, one, other, Cell::OPAQUE, Cell::UNSET];
                    cells[at] = odd[random.below(5)];
                }
                if random.below(4) == 0 {
                    cells = vec![[zero, one][random.below(2)]; size];
                }
                cells
            };
            let (a, b, c) = (vector(), vector(), vector());
            let table = random.below(256) as u8;
            let together = bits.each_bit([&a, &b, &c], |bits, cells| bits.function(table, cells));
            for at in 0..size {
                assert_eq!(together[at], bits.function(table, [a[at], b[at], c[at]]), "{run} {at}");
            }
            let sums = bits.each_lane([&a, &b], 8, |bits, [a, b]| bits.sum(a, b, false).0);
            for at in (0..size).step_by(8) {
                let alone = bits.sum(&a[at..at + 8], &b[at..at + 8], false).0;
                assert_eq!(sums[at..at + 8], alone[..], "{run} {at}");
            }
        }
    }
}
