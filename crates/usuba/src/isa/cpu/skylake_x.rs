//! Intel Skylake, server (also Cascade Lake and Cooper Lake).
//!
//! Instructions as on `skylake`, whose figures for 512 bits are the figures of this processor. The
//! second-level cache of a core has 1 MiB, and copies are counted as InstLatx64
//! (<https://github.com/InstLatx64/InstLatx64>) measured them.

use super::identity::intel;
use super::skylake::{GENERAL_UNIT, UNIT256, UNIT512};
use super::{Cpu, Unit};

pub static SKYLAKE_X: Cpu = Cpu {
    name: "skylake-x",
    aliases: &["cascade-lake"],
    about: "Intel Skylake, server: also Cascade Lake, Cooper Lake",
    units: &[
        Unit { copies: 31, ..GENERAL_UNIT },
        Unit { broadcasts: 20, copies: 40, ..UNIT256 },
        Unit { broadcasts: 20, copies: 32, ..UNIT512 },
    ],
    // 32 KB of first-level instruction cache; the micro-operation cache holds 1,536.
    body: (4_000, 30_000),
    caches: (32, 1_024),
    machines: &[intel(0x55)],
};
