//! Loads and stores.

use super::base::extend;
use super::{After, At, Code, Content, Instruction, Lanes};

/// Loads and stores.
pub fn access(code: Code) -> Option<Instruction> {
    match (code.bits(27, 3), code.bits(24, 2)) {
        (0b011, 0) => near(code),
        (0b101, _) => pair(code),
        (0b111, 0 | 1) => single(code),
        (0b001, 0) if code.bit(26) && !code.bit(31) => vectors(code),
        (0b001, 1) if code.bit(26) && !code.bit(31) => lane(code),
        _ => None,
    }
}

fn near(code: Code) -> Option<Instruction> {
    let (bytes, content) = match (code.bit(26), code.bits(30, 2)) {
        (true, kind @ 0..=2) => (4 << kind, Content::Vector),
        (false, 0) => (4, Content::General { signed: false, wide: false }),
        (false, 1) => (8, Content::General { signed: false, wide: true }),
        (false, 2) => (4, Content::General { signed: true, wide: true }),
        _ => return None,
    };
    let offset = code.signed(5, 19) << 2;
    Some(Instruction::LoadNear { bytes, content, register: code.register(0), offset })
}

fn pair(code: Code) -> Option<Instruction> {
    let loads = code.bit(22);
    let (bytes, content) = match (code.bit(26), code.bits(30, 2)) {
        (true, kind @ 0..=2) => (4 << kind, Content::Vector),
        (false, 0) => (4, Content::General { signed: false, wide: false }),
        (false, 1) if loads => (4, Content::General { signed: true, wide: true }),
        (false, 2) => (8, Content::General { signed: false, wide: true }),
        _ => return None,
    };
    let (base, offset) = (code.register(5), code.signed(15, 7) * bytes as i64);
    let at = match code.bits(23, 3) {
        1 => At::After { base, offset },
        2 => At::Offset { base, offset, unscaled: false },
        3 => At::Before { base, offset },
        _ => return None,
    };
    let registers = [code.register(0), code.register(10)];
    let is_moved = !matches!(at, At::Offset { .. });
    let is_base = content != Content::Vector && base != 31 && registers.contains(&base);
    // The result is not defined.
    if is_moved && is_base || loads && registers[0] == registers[1] {
        return None;
    }
    Some(Instruction::AccessPair { loads, bytes, content, registers, at })
}

fn single(code: Code) -> Option<Instruction> {
    let (size, kind) = (code.bits(30, 2), code.bits(22, 2));
    let (bytes, loads, content) = match (code.bit(26), kind) {
        (true, 0 | 1) => (1 << size, kind == 1, Content::Vector),
        (true, _) if size == 0 => (16, kind == 3, Content::Vector),
        (false, 0 | 1) => {
            (1 << size, kind == 1, Content::General { signed: false, wide: size == 3 })
        }
        (false, 2) if size < 3 => (1 << size, true, Content::General { signed: true, wide: true }),
        (false, 3) if size < 2 => (1 << size, true, Content::General { signed: true, wide: false }),
        _ => return None,
    };
    let (register, base) = (code.register(0), code.register(5));
    let at = if code.bit(24) {
        let offset = (code.bits(10, 12) * bytes) as i64;
        At::Offset { base, offset, unscaled: false }
    } else if code.bit(21) {
        let extend = extend(code.bits(13, 3));
        if code.bits(10, 2) != 2 || extend.bits < 32 {
            return None;
        }
        let shift = code.bit(12).then_some(bytes.ilog2() as usize);
        At::Index { base, index: code.register(16), extend, shift }
    } else {
        let offset = code.signed(12, 9);
        match code.bits(10, 2) {
            0 => At::Offset { base, offset, unscaled: true },
            1 => At::After { base, offset },
            3 => At::Before { base, offset },
            _ => return None,
        }
    };
    let is_moved = matches!(at, At::After { .. } | At::Before { .. });
    if is_moved && content != Content::Vector && base != 31 && register == base {
        return None;
    }
    Some(Instruction::Access { loads, bytes, content, register, at })
}

/// The change of the base, of an access, by its bytes.
fn after(code: Code, bytes: usize) -> Option<Option<After>> {
    let register = code.register(16);
    match (code.bit(23), register) {
        (false, 0) => Some(None),
        (false, _) => None,
        (true, 31) => Some(Some(After::Bytes(bytes))),
        (true, _) => Some(Some(After::Register(register))),
    }
}

fn vectors(code: Code) -> Option<Instruction> {
    let (count, by_turns) = match code.bits(12, 4) {
        0b0111 => (1, false),
        0b1010 => (2, false),
        0b0110 => (3, false),
        0b0010 => (4, false),
        0b1000 => (2, true),
        0b0100 => (3, true),
        0b0000 => (4, true),
        _ => return None,
    };
    if code.bit(21) {
        return None;
    }
    let lanes = Lanes { bits: 8 << code.bits(10, 2), all: 64 << code.bits(30, 1) };
    if by_turns && lanes.bits == lanes.all {
        return None;
    }
    let after = after(code, count * lanes.all / 8)?;
    let (first, base) = (code.register(0), code.register(5));
    let loads = code.bit(22);
    Some(Instruction::Vectors { loads, by_turns, lanes, first, count, base, after })
}

fn lane(code: Code) -> Option<Instruction> {
    if code.bit(21) {
        return None;
    }
    let (loads, register, base) = (code.bit(22), code.register(0), code.register(5));
    let size = code.bits(10, 2);
    let place = code.bits(30, 1) << 3 | code.bits(10, 3);
    let (bits, lane) = match code.bits(13, 3) {
        0b110 if loads && !code.bit(12) => {
            let lanes = Lanes { bits: 8 << size, all: 64 << code.bits(30, 1) };
            let after = after(code, lanes.bits / 8)?;
            return Some(Instruction::LoadCopies { lanes, register, base, after });
        }
        0b000 => (8, place),
        0b010 if size & 1 == 0 => (16, place >> 1),
        0b100 if size == 0 => (32, place >> 2),
        0b100 if size == 1 && !code.bit(12) => (64, place >> 3),
        _ => return None,
    };
    let after = after(code, bits / 8)?;
    Some(Instruction::Lane { loads, bits, register, lane, base, after })
}
