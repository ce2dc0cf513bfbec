//! Binary equivalence checking: symbolic execution of machine code against the final IR.
//!
//! ```text
//! vpxor  ymm0, ymm1, [rsi + 32]      each bit of ymm0 is a node of the graph
//! jne    loop                        the counter is a number, so the loop is run
//! ret                                outputs = outputs of the program, node by node
//! ```
//!
//! The program and the function of the object are executed into one DAG. The object is proved if
//! every bit of every result is the node of the program, for its own instance.
//!
//! *Soundness:* execution checks every rule of constant-time code, because it cannot go on
//! otherwise: addresses, branches and counts must be known, so they cannot depend on an input;
//! accesses must lie inside of a buffer of the contract or of the frame. An instruction outside the
//! model is a fault.
//!
//! *Limits:* functions whose loops are counted or run over numbers that are parameters.
//!
//! Functions over any number of blocks are proved for all numbers at once, by `blocks`.
//!
//! - `verdict`: the verdict on a function, with its evidence.
//! - `cell`: bits of registers and memory; why every lane is covered.
//! - `path_join`: one state for the states in which paths meet; `scope`: the variables where they
//!   part.
//! - `opaque`: words of which nothing is known, and names of single bits.
//! - `repeats`: vectors whose lanes compute the same for consecutive instances.
//! - `memory`: bounds and alignment in regions; `memory_values`: pointers and numbers; `address`: addresses of operands;
//!   `convention`: sizes and alignments that a calling convention fixes.
//! - `extents`: accesses whose address or length is not known.
//! - `pointer_tables`: arrays of pointers; `table_elements`: the buffers behind their elements.
//! - `struct_fields`: public numbers in structs of the caller.
//! - `memory_turns`: memory at the turns of a loop; `frame_phases`: the alignment of the frame.
//! - `word`: words of registers; `word_bits`: their bits; `flags`: flags and conditions; `outcomes`:
//!   their outcomes; `word_turns`: words at the turns of a loop.
//! - `counts`: arithmetic of numbers that depend on the number of blocks; `regions`: of addresses.
//! - `accesses`: loads and stores; `block_copies`: copies of memory; `library`: functions that copy;
//!   `places`: places in the object that instructions name.
//! - `control_flow`: instructions as they are decoded; `post_dominators`: where paths meet;
//!   `live_registers`: the registers that a function may read.
//! - `elf`: object files; `extensions`: the instructions that a target has; `dispatch`: the choice
//!   of a target at run time.
//! - `kernel_contract`: buffers and the meaning of their bits.
//! - `callgraph`: the calls of all functions of an object.
//! - `compare`: the proof of a kernel; `calls`: functions that call other kernels; `callees`: their
//!   effects.
//! - `functions`: callees as uninterpreted functions of bytes; `trial`: calls on buffers of fixed
//!   sizes.
//! - `promises`: callees by the integers of their contracts; `residues`: these integers; `points`:
//!   points of a curve; `few_bits`: words that depend on few bits.
//! - `by_machine`: proofs of kernels by the machine of an object.
//! - `blocks`: the proof of a function over any number of blocks.
//! - `block_function`: the contract of such a function.
//! - `chained_blocks`: the proof of a function over blocks of several messages.
//! - `byte_order`: the layout of words in bytes.
//! - `variable_changes`: other variables for public numbers that are not known (`usuba_ranges`).
//! - `stream`: buffers of any number of blocks.
//! - `block_step`: the inductive step over the turns of a loop.
//! - `buffer_calls`: calls over buffers of any number of bytes, which are proved once.
//! - `call_summaries`: calls whose effect is known from an earlier call; `footprint`: the bytes that
//!   a call uses; `memory_calls`: their content; `summarized`: machines with such calls.
//! - `safety`: memory safety, termination and constant time of any function; `safety_search`: its
//!   paths; `safety_induction`: its loops; `safety_state`: their states.
//! - `simulate`: the model on inputs, to be compared with a processor.
//! - `integers`: the integer abstraction of words; `integer_values`: a program on such words;
//!   `arithmetic`: the proof of a function that computes with integers.
//! - `x86`, `aarch64`, `riscv`: the machines. Another one is another folder that implements [`Machine`].
//!
//! *Reference:* King 1976 (symbolic execution); Pnueli, Siegel, Singerman 1998 (translation
//! validation).

