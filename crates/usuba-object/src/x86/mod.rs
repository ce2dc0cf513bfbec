//! The 64-bit x86 machine: the instructions that compilers emit for kernels, and no others.
//!
//! ```text
//! vpternlogq zmm0, zmm1, [rdi + 64]{1to8}, 0x96      lanes
//! vpshufb    xmm3, xmm3, [rip + .LC0]                shuffles
//! lea        rax, [rdi + rax*4]                      scalar
//! jb         .L3                                     control
//! ```
//!
//! The semantics of instructions follows the Intel 64 and IA-32 Architectures Software Developer's
//! Manual, volume 2. An instruction without a row in `table` is rejected. The tests of
//! `usuba-prove` compare every row with the processor.
//!
//! - `table`: all instructions with form, lanes, flags, timing class and semantics.
//! - `registers`: general-purpose and vector registers, flags; entry and return.
//! - `operands`: operands of an instruction as bits, and their addresses; `relocated`: addresses that
//!   the linker writes.
//! - `lanes`: logic, arithmetic and shifts of lanes; `field`: bytes as elements of a field.
//! - `crypto`: instructions for AES and SHA-256.
//! - `shuffles`: vectors whose units come from units of others; `moves`: moves of whole vectors and
//!   of parts.
//! - `scalar`: general-purpose arithmetic; `long`: arithmetic of several words.
//! - `masks`: mask registers, and instructions with a mask.
//! - `control`: jumps, calls, the stack; `string_instructions`: copies and fillings of memory.
//! - `kernels`: calls of functions that are not executed.
//! - `turn_states`: states at the turns of a loop over blocks; `decoded_flow`: the flow of control.
//! - `call_states`: states at the entry and at the return of calls that are summarized.

mod call_states;
mod control;
mod crypto;
mod decoded_flow;
mod field;
mod kernels;
mod lanes;
mod long;
mod masks;
mod moves;
mod operands;
mod registers;
mod relocated;
mod scalar;
mod shuffles;
mod string_instructions;
mod table;
mod turn_states;

