//! From text to tree and back.
//!
//! - `ast`: the tree.

pub mod ast;