pub mod aarch64;
mod accesses;
mod address;
pub mod arithmetic;
mod block_copies;
pub mod block_function;
pub mod block_step;
pub mod blocks;
mod buffer_calls;
pub mod by_machine;
pub mod byte_order;
mod call_summaries;
mod callees;
pub mod callgraph;
pub mod calls;
pub mod chained_blocks;
pub mod compare;
mod control_flow;
mod convention;
mod counts;
pub mod dispatch;
pub mod elf;
pub mod extensions;
mod extents;
mod few_bits;
mod flags;
mod footprint;
mod frame_phases;
pub mod functions;
pub mod integer_values;
pub mod kernel_contract;
mod library;
mod live_registers;
pub mod memory;
mod memory_calls;
mod memory_turns;
mod memory_values;
mod outcomes;
mod path_join;
mod places;
mod pointer_tables;
pub mod points;
mod post_dominators;
pub mod promises;
mod regions;
pub mod residues;
pub mod riscv;
pub mod safety;
mod safety_induction;
mod safety_search;
mod safety_state;
mod scope;
pub mod simulate;
pub mod stream;
mod struct_fields;
mod summarized;
mod table_elements;
pub mod trial;
mod variable_changes;
pub mod verdict;
mod word;
mod word_bits;
mod word_turns;
pub mod x86;

use std::fmt;

use calls::Calls;
use convention::Convention;
use elf::Object;
use extensions::Extensions;
use memory::{Memory, Whole};
use usuba_bits::cell::{Bits, Cell};

/// The rule that an instruction breaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rule {
    /// A branch depends on an input.
    SecretBranch,
    /// An address depends on an input.
    SecretAddress,
    /// A shift count that is no constant, or the control of a shuffle, depends on an input. A byte
    /// shuffle of constants is a look-up, and is allowed.
    SecretShift,
    /// An operand of an instruction with variable time depends on an input.
    SecretOperand,
    /// An access is outside of every buffer and of the frame.
    OutOfBounds,
    /// A buffer that is only read is written.
    ReadOnly,
    /// An access is not aligned, and the instruction requires it.
    Misaligned,
    /// A callee-saved register or the stack pointer is not restored.
    NotRestored,
    /// Secret-dependent bits are left behind where none may be.
    Left,
    /// A public field of a struct depends on an input at return, or is outside of its range.
    Field,
    /// The instruction, or its use here, is outside the model.
    Unsupported,
    /// The function exceeds a limit on steps or on memory.
    TooLong,
}

/// An instruction that breaks a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub rule: Rule,
    /// The message.
    pub what: String,
    /// Address and text of the instruction; empty if it is no single one.
    pub place: String,
}

impl Fault {
    pub fn new(rule: Rule, what: impl Into<String>) -> Fault {
        Fault { rule, what: what.into(), place: String::new() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.place {
            "" => f.write_str(&self.what),
            place => write!(f, "at {place}: {}", self.what),
        }
    }
}

impl std::error::Error for Fault {}

fn unsupported(what: impl Into<String>) -> Fault {
    Fault::new(Rule::Unsupported, what)
}

/// The state outside of the registers.
pub struct World<'a> {
    pub bits: Bits,
    pub memory: Memory,
    pub object: &'a Object,
    /// Kernels with their own proofs.
    pub calls: Calls,
    pub forks: Forks,
}

/// Branches whose outcome is not known.
#[derive(Clone, Copy, Default, Debug)]
pub struct Forks {
    /// Whether they are followed both ways; else they are faults.
    pub follows: bool,
    /// Whether loops may have unknown numbers of turns, so that numbers may be their counters.
    pub counts: bool,
    /// The outcome of the next one.
    pub outcome: Option<bool>,
    /// The last instruction is one, without an outcome.
    pub asked: Option<Fork>,
}

/// A condition that is not known.
#[derive(Clone, Copy, Debug)]
pub struct Fork {
    pub is_secret: bool,
    /// The condition as a bit, if it has a name.
    pub bit: Option<Cell>,
}

/// The most operators on single bits, which take over a gigabyte; the largest kernels make a million.
const OPERATORS: usize = 1 << 23;

