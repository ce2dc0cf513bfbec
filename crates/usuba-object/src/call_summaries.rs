//! Summaries of calls: the effect of a call that is known from an earlier call of the same function.
//!
//! ```text
//! call point_double     executed: reads and writes 120 bytes behind rdi, and bytes below rsp
//! call point_double     the same bytes have the same abstract values: written as before
//! ```
//!
//! A call is executed once, from a state that is weaker than the one of its caller: a register that
//! the callee does not take as a parameter holds a symbol, if it is public, or else secret bits. The
//! [`Footprint`] notes the bytes that the callee uses. The summary has the content of the bytes that
//! are read, and for each exit the content of the bytes that are written, relative to the stack
//! pointer at the call.
//!
//! *Soundness:* a later state is a case of the summary if each register and each byte of the
//! footprint is a case of the value at the first call. Then each of its executions is one of the
//! first call, moved by a number of bytes that keeps all tested alignments: it keeps all rules, it
//! returns, and it ends in one of the exits. Bytes outside of the footprint keep their values. A
//! callee whose footprint is open, which learns a number, computes a field with a bound, tells a
//! secret by a status, or does not return to its caller with the stack as before has no summary.
//! Neither has a callee that breaks a rule. Such calls are executed as any other code.
//!
//! *Limits:* calls whose parameters are numbers, bits and addresses.
//!
//! *Reference:* Sharir, Pnueli 1981 (functional approach); Reps, Horwitz, Sagiv 1995 (tabulation).

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::Fault;
use super::block_step::parts;
use super::blocks::Turning;
use super::dispatch;
use super::elf::Object;
use super::footprint::{Bytes, Footprint, Parameters, PassedBuffer, Span, Spans};
use super::memory::{Moving, Pointer, Region, Whole};
use super::memory_calls::{Content, moved};
use super::safety_search::{Ends, Part, Search};
use super::safety_state::{Meeting, State, Visit};
use super::summarized::{NOWHERE, Registers};
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::{Form, Range};

/// The most summaries of a function.
const MOST: usize = 32;

/// The bits that names stand for, by the nodes of the names.
pub type Names = FxHashMap<u32, Cell>;

/// The effect of a call.
pub struct Summary<M> {
    /// The registers at the call, and the bytes that are read.
    pub(super) machine: M,
    pub(super) read: Content,
    /// The choice of a backend.
    choice: dispatch::Known,
    /// The nodes of the graph at the call: later names of bits are new ones.
    nodes: usize,
    /// The alignment of the frame that is tested, and the stack pointer modulo it.
    asked: u64,
    phase: u64,
    /// The part of the frame that is tested.
    reach: [i64; 2],
    pub(super) exits: Vec<Exit<M>>,
    accesses: Vec<Access>,
    /// The register with the number of bytes of each buffer, and the buffers, of a call over buffers.
    pub(super) length: Option<u16>,
    pub(super) buffers: Vec<PassedBuffer>,
}

/// An access to a buffer whose size is not known.
struct Access {
    /// The register whose address its offset is relative to; `None` at a known offset.
    register: Option<u16>,
    span: Span,
    /// The bits of the buffer at the call.
    content: Cell,
}

/// The state after a call.
pub struct Exit<M> {
    machine: M,
    /// The registers with addresses and numbers that are not known.
    pub(super) unknown: Registers,
    pub(super) written: Content,
    lost: Option<(i64, bool)>,
    choice: dispatch::Known,
    /// The numbers of bytes with which a call over buffers ends so.
    pub(super) lengths: Option<Range>,
}

/// The summaries of a search.
pub struct Summaries<M> {
    pub(super) functions: FxHashMap<u64, Known<M>>,
    /// Calls in progress that will be summarized.
    pub depth: u16,
    /// Calls over buffers in progress.
    pub over_buffers: u16,
    /// The calls over buffers that have no summary in an earlier case of the proof.
    pub refused: Refused,
    /// Questions about numbers that are not known, so far.
    pub asks: u64,
}

/// Calls over buffers without a summary, by their functions.
pub type Refused = FxHashMap<u64, Vec<Parameters>>;

/// The summaries of a function.
pub struct Known<M> {
    pub(super) live: Registers,
    /// Whether calls forget the numbers in memory that are not known, because one has read some.
    forgets: bool,
    /// Whether a call had none, or is in progress: recursion is executed.
    is_refused: bool,
    summaries: Vec<Summary<M>>,
    /// The summaries of calls over buffers, with their parameters: `None` is for calls without one.
    pub(super) over_buffers: Vec<(Parameters, Option<Summary<M>>)>,
}

