//! Operators on the lanes of a vector, in W.
//!
//! ```text
//! move [1,2,3,0] on 32-bit lanes   →   one shuffle of 32-bit elements
//! each [<<< 14, <<< 16]            →   one rotation by a register of amounts, or
//!                                      two shifts by such registers and an or, or
//!                                      every rotation by itself and a blend
//! join [0,3]                       →   one blend
//! ```
//!
//! A register holds one vector or several, and the operator acts on each alike. The builder tries
//! every way that a target has rows for, and keeps the cheapest.

use smallvec::smallvec;

use super::select::on_lanes;
use super::sequence::{Arg, Args, Imm, Maker};
use super::{ANY, Inst};
use crate::ir::Op;
use crate::ir::op::Lanes;

/// The instructions for an operator on lanes of `lane` bits; the operator has the number of lanes
/// of a vector.
pub fn on_vectors(maker: &mut Maker, lanes: &Lanes, lane: u8) -> Option<Arg> {
    let all = (maker.target().bits / lane as u32) as usize;
    let vector = lanes.len();
    let a = Arg::Operand(0);
    match lanes {
        Lanes::Const(words) => {
            let words: Vec<u64> = (0..all).map(|at| words[at % vector]).collect();
            literal(maker, lane, &words)
        }
        Lanes::Each(ops) => {
            let ops: Vec<Op> = (0..all).map(|at| ops[at % vector].clone()).collect();
            each(maker, lane, &ops)
        }
        Lanes::Move(pattern) => {
            let from = |at: usize| at / vector * vector + pattern[at % vector] as usize;
            moved(maker, a, lane, &(0..all).map(|at| Some(from(at))).collect::<Vec<_>>())
        }
        Lanes::Join(pattern) => {
            // Lanes of the second operand count from `all`.
            let from = |at: usize| {
                let p = pattern[at % vector] as usize;
                let own = at / vector * vector + p % vector;
                if p < vector { own } else { all + own }
            };
            join(maker, lane, &(0..all).map(from).collect::<Vec<_>>())
        }
    }
}

/// A register with these words in its lanes.
fn literal(maker: &mut Maker, lane: u8, words: &[u64]) -> Option<Arg> {
    if words.iter().all(|word| *word == words[0]) {
        return maker.splat(lane, words[0]);
    }
    let image = image(lane, words);
    let Imm::Register(image64, _) = image else { unreachable!("an image is a register") };
    if image64.chunks(2).take(words.len() * lane as usize / 128).all(|pair| *pair == image64[..2]) {
        let half = |word: u64, at: usize| word.to_le_bytes()[at % 8];
        let bytes = std::array::from_fn(|at| half(image64[at / 8], at));
        return maker.make(Inst::Splat128, ANY, Imm::Bytes(bytes), Args::new());
    }
    maker.make(Inst::Literal, ANY, image, Args::new())
}

/// Words of `lane` bits as the image of a register.
fn image(lane: u8, words: &[u64]) -> Imm {
    let mut image = [0u64; 8];
    for (at, word) in words.iter().enumerate() {
        let bit = at * lane as usize;
        image[bit / 64] |= word << (bit % 64);
    }
    Imm::Register(image, (words.len() * lane as usize / 64) as u8)
}

/// A shift, rotation or copy for each lane.
fn each(maker: &mut Maker, lane: u8, ops: &[Op]) -> Option<Arg> {
    type Way = fn(&mut Maker, u8, &[Op]) -> Option<Arg>;
    let ways: [Way; 4] = [each_bytes, each_rotated, each_shifted, each_alone];
    maker.cheapest(&ways, |maker, way| way(maker, lane, ops))
}

/// Rotations by whole bytes are byte shuffles, if groups of 128 bits do the same.
fn each_bytes(maker: &mut Maker, lane: u8, ops: &[Op]) -> Option<Arg> {
    let amounts = rotations(ops)?;
    let group = 128 / lane as usize;
    let alike = amounts.chunks(group).all(|g| *g == amounts[..group]);
    if !alike || amounts.iter().any(|k| k % 8 != 0) {
        return None;
    }
    let width = lane as usize / 8;
    let byte = |at: usize| {
        let (word, byte) = (at / width, at % width);
        // Lanes are little-endian: a rotation to the left moves bytes up.
        (word * width + (byte + width - amounts[word] as usize / 8) % width) as u8
    };
    maker.has(Inst::Bytes, ANY).then_some(())?;
    let bytes = std::array::from_fn(byte);
    maker.make(Inst::Bytes, ANY, Imm::Bytes(bytes), smallvec![Arg::Operand(0)])
}

