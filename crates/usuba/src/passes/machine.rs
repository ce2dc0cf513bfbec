//! Machine model of the passes: numbers per kind of operator, without an instruction set.
//!
//! ```text
//! AVX2 on Zen 5     16 registers; xor: 1 instruction, latency 2, ports 1111
//!                   rotation of 32 bits by 7: 3 instructions, latency 4, ports 1111
//! ```
//!
//! The facade fills in a [`Machine`] from the target, the layout of the program and the table of a
//! CPU. Operators that cost the same on every machine share a [`Kind`]. The default is a fictional
//! machine with the parallelism of current ones, for tests and for passes without a target.

use crate::ir::Op;
use crate::ir::op::Lanes;

/// Kinds of operators, one price each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Literals and copies: no instruction where they are used.
    Free,
    /// `&`, `|`, `^`
    Logic,
    Andn,
    Not,
    Ternary,
    /// Sums and differences.
    Add,
    Mul,
    /// Products with a sum.
    MulAdd,
    /// Left and logical right shifts.
    Shift,
    /// Arithmetic right shifts.
    Sar,
    Rotate,
    /// A rotation by whole bytes.
    Turn,
    Shuffle,
    Bitmask,
    Pack,
    Lookup,
    /// Affine maps of bytes, and of their inverses.
    Affine,
    /// Lanes of a vector shifted one by one.
    Each,
    /// Lanes of a vector in other places.
    Move,
}

/// Every kind, in the order of the table of a [`Machine`].
pub const KINDS: [Kind; 19] = [
    Kind::Free,
    Kind::Logic,
    Kind::Andn,
    Kind::Not,
    Kind::Ternary,
    Kind::Add,
    Kind::Mul,
    Kind::MulAdd,
    Kind::Shift,
    Kind::Sar,
    Kind::Rotate,
    Kind::Turn,
    Kind::Shuffle,
    Kind::Bitmask,
    Kind::Pack,
    Kind::Lookup,
    Kind::Affine,
    Kind::Each,
    Kind::Move,
];

/// The word sizes for which a [`Machine`] has prices; a word has the price of the next larger one.
pub const WIDTHS: [u8; 5] = [1, 8, 16, 32, 64];

impl Kind {
    /// The kind of an operator.
    pub fn of(op: &Op) -> Kind {
        match op {
            Op::Const(_) | Op::Copy | Op::Resize(_) => Kind::Free,
            Op::And | Op::Or | Op::Xor => Kind::Logic,
            Op::Andn => Kind::Andn,
            Op::Not => Kind::Not,
            Op::Lut3(_) => Kind::Ternary,
            Op::Add | Op::Sub | Op::Less => Kind::Add,
            Op::Mul | Op::MulHigh | Op::Clmul | Op::ClmulHigh => Kind::Mul,
            Op::MulAdd(_) | Op::MulAddHigh(_) => Kind::MulAdd,
            Op::Shl(_) | Op::Shr(_) => Kind::Shift,
            Op::Sar(_) => Kind::Sar,
            Op::Rotl(k) if k % 8 == 0 => Kind::Turn,
            Op::Rotl(_) => Kind::Rotate,
            Op::Shuffle(_) => Kind::Shuffle,
            Op::Bitmask(_) => Kind::Bitmask,
            Op::Pack => Kind::Pack,
            Op::Lookup(_) => Kind::Lookup,
            Op::Affine(..) | Op::AffineInverse(..) => Kind::Affine,
            Op::Lanes(Lanes::Const(_)) => Kind::Free,
            Op::Lanes(Lanes::Each(_)) => Kind::Each,
            Op::Lanes(Lanes::Move(_) | Lanes::Join(_)) => Kind::Move,
        }
    }
}

/// The price of one operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    /// Instructions that it becomes, without literals.
    pub instructions: u8,
    /// Cycles from its operands to its result.
    pub latency: u8,
    /// The ports that run its instructions, one bit each; the union over several instructions.
    pub ports: u16,
}

impl Cost {
    /// No instruction.
    pub const FREE: Cost = Cost { instructions: 0, latency: 0, ports: 0 };
}

/// Which schedulers pay on a machine. Measured; `docs/decisions` has the ratios.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pays {
    pub bitslice: bool,
    pub mslice: bool,
    pub pressure: bool,
}

/// Registers that the model reserves for the C compiler: frames, addresses, and operands without a
/// name.
const RESERVED: u32 = 2;

