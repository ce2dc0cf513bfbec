//! Registers and flags, and their roles in the System V calling convention.

use super::X86;
use crate::convention::Convention;
use crate::flags::Flags;
use crate::memory::{Pointer, Region, Whole};
use crate::word::Word;
use crate::{Fault, Rule, World};
use usuba_bits::cell::{Bits, Cell};

/// Bits of a vector register.
pub const VECTOR: usize = 512;

/// The bits of all vector registers, 32 of [`VECTOR`] bits.
#[derive(Clone, PartialEq)]
pub struct Vectors {
    cells: Vec<Cell>,
    /// Addresses and counts in lanes of 64 bits, which are then unset: compilers that run out of
    /// registers keep them there.
    pointers: Vec<[Option<Whole>; LANES]>,
    /// Which registers have any.
    holders: u32,
    /// Which registers have been written since the entry of a call that is summarized.
    pub written: u32,
}

/// Lanes of 64 bits in a vector register.
pub const LANES: usize = VECTOR / 64;

impl Vectors {
    pub fn get(&self, number: usize, bits: usize) -> &[Cell] {
        &self.cells[number * VECTOR..number * VECTOR + bits]
    }

    /// The bits of a register, to be written; an address in it is none any more.
    pub fn get_mut(&mut self, number: usize) -> &mut [Cell] {
        self.written |= 1 << number;
        if self.holders >> number & 1 == 1 {
            self.pointers[number] = [None; LANES];
            self.holders &= !(1 << number);
        }
        &mut self.cells[number * VECTOR..(number + 1) * VECTOR]
    }

    /// The bits of all registers, to be replaced by equal ones.
    pub fn cells_mut(&mut self) -> &mut [Cell] {
        &mut self.cells
    }

    /// Whether no lane of a register holds an address or a count.
    pub fn holds_none(&self, number: usize) -> bool {
        self.holders >> number & 1 == 0
    }

    /// The address in a lane of a register.
    pub fn pointer(&self, number: usize, lane: usize) -> Option<Whole> {
        self.pointers[number][lane]
    }

    /// Puts an address into a lane of a register, whose other bits are written already.
    pub fn set_pointer(&mut self, number: usize, lane: usize, pointer: Whole) {
        self.lane_mut(number, lane).fill(Cell::UNSET);
        self.pointers[number][lane] = Some(pointer);
        self.holders |= 1 << number;
    }

    /// Makes the contents of a lane of a register unknown.
    pub fn forget(&mut self, number: usize, lane: usize) {
        self.lane_mut(number, lane).fill(Cell::OPAQUE);
        self.pointers[number][lane] = None;
    }

    /// Replaces addresses and counts; of `None` nothing is known, and its bits are unset already.
    pub fn map_wholes(&mut self, of: &dyn Fn(Whole) -> Option<Whole>) {
        let wholes = self.pointers.iter_mut().flatten();
        wholes.for_each(|whole| *whole = whole.and_then(of));
    }

    /// Takes the registers from another state that have not been written.
    pub fn take_unwritten(&mut self, other: &Vectors) {
        let own = self.written;
        for number in (0..32).filter(|number| own >> number & 1 == 0) {
            self.get_mut(number).copy_from_slice(other.get(number, VECTOR));
            self.pointers[number] = other.pointers[number];
            self.holders |= other.holders & 1 << number;
        }
        self.written = own | other.written;
    }

    fn lane_mut(&mut self, number: usize, lane: usize) -> &mut [Cell] {
        self.written |= 1 << number;
        let first = number * VECTOR + 64 * lane;
        &mut self.cells[first..first + 64]
    }
}

/// Bits of a mask register.
pub const MASK: usize = 64;

/// Registers of x87.
pub const X87: u32 = 8;

/// Numbers of registers, as instructions encode them.
pub const RSP: usize = 4;

/// The registers of the first parameters: rdi, rsi, rdx, rcx, r8, r9.
pub const PARAMETERS: [usize; 6] = [7, 6, 2, 1, 8, 9];

/// The canary of the stack protector, `fs:28h`: an unknown word that is no secret, like the value of
/// a register at entry.
pub const CANARY: Pointer = Pointer { region: Region::Entry(16), offset: 0 };

