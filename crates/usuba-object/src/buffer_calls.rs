//! Calls over buffers of any number of bytes, which are proved once.
//!
//! ```text
//! xor(out, in, stream, n)      executed: three buffers of n bytes each, which hold secrets
//! xor(to + 64 t, from + 64 t, rsp + 32 + s, 4096 - s)
//!                              a case of it if 4096 - s bytes are in bounds at each address
//! ```
//!
//! A call whose parameters are one number that is not known and addresses is executed once, with as
//! many bytes behind each address as the number says, which is any. Nothing else of the caller is
//! known to it: loops of the callee have one number, and no relation to the caller's numbers.
//!
//! *Soundness:* the callee uses nothing but its parameters, these buffers, its frame, constants, and
//! bytes at known places outside of the buffers, and neither orders nor aligns addresses. Of the
//! content of a buffer nothing is known. So each of its executions from a later state is one of the
//! first call, even if buffers overlap, as long as none has bytes of its frame: it keeps all rules,
//! and the bytes that it may write become unknown. An exit is for the lengths that end in it.

use super::blocks::Turning;
use super::call_summaries::{Names, Summary, relative};
use super::elf::Object;
use super::footprint::{Parameters, Passed, PassedBuffer, Span};
use super::live_registers;
use super::memory::{Access, Buffer, Extent, Memory, Moving, Place, Pointer, Region, Whole};
use super::pointer_tables::Tables;
use super::safety_search::{Part, Search};
use super::safety_state::{Meeting, State};
use super::summarized::Registers;
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::{Form, Range, Unknowns};

/// The most summaries of a function for calls with the same parameters.
const MOST_SUMMARIES: usize = 4;

/// The number of the first call over buffers; other calls that are summarized have lower numbers.
const OUTSIDE: u16 = 1 << 15;

/// Numbers of bytes are below this one.
const MOST: i64 = 1 << 58;

impl Parameters {
    /// The parameters among the live registers, with all addresses, or with those only that are in
    /// buffers whose size is not known, or depend on a number; `None` if there is no such call, or if
    /// this one is no case of it: its callees would have summaries that say too little.
    #[inline(never)]
    pub fn of<M: Turning>(
        state: &State<M>,
        bits: &Bits,
        live: Registers,
        all: bool,
    ) -> Option<Parameters> {
        let is_passed = |at: &Moving| {
            let extents = &state.memory.extents;
            let is_extent = matches!(&at.region, Region::Buffer(n) if extents.contains_key(n));
            all || is_extent || at.offset.value().is_none()
        };
        let (mut lengths, mut places) = (Vec::new(), Vec::new());
        for register in (0..M::REGISTERS).filter(|register| live >> register & 1 == 1) {
            match state.machine.held(register) {
                Some(Whole::Count(form)) if form.value().is_none() => lengths.push(register),
                Some(whole) if place(whole).as_ref().is_some_and(is_passed) => {
                    places.push(register);
                }
                _ => {}
            }
        }
        let &[length] = &lengths[..] else { return None };
        let (mut memory, end) = (state.memory.clone(), state.machine.stack_offset());
        let Some(Whole::Count(bytes)) = state.machine.held(length) else { return None };
        let content = |&register: &u16| {
            let at = state.machine.held(register).and_then(place)?;
            memory.read_span(at, bytes, end, |cell| bits.is_secret(cell)).ok()
        };
        let contents = places.iter().map(content).collect::<Option<Vec<Cell>>>()?;
        let is_public = contents.iter().all(|content| *content == Cell::UNSET);
        (!places.is_empty()).then_some(Parameters { length, places, is_public })
    }

    /// Their registers, as a mask.
    pub fn mask(&self) -> Registers {
        self.places.iter().fold(1 << self.length, |mask, register| mask | 1 << register)
    }
}

