//! Execution of exported functions on buffers of fixed sizes, one call after the other.
//!
//! ```text
//! state: 112 bytes      begin(state);  update(state, in, 70);  final(state, out)
//! in:     70 symbols    out: 256 bits, to be compared with a specification
//! ```
//!
//! *Soundness:* all sizes and numbers are known. A branch on symbols is followed both ways, and the
//! results of the two paths are joined by its condition. A branch on addresses is a branch on a symbol of
//! its own. Two paths that have chosen one backend in the same state have the same results, so one of
//! them is followed; registers and flags that are forgotten before are words of which nothing is known.
//! Each call is executed for every distinguishable position of the frame, and must leave the same for
//! all of them, so the next call begins with this for every position.

use super::aarch64::Aarch64;
use super::blocks::Turning;
use super::calls::Calls;
use super::elf::{Object, Processor};
use super::frame_phases::{KNOWN_PHASES, Phases};
use super::functions::Functions;
use super::live_registers;
use super::memory::{Access, Buffer, Memory, Region, Whole};
use super::riscv::Riscv;
use super::safety::in_words;
use super::x86::X86;
use super::{Fault, Forks, Machine, Rule, Step, World};
use usuba_bits::cell::{Bits, Cell};
use usuba_ranges::Form;

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
    /// A number of eight bytes, below 2^32, where addresses have four.
    Wide(u32),
}

/// A call of a function of the object.
#[derive(Clone, Debug)]
pub struct Call {
    pub symbol: String,
    pub arguments: Vec<Argument>,
}

/// An object that is executed by its machine.
pub struct Trial<'o> {
    world: World<'o>,
    /// Executed instructions, and their limit in this call.
    pub instructions: u64,
    limit: u64,
}

/// Where a path ends.
enum End<M> {
    Returned(M),
    /// At a branch with this condition.
    Branch(M, Cell),
    /// Behind the instruction that has chosen a backend.
    Chosen(M),
}

/// A branch that is followed both ways, and its condition.
enum Open<M> {
    /// The side without the condition is executed; the other one starts here.
    First(Box<(M, Memory)>, Cell),
    /// The side with the condition is executed; the other one has these results.
    Second(Cell, Left),
    /// The path from this state on is executed.
    Chosen(Box<(M, Memory)>),
}

/// The most instructions of a call on all paths, and the most branches that are followed both ways,
/// altogether and on one path.
const LONGEST: u64 = 16_000_000;
const BRANCHES: usize = 1_000;
const DEEPEST: usize = 100;

/// The results of a call: the lowest 32 bits of its result, and the bits of each buffer.
#[derive(Clone, PartialEq)]
struct Left {
    status: Option<Vec<Cell>>,
    buffers: Vec<Vec<Cell>>,
}