/// The System V calling convention.
pub const CONVENTION: Convention = Convention { address: 8, above: 8, red_zone: 128, phase: 8 };

/// Caller-saved registers: rax, rcx, rdx, rsi, rdi, r8 to r11.
pub const VOLATILE: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

/// Callee-saved registers: rbx, rbp, r12 to r15.
pub const SAVED: [usize; 6] = [3, 5, 12, 13, 14, 15];

const NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
];

impl X86 {
    pub fn entered(parameters: &[Option<Whole>], entry: u64) -> X86 {
        let held = |number: usize| {
            Word::Pointer(Pointer { region: Region::Entry(number as u16), offset: 0 })
        };
        let mut general: [Word; 16] = std::array::from_fn(held);
        general[RSP] = Word::Pointer(Pointer { region: Region::Frame, offset: 0 });
        for (&register, &parameter) in PARAMETERS.iter().zip(parameters) {
            let unknown = || Word::Bits(Box::new([Cell::UNSET; 64]));
            general[register] = parameter.map_or_else(unknown, Word::from);
        }
        X86 {
            general,
            vectors: Vectors {
                cells: vec![Cell::UNSET; 32 * VECTOR],
                pointers: vec![[None; LANES]; 32],
                holders: 0,
                written: 0,
            },
            masks: [[Cell::UNSET; MASK]; 8],
            flags: Flags::UNDEFINED,
            zero_of: (0, Vec::new()),
            subtracted: None,
            x87: 0,
            next: entry,
        }
    }

    /// The offset of the stack pointer from where it was at entry.
    pub fn stack(&self) -> Result<i64, Fault> {
        match &self.general[RSP] {
            Word::Pointer(Pointer { region: Region::Frame, offset }) => Ok(*offset),
            _ => Err(Fault::new(Rule::NotRestored, "the stack pointer is not in the frame")),
        }
    }

    /// Checks the state after a return: the stack pointer is above the return address, and
    /// callee-saved registers have their old values.
    pub fn check_restored(&self) -> Result<(), Fault> {
        let stack = self.stack()?;
        if stack != 8 {
            let what = format!("the stack pointer is {} bytes off at return", stack - 8);
            return Err(Fault::new(Rule::NotRestored, what));
        }
        if self.x87 > 0 {
            let what = format!("{} x87 registers are in use at return", self.x87);
            return Err(Fault::new(Rule::NotRestored, what));
        }
        for number in SAVED {
            let was = Pointer { region: Region::Entry(number as u16), offset: 0 };
            if self.general[number] != Word::Pointer(was) {
                let what = format!("{} is not restored at return", NAMES[number]);
                return Err(Fault::new(Rule::NotRestored, what));
            }
        }
        Ok(())
    }

    /// The lowest 32 bits of rax, which become public.
    pub fn taken_status(&mut self, bits: &Bits) -> Option<u64> {
        let mut cells = self.general[0].cells(bits)?;
        let status = bits.word(&cells[..32]);
        cells[..32].fill(Cell::UNSET);
        self.general[0] = Word::from_cells(bits, &cells);
        status
    }

    /// Registers that depend on inputs.
    pub fn left(&self, world: &World) -> Vec<String> {
        let is_secret = |cells: &[Cell]| cells.iter().any(|&cell| world.bits.is_secret(cell));
        let mut left = Vec::new();
        for (number, word) in self.general.iter().enumerate() {
            if matches!(word, Word::Bits(cells) if is_secret(&cells[..])) {
                left.push(NAMES[number].to_string());
            }
        }
        for number in 0..32 {
            let cells = self.vectors.get(number, VECTOR);
            let top =
                (0..3).rev().find(|at| is_secret(&cells[[0, 128, 256][*at]..[128, 256, 512][*at]]));
            if let Some(top) = top {
                left.push(format!("{}mm{number}", ["x", "y", "z"][top]));
            }
        }
        let masks = (0..8).filter(|&number| is_secret(&self.masks[number]));
        left.extend(masks.map(|number| format!("k{number}")));
        for (flag, name) in [
            (self.flags.carry, "carry flag"),
            (self.flags.zero, "zero flag"),
            (self.flags.sign, "sign flag"),
            (self.flags.overflow, "overflow flag"),
        ] {
            if flag.is_secret() {
                left.push(name.to_string());
            }
        }
        left
    }
}
