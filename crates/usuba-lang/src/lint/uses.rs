//! U1102, U1103 and U1105: variables, parameters and declarations without a use.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::edit::Tokens;
use super::{bodies, is_silent, visit};
use crate::diag::{Code, Diagnostic, Edit, FileId, Sources, Span};
use crate::syntax::ast::{Decl, DeclKind, Item, ParamGroup, Term, TermKind};
use crate::syntax::parse;
use crate::typed::{self, Body, DeclId, Kind, Program, Var};

pub(super) fn lint(sources: &Sources, program: &Program) -> Vec<Diagnostic> {
    let reached = program.reached(program.entry);
    let mut found = Vec::new();
    let mut removals = FxHashMap::default();
    for (id, decl) in program.decls.iter().enumerate() {
        if !reached.contains(&id) && !is_silent(&decl.name) {
            found.push(uncalled(program, decl));
        }
        let bodies = bodies(decl);
        let used: Vec<BTreeSet<&str>> = bodies.iter().map(names).collect();
        for (body, used) in bodies.iter().zip(&used) {
            let unused = body.vars.iter().filter(|var| is_unused(var, used));
            found.extend(unused.map(|var| variable(&mut removals, sources, var)));
        }
        if !matches!(decl.kind, Kind::Node(_)) {
            continue;
        }
        let mut all: BTreeSet<&str> = used.into_iter().flatten().collect();
        for clause in &decl.contract {
            applied(&clause.left, &mut all);
            applied(&clause.right, &mut all);
        }
        let unused = decl.params.iter().filter(|var| is_unused(var, &all));
        found.extend(unused.map(|var| parameter(program, id, var)));
    }
    found
}

fn is_unused(var: &Var, used: &BTreeSet<&str>) -> bool {
    !used.contains(&*var.name) && !is_silent(&var.name)
}

/// All names in a body.
fn names(body: &Body) -> BTreeSet<&str> {
    let mut names = Vec::new();
    for equation in visit::equations(&body.stmts) {
        for target in &equation.targets {
            names.push(&target.name);
            visit::selectors(target, &mut names);
        }
        names.extend(visit::reads(&equation.value));
    }
    for l in visit::loops(&body.stmts) {
        visit::index(&l.from, &mut names);
        visit::index(&l.to, &mut names);
    }
    names.into_iter().map(|name| name.name.as_str()).collect()
}

/// Adds the names in a term.
fn applied<'a>(term: &'a Term, names: &mut BTreeSet<&'a str>) {
    match &term.kind {
        TermKind::Int(_) => {}
        TermKind::Var(var) => drop(names.insert(&var.name.name)),
        TermKind::Apply { args, .. } => args.iter().for_each(|arg| applied(arg, names)),
        TermKind::Bin(_, left, right) => {
            applied(left, names);
            applied(right, names);
        }
        TermKind::Sum { term, .. } => applied(term, names),
    }
}

fn uncalled(program: &Program, decl: &typed::Decl) -> Diagnostic {
    let entry = &program.decls[program.entry].name;
    let (noun, name) = (decl.noun(), &decl.name);
    let text = format!("{noun} `{name}` is never called from entry `{entry}`");
    let help = match decl.kind {
        Kind::Node(_) => format!("remove it, or choose it by `--entry {name}`"),
        Kind::Table(_) | Kind::Perm(_) => "remove it, or call it".to_string(),
    };
    Diagnostic::warning(Code::UncalledNode, decl.name_span, text).help(help)
}

fn parameter(program: &Program, id: DeclId, var: &Var) -> Diagnostic {
    let decl = &program.decls[id];
    let silent = format!("_{}", var.name);
    let text = format!("parameter `{}` of node `{}` is never used", var.name, decl.name);
    let help = format!("remove it, or keep it as `{silent}`");
    let finding = Diagnostic::warning(Code::UnusedParameter, var.span, text).help(help);
    let taken = decl.all_vars().any(|other| *other.name == *silent);
    match taken {
        true => finding,
        // Callers of the entry may know its parameters by their names.
        false => finding.fix(vec![Edit::new(var.span, silent)], id != program.entry),
    }
}

/// The edits that remove the locals of each file, by the places of their names.
type Removals = FxHashMap<FileId, FxHashMap<Span, Edit>>;

fn variable(removals: &mut Removals, sources: &Sources, var: &Var) -> Diagnostic {
    let text = format!("variable `{}` is declared but never used", var.name);
    let finding = Diagnostic::warning(Code::UnusedVariable, var.span, text).help("remove it");
    let file = var.span.file;
    let removals = removals.entry(file).or_insert_with(|| declarations(sources, file));
    match removals.get(&var.span) {
        Some(edit) => finding.fix(vec![edit.clone()], true),
        None => finding,
    }
}

/// The edits that remove the locals of a file.
fn declarations(sources: &Sources, file: FileId) -> FxHashMap<Span, Edit> {
    let tokens = Tokens::of(sources, file);
    let (tree, _) = parse(sources, file);
    let mut edits = FxHashMap::default();
    for item in &tree.items {
        let bodies = match item {
            Item::Decl(Decl { kind: DeclKind::Node(body), .. }) => std::slice::from_ref(body),
            Item::Decl(Decl { kind: DeclKind::NodeArray(bodies), .. }) => bodies,
            _ => &[],
        };
        for body in bodies {
            groups(&tokens, &body.vars, &mut edits);
        }
    }
    edits
}

/// Adds the edits for the locals of one body.
fn groups(tokens: &Tokens, groups: &[ParamGroup], edits: &mut FxHashMap<Span, Edit>) {
    // The last token of the declarations stands before `let`.
    let end = groups.last().map(|group| tokens.at(group.ty.span.end));
    let end = end.and_then(|at| tokens.find(at, "let")?.checked_sub(1));
    for (at, group) in groups.iter().enumerate() {
        for (own, name) in group.names.iter().enumerate() {
            let token = tokens.at(name.span.start);
            let (Some(before), Some(end)) = (token.checked_sub(1), end) else { continue };
            let before = tokens.span(before);
            let to = |next: Span| Span { end: next.start, ..name.span };
            let next = group.names.get(own + 1);
            let group = groups.get(at + 1).and_then(|group| group.names.first());
            let place = match (next, group) {
                (Some(next), _) => to(next.span),
                (None, _) if own > 0 => Span { start: before.start, ..name.span },
                (None, Some(group)) => to(group.span),
                // Before the first group stands `vars`, before another one a comma.
                (None, None) => before.to(tokens.span(end)),
            };
            edits.insert(name.span, tokens.without(place));
        }
    }
}
