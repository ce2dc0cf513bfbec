//! Usuba0 operator and layout → instructions of a target.
//!
//!     u24 rotl 5 in 32-bit lanes   →   shl 5; shr 19; or; and with 0xffffff
//!     u16 rotl 5 in H              →   one byte shuffle
//!
//! Words narrower than their lane stay zero-extended: an operator that can set a bit above the
//! word masks its result. What a slicing cannot do at all is refused by [`lacks`], in the
//! user's words.

use smallvec::{SmallVec, smallvec};

use super::fallback::{self, Want};
use super::{ANY, Inst, Layout, Row, Target, word_lane};
use super::{shuffle, vectors};
use crate::ir::op::mask;
use crate::ir::{Op, Slicing};

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
    /// So many words of 64 bits, the lowest first: amounts, lane numbers, or a constant.
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
    /// What holds the result; an operand when the operator changes nothing.
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

    /// Instructions without constants and conversions.
    pub fn count(&self) -> usize {
        self.steps.iter().filter(|s| cost(s.row.inst) > 1).count()
    }
}

/// Why `target` cannot compute `op` on words of `bits` bits under `slicing`, or `None` if it can.
/// `lane` is the lane width under V (8, 16, 32 or 64; the widest of the program) and is not used
/// elsewhere.
pub fn lacks(target: &Target, slicing: Slicing, op: &Op, bits: u8, lane: u8) -> Option<String> {
    let layout = match slicing {
        _ if bits == 1 && slicing != Slicing::V => Layout::Bits,
        Slicing::B => {
            return Some(format!("bitslicing has no words of {bits} bits"));
        }
        Slicing::V if !target.simd => Layout::Words,
        Slicing::V => Layout::Lanes(lane.max(word_lane(bits))),
        Slicing::H => Layout::Elements(bits),
        Slicing::W if !target.simd => {
            return Some(format!("the registers of `{}` have no lanes", target.name));
        }
        Slicing::W => Layout::Vectors { lane: bits, words: words(op) },
    };
    if matches!(op, Op::Lookup(_)) {
        let why = "a table look-up by a whole word works on general-purpose registers in V only";
        return (layout != Layout::Words).then(|| why.to_string());
    }
    select(target, layout, op, bits, false).err()
}

/// The words of a vector, as far as the operator tells.
fn words(op: &Op) -> u8 {
    match op {
        Op::Lanes(lanes) => lanes.len() as u8,
        _ => 1,
    }
}

/// What multiplies words of `bits` bits in their lanes: if they fit half of it, a product of
/// halves where there is one.
fn product_of(maker: &Maker, bits: u8, lane: u8) -> Inst {
    let halves = 2 * bits <= lane && maker.has(Inst::MulWide, lane);
    if halves { Inst::MulWide } else { Inst::Mul }
}

/// The instruction for a product of words of 64 bits that are below 2^32, where lanes have one.
pub fn select_halves(target: &Target, layout: Layout) -> Option<Selected> {
    let mut maker = Maker { target, extended: false, steps: Vec::new() };
    let lanes = matches!(layout, Layout::Lanes(64) | Layout::Vectors { lane: 64, .. });
    if !lanes || !maker.has(Inst::MulWide, 64) {
        return None;
    }
    let result = maker.make(Inst::MulWide, 64, Imm::None, operands(2))?;
    Some(maker.finish(result))
}

/// The instructions for `op` with a result of `bits` bits. With `extended`, rows of extensions
/// are used where they exist; [`Selected::when`] then says which macro guards them.
///
/// Errors say in the user's words what the layout cannot do.
pub fn select(
    target: &Target,
    layout: Layout,
    op: &Op,
    bits: u8,
    extended: bool,
) -> Result<Selected, String> {
    check(target, layout, op, bits)?;
    let mut maker = Maker { target, extended, steps: Vec::new() };
    let result = match layout {
        Layout::Bits => on_bits(&mut maker, op),
        Layout::Words => on_lanes(&mut maker, op, bits, word_lane(bits)),
        Layout::Lanes(lane) | Layout::Vectors { lane, .. } => match op {
            Op::Lanes(lanes) => vectors::on_vectors(&mut maker, lanes, lane),
            _ => on_lanes(&mut maker, op, bits, lane),
        },
        Layout::Elements(m) => on_elements(&mut maker, op, m),
    };
    let result = result
        .ok_or_else(|| format!("`{}` has no instructions for this operation", target.name))?;
    Ok(maker.finish(result))
}

