//! Instructions of AArch64 with Advanced SIMD: their fields.
//!
//! ```text
//! 8b020c20    add x0, x1, x2, lsl #3
//! 4ea18400    add v0.4s, v0.4s, v1.4s
//! ```
//!
//! Codes of 32 bits that are reserved, and instructions that compilers do not make of constant-time
//! C (floating-point numbers, atomic accesses, system registers), are no instruction here.
//!
//! - `base`: instructions on general-purpose registers; `accesses`: loads and stores;
//!   `vectors`: instructions on vectors; `text`: their text.
//!
//! *Source:* Arm Architecture Reference Manual for A-profile architecture, chapters C4 (encodings),
//! C6 (base) and C7 (Advanced SIMD).

mod accesses;
mod base;
mod text;
mod vectors;

pub use vectors::expanded;

/// The number of a register; 31 is zero or the stack pointer.
pub type Register = usize;

/// A shift of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shift {
    Left,
    Right,
    Arithmetic,
    Rotate,
}

/// A register that is shifted by a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shifted {
    pub register: Register,
    pub shift: Shift,
    pub count: usize,
}

/// The lowest bits of a register with zeros or copies of their sign above.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extend {
    pub signed: bool,
    /// 8 to 64 bits.
    pub bits: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Logic {
    And,
    Or,
    Xor,
}

/// A condition on flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition(pub u8);

/// The second operand of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    Register(Register),
    Immediate(u64),
}

/// The use of the constant of 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constant {
    /// movn: its complement.
    Complement,
    /// movz
    Zeros,
    /// movk: the other bits stay.
    Keep,
}

/// The bits around a moved field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    /// sbfm: copies of its sign above.
    Signed,
    /// bfm: the other bits stay.
    Inserted,
    /// ubfm: zeros.
    Unsigned,
}

/// What is done with the second choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    Plain,
    /// Plus one.
    Increment,
    Complement,
    Negate,
}

/// Instructions of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum One {
    /// The bits in the other order.
    Bits,
    /// The bytes of each part of so many bits in the other order.
    Bytes(usize),
    /// The number of zeros above the highest one.
    LeadingZeros,
}

/// The jump to the address in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Jump {
    Plain,
    Call,
    Return,
}

/// The address of an access. Offsets are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    Offset {
        base: Register,
        offset: i64,
        /// ldur, stur: the offset is no multiple of the size.
        unscaled: bool,
    },
    /// The base is changed before the access.
    Before { base: Register, offset: i64 },
    /// The base is changed after the access.
    After { base: Register, offset: i64 },
    Index {
        base: Register,
        index: Register,
        extend: Extend,
        /// The shift of the index, if there is one.
        shift: Option<usize>,
    },
}

/// The registers of a load or store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// General-purpose registers; a load extends their bytes to 64 bits, or to 32 bits with sign.
    General { signed: bool, wide: bool },
    Vector,
}

/// Lanes of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// Bits of a lane.
    pub bits: usize,
    /// All lanes: 64 or 128, or one lane of a scalar.
    pub all: usize,
}

/// Operations on the lanes of two vectors, with one result for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanewise {
    Add,
    Subtract,
    Multiply,
    MultiplyAdd,
    MultiplySubtract,
    Equal,
    /// Whether they have a common bit.
    Test,
    Greater,
    GreaterOrEqual,
    Higher,
    HigherOrSame,
    /// By the lowest byte of each lane; negative counts shift to the right.
    Shift { signed: bool },
    Most { signed: bool },
    Least { signed: bool },
    /// Sums of neighbours.
    AddPairs,
}

/// Operations on all bits of vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gate {
    And,
    AndNot,
    Or,
    OrNot,
    Xor,
    /// bsl: the old result chooses.
    Choose,
    /// bit: the second operand chooses the first one.
    InsertTrue,
    /// bif: the second operand chooses the old result.
    InsertFalse,
}

/// Operations with results of twice as many bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Long {
    Add,
    /// The first operand has twice as many bits.
    AddWide,
    Subtract,
    SubtractWide,
    Multiply,
    MultiplyAdd,
    MultiplySubtract,
    /// Without carries.
    Polynomial,
}

