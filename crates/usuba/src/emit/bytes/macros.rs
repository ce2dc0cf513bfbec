//! The C macros that transposition is written in, one table per register file.
//!
//! Macros and not functions: a file uses few of them, and unused functions draw warnings.

use crate::isa::Target;

/// How a register file loads, stores and moves; the same operations for all.
///
/// `{0}` and `{1}` are operands, `{k}` an immediate.
struct Registers {
    /// Of one register at a byte pointer.
    load: &'static str,
    store: &'static str,
    /// Of groups of 16 bytes, `{1}` bytes apart; empty where a register is one group.
    gather: &'static str,
    scatter: &'static str,
    and: &'static str,
    or: &'static str,
    xor: &'static str,
    /// `{0}` where the bits of `{2}` are set, else `{1}`; empty where it takes more than one
    /// instruction.
    select: &'static str,
    /// `({0} ^ {1}) & {2}`
    xor_and: &'static str,
    /// `{0} ^ {1} ^ {2}`
    xor3: &'static str,
    /// Shifts of 64 bits.
    shl: &'static str,
    shr: &'static str,
    /// 64 bits in all lanes.
    splat: &'static str,
    /// A word in all lanes of 8, 16, 32 and 64 bits.
    lanes: [&'static str; 4],
    /// Interleaves the low, or the high, halves of each group, by 8, 16, 32 and 64 bits.
    zip: [(&'static str, &'static str); 4],
    /// `{0}` shuffled by the register `{1}` of byte indices in each group.
    shuffle: &'static str,
    /// Two times 64 bits, low half `{0}`, in all groups.
    bytes: &'static str,
    /// All ones in the bytes that are equal.
    equal: &'static str,
}

const SSE: Registers = Registers {
    load: "_mm_loadu_si128((const __m128i *)(const void *)({0}))",
    store: "_mm_storeu_si128((__m128i *)(void *)({0}), {1})",
    gather: "",
    scatter: "",
    and: "_mm_and_si128({0}, {1})",
    or: "_mm_or_si128({0}, {1})",
    xor: "_mm_xor_si128({0}, {1})",
    select: "",
    xor_and: "_mm_and_si128(_mm_xor_si128({0}, {1}), {2})",
    xor3: "_mm_xor_si128({0}, _mm_xor_si128({1}, {2}))",
    shl: "_mm_slli_epi64({0}, {k})",
    shr: "_mm_srli_epi64({0}, {k})",
    splat: "_mm_set1_epi64x((long long)({0}))",
    lanes: [
        "_mm_set1_epi8((char)({0}))",
        "_mm_set1_epi16((short)({0}))",
        "_mm_set1_epi32((int)({0}))",
        "_mm_set1_epi64x((long long)({0}))",
    ],
    zip: [
        ("_mm_unpacklo_epi8({0}, {1})", "_mm_unpackhi_epi8({0}, {1})"),
        ("_mm_unpacklo_epi16({0}, {1})", "_mm_unpackhi_epi16({0}, {1})"),
        ("_mm_unpacklo_epi32({0}, {1})", "_mm_unpackhi_epi32({0}, {1})"),
        ("_mm_unpacklo_epi64({0}, {1})", "_mm_unpackhi_epi64({0}, {1})"),
    ],
    shuffle: "_mm_shuffle_epi8({0}, {1})",
    bytes: "_mm_set_epi64x((long long)({1}), (long long)({0}))",
    equal: "_mm_cmpeq_epi8({0}, {1})",
};

const AVX2: Registers = Registers {
    load: "_mm256_loadu_si256((const __m256i *)(const void *)({0}))",
    store: "_mm256_storeu_si256((__m256i *)(void *)({0}), {1})",
    gather: "_mm256_inserti128_si256(_mm256_castsi128_si256(\
             _mm_loadu_si128((const __m128i *)(const void *)({0}))), \
             _mm_loadu_si128((const __m128i *)(const void *)(({0}) + ({1}))), 1)",
    scatter: "_mm_storeu_si128((__m128i *)(void *)({0}), _mm256_castsi256_si128({2})), \
              _mm_storeu_si128((__m128i *)(void *)(({0}) + ({1})), \
              _mm256_extracti128_si256({2}, 1))",
    and: "_mm256_and_si256({0}, {1})",
    or: "_mm256_or_si256({0}, {1})",
    xor: "_mm256_xor_si256({0}, {1})",
    select: "",
    xor_and: "_mm256_and_si256(_mm256_xor_si256({0}, {1}), {2})",
    xor3: "_mm256_xor_si256({0}, _mm256_xor_si256({1}, {2}))",
    shl: "_mm256_slli_epi64({0}, {k})",
    shr: "_mm256_srli_epi64({0}, {k})",
    splat: "_mm256_set1_epi64x((long long)({0}))",
    lanes: [
        "_mm256_set1_epi8((char)({0}))",
        "_mm256_set1_epi16((short)({0}))",
        "_mm256_set1_epi32((int)({0}))",
        "_mm256_set1_epi64x((long long)({0}))",
    ],
    zip: [
        ("_mm256_unpacklo_epi8({0}, {1})", "_mm256_unpackhi_epi8({0}, {1})"),
        ("_mm256_unpacklo_epi16({0}, {1})", "_mm256_unpackhi_epi16({0}, {1})"),
        ("_mm256_unpacklo_epi32({0}, {1})", "_mm256_unpackhi_epi32({0}, {1})"),
        ("_mm256_unpacklo_epi64({0}, {1})", "_mm256_unpackhi_epi64({0}, {1})"),
    ],
    shuffle: "_mm256_shuffle_epi8({0}, {1})",
    bytes: "_mm256_set_epi64x((long long)({1}), (long long)({0}), \
            (long long)({1}), (long long)({0}))",
    equal: "_mm256_cmpeq_epi8({0}, {1})",
};

const AVX512: Registers = Registers {
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
    and: "_mm512_and_si512({0}, {1})",
    or: "_mm512_or_si512({0}, {1})",
    xor: "_mm512_xor_si512({0}, {1})",
    select: "_mm512_ternarylogic_epi64({2}, {0}, {1}, 0xca)",
    xor_and: "_mm512_ternarylogic_epi64({0}, {1}, {2}, 0x28)",
    xor3: "_mm512_ternarylogic_epi64({0}, {1}, {2}, 0x96)",
    shl: "_mm512_slli_epi64({0}, {k})",
    shr: "_mm512_srli_epi64({0}, {k})",
    splat: "_mm512_set1_epi64((long long)({0}))",
    lanes: [
        "_mm512_set1_epi8((char)({0}))",
        "_mm512_set1_epi16((short)({0}))",
        "_mm512_set1_epi32((int)({0}))",
        "_mm512_set1_epi64((long long)({0}))",
    ],
    zip: [
        ("_mm512_unpacklo_epi8({0}, {1})", "_mm512_unpackhi_epi8({0}, {1})"),
        ("_mm512_unpacklo_epi16({0}, {1})", "_mm512_unpackhi_epi16({0}, {1})"),
        ("_mm512_unpacklo_epi32({0}, {1})", "_mm512_unpackhi_epi32({0}, {1})"),
        ("_mm512_unpacklo_epi64({0}, {1})", "_mm512_unpackhi_epi64({0}, {1})"),
    ],
    shuffle: "_mm512_shuffle_epi8({0}, {1})",
    bytes: "_mm512_set_epi64((long long)({1}), (long long)({0}), (long long)({1}), \
            (long long)({0}), (long long)({1}), (long long)({0}), (long long)({1}), \
            (long long)({0}))",
    equal: "_mm512_movm_epi8(_mm512_cmpeq_epi8_mask({0}, {1}))",
};

const NEON: Registers = Registers {
    load: "vld1q_u8((const uint8_t *)({0}))",
    store: "vst1q_u8((uint8_t *)({0}), {1})",
    gather: "",
    scatter: "",
    and: "vandq_u8({0}, {1})",
    or: "vorrq_u8({0}, {1})",
    xor: "veorq_u8({0}, {1})",
    select: "vbslq_u8({2}, {0}, {1})",
    xor_and: "vandq_u8(veorq_u8({0}, {1}), {2})",
    xor3: "veorq_u8({0}, veorq_u8({1}, {2}))",
    shl: "vreinterpretq_u8_u64(vshlq_n_u64(vreinterpretq_u64_u8({0}), {k}))",
    shr: "vreinterpretq_u8_u64(vshrq_n_u64(vreinterpretq_u64_u8({0}), {k}))",
    splat: "vreinterpretq_u8_u64(vdupq_n_u64({0}))",
    lanes: [
        "vdupq_n_u8({0})",
        "vreinterpretq_u8_u16(vdupq_n_u16({0}))",
        "vreinterpretq_u8_u32(vdupq_n_u32({0}))",
        "vreinterpretq_u8_u64(vdupq_n_u64({0}))",
    ],
    zip: [
        ("vzip1q_u8({0}, {1})", "vzip2q_u8({0}, {1})"),
        (
            "vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8({0}), vreinterpretq_u16_u8({1})))",
            "vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8({0}), vreinterpretq_u16_u8({1})))",
        ),
        (
            "vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8({0}), vreinterpretq_u32_u8({1})))",
            "vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8({0}), vreinterpretq_u32_u8({1})))",
        ),
        (
            "vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8({0}), vreinterpretq_u64_u8({1})))",
            "vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8({0}), vreinterpretq_u64_u8({1})))",
        ),
    ],
    shuffle: "vqtbl1q_u8({0}, {1})",
    bytes: "vreinterpretq_u8_u64(vcombine_u64(vcreate_u64({0}), vcreate_u64({1})))",
    equal: "vceqq_u8({0}, {1})",
};

/// The registers of a SIMD target.
fn registers(target: &Target) -> &'static Registers {
    match target.family() {
        "sse" => &SSE,
        "avx2" => &AVX2,
        "avx512" => &AVX512,
        "neon" => &NEON,
        other => unreachable!("{other} has no vector registers"),
    }
}

