//! Calls of kernels with their own proofs, with the semantics of `crate::calls`.
//!
//! ```text
//! lea  rdi, [rsp + 40]      a parameter, in the frame
//! mov  rsi, rbp             another one, in a buffer of the caller
//! call fe_mul               reads all parameters, then writes all results
//! ```
//!
//! Parameters and results are in the pointer arguments of the calling convention. Results overlap
//! nothing, as the kernel requires; the contents of the caller-saved registers after it are
//! unknown.

use super::address::Address;
use super::registers::{PARAMETERS, Word};
use super::{Done, Run, unsupported};
use crate::calls::Calls;
use crate::cell::Cell;
use crate::memory::{Pointer, Region};
use crate::{Fault, Rule};

impl Run<'_, '_> {
    /// The effect of a kernel, as a call that has returned. The return address is below `above`.
    pub fn kernel(&mut self, kernel: usize, above: i64) -> Done {
        self.check_call(above)?;
        let contract = self.world.calls.contract(kernel).clone();
        let mut places: Vec<(Address, usize, bool)> = Vec::new();
        for (at, &array) in contract.pointers.iter().enumerate() {
            let array = &contract.arrays[array];
            let place = self.handed(at, above)?;
            if array.size > 0 {
                self.check_handed(place, array.align)?;
            }
            places.push((place, array.size / 8, array.exit.is_some()));
        }
        for (at, one) in places.iter().enumerate() {
            if places[..at].iter().any(|other| overlap(one, other)) {
                return Err(unsupported("it hands over a result that overlaps another buffer"));
            }
        }
        let mut found = Vec::new();
        for &(place, bytes, is_result) in &places {
            found.push(match bytes == 0 || is_result {
                true => Vec::new(),
                false => self.load_cells(place, bytes)?,
            });
        }
        let calls = std::mem::take(&mut self.world.calls);
        let outs = Calls::answer(&calls, &mut self.world.bits, kernel, &found);
        self.world.calls = calls;
        for ((place, _, is_result), cells) in places.into_iter().zip(outs) {
            if is_result && !cells.is_empty() {
                self.store(place, &cells)?;
            }
        }
        self.library_returned(Word::Bits(Box::new([Cell::OPAQUE; 64])), true)
    }

    /// A pointer argument, by its number.
    fn handed(&mut self, at: usize, above: i64) -> Result<Address, Fault> {
        let word = match PARAMETERS.get(at) {
            Some(&register) => self.x86.general[register].clone(),
            None => {
                let offset = above + 8 * (at - PARAMETERS.len()) as i64;
                self.load_word(Address::Pointer(Pointer { region: Region::Frame, offset }), 8)?
            }
        };
        let other = "the address that is handed over is not known";
        match word {
            Word::Pointer(pointer) => Ok(Address::Pointer(pointer)),
            Word::Number(at) => Ok(Address::Number(at)),
            Word::Bits(cells) => {
                let secret = "an address that is handed over depends on an input";
                Err(self.unknown(&cells[..], Rule::SecretAddress, secret, other))
            }
            _ => Err(unsupported(other)),
        }
    }

    /// Checks that a buffer is aligned, and not below the frame, where the kernel has its own.
    fn check_handed(&mut self, at: Address, align: u64) -> Done {
        let stack = self.x86.stack()?;
        let is_aligned = match at {
            Address::Pointer(Pointer { region: Region::Frame, offset }) if offset < stack => {
                let what = "it hands over bytes below its frame";
                return Err(Fault::new(Rule::OutOfBounds, what));
            }
            _ => self.is_aligned(at, align),
        };
        match is_aligned {
            true => Ok(()),
            false => Err(Fault::new(Rule::Misaligned, "a buffer that is handed over")),
        }
    }
}

/// Whether two buffers have bytes in common, and one of them is a result.
fn overlap(one: &(Address, usize, bool), other: &(Address, usize, bool)) -> bool {
    let (Address::Pointer(a), Address::Pointer(b)) = (one.0, other.0) else { return false };
    let apart = a.region != b.region
        || a.offset.saturating_add(one.1 as i64) <= b.offset
        || b.offset.saturating_add(other.1 as i64) <= a.offset;
    (one.2 || other.2) && !apart
}