/// One register file with the ports behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Registers that hold values.
    pub regs: u32,
    /// Instructions that begin in one cycle at most.
    pub issue: u32,
    /// Loads in ten cycles.
    pub loads: u32,
    /// Stores in ten cycles.
    pub stores: u32,
    /// Largest number of instructions of a straight body before the front end becomes the
    /// bottleneck.
    pub body: u32,
    /// Bytes of such a body.
    pub body_bytes: u32,
    /// Bytes of one instruction, rounded up.
    pub instruction_bytes: u32,
    /// The largest total size of a loop, in equations, that is better straight code: of words, and of
    /// bits.
    pub straight: [u32; 2],
    pub pays: Pays,
    /// The price of each kind, in the order of [`KINDS`], at each of [`WIDTHS`].
    pub costs: [[Cost; WIDTHS.len()]; KINDS.len()],
}

impl Default for Machine {
    fn default() -> Machine {
        let price = |kind: Kind, _| match kind {
            Kind::Free => Cost::FREE,
            Kind::Mul | Kind::MulAdd => Cost { instructions: 1, latency: 4, ports: 0b0011 },
            Kind::Shift | Kind::Sar | Kind::Rotate | Kind::Turn | Kind::Shuffle | Kind::Pack => {
                Cost { instructions: 1, latency: 2, ports: 0b0011 }
            }
            _ => Cost { instructions: 1, latency: 2, ports: 0b1111 },
        };
        let pays = Pays { bitslice: true, mslice: true, pressure: true };
        Machine {
            regs: 16,
            issue: 4,
            loads: 20,
            stores: 10,
            body: 4_000,
            body_bytes: 30_000,
            instruction_bytes: 5,
            straight: [64; 2],
            pays,
            costs: [[Cost::FREE; WIDTHS.len()]; KINDS.len()],
        }
        .with_costs(price)
    }
}

impl Machine {
    /// The same machine with the prices of `price` for each kind and each of [`WIDTHS`].
    pub fn with_costs(mut self, mut price: impl FnMut(Kind, u8) -> Cost) -> Machine {
        for (row, &kind) in self.costs.iter_mut().zip(&KINDS) {
            for (cost, &bits) in row.iter_mut().zip(&WIDTHS) {
                *cost = price(kind, bits);
            }
        }
        self
    }

    /// The price of `op` with a result of `bits` bits.
    pub fn cost(&self, op: &Op, bits: u8) -> Cost {
        self.price(Kind::of(op), bits)
    }

    /// The price of a kind on words of `bits` bits.
    pub fn price(&self, kind: Kind, bits: u8) -> Cost {
        let width = WIDTHS.iter().position(|&w| bits <= w).unwrap_or(WIDTHS.len() - 1);
        self.costs[kind as usize][width]
    }

    /// Registers that can hold values while others are computed.
    pub fn free_regs(&self) -> u32 {
        self.regs.saturating_sub(RESERVED).max(4)
    }

    /// How many independent operations of logic keep the machine busy: latency times ports.
    pub fn parallelism(&self) -> u32 {
        let logic = self.price(Kind::Logic, 64);
        (logic.latency as u32 * logic.ports.count_ones().min(self.issue)).max(1)
    }

    /// Whether the front end fetches a straight body of `instructions` instructions at full speed.
    pub fn fits(&self, instructions: u64) -> bool {
        instructions <= self.body as u64
            && instructions * self.instruction_bytes as u64 <= self.body_bytes as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_order_of_the_table() {
        for (at, kind) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, at);
        }
    }

    #[test]
    fn prices_depend_on_kind_and_width() {
        let price = |kind: Kind, bits| Cost { instructions: bits, latency: kind as u8, ports: 1 };
        let machine = Machine::default().with_costs(price);
        let cost = |op: Op, bits| {
            let cost = machine.cost(&op, bits);
            (cost.instructions, cost.latency)
        };
        assert_eq!(cost(Op::Xor, 1), (1, Kind::Logic as u8));
        assert_eq!(cost(Op::Rotl(5), 24), (32, Kind::Rotate as u8));
        assert_eq!(cost(Op::Rotl(16), 32), (32, Kind::Turn as u8));
        assert_eq!(cost(Op::Const(1), 64), (64, Kind::Free as u8));
    }

    #[test]
    fn the_default_wants_eight_operations() {
        assert_eq!(Machine::default().parallelism(), 8);
        assert!(Machine::default().fits(4_000) && !Machine::default().fits(4_001));
    }
}
