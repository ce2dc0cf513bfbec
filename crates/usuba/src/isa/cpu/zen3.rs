//! AMD Zen 3 (EPYC 7003, Ryzen 5000).
//!
//! Latencies and throughputs as InstLatx64 (<https://github.com/InstLatx64/InstLatx64>) measured
//! them on a Ryzen 5000; pipes from AMD's *Software Optimization Guide for AMD EPYC 7003 Processors*
//! (56665). Vector pipes FP0 to FP3 are bits 0 to 3: logic, sums and comparisons run on all of them,
//! shifts and shuffles on FP1 and FP2, products on FP0 and FP3. Permutations across 128 bits are two
//! operations. Six operations are dispatched in a cycle.

use super::super::ANY;
use super::super::Inst::*;
use super::identity::amd;
use super::{Cpu, Figure, Unit, VECTORS, X86_GENERAL, figure};

pub static ZEN3: Cpu = Cpu {
    name: "zen3",
    aliases: &["znver3"],
    about: "AMD Zen 3: EPYC 7003, Ryzen 5000",
    units: &[
        Unit { issue: 6, loads: 30, stores: 20, copies: 50, figures: GENERAL, ..X86_GENERAL },
        Unit {
            targets: &["sse", "avx2"],
            issue: 6,
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
    machines: &[amd(0x19, 0x00, 0x0f), amd(0x19, 0x20, 0x5f)],
};

/// Four ALUs: two of them shift, one multiplies.
const GENERAL: &[Figure] = &[
    figure(&[And], ANY, 1, 0b1111),
    figure(&[Shl], ANY, 1, 0b0110),
    figure(&[Mul], ANY, 3, 0b0010),
    Figure { insts: &[Less], lane: ANY, uops: 2, latency: 2, ports: 0b1111 },
    Figure { insts: &[MulHigh], lane: ANY, uops: 2, latency: 4, ports: 0b1010 },
];

const VECTOR: &[Figure] = &[
    figure(&[And, Blend], ANY, 1, 0b1111),
    figure(&[Shl, Bytes], ANY, 1, 0b0110),
    Figure { insts: &[Quads], lane: 64, uops: 2, latency: 6, ports: 0b0110 },
    Figure { insts: &[Permute, Permute2], lane: ANY, uops: 2, latency: 8, ports: 0b0110 },
    figure(&[Mul], ANY, 3, 0b1001),
    Figure { insts: &[ClmulEven, ClmulOdd], lane: ANY, uops: 2, latency: 4, ports: 0b0001 },
    // The processor has no GFNI; its successors do, with these figures.
    figure(&[Affine, AffineInverse], ANY, 3, 0b0110),
];
