//! Scopes: every name in a body is declared, and of the right kind.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Named, Resolver};
use crate::diag::{Code, Diagnostic};
use crate::names::did_you_mean;
use crate::syntax::ast;
use crate::typed::types::*;
use crate::typed::walk::Builtin;

/// Checks that every name in a body is declared and of the right kind.
pub struct Scopes<'a> {
    pub r: &'a mut Resolver,
    pub scope: FxHashMap<Rc<str>, Named>,
    pub node: &'a Decl,
    pub loops: Vec<String>,
    /// The declarations that are called.
    pub calls: BTreeSet<DeclId>,
}

impl Scopes<'_> {
    pub fn stmts(&mut self, stmts: &[ast::Stmt]) {
        for stmt in stmts {
            match stmt {
                ast::Stmt::Equation(eq) => {
                    for target in &eq.targets {
                        self.var(target);
                    }
                    if eq.op.is_some() && !eq.colon {
                        let text = "an update that is written without its colon";
                        self.r.diags.push(
                            Diagnostic::warning(Code::OldUpdateForm, eq.span, text)
                                .help("write `:=` after the operator, as in `x ^:= y`"),
                        );
                    }
                    self.expr(&eq.value);
                }
                ast::Stmt::Loop(l) => {
                    self.index(&l.from);
                    self.index(&l.to);
                    let name = &l.index.name;
                    if self.scope.contains_key(name.as_str()) || self.loops.contains(name) {
                        let text = format!("loop index `{name}` hides another `{name}`");
                        self.r.diags.push(
                            Diagnostic::warning(Code::ShadowedName, l.index.span, text)
                                .help("rename the loop index"),
                        );
                    }
                    self.loops.push(name.clone());
                    self.stmts(&l.body);
                    self.loops.pop();
                }
            }
        }
    }

    fn unknown(&mut self, id: &ast::Ident) {
        let mut names: Vec<&str> = self.scope.keys().map(|n| &**n).collect();
        names.sort_unstable();
        let help = match did_you_mean(&id.name, names.iter().copied()) {
            _ if matches!(&*id.name, "true" | "false") => "a bit is written `1` or `0`".into(),
            _ if self.r.ids.contains_key(id.name.as_str()) => {
                format!("a call reads `{}(...)`; its result needs a name to be indexed", id.name)
            }
            Some(near) => near,
            None if self.node.params.is_empty() => "declare it after `vars`".into(),
            None => {
                let params: Vec<String> =
                    self.node.params.iter().map(|p| format!("`{}`", p.name)).collect();
                format!("the parameters are {}; declare locals after `vars`", params.join(", "))
            }
        };
        let text = format!("`{}` is not defined in node `{}`", id.name, self.node.name);
        self.r.error(Code::UndefinedVariable, id.span, text).help = Some(help);
    }

    fn var(&mut self, var: &ast::Var) {
        let id = &var.name;
        if !self.loops.contains(&id.name) && !self.scope.contains_key(id.name.as_str()) {
            self.unknown(id);
        }
        for selector in &var.selectors {
            match selector {
                ast::Selector::Index(e) => self.index(e),
                ast::Selector::Range(a, b) => {
                    self.index(a);
                    self.index(b);
                }
                ast::Selector::List(list) => list.iter().for_each(|e| self.index(e)),
            }
        }
    }

    fn index(&mut self, e: &ast::AExpr) {
        match e {
            ast::AExpr::Int(..) => {}
            ast::AExpr::Bin(_, l, r) => {
                self.index(l);
                self.index(r);
            }
            ast::AExpr::Name(id) if self.loops.contains(&id.name) => {}
            ast::AExpr::Name(id) => match self.scope.get(id.name.as_str()) {
                Some(Named::Nat) => {}
                Some(Named::Words) => {
                    let text = format!("`{}` is a word, not a compile-time integer", id.name);
                    self.r.error(Code::NotConstant, id.span, text).help = Some(
                        "indices and amounts use loop indices, nat parameters and integers".into(),
                    );
                }
                None => self.unknown(id),
            },
        }
    }

    fn expr(&mut self, e: &ast::Expr) {
        match &e.kind {
            ast::ExprKind::Int { .. } => {}
            ast::ExprKind::Var(var) => self.var(var),
            ast::ExprKind::Shuffle { value, .. } => self.var(value),
            ast::ExprKind::Tuple(list) => list.iter().for_each(|e| self.expr(e)),
            ast::ExprKind::Bitmask(e, i) => {
                self.expr(e);
                self.index(i);
            }
            ast::ExprKind::Pack { high, low, .. } => {
                self.expr(high);
                self.expr(low);
            }
            ast::ExprKind::Call { callee, instance, args } => {
                self.callee(callee);
                if let Some(e) = instance {
                    self.index(e);
                }
                args.iter().for_each(|e| self.expr(e));
            }
            ast::ExprKind::Not(e) => self.expr(e),
            ast::ExprKind::Chain(first, links) => {
                self.expr(first);
                for link in links {
                    match &link.kind {
                        ast::LinkKind::Bin(_, right) => self.expr(right),
                        ast::LinkKind::Shift(_, amounts) => {
                            amounts.iter().for_each(|k| self.index(k));
                        }
                    }
                }
            }
        }
    }

    fn callee(&mut self, id: &ast::Ident) {
        if let Some(&called) = self.r.ids.get(id.name.as_str()) {
            self.calls.insert(called);
            return;
        }
        if Builtin::of(&id.name).is_some() || self.r.known.contains_key(id.name.as_str()) {
            return;
        }
        if *id.name == *self.node.name {
            let text = format!("node `{}` calls itself", id.name);
            self.r.error(Code::RecursiveCall, id.span, text).help =
                Some("programs are circuits: repeat with forall instead".into());
            return;
        }
        let is_type = id.name.strip_prefix(['b', 'u', 'v']).is_some_and(|size| {
            !size.is_empty() && size.bytes().all(|digit| digit.is_ascii_digit())
        });
        let near = did_you_mean(&id.name, self.r.done.iter().map(|d| &*d.name));
        let text = format!("no node, table or perm called `{}` is declared before", id.name);
        self.r.error(Code::UndefinedNode, id.span, text).help = Some(match near {
            Some(near) => near,
            None if is_type => format!(
                "`{}` is a type; numbers have the type of their place: write the number alone",
                id.name
            ),
            None => {
                "a node may call only what is declared above it; move its declaration up".into()
            }
        });
    }
}
