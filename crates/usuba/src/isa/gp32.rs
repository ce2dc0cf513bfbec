//! 32-bit general-purpose registers, in plain C.
//!
//! The rows are the rows of `gp64`: the C compiler splits 64-bit words of V. Only the register of B
//! and H is narrower.

use super::{ANY_PROCESSOR, Cross, Processor, System, Target, Tool, gp64};

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
    constraint: "r",
    original: "STD.h",
    processor: &RISCV32,
    registers: None,
    rows: gp64::ROWS,
};

/// Every processor; where the tools are installed, programs run on 32-bit RISC-V.
static RISCV32: Processor = Processor {
    cross: Some(&Cross {
        compiler: Tool {
            about: "RISC-V compiler",
            variable: "RISCV_CC",
            names: &["riscv64-unknown-elf-gcc", "riscv32-unknown-elf-gcc"],
            packages: "gcc-riscv64-unknown-elf",
        },
        clang: false,
        // Relaxation moves data after it has chosen which of it the global pointer reaches, and
        // large batches then fail to link.
        cflags: &[
            "-march=rv32im",
            "-mabi=ilp32",
            "-ffreestanding",
            "-nostdlib",
            "-nostartfiles",
            "-Wl,--no-relax",
        ],
        emulator: Tool {
            about: "RISC-V emulator",
            variable: "QEMU_RISCV32",
            names: &["qemu-riscv32", "qemu-riscv32-static"],
            packages: "qemu-user/qemu-user-static",
        },
        arguments: &[],
        system: System::BareRiscv32,
    }),
    ..ANY_PROCESSOR
};
