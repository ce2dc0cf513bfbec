//! A thread of a CUDA device of NVIDIA's Hopper family (H100, H200).
//!
//! From NVIDIA's *CUDA C++ Programming Guide*, table "Throughput of Native Arithmetic Instructions":
//! a multiprocessor of compute capability 9.0 computes 64 results of 32-bit logic, sums, shifts,
//! byte permutations and products in a cycle. Logic on 64 bits is two instructions. A quarter of a
//! multiprocessor has 16,384 registers: two warps with 255 registers in each thread. It begins an
//! instruction of a warp in two cycles, so that a warp of two has a turn in every four, about as
//! long as a result takes: one turn is the unit here, and there is nothing to gain by instructions
//! of one thread that run side by side. Memory of a thread (spills, arrays) takes 32 words in a
//! cycle of a multiprocessor, half as many as logic. `scripts/gpu` on an H200 decided which loops are straight code.

use super::super::ANY;
use super::super::Inst::*;
use super::{Cpu, Figure, Pays, Unit, VECTORS, figure};

pub static HOPPER: Cpu = Cpu {
    name: "hopper",
    aliases: &["sm_90", "h100"],
    about: "a thread of NVIDIA Hopper: H100, H200",
    units: &[THREAD],
    // 128 KiB of instruction cache; an instruction has 16 bytes.
    body: (8_000, 128_000),
    caches: (0, 0),
    machines: &[],
};

/// The unit of target `cuda`.
pub const THREAD: Unit = Unit {
    targets: &["cuda"],
    regs: 240,
    issue: 1,
    loads: 5,
    stores: 5,
    bytes: 16,
    // Threads of a block go through 128 KB of straight code at one speed only if they stay together.
    // Words of a round lie in registers; an array of bits that a loop counts through lies in memory,
    // because registers have no index.
    straight: [2_000, 8_000],
    figures: FIGURES,
    pays: Pays { bitslice: true, mslice: false, pressure: true },
    ..VECTORS
};

const FIGURES: &[Figure] = &[
    Figure { insts: &[And, Shl], lane: 64, uops: 2, latency: 2, ports: 0b1 },
    Figure { insts: &[Mul], lane: 64, uops: 3, latency: 3, ports: 0b1 },
    figure(&[And, Shl, Mul], ANY, 1, 0b1),
];
