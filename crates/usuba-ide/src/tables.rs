//! Tables: whether they are permutations, and their circuits.

use usuba::circuit::{self, Goal, Profile, Table};
use usuba::syntax::ast::DeclOpt;
use usuba::typed::walk::reverse_table;
use usuba::typed::{Decl, Kind, Var, resolve};

/// One alternative of a table as a function on bits.
pub struct Function {
    pub table: Table,
    /// Entries by whole words, and not by a bit of each of several words.
    pub by_word: bool,
}

/// The alternatives of a table; none if its shape is wrong.
pub fn functions(decl: &Decl) -> Vec<Function> {
    let Kind::Table(lists) = &decl.kind else { return Vec::new() };
    let atoms = |vars: &[Var]| vars.iter().map(|var| var.ty.atoms()).sum::<usize>();
    let mut found = Vec::new();
    for list in lists {
        let whole = resolve::word_table(decl);
        let whole = whole.filter(|&bits| resolve::is_whole(bits, list.values.len()));
        let (inputs, outputs) = match whole {
            Some(bits) => (bits as usize, bits as usize),
            None => (atoms(&decl.params), atoms(&decl.results)),
        };
        let fits = |&value: &u64| outputs >= 64 || value >> outputs == 0;
        let shape = (1..=8).contains(&inputs)
            && (1..=64).contains(&outputs)
            && list.values.len() == 1 << inputs
            && list.values.iter().all(fits);
        if !shape {
            return Vec::new();
        }
        let entries = match decl.opts.contains(&DeclOpt::LsbFirst) && whole.is_none() {
            true => reverse_table(&list.values, inputs, outputs),
            false => list.values.clone(),
        };
        let table = Table { inputs: inputs as u8, outputs: outputs as u8, entries };
        found.push(Function { table, by_word: whole.is_some() });
    }
    found
}

/// Whether each of some tables takes every value once.
pub fn are_permutations(functions: &[Function]) -> bool {
    functions.iter().all(|function| {
        let mut entries = function.table.entries.clone();
        entries.sort_unstable();
        function.table.inputs == function.table.outputs
            && entries.iter().enumerate().all(|(at, &entry)| entry == at as u64)
    })
}

/// Sizes of circuits for the alternatives of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// The fewest and the most gates.
    pub gates: (usize, usize),
    /// The longest path.
    pub depth: usize,
}

impl Size {
    /// `12 gates`, or `12 to 14 gates`.
    pub fn gates(&self) -> String {
        match self.gates {
            (1, 1) => "1 gate".to_string(),
            (few, many) if few == many => format!("{few} gates"),
            (few, many) => format!("{few} to {many} gates"),
        }
    }
}

/// The size of the circuits that the compiler makes of some tables.
pub fn size(functions: &[Function], profile: Profile, goal: Goal) -> Option<Size> {
    let circuit = |function: &Function| circuit::for_table(&function.table, profile, goal);
    let sizes = functions.iter().map(circuit).map(|c| (c.gates.len(), c.depth()));
    sizes.fold(None, |all: Option<Size>, (gates, depth)| {
        Some(match all {
            None => Size { gates: (gates, gates), depth },
            Some(all) => Size {
                gates: (all.gates.0.min(gates), all.gates.1.max(gates)),
                depth: all.depth.max(depth),
            },
        })
    })
}
