//! 128-bit registers of Arm with Advanced SIMD (AArch64).
//!
//! The register type is bytes; the casts between lane types cost nothing. The byte shuffle is
//! the table instruction of AArch64, where an index outside of the table gives zero.

use super::Inst::*;
use super::Timing::*;
use super::{ANY, Cross, Processor, Registers, Row, System, Target, Tool, inst};

pub static NEON: Target = Target {
    name: "neon",
    aliases: &[],
    base: None,
    machine: None,
    bits: 128,
    regs: 32,
    simd: true,
    masks: false,
    header: "arm_neon.h",
    header_warnings: &[],
    cflags: &[],
    register: "uint8x16_t",
    constraint: "w",
    original: "Neon.h",
    processor: &AARCH64,
    registers: Some(&REGISTERS),
    rows: ROWS,
};

#[rustfmt::skip] // One instruction, one line.
const ROWS: &[Row] = &[
    //   operator  lanes          C                                                  timing
    inst(And,      ANY,          "vandq_u8({0}, {1})",                               Doit),
    inst(Or,       ANY,          "vorrq_u8({0}, {1})",                               Doit),
    inst(Xor,      ANY,          "veorq_u8({0}, {1})",                               Doit),
    inst(Andn,     ANY,          "vbicq_u8({1}, {0})",                               Doit),
    inst(Not,      ANY,          "vmvnq_u8({0})",                                    Doit),
    inst(Add,      8,            "vaddq_u8({0}, {1})",                               Doit),
    inst(Add,      16 | 32 | 64, "vreinterpretq_u8_u{n}(vaddq_u{n}(vreinterpretq_u{n}_u8({0}), vreinterpretq_u{n}_u8({1})))", Doit),
    inst(Sub,      8,            "vsubq_u8({0}, {1})",                               Doit),
    inst(Sub,      16 | 32 | 64, "vreinterpretq_u8_u{n}(vsubq_u{n}(vreinterpretq_u{n}_u8({0}), vreinterpretq_u{n}_u8({1})))", Doit),
    inst(Mul,      8,            "vmulq_u8({0}, {1})",                               Doit),
    inst(Mul,      16 | 32,      "vreinterpretq_u8_u{n}(vmulq_u{n}(vreinterpretq_u{n}_u8({0}), vreinterpretq_u{n}_u8({1})))", Doit),
    inst(MulWide,  64,           "vreinterpretq_u8_u64(vmull_u32(vmovn_u64(vreinterpretq_u64_u8({0})), vmovn_u64(vreinterpretq_u64_u8({1}))))", Doit),
    inst(Shl,      8,            "vshlq_n_u8({0}, {k})",                             Doit),
    inst(Shl,      16 | 32 | 64, "vreinterpretq_u8_u{n}(vshlq_n_u{n}(vreinterpretq_u{n}_u8({0}), {k}))", Doit),
    inst(Shr,      8,            "vshrq_n_u8({0}, {k})",                             Doit),
    inst(Shr,      16 | 32 | 64, "vreinterpretq_u8_u{n}(vshrq_n_u{n}(vreinterpretq_u{n}_u8({0}), {k}))", Doit),
    inst(Sar,      ANY,          "vreinterpretq_u8_s{n}(vshrq_n_s{n}(vreinterpretq_s{n}_u8({0}), {k}))", Doit),
    inst(Bytes,    ANY,          "vqtbl1q_u8({0}, vcombine_u8(vcreate_u8({lo}), vcreate_u8({hi})))", Doit),
    inst(Splat,    8,            "vdupq_n_u8((uint8_t){k})",                         Doit),
    inst(Splat,    16 | 32 | 64, "vreinterpretq_u8_u{n}(vdupq_n_u{n}((uint{n}_t){k}))", Doit),
    inst(ShlEach,  8,            "(vshlq_u8(({0}), vreinterpretq_s8_u8(vcombine_u8(vcreate_u8({lo}), vcreate_u8({hi})))))", Doit),
    inst(ShrEach,  8,            "(vshlq_u8(({0}), vnegq_s8(vreinterpretq_s8_u8(vcombine_u8(vcreate_u8({lo}), vcreate_u8({hi}))))))", Doit),
    inst(ShlEach,  16,           "vreinterpretq_u8_u16(vshlq_u16(vreinterpretq_u16_u8({0}), vreinterpretq_s16_u8(vcombine_u8(vcreate_u8({lo}), vcreate_u8({hi})))))", Doit),
    inst(ShrEach,  16,           "vreinterpretq_u8_u16(vshlq_u16(vreinterpretq_u16_u8({0}), vnegq_s16(vreinterpretq_s16_u8(vcombine_u8(vcreate_u8({lo}), vcreate_u8({hi}))))))", Doit),
    inst(ShlEach,  32,           "vreinterpretq_u8_u32(vshlq_u32(vreinterpretq_u32_u8({0}), vreinterpretq_s32_u8(vcombine_u8(vcreate_u8({lo}), vcreate_u8({hi})))))", Doit),
    inst(ShrEach,  32,           "vreinterpretq_u8_u32(vshlq_u32(vreinterpretq_u32_u8({0}), vnegq_s32(vreinterpretq_s32_u8(vcombine_u8(vcreate_u8({lo}), vcreate_u8({hi}))))))", Doit),
    inst(ShlEach,  64,           "vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8({0}), vreinterpretq_s64_u8(vcombine_u8(vcreate_u8({lo}), vcreate_u8({hi})))))", Doit),
    inst(ShrEach,  64,           "vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8({0}), vnegq_s64(vreinterpretq_s64_u8(vcombine_u8(vcreate_u8({lo}), vcreate_u8({hi}))))))", Doit),
    inst(ZipLow,   8,            "vzip1q_u8({0}, {1})",                              Doit),
    inst(ZipHigh,  8,            "vzip2q_u8({0}, {1})",                              Doit),
    inst(ZipLow,   16,           "vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8({0}), vreinterpretq_u16_u8({1})))", Doit),
    inst(ZipHigh,  16,           "vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8({0}), vreinterpretq_u16_u8({1})))", Doit),
    inst(ZipLow,   32,           "vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8({0}), vreinterpretq_u32_u8({1})))", Doit),
    inst(ZipHigh,  32,           "vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8({0}), vreinterpretq_u32_u8({1})))", Doit),
    inst(ZipLow,   64,           "vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8({0}), vreinterpretq_u64_u8({1})))", Doit),
    inst(ZipHigh,  64,           "vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8({0}), vreinterpretq_u64_u8({1})))", Doit),
    inst(Align,    ANY,          "vextq_u8({0}, {1}, {k})",                          Doit),
    inst(Splat128, ANY,          "vcombine_u8(vcreate_u8({lo}), vcreate_u8({hi}))",  Doit),
];

