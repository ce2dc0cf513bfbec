//! Bit-precise validation of instruction patterns: every lane of a register computes the operator
//! on its own instance.
//!
//! ```text
//! x <<< 5 on 24-bit words in 32-bit lanes        shl 5; shr 19; or; and with 0xffffff
//! register of symbols, bit by bit                four lanes, each equal to x <<< 5 of its own x
//! ```
//!
//! A program describes one instance, and a kernel processes a register full of instances by
//! instruction patterns of the target. Each operator of the program is looked up in the patterns as
//! the emitter does. Its instructions run on a register in which every bit of every instance is a
//! symbol, and the result is compared with the operator on each instance alone. That covers all
//! lanes, including patterns that move bits through other lanes and back.
//!
//! *Soundness:* no pattern of an operator that acts on each lane alike looks beyond 128 bits on
//! SIMD, so 128 bits stand for longer registers. Operators on vectors are checked on the whole
//! register.
//!
//! *Limits:* `Lookup` is left out, and products of words above 8 bits are left to `products`.

use std::collections::BTreeSet;

use usuba::ir::build::Builder;
use usuba::ir::carryless::{self, Gate};
use usuba::ir::op::Lanes;
use usuba::ir::{Eqn, NodeId, Op, Port, Program, Slicing, Val};
use usuba::isa::select::{select, select_halves};
use usuba::isa::sequence::{Arg, Imm, Selected, Step};
use usuba::isa::{Inst, Layout, Target, ZERO, word_lane};

use crate::Engines;
use crate::claims::{Outcome, outcome};
use crate::{algebraic, bitblast, enumeration, equivalent, products};

/// The operators of a program, each once, with the width of its result.
///
/// `Lookup` is left out: it works on registers of one instance.
pub fn operators(program: &Program) -> Vec<(Op, u8)> {
    let (mut seen, mut out) = (BTreeSet::new(), Vec::new());
    for node in &program.nodes {
        let mut blocks = vec![&node.body];
        while let Some(block) = blocks.pop() {
            for eqn in block {
                match eqn {
                    Eqn::Op(e) if matches!(e.op, Op::Lookup(_) | Op::Copy) => {}
                    Eqn::Op(e) => {
                        let bits = node.bits_of(e.dst);
                        if seen.insert(format!("{:?} {bits}", e.op)) {
                            out.push((e.op.clone(), bits));
                        }
                    }
                    Eqn::Call(_) => {}
                    Eqn::Loop(lp) => blocks.push(&lp.body),
                }
            }
        }
    }
    out
}

/// Whether `target` computes an operator in every lane of a register, with and without its
/// extensions.
pub fn prove(target: &Target, layout: Layout, op: &Op, bits: u8) -> Outcome {
    let mut answer = Outcome::Unknown(String::from("the operator has no instructions"));
    for extended in [false, true] {
        let outcome = match select(target, layout, op, bits, extended) {
            Ok(selected) => compare(target, layout, op, bits, &selected),
            Err(why) => Outcome::Unknown(why),
        };
        match outcome {
            Outcome::Proved(_) => answer = outcome,
            other => return other,
        }
    }
    answer
}

/// Whether `target` multiplies words below 2^32 in every lane, where it has an instruction for it;
/// `None` if it has none.
pub fn prove_halves(target: &Target, layout: Layout) -> Option<Outcome> {
    let selected = select_halves(target, layout)?;
    Some(match products::shown_below(layout, &Op::Mul, 64, 32, &selected) {
        true => Outcome::Proved(Engines::POLYNOMIALS),
        false => Outcome::Unknown("the product of words below 2^32 is not shown".into()),
    })
}

