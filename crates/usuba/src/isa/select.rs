//! Instruction selection: Usuba0 operator and layout → instructions of a target.
//!
//! ```text
//! u24 rotl 5 in 32-bit lanes   →   shl 5; shr 19; or; and with 0xffffff
//! u16 rotl 5 in H              →   one byte shuffle
//! ```
//!
//! Words narrower than their lane stay zero-extended: an operator that can set a bit above the word
//! masks its result. [`lacks`] rejects operators that a slicing cannot implement, in the user's
//! words.

use smallvec::smallvec;

use super::sequence::{Arg, Args, Imm, Maker, Selected};
use super::{Inst, Layout, Target, word_lane};
use super::{shuffle, vectors};
use crate::ir::op::mask;
use crate::ir::{Op, Slicing};

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

/// The instruction that multiplies words of `bits` bits in their lanes: if they fit half of it, a
/// product of halves if there is one.
fn product_of(maker: &Maker, bits: u8, lane: u8) -> Inst {
    let halves = 2 * bits <= lane && maker.has(Inst::MulWide, lane);
    if halves { Inst::MulWide } else { Inst::Mul }
}

/// The instruction for a product of words of 64 bits that are below 2^32, where lanes have one.
pub fn select_halves(target: &Target, layout: Layout) -> Option<Selected> {
    let mut maker = Maker::new(target, false);
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
/// Errors describe the operator that the layout lacks in the user's words.
pub fn select(
    target: &Target,
    layout: Layout,
    op: &Op,
    bits: u8,
    extended: bool,
) -> Result<Selected, String> {
    check(target, layout, op, bits)?;
    let mut maker = Maker::new(target, extended);
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
        Op::Clmul | Op::ClmulHigh => Some("carry-less multiplication"),
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
    if matches!(op, Op::Clmul | Op::ClmulHigh) && bits != 64 {
        return Err(format!("carry-less products are for words of 64 bits, and not of {bits}"));
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
                let why = match op {
                    Op::Clmul | Op::ClmulHigh => "products add up bits of different ones",
                    _ => "carries cannot cross them",
                };
                return Err(format!(
                    "horizontal slicing has no {name}: the bits of a word lie in different \
                     elements of the register, and {why}"
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
        Op::Clmul | Op::ClmulHigh => carryless(maker, *op == Op::ClmulHigh),
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

/// A half of a carry-less product of words of 64 bits: by instructions, or the first operand by each
/// bit of the second.
fn carryless(maker: &mut Maker, high: bool) -> Option<Arg> {
    let (lane, a, b) = (64, Arg::Operand(0), Arg::Operand(1));
    if maker.has(Inst::ClmulEven, lane) {
        let even = maker.make(Inst::ClmulEven, lane, Imm::None, operands(2))?;
        let odd = maker.make(Inst::ClmulOdd, lane, Imm::None, operands(2))?;
        let half = if high { Inst::ZipHigh } else { Inst::ZipLow };
        return maker.make(half, lane, Imm::None, smallvec![even, odd]);
    }
    let top = Imm::Int(lane as u64 - 1);
    let mut sum = None;
    for i in u64::from(high)..lane as u64 {
        let (inst, k) = if high { (Inst::Shr, lane as u64 - i) } else { (Inst::Shl, i) };
        let moved = maker.make(inst, lane, Imm::Int(k), smallvec![a])?;
        let bit = maker.make(Inst::Shl, lane, Imm::Int(lane as u64 - 1 - i), smallvec![b])?;
        let taken = maker.make(Inst::Sar, lane, top, smallvec![bit])?;
        let term = maker.make(Inst::And, lane, Imm::None, smallvec![moved, taken])?;
        sum = Some(match sum {
            Some(sum) => maker.make(Inst::Xor, lane, Imm::None, smallvec![sum, term])?,
            None => term,
        });
    }
    sum
}

/// H: an operator that moves bits inside a word moves whole elements of the register.
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