/// What the names of the macros for vector registers begin with.
pub const VECTOR: &str = "USUBA_";

/// What the names of the macros for general-purpose registers of `bits` bits begin with.
pub fn scalar_prefix(bits: u32) -> &'static str {
    if bits == 64 { "USUBA64_" } else { "USUBA32_" }
}

/// The macros for `target`, guarded so that several functions of one file share them.
pub fn vector(target: &Target) -> String {
    let r = registers(target);
    let t = target.register;
    let mut text = String::from("#ifndef USUBA_LOAD\n");
    let mut define = |head: &str, template: &str| {
        let body = template
            .replace("{0}", "(a_)")
            .replace("{1}", "(b_)")
            .replace("{2}", "(c_)")
            .replace("{k}", "(k_)");
        text += &format!("#define {VECTOR}{head} \\\n    ({body})\n");
    };
    define("LOAD(a_)", r.load);
    define("STORE(a_, b_)", r.store);
    if !r.gather.is_empty() {
        define("GATHER(a_, b_)", r.gather);
        define("SCATTER(a_, b_, c_)", r.scatter);
    }
    define("AND(a_, b_)", r.and);
    define("OR(a_, b_)", r.or);
    define("XOR(a_, b_)", r.xor);
    define("XOR_AND(a_, b_, c_)", r.xor_and);
    define("XOR3(a_, b_, c_)", r.xor3);
    if !r.select.is_empty() {
        define("SELECT(a_, b_, c_)", r.select);
    }
    define("SHL(a_, k_)", r.shl);
    define("SHR(a_, k_)", r.shr);
    define("SPLAT(a_)", r.splat);
    for (bits, template) in [8, 16, 32, 64].iter().zip(r.lanes) {
        define(&format!("LANES{bits}(a_)"), template);
    }
    for (bits, (low, high)) in [8, 16, 32, 64].iter().zip(r.zip) {
        define(&format!("LOW{bits}(a_, b_)"), low);
        define(&format!("HIGH{bits}(a_, b_)"), high);
    }
    define("BYTES(a_, b_)", r.bytes);
    define("SHUFFLE(a_, b_)", r.shuffle);
    define("EQUAL(a_, b_)", r.equal);
    for bits in [8, 16, 32, 64] {
        text += &format!(
            "#define {VECTOR}ZIP{bits}(a_, b_) do {{ {t} t_ = {VECTOR}LOW{bits}(a_, b_); \\\n    \
             (b_) = {VECTOR}HIGH{bits}(a_, b_); (a_) = t_; }} while (0)\n"
        );
    }
    text + &masked(VECTOR, t, !r.select.is_empty()) + "#endif\n"
}

