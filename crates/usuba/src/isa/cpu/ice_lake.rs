//! Intel Ice Lake, client (also Tiger Lake and Rocket Lake).
//!
//! Latencies and throughputs as InstLatx64 (<https://github.com/InstLatx64/InstLatx64>) measured
//! them on one of each; ports from the instruction tables of <https://uops.info> and from Intel's
//! *64 and IA-32 Architectures Optimization Reference Manual* (248966). Ports 0 1 5 6 are bits 0 to
//! 3. 512-bit instructions use ports 0 and 5 only, and 512-bit products port 0, unlike
//! `ice-lake-server`. Byte shuffles of up to 256 bits run on ports 1 and 5, byte-wise alignment on 5.
//! Five instructions are renamed in a cycle. Tiger Lake has 1,280 KiB of second-level cache.

use super::super::ANY;
use super::super::Inst::*;
use super::identity::intel;
use super::{Cpu, Figure, Unit, VECTORS, X86_GENERAL, figure};

const P0: u16 = 1;
const P1: u16 = 2;
const P5: u16 = 4;
const P6: u16 = 8;

pub static ICE_LAKE: Cpu = Cpu {
    name: "ice-lake",
    aliases: &["tiger-lake", "rocket-lake"],
    about: "Intel Ice Lake, client: also Tiger Lake, Rocket Lake",
    units: &[
        GENERAL_UNIT,
        Unit { stores: 20, ..UNIT256 },
        Unit { targets: &["avx512"], bytes: 7, stores: 10, figures: VECTOR512, ..UNIT256 },
    ],
    // 32 KB of first-level instruction cache; the micro-operation cache holds 2,304.
    body: (4_000, 30_000),
    caches: (48, 512),
    machines: &[intel(0x7d), intel(0x7e), intel(0x8c), intel(0x8d), intel(0xa7)],
};

/// General-purpose registers of both kinds.
pub const GENERAL_UNIT: Unit =
    Unit { issue: 5, loads: 20, stores: 20, copies: 33, figures: GENERAL, ..X86_GENERAL };

/// 256-bit registers of both kinds; servers store half as many.
pub const UNIT256: Unit = Unit {
    targets: &["sse", "avx2"],
    issue: 5,
    loads: 20,
    stores: 10,
    broadcasts: 20,
    copies: 50,
    bytes: 5,
    figures: VECTOR256,
    ..VECTORS
};

const GENERAL: &[Figure] = &[
    figure(&[And], ANY, 1, P0 | P1 | P5 | P6),
    figure(&[Shl], ANY, 1, P0 | P6),
    figure(&[Mul], ANY, 3, P1),
    Figure { insts: &[Less], lane: ANY, uops: 2, latency: 2, ports: P0 | P1 | P5 | P6 },
    Figure { insts: &[MulHigh], lane: ANY, uops: 2, latency: 4, ports: P1 | P5 },
];

const VECTOR256: &[Figure] = &[
    figure(&[And], ANY, 1, P0 | P1 | P5),
    figure(&[Negative], 64, 3, P5),
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
    figure(&[ClmulEven, ClmulOdd], ANY, 6, P5),
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
    Figure { insts: &[Mul], lane: 32, uops: 2, latency: 10, ports: P0 },
    Figure { insts: &[Mul], lane: 64, uops: 3, latency: 15, ports: P0 },
    figure(&[Mul, MulWide], ANY, 5, P0),
    figure(&[MulAdd52, MulAddHigh52], ANY, 4, P0),
    figure(&[Affine, AffineInverse], ANY, 3, P0),
    Figure { insts: &[ClmulEven, ClmulOdd], lane: ANY, uops: 2, latency: 8, ports: P5 },
];
