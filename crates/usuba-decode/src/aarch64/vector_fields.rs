//! Instructions on vectors, and their fields.

use super::Register;

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
    Shift {
        signed: bool,
    },
    Most {
        signed: bool,
    },
    Least {
        signed: bool,
    },
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
    /// The lanes of each part in the other order, by the bits of a part.
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
    Right {
        signed: bool,
    },
    /// The result is added.
    RightAdd {
        signed: bool,
    },
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
    Gate {
        gate: Gate,
        all: usize,
        to: Register,
        a: Register,
        b: Register,
    },
    Lanewise {
        operation: Lanewise,
        lanes: Lanes,
        to: Register,
        a: Register,
        b: Register,
    },
    /// With one lane of the last operand.
    ByElement {
        operation: Lanewise,
        lanes: Lanes,
        to: Register,
        a: Register,
        b: Register,
        at: usize,
    },
    /// Of the lower lanes, or of the upper ones.
    Long {
        operation: Long,
        signed: bool,
        bits: usize,
        upper: bool,
        to: Register,
        a: Register,
        b: Register,
        at: Option<usize>,
    },
    OfLane {
        operation: OfLane,
        lanes: Lanes,
        to: Register,
        from: Register,
    },
    /// The lowest half of each lane, to the lower or the upper half of the vector; with a shift
    /// before it, if there is one.
    Narrow {
        bits: usize,
        upper: bool,
        shift: Option<usize>,
        to: Register,
        from: Register,
    },
    Shift {
        shift: LaneShift,
        lanes: Lanes,
        to: Register,
        from: Register,
        count: usize,
    },
    /// Lanes of twice as many bits.
    ShiftLong {
        signed: bool,
        bits: usize,
        upper: bool,
        to: Register,
        from: Register,
        count: usize,
    },
    Permute {
        permutation: Permutation,
        lanes: Lanes,
        to: Register,
        a: Register,
        b: Register,
    },
    /// Bytes of two vectors beside each other, from a byte of the first one on.
    Align {
        all: usize,
        to: Register,
        a: Register,
        b: Register,
        at: usize,
    },
    /// Bytes of `count` vectors by their numbers; others are zero, or stay.
    Table {
        keeps: bool,
        all: usize,
        to: Register,
        first: Register,
        count: usize,
        numbers: Register,
    },
    /// Copies of a lane.
    Duplicate {
        lanes: Lanes,
        to: Register,
        from: Register,
        at: usize,
    },
    /// Copies of a general-purpose register.
    Broadcast {
        lanes: Lanes,
        to: Register,
        from: Register,
    },
    /// A general-purpose register to a lane; the others stay.
    Insert {
        bits: usize,
        to: Register,
        at: usize,
        from: Register,
    },
    InsertLane {
        bits: usize,
        to: Register,
        at: usize,
        from: Register,
        lane: usize,
    },
    /// A lane to a general-purpose register.
    Extract {
        signed: bool,
        wide: bool,
        bits: usize,
        to: Register,
        from: Register,
        at: usize,
    },
    /// Constants by their form: the flag, four bits of the mode, and the byte.
    Constant {
        all: usize,
        flag: bool,
        mode: usize,
        byte: u64,
        to: Register,
    },
    /// fmov between a general-purpose register and the lowest bits of a vector, or its upper half.
    ToGeneral {
        bits: usize,
        upper: bool,
        to: Register,
        from: Register,
    },
    FromGeneral {
        bits: usize,
        upper: bool,
        to: Register,
        from: Register,
    },
    /// fmov of the lowest bits.
    Move {
        bits: usize,
        to: Register,
        from: Register,
    },
    /// The sum of all lanes.
    Sum {
        lanes: Lanes,
        to: Register,
        from: Register,
    },
    /// The sum of two lanes of 64 bits.
    SumOfPair {
        to: Register,
        from: Register,
    },
}
