//! The search of safety proofs: all paths of a function.
//!
//! ```text
//! cmp rdx, 16; jb tail      n < 16, and n >= 16
//! test rdx, 15              n = 16 q + r
//! ```
//!
//! A branch on a public number that is not known is followed for both parts of its range, and a
//! quotient makes a number a multiple and a remainder. A branch that is reached again is a loop,
//! which `safety_induction` proves.

use rustc_hash::FxHashMap;

use super::block_step::Cover;
use super::blocks::Turning;
use super::call_summaries::{Refused, Summaries};
use super::elf::Object;
use super::frame_phases::KNOWN_PHASES;
use super::live_registers::Live;
use super::memory::Memory;
use super::post_dominators::{self, Met};
use super::safety::{Evidence, Returns};
use super::safety_state::{Meeting, State, Told, Visit};
use super::variable_changes::{Change, Hoisted, divided};
use super::{Fault, Fork, Residue, Rule, Step, World, unsupported};
use usuba_bits::cell::Cell;
use usuba_ranges::{Asked, Form, Ranges, Split, VARIABLES};

/// The most distinguished paths, also at a time, and unknown branches on one of them.
const PATHS: u32 = 1000;
const DEPTH: u32 = 60;

/// A number with more values than this is handled by induction, not by enumeration.
const MANY: i64 = 3;

/// The reason why an execution stops.
pub(super) enum Stop {
    Returned,
    /// A function of the object has been called.
    Called,
    /// The search of this part ends.
    Met,
    Fork(Fork, Fault),
    Asked(Asked, Fault),
}

/// The states where a part of the search ends.
pub type Ends<M> = Result<Vec<Box<State<M>>>, Fault>;

/// A part of the search: the branches around it, and where it ends.
#[derive(Clone, Copy)]
pub struct Part {
    pub depth: u32,
    pub meeting: Meeting,
}

pub struct Search<'a, 'o, M> {
    /// Its memory belongs to the state that runs.
    pub world: World<'o>,
    pub evidence: &'a mut Evidence,
    pub returns: Returns,
    pub longest: u64,
    /// Whether paths are joined where they meet.
    pub joins: bool,
    /// The largest alignment of the frame that any path has asked for.
    pub asked: u64,
    pub(super) told: Vec<Told>,
    /// Where the paths from branches meet.
    meetings: FxHashMap<u64, Option<Met>>,
    /// Where parts of the search end around parts that end in a loop: a path may leave the loop.
    around: Vec<Meeting>,
    /// The registers that functions read from places on.
    pub(super) live: Live,
    /// A change of variables that is to be done before a loop.
    pub(super) hoisted: Option<Hoisted>,
    pub(super) summaries: Summaries<M>,
}

impl<'a, 'o, M: Turning> Search<'a, 'o, M> {
    pub fn new(
        world: World<'o>,
        evidence: &'a mut Evidence,
        returns: Returns,
        (longest, joins): (u64, bool),
        refused: Refused,
    ) -> Search<'a, 'o, M> {
        let (asked, told, meetings) = (KNOWN_PHASES, Vec::new(), FxHashMap::default());
        let (hoisted, summaries) = (None, Summaries::new(refused));
        Search {
            world,
            evidence,
            returns,
            longest,
            joins,
            asked,
            told,
            meetings,
            around: Vec::new(),
            live: Live::default(),
            hoisted,
            summaries,
        }
    }

    /// Runs a state to all its ends.
    pub fn prove(&mut self, machine: M, memory: Memory) -> Result<(), Fault> {
        let state = State { machine, memory, calls: Vec::new(), secrets: Vec::new() };
        let part = Part { depth: 0, meeting: Meeting::END };
        self.explore(Box::new(state), &mut Vec::new(), part)?;
        for Told { fault, statuses: [first, second] } in self.told.drain(..) {
            if first.contains(&None) || second.contains(&None) || !first.is_disjoint(&second) {
                let what = format!("{}, and the status does not tell the outcome", fault.what);
                return Err(Fault { what, ..fault });
            }
            self.evidence.told.insert(fault.place);
        }
        Ok(())
    }

