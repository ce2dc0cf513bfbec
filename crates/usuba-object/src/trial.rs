//! Execution of exported functions on buffers of fixed sizes, one call after the other.
//!
//! ```text
//! state: 112 bytes      begin(state);  update(state, in, 70);  final(state, out)
//! in:     70 symbols    out: 256 bits, to be compared with a specification
//! ```
//!
//! *Soundness:* all sizes and numbers are known; a branch on a symbol is a fault, and a branch on
//! the order of two buffers is followed both ways. Each call is executed for every distinguishable
//! position of the frame. All executions must leave the same buffers, so the next call begins with
//! these whatever the addresses are.

use super::blocks::Turning;
use super::calls::Calls;
use super::cell::{Bits, Cell};
use super::elf::Object;
use super::frame_phases::{KNOWN_PHASES, Phases};
use super::functions::Functions;
use super::memory::{Access, Buffer, Memory, Region, Whole};
use super::{Fault, Forks, Machine, Rule, Step, World};

/// A buffer of the caller.
#[derive(Clone, Debug)]
pub struct Data {
    pub name: String,
    pub align: u64,
    pub access: Access,
    pub content: Content,
}

/// The content of a buffer.
#[derive(Clone, Debug)]
pub enum Content {
    /// Its bits, the lowest one of the first byte first.
    Bits(Vec<Cell>),
    /// The addresses of buffers, by their numbers.
    Addresses(Vec<usize>),
}

impl Data {
    /// Its bits; addresses have none.
    pub fn bits(&self) -> &[Cell] {
        match &self.content {
            Content::Bits(bits) => bits,
            Content::Addresses(_) => &[],
        }
    }
}

/// An argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The address of a buffer, by its number.
    Buffer(usize),
    Number(u64),
}

/// A call of a function of the object.
#[derive(Clone, Debug)]
pub struct Call {
    pub symbol: String,
    pub arguments: Vec<Argument>,
    /// The status that it returns, if it returns one.
    pub status: Option<u32>,
}

/// An object that is executed.
pub struct Trial<'o> {
    world: World<'o>,
    /// Executed instructions.
    pub instructions: u64,
}

/// Where a path ends.
enum End<M> {
    Returned(M),
    Order(M),
}

/// The most instructions of a path.
const LONGEST: u64 = 4_000_000;

impl<'o> Trial<'o> {
    pub fn new(object: &'o Object, bits: Bits, functions: Functions) -> Trial<'o> {
        let memory = Memory::new(Vec::new(), &[], 0);
        let calls = Calls::of(functions);
        let world = World { bits, memory, object, calls, forks: Forks::default() };
        Trial { world, instructions: 0 }
    }

    /// The bits and the functions of a specification.
    pub fn symbols(&mut self) -> (&mut Bits, &mut Functions) {
        (&mut self.world.bits, &mut self.world.calls.functions)
    }

    /// Calls a function, which changes the buffers.
    ///
    /// # Errors
    /// It breaks a rule, has another status, or depends on the position of its frame.
    pub fn call<M: Turning>(&mut self, buffers: &mut [Data], call: &Call) -> Result<(), Fault> {
        let entry = self.world.object.function(&call.symbol).ok_or_else(|| {
            Fault::new(Rule::Unsupported, format!("there is no function `{}`", call.symbol))
        })?;
        let whole = |argument: &Argument| match *argument {
            Argument::Buffer(at) => Whole::start(at),
            Argument::Number(value) => {
                Whole::Count(super::symbolic_count::Form::number(value as i64))
            }
        };
        let arguments: Vec<Option<Whole>> =
            call.arguments.iter().map(|argument| Some(whole(argument))).collect();
        let mut phases = Phases::default();
        let mut left: Option<Vec<Vec<Cell>>> = None;
        while let Some(phase) = phases.next() {
            let memory = memory::<M>(buffers, &arguments, phase);
            let mut open = vec![(M::enter(&arguments, entry), memory, None)];
            let mut asked = KNOWN_PHASES;
            while let Some((machine, memory, outcome)) = open.pop() {
                self.world.memory = memory;
                self.world.forks = Forks { follows: true, outcome, asked: None };
                let machine = match self.returned(machine)? {
                    End::Returned(machine) => machine,
                    End::Order(machine) => {
                        let memory = &self.world.memory;
                        let path = |outcome| (machine.clone(), memory.clone(), Some(outcome));
                        open.extend([false, true].map(path));
                        continue;
                    }
                };
                asked = asked.max(self.world.memory.asked);
                let found = self.left(machine, call)?;
                if left.as_ref().is_some_and(|left| *left != found) {
                    let what = "its results depend on addresses";
                    return Err(Fault::new(Rule::Unsupported, what));
                }
                left = Some(found);
            }
            phases.done(phase, asked);
        }
        for (data, found) in buffers.iter_mut().zip(left.into_iter().flatten()) {
            if let Content::Bits(bits) = &mut data.content {
                *bits = found;
            }
        }
        Ok(())
    }

    /// The buffers at the end of a path.
    fn left<M: Turning>(&self, mut machine: M, call: &Call) -> Result<Vec<Vec<Cell>>, Fault> {
        machine.leave(&self.world)?;
        if let Some(status) = call.status {
            let found = machine.status(&self.world.bits);
            if found != Some(status.into()) {
                let found = match found {
                    Some(found) => format!("status {}", found as i32),
                    None => "a status that is not known".into(),
                };
                let what = format!("`{}` returns {found}, not {status}", call.symbol);
                return Err(Fault::new(Rule::Unsupported, what));
            }
        }
        let buffers = &self.world.memory.buffers;
        Ok(buffers.iter().map(|buffer| buffer.cells.clone()).collect())
    }

    /// Executes a path to its end, or to a branch that depends on the order of two buffers.
    fn returned<M: Turning>(&mut self, mut machine: M) -> Result<End<M>, Fault> {
        for _ in 0..LONGEST {
            self.instructions += 1;
            let place = machine.place();
            let step = self.world.step(&mut machine);
            // An outcome is for one instruction.
            self.world.forks.outcome = None;
            match step {
                Ok(Step::Returned) => return Ok(End::Returned(machine)),
                Ok(_) => {}
                Err(fault) => {
                    let fork = self.world.forks.asked.take().filter(|fork| !fork.is_secret);
                    fork.ok_or(fault)?;
                    machine.go_to(place);
                    return Ok(End::Order(machine));
                }
            }
        }
        Err(Fault::new(Rule::TooLong, format!("it does not return in {LONGEST} instructions")))
    }
}

/// The memory at entry.
fn memory<M: Machine>(buffers: &[Data], arguments: &[Option<Whole>], phase: u64) -> Memory {
    let buffer = |data: &Data| {
        let cells = match &data.content {
            Content::Bits(bits) => bits.clone(),
            Content::Addresses(all) => vec![Cell::UNSET; 64 * all.len()],
        };
        Buffer { name: data.name.clone(), access: data.access, align: data.align, cells }
    };
    let all = buffers.iter().map(buffer).collect();
    let mut memory = Memory::new(all, M::on_stack(arguments), phase);
    for (number, data) in buffers.iter().enumerate() {
        let Content::Addresses(all) = &data.content else { continue };
        for (at, &target) in all.iter().enumerate() {
            memory.keep((Region::Buffer(number as u32), 8 * at as i64), Whole::start(target));
        }
    }
    memory
}
