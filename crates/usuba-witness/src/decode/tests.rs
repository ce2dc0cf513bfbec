//! Codes of instructions whose meaning is known.

use super::Instruction::{self, *};
use super::{Alu, Condition, decode};

fn check(code: u32, wanted: Instruction) {
    let size = if code & 3 == 3 { 4 } else { 2 };
    let bytes = code.to_le_bytes();
    assert_eq!(decode(&bytes[..size]), Ok((wanted, size as u32)), "{code:#x}");
}

#[test]
fn long_instructions() {
    check(0x1234_5537, Upper { rd: 10, value: 0x1234_5000 });
    check(0xffff_f097, UpperNear { rd: 1, value: 0xffff_f000 });
    check(0xffdf_f06f, Jump { rd: 0, offset: -4i32 as u32 });
    check(0x0010_00ef, Jump { rd: 1, offset: 0x800 });
    check(0x0000_8067, JumpTo { rd: 0, base: 1, offset: 0 });
    let branch = |condition, left, right, offset: i32| Branch {
        condition,
        left,
        right,
        offset: offset as u32,
    };
    check(0xfeb5_1ee3, branch(Condition::NotEqual, 10, 11, -4));
    check(0x00b5_70e3, branch(Condition::NotLessUnsigned, 10, 11, 0x800));
    check(0xffc1_2783, Load { rd: 15, base: 2, offset: -4i32 as u32, size: 4, is_signed: true });
    check(0x0035_4503, Load { rd: 10, base: 10, offset: 3, size: 1, is_signed: false });
    check(0x0025_1503, Load { rd: 10, base: 10, offset: 2, size: 2, is_signed: true });
    check(0xfef4_2623, Store { from: 15, base: 8, offset: -20i32 as u32, size: 4 });
    check(0x00b5_10a3, Store { from: 11, base: 10, offset: 1, size: 2 });
    let immediate = |op, rd, left, right: i32| Immediate { op, rd, left, right: right as u32 };
    check(0xff01_0113, immediate(Alu::Add, 2, 2, -16));
    check(0x4035_5513, immediate(Alu::ShiftRightSigned, 10, 10, 3));
    check(0x01f5_1513, immediate(Alu::ShiftLeft, 10, 10, 31));
    check(0xfff5_4513, immediate(Alu::Xor, 10, 10, -1));
    check(0x0015_3513, immediate(Alu::LessUnsigned, 10, 10, 1));
    let registers = |op, rd, left, right| Registers { op, rd, left, right };
    check(0x40b5_0533, registers(Alu::Sub, 10, 10, 11));
    check(0x02b5_3533, registers(Alu::MulHighUnsigned, 10, 10, 11));
    check(0x02b5_5533, registers(Alu::DivUnsigned, 10, 10, 11));
    check(0x00b5_2533, registers(Alu::Less, 10, 10, 11));
    check(0x0ff0_000f, Nothing);
}

#[test]
fn short_instructions() {
    let sum = |rd, left, right: i32| Immediate { op: Alu::Add, rd, left, right: right as u32 };
    check(0x0001, sum(0, 0, 0));
    check(0x1141, sum(2, 2, -16));
    check(0x6105, sum(2, 2, 32));
    check(0x0808, sum(10, 2, 16));
    check(0x557d, sum(10, 0, -1));
    check(0x4601, sum(12, 0, 0));
    check(0x67a1, Upper { rd: 15, value: 0x8000 });
    check(0x77fd, Upper { rd: 15, value: 0xffff_f000 });
    check(0x8082, JumpTo { rd: 0, base: 1, offset: 0 });
    check(0x9782, JumpTo { rd: 1, base: 15, offset: 0 });
    check(0x852e, Registers { op: Alu::Add, rd: 10, left: 0, right: 11 });
    check(0x952e, Registers { op: Alu::Add, rd: 10, left: 10, right: 11 });
    check(0x8d0d, Registers { op: Alu::Sub, rd: 10, left: 10, right: 11 });
    check(0x8d2d, Registers { op: Alu::Xor, rd: 10, left: 10, right: 11 });
    check(0x8d4d, Registers { op: Alu::Or, rd: 10, left: 10, right: 11 });
    check(0x8d6d, Registers { op: Alu::And, rd: 10, left: 10, right: 11 });
    check(0x050e, Immediate { op: Alu::ShiftLeft, rd: 10, left: 10, right: 3 });
    check(0x811d, Immediate { op: Alu::ShiftRight, rd: 10, left: 10, right: 7 });
    check(0x851d, Immediate { op: Alu::ShiftRightSigned, rd: 10, left: 10, right: 7 });
    check(0x893d, Immediate { op: Alu::And, rd: 10, left: 10, right: 15 });
    check(0x415c, Load { rd: 15, base: 10, offset: 4, size: 4, is_signed: true });
    check(0xc15c, Store { from: 15, base: 10, offset: 4, size: 4 });
    check(0x40b2, Load { rd: 1, base: 2, offset: 12, size: 4, is_signed: true });
    check(0xc606, Store { from: 1, base: 2, offset: 12, size: 4 });
    check(0xbfd5, Jump { rd: 0, offset: -12i32 as u32 });
    check(
        0xfd75,
        Branch { condition: Condition::NotEqual, left: 10, right: 0, offset: -4i32 as u32 },
    );
    check(0xc509, Branch { condition: Condition::Equal, left: 10, right: 0, offset: 10 });
}

#[test]
fn codes_that_are_no_instruction() {
    for code in [0u32, 0xffff_ffff, 0x0000_0073, 0x0010_0073, 0x9002, 0x0000_b503, 0x2068] {
        assert!(decode(&code.to_le_bytes()).is_err(), "{code:#x}");
    }
    assert!(decode(&[0x13]).is_err());
    assert!(decode(&[0x13, 0, 0]).is_err());
}
