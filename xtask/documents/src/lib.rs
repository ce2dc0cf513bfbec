//! Documents and tables that show output of the compiler.
//!
//! A crate of its own, so that `cargo xtask tidy` needs no compiler.
//!
//! - `charts`: the chart of other libraries in the README.
//! - `docs`: programs and commands that documents show.
//! - `drivers`: the page about drivers of the OCaml compiler.
//! - `errors`: the error index of the book.
//! - `functions`: the page about the proofs of NaCl.
//! - `layouts`: the picture of register layouts in the book.
//! - `listings`: the pages of passes, targets and processor models in the book.
//! - `peers`: the tables of other libraries in the book.
//! - `toolchains`: compilers and emulators of targets, for `scripts/setup`.

pub mod charts;
pub mod docs;
pub mod drivers;
pub mod errors;
pub mod functions;
pub mod layouts;
pub mod listings;
pub mod peers;
pub mod threads;
pub mod toolchains;

use std::io;

use xtask::repo::{Finding, Repo};

/// Compares a generated file with its text, or writes it.
///
/// # Errors
/// The file cannot be written.
fn generated(repo: &Repo, path: &str, text: &str, bless: bool) -> io::Result<Vec<Finding>> {
    if repo.get(path).is_some_and(|file| file.text == text) {
        return Ok(Vec::new());
    }
    if bless {
        std::fs::write(repo.root.join(path), text)?;
        return Ok(Vec::new());
    }
    Ok(vec![Finding::new(path, 0, "is out of date: run `cargo xtask bless`")])
}
