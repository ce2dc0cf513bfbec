//! Instructions on general-purpose registers.

use super::{
    Choice, Code, Condition, Constant, Extend, Field, Instruction, Jump, Logic, One, Operand,
    Shift, Shifted,
};

/// The constants of a logical instruction: an element of 2 to 64 bits with a run of ones, rotated, and
/// repeated.
fn repeated(wide: bool, n: usize, rotation: usize, ones: usize) -> Option<u64> {
    let length = (n << 6 | !ones & 63).checked_ilog2().filter(|&length| length > 0)?;
    let size = 1 << length;
    if !wide && size > 32 {
        return None;
    }
    let (ones, rotation) = (ones & (size - 1), rotation & (size - 1));
    if ones == size - 1 {
        return None;
    }
    let run = (1u64 << (ones + 1)) - 1;
    let mask = u64::MAX >> (64 - size);
    let element = match rotation {
        0 => run,
        _ => (run >> rotation | run << (size - rotation)) & mask,
    };
    let all = if wide { 64 } else { 32 };
    Some((0..all).step_by(size).fold(0, |value, at| value | element << at))
}

/// Instructions with a constant.
pub fn immediate(code: Code) -> Option<Instruction> {
    let wide = code.bit(31);
    let (to, from) = (code.register(0), code.register(5));
    let (n, right, top) = (code.bits(22, 1), code.bits(16, 6), code.bits(10, 6));
    let is_fit = n == wide.into() && (wide || right < 32 && top < 32);
    Some(match code.bits(23, 3) {
        0b000 | 0b001 => {
            let offset = code.signed(5, 19) << 2 | code.bits(29, 2) as i64;
            let is_page = wide;
            Instruction::Place { is_page, to, offset: if is_page { offset << 12 } else { offset } }
        }
        0b010 => {
            let value = (code.bits(10, 12) as u64) << (12 * code.bits(22, 1));
            let (subtracts, flags) = (code.bit(30), code.bit(29));
            Instruction::AddImmediate { wide, subtracts, flags, to, from, value }
        }
        0b100 => {
            let value = repeated(wide, n, right, top)?;
            let (logic, flags) = logic(code);
            Instruction::LogicImmediate { wide, logic, flags, to, from, value }
        }
        0b101 => {
            let constant = match code.bits(29, 2) {
                0 => Constant::Complement,
                2 => Constant::Zeros,
                3 => Constant::Keep,
                _ => return None,
            };
            let shift = 16 * code.bits(21, 2);
            if !wide && shift > 16 {
                return None;
            }
            Instruction::Constant { wide, constant, to, value: code.bits(5, 16) as u64, shift }
        }
        0b110 if is_fit => {
            let field = match code.bits(29, 2) {
                0 => Field::Signed,
                1 => Field::Inserted,
                2 => Field::Unsigned,
                _ => return None,
            };
            Instruction::Field { wide, field, to, from, right, top }
        }
        0b111 if is_fit && code.bits(29, 2) == 0 && !code.bit(21) => {
            Instruction::Extract { wide, to, high: from, low: code.register(16), at: top }
        }
        _ => return None,
    })
}

/// The operation of a logical instruction, and whether it sets flags.
fn logic(code: Code) -> (Logic, bool) {
    match code.bits(29, 2) {
        0 => (Logic::And, false),
        1 => (Logic::Or, false),
        2 => (Logic::Xor, false),
        _ => (Logic::And, true),
    }
}

/// Branches and jumps.
pub fn branch(code: Code) -> Option<Instruction> {
    let near = code.signed(5, 19) << 2;
    let (wide, register) = (code.bit(31), code.register(0));
    Some(match code.bits(24, 8) {
        0x54 if !code.bit(4) => {
            Instruction::BranchIf { condition: Condition(code.bits(0, 4) as u8), offset: near }
        }
        0x34 | 0x35 | 0xb4 | 0xb5 => {
            Instruction::BranchZero { wide, if_zero: !code.bit(24), register, offset: near }
        }
        0x36 | 0x37 | 0xb6 | 0xb7 => {
            let (bit, offset) = (code.bits(31, 1) << 5 | code.bits(19, 5), code.signed(5, 14) << 2);
            Instruction::BranchBit { if_zero: !code.bit(24), register, bit, offset }
        }
        _ if code.bits(26, 5) == 0b00101 => {
            Instruction::Branch { is_call: wide, offset: code.signed(0, 26) << 2 }
        }
        0xd6 if code.bits(10, 11) == 0b11111_000000 && register == 0 => {
            let jump = match code.bits(21, 3) {
                0 => Jump::Plain,
                1 => Jump::Call,
                2 => Jump::Return,
                _ => return None,
            };
            Instruction::JumpTo { jump, register: code.register(5) }
        }
        0xd5 if code.bits(12, 12) == 0x032 && register == 31 => match code.bits(5, 7) {
            number @ (0 | 32 | 34 | 36 | 38) => Instruction::Nothing { number },
            25 => Instruction::Sign { checks: false },
            29 => Instruction::Sign { checks: true },
            _ => return None,
        },
        _ => return None,
    })
}

