//! Loads and stores: of buffers, of the frame, of constants of the object, and of the choice of a
//! backend.
//!
//! `stack` is the offset of the stack pointer everywhere.

use super::address::Address;
use super::elf::{Content, Object};
use super::memory::{Loaded, Moving, Pointer, Region, Whole};
use super::word::Word;
use super::{Fault, Rule, World, unsupported};
use usuba_bits::cell::Cell;
use usuba_ranges::Form;

/// An effect, or the rule that an access breaks.
type Done = Result<(), Fault>;

impl World<'_> {
    /// The contents of memory at an address.
    pub(crate) fn load(&mut self, at: Address, bytes: usize, stack: i64) -> Result<Loaded, Fault> {
        let memory = &mut self.memory;
        let found = match at.place() {
            Some(at) => match memory.element(at, bytes)? {
                None => memory.byte_of_text(at, bytes)?,
                element => element,
            },
            None => None,
        };
        if let Some(whole) = found {
            return Ok(match whole {
                Whole::Pointer(pointer) => Loaded::Pointer(pointer),
                Whole::Moving(moving) => Loaded::Moving(moving),
                Whole::Count(form) => Loaded::Count(form),
            });
        }
        match at {
            Address::Pointer(at) if matches!(at.region, Region::Section(_)) => {
                self.load_constant(at, bytes)
            }
            Address::Pointer(at) => self.memory.load(at, bytes, stack),
            Address::Moving(Moving { region: Region::Section(_), offset })
                if self.forks.follows =>
            {
                self.any_constant(at, offset, bytes)
            }
            Address::Moving(Moving { region: Region::Section(_), .. }) => {
                Err(unsupported("an index into constants depends on the number of blocks"))
            }
            Address::Moving(at) => {
                let World { bits, memory, .. } = self;
                let cells = memory.load_moving(at, bytes, stack, |cell| bits.is_secret(cell));
                cells.map(Loaded::Cells)
            }
            Address::Count(_) | Address::Number(_) => Err(self.no_address()),
        }
    }

    /// Constants of the object.
    fn load_constant(&mut self, at: Pointer, bytes: usize) -> Result<Loaded, Fault> {
        let outside = |what: String| Fault::new(Rule::OutOfBounds, what);
        let place = Object::place(at).ok_or_else(|| outside("a place far from its section".into()));
        let place = place?;
        if let Some(cells) = self.load_choice(place, bytes)? {
            return Ok(Loaded::Cells(cells));
        }
        match self.object.constant(place, bytes).map_err(outside)? {
            Content::Address(target) => Ok(Loaded::Pointer(Object::pointer(target))),
            Content::Bytes(found) => {
                let bits = &self.bits;
                let bit = |bit: usize| bits.constant(found[bit / 8] >> (bit % 8) & 1 == 1);
                Ok(Loaded::Cells((0..8 * bytes).map(bit).collect()))
            }
        }
    }

    /// The choice of a backend at a place, or features of the processor; `None` at other places.
    fn load_choice(&mut self, place: u64, bytes: usize) -> Result<Option<Vec<Cell>>, Fault> {
        let Some(dispatch) = &self.object.dispatch else { return Ok(None) };
        loop {
            let known = self.memory.choice;
            let question = match dispatch.read(place, bytes, &known) {
                None => return Ok(None),
                Some(Err(question)) => question,
                Some(Ok(found)) => {
                    let bits = &self.bits;
                    let cell =
                        |bit: Option<bool>| bit.map_or(Cell::UNSET, |bit| bits.constant(bit));
                    return Ok(Some(found.into_iter().map(cell).collect()));
                }
            };
            let answer = self.forked(false, None)?;
            self.memory.choice = dispatch.decided(&known, question, answer);
        }
    }

    /// Writes the choice of a backend; `None` at other places.
    fn store_choice(&mut self, at: Pointer, cells: &[Cell]) -> Option<Done> {
        let dispatch = self.object.dispatch.as_ref()?;
        Object::place(at).filter(|&place| dispatch.is_variable(place))?;
        let bits: Option<Vec<bool>> = cells.iter().map(|&bit| self.bits.value(bit)).collect();
        let bits = bits.filter(|bits| bits.len() == u32::BITS as usize);
        let number = |bits: Vec<bool>| {
            bits.into_iter().rev().fold(0, |number, bit| number << 1 | u32::from(bit))
        };
        let value = bits.map(number);
        let written = value.and_then(|value| dispatch.written(&self.memory.choice, value));
        Some(match written {
            Some(known) => {
                self.memory.choice = known;
                Ok(())
            }
            None => {
                let what = match value {
                    Some(value) => format!("it chooses backend {value} without its features"),
                    None => "it is not known which backend it chooses".to_string(),
                };
                Err(Fault::new(Rule::Unsupported, what))
            }
        })
    }

    /// A constant at a public index that is not known.
    fn any_constant(&self, at: Address, offset: Form, bytes: usize) -> Result<Loaded, Fault> {
        let (low, high) = self.memory.unknowns.ranges.bounds(offset);
        let low = at.place().map(|at| Pointer { region: at.region, offset: low as i64 });
        let place = low.and_then(Object::place);
        let span = usize::try_from(high - self.memory.unknowns.ranges.bounds(offset).0);
        let (Some(place), Ok(span)) = (place, span) else { return Err(self.no_address()) };
        match self.object.constant(place, span.saturating_add(bytes)) {
            Ok(_) => Ok(Loaded::Cells(vec![Cell::UNSET; 8 * bytes])),
            Err(what) => Err(Fault::new(Rule::OutOfBounds, what)),
        }
    }

    /// The contents of memory as bits.
    pub(crate) fn load_cells(
        &mut self,
        at: Address,
        bytes: usize,
        stack: i64,
    ) -> Result<Vec<Cell>, Fault> {
        match self.load(at, bytes, stack)? {
            Loaded::Cells(cells) => Ok(cells),
            Loaded::Count(form) if let Some(value) = form.value() => {
                Ok(self.bits.number(value as u64, 8 * bytes))
            }
            Loaded::Count(_) if self.forks.follows => Ok(vec![Cell::UNSET; 8 * bytes]),
            _ => Err(unsupported("an address is read as data")),
        }
    }

    /// The contents of memory at an address, as a word.
    pub(crate) fn load_word(
        &mut self,
        at: Address,
        bytes: usize,
        stack: i64,
    ) -> Result<Word, Fault> {
        Ok(match self.load(at, bytes, stack)? {
            Loaded::Cells(cells) => Word::from_cells(&self.bits, &cells),
            Loaded::Pointer(pointer) => Word::Pointer(pointer),
            Loaded::Moving(moving) => Word::Moving(moving),
            Loaded::Count(form) => Word::from(Whole::Count(form)),
        })
    }

    /// Writes bits to memory.
    pub(crate) fn store(&mut self, at: Address, cells: &[Cell], stack: i64) -> Done {
        match at {
            Address::Pointer(at) if let Some(done) = self.store_choice(at, cells) => done,
            Address::Pointer(at) => self.memory.store(at, cells, stack),
            Address::Moving(at) => {
                let World { bits, memory, .. } = self;
                memory.store_moving(at, cells, stack, |cell| bits.is_secret(cell))
            }
            Address::Count(_) | Address::Number(_) => Err(self.no_address()),
        }
    }

    fn no_address(&self) -> Fault {
        let what = match self.object.is_fixed() {
            true => "a number is used as an address; -pie makes files without such numbers",
            false => "a number is used as an address",
        };
        Fault::new(Rule::OutOfBounds, what)
    }

    /// Writes a word to memory, where an address stays whole.
    pub(crate) fn store_word(
        &mut self,
        address: Address,
        word: &Word,
        bytes: usize,
        stack: i64,
    ) -> Done {
        let is_whole = bytes == self.memory.convention.address;
        if let (Address::Pointer(at), true, Some(whole)) = (address, is_whole, word.moved())
            && (at.region == Region::Frame || !whole.is_public())
        {
            return self.memory.store_whole(at, whole, stack);
        }
        // Numbers in the frame may be counters of loops.
        if let (Address::Pointer(at), true, Word::Number(value)) = (address, is_whole, word)
            && at.region == Region::Frame
            && self.forks.counts
        {
            let whole = Whole::Count(Form::number(*value as i64));
            return self.memory.store_whole(at, whole, stack);
        }
        let cells = self.data(word, "a part of an address is stored")?;
        self.store(address, &cells[..8 * bytes], stack)
    }

    /// Whether an address is a multiple of `align`, wherever its region is.
    pub(crate) fn is_aligned(&mut self, at: Address, align: u64) -> bool {
        match at {
            Address::Pointer(at) if matches!(at.region, Region::Section(_)) => {
                self.object.is_aligned(at, align)
            }
            Address::Pointer(at) => self.memory.is_aligned(at, align),
            Address::Moving(at) => {
                self.memory.note_open();
                let is_multiple = |term: &i64| (*term as u64).is_multiple_of(align);
                let Moving { region, offset } = at;
                let start = Pointer { region, offset: offset.constant };
                offset.terms.iter().all(is_multiple)
                    && self.is_aligned(Address::Pointer(start), align)
            }
            Address::Count(_) | Address::Number(_) => false,
        }
    }
}
