//! Instructions on vectors.

use super::{Code, Gate, LaneShift, Lanes, Lanewise, Long, OfLane, Permutation, Vector};

/// The forms of instructions, by bits that all codes of a form have.
pub fn vector(code: Code) -> Option<Vector> {
    let is = |mask: u32, value: u32| code.0 & mask == value;
    if is(0x9f20_8400, 0x0e00_0400) && code.bits(21, 3) == 0 {
        return copy(code);
    }
    if is(0x9f20_0400, 0x0e20_0400) {
        return same(code);
    }
    if is(0xdf20_0400, 0x5e20_0400) {
        return scalar_same(code);
    }
    if is(0x9f20_0c00, 0x0e20_0000) {
        return different(code);
    }
    if is(0x9f3e_0c00, 0x0e20_0800) {
        return of_lane(code);
    }
    if is(0xdf3e_0c00, 0x5e20_0800) {
        return scalar_of_lane(code);
    }
    if is(0x9f80_0400, 0x0f00_0400) {
        return if code.bits(19, 4) == 0 { constant(code) } else { shift(code) };
    }
    if is(0xdf80_0400, 0x5f00_0400) && code.bit(22) {
        return scalar_shift(code);
    }
    if is(0x9f00_0400, 0x0f00_0000) {
        return by_element(code);
    }
    if is(0xbf20_8c00, 0x0e00_0800) {
        return permute(code);
    }
    if is(0xbfe0_8400, 0x2e00_0000) {
        let (all, at) = (all(code), code.bits(11, 4));
        let (to, a, b) = operands(code);
        return (at < all / 8).then_some(Vector::Align { all, to, a, b, at });
    }
    if is(0xbfe0_8c00, 0x0e00_0000) {
        let (to, first, numbers) = operands(code);
        let (keeps, count) = (code.bit(12), code.bits(13, 2) + 1);
        return Some(Vector::Table { keeps, all: all(code), to, first, count, numbers });
    }
    if is(0xffe0_fc00, 0x5e00_0400) {
        let (bits, at) = element(code)?;
        let lanes = Lanes { bits, all: bits };
        return Some(Vector::Duplicate { lanes, to: code.register(0), from: code.register(5), at });
    }
    if is(0xbf3f_fc00, 0x0e31_b800) {
        let lanes = lanes(code)?;
        let is_long_enough = lanes.all / lanes.bits >= 4;
        let (to, from) = (code.register(0), code.register(5));
        return is_long_enough.then_some(Vector::Sum { lanes, to, from });
    }
    if is(0xffff_fc00, 0x5ef1_b800) {
        return Some(Vector::SumOfPair { to: code.register(0), from: code.register(5) });
    }
    moved(code)
}

/// fmov of registers.
fn moved(code: Code) -> Option<Vector> {
    let (to, from) = (code.register(0), code.register(5));
    let general = |bits: usize, upper: bool| match code.bit(16) {
        true => Vector::FromGeneral { bits, upper, to, from },
        false => Vector::ToGeneral { bits, upper, to, from },
    };
    match code.0 & !0x3ff {
        0x1e26_0000 | 0x1e27_0000 => Some(general(32, false)),
        0x9e66_0000 | 0x9e67_0000 => Some(general(64, false)),
        0x9eae_0000 | 0x9eaf_0000 => Some(general(64, true)),
        0x1e20_4000 => Some(Vector::Move { bits: 32, to, from }),
        0x1e60_4000 => Some(Vector::Move { bits: 64, to, from }),
        _ => None,
    }
}

/// Bits of the vectors.
fn all(code: Code) -> usize {
    64 << code.bits(30, 1)
}

/// The lanes by the two bits of their size. A vector has several.
fn lanes(code: Code) -> Option<Lanes> {
    let lanes = Lanes { bits: 8 << code.bits(22, 2), all: all(code) };
    (lanes.bits < lanes.all).then_some(lanes)
}

fn operands(code: Code) -> (usize, usize, usize) {
    (code.register(0), code.register(5), code.register(16))
}

