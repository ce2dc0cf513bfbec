//! The search of safety proofs: all paths of a function, and induction over its loops.
//!
//! ```text
//! cmp rdx, 16; jb tail      n < 16, and n >= 16
//! second turn               n - 16: an invariant with t turns behind, n + 16 t bytes in all
//! third turn                the invariant once more, with t + 1
//! ```
//!
//! A branch on a public number that is not known is followed for both parts of its range. A branch
//! that is reached again is a loop, which `block_step` proves; a claim that a turn breaks is
//! weakened. A quotient makes a number a multiple and a remainder.

use std::collections::BTreeSet;

use super::block_step::{Cover, Join};
use super::blocks::Turning;
use super::memory::{Memory, Pointer};
use super::safety::{Evidence, Returns};
use super::symbolic_count::{Asked, Form, Range, Ranges, Split};
use super::{Fault, Fork, Residue, Rule, Step, World};

/// The most distinguished paths, and unknown branches on one of them.
const PATHS: u32 = 1000;
const DEPTH: u32 = 100;

/// The most attempts at an invariant, each of which claims less.
const WIDENED: u32 = 8;

/// The longest period of the turns of a loop.
const PERIOD: u32 = 2;

/// A number with more values than this is handled by induction, not by enumeration.
const MANY: i64 = 3;

/// The statuses that the paths from a branch on return; `None` is a status that is not known.
pub type Statuses = BTreeSet<Option<u64>>;

/// A point of an execution.
#[derive(Clone)]
pub struct State<M> {
    pub machine: M,
    pub memory: Memory,
}

impl<M: Turning> State<M> {
    /// The same with another form in the place of each.
    fn map_forms(&mut self, of: &dyn Fn(Form) -> Form) {
        self.memory.map_forms(of);
        self.machine.map_forms(of);
    }

    fn with_ranges(mut self: Box<Self>, ranges: Ranges) -> Box<Self> {
        self.memory.unknowns.ranges = ranges;
        self.map_forms(&|form| ranges.reduced(form).unwrap_or(form));
        self
    }
}

/// The reason why an execution stops.
enum Stop {
    Returned,
    Fork(Fork, Fault),
    Asked(Asked, Fault),
}

/// A branch that depends on a number that is not known.
#[derive(Clone)]
pub struct Visit<M> {
    key: Key,
    /// Turns after which states are alike, and turns since the last such state.
    period: u32,
    passes: u32,
    state: Box<State<M>>,
    split: Split,
    /// The secret branches on the path to it.
    secrets: u32,
    /// The invariant of the turns, once the branch has been reached again.
    every: Option<(Box<State<M>>, Cover)>,
    /// A weaker invariant, after a turn broke a claim.
    wider: Option<Box<State<M>>>,
}

/// The address of a branch, and the callers of its function.
type Key = (u64, Vec<(i64, Pointer)>);

impl<M> Visit<M> {
    fn new(key: Key, state: Box<State<M>>, split: Split, path: Path) -> Visit<M> {
        Visit {
            key,
            period: 1,
            passes: 0,
            state,
            split,
            secrets: path.secrets,
            every: None,
            wider: None,
        }
    }
}

/// The path to a state.
#[derive(Clone, Copy, Default)]
pub struct Path {
    depth: u32,
    /// Branches on secrets.
    secrets: u32,
}

pub struct Search<'a, 'o> {
    /// Its memory belongs to the state that runs.
    pub world: World<'o>,
    pub evidence: &'a mut Evidence,
    pub returns: Returns,
    pub longest: u64,
    /// The largest alignment of the frame that any path has asked for.
    pub asked: u64,
    /// A division that is to be done before a loop.
    pub hoisted: Option<Hoisted>,
}

/// A division that is to be done at the first turn of a loop.
pub struct Hoisted {
    visit: usize,
    variable: usize,
    divisor: i64,
}