/// An address in the frame or in a buffer.
fn place(whole: Whole) -> Option<Moving> {
    let at = match whole {
        Whole::Pointer(Pointer { region, offset }) => {
            Moving { region, offset: Form::number(offset) }
        }
        Whole::Moving(at) => at,
        Whole::Count(_) => return None,
    };
    matches!(at.region, Region::Frame | Region::Buffer(_)).then_some(at)
}

impl<M: Turning> Search<'_, '_, M> {
    /// The states after a call over buffers, of a state at the entry of the callee; `None` if it is
    /// to be executed. Only the buffers whose size is not known are parameters, or all addresses.
    #[inline(never)]
    pub(super) fn call_over_buffers(
        &mut self,
        state: &State<M>,
        (entry, place): (u64, u64),
        part: Part,
    ) -> Option<Vec<Box<State<M>>>> {
        if self.summaries.depth > 0 || state.memory.stream.is_some() {
            return None;
        }
        let live = self.summaries.functions.get(&entry)?.live;
        let [some, all] =
            [false, true].map(|all| Parameters::of(state, &self.world.bits, live, all));
        let is_same = all == some;
        let mut attempts = some.into_iter().chain(all.filter(|_| !is_same));
        attempts.find_map(|parameters| self.over(state, (entry, place), &parameters, part))
    }

    /// The states after a call with these parameters.
    #[inline(never)]
    fn over(
        &mut self,
        state: &State<M>,
        (entry, place): (u64, u64),
        parameters: &Parameters,
        part: Part,
    ) -> Option<Vec<Box<State<M>>>> {
        if self.summaries.refused.get(&entry).is_some_and(|refused| refused.contains(parameters)) {
            return None;
        }
        let call = OUTSIDE + self.summaries.over_buffers;
        let known = self.summaries.functions.get(&entry)?;
        let others = known.live & !parameters.mask();
        let general = state.machine.generalised(&self.world.bits, others, call)?;
        let is_known = |register| match general.held(register) {
            Some(Whole::Count(form)) => form.value().is_some(),
            Some(Whole::Moving(_)) => false,
            _ => true,
        };
        if !(0..M::REGISTERS).all(is_known) {
            return None;
        }
        let own = known.over_buffers.iter().filter(|(own, _)| own == parameters);
        let (mut count, mut is_refused) = (0, false);
        own.for_each(|(_, summary)| {
            count += 1;
            is_refused |= summary.is_none();
        });
        let after = self.repeated(state, (entry, place), (parameters, &general, call));
        if after.is_some() || is_refused || count == MOST_SUMMARIES {
            return after;
        }
        let known = &mut self.summaries.functions.get_mut(&entry)?.over_buffers;
        // Recursion is executed.
        let at = known.len();
        known.push((parameters.clone(), None));
        let first = Box::new(State { machine: general.clone(), ..state.clone() });
        self.summaries.over_buffers += 1;
        let summary = self.over_buffers(first, parameters, (part, call));
        self.summaries.over_buffers -= 1;
        self.summaries.functions.get_mut(&entry)?.over_buffers[at].1 = summary;
        self.repeated(state, (entry, place), (parameters, &general, call))
    }

    /// The states after a call that is a case of a known one.
    #[inline(never)]
    fn repeated(
        &mut self,
        state: &State<M>,
        (entry, place): (u64, u64),
        (parameters, general, call): (&Parameters, &M, u16),
    ) -> Option<Vec<Box<State<M>>>> {
        let start = state.machine.stack_offset();
        let machine = general.moved(&|whole| relative(whole, start, call));
        let known = &self.summaries.functions.get(&entry)?.over_buffers;
        let own = known.iter().filter(|(own, _)| own == parameters);
        let (bits, object) = (&mut self.world.bits, self.world.object);
        let after = own.filter_map(|(_, summary)| summary.as_ref()).find_map(|summary| {
            let names = summary.names(state, &machine, bits)?;
            summary.applied_to_buffers(state, (object, place), (bits, names))
        })?;
        self.evidence.repeated += 1;
        Some(after)
    }

