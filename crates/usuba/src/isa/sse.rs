//! 128-bit registers of x86 with SSE4.2.
//!
//! SSSE3 has the byte shuffle, SSE4.1 the 32-bit product, SSE4.2 the 64-bit comparison. There are
//! no 8-bit shifts and no 64-bit arithmetic shift.

use super::Inst::*;
use super::Timing::*;
use super::{ANY, Registers, Row, Target, X86_64, inst};

pub static SSE: Target = Target {
    name: "sse",
    aliases: &[],
    base: None,
    machine: None,
    bits: 128,
    regs: 16,
    simd: true,
    masks: false,
    header: "nmmintrin.h",
    header_warnings: &[],
    cflags: &["-msse4.2"],
    register: "__m128i",
    constraint: "x",
    original: "SSE.h",
    processor: &X86_64,
    registers: Some(&REGISTERS),
    rows: ROWS,
};

#[rustfmt::skip] // One instruction, one line.
const ROWS: &[Row] = &[
    //   operator  lanes          C                                                  timing
    inst(And,      ANY,          "_mm_and_si128({0}, {1})",                          Doit),
    inst(Or,       ANY,          "_mm_or_si128({0}, {1})",                           Doit),
    inst(Xor,      ANY,          "_mm_xor_si128({0}, {1})",                          Doit),
    inst(Andn,     ANY,          "_mm_andnot_si128({0}, {1})",                       Doit),
    inst(Add,      ANY,          "_mm_add_epi{n}({0}, {1})",                         Doit),
    inst(Sub,      ANY,          "_mm_sub_epi{n}({0}, {1})",                         Doit),
    inst(Mul,      16 | 32,      "_mm_mullo_epi{n}({0}, {1})",                       Doit),
    inst(MulWide,  64,           "_mm_mul_epu32({0}, {1})",                          Doit),
    inst(Shl,      16 | 32 | 64, "_mm_slli_epi{n}({0}, {k})",                        Doit),
    inst(Shr,      16 | 32 | 64, "_mm_srli_epi{n}({0}, {k})",                        Doit),
    inst(Sar,      16 | 32,      "_mm_srai_epi{n}({0}, {k})",                        Doit),
    inst(Negative, ANY,          "_mm_cmpgt_epi{n}(_mm_setzero_si128(), {0})",       Doit),
    inst(Equal,    8,            "_mm_cmpeq_epi8({0}, {1})",                         Doit),
    inst(Bytes,    ANY,          "_mm_shuffle_epi8({0}, _mm_set_epi64x((long long){hi}, (long long){lo}))", Doit),
    inst(Splat,    8 | 16 | 32,  "_mm_set1_epi{n}(({w}){k})",                        Doit),
    inst(Splat,    64,           "_mm_set1_epi64x((long long){k})",                  Doit),
    inst(Quads,    32,           "_mm_shuffle_epi32({0}, {k})",                      Doit),
    inst(ZipLow,   32 | 64,      "_mm_unpacklo_epi{n}({0}, {1})",                    Doit),
    inst(ZipHigh,  32 | 64,      "_mm_unpackhi_epi{n}({0}, {1})",                    Doit),
    inst(Align,    ANY,          "_mm_alignr_epi8({1}, {0}, {k})",                   Doit),
    inst(Blend,    16,           "_mm_blend_epi16({0}, {1}, {k})",                   Doit),
    inst(Splat128, ANY,          "_mm_set_epi64x((long long){hi}, (long long){lo})", Doit),
];

static REGISTERS: Registers = Registers {
    load: "_mm_loadu_si128((const __m128i *)(const void *)({0}))",
    store: "_mm_storeu_si128((__m128i *)(void *)({0}), {1})",
    gather: "",
    scatter: "",
    groups: ("", ""),
    select: "",
    lanes: [""; 4],
    zip: ("_mm_unpacklo_epi{n}({0}, {1})", "_mm_unpackhi_epi{n}({0}, {1})"),
    shuffle: "_mm_shuffle_epi8({0}, {1})",
    bytes: "",
    equal: "_mm_cmpeq_epi8({0}, {1})",
};
