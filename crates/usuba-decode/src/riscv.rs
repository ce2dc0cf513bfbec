//! Instructions of RV32IMC: their fields, and their text.
//!
//! ```text
//! 00c58533    add a0,a1,a2
//! 9532        add a0,a0,a2      a compressed instruction is the one that it stands for
//! ```
//!
//! *Source:* The RISC-V Instruction Set Manual, volume I, chapters 2 (RV32I), 7 (M) and 16 (C). A
//! code that is reserved, or a hint, is no instruction.

use std::fmt;

/// The number of a register.
pub type Register = usize;

/// Arithmetic on words of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    Add,
    Subtract,
    ShiftLeft,
    Less,
    LessUnsigned,
    Xor,
    ShiftRight,
    ShiftRightSigned,
    Or,
    And,
    Multiply,
    High,
    HighSignedUnsigned,
    HighUnsigned,
    Divide,
    DivideUnsigned,
    Remainder,
    RemainderUnsigned,
}

use Operation::*;

/// By the third function field, with the seventh bit of the other one.
const PLAIN: [Operation; 8] = [Add, ShiftLeft, Less, LessUnsigned, Xor, ShiftRight, Or, And];
const PRODUCTS: [Operation; 8] = [
    Multiply,
    High,
    HighSignedUnsigned,
    HighUnsigned,
    Divide,
    DivideUnsigned,
    Remainder,
    RemainderUnsigned,
];

/// The condition of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    Equal,
    Unequal,
    Less,
    NotLess,
    Below,
    NotBelow,
}

/// The second operand of arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    Register(Register),
    Immediate(i32),
}

/// An instruction. Offsets and immediates are in bytes, with their sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// lui; the lowest 12 bits are zero.
    Upper {
        to: Register,
        value: i32,
    },
    /// auipc
    UpperRelative {
        to: Register,
        value: i32,
    },
    /// jal
    Jump {
        to: Register,
        offset: i32,
    },
    /// jalr
    JumpRegister {
        to: Register,
        base: Register,
        offset: i32,
    },
    Branch {
        condition: Condition,
        a: Register,
        b: Register,
        offset: i32,
    },
    Load {
        to: Register,
        base: Register,
        offset: i32,
        bytes: usize,
        signed: bool,
    },
    Store {
        from: Register,
        base: Register,
        offset: i32,
        bytes: usize,
    },
    Arithmetic {
        operation: Operation,
        to: Register,
        a: Register,
        b: Operand,
    },
}

use Instruction::*;

/// The instruction at the start of some code, and its bytes.
pub fn decode(code: &[u8]) -> Option<(Instruction, usize)> {
    let low = u16::from_le_bytes(code.get(..2)?.try_into().ok()?);
    if low & 3 != 3 {
        return Some((compressed(low)?, 2));
    }
    let word = u32::from_le_bytes(code.get(..4)?.try_into().ok()?);
    Some((whole(word)?, 4))
}

/// Bits `first` to `first + count - 1` of a word.
fn field(word: u32, first: u32, count: u32) -> u32 {
    word >> first & ((1 << count) - 1)
}

/// The lowest bits of a word, with a sign.
fn signed(word: u32, bits: u32) -> i32 {
    (word << (32 - bits)) as i32 >> (32 - bits)
}