/// Whether these instructions compute the operator in every lane.
pub fn compare(target: &Target, layout: Layout, op: &Op, bits: u8, selected: &Selected) -> Outcome {
    let frame = Frame::new(target, layout, op, bits);
    let widest = frame.operands.iter().copied().max().unwrap_or(0).max(bits);
    let most = match layout {
        Layout::Bits => 1,
        Layout::Words => 64,
        Layout::Lanes(lane) | Layout::Vectors { lane, .. } => lane,
        Layout::Elements(m) => m,
    };
    if widest > most {
        return Outcome::Unknown(format!("words of {widest} bits do not fit into the layout"));
    }
    // Bit-blasting cannot decide long products; polynomials decide products alone.
    let long = matches!(op, Op::Mul | Op::MulHigh) && bits > 8
        || matches!(op, Op::MulAdd(_) | Op::MulAddHigh(_));
    if long && products::shown(layout, op, bits, selected) {
        return Outcome::Proved(Engines::POLYNOMIALS);
    }
    let wanted = frame.each_instance(op);
    match (bitblast::apart(&wanted), frame.register(selected)) {
        (Some(wanted), Ok(found))
            if matches!(op, Op::Clmul | Op::ClmulHigh) && algebraic::same(&wanted, &found) =>
        {
            Outcome::Proved(Engines::POLYNOMIALS)
        }
        (Some(wanted), Ok(found))
            if enumeration::compare_results(&wanted, &found) == Some(true) =>
        {
            Outcome::Proved(Engines::TABLES)
        }
        (Some(wanted), Ok(found)) => outcome(equivalent(&wanted, &found), &wanted, &found, &[]),
        (None, _) => Outcome::Unknown("the operator is too long on bits".into()),
        (_, Err(why)) => Outcome::Unknown(why),
    }
}

/// The part of a register that is checked.
struct Frame {
    layout: Layout,
    simd: bool,
    /// Its bits.
    size: usize,
    instances: usize,
    /// Word sizes of the operands and of the result.
    operands: Vec<u8>,
    result: u8,
}

/// A register on symbols, least significant bit first.
type Register = Vec<Val>;

impl Frame {
    fn new(target: &Target, layout: Layout, op: &Op, bits: u8) -> Frame {
        let operand = match op {
            Op::Pack => bits / 2,
            Op::Resize(from) => *from,
            _ => bits,
        };
        let size = match layout {
            Layout::Words => word_lane(bits) as usize,
            // Lanes of a vector go anywhere in the register.
            _ if matches!(op, Op::Lanes(_)) => target.bits as usize,
            _ if target.simd => 128,
            _ => target.bits as usize,
        };
        let instances = match layout {
            Layout::Bits => size,
            Layout::Words => 1,
            // Each word of a vector counts.
            Layout::Lanes(lane) | Layout::Vectors { lane, .. } => size / lane as usize,
            Layout::Elements(m) => size / m as usize,
        };
        let operands = vec![operand; op.arity()];
        Frame { layout, simd: target.simd, size, instances, operands, result: bits }
    }

    /// Where bit `bit` of the word of an instance lies, both counted from the least significant.
    fn place(&self, instance: usize, bit: usize) -> usize {
        match self.layout {
            Layout::Bits => instance,
            Layout::Words => bit,
            Layout::Lanes(lane) | Layout::Vectors { lane, .. } => instance * lane as usize + bit,
            Layout::Elements(m) => {
                let (m, width) = (m as usize, self.size / m as usize);
                // Element 0 is the most significant bit; it comes first in memory on SIMD, and is
                // at the top of a general-purpose register.
                let element = if self.simd { m - 1 - bit } else { bit };
                element * width + instance
            }
        }
    }

    fn params(&self) -> Vec<Port> {
        let port = |(at, &bits)| Port::new(format!("x{at}"), bits, &[self.instances as u32]);
        self.operands.iter().enumerate().map(port).collect()
    }

    /// The operator on each instance, with zeros in the bits that belong to no instance.
    fn each_instance(&self, op: &Op) -> Program {
        let mut b = Builder::new("each", Slicing::V);
        let params: Vec<Vec<Val>> = self.params().into_iter().map(|port| b.param(port)).collect();
        let results: Vec<Val> = (0..self.instances)
            .map(|instance| {
                let args: Vec<Val> = params.iter().map(|param| param[instance]).collect();
                if let Op::Lanes(lanes) = op {
                    return self.lane(&mut b, lanes, &params, instance);
                }
                match op {
                    Op::Const(word) => b.constant(self.result, *word),
                    Op::Resize(_) => b.resize(self.result, args[0]),
                    op => b.op(op.clone(), &args),
                }
            })
            .collect();
        let zero = b.constant(1, 0);
        let spare = vec![zero; self.size - self.instances * self.result as usize];
        self.program(b, Slicing::V, results, spare)
    }

