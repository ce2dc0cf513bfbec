//! Contracts as text: ranges, clauses and their terms.

use super::{AExpr, Ident, Var};
use crate::diag::Span;

/// `in [0, 2^51)`: where every word of a parameter, result or local lies.
#[derive(Clone, PartialEq, Debug)]
pub struct Range {
    pub low: Term,
    pub high: Term,
    /// The bound above belongs to the range: `]` and not `)`.
    pub closed: bool,
    /// From `in` to the closing bracket.
    pub span: Span,
}

/// One line of a contract.
#[derive(Clone, PartialEq, Debug)]
pub struct Clause {
    pub role: Role,
    pub left: Term,
    pub relation: Relation,
    pub right: Term,
    /// `mod m`, behind an equality only.
    pub modulus: Option<Term>,
    /// From `requires` or `ensures` to the end of the last term.
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A precondition: callers prove it.
    Requires,
    /// A postcondition: the node proves it.
    Ensures,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    Equal,
    Less,
    AtMost,
}

/// An integer, or a list of words, in a contract. Here `^` is a power.
#[derive(Clone, PartialEq, Debug)]
pub struct Term {
    pub kind: TermKind,
    /// Covers the term without parentheses around it.
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TermKind {
    Int(u128),
    Var(Var),
    /// A value map or a node.
    Apply {
        callee: Ident,
        args: Vec<Term>,
    },
    Bin(TermOp, Box<Term>, Box<Term>),
    /// `sum(i in [0,4], term)`
    Sum {
        index: Ident,
        from: AExpr,
        to: AExpr,
        term: Box<Term>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TermOp {
    Add,
    Sub,
    Mul,
    /// Of constants only, rounded down.
    Div,
    Power,
}

impl Relation {
    pub fn symbol(self) -> &'static str {
        match self {
            Relation::Equal => "==",
            Relation::Less => "<",
            Relation::AtMost => "<=",
        }
    }
}

impl Role {
    pub fn word(self) -> &'static str {
        match self {
            Role::Requires => "requires",
            Role::Ensures => "ensures",
        }
    }
}

impl TermOp {
    pub fn symbol(self) -> &'static str {
        match self {
            TermOp::Add => "+",
            TermOp::Sub => "-",
            TermOp::Mul => "*",
            TermOp::Div => "/",
            TermOp::Power => "^",
        }
    }

    /// How tightly it binds: sums loosest, powers tightest.
    pub fn level(self) -> u8 {
        match self {
            TermOp::Add | TermOp::Sub => 1,
            TermOp::Mul | TermOp::Div => 2,
            TermOp::Power => 3,
        }
    }
}
