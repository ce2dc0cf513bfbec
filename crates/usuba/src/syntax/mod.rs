//! From text to tree and back.
//!
//! [`parse`] gives the tree of one file and every error in it; it resolves no names and reads no
//! includes.
//!
//! - `ast`: the tree.
//! - `lexer`: text to tokens and comments.
//! - `parser`: tokens to tree.
//! - `splice`: one list of declarations from a file and its includes.

pub mod ast;
mod lexer;
mod parser;
pub mod splice;

pub use parser::{MAX_ERRORS, parse};