    /// A lane of an operator on vectors.
    fn lane(&self, b: &mut Builder, lanes: &Lanes, params: &[Vec<Val>], at: usize) -> Val {
        let vector = lanes.len();
        let (first, lane) = (at / vector * vector, at % vector);
        match lanes {
            Lanes::Const(words) => b.constant(self.result, words[lane]),
            Lanes::Each(ops) => match &ops[lane] {
                Op::Copy => params[0][at],
                Op::Const(word) => b.constant(self.result, *word),
                op => b.op(op.clone(), &[params[0][at]]),
            },
            Lanes::Move(pattern) | Lanes::Join(pattern) => {
                let from = pattern[lane] as usize;
                params[from / vector][first + from % vector]
            }
        }
    }

    /// The same results computed by instructions.
    fn register(&self, selected: &Selected) -> Result<Program, String> {
        let mut b = Builder::new("each", Slicing::B);
        let params: Vec<Vec<Val>> = self.params().into_iter().map(|port| b.param(port)).collect();
        let mut machine = Machine { b, size: self.size, layout: self.layout };
        let zero = machine.b.constant(1, 0);
        let mut operands: Vec<Register> = Vec::new();
        for (param, &bits) in params.iter().zip(&self.operands) {
            let size = match self.layout {
                Layout::Words => word_lane(bits) as usize,
                _ => self.size,
            };
            let mut register = vec![zero; size];
            for instance in 0..self.instances {
                for bit in 0..bits as usize {
                    let at = (instance + 1) * bits as usize - 1 - bit;
                    register[self.place(instance, bit)] = param[at];
                }
            }
            operands.push(register);
        }
        let mut steps: Vec<Register> = Vec::new();
        for step in &selected.steps {
            let args: Vec<&Register> = step
                .args
                .iter()
                .map(|arg| match arg {
                    Arg::Operand(i) => &operands[*i as usize],
                    Arg::Step(at) => &steps[*at as usize],
                })
                .collect();
            let register = machine.step(step, &args)?;
            steps.push(register);
        }
        let register = match selected.result {
            Arg::Operand(i) => &operands[i as usize],
            Arg::Step(at) => &steps[at as usize],
        };
        if register.len() != self.size {
            return Err(format!("the result has {} bits, not {}", register.len(), self.size));
        }
        let mut spare: Vec<bool> = vec![true; self.size];
        let mut results = Vec::new();
        for instance in 0..self.instances {
            for bit in (0..self.result as usize).rev() {
                let place = self.place(instance, bit);
                results.push(register[place]);
                spare[place] = false;
            }
        }
        let spare = (0..self.size).filter(|&at| spare[at]).map(|at| register[at]).collect();
        Ok(self.program(machine.b, Slicing::B, results, spare))
    }

    fn program(&self, b: Builder, slicing: Slicing, y: Vec<Val>, spare: Vec<Val>) -> Program {
        let mut ports = vec![(Port::new("y", self.result, &[self.instances as u32]), y)];
        if !spare.is_empty() {
            ports.push((Port::new("above", 1, &[spare.len() as u32]), spare));
        }
        Program::new(vec![b.finish(ports)], NodeId(0), slicing)
    }
}

/// The lane from bit `start` upwards of an immediate register.
fn field(words: &[u64; 8], start: usize, lane: usize) -> u64 {
    words[start / 64] >> (start % 64) & usuba::ir::op::mask(lane as u8)
}

/// The semantics of instructions on registers of bits.
struct Machine {
    b: Builder,
    size: usize,
    layout: Layout,
}

impl Machine {
    fn bit(&mut self, op: Op, args: &[Val]) -> Val {
        self.b.op(op, args)
    }

    fn constant(&mut self, set: bool) -> Val {
        self.b.constant(1, set as u64)
    }

