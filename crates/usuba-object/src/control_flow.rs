//! The flow of control between instructions, as the decoder of a machine tells it.

use std::ops::Range;

use super::elf::Object;
use super::summarized::Registers;

/// How an instruction hands over control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// To the next instruction, or by a jump.
    Plain,
    /// A call, and its target if the instruction names it.
    Call(Option<u64>),
    Return,
}

/// The general-purpose registers that an instruction uses.
#[derive(Clone, Copy, Debug)]
pub struct Effects {
    pub read: Registers,
    /// Registers that it writes wholly.
    pub written: Registers,
    pub transfer: Transfer,
}

/// How an instruction uses flags.
#[derive(Clone, Copy, Default, Debug)]
pub struct FlagUse {
    pub reads: bool,
    /// Whether it writes any of them.
    pub writes: bool,
}

/// The addresses that an instruction names.
#[derive(Clone, Default, Debug)]
pub struct Names {
    /// Bytes of the instruction, at least one.
    pub length: u64,
    /// Whether it can be decoded.
    pub is_known: bool,
    pub is_call: bool,
    /// Whether it calls or jumps to an address in a register or in memory, and the place of that address
    /// if it is named.
    pub is_indirect: bool,
    pub slot: Option<u64>,
    /// The target of a call or a jump.
    pub target: Option<u64>,
    /// Other addresses: one of each range.
    pub addresses: Vec<Range<u64>>,
}

/// A machine whose instructions can be looked at without executing them.
pub trait ControlFlow {
    /// The registers of the first parameters.
    const PARAMETERS: &'static [usize];

    /// The callee-saved registers.
    const SAVED: &'static [usize];

    /// The caller-saved registers; the first one has the result.
    const VOLATILE: &'static [usize];

    /// Bytes between the places of instructions, at least.
    const STEP: u64;

    /// The places of the instructions that may be next; `None` is outside of the function. A conditional
    /// branch has two.
    fn next(object: &Object, place: u64) -> Vec<Option<u64>>;

    /// How the instruction at a place uses flags.
    fn flags(object: &Object, place: u64) -> FlagUse;

    /// The registers that the instruction at a place uses.
    fn effects(object: &Object, place: u64) -> Effects;

    /// The addresses that the instruction at a place names.
    fn names(object: &Object, place: u64) -> Names;

    /// The slot of the global offset table through which the stub at a place jumps, if it is one.
    fn stub(object: &Object, place: u64) -> Option<u64>;
}
