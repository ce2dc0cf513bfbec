//! Tests that are text: a program with its expectations beside it, in comments.
//!
//! ```text
//! # test check
//! node f (x:u32) returns (z:u32)
//! let
//!   z = x + w        # error U0201: 11-12 `w` is not defined
//!                    # help: the parameters are `x`
//! tel
//! ```
//!
//! The first line says how far the program goes:
//!
//! | line | the program is | diagnostics come from |
//! |---|---|---|
//! | `# test syntax` | parsed, with its includes | parser |
//! | `# test check` | and checked | and checker |
//! | `# test lint` | and checked | and checker, and lints |
//! | `# test prove` | and its contracts proved | and prover |
//! | `# test lower` | and sliced | and slicer |
//! | `# test run` | sliced in every legal way, and run | checker |
//! | `# test pass NAME` | sliced, run, transformed, run again | checker |
//!
//! Every other line that starts with `# word:` is a directive; the module of each describes it.
//! `BLESS=1` rewrites diagnostics and `expect:` blocks and nothing else.
//!
//! - `case`: the parts of a file.
//! - `flags`: `# flags: -V -m 16 --keep-tables`.
//! - `compile`: the compiler on the parts of a file.
//! - `marks`: `# error`, `# warning`, `# help:`.
//! - `run`: `# run: f(1, 2) == 3`.
//! - `engines`: the ways to run a program in this process.
//! - `data`: different data for every lane.
//! - `descriptions`: any text as `cipher.toml` or as test vectors, for the fuzzer.
//! - `native`: programs as machine code.
//! - `random`: a random program through all of it.
//! - `count`: `# count: xor=2 and=1`.
//! - `expect`: `# expect:`.
//! - `suite`: one test per file.

pub mod case;
pub mod compile;
pub mod count;
pub mod data;
pub mod descriptions;
pub mod engines;
pub mod expect;
pub mod flags;
pub mod marks;
pub mod native;
pub mod random;
pub mod run;
pub mod suite;
