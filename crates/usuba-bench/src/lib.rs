//! Measurements: benchmarks, the tuner, and published experiments repeated.
//!
//! - `answers`: known-answer tests of cipher folders.
//! - `bench`: verifies functions of cipher folders and times them.
//! - `calibrate`: instructions of this machine beside the figures of a CPU model.
//! - `interleave`: the fastest interleave factor.
//! - `work`: the work of a kernel, and its throughput bound; `throughput`: throughput measurement.
//! - `session`: a run of measurements over cipher folders.
//! - `record`: its results; `table`: their table; `difference`: comparison of two runs.
//! - `experiment`: published measurements, repeated.
//! - `tune`: autotuning, which chooses options by measurement.

pub mod answers;
pub mod bench;
pub mod calibrate;
pub mod difference;
pub mod experiment;
pub mod interleave;
pub mod record;
pub mod session;
mod table;
pub mod throughput;
pub mod tune;
pub mod work;
