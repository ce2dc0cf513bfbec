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
//!   `vectors`: instructions on vectors.
//! - `fields`, `vector_fields`: the types of their fields; `text`, `vector_text`: their text.
//!
//! *Source:* Arm Architecture Reference Manual for A-profile architecture, chapters C4 (encodings),
//! C6 (base) and C7 (Advanced SIMD).

mod accesses;
mod base;
mod fields;
mod text;
mod vector_fields;
mod vector_text;
mod vectors;

pub use fields::*;
pub use vector_fields::*;
pub use vectors::expanded;

/// An instruction. Distances are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// nop, and marks of the targets of branches.
    Nothing {
        number: usize,
    },
    /// paciasp, autiasp: signs the return address by the stack pointer, or checks that signature.
    Sign {
        checks: bool,
    },
    /// adr, adrp
    Place {
        is_page: bool,
        to: Register,
        offset: i64,
    },
    AddImmediate {
        wide: bool,
        subtracts: bool,
        flags: bool,
        to: Register,
        from: Register,
        value: u64,
    },
    Add {
        wide: bool,
        subtracts: bool,
        flags: bool,
        to: Register,
        a: Register,
        b: Shifted,
    },
    AddExtended {
        wide: bool,
        subtracts: bool,
        flags: bool,
        to: Register,
        a: Register,
        b: Register,
        extend: Extend,
        count: usize,
    },
    AddCarry {
        wide: bool,
        subtracts: bool,
        flags: bool,
        to: Register,
        a: Register,
        b: Register,
    },
    LogicImmediate {
        wide: bool,
        logic: Logic,
        flags: bool,
        to: Register,
        from: Register,
        value: u64,
    },
    Logic {
        wide: bool,
        logic: Logic,
        inverts: bool,
        flags: bool,
        to: Register,
        a: Register,
        b: Shifted,
    },
    Constant {
        wide: bool,
        constant: Constant,
        to: Register,
        value: u64,
        shift: usize,
    },
    /// The field moves to the right by `right`, and its highest bit was `top`.
    Field {
        wide: bool,
        field: Field,
        to: Register,
        from: Register,
        right: usize,
        top: usize,
    },
    /// Bits of two registers beside each other.
    Extract {
        wide: bool,
        to: Register,
        high: Register,
        low: Register,
        at: usize,
    },
    ShiftBy {
        wide: bool,
        shift: Shift,
        to: Register,
        from: Register,
        count: Register,
    },
    One {
        wide: bool,
        one: One,
        to: Register,
        from: Register,
    },
    Divide {
        wide: bool,
        signed: bool,
        to: Register,
        a: Register,
        b: Register,
    },
    /// c + a b, or c - a b
    MultiplyAdd {
        wide: bool,
        subtracts: bool,
        to: Register,
        a: Register,
        b: Register,
        c: Register,
    },
    /// The same with factors of 32 bits and a sum of 64.
    MultiplyLong {
        signed: bool,
        subtracts: bool,
        to: Register,
        a: Register,
        b: Register,
        c: Register,
    },
    MultiplyHigh {
        signed: bool,
        to: Register,
        a: Register,
        b: Register,
    },
    Select {
        wide: bool,
        choice: Choice,
        to: Register,
        a: Register,
        b: Register,
        condition: Condition,
    },
    /// A comparison if the condition holds, else these flags.
    CompareIf {
        wide: bool,
        subtracts: bool,
        a: Register,
        b: Operand,
        otherwise: u8,
        condition: Condition,
    },
    Branch {
        is_call: bool,
        offset: i64,
    },
    BranchIf {
        condition: Condition,
        offset: i64,
    },
    BranchZero {
        wide: bool,
        if_zero: bool,
        register: Register,
        offset: i64,
    },
    BranchBit {
        if_zero: bool,
        register: Register,
        bit: usize,
        offset: i64,
    },
    JumpTo {
        jump: Jump,
        register: Register,
    },
    Access {
        loads: bool,
        bytes: usize,
        content: Content,
        register: Register,
        at: At,
    },
    AccessPair {
        loads: bool,
        bytes: usize,
        content: Content,
        registers: [Register; 2],
        at: At,
    },
    /// A load of a constant at a distance.
    LoadNear {
        bytes: usize,
        content: Content,
        register: Register,
        offset: i64,
    },
    /// ld1 to ld4, st1 to st4 of whole vectors: one after the other, or lane by lane by turns.
    Vectors {
        loads: bool,
        by_turns: bool,
        lanes: Lanes,
        first: Register,
        count: usize,
        base: Register,
        after: Option<After>,
    },
    /// ld1, st1 of one lane.
    Lane {
        loads: bool,
        bits: usize,
        register: Register,
        lane: usize,
        base: Register,
        after: Option<After>,
    },
    /// ld1r: copies of one lane.
    LoadCopies {
        lanes: Lanes,
        register: Register,
        base: Register,
        after: Option<After>,
    },
    Vector(Vector),
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
