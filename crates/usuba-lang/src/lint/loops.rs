//! U1111: loops that count down although their iterations are independent.
//!
//! ```text
//! forall i in [3, 0] { y[i] = x[i] }            counts down without a need
//! forall i in [3, 0] { x := round(i, x) }       counts down for a reason: decryption
//! ```
//!
//! Iterations are independent if the body reads nothing that it defines, and every iteration
//! defines elements of its own.

use std::collections::BTreeSet;

use super::edit::is_balanced;
use super::visit;
use crate::diag::{Code, Diagnostic, Edit, Sources};
use crate::syntax::ast::{AExpr, Loop, Selector};
use crate::typed::Body;

pub(super) fn lint(sources: &Sources, body: &Body) -> Vec<Diagnostic> {
    visit::loops(&body.stmts).into_iter().filter_map(|l| downward(sources, l)).collect()
}

fn downward(sources: &Sources, l: &Loop) -> Option<Diagnostic> {
    let (from, to) = (visit::constant(&l.from)?, visit::constant(&l.to)?);
    if from <= to || !is_independent(l) {
        return None;
    }
    let span = l.from.span().to(l.to.span());
    let count = from.abs_diff(to) + 1;
    let text = format!("loop bounds `[{from}, {to}]` count down, {count} iterations");
    let finding = Diagnostic::warning(Code::DownwardLoop, span, text);
    let finding = finding.help(format!("write `[{to}, {from}]` to count up"));
    let edit = || Edit::new(span, format!("{to},{from}"));
    Some(match is_balanced(sources, span) && to >= 0 {
        true => finding.fix(vec![edit()], true),
        false => finding,
    })
}

fn is_independent(l: &Loop) -> bool {
    let equations = visit::equations(&l.body);
    let defined: BTreeSet<&str> = equations
        .iter()
        .flat_map(|equation| &equation.targets)
        .map(|target| target.name.name.as_str())
        .collect();
    let reads_none = |names: Vec<&crate::syntax::ast::Ident>| {
        names.iter().all(|name| !defined.contains(name.name.as_str()))
    };
    let own = |selector: &Selector| matches!(selector, Selector::Index(AExpr::Name(name)) if name.name == l.index.name);
    let hidden = visit::loops(&l.body).iter().any(|inner| inner.index.name == l.index.name);
    !hidden
        && equations.iter().all(|equation| {
            let updates = equation.op.is_some();
            !updates
                && reads_none(visit::reads(&equation.value))
                && equation.targets.iter().all(|target| target.selectors.iter().any(own))
        })
}
