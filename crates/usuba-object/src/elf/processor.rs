//! The processors that files are for.

/// A family of processors with a model.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Processor {
    #[default]
    X86,
    Riscv32,
    Aarch64,
}

impl Processor {
    pub(super) fn name(self) -> &'static str {
        match self {
            Processor::X86 => "x86-64",
            Processor::Riscv32 => "RV32IMC",
            Processor::Aarch64 => "AArch64",
        }
    }

    /// The name in `std::env::consts::ARCH`.
    pub fn host(self) -> &'static str {
        match self {
            Processor::X86 => "x86_64",
            Processor::Riscv32 => "riscv32",
            Processor::Aarch64 => "aarch64",
        }
    }

    /// Bytes of an address.
    pub fn address(self) -> usize {
        match self {
            Processor::X86 | Processor::Aarch64 => 8,
            Processor::Riscv32 => 4,
        }
    }
}
