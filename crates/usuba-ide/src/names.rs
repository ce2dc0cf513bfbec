//! Definitions and uses of names.
//!
//! ```text
//! node f (x:u8) returns (y:u8)         f: node        x: parameter       y: result
//! let y = g(x) tel                     uses of y, g and x
//! ```
//!
//! Declarations share one scope over all files. Parameters and results belong to their node, locals
//! to a body, indices to their loop or sum. The index needs no types, so it exists for programs with
//! errors; a name that nothing defines has no entry.

use rustc_hash::FxHashMap;
use usuba::diag::{FileId, Span};
use usuba::syntax::ast::*;
use usuba::syntax::{Lexer, Tok, Token};

/// The kind of a definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Node,
    Table,
    Perm,
    Value,
    Type,
    Parameter,
    Result,
    Local,
    Index,
}

impl Kind {
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Node => "node",
            Kind::Table => "table",
            Kind::Perm => "perm",
            Kind::Value => "value",
            Kind::Type => "type",
            Kind::Parameter => "parameter",
            Kind::Result => "result",
            Kind::Local => "local",
            Kind::Index => "loop index",
        }
    }

    /// Whether the name is known in all declarations.
    pub fn is_global(self) -> bool {
        matches!(self, Kind::Node | Kind::Table | Kind::Perm | Kind::Value | Kind::Type)
    }
}

/// A name that a program defines.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: String,
    pub kind: Kind,
    /// The name.
    pub span: Span,
    /// The part of the text that knows the name: for a declaration its own text, behind which it is
    /// known.
    pub scope: Span,
    /// The type of a variable, as written.
    pub ty: Option<Span>,
}

impl Definition {
    /// Whether a place can use the name, if no inner definition hides it.
    pub fn is_visible(&self, file: FileId, offset: u32) -> bool {
        match self.kind.is_global() {
            // Files that the text includes come before it.
            true => self.scope.file != file || self.scope.end <= offset,
            false => {
                self.scope.file == file && self.scope.start <= offset && offset <= self.scope.end
            }
        }
    }

    /// An order of definitions that one place can use, inner ones first.
    pub fn distance(&self) -> (bool, u32) {
        (self.kind.is_global(), self.scope.end - self.scope.start)
    }
}

/// Index of a definition in [`Names::definitions`].
pub type DefinitionId = usize;

/// All definitions and uses of a program.
#[derive(Default)]
pub struct Names {
    /// In the order of the text; of two declarations of one name, uses mean the first.
    pub definitions: Vec<Definition>,
    /// Definitions and uses, by place.
    places: Vec<(Span, DefinitionId)>,
}

impl Names {
    pub fn new(decls: &[Decl]) -> Names {
        let mut builder = Builder::default();
        for decl in decls {
            let kind = match decl.kind {
                DeclKind::Node(_) | DeclKind::NodeArray(_) => Kind::Node,
                DeclKind::Table(_) | DeclKind::TableArray(_) => Kind::Table,
                DeclKind::Perm(_) | DeclKind::PermArray(_) => Kind::Perm,
                DeclKind::Value(_) => Kind::Value,
                DeclKind::Type(_) => Kind::Type,
            };
            let id = builder.define(&decl.name, kind, decl.span, None);
            builder.globals.entry(&decl.name.name).or_insert(id);
        }
        decls.iter().for_each(|decl| builder.decl(decl));
        let mut names = builder.names;
        names.places.sort_by_key(|(span, _)| *span);
        names
    }

    /// The name at a place, also directly behind it, with its definition.
    pub fn at(&self, file: FileId, offset: u32) -> Option<(Span, DefinitionId)> {
        let end =
            self.places.partition_point(|(span, _)| (span.file, span.start) <= (file, offset));
        let near = self.places[..end].iter().rev().take(2);
        let mut found = near.filter(|(span, _)| span.file == file && offset <= span.end);
        found.next().copied()
    }

