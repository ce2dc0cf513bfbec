//! The outline of a file: its declarations, with their variables.

use usuba::diag::{FileId, Span};

use crate::Analysis;
use crate::names::{Definition, Kind};

/// A declaration of a file.
#[derive(Clone, Debug)]
pub struct Symbol {
    pub name: String,
    pub kind: Kind,
    /// The name, and the whole declaration.
    pub span: Span,
    pub whole: Span,
    /// The type of a variable as written, the head of a declaration.
    pub detail: String,
    pub inner: Vec<Symbol>,
}

/// The declarations of a file, in the order of the text.
pub fn symbols(analysis: &Analysis, file: FileId) -> Vec<Symbol> {
    let mut found: Vec<Symbol> = Vec::new();
    for definition in &analysis.names.definitions {
        let symbol = || symbol(analysis, definition);
        if definition.span.file != file {
            continue;
        }
        if definition.kind.is_global() {
            found.push(symbol());
        } else if matches!(definition.kind, Kind::Parameter | Kind::Result | Kind::Local) {
            let inside = |outer: &&mut Symbol| {
                outer.whole.start <= definition.span.start && definition.span.end <= outer.whole.end
            };
            if let Some(outer) = found.iter_mut().find(inside) {
                outer.inner.push(symbol());
            }
        }
    }
    found
}

fn symbol(analysis: &Analysis, definition: &Definition) -> Symbol {
    let whole = if definition.kind.is_global() { definition.scope } else { definition.span };
    Symbol {
        name: definition.name.clone(),
        kind: definition.kind,
        span: definition.span,
        whole,
        detail: detail(analysis, definition),
        inner: Vec::new(),
    }
}

/// The type of a variable, or the parameters and results of a declaration.
pub fn detail(analysis: &Analysis, definition: &Definition) -> String {
    match definition.ty {
        Some(ty) => analysis.sources.text(ty).to_string(),
        None => match analysis.typed(definition.span) {
            Some(decl) => {
                let head = decl.signature();
                head.find('(').map(|at| head[at..].to_string()).unwrap_or_default()
            }
            None => String::new(),
        },
    }
}
