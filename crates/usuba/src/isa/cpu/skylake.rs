//! Intel Skylake, client (also Kaby Lake, Coffee Lake and Comet Lake).
//!
//! Latencies and ports from the instruction tables of <https://uops.info> for Skylake and
//! Skylake-X and from Intel's *64 and IA-32 Architectures Optimization Reference Manual*
//! (248966). Ports 0 1 5 6 are bits 0 to 3. 512-bit instructions use ports 0 and 5 only. Four
//! instructions are renamed in a cycle.

use super::super::ANY;
use super::super::Inst::*;
use super::identity::intel;
use super::{Cpu, Figure, Unit, VECTORS, X86_GENERAL, figure};

const P0: u16 = 1;
const P1: u16 = 2;
const P5: u16 = 4;
const P6: u16 = 8;

pub static SKYLAKE: Cpu = Cpu {
    name: "skylake",
    aliases: &["kaby-lake", "coffee-lake"],
    about: "Intel Skylake, client: also Kaby Lake, Coffee Lake",
    units: &[GENERAL_UNIT, UNIT256, UNIT512],
    // 32 KB of first-level instruction cache; the micro-operation cache holds 1,536.
    body: (4_000, 30_000),
    caches: (32, 256),
    machines: &[intel(0x4e), intel(0x5e), intel(0x8e), intel(0x9e), intel(0xa5), intel(0xa6)],
};

/// General-purpose registers.
pub const GENERAL_UNIT: Unit =
    Unit { issue: 4, loads: 20, stores: 10, figures: GENERAL, ..X86_GENERAL };

/// 256-bit registers.
pub const UNIT256: Unit = Unit {
    targets: &["sse", "avx2"],
    issue: 4,
    loads: 20,
    stores: 10,
    bytes: 5,
    figures: VECTOR256,
    ..VECTORS
};

/// 512-bit registers, which `skylake-x` has.
pub const UNIT512: Unit = Unit {
    targets: &["avx512"],
    issue: 4,
    loads: 20,
    stores: 10,
    bytes: 7,
    figures: VECTOR512,
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
    figure(&[Bytes], ANY, 1, P5),
    figure(&[Quads], 64, 3, P5),
    figure(&[Blend], ANY, 1, P0 | P1 | P5),
    figure(&[Permute, Permute2], ANY, 3, P5),
    Figure { insts: &[Mul], lane: 32, uops: 2, latency: 10, ports: P0 | P1 },
    figure(&[Mul, MulWide], ANY, 5, P0 | P1),
    // Skylake has no GFNI; its successors do, with these figures.
    figure(&[Affine, AffineInverse], ANY, 3, P0 | P1),
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
    Figure { insts: &[Mul], lane: 32, uops: 2, latency: 10, ports: P0 | P5 },
    Figure { insts: &[Mul], lane: 64, uops: 3, latency: 15, ports: P0 | P5 },
    figure(&[Mul, MulWide], ANY, 5, P0 | P5),
    figure(&[Affine, AffineInverse], ANY, 3, P0),
    // Skylake has none of them; as on the servers after it.
    figure(&[MulAdd52, MulAddHigh52], ANY, 4, P0 | P5),
];
