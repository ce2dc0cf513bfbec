//! 512-bit registers of x86 with AVX-512 F, BW, DQ and VL.
//!
//! Any function of three bits is one instruction, and so are rotations of 32 and 64 bits, and of 16
//! bits with VBMI2. `Negative` and `Equal` pass through a mask register and are listed where
//! nothing shorter exists.

use super::Inst::*;
use super::Timing::*;
use super::{ANY, Registers, Row, Target, X86_64, inst, inst_when};

pub static AVX512: Target = Target {
    name: "avx512",
    aliases: &[],
    base: None,
    machine: None,
    bits: 512,
    regs: 32,
    simd: true,
    masks: true,
    header: "immintrin.h",
    header_warnings: &["-Wuninitialized", "-Wmaybe-uninitialized"],
    cflags: &["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"],
    register: "__m512i",
    constraint: "v",
    original: "AVX512.h",
    processor: &X86_64,
    registers: Some(&REGISTERS),
    rows: ROWS,
};

#[rustfmt::skip] // One instruction, one line.
const ROWS: &[Row] = &[
    //   operator  lanes          C                                                  timing
    inst(And,      ANY,          "_mm512_and_si512({0}, {1})",                       Doit).asm("vpand{e} {1m}, {0}, {d}"),
    inst(Or,       ANY,          "_mm512_or_si512({0}, {1})",                        Doit).asm("vpor{e} {1m}, {0}, {d}"),
    inst(Xor,      ANY,          "_mm512_xor_si512({0}, {1})",                       Doit).asm("vpxor{e} {1m}, {0}, {d}"),
    inst(Andn,     ANY,          "_mm512_andnot_si512({0}, {1})",                    Doit).asm("vpandn{e} {1m}, {0}, {d}"),
    inst(Add,      ANY,          "_mm512_add_epi{n}({0}, {1})",                      Doit).asm("vpadd{l} {1m}, {0}, {d}"),
    inst(Sub,      ANY,          "_mm512_sub_epi{n}({0}, {1})",                      Doit).asm("vpsub{l} {1m}, {0}, {d}"),
    inst(Mul,      16 | 32 | 64, "_mm512_mullo_epi{n}({0}, {1})",                    Doit).asm("vpmull{l} {1m}, {0}, {d}"),
    inst(MulWide,  64,           "_mm512_mul_epu32({0}, {1})",                       Doit).asm("vpmuludq {1m}, {0}, {d}"),
    inst(Shl,      16 | 32 | 64, "_mm512_slli_epi{n}({0}, {k})",                     Doit).asm("vpsll{l} ${k}, {0m}, {d}"),
    inst(Shr,      16 | 32 | 64, "_mm512_srli_epi{n}({0}, {k})",                     Doit).asm("vpsrl{l} ${k}, {0m}, {d}"),
    inst(Sar,      16 | 32 | 64, "_mm512_srai_epi{n}({0}, {k})",                     Doit).asm("vpsra{l} ${k}, {0m}, {d}"),
    inst(Not,      ANY,          "_mm512_ternarylogic_epi64({0}, {0}, {0}, 0x55)",   Doit).asm("vpxor{e} {onesm}, {0}, {d}"),
    inst(Lut3,     ANY,          "_mm512_ternarylogic_epi64({0}, {1}, {2}, {k})",    Doit).asm("vpternlog{e} ${k}, {2m}, {1}, {=0}"),
    inst(Rotl,     32 | 64,      "_mm512_rol_epi{n}({0}, {k})",                      Doit).asm("vprol{l} ${k}, {0m}, {d}"),
    inst_when("__AVX512VBMI2__", Rotl, 16, "_mm512_shldi_epi16({0}, {0}, {k})").asm("vpshldw ${k}, {0}, {0}, {d}"),
    inst(Negative, 8,            "_mm512_movm_epi8(_mm512_movepi8_mask({0}))",       Doit).asm("vpmovb2m {0}, %k1; vpmovm2b %k1, {d}"),
    inst(Equal,    8,            "_mm512_movm_epi8(_mm512_cmpeq_epi8_mask({0}, {1}))", Doit).asm("vpcmpeqb {1}, {0}, %k1; vpmovm2b %k1, {d}"),
    inst(Bytes,    ANY,          "_mm512_shuffle_epi8({0}, _mm512_set_epi64((long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}))", Doit).asm("vpshufb {im}, {0}, {d}"),
    inst(Splat,    ANY,          "_mm512_set1_epi{n}(({w}){k})",                     Doit),
    inst(RotlEach, 32 | 64,      "_mm512_rolv_epi{n}({0}, _mm512_set_epi64({v}))",   Doit).asm("vprolv{l} {im}, {0}, {d}"),
    inst(ShlEach,  16 | 32 | 64, "_mm512_sllv_epi{n}({0}, _mm512_set_epi64({v}))",   Doit).asm("vpsllv{l} {im}, {0}, {d}"),
    inst(ShrEach,  16 | 32 | 64, "_mm512_srlv_epi{n}({0}, _mm512_set_epi64({v}))",   Doit).asm("vpsrlv{l} {im}, {0}, {d}"),
    inst(Quads,    32,           "_mm512_shuffle_epi32({0}, (_MM_PERM_ENUM){k})",    Doit).asm("vpshufd ${k}, {0m}, {d}"),
    inst(Quads,    64,           "_mm512_permutex_epi64({0}, {k})",                  Doit).asm("vpermq ${k}, {0m}, {d}"),
    inst(Permute,  16 | 32 | 64, "_mm512_permutexvar_epi{n}(_mm512_set_epi64({v}), {0})", Doit).asm("vperm{l} {0m}, {i}, {d}"),
    inst(Permute2, 16 | 32 | 64, "_mm512_permutex2var_epi{n}({0}, _mm512_set_epi64({v}), {1})", Doit).asm("vpermt2{l} {1m}, {i}, {=0}"),
    inst(ZipLow,   32 | 64,      "_mm512_unpacklo_epi{n}({0}, {1})",                 Doit).asm("vpunpckl{z} {1m}, {0}, {d}"),
    inst(ZipHigh,  32 | 64,      "_mm512_unpackhi_epi{n}({0}, {1})",                 Doit).asm("vpunpckh{z} {1m}, {0}, {d}"),
    inst(Align,    ANY,          "_mm512_alignr_epi8({1}, {0}, {k})",                Doit).asm("vpalignr ${k}, {0m}, {1}, {d}"),
    inst(Blend,    16,           "_mm512_mask_blend_epi16((__mmask32){k}u, {0}, {1})", Doit).asm("movl ${k}, %eax; kmovd %eax, %k1; vpblendm{l} {1m}, {0}, {d}{mask}"),
    inst(Blend,    32,           "_mm512_mask_blend_epi32((__mmask16){k}, {0}, {1})", Doit).asm("movl ${k}, %eax; kmovd %eax, %k1; vpblendm{l} {1m}, {0}, {d}{mask}"),
    inst(Blend,    64,           "_mm512_mask_blend_epi64((__mmask8){k}, {0}, {1})", Doit).asm("movl ${k}, %eax; kmovd %eax, %k1; vpblendm{l} {1m}, {0}, {d}{mask}"),
    inst(Literal,  ANY,          "_mm512_set_epi64({v})",                            Doit),
    inst(Splat128, ANY,          "_mm512_set_epi64((long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}, (long long){hi}, (long long){lo}, (long long){hi}, (long long){lo})", Doit),
];