impl Search<'_, '_> {
    /// Runs a state to all its ends.
    pub fn explore<M: Turning>(
        &mut self,
        mut state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        mut path: Path,
    ) -> Result<Statuses, Fault> {
        path.depth += 1;
        if path.depth > DEPTH {
            let what = format!("more than {DEPTH} branches are not known");
            return Err(Fault::new(Rule::TooLong, what));
        }
        let before = self.evidence.instructions;
        match self.run(&mut state)? {
            Stop::Returned => self.leave(*state),
            Stop::Fork(fork, fault) => self.fork(state, visits, path, (fork, fault)),
            Stop::Asked(Asked::Divided { variable, divisor }, fault) => {
                // A number that a loop does not change is divided before the loop.
                let is_before = |visit: &Visit<M>| {
                    visit.split.variable != variable
                        && variable < visit.state.memory.unknowns.used
                        && visit.every.is_none()
                };
                if let Some(visit) = visits.iter().position(is_before) {
                    self.hoisted = Some(Hoisted { visit, variable, divisor });
                    return Err(fault);
                }
                let divided = divided(state, variable, divisor).ok_or(fault)?;
                let mut all = Statuses::new();
                for state in divided {
                    all.extend(self.explore(state, visits, path)?);
                }
                Ok(all)
            }
            Stop::Asked(Asked::Sign(form), fault) => {
                let negative = Form::number(-1).minus(form).ok_or(fault)?;
                let ranges = state.memory.unknowns.ranges;
                let mut all = Statuses::new();
                for ranges in [negative, form].into_iter().filter_map(|sign| ranges.assumed(sign)) {
                    all.extend(self.explore(state.clone().with_ranges(ranges), visits, path)?);
                }
                Ok(all)
            }
            Stop::Asked(Asked::Split(split), fault) => {
                let range = state.memory.unknowns.ranges.0[split.variable];
                let is_same = self.evidence.instructions == before + 1;
                if is_same || range.high - range.low <= MANY {
                    return self.halves(state, visits, path, split);
                }
                self.turn(state, visits, path, (split, fault))
            }
        }
    }

    /// Both sides of a split.
    fn halves<M: Turning>(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        path: Path,
        split: Split,
    ) -> Result<Statuses, Fault> {
        let mut all = Statuses::new();
        for ranges in state.memory.unknowns.ranges.halves(split) {
            all.extend(self.side(&state, visits, path, ranges)?);
        }
        Ok(all)
    }

    /// The part of a state in some ranges.
    fn side<M: Turning>(
        &mut self,
        state: &State<M>,
        visits: &mut Vec<Visit<M>>,
        path: Path,
        ranges: Ranges,
    ) -> Result<Statuses, Fault> {
        let Some(ranges) = ranges.tightened() else { return Ok(Statuses::new()) };
        self.explore(Box::new(state.clone()).with_ranges(ranges), visits, path)
    }

    /// Both outcomes of a branch that is not known.
    fn fork<M: Turning>(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        mut path: Path,
        (fork, fault): (Fork, Fault),
    ) -> Result<Statuses, Fault> {
        if fork.is_secret && self.returns == Returns::Nothing {
            return Err(fault);
        }
        path.secrets += fork.is_secret as u32;
        let mut sides = Vec::new();
        for outcome in [false, true] {
            let mut state = state.clone();
            if let Some(bit) = fork.bit {
                let bits = &self.world.bits;
                let of = |cell| bits.assumed(cell, bit, outcome);
                state.memory.map(of);
                state.machine.map(bits, &of);
            }
            self.world.forks.outcome = Some(outcome);
            sides.push(self.explore(state, visits, path)?);
        }
        if fork.is_secret {
            let known = sides.iter().flatten().all(|status| status.is_some());
            if !known || !sides[0].is_disjoint(&sides[1]) {
                let what = format!("{}, and the status does not tell the outcome", fault.what);
                return Err(Fault { what, ..fault });
            }
            self.evidence.told.insert(fault.place);
        }
        Ok(sides.into_iter().flatten().collect())
    }

    /// A branch on a number that is not known, perhaps of a loop.
    fn turn<M: Turning>(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        path: Path,
        (split, fault): (Split, Fault),
    ) -> Result<Statuses, Fault> {
        let place = state.machine.place();
        let key = (place, state.memory.callers(state.machine.stack_offset()));
        let Some(at) = visits.iter().position(|visit| visit.key == key) else {
            return self.first_turn(Visit::new(key, state, split, path), visits, path);
        };
        // A branch on another number in each turn of a loop around it.
        if visits[at].every.is_none() && visits[at].split.variable != split.variable {
            return self.halves(state, visits, path, split);
        }
        visits[at].passes += 1;
        if visits[at].passes < visits[at].period {
            return self.halves(state, visits, path, split);
        }
        if let Some((every, cover)) = &visits[at].every {
            let bits = &self.world.bits;
            self.evidence.loops += 1;
            // Another path of the first turn may end in the invariant, too.
            let is_covered = [false, true].into_iter().any(|is_first| {
                let ranges = Some(state.memory.unknowns.ranges);
                let cover = Cover { is_first, ranges, ..*cover };
                every.memory.covers(&state.memory, &cover)
                    && every.machine.covers(&state.machine, bits, &cover)
            });
            if !is_covered {
                let ranges = Some(state.memory.unknowns.ranges);
                let (mut wider, cover) = (every.clone(), Cover { ranges, ..*cover });
                wider.memory.widen(&state.memory, &cover);
                wider.machine.widen(&state.machine, bits, &cover);
                visits[at].wider = Some(wider);
                let what = "no claim about the loop holds a turn later".into();
                return Err(Fault { what, ..fault });
            }
            // The paths from the invariant on have been followed; a secret branch of this turn may
            // lead to each of their statuses.
            let is_told = visits[at].secrets == path.secrets;
            return Ok(if is_told { Statuses::new() } else { Statuses::from([None]) });
        }
        self.generalise(visits, at, (state, path), (split, fault))
    }

