//! From declarations to a [`Program`]: types evaluated, every name known, calls only backwards,
//! tables and perms of the right shape.
//!
//! Above 600 lines because declarations, types and expressions are resolved against one scope.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::types::*;
use super::walk::Builtin;
use super::{contract, named};
use crate::diag::{Code, Diagnostic, Span};
use crate::syntax::ast;

/// Resolves a spliced list of declarations. The entry is the declaration called `entry`, or the
/// last one.
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
    let entry = match entry {
        Some(name) => r.done.iter().position(|d| &*d.name == name),
        None => r.done.len().checked_sub(1),
    };
    if entry.is_none() && r.diags.is_empty() {
        r.diags.push(no_entry(&r.done));
    }
    let program = entry.map(|entry| Program { decls: r.done, values: r.values, entry, flags });
    (program, r.diags)
}

fn no_entry(decls: &[Decl]) -> Diagnostic {
    let message = "the program has no such entry node";
    if decls.is_empty() {
        return Diagnostic::global(Code::NoEntry, "the program declares nothing")
            .help("the entry is the last declaration; declare at least one node");
    }
    let names: Vec<&str> = decls.iter().rev().take(8).map(|d| &*d.name).collect();
    Diagnostic::global(Code::NoEntry, message)
        .help(format!("the declarations are {}", names.join(", ")))
}

/// What a name inside a body stands for.
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
            return self.value(ValueMap { name, params, term: (**term).clone() });
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
            contract: decl.contract.clone(),
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
        if decl.opts.contains(&ast::DeclOpt::LsbFirst) && !matches!(done.kind, Kind::Table(_)) {
            let text = format!("`_lsb_first` before a {}", done.noun());
            self.error(Code::NotSupported, decl.name.span, text).help =
                Some("only a table has a bit order of its own; remove it".into());
        }
        self.known.entry(name).or_insert(decl.name.span);
        self.done.push(done);
    }

    fn value(&mut self, map: ValueMap) {
        self.scope(&map.params, &[], &[]);
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
                    ranges: ranges.clone(),
                });
            }
        }
        vars
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
        let mut names = Names { r: self, scope, node: decl, loops: Vec::new() };
        names.stmts(&body.stmts);
        Body { vars, stmts: body.stmts.clone(), span: body.span }
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

    fn table(&mut self, decl: &Decl, list: &ast::IntList) {
        let inputs: usize = decl.params.iter().map(|v| v.ty.atoms()).sum();
        let outputs: usize = decl.results.iter().map(|v| v.ty.atoms()).sum();
        let whole = |bits: &u8| self.flags.keep_tables || is_whole(*bits, list.values.len());
        if let Some(bits) = word_table(decl).filter(whole) {
            let most = 1u64.checked_shl(bits as u32).unwrap_or(u64::MAX);
            if list.values.len() as u64 > most {
                let text = format!(
                    "a look-up table on {bits}-bit words has {} entries, more than {most}",
                    list.values.len()
                );
                self.error(Code::TableSize, list.span, text);
            }
            self.entries(list, bits as usize);
            return;
        }
        if inputs > MAX_TABLE_INPUTS {
            let text =
                format!("a table with {inputs} input bits; the limit is {MAX_TABLE_INPUTS} inputs");
            self.error(Code::TooLarge, decl.name_span, text).help =
                Some("split the table, or write its equations in a node".into());
            return;
        }
        if outputs == 0 || inputs == 0 || outputs > 64 {
            let text = format!("a table with {inputs} inputs and {outputs} outputs");
            self.error(Code::TableSize, decl.name_span, text).help =
                Some("a table has 1 to 8 input atoms and 1 to 64 output atoms".into());
            return;
        }
        let want = 1usize << inputs;
        if list.values.len() != want {
            let text = format!(
                "table `{}` has {inputs} input atoms, so it needs {want} entries; it has {}",
                decl.name,
                list.values.len()
            );
            let word = word_table(decl);
            let d = self.error(Code::TableSize, list.span, text);
            d.help = Some(match word {
                Some(bits) if (2..=MAX_TABLE_INPUTS).contains(&(bits as usize)) => format!(
                    "u{bits} is one atom: a look-up by the whole word has {} entries; for a \
                     circuit on single bits write b{bits}",
                    1u64 << bits
                ),
                Some(bits) if bits > 1 => format!(
                    "u{bits} is one atom: a look-up by the whole word needs -keep-tables \
                     (not constant-time); for a circuit write b{bits}"
                ),
                _ => "give one entry for each value of the inputs".into(),
            });
        }
        self.entries(list, outputs);
    }

    fn entries(&mut self, list: &ast::IntList, bits: usize) {
        let too_large = |v: u64| bits < 64 && v >> bits != 0;
        if let Some((at, &value)) = list.values.iter().enumerate().find(|(_, v)| too_large(**v)) {
            let text = format!("entry {at} is {value}, which does not fit {bits} output bits");
            self.error(Code::TableEntry, list.span, text).help =
                Some(format!("entries are at most {}", (1u128 << bits) - 1));
        }
    }

    fn perm(&mut self, decl: &Decl, list: &ast::IntList) {
        let inputs: usize = decl.params.iter().map(|v| v.ty.atoms()).sum();
        let outputs: usize = decl.results.iter().map(|v| v.ty.atoms()).sum();
        if list.values.len() != outputs {
            let text = format!(
                "perm `{}` has {outputs} output atoms, so it needs {outputs} entries; it has {}",
                decl.name,
                list.values.len()
            );
            self.error(Code::PermSize, list.span, text).help =
                Some("entry k names the input that output k takes".into());
        }
        let outside = |v: &u64| *v < 1 || *v > inputs as u64;
        if let Some((at, value)) = list.values.iter().enumerate().find(|(_, v)| outside(v)) {
            let text = format!("entry {} is {value}; inputs are numbered 1 to {inputs}", at + 1);
            self.error(Code::PermEntry, list.span, text).help =
                Some("perms count from 1; to permute the bits of a word use Shuffle".into());
        }
    }
}

