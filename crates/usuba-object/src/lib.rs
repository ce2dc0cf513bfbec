//! Machine code, executed on the graph: what an object file computes, for all inputs.
//!
//! ```text
//! vpxor  ymm0, ymm1, [rsi + 32]      each bit of ymm0 is a node of the graph
//! jne    loop                        the counter is a number, so the loop is run
//! ret                                outputs = those of the program, node by node
//! ```
//!
//! The program and the function of the object run into one graph; the object is proved if every
//! bit of every result is the node that the program says, for its own instance. On the way every
//! rule of a constant-time kernel is checked, because nothing else can be executed: an address, a
//! branch or a count must be known, and so cannot depend on an input; an access must lie inside of
//! a buffer of the contract or of the frame. What a machine does not know is a fault, never a guess.
//!
//! Functions over any number of blocks are proved for all numbers at once, by `blocks`.
//!
//! - `answer`: what is known about a function.
//! - `cell`: bits of registers and memory; why every lane is covered.
//! - `repeats`: vectors whose lanes do the same for one instance after the other.
//! - `memory`: regions, pointers, bounds, alignment.
//! - `phases`: where the frame lies.
//! - `object`: ELF.
//! - `contract`: buffers and what their bits are.
//! - `compare`: the proof; `calls`: of functions that call other kernels.
//! - `blocks`: the proof of a function over any number of blocks.
//! - `interface`: what such a function owes.
//! - `order`: how words lie in bytes.
//! - `count`: public numbers that are not known.
//! - `stream`: buffers of any number of blocks.
//! - `induction`: one step for all turns of a loop.
//! - `sums`: sums of words in any order.
//! - `simulate`: the model on inputs, to be compared with a processor.
//! - `words`: bits that are those of integers; `values`: a program on such bits; `arithmetic`:
//!   the proof of a function that computes with integers.
//! - `x86`: the machine. Another one is another folder that implements [`Machine`].

pub mod answer;
pub mod arithmetic;
pub mod block_function;
pub mod block_step;
pub mod blocks;
pub mod byte_order;
pub mod calls;
pub mod cell;
pub mod compare;
pub mod elf;
mod frame_phases;
pub mod integer_values;
pub mod integers;
pub mod kernel_contract;
pub mod memory;
mod repeats;
pub mod simulate;
pub mod stream;
pub mod symbolic_count;
mod word_sums;
pub mod x86;

use std::fmt;

use calls::Calls;
use cell::{Bits, Cell};
use elf::Object;
use memory::{Memory, Pointer};

/// Which rule an instruction breaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rule {
    /// A branch depends on an input.
    SecretBranch,
    /// An address depends on an input.
    SecretAddress,
    /// A shift count that is no constant, or the control of a shuffle, depends on an input. A byte
    /// shuffle of constants is a lookup, and none.
    SecretShift,
    /// An operand of an instruction whose time varies depends on an input.
    SecretOperand,
    /// An access is outside of every buffer and of the frame.
    OutOfBounds,
    /// A buffer that is only read is written.
    ReadOnly,
    /// An access is not aligned, and the instruction wants it to be.
    Misaligned,
    /// A register that belongs to the caller is not restored, or the stack pointer is not.
    NotRestored,
    /// Secret bits are left behind where none should be.
    Left,
    /// The machine does not know the instruction, or what it should do here.
    Unsupported,
    /// The function does not return in as many steps as anybody waits for.
    TooLong,
}

/// An instruction that breaks a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub rule: Rule,
    /// In words: what is wrong.
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

/// What a machine acts on.
pub struct World<'a> {
    pub bits: Bits,
    pub memory: Memory,
    pub object: &'a Object,
    /// Kernels in other objects.
    pub calls: Calls,
}

impl World<'_> {
    /// What is left in the frame, besides these registers.
    fn residue(&self, registers: Vec<String>) -> Residue {
        let is_left = |byte: &&[Cell]| byte.iter().any(|&cell| self.bits.is_secret(cell));
        let frame = self.memory.own_frame().chunks(8).filter(is_left).count();
        Residue { frame, registers }
    }
}

/// What comes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Next,
    /// The function has returned to its caller.
    Returned,
}

/// What depends on inputs when the function has returned.
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

    /// What is wrong where nothing should be left.
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
    /// The state in which a function is entered whose parameters are these addresses, and those
    /// of the parameters that are on the stack.
    fn enter(parameters: &[Pointer], entry: u64) -> Self;

    /// The parameters that a caller puts on the stack.
    fn on_stack(parameters: &[Pointer]) -> &[Pointer];

    /// Executes one instruction.
    ///
    /// # Errors
    /// It breaks a rule.
    fn step(&mut self, world: &mut World) -> Result<Step, Fault>;

    /// Checks that the caller finds what it expects, once the function has returned, and says in
    /// which registers something is left that depends on inputs.
    ///
    /// # Errors
    /// A register is not what it was.
    fn leave(&self, world: &World) -> Result<Vec<String>, Fault>;
}

/// Runs a function to its end, which takes at most `longest` instructions. Returns their number
/// and what is left behind.
///
/// # Errors
/// The first instruction that breaks a rule.
pub fn run<M: Machine>(
    world: &mut World,
    parameters: &[Pointer],
    entry: u64,
    longest: u64,
) -> Result<(u64, Residue), Fault> {
    let mut machine = M::enter(parameters, entry);
    for count in 1..=longest {
        if machine.step(world)? == Step::Returned {
            let registers = machine.leave(world)?;
            return Ok((count, world.residue(registers)));
        }
    }
    Err(Fault::new(Rule::TooLong, format!("it does not return in {longest} instructions")))
}
