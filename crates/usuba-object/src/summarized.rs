//! Machines whose calls can be summarized.
//!
//! ```text
//! at the call     rdi: a parameter    rbx: a symbol, which stands for any public value
//! at the return   rbx: the symbol, so the value of the caller
//! ```

use super::cell::{Bits, Cell};
use super::elf::Object;
use super::memory::Whole;

/// The place after the return of a call that is summarized.
pub const NOWHERE: u64 = u64::MAX;

/// Registers that may hold an address, at most.
pub const REGISTERS: u16 = 16;

/// A machine with calls that can be summarized.
pub trait Summarized: Sized {
    /// The parameters in registers that a function may use, as a mask.
    fn live(object: &Object, entry: u64) -> u16;

    /// The callee-saved registers that a function may read from a place on, as a mask.
    fn saved(object: &Object, place: u64) -> u16;

    /// The other registers that a function may read from a place on, as a mask.
    fn results(object: &Object, place: u64) -> u16;

    /// A weaker state at the entry of a function with these parameters, in which the other registers
    /// hold symbols of the call, or secrets. `None` if a parameter is no number, bits or address.
    fn generalised(&self, bits: &Bits, live: u16, call: u16) -> Option<Self>;

    /// The same with names for the bits of secrets in registers that are no parameters.
    fn named(self, bits: &mut Bits, live: u16) -> Self;

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
