//! Accesses at public addresses and of public lengths that are not known: bounds and secrecy.
//!
//! ```text
//! extent    a buffer of n bytes: one bit stands for all of its content
//! string    n + 1 bytes, of which the last one is zero, and no other
//! span      r bytes at buffer + 64 q: checked in all cases, read and written as a whole
//! ```
//!
//! *Soundness:* a span that is read is secret if any byte that it may have is. A span that is
//! written makes each byte that it may have secret, or unknown.

use std::ops::Range;

use super::frame_phases::PHASES;
use super::memory::{Memory, Moving, Pointer, Region, Whole};
use super::{Fault, Rule};
use usuba_bits::cell::Cell;
use usuba_ranges::{Asked, Form, Verdict};

/// The most bytes of the frame or of a buffer that an access may reach.
const MOST: i128 = 1 << 20;

impl Memory {
    /// Checks that bytes are inside of a buffer, in all cases.
    ///
    /// # Errors
    /// In some case they may be outside.
    pub fn check_inside(&self, number: u32, offset: Form, length: Form) -> Result<(), Fault> {
        let buffer = &self.buffers[number as usize];
        let size = match self.extents.get(&number) {
            Some(extent) => extent.bytes,
            None => Form::number(buffer.cells.len() as i64 / 8),
        };
        let ranges = &self.unknowns.ranges;
        let rest = size.minus(offset).and_then(|rest| rest.minus(length));
        let far = || Fault::new(Rule::OutOfBounds, "an address that is far outside of all buffers");
        let rest = rest.ok_or_else(far)?;
        for (form, place) in [(offset, "before"), (rest, "behind")] {
            let low = ranges.bounds(form).0;
            if low < 0 {
                let what = format!("it may access {} bytes {place} `{}`", -low, buffer.name);
                return Err(Fault::new(Rule::OutOfBounds, what));
            }
        }
        match ranges.never_negative(length) {
            true => Ok(()),
            false => Err(Fault::new(Rule::OutOfBounds, "a length that may be negative")),
        }
    }

    /// Whether an offset is in the frame, or behind its last byte.
    pub fn is_in_frame(&self, offset: Form) -> bool {
        let (low, high) = self.unknowns.ranges.bounds(offset);
        let is_inside = self.reaches(low, high);
        match offset.value() {
            Some(offset) if is_inside => self.note_reach(offset),
            _ => self.note_open(),
        }
        is_inside
    }

    /// Whether an offset is in a buffer, or behind its last byte.
    pub fn is_in_buffer(&self, number: u32, offset: Form) -> bool {
        let is_inside = self.check_inside(number, offset, Form::default()).is_ok();
        match self.extents.contains_key(&number) {
            true if is_inside => self.note_span(number, offset, 0, None),
            false if offset.value().is_some() => {}
            _ => self.note_open(),
        }
        is_inside
    }

    /// A byte of a string, which is zero at its end only; `None` at other places.
    ///
    /// # Errors
    /// It is outside, or may be the end or not, which is asked for.
    pub fn byte_of_text(&mut self, at: Moving, bytes: usize) -> Result<Option<Whole>, Fault> {
        let Region::Buffer(number) = at.region else { return Ok(None) };
        let Some(text) = self.extents.get(&number).filter(|text| text.is_text && bytes == 1) else {
            return Ok(None);
        };
        let last = text.bytes.minus(Form::number(1)).and_then(|last| last.minus(at.offset));
        self.note_open();
        self.check_inside(number, at.offset, Form::number(1))?;
        let unknown = || Fault::new(Rule::Unsupported, "it is not known where a string ends");
        match self.unknowns.ranges.is_zero(last.ok_or_else(unknown)?) {
            Verdict::Is(true) => Ok(Some(Whole::Count(Form::default()))),
            Verdict::Is(false) => {
                let byte =
                    self.unknowns.unknown(usuba_ranges::Range { low: 1, high: u8::MAX.into() });
                Ok(byte.map(Whole::Count))
            }
            Verdict::Depends(split) => {
                self.unknowns.asked = last.map(|last| Asked::Split(split, last));
                Err(unknown())
            }
        }
    }

    /// The bytes of the frame or of a buffer of known size that an access may reach; `None` for an
    /// extent.
    fn span(&self, at: Moving, length: Form, stack: i64) -> Result<Option<Range<i64>>, Fault> {
        let unknown = |what| Fault::new(Rule::Unsupported, what);
        let end = at.offset.plus(length);
        let end = end.ok_or_else(|| unknown("an address that is far away"))?;
        let (low, high) =
            (self.unknowns.ranges.bounds(at.offset).0, self.unknowns.ranges.bounds(end).1);
        match at.region {
            Region::Buffer(number) => {
                self.check_inside(number, at.offset, length)?;
                let extent = self.extents.contains_key(&number);
                // Where facts contradict each other there is no case, and no span.
                let size = self.buffers[number as usize].cells.len() as i128 / 8;
                let (low, high) = (low.min(size), high.clamp(low.min(size), size));
                Ok((!extent).then_some(low as i64..high as i64))
            }
            Region::Frame => {
                if high - low > MOST || !self.unknowns.ranges.never_negative(length) {
                    return Err(unknown("any part of the frame may be accessed"));
                }
                let high = high.max(low);
                self.check_frame(low as i64, (high - low) as usize, stack)?;
                Ok(Some(low as i64..high as i64))
            }
            _ => Err(unknown("an address of unknown offset in no buffer")),
        }
    }

