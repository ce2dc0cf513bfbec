//! The byte interface: C functions that users call, around a kernel on registers.
//!
//! ```text
//! name_init(ctx, key bytes)                      runs the key schedule
//! name_blocks(ctx, in, out, nblocks)             any number of blocks, any alignment, in place
//!     key words  ──broadcast──→ registers, once per call
//!     in         ──pack──→ registers ──kernel──→ registers ──unpack──→ out, batch by batch
//! ```
//!
//! An interleaved kernel takes the registers of several instances at once, and a batch is as many
//! blocks as fit in all of them. If there is a kernel without interleaving too, it processes the
//! rest of a message when that is at most half a batch, one instance after the other.
//!
//! The addresses and the time depend on the number of blocks only. A last partial batch goes
//! through a buffer on the stack, filled up with zero blocks. On request the functions clear
//! registers and stack after a call; the caller clears the context.
//!
//! A block consists of the input parameters in sequence, each from a whole byte on; each parameter
//! is packed by itself.
//!
//! Packing is a bit-matrix transposition. If all counts are powers of two, or a block can be cut
//! into tiles with such counts, it is a permutation of index bits; parts that fit no tile move word
//! by word.
//!
//! - `tiles`: how a port is cut into tiles.
//! - `plan`: the steps that transpose a tile.
//! - `transpose`: the C of a plan.
//! - `words`: the C that moves whole words.
//! - `keys`: the C that loads keys and broadcasts them.
//! - `macros`: the C macros of the generated code.
//! - `mover`: the C function that moves a port one of these ways.
//! - `function`: puts the parts together.
//! - `chain`: functions that take their own results, for hash functions.
//! - `library`: the parts, for libraries.
//! - `grid`: the functions for grids of threads.
//! - `templates`: the generated C, and `helpers`: C that it calls.
//! - `wipe`: zeroization of stack and registers.

mod chain;
mod function;
pub mod grid;
mod keys;
pub mod library;
mod macros;
mod mover;
mod plan;
mod tiles;
mod transpose;
mod wipe;
mod words;

use crate::diag::{Code, Diagnostic};
use crate::ir::{Port, Program, Slicing};
use crate::isa::Target;

pub use function::{declarations, definitions};

/// The layout of a parameter of A words of m bits in its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ByteLayout {
    /// The flattened bits (word 0 first, each word from its most significant bit) are the bits of
    /// the bytes, each byte from its most significant bit.
    Be,
    /// Each word little-endian; m is a multiple of 8.
    Le,
    /// m elements of A bits: bit a of element p (0 = most significant) is bit p of word a, and the
    /// elements follow each other, most significant bit first. On a parameter of two or more
    /// dimensions A is the last of them, and its rows follow each other.
    Planes,
    /// Flattened bit i is bit i mod 8, from the least significant, of byte i / 8.
    LeBits,
}

impl ByteLayout {
    /// Every layout with the name it has in `cipher.toml`.
    pub const ALL: &'static [(&'static str, ByteLayout)] = &[
        ("be", ByteLayout::Be),
        ("le", ByteLayout::Le),
        ("planes", ByteLayout::Planes),
        ("le-bits", ByteLayout::LeBits),
    ];

    /// The layout called `name`.
    pub fn find(name: &str) -> Option<ByteLayout> {
        ByteLayout::ALL.iter().find(|(n, _)| *n == name).map(|(_, layout)| *layout)
    }

    /// The word and the bit of it (0 = most significant) that bit `at` of the bytes belongs to,
    /// where bit `at` is bit `at % 8`, from the least significant, of byte `at / 8`. `None` for
    /// the padding of the last byte.
    pub fn locate(self, shape: Shape, at: usize) -> Option<(usize, usize)> {
        let bits = shape.bits as usize;
        let top_first = at / 8 * 8 + 7 - at % 8;
        let (word, bit) = match self {
            ByteLayout::Be => (top_first / bits, top_first % bits),
            ByteLayout::LeBits => (at / bits, at % bits),
            ByteLayout::Le => (at / bits, bits - 1 - at % bits),
            ByteLayout::Planes => {
                let (row, inside) =
                    (top_first / (shape.row * bits), top_first % (shape.row * bits));
                (row * shape.row + inside % shape.row, inside / shape.row)
            }
        };
        (word < shape.words).then_some((word, bit))
    }
}

/// The words of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    pub words: usize,
    /// Size of the last dimension: the words that `planes` weaves together.
    pub row: usize,
    pub bits: u8,
}

impl Shape {
    /// The shape of `port` in the source, before slicing.
    pub fn of(port: &Port) -> Shape {
        let row = port.dims.last().map_or(1, |&size| size as usize);
        Shape { words: port.words(), row, bits: port.word }
    }

    /// Bytes of the parameter, the last one padded with zero bits.
    pub fn bytes(self) -> usize {
        (self.words * self.bits as usize).div_ceil(8)
    }
}

/// A program with the C function that its kernel has become.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    pub program: &'a Program,
    /// The C name.
    pub symbol: &'a str,
    /// Whether its C takes the keys of [`crate::emit::keys::complemented`] as complements.
    pub complemented_keys: bool,
}

/// A parameter or result of the entry and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    /// Its name in the program.
    pub param: &'a str,
    pub bytes: ByteLayout,
}