    /// The summary of a call from a generalised state over buffers of any number of bytes; `None` if
    /// there is none. Not inlined, since the search is recursive.
    #[inline(never)]
    fn over_buffers(
        &mut self,
        mut state: Box<State<M>>,
        parameters: &Parameters,
        (part, call): (Part, u16),
    ) -> Option<Summary<M>> {
        let (start, general) = (state.machine.stack_offset(), state.machine.clone());
        let content = if parameters.is_public { Cell::UNSET } else { Cell::OPAQUE };
        let count = parameters.places.len();
        let first = state.memory.isolate((count, content), start, &self.world.bits);
        let length = state.memory.unknowns.unknown(Range { low: 0, high: MOST - 1 })?;
        for (&register, number) in parameters.places.iter().zip(first..) {
            state.memory.extents.get_mut(&number)?.bytes = length;
            state.machine.hold(register, Whole::start(number as usize));
        }
        state.machine.hold(parameters.length, Whole::Count(length));
        let meeting = Meeting { calls: state.calls.len(), place: None };
        state.memory.begin_call(start);
        state.machine.begin_call();
        state.memory.footprint.as_mut()?.passed = Some(Passed { buffers: first, frame: start });
        let entry = state.clone();
        let nodes = self.world.bits.graph.nodes.len();
        let before = (self.told.len(), self.evidence.paths);
        self.part_paths(&mut state, &[]);
        let ends = self.explore(state, &mut Vec::new(), Part { meeting, ..part });
        self.hoisted = None;
        let after = (self.told.len(), self.evidence.paths);
        self.told.truncate(before.0);
        let ends = self.join(ends.ok().filter(|_| before == after)?, meeting);
        if ends.iter().any(|end| end.memory.computes_field(&self.world.bits)) {
            return None;
        }
        let mut summary = Summary::new(&entry, nodes, &ends, call)?;
        summary.machine = general.moved(&|whole| relative(whole, start, call));
        let spans = || {
            let footprints = ends.iter().filter_map(|end| end.memory.footprint.as_ref());
            footprints.flat_map(|footprint| footprint.spans.borrow().iter().collect::<Vec<Span>>())
        };
        let passed = |(&register, number): (&u16, u32)| {
            let own = spans().filter(|span| span.buffer == number);
            PassedBuffer { register, written: own.filter_map(|span| span.written).max() }
        };
        let is_own = |buffer| buffer >= first;
        let is_alone = spans().all(|span| is_own(span.buffer));
        // Buffers may overlap.
        let is_kept = !parameters.is_public || spans().all(|span| span.written != Some(true));
        summary.buffers = parameters.places.iter().zip(first..).map(passed).collect();
        summary.length = Some(parameters.length);
        for (exit, end) in summary.exits.iter_mut().zip(&ends) {
            let bytes = end.memory.extents.get(&first)?.bytes;
            let (low, high) = end.memory.unknowns.ranges.bounds(bytes);
            let range = i64::try_from(low).ok().zip(i64::try_from(high).ok());
            exit.lengths = range.map(|(low, high)| Range { low, high });
        }
        (is_alone && is_kept).then_some(summary)
    }
}

impl PassedBuffer {
    /// Reads and writes the buffer, as the callee does.
    ///
    /// Returns `None` if some of its bytes may be out of bounds, or in the frame of the callee.
    pub fn access<M: Turning>(
        &self,
        (machine, length): (&M, u16),
        memory: &mut Memory,
        (others, bits): (&[Region], &Bits),
    ) -> Option<()> {
        let Some(Whole::Count(length)) = machine.held(length) else { return None };
        let at = place(machine.held(self.register)?)?;
        let ranges = &memory.unknowns.ranges;
        let (low, high) = ranges.bounds(length);
        // The frame of the callee ends with its return address.
        let end = machine.stack_offset() + M::CONVENTION.above;
        let is_below = at.region == Region::Frame && ranges.bounds(at.offset).0 < end.into();
        if low < 0 || high >= MOST.into() || is_below || others.contains(&at.region) {
            return None;
        }
        let is_secret = |cell| bits.is_secret(cell);
        memory.read_span(at, length, end, is_secret).ok()?;
        let Some(secret) = self.written else { return Some(()) };
        let content = if secret { Cell::OPAQUE } else { Cell::UNSET };
        memory.write_span(at, length, end, (content, is_secret)).ok()
    }
}