    fn step(&mut self, step: &Step, args: &[&Register]) -> Result<Register, String> {
        // A word of C has the size of its type; other registers are whole.
        let (size, lane) = match self.layout {
            Layout::Words => (step.lane as usize, step.lane as usize),
            _ if step.lane == 0 => (self.size, self.size),
            // The matrix of eight bytes fills 64 bits.
            _ if matches!(step.row.inst, Inst::Affine | Inst::AffineInverse) => (self.size, 64),
            _ => (self.size, step.lane as usize),
        };
        if lane == 0 || !size.is_multiple_of(lane) {
            return Err(format!("{:?} on lanes of {lane} bits in {size}", step.row.inst));
        }
        let zero = self.constant(false);
        let args: Vec<Register> = args
            .iter()
            .map(|arg| (0..size).map(|at| arg.get(at).copied().unwrap_or(zero)).collect())
            .collect();
        let logic = match step.row.inst {
            Inst::And => Some(Op::And),
            Inst::Or => Some(Op::Or),
            Inst::Xor => Some(Op::Xor),
            Inst::Andn => Some(Op::Andn),
            Inst::Not => Some(Op::Not),
            Inst::Lut3 => step.imm.int().map(|table| Op::Lut3(table as u8)),
            _ => None,
        };
        if let Some(op) = logic {
            let bit = |machine: &mut Machine, at: usize| {
                let bits: Vec<Val> = args.iter().map(|arg| arg[at]).collect();
                machine.bit(op.clone(), &bits)
            };
            return Ok((0..size).map(|at| bit(self, at)).collect());
        }
        match (step.row.inst, step.imm) {
            (Inst::Splat, Imm::Int(word)) => {
                Ok((0..size).map(|at| self.constant(word >> (at % lane) & 1 == 1)).collect())
            }
            (Inst::Splat128, Imm::Bytes(bytes)) => {
                let set = |at: usize| bytes[at / 8 % 16] >> (at % 8) & 1 == 1;
                Ok((0..size).map(|at| self.constant(set(at))).collect())
            }
            (Inst::Bytes, Imm::Bytes(bytes)) => {
                let source = |at: usize| match bytes[at / 8 % 16] {
                    ZERO => zero,
                    byte => args[0][at / 128 * 128 + byte as usize * 8 + at % 8],
                };
                Ok((0..size).map(source).collect())
            }
            (Inst::Widen, _) => Ok(args[0].clone()),
            (Inst::Literal, Imm::Register(words, count)) if count as usize * 64 == size => Ok((0
                ..size)
                .map(|at| self.constant(words[at / 64] >> (at % 64) & 1 == 1))
                .collect()),
            (Inst::ShlEach | Inst::ShrEach | Inst::RotlEach, Imm::Register(words, count))
                if count as usize * 64 == size =>
            {
                let a = &args[0];
                let bit = |at: usize| -> Option<Val> {
                    let (start, place) = (at / lane * lane, at % lane);
                    let amount = field(&words, start, lane) as usize;
                    Some(match step.row.inst {
                        Inst::ShlEach => place.checked_sub(amount).map_or(zero, |p| a[start + p]),
                        Inst::ShrEach if place + amount >= lane => zero,
                        Inst::ShrEach => a[start + place + amount],
                        _ if amount >= lane => return None,
                        _ => a[start + (place + lane - amount) % lane],
                    })
                };
                let bits: Option<Register> = (0..size).map(bit).collect();
                bits.ok_or_else(|| "a rotation by more bits than a lane has".to_string())
            }
            (Inst::Permute | Inst::Permute2, Imm::Register(words, count))
                if count as usize * 64 == size =>
            {
                let count = size / lane;
                let bit = |at: usize| -> Option<Val> {
                    let from = field(&words, at / lane * lane, lane) as usize;
                    let source = args.get(from / count)?;
                    Some(source[from % count * lane + at % lane])
                };
                let bits: Option<Register> = (0..size).map(bit).collect();
                bits.ok_or_else(|| "a lane that no register has".to_string())
            }
            (Inst::Quads, Imm::Int(pattern)) if size.is_multiple_of(4 * lane) => {
                let source = |at: usize| {
                    let from = pattern as usize >> (2 * (at / lane % 4)) & 3;
                    args[0][at / (4 * lane) * 4 * lane + from * lane + at % lane]
                };
                Ok((0..size).map(source).collect())
            }
            (Inst::ZipLow | Inst::ZipHigh, _) => {
                let half = if step.row.inst == Inst::ZipHigh { 64 } else { 0 };
                let source = |at: usize| {
                    let element = at % 128 / lane;
                    let from = at / 128 * 128 + half + element / 2 * lane + at % lane;
                    args[element % 2][from]
                };
                Ok((0..size).map(source).collect())
            }
            (Inst::Halves, Imm::Int(pattern)) if size.is_multiple_of(4 * lane) => {
                let source = |at: usize| {
                    let element = at / lane % 4;
                    let from = pattern as usize >> (2 * element) & 3;
                    args[element / 2][at / (4 * lane) * 4 * lane + from * lane + at % lane]
                };
                Ok((0..size).map(source).collect())
            }
            (Inst::Align, Imm::Int(bytes)) if bytes < 16 => {
                let source = |at: usize| {
                    let from = at % 128 + 8 * bytes as usize;
                    args[from / 128][at / 128 * 128 + from % 128]
                };
                Ok((0..size).map(source).collect())
            }
            (Inst::Blend, Imm::Int(mask)) => {
                // Immediates of blends of 16-bit lanes have a bit for each lane of 128 bits.
                let take = |at: usize| mask >> (at / lane) & 1 == 1;
                Ok((0..size).map(|at| args[take(at) as usize][at]).collect())
            }
            (Inst::ClmulEven | Inst::ClmulOdd, _) if lane == 64 && size.is_multiple_of(128) => {
                let skip = if step.row.inst == Inst::ClmulOdd { 64 } else { 0 };
                let mut out = Register::with_capacity(size);
                for start in (0..size).step_by(128) {
                    let word = |arg: &Register| -> Register {
                        arg[start + skip..][..64].iter().rev().copied().collect()
                    };
                    let (a, b) = (word(&args[0]), word(&args[1]));
                    let product = carryless::product(&a, &b, &mut |gate, x, y| {
                        self.bit(if gate == Gate::And { Op::And } else { Op::Xor }, &[x, y])
                    });
                    out.extend(product.iter().rev());
                    out.push(zero);
                }
                Ok(out)
            }
            (inst, imm) => {
                let mut out = Register::with_capacity(size);
                for start in (0..size).step_by(lane) {
                    let lanes: Vec<&[Val]> =
                        args.iter().map(|arg| &arg[start..start + lane]).collect();
                    out.extend(self.lane(inst, imm, &lanes)?);
                }
                Ok(out)
            }
        }
    }

