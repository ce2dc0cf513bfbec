//! Type aliases: replaces names of types by the types.
//!
//! ```text
//! type tight = u64x5 in [0, 2^52)
//!
//! node f (a:tight[2]) ...      →      node f (a:u64x5[2] in [0, 2^52)) ...
//! ```
//!
//! So later stages do not know of aliases. A type is declared above its first use; the stage that
//! resolves types reports remaining names. In front of parentheses the alias of a word converts
//! like the word: `word(x)` is `u64(x)` with `type word = u64`.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::contract;
use super::resolve::resolve_type;
use super::types::VarType;
use crate::diag::{Code, Diagnostic, Span};
use crate::names::did_you_mean;
use crate::syntax::ast::*;

/// All declarations except for types, without names of types, and the errors in types.
pub(super) fn replace(decls: &[Decl]) -> (Cow<'_, [Decl]>, Vec<Diagnostic>) {
    if !decls.iter().any(|decl| matches!(decl.kind, DeclKind::Type(_))) {
        return (Cow::Borrowed(decls), Vec::new());
    }
    let mut names = Names::default();
    let mut others = Vec::new();
    for decl in decls {
        names.once(decl);
        if let DeclKind::Type(named) = &decl.kind {
            names.declare(&decl.name.name, named);
            continue;
        }
        let mut decl = decl.clone();
        names.groups(&mut decl.params);
        names.groups(&mut decl.results);
        match &mut decl.kind {
            DeclKind::Node(body) => names.body(body),
            DeclKind::NodeArray(bodies) => bodies.iter_mut().for_each(|body| names.body(body)),
            _ => {}
        }
        others.push(decl);
    }
    (Cow::Owned(others), names.diags)
}

/// A word that every other one is compatible with, in place of a type with an error.
fn unknown() -> TypeWord {
    TypeWord::U { dir: None, width: Width::Var("m".to_string()), len: None }
}

#[derive(Default)]
struct Names<'a> {
    types: FxHashMap<&'a str, NamedType>,
    /// Every declaration so far: where its name stands, and whether it is a type.
    known: FxHashMap<&'a str, (Span, bool)>,
    diags: Vec<Diagnostic>,
}

impl<'a> Names<'a> {
    /// Reports a name that a type shares with another declaration.
    fn once(&mut self, decl: &'a Decl) {
        let name = decl.name.name.as_str();
        let is_type = matches!(decl.kind, DeclKind::Type(_));
        if let Some(&(first, was_type)) = self.known.get(name)
            && (is_type || was_type)
        {
            let text = format!("`{name}` is declared twice");
            self.diags.push(
                Diagnostic::error(Code::DuplicateNode, decl.name.span, text)
                    .related(first, "the first declaration")
                    .help("rename one of them"),
            );
        }
        self.known.entry(name).or_insert((decl.name.span, is_type));
    }

    fn declare(&mut self, name: &'a str, named: &NamedType) {
        let mut named = named.clone();
        self.ty(&mut named.ty, &mut named.ranges);
        match resolve_type(&named.ty) {
            Ok(ty) => self.check(&mut named.ranges, &ty),
            Err(finding) => {
                self.diags.push(*finding);
                // Uses of it report no further errors.
                named.ranges.clear();
                named.ty.dims.clear();
                named.ty.word = unknown();
            }
        }
        self.types.entry(name).or_insert(named);
    }

    /// Leaves no range that the words of a type cannot have.
    fn check(&mut self, ranges: &mut Vec<Range>, ty: &VarType) {
        // If the size is open or there is none, each use reports the error.
        let VarType::Words { atom, .. } = ty else { return };
        let found = ranges.iter().find_map(|range| contract::range(range, atom.bits()).err());
        if let Some(finding) = found {
            self.diags.push(*finding);
            ranges.clear();
        }
    }

    /// Replaces a name; `ranges` are those that stand behind it.
    fn ty(&mut self, ty: &mut Type, ranges: &mut Vec<Range>) {
        let TypeWord::Named(name) = &ty.word else { return };
        let Some(named) = self.types.get(name.as_str()) else {
            if let Some(near) = did_you_mean(name, self.types.keys().copied()) {
                let text = format!("expected a type, found `{name}`");
                self.diags.push(Diagnostic::error(Code::BadTypeWord, ty.span, text).help(near));
                ty.word = unknown();
            }
            return;
        };
        if let (Some(own), false) = (ranges.first(), named.ranges.is_empty()) {
            let text = format!("a second range: `{name}` has one");
            self.diags.push(
                Diagnostic::error(Code::BadRange, own.span, text)
                    .help("remove it, or name a type without a range"),
            );
        } else {
            // A range that does not hold is reported at the use of the name.
            let here = |range: &Range| Range { span: ty.span, ..range.clone() };
            ranges.extend(named.ranges.iter().map(here));
        }
        ty.dims.extend(named.ty.dims.iter().cloned());
        ty.word = named.ty.word.clone();
    }

    fn groups(&mut self, groups: &mut [ParamGroup]) {
        for group in groups {
            self.ty(&mut group.ty, &mut group.ranges);
        }
    }

    fn body(&mut self, body: &mut Body) {
        self.groups(&mut body.vars);
        self.stmts(&mut body.stmts);
    }

    fn stmts(&mut self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Equation(equation) => self.expr(&mut equation.value),
                Stmt::Loop(l) => self.stmts(&mut l.body),
            }
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Int { ty, .. } => self.literal(ty),
            ExprKind::Var(_) | ExprKind::Shuffle { .. } => {}
            ExprKind::Tuple(list) => list.iter_mut().for_each(|e| self.expr(e)),
            ExprKind::Bitmask(e, _) | ExprKind::Not(e) => self.expr(e),
            ExprKind::Pack { high, low, ty } => {
                self.expr(high);
                self.expr(low);
                self.literal(ty);
            }
            ExprKind::Call { callee, args, .. } => {
                self.size(callee);
                args.iter_mut().for_each(|e| self.expr(e));
            }
            ExprKind::Chain(first, links) => {
                self.expr(first);
                for link in links {
                    if let LinkKind::Bin(_, right) = &mut link.kind {
                        self.expr(right);
                    }
                }
            }
        }
    }

    /// The type behind a literal, which lies where it lies.
    fn literal(&mut self, ty: &mut Option<Type>) {
        if let Some(ty) = ty {
            self.ty(ty, &mut Vec::new());
        }
    }

    /// `word` in `word(x)`.
    fn size(&self, callee: &mut Ident) {
        if let Some(named) = self.types.get(callee.name.as_str())
            && let TypeWord::U { dir: None, width: Width::Bits(bits), len: None } = named.ty.word
            && named.ty.dims.is_empty()
            && named.ranges.is_empty()
        {
            callee.name = format!("u{bits}");
        }
    }
}
