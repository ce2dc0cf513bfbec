//! Curve25519 and NaCl as `usubac dist` writes them, compiled and called.
//!
//! - `object`: C as a shared object that is loaded, for each width of words; other libraries.
//! - `curve`: X25519 and Ed25519 against RFC 7748, RFC 8032, Wycheproof, the edge cases of "Taming
//!   the many EdDSAs", and the dalek crates and libsodium as oracles.
//! - `interface`: NaCl's functions against libsodium's, both ways.
//! - `many`: batches of X25519.
//! - `secrets`: valgrind with undefined secrets, and zeroization of the stack.
//! - `builds`: compilers, sanitizers, and the size of the code on a small processor.
//! - `instructions`: the machine code of common compilers, as far as the prover understands it.
//! - `retired`: instruction counts on a small processor.
//!
//! In the whole run (`make test-all`) also the million steps of RFC 7748, and clang.

mod builds;
mod curve;
mod instructions;
mod interface;
#[path = "../loaded/mod.rs"]
mod loaded;
mod many;
mod object;
mod retired;
mod secrets;