/// An instruction of 32 bits.
fn whole(word: u32) -> Option<Instruction> {
    let register = |first| field(word, first, 5) as Register;
    let (to, a, b) = (register(7), register(15), register(20));
    let (three, seven) = (field(word, 12, 3), field(word, 25, 7));
    let immediate = signed(word >> 20, 12);
    let plain = |operation, b| Arithmetic { operation, to, a, b };
    Some(match word & 0x7f {
        0x37 => Upper { to, value: (word & !0xfff) as i32 },
        0x17 => UpperRelative { to, value: (word & !0xfff) as i32 },
        0x6f => {
            let offset = field(word, 21, 10) << 1
                | field(word, 20, 1) << 11
                | field(word, 12, 8) << 12
                | field(word, 31, 1) << 20;
            Jump { to, offset: signed(offset, 21) }
        }
        0x67 if three == 0 => JumpRegister { to, base: a, offset: immediate },
        0x63 => {
            let offset = field(word, 8, 4) << 1
                | field(word, 25, 6) << 5
                | field(word, 7, 1) << 11
                | field(word, 31, 1) << 12;
            let condition = match three {
                0 => Condition::Equal,
                1 => Condition::Unequal,
                4 => Condition::Less,
                5 => Condition::NotLess,
                6 => Condition::Below,
                7 => Condition::NotBelow,
                _ => return None,
            };
            Branch { condition, a, b, offset: signed(offset, 13) }
        }
        0x03 => {
            let (bytes, signed) = match three {
                0 => (1, true),
                1 => (2, true),
                2 => (4, true),
                4 => (1, false),
                5 => (2, false),
                _ => return None,
            };
            Load { to, base: a, offset: immediate, bytes, signed }
        }
        0x23 if three < 3 => {
            let offset = signed(field(word, 7, 5) | seven << 5, 12);
            Store { from: b, base: a, offset, bytes: 1 << three }
        }
        0x13 => match (three, seven) {
            (1, 0) => plain(ShiftLeft, Operand::Immediate(b as i32)),
            (5, 0) => plain(ShiftRight, Operand::Immediate(b as i32)),
            (5, 0x20) => plain(ShiftRightSigned, Operand::Immediate(b as i32)),
            (1 | 5, _) => return None,
            _ => plain(PLAIN[three as usize], Operand::Immediate(immediate)),
        },
        0x33 => {
            let operation = match (seven, three) {
                (0, _) => PLAIN[three as usize],
                (0x20, 0) => Subtract,
                (0x20, 5) => ShiftRightSigned,
                (1, _) => PRODUCTS[three as usize],
                _ => return None,
            };
            plain(operation, Operand::Register(b))
        }
        _ => return None,
    })
}

/// The stack pointer, and the register of return addresses.
const SP: Register = 2;
const RA: Register = 1;

/// An instruction of 16 bits.
fn compressed(half: u16) -> Option<Instruction> {
    let word = u32::from(half);
    let bits = |first, count| field(word, first, count);
    // Registers x8 to x15 have three bits.
    let short = |first| 8 + bits(first, 3) as Register;
    let (full, other) = (bits(7, 5) as Register, bits(2, 5) as Register);
    let immediate = signed(bits(2, 5) | bits(12, 1) << 5, 6);
    let arithmetic = |operation, to, a, b| Arithmetic { operation, to, a, b };
    let add = |to, a, value| arithmetic(Add, to, a, Operand::Immediate(value));
    let word_offset = (bits(6, 1) << 2 | bits(10, 3) << 3 | bits(5, 1) << 6) as i32;
    let jump = || {
        let offset = bits(3, 3) << 1
            | bits(11, 1) << 4
            | bits(2, 1) << 5
            | bits(7, 1) << 6
            | bits(6, 1) << 7
            | bits(9, 2) << 8
            | bits(8, 1) << 10
            | bits(12, 1) << 11;
        signed(offset, 12)
    };
    let branch = |condition| {
        let offset = bits(3, 2) << 1
            | bits(10, 2) << 3
            | bits(2, 1) << 5
            | bits(5, 2) << 6
            | bits(12, 1) << 8;
        Branch { condition, a: short(7), b: 0, offset: signed(offset, 9) }
    };
    Some(match (bits(0, 2), bits(13, 3)) {
        (0, 0) => {
            let value = bits(11, 2) << 4 | bits(7, 4) << 6 | bits(6, 1) << 2 | bits(5, 1) << 3;
            (value > 0).then(|| add(short(2), SP, value as i32))?
        }
        (0, 2) => {
            Load { to: short(2), base: short(7), offset: word_offset, bytes: 4, signed: true }
        }
        (0, 6) => Store { from: short(2), base: short(7), offset: word_offset, bytes: 4 },
        // c.nop
        (1, 0) if full == 0 => (immediate == 0).then(|| add(0, 0, 0))?,
        (1, 0) => (immediate != 0).then(|| add(full, full, immediate))?,
        (1, 1) => Jump { to: RA, offset: jump() },
        (1, 2) if full > 0 => add(full, 0, immediate),
        (1, 3) if full == SP => {
            let value = bits(6, 1) << 4
                | bits(2, 1) << 5
                | bits(5, 1) << 6
                | bits(3, 2) << 7
                | bits(12, 1) << 9;
            (value > 0).then(|| add(SP, SP, signed(value, 10)))?
        }
        (1, 3) if full > 0 && immediate != 0 => Upper { to: full, value: immediate << 12 },
        (1, 4) => {
            let to = short(7);
            let shift = Operand::Immediate(bits(2, 5) as i32);
            let second = Operand::Register(short(2));
            match (bits(10, 2), bits(12, 1), bits(5, 2)) {
                (0, 0, _) if bits(2, 5) > 0 => arithmetic(ShiftRight, to, to, shift),
                (1, 0, _) if bits(2, 5) > 0 => arithmetic(ShiftRightSigned, to, to, shift),
                (2, ..) => arithmetic(And, to, to, Operand::Immediate(immediate)),
                (3, 0, 0) => arithmetic(Subtract, to, to, second),
                (3, 0, 1) => arithmetic(Xor, to, to, second),
                (3, 0, 2) => arithmetic(Or, to, to, second),
                (3, 0, 3) => arithmetic(And, to, to, second),
                _ => return None,
            }
        }
        (1, 5) => Jump { to: 0, offset: jump() },
        (1, 6) => branch(Condition::Equal),
        (1, 7) => branch(Condition::Unequal),
        (2, 0) if full > 0 && bits(12, 1) == 0 && other > 0 => {
            arithmetic(ShiftLeft, full, full, Operand::Immediate(other as i32))
        }
        (2, 2) if full > 0 => {
            let offset = bits(4, 3) << 2 | bits(12, 1) << 5 | bits(2, 2) << 6;
            Load { to: full, base: SP, offset: offset as i32, bytes: 4, signed: true }
        }
        (2, 4) => match (bits(12, 1), full, other) {
            (_, 0, _) => return None,
            (0, base, 0) => JumpRegister { to: 0, base, offset: 0 },
            (1, base, 0) => JumpRegister { to: RA, base, offset: 0 },
            (0, to, from) => arithmetic(Add, to, 0, Operand::Register(from)),
            (_, to, from) => arithmetic(Add, to, to, Operand::Register(from)),
        },
        (2, 6) => {
            let offset = bits(9, 4) << 2 | bits(7, 2) << 6;
            Store { from: other, base: SP, offset: offset as i32, bytes: 4 }
        }
        _ => return None,
    })
}

