//! U1110: tables that are not the inverse that their names promise.
//!
//! ```text
//! table sbox (x:b4) ...        table inv_sbox (x:b4) ...
//! inv_sbox(sbox(5)) = 7
//! ```
//!
//! The names say which tables belong together: `inv_sbox`, `inverse_sbox`, `sbox_inv` or
//! `sbox_inverse` beside `sbox`. In arrays of tables each alternative has its own.

use crate::diag::{Code, Diagnostic};
use crate::syntax::ast::{DeclOpt, IntList};
use crate::typed::walk::reverse_table;
use crate::typed::{Decl, Kind, Program, resolve};

pub(super) fn lint(program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for inverse in &program.decls {
        let Some(name) = inverted(&inverse.name) else { continue };
        let table = program.decls.iter().find(|decl| decl.name.eq_ignore_ascii_case(name));
        let Some(table) = table else { continue };
        let (Kind::Table(tables), Kind::Table(inverses)) = (&table.kind, &inverse.kind) else {
            continue;
        };
        if table.array == inverse.array {
            let pairs = tables.iter().zip(inverses).enumerate();
            found.extend(
                pairs.filter_map(|(at, pair)| compare(program, [table, inverse], at, pair)),
            );
        }
    }
    found
}

/// The name of the table that a table inverts.
fn inverted(name: &str) -> Option<&str> {
    let front =
        ["inv_", "inverse_", "Inv_", "INV_"].iter().find_map(|word| name.strip_prefix(word));
    front.or_else(|| ["_inv", "_inverse", "_INV"].iter().find_map(|word| name.strip_suffix(word)))
}

fn compare(
    program: &Program,
    [table, inverse]: [&Decl; 2],
    at: usize,
    (forward, backward): (&IntList, &IntList),
) -> Option<Diagnostic> {
    let bits = |decl: &Decl| {
        let atoms = |vars: &[crate::typed::Var]| vars.iter().map(|v| v.ty.atoms()).sum::<usize>();
        (atoms(&decl.params), atoms(&decl.results))
    };
    let entries = |decl: &Decl, list: &IntList| {
        let by_word = resolve::word_table(decl).is_some_and(|bits| {
            program.flags.keep_tables || resolve::is_whole(bits, list.values.len())
        });
        let (inputs, outputs) = bits(decl);
        match decl.opts.contains(&DeclOpt::LsbFirst) && !by_word {
            true => reverse_table(&list.values, inputs, outputs),
            false => list.values.clone(),
        }
    };
    let (there, back) = (entries(table, forward), entries(inverse, backward));
    let ((a, b), (c, d)) = (bits(table), bits(inverse));
    if (a, b) != (d, c) || there.len() != back.len() {
        return None;
    }
    let returned = |x: usize| back.get(usize::try_from(there[x]).ok()?).copied();
    let x = (0..there.len()).find(|&x| returned(x) != Some(x as u64))?;
    let index = if table.array { format!("<{at}>") } else { String::new() };
    let (name, of) = (format!("{}{index}", inverse.name), format!("{}{index}", table.name));
    let entry = there[x];
    let value = returned(x)?;
    let text = format!("table `{name}` is not the inverse of `{of}`: {name}({of}({x})) = {value}");
    let first = |decl: &Decl| decl.opts.contains(&DeclOpt::LsbFirst);
    let help = match first(table) == first(inverse) {
        true => format!("correct entry {entry} of `{name}` or entry {x} of `{of}`"),
        false => "write `_lsb_first` before both tables or before none".to_string(),
    };
    let finding = Diagnostic::warning(Code::NotInverse, backward.span, text);
    Some(finding.related(forward.span, format!("`{of}`")).help(help))
}
