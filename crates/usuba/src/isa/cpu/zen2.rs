//! AMD Zen 2 (EPYC 7002, Ryzen 3000 and 4000).
//!
//! Latencies and throughputs as InstLatx64 (<https://github.com/InstLatx64/InstLatx64>) measured
//! them on an EPYC 7002; pipes from AMD's *Software Optimization Guide for AMD EPYC 7002
//! Processors* (56305). Vector pipes FP0 to FP3 are bits 0 to 3: logic runs on all of them, sums
//! and comparisons not on FP2, shifts on FP2 alone, shuffles on FP1 and FP2, products on FP0. A
//! shift by amounts of a register is two operations. Permutations across 128 bits are two
//! operations. Five copies begin in a cycle.

use super::super::ANY;
use super::super::Inst::*;
use super::identity::amd;
use super::{Cpu, Figure, Unit, VECTORS, X86_GENERAL, figure};

pub static ZEN2: Cpu = Cpu {
    name: "zen2",
    aliases: &["znver2"],
    about: "AMD Zen 2: EPYC 7002, Ryzen 3000 and 4000",
    units: &[
        Unit { issue: 5, loads: 20, stores: 10, copies: 50, figures: GENERAL, ..X86_GENERAL },
        Unit {
            targets: &["sse", "avx2"],
            issue: 5,
            loads: 20,
            stores: 10,
            broadcasts: 20,
            copies: 50,
            bytes: 5,
            figures: VECTOR,
            ..VECTORS
        },
    ],
    // 32 KB of first-level instruction cache; the micro-operation cache holds 4,096.
    body: (4_000, 30_000),
    caches: (32, 512),
    machines: &[amd(0x17, 0x30, 0xff)],
};

/// Four ALUs, one of which multiplies.
const GENERAL: &[Figure] = &[
    figure(&[And, Shl], ANY, 1, 0b1111),
    figure(&[Mul], ANY, 3, 0b0010),
    Figure { insts: &[Less], lane: ANY, uops: 2, latency: 2, ports: 0b1111 },
    Figure { insts: &[MulHigh], lane: ANY, uops: 2, latency: 4, ports: 0b1010 },
];

const VECTOR: &[Figure] = &[
    figure(&[And], ANY, 1, 0b1111),
    figure(&[Add, Sub, Negative, Equal, Blend], ANY, 1, 0b1011),
    figure(&[Shl], ANY, 1, 0b0100),
    Figure { insts: &[ShlEach, ShrEach], lane: ANY, uops: 2, latency: 3, ports: 0b0100 },
    figure(&[Bytes], ANY, 1, 0b0110),
    Figure { insts: &[Quads], lane: 64, uops: 2, latency: 6, ports: 0b0110 },
    Figure { insts: &[Permute, Permute2], lane: ANY, uops: 2, latency: 8, ports: 0b0100 },
    Figure { insts: &[Mul], lane: 32, uops: 2, latency: 4, ports: 0b0001 },
    figure(&[Mul, MulWide], ANY, 3, 0b0001),
    Figure { insts: &[ClmulEven, ClmulOdd], lane: ANY, uops: 2, latency: 5, ports: 0b0001 },
    // The processor has no GFNI; its successors do, with these figures.
    figure(&[Affine, AffineInverse], ANY, 3, 0b0110),
];
