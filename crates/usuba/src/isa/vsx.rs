//! 128-bit registers of POWER8 and later with VSX, little-endian.
//!
//! VSX succeeds AltiVec. Rotations exist for every lane, by one amount or by a register of amounts;
//! shifts take amounts modulo the lane. The permutation reads two registers, here the second is
//! zero: an index of 128 becomes 16, its first byte. Element numbers of `vec_mergeh`, `vec_mule` and
//! the like follow the byte order. IBM publishes no list of instructions whose time is independent
//! of data; the instructions of this table have a fixed latency in the manuals of POWER8 and POWER9.

use super::Inst::*;
use super::Timing::*;
use super::{ANY, Cross, Processor, Registers, Row, System, Target, Tool, inst};

pub static VSX: Target = Target {
    name: "vsx",
    aliases: &["altivec"],
    base: None,
    machine: None,
    bits: 128,
    regs: 32,
    simd: true,
    masks: false,
    header: "altivec.h",
    header_warnings: &[],
    cflags: &[],
    register: "__vector unsigned char",
    constraint: "v",
    original: "",
    processor: &POWER8,
    registers: Some(&REGISTERS),
    rows: ROWS,
};

static POWER8: Processor = Processor {
    name: "POWER8",
    hosts: &["powerpc64"],
    guard: "__VSX__",
    library: false,
    asks: false,
    cross: Some(&Cross {
        compiler: Tool {
            about: "POWER compiler",
            variable: "POWER_CC",
            names: &["powerpc64le-linux-gnu-gcc"],
            packages: "gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross",
        },
        clang: false,
        // Static, so that the emulator needs no sysroot.
        cflags: &["-static"],
        emulator: Tool {
            about: "POWER emulator",
            variable: "QEMU_PPC64LE",
            names: &["qemu-ppc64le", "qemu-ppc64le-static"],
            packages: "qemu-user/qemu-user-static",
        },
        arguments: &[],
        system: System::Hosted,
    }),
    device: None,
};

static REGISTERS: Registers = Registers {
    load: "vec_xl(0, (const unsigned char *)({0}))",
    store: "vec_xst({1}, 0, (unsigned char *)({0}))",
    gather: "",
    scatter: "",
    groups: ("", ""),
    select: "vec_sel({1}, {0}, {2})",
    lanes: [""; 4],
    zip: ("", ""),
    shuffle: "vec_perm({0}, vec_splats((unsigned char)0), \
              vec_min({1}, vec_splats((unsigned char)16)))",
    bytes: "",
    equal: "(__vector unsigned char)vec_cmpeq({0}, {1})",
};

#[rustfmt::skip] // One instruction, one line.
const ROWS: &[Row] = &[
    //   operator  lanes          C                                                  timing
    inst(And,      ANY,          "vec_and({0}, {1})",                                Doit),
    inst(Or,       ANY,          "vec_or({0}, {1})",                                 Doit),
    inst(Xor,      ANY,          "vec_xor({0}, {1})",                                Doit),
    inst(Andn,     ANY,          "vec_andc({1}, {0})",                               Doit),
    inst(Not,      ANY,          "vec_nor({0}, {0})",                                Doit),
    inst(Add,      ANY,          "(__vector unsigned char)vec_add((__vector unsigned {w}){0}, (__vector unsigned {w}){1})", Doit),
    inst(Sub,      ANY,          "(__vector unsigned char)vec_sub((__vector unsigned {w}){0}, (__vector unsigned {w}){1})", Doit),
    inst(Mul,      16 | 32,      "(__vector unsigned char)vec_mul((__vector unsigned {w}){0}, (__vector unsigned {w}){1})", Doit),
    inst(MulWide,  64,           "(__vector unsigned char)vec_mule((__vector unsigned int){0}, (__vector unsigned int){1})", Doit),
    inst(Shl,      ANY,          "(__vector unsigned char)vec_sl((__vector unsigned {w}){0}, vec_splats((unsigned {w}){k}))", Doit),
    inst(Shr,      ANY,          "(__vector unsigned char)vec_sr((__vector unsigned {w}){0}, vec_splats((unsigned {w}){k}))", Doit),
    inst(Rotl,     ANY,          "(__vector unsigned char)vec_rl((__vector unsigned {w}){0}, vec_splats((unsigned {w}){k}))", Doit),
    inst(Sar,      ANY,          "(__vector unsigned char)vec_sra((__vector signed {w}){0}, vec_splats((unsigned {w}){k}))", Doit),
    inst(Bytes,    ANY,          "vec_perm({0}, vec_splats((unsigned char)0), vec_min((__vector unsigned char)((__vector unsigned long long){ {lo}, {hi} }), vec_splats((unsigned char)16)))", Doit),
    inst(Splat,    ANY,          "(__vector unsigned char)vec_splats((unsigned {w}){k})", Doit),
    inst(RotlEach, ANY,          "(__vector unsigned char)vec_rl((__vector unsigned {w}){0}, (__vector unsigned {w})((__vector unsigned long long){ {lo}, {hi} }))", Doit),
    inst(ZipLow,   ANY,          "(__vector unsigned char)vec_mergeh((__vector unsigned {w}){0}, (__vector unsigned {w}){1})", Doit),
    inst(ZipHigh,  ANY,          "(__vector unsigned char)vec_mergel((__vector unsigned {w}){0}, (__vector unsigned {w}){1})", Doit),
    inst(Align,    ANY,          "vec_sld({1}, {0}, 16 - {k})",                      Doit),
    inst(Splat128, ANY,          "(__vector unsigned char)((__vector unsigned long long){ {lo}, {hi} })", Doit),
];
