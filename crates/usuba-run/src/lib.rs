//! Runs what the compiler wrote: C compilers, emulators, batches of kernels, clocks.
//!
//! - `cc`: which targets this machine can build and run, and with which tools.
//! - `objects`: outputs of C compilers, kept.
//! - `native`: compiles many kernels into one executable and runs it once.
//! - `functions`: functions of cipher folders as C; `validated`: compiles with every pass proved.
//! - `layout`: puts the data of instances into the lanes of registers, and back.
//! - `code`: machine code, counted; `rv32`: instructions that an emulator executes on RISC-V.
//! - `memcheck`: programs under valgrind.
//! - `stats`: quantiles, and whether two sets of samples differ.
//! - `fingerprint`: hashes of programs.

pub mod cc;
pub mod code;
pub mod fingerprint;
pub mod functions;
pub mod layout;
pub mod memcheck;
pub mod native;
pub mod objects;
pub mod rv32;
pub mod stats;
pub mod validated;