fn check(target: &Target, layout: Layout, op: &Op, bits: u8) -> Result<(), String> {
    if bits == 0 || bits > 64 {
        return Err(format!("words have 1 to 64 bits, not {bits}"));
    }
    let arithmetic = match op {
        Op::Add => Some("addition"),
        Op::Sub => Some("subtraction"),
        Op::Mul | Op::MulHigh | Op::MulAdd(_) | Op::MulAddHigh(_) => Some("multiplication"),
        Op::Less => Some("comparison"),
        _ => None,
    };
    if let Some(k) = amount(op)
        && (k == 0 || k >= bits)
    {
        return Err(format!("a word of {bits} bits cannot be shifted or rotated by {k}"));
    }
    if let Op::Shuffle(pattern) = op {
        let groups = pattern.len();
        if groups == 0 || !(bits as usize).is_multiple_of(groups) {
            return Err(format!("a word of {bits} bits has no {groups} equal groups"));
        }
        if pattern.iter().any(|&p| p as usize >= groups) {
            return Err(format!("a group of the pattern is not below {groups}"));
        }
    }
    if matches!(op, Op::Bitmask(i) if *i >= bits) {
        return Err(format!("a word of {bits} bits has no bit of that number"));
    }
    if matches!(op, Op::Affine(..) | Op::AffineInverse(..)) && bits != 8 {
        return Err(format!("affine maps are for bytes, and not for words of {bits} bits"));
    }
    if matches!(op, Op::Pack) && bits % 2 == 1 {
        return Err(format!("a word of {bits} bits has no halves to join"));
    }
    if let Op::Resize(from) = op
        && (*from == 0 || *from > 64 || *from == bits)
    {
        return Err(format!("a word of {from} bits does not become one of {bits}"));
    }
    match layout {
        Layout::Bits if bits > 1 => Err(format!("bitslicing has no words of {bits} bits")),
        Layout::Elements(m) => {
            let legal = if target.simd {
                matches!(m, 2 | 4 | 8 | 16)
            } else {
                m.is_power_of_two() && m >= 2 && m as u32 <= target.bits
            };
            if !legal {
                let sizes = if target.simd {
                    "2, 4, 8 or 16".to_string()
                } else {
                    format!("a power of two from 2 to {}", target.bits)
                };
                return Err(format!(
                    "horizontal slicing on `{}` needs words of {sizes} bits, not {m}",
                    target.name
                ));
            }
            if let Some(name) = arithmetic {
                return Err(format!(
                    "horizontal slicing has no {name}: the bits of a word lie in different \
                     elements of the register, and carries cannot cross them"
                ));
            }
            if matches!(op, Op::Resize(_)) {
                return Err("horizontal slicing cannot change the size of a word: all words have \
                            the same size there"
                    .to_string());
            }
            if matches!(op, Op::Pack) {
                return Err("horizontal slicing cannot join two words with `Pack`: all words \
                            have the same size there"
                    .to_string());
            }
            Ok(())
        }
        Layout::Vectors { lane, .. } => {
            let (vector, all) = (words(op) as u32 * lane as u32, target.bits);
            match all.is_multiple_of(vector) {
                true => Ok(()),
                false => Err(format!(
                    "vectors of {vector} bits do not fit the registers of `{}`, which have {all}",
                    target.name
                )),
            }
        }
        _ => Ok(()),
    }
}

/// The amount of a shift or rotation.
fn amount(op: &Op) -> Option<u8> {
    match op {
        Op::Shl(k) | Op::Shr(k) | Op::Sar(k) | Op::Rotl(k) => Some(*k),
        _ => None,
    }
}

/// The instruction of an operator that acts bit by bit, with its immediate.
fn logic(op: &Op) -> Option<(Inst, Imm)> {
    match op {
        Op::Not => Some((Inst::Not, Imm::None)),
        Op::And => Some((Inst::And, Imm::None)),
        Op::Or => Some((Inst::Or, Imm::None)),
        Op::Xor => Some((Inst::Xor, Imm::None)),
        Op::Andn => Some((Inst::Andn, Imm::None)),
        Op::Lut3(table) => Some((Inst::Lut3, Imm::Int(*table as u64))),
        _ => None,
    }
}

fn operands(count: usize) -> Args {
    (0..count as u8).map(Arg::Operand).collect()
}

