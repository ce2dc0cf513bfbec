//! The memory model: disjoint regions, which are the buffers of the caller and the frame.
//!
//! ```text
//! vmovdqa [rsi + 32], ymm0      32 bytes at offset 32 of the region that rsi points to
//! mov rbx, [rsp + 8]            the frame, at an offset from where the stack pointer was at entry
//! ```
//!
//! An address is a *pointer*, a region and an offset, and never a number, since the contract does
//! not fix the addresses of buffers: an access outside of its region is always found.
//!
//! Buffers of as many blocks as the caller says are *streams*: `stream`. An offset into one, or into
//! the frame, may depend on that number.

use std::collections::BTreeMap;

use super::convention::Convention;
use super::dispatch;
use super::footprint::Footprint;
use super::frame_phases::KNOWN_PHASES;
pub use super::memory_values::{Moving, Pointer, Region, Whole};
use super::pointer_tables::Tables;
use super::scope::Scope;
use super::stream::Stream;
use super::{Fault, Rule};
use usuba_bits::cell::Cell;
use usuba_ranges::{Form, Unknowns};

/// The permitted accesses to a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    /// Its content at entry is unknown.
    Write,
    /// In place: results replace the content.
    Both,
}

/// A buffer of the caller.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub name: String,
    pub access: Access,
    /// Its address is a multiple of this many bytes.
    pub align: u64,
    /// Its bits, the least significant bit of the first byte first.
    pub cells: Vec<Cell>,
}

/// A public number in a buffer of a fixed size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    pub name: String,
    pub offset: usize,
    pub bytes: usize,
    /// A bound, which the number is below.
    pub below: Option<i64>,
}

/// The size and the content of a buffer whose size is not known.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub bytes: Form,
    /// Each of its bits.
    pub content: Cell,
    /// Whether it is a string: the last byte is zero, and no other.
    pub is_text: bool,
}

/// The most bytes of the frame below the stack pointer at entry.
const FRAME: i64 = 1 << 20;

/// A region, and an offset in it.
pub(super) type Place = (Region, i64);

#[derive(Clone)]
pub struct Memory {
    pub(super) convention: Convention,
    pub(super) buffers: Vec<Buffer>,
    /// Buffers whose size is not known, by their numbers; their cells are empty.
    pub extents: BTreeMap<u32, Extent>,
    /// Blocks, for functions over any number of them.
    pub stream: Option<Stream>,
    pub unknowns: Unknowns,
    /// The variables where open paths have parted, the first one first.
    pub(super) scopes: Vec<Scope>,
    /// Public numbers in buffers, which the caller may use after the return.
    pub(super) fields: Vec<(u32, Field)>,
    /// The lowest byte first.
    pub(super) frame: Vec<Cell>,
    /// Bytes of it that lie below the stack pointer at entry; it grows as it is used.
    pub(super) below: i64,
    /// Bytes of arguments above the return address.
    arguments: i64,
    /// Pointers and counts in the frame, and counts in buffers, by the first byte of each; they have
    /// as many bytes as an address.
    pub(super) wholes: BTreeMap<Place, Whole>,
    /// The assumed entry stack pointer modulo `PHASES`.
    pub(super) phase: u64,
    /// The largest alignment of the frame that was tested, from `KNOWN_PHASES` on.
    pub asked: u64,
    /// The lowest offset in the frame that was written.
    pub(super) lowest: i64,
    /// All bytes of the frame below this offset are lost: each is public or secret, and not known.
    lost: i64,
    /// Arrays of pointers.
    pub tables: Tables,
    /// Assumed orders of two regions: whether the first one, by the order of their names, is lower.
    pub(super) orders: BTreeMap<[Region; 2], bool>,
    /// Calls for random bytes, where these have names.
    pub(super) drawn: u64,
    /// Public words with numbers.
    pub(super) publics: u16,
    /// The choice of a backend, which is a variable of the object.
    pub choice: dispatch::Known,
    /// The bytes that the last open call has used, if it is summarized.
    pub(super) footprint: Option<Footprint<Region>>,
}

/// The result of a load.
pub enum Loaded {
    Cells(Vec<Cell>),
    Pointer(Pointer),
    Moving(Moving),
    /// A count, of which no more than the lowest bytes have been asked for.
    Count(Form),
}

