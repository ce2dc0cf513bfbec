//! The syntax tree of one source file, close to the text: the formatter prints it.
//!
//! Trees are at most [`MAX_DEPTH`] deep, so recursive functions do not exhaust the stack. `clauses`
//! has the trees of contracts.

mod clauses;

use std::fmt;

pub use clauses::{Clause, Range, Relation, Role, Term, TermKind, TermOp};

use crate::diag::Span;

/// The deepest nesting of expressions, index expressions and loops that the parser accepts.
/// A left-nested chain such as `a ^ b ^ c` counts one level per operator.
pub const MAX_DEPTH: usize = 200;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ident {
    pub name: String,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct File {
    pub items: Vec<Item>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    Include { path: String, span: Span },
    Decl(Decl),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeclOpt {
    Inline,
    NoInline,
    NoOpt,
    LsbFirst,
    Interleave(u64),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Decl {
    pub opts: Vec<DeclOpt>,
    pub name: Ident,
    pub params: Vec<ParamGroup>,
    pub results: Vec<ParamGroup>,
    /// The contract: pre- and postconditions, in the order of the text.
    pub contract: Vec<Clause>,
    pub links: Option<Box<Links>>,
    pub kind: DeclKind,
    /// From the first option or keyword to the end of the body.
    pub span: Span,
    /// Whether a [standard include](crate::standard) declares it.
    pub is_standard: bool,
}

/// `link mul, square`: the nodes that stay calls where this node is the entry.
#[derive(Clone, PartialEq, Debug)]
pub struct Links {
    pub names: Vec<Ident>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum DeclKind {
    Node(Body),
    NodeArray(Vec<Body>),
    Table(IntList),
    TableArray(Vec<IntList>),
    Perm(IntList),
    PermArray(Vec<IntList>),
    /// `value fe (a:u64x5) = ...`: the integer that the parameters stand for.
    Value(Box<Term>),
    /// `type tight = u64x5 in [0, 2^52)`: another name for a type and where its words lie.
    Type(Box<NamedType>),
}

/// A type alias: the type and its ranges.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedType {
    pub ty: Type,
    /// Several are the ranges of its words by turns.
    pub ranges: Vec<Range>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IntList {
    pub values: Vec<u64>,
    pub span: Span,
}

/// `a, b : const u32[4]`: several names of one type.
#[derive(Clone, PartialEq, Debug)]
pub struct ParamGroup {
    pub names: Vec<Ident>,
    pub is_const: bool,
    pub lazy_lift: bool,
    pub ty: Type,
    /// `u64x4 le`: the port is bytes in memory.
    pub bytes: Option<(ByteOrder, Span)>,
    /// Several are the ranges of its words by turns.
    pub ranges: Vec<Range>,
}

/// The order of the bytes of each word in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ByteOrder {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

/// A type word with its array dimensions, outer dimension first.
#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    pub word: TypeWord,
    pub dims: Vec<AExpr>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeWord {
    Nat,
    /// `u[dir]width[xlen]`
    U {
        dir: Option<DirWord>,
        width: Width,
        len: Option<u64>,
    },
    /// `b[dir]len`: `len` atoms of one bit.
    B {
        dir: Option<DirWord>,
        len: u64,
    },
    /// `v[dir]len`: `len` atoms of the default word size `'m`.
    V {
        dir: Option<DirWord>,
        len: u64,
    },
    /// The name of a `type` declaration.
    Named(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DirWord {
    H,
    V,
    B,
    W,
    /// `<4>`: accepted by the grammar, refused by the type checker.
    Number(u64),
    /// `<'D>`; the name without its quote.
    Var(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Width {
    Bits(u64),
    /// `u'm`; the name without its leading quote.
    Var(String),
}

/// `vars ... let ... tel`
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    pub vars: Vec<ParamGroup>,
    pub stmts: Vec<Stmt>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    Equation(Equation),
    Loop(Loop),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Equation {
    pub targets: Vec<Var>,
    /// `^` in `p ^:= e`.
    pub op: Option<BinOp>,
    /// Whether the colon of `:=` is there.
    pub colon: bool,
    pub value: Expr,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopOpt {
    Unroll,
    NoUnroll,
    Pipelined,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    pub opts: Vec<LoopOpt>,
    pub index: Ident,
    pub from: AExpr,
    pub to: AExpr,
    pub body: Vec<Stmt>,
    /// The head, from the first option or `forall` to the closing bracket.
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    pub name: Ident,
    pub selectors: Vec<Selector>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Selector {
    Index(AExpr),
    Range(AExpr, AExpr),
    /// Two or more members.
    List(Vec<AExpr>),
}

/// An index expression: compile-time integers only.
#[derive(Clone, PartialEq, Debug)]
pub enum AExpr {
    Int(u64, Span),
    Name(Ident),
    Bin(ABinOp, Box<AExpr>, Box<AExpr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ABinOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    /// Covers the expression without parentheses around it.
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    Int {
        value: u64,
        ty: Option<Type>,
    },
    Var(Var),
    Tuple(Vec<Expr>),
    /// `Shuffle(v,[..])` and `v{..}` (then `braces`).
    Shuffle {
        value: Var,
        pattern: Vec<u64>,
        braces: bool,
    },
    Bitmask(Box<Expr>, AExpr),
    Pack {
        high: Box<Expr>,
        low: Box<Expr>,
        ty: Option<Type>,
    },
    Call {
        callee: Ident,
        instance: Option<AExpr>,
        args: Vec<Expr>,
    },
    Not(Box<Expr>),
    /// Operators from left to right on a first operand, which is no chain: flat, so that nothing
    /// recurses over its length. At least one link.
    Chain(Box<Expr>, Vec<Link>),
}

/// An operator of a chain with its right operand; the left one is the chain before it.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    pub kind: LinkKind,
    /// Covers the chain up to here.
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum LinkKind {
    Bin(BinOp, Expr),
    /// `x <<< (1, 2)`: each word by its own amount, or all words by one.
    Shift(ShiftOp, Vec<AExpr>),
}

impl Expr {
    /// The chain of `self` and one link more.
    pub fn then(self, link: Link) -> Expr {
        let span = link.span;
        let kind = match self.kind {
            ExprKind::Chain(first, mut links) => {
                links.push(link);
                ExprKind::Chain(first, links)
            }
            _ => ExprKind::Chain(Box::new(self), vec![link]),
        };
        Expr { kind, span }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    And,
    Or,
    Xor,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ShiftOp {
    /// `<<`
    Left,
    /// `>>`
    Right,
    /// `>>!`
    RightArith,
    /// `<<<`
    RotLeft,
    /// `>>>`
    RotRight,
}

// Trees without a text have no places: their spans are the default.

impl From<&str> for Ident {
    fn from(name: &str) -> Ident {
        Ident { name: name.to_string(), span: Span::default() }
    }
}

impl From<ExprKind> for Expr {
    fn from(kind: ExprKind) -> Expr {
        Expr { kind, span: Span::default() }
    }
}

impl From<Var> for Expr {
    fn from(var: Var) -> Expr {
        ExprKind::Var(var).into()
    }
}

impl Var {
    /// A variable, or a part of it.
    pub fn new(name: &str, selectors: Vec<Selector>) -> Var {
        Var { name: name.into(), selectors, span: Span::default() }
    }
}

impl Type {
    /// An array of the given dimensions, or one word without.
    pub fn new(word: TypeWord, dims: impl IntoIterator<Item = u64>) -> Type {
        let dims = dims.into_iter().map(AExpr::from).collect();
        Type { word, dims, span: Span::default() }
    }
}

impl ParamGroup {
    /// Names of one type, without ranges.
    pub fn new(names: Vec<Ident>, ty: Type) -> ParamGroup {
        let (bytes, ranges) = (None, Vec::new());
        ParamGroup { names, is_const: false, lazy_lift: false, ty, bytes, ranges }
    }
}

impl Decl {
    /// A declaration without options and contract.
    pub fn new(
        name: impl Into<Ident>,
        params: Vec<ParamGroup>,
        results: Vec<ParamGroup>,
        kind: DeclKind,
    ) -> Decl {
        let (opts, contract, links) = (Vec::new(), Vec::new(), None);
        let (name, span) = (name.into(), Span::default());
        let is_standard = false;
        Decl { opts, name, params, results, contract, links, kind, span, is_standard }
    }
}

impl Body {
    pub fn new(vars: Vec<ParamGroup>, stmts: Vec<Stmt>) -> Body {
        Body { vars, stmts, span: Span::default() }
    }
}

impl Stmt {
    /// An equation; `again` allows targets that have a value.
    pub fn define(targets: Vec<Var>, again: bool, value: Expr) -> Stmt {
        let span = Span::default();
        Stmt::Equation(Equation { targets, op: None, colon: again, value, span })
    }
}

impl Expr {
    pub fn complement(e: Expr) -> Expr {
        ExprKind::Not(e.into()).into()
    }

    pub fn shift(op: ShiftOp, value: Expr, amounts: Vec<AExpr>) -> Expr {
        value.then(Link { kind: LinkKind::Shift(op, amounts), span: Span::default() })
    }

    pub fn bin(op: BinOp, left: Expr, right: Expr) -> Expr {
        left.then(Link { kind: LinkKind::Bin(op, right), span: Span::default() })
    }
}

impl From<u64> for AExpr {
    fn from(value: u64) -> AExpr {
        AExpr::Int(value, Span::default())
    }
}

impl AExpr {
    pub fn bin(op: ABinOp, left: AExpr, right: AExpr) -> AExpr {
        AExpr::Bin(op, Box::new(left), Box::new(right))
    }

    pub fn span(&self) -> Span {
        match self {
            AExpr::Int(_, span) => *span,
            AExpr::Name(id) => id.span,
            AExpr::Bin(_, l, r) => l.span().to(r.span()),
        }
    }
}

impl BinOp {
    pub fn symbol(self) -> &'static str {
        match self {
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Mod => "%",
        }
    }
}

impl ByteOrder {
    /// Both orders.
    pub const ALL: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

    /// The word behind a type.
    pub fn word(self) -> &'static str {
        match self {
            ByteOrder::Little => "le",
            ByteOrder::Big => "be",
        }
    }
}

impl ShiftOp {
    pub fn symbol(self) -> &'static str {
        match self {
            ShiftOp::Left => "<<",
            ShiftOp::Right => ">>",
            ShiftOp::RightArith => ">>!",
            ShiftOp::RotLeft => "<<<",
            ShiftOp::RotRight => ">>>",
        }
    }
}

impl fmt::Display for DirWord {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            DirWord::H => f.write_str("<H>"),
            DirWord::V => f.write_str("<V>"),
            DirWord::B => f.write_str("<B>"),
            DirWord::W => f.write_str("<W>"),
            DirWord::Number(n) => write!(f, "<{n}>"),
            DirWord::Var(name) => write!(f, "<'{name}>"),
        }
    }
}

impl fmt::Display for TypeWord {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let show = |dir: &Option<DirWord>| dir.as_ref().map(DirWord::to_string).unwrap_or_default();
        match self {
            TypeWord::Nat => f.write_str("nat"),
            TypeWord::U { dir, width, len } => {
                write!(f, "u{}", show(dir))?;
                match width {
                    Width::Bits(bits) => write!(f, "{bits}")?,
                    Width::Var(name) => write!(f, "'{name}")?,
                }
                len.map_or(Ok(()), |len| write!(f, "x{len}"))
            }
            TypeWord::B { dir, len } => write!(f, "b{}{len}", show(dir)),
            TypeWord::V { dir, len } => write!(f, "v{}{len}", show(dir)),
            TypeWord::Named(name) => f.write_str(name),
        }
    }
}
