//! 32-bit general-purpose registers, in plain C.
//!
//! The rows are those of `gp64`: the C compiler splits 64-bit words of V. Only the register of B
//! and H is narrower.

use super::{Target, gp64};

pub static GP32: Target = Target {
    name: "gp32",
    aliases: &[],
    base: None,
    machine: None,
    bits: 32,
    regs: 16,
    simd: false,
    masks: false,
    header: "",
    header_warnings: &[],
    cflags: &[],
    register: "uint32_t",
    rows: gp64::ROWS,
};
