//! Random well-typed Usuba programs.
//!
//! ```text
//! seed or bytes ─Choices→ program() ─→ text that the compiler must accept
//!                                        │ a failure?
//!                                        └─ shrink() ─→ a smaller text that fails alike
//! ```
//!
//! The generator returns only a text: the caller finds out whether it was compiled correctly, by
//! running it in several ways. This crate does not know the compiler.
//!
//! - `choices`: the source of random choices.
//! - `types`: words, variables and callees as the generator sees them.
//! - `decl`: tables, perms, nodes, and the program.
//! - `stmt`: equations, updates and loops.
//! - `expr`: expressions of a wanted type.
//! - `shrink`: smaller texts.
//! - `level`: the level of the tests.

mod choices;
mod decl;
mod expr;
pub mod level;
mod shrink;
mod stmt;
mod types;

pub use choices::Choices;
pub use decl::program;
pub use shrink::shrink;
