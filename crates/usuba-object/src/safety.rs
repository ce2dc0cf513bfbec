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
//! *Limits:* functions of fixed size; a loop that a secret ends is a fault.
//!
//! *Reference:* Almeida, Barbosa, Barthe, Dupressoir, Emmi 2016 (constant time with public outputs).

use std::collections::BTreeSet;

use super::blocks::Turning;
use super::calls::Calls;
use super::cell::{Bits, Cell};
use super::elf::Object;
use super::frame_phases::{KNOWN_PHASES, Phases};
use super::memory::{Access, Buffer, Memory, Pointer, Region, Whole};
use super::symbolic_count::Form;
use super::{Fault, Forks, Residue, Rule, Step, World};

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
}

/// A buffer of the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Room {
    pub name: String,
    pub bytes: usize,
    pub access: Access,
    /// Its address is a multiple of this many bytes.
    pub align: u64,
    /// Whether its content at entry is public.
    pub is_public: bool,
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
    /// Branches on secrets whose outcome the status tells.
    pub told: BTreeSet<String>,
    /// Secrets that remain after the return, the most on any path.
    pub residue: Residue,
}

/// The most distinguished paths, and unknown branches on one of them.
const PATHS: u32 = 1000;
const DEPTH: u32 = 100;

/// Proves that a function of an object is memory-safe, terminates and is constant-time, on at most
/// `longest` instructions. Secrets that it leaves are in the evidence.
///
/// # Errors
/// The first rule that is broken, or the first instruction outside the model.
pub fn prove<M: Turning>(
    object: &Object,
    function: &Function,
    longest: u64,
) -> Result<Evidence, Fault> {
    let entry = object.function(&function.symbol).ok_or_else(|| {
        Fault::new(Rule::Unsupported, format!("there is no function `{}`", function.symbol))
    })?;
    let mut evidence = Evidence::default();
    let cases = std::iter::once(None).chain(function.equal.iter().copied().map(Some));
    for equal in cases {
        let mut phases = Phases::default();
        while let Some(phase) = phases.next() {
            evidence.phases = evidence.phases.max(phases.count() + 1);
            let bits = Bits::flat();
            let (memory, parameters) = function.enter::<M>(equal, phase)?;
            let forks = Forks { follows: true, ..Forks::default() };
            let world = World { bits, memory, object, calls: Calls::default(), forks };
            let (returns, asked) = (function.returns, KNOWN_PHASES);
            let mut search = Search { world, evidence: &mut evidence, returns, longest, asked };
            search.explore(Box::new(M::enter(&parameters, entry)), 0)?;
            phases.done(phase, search.asked);
        }
    }
    Ok(evidence)
}

impl Function {
    /// The memory and the parameters at entry; the two buffers of `equal` begin at one address.
    fn enter<M: Turning>(
        &self,
        equal: Option<[usize; 2]>,
        phase: u64,
    ) -> Result<(Memory, Vec<Whole>), Fault> {
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut parameters = Vec::new();
        for (at, parameter) in self.parameters.iter().enumerate() {
            let room = match parameter {
                Parameter::Number(value) => {
                    parameters.push(Whole::Count(Form::number(*value as i64)));
                    continue;
                }
                Parameter::Buffer(room) => room,
            };
            if let Some([first, _]) = equal.filter(|pair| pair[1] == at) {
                let shared = parameters.get(first).copied();
                let Some(Whole::Pointer(Pointer { region: Region::Buffer(number), .. })) = shared
                else {
                    let what = format!("`{}` begins where no earlier buffer does", room.name);
                    return Err(Fault::new(Rule::Unsupported, what));
                };
                room.join(&mut buffers[number as usize]);
                parameters.extend(shared);
                continue;
            }
            parameters.push(Whole::start(buffers.len()));
            buffers.push(room.buffer());
        }
        let memory = Memory::new(buffers, M::on_stack(&parameters), phase);
        Ok((memory, parameters))
    }
}

impl Room {
    fn buffer(&self) -> Buffer {
        let Room { name, access, align, .. } = self.clone();
        Buffer { name, access, align, cells: vec![self.content(); 8 * self.bytes] }
    }

