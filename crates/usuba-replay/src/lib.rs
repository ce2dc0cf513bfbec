//! Certificates that two straight-line programs are equal, and their replay, without dependencies.
//!
//! ```text
//! source --- Trace --- gates --+
//!                              +-- one graph: each bit of each result is one literal of both
//! object --- Trace --- gates --+   by the steps of the certificate, each of which is checked
//! ```
//!
//! - `trace`: straight-line programs on words, in one form, their writer and their values.
//! - `net`: a graph of bits that checks steps; `bitblast`: traces as gates in it; `sums`: sums
//!   by their terms.
//! - `certificate`: traces, the meaning of bits in memory, and steps; the replay.
//! - `bytes`: numbers and places in files; `hash`: maps.
//!
//! *Trusted:* that the traces are the traces of their source and of their object.

mod bitblast;
mod bytes;
pub mod certificate;
pub mod hash;
pub mod net;
mod sums;
pub mod trace;

pub use bytes::{Reader, put};
