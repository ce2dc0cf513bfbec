//! Safety of a function without a specification: an information-flow analysis of its machine code.
//!
//! ```text
//! int x25519(const uint8_t scalar[32], const uint8_t point[32], uint8_t out[32])
//!   scalar, point   buffers whose bits are all opaque
//!   out             a buffer that is written
//!   status          public: where a secret decides a branch, the status must tell the outcome
//! ```
//!
//! The function is executed symbolically as in `compare`, with opaque bits in the place of all
//! secrets. Operators on opaque bits make no nodes of the graph, so an instruction costs
//! microseconds, and no engine is needed. A proof has four parts:
//!
//! - *memory safe*: every access is in bounds and aligned, and callee-saved registers are kept;
//! - *terminates*: every path returns within a bound on instructions;
//! - *constant time*: no branch, address, shift count or operand of variable time depends on a
//!   secret;
//! - *nothing left*: neither the frame nor a register depends on a secret at return.
//!
//! **Branches that are not known.** A branch on a value that is public and not known is followed
//! both ways. So is a branch on a secret, if the function returns a public status and no status is
//! returned on both sides: the status then tells the outcome. The place is part of the evidence.
//!
//! *Soundness:* an execution of the processor follows one of the paths. A bit that the model calls
//! unset or constant does not depend on secrets.
//!
//! *Limits:* lengths that are parameters; other public data is not known, and no address. A loop that
//! a secret ends is a fault.
//!
//! *Reference:* Almeida, Barbosa, Barthe, Dupressoir, Emmi 2016 (constant time with public outputs).

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::Turning;
use super::call_summaries::Refused;
use super::calls::Calls;
use super::elf::Object;
use super::frame_phases::Phases;
use super::memory::{Access, Buffer, Extent, Field, Memory, Pointer, Region, Whole};
use super::pointer_tables::{Column, Tables};
use super::safety_search::Search;
use super::{Fault, Forks, Residue, Rule, World};
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::{Form, Range, Unknowns};

/// A function with its contract.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    pub symbol: String,
    pub parameters: Vec<Parameter>,
    /// Pairs of buffers, by the numbers of their parameters, that may begin at one address. All
    /// other buffers are disjoint.
    pub equal: Vec<[usize; 2]>,
    pub returns: Returns,
}

/// A parameter in the order of the calling convention.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parameter {
    Buffer(Room),
    /// A public number.
    Number(u64),
    /// A public number that is not known, with the most it may be.
    Length(i64),
    /// A public number of which nothing is known.
    Any,
    /// One of these in twice as many bytes as an address: of a length the upper half is zero.
    Wide(Box<Parameter>),
}

/// A buffer of the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    pub name: String,
    pub bytes: Bytes,
    pub access: Access,
    /// Its address is a multiple of this many bytes.
    pub align: u64,
    /// Whether its content at entry is public.
    pub is_public: bool,
    /// Public numbers in it.
    pub fields: Vec<Field>,
    /// The buffer behind each of its elements, if these are addresses.
    pub each: Option<Box<Room>>,
}

/// The size of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bytes {
    Fixed(usize),
    /// `more` bytes, and `each` times the value of a parameter that is a length.
    Times {
        each: i64,
        length: usize,
        more: i64,
    },
    /// As many as the element with the same index of a parameter, which is an array of lengths up
    /// to `most`.
    Listed {
        lengths: usize,
        most: i64,
    },
    /// A string of up to `most` bytes, and a zero behind it.
    Text {
        most: i64,
    },
}

/// The result of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    Nothing,
    /// A public number of 32 bits.
    Status,
}

/// The evidence from a proof.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Evidence {
    /// Executed instructions, summed over all paths.
    pub instructions: u64,
    /// Bytes of the frame with the frames of all callees: the stack bound.
    pub frame: u64,
    /// Frame residues for which the function was executed.
    pub phases: u32,
    /// Paths to the end.
    pub paths: u32,
    /// Loops over numbers that are not known, each shown by one induction step.
    pub loops: u32,
    /// Calls whose effect was known from an earlier call.
    pub repeated: u32,
    /// Branches on secrets whose outcome the status tells.
    pub told: BTreeSet<String>,
    /// Secrets that remain after the return, the most on any path.
    pub residue: Residue,
}

