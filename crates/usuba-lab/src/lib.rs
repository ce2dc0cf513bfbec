//! Everything of Usuba that runs a C compiler or a clock.
//!
//! - `cc`: which targets this machine can build and run, and with what.
//! - `objects`: outputs of C compilers, kept.
//! - `native`: compiles many kernels into one executable and runs it once.
//! - `proof`: compilations of which every pass is proved; `binary`: object files that are.
//! - `interface`: the byte interface, proved in them.
//! - `cipher`: the folders of `ciphers/`, and their functions as C.
//! - `dist`: those functions as files to embed, and as a library.
//! - `bench`: verifies those functions and times them.
//! - `interleave`: how many instances side by side are fastest.
//! - `code`: machine code, counted.
//! - `work`: the work of a kernel, and the least time that a machine needs for it.
//! - `throughput`: what this machine does in a cycle.
//! - `session`: a run of measurements over cipher folders.
//! - `record`: what it leaves behind; `table`: as a table; `difference`: two of them.
//! - `experiment`: published measurements, repeated.
//! - `rv32`: instructions of programs on 32-bit RISC-V, counted in an emulator.
//! - `stats`: quantiles, and whether two sets of samples differ.
//! - `tune`: chooses options by measurement.
//! - `layout`: puts the data of instances into register bytes, and back.

pub mod bench;
pub mod binary;
pub mod cc;
pub mod cipher;
pub mod code;
pub mod difference;
pub mod dist;
pub mod experiment;
pub mod interface;
pub mod interleave;
pub mod layout;
pub mod native;
pub mod objects;
pub mod plant;
pub mod proof;
pub mod record;
pub mod rv32;
pub mod session;
pub mod stats;
mod table;
pub mod throughput;
pub mod tune;
pub mod work;
