//! Execution of compiled kernels: C compilers, emulators, batches of kernels, clocks.
//!
//! - `cc`: the targets that this machine can build and run, and their tools.
//! - `cpuid`: the CPU model of this machine.
//! - `objects`: cache of compiled objects.
//! - `native`: compiles many kernels into one executable and runs it once.
//! - `functions`: functions of cipher folders as C; `validated`: compiles with a proof of every
//!   pass.
//! - `layout`: packs the data of instances into the lanes of registers, and unpacks it.
//! - `code`: instruction counts; `riscv`: executed instructions of an emulated RISC-V.
//! - `memcheck`: programs under valgrind.
//! - `stats`: quantiles, and significance tests of two sets of samples.
//! - `fingerprint`: hashes of programs.

pub mod cc;
pub mod code;
pub mod cpuid;
pub mod fingerprint;
pub mod functions;
pub mod layout;
pub mod memcheck;
pub mod native;
pub mod objects;
pub mod riscv;
pub mod stats;
pub mod validated;
