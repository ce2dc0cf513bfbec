//! AMD Zen 5 (EPYC 9005, Ryzen 9000).
//!
//! Measured with dependent chains (latency) and independent streams (throughput) of each
//! instruction on an EPYC of this family, the same for 128, 256 and 512 bits: simple vector
//! integer instructions have latency 2 and run four in a cycle; shifts, rotations and byte shuffles
//! run two in a cycle. The pipes of two-a-cycle instructions follow AMD's *Software Optimization
//! Guide for the Zen 5 Microarchitecture* (58455): shifts and byte shuffles on pipes 1 and 2,
//! multiplications on 0 and 3. Straight code becomes slow beyond about 5,000 instructions or
//! 35 KB.

use super::super::ANY;
use super::super::Inst::*;
use super::identity::amd;
use super::{Cpu, Figure, Unit, VECTORS, X86_GENERAL, figure};

pub static ZEN5: Cpu = Cpu {
    name: "zen5",
    aliases: &["znver5"],
    about: "AMD Zen 5: EPYC 9005, Ryzen 9000",
    units: &[
        // Six ALUs, 5.2 instructions a cycle measured; loads 3.1, stores 1.6.
        Unit { issue: 5, loads: 31, stores: 16, figures: GENERAL, ..X86_GENERAL },
        // Loads 1.66, stores 0.9.
        Unit {
            targets: &["sse", "avx2"],
            issue: 4,
            loads: 16,
            stores: 9,
            bytes: 5,
            figures: VECTOR,
            ..VECTORS
        },
        // Loads 1.6, stores 0.79.
        Unit {
            targets: &["avx512"],
            issue: 4,
            loads: 16,
            stores: 8,
            bytes: 7,
            figures: VECTOR,
            ..VECTORS
        },
    ],
    body: (4_000, 30_000),
    caches: (48, 1_024),
    // Strix Point and Krackan Point (0x20 to 0x2f, 0x60 to 0x6f) have 256-bit pipes.
    machines: &[amd(0x1a, 0x00, 0x1f), amd(0x1a, 0x40, 0x4f), amd(0x1a, 0x70, 0x77)],
};

/// Four vector pipes.
const VECTOR: &[Figure] = &[
    figure(&[And], ANY, 2, 0b1111),
    figure(&[Shl, Bytes], ANY, 2, 0b0110),
    figure(&[Quads, Blend], 32, 2, 0b1111),
    // These cross groups of 128 bits.
    figure(&[Quads], 64, 4, 0b0110),
    figure(&[Permute, Permute2], ANY, 5, 0b0110),
    figure(&[Mul], ANY, 3, 0b1001),
    // Not measured: as products.
    // Not measured either; the latency comes from the guide.
    figure(&[MulAdd52, MulAddHigh52], ANY, 4, 0b1001),
];

/// Six ALUs; three of them shift and multiply, of which 2.3 and 2.7 a cycle were measured.
const GENERAL: &[Figure] = &[
    figure(&[And], ANY, 1, 0b11_1111),
    figure(&[Shl], ANY, 1, 0b00_0111),
    figure(&[Mul], ANY, 3, 0b00_0111),
    Figure { insts: &[Less], lane: ANY, uops: 2, latency: 2, ports: 0b11_1111 },
    Figure { insts: &[MulHigh], lane: ANY, uops: 2, latency: 4, ports: 0b00_0111 },
];
