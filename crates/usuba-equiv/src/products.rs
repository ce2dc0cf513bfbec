//! Validation of patterns for products of long words, by polynomials over the integers.
//!
//! ```text
//! a = a0 + 2^32 a1          four products of halves, added up with their carries: the result r
//! a·b - 2^64 r              is (lowest mod 2^32) + 2^32 (middle mod 2^32) as a polynomial
//! so it lies in [0, 2^64)   and r is a·b div 2^64
//! ```
//!
//! The instructions run once on a group of lanes, a number whose words are any numbers below 2^m.
//! Each instruction works on lanes no wider than the group, so all groups of a register are alike.
//!
//! *Soundness:* additions that may overflow are reduced, so every step is an equation of integers;
//! the end is one identity of polynomials and, for the upper half, one interval.
//!
//! *Limits:* instructions without a rule here are rejected.

use num_bigint::{BigInt, BigUint};
use usuba::ir::Op;
use usuba::isa::sequence::{Arg, Imm, Selected, Step};
use usuba::isa::{Inst, Layout, word_lane};

use usuba_contracts::bounds::bounds;
use usuba_contracts::numbers::{Num, Numbers};

/// Whether these instructions compute `Op::Mul`, `Op::MulHigh` or a multiply-add on words of `bits`
/// bits, in every lane; false if no proof is found.
pub fn shown(layout: Layout, op: &Op, bits: u8, selected: &Selected) -> bool {
    shown_below(layout, op, bits, bits, selected)
}

/// The same for words that are below 2^below.
pub fn shown_below(layout: Layout, op: &Op, bits: u8, below: u8, selected: &Selected) -> bool {
    let lane = match layout {
        Layout::Words => word_lane(bits),
        Layout::Lanes(lane) | Layout::Vectors { lane, .. } => lane,
        Layout::Bits | Layout::Elements(_) => return false,
    };
    let widest = selected.steps.iter().map(|step| step.lane).max().unwrap_or(0).max(lane);
    if bits > lane || !widest.is_multiple_of(lane) {
        return false;
    }
    let mut group = Group { numbers: Numbers::default(), size: widest };
    let word = (BigUint::from(1u8) << bits) - 1u8;
    let largest = (BigUint::from(1u8) << below) - 1u8;
    let mut operand = || -> Vec<Num> {
        (0..widest / lane).map(|_| group.numbers.any(0u8, largest.clone())).collect()
    };
    let (x, y, sum) = (operand(), operand(), operand());
    if let Op::MulAdd(k) | Op::MulAddHigh(k) = op {
        let operands = [&sum, &x, &y].map(|words| group.joined(words, lane));
        let Some(result) = group.run(selected, &operands) else { return false };
        let results = group.lanes(result, lane);
        let high = matches!(op, Op::MulAddHigh(_));
        // Equal numbers are hash-consed.
        return sum.iter().zip(x.iter().zip(&y)).zip(results).all(|((&sum, (&x, &y)), result)| {
            group.with_sum(sum, x, y, (*k, high), bits) == result
        });
    }
    let operands = [group.joined(&x, lane), group.joined(&y, lane)];
    let Some(result) = group.run(selected, &operands) else { return false };
    let results = group.lanes(result, lane);
    let power = BigInt::from(1) << bits;
    // The quotient may belong to a product that was moved to the top of the lane.
    let spare = BigInt::from(1) << (lane - bits);
    x.iter().zip(&y).zip(results).all(|((&x, &y), result)| {
        let product = group.numbers.product(x, y);
        let (product, found) = (group.numbers.get(product), group.numbers.get(result));
        match op {
            Op::Mul => {
                let differ = product.poly.sub(&found.poly).modulo(&power);
                found.high <= word && differ.is_zero()
            }
            Op::MulHigh => {
                let rest = product.poly.plus(&found.poly, &-&power);
                let top = &power * &spare;
                let within = |(low, high): (BigInt, BigInt)| low >= BigInt::ZERO && high < top;
                bounds(&group.numbers, &rest.scaled(&spare)).is_some_and(within)
            }
            _ => false,
        }
    })
}

/// A group of lanes as one number of `size` bits, the first lane in the lowest bits.
struct Group {
    numbers: Numbers,
    size: u8,
}

impl Group {
    fn run(&mut self, selected: &Selected, operands: &[Num]) -> Option<Num> {
        let mut steps: Vec<Num> = Vec::new();
        let value = |steps: &[Num], arg: &Arg| match arg {
            Arg::Operand(i) => operands.get(*i as usize).copied(),
            Arg::Step(at) => steps.get(*at as usize).copied(),
        };
        for step in &selected.steps {
            let args: Option<Vec<Num>> = step.args.iter().map(|arg| value(&steps, arg)).collect();
            let made = self.step(step, &args?)?;
            steps.push(made);
        }
        value(&steps, &selected.result)
    }

