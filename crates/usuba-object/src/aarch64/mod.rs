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
//! - `word_operations`: arithmetic; `flags`: flags and conditions.
//! - `loads_and_stores`: with parts of addresses; `branches`: with jumps and calls.
//! - `vector_operations`: operations on vectors; `lane_operations`: on their lanes.

mod branches;
mod flags;
mod lane_operations;
mod loads_and_stores;
mod register_file;
mod vector_operations;
mod word_operations;

use usuba_decode::aarch64::{Instruction, decode};

use super::cell::{Bits, Cell};
use super::convention::Convention;
use super::memory::{Pointer, Region, Whole};
use super::{Fault, Machine, Rule, Step, World, unsupported};
use flags::Flags;
use register_file::{Value, Vector};

/// The processor.
#[derive(Clone)]
pub struct Aarch64 {
    /// The general-purpose registers, and the stack pointer.
    general: [Value; 32],
    vectors: Box<[Vector; 32]>,
    flags: Flags,
    next: u64,
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
            Value::Pointer(Pointer { region: Region::Frame, offset }) => Ok(*offset),
            _ => Err(Fault::new(Rule::NotRestored, "the stack pointer is not in the frame")),
        }
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
        let status = bits.word(&self.general[0].cells()?[..32])?;
        self.general[0] = Value::unset();
        Some(status)
    }

    fn result(&self, _: &Bits) -> Option<Vec<Cell>> {
        Some(self.general[0].cells()?[..32].to_vec())
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
            _ => return Err(super::plain_accesses::other_use()),
        }
        Ok(Step::Next)
    }
}
