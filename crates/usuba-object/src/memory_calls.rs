//! Memory at calls that are summarized: notes of their footprints, and their content.
//!
//! ```text
//! mov rax, [rdi]      note: 8 bytes of the buffer of rdi are read
//! content             in: 8 bytes, all opaque; [rsp + 16] = in + 64
//! ```

use std::ops::Range;

use super::footprint::{Bytes, Footprint, Span};
use super::memory::{Memory, Moving, Place, Pointer, Region, Whole};
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::Form;

/// The return address of a call that is summarized.
pub const RETURN: Pointer = Pointer { region: Region::Return, offset: 0 };

impl Memory {
    pub(super) fn note_read(&mut self, at: Place, bytes: usize) {
        if let Some(Footprint { read, written, .. }) = &mut self.footprint {
            read.add_without(at, bytes, written);
        }
    }

    pub(super) fn note_written(&mut self, at: Place, bytes: usize) {
        self.footprint.iter_mut().for_each(|noted| noted.written.add(at, bytes));
    }

    pub(super) fn note_lost(&mut self, end: i64, secret: bool) {
        if let Some(noted) = &mut self.footprint {
            let (most, any) = noted.lost.unwrap_or((end, false));
            noted.lost = Some((most.max(end), any || secret));
        }
    }

    pub(super) fn note_reach(&self, offset: i64) {
        self.footprint.iter().for_each(|noted| noted.extend(offset));
    }

    /// Whether a region is a buffer of a call over buffers.
    pub fn is_passed(&self, region: Region) -> bool {
        let passed = self.footprint.as_ref().and_then(|noted| noted.passed);
        matches!((region, passed), (Region::Buffer(number), Some(own)) if number >= own.buffers)
    }

    /// Notes a dependency that is no byte.
    pub fn note_open(&self) {
        self.footprint.iter().for_each(|noted| noted.is_open.set(true));
    }

    /// Notes an access to a buffer whose size is not known.
    pub(super) fn note_span(&self, buffer: u32, offset: Form, bytes: i64, written: Option<bool>) {
        let span = Span { buffer, offset, bytes, written };
        self.footprint.iter().for_each(|noted| noted.access(span));
    }

    /// Notes an access at an offset or of a length that is not known, to some bytes of a span, and
    /// whether a secret is written if it is a write.
    pub(super) fn note_access(
        &mut self,
        at: Moving,
        length: Form,
        (span, written): (Option<Range<i64>>, Option<bool>),
    ) {
        let own = self.footprint.as_ref().and_then(|noted| noted.passed);
        match (at.region, length.value(), span) {
            (Region::Buffer(number), Some(bytes), None) => {
                self.note_span(number, at.offset, bytes, written);
            }
            // Each access to it is in bounds, at any offset.
            (Region::Buffer(number), None, None) if self.is_passed(at.region) => {
                self.note_span(number, Form::default(), 0, written);
            }
            // The frame of the callee; its other bytes keep their values.
            (Region::Frame, _, Some(span)) if own.is_some_and(|own| span.end <= own.frame) => {
                let (at, bytes) = ((at.region, span.start), (span.end - span.start) as usize);
                self.note_read(at, bytes);
                if written.is_some() {
                    self.note_written(at, bytes);
                }
            }
            _ => self.note_open(),
        }
    }

    /// Notes whether a value that has been read is a number that is not known, unless the call has
    /// written it.
    pub(super) fn note_value(&self, at: Place, whole: Option<Whole>) {
        let is_own = |noted: &Footprint<Region>| noted.written.has(at, self.convention.address);
        if whole.is_some_and(is_unknown) && !self.footprint.as_ref().is_some_and(is_own) {
            self.note_open();
        }
    }

    /// Forgets numbers that are not known: they are unknown public bits.
    pub fn forget_numbers(&mut self) {
        self.wholes.retain(|_, whole| !is_unknown(*whole));
    }