/// Proves that a function of an object is memory-safe, terminates and is constant-time, on at most
/// `longest` instructions. Secrets that it leaves are in the evidence.
///
/// All paths are followed to their ends, if these are few; else paths are joined where they meet.
///
/// # Errors
/// The first rule that is broken, or the first instruction outside the model.
pub fn prove<M: Turning>(
    object: &Object,
    function: &Function,
    longest: u64,
) -> Result<Evidence, Fault> {
    let apart = function.search::<M>(object, longest.min(APART), false);
    apart.or_else(|fault| {
        let joined = function.search::<M>(object, longest, true);
        joined.map_err(|other| if fault.rule == Rule::TooLong { other } else { fault })
    })
}

/// The most instructions on paths that are not joined.
const APART: u64 = 100_000;

impl Function {
    /// Executes the function in all cases, on at most `longest` instructions.
    fn search<M: Turning>(
        &self,
        object: &Object,
        longest: u64,
        joins: bool,
    ) -> Result<Evidence, Fault> {
        let entry = object.function(&self.symbol).ok_or_else(|| {
            Fault::new(Rule::Unsupported, format!("there is no function `{}`", self.symbol))
        })?;
        let (mut evidence, mut refused) = (Evidence::default(), Refused::default());
        let cases = std::iter::once(None).chain(self.equal.iter().copied().map(Some));
        for equal in cases {
            let mut phases = Phases::of(M::CONVENTION);
            while let Some(phase) = phases.next() {
                evidence.phases = evidence.phases.max(phases.count() + 1);
                let bits = Bits::flat();
                let (memory, parameters) = self.enter::<M>(equal, phase)?;
                let forks = Forks { follows: true, counts: true, ..Forks::default() };
                let nothing = Memory::new(M::CONVENTION, Vec::new(), &[], 0);
                let world = World { bits, memory: nothing, object, calls: Calls::default(), forks };
                let bounds = (longest, joins);
                let mut search = Search::new(world, &mut evidence, self.returns, bounds, refused);
                search.prove(M::enter(&parameters, entry), memory)?;
                phases.done(phase, search.asked);
                refused = search.summaries.refused();
            }
        }
        Ok(evidence)
    }

    /// The memory and the parameters at entry; the two buffers of `equal` begin at one address.
    fn enter<M: Turning>(
        &self,
        equal: Option<[usize; 2]>,
        phase: u64,
    ) -> Result<(Memory, Vec<Option<Whole>>), Fault> {
        let unsupported = |what: String| Fault::new(Rule::Unsupported, what);
        let mut unknowns = Unknowns::default();
        let mut unknown = |high: i64| {
            let form = unknowns.unknown(Range { low: 0, high });
            form.ok_or_else(|| unsupported("too many lengths".into()))
        };
        let mut number = |parameter: &Parameter| match parameter {
            Parameter::Number(value) => Ok(Some(Form::number(*value as i64))),
            Parameter::Length(most) => unknown(*most).map(Some),
            Parameter::Wide(inner) if let Parameter::Length(most) = **inner => {
                unknown(most).map(Some)
            }
            Parameter::Any | Parameter::Wide(_) | Parameter::Buffer(_) => Ok(None),
        };
        let numbers: Vec<Option<Form>> =
            self.parameters.iter().map(&mut number).collect::<Result<_, _>>()?;
        let mut rooms: Vec<Room> = Vec::new();
        let mut parameters: Vec<Option<Whole>> = Vec::new();
        for (at, parameter) in self.parameters.iter().enumerate() {
            let Parameter::Buffer(room) = parameter else {
                parameters.push(numbers[at].map(Whole::Count));
                continue;
            };
            if let Some([first, _]) = equal.filter(|pair| pair[1] == at) {
                let shared = parameters.get(first).copied().flatten();
                let other = start_of(parameters.get(first));
                let joined = other.and_then(|number| room.join(&mut rooms[number as usize]));
                joined.ok_or_else(|| {
                    unsupported(format!("`{}` begins where no such buffer does", room.name))
                })?;
                parameters.push(shared);
                continue;
            }
            parameters.push(Some(Whole::start(rooms.len())));
            rooms.push(room.clone());
        }
        let mut tables = Tables::default();
        for at in 0..rooms.len() {
            let Some(behind) = rooms[at].each.clone() else { continue };
            let is_kept = |number: usize| rooms[number].access == Access::Read;
            let buffer = rooms.len() as u32;
            let lengths = match behind.bytes {
                Bytes::Listed { lengths, most } => {
                    let table = start_of(parameters.get(lengths));
                    let table =
                        table.filter(|&table| is_kept(table as usize)).ok_or_else(|| {
                            unsupported(format!(
                                "the lengths of `{}` are no array that is only read",
                                behind.name
                            ))
                        })?;
                    tables.columns.insert(table, Column::Lengths { most, open: Form::default() });
                    Some(table)
                }
                _ => None,
            };
            if !is_kept(at) || behind.access != Access::Read {
                return Err(unsupported(format!(
                    "`{}` points to pointers that may change",
                    rooms[at].name
                )));
            }
            tables.columns.insert(at as u32, Column::Addresses { buffer, lengths });
            rooms.push(*behind);
        }
        let mut extents = BTreeMap::new();
        for (at, room) in rooms.iter().enumerate() {
            let bytes = match room.bytes {
                Bytes::Fixed(_) => continue,
                Bytes::Listed { .. } => Form::default(),
                Bytes::Text { .. } if room.access != Access::Read => {
                    return Err(unsupported(format!("the string `{}` may change", room.name)));
                }
                Bytes::Text { most } => {
                    let length = unknowns.unknown(Range { low: 0, high: most });
                    let bytes = length.and_then(|length| length.plus(Form::number(1)));
                    bytes.ok_or_else(|| unsupported("too many lengths".into()))?
                }
                Bytes::Times { each, length, more } => {
                    let form = numbers.get(length).copied().flatten();
                    let bytes = form.and_then(|form| form.times(each)?.plus(Form::number(more)));
                    bytes.ok_or_else(|| {
                        unsupported(format!("the length of `{}` is no parameter", room.name))
                    })?
                }
            };
            let is_text = matches!(room.bytes, Bytes::Text { .. });
            extents.insert(at as u32, Extent { bytes, content: room.content(), is_text });
        }
        let buffers = rooms.iter().map(Room::buffer).collect();
        let is_wide = self.parameters.iter().map(|of| matches!(of, Parameter::Wide(_)));
        let parameters = in_words::<M>(parameters.into_iter().zip(is_wide));
        let mut memory = Memory::new(M::CONVENTION, buffers, M::on_stack(&parameters), phase);
        (memory.unknowns, memory.extents, memory.tables) = (unknowns, extents, tables);
        for (at, room) in rooms.iter().enumerate() {
            let added = memory.add_fields(at as u32, &room.fields);
            added.ok_or_else(|| unsupported("too many lengths".into()))?;
        }
        Ok((memory, parameters))
    }
}

