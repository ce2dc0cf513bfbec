//! The calling convention at calls of functions with their own proofs: see `crate::callees`.

use super::registers::{PARAMETERS, Word};
use super::{Cells, Done, Run, unsupported};
use crate::address::Address;
use crate::callees::Caller;
use crate::cell::Cell;
use crate::memory::{Pointer, Region};
use crate::{Fault, Rule, World};

impl<'o> Caller<'o> for Run<'_, 'o> {
    fn world(&mut self) -> &mut World<'o> {
        self.world
    }

    fn address_bytes(&self) -> usize {
        8
    }

    fn check_call(&mut self, above: i64) -> Done {
        Run::check_call(self, above)
    }

    fn handed(&mut self, at: usize, above: i64) -> Result<Address, Fault> {
        let word = match PARAMETERS.get(at) {
            Some(&register) => self.x86.general[register].clone(),
            None => {
                let offset = above + 8 * (at - PARAMETERS.len()) as i64;
                self.load_word(Address::Pointer(Pointer { region: Region::Frame, offset }), 8)?
            }
        };
        self.pointed_by(word)
    }

    fn handed_number(&self, at: usize) -> Option<u64> {
        match self.x86.general[PARAMETERS[at]] {
            Word::Number(value) => Some(value),
            _ => None,
        }
    }

    fn stack(&self) -> Result<i64, Fault> {
        self.x86.stack()
    }

    fn is_aligned(&mut self, at: Address, align: u64) -> bool {
        Run::is_aligned(self, at, align)
    }

    fn load_cells(&mut self, at: Address, bytes: usize) -> Cells {
        Run::load_cells(self, at, bytes)
    }

    fn load_address(&mut self, at: Address) -> Result<Address, Fault> {
        let word = self.load_word(at, 8)?;
        self.pointed_by(word)
    }

    fn store(&mut self, at: Address, cells: &[Cell]) -> Done {
        Run::store(self, at, cells)
    }

    fn forget_results(&mut self) -> Done {
        self.library_returned(Word::Bits(Box::new([Cell::OPAQUE; 64])), true)
    }
}

impl Run<'_, '_> {
    fn pointed_by(&mut self, word: Word) -> Result<Address, Fault> {
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
}
