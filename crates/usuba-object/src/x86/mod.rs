//! The 64-bit x86 machine: what compilers make of kernels, and no more.
//!
//! ```text
//! vpternlogq zmm0, zmm1, [rdi + 64]{1to8}, 0x96      logic
//! vprold     ymm2, ymm2, 7                           lanes
//! vpshufb    xmm3, xmm3, [rip + .LC0]                shuffles
//! lea        rax, [rdi + rax*4]                      scalar
//! jb         .L3                                     control
//! ```
//!
//! The meaning of instructions follows the Intel 64 and IA-32 Architectures Software Developer's
//! Manual, volume 2. What is not named here is refused. Every form that is named is compared with
//! the processor by the tests of `usuba-prove`.
//!
//! - `registers`: general-purpose and vector registers, flags; entry and return.
//! - `operands`: operands of an instruction as bits; addresses.
//! - `making`: what instructions share that make a vector.
//! - `logic`: vector operations that act on each bit alone.
//! - `lanes`: sums, shifts, comparisons of lanes.
//! - `field`: bytes as elements of a field.
//! - `shuffles`: moves of bits between places, and plain moves.
//! - `packs`: shuffles that make vectors narrower, or choose from two.
//! - `scalar`: general-purpose arithmetic; `long`: that of several words.
//! - `masks`: mask registers, and instructions with a mask.
//! - `scatter`: elements at many addresses at once; `expand`: lanes that a mask chooses.
//! - `control`: jumps, calls, the stack; `blocks`: memory that one instruction copies or fills.
//! - `counts`: numbers that depend on how many blocks there are.
//! - `library`: functions of the C library that copy and fill; `kernels`: other kernels.
//! - `turns`: states at the turns of a loop over blocks.

mod blocks;
mod control;
mod counts;
mod expand;
mod field;
mod kernels;
mod lanes;
mod library;
mod logic;
mod long;
mod making;
mod masks;
mod operands;
mod packs;
mod registers;
mod scalar;
mod scatter;
mod shuffles;
mod turns;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, Register};

use super::cell::Cell;
use super::memory::Pointer;
use super::symbolic_count::Form;
use super::{Fault, Machine, Rule, Step, World};
use registers::{Flags, Word};

/// The processor.
#[derive(Clone)]
pub struct X86 {
    general: [Word; 16],
    vectors: registers::Vectors,
    /// Mask registers, the least significant bit first.
    masks: [[Cell; masks::MASK]; 8],
    flags: Flags,
    /// The numbers whose difference the flags are of, where they say [`registers::Flag::Public`].
    compared: Option<(Form, Form)>,
    next: u64,
}

/// Bytes of the longest instruction.
const LONGEST: usize = 15;

/// What a family of instructions says about one of them: `None` if it is not of the family.
type Outcome = Option<Result<(), Fault>>;

/// Whether an instruction is modelled in any form.
pub fn is_modelled(mnemonic: Mnemonic) -> bool {
    logic::is_modelled(mnemonic)
        || lanes::is_modelled(mnemonic)
        || field::is_modelled(mnemonic)
        || masks::is_modelled(mnemonic)
        || blocks::is_modelled(mnemonic)
        || scatter::is_modelled(mnemonic)
        || expand::is_modelled(mnemonic)
        || packs::is_modelled(mnemonic)
        || shuffles::is_modelled(mnemonic)
        || scalar::is_modelled(mnemonic)
        || long::is_modelled(mnemonic)
        || control::is_modelled(mnemonic)
}

impl X86 {
    fn execute(&mut self, world: &mut World, i: &Instruction) -> Result<Step, Fault> {
        masks::check(i)?;
        let repeats =
            [Mnemonic::Ret, Mnemonic::Nop].contains(&i.mnemonic()) || blocks::may_repeat(i);
        if i.has_rep_prefix() && !repeats
            || i.has_repne_prefix()
            || i.has_lock_prefix()
            || i.segment_prefix() == Register::FS
            || i.segment_prefix() == Register::GS
        {
            return Err(unsupported("the prefix is not modelled"));
        }
        // Divisions are told apart from other instructions that nobody has modelled.
        if !is_modelled(i.mnemonic()) && !scalar::is_varying(i.mnemonic()) {
            return Err(unsupported("the instruction is not modelled"));
        }
        if let Some(step) = self.control(world, i) {
            return step;
        }
        if let Some(outcome) = self.blocks(world, i) {
            return outcome.map(|()| Step::Next);
        }
        let families = [
            X86::logic,
            X86::lanes,
            X86::field,
            X86::masks,
            X86::scatter,
            X86::expand,
            X86::long,
            X86::packs,
            X86::shuffles,
            X86::scalar,
        ];
        for family in families {
            if let Some(outcome) = family(self, world, i) {
                return outcome.map(|()| Step::Next);
            }
        }
        Err(unsupported("the instruction is not modelled"))
    }
}

impl Machine for X86 {
    fn enter(parameters: &[Pointer], entry: u64) -> X86 {
        X86::entered(parameters, entry)
    }

    fn on_stack(parameters: &[Pointer]) -> &[Pointer] {
        parameters.get(registers::PARAMETERS.len()..).unwrap_or(&[])
    }

    fn step(&mut self, world: &mut World) -> Result<Step, Fault> {
        let address = self.next;
        let code = world.object.code(address, LONGEST);
        let instruction = Decoder::with_ip(64, code, address, DecoderOptions::NONE).decode();
        if code.is_empty() || instruction.is_invalid() {
            let mut fault = unsupported("there is no instruction that can be decoded");
            fault.place = world.object.name(address);
            return Err(fault);
        }
        self.next = instruction.next_ip();
        self.execute(world, &instruction).map_err(|fault| {
            let place = format!("{}: {instruction}", world.object.name(address));
            Fault { place, ..fault }
        })
    }

    fn leave(&self, world: &World) -> Result<Vec<String>, Fault> {
        self.check_restored()?;
        Ok(self.left(world))
    }
}

fn unsupported(what: impl Into<String>) -> Fault {
    Fault::new(Rule::Unsupported, what)
}
