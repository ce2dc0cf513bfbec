//! Footprints of calls: the bytes that a callee reads, and the bytes that it writes.
//!
//! ```text
//! call f     read      [rdi + 0 .. 32]           before f writes them
//!            written   [rdi + 32 .. 64], [rsp - 40 .. rsp]
//! ```
//!
//! *Soundness:* each access of the model is noted, on every path. Bytes that only one of two paths
//! writes keep their old content on the other one, so they count as read. A dependency that is no
//! byte makes the footprint *open*: an unknown number, the order of two buffers, and others.
//!
//! *Reference:* O'Hearn, Reynolds, Yang 2001 (footprints and the frame rule).

use std::cell::Cell as Shared;
use std::collections::BTreeMap;

use super::cell::{Bits, Cell};
use super::memory::{Memory, Place, Pointer, Region, Whole};

/// A set of bytes: a mask for each line of [`LINE`] bytes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Bytes(BTreeMap<Place, u64>);

const LINE: i64 = u64::BITS as i64;

/// The return address of a call that is summarized.
const RETURN: Pointer = Pointer { region: Region::Return, offset: 0 };

impl Bytes {
    /// The lines of consecutive bytes, each with the mask of these bytes.
    fn lines((region, offset): Place, bytes: usize) -> impl Iterator<Item = (Place, u64)> {
        let end = offset + bytes as i64;
        let lines = offset.div_euclid(LINE)..(end + LINE - 1).div_euclid(LINE);
        lines.filter(move |_| bytes > 0).map(move |line| {
            let first = (offset - LINE * line).max(0);
            let count = (end - LINE * line).min(LINE) - first;
            ((region, line), u64::MAX >> (LINE - count) << first)
        })
    }

    fn mask(&self, line: Place) -> u64 {
        self.0.get(&line).copied().unwrap_or(0)
    }

    /// Whether it has all of these bytes.
    pub fn has(&self, at: Place, bytes: usize) -> bool {
        Bytes::lines(at, bytes).all(|(line, mask)| self.mask(line) & mask == mask)
    }

    fn add(&mut self, at: Place, bytes: usize) {
        Bytes::lines(at, bytes).for_each(|(line, mask)| *self.0.entry(line).or_default() |= mask);
    }

    /// Adds bytes that another set does not have.
    fn add_without(&mut self, at: Place, bytes: usize, other: &Bytes) {
        for (line, mask) in Bytes::lines(at, bytes) {
            *self.0.entry(line).or_default() |= mask & !other.mask(line);
        }
    }

    pub fn remove(&mut self, at: Place, bytes: usize) {
        for (line, mask) in Bytes::lines(at, bytes) {
            self.0.entry(line).and_modify(|own| *own &= !mask);
        }
    }

    /// Adds the bytes that only one of two sets has.
    fn add_difference(&mut self, one: &Bytes, other: &Bytes) {
        for &line in one.0.keys().chain(other.0.keys()) {
            *self.0.entry(line).or_default() |= one.mask(line) ^ other.mask(line);
        }
    }

    pub fn add_all(&mut self, other: &Bytes) {
        other.0.iter().for_each(|(&line, mask)| *self.0.entry(line).or_default() |= mask);
    }

    /// Consecutive bytes, and their number.
    fn runs(&self) -> Vec<(Place, usize)> {
        let mut runs: Vec<(Place, usize)> = Vec::new();
        for (&(region, line), &mask) in &self.0 {
            for bit in (0..LINE).filter(|bit| mask >> bit & 1 == 1) {
                let at = (region, LINE * line + bit);
                match runs.last_mut() {
                    Some((first, count)) if (first.0, first.1 + *count as i64) == at => *count += 1,
                    _ => runs.push((at, 1)),
                }
            }
        }
        runs
    }
}

/// The bytes that a call has read and written.
#[derive(Clone, Default)]
pub struct Footprint {
    pub read: Bytes,
    pub written: Bytes,
    /// The end of bytes of the frame that callees in other files may have used, and whether a secret
    /// may stay in them.
    pub lost: Option<(i64, bool)>,
    /// The least and the greatest offset in the frame that was tested.
    pub reach: Shared<Option<[i64; 2]>>,
    /// Whether something else has been read.
    pub is_open: Shared<bool>,
}

impl Footprint {
    /// The footprint of two paths that have met.
    pub fn joined(&self, other: &Footprint) -> Footprint {
        let mut both = self.clone();
        both.read.add_all(&other.read);
        both.read.add_difference(&self.written, &other.written);
        both.written.add_all(&other.written);
        both.lost = match (self.lost, other.lost) {
            (Some((a, x)), Some((b, y))) => Some((a.max(b), x || y)),
            (one, next) => one.or(next),
        };
        other.reach.get().iter().flatten().for_each(|&offset| both.extend(offset));
        both.is_open.set(self.is_open.get() || other.is_open.get());
        both
    }

    fn extend(&self, offset: i64) {
        let [least, most] = self.reach.get().unwrap_or([offset; 2]);
        self.reach.set(Some([least.min(offset), most.max(offset)]));
    }
}

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

    /// Notes a dependency that is no byte.
    pub fn note_open(&self) {
        self.footprint.iter().for_each(|noted| noted.is_open.set(true));
    }

    /// Notes whether a value that has been read is a number that is not known.
    pub(super) fn note_value(&self, whole: Option<Whole>) {
        let is_unknown = match whole {
            Some(Whole::Count(form)) => form.value().is_none(),
            whole => matches!(whole, Some(Whole::Moving(_))),
        };
        if is_unknown {
            self.note_open();
        }
    }

    /// The content of bytes.
    pub fn content(&self, bytes: &Bytes) -> Content {
        let mut content = Content::default();
        for ((region, offset), count) in bytes.runs() {
            let range = (region, offset - 7)..(region, offset + count as i64);
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
        self.keep((Region::Frame, start), Whole::Pointer(RETURN));
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

    fn cells_of(&self, (region, offset): Place, bytes: usize) -> Vec<Cell> {
        let first = 8 * offset;
        match region {
            Region::Buffer(number) => {
                self.buffers[number as usize].cells[first as usize..][..8 * bytes].to_vec()
            }
            _ => (first..first + 8 * bytes as i64).map(|at| self.cell_at(at)).collect(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets of bytes against lists of them.
    #[test]
    fn sets_of_bytes_are_sets() {
        let place = |offset| (Region::Frame, offset);
        let all = |bytes: &Bytes| -> Vec<i64> {
            let runs = bytes.runs().into_iter();
            runs.flat_map(|((_, at), count)| at..at + count as i64).collect()
        };
        for first in [-130, -64, -1, 0, 5] {
            for count in [0, 1, 63, 64, 65, 200] {
                let (mut bytes, mut rest) = (Bytes::default(), Bytes::default());
                bytes.add(place(first), count);
                assert_eq!(all(&bytes), (first..first + count as i64).collect::<Vec<i64>>());
                rest.add_without(place(-100), 150, &bytes);
                assert!(all(&rest).iter().all(|at| !all(&bytes).contains(at)));
                let mut both = Bytes::default();
                both.add_difference(&bytes, &rest);
                assert_eq!(all(&both).len(), all(&bytes).len() + all(&rest).len());
                both.remove(place(-100), 150);
                assert_eq!(
                    all(&both),
                    [all(&bytes), vec![]]
                        .concat()
                        .into_iter()
                        .filter(|at| !(-100..50).contains(at))
                        .collect::<Vec<i64>>()
                );
            }
        }
    }
}
