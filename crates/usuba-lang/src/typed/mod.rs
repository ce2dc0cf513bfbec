//! The typed program and the reference semantics of the language.
//!
//! Loop bounds, indices and sizes are compile-time constants, so one abstract interpretation of the
//! program decides every rule of the language. [`walk`] is the interpreter, written once; its
//! parameter is a [`walk::Domain`]: nothing at all (`check`), numbers (`eval`), or a builder of
//! Usuba0 (in `lower`).
//!
//! - `types`: words, directions, sizes, declarations.
//! - `named`: names of types, replaced by types.
//! - `entry`: the text that instantiates the entry.
//! - `resolve`: from declarations to a program in which every name is known.
//! - `walk`: the interpreter.
//! - `check`: every rule, over every node.
//! - `contract`: the semantics of terms of contracts, on integers of any kind.
//! - `eval`: the reference semantics of one instance, which all other parts are tested against.

pub mod check;
pub mod contract;
mod entry;
pub mod eval;
mod named;
pub mod resolve;
pub mod types;
pub mod walk;

pub use check::check;
pub use entry::Entry;
pub use eval::eval;
pub use resolve::resolve;
pub use types::*;
