//! Processors, as data: how long instructions take and which ports run them.
//!
//! ```text
//! zen5, avx2:   logic and sums: latency 2, ports 0 1 2 3;   shifts: latency 2, ports 1 2
//! ```
//!
//! A CPU has one [`Unit`] for each register file that some target uses. A unit has one [`Figure`]
//! for logic (`And`), shifts (`Shl`) and products (`Mul`), and one for each group of instructions
//! that differs from these. Figures are about [`Inst`], not about mnemonics, and hold for the
//! machine code that C compilers generate for it. A new CPU is one file and one line in [`ALL`].
//!
//! Figures of `zen4` and `zen5` were measured on such machines; the figures of other CPUs follow
//! the documents that their files name. `usubac bench --calibrate` compares a model with the
//! machine that it runs on. Figures decide between schedules and interleave factors of the same
//! program and never change its function.
//!
//! - `generic`: asks for the parallelism that current machines need; the default.
//! - `zen2` to `zen5`, `skylake`, `skylake_x`, `ice_lake`, `ice_lake_server`, `golden_cove`,
//!   `gracemont`: x86-64.
//! - `cortex_a76`, `neoverse_v1`: AArch64.
//! - `rv32`: a small core that begins one instruction per cycle.
//! - `hopper`: a thread of a CUDA device.
//! - `identity`: the model of a processor, by the numbers that it names itself by.

mod cortex_a76;
mod generic;
mod golden_cove;
mod gracemont;
mod hopper;
mod ice_lake;
mod ice_lake_server;
mod identity;
mod neoverse_v1;
mod rv32;
mod skylake;
mod skylake_x;
mod zen2;
mod zen3;
mod zen4;
mod zen5;

pub use generic::GENERIC;
pub use golden_cove::GOLDEN_COVE;
pub use identity::{Models, Vendor, of_machine};

use super::sequence::{Arg, Selected};
use super::{ANY, Inst, Layout, Target, select};
use crate::ir::Op;

/// One processor, or a family that shares its execution units.
#[derive(PartialEq, Debug)]
pub struct Cpu {
    pub name: &'static str,
    /// Other spellings that the command line accepts.
    pub aliases: &'static [&'static str],
    /// Its description, in one line without a full stop.
    pub about: &'static str,
    pub units: &'static [Unit],
    /// Largest number of instructions of a straight body that is fetched at full speed, and its
    /// bytes.
    pub body: (u32, u32),
    /// Sizes of the first-level data cache and of the second level of one core, in KiB; 0 where
    /// the model has no figure. The smaller size where members of a family differ.
    pub caches: (u32, u32),
    /// The x86 processors that it models, for `--cpu native`.
    pub machines: &'static [Models],
}

/// The registers of one or more targets, and the ports that run their instructions.
#[derive(PartialEq, Debug)]
pub struct Unit {
    /// Names of the targets whose registers these are; targets that extend them have them too.
    /// Empty for vector registers that no other unit names.
    pub targets: &'static [&'static str],
    /// Registers that hold values; 0 for the number of the target.
    pub regs: u32,
    /// Instructions of these registers that begin in one cycle at most.
    pub issue: u32,
    /// Loads in ten cycles.
    pub loads: u32,
    /// Stores in ten cycles.
    pub stores: u32,
    /// Loads in ten cycles that put one 32-bit word into every lane; like the figures below 0 where
    /// the model has none.
    pub broadcasts: u32,
    /// Copies from register to register in ten cycles.
    pub copies: u32,
    /// Cycles of a store and of the load that reads it back.
    pub forward: u32,
    /// Functions of three bits in ten cycles, if recent instructions computed one, two or all three
    /// of the operands.
    pub ternary: [u32; 3],
    /// Bytes of an instruction, rounded up.
    pub bytes: u32,
    /// The largest total size of a loop, in equations, that is better straight code: of words, and of
    /// bits.
    pub straight: [u32; 2],
    pub figures: &'static [Figure],
    pub pays: Pays,
}

/// General-purpose registers of x86-64; a CPU adds its own numbers.
const X86_GENERAL: Unit = Unit {
    targets: &["gp64", "gp32"],
    regs: 13,
    pays: Pays { mslice: false, ..VECTORS.pays },
    ..VECTORS
};

/// General-purpose registers of AArch64.
const ARM_GENERAL: Unit = Unit { regs: 29, pays: VECTORS.pays, ..X86_GENERAL };