/// The size of a lane and its number, by the lowest one in five bits.
fn element(code: Code) -> Option<(usize, usize)> {
    let field = code.bits(16, 5);
    let size = field.trailing_zeros();
    (size < 4).then(|| (8 << size, field >> (size + 1)))
}

fn copy(code: Code) -> Option<Vector> {
    let (bits, at) = element(code)?;
    let (all, to, from) = (all(code), code.register(0), code.register(5));
    let other = code.bits(11, 4);
    if code.bit(29) {
        // The bits below the number of the lane are ignored.
        let lane = other >> (bits / 8).ilog2();
        return (all == 128).then_some(Vector::InsertLane { bits, to, at, from, lane });
    }
    let lanes = Lanes { bits, all };
    let is_vector = bits < all;
    match other {
        0b0000 if is_vector => Some(Vector::Duplicate { lanes, to, from, at }),
        0b0001 if is_vector => Some(Vector::Broadcast { lanes, to, from }),
        0b0011 if all == 128 => Some(Vector::Insert { bits, to, at, from }),
        0b0101 if bits < 32 || bits == 32 && all == 128 => {
            Some(Vector::Extract { signed: true, wide: all == 128, bits, to, from, at })
        }
        0b0111 if (bits == 64) == (all == 128) => {
            Some(Vector::Extract { signed: false, wide: bits == 64, bits, to, from, at })
        }
        _ => None,
    }
}

/// The operation of lanes of two vectors, by the flag and five bits.
fn lanewise(code: Code, bits: usize) -> Option<Lanewise> {
    let flag = code.bit(29);
    let signed = !flag;
    Some(match (code.bits(11, 5), flag) {
        (0b10000, false) => Lanewise::Add,
        (0b10000, true) => Lanewise::Subtract,
        (0b10001, false) => Lanewise::Test,
        (0b10001, true) => Lanewise::Equal,
        (0b00110, false) => Lanewise::Greater,
        (0b00110, true) => Lanewise::Higher,
        (0b00111, false) => Lanewise::GreaterOrEqual,
        (0b00111, true) => Lanewise::HigherOrSame,
        (0b01000, _) => Lanewise::Shift { signed },
        (0b01100, _) if bits < 64 => Lanewise::Most { signed },
        (0b01101, _) if bits < 64 => Lanewise::Least { signed },
        (0b10010, false) if bits < 64 => Lanewise::MultiplyAdd,
        (0b10010, true) if bits < 64 => Lanewise::MultiplySubtract,
        (0b10011, false) if bits < 64 => Lanewise::Multiply,
        (0b10111, false) => Lanewise::AddPairs,
        _ => return None,
    })
}

fn same(code: Code) -> Option<Vector> {
    let (to, a, b) = operands(code);
    if code.bits(11, 5) == 0b00011 {
        let gate = match (code.bit(29), code.bits(22, 2)) {
            (false, 0) => Gate::And,
            (false, 1) => Gate::AndNot,
            (false, 2) => Gate::Or,
            (false, _) => Gate::OrNot,
            (true, 0) => Gate::Xor,
            (true, 1) => Gate::Choose,
            (true, 2) => Gate::InsertTrue,
            (true, _) => Gate::InsertFalse,
        };
        return Some(Vector::Gate { gate, all: all(code), to, a, b });
    }
    let lanes = lanes(code)?;
    Some(Vector::Lanewise { operation: lanewise(code, lanes.bits)?, lanes, to, a, b })
}

fn scalar_same(code: Code) -> Option<Vector> {
    let (to, a, b) = operands(code);
    let operation = lanewise(code, 64)?;
    let is_whole = code.bits(22, 2) == 3 && operation != Lanewise::AddPairs;
    let lanes = Lanes { bits: 64, all: 64 };
    is_whole.then_some(Vector::Lanewise { operation, lanes, to, a, b })
}

