//! Random well-typed Usuba programs.
//!
//! ```text
//! seed or bytes ─Choices→ program() ─→ text that the compiler must accept
//!                                        │ a failure?
//!                                        └─ shrink() ─→ a smaller text that fails alike
//! ```
//!
//! The text is all that there is: whether a program was compiled well is for the caller to find
//! out, by running it in several ways. Nothing here knows the compiler.
//!
//! - `choices`: where chance comes from.
//! - `types`: words, variables and callees as the generator sees them.
//! - `decl`: tables, perms, nodes, and the program.
//! - `stmt`: equations, updates and loops.
//! - `expr`: expressions of a wanted type.
//! - `shrink`: smaller texts.
//! - `level`: how much of the tests is run.

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
