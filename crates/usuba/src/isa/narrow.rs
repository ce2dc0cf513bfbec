//! Registers of x86 that are narrower than the widest of a machine: AVX2 instructions on 128 bits,
//! AVX-512 instructions on 128 and 256, and general-purpose ones that rotate into another register.
//!
//! ```text
//! avx512_256     <<< by a list, any function of three bits, 32 registers, on 256 bits
//! ```
//!
//! For W, where a vector has as many bits as one instance of the cipher, and a wider register would
//! hold several instances. The rows of the base stay; these tables add to them. `avx2_64` has no
//! rows: its C is the C of `gp64`, and the C compiler may use BMI1 and BMI2, which processors with
//! AVX2 have. A rotation then leaves its operand where it is, and needs no move before it, and `~a & b`
//! is one instruction.

use super::Inst::*;
use super::Timing::*;
use super::{ANY, Row, Target, X86_64, avx2, avx512, gp64, inst, sse};

pub static AVX2_64: Target = Target {
    name: "avx2_64",
    aliases: &["avx2-64"],
    base: Some(&gp64::GP64),
    machine: Some(&avx2::AVX2),
    cflags: &["-mbmi", "-mbmi2"],
    processor: &X86_64,
    rows: &[],
    ..gp64::GP64
};

pub static AVX2_128: Target = Target {
    name: "avx2_128",
    aliases: &["avx2-128"],
    base: Some(&sse::SSE),
    machine: Some(&avx2::AVX2),
    header: "immintrin.h",
    cflags: &["-mavx2"],
    rows: EACH128,
    ..sse::SSE
};

pub static AVX512_128: Target = Target {
    name: "avx512_128",
    aliases: &["avx512-128"],
    base: Some(&sse::SSE),
    machine: Some(&avx512::AVX512),
    regs: 32,
    constraint: "v",
    header: "immintrin.h",
    cflags: &["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"],
    rows: ROWS128,
    ..sse::SSE
};

pub static AVX512_256: Target = Target {
    name: "avx512_256",
    aliases: &["avx512-256"],
    base: Some(&avx2::AVX2),
    machine: Some(&avx512::AVX512),
    regs: 32,
    constraint: "v",
    cflags: &["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"],
    rows: ROWS256,
    ..avx2::AVX2
};

#[rustfmt::skip] // One instruction, one line.
const EACH128: &[Row] = &[
    //   operator  lanes         C                                                        timing
    inst(ShlEach,  32 | 64,      "_mm_sllv_epi{n}({0}, _mm_set_epi64x({v}))",             Doit),
    inst(ShrEach,  32 | 64,      "_mm_srlv_epi{n}({0}, _mm_set_epi64x({v}))",             Doit),
];

#[rustfmt::skip] // One instruction, one line.
const ROWS128: &[Row] = &[
    inst(Mul,      64,           "_mm_mullo_epi64({0}, {1})",                             Doit),
    inst(Sar,      64,           "_mm_srai_epi64({0}, {k})",                              Doit),
    inst(Not,      ANY,          "_mm_ternarylogic_epi64({0}, {0}, {0}, 0x55)",           Doit),
    inst(Lut3,     ANY,          "_mm_ternarylogic_epi64({0}, {1}, {2}, {k})",            Doit),
    inst(Rotl,     32 | 64,      "_mm_rol_epi{n}({0}, {k})",                              Doit),
    inst(RotlEach, 32 | 64,      "_mm_rolv_epi{n}({0}, _mm_set_epi64x({v}))",             Doit),
    inst(ShlEach,  16 | 32 | 64, "_mm_sllv_epi{n}({0}, _mm_set_epi64x({v}))",             Doit),
    inst(ShrEach,  16 | 32 | 64, "_mm_srlv_epi{n}({0}, _mm_set_epi64x({v}))",             Doit),
];

#[rustfmt::skip] // One instruction, one line.
const ROWS256: &[Row] = &[
    inst(Mul,      64,           "_mm256_mullo_epi64({0}, {1})",                          Doit),
    inst(Sar,      64,           "_mm256_srai_epi64({0}, {k})",                           Doit),
    inst(Not,      ANY,          "_mm256_ternarylogic_epi64({0}, {0}, {0}, 0x55)",        Doit),
    inst(Lut3,     ANY,          "_mm256_ternarylogic_epi64({0}, {1}, {2}, {k})",         Doit),
    inst(Rotl,     32 | 64,      "_mm256_rol_epi{n}({0}, {k})",                           Doit),
    inst(RotlEach, 32 | 64,      "_mm256_rolv_epi{n}({0}, _mm256_set_epi64x({v}))",       Doit),
    inst(ShlEach,  16,           "_mm256_sllv_epi16({0}, _mm256_set_epi64x({v}))",        Doit),
    inst(ShrEach,  16,           "_mm256_srlv_epi16({0}, _mm256_set_epi64x({v}))",        Doit),
    inst(Permute,  16,           "_mm256_permutexvar_epi16(_mm256_set_epi64x({v}), {0})", Doit),
    inst(Permute2, 16 | 32 | 64, "_mm256_permutex2var_epi{n}({0}, _mm256_set_epi64x({v}), {1})", Doit),
];
