//! A function around the kernel that clears what the kernel leaves behind.
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
//! C has no word for where a compiler keeps copies: it spills registers wherever it likes. But all
//! of it lies in frames below that of the caller, and in registers that a call need not keep. So
//! the kernel is a call that stays one, and after it as many bytes below the stack pointer are
//! cleared as it can have used, and all registers that belong to nobody. The number of bytes is
//! [`bytes`], an estimate; whoever compiles may give another, and the proof of the object says
//! whether it is enough.
//!
//! No compiler looks into the assembly, so none can leave it out. It is there for gcc and clang on
//! x86-64; elsewhere a function that clears a local array of `volatile` bytes stands for it, which
//! reaches the same stack, mostly, and no registers.

use std::fmt::Write;

use super::Emitted;
use crate::ir::Program;
use crate::ir::live::max_live;
use crate::isa::Target;

/// What is appended to the name of a kernel inside of its wrapper.
pub const INNER: &str = "_inner";

/// How the kernel begins, so that it stays a call.
pub const APART: &str = "#ifdef __GNUC__\n__attribute__((noinline))\n#endif\nstatic ";

/// Bytes of the stack that are cleared, a multiple of 64: what a compiler needs for the values that
/// are alive at once, with room for those that it keeps twice.
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

/// A function that is a call of another one, and clears what that leaves.
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
    let mut text = format!(
        "\n/* Bytes of the stack that are cleared, a multiple of 64. */\n#ifndef {size}\n\
         #define {size} {bytes}\n#endif\n",
    );
    let _ = write!(
        text,
        "#if !defined(__GNUC__) || !defined(__x86_64__)\nstatic void {name}_clear(void)\n{{\n    \
         volatile unsigned char area[{size}];\n    int i;\n    \
         for (i = 0; i < {size}; i++) area[i] = 0;\n    (void)area;\n}}\n#endif\n\n"
    );
    let _ = write!(text, "{prototype}\n{{\n    {inner}({arguments});\n");
    text.push_str("#if defined(__GNUC__) && defined(__x86_64__)\n    __asm__ volatile (\n");
    text.push_str("        \"subq %0, %%rsp\\n\\tmovl %0, %%ecx\\n\\t\"\n");
    let parts = [
        ("#if defined(__AVX512F__)", "vpxor %%xmm0, %%xmm0, %%xmm0", "vmovups %%zmm0", 64),
        ("#elif defined(__AVX__)", "vpxor %%xmm0, %%xmm0, %%xmm0", "vmovups %%ymm0", 32),
        ("#else", "xorps %%xmm0, %%xmm0", "movups %%xmm0", 16),
    ];
    for (condition, zero, store, size) in parts {
        let _ = writeln!(text, "{condition}\n        \"{zero}\\n1:\\t\"");
        for at in 1..=64 / size {
            let _ = writeln!(text, "        \"{store}, -{}(%%rsp,%%rcx)\\n\\t\"", at * size);
        }
    }
    text.push_str("#endif\n        \"subl $64, %%ecx\\n\\tjne 1b\\n\\taddq %0, %%rsp\\n\\t\"\n");
    for register in SCALARS {
        let _ = writeln!(text, "        \"xorl %%{register}, %%{register}\\n\\t\"");
    }
    let each = |text: &mut String, numbers: std::ops::Range<u32>, zero: &dyn Fn(u32) -> String| {
        for number in numbers {
            let _ = writeln!(text, "        \"{}\\n\\t\"", zero(number));
        }
    };
    text.push_str("#if defined(__AVX512F__)\n");
    each(&mut text, 16..32, &|n| format!("vpxord %%zmm{n}, %%zmm{n}, %%zmm{n}"));
    each(&mut text, 0..8, &|n| format!("kxorw %%k{n}, %%k{n}, %%k{n}"));
    text.push_str("#endif\n#if defined(__AVX__)\n");
    each(&mut text, 1..16, &|n| format!("vpxor %%xmm{n}, %%xmm{n}, %%xmm{n}"));
    text.push_str("#else\n");
    each(&mut text, 1..16, &|n| format!("xorps %%xmm{n}, %%xmm{n}"));
    let _ = write!(
        text,
        "#endif\n        : : \"i\"({size})\n        : \"memory\", \"cc\", \"rax\", \"rcx\", \
         \"rdx\", \"rsi\", \"rdi\", \"r8\", \"r9\", \"r10\", \"r11\""
    );
    let mut clobbers = |numbers: std::ops::Range<u32>| {
        for number in numbers {
            if number % 8 == 0 {
                text.push_str(",\n          ");
            } else {
                text.push_str(", ");
            }
            let _ = write!(text, "\"xmm{number}\"");
        }
    };
    clobbers(0..16);
    text += "\n#if defined(__AVX512F__)\n          ";
    let high = (16..32).map(|number| format!("\"xmm{number}\""));
    let masks = (0..8).map(|number| format!("\"k{number}\""));
    let high: Vec<String> = high.chain(masks).collect();
    let _ = writeln!(text, ", {}", high.join(", "));
    let _ = write!(
        text,
        "#endif\n    );\n#else\n    {{\n        void (*volatile clear)(void) = {name}_clear;\n        \
         clear();\n    }}\n#endif\n}}\n"
    );
    text
}

/// General-purpose registers that calls need not keep.
const SCALARS: [&str; 9] = ["eax", "ecx", "edx", "esi", "edi", "r8d", "r9d", "r10d", "r11d"];
