//! Induction over the loops of a safety proof.
//!
//! ```text
//! first turn    i = 0, n bytes are left
//! second turn   i = 16, n - 16 bytes are left
//! invariant     i = 16 t, n - 16 t bytes are left, with t turns behind
//! third turn    must end in the invariant, with t + 1
//! ```
//!
//! The states of two turns are joined to an invariant, which is followed for one turn; a claim that
//! the turn breaks is weakened. Turns of which every second one is alike have a period of two.

use super::block_step::{Cover, Join, Joining};
use super::blocks::Turning;
use super::safety_search::{Ends, Part, Search, Stop};
use super::safety_state::{Key, State, Visit};
use super::variable_changes::Hoisted;
use super::{Fault, Rule};
use usuba_ranges::{Asked, Form, Split};

/// The most attempts at an invariant, each of which claims less.
const WIDENED: u32 = 8;

/// The periods of the turns of a loop, in the order of attempts.
const PERIODS: [u32; 3] = [1, 2, UNROLLED];

/// Not a period: the turns are followed one by one, because each one is another step of a table.
const UNROLLED: u32 = 0;

/// The most turns of such a loop.
const TURNS: u32 = 16;

impl<M: Turning> Search<'_, '_, M> {
    /// A branch on a number that is not known, perhaps of a loop.
    #[inline(never)]
    pub(super) fn turn(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        part: Part,
        (split, form): (Split, Form),
        fault: Fault,
    ) -> Ends<M> {
        let place = state.machine.place();
        let key = (place, state.calls.clone());
        self.hoist(visits, &key, (form, fault.clone()))?;
        let at = visits.iter().rposition(|visit| visit.key == key);
        let Some(at) = at.filter(|&at| !visits[at].is_watched) else {
            return self.first_turn(Visit::new(key, state, (split, form)), visits, part);
        };
        // A branch on another number in each turn of a loop around it.
        if visits[at].every.is_none() && visits[at].split.variable != split.variable {
            return self.halves(state, visits, part, split);
        }
        visits[at].passes += 1;
        let Visit { passes, period, .. } = visits[at];
        if passes < period || period == UNROLLED && passes < TURNS {
            return self.halves(state, visits, part, split);
        }
        if period == UNROLLED {
            return Err(fault);
        }
        if let Some((every, cover)) = &visits[at].every {
            let bits = &self.world.bits;
            self.evidence.loops += 1;
            // Another path of the first turn may end in the invariant, too.
            let is_covered = [false, true].into_iter().any(|is_first| {
                let ranges = Some(state.memory.unknowns.ranges.clone());
                let cover = Cover { is_first, ranges, ..cover.clone() };
                every.memory.covers(&state.memory, &cover)
                    && every.machine.covers(&state.machine, bits, &cover)
            });
            if !is_covered {
                let ranges = Some(state.memory.unknowns.ranges.clone());
                let (mut wider, cover) = (every.clone(), Cover { ranges, ..cover.clone() });
                if !wider
                    .memory
                    .tables
                    .covers(&state.memory.tables, &|one, next| cover.form(one, next))
                {
                    wider.close();
                }
                wider.memory.widen(&state.memory, &cover);
                wider.machine.widen(&state.machine, bits, &cover);
                visits[at].wider = Some(wider);
                let what = "no claim about the loop holds a turn later".into();
                return Err(Fault { what, ..fault });
            }
            // The paths from the invariant on have been followed; a secret branch of this turn may
            // lead to each of their statuses.
            for &(number, outcome) in &state.secrets[every.secrets.len().min(state.secrets.len())..]
            {
                self.told[number].statuses[outcome as usize].insert(None);
            }
            return Ok(Vec::new());
        }
        self.generalise(visits, at, (state, part), (split, fault))
    }

    /// The first turn of a loop, or a branch that is none. Two turns of some loops differ, where
    /// buffers change places, and every second one is alike.
    #[inline(never)]
    fn first_turn(&mut self, visit: Visit<M>, visits: &mut Vec<Visit<M>>, part: Part) -> Ends<M> {
        let at = visits.len();
        let [below, above] = visit.state.memory.unknowns.ranges.halves(visit.split);
        let mut outcome = Ok(Vec::new());
        for period in PERIODS {
            visits.truncate(at);
            visits.push(Visit { period, ..visit.clone() });
            let before = outcome.err();
            outcome = self.side(&visit.state, visits, part, above.clone());
            // The first attempt says best why there is no invariant.
            if let (Some(before), Err(fault)) = (before, &mut outcome)
                && [before.rule, fault.rule] == [Rule::Unsupported; 2]
                && self.hoisted.is_none()
            {
                *fault = before;
            }
            if self.hoisted.is_some()
                || outcome.is_ok()
                || visits.get(at).is_none_or(|visit| visit.every.is_none())
            {
                break;
            }
        }
        // The invariant of a loop around this branch, or of its own loop, holds in the first turn
        // too, and has been followed to its end.
        if outcome.is_ok() && visits.get(at).is_some_and(|visit| visit.every.is_none()) {
            visits.truncate(at + 1);
            visits[at].is_watched = true;
            let ends = self.side(&visit.state, visits, part, below);
            outcome = outcome.and_then(|mut all| {
                all.extend(ends?);
                Ok(all)
            });
        }
        visits.truncate(at);
        self.changed(visit.state, visits, part, outcome)
    }