/// Words of one bit: modulo 2 a sum is a xor and a product an and.
fn on_bits(maker: &mut Maker, op: &Op) -> Option<Arg> {
    let whole = maker.whole();
    if let Some((inst, imm)) = logic(op) {
        return maker.make(inst, whole, imm, operands(op.arity()));
    }
    match op {
        Op::Const(value) => maker.splat(whole, if value & 1 == 1 { u64::MAX } else { 0 }),
        Op::Copy | Op::Shuffle(_) | Op::Bitmask(_) => Some(Arg::Operand(0)),
        Op::Add | Op::Sub => maker.make(Inst::Xor, whole, Imm::None, operands(2)),
        Op::MulHigh => maker.splat(whole, 0),
        Op::Less => maker.make(Inst::Andn, whole, Imm::None, operands(2)),
        Op::Mul => maker.make(Inst::And, whole, Imm::None, operands(2)),
        _ => None,
    }
}

pub fn on_lanes(maker: &mut Maker, op: &Op, bits: u8, lane: u8) -> Option<Arg> {
    let a = Arg::Operand(0);
    let spare = (lane - bits) as u64;
    if let Some((inst, imm)) = logic(op) {
        let word = maker.make(inst, lane, imm, operands(op.arity()))?;
        // These give ones where all operands are zero, above the word.
        let fills = matches!(op, Op::Not) || matches!(op, Op::Lut3(table) if table & 1 == 1);
        return if fills { maker.clip(word, bits, lane) } else { Some(word) };
    }
    match op {
        Op::Const(value) => maker.splat(lane, value & mask(bits)),
        Op::Copy => Some(a),
        Op::Less => maker.make(Inst::Less, lane, Imm::None, operands(2)),
        Op::MulAdd(k) => muladd(maker, Inst::MulAdd52, *k, bits, lane, operands(3)),
        Op::MulAddHigh(k) => muladd(maker, Inst::MulAddHigh52, *k, bits, lane, operands(3)),
        Op::Mul | Op::MulHigh if bits == 52 && maker.has(Inst::MulAdd52, lane) => {
            let inst = if *op == Op::Mul { Inst::MulAdd52 } else { Inst::MulAddHigh52 };
            let zero = maker.splat(lane, 0)?;
            maker.make(inst, lane, Imm::None, smallvec![zero, a, Arg::Operand(1)])
        }
        // The product of narrower words has all of its bits in the lane.
        Op::MulHigh if 2 * bits <= lane => {
            let product =
                maker.make(product_of(maker, bits, lane), lane, Imm::None, operands(2))?;
            maker.make(Inst::Shr, lane, Imm::Int(bits as u64), smallvec![product])
        }
        Op::MulHigh => {
            // One factor moves to the top of its lane, and with it the product.
            let a = maker.make(Inst::Shl, lane, Imm::Int(spare), smallvec![a])?;
            maker.make(Inst::MulHigh, lane, Imm::None, smallvec![a, Arg::Operand(1)])
        }
        Op::Resize(from) => {
            let word = match maker.target().simd || word_lane(*from) == lane {
                true => a,
                false => maker.make(Inst::Widen, lane, Imm::None, smallvec![a])?,
            };
            if *from < bits { Some(word) } else { maker.clip(word, bits, lane) }
        }
        Op::Add | Op::Sub | Op::Mul => {
            let inst = match op {
                Op::Add => Inst::Add,
                Op::Sub => Inst::Sub,
                _ => product_of(maker, bits, lane),
            };
            let word = maker.make(inst, lane, Imm::None, operands(2))?;
            maker.clip(word, bits, lane)
        }
        Op::Shl(k) => {
            let word = maker.make(Inst::Shl, lane, Imm::Int(*k as u64), smallvec![a])?;
            maker.clip(word, bits, lane)
        }
        Op::Shr(k) => maker.make(Inst::Shr, lane, Imm::Int(*k as u64), smallvec![a]),
        Op::Sar(k) => {
            let k = *k as u64;
            if spare == 0 {
                return maker.make(Inst::Sar, lane, Imm::Int(k), smallvec![a]);
            }
            // The word moves to the top of its lane, where its sign is the sign of the lane.
            let top = maker.make(Inst::Shl, lane, Imm::Int(spare), smallvec![a])?;
            let shifted = maker.make(Inst::Sar, lane, Imm::Int(k), smallvec![top])?;
            maker.make(Inst::Shr, lane, Imm::Int(spare), smallvec![shifted])
        }
        Op::Rotl(k) => {
            let k = *k as u64;
            if spare == 0 {
                return maker.make(Inst::Rotl, lane, Imm::Int(k), smallvec![a]);
            }
            let left = maker.make(Inst::Shl, lane, Imm::Int(k), smallvec![a])?;
            let right = maker.make(Inst::Shr, lane, Imm::Int(bits as u64 - k), smallvec![a])?;
            let word = maker.make(Inst::Or, lane, Imm::None, smallvec![left, right])?;
            maker.clip(word, bits, lane)
        }
        Op::Shuffle(pattern) => {
            let sources: Vec<_> = pattern.iter().map(|&p| Some(p)).collect();
            shuffle::in_lanes(maker, a, bits, lane, &sources)
        }
        Op::Bitmask(i) => shuffle::bitmask(maker, a, bits, lane, *i),
        Op::Pack => {
            let high = maker.widen(a, lane, bits / 2)?;
            let high = maker.make(Inst::Shl, lane, Imm::Int(bits as u64 / 2), smallvec![high])?;
            maker.make(Inst::Or, lane, Imm::None, smallvec![high, Arg::Operand(1)])
        }
        Op::Affine(matrix, c) | Op::AffineInverse(matrix, c) => {
            let inverse = matches!(op, Op::AffineInverse(..));
            let inst = if inverse { Inst::AffineInverse } else { Inst::Affine };
            let word = maker.matrix(inst, a, *matrix, *c)?;
            // The bytes above the word are zero, and become the constant.
            if *c == 0 { Some(word) } else { maker.clip(word, bits, lane) }
        }
        _ => None,
    }
}

