//! Allocated code: instructions on registers and memory, in the order in which they are printed.

use smallvec::SmallVec;

use crate::code::{Cell, LoopId, Value};

/// A register that holds values, by its number.
pub type Reg = u8;

/// Memory that a value is in.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    /// A slot of the frame, of the size of a register.
    Slot(u32),
    Cell(Cell),
}

/// An operand of an allocated instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    Reg(Reg),
    Memory(Memory),
}

/// An allocated instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    Op {
        /// The value that it defines.
        value: Value,
        form: u32,
        imm: Option<u64>,
        to: Reg,
        /// In the order of the sources of the form.
        from: SmallVec<[Place; 3]>,
    },
    Copy {
        to: Reg,
        from: Reg,
    },
    Load {
        to: Reg,
        from: Memory,
    },
    /// To a slot.
    Spill {
        slot: u32,
        from: Reg,
    },
    /// To a cell, which the program asks for.
    Store {
        cell: Cell,
        from: Reg,
    },
    /// The head of a loop.
    Enter {
        id: LoopId,
        count: u32,
        banks: Option<Banks>,
    },
    /// Its end: back to the head until all turns are done.
    Again {
        id: LoopId,
        banks: Option<Banks>,
    },
}

/// Two ranges of slots that change places after every turn but the last one: a turn reads in the first
/// one, and writes in the second one for the next turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Banks {
    /// The first slot of each.
    pub first: u32,
    pub second: u32,
    /// Slots of each.
    pub size: u32,
}

/// A function with registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Allocated {
    pub steps: Vec<Step>,
    pub slots: u32,
}