    /// The result of an instruction on the group; `None` for instructions without a rule.
    fn step(&mut self, step: &Step, args: &[Num]) -> Option<Num> {
        match (step.row.inst, args) {
            (Inst::And, &[a, b]) => return Some(self.numbers.and(a, b)),
            (Inst::Or, &[a, b]) => return Some(self.numbers.or(a, b)),
            (Inst::Xor, &[a, b]) => return Some(self.numbers.xor(a, b)),
            _ => {}
        }
        let lane = step.lane;
        if lane == 0 || !self.size.is_multiple_of(lane) {
            return None;
        }
        let count = self.size / lane;
        let args: Vec<Vec<Num>> = args.iter().map(|&arg| self.lanes(arg, lane)).collect();
        let mut made = Vec::new();
        for at in 0..count as usize {
            let args: Vec<Num> = args.iter().map(|arg| arg[at]).collect();
            made.push(self.lane(step.row.inst, lane, step.imm, &args)?);
        }
        Some(self.joined(&made, lane))
    }

    /// An instruction on one lane.
    fn lane(&mut self, inst: Inst, lane: u8, imm: Imm, args: &[Num]) -> Option<Num> {
        let size = lane as u64;
        let numbers = &mut self.numbers;
        let amount = imm.int().filter(|&k| k < size);
        Some(match (inst, args) {
            (Inst::Splat, []) => {
                let word = numbers.constant(imm.int()?);
                numbers.split(word, size).1
            }
            (Inst::Add, &[a, b]) => {
                let sum = numbers.sum(a, b);
                numbers.split(sum, size).1
            }
            (Inst::Mul, &[a, b]) => {
                let product = numbers.product(a, b);
                numbers.split(product, size).1
            }
            (Inst::MulHigh, &[a, b]) => {
                let product = numbers.product(a, b);
                numbers.split(product, size).0
            }
            (Inst::MulWide, &[a, b]) => {
                let (a, b) = (numbers.split(a, size / 2).1, numbers.split(b, size / 2).1);
                numbers.product(a, b)
            }
            (Inst::MulAdd52, &[sum, a, b]) => self.with_sum(sum, a, b, (52, false), lane),
            (Inst::MulAddHigh52, &[sum, a, b]) => self.with_sum(sum, a, b, (52, true), lane),
            (Inst::Shr, &[a]) => numbers.split(a, amount?).0,
            (Inst::Shl, &[a]) => {
                let kept = numbers.split(a, size - amount?).1;
                numbers.scaled(kept, amount?)
            }
            _ => return None,
        })
    }

    /// A sum of `bits` bits with the k low bits, or the bits above them, of the product of the k
    /// low bits of two words.
    fn with_sum(&mut self, sum: Num, x: Num, y: Num, part: (u8, bool), bits: u8) -> Num {
        let (k, high) = (part.0 as u64, part.1);
        let numbers = &mut self.numbers;
        let (x, y) = (numbers.split(x, k).1, numbers.split(y, k).1);
        let product = numbers.product(x, y);
        let (above, below) = numbers.split(product, k);
        let sum = numbers.sum(sum, if high { above } else { below });
        numbers.split(sum, bits as u64).1
    }

    /// The words of a group in lanes of this width.
    fn lanes(&mut self, group: Num, lane: u8) -> Vec<Num> {
        let (mut rest, mut out) = (group, Vec::new());
        for _ in 0..self.size / lane {
            let (above, word) = self.numbers.split(rest, lane as u64);
            out.push(word);
            rest = above;
        }
        out
    }

