//! States of the search of safety proofs: points of executions, and branches that they have passed.
//!
//! ```text
//! state     registers, memory, calls in progress, branches on secrets that lead to it
//! meeting   a place in the function of the n-th call, or its return
//! visit     a branch with the state at its first turn, and the invariant of all turns
//! ```

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::Fault;
use super::block_step::{Cover, Join};
use super::blocks::Turning;
use super::elf::Object;
use super::memory::{Memory, Pointer};
use super::path_join::Paths;
use super::summarized::Registers;
use super::word::Word;
use usuba_bits::cell::Bits;
use usuba_ranges::{Form, Range, Ranges, Split, VARIABLES};

/// A call in progress: the stack pointer at the entry of the callee, and the return address.
pub type Call = (i64, Pointer);

/// A point of an execution.
#[derive(Clone)]
pub struct State<M> {
    pub machine: M,
    pub memory: Memory,
    /// The calls in progress, the first one first.
    pub calls: Vec<Call>,
    /// The branches on secrets before it, by their numbers, with their outcomes.
    pub secrets: Vec<(usize, bool)>,
}

/// A branch on a secret, and the statuses after each of its outcomes; `None` is a status that is not
/// known.
pub struct Told {
    pub fault: Fault,
    pub statuses: [BTreeSet<Option<u64>>; 2],
}

/// Where a part of the search ends: at a place in a function, and outside of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meeting {
    /// The number of calls in progress.
    pub calls: usize,
    pub place: Option<u64>,
}

impl Meeting {
    /// The return of the proved function.
    pub const END: Meeting = Meeting { calls: 0, place: None };

    /// Whether a state is at it, or outside of its function.
    pub fn is_at<M: Turning>(self, state: &State<M>) -> bool {
        let is_place = || self.place == Some(state.machine.place());
        state.calls.len() < self.calls || state.calls.len() == self.calls && is_place()
    }
}

impl<M: Turning> State<M> {
    /// The same with another form in the place of each.
    pub fn map_forms(&mut self, of: &dyn Fn(Form) -> Form) {
        self.memory.map_forms(of);
        self.machine.map_forms(of);
    }

    /// Puts a form in the place of a variable; `None` if a factor overflows.
    pub fn replace(&mut self, variable: usize, other: Form) -> Option<()> {
        let fits = std::cell::Cell::new(true);
        self.map_forms(&|form| {
            let replaced = form.with(variable, other);
            fits.set(fits.get() && replaced.is_some());
            replaced.unwrap_or_default()
        });
        fits.get().then_some(())
    }

    /// The part of the state in some ranges.
    pub fn with_ranges(mut self: Box<Self>, ranges: Ranges) -> Box<Self> {
        self.memory.unknowns.ranges = ranges.clone();
        self.map_forms(&|form| ranges.reduced(form).unwrap_or(form));
        self
    }

    /// Whether another state may be joined with this one: the registers that may be read are the saved ones
    /// of a function, `None` where one returns, and perhaps the status.
    pub fn is_like(
        &self,
        other: &State<M>,
        object: &Object,
        read: (Option<Registers>, bool),
    ) -> bool {
        self.calls == other.calls
            && self.secrets == other.secrets
            && self.memory.has_regions_of(&other.memory, self.machine.stack_offset())
            && self.has_words_like(other, object, read)
    }

    /// Whether the registers of two states at one place may be joined: inside of a function that may
    /// read these callee-saved registers from there on, or where one returns. Statuses that differ and may
    /// be read stay apart, and so do addresses in different regions and pointers to code or to steps of a table of
    /// addresses.
    fn has_words_like(
        &self,
        other: &State<M>,
        object: &Object,
        (live, is_told): (Option<Registers>, bool),
    ) -> bool {
        let (place, returns) = (self.machine.place(), live.is_none());
        let register =
            if returns { M::VOLATILE.first().copied() } else { M::status_at(object, place) };
        let status = |state: &State<M>| match state.machine.words()[register?] {
            Word::Number(status) => Some(status),
            _ => None,
        };
        let is_live = |register: &&usize| live.is_none_or(|live| live >> **register & 1 == 1);
        let regions = M::SAVED.iter().filter(is_live).all(|&register| {
            let region = |state: &State<M>| state.machine.words()[register].whole()?.region();
            region(self).zip(region(other)).is_none_or(|(one, next)| one == next)
        });
        let mut words = self.machine.words().iter().zip(other.machine.words());
        regions
            && place == other.machine.place()
            && self.machine.stack_offset() == other.machine.stack_offset()
            && self.machine.is_like(&other.machine)
            && (!is_told || status(self) == status(other))
            && words.all(|pair| match pair {
                (Word::Pointer(one), Word::Pointer(next)) if !returns && one != next => {
                    !object.has_addresses(*one, *next)
                }
                _ => true,
            })
    }

