//! Induction over the turns of a loop over blocks: proposes an invariant, and checks one step.
//!
//! ```text
//! first turn    in + 0      n = 128 q            q >= 1
//! second turn   in + 1024   n = 128 q - 128
//! every turn    in + 1024 t n = 128 q            t >= 0, q >= 1      the q of before is t + q
//! one later     in + 1024 t + 1024, n = 128 q - 128: the same with t + 1 and q - 1
//! ```
//!
//! A loop over blocks passes one branch repeatedly, and its outcome depends on the number of
//! blocks. The states at two of its turns propose an invariant, [`joined`](Join): numbers and
//! addresses that move by a constant do so in every turn, equal bits are constant, and nothing is
//! claimed about the rest.
//!
//! *Soundness:* the invariant is only a guess until one turn from it ends in a state that the
//! invariant [`covers`](Cover), with one more turn behind and one less ahead.

use super::memory::{Moving, Pointer, Whole};
use usuba_bits::cell::{Cell, Instance};
use usuba_ranges::{Form, Range, Ranges, Unknowns};

/// A rule that makes one state of two.
pub trait Joining {
    /// A number of both states; `None` if there is none.
    fn form(&self, one: Form, next: Form) -> Option<Form>;

    /// A bit of both states.
    fn cell(&self, one: Cell, next: Cell) -> Cell;

    /// Whether bits that are equal in both states are these bits.
    fn keeps_equal(&self) -> bool {
        false
    }

    /// The bit of a value that is no form.
    fn lost(&self) -> Cell;

    /// The number in bits that are constant, if it may be joined with a form.
    fn number_of(&self, _word: &[Cell]) -> Option<i64> {
        None
    }

    /// Drops the bits of a word of which some are not known any more.
    fn word(&self, _old: &[Cell], _cells: &mut [Cell]) {}

    /// A whole value of both states.
    fn whole(&self, one: Whole, next: Whole) -> Option<Whole> {
        let (one, next) = (parts(one), parts(next));
        if one.0 != next.0 {
            return None;
        }
        let form = self.form(one.1, next.1)?;
        Some(match (one.0, form.value()) {
            (None, _) => Whole::Count(form),
            (Some(region), Some(offset)) => Whole::Pointer(Pointer { region, offset }),
            (Some(region), None) => Whole::Moving(Moving { region, offset: form }),
        })
    }
}

/// Generalises the states at two turns to one state.
#[derive(Clone, Debug)]
pub struct Join {
    /// The variable of the turns: in the first state of all of them, afterwards of those ahead.
    pub ahead: usize,
    /// A variable that nothing depends on yet: the turns behind.
    pub behind: usize,
    /// By how much `ahead` falls in a turn.
    pub step: i64,
    /// The constant bits, if a public bit that changes stays public.
    pub constants: Option<[Cell; 2]>,
    /// The ranges of the second state, by which different forms may be equal.
    pub ranges: Option<Ranges>,
}

impl Joining for Join {
    /// A number that moves by a constant from turn to turn.
    fn form(&self, one: Form, next: Form) -> Option<Form> {
        let step = constant(next.minus(one)?, self.ranges.as_ref())?;
        let behind = Form::variable(self.behind);
        let turns = Form::variable(self.ahead).plus(behind.times(self.step)?)?;
        one.with(self.ahead, turns)?.plus(behind.times(step)?)
    }

    /// A bit that stays; a bit that belongs to a block is dropped, as the next turn has other
    /// blocks.
    fn cell(&self, one: Cell, next: Cell) -> Cell {
        match one == next && is_lasting(one) {
            true => one,
            false if self.is_public(one) && self.is_public(next) => Cell::UNSET,
            false => Cell::OPAQUE,
        }
    }

    /// The bit of a value that is no form: addresses and counts are public.
    fn lost(&self) -> Cell {
        if self.constants.is_some() { Cell::UNSET } else { Cell::OPAQUE }
    }

    /// A number in two turns may be a count in the next.
    fn word(&self, old: &[Cell], cells: &mut [Cell]) {
        let is_lost = |(old, new): (&Cell, &Cell)| *new == Cell::OPAQUE && old != new;
        if old.iter().zip(&*cells).any(is_lost) {
            cells.fill(Cell::OPAQUE);
        }
    }
}

impl Join {
    /// The variables of the invariant, from the variables of the first turn; `None` if there is none.
    pub fn unknowns(&self, unknowns: &mut Unknowns, other: &Unknowns) -> Option<()> {
        let Unknowns { ranges, used, .. } = unknowns;
        // No claim names variables of the turn itself.
        ranges.0[*used..self.behind.max(*used)].fill(Range::ANY);
        for (range, next) in ranges.0.iter_mut().zip(other.ranges.0).take(*used) {
            *range = Range { low: range.low.min(next.low), high: range.high.max(next.high) };
        }
        *used = (*used).max(self.behind + 1);
        let high = ranges.0[self.ahead].high / self.step;
        ranges.0[self.behind] = Range { low: 0, high };
        let lasting = |fact: &Form| other.ranges.never_negative(*fact);
        // All turns, those behind and those ahead, are as many as at first.
        let first = Form::variable(self.ahead);
        let all = Form::number(ranges.0[self.ahead].high).minus(first)?;
        let facts = ranges.facts().filter(lasting).chain([all]);
        *ranges = ranges.with_facts(facts.filter_map(|fact| self.form(fact, fact)));
        Some(())
    }

