//! Functions of three bits in an instruction sequence: two steps of logic become one.
//!
//! ```text
//! t = a & m; u = b & n; v = t | u     →     u = b & n; v = lut3 a, m, u
//! ```
//!
//! Sound because the step that disappears has no other reader, and the table has the result of both
//! steps for each of the eight inputs.
//! Requires the steps in order.

use smallvec::SmallVec;

use super::sequence::{Arg, Args, Imm, Selected, Step};
use super::{Inst, Target};

/// The operands of a table: bit i of each is its value for input i.
const COLUMNS: [u8; 3] = [0xf0, 0xcc, 0xaa];

impl Selected {
    /// The same sequence with fewer steps, if the target computes functions of three bits.
    pub fn fused(mut self, target: &Target) -> Selected {
        let mut readers = vec![0u32; self.steps.len()];
        let all = self.steps.iter().flat_map(|step| &step.args).chain([&self.result]);
        for arg in all {
            if let Arg::Step(at) = arg {
                readers[*at as usize] += 1;
            }
        }
        for at in 0..self.steps.len() {
            let step = &self.steps[at];
            let part = step.args.iter().find_map(|arg| match *arg {
                Arg::Step(from) if readers[from as usize] == 1 => {
                    together(step, &self.steps[from as usize], *arg, target)
                }
                _ => None,
            });
            if let Some(step) = part {
                self.steps[at] = step;
            }
        }
        Selected::pruned(&self.steps, self.result)
    }
}

/// The step that computes `last` from the operands of `first`, whose result is `between`; `None` if
/// there is no such step on the target.
fn together(last: &Step, first: &Step, between: Arg, target: &Target) -> Option<Step> {
    let row = target.row(Inst::Lut3, last.lane)?;
    let mut leaves = Args::new();
    for &arg in last.args.iter().filter(|&&arg| arg != between).chain(&first.args) {
        if !leaves.contains(&arg) {
            leaves.push(arg);
        }
    }
    if !(2..=3).contains(&leaves.len()) {
        return None;
    }
    let column = |arg: Arg| leaves.iter().position(|&leaf| leaf == arg).map(|at| COLUMNS[at]);
    let inner = table(first, &|arg| column(arg))?;
    let table = table(last, &|arg| if arg == between { Some(inner) } else { column(arg) })?;
    // An operand that the table does not depend on.
    leaves.resize(3, leaves[0]);
    Some(Step { row, lane: last.lane, imm: Imm::Int(u64::from(table)), args: leaves })
}

/// The result of a step of logic for each of the eight inputs; `None` for other steps.
fn table(step: &Step, column: &dyn Fn(Arg) -> Option<u8>) -> Option<u8> {
    let of: SmallVec<[u8; 3]> = step.args.iter().map(|&arg| column(arg)).collect::<Option<_>>()?;
    Some(match (step.row.inst, &of[..]) {
        (Inst::And, [a, b]) => a & b,
        (Inst::Or, [a, b]) => a | b,
        (Inst::Xor, [a, b]) => a ^ b,
        (Inst::Andn, [a, b]) => !a & b,
        (Inst::Not, [a]) => !a,
        (Inst::Lut3, [a, b, c]) => {
            let table = step.imm.int()?;
            let bit = |x: &u8, at: u8| u64::from(x >> at & 1);
            let of = |at| table >> (4 * bit(a, at) + 2 * bit(b, at) + bit(c, at)) & 1;
            (0..8).map(|at| (of(at) as u8) << at).sum()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Op;
    use crate::isa::{self, Layout, select::select};

    /// The result of a sequence for one operand of 32 bits.
    fn run(selected: &Selected, operand: u32) -> u32 {
        let mut results: Vec<u32> = Vec::new();
        let value = |arg: Arg, results: &[u32]| match arg {
            Arg::Operand(_) => operand,
            Arg::Step(at) => results[at as usize],
        };
        for step in &selected.steps {
            let of: Vec<u32> = step.args.iter().map(|&arg| value(arg, &results)).collect();
            let k = step.imm.int().unwrap_or(0) as u32;
            results.push(match step.row.inst {
                Inst::Splat => k,
                Inst::Shl => of[0] << k,
                Inst::Shr => of[0] >> k,
                Inst::Rotl => of[0].rotate_left(k),
                Inst::And => of[0] & of[1],
                Inst::Or => of[0] | of[1],
                Inst::Lut3 => (0..32).fold(0, |word, at| {
                    let bit = |x: u32| x >> at & 1;
                    word | (k >> (4 * bit(of[0]) + 2 * bit(of[1]) + bit(of[2])) & 1) << at
                }),
                other => panic!("{other:?} is no step of these sequences"),
            });
        }
        value(selected.result, &results)
    }

    #[test]
    fn fewer_steps_compute_the_same() {
        let target = isa::find("avx512").expect("it exists");
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u32
        };
        let (mut before, mut after) = (0, 0);
        for _ in 0..200 {
            let mut bits: Vec<u8> = (0..32).collect();
            (1..32).for_each(|at| bits.swap(at, next() as usize % (at + 1)));
            let op = Op::Shuffle(bits.as_slice().into());
            let plain = select(target, Layout::Lanes(32), &op, 32, false).expect("it exists");
            let fused = plain.clone().fused(target);
            (before, after) = (before + plain.count(), after + fused.count());
            for operand in [next(), next(), 0, u32::MAX] {
                assert_eq!(run(&fused, operand), run(&plain, operand), "{bits:?}");
            }
        }
        assert!(4 * after <= 3 * before, "{after} steps of {before}");
    }
}
