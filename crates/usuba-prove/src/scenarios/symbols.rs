//! Functions over blocks that both sides apply, and specifications on symbols.

use std::collections::BTreeMap;

use usuba_ciphers::modes::Bytes;
use usuba_library::declarations;
use usuba_library::{Unit, UnitKind};
use usuba_object::cell::{Bits, Cell};
use usuba_object::functions::{Callee, Functions, Shape};
use usuba_object::kernel_contract::Meaning;

use crate::unit::{self, BLOCK_COUNTS};

/// A function of a cipher folder, as both sides apply it.
pub(super) struct Applied {
    /// Bytes of the key, the input and the output.
    pub(super) sizes: [usize; 3],
    /// For each bit of the words of the key the bit of the key that it is; `None` for zero.
    key: Vec<Option<usize>>,
}

/// The functions over blocks of an output, and its declarations.
pub struct Known<'a> {
    names: Vec<String>,
    applied: Vec<Applied>,
    pub(super) callees: Vec<Callee>,
    pub(super) declared: BTreeMap<&'a str, &'a declarations::Function>,
}

impl<'a> Known<'a> {
    /// # Errors
    /// A unit does not compile, or the words of a key have no layout.
    pub fn new(
        units: &[Unit],
        declared: &'a [declarations::Function],
    ) -> Result<Known<'a>, String> {
        let declared = declared.iter().map(|function| (&*function.name, function)).collect();
        let mut known =
            Known { names: Vec::new(), applied: Vec::new(), callees: Vec::new(), declared };
        for unit in units {
            if let Some((name, callee)) = of_bytes(unit, known.names.len())? {
                let Shape::Fixed { inputs, output } = &callee.shape else { continue };
                let (sizes, key) = ([0, inputs.iter().sum(), *output], Vec::new());
                known.applied.push(Applied { sizes, key });
                known.names.push(name);
                known.callees.push(callee);
                continue;
            }
            let (UnitKind::Blocks(blocks) | UnitKind::Chained(blocks)) = &unit.kind else {
                continue;
            };
            let function = &blocks.function;
            let is_key = |other: &&Unit| match &other.kind {
                UnitKind::Key { function: of, .. } => of.name == function.name,
                _ => false,
            };
            let keys: Vec<&Unit> = units.iter().filter(is_key).collect();
            let key = match (&function.key, &keys[..]) {
                (None, _) => Some((0, 1, Vec::new())),
                (Some(_), [unit]) => key_words(unit)?,
                // Its key has several forms.
                (Some(_), _) => None,
            };
            let Some((bytes, align, key)) = key else { continue };
            let (input, output) = (blocks.input, blocks.output);
            let chained = matches!(unit.kind, UnitKind::Chained(_));
            let shape = match chained {
                true => Shape::Chained {
                    chain: output,
                    block: input - output,
                    counts: BLOCK_COUNTS.to_vec(),
                },
                false => Shape::Blocks { key: key.len() / 8, align, input, output },
            };
            let number = match known.names.iter().position(|name| *name == function.name) {
                Some(number) => number,
                None => {
                    known.names.push(function.name.clone());
                    known.applied.push(Applied { sizes: [bytes, input, output], key });
                    known.names.len() - 1
                }
            };
            known.callees.push(Callee { symbol: unit.symbol.clone(), function: number, shape });
        }
        Ok(known)
    }

    /// The symbols of functions over blocks.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.callees.iter().map(|callee| &*callee.symbol)
    }

    pub(super) fn applied(&self, function: &str) -> Result<(usize, &Applied), String> {
        let number = self.names.iter().position(|name| name == function);
        let number = number.ok_or_else(|| format!("`{function}` is no function over blocks"))?;
        Ok((number, &self.applied[number]))
    }
}

/// The kernels on buffers of bytes that specifications apply.
const OF_BYTES: &[&str] = &["x25519"];

