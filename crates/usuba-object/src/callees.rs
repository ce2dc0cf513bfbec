//! Calls of kernels with their own proofs, with the semantics of `crate::calls`, and of functions
//! over any number of blocks, with the semantics of `crate::functions`.
//!
//! ```text
//! lea  rdi, [rsp + 40]      a parameter, in the frame
//! mov  rsi, rbp             another one, in a buffer of the caller
//! call fe_mul               reads all parameters, then writes all results
//! ```
//!
//! Parameters and results are in the pointer arguments of the calling convention. Results overlap
//! nothing, as the kernel requires; the contents of the caller-saved registers after it are
//! unknown.

use super::address::Address;
use super::calls::Calls;
use super::functions::{BlockCounts, Callee, Shape};
use super::library;
use super::memory::{Pointer, Region};
use super::word::Word;
use super::{Fault, Rule, World, unsupported};
use usuba_bits::cell::Cell;

/// An effect, or the rule that a call breaks.
type Done = Result<(), Fault>;

/// A machine at a call of a function with its own proof.
pub trait Caller<'o> {
    /// How many parameters are in registers.
    const REGISTERS: usize;

    fn world(&mut self) -> &mut World<'o>;

    /// The parameter in a register, by its number.
    fn parameter(&self, at: usize) -> Word;

    /// The offset of the stack pointer.
    ///
    /// # Errors
    /// It is not in the frame.
    fn stack(&self) -> Result<i64, Fault>;

    /// The state that a function leaves: its result, and anything else in caller-saved registers. Where
    /// it handles no secret, secrets are where they were, or below the stack pointer.
    ///
    /// # Errors
    /// The stack pointer is not in the frame.
    fn returned(&mut self, result: Word, handles_secret: bool) -> Done;

    /// The state that a function with its own proof leaves: anything in the caller-saved registers and
    /// below the frame.
    ///
    /// # Errors
    /// The stack pointer is not in the frame.
    fn forget_results(&mut self) -> Done {
        self.returned(Word::Bits(Box::new([Cell::OPAQUE; 64])), true)
    }

    /// Checks the state that each call requires. The return address, or the last argument on the stack,
    /// is below `above`.
    ///
    /// # Errors
    /// The stack is not aligned.
    fn check_call(&mut self, above: i64) -> Done {
        let at = Pointer { region: Region::Frame, offset: above };
        match self.world().memory.is_aligned(at, 16) {
            true => Ok(()),
            false => Err(Fault::new(Rule::Misaligned, "the stack is not aligned at the call")),
        }
    }

    /// Bytes of an address.
    fn address_bytes(&mut self) -> usize {
        self.world().memory.convention.address
    }

    /// A pointer argument, by its number.
    ///
    /// # Errors
    /// It is not known.
    fn handed(&mut self, at: usize, above: i64) -> Result<Address, Fault> {
        if at < Self::REGISTERS {
            let word = self.parameter(at);
            return self.world().handed(word);
        }
        let bytes = self.address_bytes() as i64;
        let offset = above + bytes * (at - Self::REGISTERS) as i64;
        self.load_address(Address::Pointer(Pointer { region: Region::Frame, offset }))
    }

    /// A number that is handed over in a register, if it is known.
    fn handed_number(&self, at: usize) -> Option<u64> {
        match self.parameter(at) {
            Word::Number(value) => Some(value),
            _ => None,
        }
    }

    /// Checks that a buffer is aligned, and not below the frame, where the callee has its own.
    ///
    /// # Errors
    /// It is not.
    fn check_handed(&mut self, at: Address, align: u64) -> Done {
        let stack = self.stack()?;
        let is_aligned = match at {
            Address::Pointer(Pointer { region: Region::Frame, offset }) if offset < stack => {
                let what = "it hands over bytes below its frame";
                return Err(Fault::new(Rule::OutOfBounds, what));
            }
            _ => self.world().is_aligned(at, align),
        };
        match is_aligned {
            true => Ok(()),
            false => Err(Fault::new(Rule::Misaligned, "a buffer that is handed over")),
        }
    }

    /// The bits in memory.
    ///
    /// # Errors
    /// They are outside of every buffer, or an address.
    fn load_cells(&mut self, at: Address, bytes: usize) -> Result<Vec<Cell>, Fault> {
        let stack = self.stack()?;
        self.world().load_cells(at, bytes, stack)
    }

    /// The address in memory.
    ///
    /// # Errors
    /// There is none.
    fn load_address(&mut self, at: Address) -> Result<Address, Fault> {
        let (bytes, stack) = (self.address_bytes(), self.stack()?);
        let word = self.world().load_word(at, bytes, stack)?;
        self.world().handed(word)
    }

    /// Writes bits to memory.
    ///
    /// # Errors
    /// It may not write there.
    fn store(&mut self, at: Address, cells: &[Cell]) -> Done {
        let stack = self.stack()?;
        self.world().store(at, cells, stack)
    }

    /// The effect of a function that is not executed: it has its own proof, or is in another file. The
    /// return address, or the last argument on the stack, is below `above`.
    ///
    /// # Errors
    /// It breaks a rule, or its effect is not known.
    fn outside(&mut self, target: u64, above: i64) -> Done
    where
        Self: Sized,
    {
        if let Some(callee) = self.world().calls.functions.at(target).cloned() {
            return self.function(&callee, above);
        }
        let World { object, calls, .. } = self.world();
        let object = *object;
        let name = object.outside(target);
        if let Some(kernel) = calls.at(target).or_else(|| calls.of_symbol(name?)) {
            return self.kernel(kernel, above);
        }
        let Some(name) = name else {
            let name = object.name(target);
            return Err(unsupported(format!("it calls {name}, which is no code")));
        };
        let what = || unsupported(format!("it calls {name}, which is not in the object"));
        library::called(self, name, above).ok_or_else(what)?
    }

    /// The effect of a kernel, as a call that has returned. The return address is below `above`.
    fn kernel(&mut self, kernel: usize, above: i64) -> Done {
        self.check_call(above)?;
        let contract = self.world().calls.contract(kernel).clone();
        let mut places: Vec<(Address, usize, bool)> = Vec::new();
        for (at, &array) in contract.pointers.iter().enumerate() {
            let array = &contract.arrays[array];
            let place = self.handed(at, above)?;
            if array.size > 0 {
                self.check_handed(place, array.align)?;
            }
            places.push((place, array.size / 8, array.exit.is_some()));
        }
        are_apart(&places)?;
        let mut found = Vec::new();
        for &(place, bytes, is_result) in &places {
            found.push(match bytes == 0 || is_result {
                true => Vec::new(),
                false => self.load_cells(place, bytes)?,
            });
        }
        let calls = std::mem::take(&mut self.world().calls);
        let outs = Calls::answer(&calls, &mut self.world().bits, kernel, &found);
        self.world().calls = calls;
        for ((place, _, is_result), cells) in places.into_iter().zip(outs) {
            if is_result && !cells.is_empty() {
                self.store(place, &cells)?;
            }
        }
        self.forget_results()
    }

    /// The effect of an uninterpreted function, as a call that has returned.
    fn function(&mut self, callee: &Callee, above: i64) -> Done {
        self.check_call(above)?;
        self.world().calls.functions.called.insert(callee.symbol.clone());
        match &callee.shape {
            Shape::Fixed { sizes, result } => {
                let (mut arguments, mut places) = (Vec::new(), Vec::new());
                for (at, &(bytes, align)) in sizes.iter().enumerate() {
                    let place = self.handed(at, above)?;
                    self.check_handed(place, align)?;
                    places.push((place, bytes, at == *result));
                    if at != *result {
                        arguments.extend(self.argument(place, 0, bytes)?);
                    }
                }
                are_apart(&places)?;
                let (to, bytes, _) = places[*result];
                self.applied(callee.function, arguments, (to, 0), bytes)?;
            }
            Shape::Promise(promise) => {
                let (mut found, mut places) = (Vec::new(), Vec::new());
                for (at, &array) in promise.contract.pointers.iter().enumerate() {
                    let array = &promise.contract.arrays[array];
                    let place = self.handed(at, above)?;
                    self.check_handed(place, array.align)?;
                    places.push((place, array.size / 8, array.exit.is_some()));
                    found.push(match &array.entry {
                        Some(_) => self.argument(place, 0, array.size / 8)?,
                        None => Vec::new(),
                    });
                }
                are_apart(&places)?;
                let World { bits, calls, .. } = self.world();
                let words = promise.words(bits, &found);
                let words = words.ok_or_else(|| unsupported("its parameters are no words"))?;
                let results = (calls.functions)
                    .promised(bits, (callee.function, promise), &words)
                    .map_err(unsupported)?;
                for ((place, ..), array) in places.iter().zip(&promise.contract.arrays) {
                    if let Some(exit) = &array.exit {
                        let cells = promise.stored(&self.world().bits, exit, &results);
                        self.store(*place, &cells)?;
                    }
                }
            }
            Shape::Blocks { key, input, output, xored } => {
                let (input, output) = (*input, *output);
                let own = usize::from(xored.is_some());
                let (from, to) = (self.handed(1, above)?, self.handed(2 + own, above)?);
                let text = xored.map(|_| self.handed(2, above)).transpose()?;
                let count = self.handed_count(3 + own)?;
                if xored.is_some_and(|unit| count % unit != 0) {
                    let what = format!("`{}` is not proved for {count} blocks", callee.symbol);
                    return Err(unsupported(what));
                }
                let (read, written) = (count * input, count * output);
                let mut places = vec![(to, written, true)];
                // The results may replace the input, or the text.
                let replaced = (from, read) == (to, written);
                if !replaced {
                    places.push((from, read, false));
                }
                if let Some(text) = text.filter(|&text| replaced || text != to) {
                    places.push((text, written, false));
                }
                let mut held = Vec::new();
                if !key.bits.is_empty() {
                    let at = self.handed(0, above)?;
                    self.check_handed(at, key.align)?;
                    let words = self.argument(at, 0, key.bits.len() / 8)?;
                    places.push((at, key.bits.len() / 8, false));
                    let found = key.key(&self.world().bits, &words);
                    held = found.ok_or_else(|| unsupported("its key has other words"))?;
                }
                let blocks: Vec<Vec<Cell>> = (0..count)
                    .map(|at| self.argument(from, at * input, input))
                    .collect::<Result<_, _>>()?;
                are_apart(&places)?;
                let texts: Vec<Vec<Cell>> = (0..count)
                    .filter_map(|at| text.map(|text| self.argument(text, at * output, output)))
                    .collect::<Result<_, _>>()?;
                for (at, block) in blocks.into_iter().enumerate() {
                    let arguments = [&held[..], &block].concat();
                    let place = moved(to, at * output)?;
                    self.check_handed(place, 1)?;
                    let World { bits, calls, .. } = self.world();
                    let functions = &mut calls.functions;
                    let mut result = functions.apply(bits, callee.function, arguments, output);
                    for (cell, &other) in result.iter_mut().zip(texts.get(at).into_iter().flatten())
                    {
                        *cell = bits.xor(*cell, other);
                    }
                    self.store(place, &result)?;
                }
            }
            Shape::Chained { chain, block, counts } => {
                let (chain, block) = (*chain, *block);
                let (chains, table) = (self.handed(0, above)?, self.handed(1, above)?);
                let (blocks, count) = (self.handed_count(2)?, self.handed_count(3)?);
                if !counts.contains(&BlockCounts { blocks, messages: count }) {
                    let what = format!(
                        "`{}` is not proved for {blocks} blocks of {count} messages",
                        callee.symbol
                    );
                    return Err(unsupported(what));
                }
                let written = (chains, count * chain, true);
                let address = self.address_bytes();
                are_apart(&[written, (table, address * count, false)])?;
                for message in 0..count {
                    let from = self.load_address(moved(table, address * message)?)?;
                    are_apart(&[written, (from, blocks * block, false)])?;
                    let mut value = self.argument(chains, message * chain, chain)?;
                    for at in 0..blocks {
                        let data = self.argument(from, at * block, block)?;
                        let World { bits, calls, .. } = self.world();
                        let arguments = [value, data].concat();
                        value = calls.functions.apply(bits, callee.function, arguments, chain);
                    }
                    self.store(moved(chains, message * chain)?, &value)?;
                }
            }
        }
        self.forget_results()
    }

    /// Bits that a callee reads.
    fn argument(&mut self, from: Address, offset: usize, bytes: usize) -> Result<Vec<Cell>, Fault> {
        let at = moved(from, offset)?;
        self.check_handed(at, 1)?;
        self.load_cells(at, bytes)
    }

    /// Writes the result of a function.
    fn applied(
        &mut self,
        function: usize,
        arguments: Vec<Cell>,
        (to, offset): (Address, usize),
        bytes: usize,
    ) -> Done {
        let at = moved(to, offset)?;
        self.check_handed(at, 1)?;
        let World { bits, calls, .. } = self.world();
        let result = calls.functions.apply(bits, function, arguments, bytes);
        self.store(at, &result)
    }

    /// A number of blocks or messages that is handed over.
    fn handed_count(&mut self, at: usize) -> Result<usize, Fault> {
        let number = self.handed_number(at).filter(|&number| number < MOST);
        let other = || unsupported("a number that is handed over is not known, or too large");
        number.map(|number| number as usize).ok_or_else(other)
    }
}

