//! Public numbers in structs of the caller: their values at entry, and at return.
//!
//! ```text
//! state.phase   8 bytes at 0              public at entry, and at return
//! state.used    8 bytes at 8, below 16    the same, and 0 to 15
//! ```
//!
//! A field with a bound may have twice as many bytes as an address; its upper half is zero then.
//!
//! *Soundness:* a function may assume the bounds that every function establishes: each return is
//! checked. Nothing is assumed about a struct for results only.

use super::memory::{Access, Field, Memory, Place, Region, Whole};
use super::{Fault, Rule};
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::{Form, Range};

impl Field {
    fn place(&self, buffer: u32) -> Place {
        (Region::Buffer(buffer), self.offset as i64)
    }

    /// The place of its upper half, if it has twice as many bytes as an address.
    fn upper(&self, buffer: u32, address: usize) -> Option<Place> {
        let place = (Region::Buffer(buffer), (self.offset + address) as i64);
        (self.bytes > address).then_some(place)
    }
}

impl Memory {
    /// Adds the fields of a buffer, with their values at entry. `None` if there are too many numbers.
    pub fn add_fields(&mut self, buffer: u32, fields: &[Field]) -> Option<()> {
        for field in fields {
            if self.buffers[buffer as usize].access != Access::Write {
                let bits = 8 * field.offset..8 * (field.offset + field.bytes);
                self.buffers[buffer as usize].cells[bits].fill(Cell::UNSET);
                if let Some(below) = field.below {
                    let form = self.unknowns.unknown(Range { low: 0, high: below - 1 })?;
                    self.keep(field.place(buffer), Whole::Count(form));
                    if let Some(upper) = field.upper(buffer, self.convention.address) {
                        self.keep(upper, Whole::Count(Form::default()));
                    }
                }
            }
            self.fields.push((buffer, field.clone()));
        }
        Some(())
    }

    /// Whether the call in progress has given a field with a bound a number that depends on numbers
    /// of this state, which other callers do not have.
    pub fn computes_field(&self, bits: &Bits) -> bool {
        let Some(footprint) = &self.footprint else { return false };
        let address = self.convention.address;
        self.fields.iter().filter(|(_, field)| field.below.is_some()).any(|(buffer, field)| {
            let at = field.place(*buffer);
            let known = match self.wholes.get(&at) {
                Some(&Whole::Count(form)) => form.value().is_some(),
                _ => bits.word(&self.cells_of(at, address)).is_some(),
            };
            footprint.written.has(at, address) && !known
        })
    }

    /// Checks the fields at return.
    ///
    /// # Errors
    /// One of them depends on a secret, or may not be below its bound.
    pub fn check_fields(&self, bits: &Bits) -> Result<(), Fault> {
        for (buffer, field) in &self.fields {
            let buffer_name = &self.buffers[*buffer as usize].name;
            let name = format!("`{}` of `{buffer_name}`", field.name);
            let place = 8 * field.offset..8 * (field.offset + field.bytes);
            let cells = &self.buffers[*buffer as usize].cells[place];
            let wrong = |text: String| Err(Fault::new(Rule::Field, text));
            if cells.iter().any(|&cell| bits.is_secret(cell)) {
                return wrong(format!("the public field {name} depends on an input at return"));
            }
            let Some(below) = field.below else { continue };
            let address = self.convention.address;
            let is_short = field.upper(*buffer, address).is_none_or(|upper| {
                let zero = Whole::Count(Form::default());
                let at = 8 * (field.offset + address)..8 * (field.offset + field.bytes);
                let cells = &self.buffers[*buffer as usize].cells[at];
                self.wholes.get(&upper) == Some(&zero) || bits.word(cells) == Some(0)
            });
            let (low, high) = match self.wholes.get(&field.place(*buffer)) {
                Some(&Whole::Count(form)) if is_short => self.unknowns.ranges.bounds(form),
                _ => {
                    let most = cells.iter().rev();
                    let bit = |cell: &Cell| bits.value(*cell).unwrap_or(true) as i128;
                    (0, most.fold(0, |sum, cell| sum << 1 | bit(cell)))
                }
            };
            if low < 0 || high >= below.into() {
                return wrong(format!(
                    "{name} may be {high} at return, expected less than {below}"
                ));
            }
        }
        Ok(())
    }
}