    /// An instruction on one lane.
    fn lane(&mut self, inst: Inst, imm: Imm, args: &[&[Val]]) -> Result<Register, String> {
        let a = args[0];
        let size = a.len();
        let (zero, top) = (self.constant(false), a[size - 1]);
        let amount = imm.int().map(|k| k as usize).filter(|&k| k < size);
        match (inst, amount) {
            (Inst::Shl, Some(k)) => {
                Ok((0..size).map(|at| if at < k { zero } else { a[at - k] }).collect())
            }
            (Inst::Shr, Some(k)) => {
                Ok((0..size).map(|at| a.get(at + k).copied().unwrap_or(zero)).collect())
            }
            (Inst::Sar, Some(k)) => {
                Ok((0..size).map(|at| a.get(at + k).copied().unwrap_or(top)).collect())
            }
            (Inst::Rotl, Some(k)) => Ok((0..size).map(|at| a[(at + size - k) % size]).collect()),
            (Inst::Negative, _) => Ok(vec![top; size]),
            (Inst::Equal, _) => {
                let mut differ = zero;
                for (&x, &y) in a.iter().zip(args[1]) {
                    let other = self.bit(Op::Xor, &[x, y]);
                    differ = self.bit(Op::Or, &[differ, other]);
                }
                let equal = self.bit(Op::Not, &[differ]);
                Ok(vec![equal; size])
            }
            (Inst::Less, _) => {
                // The carry out of ~a + b.
                let mut carry = zero;
                for (&x, &y) in a.iter().zip(args[1]) {
                    let (half, below) = (self.bit(Op::Xor, &[x, y]), self.bit(Op::Andn, &[x, y]));
                    let kept = self.bit(Op::Andn, &[half, carry]);
                    carry = self.bit(Op::Xor, &[below, kept]);
                }
                Ok((0..size).map(|at| if at == 0 { carry } else { zero }).collect())
            }
            (Inst::MulHigh, _) => {
                let twice = |x: &[Val]| -> Register {
                    x.iter().copied().chain(std::iter::repeat_n(zero, size)).collect()
                };
                Ok(self.product(&twice(a), &twice(args[1])).split_off(size))
            }
            (Inst::Affine | Inst::AffineInverse, _) if size == 64 => {
                let constant = imm.int().unwrap_or(0);
                let mut out = Register::with_capacity(size);
                for byte in a.chunks(8) {
                    let byte = match inst {
                        Inst::Affine => byte.to_vec(),
                        _ => self.inverse(byte),
                    };
                    // Bit i is the parity of the byte and of byte 7 - i of the matrix.
                    for i in 0..8 {
                        let mut sum = self.constant(constant >> i & 1 == 1);
                        for (j, &bit) in byte.iter().enumerate() {
                            let kept = self.bit(Op::And, &[bit, args[1][8 * (7 - i) + j]]);
                            sum = self.bit(Op::Xor, &[sum, kept]);
                        }
                        out.push(sum);
                    }
                }
                Ok(out)
            }
            (Inst::Add, _) => Ok(self.sum(a, args[1], zero)),
            (Inst::Sub, _) => {
                // a - b is a + ~b + 1.
                let b: Vec<Val> = args[1].iter().map(|&bit| self.bit(Op::Not, &[bit])).collect();
                let one = self.constant(true);
                Ok(self.sum(a, &b, one))
            }
            (Inst::Mul, _) => Ok(self.product(a, args[1])),
            (Inst::MulWide, _) => {
                let low = |x: &[Val]| -> Register {
                    (0..size).map(|at| if at < size / 2 { x[at] } else { zero }).collect()
                };
                Ok(self.product(&low(a), &low(args[1])))
            }
            (inst, _) => Err(format!(
                "the row of {inst:?} with {imm:?} is not known to work on each lane alike"
            )),
        }
    }

