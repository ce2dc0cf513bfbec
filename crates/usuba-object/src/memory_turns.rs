//! Memory at the turns of a loop, for induction: invariants of two states, and their checks.
//!
//! ```text
//! turn 1   [rsp + 8] = in + 64       [rsp + 16] = 7      out: opaque
//! turn 2   [rsp + 8] = in + 128      [rsp + 16] = 7      out: opaque
//! claim    [rsp + 8] = in + 64 t     [rsp + 16] = 7      nothing about out
//! ```

use std::ops::Range;

use super::block_step::{Cover, Joining};
use super::memory::{Memory, Place, Region, Whole};
use super::scope::Scope;
use usuba_bits::cell::Cell;
use usuba_ranges::{Form, VARIABLES};

impl Memory {
    /// The invariant of this memory and, a turn of a loop later, of another one; see
    /// [`super::blocks`]. `None` if there is none.
    pub fn joined(&self, other: &Memory, join: &impl Joining) -> Option<Memory> {
        let mut memory = self.clone();
        memory.stream = match (&self.stream, &other.stream) {
            (Some(one), Some(next)) => Some(one.joined(next, join)?),
            _ => None,
        };
        if self.scopes.len() != other.scopes.len() {
            return None;
        }
        for (own, next) in memory.scopes.iter_mut().zip(&other.scopes) {
            *own = own.joined(next, &|one, next| join.form(one, next));
        }
        let is_kept = |own: &[Cell], next: &[Cell]| join.keeps_equal() && own == next;
        for (own, next) in memory.buffers.iter_mut().zip(&other.buffers) {
            if is_kept(&own.cells, &next.cells) {
                continue;
            }
            for (cell, &next) in own.cells.iter_mut().zip(&next.cells) {
                *cell = join.cell(*cell, next);
            }
        }
        for (number, extent) in &mut memory.extents {
            let next = &other.extents[number];
            extent.content = join.cell(extent.content, next.content);
            extent.bytes = join.form(extent.bytes, next.bytes)?;
        }
        memory.tables = memory.tables.joined(&other.tables, &|one, next| join.form(one, next));
        let footprints = self.footprint.as_ref().zip(other.footprint.as_ref());
        memory.footprint = footprints.map(|(own, next)| own.joined(next));
        memory.orders.retain(|regions, order| other.orders.get(regions) == Some(order));
        memory.choice = self.choice.joined(&other.choice)?;
        memory.lowest = self.lowest.min(other.lowest);
        memory.in_frame(-other.below);
        let first = -8 * memory.below;
        let place = |at: usize| usize::try_from(first + at as i64 + 8 * other.below).ok();
        for word in memory.frame_words() {
            let next = place(word.start).zip(place(word.end));
            let next = next.and_then(|(start, end)| other.frame.get(start..end));
            if next.is_some_and(|next| is_kept(&memory.frame[word.clone()], next)) {
                continue;
            }
            let joined = |at: usize| join.cell(memory.frame[at], other.cell_at(first + at as i64));
            let mut cells: Vec<Cell> = word.clone().map(joined).collect();
            join.word(&memory.frame[word.clone()], &mut cells);
            memory.frame[word].copy_from_slice(&cells);
        }
        memory.wholes.clear();
        for &at in self.wholes.keys().chain(other.wholes.keys()) {
            let number = |memory: &Memory| Some(Form::number(join.number_of(&memory.word(at))?));
            let [one, next] = [self, other].map(|memory| {
                let whole = memory.wholes.get(&at).copied();
                whole.or_else(|| number(memory).map(Whole::Count))
            });
            let joined = one.zip(next).and_then(|(one, next)| join.whole(one, next));
            // A value that is whole on one side only is dropped.
            let [one, next] = [self, other].map(|memory| match memory.wholes.contains_key(&at) {
                true => vec![join.lost(); 8 * memory.convention.address],
                false => memory.word(at),
            });
            match joined {
                Some(joined) => memory.keep(at, joined),
                None => {
                    let both = one.into_iter().zip(next);
                    for (cell, (one, next)) in memory.word_mut(at).iter_mut().zip(both) {
                        *cell = join.cell(one, next);
                    }
                }
            }
        }
        Some(memory)
    }

    /// Whether no place of the frame from `stack` on has addresses in different regions in another
    /// memory.
    pub fn has_regions_of(&self, other: &Memory, stack: i64) -> bool {
        self.wholes.range((Region::Frame, stack)..(Region::Frame, i64::MAX)).all(|(at, whole)| {
            let regions = other.wholes.get(at).map(|other| (whole.region(), other.region()));
            regions.is_none_or(|(one, next)| one.zip(next).is_none_or(|(one, next)| one == next))
        })
    }

    /// Notes the variables in use, where paths part.
    pub fn enter_scope(&mut self, kept: [bool; VARIABLES]) {
        self.scopes.push(Scope::new(kept, self.unknowns.ranges.clone()));
    }

    /// Forgets the variables where the paths parted that have met.
    pub fn leave_scope(&mut self) {
        self.scopes.pop();
    }