/// Most input bits of a table that becomes a circuit.
pub const MAX_TABLE_INPUTS: usize = 8;

/// Whether a table from one word of `bits` bits to another has an entry for each word: then it is
/// a look-up by the whole word, and needs no flag.
pub fn is_whole(bits: u8, entries: usize) -> bool {
    (2..=MAX_TABLE_INPUTS as u8).contains(&bits) && entries == 1 << bits
}

/// The word size of a table from exactly one word to one word, if it is known.
pub fn word_table(decl: &Decl) -> Option<u8> {
    let one = |vars: &[Var]| match vars {
        [Var { ty: VarType::Words { atom, dims }, .. }] if dims.iter().all(|&d| d == 1) => {
            atom.bits()
        }
        _ => None,
    };
    one(&decl.results)?;
    one(&decl.params).filter(|&bits| bits > 1)
}

/// The meaning of a type as it is written.
pub(super) fn resolve_type(ty: &ast::Type) -> Result<VarType, Box<Diagnostic>> {
    let fail = |code, text: String, help: &str| {
        Err(Box::new(Diagnostic::error(code, ty.span, text).help(help)))
    };
    let mut dims = Vec::new();
    for dim in &ty.dims {
        dims.push((constant(dim)?, dim.span()));
    }
    let direction = |dir: &Option<ast::DirWord>| match dir {
        None => Ok(Dir::Var("D".into())),
        Some(ast::DirWord::H) => Ok(Dir::H),
        Some(ast::DirWord::V) => Ok(Dir::V),
        Some(ast::DirWord::B) => Ok(Dir::B),
        Some(ast::DirWord::W) => Ok(Dir::W),
        Some(ast::DirWord::Var(name)) => Ok(Dir::Var(name.as_str().into())),
        Some(ast::DirWord::Number(n)) => Err(*n),
    };
    let (dir, size, len) = match &ty.word {
        ast::TypeWord::Named(name) => {
            let text = format!("expected a type, found `{name}`");
            let help = "types are `u32`, `u32x4`, `b8`, `v4`, `u'm`, `u<H>16` or `nat`, or have \
                        a name that is declared above: `type limbs = u64x5`";
            return fail(Code::BadTypeWord, text, help);
        }
        ast::TypeWord::Nat => {
            if !dims.is_empty() {
                let text = "an array of nats".to_string();
                return fail(Code::UnsupportedType, text, "declare one nat for each value");
            }
            return Ok(VarType::Nat);
        }
        ast::TypeWord::U { dir, width, len } => {
            let size = match width {
                ast::Width::Bits(bits @ (1..=64 | 128)) => Size::Bits(*bits as u8),
                ast::Width::Bits(bits) => {
                    let text = format!("a word of {bits} bits");
                    let help =
                        "words have 1 to 64 bits, or 128; use a vector such as u32x4 for more";
                    return fail(Code::UnsupportedType, text, help);
                }
                ast::Width::Var(name) => Size::Var(name.as_str().into()),
            };
            (dir, size, *len)
        }
        ast::TypeWord::B { dir, len } => (dir, Size::Bits(1), Some(*len)),
        ast::TypeWord::V { dir, len } => (dir, Size::Var("m".into()), Some(*len)),
    };
    let dir = match direction(dir) {
        Ok(dir) => dir,
        Err(n) => {
            let text = format!("the direction <{n}>");
            let help = "numeric directions are not supported; use <H>, <V> or <B>";
            return fail(Code::UnsupportedType, text, help);
        }
    };
    let len = len.unwrap_or(1);
    if len != 1 {
        dims.push((len as i128, ty.span));
    }
    let mut atoms: i128 = 1;
    for &(dim, span) in &dims {
        if dim < 1 {
            let text = format!("a dimension of {dim}");
            let d = Diagnostic::error(Code::UnsupportedType, span, text);
            return Err(Box::new(d.help("every dimension is at least 1")));
        }
        atoms = atoms.saturating_mul(dim);
    }
    if atoms > MAX_ATOMS as i128 {
        let text = format!("a variable of more than {MAX_ATOMS} atoms; this is the limit");
        return fail(Code::TooLarge, text, "split the variable, or shrink its dimensions");
    }
    let dims = dims.into_iter().map(|(dim, _)| dim as u32).collect();
    Ok(VarType::Words { atom: Atom { dir, size }, dims })
}