fn different(code: Code) -> Option<Vector> {
    let (to, a, b) = operands(code);
    let (bits, upper, signed) = (8 << code.bits(22, 2), code.bit(30), !code.bit(29));
    let operation = match code.bits(12, 4) {
        0b0000 => Long::Add,
        0b0001 => Long::AddWide,
        0b0010 => Long::Subtract,
        0b0011 => Long::SubtractWide,
        0b1000 => Long::MultiplyAdd,
        0b1010 => Long::MultiplySubtract,
        0b1100 => Long::Multiply,
        0b1110 if signed && (bits == 8 || bits == 64) => Long::Polynomial,
        _ => return None,
    };
    let is_fit = bits < 64 || operation == Long::Polynomial;
    is_fit.then_some(Vector::Long { operation, signed, bits, upper, to, a, b, at: None })
}

/// The operation of lanes of one vector.
fn one(code: Code, bits: usize) -> Option<OfLane> {
    Some(match (code.bits(12, 5), code.bit(29)) {
        (0b00000, false) if bits < 64 => OfLane::Reverse(64),
        (0b00000, true) if bits < 32 => OfLane::Reverse(32),
        (0b00001, false) if bits < 16 => OfLane::Reverse(16),
        (0b00100, true) if bits < 64 => OfLane::LeadingZeros,
        (0b00101, false) if bits == 8 => OfLane::Count,
        (0b00101, true) if bits == 8 => OfLane::Not,
        (0b00101, true) if bits == 16 => OfLane::Bits,
        (0b01000, false) => OfLane::GreaterZero,
        (0b01000, true) => OfLane::GreaterOrEqualZero,
        (0b01001, false) => OfLane::EqualZero,
        (0b01001, true) => OfLane::LessOrEqualZero,
        (0b01010, false) => OfLane::LessZero,
        (0b01011, false) => OfLane::Absolute,
        (0b01011, true) => OfLane::Negate,
        (0b01111, false) if bits >= 32 => OfLane::NoSign,
        (0b01111, true) if bits >= 32 => OfLane::Sign,
        _ => return None,
    })
}

fn of_lane(code: Code) -> Option<Vector> {
    let (to, from, bits) = (code.register(0), code.register(5), 8 << code.bits(22, 2));
    let upper = code.bit(30);
    match (code.bits(12, 5), code.bit(29)) {
        (0b10010, false) if bits < 64 => {
            return Some(Vector::Narrow { bits, upper, shift: None, to, from });
        }
        // shll: by the bits of a lane.
        (0b10011, true) if bits < 64 => {
            let (signed, count) = (false, bits);
            return Some(Vector::ShiftLong { signed, bits, upper, to, from, count });
        }
        _ => {}
    }
    let lanes = lanes(code)?;
    let operation = one(code, bits)?;
    let lanes = if operation == OfLane::Bits { Lanes { bits: 8, ..lanes } } else { lanes };
    Some(Vector::OfLane { operation, lanes, to, from })
}

fn scalar_of_lane(code: Code) -> Option<Vector> {
    let operation = one(code, 64)?;
    let lanes = Lanes { bits: 64, all: 64 };
    let is_number = matches!(operation, OfLane::Sign | OfLane::NoSign);
    let is_whole = code.bits(22, 2) == 3 && !is_number;
    let (to, from) = (code.register(0), code.register(5));
    is_whole.then_some(Vector::OfLane { operation, lanes, to, from })
}

fn constant(code: Code) -> Option<Vector> {
    let (flag, mode) = (code.bit(29), code.bits(12, 4));
    let byte = (code.bits(16, 3) << 5 | code.bits(5, 5)) as u64;
    let all = all(code);
    // A floating-point number of half of the bits, or no vector.
    if code.bit(11) || mode == 0b1111 && flag && all == 64 {
        return None;
    }
    Some(Vector::Constant { all, flag, mode, byte, to: code.register(0) })
}

/// The shift of lanes by the highest one of seven bits: their size, and the field without it.
fn shift_field(code: Code) -> (usize, usize) {
    let field = code.bits(16, 7);
    (8 << (field >> 3).ilog2(), field)
}

fn lane_shift(code: Code) -> Option<(LaneShift, bool)> {
    let flag = code.bit(29);
    let signed = !flag;
    // Shifts to the right count from the other end.
    Some(match (code.bits(11, 5), flag) {
        (0b00000, _) => (LaneShift::Right { signed }, true),
        (0b00010, _) => (LaneShift::RightAdd { signed }, true),
        (0b01000, true) => (LaneShift::InsertRight, true),
        (0b01010, false) => (LaneShift::Left, false),
        (0b01010, true) => (LaneShift::InsertLeft, false),
        _ => return None,
    })
}

