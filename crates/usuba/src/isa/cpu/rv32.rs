//! A small RISC-V core of 32 bits, such as SiFive's E31.
//!
//! From *SiFive E31 Core Complex Manual* (21G1), pipeline section: one instruction begins in a
//! cycle, in order; its result is there in the next one, loads take two, products several. Without
//! Zbb a rotation is two shifts and an or. 31 registers, of which the ABI keeps four.

use super::super::ANY;
use super::super::Inst::*;
use super::{Cpu, Figure, Pays, Unit, VECTORS, figure};

pub static RV32: Cpu = Cpu {
    name: "rv32",
    aliases: &["sifive-e31"],
    about: "RISC-V of 32 bits that begins one instruction a cycle, in order",
    units: &[Unit {
        targets: &["gp32"],
        regs: 27,
        figures: GENERAL,
        pays: Pays { bitslice: true, mslice: false, pressure: true },
        ..VECTORS
    }],
    // 16 KB of first-level instruction cache.
    body: (3_500, 14_000),
    caches: (16, 0),
    machines: &[],
};

const GENERAL: &[Figure] = &[
    figure(&[And, Shl], ANY, 1, 0b1),
    // The base instructions have no and-not and no rotation.
    Figure { insts: &[Andn], lane: ANY, uops: 2, latency: 2, ports: 0b1 },
    Figure { insts: &[Rotl], lane: ANY, uops: 3, latency: 2, ports: 0b1 },
    figure(&[Mul], ANY, 8, 0b1),
];