    /// The definition of the name that has exactly this place.
    pub fn exact(&self, span: Span) -> Option<DefinitionId> {
        let at = self.places.binary_search_by_key(&span, |(span, _)| *span).ok()?;
        Some(self.places[at].1)
    }

    /// The same as [`Names::at`] for a name in text that the parser gave up, by its spelling.
    pub fn spelt(&self, file: FileId, offset: u32, text: &str) -> Option<(Span, DefinitionId)> {
        let (tokens, ..) = Lexer::everything(text, file);
        let around = |t: &&Token| t.span.start <= offset && offset <= t.span.end;
        let span = tokens.iter().find(|t| t.tok == Tok::Ident && around(t))?.span;
        let name = &text[span.start as usize..span.end as usize];
        let found = self.visible(file, offset).into_iter().find(|d| d.name == name)?.span;
        let id = self.definitions.iter().position(|d| d.span == found)?;
        Some((span, id))
    }

    /// Every place of a definition, itself included, in the order of the text.
    pub fn places(&self, id: DefinitionId) -> impl Iterator<Item = Span> {
        self.places.iter().filter(move |(_, other)| *other == id).map(|(span, _)| *span)
    }

    /// The definition of a declaration.
    pub fn declared(&self, name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|d| d.kind.is_global() && d.name == name)
    }

    /// The definitions that a place can use, inner ones first.
    pub fn visible(&self, file: FileId, offset: u32) -> Vec<&Definition> {
        let known = self.definitions.iter().filter(|d| d.is_visible(file, offset));
        let mut found: Vec<&Definition> = known.collect();
        found.sort_by_key(|d| d.distance());
        let mut seen = rustc_hash::FxHashSet::default();
        found.retain(|d| seen.insert(d.name.as_str()));
        found
    }
}

#[derive(Default)]
struct Builder<'a> {
    names: Names,
    globals: FxHashMap<&'a str, DefinitionId>,
    /// The variables that are known here, inner ones last.
    locals: Vec<(&'a str, DefinitionId)>,
}

impl<'a> Builder<'a> {
    fn define(&mut self, name: &Ident, kind: Kind, scope: Span, ty: Option<Span>) -> DefinitionId {
        let id = self.names.definitions.len();
        let (span, name) = (name.span, name.name.clone());
        self.names.definitions.push(Definition { name, kind, span, scope, ty });
        self.names.places.push((span, id));
        id
    }

    /// A variable, of which uses mean the first in its scope.
    fn local(&mut self, name: &'a Ident, kind: Kind, scope: Span, ty: Option<Span>) {
        let id = self.define(name, kind, scope, ty);
        self.locals.push((&name.name, id));
    }

    fn place(&mut self, span: Span, id: Option<DefinitionId>) {
        self.names.places.extend(id.map(|id| (span, id)));
    }

    fn variable(&mut self, name: &Ident) {
        let known = self.locals.iter().rev().find(|(other, _)| *other == name.name);
        let id = known.map(|(_, id)| *id).or_else(|| self.globals.get(&*name.name).copied());
        self.place(name.span, id);
    }

    fn global(&mut self, name: &Ident) {
        self.place(name.span, self.globals.get(&*name.name).copied());
    }

    fn decl(&mut self, decl: &'a Decl) {
        self.groups(&decl.params, Kind::Parameter, decl.span);
        self.groups(&decl.results, Kind::Result, decl.span);
        for clause in &decl.contract {
            self.term(&clause.left);
            self.term(&clause.right);
            clause.modulus.iter().for_each(|term| self.term(term));
        }
        decl.links.iter().flat_map(|links| &links.names).for_each(|name| self.global(name));
        match &decl.kind {
            DeclKind::Node(body) => self.body(body),
            DeclKind::NodeArray(bodies) => bodies.iter().for_each(|body| self.body(body)),
            DeclKind::Value(term) => self.term(term),
            DeclKind::Type(named) => {
                self.ty(&named.ty);
                self.ranges(&named.ranges);
            }
            _ => {}
        }
        self.locals.clear();
    }

