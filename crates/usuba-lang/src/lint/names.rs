//! U1102, U1103 and U1105: variables, parameters and declarations without a use.

use std::collections::BTreeSet;

use super::edit::Tokens;
use super::{bodies, is_silent, visit};
use crate::diag::{Code, Diagnostic, Edit, Sources, Span};
use crate::syntax::ast::{DeclKind, Item, ParamGroup, Term, TermKind};
use crate::syntax::parse;
use crate::typed::{Body, Decl, DeclId, Kind, Program, Var};

pub(super) fn lint(sources: &Sources, program: &Program) -> Vec<Diagnostic> {
    let reached = program.reached(program.entry);
    let mut found = Vec::new();
    for (id, decl) in program.decls.iter().enumerate() {
        if !reached.contains(&id) && !is_silent(&decl.name) {
            found.push(uncalled(program, decl));
        }
        let bodies = bodies(decl);
        let used: Vec<BTreeSet<&str>> = bodies.iter().map(names).collect();
        for (body, used) in bodies.iter().zip(&used) {
            let unused = body.vars.iter().filter(|var| is_unused(var, used));
            found.extend(unused.map(|var| variable(sources, var)));
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

fn uncalled(program: &Program, decl: &Decl) -> Diagnostic {
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

fn variable(sources: &Sources, var: &Var) -> Diagnostic {
    let text = format!("variable `{}` is declared but never used", var.name);
    let finding = Diagnostic::warning(Code::UnusedVariable, var.span, text).help("remove it");
    match declaration(sources, var.span) {
        Some(span) => finding.fix(vec![Edit::new(span, "")], true),
        None => finding,
    }
}

/// The text to remove with the name of a local.
fn declaration(sources: &Sources, name: Span) -> Option<Span> {
    let tokens = Tokens::of(sources, name.file);
    let (tree, _) = parse(sources, name.file);
    let bodies = tree.items.iter().flat_map(|item| match item {
        Item::Decl(decl) => match &decl.kind {
            DeclKind::Node(body) => std::slice::from_ref(body),
            DeclKind::NodeArray(bodies) => bodies,
            _ => &[],
        },
        Item::Include { .. } => &[],
    });
    let has = |group: &ParamGroup| group.names.iter().position(|other| other.span == name);
    for body in bodies {
        let Some(at) = body.vars.iter().position(|group| has(group).is_some()) else { continue };
        let group = &body.vars[at];
        let names = &group.names;
        let own = has(group)?;
        let first = group.names.first()?.span;
        let to = |end: u32| Some(Span { end, ..name });
        let begins = |group: Option<&ParamGroup>| Some(group?.names.first()?.span.start);
        let token = tokens.at(name.start);
        let opening = tokens.span(token.checked_sub(1)?);
        // The last token of the declarations stands before `let`.
        let last = tokens.span(tokens.find(token, "let")?.checked_sub(1)?);
        return match names.get(own + 1) {
            Some(next) => to(next.span.start),
            None if own > 0 => Some(Span { start: opening.start, ..name }),
            None => match begins(body.vars.get(at + 1)) {
                Some(next) => to(next),
                // Before the first group stands `vars`, before another one a comma.
                None => Some(opening.to(last.to(first))),
            },
        };
    }
    None
}