/// The name and the callee of such a kernel, with this number.
fn of_bytes(unit: &Unit, function: usize) -> Result<Option<(String, Callee)>, String> {
    let entry = unit.task.options.entry.clone().unwrap_or_default();
    let is_kernel = matches!(unit.kind, UnitKind::Kernel { .. });
    if !is_kernel || !OF_BYTES.contains(&&*entry) {
        return Ok(None);
    }
    let (contract, _) = unit::contract(unit, &unit.compile()?, None)?;
    let [inputs @ .., output] = &contract.arrays[..] else { return Ok(None) };
    let is_data = |meanings: &Option<Vec<Meaning>>| {
        meanings.as_ref().is_some_and(|all| all.iter().all(|bit| *bit != Meaning::Zero))
    };
    let fits = inputs.iter().all(|array| array.exit.is_none() && is_data(&array.entry))
        && output.entry.is_none()
        && is_data(&output.exit)
        && contract.pointers.iter().copied().eq(0..contract.arrays.len());
    let inputs = inputs.iter().map(|array| array.size / 8).collect();
    let shape = Shape::Fixed { inputs, output: output.size / 8 };
    let callee = Callee { symbol: unit.symbol.clone(), function, shape };
    Ok(fits.then_some((entry, callee)))
}

/// Bytes of a key, the alignment of its words, and the bits of the key that they are.
type KeyWords = (usize, u64, Vec<Option<usize>>);

/// The words of a key; `None` after a key schedule.
fn key_words(unit: &Unit) -> Result<Option<KeyWords>, String> {
    let UnitKind::Key { schedule: None, .. } = &unit.kind else { return Ok(None) };
    let (contract, _) = unit::contract(unit, &unit.compile()?, None)?;
    let [words, key] = &contract.arrays[..] else { return Ok(None) };
    let (Some(exit), Some(entry)) = (&words.exit, &key.entry) else { return Ok(None) };
    let place = |meaning: &Meaning| match meaning {
        Meaning::Zero => None,
        meaning => entry.iter().position(|other| other == meaning),
    };
    Ok(Some((key.size / 8, words.align, exit.iter().map(place).collect())))
}

/// A byte of symbols, the lowest bit first.
pub(super) type Byte = [Cell; 8];

/// Specifications run on symbols.
pub(super) struct Symbols<'a> {
    pub known: &'a Known<'a>,
    pub bits: &'a mut Bits,
    pub functions: &'a mut Functions,
}

impl Symbols<'_> {
    /// Whether two strings of one length differ.
    pub fn differ(&mut self, a: &[Byte], b: &[Byte]) -> Cell {
        let mut any = self.bits.constant(false);
        for (&a, &b) in a.iter().flatten().zip(b.iter().flatten()) {
            let differ = self.bits.xor(a, b);
            any = self.bits.or(any, differ);
        }
        any
    }

    /// One string if a condition holds, and else the other one.
    pub fn choose(&mut self, condition: Cell, one: &[Byte], other: &[Byte]) -> Vec<Byte> {
        let mut bit = |a: Cell, b: Cell| {
            let differ = self.bits.xor(a, b);
            let change = self.bits.and(condition, differ);
            self.bits.xor(b, change)
        };
        let mut byte = |(one, other): (&Byte, &Byte)| -> Byte {
            std::array::from_fn(|at| bit(one[at], other[at]))
        };
        one.iter().zip(other).map(&mut byte).collect()
    }
}

impl Bytes for Symbols<'_> {
    type Byte = Byte;

    fn number(&self, value: u8) -> Byte {
        std::array::from_fn(|at| self.bits.constant(value >> at & 1 == 1))
    }

    fn sum(&mut self, a: &Byte, b: &Byte) -> Byte {
        std::array::from_fn(|at| self.bits.xor(a[at], b[at]))
    }

    fn sizes(&self, function: &str) -> Result<[usize; 3], String> {
        Ok(self.known.applied(function)?.1.sizes)
    }

    fn apply(&mut self, function: &str, key: &[Byte], input: &[Byte]) -> Result<Vec<Byte>, String> {
        let (number, applied) = self.known.applied(function)?;
        let [keys, inputs, output] = applied.sizes;
        if (key.len(), input.len()) != (keys, inputs) {
            return Err(format!("`{function}` is applied to other sizes"));
        }
        let bit = |at: &Option<usize>| match at {
            Some(at) => key[at / 8][at % 8],
            None => self.bits.constant(false),
        };
        let arguments = applied.key.iter().map(bit).chain(input.iter().flatten().copied());
        let arguments = arguments.collect();
        let result = self.functions.apply(self.bits, number, arguments, output);
        Ok(bytes(&result))
    }
}

pub(super) fn bytes(cells: &[Cell]) -> Vec<Byte> {
    cells.chunks_exact(8).map(|byte| byte.try_into().expect("eight bits")).collect()
}
