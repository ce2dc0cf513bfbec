//! Proofs as `usubac prove` asks for them.
//!
//! - `binary`: compiles the kernel of a program and proves the object file.
//! - `byte_interface`: functions over any number of blocks, in object files.
//! - `plant`: fault injection: what a proof must refuse.

pub mod binary;
pub mod byte_interface;
pub mod plant;
