//! Batch runner: compiles many kernels into one executable and runs them in one process.
//!
//! Each kernel is its own C file, so static helpers may share names. The preprocessor gives the
//! entry a unique name. A small caller is appended to the text, and so is compiled against the true
//! parameter types. A driver reads the inputs from standard input, calls each kernel, and writes
//! the outputs.
//!
//! Guard bytes surround each buffer. A kernel that writes outside its outputs, or into an input,
//! fails by name. A kernel that does not compile, or crashes, fails alone: the others are linked
//! and run without it. Kernels with the same text are compiled once.
//!
//! - `suite`: compiles, links, runs.
//! - `headers`: precompiled headers shared by many kernels.
//! - `clock`: times the kernels of a suite in turns.
//! - `trace`: their instruction counts, static and dynamic.
//! - `*.c`: the drivers, and the replacement of the C library on targets without one.

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

/// A C function and its input data.
#[derive(Clone, Default, Debug)]
pub struct Kernel {
    /// A whole C file.
    pub text: String,
    /// The function to call: one pointer per input, then one per output, returning nothing.
    pub symbol: String,
    /// Alignment of every buffer, in bytes: a power of two up to 64. Buffers have exactly this
    /// alignment, and more only by chance of their sizes.
    pub align: usize,
    /// The bytes of each input, for each call. Sizes are those in the first call.
    pub calls: Vec<Vec<Vec<u8>>>,
    /// The size of each output in bytes.
    pub outputs: Vec<usize>,
}

/// The bytes of each output, for each call.
pub type Outputs = Vec<Vec<Vec<u8>>>;

/// The reason why a kernel has no outputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The compiler's messages.
    Compile(String),
    /// The messages of linking the whole batch.
    Link(String),
    /// The process died in this call, for the reason `how`.
    Crash { call: usize, how: String },
    /// This call wrote outside of its outputs.
    OutOfBounds { call: usize },
    /// This call changed one of its inputs.
    InputChanged { call: usize },
    /// The request itself is malformed.
    Request(String),
    /// The operating system failed: no space, no permission.
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

/// Compiles `kernels` with `flags` after the machine's own, runs them in one process, and returns
/// one result per kernel, in order.
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

/// Compiles `text` and discards the object, to check warnings. `cxx` compiles it as C++.
///
/// # Errors
/// The messages of the compiler, if it fails.
pub fn compiles(machine: &Machine, flags: &[&str], cxx: bool, text: &str) -> Result<(), Failure> {
    suite::compiles(machine, flags, cxx, text)
}

#[cfg(test)]
mod tests;