fn each_rotated(maker: &mut Maker, lane: u8, ops: &[Op]) -> Option<Arg> {
    let amounts = rotations(ops)?;
    maker.has(Inst::RotlEach, lane).then_some(())?;
    maker.make(Inst::RotlEach, lane, image(lane, &amounts), smallvec![Arg::Operand(0)])
}

/// Two shifts for rotations, one for shifts; an amount of all bits leaves zero.
fn each_shifted(maker: &mut Maker, lane: u8, ops: &[Op]) -> Option<Arg> {
    let a = Arg::Operand(0);
    (maker.has(Inst::ShlEach, lane) && maker.has(Inst::ShrEach, lane)).then_some(())?;
    let m = lane as u64;
    if let Some(amounts) = rotations(ops) {
        let back: Vec<u64> = amounts.iter().map(|k| m - k).collect();
        let left = maker.make(Inst::ShlEach, lane, image(lane, &amounts), smallvec![a])?;
        let right = maker.make(Inst::ShrEach, lane, image(lane, &back), smallvec![a])?;
        return maker.make(Inst::Or, lane, Imm::None, smallvec![left, right]);
    }
    let amounts = |left: bool| -> Option<Vec<u64>> {
        let amount = |op: &Op| match op {
            Op::Copy => Some(0),
            Op::Const(0) => Some(m),
            Op::Shl(k) if left => Some(*k as u64),
            Op::Shr(k) if !left => Some(*k as u64),
            _ => None,
        };
        ops.iter().map(amount).collect()
    };
    let (inst, amounts) = match amounts(true) {
        Some(amounts) => (Inst::ShlEach, amounts),
        None => (Inst::ShrEach, amounts(false)?),
    };
    maker.make(inst, lane, image(lane, &amounts), smallvec![a])
}

/// Every operator on all lanes, of which each keeps its own.
fn each_alone(maker: &mut Maker, lane: u8, ops: &[Op]) -> Option<Arg> {
    let mut result = on_lanes(maker, &ops[0], lane, lane)?;
    for (at, op) in ops.iter().enumerate().skip(1) {
        if ops[..at].contains(op) {
            continue;
        }
        let other = on_lanes(maker, op, lane, lane)?;
        let takes: Vec<bool> = ops.iter().map(|o| o == op).collect();
        result = blend(maker, lane, result, other, &takes)?;
    }
    Some(result)
}

/// The amounts of operators that are all rotations.
fn rotations(ops: &[Op]) -> Option<Vec<u64>> {
    let amount = |op: &Op| match op {
        Op::Copy => Some(0),
        Op::Rotl(k) => Some(*k as u64),
        _ => None,
    };
    ops.iter().map(amount).collect()
}

/// Lanes where `takes` says so from the second register, others from the first.
fn blend(maker: &mut Maker, lane: u8, a: Arg, b: Arg, takes: &[bool]) -> Option<Arg> {
    // Blends of narrower lanes take whole lanes too; blends of wider ones may.
    for width in [64, 32, 16, 8u8] {
        if !maker.has(Inst::Blend, width) {
            continue;
        }
        let count = takes.len() * lane as usize / width as usize;
        let of = |at: usize, bit: usize| takes[(at * width as usize + bit) / lane as usize];
        let whole = |at: usize| (0..width as usize).all(|bit| of(at, bit) == of(at, 0));
        // The mask of a blend of 16-bit lanes has 8 bits on registers of 128.
        if count <= 64 && (0..count).all(whole) {
            let mask = (0..count).fold(0, |mask, at| mask | (of(at, 0) as u64) << at);
            return maker.make(Inst::Blend, width, Imm::Int(mask), smallvec![a, b]);
        }
    }
    let ones = crate::ir::op::mask(lane);
    let words: Vec<u64> = takes.iter().map(|&t| if t { ones } else { 0 }).collect();
    let mask = literal(maker, lane, &words)?;
    let kept = maker.make(Inst::Andn, lane, Imm::None, smallvec![mask, a])?;
    let taken = maker.make(Inst::And, lane, Imm::None, smallvec![mask, b])?;
    maker.make(Inst::Or, lane, Imm::None, smallvec![kept, taken])
}

