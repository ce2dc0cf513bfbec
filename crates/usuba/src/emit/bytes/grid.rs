//! Byte interface for grids of threads: CUDA C++ around a kernel of a thread.
//!
//! ```text
//! name_init(registers, key)                       host: a key as registers
//! name_blocks<<<...>>>(key, in, out, nblocks)     blocks in the memory of the device
//! name_ctr<<<...>>>(key, start, in, out, length)  a keystream, XORed to bytes
//! name_search<<<...>>>(task, from, count, ...)    a key in each lane, and a known block
//! ```
//!
//! A thread takes as many blocks as a register has lanes, each 32 blocks behind the one before: the
//! 32 threads of a warp then read neighbouring blocks together. Blocks go through an array of the
//! thread, which compilers keep in registers. A key is a parameter of a launch, where instructions
//! read it like a register; a long one has a copy in the shared memory of each block of threads. The
//! threads of a block begin each turn together, because kernels are longer than the nearest caches of
//! instructions, and threads at different places would wait for theirs.
//!
//! A search numbers keys by the bits that the program reads, the lowest 64 at most, from the least
//! significant bit of the last byte on. Five bits of a number are a lane, and five more a turn of a
//! thread's loop.

use super::function::{Part, arguments, flips, parts, support};
use super::mover::movers;
use super::transpose::Way;
use super::{ByteLayout, Function, Kernel, Ports, Shape, keys};
use crate::diag::{Code, Diagnostic};
use crate::emit::port_type;
use crate::emit::template::{Value, context, template};
use crate::ir::{Port, Slicing};
use crate::isa::{Layout, Target, word_lane};

/// C for the functions of a file, once and below the prelude of the device.
pub const SUPPORT: &str = include_str!("helpers/grid.h");

/// The bytes of an input that count the blocks of a keystream.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// The first of them.
    pub at: usize,
    pub bytes: usize,
    /// Whether the first is the least significant.
    pub little: bool,
}

/// A kernel of the same function whose key differs from lane to lane, and takes no complements.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    pub kernel: Kernel<'a>,
    /// The key schedule for the same registers, and the layout in which the key reads the bytes that
    /// the bits of the result are.
    pub schedule: Option<(Kernel<'a>, ByteLayout)>,
}

/// A function for a grid of threads.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a> {
    /// Its kernel is not interleaved.
    pub function: &'a Function<'a>,
    pub target: &'static Target,
    /// Instructions of one call of the kernel, by the model of a processor.
    pub instructions: u64,
    /// Of a keystream.
    pub counter: Option<Counter>,
    pub search: Option<Search<'a>>,
}

/// The functions of a grid as text.
#[derive(Clone, Debug)]
pub struct Text {
    /// Types and prototypes.
    pub header: String,
    /// The functions, which belong below the kernels, [`SUPPORT`] and the header.
    pub code: String,
}

/// The functions of a grid.
///
/// # Errors
/// The names of the function do not match the program, or a layout and a word size do not
/// go together on this target.
pub fn text(grid: Grid) -> Result<Text, Diagnostic> {
    let Grid { function, target, instructions, counter, search } = grid;
    let ports = function.ports()?;
    let layout = crate::emit::layout(function.kernel.program, target);
    let lanes = target.lanes(layout) as usize;
    let c_type = |port: &Port| port_type(target, layout, function.slicing(), port);
    let of = |port: &Port| context! { type => c_type(port), registers => port.values(function.slicing()) };
    let (from, to) = ports.blocks();
    let input = |Part { port, suffix, offset }: Part| context! { suffix, offset, ..of(port) };
    let searched = match search {
        Some(search) => searched(grid, &ports, search)?,
        None => None,
    };
    let context = context! {
        name => function.name, from, to, lanes, instructions, output => of(ports.output),
        inputs => parts(&ports.inputs).map(input).collect::<Vec<_>>(),
        key => expanded(grid, &ports, layout)?, search => &searched,
        kernel => function.kernel.symbol, arguments => arguments(function.kernel, &ports),
        units => [unit(from), unit(to)],
        counter => counter.map(|Counter { at, bytes, little }| context! { at, bytes, little }),
    };
    let (packs, unpack) = movers(function, &ports, target, layout, (&|_| from, to))?;
    let name = function.name;
    let mut code = String::new();
    for (part, mover) in parts(&ports.inputs).zip(&packs) {
        code += &mover.function(&format!("{name}_pack{}", part.suffix), Way::Pack);
    }
    code += &unpack.function(&format!("{name}_unpack"), Way::Unpack);
    if searched.is_some() {
        code += &unpack.function(&format!("{name}_pack_output"), Way::Pack);
    }
    code += &template!("templates/grid.c.in").render(context.clone());
    let header = template!("templates/grid.h.in").render(context);
    Ok(Text { header, code: support(&code, target) + &code })
}

/// The largest number of bytes that one instruction moves and a block is a multiple of.
fn unit(block: usize) -> usize {
    [16, 8, 4, 2].into_iter().find(|unit| block.is_multiple_of(*unit)).unwrap_or(1)
}

