//! U1104: equations whose values nothing uses, by backward liveness of variables.
//!
//! ```text
//! t = a ^ b;      dead: only the next equation reads `t`
//! u = t <<< 3;    dead
//! y = a           live: `y` is a result
//! ```
//!
//! A variable is live behind an equation if a live equation may read it there before the whole of
//! it is defined again. In a loop every variable that an equation of it reads for a result is live,
//! because the next iteration may read it. Results, and locals with a range (the prover shows it),
//! are live at the end.
//!
//! *Reference:* Aho, Lam, Sethi, Ullman, Compilers, section 9.2.5 (live-variable analysis).

use std::collections::BTreeSet;

use super::edit::Tokens;
use super::{is_silent, visit};
use crate::diag::{Code, Diagnostic, Edit, Sources, Span};
use crate::syntax::ast::{Equation, Stmt};
use crate::typed::{Body, Decl, VarType};

/// Most dead statements of a body that have fixes.
const MOST_FIXED: usize = 100;

type Names<'a> = BTreeSet<&'a str>;

pub(super) fn lint(sources: &Sources, decl: &Decl, body: &Body) -> Vec<Diagnostic> {
    let nats = || decl.params.iter().chain(&body.vars).filter(|var| var.ty == VarType::Nat);
    let kept = body.vars.iter().filter(|var| !var.ranges.is_empty() || is_silent(&var.name));
    let mut live: Names = decl.results.iter().chain(kept).chain(nats()).map(|v| &*v.name).collect();
    let mut flow = Flow { needed: needed(&body.stmts, &live), dead: BTreeSet::new() };
    flow.block(&body.stmts, &mut live);
    if flow.dead.is_empty() {
        return Vec::new();
    }
    let tokens = Tokens::of(sources, body.span.file);
    let mut units = Vec::new();
    flow.units(&body.stmts, &mut units);
    // A body without equations is none; and a fix looks at all dead statements.
    let removable = units.len() < body.stmts.len() && units.len() <= MOST_FIXED;
    let finding = |unit: &&Stmt| {
        let span = match unit {
            Stmt::Equation(equation) => equation.span,
            Stmt::Loop(l) => l.span,
        };
        let name = inside(unit).into_iter().flat_map(targets).next().unwrap_or_default();
        let text = format!("value of `{name}` is computed but never used");
        let help = match unit {
            Stmt::Equation(_) => "remove this equation",
            Stmt::Loop(_) => "remove this loop",
        };
        let finding = Diagnostic::warning(Code::UnusedValue, span, text).help(help);
        match removable {
            true => finding.fix(removal(&tokens, &units, unit), true),
            false => finding,
        }
    };
    units.iter().map(finding).collect()
}

/// The edits that remove a statement and all dead ones that read its values.
fn removal(tokens: &Tokens, units: &[&Stmt], first: &Stmt) -> Vec<Edit> {
    let mut names = defined(first);
    let mut removed = vec![first];
    loop {
        let reads = |unit: &Stmt| read(unit).iter().any(|name| names.contains(name));
        let is_new = |unit: &Stmt| !removed.iter().any(|other| std::ptr::eq(*other, unit));
        let Some(unit) = units.iter().find(|unit| is_new(unit) && reads(unit)) else { break };
        removed.push(unit);
        names.extend(defined(unit));
    }
    removed.iter().map(|unit| tokens.remove(unit)).collect()
}

/// The equations of a statement.
fn inside(stmt: &Stmt) -> Vec<&Equation> {
    visit::equations(std::slice::from_ref(stmt))
}

/// The variables that a statement defines.
fn defined(stmt: &Stmt) -> Names<'_> {
    inside(stmt).into_iter().flat_map(targets).collect()
}

/// The variables that a statement reads.
fn read(stmt: &Stmt) -> Names<'_> {
    inside(stmt).into_iter().flat_map(reads).collect()
}

fn targets(equation: &Equation) -> impl Iterator<Item = &str> {
    equation.targets.iter().map(|target| target.name.name.as_str())
}

/// The variables that an equation reads: for an update also those on its left side.
fn reads(equation: &Equation) -> Vec<&str> {
    let value = visit::reads(&equation.value).into_iter().map(|name| name.name.as_str());
    let updated = targets(equation).filter(|_| equation.op.is_some());
    value.chain(updated).collect()
}

/// The variables that equations read, directly or not, for the given ones, in any order.
fn needed<'a>(stmts: &'a [Stmt], roots: &Names<'a>) -> Names<'a> {
    let equations = visit::equations(stmts);
    let mut needed = roots.clone();
    loop {
        let before = needed.len();
        for equation in equations.iter().rev() {
            if targets(equation).any(|name| needed.contains(name)) {
                needed.extend(reads(equation));
            }
        }
        if needed.len() == before {
            return needed;
        }
    }
}

struct Flow<'a> {
    /// The variables that results depend on if the order of equations does not count.
    needed: Names<'a>,
    /// The places of dead equations.
    dead: BTreeSet<Span>,
}

impl<'a> Flow<'a> {
    /// Goes backwards through statements; `live` are the variables that are live behind them, then
    /// those before them.
    fn block(&mut self, stmts: &'a [Stmt], live: &mut Names<'a>) {
        for stmt in stmts.iter().rev() {
            match stmt {
                Stmt::Equation(equation) => self.equation(equation, live),
                Stmt::Loop(l) => {
                    let again = visit::equations(&l.body).into_iter();
                    let again = again.filter(|e| targets(e).any(|name| self.needed.contains(name)));
                    live.extend(again.flat_map(reads));
                    let behind = live.clone();
                    self.block(&l.body, live);
                    live.extend(behind);
                }
            }
        }
    }

    fn equation(&mut self, equation: &'a Equation, live: &mut Names<'a>) {
        if !targets(equation).any(|name| live.contains(name)) {
            self.dead.insert(equation.span);
            return;
        }
        for target in &equation.targets {
            if target.selectors.is_empty() {
                live.remove(target.name.name.as_str());
            }
        }
        live.extend(reads(equation));
    }

    /// The dead statements; a loop of dead ones is one of them.
    fn units(&self, stmts: &'a [Stmt], found: &mut Vec<&'a Stmt>) {
        for stmt in stmts {
            match stmt {
                _ if inside(stmt).iter().all(|e| self.dead.contains(&e.span)) => found.push(stmt),
                Stmt::Equation(_) => {}
                Stmt::Loop(l) => self.units(&l.body, found),
            }
        }
    }
}
