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
use std::cell::RefCell;
use std::collections::BTreeMap;

use usuba_ranges::{Form, VARIABLES};

/// A set of bytes: a mask for each line of [`LINE`] bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bytes<R: Ord>(BTreeMap<(R, i64), u64>);

const LINE: i64 = u64::BITS as i64;

impl<R: Ord> Default for Bytes<R> {
    fn default() -> Bytes<R> {
        Bytes(BTreeMap::new())
    }
}

impl<R: Ord + Copy> Bytes<R> {
    /// The lines of consecutive bytes, each with the mask of these bytes.
    fn lines((region, offset): (R, i64), bytes: usize) -> impl Iterator<Item = ((R, i64), u64)> {
        let end = offset + bytes as i64;
        let lines = offset.div_euclid(LINE)..(end + LINE - 1).div_euclid(LINE);
        lines.filter(move |_| bytes > 0).map(move |line| {
            let first = (offset - LINE * line).max(0);
            let count = (end - LINE * line).min(LINE) - first;
            ((region, line), u64::MAX >> (LINE - count) << first)
        })
    }

    fn mask(&self, line: (R, i64)) -> u64 {
        self.0.get(&line).copied().unwrap_or(0)
    }

    /// Whether it has all of these bytes.
    pub fn has(&self, at: (R, i64), bytes: usize) -> bool {
        Bytes::lines(at, bytes).all(|(line, mask)| self.mask(line) & mask == mask)
    }

    pub fn add(&mut self, at: (R, i64), bytes: usize) {
        Bytes::lines(at, bytes).for_each(|(line, mask)| *self.0.entry(line).or_default() |= mask);
    }

    /// Adds bytes that another set does not have.
    pub fn add_without(&mut self, at: (R, i64), bytes: usize, other: &Bytes<R>) {
        for (line, mask) in Bytes::lines(at, bytes) {
            *self.0.entry(line).or_default() |= mask & !other.mask(line);
        }
    }

    pub fn remove(&mut self, at: (R, i64), bytes: usize) {
        for (line, mask) in Bytes::lines(at, bytes) {
            self.0.entry(line).and_modify(|own| *own &= !mask);
        }
    }

    /// Adds the bytes that only one of two sets has.
    fn add_difference(&mut self, one: &Bytes<R>, other: &Bytes<R>) {
        for &line in one.0.keys().chain(other.0.keys()) {
            *self.0.entry(line).or_default() |= one.mask(line) ^ other.mask(line);
        }
    }

    pub fn add_all(&mut self, other: &Bytes<R>) {
        other.0.iter().for_each(|(&line, mask)| *self.0.entry(line).or_default() |= mask);
    }

    /// Consecutive bytes, and their number.
    pub fn runs(&self) -> Vec<((R, i64), usize)> {
        let mut runs: Vec<((R, i64), usize)> = Vec::new();
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

/// An access to a buffer whose size is not known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    pub buffer: u32,
    pub offset: Form,
    pub bytes: i64,
    /// Whether a secret is written, if it is a write.
    pub written: Option<bool>,
}

/// The common part of accesses to neighbouring bytes: the buffer, the variables of the offset, and
/// the kind of access.
type Kind = (u32, [i64; VARIABLES], Option<bool>);

/// Accesses to buffers: for each kind intervals of constant offsets, in order and apart. A function
/// that reads a buffer byte by byte has one interval and not thousands of accesses.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Spans(BTreeMap<Kind, Vec<[i64; 2]>>);

impl Spans {
    /// Adds a span. An empty one within another, or at its end, is part of it: in bounds if that is.
    pub fn add(&mut self, Span { buffer, offset: Form { constant, terms }, bytes, written }: Span) {
        let (mut first, mut last) = (constant, constant.saturating_add(bytes));
        assert!(bytes >= 0, "the length of an access has been checked");
        let intervals = self.0.entry((buffer, terms, written)).or_default();
        let from = intervals.partition_point(|[_, end]| *end < first);
        let to = intervals.partition_point(|[start, _]| *start <= last);
        if let [[start, _], ..] = intervals[from..to] {
            first = first.min(start);
            last = last.max(intervals[to - 1][1]);
        }
        intervals.splice(from..to, [[first, last]]);
    }