/// Where the words of the key parameter come from.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The parameter of the kernel.
    pub param: &'a str,
    /// The bytes of the user's key: of `param`, or of the only parameter of the schedule.
    pub bytes: ByteLayout,
    pub schedule: Option<Schedule<'a>>,
}

/// A program that computes the words of the key parameter.
#[derive(Clone, Copy, Debug)]
pub struct Schedule<'a> {
    pub kernel: Kernel<'a>,
    /// The target of the schedule: general-purpose registers.
    pub target: &'static Target,
    /// If given, the bits of the result in their order are bytes, from which the parameter is
    /// read in this layout. Otherwise the words of both are the same.
    pub through: Option<ByteLayout>,
}

/// A function of the byte interface.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// The C name, which `_blocks`, `_init` and `_ctx` are appended to.
    pub name: &'a str,
    pub kernel: Kernel<'a>,
    /// The same node without interleaving, for messages shorter than a batch of `kernel`.
    pub single: Option<Kernel<'a>>,
    /// The parameters of a block, in the order of its bytes; at least one.
    pub inputs: &'a [Parameter<'a>],
    pub output: Parameter<'a>,
    /// Absent for permutations.
    pub key: Option<Key<'a>>,
    /// Whether [`definitions`] zeroize stack and registers.
    pub wipe: bool,
    /// Words move between bytes and integers in loops, even if they are few: code is short.
    pub rolled: bool,
}

/// The ports that the names of a function stand for.
struct Ports<'a> {
    inputs: Vec<&'a Port>,
    output: &'a Port,
    key: Option<&'a Port>,
}

impl Ports<'_> {
    /// Bytes of a block, before and after.
    fn blocks(&self) -> (usize, usize) {
        let inputs = self.inputs.iter().map(|port| Shape::of(port).bytes());
        (inputs.sum(), Shape::of(self.output).bytes())
    }
}

impl<'a> Function<'a> {
    /// Bytes of a block, before and after.
    ///
    /// # Errors
    /// The names of the function do not match the program.
    pub fn blocks(&self) -> Result<(usize, usize), Diagnostic> {
        Ok(self.ports()?.blocks())
    }

    fn slicing(&self) -> Slicing {
        self.kernel.program.slicing
    }

    /// The ports of the function: inputs, output, and key if there is one.
    ///
    /// # Errors
    /// A name is no parameter or result, or stands twice, or one is left over.
    fn ports(&self) -> Result<Ports<'a>, Diagnostic> {
        let program = self.kernel.program;
        let name = &program.entry().name;
        // The first port of a group has the name in the source.
        let heads = |groups: Vec<&'a [Port]>| -> Vec<&'a Port> {
            groups.into_iter().filter_map(<[Port]>::first).collect()
        };
        let (params, results) = (heads(program.params()), heads(program.results()));
        let find = |ports: &[&'a Port], wanted: &str, what: &str| {
            ports.iter().copied().find(|port| port.name == wanted).ok_or_else(|| {
                let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
                let message = format!("node `{name}` has no {what} `{wanted}`");
                let help = format!("it has {}", names.join(", "));
                Diagnostic::global(Code::UndefinedVariable, message).help(help)
            })
        };
        let inputs = self.inputs.iter().map(|input| find(&params, input.param, "parameter"));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let output = find(&results, self.output.param, "result")?;
        let key = self.key.map(|key| find(&params, key.param, "parameter")).transpose()?;
        let mut used: Vec<&str> = inputs.iter().chain(&key).map(|port| &*port.name).collect();
        used.sort_unstable();
        if let Some(twice) = used.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("`{}` is named twice as an input or the key", twice[0]);
            return Err(Diagnostic::global(Code::NotSupported, message));
        }
        if let Some(left) = params.iter().find(|port| !used.contains(&&*port.name)) {
            let message = format!(
                "parameter `{}` of node `{name}` is neither an input of the byte interface nor its key",
                left.name
            );
            return Err(Diagnostic::global(Code::NotSupported, message));
        }
        if inputs.is_empty() || results.len() != 1 {
            let message = format!(
                "the byte interface wants at least one input and exactly one output; \
                 it was given {} of the parameters of node `{name}`, which has {} results",
                inputs.len(),
                results.len()
            );
            return Err(Diagnostic::global(Code::NotSupported, message));
        }
        if let Some(input) = inputs.iter().find(|input| input.constant) {
            let message = format!(
                "`{}` is `const`, the same in all instances, and cannot be part of a block",
                input.name
            );
            return Err(Diagnostic::global(Code::NotSupported, message));
        }
        for (port, parameter) in inputs.iter().zip(self.inputs) {
            check(port, parameter.bytes)?;
        }
        check(output, self.output.bytes)?;
        Ok(Ports { inputs, output, key })
    }
}

/// Whether `bytes` is a layout for words of this size at all.
fn check(port: &Port, bytes: ByteLayout) -> Result<(), Diagnostic> {
    if bytes == ByteLayout::Le && !port.word.is_multiple_of(8) {
        let message =
            format!("`{}` has words of {} bits, which are no bytes", port.name, port.word);
        return Err(Diagnostic::global(Code::NoSuchWordSize, message)
            .help("use `be` or `le-bits`, which speak of bits"));
    }
    Ok(())
}