/// Parameters in registers, and then on the stack, with whether they are wide: the lower half of a wide one
/// comes first, and on the stack its address is a multiple of its size.
pub(super) fn in_words<M: Turning>(
    parameters: impl Iterator<Item = (Option<Whole>, bool)>,
) -> Vec<Option<Whole>> {
    let mut words = Vec::new();
    for (whole, is_wide) in parameters {
        if is_wide && M::on_stack(&words).len() % 2 == 1 {
            words.push(None);
        }
        words.push(whole);
        words.extend(is_wide.then(|| whole.map(|_| Whole::Count(Form::default()))));
    }
    words
}

/// The buffer that a parameter is the address of.
fn start_of(parameter: Option<&Option<Whole>>) -> Option<u32> {
    match parameter {
        Some(&Some(Whole::Pointer(Pointer { region: Region::Buffer(number), .. }))) => Some(number),
        _ => None,
    }
}

impl Room {
    fn buffer(&self) -> Buffer {
        let Room { name, access, align, bytes, .. } = self;
        let size = if let Bytes::Fixed(size) = bytes { *size } else { 0 };
        let (name, cells) = (name.clone(), vec![self.content(); 8 * size]);
        Buffer { name, access: *access, align: *align, cells }
    }

    /// A bit at entry.
    fn content(&self) -> Cell {
        // The caller may have left a secret in a buffer for results.
        if self.is_public && self.access != Access::Write { Cell::UNSET } else { Cell::OPAQUE }
    }

    /// Makes this buffer begin where another one does; `None` if it is not known which is longer.
    fn join(&self, other: &mut Room) -> Option<()> {
        other.bytes = match (self.bytes, other.bytes) {
            (own, other) if own == other => own,
            (Bytes::Fixed(own), Bytes::Fixed(other)) => Bytes::Fixed(own.max(other)),
            _ => return None,
        };
        if self.fields != other.fields || self.each != other.each {
            return None;
        }
        other.is_public = [self, other].iter().all(|room| room.content() == Cell::UNSET);
        if self.access != other.access {
            other.access = Access::Both;
        }
        other.align = other.align.max(self.align);
        other.name = format!("{} = {}", other.name, self.name);
        Some(())
    }
}
