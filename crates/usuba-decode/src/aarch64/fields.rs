//! The fields of instructions on general-purpose registers, and of accesses.

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

/// The operation on the second choice.
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
    /// The bytes of each part in the other order, by the bits of a part.
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
    General {
        signed: bool,
        wide: bool,
    },
    Vector,
}

/// The change of a base after an access: by a register, or by the bytes of the access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    Register(Register),
    Bytes(usize),
}