/// Vector registers that no other unit names.
const VECTORS: Unit = Unit {
    targets: &[],
    regs: 0,
    issue: 1,
    loads: 10,
    stores: 10,
    broadcasts: 0,
    copies: 0,
    forward: 0,
    ternary: [0; 3],
    bytes: 4,
    straight: [64; 2],
    figures: &[],
    pays: Pays { bitslice: true, mslice: true, pressure: true },
};

/// Which schedulers are on by default; `docs/decisions/schedulers.md` has the measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pays {
    pub bitslice: bool,
    pub mslice: bool,
    pub pressure: bool,
}

/// The cost of instructions.
#[derive(PartialEq, Debug)]
pub struct Figure {
    pub insts: &'static [Inst],
    /// Lane width in bits, or [`ANY`].
    pub lane: u8,
    /// Micro-operations of one instruction.
    pub uops: u8,
    /// Cycles from the last operand to the result.
    pub latency: u8,
    /// One bit for each port that runs it.
    pub ports: u16,
}

/// A figure of instructions that are one micro-operation.
pub const fn figure(insts: &'static [Inst], lane: u8, latency: u8, ports: u16) -> Figure {
    Figure { insts, lane, uops: 1, latency, ports }
}

/// Every CPU, the default first.
pub const ALL: &[&Cpu] = &[
    &generic::GENERIC,
    &zen5::ZEN5,
    &zen4::ZEN4,
    &zen3::ZEN3,
    &zen2::ZEN2,
    &golden_cove::GOLDEN_COVE,
    &ice_lake_server::ICE_LAKE_SERVER,
    &ice_lake::ICE_LAKE,
    &skylake_x::SKYLAKE_X,
    &skylake::SKYLAKE,
    &gracemont::GRACEMONT,
    &neoverse_v1::NEOVERSE_V1,
    &cortex_a76::CORTEX_A76,
    &rv32::RV32,
    &hopper::HOPPER,
];

/// The CPU with this name or alias.
pub fn find(name: &str) -> Option<&'static Cpu> {
    ALL.iter().copied().find(|cpu| cpu.name == name || cpu.aliases.contains(&name))
}

/// The cost of an operator on a machine: instructions, latency and ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Price {
    pub instructions: u8,
    pub latency: u8,
    pub ports: u16,
}

impl Cpu {
    /// The unit behind the registers of a target.
    pub fn unit(&self, target: &Target) -> Option<&'static Unit> {
        let named = self.units.iter().find(|unit| unit.targets.contains(&target.family()));
        named.or_else(|| self.units.iter().find(|unit| unit.targets.is_empty() && target.simd))
    }
}

impl Unit {
    /// The figure of an instruction on lanes of `lane` bits, or of a similar one.
    pub fn figure(&self, inst: Inst, lane: u8) -> Option<&'static Figure> {
        let fits = |f: &&Figure| f.insts.contains(&inst) && (f.lane == ANY || f.lane == lane);
        let listed = self.figures.iter().find(fits);
        listed.or_else(|| similar(inst).and_then(|other| self.figure(other, lane)))
    }

    /// The price of an operator with a result of `bits` bits; `None` if the target lacks it.
    ///
    /// Literals cost nothing: they are loaded once, outside of loops. The rotation of a whole
    /// general-purpose register has the figure of [`Inst::Rotl`], since C compilers know the
    /// expression.
    pub fn price(&self, target: &Target, layout: Layout, op: &Op, bits: u8) -> Option<Price> {
        if target.rotates(layout, bits)
            && matches!(op, Op::Rotl(_))
            && let Some(f) = self.figure(Inst::Rotl, bits)
        {
            return Some(Price { instructions: f.uops, latency: f.latency, ports: f.ports });
        }
        Some(self.sum(&select(target, layout, op, bits, false).ok()?))
    }

    fn sum(&self, selected: &Selected) -> Price {
        let mut total = Price { instructions: 0, latency: 0, ports: 0 };
        let mut ready: Vec<u8> = Vec::with_capacity(selected.steps.len());
        for step in &selected.steps {
            let free =
                matches!(step.row.inst, Inst::Splat | Inst::Splat128 | Inst::Literal | Inst::Widen);
            let known = if free { None } else { self.figure(step.row.inst, step.lane) };
            let at = |arg: &Arg| match arg {
                Arg::Step(at) => ready[*at as usize],
                Arg::Operand(_) => 0,
            };
            let start = step.args.iter().map(at).max().unwrap_or(0);
            ready.push(start.saturating_add(known.map_or(0, |f| f.latency)));
            if let Some(f) = known {
                total.instructions = total.instructions.saturating_add(f.uops);
                total.ports |= f.ports;
            }
        }
        if let Arg::Step(at) = selected.result {
            total.latency = ready[at as usize];
        }
        total
    }
}