use iced_x86::{ConstantOffsets, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

use super::convention::Convention;
use super::flags::Flags;
use super::memory::Whole;
use super::word::Word;
use super::{Fault, Machine, Step, World, unsupported};
use relocated::Linked;
use table::Meaning;
pub use table::{Form as Shape, Row, Timing, is_modelled, rows};
use usuba_bits::cell::{Bits, Cell};

/// The processor.
#[derive(Clone, PartialEq)]
pub struct X86 {
    general: [Word; 16],
    vectors: registers::Vectors,
    /// Mask registers, the least significant bit first.
    masks: [[Cell; registers::MASK]; 8],
    flags: Flags,
    /// The last result of bits that set the zero flag, with its number. Few flags are used, so the
    /// bit is made when an instruction asks for it.
    zero_of: (u64, Vec<Cell>),
    /// The words whose difference set these flags, where words are integers.
    subtracted: Option<Box<(Flags, [Vec<Cell>; 2])>>,
    /// x87 registers in use, each of which holds zero.
    x87: u32,
    next: u64,
}

/// One instruction that is being executed.
struct Run<'a, 'o> {
    x86: &'a mut X86,
    world: &'a mut World<'o>,
    i: &'a Instruction,
    /// The places in the object that it names.
    linked: Linked,
    /// Its row in the table.
    row: &'static Row,
}

/// An effect, or the rule that the instruction breaks.
type Done = Result<(), Fault>;

/// The bits of an operand or of a result.
type Cells = Result<Vec<Cell>, Fault>;

/// Bytes of the longest instruction.
const LONGEST: usize = 15;

impl X86 {
    /// Executes an instruction, of these bytes.
    fn execute(
        &mut self,
        world: &mut World,
        i: &Instruction,
        offsets: &ConstantOffsets,
        code: &[u8],
    ) -> Result<Step, Fault> {
        let row = Row::of(i);
        if let Some(feature) = world.extensions().lacks(i) {
            return Err(unsupported(format!("processors of the target need not have {feature:?}")));
        }
        let repeats = [Mnemonic::Ret, Mnemonic::Nop].contains(&i.mnemonic())
            || row.is_some_and(|row| row.form == table::Form::Repeated);
        if i.has_rep_prefix() && !repeats
            || i.has_repne_prefix()
            || i.has_lock_prefix()
            || [Register::FS, Register::GS].contains(&i.segment_prefix()) && !is_canary(i)
            || row.is_some_and(|row| resizes(row, i, code))
        {
            return Err(unsupported("the prefix is not modelled"));
        }
        let unknown = || unsupported("the instruction is not modelled");
        let row = row.ok_or_else(unknown)?;
        let (is_merged, to_register) = (row.lane > 0, i.op0_kind() == OpKind::Register);
        if i.has_op_mask() && !row.is_by_mask() && !(is_merged && to_register) {
            return Err(unsupported("the instruction is not modelled with a mask"));
        }
        let linked = Linked::of(world.object, i, offsets, i.ip())?;
        let mut run = Run { x86: self, world, i, linked, row };
        run.number_index();
        if row.timing == Timing::Operands {
            run.check_public()?;
        }
        match row.meaning {
            Meaning::Control(act) => return act(&mut run),
            Meaning::Plain(act) | Meaning::ByMask(act) => act(&mut run)?,
            Meaning::Vector(make) => {
                run.vector_width().ok_or_else(unknown)?;
                let cells = make(&mut run)?;
                run.set_vector(&cells);
            }
        }
        Ok(Step::Next)
    }
}

impl Machine for X86 {
    const CONVENTION: Convention = registers::CONVENTION;

    fn enter(parameters: &[Option<Whole>], entry: u64) -> X86 {
        X86::entered(parameters, entry)
    }

    fn on_stack<T>(parameters: &[T]) -> &[T] {
        parameters.get(registers::PARAMETERS.len()..).unwrap_or(&[])
    }

    fn step(&mut self, world: &mut World) -> Result<Step, Fault> {
        let address = self.next;
        let code = world.object.code(address, LONGEST);
        let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let offsets = decoder.get_constant_offsets(&instruction);
        if code.is_empty() || instruction.is_invalid() {
            let mut fault = unsupported("there is no instruction that can be decoded");
            fault.place = world.object.name(address);
            return Err(fault);
        }
        self.next = instruction.next_ip();
        let before = self.stack()?;
        let step = self.execute(world, &instruction, &offsets, &code[..instruction.len()]);
        step.and_then(|step| world.check_stack::<X86>(self.stack()?, before).map(|()| step))
            .map_err(|fault| {
                let place = format!("{}: {instruction}", world.object.name(address));
                Fault { place, ..fault }
            })
    }

    fn status(&mut self, bits: &Bits) -> Option<u64> {
        self.taken_status(bits)
    }

    fn result(&self, bits: &Bits) -> Option<Vec<Cell>> {
        Some(self.general[0].cells(bits)?[..32].to_vec())
    }

    fn leave(&self, world: &World) -> Result<Vec<String>, Fault> {
        self.check_restored()?;
        Ok(self.left(world))
    }
}

/// Whether the second operand is the canary of the stack protector, in instructions that copy it or
/// compare it with a copy.
fn is_canary(i: &Instruction) -> bool {
    i.segment_prefix() == Register::FS
        && [i.memory_base(), i.memory_index()] == [Register::None; 2]
        && (i.memory_displacement64(), i.memory_size().size()) == (0x28, 8)
        && i.op1_kind() == OpKind::Memory
        && [Mnemonic::Mov, Mnemonic::Sub, Mnemonic::Xor, Mnemonic::Cmp].contains(&i.mnemonic())
}

/// Whether a prefix shortens addresses (67h), except sums of registers in `lea`, or the operand of
/// control flow (66h), which processors disagree about.
fn resizes(row: &Row, i: &Instruction, code: &[u8]) -> bool {
    let is_prefix = |byte: &u8| {
        // A REX prefix before another prefix has no effect.
        let is_rex = byte & 0xf0 == 0x40;
        is_rex || b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3".contains(byte)
    };
    let prefixes = || code.iter().copied().take_while(is_prefix);
    let is_lea = i.mnemonic() == Mnemonic::Lea
        && [i.memory_base(), i.memory_index()].iter().any(|register| register.is_gpr32());
    let is_control = row.is_control() || i.mnemonic() == Mnemonic::Leave;
    !is_lea && prefixes().any(|byte| byte == 0x67)
        || is_control && prefixes().any(|byte| byte == 0x66)
}