/// Evaluates an index expression without names.
fn constant(e: &ast::AExpr) -> Result<i128, Box<Diagnostic>> {
    let bad = |span, text: String, code| Err(Box::new(Diagnostic::error(code, span, text)));
    match e {
        ast::AExpr::Int(value, _) => Ok(*value as i128),
        ast::AExpr::Name(id) => {
            let text = format!("`{}` in a type; dimensions are constant expressions", id.name);
            bad(id.span, text, Code::NotConstant)
        }
        ast::AExpr::Bin(op, l, r) => {
            let (a, b) = (constant(l)?, constant(r)?);
            let value = match op {
                ast::ABinOp::Add => a.checked_add(b),
                ast::ABinOp::Sub => a.checked_sub(b),
                ast::ABinOp::Mul => a.checked_mul(b),
                ast::ABinOp::Div if b == 0 => {
                    return bad(r.span(), "a division by zero".into(), Code::DivisionByZero);
                }
                ast::ABinOp::Mod if b == 0 => {
                    return bad(r.span(), "a remainder by zero".into(), Code::DivisionByZero);
                }
                ast::ABinOp::Div => Some(a / b),
                ast::ABinOp::Mod => Some(a.rem_euclid(b)),
            };
            match value {
                Some(value) => Ok(value),
                None => bad(e.span(), "an integer that is too large".into(), Code::TooLarge),
            }
        }
    }
}

/// Checks that every name in a body is declared and of the right kind.
struct Names<'a> {
    r: &'a mut Resolver,
    scope: FxHashMap<Rc<str>, Named>,
    node: &'a Decl,
    loops: Vec<String>,
}

impl Names<'_> {
    fn stmts(&mut self, stmts: &[ast::Stmt]) {
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
        let help = match closest(&id.name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
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
            ast::ExprKind::Bin(_, l, r) => {
                self.expr(l);
                self.expr(r);
            }
            ast::ExprKind::Shift(_, e, k) => {
                self.expr(e);
                self.index(k);
            }
            ast::ExprKind::Shifts(_, e, amounts) => {
                self.expr(e);
                amounts.iter().for_each(|k| self.index(k));
            }
        }
    }

    fn callee(&mut self, id: &ast::Ident) {
        if Builtin::of(&id.name).is_some() || self.r.known.contains_key(id.name.as_str()) {
            return;
        }
        if *id.name == *self.node.name {
            let text = format!("node `{}` calls itself", id.name);
            self.r.error(Code::RecursiveCall, id.span, text).help =
                Some("programs are circuits: repeat with forall instead".into());
            return;
        }
        let near = closest(&id.name, self.r.done.iter().map(|d| &*d.name)).map(String::from);
        let text = format!("no node, table or perm called `{}` is declared before", id.name);
        self.r.error(Code::UndefinedNode, id.span, text).help = Some(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "a node may call only what is declared above it; move its declaration up".into()
            }
        });
    }
}

/// The candidate within two edits of `name`, if there is one.
fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    candidates
        .filter(|c| c.len() <= LONGEST)
        .map(|c| (edits(name, c), c))
        .filter(|&(d, c)| d <= 2 && d < c.len().max(name.len()).div_ceil(2))
        .min()
        .map(|(_, c)| c)
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
