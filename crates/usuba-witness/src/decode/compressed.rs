//! Instructions of 16 bits, each of which is short for one of 32 bits.
//!
//! ```text
//! 15  13 12 11   7 6    2 1  0
//! funct3     rd     imm    op      c.addi rd, imm = addi rd, rd, imm
//! ```

use super::{Alu, Condition, Instruction, Register, extended, field};

const RA: Register = 1;
const SP: Register = 2;

/// An instruction of 16 bits.
pub(super) fn short(code: u32) -> Option<Instruction> {
    let function = field(code, 15, 13);
    match code & 3 {
        0 => memory(code, function),
        1 => first(code, function),
        2 => second(code, function),
        _ => None,
    }
}

/// One of the registers 8 to 15, whose number has three bits from `low` on.
fn near(code: u32, low: u32) -> Register {
    8 + field(code, low + 2, low) as Register
}

/// Bits of a code at `from`, `width` many, moved to `to`.
fn part(code: u32, from: u32, width: u32, to: u32) -> u32 {
    field(code, from + width - 1, from) << to
}

/// Loads and stores, and addresses in the frame.
fn memory(code: u32, function: u32) -> Option<Instruction> {
    let (low, base) = (near(code, 2), near(code, 7));
    let offset = part(code, 10, 3, 3) | part(code, 6, 1, 2) | part(code, 5, 1, 6);
    match function {
        0 => {
            let right = part(code, 11, 2, 4)
                | part(code, 7, 4, 6)
                | part(code, 6, 1, 2)
                | part(code, 5, 1, 3);
            let sum = Instruction::Immediate { op: Alu::Add, rd: low, left: SP, right };
            (right != 0).then_some(sum)
        }
        2 => Some(Instruction::Load { rd: low, base, offset, size: 4, is_signed: true }),
        6 => Some(Instruction::Store { from: low, base, offset, size: 4 }),
        _ => None,
    }
}

/// Constants, jumps and operators on near registers.
fn first(code: u32, function: u32) -> Option<Instruction> {
    use Instruction::*;
    let rd = field(code, 11, 7) as Register;
    let right = extended(part(code, 12, 1, 5) | part(code, 2, 5, 0), 6);
    Some(match function {
        0 => Immediate { op: Alu::Add, rd, left: rd, right },
        1 => Jump { rd: RA, offset: jump_offset(code) },
        2 => Immediate { op: Alu::Add, rd, left: 0, right },
        3 if right == 0 => return None,
        3 if rd == SP => Immediate { op: Alu::Add, rd, left: SP, right: frame_step(code) },
        3 => Upper { rd, value: right << 12 },
        4 => return operators(code, right),
        5 => Jump { rd: 0, offset: jump_offset(code) },
        _ => {
            let condition = if function == 6 { Condition::Equal } else { Condition::NotEqual };
            Branch { condition, left: near(code, 7), right: 0, offset: branch_offset(code) }
        }
    })
}

/// The immediate of `c.addi16sp`.
fn frame_step(code: u32) -> u32 {
    let upper = part(code, 12, 1, 9) | part(code, 3, 2, 7) | part(code, 5, 1, 6);
    extended(upper | part(code, 2, 1, 5) | part(code, 6, 1, 4), 10)
}

fn jump_offset(code: u32) -> u32 {
    let upper = part(code, 12, 1, 11) | part(code, 8, 1, 10) | part(code, 9, 2, 8);
    let middle = part(code, 6, 1, 7) | part(code, 7, 1, 6) | part(code, 2, 1, 5);
    extended(upper | middle | part(code, 11, 1, 4) | part(code, 3, 3, 1), 12)
}

fn branch_offset(code: u32) -> u32 {
    let upper = part(code, 12, 1, 8) | part(code, 5, 2, 6) | part(code, 2, 1, 5);
    extended(upper | part(code, 10, 2, 3) | part(code, 3, 2, 1), 9)
}

/// Operators on a near register.
fn operators(code: u32, right: u32) -> Option<Instruction> {
    let rd = near(code, 7);
    let amount = part(code, 2, 5, 0);
    let is_long = field(code, 12, 12) == 1;
    let (op, right) = match field(code, 11, 10) {
        0 | 1 if is_long => return None,
        0 => (Alu::ShiftRight, amount),
        1 => (Alu::ShiftRightSigned, amount),
        2 => (Alu::And, right),
        _ => {
            let op = match field(code, 6, 5) {
                _ if is_long => return None,
                0 => Alu::Sub,
                1 => Alu::Xor,
                2 => Alu::Or,
                _ => Alu::And,
            };
            return Some(Instruction::Registers { op, rd, left: rd, right: near(code, 2) });
        }
    };
    Some(Instruction::Immediate { op, rd, left: rd, right })
}

/// Shifts, moves, jumps to registers, and the frame.
fn second(code: u32, function: u32) -> Option<Instruction> {
    use Instruction::*;
    let rd = field(code, 11, 7) as Register;
    let rs2 = field(code, 6, 2) as Register;
    let is_long = field(code, 12, 12) == 1;
    Some(match function {
        0 if !is_long => Immediate { op: Alu::ShiftLeft, rd, left: rd, right: u32::from(rs2) },
        2 if rd != 0 => {
            let offset = part(code, 12, 1, 5) | part(code, 4, 3, 2) | part(code, 2, 2, 6);
            Load { rd, base: SP, offset, size: 4, is_signed: true }
        }
        4 => match (is_long, rd, rs2) {
            (_, 0, 0) => return None,
            (false, base, 0) => JumpTo { rd: 0, base, offset: 0 },
            (true, base, 0) => JumpTo { rd: RA, base, offset: 0 },
            (false, rd, right) => Registers { op: Alu::Add, rd, left: 0, right },
            (true, rd, right) => Registers { op: Alu::Add, rd, left: rd, right },
        },
        6 => {
            let offset = part(code, 9, 4, 2) | part(code, 7, 2, 6);
            Store { from: rs2, base: SP, offset, size: 4 }
        }
        _ => return None,
    })
}