/// The names of registers in the calling convention.
pub const NAMES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

impl Operation {
    /// The mnemonic with a register; with an immediate it has an `i` after the part before `u`.
    fn mnemonic(self) -> &'static str {
        match self {
            Add => "add",
            Subtract => "sub",
            ShiftLeft => "sll",
            Less => "slt",
            LessUnsigned => "sltu",
            Xor => "xor",
            ShiftRight => "srl",
            ShiftRightSigned => "sra",
            Or => "or",
            And => "and",
            Multiply => "mul",
            High => "mulh",
            HighSignedUnsigned => "mulhsu",
            HighUnsigned => "mulhu",
            Divide => "div",
            DivideUnsigned => "divu",
            Remainder => "rem",
            RemainderUnsigned => "remu",
        }
    }
}

impl Condition {
    fn mnemonic(self) -> &'static str {
        match self {
            Condition::Equal => "beq",
            Condition::Unequal => "bne",
            Condition::Less => "blt",
            Condition::NotLess => "bge",
            Condition::Below => "bltu",
            Condition::NotBelow => "bgeu",
        }
    }
}

/// As assemblers read it, without abbreviations; jumps and branches have the distance from
/// themselves.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |register: Register| NAMES[register];
        let upper = |value: i32| value as u32 >> 12;
        match *self {
            Upper { to, value } => write!(f, "lui {},{:#x}", name(to), upper(value)),
            UpperRelative { to, value } => write!(f, "auipc {},{:#x}", name(to), upper(value)),
            Jump { to, offset } => write!(f, "jal {},{offset}", name(to)),
            JumpRegister { to, base, offset } => {
                write!(f, "jalr {},{offset}({})", name(to), name(base))
            }
            Branch { condition, a, b, offset } => {
                write!(f, "{} {},{},{offset}", condition.mnemonic(), name(a), name(b))
            }
            Load { to, base, offset, bytes, signed } => {
                let kind = ["b", "h", "", "w"][bytes - 1];
                let sign = if signed { "" } else { "u" };
                write!(f, "l{kind}{sign} {},{offset}({})", name(to), name(base))
            }
            Store { from, base, offset, bytes } => {
                let kind = ["b", "h", "", "w"][bytes - 1];
                write!(f, "s{kind} {},{offset}({})", name(from), name(base))
            }
            Arithmetic { operation, to, a, b } => {
                let (to, a, mnemonic) = (name(to), name(a), operation.mnemonic());
                match (b, operation) {
                    (Operand::Register(b), _) => write!(f, "{mnemonic} {to},{a},{}", name(b)),
                    (Operand::Immediate(value), LessUnsigned) => {
                        write!(f, "sltiu {to},{a},{value}")
                    }
                    (Operand::Immediate(value), _) => {
                        write!(f, "{mnemonic}i {to},{a},{value}")
                    }
                }
            }
        }
    }
}