/// The macros for general-purpose registers of `bits` bits, with guard. Memory is read byte by
/// byte, which C compilers turn into one load where the machine allows it.
pub fn scalar(bits: u32) -> String {
    let t = format!("uint{bits}_t");
    let p = scalar_prefix(bits);
    let loads: Vec<String> =
        (0..bits / 8).map(|b| format!("({t})(a_)[{b}] << {}", 8 * b)).collect();
    let stores: Vec<String> =
        (0..bits / 8).map(|b| format!("(a_)[{b}] = (uint8_t)((b_) >> {})", 8 * b)).collect();
    format!(
        "#ifndef {p}LOAD\n\
         #define {p}LOAD(a_) \\\n    ({})\n\
         #define {p}STORE(a_, b_) \\\n    ({})\n\
         #define {p}AND(a_, b_) ((a_) & (b_))\n\
         #define {p}OR(a_, b_) ((a_) | (b_))\n\
         #define {p}XOR(a_, b_) ((a_) ^ (b_))\n\
         #define {p}XOR_AND(a_, b_, c_) (((a_) ^ (b_)) & (c_))\n\
         #define {p}XOR3(a_, b_, c_) ((a_) ^ (b_) ^ (c_))\n\
         #define {p}SHL(a_, k_) ((a_) << (k_))\n\
         #define {p}SHR(a_, k_) ((a_) >> (k_))\n\
         #define {p}SPLAT(a_) (({t})(a_))\n\
         {}#endif\n",
        loads.join(" | "),
        stores.join(", "),
        masked(p, &t, false)
    )
}