    fn groups(&mut self, groups: &'a [ParamGroup], kind: Kind, scope: Span) {
        for group in groups {
            for name in &group.names {
                self.local(name, kind, scope, Some(group.ty.span));
            }
            self.ty(&group.ty);
            self.ranges(&group.ranges);
        }
    }

    fn ranges(&mut self, ranges: &'a [Range]) {
        for range in ranges {
            self.term(&range.low);
            self.term(&range.high);
        }
    }

    fn ty(&mut self, ty: &Type) {
        if let TypeWord::Named(name) = &ty.word {
            let span = Span { end: ty.span.start + name.len() as u32, ..ty.span };
            self.place(span, self.globals.get(&**name).copied());
        }
    }

    fn body(&mut self, body: &'a Body) {
        let outer = self.locals.len();
        self.groups(&body.vars, Kind::Local, body.span);
        self.stmts(&body.stmts, body.span.end);
        self.locals.truncate(outer);
    }

    /// Statements whose block ends before `end`.
    fn stmts(&mut self, stmts: &'a [Stmt], end: u32) {
        for (at, stmt) in stmts.iter().enumerate() {
            match stmt {
                Stmt::Equation(equation) => {
                    equation.targets.iter().for_each(|var| self.var(var));
                    self.expr(&equation.value);
                }
                Stmt::Loop(l) => {
                    let next = stmts.get(at + 1).map(|next| match next {
                        Stmt::Equation(equation) => equation.span.start,
                        Stmt::Loop(l) => l.span.start,
                    });
                    let end = next.unwrap_or(end);
                    self.index(&l.from);
                    self.index(&l.to);
                    self.local(&l.index, Kind::Index, Span { end, ..l.span }, None);
                    self.stmts(&l.body, end);
                    self.locals.pop();
                }
            }
        }
    }

    fn var(&mut self, var: &Var) {
        self.variable(&var.name);
        for selector in &var.selectors {
            match selector {
                Selector::Index(at) => self.index(at),
                Selector::Range(from, to) => {
                    self.index(from);
                    self.index(to);
                }
                Selector::List(list) => list.iter().for_each(|at| self.index(at)),
            }
        }
    }

    fn index(&mut self, e: &AExpr) {
        match e {
            AExpr::Int(..) => {}
            AExpr::Name(name) => self.variable(name),
            AExpr::Bin(_, left, right) => {
                self.index(left);
                self.index(right);
            }
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Int { ty, .. } => ty.iter().for_each(|ty| self.ty(ty)),
            ExprKind::Var(var) | ExprKind::Shuffle { value: var, .. } => self.var(var),
            ExprKind::Tuple(list) => list.iter().for_each(|e| self.expr(e)),
            ExprKind::Bitmask(e, at) => {
                self.expr(e);
                self.index(at);
            }
            ExprKind::Pack { high, low, ty } => {
                self.expr(high);
                self.expr(low);
                ty.iter().for_each(|ty| self.ty(ty));
            }
            ExprKind::Call { callee, instance, args } => {
                self.global(callee);
                instance.iter().for_each(|at| self.index(at));
                args.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Not(e) => self.expr(e),
            ExprKind::Chain(first, links) => {
                self.expr(first);
                for link in links {
                    match &link.kind {
                        LinkKind::Bin(_, right) => self.expr(right),
                        LinkKind::Shift(_, amounts) => {
                            amounts.iter().for_each(|amount| self.index(amount));
                        }
                    }
                }
            }
        }
    }

    fn term(&mut self, term: &'a Term) {
        match &term.kind {
            TermKind::Int(_) => {}
            TermKind::Var(var) => self.var(var),
            TermKind::Apply { callee, args } => {
                self.global(callee);
                args.iter().for_each(|arg| self.term(arg));
            }
            TermKind::Bin(_, left, right) => {
                self.term(left);
                self.term(right);
            }
            TermKind::Sum { index, from, to, term: inner } => {
                self.index(from);
                self.index(to);
                self.local(index, Kind::Index, term.span, None);
                self.term(inner);
                self.locals.pop();
            }
        }
    }
}