static REGISTERS: Registers = Registers {
    load: "_mm512_loadu_si512((const void *)({0}))",
    store: "_mm512_storeu_si512((void *)({0}), {1})",
    gather: "_mm512_inserti32x4(_mm512_inserti32x4(_mm512_inserti32x4(_mm512_castsi128_si512(\
             _mm_loadu_si128((const __m128i *)(const void *)({0}))), \
             _mm_loadu_si128((const __m128i *)(const void *)(({0}) + ({1}))), 1), \
             _mm_loadu_si128((const __m128i *)(const void *)(({0}) + 2 * ({1}))), 2), \
             _mm_loadu_si128((const __m128i *)(const void *)(({0}) + 3 * ({1}))), 3)",
    scatter: "_mm_storeu_si128((__m128i *)(void *)({0}), _mm512_castsi512_si128({2})), \
              _mm_storeu_si128((__m128i *)(void *)(({0}) + ({1})), \
              _mm512_extracti32x4_epi32({2}, 1)), \
              _mm_storeu_si128((__m128i *)(void *)(({0}) + 2 * ({1})), \
              _mm512_extracti32x4_epi32({2}, 2)), \
              _mm_storeu_si128((__m128i *)(void *)(({0}) + 3 * ({1})), \
              _mm512_extracti32x4_epi32({2}, 3))",
    groups: ("_mm512_shuffle_i32x4({0}, {1}, 0x88)", "_mm512_shuffle_i32x4({0}, {1}, 0xdd)"),
    select: "_mm512_ternarylogic_epi64({2}, {0}, {1}, 0xca)",
    lanes: [""; 4],
    zip: ("_mm512_unpacklo_epi{n}({0}, {1})", "_mm512_unpackhi_epi{n}({0}, {1})"),
    shuffle: "_mm512_shuffle_epi8({0}, {1})",
    bytes: "",
    equal: "_mm512_movm_epi8(_mm512_cmpeq_epi8_mask({0}, {1}))",
};
