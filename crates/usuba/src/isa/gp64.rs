//! 64-bit general-purpose registers, in plain C.
//!
//! Words have the C type of their size; the casts undo the promotion to `int`. Right shifts of
//! negative numbers are arithmetic in every compiler that we support (gcc and clang document it).
//! The upper half of a product of 64 bits takes a type that C compilers for 64-bit machines have;
//! without it, four products make it. The multiplication goes through an unsigned type so that no
//! product overflows an `int`.

use super::Inst::*;
use super::Timing::*;
use super::{ANY, ANY_PROCESSOR, Row, Target, inst, inst_when};

pub static GP64: Target = Target {
    name: "gp64",
    aliases: &["std"],
    base: None,
    machine: None,
    bits: 64,
    regs: 16,
    simd: false,
    masks: false,
    header: "",
    header_warnings: &[],
    cflags: &[],
    register: "uint64_t",
    constraint: "r",
    original: "STD.h",
    processor: &ANY_PROCESSOR,
    registers: None,
    rows: ROWS,
};

#[rustfmt::skip] // One instruction, one line.
pub const ROWS: &[Row] = &[
    //   operator  lane C                                                timing
    inst(And,      ANY, "({t})({0} & {1})",                              Doit),
    inst(Or,       ANY, "({t})({0} | {1})",                              Doit),
    inst(Xor,      ANY, "({t})({0} ^ {1})",                              Doit),
    inst(Andn,     ANY, "({t})(~{0} & {1})",                             Doit),
    inst(Not,      ANY, "({t})~{0}",                                     Doit),
    inst(Add,      ANY, "({t})({0} + {1})",                              Doit),
    inst(Sub,      ANY, "({t})({0} - {1})",                              Doit),
    inst(Mul,      8,   "({t})((uint32_t){0} * (uint32_t){1})",          Varies),
    inst(Mul,      16,  "({t})((uint32_t){0} * (uint32_t){1})",          Varies),
    inst(Mul,      32,  "({t})({0} * {1})",                              Varies),
    inst(Mul,      64,  "({t})({0} * {1})",                              Varies),
    inst(MulHigh,  8,   "({t})(((uint32_t){0} * (uint32_t){1}) >> 8)",   Varies),
    inst(MulHigh,  16,  "({t})(((uint32_t){0} * (uint32_t){1}) >> 16)",  Varies),
    inst(MulHigh,  32,  "({t})(((uint64_t){0} * {1}) >> 32)",            Varies),
    inst_when("__SIZEOF_INT128__", MulHigh, 64, "({t})(__extension__ ((unsigned __int128){0} * {1}) >> 64)"),
    inst(Less,     ANY, "({t})({0} < {1})",                              Doit),
    inst(Shl,      ANY, "({t})({0} << {k})",                             Doit),
    inst(Shr,      ANY, "({t})({0} >> {k})",                             Doit),
    inst(Sar,      ANY, "({t})(({s}){0} >> {k})",                        Doit),
    inst(Splat,    ANY, "{k}",                                           Doit),
    inst(Widen,    ANY, "({t}){0}",                                      Doit),
];