    /// Weakens the claims that another memory breaks.
    pub fn widen(&mut self, other: &Memory, cover: &Cover) {
        let ranges = &mut self.unknowns.ranges;
        let kept = ranges.facts().filter(|&fact| cover.fact(fact, &other.unknowns.ranges));
        *ranges = ranges.with_facts(kept);
        cover.widen(&mut self.unknowns, &other.unknowns);
        self.lowest = self.lowest.min(other.lowest);
        self.in_frame(-other.below);
        let first = -8 * self.below;
        for word in self.frame_words() {
            let found = |at: usize| other.cell_at(first + at as i64);
            let found: Vec<Cell> = word.clone().map(found).collect();
            cover.widen_word(&mut self.frame[word], &found);
        }
        let is_kept = |at: &Place, whole: &Whole| {
            other.wholes.get(at).is_some_and(|next| cover.whole(*whole, *next))
        };
        let broken = self.wholes.iter().filter(|(at, whole)| !is_kept(at, whole));
        for at in broken.map(|(&at, _)| at).collect::<Vec<Place>>() {
            self.wholes.remove(&at);
            self.lose_whole(at, other, &cover.join);
        }
        for (own, next) in self.buffers.iter_mut().zip(&other.buffers) {
            for (cell, &next) in own.cells.iter_mut().zip(&next.cells) {
                *cell = cover.widened(*cell, next);
            }
        }
        for (number, extent) in &mut self.extents {
            extent.content = cover.widened(extent.content, other.extents[number].content);
        }
        self.orders.retain(|regions, order| other.orders.get(regions) == Some(order));
        self.choice = self.choice.joined(&other.choice).unwrap_or(self.choice);
        for (own, next) in self.scopes.iter_mut().zip(&other.scopes) {
            own.widen(next, &|claimed, found| cover.form(claimed, found));
        }
    }

    /// The bits of each word of the frame, which has as many bytes as an address.
    fn frame_words(&self) -> Vec<Range<usize>> {
        let (first, last) = (-8 * self.below, self.frame.len() as i64 - 8 * self.below);
        let size = 8 * self.convention.address as i64;
        let words = first.div_euclid(size)..=(last - 1).div_euclid(size);
        let bit = |at: i64| (at.clamp(first, last) - first) as usize;
        words.map(|word| bit(size * word)..bit(size * word + size)).collect()
    }

    /// Whether another memory satisfies all claims of this one.
    pub fn covers(&self, other: &Memory, cover: &Cover) -> bool {
        let stream = match (&self.stream, &other.stream) {
            (Some(one), Some(next)) => one.covers(next, cover),
            (one, next) => one.is_none() && next.is_none(),
        };
        let first = -self.below.max(other.below) * 8;
        let last = (self.frame.len() as i64) - 8 * self.below;
        let frame = (first..last).all(|at| cover.cell(self.cell_at(at), other.cell_at(at)));
        let is_whole = |&at: &Place| {
            let is_lost = |cell| cell == Cell::OPAQUE || cell == cover.join.lost();
            self.word(at).into_iter().all(is_lost)
        };
        let kept = self
            .wholes
            .iter()
            .all(|(at, whole)| other.wholes.get(at).is_some_and(|next| cover.whole(*whole, *next)));
        let more = other.wholes.keys().filter(|at| !self.wholes.contains_key(at));
        let cells = |memory: &Memory| {
            memory.buffers.iter().flat_map(|buffer| buffer.cells.clone()).collect::<Vec<Cell>>()
        };
        let buffers =
            cells(self).into_iter().zip(cells(other)).all(|(own, next)| cover.cell(own, next));
        let extents = self.extents.iter().all(|(number, own)| {
            let next = &other.extents[number];
            let is_size = self.tables.is_closed(*number) || cover.form(own.bytes, next.bytes);
            is_size && cover.cell(own.content, next.content)
        });
        let orders =
            self.orders.iter().all(|(regions, order)| other.orders.get(regions) == Some(order));
        let is = |claimed, found| cover.form(claimed, found);
        let scopes = self.scopes.len() == other.scopes.len()
            && self.scopes.iter().zip(&other.scopes).all(|(own, next)| own.covers(next, &is));
        let is_choice = self.choice.joined(&other.choice) == Some(self.choice)
            && self.tables.covers(&other.tables, &|claimed, found| cover.form(claimed, found));
        let ranges =
            cover.unknowns(&self.unknowns, &other.unknowns) && buffers && extents && orders;
        is_choice && ranges && scopes && stream && frame && kept && more.into_iter().all(is_whole)
    }

    /// The bits of a word in which another memory has no such value.
    fn lose_whole(&mut self, at: Place, other: &Memory, join: &impl Joining) {
        for (cell, found) in self.word_mut(at).iter_mut().zip(other.word(at)) {
            *cell = join.cell(join.lost(), found);
        }
    }

    /// The bits of a word of the frame or of a buffer of a fixed size.
    fn word(&self, at: Place) -> Vec<Cell> {
        self.cells_of(at, self.convention.address)
    }

    /// A bit of the frame, by its offset in bits; unset if it was never written.
    pub(super) fn cell_at(&self, offset: i64) -> Cell {
        let at = usize::try_from(offset + 8 * self.below).ok();
        at.and_then(|at| self.frame.get(at)).copied().unwrap_or(Cell::UNSET)
    }
}
