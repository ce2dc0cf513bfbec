//! Instruction sequences: the steps that compute one operator, and the builder that appends them.
//!
//! The builder uses the row of an instruction that the target has, and expands any other by the
//! table of fallbacks. It makes equal steps once, and drops steps that the result does not need.

use smallvec::{SmallVec, smallvec};

use super::fallback::{self, Want};
use super::{ANY, Inst, Row, Target, word_lane};
use crate::ir::op::mask;

/// An operand of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arg {
    /// An operand of the operator.
    Operand(u8),
    /// The result of an earlier step.
    Step(u16),
}

/// Operands of one step.
pub type Args = SmallVec<[Arg; 3]>;

/// The immediate of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Imm {
    None,
    /// A shift amount, a truth table, or the constant of one lane.
    Int(u64),
    /// 16 bytes in memory order: a pattern of [`Inst::Bytes`] or a constant.
    Bytes([u8; 16]),
    /// Words of 64 bits and their number, the lowest first: amounts, lane numbers, or a constant.
    Register([u64; 8], u8),
}

impl Imm {
    /// The integer, if it is one.
    pub fn int(&self) -> Option<u64> {
        match self {
            Imm::Int(k) => Some(*k),
            _ => None,
        }
    }
}

/// One instruction on `lane` bits.
#[derive(Clone, Debug)]
pub struct Step {
    pub row: &'static Row,
    pub lane: u8,
    pub imm: Imm,
    pub args: Args,
}

/// A straight line of instructions that computes one operator.
#[derive(Clone, Debug)]
pub struct Selected {
    pub steps: Vec<Step>,
    /// The step that makes the result; an operand when the operator changes nothing.
    pub result: Arg,
}

impl Selected {
    /// The C macro of the extension that some step needs; empty for none.
    pub fn when(&self) -> &'static str {
        self.steps.iter().map(|s| s.row.when).find(|w| !w.is_empty()).unwrap_or("")
    }

    /// Whether operand `i` of the operator is read.
    pub fn uses(&self, i: u8) -> bool {
        let operand = Arg::Operand(i);
        self.result == operand || self.steps.iter().any(|s| s.args.contains(&operand))
    }

    /// Drops the steps that the result does not need.
    pub(super) fn pruned(steps: &[Step], result: Arg) -> Selected {
        let mut needed = vec![false; steps.len()];
        if let Arg::Step(at) = result {
            needed[at as usize] = true;
        }
        for at in (0..steps.len()).rev() {
            if needed[at] {
                for arg in &steps[at].args {
                    if let Arg::Step(from) = arg {
                        needed[*from as usize] = true;
                    }
                }
            }
        }
        let mut place = Vec::with_capacity(needed.len());
        let mut kept = 0;
        for &keep in &needed {
            place.push(kept);
            kept += keep as u16;
        }
        let moved = |arg: Arg| match arg {
            Arg::Step(at) => Arg::Step(place[at as usize]),
            operand => operand,
        };
        let left = steps.iter().zip(&needed).filter(|(_, keep)| **keep);
        let steps = left
            .map(|(s, _)| Step { args: s.args.iter().map(|&a| moved(a)).collect(), ..s.clone() })
            .collect();
        Selected { steps, result: moved(result) }
    }

    /// Instructions without constants and conversions.
    pub fn count(&self) -> usize {
        self.steps.iter().filter(|s| cost(s.row.inst) > 1).count()
    }
}

/// Appends steps; every step is a row of the target.
pub struct Maker<'t> {
    target: &'t Target,
    extended: bool,
    steps: Vec<Step>,
}

impl<'t> Maker<'t> {
    /// No steps yet. With `extended`, rows of extensions of the target are used where they exist.
    pub fn new(target: &'t Target, extended: bool) -> Maker<'t> {
        Maker { target, extended, steps: Vec::new() }
    }

    /// The target that is selected for.
    pub fn target(&self) -> &'t Target {
        self.target
    }

    /// The lane of instructions on a whole register: its width, or the widest lane on SIMD.
    pub fn whole(&self) -> u8 {
        self.target.bits.min(64) as u8
    }

    /// Whether the target has a row, without any fallback.
    pub fn has(&self, inst: Inst, lane: u8) -> bool {
        self.row(inst, lane).is_some()
    }

