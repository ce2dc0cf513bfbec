//! Arm Cortex-A76 (Neoverse N1 is alike).
//!
//! From the *Arm Cortex-A76 Software Optimization Guide* (PJDOC-466751330-7215): two vector
//! pipes V0 and V1, bits 0 and 1, with latency 2 for simple instructions; shifts on V1, products on
//! V0. Three integer pipes S0 S1 M, bits 0 to 2; a rotation is one instruction. Two loads and two
//! stores in a cycle; 31 general-purpose registers, one of which is the frame's.

use super::super::ANY;
use super::super::Inst::*;
use super::{ARM_GENERAL, Cpu, Figure, Unit, VECTORS, figure};

pub static CORTEX_A76: Cpu = Cpu {
    name: "cortex-a76",
    aliases: &["neoverse-n1"],
    about: "Arm Cortex-A76, Neoverse N1",
    units: &[
        Unit { issue: 3, loads: 20, stores: 20, figures: GENERAL, ..ARM_GENERAL },
        Unit { targets: &["neon"], issue: 2, loads: 20, stores: 20, figures: VECTOR, ..VECTORS },
    ],
    // 64 KB of first-level instruction cache.
    body: (8_000, 60_000),
    caches: (64, 256),
    machines: &[],
};

const GENERAL: &[Figure] = &[
    figure(&[And, Shl], ANY, 1, 0b111),
    figure(&[Mul], 64, 4, 0b100),
    figure(&[Mul], ANY, 2, 0b100),
    Figure { insts: &[Less], lane: ANY, uops: 2, latency: 2, ports: 0b111 },
    figure(&[MulHigh], ANY, 5, 0b100),
];

const VECTOR: &[Figure] = &[
    figure(&[And], ANY, 2, 0b11),
    figure(&[Shl], ANY, 2, 0b10),
    Figure { insts: &[Mul], lane: ANY, uops: 2, latency: 5, ports: 0b01 },
    figure(&[MulWide], ANY, 4, 0b01),
];