fn shift(code: Code) -> Option<Vector> {
    let (bits, field) = shift_field(code);
    let (to, from, all) = (code.register(0), code.register(5), all(code));
    let upper = all == 128;
    match (code.bits(11, 5), code.bit(29)) {
        (0b10000, false) if bits < 64 => {
            let shift = Some(2 * bits - field);
            return Some(Vector::Narrow { bits, upper, shift, to, from });
        }
        (0b10100, flag) if bits < 64 => {
            let count = field - bits;
            return Some(Vector::ShiftLong { signed: !flag, bits, upper, to, from, count });
        }
        _ => {}
    }
    let (shift, is_right) = lane_shift(code)?;
    let count = if is_right { 2 * bits - field } else { field - bits };
    let lanes = Lanes { bits, all };
    (bits < all).then_some(Vector::Shift { shift, lanes, to, from, count })
}

fn scalar_shift(code: Code) -> Option<Vector> {
    let (shift, is_right) = lane_shift(code)?;
    let (_, field) = shift_field(code);
    let count = if is_right { 128 - field } else { field - 64 };
    let lanes = Lanes { bits: 64, all: 64 };
    let (to, from) = (code.register(0), code.register(5));
    Some(Vector::Shift { shift, lanes, to, from, count })
}

fn by_element(code: Code) -> Option<Vector> {
    let (to, a, register) = operands(code);
    let (high, low, middle) = (code.bits(11, 1), code.bits(20, 1), code.bits(21, 1));
    let (bits, b, at) = match code.bits(22, 2) {
        1 => (16, register & 15, high << 2 | middle << 1 | low),
        2 => (32, register, high << 1 | middle),
        _ => return None,
    };
    let flag = code.bit(29);
    let lanes = Lanes { bits, all: all(code) };
    let simple = |operation| Vector::ByElement { operation, lanes, to, a, b, at };
    let long = |operation| {
        let (signed, upper, at) = (!flag, lanes.all == 128, Some(at));
        Vector::Long { operation, signed, bits, upper, to, a, b, at }
    };
    Some(match (code.bits(12, 4), flag) {
        (0b1000, false) => simple(Lanewise::Multiply),
        (0b0000, true) => simple(Lanewise::MultiplyAdd),
        (0b0100, true) => simple(Lanewise::MultiplySubtract),
        (0b1010, _) => long(Long::Multiply),
        (0b0010, _) => long(Long::MultiplyAdd),
        (0b0110, _) => long(Long::MultiplySubtract),
        _ => return None,
    })
}

fn permute(code: Code) -> Option<Vector> {
    let lanes = lanes(code)?;
    let (to, a, b) = operands(code);
    let permutation = match code.bits(12, 3) {
        1 => Permutation::Even,
        2 => Permutation::TransposeEven,
        3 => Permutation::ZipLow,
        5 => Permutation::Odd,
        6 => Permutation::TransposeOdd,
        7 => Permutation::ZipHigh,
        _ => return None,
    };
    Some(Vector::Permute { permutation, lanes, to, a, b })
}

/// Eight bytes by a byte: all zeros or all ones by each of its bits, or a floating-point number of 64
/// or 32 bits.
pub fn expanded(flag: bool, mode: usize, byte: u64) -> u64 {
    let (sign, exponent, fraction) = (byte >> 7, byte >> 4 & 7, byte & 15);
    let (upper, lower) = (exponent >> 2, exponent & 3);
    let single = sign << 31 | (1 - upper) << 30 | (upper * 31) << 25 | lower << 23 | fraction << 19;
    match (flag, mode) {
        (false, 15) => single << 32 | single,
        (_, 15) => {
            sign << 63 | (1 - upper) << 62 | (upper * 255) << 54 | lower << 52 | fraction << 48
        }
        _ => (0..8).filter(|at| byte >> at & 1 == 1).fold(0, |value, at| value | 0xff << (8 * at)),
    }
}