impl<'o> Trial<'o> {
    pub fn new(object: &'o Object, bits: Bits, functions: Functions) -> Trial<'o> {
        let memory = Memory::new(X86::CONVENTION, Vec::new(), &[], 0);
        let calls = Calls::of(functions);
        let world = World { bits, memory, object, calls, forks: Forks::default() };
        Trial { world, instructions: 0, limit: 0 }
    }

    /// The bits and the functions of a specification.
    pub fn symbols(&mut self) -> (&mut Bits, &mut Functions) {
        (&mut self.world.bits, &mut self.world.calls.functions)
    }

    /// Calls a function, which changes the buffers. Returns the lowest 32 bits of its result; `None`
    /// if they are no bits.
    ///
    /// # Errors
    /// It breaks a rule, or depends on the position of its frame.
    pub fn call(&mut self, buffers: &mut [Data], call: &Call) -> Result<Option<Vec<Cell>>, Fault> {
        match self.world.object.processor() {
            Processor::X86 => self.call_on::<X86>(buffers, call),
            Processor::Aarch64 => self.call_on::<Aarch64>(buffers, call),
            Processor::Riscv32 => self.call_on::<Riscv>(buffers, call),
        }
    }

    fn call_on<M: Turning>(
        &mut self,
        buffers: &mut [Data],
        call: &Call,
    ) -> Result<Option<Vec<Cell>>, Fault> {
        let entry = self.world.object.function(&call.symbol).ok_or_else(|| {
            Fault::new(Rule::Unsupported, format!("there is no function `{}`", call.symbol))
        })?;
        let whole = |argument: &Argument| match *argument {
            Argument::Buffer(at) => Whole::start(at),
            Argument::Number(value) => Whole::Count(Form::number(value as i64)),
            Argument::Wide(value) => Whole::Count(Form::number(value.into())),
        };
        let arguments = in_words::<M>(
            call.arguments
                .iter()
                .map(|argument| (Some(whole(argument)), matches!(argument, Argument::Wide(_)))),
        );
        self.limit = self.instructions + LONGEST;
        let mut phases = Phases::of(M::CONVENTION);
        let mut left: Option<Left> = None;
        while let Some(phase) = phases.next() {
            let memory = memory::<M>(buffers, &arguments, phase);
            let (found, asked) = self.joined(M::enter(&arguments, entry), memory)?;
            if left.as_ref().is_some_and(|left| *left != found) {
                let why = "its results depend on the position of the frame";
                return Err(Fault::new(Rule::Unsupported, why));
            }
            left = Some(found);
            phases.done(phase, asked);
        }
        let Left { status, buffers: all } = left.expect("there is a position");
        for (data, found) in buffers.iter_mut().zip(all) {
            if let Content::Bits(bits) = &mut data.content {
                *bits = found;
            }
        }
        Ok(status)
    }

    /// The results of all paths, and the largest alignment of the frame that they have asked for.
    /// A branch is joined before the branches above it: where both of its sides leave the same,
    /// it is forgotten. Many paths choose one backend; the first of them is followed for all whose
    /// states are the same then.
    fn joined<M: Turning>(&mut self, machine: M, memory: Memory) -> Result<(Left, u64), Fault> {
        self.world.memory = memory;
        let mut asked = KNOWN_PHASES;
        let mut count = 0;
        let mut open: Vec<Open<M>> = Vec::new();
        let mut chosen: Vec<(Box<(M, Memory)>, Left)> = Vec::new();
        let mut next = (machine, None);
        loop {
            let (machine, outcome) = next;
            self.world.forks = Forks { follows: true, outcome, ..Forks::default() };
            let mut left = match self.returned(machine)? {
                End::Returned(machine) => self.left(&machine)?,
                End::Chosen(mut machine) => {
                    let place = machine.place();
                    machine.forget_dead(live_registers::volatile::<M>(self.world.object, place));
                    let memory = &self.world.memory;
                    let is_same = |(state, _): &&(Box<(M, Memory)>, Left)| {
                        state.0.is_same(&machine) && state.1.is_same(memory)
                    };
                    match chosen.iter().find(is_same) {
                        Some((_, left)) => left.clone(),
                        None => {
                            open.push(Open::Chosen(Box::new((machine.clone(), memory.clone()))));
                            next = (machine, None);
                            continue;
                        }
                    }
                }
                End::Branch(machine, bit) => {
                    count += 1;
                    if count >= BRANCHES || open.len() >= DEEPEST {
                        let why = format!(
                            "it has more than {BRANCHES} branches on symbols, or {DEEPEST} on a path"
                        );
                        return Err(Fault::new(Rule::TooLong, why));
                    }
                    let memory = self.world.memory.clone();
                    open.push(Open::First(Box::new((machine.clone(), memory)), bit));
                    next = (machine, Some(false));
                    continue;
                }
            };
            asked = asked.max(self.world.memory.asked);
            next = loop {
                match open.pop() {
                    None => return Ok((left, asked)),
                    Some(Open::First(start, bit)) => {
                        let (machine, memory) = *start;
                        self.world.memory = memory;
                        open.push(Open::Second(bit, left));
                        break (machine, Some(true));
                    }
                    Some(Open::Second(bit, other)) => left = self.chosen(bit, left, &other),
                    Some(Open::Chosen(state)) => chosen.push((state, left.clone())),
                }
            };
        }
    }

    /// The results at the end of a path.
    fn left<M: Turning>(&self, machine: &M) -> Result<Left, Fault> {
        machine.leave(&self.world)?;
        let memory = &self.world.memory;
        let buffers = memory.buffers.iter().map(|buffer| buffer.cells.clone()).collect();
        Ok(Left { status: machine.result(&self.world.bits), buffers })
    }

    /// The results if a condition holds, and else.
    fn chosen(&mut self, condition: Cell, left: Left, other: &Left) -> Left {
        let bits = &mut self.world.bits;
        let mut choose = |a: &[Cell], b: &[Cell]| -> Vec<Cell> {
            let mut chosen = |(&a, &b): (&Cell, &Cell)| {
                if a == b {
                    return a;
                }
                if a.edge().is_none() || b.edge().is_none() {
                    return Cell::OPAQUE;
                }
                let differ = bits.xor(a, b);
                let change = bits.and(condition, differ);
                bits.xor(b, change)
            };
            a.iter().zip(b).map(&mut chosen).collect()
        };
        let status = match (&left.status, &other.status) {
            (Some(a), Some(b)) => Some(choose(a, b)),
            _ => None,
        };
        let pairs = left.buffers.iter().zip(&other.buffers);
        let buffers = pairs.map(|(a, b)| choose(a, b)).collect();
        Left { status, buffers }
    }

    /// Executes a path to its end, or to a branch that is not known.
    fn returned<M: Turning>(&mut self, mut machine: M) -> Result<End<M>, Fault> {
        while self.instructions < self.limit {
            self.instructions += 1;
            let place = machine.place();
            let known = self.world.memory.choice;
            let step = self.world.step(&mut machine);
            // An outcome is for one instruction.
            self.world.forks.outcome = None;
            match step {
                Ok(Step::Returned) => return Ok(End::Returned(machine)),
                Ok(_) if !known.is_chosen() && self.world.memory.choice.is_chosen() => {
                    return Ok(End::Chosen(machine));
                }
                Ok(_) => {}
                Err(fault) => {
                    let Some(fork) = self.world.forks.asked.take() else { return Err(fault) };
                    let bit = match fork.bit.filter(|bit| bit.edge().is_some()) {
                        Some(bit) => bit,
                        // The order of two buffers, or a comparison of addresses.
                        None if !fork.is_secret => {
                            let (bits, functions) = self.symbols();
                            functions.parameter(bits)
                        }
                        None => return Err(fault),
                    };
                    machine.go_to(place);
                    return Ok(End::Branch(machine, bit));
                }
            }
        }
        Err(Fault::new(Rule::TooLong, format!("it does not return in {LONGEST} instructions")))
    }
}

/// The memory at entry.
fn memory<M: Turning>(buffers: &[Data], arguments: &[Option<Whole>], phase: u64) -> Memory {
    let address = M::CONVENTION.address;
    let buffer = |data: &Data| {
        let cells = match &data.content {
            Content::Bits(bits) => bits.clone(),
            Content::Addresses(all) => vec![Cell::UNSET; 8 * address * all.len()],
        };
        Buffer { name: data.name.clone(), access: data.access, align: data.align, cells }
    };
    let all = buffers.iter().map(buffer).collect();
    let mut memory = Memory::new(M::CONVENTION, all, M::on_stack(arguments), phase);
    for (number, data) in buffers.iter().enumerate() {
        let Content::Addresses(all) = &data.content else { continue };
        for (at, &target) in all.iter().enumerate() {
            let place = (Region::Buffer(number as u32), (address * at) as i64);
            memory.keep(place, Whole::start(target));
        }
    }
    memory
}
