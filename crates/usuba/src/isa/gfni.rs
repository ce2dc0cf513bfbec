//! x86 with GFNI (Galois Field New Instructions) beside AVX2 or AVX-512: two instructions on bytes.
//!
//! ```text
//! affine            M x ^ c            any linear map of the bits of a byte: shifts, xtime, ...
//! affine inverse    M (1 / x) ^ c      the S-boxes of AES, SM4, Camellia
//! ```
//!
//! The matrix is a register of its own, the same for all bytes; `1 / x` is modulo
//! x^8 + x^4 + x^3 + x + 1. Only words of 8 bits in V gain by them.

use super::Inst::*;
use super::Timing::*;
use super::{Row, Target, avx2, avx512, inst};

pub static AVX2_GFNI: Target = Target {
    name: "avx2_gfni",
    aliases: &["avx2-gfni"],
    base: Some(&avx2::AVX2),
    cflags: &["-mavx2", "-mgfni"],
    rows: ROWS256,
    ..avx2::AVX2
};

pub static AVX512_GFNI: Target = Target {
    name: "avx512_gfni",
    aliases: &["avx512-gfni"],
    base: Some(&avx512::AVX512),
    cflags: &["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mgfni"],
    rows: ROWS512,
    ..avx512::AVX512
};

#[rustfmt::skip] // One instruction, one line.
const ROWS256: &[Row] = &[
    //   operator       lane C                                              timing
    inst(Affine,        8, "_mm256_gf2p8affine_epi64_epi8({0}, {1}, {k})",    Doit).asm("vgf2p8affineqb ${k}, {1m}, {0}, {d}"),
    inst(AffineInverse, 8, "_mm256_gf2p8affineinv_epi64_epi8({0}, {1}, {k})", Doit).asm("vgf2p8affineinvqb ${k}, {1m}, {0}, {d}"),
];

#[rustfmt::skip] // One instruction, one line.
const ROWS512: &[Row] = &[
    inst(Affine,        8, "_mm512_gf2p8affine_epi64_epi8({0}, {1}, {k})",    Doit).asm("vgf2p8affineqb ${k}, {1m}, {0}, {d}"),
    inst(AffineInverse, 8, "_mm512_gf2p8affineinv_epi64_epi8({0}, {1}, {k})", Doit).asm("vgf2p8affineinvqb ${k}, {1m}, {0}, {d}"),
];