    /// The content of bytes.
    pub fn content(&self, bytes: &Bytes<Region>) -> Content {
        let mut content = Content::default();
        for ((region, offset), count) in bytes.runs() {
            let before = self.convention.address as i64 - 1;
            let range = (region, offset - before)..(region, offset + count as i64);
            content.wholes.extend(self.wholes.range(range).map(|(&at, &whole)| (at, whole)));
            content.cells.push(((region, offset), self.cells_of((region, offset), count)));
        }
        content.wholes.dedup();
        content
    }

    /// Whether the bytes of a content are a case of it.
    pub fn is_case_of(&self, content: &Content, is_case: impl Fn(Cell, Cell) -> bool) -> bool {
        let are_cases = |(at, cells): &(Place, Vec<Cell>)| {
            let own = self.cells_of(*at, cells.len() / 8);
            cells.iter().zip(own).all(|(&general, own)| is_case(general, own))
        };
        content.wholes.iter().all(|(at, whole)| self.wholes.get(at) == Some(whole))
            && content.cells.iter().all(are_cases)
    }

    /// Makes bytes a case of a content and of their own, except for addresses.
    pub fn weaken(&mut self, content: &Content, bits: &Bits) {
        let is_public = |cell| cell == Cell::UNSET || bits.value(cell).is_some();
        for (at, cells) in &content.cells {
            let own = self.cells_mut(*at, cells.len() / 8);
            for (own, &other) in own.iter_mut().zip(cells) {
                *own = match *own {
                    own if own == other || bits.is_name(own) && bits.is_name(other) => own,
                    own if is_public(own) && is_public(other) => Cell::UNSET,
                    _ => Cell::OPAQUE,
                };
            }
        }
    }

    /// Begins a call that is summarized, whose return address is at an offset in the frame.
    pub fn begin_call(&mut self, start: i64) {
        if self.convention.above > 0 {
            self.keep((Region::Frame, start), Whole::Pointer(RETURN));
        }
        self.footprint = Some(Footprint::default());
    }

    /// Writes a content.
    pub fn put(&mut self, content: &Content) {
        for (at, cells) in &content.cells {
            let bytes = cells.len() / 8;
            self.note_written(*at, bytes);
            self.forget(*at, bytes);
            self.cells_mut(*at, bytes).copy_from_slice(cells);
        }
        content.wholes.iter().for_each(|&(at, whole)| self.keep(at, whole));
    }

    pub(super) fn cells_of(&self, (region, offset): Place, bytes: usize) -> Vec<Cell> {
        let first = 8 * offset;
        match region {
            Region::Buffer(number) => {
                self.buffers[number as usize].cells[first as usize..][..8 * bytes].to_vec()
            }
            _ => (first..first + 8 * bytes as i64).map(|at| self.cell_at(at)).collect(),
        }
    }
}

/// Whether a value has a number that is not known.
fn is_unknown(whole: Whole) -> bool {
    match whole {
        Whole::Count(form) => form.value().is_none(),
        Whole::Moving(_) => true,
        Whole::Pointer(_) => whole.is_public(),
    }
}

/// Bytes with their bits, and the values in them that are no bits.
#[derive(Clone, Default, Debug)]
pub struct Content {
    pub cells: Vec<(Place, Vec<Cell>)>,
    pub wholes: Vec<(Place, Whole)>,
}

impl Content {
    /// The same at other offsets in the frame and with other values; a value that has none is
    /// unknown, and its bits are.
    pub fn moved(&self, by: i64, of: &dyn Fn(Whole) -> Option<Whole>) -> Content {
        let cells = self.cells.iter().map(|(at, cells)| (moved(*at, by), cells.clone()));
        let wholes = self.wholes.iter();
        let wholes = wholes.filter_map(|(at, whole)| Some((moved(*at, by), of(*whole)?)));
        Content { cells: cells.collect(), wholes: wholes.collect() }
    }
}

/// Another place in the frame; the same in a buffer.
pub fn moved((region, offset): Place, by: i64) -> Place {
    (region, if region == Region::Frame { offset + by } else { offset })
}