    /// The group of these words.
    fn joined(&mut self, words: &[Num], lane: u8) -> Num {
        let mut group = self.numbers.constant(0u8);
        for (at, &word) in words.iter().enumerate() {
            let raised = self.numbers.scaled(word, at as u64 * lane as u64);
            group = self.numbers.sum(group, raised);
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use usuba::isa::select::{select, select_halves};
    use usuba::isa::{self, Target};

    use super::*;

    fn selected(target: &Target, lane: u8, op: &Op, bits: u8) -> Option<(Layout, Selected)> {
        let layout = if target.simd { Layout::Lanes(lane) } else { Layout::Words };
        Some((layout, select(target, layout, op, bits, false).ok()?))
    }

    #[test]
    fn products_of_words_of_every_size_and_target() {
        let mut proved = 0;
        for target in isa::all() {
            for (lane, bits) in [(16, 16), (32, 32), (32, 24), (64, 52), (64, 64)] {
                for op in [Op::Mul, Op::MulHigh] {
                    let Some((layout, selected)) = selected(target, lane, &op, bits) else {
                        continue;
                    };
                    let name = target.name;
                    assert!(shown(layout, &op, bits, &selected), "{name}: {op:?} on {bits}");
                    proved += 1;
                }
            }
        }
        assert!(proved > 50, "{proved} products");
    }

    #[test]
    fn products_with_a_sum_are_those_of_their_halves() {
        let ifma = isa::find("avx512_ifma").expect("a target");
        let (low, high) = (Op::MulAdd(52), Op::MulAddHigh(52));
        let selected = |op: &Op| selected(ifma, 64, op, 64).expect("instructions");
        for (op, other) in [(&low, &high), (&high, &low)] {
            let (layout, mut steps) = selected(op);
            assert!(shown(layout, op, 64, &steps) && !shown(layout, other, 64, &steps));
            assert!(!shown(layout, &Op::MulAdd(51), 64, &steps));
            // The sum and a factor change places.
            steps.steps[0].args.swap(0, 1);
            assert!(!shown(layout, op, 64, &steps));
        }
    }

    #[test]
    fn products_of_halves_take_words_below_half_of_the_lane() {
        let mut proved = 0;
        for target in isa::all() {
            let Some(selected) = select_halves(target, Layout::Lanes(64)) else { continue };
            let shown = |below| shown_below(Layout::Lanes(64), &Op::Mul, 64, below, &selected);
            assert!(shown(32) && !shown(33), "{}", target.name);
            proved += 1;
        }
        assert!(proved > 2, "{proved} targets");
    }

    /// Instructions on one group of plain words.
    fn run(selected: &Selected, operands: [u64; 2]) -> u64 {
        let mut steps: Vec<u64> = Vec::new();
        let value = |steps: &[u64], arg: &Arg| match arg {
            Arg::Operand(i) => operands[*i as usize],
            Arg::Step(at) => steps[*at as usize],
        };
        for step in &selected.steps {
            let args: Vec<u64> = step.args.iter().map(|arg| value(&steps, arg)).collect();
            let lane = if step.lane == 0 { 64 } else { step.lane };
            let ones = u64::MAX >> (64 - lane);
            let mut made = 0;
            for at in (0..64).step_by(lane as usize) {
                let arg = |i: usize| args[i] >> at & ones;
                let wide = |i: usize| arg(i) as u128;
                let k = step.imm.int().unwrap_or(0);
                let word = match step.row.inst {
                    Inst::Splat => k,
                    Inst::And => arg(0) & arg(1),
                    Inst::Or => arg(0) | arg(1),
                    Inst::Add => arg(0).wrapping_add(arg(1)),
                    Inst::Mul => arg(0).wrapping_mul(arg(1)),
                    Inst::MulWide => (arg(0) & ones >> (lane / 2)) * (arg(1) & ones >> (lane / 2)),
                    Inst::MulHigh => ((wide(0) * wide(1)) >> lane) as u64,
                    Inst::Shl => arg(0).checked_shl(k as u32).unwrap_or(0),
                    Inst::Shr => arg(0).checked_shr(k as u32).unwrap_or(0),
                    other => unreachable!("no product takes {other:?}"),
                };
                made |= (word & ones) << at;
            }
            steps.push(made);
        }
        value(&steps, &selected.result)
    }

    /// Whether instructions multiply the words of many groups.
    fn multiplies(op: &Op, lane: u8, selected: &Selected) -> bool {
        let mut random = usuba::ir::random::Random::new(7);
        let word = |random: &mut usuba::ir::random::Random| match random.below(4) {
            0 => u64::MAX,
            1 => u64::MAX << random.below(64),
            _ => random.word(),
        };
        (0..400).all(|_| {
            let (x, y) = (word(&mut random), word(&mut random));
            let ones = u64::MAX >> (64 - lane);
            let lanes = (0..64).step_by(lane as usize);
            let each = lanes.map(|at| op.eval(lane, &[x >> at & ones, y >> at & ones]) << at);
            each.fold(0, |group, word| group | word) == run(selected, [x, y])
        })
    }

    /// An instruction left out, or with another amount or constant.
    #[test]
    fn wrong_instructions_are_not_shown() {
        let avx2 = isa::find("avx2").expect("a target");
        let mut refused = 0;
        for (lane, op) in [(64, Op::MulHigh), (64, Op::Mul), (32, Op::MulHigh), (16, Op::MulHigh)] {
            let (layout, right) = selected(avx2, lane, &op, lane).expect("instructions");
            assert!(shown(layout, &op, lane, &right) && multiplies(&op, lane, &right));
            for at in 0..right.steps.len() {
                let mut changed: Vec<Selected> = Vec::new();
                for arg in right.steps[at].args.iter() {
                    let mut wrong = right.clone();
                    let place = Arg::Step(at as u16);
                    let swap = |old: &mut Arg| *old = if *old == place { *arg } else { *old };
                    wrong.steps.iter_mut().flat_map(|s| s.args.iter_mut()).for_each(swap);
                    swap(&mut wrong.result);
                    changed.push(wrong);
                }
                if let Imm::Int(k) = right.steps[at].imm {
                    for other in [k ^ 1, k ^ 2, k << 1, k >> 1] {
                        let mut wrong = right.clone();
                        wrong.steps[at].imm = Imm::Int(other);
                        changed.push(wrong);
                    }
                }
                for wrong in changed {
                    // A mask before an instruction that ignores those bits may go.
                    let right = multiplies(&op, lane, &wrong);
                    let shown = shown(layout, &op, lane, &wrong);
                    assert!(right || !shown, "{op:?} on {lane}, step {at}: {:?}", wrong.steps[at]);
                    refused += usize::from(!right);
                }
            }
        }
        assert!(refused > 60, "{refused} wrong sequences");
    }
}
