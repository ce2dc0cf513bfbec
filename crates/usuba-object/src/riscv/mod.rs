//! The RISC-V machine of 32 bits: RV32I with products (M) and compressed instructions (C).
//!
//! ```text
//! lw   a5, 4(a1)           loads and stores
//! sltu a4, a3, a2          operations; a carry of a sum
//! jal  ra, usuba_fe_mul    jumps
//! ```
//!
//! The semantics of instructions follows The RISC-V Instruction Set Manual, volume I, and registers
//! have their roles in the calling convention ILP32. An access that is not aligned is refused, since
//! processors need not have it, and so are floating-point numbers, atomic and privileged instructions.
//! Tests compare the decoder with a disassembler, and each instruction with an emulator.
//!
//! - `values`: the contents of registers; entry and return.
//! - `operations`: arithmetic; `comparisons`; `pairs`: of words in two registers, by `recent_sums`;
//!   `addressing`: loads, stores and parts of addresses; `jumps`: branches, jumps, calls.
//! - `plain_flow`: the flow of control, and the registers that instructions use; `loop_states`: at the
//!   turns of a loop; `summary_states`: at the entry and at the return of calls that are summarized.

mod addressing;
mod comparisons;
mod jumps;
mod loop_states;
mod operations;
mod pairs;
mod plain_flow;
mod recent_sums;
mod summary_states;
mod values;

use usuba_decode::riscv::decode;

use super::convention::Convention;
use super::memory::{Pointer, Region, Whole};
use super::word::Word;
use super::{Fault, Machine, Rule, Step, World, unsupported};
use recent_sums::RecentSums;
use usuba_bits::cell::{Bits, Cell};
use values::FIRST;

/// The processor.
#[derive(Clone)]
pub struct Riscv {
    registers: [Word; 32],
    /// Recent sums and differences, whose carries comparisons compute again.
    recent: RecentSums,
    next: u64,
}

/// One instruction that is being executed.
struct Run<'a, 'o> {
    riscv: &'a mut Riscv,
    world: &'a mut World<'o>,
    /// The places of the instruction and of the next one.
    place: u64,
    next: u64,
}

/// An effect, or the rule that the instruction breaks.
type Done = Result<(), Fault>;

/// Bytes of the longest instruction.
const LONGEST: usize = 4;

impl Riscv {
    /// The offset of the stack pointer from where it was at entry.
    fn stack(&self) -> Result<i64, Fault> {
        match &self.registers[values::SP] {
            Word::Pointer(Pointer { region: Region::Frame, offset }) => Ok(*offset),
            _ => Err(Fault::new(Rule::NotRestored, "the stack pointer is not in the frame")),
        }
    }
}

impl Machine for Riscv {
    const CONVENTION: Convention = Convention { address: 4, above: 0, red_zone: 0, phase: 0 };

    fn enter(parameters: &[Option<Whole>], entry: u64) -> Riscv {
        Riscv::entered(parameters, entry)
    }

    fn on_stack<T>(parameters: &[T]) -> &[T] {
        parameters.get(values::PARAMETERS..).unwrap_or(&[])
    }

    fn step(&mut self, world: &mut World) -> Result<Step, Fault> {
        let place = self.next;
        let at = |fault: Fault, text: &str, world: &World| {
            let place = format!("{}{text}", world.object.name(place));
            Fault { place, ..fault }
        };
        let Some((instruction, bytes)) = decode(world.object.code(place, LONGEST)) else {
            let fault = unsupported("there is no instruction that can be decoded");
            return Err(at(fault, "", world));
        };
        let before = self.stack()?;
        self.next = place + bytes as u64;
        let next = self.next;
        let mut run = Run { riscv: &mut *self, world: &mut *world, place, next };
        let step = run.execute(instruction);
        step.and_then(|step| world.check_stack::<Self>(self.stack()?, before).map(|()| step))
            .map_err(|fault| at(fault, &format!(": {instruction}"), world))
    }

    fn status(&mut self, bits: &Bits) -> Option<u64> {
        let cells = self.registers[FIRST].cells(bits)?;
        self.registers[FIRST] = Word::unset();
        bits.word(&cells[..32])
    }

    fn result(&self, bits: &Bits) -> Option<Vec<Cell>> {
        Some(self.registers[FIRST].cells(bits)?[..32].to_vec())
    }

    fn leave(&self, world: &World) -> Result<Vec<String>, Fault> {
        self.check_restored()?;
        Ok(self.left(&world.bits))
    }
}
