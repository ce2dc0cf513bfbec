//! Zeroization after functions of the byte interface.
//!
//! ```c
//! static void f_blocks_inner(const f_ctx *ctx, const uint8_t *in, uint8_t *out, size_t nblocks);
//! void f_blocks(const f_ctx *ctx, const uint8_t *in, uint8_t *out, size_t nblocks)
//! {
//!     f_blocks_inner(ctx, in, out, nblocks);
//!     __asm__ volatile (...);      zeros below the stack pointer, and in registers
//! }
//! ```
//!
//! Kernels are wrapped in the same way, by [`crate::emit::c::wipe`]; this file counts the bytes.
//! The arrays of the functions can be counted: round keys in registers, the registers of a batch,
//! and a batch of bytes before and after. The stack use of compilers beyond that is an estimate.
//!
//! An instruction that uses no registers copies the last blocks. The copy of the C library would
//! leave them in any registers of the processor, including wider ones than the registers of the
//! target.

use super::{Function, Ports, Schedule};
use crate::emit::c::wipe::{self, APART, Call, INNER};
use crate::emit::template::{context, template};
use crate::ir::{Port, Program};
use crate::isa::Target;

/// The functions `name_copy` and `name_zero` on bytes.
pub(super) fn copying(name: &str) -> String {
    template!("templates/copying.c.in").render(context! { name })
}

/// Both functions: the inner one that does the work, and the wrapper that calls it.
pub(super) struct Wiped {
    /// The linkage and the name of the function inside.
    pub head: String,
    /// The text of the wrapper.
    pub behind: String,
}

/// The function `name` with these parameters, and their names as arguments.
pub(super) fn around(name: &str, parameters: &str, arguments: &str, bytes: usize) -> Wiped {
    let inner = format!("{name}{INNER}");
    let call = Call {
        name,
        prototype: &format!("void {name}({parameters})"),
        inner: &inner,
        arguments,
        bytes,
    };
    Wiped { head: format!("{APART}void {inner}({parameters})"), behind: wipe::around(&call) }
}

/// Bytes of the stack below the function over blocks.
pub(super) fn of_blocks(function: &Function, ports: &Ports, target: &Target) -> usize {
    let register = target.bits as usize / 8;
    let slicing = function.slicing();
    let registers = |port: &Port| port.values(slicing) * register;
    let keys = ports.key.map_or(0, registers);
    let (from, to) = ports.blocks();
    let kernels = [Some(function.kernel), function.single];
    let sets = kernels.into_iter().flatten().map(|kernel| {
        let copies = kernel.program.copies as usize;
        let lanes = target.lanes(crate::emit::layout(kernel.program, target)) as usize;
        let moved = ports.inputs.iter().copied().chain([ports.output]).map(registers);
        // The registers of each copy, once more as words on their way, and a batch of bytes.
        let arrays = 2 * copies * moved.sum::<usize>() + copies * lanes * (from + to);
        arrays + wipe::bytes(kernel.program, target)
    });
    let all = keys + sets.sum::<usize>() + STEPS * register + wipe::SPARE;
    all.next_multiple_of(64)
}

/// Most registers that a transposition uses at once: the registers of a tile, and as many again.
const STEPS: usize = 64;

/// Bytes of the stack below the key setup.
pub(super) fn of_key(schedule: Option<&Schedule>, port: &Port, target: &Target) -> usize {
    // Compilers set up a key in vectors of the target.
    let vectors = STEPS * target.bits as usize / 8;
    let flat = |port: &Port| port.words() * port.word as usize;
    let own = schedule.map_or(0, |schedule| {
        let program: &Program = schedule.kernel.program;
        let entry = program.entry();
        let ports = entry.params.iter().chain(&entry.results);
        // Of bits each may have a register of its own.
        ports.map(|port| 8 * flat(port)).sum::<usize>() + wipe::bytes(program, schedule.target)
    });
    (own + flat(port) + vectors + wipe::SPARE).next_multiple_of(64)
}
