//! A thread of a CUDA device: registers of 32 bits, and any function of three bits in one instruction.
//!
//! `lop3.b32` is written as assembly, and so is `prmt.b32` where the byte interface moves bytes; of
//! other expressions the compilers for devices make the instructions themselves, `shf` of a rotation. Compilers for hosts
//! build the same text with the macros of `cuda.h`, and the tests run that. NVIDIA publishes
//! no list of instructions with data-independent timing: these run in pipelines of a fixed length.

use super::Inst::*;
use super::Timing::*;
use super::{ANY, ANY_PROCESSOR, Device, Processor, Row, Target, inst, inst_when};

pub static CUDA: Target = Target {
    name: "cuda",
    aliases: &["gpu"],
    base: None,
    machine: None,
    bits: 32,
    regs: 255,
    simd: false,
    masks: false,
    header: "",
    header_warnings: &[],
    cflags: &[],
    register: "uint32_t",
    constraint: "r",
    original: "",
    processor: &THREAD,
    registers: None,
    rows: ROWS,
};

/// The functions are functions of every host, too.
static THREAD: Processor = Processor {
    name: "CUDA device",
    library: false,
    asks: false,
    device: Some(&Device {
        prelude: include_str!("cuda.h"),
        qualifier: "USUBA_DEVICE ",
        exported: "USUBA_EXPORTED ",
        bytes: "USUBA_PRMT",
        copied: "USUBA_COPIED",
    }),
    ..ANY_PROCESSOR
};

#[rustfmt::skip] // One instruction, one line.
const ROWS: &[Row] = &[
    //   operator  lane    C                                                timing
    inst(And,      ANY,    "({t})({0} & {1})",                              Doit),
    inst(Or,       ANY,    "({t})({0} | {1})",                              Doit),
    inst(Xor,      ANY,    "({t})({0} ^ {1})",                              Doit),
    inst(Andn,     ANY,    "({t})(~{0} & {1})",                             Doit),
    inst(Not,      ANY,    "({t})~{0}",                                     Doit),
    inst(Lut3,     ANY,    "({t})USUBA_LUT3_{n}({0}, {1}, {2}, {k})",       Doit),
    inst(Add,      ANY,    "({t})({0} + {1})",                              Doit),
    inst(Sub,      ANY,    "({t})({0} - {1})",                              Doit),
    inst(Mul,      8 | 16, "({t})((uint32_t){0} * (uint32_t){1})",          Varies),
    inst(Mul,      32 | 64, "({t})({0} * {1})",                             Varies),
    inst(MulHigh,  8 | 16, "({t})(((uint32_t){0} * (uint32_t){1}) >> {n})", Varies),
    inst(MulHigh,  32,     "({t})(((uint64_t){0} * {1}) >> 32)",            Varies),
    inst_when("__SIZEOF_INT128__", MulHigh, 64, "({t})(__extension__ ((unsigned __int128){0} * {1}) >> 64)"),
    inst(Less,     ANY,    "({t})({0} < {1})",                              Doit),
    inst(Shl,      ANY,    "({t})({0} << {k})",                             Doit),
    inst(Shr,      ANY,    "({t})({0} >> {k})",                             Doit),
    inst(Sar,      ANY,    "({t})(({s}){0} >> {k})",                        Doit),
    inst(Splat,    ANY,    "{k}",                                           Doit),
    inst(Widen,    ANY,    "({t}){0}",                                      Doit),
];