/// Operations on the lanes of one vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfLane {
    Not,
    Bits,
    /// The lanes of each part of so many bits in the other order.
    Reverse(usize),
    Count,
    LeadingZeros,
    Absolute,
    Negate,
    /// fneg: the highest bit changes.
    Sign,
    /// fabs: the highest bit becomes zero.
    NoSign,
    EqualZero,
    GreaterZero,
    GreaterOrEqualZero,
    LessZero,
    LessOrEqualZero,
}

/// Shifts of lanes by a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneShift {
    Left,
    Right { signed: bool },
    /// The result is added.
    RightAdd { signed: bool },
    /// The old bits stay where none are moved.
    InsertLeft,
    InsertRight,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permutation {
    Even,
    Odd,
    TransposeEven,
    TransposeOdd,
    ZipLow,
    ZipHigh,
}

/// An instruction on vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vector {
    Gate { gate: Gate, all: usize, to: Register, a: Register, b: Register },
    Lanewise { operation: Lanewise, lanes: Lanes, to: Register, a: Register, b: Register },
    /// With one lane of the last operand.
    ByElement { operation: Lanewise, lanes: Lanes, to: Register, a: Register, b: Register, at: usize },
    /// Of the lower lanes, or of the upper ones.
    Long { operation: Long, signed: bool, bits: usize, upper: bool, to: Register, a: Register, b: Register, at: Option<usize> },
    OfLane { operation: OfLane, lanes: Lanes, to: Register, from: Register },
    /// The lowest half of each lane, to the lower or the upper half of the vector; with a shift
    /// before it, if there is one.
    Narrow { bits: usize, upper: bool, shift: Option<usize>, to: Register, from: Register },
    Shift { shift: LaneShift, lanes: Lanes, to: Register, from: Register, count: usize },
    /// Lanes of twice as many bits.
    ShiftLong { signed: bool, bits: usize, upper: bool, to: Register, from: Register, count: usize },
    Permute { permutation: Permutation, lanes: Lanes, to: Register, a: Register, b: Register },
    /// Bytes of two vectors beside each other, from a byte of the first one on.
    Align { all: usize, to: Register, a: Register, b: Register, at: usize },
    /// Bytes of `count` vectors by their numbers; others are zero, or stay.
    Table { keeps: bool, all: usize, to: Register, first: Register, count: usize, numbers: Register },
    /// Copies of a lane.
    Duplicate { lanes: Lanes, to: Register, from: Register, at: usize },
    /// Copies of a general-purpose register.
    Broadcast { lanes: Lanes, to: Register, from: Register },
    /// A general-purpose register to a lane; the others stay.
    Insert { bits: usize, to: Register, at: usize, from: Register },
    InsertLane { bits: usize, to: Register, at: usize, from: Register, lane: usize },
    /// A lane to a general-purpose register.
    Extract { signed: bool, wide: bool, bits: usize, to: Register, from: Register, at: usize },
    /// Constants by their form: the flag, four bits of the mode, and the byte.
    Constant { all: usize, flag: bool, mode: usize, byte: u64, to: Register },
    /// fmov between a general-purpose register and the lowest bits of a vector, or its upper half.
    ToGeneral { bits: usize, upper: bool, to: Register, from: Register },
    FromGeneral { bits: usize, upper: bool, to: Register, from: Register },
    /// fmov of the lowest bits.
    Move { bits: usize, to: Register, from: Register },
    /// The sum of all lanes.
    Sum { lanes: Lanes, to: Register, from: Register },
    /// The sum of two lanes of 64 bits.
    SumOfPair { to: Register, from: Register },
}

