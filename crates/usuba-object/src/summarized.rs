//! Machines whose calls can be summarized.
//!
//! ```text
//! at the call     rdi: a parameter    rbx: a symbol, which stands for any public value
//! at the return   rbx: the symbol, so the value of the caller
//! ```

use super::memory::Whole;
use usuba_bits::cell::{Bits, Cell};

/// The place after the return of a call that is summarized.
pub const NOWHERE: u64 = u64::MAX;

/// A set of registers, as a mask.
pub type Registers = u32;

/// A machine with calls that can be summarized.
pub trait Summarized: Sized {
    /// How many registers may hold an address.
    const REGISTERS: u16;

    /// A weaker state at the entry of a function with these parameters, in which the other registers
    /// hold symbols of the call, or secrets. `None` if a parameter is no number, bits or address.
    fn generalised(&self, bits: &Bits, live: Registers, call: u16) -> Option<Self>;

    /// The same with names for the bits of secrets in registers that are no parameters.
    fn named(self, bits: &mut Bits, live: Registers) -> Self;

    /// Begins a call that is summarized, where the return address is in a register.
    fn begin_call(&mut self);

    /// Whether a generalised state is a case of another one.
    fn is_case_of(&self, general: &Self, bits: &Bits, is_case: IsCase) -> bool;

    /// The state with other addresses; those that are none, and numbers that are not known, become
    /// unknown public bits.
    fn moved(&self, of: &dyn Fn(Whole) -> Option<Whole>) -> Self;

    /// The value of a register that is no bits.
    fn held(&self, register: u16) -> Option<Whole>;

    /// Puts an address or a number into a register.
    fn hold(&mut self, register: u16, whole: Whole);

    /// The state after a call from this one, at a place, with other bits in the exit of its summary.
    fn returned(&self, exit: &Self, of: &mut dyn FnMut(Cell) -> Cell, place: u64) -> Self;
}

/// Whether a value of the second bit is one of the first.
pub type IsCase<'a> = &'a dyn Fn(Cell, Cell) -> bool;
