//! Legalization: expands instructions that a target lacks into instructions that it has.
//!
//! ```text
//! rotl 32, 7   →   or(shl 32, 7; shr 32, 25)          where there is no rotation
//! rotl 32, 8   →   bytes 3 0 1 2  7 4 5 6 ...         where there is a byte shuffle
//! shl 8, 3     →   and(shl 16, 3; splat 8, 0xf8)      where 8-bit lanes have no shifts
//! ```
//!
//! One table serves all targets. The builder tries every entry that applies and keeps the cheapest,
//! where an instruction costs 4, a multiplication 12 and a constant 1 (it is loaded once, outside
//! of loops). An expansion only asks for instructions further down in the order of the table, or on
//! wider lanes, so the search ends.

use smallvec::smallvec;

use super::sequence::{Arg, Args, Imm, Maker};
use super::{ANY, Inst, ZERO};
use crate::circuit::three_bits::{self, Form};
use crate::ir::Op;
use crate::ir::op::{affine_form, mask};

/// One way to make an instruction.
pub struct Fallback {
    pub inst: Inst,
    pub about: &'static str,
    make: fn(&mut Maker, &Want) -> Option<Arg>,
}

/// The instruction that is wanted.
#[derive(Clone, Debug)]
pub struct Want {
    pub lane: u8,
    pub imm: Imm,
    pub args: Args,
}

#[rustfmt::skip] // One way, one line.
pub const TABLE: &[Fallback] = &[
    Fallback { inst: Inst::Lut3,     about: "the cheapest expression of two-operand logic", make: lut3 },
    Fallback { inst: Inst::Rotl,     about: "8 bits: an affine map",                     make: rotl_affine },
    Fallback { inst: Inst::Rotl,     about: "a byte shuffle",                            make: rotl_bytes },
    Fallback { inst: Inst::Rotl,     about: "two shifts",                                make: rotl_shifts },
    Fallback { inst: Inst::Mul,      about: "8 bits: even and odd bytes in 16-bit lanes",  make: mul8 },
    Fallback { inst: Inst::Mul,      about: "64 bits: three 32-bit products",            make: mul64 },
    Fallback { inst: Inst::Sar,      about: "8 bits: an affine map",                     make: sar_affine },
    Fallback { inst: Inst::MulHigh,  about: "8 and 16 bits: the product in wider lanes",  make: mulhigh_wider },
    Fallback { inst: Inst::MulHigh,  about: "64 bits: four 32-bit products",              make: mulhigh64 },
    Fallback { inst: Inst::Less,     about: "the borrow of a difference",                 make: less },
    Fallback { inst: Inst::Sar,      about: "the sign of each lane",                     make: sar_sign },
    Fallback { inst: Inst::Sar,      about: "a logical shift, then the sign is spread",  make: sar_spread },
    Fallback { inst: Inst::Negative, about: "an arithmetic shift",                       make: negative },
    Fallback { inst: Inst::Shl,      about: "8 bits: an affine map",                     make: shl_affine },
    Fallback { inst: Inst::Shl,      about: "left by one: a sum",                        make: shl_sum },
    Fallback { inst: Inst::Shl,      about: "8 bits: 16-bit shift and mask",             make: shl8 },
    Fallback { inst: Inst::Shr,      about: "8 bits: an affine map",                     make: shr_affine },
    Fallback { inst: Inst::Shr,      about: "8 bits: 16-bit shift and mask",             make: shr8 },
    Fallback { inst: Inst::Andn,     about: "not, and",                                  make: andn },
    Fallback { inst: Inst::Not,      about: "xor with ones",                             make: not },
];

/// Makes `inst` in the cheapest way that the table has; `None` if there is none.
pub fn expand(maker: &mut Maker, inst: Inst, want: &Want) -> Option<Arg> {
    let ways: Vec<_> = TABLE.iter().filter(|way| way.inst == inst).map(|way| way.make).collect();
    maker.cheapest(&ways, |maker, way| way(maker, want))
}