    /// Runs a state to the end of a part of the search, or to the return of the function.
    pub(super) fn explore(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        mut part: Part,
    ) -> Ends<M> {
        part.depth += 1;
        if part.depth > DEPTH {
            let what = format!("more than {DEPTH} branches are not known");
            let place = self.world.object.name(state.machine.place());
            return Err(Fault { place, ..Fault::new(Rule::TooLong, what) });
        }
        let (mut open, mut ends) = (vec![state], Vec::new());
        let states = visits.iter().flat_map(|visit| {
            [Some(&visit.state), visit.every.as_ref().map(|(every, _)| every)].into_iter().flatten()
        });
        let used = states.map(|state| state.memory.unknowns.used).max().unwrap_or(0);
        while let Some(mut state) = open.pop() {
            let before = self.evidence.instructions;
            let mut stop = self.run(&mut state, part.meeting);
            let is_same = self.evidence.instructions == before + 1;
            let is_asked = matches!(stop, Ok(Stop::Fork(..) | Stop::Asked(..)));
            if is_asked && !is_same && state.compact(used) {
                stop = self.run(&mut state, part.meeting);
            }
            // Bounds of a variable may show late that a path has no case.
            if stop.is_err() && state.memory.unknowns.ranges.is_empty() {
                continue;
            }
            let stop = match stop? {
                Stop::Asked(Asked::Element(index), fault) => {
                    state.close();
                    state.memory.open_element(index).ok_or(fault)?;
                    open.push(state);
                    continue;
                }
                Stop::Returned => {
                    self.leave(*state)?;
                    continue;
                }
                Stop::Met => {
                    ends.push(state);
                    continue;
                }
                Stop::Called => {
                    open.extend(self.call(state, visits, part)?);
                    continue;
                }
                stop => stop,
            };
            let (meeting, is_in_loop) = self.meeting(&state, &stop, part.meeting);
            // A path that leaves a loop comes to no place in it where others meet.
            let is_around = meeting == part.meeting || self.around.contains(&meeting);
            if !self.joins || is_around {
                ends.extend(self.sides(state, visits, part, (stop, is_same))?);
                continue;
            }
            self.part_paths(&mut state, visits);
            let around = self.around.len();
            self.around.extend(is_in_loop.then_some(part.meeting));
            let sides = self.sides(state, visits, Part { meeting, ..part }, (stop, is_same));
            self.around.truncate(around);
            open.extend(self.join(sides?, meeting));
            if open.len() > PATHS as usize {
                let what = format!("more than {PATHS} paths are open");
                return Err(Fault::new(Rule::TooLong, what));
            }
        }
        Ok(ends)
    }

    /// Notes the variables in use, where paths part.
    pub(super) fn part_paths(&self, state: &mut State<M>, visits: &[Visit<M>]) {
        let mut kept = state.variables();
        for visit in visits {
            kept.iter_mut().skip(visit.split.variable).take(1).for_each(|kept| *kept = true);
            if let Some((_, Cover { join, .. })) = &visit.every {
                (kept[join.ahead], kept[join.behind]) = (true, true);
            }
        }
        state.memory.enter_scope(kept);
    }

    /// Where the paths from an instruction meet: in its function, or where it returns, unless a part of
    /// the search ends before. Cases of numbers stay apart behind an instruction that is no branch.
    #[inline(never)]
    fn meeting(&mut self, state: &State<M>, stop: &Stop, end: Meeting) -> (Meeting, bool) {
        let (object, place) = (self.world.object, state.machine.place());
        let is_kept = matches!(stop, Stop::Fork(..)) || M::next(object, place).len() == 2;
        let meeting = self.meetings.entry(place);
        let meeting = meeting.or_insert_with(|| post_dominators::meeting::<M>(object, place));
        match (meeting.filter(|_| is_kept), state.calls.len()) {
            (None, calls) if calls == end.calls => (end, false),
            (None, calls) => (Meeting { calls, place: None }, false),
            (Some(Met { place, is_in_loop }), calls) => {
                (Meeting { calls, place: Some(place) }, is_in_loop)
            }
        }
    }

    /// Whether a function may read the status of a callee that has returned to a place.
    pub(super) fn reads_status(&mut self, place: u64) -> bool {
        self.live.status::<M>(self.world.object, place, true)
    }

    /// Whether anyone may read the status that a state has inside of a function.
    fn has_status(&mut self, state: &State<M>) -> bool {
        let back = state.calls.last().and_then(|&(_, back)| Object::place(back));
        let returns = back.is_none_or(|back| self.reads_status(back));
        self.live.status::<M>(self.world.object, state.machine.place(), returns)
    }