/// The shift in two bits.
fn shift(code: Code, from: usize) -> Shift {
    [Shift::Left, Shift::Right, Shift::Arithmetic, Shift::Rotate][code.bits(from, 2)]
}

/// The register that is extended, by three bits.
pub fn extend(field: usize) -> Extend {
    Extend { signed: field >= 4, bits: 8 << (field & 3) }
}

/// Instructions on registers.
pub fn registers(code: Code) -> Option<Instruction> {
    let (wide, subtracts, flags) = (code.bit(31), code.bit(30), code.bit(29));
    let (to, a, b) = (code.register(0), code.register(5), code.register(16));
    let count = code.bits(10, 6);
    let shifted = || {
        let shifted = Shifted { register: b, shift: shift(code, 22), count };
        Some(shifted).filter(|_| wide || count < 32)
    };
    let condition = Condition(code.bits(12, 4) as u8);
    Some(match (code.bits(24, 5), code.bits(21, 3)) {
        (0b01010, _) => {
            let (logic, flags) = logic(code);
            let inverts = code.bit(21);
            Instruction::Logic { wide, logic, inverts, flags, to, a, b: shifted()? }
        }
        (0b01011, 0 | 2 | 4) => Instruction::Add { wide, subtracts, flags, to, a, b: shifted()? },
        (0b01011, 1) => {
            let (extend, count) = (extend(code.bits(13, 3)), code.bits(10, 3));
            if count > 4 {
                return None;
            }
            Instruction::AddExtended { wide, subtracts, flags, to, a, b, extend, count }
        }
        (0b11010, 0) if count == 0 => Instruction::AddCarry { wide, subtracts, flags, to, a, b },
        (0b11010, 2) if flags && !code.bit(10) && !code.bit(4) => {
            let operand = match code.bit(11) {
                true => Operand::Immediate(b as u64),
                false => Operand::Register(b),
            };
            let otherwise = code.bits(0, 4) as u8;
            Instruction::CompareIf { wide, subtracts, a, b: operand, otherwise, condition }
        }
        (0b11010, 4) if !flags && !code.bit(11) => {
            let choice = match (subtracts, code.bit(10)) {
                (false, false) => Choice::Plain,
                (false, true) => Choice::Increment,
                (true, false) => Choice::Complement,
                (true, true) => Choice::Negate,
            };
            Instruction::Select { wide, choice, to, a, b, condition }
        }
        (0b11010, 6) if !flags && !subtracts => match count {
            2 | 3 => Instruction::Divide { wide, signed: count == 3, to, a, b },
            8..=11 => Instruction::ShiftBy { wide, shift: shift(code, 10), to, from: a, count: b },
            _ => return None,
        },
        (0b11010, 6) if !flags && b == 0 => {
            let one = match (count, wide) {
                (0, _) => One::Bits,
                (1, _) => One::Bytes(16),
                (2, _) => One::Bytes(32),
                (3, true) => One::Bytes(64),
                (4, _) => One::LeadingZeros,
                _ => return None,
            };
            Instruction::One { wide, one, to, from: a }
        }
        (0b11011, field) if !subtracts && !flags => {
            let (subtracts, c) = (code.bit(15), code.register(10));
            let signed = field < 4;
            match field {
                0 => Instruction::MultiplyAdd { wide, subtracts, to, a, b, c },
                1 | 5 if wide => Instruction::MultiplyLong { signed, subtracts, to, a, b, c },
                2 | 6 if wide && !subtracts && c == 31 => {
                    Instruction::MultiplyHigh { signed, to, a, b }
                }
                _ => return None,
            }
        }
        _ => return None,
    })
}