/// An instruction. Distances are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// nop, and marks of the targets of branches.
    Nothing { number: usize },
    /// adr, adrp
    Place { is_page: bool, to: Register, offset: i64 },
    AddImmediate { wide: bool, subtracts: bool, flags: bool, to: Register, from: Register, value: u64 },
    Add { wide: bool, subtracts: bool, flags: bool, to: Register, a: Register, b: Shifted },
    AddExtended { wide: bool, subtracts: bool, flags: bool, to: Register, a: Register, b: Register, extend: Extend, count: usize },
    AddCarry { wide: bool, subtracts: bool, flags: bool, to: Register, a: Register, b: Register },
    LogicImmediate { wide: bool, logic: Logic, flags: bool, to: Register, from: Register, value: u64 },
    Logic { wide: bool, logic: Logic, inverts: bool, flags: bool, to: Register, a: Register, b: Shifted },
    Constant { wide: bool, constant: Constant, to: Register, value: u64, shift: usize },
    /// The field moves to the right by `right`, and its highest bit was `top`.
    Field { wide: bool, field: Field, to: Register, from: Register, right: usize, top: usize },
    /// Bits of two registers beside each other.
    Extract { wide: bool, to: Register, high: Register, low: Register, at: usize },
    ShiftBy { wide: bool, shift: Shift, to: Register, from: Register, count: Register },
    One { wide: bool, one: One, to: Register, from: Register },
    Divide { wide: bool, signed: bool, to: Register, a: Register, b: Register },
    /// c + a b, or c - a b
    MultiplyAdd { wide: bool, subtracts: bool, to: Register, a: Register, b: Register, c: Register },
    /// The same with factors of 32 bits and a sum of 64.
    MultiplyLong { signed: bool, subtracts: bool, to: Register, a: Register, b: Register, c: Register },
    MultiplyHigh { signed: bool, to: Register, a: Register, b: Register },
    Select { wide: bool, choice: Choice, to: Register, a: Register, b: Register, condition: Condition },
    /// A comparison if the condition holds, else these flags.
    CompareIf { wide: bool, subtracts: bool, a: Register, b: Operand, otherwise: u8, condition: Condition },
    Branch { is_call: bool, offset: i64 },
    BranchIf { condition: Condition, offset: i64 },
    BranchZero { wide: bool, if_zero: bool, register: Register, offset: i64 },
    BranchBit { if_zero: bool, register: Register, bit: usize, offset: i64 },
    JumpTo { jump: Jump, register: Register },
    Access { loads: bool, bytes: usize, content: Content, register: Register, at: At },
    AccessPair { loads: bool, bytes: usize, content: Content, registers: [Register; 2], at: At },
    /// A load of a constant at a distance.
    LoadNear { bytes: usize, content: Content, register: Register, offset: i64 },
    /// ld1 to ld4, st1 to st4 of whole vectors: one after the other, or lane by lane by turns.
    Vectors { loads: bool, by_turns: bool, lanes: Lanes, first: Register, count: usize, base: Register, after: Option<After> },
    /// ld1, st1 of one lane.
    Lane { loads: bool, bits: usize, register: Register, lane: usize, base: Register, after: Option<After> },
    /// ld1r: copies of one lane.
    LoadCopies { lanes: Lanes, register: Register, base: Register, after: Option<After> },
    Vector(Vector),
}

/// The change of a base after an access: by a register, or by the bytes of the access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    Register(Register),
    Bytes(usize),
}

/// The instruction of a code; `None` if there is none here.
pub fn decode(code: u32) -> Option<Instruction> {
    let code = Code(code);
    match code.bits(25, 4) {
        0b1000 | 0b1001 => base::immediate(code),
        0b1010 | 0b1011 => base::branch(code),
        0b0101 | 0b1101 => base::registers(code),
        0b0100 | 0b0110 | 0b1100 | 0b1110 => accesses::access(code),
        0b0111 | 0b1111 => vectors::vector(code).map(Instruction::Vector),
        _ => None,
    }
}

/// A code of 32 bits.
#[derive(Clone, Copy)]
struct Code(u32);

impl Code {
    /// The field of `count` bits from bit `from` on.
    fn bits(self, from: usize, count: usize) -> usize {
        (self.0 >> from) as usize & ((1 << count) - 1)
    }

    fn bit(self, at: usize) -> bool {
        self.bits(at, 1) == 1
    }

    /// The same with a sign.
    fn signed(self, from: usize, count: usize) -> i64 {
        let value = self.bits(from, count) as i64;
        value << (64 - count) >> (64 - count)
    }

    /// The register in five bits.
    fn register(self, from: usize) -> Register {
        self.bits(from, 5)
    }
}
