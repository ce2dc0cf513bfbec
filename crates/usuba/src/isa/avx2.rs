//! 256-bit registers of x86 with AVX2.
//!
//! Byte shuffles stay inside each 128-bit half, as the layout of H wants. There are no 8-bit
//! shifts and no 64-bit arithmetic shift.

use super::Inst::*;
use super::Timing::*;
use super::{ANY, Registers, Row, Target, X86_64, inst};

pub static AVX2: Target = Target {
    name: "avx2",
    aliases: &["avx"],
    base: None,
    machine: None,
    bits: 256,
    regs: 16,
    simd: true,
    masks: true,
    header: "immintrin.h",
    header_warnings: &[],
    cflags: &["-mavx2"],
    register: "__m256i",
    constraint: "x",
    original: "AVX.h",
    processor: &X86_64,
    registers: Some(&REGISTERS),
    rows: ROWS,
};

#[rustfmt::skip] // One instruction, one line.
const ROWS: &[Row] = &[
    //   operator  lanes          C                                                  timing
    inst(And,      ANY,          "_mm256_and_si256({0}, {1})",                       Doit).asm("vpand {1m}, {0}, {d}"),
    inst(Or,       ANY,          "_mm256_or_si256({0}, {1})",                        Doit).asm("vpor {1m}, {0}, {d}"),
    inst(Xor,      ANY,          "_mm256_xor_si256({0}, {1})",                       Doit).asm("vpxor {1m}, {0}, {d}"),
    inst(Andn,     ANY,          "_mm256_andnot_si256({0}, {1})",                    Doit).asm("vpandn {1m}, {0}, {d}"),
    inst(Add,      ANY,          "_mm256_add_epi{n}({0}, {1})",                      Doit).asm("vpadd{l} {1m}, {0}, {d}"),
    inst(Sub,      ANY,          "_mm256_sub_epi{n}({0}, {1})",                      Doit).asm("vpsub{l} {1m}, {0}, {d}"),
    inst(Mul,      16 | 32,      "_mm256_mullo_epi{n}({0}, {1})",                    Doit).asm("vpmull{l} {1m}, {0}, {d}"),
    inst(MulWide,  64,           "_mm256_mul_epu32({0}, {1})",                       Doit).asm("vpmuludq {1m}, {0}, {d}"),
    inst(Shl,      16 | 32 | 64, "_mm256_slli_epi{n}({0}, {k})",                     Doit).asm("vpsll{l} ${k}, {0}, {d}"),
    inst(Shr,      16 | 32 | 64, "_mm256_srli_epi{n}({0}, {k})",                     Doit).asm("vpsrl{l} ${k}, {0}, {d}"),
    inst(Sar,      16 | 32,      "_mm256_srai_epi{n}({0}, {k})",                     Doit).asm("vpsra{l} ${k}, {0}, {d}"),
    inst(Negative, ANY,          "_mm256_cmpgt_epi{n}(_mm256_setzero_si256(), {0})", Doit).asm("vpcmpgt{l} {0m}, {zeros}, {d}"),
    inst(Equal,    8,            "_mm256_cmpeq_epi8({0}, {1})",                      Doit).asm("vpcmpeqb {1m}, {0}, {d}"),
    inst(Bytes,    ANY,          "_mm256_shuffle_epi8({0}, _mm256_set_epi64x((long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}))", Doit).asm("vpshufb {im}, {0}, {d}"),
    inst(Splat,    8 | 16 | 32,  "_mm256_set1_epi{n}(({w}){k})",                     Doit),
    inst(Splat,    64,           "_mm256_set1_epi64x((long long){k})",               Doit),
    inst(ShlEach,  32 | 64,      "_mm256_sllv_epi{n}({0}, _mm256_set_epi64x({v}))",  Doit).asm("vpsllv{l} {im}, {0}, {d}"),
    inst(ShrEach,  32 | 64,      "_mm256_srlv_epi{n}({0}, _mm256_set_epi64x({v}))",  Doit).asm("vpsrlv{l} {im}, {0}, {d}"),
    inst(Quads,    32,           "_mm256_shuffle_epi32({0}, {k})",                   Doit).asm("vpshufd ${k}, {0m}, {d}"),
    inst(Quads,    64,           "_mm256_permute4x64_epi64({0}, {k})",               Doit).asm("vpermq ${k}, {0m}, {d}"),
    inst(Permute,  32,           "_mm256_permutevar8x32_epi32({0}, _mm256_set_epi64x({v}))", Doit).asm("vperm{l} {0m}, {i}, {d}"),
    inst(ZipLow,   32 | 64,      "_mm256_unpacklo_epi{n}({0}, {1})",                 Doit).asm("vpunpckl{z} {1m}, {0}, {d}"),
    inst(ZipHigh,  32 | 64,      "_mm256_unpackhi_epi{n}({0}, {1})",                 Doit).asm("vpunpckh{z} {1m}, {0}, {d}"),
    inst(Align,    ANY,          "_mm256_alignr_epi8({1}, {0}, {k})",                Doit).asm("vpalignr ${k}, {0m}, {1}, {d}"),
    inst(Blend,    32,           "_mm256_blend_epi32({0}, {1}, {k})",                Doit).asm("vpblend{l} ${k}, {1m}, {0}, {d}"),
    inst(Literal,  ANY,          "_mm256_set_epi64x({v})",                           Doit),
    inst(Splat128, ANY,          "_mm256_set_epi64x((long long){hi}, (long long){lo}, (long long){hi}, (long long){lo})", Doit),
];

static REGISTERS: Registers = Registers {
    load: "_mm256_loadu_si256((const __m256i *)(const void *)({0}))",
    store: "_mm256_storeu_si256((__m256i *)(void *)({0}), {1})",
    gather: "_mm256_inserti128_si256(_mm256_castsi128_si256(\
             _mm_loadu_si128((const __m128i *)(const void *)({0}))), \
             _mm_loadu_si128((const __m128i *)(const void *)(({0}) + ({1}))), 1)",
    scatter: "_mm_storeu_si128((__m128i *)(void *)({0}), _mm256_castsi256_si128({2})), \
              _mm_storeu_si128((__m128i *)(void *)(({0}) + ({1})), \
              _mm256_extracti128_si256({2}, 1))",
    groups: (
        "_mm256_permute2x128_si256({0}, {1}, 0x20)",
        "_mm256_permute2x128_si256({0}, {1}, 0x31)",
    ),
    select: "",
    lanes: [""; 4],
    zip: ("_mm256_unpacklo_epi{n}({0}, {1})", "_mm256_unpackhi_epi{n}({0}, {1})"),
    shuffle: "_mm256_shuffle_epi8({0}, {1})",
    bytes: "",
    equal: "_mm256_cmpeq_epi8({0}, {1})",
};