impl World<'_> {
    /// Whether the last operation asked for cases of public data. It then does so no more.
    fn asks_public(&mut self) -> bool {
        let is_public = self.forks.asked.is_none_or(|fork| !fork.is_secret);
        let fork = self.forks.asked.take_if(|_| is_public);
        let numbers = self.memory.unknowns.asked.take_if(|_| self.forks.follows);
        fork.is_some() || numbers.is_some()
    }

    /// The instructions that the processor has.
    fn extensions(&self) -> &Extensions {
        match &self.object.dispatch {
            Some(dispatch) => dispatch.extensions(&self.memory.choice),
            None => &self.object.extensions,
        }
    }

    /// Executes an instruction.
    ///
    /// # Errors
    /// It breaks a rule, or the graph has become too large.
    fn step<M: Machine>(&mut self, machine: &mut M) -> Result<Step, Fault> {
        if self.bits.graph.nodes.len() > OPERATORS {
            let what = format!("it makes more than {OPERATORS} operators on bits");
            return Err(Fault::new(Rule::TooLong, what));
        }
        machine.step(self)
    }

    /// Checks the stack pointer after an instruction, since an interrupt or a signal handler may run
    /// then: bytes below its red zone are lost.
    ///
    /// # Errors
    /// It is in the frame of the caller.
    fn check_stack<M: Machine>(&mut self, stack: i64, before: i64) -> Result<(), Fault> {
        if stack > M::CONVENTION.above {
            let what = "the stack pointer is in the frame of the caller";
            return Err(Fault::new(Rule::NotRestored, what));
        }
        if stack > before {
            let World { bits, memory, .. } = self;
            memory.lose_below_red_zone(stack, |cell| bits.is_secret(cell));
        }
        Ok(())
    }

    /// The residue in the frame, with these registers.
    fn residue(&self, registers: Vec<String>) -> Residue {
        let is_left = |byte: &&[Cell]| byte.iter().any(|&cell| self.bits.is_secret(cell));
        let frame = self.memory.own_frame().chunks(8).filter(is_left).count();
        Residue { frame, registers }
    }
}

/// The outcome of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Next,
    /// A function of the object has been called.
    Called,
    /// A function of the object has returned to its caller, in the object.
    Back,
    /// The function has returned to its caller.
    Returned,
}

/// The secret-dependent residue at return.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Residue {
    /// Bytes of the frame.
    pub frame: usize,
    /// Names of registers.
    pub registers: Vec<String>,
}

impl Residue {
    pub fn is_empty(&self) -> bool {
        self.frame == 0 && self.registers.is_empty()
    }

    /// The fault if there must be no residue.
    pub fn fault(&self) -> Fault {
        let Residue { frame, registers } = self;
        let what = format!(
            "{frame} bytes of the frame and {} registers ({}) hold what depends on inputs",
            registers.len(),
            registers.join(", ")
        );
        Fault::new(Rule::Left, what)
    }
}

/// A processor with its calling convention.
pub trait Machine: Sized {
    const CONVENTION: Convention;

    /// The state at the entry of a function with these parameters, including the parameters that
    /// are on the stack; of `None` nothing is known.
    fn enter(parameters: &[Option<Whole>], entry: u64) -> Self;

    /// The parameters that a caller puts on the stack.
    fn on_stack<T>(parameters: &[T]) -> &[T];

    /// Executes one instruction.
    ///
    /// # Errors
    /// It breaks a rule.
    fn step(&mut self, world: &mut World) -> Result<Step, Fault>;

    /// The public result of 32 bits at return, if it is known. It is no residue.
    fn status(&mut self, bits: &Bits) -> Option<u64>;

    /// The lowest 32 bits of the result at return; `None` if they are no bits.
    fn result(&self, bits: &Bits) -> Option<Vec<Cell>>;

    /// Checks the callee-saved state once the function has returned, and returns the registers that
    /// still depend on inputs.
    ///
    /// # Errors
    /// A register is not restored.
    fn leave(&self, world: &World) -> Result<Vec<String>, Fault>;
}

/// Runs a function to its end, for at most `longest` instructions. Returns their number and the
/// residue.
///
/// # Errors
/// The first instruction that breaks a rule.
pub fn run<M: Machine>(
    world: &mut World,
    parameters: &[Option<Whole>],
    entry: u64,
    longest: u64,
) -> Result<(u64, Residue), Fault> {
    let mut machine = M::enter(parameters, entry);
    for count in 1..=longest {
        if world.step(&mut machine)? == Step::Returned {
            let registers = machine.leave(world)?;
            return Ok((count, world.residue(registers)));
        }
    }
    Err(Fault::new(Rule::TooLong, format!("it does not return in {longest} instructions")))
}
