//! The typed program and the meaning of the language.
//!
//! Loop bounds, indices and sizes are compile-time constants, so every rule of the language can
//! be decided by running the program once on something. [`walk`] is that run, written once; what
//! it runs on is a [`walk::Domain`]: nothing at all (`check`), numbers (`eval`), or a builder of
//! Usuba0 (in `lower`).
//!
//! - `types`: words, directions, sizes, declarations.
//! - `named`: names of types, replaced by types.
//! - `resolve`: from declarations to a program in which every name is known.
//! - `walk`: the run.
//! - `check`: every rule, over every node.
//! - `contract`: what the terms of contracts mean, on integers of any kind.
//! - `eval`: what one instance computes. It *is* the language; everything else is tested by it.

pub mod check;
pub mod contract;
pub mod eval;
mod named;
pub mod resolve;
pub mod types;
pub mod walk;

pub use check::check;
pub use eval::eval;
pub use resolve::resolve;
pub use types::*;
