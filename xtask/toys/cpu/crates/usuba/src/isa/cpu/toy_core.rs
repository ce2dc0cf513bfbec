//! A processor that begins one instruction per cycle.

use super::super::ANY;
use super::super::Inst::*;
use super::{Cpu, Figure, Pays, Unit, VECTORS, figure};

pub static TOY_CORE: Cpu = Cpu {
    name: "toy-core",
    aliases: &[],
    about: "one instruction per cycle",
    units: &[Unit {
        targets: &["gp64", "gp32"],
        regs: 13,
        figures: FIGURES,
        pays: Pays { bitslice: true, mslice: false, pressure: true },
        ..VECTORS
    }],
    body: (3_500, 14_000),
    caches: (0, 0),
    machines: &[],
};

const FIGURES: &[Figure] = &[figure(&[And, Shl], ANY, 1, 0b1), figure(&[Mul], ANY, 4, 0b1)];