/// Lane i is lane `from[i]` of the register, or any.
fn moved(maker: &mut Maker, a: Arg, lane: u8, from: &[Option<usize>]) -> Option<Arg> {
    if from.iter().enumerate().all(|(at, from)| from.is_none_or(|p| p == at)) {
        return Some(a);
    }
    let given = Moved { a, lane, from };
    type Way = fn(&mut Maker, &Moved) -> Option<Arg>;
    let ways: [Way; 5] = [by_quads, by_turning, by_bytes, by_quads_of_64, by_permuting];
    maker.cheapest(&ways, |maker, way| way(maker, &given))
}

struct Moved<'a> {
    a: Arg,
    lane: u8,
    from: &'a [Option<usize>],
}

impl Moved<'_> {
    /// The same pattern in elements of `width` bits, each element where it stands in groups of
    /// `group` bits, if all groups do the same.
    fn within(&self, group: usize, width: usize) -> Option<Vec<usize>> {
        let (lane, count) = (self.lane as usize, group / width);
        let bits = self.from.len() * lane;
        // Narrower lanes that travel together; wider ones are cut.
        let source = |element: usize, at: usize| -> Option<Option<usize>> {
            let bit = element * width + at;
            Some(self.from[bit / lane].map(|p| p * lane + bit % lane))
        };
        let mut pattern: Vec<Option<usize>> = vec![None; count];
        for element in 0..bits / width {
            for at in (0..width).step_by(lane.min(width)) {
                let Some(bit) = source(element, at)? else { continue };
                let start = bit.checked_sub(at)?;
                let (there, here) = (start / group, element * width / group);
                if there != here || start % width != 0 {
                    return None;
                }
                let wanted = Some(start % group / width);
                let known = &mut pattern[element % count];
                if known.is_some() && *known != wanted {
                    return None;
                }
                *known = wanted;
            }
        }
        Some(pattern.iter().enumerate().map(|(at, p)| p.unwrap_or(at)).collect())
    }
}

/// Two bits for each of four elements, the first one lowest.
fn quad(pattern: &[usize]) -> Imm {
    Imm::Int(pattern.iter().enumerate().fold(0, |k, (at, &p)| k | (p as u64) << (2 * at)))
}

fn by_quads(maker: &mut Maker, given: &Moved) -> Option<Arg> {
    maker.has(Inst::Quads, 32).then_some(())?;
    let pattern = given.within(128, 32)?;
    maker.make(Inst::Quads, 32, quad(&pattern), smallvec![given.a])
}

fn by_quads_of_64(maker: &mut Maker, given: &Moved) -> Option<Arg> {
    maker.has(Inst::Quads, 64).then_some(())?;
    let pattern = given.within(256, 64)?;
    maker.make(Inst::Quads, 64, quad(&pattern), smallvec![given.a])
}

/// A rotation of each group of 128 bits.
fn by_turning(maker: &mut Maker, given: &Moved) -> Option<Arg> {
    maker.has(Inst::Align, ANY).then_some(())?;
    let pattern = given.within(128, 8)?;
    let first = pattern[0];
    let turned = pattern.iter().enumerate().all(|(at, &p)| p == (at + first) % 16);
    turned.then_some(())?;
    maker.make(Inst::Align, ANY, Imm::Int(first as u64), smallvec![given.a, given.a])
}

fn by_bytes(maker: &mut Maker, given: &Moved) -> Option<Arg> {
    maker.has(Inst::Bytes, ANY).then_some(())?;
    let pattern = given.within(128, 8)?;
    let bytes = std::array::from_fn(|at| pattern[at] as u8);
    maker.make(Inst::Bytes, ANY, Imm::Bytes(bytes), smallvec![given.a])
}

/// Any lane from any other, in the widest lanes for which there is an instruction.
fn by_permuting(maker: &mut Maker, given: &Moved) -> Option<Arg> {
    let bits = given.from.len() * given.lane as usize;
    [64, 32, 16, 8u8].into_iter().find_map(|width| {
        maker.has(Inst::Permute, width).then_some(())?;
        let pattern = given.within(bits, width as usize)?;
        let numbers: Vec<u64> = pattern.iter().map(|&p| p as u64).collect();
        maker.make(Inst::Permute, width, image(width, &numbers), smallvec![given.a])
    })
}

