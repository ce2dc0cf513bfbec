//! 512-bit registers of x86 with AVX-512 F, BW, DQ and VL.
//!
//! Any function of three bits is one instruction, and so are rotations of 32 and 64 bits; those
//! of 16 bits where VBMI2 is there too. `Negative` and `Equal` pass through a mask register and
//! are listed where nothing shorter exists.

use super::Inst::*;
use super::Timing::*;
use super::{ANY, Row, Target, inst, inst_when};

pub static AVX512: Target = Target {
    name: "avx512",
    aliases: &[],
    base: None,
    bits: 512,
    regs: 32,
    simd: true,
    masks: true,
    header: "immintrin.h",
    header_warnings: &["-Wuninitialized", "-Wmaybe-uninitialized"],
    cflags: &["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"],
    register: "__m512i",
    rows: ROWS,
};

#[rustfmt::skip] // One instruction, one line.
const ROWS: &[Row] = &[
    //   operator  lane C                                                timing
    inst(And,      ANY, "_mm512_and_si512({0}, {1})",                        Doit),
    inst(Or,       ANY, "_mm512_or_si512({0}, {1})",                         Doit),
    inst(Xor,      ANY, "_mm512_xor_si512({0}, {1})",                        Doit),
    inst(Andn,     ANY, "_mm512_andnot_si512({0}, {1})",                     Doit),
    inst(Add,      8,   "_mm512_add_epi8({0}, {1})",                         Doit),
    inst(Add,      16,  "_mm512_add_epi16({0}, {1})",                        Doit),
    inst(Add,      32,  "_mm512_add_epi32({0}, {1})",                        Doit),
    inst(Add,      64,  "_mm512_add_epi64({0}, {1})",                        Doit),
    inst(Sub,      8,   "_mm512_sub_epi8({0}, {1})",                         Doit),
    inst(Sub,      16,  "_mm512_sub_epi16({0}, {1})",                        Doit),
    inst(Sub,      32,  "_mm512_sub_epi32({0}, {1})",                        Doit),
    inst(Sub,      64,  "_mm512_sub_epi64({0}, {1})",                        Doit),
    inst(Mul,      16,  "_mm512_mullo_epi16({0}, {1})",                      Doit),
    inst(Mul,      32,  "_mm512_mullo_epi32({0}, {1})",                      Doit),
    inst(Mul,      64,  "_mm512_mullo_epi64({0}, {1})",                      Doit),
    inst(MulWide,  64,  "_mm512_mul_epu32({0}, {1})",                        Doit),
    inst(Shl,      16,  "_mm512_slli_epi16({0}, {k})",                       Doit),
    inst(Shl,      32,  "_mm512_slli_epi32({0}, {k})",                       Doit),
    inst(Shl,      64,  "_mm512_slli_epi64({0}, {k})",                       Doit),
    inst(Shr,      16,  "_mm512_srli_epi16({0}, {k})",                       Doit),
    inst(Shr,      32,  "_mm512_srli_epi32({0}, {k})",                       Doit),
    inst(Shr,      64,  "_mm512_srli_epi64({0}, {k})",                       Doit),
    inst(Sar,      16,  "_mm512_srai_epi16({0}, {k})",                       Doit),
    inst(Sar,      32,  "_mm512_srai_epi32({0}, {k})",                       Doit),
    inst(Sar,      64,  "_mm512_srai_epi64({0}, {k})",                       Doit),
    inst(Not,      ANY, "_mm512_ternarylogic_epi64({0}, {0}, {0}, 0x55)",    Doit),
    inst(Lut3,     ANY, "_mm512_ternarylogic_epi64({0}, {1}, {2}, {k})",     Doit),
    inst(Rotl,     32,  "_mm512_rol_epi32({0}, {k})",                        Doit),
    inst(Rotl,     64,  "_mm512_rol_epi64({0}, {k})",                        Doit),
    inst_when("__AVX512VBMI2__", Rotl, 16, "_mm512_shldi_epi16({0}, {0}, {k})"),
    inst(Negative, 8,   "_mm512_movm_epi8(_mm512_movepi8_mask({0}))",        Doit),
    inst(Equal,    8,   "_mm512_movm_epi8(_mm512_cmpeq_epi8_mask({0}, {1}))", Doit),
    inst(Bytes,    ANY, "_mm512_shuffle_epi8({0}, _mm512_set_epi64((long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}))", Doit),
    inst(Splat,    8,   "_mm512_set1_epi8((char){k})",                       Doit),
    inst(Splat,    16,  "_mm512_set1_epi16((short){k})",                     Doit),
    inst(Splat,    32,  "_mm512_set1_epi32((int){k})",                       Doit),
    inst(Splat,    64,  "_mm512_set1_epi64((long long){k})",                 Doit),
    inst(Splat128, ANY, "_mm512_set_epi64((long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}, (long long){hi}, (long long){lo})", Doit),
];
