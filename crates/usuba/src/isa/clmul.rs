//! x86 with carry-less multiplication: the product of two polynomials over the field of two elements.
//!
//! ```text
//! even      lanes 0 of a and b in each group of 128 bits  →  a product of 128 bits
//! odd       lanes 1
//! ```
//!
//! Products of an even and an odd lane are nodes of `std:clmul.ua` only. The lower halves of both products are the result of `clmul`, the upper ones of `clmulhigh`. All
//! processors with AVX2 have the instruction on 128 bits. On 512 bits those with GFNI have it, from
//! Ice Lake and Zen 4 on.

use super::Inst::*;
use super::Timing::*;
use super::{Row, Target, avx2, avx512, gfni, inst, sse};

pub static AVX2_CLMUL: Target = Target {
    name: "avx2_clmul",
    aliases: &["avx2-clmul"],
    base: Some(&sse::SSE),
    machine: Some(&avx2::AVX2),
    header: "immintrin.h",
    cflags: &["-mavx2", "-mpclmul"],
    rows: ROWS128,
    ..sse::SSE
};

pub static AVX512_CLMUL: Target = Target {
    name: "avx512_clmul",
    aliases: &["avx512-clmul"],
    base: Some(&avx512::AVX512),
    machine: Some(&gfni::AVX512_GFNI),
    cflags: &["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mpclmul", "-mvpclmulqdq"],
    rows: ROWS512,
    ..avx512::AVX512
};

#[rustfmt::skip] // One instruction, one line.
const ROWS128: &[Row] = &[
    //   operator   lane C                                                 timing
    inst(ClmulEven, 64, "_mm_clmulepi64_si128({0}, {1}, 0x00)",            Doit),
    inst(ClmulOdd,  64, "_mm_clmulepi64_si128({0}, {1}, 0x11)",            Doit),
    inst(ClmulEvenOdd, 64, "_mm_clmulepi64_si128({0}, {1}, 0x10)",         Doit),
    inst(ClmulOddEven, 64, "_mm_clmulepi64_si128({0}, {1}, 0x01)",         Doit),
];

#[rustfmt::skip] // One instruction, one line.
const ROWS512: &[Row] = &[
    inst(ClmulEven, 64, "_mm512_clmulepi64_epi128({0}, {1}, 0x00)",        Doit),
    inst(ClmulOdd,  64, "_mm512_clmulepi64_epi128({0}, {1}, 0x11)",        Doit),
];