/// The instruction whose figure stands for one that a unit does not list.
fn similar(inst: Inst) -> Option<Inst> {
    use Inst::*;
    match inst {
        And | Splat | Splat128 | Literal | Widen => None,
        Or | Xor | Andn | Not | Lut3 | Negative | Equal | Add | Sub | Less | Bytes | Shl | Mul => {
            Some(And)
        }
        Shr | Sar | Rotl | ShlEach | ShrEach | RotlEach => Some(Shl),
        Quads | ZipLow | ZipHigh | Halves | Align | Blend | Permute | Permute2 => Some(Bytes),
        MulHigh | MulWide | MulAdd52 | MulAddHigh52 | Affine | AffineInverse => Some(Mul),
        ClmulEven => Some(Mul),
        ClmulOdd | ClmulEvenOdd | ClmulOddEven => Some(ClmulEven),
        AesRound | AesLastRound | AesInverseRound | AesInverseLastRound | AesInverseMixColumns => {
            Some(Mul)
        }
        Sha256Rounds2 | Sha256Message1 | Sha256Message2 => Some(Mul),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;

    #[test]
    fn names_are_unique_and_targets_exist() {
        let mut names: Vec<&str> = Vec::new();
        for cpu in ALL {
            names.push(cpu.name);
            names.extend(cpu.aliases);
            for unit in cpu.units {
                assert!(unit.targets.iter().all(|name| isa::find(name).is_some()));
                assert!(unit.issue > 0 && unit.loads > 0 && unit.stores > 0 && unit.bytes > 0);
            }
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(ALL[0].name, "generic");
    }

    #[test]
    fn the_generic_machine_knows_every_target() {
        for target in isa::all() {
            assert!(GENERIC.unit(target).is_some(), "{}", target.name);
        }
    }

    #[test]
    fn every_instruction_of_a_target_has_a_figure() {
        for cpu in ALL {
            for target in isa::all().chain(isa::NARROW.iter().copied()) {
                let Some(unit) = cpu.unit(target) else { continue };
                for row in target.all_rows() {
                    let free = [Inst::Splat, Inst::Splat128, Inst::Literal, Inst::Widen];
                    for lane in row.widths() {
                        let known =
                            free.contains(&row.inst) || unit.figure(row.inst, lane).is_some();
                        assert!(known, "{} on {}: {:?} {lane}", cpu.name, target.name, row.inst);
                    }
                }
            }
        }
    }

    #[test]
    fn prices_follow_the_selected_instructions() {
        let price = |cpu: &str, target: &str, layout, op: Op, bits| {
            let target = isa::find(target).expect("a target");
            let unit = find(cpu).and_then(|cpu| cpu.unit(target)).expect("a unit");
            let price = unit.price(target, layout, &op, bits).expect("it exists");
            (price.instructions, price.latency)
        };
        let lanes = Layout::Lanes(32);
        assert_eq!(price("zen5", "avx2", lanes, Op::Rotl(7), 32), (3, 4));
        assert_eq!(price("zen5", "avx2", lanes, Op::Rotl(16), 32), (1, 2));
        assert_eq!(price("zen5", "avx512", lanes, Op::Rotl(7), 32), (1, 2));
        assert_eq!(price("skylake", "avx2", lanes, Op::Rotl(7), 32), (3, 2));
        assert_eq!(price("skylake", "gp64", Layout::Words, Op::Rotl(7), 32), (1, 1));
        assert_eq!(price("zen5", "avx2", lanes, Op::Const(7), 32), (0, 0));
        assert_eq!(price("zen5", "gp64", Layout::Words, Op::Andn, 32), (1, 1));
        // A rotation instruction has twice the latency of a shift on Zen 4.
        assert_eq!(price("zen4", "avx2", lanes, Op::Rotl(7), 32), (3, 2));
        assert_eq!(price("zen4", "avx512", lanes, Op::Rotl(7), 32), (1, 2));
        assert_eq!(price("ice-lake", "avx512", lanes, Op::Rotl(7), 32), (1, 1));
        assert_eq!(price("gracemont", "sse", lanes, Op::Rotl(7), 32), (3, 2));
        assert_eq!(price("gracemont", "avx2", lanes, Op::Rotl(7), 32), (6, 2));
    }
}
