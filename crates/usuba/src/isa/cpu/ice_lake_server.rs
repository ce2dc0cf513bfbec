//! Intel Ice Lake, server (Xeon of the third generation).
//!
//! As `ice-lake`, except that 512-bit products run on ports 0 and 5, that one 256-bit register is
//! stored in a cycle, and that the second-level cache is larger. Latencies and throughputs as
//! InstLatx64 (<https://github.com/InstLatx64/InstLatx64>) measured them on such a Xeon; ports from
//! Intel's *64 and IA-32 Architectures Optimization Reference Manual* (248966).

use super::super::ANY;
use super::super::Inst::*;
use super::ice_lake::{GENERAL_UNIT, UNIT256};
use super::identity::intel;
use super::{Cpu, Figure, Unit, figure};

const P0: u16 = 1;
const P5: u16 = 4;

pub static ICE_LAKE_SERVER: Cpu = Cpu {
    name: "ice-lake-server",
    aliases: &["ice-lake-x"],
    about: "Intel Ice Lake, server",
    units: &[
        GENERAL_UNIT,
        UNIT256,
        Unit { targets: &["avx512"], bytes: 7, figures: VECTOR512, ..UNIT256 },
    ],
    // 32 KB of first-level instruction cache; the micro-operation cache holds 2,304.
    body: (4_000, 30_000),
    caches: (48, 1_280),
    machines: &[intel(0x6a), intel(0x6c)],
};

const VECTOR512: &[Figure] = &[
    figure(&[And], ANY, 1, P0 | P5),
    // Through a mask register and back.
    Figure { insts: &[Negative, Equal], lane: ANY, uops: 2, latency: 6, ports: P0 | P5 },
    figure(&[Shl], ANY, 1, P0),
    figure(&[Bytes], ANY, 1, P5),
    figure(&[Quads], 64, 3, P5),
    figure(&[Blend], ANY, 1, P0 | P5),
    figure(&[Permute, Permute2], ANY, 3, P5),
    Figure { insts: &[Mul], lane: 32, uops: 2, latency: 11, ports: P0 | P5 },
    Figure { insts: &[Mul], lane: 64, uops: 3, latency: 16, ports: P0 | P5 },
    figure(&[Mul, MulWide], ANY, 5, P0 | P5),
    figure(&[MulAdd52, MulAddHigh52], ANY, 4, P0 | P5),
    figure(&[Affine, AffineInverse], ANY, 3, P0),
    Figure { insts: &[ClmulEven, ClmulOdd], lane: ANY, uops: 2, latency: 8, ports: P5 },
];
