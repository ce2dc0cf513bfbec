//! No machine in particular: a model for code that runs well on all current ones.
//!
//! For each family the parallelism of the machine that needs most of it, so that others have
//! enough: vectors of x86 and AArch64 as on `zen5` and `neoverse_v1` (latency 2, four ports),
//! general-purpose registers as on `golden_cove` (latency 1, five ports). Shifts and shuffles run
//! on different ports, as on Intel's, and both on two, as on AMD's. A thread of a CUDA device is as on
//! `hopper`.

use super::super::ANY;
use super::super::Inst::*;
use super::{Cpu, Figure, Unit, VECTORS, X86_GENERAL, figure, hopper};

pub static GENERIC: Cpu = Cpu {
    name: "generic",
    aliases: &[],
    about: "no CPU in particular: the parallelism that current ones need",
    units: &[
        Unit { issue: 5, loads: 30, stores: 15, figures: GENERAL, ..X86_GENERAL },
        Unit {
            targets: &["sse", "avx2"],
            issue: 4,
            loads: 20,
            stores: 10,
            bytes: 5,
            figures: VECTOR,
            ..VECTORS
        },
        Unit {
            targets: &["avx512"],
            issue: 4,
            loads: 16,
            stores: 8,
            bytes: 7,
            figures: VECTOR,
            ..VECTORS
        },
        hopper::THREAD,
        Unit { issue: 4, loads: 20, stores: 10, figures: VECTOR, ..VECTORS },
    ],
    body: (4_000, 30_000),
    caches: (32, 256),
    machines: &[],
};

const VECTOR: &[Figure] = &[
    figure(&[And], ANY, 2, 0b1111),
    figure(&[Shl], ANY, 2, 0b0011),
    figure(&[Bytes], ANY, 2, 0b1100),
    figure(&[Quads], 64, 4, 0b1100),
    figure(&[Permute, Permute2], ANY, 4, 0b1100),
    figure(&[Mul], ANY, 5, 0b0011),
    figure(&[Affine, AffineInverse], ANY, 3, 0b0011),
];

const GENERAL: &[Figure] = &[
    figure(&[And], ANY, 1, 0b1_1111),
    figure(&[Shl], ANY, 1, 0b0_0011),
    figure(&[Mul], ANY, 3, 0b0_0001),
    Figure { insts: &[Less], lane: ANY, uops: 2, latency: 2, ports: 0b1_1111 },
    Figure { insts: &[MulHigh], lane: ANY, uops: 2, latency: 4, ports: 0b0_0101 },
];