impl Memory {
    /// Whether two states of one call on buffers of known sizes are the same.
    pub(super) fn is_same(&self, other: &Memory) -> bool {
        let of = |memory: &Memory| {
            // Buffers keep their names, and the call its convention, arguments and position.
            let Memory { convention: _, arguments: _, phase: _, .. } = memory;
            // The results of a call have the largest of these.
            let Memory { asked: _, lowest: _, lost: _, .. } = memory;
            let Memory { extents, stream, scopes, tables, footprint, .. } = memory;
            let has_known_sizes = extents.is_empty()
                && stream.is_none()
                && scopes.is_empty()
                && tables.columns.is_empty()
                && tables.open.is_none()
                && footprint.is_none();
            let Memory { frame, below, wholes, unknowns, orders, .. } = memory;
            let Memory { drawn, publics, choice, fields, .. } = memory;
            let rest = (*drawn, *publics, *choice, fields.clone());
            let frame = (frame.clone(), *below, wholes.clone());
            has_known_sizes.then_some((frame, unknowns.clone(), orders.clone(), rest))
        };
        let cells = |memory: &Memory| -> Vec<Vec<Cell>> {
            memory.buffers.iter().map(|buffer| buffer.cells.clone()).collect()
        };
        let one = of(self);
        one.is_some() && one == of(other) && cells(self) == cells(other)
    }

    /// `arguments` are the stack arguments above the return address; of `None` nothing is known.
    /// The stack pointer at entry is `phase` modulo `PHASES`.
    pub fn new(
        convention: Convention,
        buffers: Vec<Buffer>,
        arguments: &[Option<Whole>],
        phase: u64,
    ) -> Memory {
        let each = convention.address as i64;
        let (below, above) = (1 << 9, convention.above + each * arguments.len() as i64);
        let mut memory = Memory {
            convention,
            buffers,
            extents: BTreeMap::new(),
            frame: vec![Cell::UNSET; 8 * (below + above) as usize],
            below,
            arguments: each * arguments.len() as i64,
            wholes: BTreeMap::new(),
            stream: None,
            unknowns: Unknowns::default(),
            scopes: Vec::new(),
            fields: Vec::new(),
            phase,
            asked: KNOWN_PHASES,
            lowest: 0,
            lost: -below,
            tables: Tables::default(),
            orders: BTreeMap::new(),
            drawn: 0,
            publics: 0,
            choice: dispatch::Known::default(),
            footprint: None,
        };
        let caller = Pointer { region: Region::Caller, offset: 0 };
        let returns = (convention.above > 0).then_some(Some(Whole::Pointer(caller)));
        let given = returns.iter().chain(arguments).enumerate();
        for (at, whole) in given.filter_map(|(at, whole)| Some((at, (*whole)?))) {
            memory.keep((Region::Frame, each * at as i64), whole);
        }
        memory
    }

    /// The content at an address. `stack` is the offset of the stack pointer.
    pub fn load(&mut self, at: Pointer, bytes: usize, stack: i64) -> Result<Loaded, Fault> {
        let cells = match at.region {
            Region::Frame => {
                self.check_frame(at.offset, bytes, stack)?;
                self.note_read((at.region, at.offset), bytes);
                let first = self.in_frame(at.offset);
                self.frame[first..first + 8 * bytes].to_vec()
            }
            Region::Buffer(number) => {
                let first = self.in_buffer(number, at.offset, bytes)?;
                match self.extents.get(&number).map(|extent| extent.content) {
                    Some(content) => {
                        self.note_span(number, Form::number(at.offset), bytes as i64, None);
                        vec![content; 8 * bytes]
                    }
                    None => {
                        self.note_read((at.region, at.offset), bytes);
                        self.buffers[number as usize].cells[first..first + 8 * bytes].to_vec()
                    }
                }
            }
            _ => return Err(self.nowhere(at)),
        };
        let is_address = bytes == self.convention.address;
        Ok(match self.whole(at) {
            Some(Whole::Pointer(pointer)) if is_address => Loaded::Pointer(pointer),
            Some(Whole::Moving(moving)) if is_address => Loaded::Moving(moving),
            Some(Whole::Count(form)) if bytes <= self.convention.address => Loaded::Count(form),
            _ => Loaded::Cells(cells),
        })
    }

    /// The whole value at an address.
    pub fn whole(&self, at: Pointer) -> Option<Whole> {
        let whole = self.wholes.get(&(at.region, at.offset)).copied();
        self.note_value((at.region, at.offset), whole);
        whole
    }