    pub fn iter(&self) -> impl Iterator<Item = Span> {
        self.0.iter().flat_map(|(&(buffer, terms, written), intervals)| {
            let span = move |&[constant, end]: &[i64; 2]| {
                let offset = Form { constant, terms };
                Span { buffer, offset, bytes: end - constant, written }
            };
            intervals.iter().map(span)
        })
    }
}

/// The parameters of a call over buffers.
#[derive(Clone, PartialEq, Eq)]
pub struct Parameters {
    /// The register with the number of bytes.
    pub length: u16,
    /// The registers with addresses.
    pub places: Vec<u16>,
    /// Whether no buffer has a secret.
    pub is_public: bool,
}

/// A buffer of a call, by the register with its address, and whether a secret is written to it if it
/// is written.
pub struct PassedBuffer {
    pub register: u16,
    pub written: Option<bool>,
}

/// The buffers of a call over buffers from a number on, and the end of its frame.
#[derive(Clone, Copy)]
pub struct Passed {
    pub buffers: u32,
    pub frame: i64,
}

/// The bytes that a call has read and written.
#[derive(Clone)]
pub struct Footprint<R: Ord> {
    pub read: Bytes<R>,
    pub written: Bytes<R>,
    /// The end of bytes of the frame that callees in other files may have used, and whether a secret
    /// may stay in them.
    pub lost: Option<(i64, bool)>,
    /// The least and the greatest offset in the frame that was tested.
    pub reach: Shared<Option<[i64; 2]>>,
    pub spans: RefCell<Spans>,
    /// The buffers and the frame of a call over buffers.
    pub passed: Option<Passed>,
    /// Whether something else has been read.
    pub is_open: Shared<bool>,
}

impl<R: Ord> Default for Footprint<R> {
    fn default() -> Footprint<R> {
        let (reach, is_open, spans) = Default::default();
        let (read, written) = Default::default();
        Footprint { read, written, lost: None, reach, spans, passed: None, is_open }
    }
}

impl<R: Ord + Copy> Footprint<R> {
    /// The footprint of two paths that have met.
    pub fn joined(&self, other: &Footprint<R>) -> Footprint<R> {
        let mut both = self.clone();
        both.read.add_all(&other.read);
        both.read.add_difference(&self.written, &other.written);
        both.written.add_all(&other.written);
        both.lost = match (self.lost, other.lost) {
            (Some((a, x)), Some((b, y))) => Some((a.max(b), x || y)),
            (one, next) => one.or(next),
        };
        other.reach.get().iter().flatten().for_each(|&offset| both.extend(offset));
        other.spans.borrow().iter().for_each(|span| both.access(span));
        both.is_open.set(self.is_open.get() || other.is_open.get());
        both
    }

    pub fn access(&self, span: Span) {
        self.spans.borrow_mut().add(span);
    }

    pub fn extend(&self, offset: i64) {
        let [least, most] = self.reach.get().unwrap_or([offset; 2]);
        self.reach.set(Some([least.min(offset), most.max(offset)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accesses in any order have the bytes of the accesses one by one, in intervals that are apart.
    #[test]
    fn spans_are_intervals() {
        let form = |constant, turns| {
            let mut terms = [0; VARIABLES];
            terms[0] = turns;
            Form { constant, terms }
        };
        let span = |at: i64, bytes| Span {
            buffer: (at % 2) as u32,
            offset: form(at / 4 % 32, at / 2 % 2),
            bytes,
            written: None,
        };
        for step in [1, 3, 5, 7, 11, 13] {
            let (mut spans, mut bytes) = (Spans::default(), BTreeMap::new());
            for turn in 0..40 {
                let one = span(step * turn, turn % 4);
                spans.add(one);
                for at in one.offset.constant..one.offset.constant + one.bytes {
                    bytes.insert((one.buffer, one.offset.terms, at), ());
                }
                let is_in = |all: &Span| {
                    let end = all.offset.constant + all.bytes;
                    all.buffer == one.buffer
                        && all.offset.terms == one.offset.terms
                        && all.offset.constant <= one.offset.constant
                        && one.offset.constant + one.bytes <= end
                };
                assert_eq!(spans.iter().filter(is_in).count(), 1, "{one:?} in {spans:?}");
            }
            let count: i64 = spans.iter().map(|span| span.bytes).sum();
            assert_eq!(count as usize, bytes.len(), "{spans:?}");
        }
    }

    /// Sets of bytes against lists of them.
    #[test]
    fn sets_of_bytes_are_sets() {
        let place = |offset| ((), offset);
        let all = |bytes: &Bytes<()>| -> Vec<i64> {
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
