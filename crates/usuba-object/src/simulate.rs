//! The model on inputs, to be compared with the processor.
//!
//! ```text
//! f(in, out):  mov rax, [rdi];  rol rax, 5;  mov [rsi], rax;  ret
//! ```
//!
//! [`symbolic`] executes such a function once on symbols and evaluates the results, as proofs
//! do; [`numeric`] executes it on one input, where also branches and shuffles can depend on it.
//! [`executed`] has any pointer as the second parameter, at the end of a buffer or of the frame.

use super::calls::Calls;
use super::elf::Object;
use super::memory::{Access, Buffer, Memory, Pointer, Region, Whole};
use super::{Fault, Forks, Machine, Rule, World, run};
use usuba_bits::cell::{Bits, Cell, Instance};
use usuba_bits::evaluation::evaluate;
use usuba_equiv::dag::{Edge, Kind};
use usuba_equiv::value_numbering::Graph;

/// The data that the first parameter points to.
pub enum Input<'a> {
    Bytes(&'a [u8]),
    /// As many bytes of symbols.
    Symbols(usize),
}

/// The memory that the second parameter points into: a buffer, or the frame.
#[derive(Debug)]
pub struct Target {
    pub pointer: Pointer,
    /// Length, access and alignment of the buffer. Its content is unknown if it is only written,
    /// else zero.
    pub bytes: usize,
    pub access: Access,
    pub align: u64,
    /// The stack pointer at entry modulo 64.
    pub phase: u64,
}

impl Target {
    /// A pointer into no frame, to a buffer of results.
    fn results<M: Machine>(bytes: usize) -> Target {
        let phase = M::CONVENTION.phase;
        let pointer = Pointer { region: Region::Buffer(1), offset: 0 };
        Target { pointer, bytes, access: Access::Write, align: 64, phase }
    }
}

/// The bytes that a function writes for each of at most 64 inputs of one length. Bits that are not
/// written, or not known, are zero.
///
/// # Errors
/// An instruction breaks a rule.
pub fn symbolic<M: Machine>(
    object: &Object,
    symbol: &str,
    inputs: &[Vec<u8>],
    bytes: usize,
) -> Result<Vec<Vec<u8>>, Fault> {
    let size = inputs.first().map_or(0, Vec::len);
    let input = Input::Symbols(size);
    let world = executed::<M>(object, symbol, &input, &Target::results::<M>(bytes))?;
    let word = |at: usize| {
        let bit = |(run, input): (usize, &Vec<u8>)| ((input[at / 8] >> (at % 8) & 1) as u64) << run;
        inputs.iter().enumerate().map(bit).sum()
    };
    let words: Vec<u64> = (0..8 * size).map(word).collect();
    let values = evaluate(&world.bits.graph, &words);
    let of_run = |run: usize| {
        collected(&world, |cell| {
            let bit = |edge: Edge| values[edge.node() as usize] >> run & 1 == 1;
            cell.edge().is_some_and(|edge| bit(edge) != edge.is_complement())
        })
    };
    Ok((0..inputs.len()).map(of_run).collect())
}

/// The bytes that a function writes for one input. Bits that are not written, or not known, are
/// zero.
///
/// # Errors
/// An instruction breaks a rule.
pub fn numeric<M: Machine>(
    object: &Object,
    symbol: &str,
    input: &[u8],
    bytes: usize,
) -> Result<Vec<u8>, Fault> {
    let world = executed::<M>(object, symbol, &Input::Bytes(input), &Target::results::<M>(bytes))?;
    Ok(collected(&world, |&cell| world.bits.value(cell).unwrap_or(false)))
}

/// Instructions that a function may take.
const LONGEST: u64 = 10_000;

/// Executes a function.
///
/// # Errors
/// An instruction breaks a rule.
pub fn executed<'o, M: Machine>(
    object: &'o Object,
    symbol: &str,
    input: &Input,
    target: &Target,
) -> Result<World<'o>, Fault> {
    let entry = object.function(symbol);
    let entry = entry.ok_or_else(|| Fault::new(Rule::Unsupported, "there is no such function"))?;
    let mut bits = Bits::new(Graph::new(None));
    let param = |at| {
        let edge = bits.graph.intern(Kind::Param, 1, 0, at as u64, 0);
        Cell::new(edge, Instance::Number(0))
    };
    let input: Vec<Cell> = match *input {
        Input::Symbols(bytes) => (0..8 * bytes).map(param).collect(),
        Input::Bytes(bytes) => {
            let bit = |at: usize| bits.constant(bytes[at / 8] >> (at % 8) & 1 == 1);
            (0..8 * bytes.len()).map(bit).collect()
        }
    };
    let content = match target.access {
        Access::Write => Cell::UNSET,
        Access::Read | Access::Both => bits.constant(false),
    };
    let buffer =
        |name: &str, access, align, cells| Buffer { name: name.into(), access, align, cells };
    let buffers = vec![
        buffer("in", Access::Read, 64, input),
        buffer("out", target.access, target.align, vec![content; 8 * target.bytes]),
    ];
    let pointers = [Whole::start(0), Whole::Pointer(target.pointer)].map(Some);
    let memory = Memory::new(M::CONVENTION, buffers, &[], target.phase);
    let mut world =
        World { bits, memory, object, calls: Calls::default(), forks: Forks::default() };
    run::<M>(&mut world, &pointers, entry, LONGEST)?;
    Ok(world)
}

/// The bytes of the results.
fn collected(world: &World, bit: impl Fn(&Cell) -> bool) -> Vec<u8> {
    let byte = |byte: &[Cell]| byte.iter().rev().fold(0, |sum, cell| sum << 1 | bit(cell) as u8);
    world.memory.buffer(1).chunks(8).map(byte).collect()
}
