//! Elements of arrays of pointers: loads of them, and the one that is open.
//!
//! ```text
//! mov rax, [rdi + 8 i]     in[i]: a pointer to its buffer if i is open
//! mov rcx, [rsi + 8 i]     lengths[i]: the bytes of the same buffer
//! ```

use super::memory::{Access, Memory, Moving, Pointer, Region, Whole};
use super::pointer_tables::Column;
use super::{Fault, Rule};
use usuba_ranges::{Asked, Form, Range};

impl Memory {
    /// The element at an address; `None` if there is none.
    ///
    /// # Errors
    /// It is outside of its array, or not open, which is asked for.
    pub fn element(&mut self, at: Moving, bytes: usize) -> Result<Option<Whole>, Fault> {
        let Region::Buffer(number) = at.region else { return Ok(None) };
        let Some(&column) = self.tables.columns.get(&number) else { return Ok(None) };
        let word = self.convention.address as i64;
        let [terms, constant] = [&at.offset.terms[..], &[at.offset.constant]];
        let is_element = terms.iter().chain(constant).all(|term| term % word == 0);
        if !is_element || bytes as i64 != word {
            return Ok(None);
        }
        self.note_open();
        self.check_inside(number, at.offset, Form::number(word))?;
        let mut index = at.offset;
        index.constant /= word;
        index.terms.iter_mut().for_each(|term| *term /= word);
        let is_open = |open: Form| {
            let difference = open.minus(index);
            difference.is_some_and(|form| self.unknowns.ranges.bounds(form) == (0, 0))
        };
        if !self.tables.open.is_some_and(is_open) {
            self.unknowns.asked = Some(Asked::Element(index));
            let what = "another element of an array of pointers";
            return Err(Fault::new(Rule::Unsupported, what));
        }
        Ok(Some(match column {
            Column::Lengths { open, .. } => Whole::Count(open),
            Column::Addresses { buffer, .. } => {
                Whole::Pointer(Pointer { region: Region::Buffer(buffer), offset: 0 })
            }
        }))
    }

    /// Whether a region is behind an element.
    pub fn is_element(&self, region: Region) -> bool {
        matches!(region, Region::Buffer(number) if self.tables.has(number))
    }

    /// Whether two buffers may overlap: they are only read, and one is behind a pointer of an array.
    pub fn may_overlap(&self, regions: [Region; 2]) -> bool {
        let is_read = |region| match region {
            Region::Buffer(number) => self.buffers[number as usize].access == Access::Read,
            _ => false,
        };
        regions.iter().any(|&region| self.is_element(region)) && regions.into_iter().all(is_read)
    }

    /// Opens the element of an index, after all are closed. `None` if there are too many numbers.
    pub fn open_element(&mut self, index: Form) -> Option<()> {
        self.tables.open = Some(index);
        let Memory { tables, unknowns, extents, .. } = self;
        for column in tables.columns.values_mut() {
            if let Column::Lengths { most, open } = column {
                *open = unknowns.unknown(Range { low: 0, high: *most })?;
            }
        }
        for column in tables.columns.values() {
            let Column::Addresses { buffer, lengths: Some(lengths) } = column else { continue };
            if let (Some(Column::Lengths { open, .. }), Some(extent)) =
                (tables.columns.get(lengths), extents.get_mut(buffer))
            {
                extent.bytes = *open;
            }
        }
        Some(())
    }

    /// Closes all elements, and forgets pointers to them.
    pub fn close_elements(&mut self) {
        let Memory { tables, extents, wholes, orders, .. } = self;
        tables.open = None;
        tables.forms_mut().for_each(|form| *form = Form::default());
        for (&number, extent) in extents {
            if tables.has(number) {
                extent.bytes = Form::default();
            }
        }
        let is_element =
            |region: &Region| matches!(region, Region::Buffer(number) if tables.has(*number));
        orders.retain(|regions, _| !regions.iter().any(is_element));
        wholes.retain(|_, whole| match whole {
            Whole::Pointer(Pointer { region, .. }) | Whole::Moving(Moving { region, .. }) => {
                !is_element(region)
            }
            Whole::Count(_) => true,
        });
    }
}