    /// The first turn of a loop, or a branch that is none. Two turns of some loops differ, where
    /// buffers change places, and every second one is alike.
    fn first_turn<M: Turning>(
        &mut self,
        visit: Visit<M>,
        visits: &mut Vec<Visit<M>>,
        path: Path,
    ) -> Result<Statuses, Fault> {
        let at = visits.len();
        let [below, above] = visit.state.memory.unknowns.ranges.halves(visit.split);
        let mut outcome = Ok(Statuses::new());
        for period in 1..=PERIOD {
            visits.truncate(at);
            visits.push(Visit { period, ..visit.clone() });
            outcome = self.explore(visit.state.clone().with_ranges(above), visits, path);
            let here = |hoisted: &mut Hoisted| hoisted.visit == at;
            if let Some(Hoisted { variable, divisor, .. }) = self.hoisted.take_if(here) {
                visits.truncate(at);
                let mut all = Statuses::new();
                let divided = divided(visit.state, variable, divisor);
                for state in divided.ok_or_else(|| outcome.expect_err("it asks for a division"))? {
                    all.extend(self.explore(state, visits, path)?);
                }
                return Ok(all);
            }
            if outcome.is_ok() || visits.get(at).is_none_or(|visit| visit.every.is_none()) {
                break;
            }
        }
        let mut all = outcome?;
        // The invariant of a loop around this branch, or of its own loop, holds in the first turn
        // too, and has been followed to its end.
        if visits.len() <= at {
            return Ok(all);
        }
        visits.truncate(at + 1);
        if visits.pop().is_some_and(|visit| visit.every.is_none()) {
            all.extend(self.explore(visit.state.with_ranges(below), visits, path)?);
        }
        Ok(all)
    }

    /// Proposes the invariant of two turns and follows it: one more turn must end in the invariant,
    /// which is checked where the turn ends.
    fn generalise<M: Turning>(
        &mut self,
        visits: &mut Vec<Visit<M>>,
        at: usize,
        (state, path): (Box<State<M>>, Path),
        (split, fault): (Split, Fault),
    ) -> Result<Statuses, Fault> {
        let unsupported = |what: &str| Fault { what: what.into(), ..fault.clone() };
        let first = &visits[at];
        let step = split.at - first.split.at;
        if first.split.variable != split.variable || step <= 0 {
            return Err(unsupported("the loop depends on two numbers, or on one that grows"));
        }
        let behind = state.memory.unknowns.fresh();
        let behind = behind.ok_or_else(|| unsupported("too many numbers are not known"))?;
        let constants = Some([false, true].map(|bit| self.world.bits.constant(bit)));
        let ranges = Some(state.memory.unknowns.ranges);
        let join = Join { ahead: split.variable, behind, step, constants, ranges };
        let memory = first.state.memory.joined(&state.memory, &join);
        let memory = memory.ok_or_else(|| unsupported("the lengths of two turns differ"))?;
        let machine = first.state.machine.joined(&state.machine, &self.world.bits, &join);
        let mut every = Box::new(State { machine, memory });
        let mut outcome = Ok(Statuses::new());
        for _ in 0..WIDENED {
            visits.truncate(at + 1);
            visits[at].passes = 0;
            visits[at].wider = None;
            visits[at].every = Some((every.clone(), Cover { join, is_first: false, ranges: None }));
            let place = every.machine.place();
            outcome = match self.run(&mut every)? {
                Stop::Asked(Asked::Split(split), _)
                    if every.machine.place() == place && split.variable == join.ahead =>
                {
                    // The end of the loop is followed once its invariant holds.
                    let [below, above] = every.memory.unknowns.ranges.halves(split);
                    self.side(&every, visits, path, above).and_then(|mut all| {
                        all.extend(self.side(&every, visits, path, below)?);
                        Ok(all)
                    })
                }
                _ => Err(unsupported("the loop depends on something else as well")),
            };
            match visits.get_mut(at).and_then(|visit| visit.wider.take()) {
                Some(wider) if outcome.is_err() => every = wider,
                _ => break,
            }
        }
        outcome
    }

