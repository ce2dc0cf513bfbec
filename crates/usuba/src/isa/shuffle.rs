//! Shuffles: move groups of bits inside words.
//!
//! ```text
//! Shuffle(x:u16, 4 groups [1,0,3,2])   →   (x & 0x0f0f) << 4 | (x >> 4) & 0x0f0f
//! the same in H on SIMD                →   one byte shuffle
//! ```
//!
//! Groups that travel the same distance move together: one shift and one mask for each distance. If
//! a rotation is cheaper than two shifts, distances that agree modulo the width share it. A byte
//! shuffle replaces all of it when the groups are whole bytes.

use smallvec::smallvec;

use super::fallback::byte_pattern;
use super::sequence::{Arg, Args, Imm, Maker, make_bytes};
use super::{ANY, Inst};
use crate::ir::Op;
use crate::ir::op::{affine_form, mask};

/// Groups inside the low `bits` bits of each lane; `sources[i]` is the group that becomes group
/// i, counted from the most significant, or `None` for zeros.
pub fn in_lanes(
    maker: &mut Maker,
    a: Arg,
    bits: u8,
    lane: u8,
    sources: &[Option<u8>],
) -> Option<Arg> {
    let field = Field { bits, lane, group: bits / sources.len() as u8 };
    type Way = fn(&mut Maker, Arg, Field, &[Option<u8>]) -> Option<Arg>;
    let ways: [Way; 4] = [by_bytes, by_matrix, by_shifts, by_rotations];
    maker.cheapest(&ways, |maker, way| way(maker, a, field, sources))
}

/// Elements of a register in H; `sources` has `m` entries.
pub fn in_elements(maker: &mut Maker, a: Arg, m: u8, sources: &[Option<u8>]) -> Option<Arg> {
    if maker.target().simd {
        let width = 16 / m;
        let byte = |i: u8| sources[(i / width) as usize].map(|p| p * width + i % width);
        return make_bytes(maker, a, byte_pattern(byte));
    }
    let whole = maker.whole();
    let field = Field { bits: whole, lane: whole, group: whole / m };
    type Way = fn(&mut Maker, Arg, Field, &[Option<u8>]) -> Option<Arg>;
    let ways: [Way; 3] = [by_shifts, by_rotations, by_filling];
    maker.cheapest(&ways, |maker, way| way(maker, a, field, sources))
}

/// A literal in H: elements of ones where the word has a one.
pub fn positions(maker: &mut Maker, m: u8, value: u64) -> Option<Arg> {
    let value = value & mask(m);
    let set = |i: u8| value >> (m - 1 - i) & 1 == 1;
    if value == 0 || value == mask(m) {
        return maker.splat(maker.whole(), if value == 0 { 0 } else { u64::MAX });
    }
    if maker.target().simd {
        let bytes = std::array::from_fn(|i| if set(i as u8 / (16 / m)) { 0xff } else { 0 });
        return maker.make(Inst::Splat128, ANY, Imm::Bytes(bytes), Args::new());
    }
    let whole = maker.whole();
    let width = whole / m;
    let word = (0..m)
        .filter(|&i| set(i))
        .fold(0, |word, i| word | mask(width) << (whole - (i + 1) * width));
    maker.splat(whole, word)
}

/// All ones where bit i of the word is set, else zero.
pub fn bitmask(maker: &mut Maker, a: Arg, bits: u8, lane: u8, i: u8) -> Option<Arg> {
    type Way = fn(&mut Maker, Arg, u8, u8) -> Option<Arg>;
    if bits == 8 && maker.has(Inst::Affine, 8) {
        // Every row of the matrix is the bit.
        return maker.matrix(Inst::Affine, a, 0x0101_0101_0101_0101 << i, 0);
    }
    let ways: [Way; 4] = [mask_by_sign, mask_by_shifts, mask_by_compare, mask_by_minus];
    let all = maker.cheapest(&ways, |maker, way| way(maker, a, lane, i))?;
    maker.clip(all, bits, lane)
}