    /// One state for two.
    pub fn joined(&self, other: &State<M>, bits: &Bits) -> Option<State<M>> {
        if !self.memory.tables.are_alike(&other.memory.tables, |_, _| true) {
            return self.closed().joined(&other.closed(), bits);
        }
        let constants = [false, true].map(|bit| bits.constant(bit));
        let paths = Paths::new(&self.memory, &other.memory, constants)?;
        let mut memory = self.memory.joined(&other.memory, &paths)?;
        let machine = self.machine.joined(&other.machine, bits, &paths);
        paths.finish(&mut memory);
        let ranges = memory.unknowns.ranges.clone();
        let (calls, secrets) = (self.calls.clone(), self.secrets.clone());
        let mut joined = State { machine, memory, calls, secrets };
        // A noted variable may have one value on both paths.
        joined.map_forms(&|form| ranges.reduced(form).unwrap_or(form));
        Some(joined)
    }

    /// Closes all elements of arrays of pointers.
    pub fn close(&mut self) {
        let memory = &self.memory;
        self.machine.forget(&|region| memory.is_element(region));
        self.memory.close_elements();
    }

    /// The same without open elements.
    pub fn closed(&self) -> State<M> {
        let mut closed = self.clone();
        closed.close();
        closed
    }

    /// The variables that numbers have, and others that are kept, which the facts are about then.
    fn numbers(&mut self, is_kept: &dyn Fn(usize) -> bool) -> [bool; VARIABLES] {
        let ranges = self.memory.unknowns.ranges.clone();
        self.memory.unknowns.ranges = ranges.with_facts(std::iter::empty());
        let mut is_used = self.variables();
        is_used.iter_mut().enumerate().for_each(|(at, is_used)| *is_used |= is_kept(at));
        self.memory.unknowns.ranges = ranges.projected(is_used);
        is_used
    }

    /// Makes an invariant claim nothing about variables that it does not name.
    pub fn claim(&mut self, join: &Join) {
        let used = self.memory.unknowns.used;
        let is_named = self.numbers(&|at| at == join.ahead || at == join.behind);
        let ranges = self.memory.unknowns.ranges.0.iter_mut().zip(is_named);
        let unnamed = ranges.take(used).filter(|(_, is_named)| !is_named);
        unnamed.for_each(|(range, _)| *range = Range::ANY);
    }

    /// Forgets the variables from `first` on that no number has, and closes their gaps. Returns
    /// whether a variable has another number then.
    pub fn compact(&mut self, first: usize) -> bool {
        let used = self.memory.unknowns.used;
        let is_used = self.numbers(&|at| at < first);
        let order: Vec<usize> = (0..used).filter(|&at| is_used[at]).collect();
        if order.len() == used {
            return false;
        }
        self.map_forms(&|form| {
            let mut moved = Form::number(form.constant);
            for (new, &old) in order.iter().enumerate() {
                moved.terms[new] = form.terms[old];
            }
            moved
        });
        let unknowns = &mut self.memory.unknowns;
        let all = unknowns.ranges.0;
        let range = |at| order.get(at).map_or(Range::default(), |&old: &usize| all[old]);
        unknowns.ranges.0 = std::array::from_fn(range);
        unknowns.used = order.len();
        true
    }

    /// The variables in use.
    pub fn variables(&mut self) -> [bool; VARIABLES] {
        let used = RefCell::new([false; VARIABLES]);
        self.map_forms(&|form| {
            for (is_used, factor) in used.borrow_mut().iter_mut().zip(form.terms) {
                *is_used |= factor != 0;
            }
            form
        });
        used.into_inner()
    }
}

/// A branch that depends on a number that is not known.
#[derive(Clone)]
pub struct Visit<M> {
    pub key: Key,
    /// Turns after which states are alike, if there are such, and turns since the last one.
    pub period: u32,
    pub passes: u32,
    pub state: Box<State<M>>,
    pub split: Split,
    /// The invariant of the turns, once the branch has been reached again.
    pub every: Option<(Box<State<M>>, Cover)>,
    /// A weaker invariant, after a turn broke a claim.
    pub wider: Option<Box<State<M>>>,
    /// The form that the branch tests.
    pub form: Form,
    /// Whether its paths are only watched for the turns of a loop.
    pub is_watched: bool,
}

/// The address of a branch, and the calls in progress.
pub type Key = (u64, Vec<Call>);

impl<M> Visit<M> {
    /// The first time at a branch.
    pub fn new(key: Key, state: Box<State<M>>, (split, form): (Split, Form)) -> Visit<M> {
        Visit {
            key,
            period: 1,
            passes: 0,
            state,
            split,
            every: None,
            wider: None,
            form,
            is_watched: false,
        }
    }
}
