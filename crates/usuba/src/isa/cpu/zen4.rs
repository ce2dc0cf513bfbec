//! AMD Zen 4 (EPYC 9004, Ryzen 7000).
//!
//! Latencies, throughputs, issue, loads, stores, copies, ternary logic and caches: measured on an
//! EPYC of this family by `usubac bench --calibrate`; `docs/book/src/reference/calibration.md` has
//! the table. Pipes and instruction caches: AMD's *Software Optimization Guide for the AMD Zen 4
//! Microarchitecture* (57647). Vector pipes FP0 to FP3 are bits 0 to 3 for 128 and 256 bits. An
//! instruction of 512 bits takes a pipe for two cycles: bit 0 stands for FP0 and FP3, bit 1 for FP1
//! and FP2, and each begins one instruction in a cycle. So logic begins twice in a cycle, shifts
//! and shuffles once. A function of three bits begins less often the more of its operands recent
//! instructions computed; the guide does not say why.

use super::super::ANY;
use super::super::Inst::*;
use super::identity::amd;
use super::{Cpu, Figure, Unit, VECTORS, X86_GENERAL, figure};

pub static ZEN4: Cpu = Cpu {
    name: "zen4",
    aliases: &["znver4"],
    about: "AMD Zen 4: EPYC 9004, Ryzen 7000",
    units: &[
        // A store that is read back through the same address register takes no time in memory.
        Unit {
            issue: 6,
            loads: 30,
            stores: 20,
            copies: 59,
            forward: 1,
            figures: GENERAL,
            ..X86_GENERAL
        },
        Unit {
            targets: &["sse", "avx2"],
            issue: 6,
            loads: 20,
            stores: 10,
            broadcasts: 20,
            copies: 59,
            forward: 10,
            bytes: 5,
            figures: VECTOR256,
            ..VECTORS
        },
        Unit {
            targets: &["avx512"],
            issue: 6,
            loads: 10,
            stores: 5,
            broadcasts: 20,
            copies: 58,
            forward: 12,
            ternary: [17, 13, 10],
            bytes: 7,
            figures: VECTOR512,
            ..VECTORS
        },
    ],
    // 32 KB of first-level instruction cache; the micro-operation cache holds 6,750.
    body: (4_000, 30_000),
    caches: (32, 1_024),
    machines: &[amd(0x19, 0x10, 0x1f), amd(0x19, 0x60, 0x7f), amd(0x19, 0xa0, 0xaf)],
};

/// Four ALUs: two of them shift, one multiplies.
const GENERAL: &[Figure] = &[
    figure(&[And], ANY, 1, 0b1111),
    figure(&[Shl], ANY, 1, 0b0110),
    figure(&[Mul], ANY, 3, 0b0010),
    Figure { insts: &[Less], lane: ANY, uops: 2, latency: 2, ports: 0b1111 },
    Figure { insts: &[MulHigh], lane: ANY, uops: 2, latency: 4, ports: 0b1010 },
];

const VECTOR256: &[Figure] = &[
    figure(&[And, Blend], ANY, 1, 0b1111),
    figure(&[Shl], ANY, 1, 0b0110),
    figure(&[Rotl, Bytes, Align], ANY, 2, 0b0110),
    figure(&[Quads, ZipLow, ZipHigh], 32, 1, 0b0111),
    // These cross groups of 128 bits.
    figure(&[Quads, Permute, Permute2], ANY, 4, 0b0110),
    figure(&[ZipLow, ZipHigh], ANY, 1, 0b0111),
    figure(&[Mul], ANY, 3, 0b1001),
    figure(&[Affine, AffineInverse], ANY, 3, 0b0110),
    Figure { insts: &[ClmulEven, ClmulOdd], lane: ANY, uops: 2, latency: 4, ports: 0b0001 },
];

const VECTOR512: &[Figure] = &[
    figure(&[And, Blend], ANY, 1, 0b11),
    // Through a mask register and back: 0.64 in a cycle.
    Figure { insts: &[Negative], lane: ANY, uops: 2, latency: 5, ports: 0b10 },
    Figure { insts: &[Equal], lane: ANY, uops: 2, latency: 6, ports: 0b10 },
    figure(&[Shl], ANY, 1, 0b10),
    figure(&[Rotl, RotlEach, Bytes, Align], ANY, 2, 0b10),
    // Three of the four pipes: 1.5 in a cycle.
    figure(&[Quads, ZipLow, ZipHigh], 32, 1, 0b11),
    figure(&[Quads], ANY, 4, 0b10),
    figure(&[ZipLow, ZipHigh], ANY, 1, 0b11),
    figure(&[Permute, Permute2], ANY, 5, 0b10),
    figure(&[Mul], ANY, 3, 0b01),
    figure(&[MulAdd52, MulAddHigh52], ANY, 4, 0b01),
    figure(&[Affine, AffineInverse], ANY, 3, 0b10),
    Figure { insts: &[ClmulEven, ClmulOdd], lane: ANY, uops: 2, latency: 4, ports: 0b01 },
];