    /// The inverse of a byte modulo x^8 + x^4 + x^3 + x + 1, and zero for zero.
    fn inverse(&mut self, byte: &[Val]) -> Register {
        // The matrix of this operator is the identity.
        let rows = Op::AffineInverse(0x0102_0408_1020_4080, 0);
        let table: Vec<u64> = (0..256).map(|x| rows.eval(8, &[x])).collect();
        (0..8)
            .map(|bit| {
                let column: Vec<u64> = table.iter().map(|row| row >> bit & 1).collect();
                self.picked(&column, byte)
            })
            .collect()
    }

    /// The entry of a column whose number is in `index`, least significant bit first.
    fn picked(&mut self, column: &[u64], index: &[Val]) -> Val {
        let Some((&top, rest)) = index.split_last() else {
            return self.constant(column[0] == 1);
        };
        let (low, high) = column.split_at(column.len() / 2);
        let (low, high) = (self.picked(low, rest), self.picked(high, rest));
        let differ = self.bit(Op::Xor, &[low, high]);
        let change = self.bit(Op::And, &[top, differ]);
        self.bit(Op::Xor, &[low, change])
    }

    fn sum(&mut self, a: &[Val], b: &[Val], carry: Val) -> Register {
        let mut carry = carry;
        let mut out = Register::with_capacity(a.len());
        for (&x, &y) in a.iter().zip(b) {
            let half = self.bit(Op::Xor, &[x, y]);
            out.push(self.bit(Op::Xor, &[half, carry]));
            let (both, kept) = (self.bit(Op::And, &[x, y]), self.bit(Op::And, &[half, carry]));
            carry = self.bit(Op::Xor, &[both, kept]);
        }
        out
    }

    fn product(&mut self, a: &[Val], b: &[Val]) -> Register {
        let zero = self.constant(false);
        let mut sum = vec![zero; a.len()];
        for (place, &factor) in b.iter().enumerate() {
            let term: Register = (0..a.len())
                .map(|at| match at.checked_sub(place) {
                    Some(from) => self.bit(Op::And, &[a[from], factor]),
                    None => zero,
                })
                .collect();
            sum = self.sum(&sum, &term, zero);
        }
        sum
    }
}

#[cfg(test)]
mod tests;
