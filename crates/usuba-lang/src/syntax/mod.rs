//! Syntax: from text to tree and back.
//!
//! [`parse`] gives the tree of one file and every error in it; it resolves no names and reads no
//! includes. [`print::format`] is the way back.
//!
//! - `ast`: the tree.
//! - `davio`: a Boolean function of three operands as a tree.
//! - `lexer`: text to tokens and comments.
//! - `parser`: tokens to tree.
//! - `print`: tree to text, the formatter.
//! - `splice`: one list of declarations from a file and its includes.

pub mod ast;
pub mod davio;
pub(crate) mod lexer;
mod parser;
pub mod print;
pub mod splice;

pub use lexer::{CONTEXTUAL, Comment, KEYWORDS, Lexer, MARKS, Tok, Token, is_name};
pub use parser::{MAX_ERRORS, may_name_type, parse, size_word};