    fn row(&self, inst: Inst, lane: u8) -> Option<&'static Row> {
        let extension = if self.extended { self.target.row_when(inst, lane) } else { None };
        extension.or_else(|| self.target.row(inst, lane))
    }

    /// One instruction by its row, or the cheapest fallback; `None` if neither exists. Shifts by
    /// zero and repeated constants make nothing.
    pub fn make(&mut self, inst: Inst, lane: u8, imm: Imm, args: Args) -> Option<Arg> {
        if matches!(inst, Inst::Shl | Inst::Shr | Inst::Sar | Inst::Rotl) && imm == Imm::Int(0) {
            return Some(args[0]);
        }
        let Some(row) = self.row(inst, lane) else {
            return fallback::expand(self, inst, &Want { lane, imm, args });
        };
        let same =
            |s: &Step| s.row.inst == inst && s.lane == lane && s.imm == imm && s.args == args;
        if let Some(at) = self.steps.iter().position(same) {
            return Some(Arg::Step(at as u16));
        }
        self.steps.push(Step { row, lane, imm, args });
        Some(Arg::Step(self.steps.len() as u16 - 1))
    }

    /// An affine map of every byte, if the target has such instructions.
    pub fn matrix(&mut self, inst: Inst, a: Arg, matrix: u64, c: u8) -> Option<Arg> {
        self.has(inst, 8).then_some(())?;
        let matrix = self.make(Inst::Splat, 64, Imm::Int(matrix), Args::new())?;
        self.make(inst, 8, Imm::Int(c as u64), smallvec![a, matrix])
    }

    /// The low bits of `value` in every lane.
    pub fn splat(&mut self, lane: u8, value: u64) -> Option<Arg> {
        let mut value = value & mask(lane);
        let mut lane = lane;
        // Registers of zeros and of ones have one spelling.
        if self.target.simd && (value == 0 || value == mask(lane)) {
            value = if value == 0 { 0 } else { u64::MAX };
            lane = 64;
        }
        self.make(Inst::Splat, lane, Imm::Int(value), Args::new())
    }

    /// Clears the bits of each lane above the word.
    pub fn clip(&mut self, a: Arg, bits: u8, lane: u8) -> Option<Arg> {
        if bits == lane {
            return Some(a);
        }
        let kept = self.splat(lane, mask(bits))?;
        self.make(Inst::And, lane, Imm::None, smallvec![a, kept])
    }

    /// The operand, which has `bits` bits, as a word of a wider lane.
    pub fn widen(&mut self, a: Arg, lane: u8, bits: u8) -> Option<Arg> {
        if self.target.simd || word_lane(bits) == lane {
            return Some(a);
        }
        self.make(Inst::Widen, lane, Imm::None, smallvec![a])
    }

    /// Tries every way and keeps the steps of the cheapest.
    pub fn cheapest<W>(
        &mut self,
        ways: &[W],
        mut run: impl FnMut(&mut Maker<'t>, &W) -> Option<Arg>,
    ) -> Option<Arg> {
        let start = self.steps.len();
        let mut best: Option<(u32, Vec<Step>, Arg)> = None;
        for way in ways {
            let made = run(self, way);
            let tail = self.steps.split_off(start);
            let Some(result) = made else { continue };
            let total = tail.iter().map(|s| cost(s.row.inst)).sum();
            if best.as_ref().is_none_or(|(least, ..)| total < *least) {
                best = Some((total, tail, result));
            }
        }
        let (_, tail, result) = best?;
        self.steps.extend(tail);
        Some(result)
    }

    /// The steps that the result needs.
    pub fn finish(self, result: Arg) -> Selected {
        Selected::pruned(&self.steps, result)
    }
}

/// The cost of a step in the comparison of expansions.
fn cost(inst: Inst) -> u32 {
    match inst {
        Inst::Splat | Inst::Splat128 | Inst::Literal => 1,
        // These cross groups of 128 bits, which takes longer.
        Inst::Permute | Inst::Permute2 => 6,
        Inst::Widen => 0,
        Inst::Mul | Inst::MulHigh | Inst::MulWide => 12,
        Inst::MulAdd52 | Inst::MulAddHigh52 | Inst::ClmulEven | Inst::ClmulOdd => 12,
        _ => 4,
    }
}

/// The byte shuffle of every 128-bit group.
pub fn make_bytes(maker: &mut Maker, a: Arg, bytes: [u8; 16]) -> Option<Arg> {
    if bytes.iter().enumerate().all(|(i, &b)| i == b as usize) {
        return Some(a);
    }
    maker.has(Inst::Bytes, ANY).then_some(())?;
    maker.make(Inst::Bytes, ANY, Imm::Bytes(bytes), smallvec![a])
}
