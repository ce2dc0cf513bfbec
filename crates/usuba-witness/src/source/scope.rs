//! The values of the names of a running node, and the elements that selectors pick.
//!
//! ```text
//! x : u8[2][3]    x[1][2,0]    places 5, 3 of x
//! ```

use std::collections::HashMap;

use usuba_lang::syntax::ast::{ABinOp, AExpr, BinOp, Expr, ExprKind, LinkKind, Selector, Var};
use usuba_lang::typed::DeclId;
use usuba_replay::trace::Id;

use super::Sizes;
use crate::Run;

/// The names of a running node.
pub(super) struct Scope<'p> {
    pub(super) decl: DeclId,
    pub(super) sizes: Sizes,
    pub(super) variables: HashMap<&'p str, Variable>,
    /// Compile-time integers; the last one of a name counts, and hides a variable.
    pub(super) integers: Vec<(&'p str, Option<i64>)>,
}

/// A variable with its words, where they have values.
pub(super) struct Variable {
    pub(super) bits: u8,
    pub(super) dims: Vec<usize>,
    pub(super) words: Vec<Option<Id>>,
}

impl Scope<'_> {
    /// The value of a compile-time integer, if the name is one.
    pub(super) fn integer(&self, name: &str) -> Option<Option<i64>> {
        self.integers.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// The value of an index expression.
    pub(super) fn index(&self, e: &AExpr) -> Run<i64> {
        match e {
            AExpr::Int(value, _) => number(*value),
            AExpr::Name(id) => self.defined(&id.name),
            AExpr::Bin(op, left, right) => combine(*op, self.index(left)?, self.index(right)?),
        }
    }

    fn defined(&self, name: &str) -> Run<i64> {
        match self.integer(name) {
            Some(Some(value)) => Ok(value),
            Some(None) => Err(format!("the integer `{name}` has no value yet")),
            None => Err(format!("`{name}` is no compile-time integer")),
        }
    }

    /// The value of an expression that is a compile-time integer.
    pub(super) fn integer_of(&self, e: &Expr) -> Run<i64> {
        match &e.kind {
            ExprKind::Int { value, ty: None } => number(*value),
            ExprKind::Var(var) if var.selectors.is_empty() => self.defined(&var.name.name),
            ExprKind::Chain(first, links) => {
                links.iter().try_fold(self.integer_of(first)?, |value, link| match &link.kind {
                    LinkKind::Bin(op, right) => {
                        combine(integer_operator(*op)?, value, self.integer_of(right)?)
                    }
                    LinkKind::Shift(..) => Err("a shift of a compile-time integer".into()),
                })
            }
            _ => Err("an expression that is no compile-time integer".into()),
        }
    }

    /// Whether an expression computes with a compile-time integer that has a name.
    pub(super) fn names_integer(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(var) => {
                var.selectors.is_empty() && self.integer(&var.name.name).is_some()
            }
            ExprKind::Chain(first, links) => {
                let right = |kind: &LinkKind| match kind {
                    LinkKind::Bin(_, right) => self.names_integer(right),
                    LinkKind::Shift(..) => false,
                };
                self.names_integer(first) || links.iter().any(|link| right(&link.kind))
            }
            _ => false,
        }
    }

    /// The variable of a name.
    pub(super) fn variable(&self, name: &str) -> Run<&Variable> {
        if self.integer(name).is_some() {
            return Err(format!("`{name}` is an integer here, no word"));
        }
        self.variables.get(name).ok_or_else(|| format!("`{name}` is not declared"))
    }

    /// The places of the words that a selection picks, the first selector slowest.
    pub(super) fn places(&self, var: &Var) -> Run<Vec<usize>> {
        let variable = self.variable(&var.name.name)?;
        if var.selectors.len() > variable.dims.len() {
            return Err(format!("`{}` has too many selectors", var.name.name));
        }
        let mut members = Vec::new();
        for (selector, &dim) in var.selectors.iter().zip(&variable.dims) {
            members.push(self.members(selector, dim)?);
        }
        let mut places = Vec::new();
        collect(&variable.dims, &members, 0, &mut places);
        Ok(places)
    }

    fn members(&self, selector: &Selector, dim: usize) -> Run<Vec<usize>> {
        let member = |e: &AExpr| {
            let value = self.index(e)?;
            let inside = usize::try_from(value).ok().filter(|&at| at < dim);
            inside.ok_or_else(|| format!("index {value} of a dimension of {dim}"))
        };
        match selector {
            Selector::Index(e) => Ok(vec![member(e)?]),
            Selector::List(list) => list.iter().map(member).collect(),
            Selector::Range(from, to) => {
                let (from, to) = (member(from)?, member(to)?);
                let mut run: Vec<usize> = (from.min(to)..=from.max(to)).collect();
                if from > to {
                    run.reverse();
                }
                Ok(run)
            }
        }
    }

    /// The words of a selection.
    pub(super) fn read(&self, var: &Var) -> Run<Vec<Id>> {
        let variable = self.variable(&var.name.name)?;
        let places = self.places(var)?;
        let words: Option<Vec<Id>> = places.iter().map(|&place| variable.words[place]).collect();
        words.ok_or_else(|| format!("`{}` is read before it has a value", var.name.name))
    }
}

/// The places below `base` that `members` pick of an array of these dimensions.
fn collect(dims: &[usize], members: &[Vec<usize>], base: usize, places: &mut Vec<usize>) {
    let Some((first, rest)) = members.split_first() else {
        let size: usize = dims.iter().product();
        places.extend(base..base + size);
        return;
    };
    let inner: usize = dims[1..].iter().product();
    first.iter().for_each(|at| collect(&dims[1..], rest, base + at * inner, places));
}

fn number(value: u64) -> Run<i64> {
    i64::try_from(value).map_err(|_| format!("the integer {value} is too large"))
}

fn integer_operator(op: BinOp) -> Run<ABinOp> {
    match op {
        BinOp::Add => Ok(ABinOp::Add),
        BinOp::Sub => Ok(ABinOp::Sub),
        BinOp::Mul => Ok(ABinOp::Mul),
        BinOp::Div => Ok(ABinOp::Div),
        BinOp::Mod => Ok(ABinOp::Mod),
        BinOp::And | BinOp::Or | BinOp::Xor => {
            Err(format!("`{}` of compile-time integers", op.symbol()))
        }
    }
}

/// Quotients round towards zero, and remainders are never negative.
fn combine(op: ABinOp, a: i64, b: i64) -> Run<i64> {
    let (a, b) = (i128::from(a), i128::from(b));
    let value = match op {
        ABinOp::Add => a + b,
        ABinOp::Sub => a - b,
        ABinOp::Mul => a * b,
        ABinOp::Div | ABinOp::Mod if b == 0 => return Err("a division by zero".into()),
        ABinOp::Div => a / b,
        ABinOp::Mod => a - b.abs() * (a.div_euclid(b.abs())),
    };
    i64::try_from(value).map_err(|_| "a compile-time integer beyond 64 bits".into())
}
