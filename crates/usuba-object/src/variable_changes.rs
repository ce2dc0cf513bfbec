//! Changes of variables in safety proofs: counters of loops, and quotients.
//!
//! ```text
//! n / 8               n = 8 q + r
//! loop over 64 - n    x = 64 - n, so that a variable falls by a constant
//! ```
//!
//! A loop is counted by one variable. Where a branch tests a form twice that differs by a constant, the
//! search begins again at the first test, with a variable for the form. A number that is divided in a
//! loop is divided before it.
//!
//! *Soundness:* the changed states have all cases of the state. Turns that are counted keep their
//! variables.

use super::blocks::Turning;
use super::safety_state::{Key, State, Visit};
use usuba_ranges::{Form, Range, Split, VARIABLES};

/// Numbers from here on are no bounds of short loops.
const LARGE: i64 = 1 << 16;

/// A change of a variable that is to be done at the first turn of a loop.
pub struct Hoisted {
    pub visit: usize,
    pub variable: usize,
    pub change: Change,
}

/// A change of a variable.
pub enum Change {
    /// It becomes a multiple of a divisor, and a remainder.
    Divided(i64),
    /// It becomes the value of a form with it.
    Named(Form),
}

impl Hoisted {
    /// The states that a change makes of one; `None` if a number is too large, or there are too many.
    pub fn states<M: Turning>(self, state: Box<State<M>>) -> Option<Vec<Box<State<M>>>> {
        match self.change {
            Change::Divided(divisor) => divided(state, self.variable, divisor),
            Change::Named(form) => named(state, self.variable, form).map(|state| vec![state]),
        }
    }

    /// The variable for a form that a branch tests, if this is the counter of a loop that no variable
    /// counts: the branch has tested it with another constant before.
    pub fn counter<M>(visits: &[Visit<M>], key: &Key, form: Form) -> Option<Hoisted> {
        let is_first = |visit: &Visit<M>| visit.key == *key && visit.every.is_none();
        let visit = visits.iter().rposition(is_first)?;
        let Visit { form: first, split, is_watched, .. } = visits[visit];
        let turn = form.minus(first).and_then(Form::value).unwrap_or(0);
        let counted = first.terms.get(split.variable).copied();
        let is_counted = match is_watched {
            true => counted.is_some_and(|factor| factor > 0),
            false => counted.is_some_and(|factor| turn.checked_rem(factor) == Some(0)),
        };
        let counter = first.primitive();
        let is_free = |&at: &usize| {
            let is_turns = |visit: &Visit<M>| {
                let join = visit.every.as_ref().map(|(_, cover)| &cover.join);
                join.is_some_and(|join| join.ahead == at || join.behind == at)
            };
            counter.terms[at].abs() == 1
                && counter != Form::variable(at)
                && !visits.iter().any(is_turns)
        };
        let variable = (0..VARIABLES).rev().find(is_free);
        let variable = variable.filter(|_| turn != 0 && !is_counted)?;
        Some(Hoisted { visit, variable, change: Change::Named(counter) })
    }
}

/// The state in which a variable is the value of a form that has it with the factor 1 or -1; `None`
/// if a number is too large.
fn named<M: Turning>(
    mut state: Box<State<M>>,
    variable: usize,
    form: Form,
) -> Option<Box<State<M>>> {
    let ranges = state.memory.unknowns.ranges.clone();
    let Range { low, high } = ranges.0[variable];
    let rest = form.with(variable, Form::default())?;
    let other = Form::variable(variable).minus(rest)?.times(form.terms[variable])?;
    let (least, most) = ranges.bounds(form);
    state.replace(variable, other)?;
    let ranges = &mut state.memory.unknowns.ranges;
    let [least, most] = [least, most].map(i64::try_from);
    ranges.0[variable] = Range { low: least.ok()?, high: most.ok()? };
    for fact in [other.minus(Form::number(low))?, Form::number(high).minus(other)?] {
        if !ranges.never_negative(fact) {
            *ranges = ranges.assumed(fact)?;
        }
    }
    Some(state)
}

/// The states in which a variable is a multiple of a divisor and a remainder, which together are
/// all; `None` if there are too many variables.
#[inline(never)]
pub fn divided<M: Turning>(
    state: Box<State<M>>,
    variable: usize,
    divisor: i64,
) -> Option<Vec<Box<State<M>>>> {
    let Some(ranges) = state.memory.unknowns.ranges.clone().tightened() else {
        return Some(Vec::new());
    };
    let mut state = state.with_ranges(ranges.clone());
    let Range { low, high } = ranges.0[variable];
    // The multiples from `first` on have all remainders. Few values of a large number would be
    // followed one by one, with all turns of the loops that count them.
    let first = -(-low).div_euclid(divisor) * divisor;
    if first > low && low < LARGE {
        let [below, above] = ranges.halves(Split { variable, at: first });
        let below = below.tightened().map(|ranges| state.clone().with_ranges(ranges));
        let above = divided(state.with_ranges(above), variable, divisor)?;
        return Some(below.into_iter().chain(above).collect());
    }
    let rest = state.memory.unknowns.unknown(Range { low: 0, high: divisor - 1 })?;
    // Relations may say that the quotient is a variable already.
    let remainder = |at: usize| Form::variable(variable).minus(Form::variable(at).times(divisor)?);
    let is_quotient = |&at: &usize| {
        let (least, most) = remainder(at).map_or((-1, 0), |rest| ranges.bounds(rest));
        at != variable && least >= 0 && most < divisor.into()
    };
    let known = (0..VARIABLES).find(is_quotient);
    let multiple = Form::variable(known.unwrap_or(variable)).times(divisor)?.plus(rest)?;
    let quotients = Range { low: low.div_euclid(divisor), high: high.div_euclid(divisor) };
    state.memory.unknowns.ranges.0[variable] =
        if known.is_none() { quotients } else { Range::default() };
    state.replace(variable, multiple)?;
    let facts = [Form::number(high).minus(multiple)?, multiple.minus(Form::number(low))?];
    let before = state.memory.unknowns.ranges.clone();
    let ranges = facts.into_iter().try_fold(before, |ranges, fact| {
        if ranges.never_negative(fact) { Some(ranges) } else { ranges.assumed(fact) }
    });
    Some(ranges.map(|ranges| state.with_ranges(ranges)).into_iter().collect())
}
