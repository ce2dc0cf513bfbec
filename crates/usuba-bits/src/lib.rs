//! Symbolic bits: the contents of registers and memory as functions of inputs.
//!
//! ```text
//! bit 37 of zmm4 & zmm3      (f & g) @ 1: functions of the inputs of instance 1
//! rdx:rax = rsi * rdi        where words are integers: the bits of a polynomial
//! ```
//!
//! The machines of `usuba_object` execute instructions on them.
//!
//! - `cell`: bits of registers and memory; why every lane is covered.
//! - `opaque`: words of which nothing is known, and names of single bits.
//! - `repeats`: vectors whose lanes compute the same for consecutive instances.
//! - `evaluation`: the bits on numbers.
//! - `lane_arithmetic`: arithmetic on words of any number of bits.
//! - `integers`: the integer abstraction of words; `operators`: operators of the final IR on them.

pub mod cell;
pub mod evaluation;

pub mod integers;
pub mod lane_arithmetic;
mod opaque;
pub mod operators;
mod repeats;