    /// Joins the states that are alike. Not inlined, since the search is recursive.
    #[inline(never)]
    pub(super) fn join(
        &mut self,
        sides: Vec<Box<State<M>>>,
        meeting: Meeting,
    ) -> Vec<Box<State<M>>> {
        let object = self.world.object;
        let mut joined: Vec<Box<State<M>>> = Vec::new();
        'sides: for side in sides {
            let place = meeting.place.filter(|_| side.calls.len() == meeting.calls);
            let place = place.map(|_| side.machine.place());
            let live = place.map(|at| self.live.saved::<M>(object, at));
            // A caller may not read the status.
            let is_told = match live {
                Some(_) => self.has_status(&side),
                None => self.reads_status(side.machine.place()),
            };
            let is_like =
                |other: &&mut Box<State<M>>| other.is_like(&side, object, (live, is_told));
            for other in joined.iter_mut().filter(is_like) {
                if let Some(both) = other.joined(&side, &self.world.bits) {
                    **other = both;
                    continue 'sides;
                }
            }
            joined.push(side);
        }
        joined.iter_mut().for_each(|state| state.memory.leave_scope());
        joined
    }

    /// The ends of all cases of a state that has stopped.
    fn sides(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        part: Part,
        (stop, is_same): (Stop, bool),
    ) -> Ends<M> {
        match stop {
            Stop::Returned | Stop::Met | Stop::Called => Ok(vec![state]),
            Stop::Fork(fork, fault) => self.fork(state, visits, part, (fork, fault)),
            Stop::Asked(Asked::Divided { variable, divisor }, fault) => {
                // A number that a loop does not change is divided before the loop.
                let is_before = |visit: &Visit<M>| {
                    visit.split.variable != variable
                        && !visit.is_watched
                        && variable < visit.state.memory.unknowns.used
                        && visit.every.is_none()
                };
                if let Some(visit) = visits.iter().position(is_before) {
                    let change = Change::Divided(divisor);
                    self.hoisted = Some(Hoisted { visit, variable, change });
                    return Err(fault);
                }
                let divided = divided(state, variable, divisor).ok_or(fault)?;
                let mut all = Vec::new();
                for state in divided {
                    all.extend(self.explore(state, visits, part)?);
                }
                Ok(all)
            }
            Stop::Asked(Asked::Element(_), fault) => Err(fault),
            Stop::Asked(Asked::Sign(form), fault) => self.signs(state, visits, part, (form, fault)),
            Stop::Asked(Asked::Split(split, form), fault) => {
                let range = state.memory.unknowns.ranges.0[split.variable];
                let is_choice = M::is_choice(self.world.object, state.machine.place());
                if is_same || !is_choice || range.high - range.low <= MANY {
                    return self.halves(state, visits, part, split);
                }
                self.turn(state, visits, part, (split, form), fault)
            }
        }
    }

    /// The parts of a state in which a form is negative, and is not.
    #[inline(never)]
    fn signs(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        part: Part,
        (form, fault): (Form, Fault),
    ) -> Ends<M> {
        let key = (state.machine.place(), state.calls.clone());
        let negative = Form::number(-1).minus(form).ok_or_else(|| fault.clone())?;
        self.hoist(visits, &key, (form, fault))?;
        let at = visits.len();
        let split = Split { variable: VARIABLES, at: 0 };
        let visit = Visit::new(key, state.clone(), (split, form));
        visits.push(Visit { is_watched: true, ..visit });
        let mut outcome = Ok(Vec::new());
        for sign in [negative, form] {
            let ranges = state.memory.unknowns.ranges.assumed(sign);
            let Some(ranges) = ranges.filter(|_| outcome.is_ok()) else { continue };
            let ends = self.explore(state.clone().with_ranges(ranges), visits, part);
            outcome = outcome.and_then(|mut all: Vec<_>| {
                all.extend(ends?);
                Ok(all)
            });
        }
        visits.truncate(at);
        self.changed(state, visits, part, outcome)
    }

    /// Both sides of a split.
    pub(super) fn halves(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        part: Part,
        split: Split,
    ) -> Ends<M> {
        let mut all = Vec::new();
        for ranges in state.memory.unknowns.ranges.halves(split) {
            all.extend(self.side(&state, visits, part, ranges)?);
        }
        Ok(all)
    }

    /// The part of a state in some ranges.
    pub(super) fn side(
        &mut self,
        state: &State<M>,
        visits: &mut Vec<Visit<M>>,
        part: Part,
        ranges: Ranges,
    ) -> Ends<M> {
        let Some(ranges) = ranges.tightened() else { return Ok(Vec::new()) };
        self.explore(Box::new(state.clone()).with_ranges(ranges), visits, part)
    }

    /// Both outcomes of a branch that is not known.
    #[inline(never)]
    fn fork(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        part: Part,
        (fork, fault): (Fork, Fault),
    ) -> Ends<M> {
        if fork.is_secret && self.returns == Returns::Nothing {
            return Err(fault);
        }
        let number = self.told.len();
        if fork.is_secret {
            self.told.push(Told { fault, statuses: Default::default() });
        }
        let mut all = Vec::new();
        for outcome in [false, true] {
            let mut state = state.clone();
            if fork.is_secret {
                state.secrets.push((number, outcome));
            }
            if let Some(bit) = fork.bit {
                let bits = &self.world.bits;
                let of = |cell| bits.assumed(cell, bit, outcome);
                state.memory.map(of);
                state.machine.map(bits, &of);
            }
            self.world.forks.outcome = Some(outcome);
            all.extend(self.explore(state, visits, part)?);
        }
        Ok(all)
    }

    /// Runs a state to its end, to the end of a part, or to an instruction that needs to know more.
    pub(super) fn run(&mut self, state: &mut State<M>, meeting: Meeting) -> Result<Stop, Fault> {
        std::mem::swap(&mut self.world.memory, &mut state.memory);
        let stop = self.steps(state, meeting);
        std::mem::swap(&mut self.world.memory, &mut state.memory);
        self.asked = self.asked.max(state.memory.asked);
        stop
    }

    fn steps(&mut self, state: &mut State<M>, meeting: Meeting) -> Result<Stop, Fault> {
        while !meeting.is_at(state) && !self.around.iter().any(|around| around.is_at(state)) {
            if self.evidence.instructions == self.longest {
                let what = format!("it does not return in {} instructions", self.longest);
                return Err(Fault::new(Rule::TooLong, what));
            }
            self.evidence.instructions += 1;
            let place = state.machine.place();
            let step = state.machine.step(&mut self.world);
            // An outcome is for one instruction.
            self.world.forks.outcome = None;
            let stack = state.machine.stack_offset();
            let fault = match step {
                Ok(Step::Next) => continue,
                Ok(Step::Called) => {
                    let back = state.machine.return_address(&self.world.memory);
                    let back =
                        back.ok_or_else(|| unsupported("a call without a return address"))?;
                    state.calls.push((stack, back));
                    let (entry, object) = (state.machine.place(), self.world.object);
                    let read = self.live.parameters::<M>(object, entry);
                    let unknowns = &mut self.world.memory.unknowns;
                    state.machine.map_arguments(read, &mut |form| unknowns.name(form));
                    match self.joins {
                        true => return Ok(Stop::Called),
                        false => continue,
                    }
                }
                Ok(Step::Back) => {
                    // Calls without frames of their own have one stack pointer.
                    let last = state.calls.last().map(|(call, _)| call + M::CONVENTION.above);
                    match last == Some(stack) {
                        true => drop(state.calls.pop()),
                        false => state.calls.retain(|&(call, _)| call >= stack),
                    }
                    continue;
                }
                Ok(Step::Returned) => return Ok(Stop::Returned),
                Err(fault) => fault,
            };
            state.machine.go_to(place);
            if let Some(fork) = self.world.forks.asked.take() {
                return Ok(Stop::Fork(fork, fault));
            }
            return match self.world.memory.unknowns.asked.take() {
                Some(asked) => {
                    self.summaries.asks += 1;
                    // A call that learns a number has no summary.
                    if self.summaries.depth > 0 {
                        return Err(fault);
                    }
                    Ok(Stop::Asked(asked, fault))
                }
                None => Err(fault),
            };
        }
        Ok(Stop::Met)
    }

    /// The status that is returned. It becomes public, with the copies of its bits that are left.
    fn published(&mut self, machine: &mut M) -> Option<u64> {
        let World { bits, memory, .. } = &mut self.world;
        let result = machine.result(bits).unwrap_or_default();
        let is_known = |cell: &Cell| cell.edge().is_some() && bits.is_secret(*cell);
        let told: Vec<Cell> = result.into_iter().filter(is_known).collect();
        let status = machine.status(bits);
        if !told.is_empty() {
            let is_told = |cell: Cell| told.contains(&cell) || told.contains(&bits.not(cell));
            let of = |cell| if is_told(cell) { Cell::UNSET } else { cell };
            memory.map(of);
            machine.map(bits, &of);
        }
        status
    }

    /// The end of a path.
    fn leave(&mut self, mut state: State<M>) -> Result<(), Fault> {
        self.evidence.paths += 1;
        if self.evidence.paths > PATHS {
            let what = format!("it has more than {PATHS} paths");
            return Err(Fault::new(Rule::TooLong, what));
        }
        std::mem::swap(&mut self.world.memory, &mut state.memory);
        let status = match self.returns {
            Returns::Nothing => None,
            Returns::Status => self.published(&mut state.machine),
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
        for (number, outcome) in state.secrets {
            self.told[number].statuses[outcome as usize].insert(status);
        }
        Ok(())
    }
}
