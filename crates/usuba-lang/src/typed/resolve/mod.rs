//! Name resolution: from declarations to a [`Program`] with evaluated types, known names, calls
//! only backwards, and tables and perms of the right shape.

mod scopes;
mod tables;
mod types;

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use scopes::Scopes;
pub use tables::{MAX_TABLE_INPUTS, is_whole, word_table};
pub use types::resolve_type;

use super::types::*;
use super::{contract, entry, named};
use crate::diag::{Code, Diagnostic, Span};
use crate::names::did_you_mean;
use crate::syntax::ast;

/// Resolves a spliced list of declarations. The entry is the instance that `entry` writes, or the
/// last declaration.
pub fn resolve(
    decls: &[ast::Decl],
    entry: Option<&str>,
    flags: Flags,
) -> (Option<Program>, Vec<Diagnostic>) {
    let (decls, diags) = named::replace(decls);
    let mut errors = diags.len();
    let mut r = Resolver {
        diags,
        known: FxHashMap::default(),
        flags,
        ids: FxHashMap::default(),
        done: Vec::new(),
        values: Vec::new(),
    };
    for decl in &*decls {
        let before = r.diags.len();
        r.decl(decl);
        errors += r.diags[before..].iter().filter(|d| d.is_error()).count();
        if errors >= MAX_ERRORS {
            r.diags.retain(Diagnostic::is_error);
            r.diags.truncate(MAX_ERRORS);
            break;
        }
    }
    let asked = match entry.map(entry::Entry::parse).transpose() {
        Ok(asked) => asked,
        Err(error) => {
            r.diags.push(error);
            return (None, r.diags);
        }
    };
    let (node, arguments) = match asked {
        Some(entry::Entry { node, arguments }) => (Some(node), arguments),
        None => (None, Arguments::default()),
    };
    let found = match &node {
        Some(node) => r.done.iter().position(|d| *d.name == **node),
        None => r.done.len().checked_sub(1),
    };
    match found {
        None if r.diags.is_empty() => r.diags.push(no_entry(&r.done, node.as_deref())),
        None => {}
        Some(found) => r.diags.extend(entry::check(&r.done[found], &arguments)),
    }
    let Resolver { done: decls, values, diags, .. } = r;
    (found.map(|entry| Program { decls, values, entry, arguments, flags }), diags)
}

fn no_entry(decls: &[Decl], entry: Option<&str>) -> Diagnostic {
    let Some(entry) = entry.filter(|_| !decls.is_empty()) else {
        return Diagnostic::global(Code::NoEntry, "the program declares nothing")
            .help("the entry is the last declaration; declare at least one node");
    };
    let names = || decls.iter().rev().map(|decl| &*decl.name);
    let all = || format!("the declarations are {}", names().take(8).collect::<Vec<_>>().join(", "));
    Diagnostic::global(Code::NoEntry, format!("the program has no entry node `{entry}`"))
        .help(did_you_mean(entry, names()).unwrap_or_else(all))
}

/// The kind of a name inside a body.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    Words,
    Nat,
}

struct Resolver {
    diags: Vec<Diagnostic>,
    /// Every declaration so far, with the place of its name.
    known: FxHashMap<Rc<str>, Span>,
    flags: Flags,
    /// The declarations in `done` by their names.
    ids: FxHashMap<Rc<str>, DeclId>,
    done: Vec<Decl>,
    values: Vec<ValueMap>,
}