    /// Writes bits, eight to a byte.
    pub fn store(&mut self, at: Pointer, cells: &[Cell], stack: i64) -> Result<(), Fault> {
        let bytes = cells.len() / 8;
        let target = match at.region {
            Region::Frame => {
                self.check_frame(at.offset, bytes, stack)?;
                self.note_written((at.region, at.offset), bytes);
                self.forget((at.region, at.offset), bytes);
                let first = self.in_frame(at.offset);
                &mut self.frame[first..first + cells.len()]
            }
            Region::Buffer(number) => {
                let first = self.in_buffer(number, at.offset, bytes)?;
                self.check_written(number)?;
                if self.extents.contains_key(&number) {
                    let at = Moving { region: at.region, offset: Form::number(at.offset) };
                    let is_secret = |cell| cell == Cell::OPAQUE;
                    return self.write_span(
                        at,
                        Form::number(bytes as i64),
                        stack,
                        (Cell::OPAQUE, is_secret),
                    );
                }
                self.note_written((at.region, at.offset), bytes);
                self.forget((at.region, at.offset), bytes);
                &mut self.buffers[number as usize].cells[first..first + cells.len()]
            }
            _ => return Err(self.nowhere(at)),
        };
        target.copy_from_slice(cells);
        Ok(())
    }

    /// Checks that a buffer may be written.
    ///
    /// # Errors
    /// It is only read.
    pub(super) fn check_written(&self, number: u32) -> Result<(), Fault> {
        let Buffer { name, access, .. } = &self.buffers[number as usize];
        match access {
            Access::Read => {
                let what = format!("it writes to `{name}`, which is only read");
                Err(Fault::new(Rule::ReadOnly, what))
            }
            Access::Write | Access::Both => Ok(()),
        }
    }

    /// Writes a pointer; only the frame may hold any.
    pub fn store_pointer(&mut self, at: Pointer, what: Pointer, stack: i64) -> Result<(), Fault> {
        self.store_whole(at, Whole::Pointer(what), stack)
    }

    /// Writes a value that is neither a number nor bits; only the frame may hold addresses.
    pub fn store_whole(&mut self, at: Pointer, what: Whole, stack: i64) -> Result<(), Fault> {
        if at.region != Region::Frame && !matches!(what, Whole::Count(_)) {
            let what = "it writes an address to a buffer".to_string();
            return Err(Fault::new(Rule::Unsupported, what));
        }
        // An address is no secret, and no number.
        self.store(at, &vec![Cell::UNSET; 8 * self.convention.address], stack)?;
        let is_extent = |number| self.extents.contains_key(number);
        if !matches!(&at.region, Region::Buffer(number) if is_extent(number)) {
            self.wholes.insert((at.region, at.offset), what);
        }
        Ok(())
    }

    /// Puts a value into the frame or into a buffer of a fixed size.
    pub(super) fn keep(&mut self, at: Place, whole: Whole) {
        self.word_mut(at).fill(Cell::UNSET);
        self.wholes.insert(at, whole);
    }

    /// The bits of as many bytes of the frame or of a buffer of a fixed size as an address has.
    pub(super) fn word_mut(&mut self, at: Place) -> &mut [Cell] {
        self.cells_mut(at, self.convention.address)
    }

    /// The bits of bytes of the frame or of a buffer of a fixed size.
    pub(super) fn cells_mut(&mut self, (region, offset): Place, bytes: usize) -> &mut [Cell] {
        match region {
            Region::Buffer(number) => {
                &mut self.buffers[number as usize].cells[8 * offset as usize..][..8 * bytes]
            }
            _ => {
                let first = self.in_frame(offset);
                &mut self.frame[first..first + 8 * bytes]
            }
        }
    }

    /// Values of which a part is overwritten are none any more.
    pub(super) fn forget(&mut self, (region, offset): Place, bytes: usize) {
        if region == Region::Frame {
            self.lowest = self.lowest.min(offset);
        }
        let before = self.convention.address as i64 - 1;
        let range = (region, offset - before)..(region, offset + bytes as i64);
        let gone: Vec<Place> = self.wholes.range(range).map(|(&at, _)| at).collect();
        for at in gone {
            self.wholes.remove(&at);
        }
    }

    /// Where a byte of the frame is, which has been checked: bytes from there on may be written.
    pub(super) fn in_frame(&mut self, offset: i64) -> usize {
        self.lost = self.lost.min(offset);
        if offset < -self.below {
            let more = (-offset).max(2 * self.below) - self.below;
            let new = std::iter::repeat_n(Cell::UNSET, 8 * more as usize);
            self.frame.splice(0..0, new);
            self.below += more;
        }
        8 * (self.below + offset) as usize
    }