fn lut3(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let Imm::Int(table) = want.imm else { return None };
    tree(maker, want, table as u8)
}

fn tree(maker: &mut Maker, want: &Want, table: u8) -> Option<Arg> {
    let lane = want.lane;
    let two = |maker: &mut Maker, inst, f, g| {
        let a = tree(maker, want, f)?;
        let b = tree(maker, want, g)?;
        maker.make(inst, lane, Imm::None, smallvec![a, b])
    };
    match three_bits::cheapest(table, maker.target().simd) {
        Form::Operand(i) => Some(want.args[i as usize]),
        Form::Zero => maker.splat(lane, 0),
        Form::Ones => maker.splat(lane, u64::MAX),
        Form::Not(f) => {
            let a = tree(maker, want, f)?;
            maker.make(Inst::Not, lane, Imm::None, smallvec![a])
        }
        Form::And(f, g) => two(maker, Inst::And, f, g),
        Form::Or(f, g) => two(maker, Inst::Or, f, g),
        Form::Xor(f, g) => two(maker, Inst::Xor, f, g),
        Form::Andn(f, g) => two(maker, Inst::Andn, f, g),
    }
}

fn rotl_affine(maker: &mut Maker, want: &Want) -> Option<Arg> {
    affine(maker, want, Op::Rotl)
}

fn sar_affine(maker: &mut Maker, want: &Want) -> Option<Arg> {
    affine(maker, want, Op::Sar)
}

fn shl_affine(maker: &mut Maker, want: &Want) -> Option<Arg> {
    affine(maker, want, Op::Shl)
}

fn shr_affine(maker: &mut Maker, want: &Want) -> Option<Arg> {
    affine(maker, want, Op::Shr)
}

/// The matrix of an operator that moves the bits of a byte.
fn affine(maker: &mut Maker, want: &Want, op: fn(u8) -> Op) -> Option<Arg> {
    (want.lane == 8).then_some(())?;
    let op = op(want.imm.int()? as u8);
    let table = std::array::from_fn(|a| op.eval(8, &[a as u64]) as u8);
    let (matrix, c) = affine_form(&table)?;
    maker.matrix(Inst::Affine, want.args[0], matrix, c)
}

fn rotl_bytes(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let k = want.imm.int()?;
    if !maker.has(Inst::Bytes, ANY) || k % 8 != 0 {
        return None;
    }
    let width = want.lane / 8;
    let turn = k as u8 / 8;
    let source = |i: u8| (i / width) * width + (i % width + width - turn) % width;
    let bytes = std::array::from_fn(|i| source(i as u8));
    maker.make(Inst::Bytes, ANY, Imm::Bytes(bytes), want.args.clone())
}

fn rotl_shifts(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let k = want.imm.int()?;
    let left = maker.make(Inst::Shl, want.lane, Imm::Int(k), want.args.clone())?;
    let right =
        maker.make(Inst::Shr, want.lane, Imm::Int(want.lane as u64 - k), want.args.clone())?;
    maker.make(Inst::Or, want.lane, Imm::None, smallvec![left, right])
}

fn mul8(maker: &mut Maker, want: &Want) -> Option<Arg> {
    if want.lane != 8 {
        return None;
    }
    let (a, b) = (want.args[0], want.args[1]);
    let even = maker.make(Inst::Mul, 16, Imm::None, smallvec![a, b])?;
    let low = maker.splat(16, 0x00ff)?;
    let even = maker.make(Inst::And, 16, Imm::None, smallvec![even, low])?;
    let a = maker.make(Inst::Shr, 16, Imm::Int(8), smallvec![a])?;
    let b = maker.make(Inst::Shr, 16, Imm::Int(8), smallvec![b])?;
    let odd = maker.make(Inst::Mul, 16, Imm::None, smallvec![a, b])?;
    let odd = maker.make(Inst::Shl, 16, Imm::Int(8), smallvec![odd])?;
    maker.make(Inst::Or, 16, Imm::None, smallvec![even, odd])
}

