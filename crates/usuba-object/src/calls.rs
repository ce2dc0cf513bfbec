//! Calls of kernels with their own proofs, as uninterpreted functions.
//!
//! ```text
//! program    (r) = mul(s, d)            arguments s, d; results are free words
//! object     call fe_mul                the same arguments: the same results
//! ```
//!
//! Such a kernel has its own proof, in another object or at its symbol in the same file. Here it is an uninterpreted function: the
//! program runs first, and each of its calls gives free words in the ranges of the results. A call
//! of the object gives the same words if its arguments equal the arguments of a call of the
//! program; any other call gives opaque bits.
//!
//! *Soundness:* results that are equal for any function are equal for the function of the callee.
//! The callee is proved for arguments in the ranges of its node, so the calls of the program must
//! keep them; the proof ends where intervals do not show this.

use usuba::ir::{NodeId, Program, interp};

use super::elf::Object;
use super::functions::Functions;
use super::kernel_contract::{Contract, Meaning};
use usuba_bits::cell::{Bits, Cell, Instance};
use usuba_bits::operators::Word;

/// A kernel with its own proof.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The node of the program that it computes.
    pub node: NodeId,
    /// Its interface, and the name of its function.
    pub contract: Contract,
    /// The name of the node, and the greatest values of its flattened parameters and results by its
    /// contract.
    pub name: String,
    pub params: Vec<u64>,
    pub results: Vec<u64>,
}

/// Calls of other kernels.
#[derive(Clone, Default, Debug)]
pub struct Calls {
    kernels: Vec<Kernel>,
    /// The places of their functions; `None` if another file has the function.
    places: Vec<Option<u64>>,
    made: Vec<Made>,
    /// For runs on numbers: the program that has the nodes of the kernels.
    program: Option<Program>,
    /// Callees that are uninterpreted functions of bytes.
    pub(super) functions: Functions,
}

/// A call of the program: the words of its arguments and results, for every instance.
#[derive(Clone, Debug)]
struct Made {
    kernel: usize,
    args: Vec<Word>,
    outs: Vec<Word>,
}

impl Calls {
    /// The kernels that the functions of an object may call.
    pub fn new(kernels: &[Kernel], object: &Object) -> Calls {
        let place = |kernel: &Kernel| object.function(&kernel.contract.symbol);
        let places = kernels.iter().map(place).collect();
        Calls { kernels: kernels.to_vec(), places, ..Calls::default() }
    }

    /// Calls of uninterpreted functions of bytes only.
    pub fn of(functions: Functions) -> Calls {
        Calls { functions, ..Calls::default() }
    }

    /// The same for concrete execution, where a call runs its node.
    pub fn on_numbers(kernels: &[Kernel], object: &Object, program: &Program) -> Calls {
        Calls { program: Some(program.clone()), ..Calls::new(kernels, object) }
    }

    /// The kernel whose function begins at this place of the object.
    pub fn at(&self, place: u64) -> Option<usize> {
        self.places.iter().position(|at| *at == Some(place))
    }

    /// The kernel whose function has this name.
    pub fn of_symbol(&self, symbol: &str) -> Option<usize> {
        self.kernels.iter().position(|kernel| kernel.contract.symbol == symbol)
    }

    /// The kernel of a node.
    pub fn of_node(&self, node: NodeId) -> Option<usize> {
        self.kernels.iter().position(|kernel| kernel.node == node)
    }

    pub fn contract(&self, kernel: usize) -> &Contract {
        &self.kernels[kernel].contract
    }

    /// The results of a call of the program, in words of these widths.
    ///
    /// # Errors
    /// An argument may be outside of the range of the callee.
    pub fn made(
        &mut self,
        bits: &mut Bits,
        kernel: usize,
        args: &[Word],
        sizes: impl Iterator<Item = usize>,
    ) -> Result<Vec<Word>, String> {
        let same = |made: &&Made| made.kernel == kernel && made.args == args;
        if let Some(made) = self.made.iter().find(same) {
            return Ok(made.outs.clone());
        }
        let Kernel { name, params, results, .. } = &self.kernels[kernel];
        let ones = |size: usize| u64::MAX >> (64 - size);
        for (at, arg) in args.iter().enumerate() {
            let most = params.get(at).copied().unwrap_or(u64::MAX);
            if most < ones(arg.len()) && bits.greatest(arg).is_none_or(|found| found > most) {
                return Err(format!("argument {at} of `{name}` may be out of its range"));
            }
        }
        let out = |(at, size): (usize, usize)| -> Word {
            let most = ones(size).min(results.get(at).copied().unwrap_or(u64::MAX));
            let edges = bits.free_word(size, most);
            edges.into_iter().map(|edge| Cell::new(edge, Instance::Every)).collect()
        };
        let outs: Vec<Word> = sizes.enumerate().map(out).collect();
        self.made.push(Made { kernel, args: args.to_vec(), outs: outs.clone() });
        Ok(outs)
    }

