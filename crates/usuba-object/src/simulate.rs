//! The model on inputs, to be compared with the processor.
//!
//! ```text
//! f(in, out):  mov rax, [rdi];  rol rax, 5;  mov [rsi], rax;  ret
//! ```
//!
//! [`symbolic`] executes such a function once on symbols and evaluates the results, as proofs
//! do; [`numeric`] executes it on one input, where also branches and shuffles can depend on it.

use super::calls::Calls;
use super::cell::{Bits, Cell, Instance};
use super::compare::evaluate;
use super::elf::Object;
use super::memory::{Access, Buffer, Memory, Pointer, Region};
use super::{Fault, Machine, Rule, World, run};
use usuba_equiv::dag::{Edge, Kind};
use usuba_equiv::value_numbering::Graph;

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
    let size = inputs.first().map_or(0, |input| 8 * input.len());
    let mut graph = Graph::new(None);
    let param = |at| {
        let edge = graph.intern(Kind::Param, 1, 0, at as u64, 0);
        Cell::new(edge, Instance::Number(0))
    };
    let cells: Vec<Cell> = (0..size).map(param).collect();
    let (bits, out) = executed::<M>(object, symbol, Bits::new(graph), cells, bytes)?;
    let word = |at: usize| {
        let bit = |(run, input): (usize, &Vec<u8>)| ((input[at / 8] >> (at % 8) & 1) as u64) << run;
        inputs.iter().enumerate().map(bit).sum()
    };
    let words: Vec<u64> = (0..size).map(word).collect();
    let values = evaluate(&bits.graph, &words);
    let of_run = |run: usize| {
        collected(&out, |cell| {
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
    let bits = Bits::new(Graph::new(None));
    let bit = |at: usize| bits.constant(input[at / 8] >> (at % 8) & 1 == 1);
    let cells = (0..8 * input.len()).map(bit).collect();
    let (bits, out) = executed::<M>(object, symbol, bits, cells, bytes)?;
    Ok(collected(&out, |&cell| bits.value(cell).unwrap_or(false)))
}

/// Instructions that a function may take.
const LONGEST: u64 = 10_000;

fn executed<M: Machine>(
    object: &Object,
    symbol: &str,
    bits: Bits,
    input: Vec<Cell>,
    bytes: usize,
) -> Result<(Bits, Vec<Cell>), Fault> {
    let entry = object.function(symbol);
    let entry = entry.ok_or_else(|| Fault::new(Rule::Unsupported, "there is no such function"))?;
    let buffer = |name: &str, access, cells| Buffer { name: name.into(), access, align: 64, cells };
    let buffers = vec![
        buffer("in", Access::Read, input),
        buffer("out", Access::Write, vec![Cell::UNSET; 8 * bytes]),
    ];
    let pointers = [0, 1].map(|at| Pointer { region: Region::Buffer(at), offset: 0 });
    let memory = Memory::new(buffers, &[], 8);
    let mut world = World { bits, memory, object, calls: Calls::default() };
    run::<M>(&mut world, &pointers, entry, LONGEST)?;
    let out = world.memory.buffer(1).to_vec();
    Ok((world.bits, out))
}

fn collected(cells: &[Cell], bit: impl Fn(&Cell) -> bool) -> Vec<u8> {
    let byte = |byte: &[Cell]| byte.iter().rev().fold(0, |sum, cell| sum << 1 | bit(cell) as u8);
    cells.chunks(8).map(byte).collect()
}
