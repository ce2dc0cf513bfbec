//! Instructions of RV32IM and of the compressed extension, by the manual of the instruction set.
//!
//! ```text
//! 31      25 24  20 19  15 14  12 11   7 6     0
//!   funct7    rs2    rs1   funct3   rd   opcode      add, sub, mul, ...
//!      imm[11:0]     rs1   funct3   rd   opcode      addi, lw, jalr, ...
//! ```

mod compressed;

use crate::Run;

/// The number of a register.
pub(crate) type Register = u8;

/// An operation on two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Alu {
    Add,
    Sub,
    ShiftLeft,
    Less,
    LessUnsigned,
    Xor,
    ShiftRight,
    ShiftRightSigned,
    Or,
    And,
    Mul,
    MulHigh,
    MulHighMixed,
    MulHighUnsigned,
    Div,
    DivUnsigned,
    Rem,
    RemUnsigned,
}

/// The condition of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    Equal,
    NotEqual,
    Less,
    NotLess,
    LessUnsigned,
    NotLessUnsigned,
}

/// An instruction. Offsets of jumps count from its own place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Instruction {
    /// `lui`
    Upper {
        rd: Register,
        value: u32,
    },
    /// `auipc`
    UpperNear {
        rd: Register,
        value: u32,
    },
    Jump {
        rd: Register,
        offset: u32,
    },
    JumpTo {
        rd: Register,
        base: Register,
        offset: u32,
    },
    Branch {
        condition: Condition,
        left: Register,
        right: Register,
        offset: u32,
    },
    Load {
        rd: Register,
        base: Register,
        offset: u32,
        size: u32,
        is_signed: bool,
    },
    Store {
        from: Register,
        base: Register,
        offset: u32,
        size: u32,
    },
    Immediate {
        op: Alu,
        rd: Register,
        left: Register,
        right: u32,
    },
    Registers {
        op: Alu,
        rd: Register,
        left: Register,
        right: Register,
    },
    /// `fence`: one core sees its own stores in order.
    Nothing,
}

/// The first instruction of these bytes, and how many of them it has.
pub(crate) fn decode(bytes: &[u8]) -> Run<(Instruction, u32)> {
    let unknown = |code: u32| format!("the code {code:#x} is no instruction of RV32IMC");
    match *bytes {
        [a, b, ..] if a & 3 != 3 => {
            let code = u16::from_le_bytes([a, b]);
            let instruction = compressed::short(u32::from(code));
            Ok((instruction.ok_or_else(|| unknown(u32::from(code)))?, 2))
        }
        [a, b, c, d, ..] => {
            let code = u32::from_le_bytes([a, b, c, d]);
            Ok((long(code).ok_or_else(|| unknown(code))?, 4))
        }
        _ => Err("the code ends within an instruction".into()),
    }
}

/// Bits `high` to `low` of a code.
fn field(code: u32, high: u32, low: u32) -> u32 {
    code << (31 - high) >> (31 - high + low)
}

/// A number of `bits` bits in two's complement.
fn extended(value: u32, bits: u32) -> u32 {
    ((value << (32 - bits)) as i32 >> (32 - bits)) as u32
}

/// An instruction of 32 bits.
fn long(code: u32) -> Option<Instruction> {
    use Instruction::*;
    let rd = field(code, 11, 7) as Register;
    let rs1 = field(code, 19, 15) as Register;
    let rs2 = field(code, 24, 20) as Register;
    let function = field(code, 14, 12);
    let immediate = extended(field(code, 31, 20), 12);
    let upper = code & 0xffff_f000;
    Some(match field(code, 6, 0) {
        0x37 => Upper { rd, value: upper },
        0x17 => UpperNear { rd, value: upper },
        0x6f => Jump { rd, offset: jump_offset(code) },
        0x67 if function == 0 => JumpTo { rd, base: rs1, offset: immediate },
        0x63 => {
            let condition = condition(function)?;
            Branch { condition, left: rs1, right: rs2, offset: branch_offset(code) }
        }
        0x03 => {
            let (size, is_signed) = match function {
                0 => (1, true),
                1 => (2, true),
                2 => (4, true),
                4 => (1, false),
                5 => (2, false),
                _ => return None,
            };
            Load { rd, base: rs1, offset: immediate, size, is_signed }
        }
        0x23 if function < 3 => {
            let offset = extended(field(code, 31, 25) << 5 | field(code, 11, 7), 12);
            Store { from: rs2, base: rs1, offset, size: 1 << function }
        }
        0x13 => {
            let (op, right) = immediate_operator(function, immediate)?;
            Immediate { op, rd, left: rs1, right }
        }
        0x33 => {
            let op = register_operator(field(code, 31, 25), function)?;
            Registers { op, rd, left: rs1, right: rs2 }
        }
        0x0f if function == 0 => Nothing,
        _ => return None,
    })
}

fn jump_offset(code: u32) -> u32 {
    let upper = field(code, 31, 31) << 20 | field(code, 19, 12) << 12;
    extended(upper | field(code, 20, 20) << 11 | field(code, 30, 21) << 1, 21)
}

fn branch_offset(code: u32) -> u32 {
    let upper = field(code, 31, 31) << 12 | field(code, 7, 7) << 11;
    extended(upper | field(code, 30, 25) << 5 | field(code, 11, 8) << 1, 13)
}

fn condition(function: u32) -> Option<Condition> {
    Some(match function {
        0 => Condition::Equal,
        1 => Condition::NotEqual,
        4 => Condition::Less,
        5 => Condition::NotLess,
        6 => Condition::LessUnsigned,
        7 => Condition::NotLessUnsigned,
        _ => return None,
    })
}

/// The operator of an instruction with an immediate, and its right operand.
fn immediate_operator(function: u32, immediate: u32) -> Option<(Alu, u32)> {
    let amount = immediate & 31;
    Some(match (function, field(immediate, 11, 5)) {
        (0, _) => (Alu::Add, immediate),
        (1, 0) => (Alu::ShiftLeft, amount),
        (2, _) => (Alu::Less, immediate),
        (3, _) => (Alu::LessUnsigned, immediate),
        (4, _) => (Alu::Xor, immediate),
        (5, 0) => (Alu::ShiftRight, amount),
        (5, 0x20) => (Alu::ShiftRightSigned, amount),
        (6, _) => (Alu::Or, immediate),
        (7, _) => (Alu::And, immediate),
        _ => return None,
    })
}

fn register_operator(upper: u32, function: u32) -> Option<Alu> {
    Some(match (upper, function) {
        (0, 0) => Alu::Add,
        (0x20, 0) => Alu::Sub,
        (0, 1) => Alu::ShiftLeft,
        (0, 2) => Alu::Less,
        (0, 3) => Alu::LessUnsigned,
        (0, 4) => Alu::Xor,
        (0, 5) => Alu::ShiftRight,
        (0x20, 5) => Alu::ShiftRightSigned,
        (0, 6) => Alu::Or,
        (0, 7) => Alu::And,
        (1, 0) => Alu::Mul,
        (1, 1) => Alu::MulHigh,
        (1, 2) => Alu::MulHighMixed,
        (1, 3) => Alu::MulHighUnsigned,
        (1, 4) => Alu::Div,
        (1, 5) => Alu::DivUnsigned,
        (1, 6) => Alu::Rem,
        (1, 7) => Alu::RemUnsigned,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
