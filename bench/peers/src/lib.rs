//! The parts of the benchmark that its programs share.

pub mod turns;