/// A product of k bits with a sum of 64, if the target has it.
fn muladd(maker: &mut Maker, inst: Inst, k: u8, bits: u8, lane: u8, args: Args) -> Option<Arg> {
    ((k, bits, lane) == (52, 64, 64) && maker.has(inst, lane)).then_some(())?;
    maker.make(inst, lane, Imm::None, args)
}

/// H: whatever moves bits inside a word moves whole elements of the register.
fn on_elements(maker: &mut Maker, op: &Op, m: u8) -> Option<Arg> {
    let whole = maker.whole();
    let a = Arg::Operand(0);
    if let Some((inst, imm)) = logic(op) {
        return maker.make(inst, whole, imm, operands(op.arity()));
    }
    let sources: Vec<Option<u8>> = match op {
        Op::Const(value) => return shuffle::positions(maker, m, *value),
        Op::Copy => return Some(a),
        Op::Shl(k) => (0..m).map(|i| (i + k < m).then(|| i + k)).collect(),
        Op::Shr(k) => (0..m).map(|i| i.checked_sub(*k)).collect(),
        Op::Sar(k) => (0..m).map(|i| Some(i.saturating_sub(*k))).collect(),
        Op::Rotl(k) => (0..m).map(|i| Some((i + k) % m)).collect(),
        Op::Bitmask(i) => vec![Some(m - 1 - i); m as usize],
        Op::Shuffle(pattern) => {
            let group = m / pattern.len() as u8;
            (0..m).map(|i| Some(pattern[(i / group) as usize] * group + i % group)).collect()
        }
        _ => return None,
    };
    shuffle::in_elements(maker, a, m, &sources)
}

/// Appends steps; every step is a row of the target.
pub struct Maker<'t> {
    target: &'t Target,
    extended: bool,
    steps: Vec<Step>,
}

impl<'t> Maker<'t> {
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

    /// Drops the steps that the result does not need.
    fn finish(self, result: Arg) -> Selected {
        let mut needed = vec![false; self.steps.len()];
        if let Arg::Step(at) = result {
            needed[at as usize] = true;
        }
        for at in (0..self.steps.len()).rev() {
            if needed[at] {
                for arg in &self.steps[at].args {
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
        let steps = self.steps.iter().zip(&needed).filter(|(_, keep)| **keep);
        let steps = steps
            .map(|(s, _)| Step { args: s.args.iter().map(|&a| moved(a)).collect(), ..s.clone() })
            .collect();
        Selected { steps, result: moved(result) }
    }
}

/// What a step costs when ways are compared.
fn cost(inst: Inst) -> u32 {
    match inst {
        Inst::Splat | Inst::Splat128 | Inst::Literal => 1,
        // These cross groups of 128 bits, which takes longer.
        Inst::Permute | Inst::Permute2 => 6,
        Inst::Widen => 0,
        Inst::Mul | Inst::MulHigh | Inst::MulWide => 12,
        Inst::MulAdd52 | Inst::MulAddHigh52 => 12,
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
