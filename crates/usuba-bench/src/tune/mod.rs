//! Autotuner: finds the fastest flags of `usubac` and of the C compiler for one program on one
//! processor.
//!
//! ```text
//! space ──points──→ search ──pairs──→ search log ──pairs that nobody timed yet──→ workshop
//!                      │                 └── tuned/.state/*.jsonl                generate,
//!                      └──→ tuned/avx2-name-of-the-cpu.toml                      compile,
//!                                                                                verify, time
//! ```
//!
//! - `compilers`: the C compilers of a search.
//! - `space`: the search space, as one table of flags.
//! - `search`: coordinate descent with early termination, independent of compiler and clock.
//! - `search_log`: finished measurements on disk, so that an interrupted search resumes.
//! - `subject`: a program or a function of a cipher folder as candidates in C, with the calls that
//!   verify them.
//! - `workshop`: compiles candidates in parallel, verifies them, and times two in turns.
//! - `ninja`: the same candidates as a `build.ninja`, for other machines to compile.
//! - `tuned`: the result file, an input of later compiles.
//! - `cpu`: the model name of this processor.

pub mod compilers;
pub mod cpu;
pub mod ninja;
pub mod search;
pub mod search_log;
pub mod space;
pub mod subject;
pub mod tuned;
pub mod workshop;

#[cfg(test)]
mod tests;
