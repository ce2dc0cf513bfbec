//! Traces: straight-line programs on words, in one form and as bytes, without dependencies.
//!
//! ```text
//! node f (a,b:u32) returns (c:u32)      w0 = input 0
//! let c = (a <<< 7) ^ b tel             w1 = rotl w0, 7
//!                                       w2 = input 1
//!                                       w3 = xor w1, w2
//! ```
//!
//! - `trace`: traces, their writer and their values.
//! - `bytes`: numbers and places in files.

mod bytes;
pub mod trace;

pub use bytes::{Reader, put};
