//! Intel Gracemont (Alder Lake-N, efficient cores of Alder Lake and Raptor Lake).
//!
//! Latencies and throughputs as InstLatx64 (<https://github.com/InstLatx64/InstLatx64>) measured
//! them on an efficient core of Alder Lake; widths from Intel's *64 and IA-32 Architectures
//! Optimization Reference Manual* (248966). Four integer ports are bits 0 to 3, three vector ports
//! of 128 bits are bits 0 to 2. An instruction of 256 bits is two operations. Byte shuffles and
//! products run on one port. A rotation by the form that C compilers write without BMI2 runs on one
//! port.

use super::super::ANY;
use super::super::Inst::*;
use super::identity::intel;
use super::{Cpu, Figure, Unit, VECTORS, X86_GENERAL, figure};

pub static GRACEMONT: Cpu = Cpu {
    name: "gracemont",
    aliases: &["alder-lake-n"],
    about: "Intel Gracemont: Alder Lake-N, efficient cores of Alder Lake",
    units: &[
        Unit { issue: 5, loads: 20, stores: 20, copies: 40, figures: GENERAL, ..X86_GENERAL },
        Unit {
            targets: &["sse"],
            issue: 5,
            loads: 20,
            stores: 20,
            copies: 30,
            bytes: 5,
            figures: VECTOR128,
            ..VECTORS
        },
        Unit {
            targets: &["avx2"],
            issue: 5,
            loads: 10,
            stores: 10,
            copies: 15,
            bytes: 5,
            figures: VECTOR256,
            ..VECTORS
        },
    ],
    // 64 KB of first-level instruction cache.
    body: (8_000, 60_000),
    // The second level serves four cores.
    caches: (32, 2_048),
    machines: &[intel(0xbe)],
};

const GENERAL: &[Figure] = &[
    figure(&[And, Shl], ANY, 1, 0b1111),
    figure(&[Rotl], ANY, 1, 0b0001),
    figure(&[Mul], ANY, 5, 0b0011),
    Figure { insts: &[Less], lane: ANY, uops: 2, latency: 2, ports: 0b1111 },
    Figure { insts: &[MulHigh], lane: ANY, uops: 2, latency: 6, ports: 0b0011 },
];

const VECTOR128: &[Figure] = &[
    figure(&[And, Shl, Quads, ZipLow, ZipHigh, Align, Blend], ANY, 1, 0b111),
    figure(&[Bytes], ANY, 1, 0b001),
    Figure { insts: &[Mul], lane: 32, uops: 2, latency: 4, ports: 0b001 },
    figure(&[Mul, MulWide], ANY, 3, 0b001),
    figure(&[Affine, AffineInverse], ANY, 3, 0b011),
];

const VECTOR256: &[Figure] = &[
    pair(&[Quads], 64, 6, 0b001),
    pair(&[And, Shl, Quads, ZipLow, ZipHigh, Align, Blend], ANY, 1, 0b111),
    pair(&[Bytes], ANY, 2, 0b001),
    pair(&[Permute, Permute2], ANY, 6, 0b001),
    Figure { insts: &[Mul], lane: 32, uops: 4, latency: 4, ports: 0b001 },
    pair(&[Mul, MulWide], ANY, 3, 0b001),
    pair(&[Affine, AffineInverse], ANY, 3, 0b011),
    // These compute one product of 64 bits in 128.
    figure(&[ClmulEven, ClmulOdd], ANY, 4, 0b001),
];

/// A figure of instructions that are two operations of 128 bits.
const fn pair(insts: &'static [super::super::Inst], lane: u8, latency: u8, ports: u16) -> Figure {
    Figure { insts, lane, uops: 2, latency, ports }
}
