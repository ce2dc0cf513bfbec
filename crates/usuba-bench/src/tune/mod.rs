//! Chooses options by measurement: which flags of `usubac` and of the C compiler make the fastest
//! code for one program on one processor.
//!
//! ```text
//! space ──points──→ search ──pairs──→ record ──pairs that nobody timed yet──→ workshop
//!                      │                 └── tuned/.state/*.jsonl                generate,
//!                      └──→ tuned/avx2-name-of-the-cpu.toml                      compile,
//!                                                                                verify, time
//! ```
//!
//! - `space`: what is tried, as one table of flags.
//! - `search`: in which order, and when to give up; it knows no compiler and no clock.
//! - `record`: finished measurements on disk, so that an interrupted search goes on.
//! - `subject`: a program or a function of a cipher folder as candidates in C, with the calls
//!   that verify them.
//! - `workshop`: compiles candidates side by side, verifies them, and times two by turns.
//! - `ninja`: the same candidates as a `build.ninja`, for other machines to compile.
//! - `tuned`: the file that later compiles read.
//! - `cpu`: what this processor is called.

pub mod cpu;
pub mod ninja;
pub mod record;
pub mod search;
pub mod space;
pub mod subject;
pub mod tuned;
pub mod workshop;

#[cfg(test)]
mod tests;