fn mul64(maker: &mut Maker, want: &Want) -> Option<Arg> {
    if want.lane != 64 || !maker.has(Inst::MulWide, 64) {
        return None;
    }
    let (a, b) = (want.args[0], want.args[1]);
    let wide = |maker: &mut Maker, x, y| maker.make(Inst::MulWide, 64, Imm::None, smallvec![x, y]);
    let a_high = maker.make(Inst::Shr, 64, Imm::Int(32), smallvec![a])?;
    let b_high = maker.make(Inst::Shr, 64, Imm::Int(32), smallvec![b])?;
    let low = wide(maker, a, b)?;
    let left = wide(maker, a_high, b)?;
    let right = wide(maker, a, b_high)?;
    let cross = maker.make(Inst::Add, 64, Imm::None, smallvec![left, right])?;
    let cross = maker.make(Inst::Shl, 64, Imm::Int(32), smallvec![cross])?;
    maker.make(Inst::Add, 64, Imm::None, smallvec![low, cross])
}

/// In lanes of twice the width, the even and the odd words by themselves.
fn mulhigh_wider(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let lane = want.lane;
    if !maker.target().simd || lane > 32 {
        return None;
    }
    let (a, b) = (want.args[0], want.args[1]);
    let wide = 2 * lane;
    let half = Imm::Int(lane as u64);
    let low = maker.splat(wide, mask(lane))?;
    let upper = maker.splat(wide, mask(lane) << lane)?;
    let product = |maker: &mut Maker, a, b| match wide {
        64 => maker.make(Inst::MulWide, 64, Imm::None, smallvec![a, b]),
        _ => maker.make(Inst::Mul, wide, Imm::None, smallvec![a, b]),
    };
    let even = |maker: &mut Maker, x| maker.make(Inst::And, wide, Imm::None, smallvec![x, low]);
    let odd = |maker: &mut Maker, x| maker.make(Inst::Shr, wide, half, smallvec![x]);
    let (a0, b0) = (even(maker, a)?, even(maker, b)?);
    let (a1, b1) = (odd(maker, a)?, odd(maker, b)?);
    let first = product(maker, a0, b0)?;
    let first = maker.make(Inst::Shr, wide, half, smallvec![first])?;
    let second = product(maker, a1, b1)?;
    let second = maker.make(Inst::And, wide, Imm::None, smallvec![second, upper])?;
    maker.make(Inst::Or, wide, Imm::None, smallvec![first, second])
}

/// With a = a1 * 2^32 + a0 and b alike, the carry of the lowest product is added to the products in
/// the middle; no sum exceeds 64 bits.
fn mulhigh64(maker: &mut Maker, want: &Want) -> Option<Arg> {
    (want.lane == 64).then_some(())?;
    let (a, b) = (want.args[0], want.args[1]);
    let lane = 64;
    let low = maker.splat(lane, 0xffff_ffff)?;
    let clip = |maker: &mut Maker, x| maker.make(Inst::And, lane, Imm::None, smallvec![x, low]);
    let upper = |maker: &mut Maker, x| maker.make(Inst::Shr, lane, Imm::Int(32), smallvec![x]);
    let add = |maker: &mut Maker, x, y| maker.make(Inst::Add, lane, Imm::None, smallvec![x, y]);
    let wide = maker.has(Inst::MulWide, lane);
    let (mut a0, mut b0) = (a, b);
    if !wide {
        (a0, b0) = (clip(maker, a)?, clip(maker, b)?);
    }
    let (a1, b1) = (upper(maker, a)?, upper(maker, b)?);
    let inst = if wide { Inst::MulWide } else { Inst::Mul };
    let product = |maker: &mut Maker, x, y| maker.make(inst, lane, Imm::None, smallvec![x, y]);
    let lowest = product(maker, a0, b0)?;
    let left = product(maker, a1, b0)?;
    let right = product(maker, a0, b1)?;
    let highest = product(maker, a1, b1)?;
    let carried = upper(maker, lowest)?;
    let (l, r) = (clip(maker, left)?, clip(maker, right)?);
    let middle = add(maker, carried, l)?;
    let middle = add(maker, middle, r)?;
    let (l, r, m) = (upper(maker, left)?, upper(maker, right)?, upper(maker, middle)?);
    let sum = add(maker, highest, l)?;
    let sum = add(maker, sum, r)?;
    add(maker, sum, m)
}

