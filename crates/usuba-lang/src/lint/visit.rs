//! The parts of statements and expressions.

use crate::syntax::ast::{
    AExpr, Equation, Expr, ExprKind, Ident, LinkKind, Loop, Selector, Stmt, Var,
};

/// All equations, those in loops too, in the order of the text.
pub(super) fn equations(stmts: &[Stmt]) -> Vec<&Equation> {
    let mut found = Vec::new();
    each(stmts, &mut |stmt| {
        if let Stmt::Equation(equation) = stmt {
            found.push(equation);
        }
    });
    found
}

/// All loops, outer ones first.
pub(super) fn loops(stmts: &[Stmt]) -> Vec<&Loop> {
    let mut found = Vec::new();
    each(stmts, &mut |stmt| {
        if let Stmt::Loop(l) = stmt {
            found.push(l);
        }
    });
    found
}

fn each<'a>(stmts: &'a [Stmt], see: &mut dyn FnMut(&'a Stmt)) {
    for stmt in stmts {
        see(stmt);
        if let Stmt::Loop(l) = stmt {
            each(&l.body, see);
        }
    }
}

/// An expression and all its parts, outer ones first.
pub(super) fn parts(e: &Expr) -> Vec<&Expr> {
    let (mut found, mut next) = (Vec::new(), vec![e]);
    while let Some(e) = next.pop() {
        found.push(e);
        match &e.kind {
            ExprKind::Int { .. } | ExprKind::Var(_) | ExprKind::Shuffle { .. } => {}
            ExprKind::Tuple(list) | ExprKind::Call { args: list, .. } => next.extend(list),
            ExprKind::Bitmask(inner, _) | ExprKind::Not(inner) => next.push(inner),
            ExprKind::Pack { high, low, .. } => next.extend([&**high, &**low]),
            ExprKind::Chain(first, links) => {
                next.push(first);
                next.extend(links.iter().filter_map(|link| match &link.kind {
                    LinkKind::Bin(_, right) => Some(right),
                    LinkKind::Shift(..) => None,
                }));
            }
        }
    }
    found
}

/// The names that an expression reads, in its indices too.
pub(super) fn reads(e: &Expr) -> Vec<&Ident> {
    let mut names = Vec::new();
    for part in parts(e) {
        match &part.kind {
            ExprKind::Var(var) | ExprKind::Shuffle { value: var, .. } => {
                names.push(&var.name);
                selectors(var, &mut names);
            }
            ExprKind::Bitmask(_, bit) => index(bit, &mut names),
            ExprKind::Call { instance, .. } => {
                instance.iter().for_each(|at| index(at, &mut names));
            }
            ExprKind::Chain(_, links) => {
                for link in links {
                    if let LinkKind::Shift(_, amounts) = &link.kind {
                        amounts.iter().for_each(|amount| index(amount, &mut names));
                    }
                }
            }
            ExprKind::Int { .. }
            | ExprKind::Tuple(_)
            | ExprKind::Not(_)
            | ExprKind::Pack { .. } => {}
        }
    }
    names
}

/// The names in the selectors of a variable.
pub(super) fn selectors<'a>(var: &'a Var, names: &mut Vec<&'a Ident>) {
    for selector in &var.selectors {
        match selector {
            Selector::Index(at) => index(at, names),
            Selector::Range(from, to) => {
                index(from, names);
                index(to, names);
            }
            Selector::List(list) => list.iter().for_each(|at| index(at, names)),
        }
    }
}

/// The names in an index expression.
pub(super) fn index<'a>(e: &'a AExpr, names: &mut Vec<&'a Ident>) {
    match e {
        AExpr::Int(..) => {}
        AExpr::Name(name) => names.push(name),
        AExpr::Bin(_, l, r) => {
            index(l, names);
            index(r, names);
        }
    }
}

/// The value of an index expression without names.
pub(super) fn constant(e: &AExpr) -> Option<i64> {
    use crate::syntax::ast::ABinOp::*;
    match e {
        AExpr::Int(value, _) => i64::try_from(*value).ok(),
        AExpr::Name(_) => None,
        AExpr::Bin(op, l, r) => {
            let (l, r) = (constant(l)?, constant(r)?);
            match op {
                Add => l.checked_add(r),
                Sub => l.checked_sub(r),
                Mul => l.checked_mul(r),
                Div => l.checked_div(r),
                Mod => l.checked_rem_euclid(r),
            }
        }
    }
}