    /// A bit at entry.
    fn content(&self) -> Cell {
        // The caller may have left a secret in a buffer for results.
        if self.is_public && self.access != Access::Write { Cell::UNSET } else { Cell::OPAQUE }
    }

    /// Makes this buffer begin where another one does.
    fn join(&self, other: &mut Buffer) {
        let own = self.buffer();
        if self.access != other.access {
            other.access = Access::Both;
        }
        other.align = other.align.max(self.align);
        other.name = format!("{} = {}", other.name, self.name);
        for (at, cell) in own.cells.into_iter().enumerate() {
            match other.cells.get_mut(at) {
                Some(place) if *place == cell => {}
                Some(place) => *place = Cell::OPAQUE,
                None => other.cells.push(cell),
            }
        }
    }
}

/// The statuses that the paths from a branch on return; `None` is a status that is not known.
type Statuses = BTreeSet<Option<u64>>;

struct Search<'a, 'o> {
    /// Its memory belongs to the path that runs.
    world: World<'o>,
    evidence: &'a mut Evidence,
    returns: Returns,
    longest: u64,
    /// The largest alignment of the frame that any path has asked for.
    asked: u64,
}

impl Search<'_, '_> {
    /// Runs a machine on the memory of the world to all its ends.
    fn explore<M: Turning>(&mut self, mut machine: Box<M>, depth: u32) -> Result<Statuses, Fault> {
        if depth > DEPTH {
            let what = format!("more than {DEPTH} branches are not known");
            return Err(Fault::new(Rule::TooLong, what));
        }
        loop {
            if self.evidence.instructions == self.longest {
                let what = format!("it does not return in {} instructions", self.longest);
                return Err(Fault::new(Rule::TooLong, what));
            }
            self.evidence.instructions += 1;
            let place = machine.place();
            let fault = match machine.step(&mut self.world) {
                Ok(Step::Next) => continue,
                Ok(Step::Returned) => return self.leave(*machine),
                Err(fault) => fault,
            };
            let Some(fork) = self.world.forks.asked.take() else { return Err(fault) };
            let is_secret = fork.is_secret;
            if is_secret && self.returns == Returns::Nothing {
                return Err(fault);
            }
            machine.go_to(place);
            let memory = self.world.memory.clone();
            let mut sides = Vec::new();
            for outcome in [false, true] {
                self.world.memory = memory.clone();
                self.world.forks.outcome = Some(outcome);
                let mut machine = machine.clone();
                if let Some(bit) = fork.bit {
                    let World { bits, memory, .. } = &mut self.world;
                    let of = |cell| bits.assumed(cell, bit, outcome);
                    memory.map(of);
                    machine.map(bits, &of);
                }
                sides.push(self.explore(machine, depth + 1)?);
            }
            let mut all = sides.iter().flatten().copied();
            if is_secret {
                if all.clone().any(|status| status.is_none()) || !sides[0].is_disjoint(&sides[1]) {
                    let what = format!("{}, and the status does not tell the outcome", fault.what);
                    return Err(Fault { what, ..fault });
                }
                self.evidence.told.insert(fault.place);
            }
            return Ok(all.by_ref().collect());
        }
    }

    /// The end of a path.
    fn leave<M: Turning>(&mut self, mut machine: M) -> Result<Statuses, Fault> {
        self.evidence.paths += 1;
        if self.evidence.paths > PATHS {
            let what = format!("it has more than {PATHS} paths");
            return Err(Fault::new(Rule::TooLong, what));
        }
        let status = match self.returns {
            Returns::Nothing => None,
            Returns::Status => machine.status(&self.world.bits),
        };
        let registers = machine.leave(&self.world)?;
        let residue = self.world.residue(registers);
        let evidence = &mut *self.evidence;
        evidence.frame = evidence.frame.max(self.world.memory.frame_bytes());
        self.asked = self.asked.max(self.world.memory.asked);
        let size = |residue: &Residue| (residue.frame, residue.registers.len());
        if size(&residue) > size(&evidence.residue) {
            evidence.residue = residue;
        }
        Ok(Statuses::from([status]))
    }
}
