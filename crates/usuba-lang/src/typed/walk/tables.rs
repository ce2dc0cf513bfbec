//! Tables: circuits or look-ups, and in which order of bits.

use super::*;

impl<D: Domain> Walker<'_, D> {
    pub(super) fn run_table(
        &mut self,
        instance: &Instance,
        decl: &Decl,
        list: &ast::IntList,
        args: Vec<D::V>,
    ) -> Run<Vec<D::V>> {
        let outputs: usize = decl.results.iter().map(|v| v.ty.atoms()).sum();
        let VarType::Words { atom, .. } = &decl.results[0].ty else {
            unreachable!("tables have word results, which `resolve` checks");
        };
        let ty = instance.apply(atom);
        self.tick(outputs, decl.name_span)?;
        if is_lookup(self.program, decl, list) {
            if instance.column {
                return Err(Stop::NotColumnwise);
            }
            let op = Op::Lookup(list.values.as_slice().into());
            let value = self.op(&op, &ty, &[&args[0]], decl.name_span)?;
            return Ok(vec![value]);
        }
        let lsb_first = decl.opts.contains(&ast::DeclOpt::LsbFirst)
            || (self.program.flags.legacy_tables && legacy_table(&list.values).is_some());
        let entries = match lsb_first {
            true => reverse_table(&list.values, args.len(), outputs),
            false => list.values.clone(),
        };
        self.domain.at(decl.name_span);
        let result = self.domain.table(entries, outputs, &ty, &args);
        result.map_err(|refusal| self.refuse(refusal, decl.name_span))
    }
}

/// Whether a table is a look-up by a whole word: under `--keep-tables`, or because it has an entry
/// for each word.
fn is_lookup(program: &Program, decl: &Decl, list: &ast::IntList) -> bool {
    let whole = |bits| crate::typed::resolve::is_whole(bits, list.values.len());
    crate::typed::resolve::word_table(decl)
        .is_some_and(|bits| program.flags.keep_tables || whole(bits))
}

/// The same function with the other bit order on both sides.
pub fn reverse_table(entries: &[u64], inputs: usize, outputs: usize) -> Vec<u64> {
    let reverse = |x: u64, n: usize| (0..n).fold(0, |sum, i| sum << 1 | (x >> i & 1));
    (0..entries.len() as u64)
        .map(|i| reverse(entries[reverse(i, inputs) as usize], outputs))
        .collect()
}

/// The name of a table that the OCaml compiler read least significant bit first.
pub fn legacy_table(entries: &[u64]) -> Option<&'static str> {
    LEGACY.iter().find(|(_, table)| table[..] == *entries).map(|(name, _)| *name)
}

/// Reference, section 6.6.
#[rustfmt::skip] // One table, one line.
const LEGACY: [(&str, [u64; 16]); 10] = [
    ("RECTANGLE", [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2]),
    ("Serpent S0", [3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12]),
    ("Serpent S1", [15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4]),
    ("Serpent S2", [8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2]),
    ("Serpent S3", [0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14]),
    ("Serpent S4", [1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13]),
    ("Serpent S5", [15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1]),
    ("Serpent S6", [7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0]),
    ("Serpent S7", [1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6]),
    ("Clyde", [0, 8, 1, 15, 2, 10, 7, 9, 4, 13, 5, 6, 14, 3, 11, 12]),
];