/// The registers of a key, and the statements that fill them; `None` without a key.
fn expanded(grid: Grid, ports: &Ports, layout: Layout) -> Result<Option<Value>, Diagnostic> {
    let Grid { function, target, .. } = grid;
    let (Some(port), Some(key)) = (ports.key, function.key) else { return Ok(None) };
    let words = keys::words(function)?.expect("the function has a key");
    let init = keys::init(function, key, port, "words")?;
    let spread = match layout {
        Layout::Words => String::new(),
        _ => keys::broadcast(target, layout, port, "words", &flips(function, port)),
    };
    let c_type = port_type(target, layout, function.slicing(), port);
    let registers = port.values(function.slicing());
    let width = match layout {
        Layout::Words => word_lane(port.value_bits(function.slicing())) as usize / 8,
        _ => target.bits as usize / 8,
    };
    if registers * width > PARAMETERS {
        let message = format!(
            "found a key of {} bytes in registers, expected {PARAMETERS} at most, which a launch \
             takes; help: leave this slicing out of `slicings`",
            registers * width
        );
        return Err(Diagnostic::global(Code::NotSupported, message));
    }
    Ok(Some(context! {
        word => words.c_type, words => words.count, bytes => words.key_bytes, init, spread,
        registers, type => c_type, bits => layout == Layout::Bits,
        shared => layout == Layout::Bits && registers * width > NEAR,
    }))
}

/// Bytes of parameters that instructions read like registers, all at full speed: half of the nearest
/// cache of constants. The threads of a block copy a longer key to their shared memory.
const NEAR: usize = 1_024;

/// Bytes that a key may have among the parameters of a launch: there are 32,764 in all since CUDA 12.1,
/// with a counter and addresses among them.
const PARAMETERS: usize = 32_000;

/// Bits of a key's number that are the number of a lane, and of a turn.
const LANE_BITS: usize = 5;
const TURN_BITS: usize = 5;

/// Lane j of register i is bit i of j.
const LANE_MASKS: [&str; LANE_BITS] =
    ["0xaaaaaaaaU", "0xccccccccU", "0xf0f0f0f0U", "0xff00ff00U", "0xffff0000U"];

/// The search of a key; `None` where the program reads too few bits of it.
fn searched(grid: Grid, ports: &Ports, search: Search) -> Result<Option<Value>, Diagnostic> {
    let function = grid.function;
    let (Some(port), Some(key)) = (ports.key, function.key) else { return Ok(None) };
    let program = search.schedule.map_or(search.kernel, |(schedule, _)| schedule).program;
    // A schedule has one parameter.
    let is_key = |other: &&Port| search.schedule.is_some() || other.name == key.param;
    let (given, first) = {
        let ports = &program.entry().params;
        let at = ports.iter().position(|port| is_key(&port)).expect("the function has a key");
        let before = ports[..at].iter().map(|port| port.values(Slicing::B)).sum::<usize>();
        (&ports[at], before)
    };
    let shape = Shape::of(given);
    let read = crate::emit::keys::read(program);
    let register = |at: usize| {
        let (word, bit) = key.bytes.locate(shape, at)?;
        let register = word * shape.bits as usize + bit;
        read[first + register].then_some((at, register))
    };
    let places = (0..shape.bytes()).rev().flat_map(|byte| (0..8).map(move |bit| 8 * byte + bit));
    let used: Vec<(usize, usize)> = places.filter_map(register).collect();
    if used.len() < LANE_BITS + TURN_BITS {
        return Ok(None);
    }
    let (counted, fixed) = used.split_at(used.len().min(64));
    let bits = |bits: &[(usize, usize)]| -> Vec<Value> {
        let bit =
            |&(at, register): &(usize, usize)| context! { byte => at / 8, bit => at % 8, register };
        bits.iter().map(bit).collect()
    };
    let (lanes, others) = counted.split_at(LANE_BITS);
    let (turns, others) = others.split_at(TURN_BITS);
    let taken = match search.schedule {
        Some((schedule, through)) => Some(moves(function, schedule, through, port)?),
        None => None,
    };
    Ok(Some(context! {
        arguments => arguments(search.kernel, ports), kernel => search.kernel.symbol,
        schedule => search.schedule.map(|(kernel, _)| kernel.symbol),
        given => shape.words * shape.bits as usize, taken, bytes => shape.bytes(),
        counted => bits(counted), fixed => bits(fixed),
        lanes => bits(lanes), turns => bits(turns), others => bits(others), lane_masks => LANE_MASKS,
        step => 1 << (LANE_BITS + TURN_BITS),
    }))
}

/// For each register of the key the register of the schedule's result that holds its bit.
fn moves(
    function: &Function,
    schedule: Kernel,
    through: ByteLayout,
    port: &Port,
) -> Result<Vec<usize>, Diagnostic> {
    let shape = Shape::of(port);
    let count = shape.words * shape.bits as usize;
    let results = &schedule.program.entry().results;
    if results.iter().map(|port| port.values(Slicing::B)).sum::<usize>() != count {
        let message = format!("the key schedule of `{}` makes another key", function.name);
        return Err(Diagnostic::global(Code::NotSupported, message));
    }
    let mut taken = vec![0; count];
    for bit in 0..count {
        // Bit i of the result is a bit of byte i / 8, from the most significant on.
        if let Some((word, place)) = through.locate(shape, bit / 8 * 8 + 7 - bit % 8) {
            taken[word * shape.bits as usize + place] = bit;
        }
    }
    Ok(taken)
}