impl Resolver {
    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.diags.push(Diagnostic::error(code, span, message));
        self.diags.last_mut().expect("just pushed")
    }

    fn decl(&mut self, decl: &ast::Decl) {
        let name: Rc<str> = decl.name.name.as_str().into();
        if &*name == "refresh" {
            self.error(Code::DuplicateNode, decl.name.span, "`refresh` is a predefined node")
                .help = Some("choose another name".into());
        } else if let Some(&first) = self.known.get(&name) {
            let text = format!("`{name}` is declared twice");
            let d = self.error(Code::DuplicateNode, decl.name.span, text);
            d.related.push((first, "the first declaration".into()));
            d.help = Some("rename one of them".into());
        }
        let params = self.vars(&decl.params);
        if let ast::DeclKind::Value(term) = &decl.kind {
            self.known.entry(name.clone()).or_insert(decl.name.span);
            let span = decl.name.span;
            return self.value(ValueMap { name, span, params, term: (**term).clone() });
        }
        let results = self.vars(&decl.results);
        for var in results.iter().filter(|v| v.ty == VarType::Nat) {
            self.error(Code::NatMismatch, var.span, format!("result `{}` is a nat", var.name))
                .help = Some("results are words; a nat exists at compile time only".into());
        }
        let mut done = Decl {
            name: name.clone(),
            name_span: decl.name.span,
            opts: decl.opts.clone(),
            params,
            results,
            array: matches!(
                decl.kind,
                ast::DeclKind::NodeArray(_)
                    | ast::DeclKind::TableArray(_)
                    | ast::DeclKind::PermArray(_)
            ),
            is_standard: decl.is_standard,
            contract: decl.contract.clone(),
            links: Vec::new(),
            kind: Kind::Perm(Vec::new()),
        };
        self.diags.extend(contract::check(&self.done, &self.values, &done));
        done.kind = match &decl.kind {
            ast::DeclKind::Node(body) => Kind::Node(self.bodies(&done, std::slice::from_ref(body))),
            ast::DeclKind::NodeArray(bodies) => Kind::Node(self.bodies(&done, bodies)),
            ast::DeclKind::Table(list) => Kind::Table(vec![list.clone()]),
            ast::DeclKind::TableArray(lists) => Kind::Table(lists.clone()),
            ast::DeclKind::Perm(list) => Kind::Perm(vec![list.clone()]),
            ast::DeclKind::PermArray(lists) => Kind::Perm(lists.clone()),
            ast::DeclKind::Value(_) => unreachable!("values are kept apart"),
            ast::DeclKind::Type(_) => unreachable!("names of types are replaced"),
        };
        match &done.kind {
            Kind::Table(lists) => {
                self.same_words(&done);
                for list in lists {
                    self.table(&done, list);
                }
            }
            Kind::Perm(lists) => {
                self.same_words(&done);
                for list in lists {
                    self.perm(&done, list);
                }
            }
            Kind::Node(_) => self.scope(&done.params, &done.results, &[]),
        }
        let is_node = matches!(done.kind, Kind::Node(_));
        done.params.iter().chain(&done.results).for_each(|var| self.bytes(var, is_node));
        if decl.opts.contains(&ast::DeclOpt::LsbFirst) && !matches!(done.kind, Kind::Table(_)) {
            let text = format!("`_lsb_first` before a {}", done.noun());
            self.error(Code::NotSupported, decl.name.span, text).help =
                Some("only a table has a bit order of its own; remove it".into());
        }
        let links = decl.links.iter().flat_map(|links| &links.names);
        done.links = links.filter_map(|link| self.link(link)).collect();
        self.known.entry(name.clone()).or_insert(decl.name.span);
        self.ids.entry(name).or_insert(self.done.len());
        self.done.push(done);
    }

    /// The node of a link.
    fn link(&mut self, link: &ast::Ident) -> Option<DeclId> {
        let name = &link.name;
        let Some(&id) = self.ids.get(name.as_str()) else {
            let near = did_you_mean(name, self.done.iter().map(|decl| &*decl.name));
            let text = format!("no node called `{name}` is declared before");
            self.error(Code::UndefinedNode, link.span, text).help = Some(match near {
                Some(near) => near,
                None => "declare it above this node".into(),
            });
            return None;
        };
        let decl = &self.done[id];
        let nats = decl.params.iter().any(|var| var.ty == VarType::Nat);
        let bytes = decl.params.iter().chain(&decl.results).any(|var| var.bytes.is_some());
        if decl.array || nats || bytes || !matches!(decl.kind, Kind::Node(_)) {
            let found = match (decl.noun(), decl.array) {
                ("node", false) if nats => "a node with nat parameters".into(),
                ("node", false) => "a node with ports of bytes".into(),
                (noun, array) => format!("a {noun}{}", if array { "[]" } else { "" }),
            };
            let text = format!("`{name}` is {found}, expected a single node of words");
            self.error(Code::BadLink, link.span, text).help =
                Some("remove it: its calls are inlined".into());
            return None;
        }
        Some(id)
    }

    fn value(&mut self, map: ValueMap) {
        self.scope(&map.params, &[], &[]);
        map.params.iter().for_each(|var| self.bytes(var, false));
        for var in map.params.iter().filter(|var| var.ty == VarType::Nat) {
            let text = format!("`{}` is a nat", var.name);
            self.error(Code::NatMismatch, var.span, text).help =
                Some("a value is one of words".into());
        }
        self.diags.extend(contract::check_value(&self.done, &self.values, &map));
        self.values.push(map);
    }

    /// The ranges of a group of variables; none if their words cannot have them.
    fn ranges(&mut self, group: &ast::ParamGroup, ty: &VarType) -> Vec<Range> {
        let atoms = ty.atoms();
        if let Some(extra) = group.ranges.get(1..).and_then(|more| more.get(atoms.max(1) - 1)) {
            let text = format!("more ranges than the {atoms} words that have them by turns");
            self.error(Code::BadRange, extra.span, text).help = Some("remove this one".into());
        }
        let ranges: Option<Vec<Range>> =
            group.ranges.iter().map(|written| self.range(written, ty)).collect();
        ranges.unwrap_or_default()
    }

    fn range(&mut self, written: &ast::Range, ty: &VarType) -> Option<Range> {
        let bits = match ty {
            VarType::Nat => {
                let text = "a range of a nat";
                self.error(Code::BadRange, written.span, text).help =
                    Some("a nat is known when the program is compiled; remove the range".into());
                return None;
            }
            VarType::Words { atom, .. } => atom.bits(),
        };
        match contract::range(written, bits) {
            Ok(range) => Some(range),
            Err(finding) => {
                self.diags.push(*finding);
                None
            }
        }
    }

    fn vars(&mut self, groups: &[ast::ParamGroup]) -> Vec<Var> {
        let mut vars = Vec::new();
        for group in groups {
            let ty = self.var_type(&group.ty);
            let ranges = self.ranges(group, &ty);
            for name in &group.names {
                vars.push(Var {
                    name: name.name.as_str().into(),
                    span: name.span,
                    ty: ty.clone(),
                    constant: group.is_const,
                    bytes: group.bytes.map(|(order, _)| order),
                    ranges: ranges.clone(),
                });
            }
        }
        vars
    }

    /// Checks that a variable with an order of bytes is a port of whole bytes.
    fn bytes(&mut self, var: &Var, is_port: bool) {
        let Some(order) = var.bytes else { return };
        let whole = match &var.ty {
            VarType::Words { atom, .. } => {
                atom.bits().is_some_and(|bits| bits.is_multiple_of(8) && bits <= 64)
            }
            VarType::Nat => false,
        };
        let text = match is_port {
            true if whole => return,
            true => format!("`{}` has no words of 8, 16, 24 to 64 bits to lie in bytes", var.name),
            false => format!("`{}` is no port of a node, and lies in no bytes", var.name),
        };
        self.error(Code::UnsupportedType, var.span, text).help =
            Some(format!("remove `{}`", order.word()));
    }

    fn var_type(&mut self, ty: &ast::Type) -> VarType {
        match resolve_type(ty) {
            Ok(ty) => ty,
            Err(diag) => {
                self.diags.push(*diag);
                let atom = Atom { dir: Dir::Var("D".into()), size: Size::Var("m".into()) };
                VarType::Words { atom, dims: Vec::new() }
            }
        }
    }

    /// Reports names that are declared twice in one scope.
    fn scope(&mut self, params: &[Var], results: &[Var], locals: &[Var]) {
        let mut seen: FxHashMap<Rc<str>, Span> = FxHashMap::default();
        for var in params.iter().chain(results).chain(locals) {
            if let Some(&first) = seen.get(&var.name) {
                let text = format!("`{}` is declared twice", var.name);
                let d = self.error(Code::DuplicateName, var.span, text);
                d.related.push((first, "the first declaration".into()));
                d.help = Some("parameters, results and locals share one scope; rename one".into());
            }
            seen.entry(var.name.clone()).or_insert(var.span);
        }
    }

    fn bodies(&mut self, decl: &Decl, bodies: &[ast::Body]) -> Vec<Body> {
        bodies.iter().map(|body| self.body(decl, body)).collect()
    }

    fn body(&mut self, decl: &Decl, body: &ast::Body) -> Body {
        let vars = self.vars(&body.vars);
        vars.iter().for_each(|var| self.bytes(var, false));
        if !vars.is_empty() {
            // The signature alone is checked once per declaration; a body adds its locals.
            let before = self.diags.len();
            self.scope(&[], &[], &vars);
            if self.diags.len() == before {
                for var in &vars {
                    let clash =
                        decl.params.iter().chain(&decl.results).find(|v| v.name == var.name);
                    if let Some(first) = clash {
                        let span = first.span;
                        let text = format!("`{}` is declared twice", var.name);
                        let d = self.error(Code::DuplicateName, var.span, text);
                        d.related.push((span, "the first declaration".into()));
                        d.help = Some(
                            "parameters, results and locals share one scope; rename one".into(),
                        );
                    }
                }
            }
        }
        let named = |v: &Var| {
            let kind = if v.ty == VarType::Nat { Named::Nat } else { Named::Words };
            (v.name.clone(), kind)
        };
        let scope: FxHashMap<Rc<str>, Named> =
            decl.params.iter().chain(&decl.results).chain(&vars).map(named).collect();
        let calls = BTreeSet::new();
        let mut scopes = Scopes { r: self, scope, node: decl, loops: Vec::new(), calls };
        scopes.stmts(&body.stmts);
        let calls = scopes.calls.into_iter().collect();
        Body { vars, stmts: body.stmts.clone(), calls, span: body.span }
    }

    fn same_words(&mut self, decl: &Decl) {
        self.scope(&decl.params, &decl.results, &[]);
        let mut first: Option<&Atom> = None;
        for var in decl.params.iter().chain(&decl.results) {
            let VarType::Words { atom, .. } = &var.ty else {
                let text = format!("a {} has no nat parameters", decl.noun());
                self.error(Code::NatMismatch, var.span, text).help =
                    Some("use an array, `table[]` or `perm[]`, and an index in `<>`".into());
                continue;
            };
            match first {
                Some(seen) if seen.size != atom.size => {
                    let text = format!(
                        "a {} over words of different sizes: {seen} and {atom}",
                        decl.noun()
                    );
                    self.error(Code::MixedWordSizes, var.span, text).help =
                        Some("all inputs and outputs must have one word size".into());
                }
                Some(_) => {}
                None => first = Some(atom),
            }
        }
    }
}
