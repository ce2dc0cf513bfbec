//! Intel Golden Cove (Sapphire Rapids, Alder Lake).
//!
//! Latencies and ports from the instruction tables of <https://uops.info> for Alder Lake-P and
//! from Intel's *64 and IA-32 Architectures Optimization Reference Manual* (248966). Ports 0 1 5
//! 6 10 are bits 0 to 4. 512-bit instructions use ports 0 and 5 only: shifts and rotations on 0,
//! shuffles on 5. Six instructions are renamed in a cycle. `usubac bench --calibrate` on a server of
//! model 207 confirmed or corrected each figure.

use super::super::ANY;
use super::super::Inst::*;
use super::identity::intel;
use super::{Cpu, Figure, Unit, VECTORS, X86_GENERAL, figure};

const P0: u16 = 1;
const P1: u16 = 2;
const P5: u16 = 4;
const P6: u16 = 8;
const P10: u16 = 16;

pub static GOLDEN_COVE: Cpu = Cpu {
    name: "golden-cove",
    aliases: &["sapphire-rapids", "alder-lake"],
    about: "Intel Golden Cove: Sapphire Rapids, Alder Lake",
    units: &[
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
            loads: 30,
            stores: 20,
            broadcasts: 30,
            copies: 59,
            forward: 7,
            ternary: [30; 3],
            bytes: 5,
            figures: VECTOR256,
            ..VECTORS
        },
        Unit {
            targets: &["avx512"],
            issue: 6,
            loads: 20,
            stores: 10,
            broadcasts: 30,
            copies: 62,
            forward: 7,
            ternary: [20; 3],
            bytes: 7,
            figures: VECTOR512,
            ..VECTORS
        },
    ],
    // 32 KB of first-level instruction cache; the micro-operation cache holds 4,096.
    body: (4_000, 30_000),
    // Clients have 1,280 KB in the second level.
    caches: (48, 2_048),
    // Hybrid processors count by their performance cores.
    machines: &[
        intel(0x8f),
        intel(0xcf),
        intel(0x97),
        intel(0x9a),
        intel(0xb7),
        intel(0xba),
        intel(0xbf),
    ],
};

const GENERAL: &[Figure] = &[
    figure(&[And], ANY, 1, P0 | P1 | P5 | P6 | P10),
    // Three begin in a cycle.
    figure(&[Andn], ANY, 1, P0 | P1 | P5),
    figure(&[Shl], ANY, 1, P0 | P6),
    figure(&[Mul], ANY, 3, P1),
    // Two begin in a cycle, because `setb` has two ports.
    Figure { insts: &[Less], lane: ANY, uops: 2, latency: 2, ports: P0 | P1 | P6 | P10 },
    Figure { insts: &[MulHigh], lane: ANY, uops: 2, latency: 4, ports: P1 | P5 },
];

const VECTOR256: &[Figure] = &[
    figure(&[And], ANY, 1, P0 | P1 | P5),
    figure(&[Negative, Equal], ANY, 1, P0 | P1),
    figure(&[Shl], ANY, 1, P0 | P1),
    figure(&[Bytes], ANY, 1, P1 | P5),
    figure(&[Align], ANY, 1, P5),
    figure(&[Quads], 64, 3, P5),
    figure(&[Blend], ANY, 1, P0 | P1 | P5),
    figure(&[Permute, Permute2], ANY, 3, P5),
    Figure { insts: &[Mul], lane: 32, uops: 2, latency: 10, ports: P0 | P1 },
    figure(&[Mul, MulWide], ANY, 5, P0 | P1),
    figure(&[Affine, AffineInverse], ANY, 3, P0 | P1),
    figure(&[ClmulEven, ClmulOdd], ANY, 3, P5),
];

const VECTOR512: &[Figure] = &[
    figure(&[And], ANY, 1, P0 | P5),
    // Through a mask register and back.
    Figure { insts: &[Negative, Equal], lane: ANY, uops: 2, latency: 6, ports: P0 | P5 },
    figure(&[Shl], ANY, 1, P0),
    figure(&[Bytes], ANY, 1, P5),
    figure(&[Quads], 64, 3, P5),
    figure(&[Blend], ANY, 1, P0 | P5),
    figure(&[Permute, Permute2], ANY, 3, P5),
    // Servers have a second multiplier, on port 5.
    Figure { insts: &[Mul], lane: 32, uops: 2, latency: 10, ports: P0 | P5 },
    Figure { insts: &[Mul], lane: 64, uops: 3, latency: 15, ports: P0 | P5 },
    figure(&[Mul], ANY, 6, P0 | P5),
    figure(&[MulWide], ANY, 5, P0 | P5),
    figure(&[MulAdd52, MulAddHigh52], ANY, 4, P0 | P5),
    figure(&[Affine, AffineInverse], ANY, 3, P0),
    figure(&[ClmulEven, ClmulOdd], ANY, 3, P5),
];