impl<M> Summaries<M> {
    pub fn new(refused: Refused) -> Summaries<M> {
        Summaries { functions: FxHashMap::default(), depth: 0, over_buffers: 0, refused, asks: 0 }
    }

    /// The calls over buffers that have no summary, for another case of the proof: it would have
    /// none there either.
    pub fn refused(mut self) -> Refused {
        for (entry, Known { over_buffers, .. }) in self.functions {
            let has_summary = |own: &Parameters| {
                over_buffers.iter().any(|(other, summary)| other == own && summary.is_some())
            };
            let parameters = over_buffers.iter().map(|(own, _)| own);
            let refused = parameters.filter(|own| !has_summary(own)).cloned();
            self.refused.entry(entry).or_default().extend(refused);
        }
        self.refused
    }
}

impl<M: Turning> Search<'_, '_, M> {
    /// The states after a call, of a state at the entry of the callee; this state, if the call is
    /// to be executed. Not inlined, since the search is recursive.
    #[inline(never)]
    pub(super) fn call(
        &mut self,
        state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        part: Part,
    ) -> Ends<M> {
        let (entry, start, object) =
            (state.machine.place(), state.machine.stack_offset(), self.world.object);
        let call = self.summaries.depth + 1;
        let Some(place) = return_place(&state) else { return Ok(vec![state]) };
        let read = self.live.results::<M>(object, place);
        let live = self.live.parameters::<M>(object, entry);
        let functions = &mut self.summaries.functions;
        let known = functions.entry(entry).or_insert_with(|| Known {
            live,
            forgets: false,
            is_refused: false,
            summaries: Vec::new(),
            over_buffers: Vec::new(),
        });
        let general = state.machine.generalised(&self.world.bits, known.live, call);
        let Some(general) = general else {
            let after = self.call_over_buffers(&state, (entry, place), part);
            return Ok(after.unwrap_or_else(|| vec![state]));
        };
        let machine = general.moved(&|whole| relative(whole, start, call));
        let bits = &mut self.world.bits;
        let of = |summary: &Summary<M>| {
            let keeps = summary.keeps_words(&machine, read);
            keeps.then(|| summary.names(&state, &machine, bits)).flatten()
        };
        let mut all = known.summaries.iter().enumerate();
        if let Some((at, names)) = all.find_map(|(at, summary)| Some((at, of(summary)?))) {
            self.evidence.repeated += 1;
            return Ok(self.after_call(state, visits, (entry, place), (at, names)));
        }
        if known.is_refused || known.summaries.len() == MOST {
            return Ok(vec![state]);
        }
        let mut first = state.clone();
        first.machine = general.named(bits, known.live);
        // The bytes that an earlier call with such registers has read differ.
        let is_near = |summary: &&Summary<M>| {
            let is_case = |general, own| bits.is_name(general) || is_case(general, own, bits);
            machine.is_case_of(&summary.machine, bits, &is_case)
        };
        if let Some(near) = known.summaries.iter().rfind(is_near) {
            first.memory.weaken(&near.read.moved(start, &|whole| shifted(whole, start)), bits);
        }
        let mut forgets = known.forgets;
        known.is_refused = true;
        let summary = loop {
            if forgets {
                first.memory.forget_numbers();
            }
            let asks = self.summaries.asks;
            let summary = self.executed(first.clone(), visits, part)?;
            let is_final = summary.is_some() || asks != self.summaries.asks;
            if is_final || std::mem::replace(&mut forgets, true) {
                break summary;
            }
        };
        let bits = &mut self.world.bits;
        let names = summary.as_ref().and_then(|summary| summary.names(&state, &machine, bits));
        let known = self.summaries.functions.get_mut(&entry).expect("it has been added");
        (known.forgets, known.is_refused) = (forgets, summary.is_none());
        let Some((summary, names)) = summary.zip(names) else { return Ok(vec![state]) };
        let at = known.summaries.len();
        known.summaries.push(summary);
        Ok(self.after_call(state, visits, (entry, place), (at, names)))
    }