    /// Asks for a variable for the counter of a loop, which is the form that a branch tests.
    pub(super) fn hoist(
        &mut self,
        visits: &[Visit<M>],
        key: &Key,
        (form, fault): (Form, Fault),
    ) -> Result<(), Fault> {
        match Hoisted::counter(visits, key, form) {
            None => Ok(()),
            hoisted => {
                self.hoisted = hoisted;
                Err(fault)
            }
        }
    }

    /// The ends of a part of the search, after a change of variables at its begin if it asks for one.
    #[inline(never)]
    pub(super) fn changed(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        part: Part,
        outcome: Ends<M>,
    ) -> Ends<M> {
        let at = visits.len();
        let Some(hoisted) = self.hoisted.take_if(|hoisted| hoisted.visit == at) else {
            return outcome;
        };
        let states = hoisted.states(state);
        let mut all = Vec::new();
        for state in states.ok_or_else(|| outcome.err().expect("it asks for a change"))? {
            all.extend(self.explore(state, visits, part)?);
        }
        Ok(all)
    }

    /// Proposes the invariant of two turns and follows it: one more turn must end in the invariant,
    /// which is checked where the turn ends.
    #[inline(never)]
    fn generalise(
        &mut self,
        visits: &mut Vec<Visit<M>>,
        at: usize,
        (state, part): (Box<State<M>>, Part),
        (split, fault): (Split, Fault),
    ) -> Ends<M> {
        let unsupported = |what: &str| Fault { what: what.into(), ..fault.clone() };
        let first = &visits[at];
        let step = split.at - first.split.at;
        if first.split.variable != split.variable || step <= 0 {
            return Err(unsupported("the loop depends on two numbers, or on one that grows"));
        }
        let behind = state.memory.unknowns.fresh();
        let behind = behind.ok_or_else(|| unsupported("too many numbers are not known"))?;
        let constants = Some([false, true].map(|bit| self.world.bits.constant(bit)));
        let ranges = Some(state.memory.unknowns.ranges.clone());
        let join = Join { ahead: split.variable, behind, step, constants, ranges };
        let is_alike = |one, next| join.form(one, next).is_some();
        let are_alike = first.state.memory.tables.are_alike(&state.memory.tables, is_alike);
        let [before, state] = match are_alike {
            true => [first.state.clone(), state],
            false => [&first.state, &state].map(|state| Box::new(state.closed())),
        };
        let memory = before.memory.joined(&state.memory, &join);
        let mut memory = memory.ok_or_else(|| unsupported("the lengths of two turns differ"))?;
        let joined = join.unknowns(&mut memory.unknowns, &state.memory.unknowns);
        joined.ok_or_else(|| unsupported("a number is too large"))?;
        let machine = before.machine.joined(&state.machine, &self.world.bits, &join);
        if before.secrets != state.secrets {
            return Err(unsupported("a turn of the loop depends on an input"));
        }
        let (calls, secrets) = (state.calls.clone(), state.secrets.clone());
        let mut every = Box::new(State { machine, memory, calls, secrets });
        let mut outcome = Ok(Vec::new());
        for _ in 0..WIDENED {
            visits.truncate(at + 1);
            visits[at].passes = 0;
            visits[at].wider = None;
            every.claim(&join);
            let cover = Cover { join: join.clone(), is_first: false, ranges: None };
            visits[at].every = Some((every.clone(), cover));
            let place = every.machine.place();
            outcome = match self.run(&mut every, part.meeting)? {
                Stop::Asked(Asked::Split(split, _), _)
                    if every.machine.place() == place && split.variable == join.ahead =>
                {
                    // The end of the loop is followed once its invariant holds.
                    let [below, above] = every.memory.unknowns.ranges.halves(split);
                    self.side(&every, visits, part, above).and_then(|mut all| {
                        all.extend(self.side(&every, visits, part, below)?);
                        Ok(all)
                    })
                }
                _ => Err(unsupported("the loop depends on something else as well")),
            };
            match visits.get_mut(at).and_then(|visit| visit.wider.take()) {
                Some(wider) if outcome.is_err() && self.hoisted.is_none() => every = wider,
                _ => break,
            }
        }
        outcome
    }
}
