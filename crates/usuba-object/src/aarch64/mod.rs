//! The AArch64 machine with Advanced SIMD.
//!
//! ```text
//! ldp  q0, q1, [x0]            loads and stores
//! adcs x4, x5, x6              operations, with carries in a flag
//! eor  v0.16b, v1.16b, v2.16b  operations on vectors
//! bl   usuba_fe_mul            jumps
//! ```
//!
//! The semantics of instructions follows the Arm Architecture Reference Manual for A-profile
//! architecture, and registers have their roles in the procedure call standard AAPCS64. Floating-point
//! numbers, atomic accesses and system registers are no part of it. Tests compare the decoder
//! (`usuba_decode::aarch64`) with a disassembler, and each instruction with an emulator.
//!
//! - `register_file`: the contents of registers; entry and return.
//! - `word_operations`: arithmetic; `products`: with quotients and remainders; `bit_fields`: of bits;
//!   `flag_bits`: flags and conditions; `selections`: choices by them.
//! - `loads_and_stores`: with parts of addresses; `branches`: with jumps and calls.
//! - `vector_operations`: operations on vectors; `lane_operations`: on their lanes.
//! - `flow`: the flow of control, and the registers that instructions use; `turns`: states at the turns
//!   of a loop; `summaries`: states at the entry and at the return of calls that are summarized.

mod bit_fields;
mod branches;
mod flag_bits;
mod flow;
mod lane_operations;
mod loads_and_stores;
mod products;
mod register_file;
mod selections;
mod summaries;
mod turns;
mod vector_operations;
mod word_operations;

use usuba_decode::aarch64::{Instruction, decode};

use super::convention::Convention;
use super::memory::{Pointer, Region, Whole};
use super::word::Word;
use super::{Fault, Machine, Rule, Step, World, unsupported};
use flag_bits::Flags;
use register_file::Vector;
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::Form;

/// The processor.
#[derive(Clone)]
pub struct Aarch64 {
    /// The general-purpose registers, and the stack pointer.
    general: [Word; 32],
    vectors: Box<[Vector; 32]>,
    /// The vectors that have been written since the entry of a call that is summarized, as a mask.
    written: u32,
    flags: Flags,
    /// The last division of a public word of which nothing is known.
    divided: Option<Division>,
    next: u64,
}

/// A division of a public word, which the instructions behind it may make a remainder of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Division {
    /// The number of the dividend: see [`Region::Public`].
    dividend: u16,
    divisor: u64,
    quotient: Form,
    rest: Form,
}

/// One instruction that is being executed.
struct Run<'a, 'o> {
    aarch64: &'a mut Aarch64,
    world: &'a mut World<'o>,
    /// The place of the instruction.
    place: u64,
}

/// An effect, or the rule that the instruction breaks.
type Done = Result<(), Fault>;

/// Bytes of an instruction.
const BYTES: u64 = 4;

impl Aarch64 {
    /// The offset of the stack pointer from where it was at entry.
    fn stack(&self) -> Result<i64, Fault> {
        match &self.general[register_file::SP] {
            Word::Pointer(Pointer { region: Region::Frame, offset }) => Ok(*offset),
            _ => Err(Fault::new(Rule::NotRestored, "the stack pointer is not in the frame")),
        }
    }
}

impl Aarch64 {
    /// A vector register, to be written.
    fn vector_mut(&mut self, number: usize) -> &mut Vector {
        self.written |= 1 << number;
        &mut self.vectors[number]
    }
}

impl Machine for Aarch64 {
    const CONVENTION: Convention = Convention { address: 8, above: 0, red_zone: 0, phase: 0 };

    fn enter(parameters: &[Option<Whole>], entry: u64) -> Aarch64 {
        Aarch64::entered(parameters, entry)
    }

    fn on_stack<T>(parameters: &[T]) -> &[T] {
        parameters.get(register_file::PARAMETERS..).unwrap_or(&[])
    }

    fn step(&mut self, world: &mut World) -> Result<Step, Fault> {
        let place = self.next;
        let at = |fault: Fault, text: &str, world: &World| {
            let place = format!("{}{text}", world.object.name(place));
            Fault { place, ..fault }
        };
        let code = world.object.code(place, BYTES as usize).try_into().ok();
        let Some(instruction) = code.and_then(|code| decode(u32::from_le_bytes(code))) else {
            let fault = unsupported("there is no instruction that can be decoded");
            let code: Option<[u8; 4]> = code;
            let text = code.map(|code| format!(": {:#010x}", u32::from_le_bytes(code)));
            return Err(at(fault, &text.unwrap_or_default(), world));
        };
        let before = self.stack()?;
        self.next = place + BYTES;
        let mut run = Run { aarch64: &mut *self, world: &mut *world, place };
        let step = run.execute(instruction);
        step.and_then(|step| world.check_stack::<Self>(self.stack()?, before).map(|()| step))
            .map_err(|fault| at(fault, &format!(": {instruction}"), world))
    }

    fn status(&mut self, bits: &Bits) -> Option<u64> {
        let mut cells = self.general[0].cells(bits)?;
        let status = bits.word(&cells[..32]);
        cells[..32].fill(Cell::UNSET);
        self.general[0] = Word::from_cells(bits, &cells);
        status
    }

    fn result(&self, bits: &Bits) -> Option<Vec<Cell>> {
        Some(self.general[0].cells(bits)?[..32].to_vec())
    }

    fn leave(&self, world: &World) -> Result<Vec<String>, Fault> {
        self.check_restored()?;
        Ok(self.left(&world.bits))
    }
}

impl Run<'_, '_> {
    fn execute(&mut self, instruction: Instruction) -> Result<Step, Fault> {
        let relocation = self.world.relocation(self.place, BYTES as usize)?;
        if let Some(step) = self.jumped(instruction, relocation)? {
            return Ok(step);
        }
        if self.accessed(instruction, relocation)? {
            return Ok(Step::Next);
        }
        match (instruction, relocation) {
            (Instruction::Vector(vector), None) => self.vector(vector)?,
            (instruction, None) => self.operate(instruction)?,
            _ => return Err(super::places::other_use()),
        }
        Ok(Step::Next)
    }
}