    /// The most bytes that an unknown number can be.
    ///
    /// # Errors
    /// It may be any number, or is negative.
    pub fn most(&self, bytes: Form) -> Result<usize, Fault> {
        let (low, high) = self.unknowns.ranges.bounds(bytes);
        let most = usize::try_from(high).ok().filter(|_| low >= 0 && high <= MOST);
        most.ok_or_else(|| {
            Fault::new(Rule::Unsupported, "it is not known how many bytes are copied at most")
        })
    }

    /// Whether an address is a multiple of `align`, a power of two.
    pub fn is_aligned(&mut self, at: Pointer, align: u64) -> bool {
        match at.region {
            Region::Frame => {
                self.asked = self.asked.max(align.min(PHASES));
                align <= PHASES && self.phase_at(at.offset, align) == 0
            }
            Region::Buffer(number) => {
                let buffer = &self.buffers[number as usize];
                align <= buffer.align && (at.offset as u64).is_multiple_of(align)
            }
            _ => false,
        }
    }

    /// The stack pointer at entry and `offset` bytes modulo `align`.
    pub fn phase_at(&self, offset: i64, align: u64) -> u64 {
        self.phase.wrapping_add(offset as u64) % align
    }

    /// The address of the first byte of the frame or of an aligned buffer modulo `align`, a power of
    /// two; `None` for others, whose number is not known.
    pub fn start_modulo(&mut self, region: Region, align: u64) -> Option<i64> {
        match region {
            Region::Frame if align <= PHASES => {
                self.asked = self.asked.max(align);
                Some((self.phase % align) as i64)
            }
            Region::Buffer(number) if align <= self.buffers[number as usize].align => Some(0),
            _ => None,
        }
    }

    /// One bit that stands for bytes: opaque if any of them may be secret.
    ///
    /// # Errors
    /// Some may be out of bounds.
    pub fn read_span(
        &mut self,
        at: Moving,
        length: Form,
        stack: i64,
        is_secret: impl Fn(Cell) -> bool,
    ) -> Result<Cell, Fault> {
        let span = self.span(at, length, stack)?;
        self.note_access(at, length, (span.clone(), None));
        let cells = match (at.region, span) {
            (Region::Buffer(number), None) => std::slice::from_ref(&self.extents[&number].content),
            (Region::Buffer(number), Some(span)) => {
                let cells = &self.buffers[number as usize].cells;
                &cells[8 * span.start as usize..8 * span.end as usize]
            }
            (_, span) => {
                let span = span.unwrap_or_default();
                let first = self.in_frame(span.start);
                &self.frame[first..first + 8 * (span.end - span.start) as usize]
            }
        };
        let secret = cells.iter().any(|&cell| is_secret(cell));
        Ok(if secret { Cell::OPAQUE } else { Cell::UNSET })
    }

    /// Makes bytes unknown, and secret if `content` is.
    ///
    /// # Errors
    /// Some may be out of bounds, or are only read.
    pub fn write_span(
        &mut self,
        at: Moving,
        length: Form,
        stack: i64,
        (content, is_secret): (Cell, impl Fn(Cell) -> bool),
    ) -> Result<(), Fault> {
        let span = self.span(at, length, stack)?;
        let secret = is_secret(content);
        self.note_access(at, length, (span.clone(), Some(secret)));
        let join = |cell: &mut Cell| {
            *cell = if secret || is_secret(*cell) { Cell::OPAQUE } else { Cell::UNSET };
        };
        if let Region::Buffer(number) = at.region {
            self.check_written(number)?;
            match span {
                Some(span) => {
                    self.forget((at.region, span.start), (span.end - span.start) as usize);
                    let bits = 8 * span.start as usize..8 * span.end as usize;
                    self.buffers[number as usize].cells[bits].iter_mut().for_each(join);
                }
                None => self.extents.get_mut(&number).iter_mut().for_each(|extent| {
                    join(&mut extent.content);
                }),
            }
            return Ok(());
        }
        let span = span.unwrap_or_default();
        let bytes = (span.end - span.start) as usize;
        self.forget((Region::Frame, span.start), bytes);
        let first = self.in_frame(span.start);
        self.frame[first..first + 8 * bytes].iter_mut().for_each(join);
        Ok(())
    }
}
