//! Proofs by the machine that an object is for.

use usuba::ir::Program;

use super::aarch64::Aarch64;
use super::block_function::Interface;
use super::calls::Kernel;
use super::compare::{self, Demands};
use super::elf::{Object, Processor};
use super::kernel_contract::Contract;
use super::riscv::Riscv;
use super::safety::{self, Function};
use super::x86::X86;
use super::{Fault, arithmetic, blocks};

/// See [`compare::prove`].
pub fn prove(
    object: &Object,
    contract: &Contract,
    program: &Program,
    demands: Demands,
) -> compare::Verdict {
    match object.processor() {
        Processor::X86 => compare::prove::<X86>(object, contract, program, demands),
        Processor::Riscv32 => compare::prove::<Riscv>(object, contract, program, demands),
        Processor::Aarch64 => compare::prove::<Aarch64>(object, contract, program, demands),
    }
}

/// See [`compare::examine`].
pub fn examine(
    object: &Object,
    contract: &Contract,
    program: &Program,
    demands: Demands,
) -> compare::Verdict {
    match object.processor() {
        Processor::X86 => compare::examine::<X86>(object, contract, program, demands),
        Processor::Riscv32 => compare::examine::<Riscv>(object, contract, program, demands),
        Processor::Aarch64 => compare::examine::<Aarch64>(object, contract, program, demands),
    }
}

/// See [`arithmetic::prove_either`].
pub fn prove_either(
    object: &Object,
    contract: &Contract,
    program: &Program,
    most: &[u64],
    linked: &[Kernel],
    demands: Demands,
) -> compare::Verdict {
    let prove = match object.processor() {
        Processor::X86 => arithmetic::prove_either::<X86>,
        Processor::Riscv32 => arithmetic::prove_either::<Riscv>,
        Processor::Aarch64 => arithmetic::prove_either::<Aarch64>,
    };
    prove(object, contract, program, most, linked, demands)
}

/// See [`blocks::prove`].
pub fn prove_blocks(object: &Object, interface: &Interface) -> blocks::Verdict {
    match object.processor() {
        Processor::X86 => blocks::prove::<X86>(object, interface),
        Processor::Riscv32 => blocks::prove::<Riscv>(object, interface),
        Processor::Aarch64 => blocks::prove::<Aarch64>(object, interface),
    }
}

/// See [`safety::prove`].
///
/// # Errors
/// As there.
pub fn prove_safety(
    object: &Object,
    function: &Function,
    longest: u64,
) -> Result<safety::Evidence, Fault> {
    match object.processor() {
        Processor::X86 => safety::prove::<X86>(object, function, longest),
        Processor::Riscv32 => safety::prove::<Riscv>(object, function, longest),
        Processor::Aarch64 => safety::prove::<Aarch64>(object, function, longest),
    }
}
