//! The nodes of standard includes as instructions, and x86 with those for AES and SHA-256; `clmul` has
//! the others.
//!
//! ```text
//! t = aes_round(s, k)    aesenc on each group of 128 bits, which holds the bytes of a state
//! ```
//!
//! Such an instruction takes whole vectors of 128 bits, in W. All processors with AVX2 have the
//! instructions for AES on 128 bits. Those with GFNI have them on wide registers, too, and the ones
//! for SHA-256: Ice Lake, Gracemont and Zen 4 were the first.
//!
//! *Reference:* Intel's manual, volume 2; its list of instructions with data-independent timing.

use super::Inst::*;
use super::Timing::*;
use super::{Inst, Row, Target, avx2, avx512, gfni, inst, sse};

/// The instruction that a node of a standard include stands for, and the bits of the words that it
/// takes.
pub fn of_node(name: &str) -> Option<(Inst, u8)> {
    Some(match name {
        "aes_round" => (AesRound, 8),
        "aes_last_round" => (AesLastRound, 8),
        "aes_inverse_round" => (AesInverseRound, 8),
        "aes_inverse_last_round" => (AesInverseLastRound, 8),
        "aes_inverse_mix_columns" => (AesInverseMixColumns, 8),
        "clmul00" => (ClmulEven, 64),
        "clmul01" => (ClmulEvenOdd, 64),
        "clmul10" => (ClmulOddEven, 64),
        "clmul11" => (ClmulOdd, 64),
        "sha256_rounds2" => (Sha256Rounds2, 32),
        "sha256_message1" => (Sha256Message1, 32),
        "sha256_message2" => (Sha256Message2, 32),
        _ => return None,
    })
}

pub static AVX2_AES: Target = Target {
    name: "avx2_aes",
    aliases: &["avx2-aes"],
    base: Some(&sse::SSE),
    machine: Some(&avx2::AVX2),
    header: "immintrin.h",
    cflags: &["-mavx2", "-maes"],
    rows: AES128,
    ..sse::SSE
};

pub static AVX2_VAES: Target = Target {
    name: "avx2_vaes",
    aliases: &["avx2-vaes"],
    base: Some(&avx2::AVX2),
    machine: Some(&gfni::AVX2_GFNI),
    cflags: &["-mavx2", "-mvaes"],
    rows: AES256,
    ..avx2::AVX2
};

pub static AVX512_VAES: Target = Target {
    name: "avx512_vaes",
    aliases: &["avx512-vaes"],
    base: Some(&avx512::AVX512),
    machine: Some(&gfni::AVX512_GFNI),
    cflags: &["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mvaes"],
    rows: AES512,
    ..avx512::AVX512
};

pub static AVX2_SHA: Target = Target {
    name: "avx2_sha",
    aliases: &["avx2-sha"],
    base: Some(&sse::SSE),
    machine: Some(&gfni::AVX2_GFNI),
    header: "immintrin.h",
    cflags: &["-mavx2", "-msha"],
    rows: SHA128,
    ..sse::SSE
};

#[rustfmt::skip] // One instruction, one line.
const AES128: &[Row] = &[
    //   operator             lane C                                      timing
    inst(AesRound,             8,  "_mm_aesenc_si128({0}, {1})",          Doit),
    inst(AesLastRound,         8,  "_mm_aesenclast_si128({0}, {1})",      Doit),
    inst(AesInverseRound,      8,  "_mm_aesdec_si128({0}, {1})",          Doit),
    inst(AesInverseLastRound,  8,  "_mm_aesdeclast_si128({0}, {1})",      Doit),
    inst(AesInverseMixColumns, 8,  "_mm_aesimc_si128({0})",               Doit),
];

#[rustfmt::skip] // One instruction, one line.
const AES256: &[Row] = &[
    inst(AesRound,             8,  "_mm256_aesenc_epi128({0}, {1})",      Doit),
    inst(AesLastRound,         8,  "_mm256_aesenclast_epi128({0}, {1})",  Doit),
    inst(AesInverseRound,      8,  "_mm256_aesdec_epi128({0}, {1})",      Doit),
    inst(AesInverseLastRound,  8,  "_mm256_aesdeclast_epi128({0}, {1})",  Doit),
];

#[rustfmt::skip] // One instruction, one line.
const AES512: &[Row] = &[
    inst(AesRound,             8,  "_mm512_aesenc_epi128({0}, {1})",      Doit),
    inst(AesLastRound,         8,  "_mm512_aesenclast_epi128({0}, {1})",  Doit),
    inst(AesInverseRound,      8,  "_mm512_aesdec_epi128({0}, {1})",      Doit),
    inst(AesInverseLastRound,  8,  "_mm512_aesdeclast_epi128({0}, {1})",  Doit),
];

#[rustfmt::skip] // One instruction, one line.
const SHA128: &[Row] = &[
    inst(Halves,               32, "_mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps({0}), _mm_castsi128_ps({1}), {k}))", Doit),
    inst(Sha256Rounds2,        32, "_mm_sha256rnds2_epu32({0}, {1}, {2})", Doit),
    inst(Sha256Message1,       32, "_mm_sha256msg1_epu32({0}, {1})",      Doit),
    inst(Sha256Message2,       32, "_mm_sha256msg2_epu32({0}, {1})",      Doit),
];