/// Lane i is lane `from[i]` of two registers one after the other.
fn join(maker: &mut Maker, lane: u8, from: &[usize]) -> Option<Arg> {
    type Way = fn(&mut Maker, u8, &[usize]) -> Option<Arg>;
    let ways: [Way; 5] = [join_zipped, join_halves, join_aligned, join_blended, join_permuted];
    maker.cheapest(&ways, |maker, way| way(maker, lane, from))
}

/// The lower or upper halves of groups of 128 bits by turns.
fn join_zipped(maker: &mut Maker, lane: u8, from: &[usize]) -> Option<Arg> {
    maker.has(Inst::ZipLow, lane).then_some(())?;
    let (all, group) = (from.len(), 128 / lane as usize);
    for (inst, half) in [(Inst::ZipLow, 0), (Inst::ZipHigh, group / 2)] {
        for swapped in [false, true] {
            let source = |at: usize| {
                let own = at / group * group + half + at % group / 2;
                if (at % 2 == 1) != swapped { all + own } else { own }
            };
            if (0..all).all(|at| from[at] == source(at)) {
                let (a, b) = (Arg::Operand(swapped as u8), Arg::Operand(!swapped as u8));
                return maker.make(inst, lane, Imm::None, smallvec![a, b]);
            }
        }
    }
    None
}

/// Two elements of four of one register, and then two of the other.
fn join_halves(maker: &mut Maker, lane: u8, from: &[usize]) -> Option<Arg> {
    maker.has(Inst::Halves, lane).then_some(())?;
    let &[a, b, c, d] = from else { return None };
    let (first, second) = (a / 4, c / 4);
    let is_half = a / 4 == b / 4 && c / 4 == d / 4 && first != second;
    is_half.then_some(())?;
    let place = |at: usize| at % 4;
    let pattern = from.iter().rev().fold(0, |all, &at| all << 2 | place(at));
    let operands = smallvec![Arg::Operand(first as u8), Arg::Operand(second as u8)];
    maker.make(Inst::Halves, lane, Imm::Int(pattern as u64), operands)
}

/// A window on two groups of 128 bits, one after the other.
fn join_aligned(maker: &mut Maker, lane: u8, from: &[usize]) -> Option<Arg> {
    maker.has(Inst::Align, ANY).then_some(())?;
    let (all, group) = (from.len(), 128 / lane as usize);
    for swapped in [false, true] {
        for window in 1..group {
            let source = |at: usize| {
                let (base, place) = (at / group * group, at % group + window);
                let second = (place >= group) != swapped;
                base + place % group + if second { all } else { 0 }
            };
            if (0..all).all(|at| from[at] == source(at)) {
                let (a, b) = (Arg::Operand(swapped as u8), Arg::Operand(!swapped as u8));
                let bytes = Imm::Int((window * lane as usize / 8) as u64);
                return maker.make(Inst::Align, ANY, bytes, smallvec![a, b]);
            }
        }
    }
    None
}

/// Both registers moved, and a blend.
fn join_blended(maker: &mut Maker, lane: u8, from: &[usize]) -> Option<Arg> {
    let all = from.len();
    let own = |second: bool| -> Vec<Option<usize>> {
        from.iter().map(|&p| ((p >= all) == second).then_some(p % all)).collect()
    };
    let a = moved(maker, Arg::Operand(0), lane, &own(false))?;
    let b = moved(maker, Arg::Operand(1), lane, &own(true))?;
    let takes: Vec<bool> = from.iter().map(|&p| p >= all).collect();
    blend(maker, lane, a, b, &takes)
}

fn join_permuted(maker: &mut Maker, lane: u8, from: &[usize]) -> Option<Arg> {
    maker.has(Inst::Permute2, lane).then_some(())?;
    let numbers: Vec<u64> = from.iter().map(|&p| p as u64).collect();
    let args = smallvec![Arg::Operand(0), Arg::Operand(1)];
    maker.make(Inst::Permute2, lane, image(lane, &numbers), args)
}
