//! Measurements: benchmarks, the tuner, and published experiments repeated.
//!
//! - `bench`: verifies functions of cipher folders and times them.
//! - `interleave`: the interleave factor that is fastest.
//! - `work`: the work of a kernel, and its throughput bound; `throughput`: the machine measured.
//! - `session`: a run of measurements over cipher folders.
//! - `record`: its results; `table`: as a table; `difference`: two of them compared.
//! - `experiment`: published measurements, repeated.
//! - `tune`: chooses options by measurement.

pub mod bench;
pub mod difference;
pub mod experiment;
pub mod interleave;
pub mod record;
pub mod session;
mod table;
pub mod throughput;
pub mod tune;
pub mod work;