    /// The states after a call that is a case of a summary. Those that differ by a status alone are one
    /// state, if the caller does not read the status.
    fn after_call(
        &mut self,
        mut state: Box<State<M>>,
        visits: &[Visit<M>],
        (entry, place): (u64, u64),
        (at, names): (usize, Names),
    ) -> Vec<Box<State<M>>> {
        let reads = self.reads_status(place);
        let summary = &self.summaries.functions[&entry].summaries[at];
        let is_joined = summary.exits.len() > 1 && !reads;
        if !is_joined {
            return summary.applied(state, place, (&mut self.world.bits, names));
        }
        self.part_paths(&mut state, visits);
        let calls = state.calls.len() - 1;
        let summary = &self.summaries.functions[&entry].summaries[at];
        let states = summary.applied(state, place, (&mut self.world.bits, names));
        self.join(states, Meeting { calls, place: Some(place) })
    }

    /// Executes a call from a generalised state. `None` if the call has no summary.
    ///
    /// # Errors
    /// A loop around the call must begin again.
    fn executed(
        &mut self,
        mut state: Box<State<M>>,
        visits: &mut Vec<Visit<M>>,
        part: Part,
    ) -> Result<Option<Summary<M>>, Fault> {
        let meeting = Meeting { calls: state.calls.len(), place: None };
        state.memory.begin_call(state.machine.stack_offset());
        state.machine.begin_call();
        let first = state.clone();
        let (nodes, turns) = (self.world.bits.graph.nodes.len(), visits.len());
        let so_far =
            |search: &Self| (search.told.len(), search.evidence.paths, search.summaries.asks);
        let before = so_far(self);
        self.part_paths(&mut state, visits);
        self.summaries.depth += 1;
        let ends = self.explore(state, visits, Part { meeting, ..part });
        self.summaries.depth -= 1;
        let after = so_far(self);
        visits.truncate(turns);
        self.told.truncate(before.0);
        let call = self.summaries.depth + 1;
        match ends {
            Err(fault) if self.hoisted.is_some() => Err(fault),
            Ok(ends) if before == after => {
                let ends = self.join(ends, meeting);
                let is_known = !ends.iter().any(|end| end.memory.computes_field(&self.world.bits));
                Ok(Summary::new(&first, nodes, &ends, call).filter(|_| is_known))
            }
            _ => Ok(None),
        }
    }
}

impl<M: Turning> Summary<M> {
    /// The summary of a call from a state, in which it ends in these states; `None` if there is none.
    pub(super) fn new(
        state: &State<M>,
        nodes: usize,
        ends: &[Box<State<M>>],
        call: u16,
    ) -> Option<Summary<M>> {
        let start = state.machine.stack_offset();
        let (_, callers) = state.calls.split_last()?;
        let returns = |end: &State<M>| {
            end.calls == callers
                && end.secrets == state.secrets
                && end.memory.orders == state.memory.orders
                && (end.machine.stack_offset(), end.machine.place())
                    == (start + M::CONVENTION.above, NOWHERE)
        };
        let footprints: Vec<&Footprint<Region>> =
            ends.iter().filter_map(|end| end.memory.footprint.as_ref()).collect();
        let is_open = footprints.iter().any(|footprint| footprint.is_open.get());
        if ends.is_empty() || is_open || !ends.iter().all(|end| returns(end)) {
            return None;
        }
        let is_own = |at: &Whole| parts(*at).0.is_none_or(|region| !state.memory.is_passed(region));
        let whole = |whole| relative(whole, start, call).filter(is_own);
        let mut read = Bytes::default();
        footprints.iter().for_each(|footprint| read.add_all(&footprint.read));
        read.remove((Region::Frame, start), M::CONVENTION.above as usize);
        let exit = |(end, footprint): (&State<M>, &&Footprint<Region>)| {
            let mut written = end.memory.content(&footprint.written);
            written.wholes.retain(|&(at, _)| footprint.written.has(at, M::CONVENTION.address));
            let mut machine = end.machine.moved(&whole);
            let mut unknown = 0;
            // Parameters that are still in registers, where numbers are not known.
            for register in 0..M::REGISTERS {
                let parameter =
                    |value| (0..M::REGISTERS).find(|&at| state.machine.held(at) == value);
                let value = end.machine.held(register).filter(|&value| whole(value).is_none());
                match value.map(|value| parameter(Some(value))) {
                    Some(Some(parameter)) => {
                        let region = Region::Held(0, parameter);
                        machine.hold(register, Whole::Pointer(Pointer { region, offset: 0 }));
                    }
                    Some(None) => unknown |= 1 << register,
                    None => {}
                }
            }
            Exit {
                machine,
                unknown,
                written: written.moved(-start, &whole),
                lost: footprint.lost.map(|(end, secret)| (end - start, secret)),
                choice: end.memory.choice,
                lengths: None,
            }
        };
        let asked = ends.iter().map(|end| end.memory.asked).max()?;
        let tested = || footprints.iter().filter_map(|footprint| footprint.reach.get()).flatten();
        let (low, high) = (tested().min()?, tested().max()?);
        Some(Summary {
            machine: state.machine.moved(&whole),
            read: state.memory.content(&read).moved(-start, &whole),
            choice: state.memory.choice,
            nodes,
            asked,
            phase: state.memory.phase_at(start, asked),
            reach: [low - start, high - start],
            accesses: accesses(state, &footprints)?,
            length: None,
            buffers: Vec::new(),
            exits: ends.iter().map(|end| &**end).zip(&footprints).map(exit).collect(),
        })
    }

