//! Lints: findings about programs that are valid and probably wrong.
//!
//! ```text
//! y = key ^ x <<< 3     U1101: `^` binds tighter than `<<<` in Usuba, unlike in C
//! vars w: u16           U1102: variable `w` is declared but never used
//! ```
//!
//! [`lint`] gives all findings of a checked program; [`Levels`] says which of them are shown, and
//! which are errors. A lint is a function over the program, and most of them offer a [`Fix`].
//! No lint reports a name that begins with `_`.
//!
//! - `levels`: allow, warn and deny.
//! - `edit`: edits of the text, and their application.
//! - `visit`: the parts of expressions and statements.
//! - `precedence` (U1101), `uses` (U1102, U1103, U1105), `unused` (U1104), `equal` (U1109),
//!   `inverse` (U1110), `loops` (U1111): on the syntax of bodies.
//! - `values` (U1106, U1107, U1108, U1112): on an interpretation of the program.

mod edit;
mod equal;
mod inverse;
mod levels;
mod loops;
mod precedence;
mod unused;
mod uses;
mod values;
mod visit;

pub use edit::apply;
pub use levels::{Group, Level, Levels};

use crate::diag::{Diagnostic, Sources};
use crate::typed::{Body, Decl, Kind, Program};

#[cfg(doc)]
use crate::diag::Fix;

/// All lints about a checked program, in the order of the text.
pub fn lint(sources: &Sources, program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for decl in &program.decls {
        for body in bodies(decl) {
            found.extend(precedence::lint(sources, body));
            found.extend(unused::lint(sources, decl, body));
            found.extend(equal::lint(sources, decl, body));
            found.extend(loops::lint(sources, body));
        }
    }
    found.extend(uses::lint(sources, program));
    found.extend(inverse::lint(program));
    found.extend(values::lint(sources, program));
    found.sort_by_key(|finding| (finding.span, finding.code));
    found
}

/// The bodies of a node; none of a table or permutation.
fn bodies(decl: &Decl) -> &[Body] {
    match &decl.kind {
        Kind::Node(bodies) => bodies,
        Kind::Table(_) | Kind::Perm(_) => &[],
    }
}

/// Whether a name says that its omission is intended.
fn is_silent(name: &str) -> bool {
    name.starts_with('_')
}
