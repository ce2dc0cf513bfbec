//! Arm Neoverse V1 (Cortex-X1 is alike).
//!
//! From the *Arm Neoverse V1 Software Optimization Guide* (PJDOC-466751330-9685): four vector
//! pipes V0 to V3, bits 0 to 3, with latency 2 for simple instructions; shifts on V1 and V3,
//! products on V0 and V2. Four integer pipes S0 S1 M0 M1, bits 0 to 3.

use super::super::ANY;
use super::super::Inst::*;
use super::{ARM_GENERAL, Cpu, Figure, Unit, VECTORS, figure};

pub static NEOVERSE_V1: Cpu = Cpu {
    name: "neoverse-v1",
    aliases: &["cortex-x1"],
    about: "Arm Neoverse V1, Cortex-X1",
    units: &[
        Unit { issue: 4, loads: 30, stores: 20, figures: GENERAL, ..ARM_GENERAL },
        Unit { targets: &["neon"], issue: 4, loads: 30, stores: 20, figures: VECTOR, ..VECTORS },
    ],
    // 64 KB of first-level instruction cache.
    body: (8_000, 60_000),
    caches: (64, 1_024),
    machines: &[],
};

const GENERAL: &[Figure] = &[
    figure(&[And, Shl], ANY, 1, 0b1111),
    figure(&[Mul], ANY, 2, 0b1100),
    Figure { insts: &[Less], lane: ANY, uops: 2, latency: 2, ports: 0b1111 },
    figure(&[MulHigh], ANY, 3, 0b0100),
];

const VECTOR: &[Figure] = &[
    figure(&[And], ANY, 2, 0b1111),
    figure(&[Shl], ANY, 2, 0b1010),
    figure(&[Mul], ANY, 4, 0b0101),
];