    /// Whether a call with these generalised registers keeps the addresses and numbers in registers that
    /// its caller reads: where the first call had bits, an address is lost.
    fn keeps_words(&self, machine: &M, read: Registers) -> bool {
        let is_lost = |&at: &u16| machine.held(at).is_some() && self.machine.held(at).is_none();
        !(0..M::REGISTERS).filter(is_lost).any(|at| read >> at & 1 == 1)
    }

    /// If a state at the entry of the callee, with these generalised registers, is a case of this
    /// call: the bits that the names of bits at the call stand for.
    pub(super) fn names(&self, state: &State<M>, machine: &M, bits: &Bits) -> Option<Names> {
        let State { memory, .. } = state;
        let start = state.machine.stack_offset();
        let names = RefCell::new(Names::default());
        let is_case = |general: Cell, own: Cell| match general.edge() {
            Some(edge) if bits.is_name(general) => {
                let own = if edge.is_complement() { bits.not(own) } else { own };
                let mut names = names.borrow_mut();
                match names.insert(edge.node(), own) {
                    // Equal bits without a name may differ.
                    Some(before) => before == own && own.edge().is_some(),
                    None => true,
                }
            }
            _ => is_case(general, own, bits),
        };
        let [low, high] = self.reach.map(|offset| i128::from(offset) + i128::from(start));
        let is_inside = |(access, found): (&Access, Span)| {
            let bytes = Form::number(found.bytes);
            let content = memory.extents.get(&found.buffer).map(|extent| extent.content);
            content.is_some_and(|content| is_case(access.content, content))
                && memory.check_inside(found.buffer, found.offset, bytes).is_ok()
                && (found.written.is_none() || memory.check_written(found.buffer).is_ok())
        };
        let found = self.accesses.iter().map(|access| access.at(&state.machine));
        let found = found.collect::<Option<Vec<Span>>>()?;
        let mut pairs = self.accesses.iter().zip(found.iter().copied());
        // Buffers are two, or one, as at the call.
        let is_same = |(one, next): (&Access, &Span)| {
            self.accesses.iter().zip(&found).all(|(other, at)| {
                (one.span.buffer == other.span.buffer) == (next.buffer == at.buffer)
            })
        };
        let is_of = memory.reaches(low, high)
            && self.accesses.iter().zip(&found).all(is_same)
            && pairs.all(is_inside)
            && memory.choice == self.choice
            && memory.phase_at(start, self.asked) == self.phase
            && machine.is_case_of(&self.machine, bits, &is_case)
            && memory.is_case_of(&self.read.moved(start, &|whole| shifted(whole, start)), is_case);
        is_of.then(|| names.into_inner())
    }

    /// The states after the call.
    pub(super) fn applied(
        &self,
        state: Box<State<M>>,
        place: u64,
        (bits, names): (&mut Bits, Names),
    ) -> Vec<Box<State<M>>> {
        let start = state.machine.stack_offset();
        let of = |whole| match whole {
            Whole::Pointer(Pointer { region: Region::Held(0, register), offset: 0 }) => {
                state.machine.held(register)
            }
            Whole::Pointer(Pointer { region: Region::Held(0, _) | Region::Return, .. }) => None,
            whole => shifted(whole, start),
        };
        let exit = |exit: &Exit<M>| {
            let mut after = state.clone();
            let memory = &mut after.memory;
            let mut names = names.clone();
            for (at, cells) in &self.read.cells {
                memory.note_read(moved(*at, start), cells.len() / 8);
            }
            self.reach.iter().for_each(|&offset| memory.note_reach(start + offset));
            memory.asked = memory.asked.max(self.asked);
            memory.choice = exit.choice;
            for span in self.accesses.iter().filter_map(|access| access.at(&state.machine)) {
                memory.note_span(span.buffer, span.offset, span.bytes, span.written);
                let extent =
                    memory.extents.get_mut(&span.buffer).filter(|_| span.written.is_some());
                if let Some(extent) = extent {
                    let secret = span.written == Some(true) || bits.is_secret(extent.content);
                    extent.content = if secret { Cell::OPAQUE } else { Cell::UNSET };
                }
            }
            if let Some((end, secret)) = exit.lost {
                memory.lose_below(start + end, |cell| secret || bits.is_secret(cell));
            }
            let mut written = exit.written.moved(start, &of);
            let mut renamed = |cell| bits.renamed(cell, self.nodes, &mut names);
            let cells = written.cells.iter_mut().flat_map(|(_, cells)| cells);
            cells.for_each(|cell| *cell = renamed(*cell));
            memory.put(&written);
            let machine = exit.machine.moved(&|whole| shifted(whole, start));
            after.machine = state.machine.returned(&machine, &mut renamed, place);
            after.calls.pop();
            after
        };
        self.exits.iter().map(exit).collect()
    }
}

