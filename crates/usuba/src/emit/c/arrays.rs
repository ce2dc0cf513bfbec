//! Reuse of arrays: finds arrays that calls filled and whose values have no remaining reads.
//!
//! ```c
//! square(p, r0);
//! mul(r0, q, r1);
//! square(r1, r0);      // and not into a third array
//! ```
//!
//! An array is free when all reads of the values in it are printed. Only arrays of the open scope
//! are filled again: those outside of a loop may be read by its next iteration.

use std::collections::BTreeMap;

use super::place::Cell;
use crate::ir::{Eqn, Node, Val};

/// The arrays of one function.
pub struct Arrays {
    /// Reads that are still to be printed, for each value.
    left: Vec<u32>,
    open: BTreeMap<String, Array>,
    /// The arrays that the current call fills.
    taken: Vec<String>,
}

struct Array {
    ty: &'static str,
    size: usize,
    depth: usize,
    /// The two arrays that a loop wrote by turns; the name is the name of a pointer into them.
    pair: Option<String>,
    /// Values that are read from it.
    values: Vec<Val>,
}

impl Arrays {
    pub fn new(node: &Node) -> Arrays {
        let mut left = vec![0; node.bits.len()];
        count(&node.body, &mut left);
        // The end of a function may read its results.
        node.outs.iter().for_each(|out| left[out.0 as usize] += 1);
        Arrays { left, open: BTreeMap::new(), taken: Vec::new() }
    }

    /// A value has its place in an array.
    pub fn holds(&mut self, cell: &Cell, v: Val) {
        if let Some(array) = self.open.get_mut(&cell.array) {
            array.values.push(v);
        }
    }

    /// An equation is printed.
    pub fn spend(&mut self, eqn: &Eqn) {
        let left = &mut self.left;
        let mut read = |list: &[Val]| list.iter().for_each(|v| left[v.0 as usize] -= 1);
        match eqn {
            Eqn::Op(op) => read(&op.args),
            Eqn::Call(call) => read(&call.args),
            Eqn::Loop(l) => {
                l.carried.iter().for_each(|c| read(&[c.init]));
                l.reads.iter().for_each(|r| read(&r.list));
            }
        }
    }

    /// An array to be filled again.
    pub fn reuse(&mut self, ty: &'static str, size: usize, depth: usize) -> Option<String> {
        let (name, _) = self.take(ty, size, depth, false)?;
        self.declare(&name, ty, size, depth, None);
        Some(name)
    }

    /// Two arrays for a loop to fill again.
    pub fn reuse_pair(&mut self, ty: &str, size: usize, depth: usize) -> Option<String> {
        self.take(ty, size, depth, true)?.1.pair
    }

    fn take(&mut self, ty: &str, size: usize, depth: usize, pair: bool) -> Option<(String, Array)> {
        let left = &self.left;
        let fits = |array: &Array| {
            (array.ty, array.size, array.depth, array.pair.is_some()) == (ty, size, depth, pair)
        };
        let free = |array: &Array| array.values.iter().all(|v| left[v.0 as usize] == 0);
        let is_open = |name: &String| !self.taken.contains(name);
        let mut all = self.open.iter().filter(|(name, _)| is_open(name));
        let found = all.find(|(_, array)| fits(array) && free(array));
        let name = found.map(|(name, _)| name.clone())?;
        self.open.remove_entry(&name)
    }

    pub fn declare(
        &mut self,
        name: &str,
        ty: &'static str,
        size: usize,
        depth: usize,
        pair: Option<String>,
    ) {
        if pair.is_none() {
            self.taken.push(name.to_string());
        }
        self.open.insert(name.to_string(), Array { ty, size, depth, pair, values: Vec::new() });
    }

    /// A call is printed, and its results have their places.
    pub fn called(&mut self) {
        self.taken.clear();
    }

    /// The scope of this depth ends.
    pub fn close(&mut self, depth: usize) {
        self.open.retain(|_, array| array.depth < depth);
    }
}

/// Counts the reads of all equations; a value that a loop carries or collects has one read that is
/// never printed.
fn count(body: &[Eqn], left: &mut [u32]) {
    for eqn in body {
        let mut read = |list: &[Val]| list.iter().for_each(|v| left[v.0 as usize] += 1);
        match eqn {
            Eqn::Op(op) => read(&op.args),
            Eqn::Call(call) => read(&call.args),
            Eqn::Loop(l) => {
                for c in &l.carried {
                    read(&[c.init, c.next]);
                }
                l.reads.iter().for_each(|r| read(&r.list));
                l.collects.iter().for_each(|c| read(&[c.value]));
                count(&l.body, left);
            }
        }
    }
}