static REGISTERS: Registers = Registers {
    load: "vld1q_u8((const uint8_t *)({0}))",
    store: "vst1q_u8((uint8_t *)({0}), {1})",
    gather: "",
    scatter: "",
    groups: ("", ""),
    select: "vbslq_u8({2}, {0}, {1})",
    lanes: [
        "vdupq_n_u8({0})",
        "vreinterpretq_u8_u16(vdupq_n_u16({0}))",
        "vreinterpretq_u8_u32(vdupq_n_u32({0}))",
        "vreinterpretq_u8_u64(vdupq_n_u64({0}))",
    ],
    zip: ("", ""),
    shuffle: "vqtbl1q_u8({0}, {1})",
    bytes: "vreinterpretq_u8_u64(vcombine_u64(vcreate_u64({0}), vcreate_u64({1})))",
    equal: "vceqq_u8({0}, {1})",
};

static AARCH64: Processor = Processor {
    name: "AArch64",
    hosts: &["aarch64"],
    guard: "USUBA_AARCH64",
    library: true,
    asks: false,
    cross: Some(&Cross {
        compiler: Tool {
            about: "AArch64 compiler",
            variable: "AARCH64_CC",
            names: &["aarch64-linux-gnu-gcc"],
            packages: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
        },
        clang: false,
        // Static, so that the emulator needs no sysroot.
        cflags: &["-static"],
        emulator: Tool {
            about: "AArch64 emulator",
            variable: "QEMU_AARCH64",
            names: &["qemu-aarch64", "qemu-aarch64-static"],
            packages: "qemu-user/qemu-user-static",
        },
        arguments: &[],
        system: System::Hosted,
    }),
    device: None,
};