impl Access {
    /// The access of a call from a state with these registers; `None` if there is no buffer.
    fn at<M: Turning>(&self, machine: &M) -> Option<Span> {
        let Some(register) = self.register else { return Some(self.span) };
        let (buffer, start) = place(machine.held(register)?)?;
        Some(Span { buffer, offset: start.plus(self.span.offset)?, ..self.span })
    }
}

/// The accesses of a call to buffers whose size is not known; `None` if one is at an offset that is
/// neither known nor relative to the address in a register.
fn accesses<M: Turning>(
    state: &State<M>,
    footprints: &[&Footprint<Region>],
) -> Option<Vec<Access>> {
    let mut all = Vec::new();
    let mut spans = Spans::default();
    footprints
        .iter()
        .for_each(|footprint| footprint.spans.borrow().iter().for_each(|span| spans.add(span)));
    let is_passed = |span: &Span| state.memory.is_passed(Region::Buffer(span.buffer));
    for span in spans.iter().filter(|span| !is_passed(span)) {
        let content = state.memory.extents.get(&span.buffer)?.content;
        let relative = |register: u16| {
            let (buffer, start) = place(state.machine.held(register)?)?;
            let offset = span.offset.minus(start).filter(|_| buffer == span.buffer)?;
            offset.value()?;
            Some(Access { register: Some(register), span: Span { offset, ..span }, content })
        };
        all.push(match span.offset.value() {
            Some(_) => Access { register: None, span, content },
            None => (0..M::REGISTERS).find_map(relative)?,
        });
    }
    Some(all)
}

/// The buffer and the offset of an address.
fn place(whole: Whole) -> Option<(u32, Form)> {
    match whole {
        Whole::Pointer(Pointer { region: Region::Buffer(number), offset }) => {
            Some((number, Form::number(offset)))
        }
        Whole::Moving(Moving { region: Region::Buffer(number), offset }) => Some((number, offset)),
        _ => None,
    }
}

/// Whether a bit is a case of another one, whose value has no name.
fn is_case(general: Cell, own: Cell, bits: &Bits) -> bool {
    match general {
        Cell::OPAQUE => true,
        Cell::UNSET => own == Cell::UNSET || bits.value(own).is_some(),
        general => general == own,
    }
}

/// Where a call returns to, of a state at the entry of the callee.
fn return_place<M: Turning>(state: &State<M>) -> Option<u64> {
    let start = state.machine.stack_offset();
    let call = state.calls.last().filter(|(at, _)| *at == start);
    call.and_then(|(_, code)| Object::place(*code))
}

/// A value relative to the stack pointer at the entry of a callee, where the registers of the call
/// have numbers of their own; `None` if a number in it is not known.
pub(super) fn relative(whole: Whole, start: i64, call: u16) -> Option<Whole> {
    Some(match shifted(whole, -start)? {
        Whole::Pointer(Pointer { region: Region::Held(own, register), offset }) if own == call => {
            Whole::Pointer(Pointer { region: Region::Held(0, register), offset })
        }
        whole => whole,
    })
}

/// A value whose address in the frame is moved; `None` if a number in it is not known.
fn shifted(whole: Whole, by: i64) -> Option<Whole> {
    match whole {
        Whole::Pointer(at @ Pointer { region: Region::Frame, .. }) => {
            Some(Whole::Pointer(at.plus(by)))
        }
        Whole::Moving(_) => None,
        Whole::Count(form) => form.value().is_some().then_some(whole),
        // Another call may give the number to another word.
        whole => Some(whole).filter(|whole| !whole.is_public()),
    }
}