    /// The bits that a call of the object writes to its arrays: the results of the call of the
    /// program with the same arguments, for each instance.
    pub fn answer(&self, bits: &mut Bits, kernel: usize, found: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
        let arrays = &self.kernels[kernel].contract.arrays;
        let meanings = arrays.iter().flat_map(|array| [&array.entry, &array.exit]).flatten();
        let last = meanings.flatten().filter_map(|meaning| match meaning {
            Meaning::Bit { instance, .. } => *instance,
            Meaning::Zero => None,
        });
        let instances = 0..=last.max().unwrap_or(0);
        let each = instances.map(|instance| self.of_instance(bits, kernel, found, instance));
        let outs: Vec<Option<Vec<Cell>>> = each.collect();
        let cell = |meaning: &Meaning| match *meaning {
            Meaning::Zero => bits.constant(false),
            Meaning::Bit { bit, instance, complement } => {
                let of = &outs[instance.unwrap_or(0) as usize];
                let cell = of.as_ref().and_then(|of| of.get(bit as usize));
                let cell = cell.copied().unwrap_or(Cell::OPAQUE);
                if complement { bits.not(cell) } else { cell }
            }
        };
        let array = |exit: &Option<Vec<Meaning>>| -> Vec<Cell> {
            exit.iter().flatten().map(cell).collect()
        };
        arrays.iter().map(|array_of| array(&array_of.exit)).collect()
    }

    /// The flattened bits of the results for one instance, the most significant of each word first;
    /// `None` if the program has no such call.
    fn of_instance(
        &self,
        bits: &mut Bits,
        kernel: usize,
        found: &[Vec<Cell>],
        instance: u16,
    ) -> Option<Vec<Cell>> {
        let args = self.arguments(bits, kernel, found, instance)?;
        if let Some(program) = &self.program {
            return self.on_constants(bits, program, kernel, &args);
        }
        for made in self.made.iter().filter(|made| made.kernel == kernel) {
            let words: Vec<Word> = made
                .args
                .iter()
                .map(|word| word.iter().map(|&cell| own(bits, cell, instance)).collect())
                .collect();
            let (mut at, mut equal) = (0, true);
            for word in &words {
                let mut given = args[at..at + word.len()].to_vec();
                given.reverse();
                at += word.len();
                equal = equal && (given == *word || bits.are_equal(&given, word));
            }
            if equal && at == args.len() {
                let cells = made.outs.iter().flat_map(|word| word.iter().rev());
                return Some(cells.map(|&cell| own(bits, cell, instance)).collect());
            }
        }
        None
    }

    /// The flattened bits of the arguments of one instance; `None` if some break the layout of
    /// callers.
    fn arguments(
        &self,
        bits: &Bits,
        kernel: usize,
        found: &[Vec<Cell>],
        own: u16,
    ) -> Option<Vec<Cell>> {
        let mut args: Vec<Option<Cell>> = Vec::new();
        for (array, cells) in self.kernels[kernel].contract.arrays.iter().zip(found) {
            for (meaning, &cell) in array.entry.iter().flatten().zip(cells) {
                match *meaning {
                    Meaning::Zero if bits.value(cell) != Some(false) => return None,
                    Meaning::Zero => {}
                    Meaning::Bit { instance: Some(other), .. } if other != own => {}
                    Meaning::Bit { bit, complement, .. } => {
                        let known = bits.value(cell).is_some()
                            || cell.edge().is_some()
                                && [Instance::Every, Instance::Number(own)]
                                    .contains(&cell.instance());
                        if !known {
                            return None;
                        }
                        let cell = if complement { bits.not(cell) } else { cell };
                        let at = bit as usize;
                        args.resize(args.len().max(at + 1), None);
                        // A mask has several copies of one bit.
                        if args[at].is_some_and(|before| before != cell) {
                            return None;
                        }
                        args[at] = Some(cell);
                    }
                }
            }
        }
        args.into_iter().collect()
    }

    /// The results of the node of a kernel for numbers.
    fn on_constants(
        &self,
        bits: &Bits,
        program: &Program,
        kernel: usize,
        args: &[Cell],
    ) -> Option<Vec<Cell>> {
        let program = Program { entry: self.kernels[kernel].node, ..program.clone() };
        let entry = program.entry();
        let mut words = Vec::new();
        let mut at = 0;
        for &size in &entry.bits[..entry.arity(program.slicing)] {
            let mut word = args.get(at..at + size as usize)?.to_vec();
            word.reverse();
            words.push(bits.word(&word)?);
            at += size as usize;
        }
        let outs = interp::run(&program, &words).ok()?;
        let sizes = entry.outs.iter().map(|&out| entry.bits_of(out) as usize);
        let word = |(&out, size): (&u64, usize)| {
            let mut word = bits.number(out, size);
            word.reverse();
            word
        };
        Some(outs.iter().zip(sizes).flat_map(word).collect())
    }
}

/// A bit of the program, which holds for all instances, of one of them.
fn own(bits: &Bits, cell: Cell, instance: u16) -> Cell {
    match (bits.value(cell), cell.edge()) {
        (None, Some(edge)) => Cell::new(edge, Instance::Number(instance)),
        _ => cell,
    }
}