    fn is_public(&self, cell: Cell) -> bool {
        self.constants.is_some_and(|constants| cell == Cell::UNSET || constants.contains(&cell))
    }
}

/// Compares a state at the end of a turn with the invariant.
#[derive(Clone, Debug)]
pub struct Cover {
    pub join: Join,
    /// Whether the turn is the first one, which does not begin in the invariant.
    pub is_first: bool,
    /// The ranges at its end, by which different forms may be equal.
    pub ranges: Option<Ranges>,
}

impl Cover {
    /// Whether a number is, one turn later, the number of the invariant.
    pub fn form(&self, claimed: Form, found: Form) -> bool {
        let difference = self.later(claimed).and_then(|later| later.minus(found));
        difference.is_some_and(|form| constant(form, self.ranges.as_ref()) == Some(0))
    }

    /// The number one turn later.
    fn later(&self, claimed: Form) -> Option<Form> {
        let Join { ahead, behind, step, .. } = self.join;
        let turns = if self.is_first { Form::default() } else { Form::variable(behind) };
        let behind_later = turns.plus(Form::number(1))?;
        let ahead_later = Form::variable(ahead).minus(Form::number(step))?;
        claimed.with(behind, behind_later)?.with(ahead, ahead_later)
    }

    pub fn whole(&self, claimed: Whole, found: Whole) -> bool {
        let (claimed, found) = (parts(claimed), parts(found));
        claimed.0 == found.0 && self.form(claimed.1, found.1)
    }

    pub fn cell(&self, claimed: Cell, found: Cell) -> bool {
        claimed == Cell::OPAQUE
            || claimed == found && is_lasting(found)
            || claimed == Cell::UNSET && self.join.is_public(found)
    }

    /// The weakest claim of both, if the bit breaks the claim.
    pub fn widened(&self, claimed: Cell, found: Cell) -> Cell {
        if self.cell(claimed, found) { claimed } else { self.join.cell(claimed, found) }
    }

    /// The weakest claims about the bits of a word. If one of them breaks its claim, the others are
    /// lost as well, because a counter loses a bit in each turn.
    pub fn widen_word(&self, claimed: &mut [Cell], found: &[Cell]) {
        let both = claimed.iter().zip(found);
        let widened: Vec<Cell> =
            both.map(|(&claimed, &found)| self.widened(claimed, found)).collect();
        let is_kept = claimed == widened;
        for (cell, widened) in claimed.iter_mut().zip(widened) {
            *cell = if is_kept { *cell } else { self.join.cell(widened, Cell::UNSET) };
        }
    }

    /// Whether a form is not negative, a turn later.
    pub fn fact(&self, fact: Form, found: &Ranges) -> bool {
        self.later(fact).is_some_and(|later| found.never_negative(later))
    }

    /// Whether all values of the variables at the end of a turn satisfy the invariant.
    pub fn unknowns(&self, claimed: &Unknowns, found: &Unknowns) -> bool {
        let used = claimed.used;
        let (claimed, found) = (&claimed.ranges, &found.ranges);
        claimed.facts().all(|fact| self.fact(fact, found))
            && claimed.0.iter().zip(&found.0).enumerate().all(|(at, (claimed, found))| {
                let step = if at == self.join.ahead { self.join.step } else { 0 };
                // The number of turns behind is free, and so are variables that no claim names.
                let free = at == self.join.behind || at >= used;
                free || claimed.low <= found.low - step && found.high - step <= claimed.high
            })
    }
}

impl Cover {
    /// Weakens the claims about ranges that others break: the first turn may have had a test before it
    /// that later ones do not have.
    pub fn widen(&self, claimed: &mut Unknowns, found: &Unknowns) {
        let used = claimed.used;
        let pairs = claimed.ranges.0.iter_mut().zip(&found.ranges.0).enumerate().take(used);
        for (at, (claimed, found)) in pairs.filter(|(at, _)| *at != self.join.behind) {
            let step = if at == self.join.ahead { self.join.step } else { 0 };
            claimed.low = claimed.low.min(found.low.saturating_sub(step));
            claimed.high = claimed.high.max(found.high.saturating_sub(step));
        }
    }
}

/// The only value of a form in the ranges.
fn constant(form: Form, ranges: Option<&Ranges>) -> Option<i64> {
    let (low, high) = ranges.map(|ranges| ranges.bounds(form)).unwrap_or_default();
    form.value().or_else(|| i64::try_from(low).ok().filter(|_| ranges.is_some() && low == high))
}

/// Whether a bit is the same for all blocks.
fn is_lasting(cell: Cell) -> bool {
    cell == Cell::UNSET || cell.edge().is_some() && cell.instance() == Instance::Every
}

/// The region, if there is one, and the number.
pub fn parts(whole: Whole) -> (Option<super::memory::Region>, Form) {
    match whole {
        Whole::Pointer(Pointer { region, offset }) => (Some(region), Form::number(offset)),
        Whole::Moving(Moving { region, offset }) => (Some(region), offset),
        Whole::Count(form) => (None, form),
    }
}
