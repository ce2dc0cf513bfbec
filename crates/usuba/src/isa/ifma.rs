//! x86 with AVX-512 IFMA (Integer Fused Multiply-Add) beside GFNI: products of 52 bits with a sum of
//! 64.
//!
//! ```text
//! low       a + (b c mod 2^52)        of the low 52 bits of b and c, whatever is above them
//! high      a + (b c div 2^52)
//! ```
//!
//! One instruction each, twice as fast as a product of 32 bits without a sum, of which there would
//! be four. Only words of 52 bits in lanes of 64 gain by them; programs write `u64(b * c)` and
//! `u64(mulhigh(b, c))` of words `u52`, and the pass `muladd` adds the sum.
//!
//! Processors that have IFMA have GFNI too, from Ice Lake and Zen 4 on; Cannon Lake, which has no
//! GFNI, counts as `avx512`. So the best target of a processor is always one of both.

use super::Inst::*;
use super::Timing::*;
use super::{Row, Target, avx512, inst};

pub static AVX512_IFMA: Target = Target {
    name: "avx512_ifma",
    aliases: &["avx512-ifma"],
    base: Some(&avx512::AVX512),
    cflags: &["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mgfni", "-mavx512ifma"],
    rows: ROWS,
    ..avx512::AVX512
};

#[rustfmt::skip] // One instruction, one line.
const ROWS: &[Row] = &[
    //   operator      lane C                                               timing
    inst(Affine,        8, "_mm512_gf2p8affine_epi64_epi8({0}, {1}, {k})",    Doit).asm("vgf2p8affineqb ${k}, {1m}, {0}, {d}"),
    inst(AffineInverse, 8, "_mm512_gf2p8affineinv_epi64_epi8({0}, {1}, {k})", Doit).asm("vgf2p8affineinvqb ${k}, {1m}, {0}, {d}"),
    inst(MulAdd52,     64, "_mm512_madd52lo_epu64({0}, {1}, {2})",            Doit).asm("vpmadd52luq {2m}, {1}, {=0}"),
    inst(MulAddHigh52, 64, "_mm512_madd52hi_epu64({0}, {1}, {2})",            Doit).asm("vpmadd52huq {2m}, {1}, {=0}"),
];
