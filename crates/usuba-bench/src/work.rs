//! Work of a kernel and its throughput bound: the least cycles in which a machine can issue it.
//!
//! ```text
//! 16 xor, 4 rotations, 8 loads, 8 stores      limit = max(20 / 4 computing, 4 / 2 rotations,
//! 4 logic, 2 rotations, 2 loads,                          8 / 2 loads, 8 / 1 stores, 28 / 6 issue)
//! 1 store per cycle, 6 in all                       = 8 cycles, because of the stores
//! ```
//!
//! The bound models the issue and execution throughput only: no latencies, no spills, no
//! instruction-cache misses. Work is counted on the final IR, with the instructions of the target's
//! table. A C compiler that fuses two of them can therefore stay below the bound.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use usuba::ir::Program;
use usuba::isa::{Inst, Target};
use usuba_asm::workload::Workload;

/// Classes of instructions with equal throughput.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Bitwise, of one or two operands.
    Logic,
    /// Any function of three bits.
    Ternary,
    /// Additions, subtractions, comparisons.
    Add,
    Shift,
    Rotate,
    /// Bytes inside a register.
    Shuffle,
    Multiply,
    /// Affine maps of bytes.
    Affine,
    /// Rounds of AES and of SHA-256.
    Round,
}

impl Class {
    /// All, in the order in which reports show them.
    pub const ALL: [Class; 9] = [
        Class::Logic,
        Class::Ternary,
        Class::Add,
        Class::Shift,
        Class::Rotate,
        Class::Shuffle,
        Class::Multiply,
        Class::Affine,
        Class::Round,
    ];

    /// The class of an instruction; `None` for constants, which are loaded outside of loops, and
    /// for conversions, which cost nothing.
    pub fn of(inst: Inst) -> Option<Class> {
        match inst {
            Inst::And | Inst::Or | Inst::Xor | Inst::Andn | Inst::Not => Some(Class::Logic),
            Inst::Lut3 => Some(Class::Ternary),
            Inst::Add | Inst::Sub | Inst::Less | Inst::Negative | Inst::Equal => Some(Class::Add),
            Inst::Shl | Inst::Shr | Inst::Sar | Inst::ShlEach | Inst::ShrEach => Some(Class::Shift),
            Inst::Rotl | Inst::RotlEach => Some(Class::Rotate),
            Inst::Bytes | Inst::Quads | Inst::Permute | Inst::Permute2 => Some(Class::Shuffle),
            Inst::ZipLow | Inst::ZipHigh | Inst::Halves => Some(Class::Shuffle),
            Inst::Align | Inst::Blend => Some(Class::Shuffle),
            Inst::Mul | Inst::MulHigh | Inst::MulWide => Some(Class::Multiply),
            Inst::MulAdd52 | Inst::MulAddHigh52 => Some(Class::Multiply),
            Inst::ClmulEven | Inst::ClmulOdd => Some(Class::Multiply),
            Inst::ClmulEvenOdd | Inst::ClmulOddEven => Some(Class::Multiply),
            Inst::Affine | Inst::AffineInverse => Some(Class::Affine),
            Inst::AesRound | Inst::AesLastRound | Inst::AesInverseRound => Some(Class::Round),
            Inst::AesInverseLastRound | Inst::AesInverseMixColumns => Some(Class::Round),
            Inst::Sha256Rounds2 | Inst::Sha256Message1 | Inst::Sha256Message2 => Some(Class::Round),
            Inst::Splat | Inst::Splat128 | Inst::Literal | Inst::Widen => None,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Logic => "logic",
            Class::Ternary => "ternary",
            Class::Add => "add",
            Class::Shift => "shift",
            Class::Rotate => "rotate",
            Class::Shuffle => "shuffle",
            Class::Multiply => "multiply",
            Class::Affine => "affine",
            Class::Round => "round",
        })
    }
}

/// The minimal work of one call of a kernel.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Work {
    /// Computing instructions, weighted by their executions.
    pub computing: BTreeMap<Class, u64>,
    /// Each register of a parameter once, and each element of a list that a loop reads.
    pub loads: u64,
    /// Each register of a result once.
    pub stores: u64,
    /// Instances of one call.
    pub instances: u32,
}

impl Work {
    /// Counts the work of the entry of `program` on `target`.
    pub fn of(program: &Program, target: &Target) -> Work {
        let Workload { computing: counts, loads, stores, instances } =
            Workload::of(program, target);
        let mut computing = BTreeMap::new();
        for ((inst, _), number) in counts {
            if let Some(class) = Class::of(inst) {
                *computing.entry(class).or_insert(0) += number;
            }
        }
        Work { computing, loads, stores, instances }
    }

    /// The total number of computing instructions.
    pub fn instructions(&self) -> u64 {
        self.computing.values().sum()
    }
}

/// Two classes of instructions that share a resource.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shared {
    pub classes: [Class; 2],
    /// Their joint throughput, alternating.
    pub per_cycle: f64,
}