/// Blocks and messages that a call may have.
const MOST: u64 = 1 << 16;

/// An address of known offset, moved up.
fn moved(at: Address, bytes: usize) -> Result<Address, Fault> {
    match at {
        Address::Pointer(pointer) => Ok(Address::Pointer(pointer.plus(bytes as i64))),
        _ => Err(unsupported("the address that is handed over is not known")),
    }
}

/// Checks that results overlap no other buffer.
fn are_apart(places: &[(Address, usize, bool)]) -> Done {
    let overlaps = |(at, one)| places[..at].iter().any(|other| overlap(one, other));
    match places.iter().enumerate().any(overlaps) {
        true => Err(unsupported("it hands over a result that overlaps another buffer")),
        false => Ok(()),
    }
}

/// Whether two buffers have bytes in common, and one of them is a result.
fn overlap(one: &(Address, usize, bool), other: &(Address, usize, bool)) -> bool {
    let (Address::Pointer(a), Address::Pointer(b)) = (one.0, other.0) else { return false };
    let apart = a.region != b.region
        || a.offset.saturating_add(one.1 as i64) <= b.offset
        || b.offset.saturating_add(other.1 as i64) <= a.offset;
    (one.2 || other.2) && !apart
}

impl World<'_> {
    /// The address in a word that is handed over to a function with its own proof.
    fn handed(&self, word: Word) -> Result<Address, Fault> {
        let other = "the address that is handed over is not known";
        match word {
            Word::Pointer(pointer) => Ok(Address::Pointer(pointer)),
            Word::Number(at) => Ok(Address::Number(at)),
            Word::Bits(cells) => {
                let secret = "an address that is handed over depends on an input";
                Err(self.unknown(&cells[..], Rule::SecretAddress, secret, other))
            }
            _ => Err(unsupported(other)),
        }
    }
}