impl Memory {
    /// Forgets all numbers that are not known, the values of bits that are no constants, and the
    /// content of the frame below `start`, and adds buffers of no bytes so far; the number of the
    /// first one. Other buffers whose size is not known cannot be used any more.
    fn isolate(&mut self, (count, content): (usize, Cell), start: i64, bits: &Bits) -> u32 {
        self.forget_numbers();
        self.map(|cell| match cell {
            cell if bits.value(cell).is_some() => cell,
            cell if bits.is_secret(cell) => Cell::OPAQUE,
            _ => Cell::UNSET,
        });
        let below = self.in_frame(start);
        self.frame[..below].fill(content);
        self.unknowns = Unknowns::default();
        self.tables = Tables::default();
        self.scopes.clear();
        self.extents.values_mut().for_each(|extent| extent.bytes = Form::default());
        let first = self.buffers.len() as u32;
        for number in first..first + count as u32 {
            let (name, access, align) = (format!("parameter {}", number - first), Access::Both, 1);
            self.buffers.push(Buffer { name, access, align, cells: Vec::new() });
            self.extents.insert(number, Extent { bytes: Form::default(), content, is_text: false });
        }
        first
    }
}

impl<M: Turning> Summary<M> {
    /// The regions in which the callee uses bytes at known places, but for its frame.
    fn others(&self) -> Vec<Region> {
        let written = self.exits.iter().flat_map(|exit| &exit.written.cells);
        let used = self.read.cells.iter().chain(written);
        let is_other = |&((region, offset), cells): &(Place, &Vec<Cell>)| {
            region != Region::Frame || offset + cells.len() as i64 / 8 > M::CONVENTION.above
        };
        let others = used.map(|(at, cells)| (*at, cells)).filter(is_other);
        others.map(|((region, _), _)| region).collect()
    }

    /// The states after a call over buffers, of a state at the entry of the callee; `None` if the
    /// state is no case of this call.
    pub fn applied_to_buffers(
        &self,
        state: &State<M>,
        (object, place): (&Object, u64),
        (bits, names): (&mut Bits, Names),
    ) -> Option<Vec<Box<State<M>>>> {
        let mut state = Box::new(state.clone());
        let (length, others) = (self.length?, self.others());
        // The caller uses a number that the callee has computed.
        let results = live_registers::results::<M>(object, place);
        if self.exits.iter().any(|exit| exit.unknown & results != 0) {
            return None;
        }
        for buffer in &self.buffers {
            let parameters = (&state.machine, length);
            buffer.access(parameters, &mut state.memory, (&others, bits))?;
        }
        let Some(Whole::Count(length)) = state.machine.held(length) else { return None };
        let after = self.applied(state, place, (bits, names)).into_iter().zip(&self.exits);
        Some(after.filter_map(|(state, exit)| state.with_length(length, exit.lengths)).collect())
    }
}

impl<M: Turning> State<M> {
    /// The state in which a length is one of these; `None` if there is none.
    fn with_length(self: Box<Self>, length: Form, lengths: Option<Range>) -> Option<Box<Self>> {
        let Some(Range { low, high }) = lengths else { return Some(self) };
        let mut ranges = self.memory.unknowns.ranges.clone();
        let facts = [length.minus(Form::number(low)), Form::number(high).minus(length)];
        for fact in facts.into_iter().flatten() {
            if !ranges.never_negative(fact) {
                ranges = ranges.assumed(fact)?;
            }
        }
        Some(self.with_ranges(ranges))
    }
}
