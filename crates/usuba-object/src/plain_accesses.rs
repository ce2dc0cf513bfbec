//! Accesses and branches of machines without buffers of unknown length: each address is a place that is
//! known.

use crate::address::Address;
use crate::cell::Cell;
use crate::elf::{Content, Kind, Object, Relocation};
use crate::memory::{Loaded, Pointer, Region, Whole};
use crate::{Fault, Fork, Rule, World, unsupported};

/// An effect, or the rule that an access breaks.
type Done = Result<(), Fault>;

impl World<'_> {
    /// The fault where a value must be known and is not.
    pub(crate) fn unknown(&self, cells: &[Cell], rule: Rule, secret: &str, other: &str) -> Fault {
        match cells.iter().any(|&cell| self.bits.is_secret(cell)) {
            true => Fault::new(rule, secret),
            false => unsupported(other),
        }
    }

    /// The content of memory, where the stack pointer is at `stack`.
    pub(crate) fn loaded(
        &mut self,
        at: Address,
        bytes: usize,
        stack: i64,
    ) -> Result<Loaded, Fault> {
        let at = pointer(at)?;
        if !matches!(at.region, Region::Section(_)) {
            return self.memory.load(at, bytes, stack);
        }
        let outside = |what: String| Fault::new(Rule::OutOfBounds, what);
        let place = Object::place(at).ok_or_else(|| outside("a place far from its section".into()));
        match self.object.constant(place?, bytes).map_err(outside)? {
            Content::Address(target) => Ok(Loaded::Pointer(Object::pointer(target))),
            Content::Bytes(found) => {
                let bits = &self.bits;
                let bit = |bit: usize| bits.constant(found[bit / 8] >> (bit % 8) & 1 == 1);
                Ok(Loaded::Cells((0..8 * bytes).map(bit).collect()))
            }
        }
    }

    /// The content of memory as bits.
    pub(crate) fn bits_at(
        &mut self,
        at: Address,
        bytes: usize,
        stack: i64,
    ) -> Result<Vec<Cell>, Fault> {
        match self.loaded(at, bytes, stack)? {
            Loaded::Cells(cells) => Ok(cells),
            _ => Err(unsupported("an address is read as data")),
        }
    }

    /// Writes bits to memory.
    pub(crate) fn put(&mut self, at: Address, cells: &[Cell], stack: i64) -> Done {
        self.memory.store(pointer(at)?, cells, stack)
    }

    /// Writes an address to memory.
    pub(crate) fn put_pointer(&mut self, at: Address, whole: Pointer, stack: i64) -> Done {
        self.memory.store_whole(pointer(at)?, Whole::Pointer(whole), stack)
    }

    /// Whether an address is a multiple of `align`, wherever its region is.
    pub(crate) fn is_aligned(&mut self, at: Address, align: u64) -> bool {
        match at {
            Address::Pointer(at) if matches!(at.region, Region::Section(_)) => {
                self.object.is_aligned(at, align)
            }
            Address::Pointer(at) => self.memory.is_aligned(at, align),
            _ => false,
        }
    }

    /// Whether the upper parts of the addresses of two places are equal, wherever the linker puts
    /// them: they are in one block whose size divides the alignment of their section, and is at most
    /// `reach`.
    pub(crate) fn have_one_upper_part(&self, a: u64, b: u64, reach: u64) -> bool {
        let [a, b] = [a, b].map(Object::pointer);
        let start =
            |size: u64| a.offset.div_euclid(size as i64) == b.offset.div_euclid(size as i64);
        let sizes = (0..=reach.ilog2()).map(|at| 1 << at);
        let section = Pointer { offset: 0, ..a };
        a == b
            || a.region == b.region
                && sizes.rev().any(|size| self.object.is_aligned(section, size) && start(size))
    }

    /// The address that the linker writes into the instruction.
    pub(crate) fn relocation(&self, place: u64, bytes: usize) -> Result<Option<Relocation>, Fault> {
        let mut found = None;
        for (at, &relocation) in self.object.relocations(place, bytes) {
            if let Kind::Unknown(reason) = relocation.kind {
                return Err(unsupported(reason));
            }
            let begins_before = at < place;
            if begins_before && at + (relocation.size as u64) <= place {
                continue;
            }
            if at != place || found.is_some() {
                return Err(other_use());
            }
            found = Some(relocation);
        }
        Ok(found)
    }

    /// Whether an address is in a buffer, the frame or a section, or at its end, so that it is not zero, and in
    /// the order of its offsets.
    pub(crate) fn is_near(&self, at: &Pointer) -> bool {
        match at.region {
            Region::Buffer(number) => {
                let bytes = self.memory.buffer(number as usize).len() / 8;
                (0..=bytes as i64).contains(&at.offset)
            }
            Region::Frame => self.memory.reaches(at.offset.into(), at.offset.into()),
            Region::Section(_) => self.object.is_inside(*at),
            _ => false,
        }
    }

    /// Whether a pointer may be moved by numbers: to data, and not to code.
    pub(crate) fn is_movable(&self, at: Pointer) -> bool {
        Object::place(at).is_none_or(|place| self.object.code(place, 1).is_empty())
    }

    /// The value of the condition of a branch, which must be known unless branches are followed.
    pub(crate) fn decided(&mut self, bit: Cell, is_secret: bool) -> Result<bool, Fault> {
        if let Some(known) = self.bits.value(bit) {
            return Ok(known);
        }
        let forks = &mut self.forks;
        if let Some(outcome) = forks.outcome.take() {
            return Ok(outcome);
        }
        let bit = bit.edge().is_some().then_some(bit);
        forks.asked = forks.follows.then_some(Fork { is_secret, bit });
        Err(match is_secret {
            true => Fault::new(Rule::SecretBranch, "the branch depends on an input"),
            false => unsupported("the branch depends on what nobody has written"),
        })
    }

    /// Whether a function has its own proof, or is in another file.
    pub(crate) fn is_outside(&self, target: u64) -> bool {
        let World { calls, object, .. } = self;
        calls.functions.at(target).is_some()
            || calls.at(target).is_some()
            || object.code(target, 1).is_empty()
    }
}

/// The pointer that an address is.
pub fn pointer(at: Address) -> Result<Pointer, Fault> {
    match at {
        Address::Pointer(at) => Ok(at),
        _ => Err(Fault::new(Rule::OutOfBounds, "a number is used as an address")),
    }
}

pub fn other_use() -> Fault {
    unsupported("the use of an address in the instruction is not modelled")
}