fn mask_by_sign(maker: &mut Maker, a: Arg, lane: u8, i: u8) -> Option<Arg> {
    maker.has(Inst::Negative, lane).then_some(())?;
    let top = maker.make(Inst::Shl, lane, Imm::Int((lane - 1 - i) as u64), smallvec![a])?;
    maker.make(Inst::Negative, lane, Imm::None, smallvec![top])
}

fn mask_by_shifts(maker: &mut Maker, a: Arg, lane: u8, i: u8) -> Option<Arg> {
    maker.has(Inst::Sar, lane).then_some(())?;
    let top = maker.make(Inst::Shl, lane, Imm::Int((lane - 1 - i) as u64), smallvec![a])?;
    maker.make(Inst::Sar, lane, Imm::Int(lane as u64 - 1), smallvec![top])
}

fn mask_by_compare(maker: &mut Maker, a: Arg, lane: u8, i: u8) -> Option<Arg> {
    maker.has(Inst::Equal, lane).then_some(())?;
    let bit = maker.splat(lane, 1 << i)?;
    let alone = maker.make(Inst::And, lane, Imm::None, smallvec![a, bit])?;
    maker.make(Inst::Equal, lane, Imm::None, smallvec![alone, bit])
}

fn mask_by_minus(maker: &mut Maker, a: Arg, lane: u8, i: u8) -> Option<Arg> {
    let low = maker.make(Inst::Shr, lane, Imm::Int(i as u64), smallvec![a])?;
    let one = maker.splat(lane, 1)?;
    let low = maker.make(Inst::And, lane, Imm::None, smallvec![low, one])?;
    let zero = maker.splat(lane, 0)?;
    maker.make(Inst::Sub, lane, Imm::None, smallvec![zero, low])
}

/// The low `bits` bits of a lane, cut into groups of `group` bits.
#[derive(Clone, Copy)]
struct Field {
    bits: u8,
    lane: u8,
    group: u8,
}

impl Field {
    /// Ones at group i, counted from the most significant.
    fn ones(self, i: usize) -> u64 {
        mask(self.group) << (self.bits - (i as u8 + 1) * self.group)
    }

    /// How far group `from` travels to the left to become group `to`, in bits.
    fn distance(self, from: u8, to: usize) -> i32 {
        (from as i32 - to as i32) * self.group as i32
    }
}

fn by_bytes(maker: &mut Maker, a: Arg, field: Field, sources: &[Option<u8>]) -> Option<Arg> {
    if !field.group.is_multiple_of(8) {
        return None;
    }
    let (lane, word, group) = (field.lane / 8, field.bits / 8, field.group / 8);
    let byte = |i: u8| {
        let (start, at) = (i / lane * lane, i % lane);
        // Lanes are little-endian, groups count from the other end.
        let from_top = word.checked_sub(1 + at)?;
        let source = sources[(from_top / group) as usize]?;
        Some(start + word - 1 - (source * group + from_top % group))
    };
    make_bytes(maker, a, byte_pattern(byte))
}

/// Bits of a byte, if the target moves them in any way.
fn by_matrix(maker: &mut Maker, a: Arg, field: Field, sources: &[Option<u8>]) -> Option<Arg> {
    if field.bits != 8 || sources.iter().any(Option::is_none) {
        return None;
    }
    let pattern: Vec<u8> = sources.iter().flatten().copied().collect();
    let op = Op::Shuffle(pattern.into());
    let table = std::array::from_fn(|a| op.eval(8, &[a as u64]) as u8);
    let (matrix, c) = affine_form(&table)?;
    maker.matrix(Inst::Affine, a, matrix, c)
}

fn by_shifts(maker: &mut Maker, a: Arg, field: Field, sources: &[Option<u8>]) -> Option<Arg> {
    let mut terms: Vec<(i32, u64)> = Vec::new();
    for (to, from) in sources.iter().enumerate() {
        let Some(from) = from else { continue };
        join(&mut terms, field.distance(*from, to), field.ones(to));
    }
    let full = mask(field.bits);
    sum(maker, field, &terms, |maker, distance, kept| {
        let amount = Imm::Int(distance.unsigned_abs() as u64);
        let (inst, reach) = if distance >= 0 {
            (Inst::Shl, full << distance & mask(field.lane))
        } else {
            (Inst::Shr, full >> -distance)
        };
        let moved = maker.make(inst, field.lane, amount, smallvec![a])?;
        select_bits(maker, field.lane, moved, reach, kept)
    })
}