    /// Checks that bytes of the frame from `offset` on may be used: they are in it or in the red zone
    /// below `stack`.
    ///
    /// # Errors
    /// They are not, or blocks that are copied there are not filled up yet.
    pub fn check_frame(&self, offset: i64, bytes: usize, stack: i64) -> Result<(), Fault> {
        let end = offset.checked_add(bytes as i64);
        self.note_reach(offset);
        self.note_reach(end.unwrap_or(i64::MAX));
        let unfinished = |stream: &Stream| {
            stream.is_unfinished(&self.unknowns.ranges, offset, offset + bytes as i64)
        };
        if self.stream.as_ref().is_some_and(unfinished) {
            let what = "it uses blocks that are copied and not filled up yet";
            return Err(Fault::new(Rule::Unsupported, what));
        }
        if offset < -FRAME {
            let what = format!("its frame is larger than {FRAME} bytes");
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        let lowest = stack - self.convention.red_zone;
        if offset < lowest {
            let what = format!("it uses {} bytes below the frame", lowest - offset);
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        if end.is_none_or(|end| end > self.convention.above + self.arguments) {
            let what = format!("it uses the caller's frame, {offset} bytes from the entry");
            return Err(Fault::new(Rule::OutOfBounds, what));
        }
        Ok(())
    }

    fn in_buffer(&self, number: u32, offset: i64, bytes: usize) -> Result<usize, Fault> {
        if self.extents.contains_key(&number) {
            let (offset, bytes) = (Form::number(offset), Form::number(bytes as i64));
            return self.check_inside(number, offset, bytes).map(|()| 0);
        }
        let buffer = &self.buffers[number as usize];
        let size = buffer.cells.len() / 8;
        let inside = usize::try_from(offset).ok().filter(|&at| at <= size && bytes <= size - at);
        inside.map(|at| 8 * at).ok_or_else(|| {
            let name = &buffer.name;
            let what = format!("{bytes} bytes at {offset} are not inside of `{name}`[{size}]");
            Fault::new(Rule::OutOfBounds, what)
        })
    }

    fn nowhere(&self, at: Pointer) -> Fault {
        let what = match at.region {
            Region::Caller => "it uses the return address as data's",
            Region::Section(_) => "it writes to the object itself",
            _ => "it uses what a register happened to hold at entry as an address",
        };
        Fault::new(Rule::OutOfBounds, what.to_string())
    }

    /// The content at an address that depends on a number of blocks.
    pub fn load_moving(
        &mut self,
        at: Moving,
        bytes: usize,
        stack: i64,
        is_secret: impl Fn(Cell) -> bool,
    ) -> Result<Vec<Cell>, Fault> {
        match (at.region, &mut self.stream) {
            (Region::Stream(side), Some(stream)) => {
                stream.load(&self.unknowns.ranges, (side, at.offset), bytes)
            }
            (_, Some(_)) => Err(self.split_offset(at)),
            _ => {
                let cell = self.read_span(at, Form::number(bytes as i64), stack, is_secret)?;
                Ok(vec![cell; 8 * bytes])
            }
        }
    }

    /// Writes bits to such an address, eight to a byte.
    pub fn store_moving(
        &mut self,
        at: Moving,
        cells: &[Cell],
        stack: i64,
        is_secret: impl Fn(Cell) -> bool,
    ) -> Result<(), Fault> {
        match (at.region, &mut self.stream) {
            (Region::Stream(side), Some(stream)) => {
                stream.store(&self.unknowns.ranges, (side, at.offset), cells)
            }
            (_, Some(_)) => Err(self.split_offset(at)),
            _ => {
                let secret = cells.iter().any(|&cell| is_secret(cell));
                let content = if secret { Cell::OPAQUE } else { Cell::UNSET };
                let length = Form::number(cells.len() as i64 / 8);
                self.write_span(at, length, stack, (content, is_secret))
            }
        }
    }

    /// Asks for cases in which the offset is a number.
    fn split_offset(&mut self, at: Moving) -> Fault {
        self.unknowns.ask(at.offset);
        let what = "where it is in the frame depends on the number of blocks";
        Fault::new(Rule::Unsupported, what)
    }

    /// Replaces values with one possibility in the ranges by numbers.
    pub fn refine(&mut self) {
        let ranges = self.unknowns.ranges.clone();
        if let Some(stream) = &mut self.stream {
            stream.refine(&ranges);
        }
        self.map_forms(&|form| ranges.reduced(form).unwrap_or(form));
    }

    /// Replaces each form, except for blocks.
    pub fn map_forms(&mut self, of: &dyn Fn(Form) -> Form) {
        self.extents.values_mut().for_each(|extent| extent.bytes = of(extent.bytes));
        self.tables.map_forms(of);
        self.scopes.iter_mut().for_each(|scope| scope.map_forms(of));
        let ranges = &mut self.unknowns.ranges;
        *ranges = ranges.with_facts(ranges.facts().map(of));
        let mut numbers = Vec::new();
        for (&at, whole) in &mut self.wholes {
            match whole {
                Whole::Moving(moving) => {
                    moving.offset = of(moving.offset);
                    if let (Some(offset), false) =
                        (moving.offset.value(), matches!(moving.region, Region::Stream(_)))
                    {
                        *whole = Whole::Pointer(Pointer { region: moving.region, offset });
                    }
                }
                Whole::Count(form) => {
                    *form = of(*form);
                    numbers.extend(form.value().map(|value| (at, value)));
                }
                Whole::Pointer(_) => {}
            }
        }
        // Without blocks a number stays whole.
        let Some(constants) = self.stream.as_ref().map(|stream| stream.blocks.constants) else {
            return;
        };
        for (at, value) in numbers {
            self.wholes.remove(&at);
            for (bit, cell) in self.word_mut(at).iter_mut().enumerate() {
                *cell = constants[(value >> bit & 1) as usize];
            }
        }
    }

    /// The address at an offset in the frame.
    pub fn address_at(&self, offset: i64) -> Option<Pointer> {
        match self.wholes.get(&(Region::Frame, offset)) {
            Some(Whole::Pointer(at)) => Some(*at),
            _ => None,
        }
    }

    /// Replaces each bit of the frame and of buffers.
    pub fn map(&mut self, of: impl Fn(Cell) -> Cell) {
        let buffers = self.buffers.iter_mut().flat_map(|buffer| &mut buffer.cells);
        let extents = self.extents.values_mut().map(|extent| &mut extent.content);
        self.frame.iter_mut().chain(buffers).chain(extents).for_each(|cell| *cell = of(*cell));
    }

    /// Whether the first region is assumed to lie below the second one.
    pub fn is_below(&self, [a, b]: [Region; 2]) -> Option<bool> {
        self.note_open();
        let order = self.orders.get(&[a.min(b), a.max(b)]);
        order.map(|&is_below| is_below == (a < b))
    }

    /// Assumes an order of two regions.
    pub fn put_below(&mut self, [a, b]: [Region; 2], is_below: bool) {
        self.orders.insert([a.min(b), a.max(b)], is_below == (a < b));
    }

    /// Whether offsets are in the frame, or behind its last byte.
    pub fn reaches(&self, low: i128, high: i128) -> bool {
        low >= (-FRAME).into() && high <= (self.convention.above + self.arguments).into()
    }

    /// The bits of a buffer.
    pub fn buffer(&self, number: usize) -> &[Cell] {
        &self.buffers[number].cells
    }

    /// Bytes below the stack pointer at entry that were written.
    pub fn frame_bytes(&self) -> u64 {
        -self.lowest as u64
    }

    /// The bits of the frame that belong to the function, the lowest first: up to its last argument
    /// on the stack, because it may write to its arguments. The function alone can clear them.
    pub fn own_frame(&self) -> &[Cell] {
        &self.frame[8 * (self.below + self.lowest) as usize..]
    }

    /// Loses the bytes below the red zone of the stack pointer, where a signal handler may run.
    pub fn lose_below_red_zone(&mut self, stack: i64, is_secret: impl Fn(Cell) -> bool) {
        self.lose_below(stack - self.convention.red_zone, is_secret);
    }

    /// Loses the bytes below an offset, which a callee may have used. A secret may also stay there.
    pub fn lose_below(&mut self, end: i64, is_secret: impl Fn(Cell) -> bool) {
        self.note_lost(end, is_secret(Cell::UNSET));
        if end <= self.lowest {
            return;
        }
        let all = is_secret(Cell::UNSET);
        let from = if all { self.lowest } else { self.lowest.max(self.lost) };
        if end <= from {
            return;
        }
        self.forget((Region::Frame, from), (end - from) as usize);
        let first = self.in_frame(from);
        for cell in &mut self.frame[first..first + 8 * (end - from) as usize] {
            *cell = if is_secret(*cell) { Cell::OPAQUE } else { Cell::UNSET };
        }
        self.lost = end;
    }
}
