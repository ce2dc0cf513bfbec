//! The Usuba language: from text to a program in which every name, type and size is known.
//!
//! ```text
//! .ua text ─syntax→ ast ─typed::resolve→ typed program ─typed::check→ findings
//!                                              └───────typed::eval→ reference semantics
//! ```
//!
//! [`front`] is the way through this crate. Nothing here knows Usuba0, a pass or a target. The
//! crate touches no file, clock, thread or environment; the caller's [`syntax::splice::Loader`]
//! reads includes.
//!
//! - [`diag`]: diagnostics as data, with the codes of all stages of the compiler.
//! - [`syntax`]: lexer, parser, includes, formatter.
//! - [`op`]: the operators on words, which the language and Usuba0 share, and their semantics;
//!   [`carryless`]: products of polynomials on bits.
//! - [`typed`]: names, types, the rules of the language, and the evaluator.
//! - [`standard`]: includes with nodes that are instructions of some processors.
//! - [`lint`]: findings about valid programs; [`names`]: suggestions for misspelt names.

pub mod carryless;
pub mod diag;
pub mod lint;
pub mod names;
pub mod op;
pub mod standard;

pub mod syntax;
pub mod typed;

use diag::{Diagnostic, FileId, Sources};
use syntax::splice::Loader;

/// A checked program with its warnings.
#[derive(Clone, Debug)]
pub struct Checked {
    pub program: typed::Program,
    pub warnings: Vec<Diagnostic>,
}

/// Reads `root` and its includes and checks every rule of the language.
///
/// The entry is the declaration called `entry`, or the last one. On failure all findings come
/// back, warnings among them, in the order of the text.
pub fn front(
    sources: &mut Sources,
    root: FileId,
    loader: &mut dyn Loader,
    entry: Option<&str>,
    flags: typed::Flags,
) -> Result<Checked, Vec<Diagnostic>> {
    let (decls, mut diags) = syntax::splice::splice(sources, root, loader);
    if diags.iter().any(Diagnostic::is_error) {
        return Err(diags);
    }
    let (program, found) = typed::resolve(&decls, entry, flags);
    diags.extend(found);
    match program {
        Some(program) if !diags.iter().any(Diagnostic::is_error) => {
            diags.extend(typed::check(&program));
            if diags.iter().any(Diagnostic::is_error) {
                return Err(diags);
            }
            Ok(Checked { program, warnings: diags })
        }
        _ => Err(diags),
    }
}