fn by_rotations(maker: &mut Maker, a: Arg, field: Field, sources: &[Option<u8>]) -> Option<Arg> {
    if field.bits != field.lane {
        return None;
    }
    let width = field.bits as i32;
    let mut terms: Vec<(i32, u64)> = Vec::new();
    for (to, from) in sources.iter().enumerate() {
        let Some(from) = from else { continue };
        join(&mut terms, field.distance(*from, to).rem_euclid(width), field.ones(to));
    }
    let full = mask(field.bits);
    sum(maker, field, &terms, |maker, distance, kept| {
        let (left, right) = (full << distance & full, full >> ((width - distance) % width));
        let one = |maker: &mut Maker, inst, by: i32| {
            maker.make(inst, field.lane, Imm::Int(by as u64), smallvec![a])
        };
        if distance == 0 {
            return select_bits(maker, field.lane, a, full, kept);
        }
        let (moved, reach) = if kept & !left == 0 {
            (one(maker, Inst::Shl, distance)?, left)
        } else if kept & !right == 0 {
            (one(maker, Inst::Shr, width - distance)?, right)
        } else {
            (one(maker, Inst::Rotl, distance)?, full)
        };
        select_bits(maker, field.lane, moved, reach, kept)
    })
}

/// A run of copies of one group beside groups that all travel the same distance: the arithmetic
/// shift and the bit mask of H on general-purpose registers. The copies double with each step.
fn by_filling(maker: &mut Maker, a: Arg, field: Field, sources: &[Option<u8>]) -> Option<Arg> {
    let first = (*sources.first()?)?;
    let run = sources.iter().take_while(|s| **s == Some(first)).count();
    let rest = &sources[run..];
    let lane = field.lane;
    let top = maker.make(Inst::Shl, lane, Imm::Int((first * field.group) as u64), smallvec![a])?;
    let kept = maker.splat(lane, field.ones(0))?;
    let mut filled = maker.make(Inst::And, lane, Imm::None, smallvec![top, kept])?;
    let mut count = 1;
    while count < run {
        let more = count.min(run - count);
        let by = Imm::Int(more as u64 * field.group as u64);
        let copy = maker.make(Inst::Shr, lane, by, smallvec![filled])?;
        filled = maker.make(Inst::Or, lane, Imm::None, smallvec![filled, copy])?;
        count += more;
    }
    if rest.iter().all(|s| s.is_none()) {
        return Some(filled);
    }
    let mut others = vec![None; run];
    others.extend_from_slice(rest);
    let others = by_shifts(maker, a, field, &others)?;
    maker.make(Inst::Or, lane, Imm::None, smallvec![filled, others])
}

/// Adds result bits to the term with this distance; terms keep the order of first appearance.
fn join(terms: &mut Vec<(i32, u64)>, distance: i32, ones: u64) {
    match terms.iter_mut().find(|(d, _)| *d == distance) {
        Some((_, kept)) => *kept |= ones,
        None => terms.push((distance, ones)),
    }
}

fn sum(
    maker: &mut Maker,
    field: Field,
    terms: &[(i32, u64)],
    mut term: impl FnMut(&mut Maker, i32, u64) -> Option<Arg>,
) -> Option<Arg> {
    let mut total = None;
    for &(distance, kept) in terms {
        let one = term(maker, distance, kept)?;
        total = Some(match total {
            None => one,
            Some(sum) => maker.make(Inst::Or, field.lane, Imm::None, smallvec![sum, one])?,
        });
    }
    match total {
        Some(sum) => Some(sum),
        None => maker.splat(field.lane, 0),
    }
}

/// Keeps the bits `kept` of a value that is zero outside of `reach`.
fn select_bits(maker: &mut Maker, lane: u8, a: Arg, reach: u64, kept: u64) -> Option<Arg> {
    if reach & !kept == 0 {
        return Some(a);
    }
    let kept = maker.splat(lane, kept)?;
    maker.make(Inst::And, lane, Imm::None, smallvec![a, kept])
}
