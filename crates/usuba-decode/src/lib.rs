//! Decoders of machine instructions: from codes to instructions, and their text.
//!
//! ```text
//! 00c58533 → riscv::Instruction::Arithmetic { Add, to: 10, a: 11, b: 12 } → add a0,a1,a2
//! ```
//!
//! The semantics of instructions is in `usuba_object`. Tests
//! compare the texts with a disassembler, code by code.
//!
//! - `riscv`: RV32I with products (M) and compressed instructions (C).
//! - `aarch64`: AArch64 with Advanced SIMD.

pub mod aarch64;
pub mod riscv;
