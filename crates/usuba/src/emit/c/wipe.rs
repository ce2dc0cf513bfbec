//! Zeroization: a wrapper around the kernel that clears stack and registers after it.
//!
//! ```c
//! static void f_inner(const __m256i *x, __m256i *y);   the kernel, never inlined
//! void f(const __m256i *x, __m256i *y)
//! {
//!     f_inner(x, y);
//!     __asm__ volatile (...);      zeros below the stack pointer, and in registers
//! }
//! ```
//!
//! C cannot say where a compiler keeps copies: it spills registers anywhere. But all copies lie in
//! frames below the frame of the caller, and in caller-saved registers. So the kernel stays a call,
//! and the wrapper then clears all caller-saved registers and as many bytes below the stack pointer
//! as the kernel can have used. The number of bytes is [`bytes`], an estimate; the command line may
//! give another, and the proof of the object says whether it is enough.
//!
//! Compilers treat the assembly as opaque, so none removes it. It exists for gcc and clang on
//! x86-64; elsewhere a function that clears a local array of `volatile` bytes replaces it, which
//! reaches mostly the same stack, and no registers.

use super::Emitted;
use crate::emit::template::{context, template};
use crate::ir::Program;
use crate::ir::live::max_live;
use crate::isa::Target;

/// The suffix of the name of a kernel inside of its wrapper.
pub const INNER: &str = "_inner";

/// How the kernel begins, so that it stays a call.
pub const APART: &str = "#ifdef __GNUC__\n__attribute__((noinline))\n#endif\nstatic ";

/// Bytes of the stack that are cleared, a multiple of 64: the stack that a compiler needs for the
/// live values, with room for values that it keeps twice.
pub fn bytes(program: &Program, target: &Target) -> usize {
    let register = target.bits as usize / 8;
    (SPARE + 2 * max_live(program) * register).next_multiple_of(64)
}

/// Saved registers, return addresses, alignment, scalars.
pub const SPARE: usize = 512;

/// The wrapper of the kernel of `program` that calls `inner`. `linkage` is empty or `static `.
pub fn wrapper(
    program: &Program,
    emitted: &Emitted,
    inner: &str,
    target: &Target,
    linkage: &str,
) -> String {
    let ports = emitted.params.iter().chain(&emitted.results);
    let arguments: Vec<&str> = ports.map(|port| port.name.as_str()).collect();
    around(&Call {
        name: &emitted.name,
        prototype: &format!("{linkage}{}", emitted.prototype),
        inner,
        arguments: &arguments.join(", "),
        bytes: bytes(program, target),
    })
}

/// A wrapper function that calls another one and zeroizes its stack and registers.
pub struct Call<'a> {
    pub name: &'a str,
    /// With the linkage, without the semicolon.
    pub prototype: &'a str,
    /// The function that is called; it begins with [`APART`].
    pub inner: &'a str,
    pub arguments: &'a str,
    /// Bytes of the stack that are cleared, a multiple of 64.
    pub bytes: usize,
}

/// The wrapper of any function that returns nothing.
pub fn around(call: &Call) -> String {
    let Call { name, prototype, inner, arguments, bytes } = *call;
    let size = format!("{}_WIPE_BYTES", name.to_uppercase());
    template!("wipe.c.in").render(context! { name, size, prototype, inner, arguments, bytes })
}