/// The throughputs of a machine, with all operands in registers or the first cache.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Throughput {
    /// Instructions per cycle of each class. Classes that the target lacks are absent.
    pub per_cycle: BTreeMap<Class, f64>,
    /// Pairs of classes that share a resource.
    pub shared: Vec<Shared>,
    /// The highest measured rate of computing instructions, mixed or not.
    pub computing: f64,
    pub loads: f64,
    pub stores: f64,
    /// The highest measured rate of any instructions, including `nop`s.
    pub issue: f64,
}

/// The throughput bound, and its bottleneck resource.
#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    pub cycles: f64,
    /// The name of the resource, such as `logic` or `stores`.
    pub by: String,
}

impl Throughput {
    /// The throughput bound of `work`. `None` if `work` contains an unmeasured class.
    pub fn limit(&self, work: &Work) -> Option<Limit> {
        let of = |class: &Class| work.computing.get(class).copied().unwrap_or(0) as f64;
        let mut bounds = Vec::new();
        for (class, &number) in work.computing.iter().filter(|(_, number)| **number > 0) {
            bounds.push((number as f64 / self.per_cycle.get(class)?, class.to_string()));
        }
        for Shared { classes: [a, b], per_cycle } in &self.shared {
            if of(a) > 0.0 && of(b) > 0.0 {
                bounds.push(((of(a) + of(b)) / per_cycle, format!("{a} and {b}")));
            }
        }
        let computing = work.instructions() as f64;
        let (loads, stores) = (work.loads as f64, work.stores as f64);
        bounds.push((computing / self.computing, "computing".into()));
        bounds.push((loads / self.loads, "loads".into()));
        bounds.push((stores / self.stores, "stores".into()));
        // Loads can be operands of computing instructions, so they do not count here.
        bounds.push(((computing + stores) / self.issue, "issue".into()));
        let most = bounds.into_iter().filter(|(cycles, _)| cycles.is_finite());
        most.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(cycles, by)| Limit { cycles, by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use usuba::ir::build::Builder;
    use usuba::ir::{NodeId, Op, Port, Slicing};
    use usuba::isa;

    /// `s = x; 10 times: s = (s ^ x) <<< 5; y = s`, of 32-bit words.
    fn program() -> Program {
        let mut b = Builder::new("f", Slicing::V);
        let x = b.param(Port::new("x", 32, &[]))[0];
        b.begin_loop(10, false);
        let s = b.carry(x);
        let t = b.op(Op::Xor, &[s, x]);
        let u = b.op(Op::Rotl(5), &[t]);
        let done = b.end_loop(&[u], &[]);
        let f = b.finish(vec![(Port::new("y", 32, &[]), done.carried)]);
        Program::new(vec![f], NodeId(0), Slicing::V)
    }

    fn work(target: &str) -> Work {
        Work::of(&program(), isa::find(target).expect("it is in the list"))
    }

    #[test]
    fn work_is_counted_with_the_instructions_of_the_target() {
        use Class::*;
        assert_eq!(work("avx512").computing, [(Logic, 10), (Rotate, 10)].into());
        assert_eq!(work("avx2").computing, [(Logic, 20), (Shift, 20)].into());
        assert_eq!(work("gp64").computing, [(Logic, 10), (Rotate, 10)].into());
        let work = work("avx2");
        assert_eq!((work.loads, work.stores, work.instances), (1, 1, 8));
    }

    fn machine() -> Throughput {
        use Class::*;
        Throughput {
            per_cycle: [(Logic, 3.0), (Shift, 2.0), (Rotate, 2.0)].into(),
            shared: vec![Shared { classes: [Logic, Shift], per_cycle: 2.5 }],
            computing: 4.0,
            loads: 2.0,
            stores: 1.0,
            issue: 6.0,
        }
    }

    /// By hand: 20 logic / 3 = 6.67, 20 shifts / 2 = 10, both / 2.5 = 16, all / 4 = 10.
    #[test]
    fn the_limit_is_the_scarcest_resource() {
        let limit = machine().limit(&work("avx2")).expect("all was measured");
        assert_eq!(limit, Limit { cycles: 16.0, by: "logic and shift".into() });
        // 10 rotations / 2 = 5 = 20 / 4, and ten times as many stores become the bottleneck.
        let few = machine().limit(&work("avx512")).expect("all was measured");
        assert_eq!(few.cycles, 5.0);
        let stores = Work { stores: 10, ..work("avx512") };
        let limit = machine().limit(&stores).expect("all was measured");
        assert_eq!(limit, Limit { cycles: 10.0, by: "stores".into() });
    }

    #[test]
    fn there_is_no_limit_of_what_was_not_measured() {
        let machine = Throughput { per_cycle: [(Class::Logic, 3.0)].into(), ..machine() };
        assert_eq!(machine.limit(&work("avx2")), None);
    }
}
