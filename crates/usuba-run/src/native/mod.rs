//! Runs many kernels in one process.
//!
//! Each kernel is a C file of its own, so static helpers may share names. The entry gets a
//! unique name by the preprocessor and a small caller appended to its text, which is therefore
//! compiled against the true parameter types. A driver reads the inputs from standard input,
//! calls each kernel, and writes the outputs.
//!
//! Around each buffer lie guard bytes; a kernel that writes outside of its outputs, or into an
//! input, fails by name. A kernel that does not compile, or crashes, fails alone: the others are
//! linked and run without it. Kernels with the same text are compiled once.
//!
//! - `suite`: compiles, links, runs.
//! - `headers`: what many kernels include, compiled once.
//! - `clock`: times the kernels of a suite by turns.
//! - `trace`: looks at their machine code, and at which of it runs.
//! - `*.c`: the drivers, and what replaces the C library where there is none.

mod clock;
mod headers;
mod suite;
mod trace;

use std::fmt;

use crate::cc::Machine;

pub use clock::{Counted, Samples, Timing};
pub use suite::wait;
pub use suite::{Build, Suite};
pub use trace::Inside;

/// A C function and the data to call it with.
#[derive(Clone, Default, Debug)]
pub struct Kernel {
    /// A whole C file.
    pub text: String,
    /// The function to call: one pointer per input, then one per output, returning nothing.
    pub symbol: String,
    /// Alignment of every buffer, in bytes: a power of two up to 64. Buffers get exactly this
    /// alignment and not more, except by chance of their sizes.
    pub align: usize,
    /// For each call the bytes of each input. Sizes are those of the first call.
    pub calls: Vec<Vec<Vec<u8>>>,
    /// Bytes of each output.
    pub outputs: Vec<usize>,
}

/// For each call the bytes of each output.
pub type Outputs = Vec<Vec<Vec<u8>>>;

/// Why a kernel has no outputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The compiler's messages.
    Compile(String),
    /// The messages of linking the whole batch.
    Link(String),
    /// The process died in this call; how, in words.
    Crash { call: usize, how: String },
    /// This call wrote outside of its outputs.
    OutOfBounds { call: usize },
    /// This call changed one of its inputs.
    InputChanged { call: usize },
    /// The request itself is malformed.
    Request(String),
    /// The machine did not let us work: no space, no permission.
    System(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Compile(text) => write!(f, "the C compiler rejects it:\n{text}"),
            Failure::Link(text) => write!(f, "the batch does not link:\n{text}"),
            Failure::Crash { call, how } => write!(f, "call {call} died: {how}"),
            Failure::OutOfBounds { call } => write!(f, "call {call} wrote outside of its outputs"),
            Failure::InputChanged { call } => write!(f, "call {call} changed an input"),
            Failure::Request(text) | Failure::System(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Failure {}

/// Compiles `kernels` with `flags` after the machine's own, runs them in one process, and
/// returns one answer per kernel, in order.
pub fn run(machine: &Machine, flags: &[&str], kernels: &[Kernel]) -> Vec<Result<Outputs, Failure>> {
    let builds = kernels.iter().map(|kernel| Build { machine, flags, kernel }).collect();
    match Suite::compile(builds) {
        Ok(suite) => suite.run(),
        Err(failure) => kernels.iter().map(|_| Err(failure.clone())).collect(),
    }
}

/// As [`run`] for a single kernel.
///
/// # Errors
/// The kernel does not compile, or misbehaves.
pub fn run_one(machine: &Machine, flags: &[&str], kernel: Kernel) -> Result<Outputs, Failure> {
    run(machine, flags, &[kernel]).pop().expect("one answer per kernel")
}

/// Compiles `text` and throws the result away: for warnings. `cxx` compiles it as C++.
///
/// # Errors
/// What the compiler says, when it fails.
pub fn compiles(machine: &Machine, flags: &[&str], cxx: bool, text: &str) -> Result<(), Failure> {
    suite::compiles(machine, flags, cxx, text)
}

#[cfg(test)]
mod tests;