/// Exchanges by masks and shifts, the same on all registers; see `plan::Step` for which bits.
/// Where `select` is one instruction, exchanging between two registers takes four.
fn masked(p: &str, register: &str, select: bool) -> String {
    let swap = if select {
        format!(
            "{register} t_ = {p}SELECT(a_, {p}SHL(b_, k_), {p}SPLAT(mask_)); \\\n    \
             (b_) = {p}SELECT({p}SHR(a_, k_), b_, {p}SPLAT(mask_)); (a_) = t_;"
        )
    } else {
        format!(
            "{register} t_ = {p}XOR_AND({p}SHR(a_, k_), b_, {p}SPLAT(mask_)); \\\n    \
             (b_) = {p}XOR(b_, t_); (a_) = {p}XOR(a_, {p}SHL(t_, k_));"
        )
    };
    format!(
        "#define {p}SWAP(a_, b_, k_, mask_) do {{ \\\n    {swap} }} while (0)\n\
         #define {p}DELTA(a_, k_, mask_) do {{ \\\n    \
         {register} t_ = {p}XOR_AND({p}SHR(a_, k_), a_, {p}SPLAT(mask_)); \\\n    \
         (a_) = {p}XOR3(a_, t_, {p}SHL(t_, k_)); }} while (0)\n\
         #define {p}FLIP(a_, k_, mask_) do {{ \\\n    \
         {register} t_ = {p}SHL({p}AND(a_, {p}SPLAT(mask_)), k_); \\\n    \
         (a_) = {p}OR({p}AND({p}SHR(a_, k_), {p}SPLAT(mask_)), t_); }} while (0)\n"
    )
}