/// The top bit of `(~a & b) | (~(a ^ b) & (a - b))`: if the top bits differ, the top bit of b
/// decides, and if they agree, the top bit of the difference.
fn less(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let (a, b, lane) = (want.args[0], want.args[1], want.lane);
    let two = |maker: &mut Maker, inst, x, y| maker.make(inst, lane, Imm::None, smallvec![x, y]);
    let below = two(maker, Inst::Andn, a, b)?;
    let differ = two(maker, Inst::Xor, a, b)?;
    let difference = two(maker, Inst::Sub, a, b)?;
    let borrow = two(maker, Inst::Andn, differ, difference)?;
    let either = two(maker, Inst::Or, below, borrow)?;
    maker.make(Inst::Shr, lane, Imm::Int(lane as u64 - 1), smallvec![either])
}

fn sar_sign(maker: &mut Maker, want: &Want) -> Option<Arg> {
    if want.imm.int()? + 1 != want.lane as u64 || !maker.has(Inst::Negative, want.lane) {
        return None;
    }
    maker.make(Inst::Negative, want.lane, Imm::None, want.args.clone())
}

/// The sign sits at bit L-1-k after the logical shift; `(t ^ s) - s` with `s` that bit copies it
/// upwards.
fn sar_spread(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let (lane, k) = (want.lane, want.imm.int()?);
    let t = maker.make(Inst::Shr, lane, Imm::Int(k), want.args.clone())?;
    let s = maker.splat(lane, 1 << (lane as u64 - 1 - k))?;
    let t = maker.make(Inst::Xor, lane, Imm::None, smallvec![t, s])?;
    maker.make(Inst::Sub, lane, Imm::None, smallvec![t, s])
}

fn negative(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let k = Imm::Int(want.lane as u64 - 1);
    maker.has(Inst::Sar, want.lane).then_some(())?;
    maker.make(Inst::Sar, want.lane, k, want.args.clone())
}

fn shl_sum(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let a = want.args[0];
    (want.imm == Imm::Int(1)).then_some(())?;
    maker.make(Inst::Add, want.lane, Imm::None, smallvec![a, a])
}

fn shl8(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let k = want.imm.int()?;
    (want.lane == 8).then_some(())?;
    let wide = maker.make(Inst::Shl, 16, want.imm, want.args.clone())?;
    let kept = maker.splat(8, 0xff << k & 0xff)?;
    maker.make(Inst::And, 8, Imm::None, smallvec![wide, kept])
}

fn shr8(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let k = want.imm.int()?;
    (want.lane == 8).then_some(())?;
    let wide = maker.make(Inst::Shr, 16, want.imm, want.args.clone())?;
    let kept = maker.splat(8, 0xff >> k)?;
    maker.make(Inst::And, 8, Imm::None, smallvec![wide, kept])
}

fn andn(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let inverse = maker.make(Inst::Not, want.lane, Imm::None, smallvec![want.args[0]])?;
    maker.make(Inst::And, want.lane, Imm::None, smallvec![inverse, want.args[1]])
}

fn not(maker: &mut Maker, want: &Want) -> Option<Arg> {
    let ones = maker.splat(want.lane, u64::MAX)?;
    maker.make(Inst::Xor, want.lane, Imm::None, smallvec![want.args[0], ones])
}

/// Bytes of zero in a [`Inst::Bytes`] pattern and sources elsewhere, for the 16 bytes of a group
/// in memory order; `source` gives the byte or `None` for zero.
pub fn byte_pattern(source: impl Fn(u8) -> Option<u8>) -> [u8; 16] {
    std::array::from_fn(|i| source(i as u8).unwrap_or(ZERO))
}
