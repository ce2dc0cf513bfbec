//! Documents and tables that show output of the compiler.
//!
//! A crate of its own, so that `cargo xtask tidy` needs no compiler.
//!
//! - `docs`: programs and commands that documents show.
//! - `functions`: the page about the proofs of NaCl.
//! - `peers`: the table of other libraries in the README.
//! - `toolchains`: compilers and emulators of targets, for `scripts/setup`.

pub mod docs;
pub mod functions;
pub mod peers;
pub mod toolchains;