    /// Runs a state to its end, or to an instruction that needs to know more.
    fn run<M: Turning>(&mut self, state: &mut State<M>) -> Result<Stop, Fault> {
        std::mem::swap(&mut self.world.memory, &mut state.memory);
        let stop = self.steps(&mut state.machine);
        std::mem::swap(&mut self.world.memory, &mut state.memory);
        self.asked = self.asked.max(state.memory.asked);
        stop
    }

    fn steps<M: Turning>(&mut self, machine: &mut M) -> Result<Stop, Fault> {
        loop {
            if self.evidence.instructions == self.longest {
                let what = format!("it does not return in {} instructions", self.longest);
                return Err(Fault::new(Rule::TooLong, what));
            }
            self.evidence.instructions += 1;
            let place = machine.place();
            let step = machine.step(&mut self.world);
            // An outcome is for one instruction.
            self.world.forks.outcome = None;
            let fault = match step {
                Ok(Step::Next) => continue,
                Ok(Step::Returned) => return Ok(Stop::Returned),
                Err(fault) => fault,
            };
            machine.go_to(place);
            if let Some(fork) = self.world.forks.asked.take() {
                return Ok(Stop::Fork(fork, fault));
            }
            return match self.world.memory.unknowns.asked.take() {
                Some(asked) => Ok(Stop::Asked(asked, fault)),
                None => Err(fault),
            };
        }
    }

    /// The end of a path.
    fn leave<M: Turning>(&mut self, mut state: State<M>) -> Result<Statuses, Fault> {
        self.evidence.paths += 1;
        if self.evidence.paths > PATHS {
            let what = format!("it has more than {PATHS} paths");
            return Err(Fault::new(Rule::TooLong, what));
        }
        std::mem::swap(&mut self.world.memory, &mut state.memory);
        let status = match self.returns {
            Returns::Nothing => None,
            Returns::Status => state.machine.status(&self.world.bits),
        };
        let registers = state.machine.leave(&self.world)?;
        self.world.memory.check_fields(&self.world.bits)?;
        let residue = self.world.residue(registers);
        let evidence = &mut *self.evidence;
        evidence.frame = evidence.frame.max(self.world.memory.frame_bytes());
        let size = |residue: &Residue| (residue.frame, residue.registers.len());
        if size(&residue) > size(&evidence.residue) {
            evidence.residue = residue;
        }
        Ok(Statuses::from([status]))
    }
}

/// The states in which a variable is a multiple of a divisor and a remainder, which together are
/// all; `None` if there are too many variables.
fn divided<M: Turning>(
    state: Box<State<M>>,
    variable: usize,
    divisor: i64,
) -> Option<Vec<Box<State<M>>>> {
    let Some(ranges) = state.memory.unknowns.ranges.tightened() else { return Some(Vec::new()) };
    let mut state = state.with_ranges(ranges);
    let Range { low, high } = ranges.0[variable];
    // The multiples from `first` on have all remainders.
    let first = -(-low).div_euclid(divisor) * divisor;
    if first > low {
        let [below, above] = ranges.halves(Split { variable, at: first });
        let below = below.tightened().map(|ranges| state.clone().with_ranges(ranges));
        let above = divided(state.with_ranges(above), variable, divisor)?;
        return Some(below.into_iter().chain(above).collect());
    }
    let rest = state.memory.unknowns.unknown(Range { low: 0, high: divisor - 1 })?;
    let multiple = Form::variable(variable).times(divisor)?.plus(rest)?;
    state.memory.unknowns.ranges.0[variable] =
        Range { low: low.div_euclid(divisor), high: high.div_euclid(divisor) };
    state.map_forms(&|form| form.with(variable, multiple).unwrap_or(form));
    let ranges = state.memory.unknowns.ranges.assumed(Form::number(high).minus(multiple)?);
    Some(ranges.map(|ranges| state.with_ranges(ranges)).into_iter().collect())
}
