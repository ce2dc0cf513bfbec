//! Traces: straight-line programs on words. One is made of a source, or of a function of an object.
//!
//! ```text
//! w0 = input 0                32 bits
//! w1 = input 1
//! w2 = rotl w0, 7
//! w3 = xor w2, w1
//! outputs w3
//! ```
//!
//! A word has 1 to 64 bits, and bit 0 is the least significant one. [`Op`] has the operators. Two
//! programs that write a trace of one source, or of one function, agree if they write the same bytes,
//! so a trace has one form:
//!
//! - Operators whose operands are constant are constants.
//! - An operator that changes nothing is its operand: a field of all bits, an extension to the same
//!   size, one word joined, a shift by 0, `add`, `or` and `xor` with the number 0 on either side, and
//!   `sub` of the number 0.
//! - There are no two equal words, and all words lead to an output.
//! - Words are in the order in which a depth-first search from the outputs leaves them: the operands
//!   of a word, from the first to the last, stand before it.
//!
//! *File:* numbers are unsigned LEB128. The widths of the inputs, after their number; the tables (the
//! number of arguments, then their bits, the first in bit 0 of the first byte); the wirings (the
//! number of bits, then a source for each); the words; the outputs. A word is a byte for its operator,
//! its width, its operands and its number. An operand is the distance to the word back from this one. If
//! the word before has the same width, bit 7 of the first byte is set and the width is left out.

use std::fmt;

use crate::bytes::{Reader, put};
use crate::hash::Map;

/// The number of a word in its trace.
pub type Id = u32;

/// The most words of a trace, and the most inputs.
pub const MOST: usize = 5_000_000;

/// The most arguments of a table.
pub const ARGUMENTS: usize = 10;

/// An operator. `n` is its number, `a` and `b` are its operands, m is the width of the word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Op {
    /// Input number n.
    Input,
    /// The number n.
    Const,
    Not,
    And,
    Or,
    Xor,
    /// Modulo 2^m, as are the next two.
    Add,
    Sub,
    Mul,
    /// The upper m bits of the product of 2m bits, without signs.
    MulHigh,
    /// 1 if a is below b, else 0.
    Less,
    /// The same of numbers in two's complement.
    LessSigned,
    /// By n bits, to the left, as are the three below; n < m.
    Shl,
    Shr,
    /// Copies of the top bit enter.
    Sar,
    Rotl,
    /// m bits of a, from bit n on.
    Field,
    /// a with zeros above it.
    Extend,
    /// a with copies of its top bit above it.
    ExtendSigned,
    /// Operands one above the other, the first one lowest.
    Join,
    /// Bit by bit, entry i of table n, where the operands give the bits of i, the first one the most
    /// significant bit.
    Lut,
    /// Bit i is bit `wiring[i]` of a, by wiring n.
    Wire,
    /// The lower m bits of the carry-less product.
    Clmul,
    /// The upper m bits of the carry-less product of 2m bits.
    ClmulHigh,
}

/// All operators, by their bytes in files.
const OPS: [Op; 24] = [
    Op::Input,
    Op::Const,
    Op::Not,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::MulHigh,
    Op::Less,
    Op::LessSigned,
    Op::Shl,
    Op::Shr,
    Op::Sar,
    Op::Rotl,
    Op::Field,
    Op::Extend,
    Op::ExtendSigned,
    Op::Join,
    Op::Lut,
    Op::Wire,
    Op::Clmul,
    Op::ClmulHigh,
];

impl Op {
    /// Whether the operator has a number.
    fn has_number(self) -> bool {
        use Op::*;
        matches!(self, Input | Const | Shl | Shr | Sar | Rotl | Field | Lut | Wire)
    }

    /// The number of operands; `None` if it differs from word to word.
    fn operands(self) -> Option<usize> {
        use Op::*;
        match self {
            Input | Const => Some(0),
            Not | Shl | Shr | Sar | Rotl | Field | Extend | ExtendSigned | Wire => Some(1),
            Join | Lut => None,
            _ => Some(2),
        }
    }
}

/// A word of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word {
    pub op: Op,
    /// The width m.
    pub bits: u8,
    /// The number n.
    pub number: u64,
    /// Where its operands begin among all operands, and how many they are.
    first: u32,
    count: u16,
}

/// A function of bits: its values, by the number that the arguments are, the first most significant.
pub type Table = Vec<bool>;

/// A straight-line program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trace {
    /// The widths of the inputs.
    pub inputs: Vec<u8>,
    pub tables: Vec<Table>,
    pub wirings: Vec<Vec<u8>>,
    pub words: Vec<Word>,
    operands: Vec<Id>,
    pub outputs: Vec<Id>,
}

/// The low `bits` bits.
pub fn mask(bits: u8) -> u64 {
    u64::MAX >> (64 - bits)
}

impl Trace {
    pub fn operands(&self, word: &Word) -> &[Id] {
        &self.operands[word.first as usize..][..word.count as usize]
    }

    fn add(&mut self, op: Op, bits: u8, number: u64, operands: &[Id]) -> Id {
        let first = self.operands.len() as u32;
        self.operands.extend_from_slice(operands);
        self.words.push(Word { op, bits, number, first, count: operands.len() as u16 });
        self.words.len() as Id - 1
    }

    /// The value of a word whose operands have these values.
    pub fn value(&self, word: &Word, of: &[u64]) -> u64 {
        let m = word.bits;
        let widths = |at: usize| self.words[self.operands(word)[at] as usize].bits;
        let n = word.number as u32;
        let signed = |value: u64, bits: u8| (value << (64 - bits)) as i64 >> (64 - bits);
        let wide = |value: u64| u128::from(value);
        let carryless =
            || (0..m).filter(|i| of[1] >> i & 1 == 1).fold(0, |sum, i| sum ^ wide(of[0]) << i);
        let value = match word.op {
            Op::Input => unreachable!("an input has no value of its own"),
            Op::Const => word.number,
            Op::Not => !of[0],
            Op::And => of[0] & of[1],
            Op::Or => of[0] | of[1],
            Op::Xor => of[0] ^ of[1],
            Op::Add => of[0].wrapping_add(of[1]),
            Op::Sub => of[0].wrapping_sub(of[1]),
            Op::Mul => of[0].wrapping_mul(of[1]),
            Op::MulHigh => ((wide(of[0]) * wide(of[1])) >> m) as u64,
            Op::Less => (of[0] < of[1]) as u64,
            Op::LessSigned => (signed(of[0], m) < signed(of[1], m)) as u64,
            Op::Shl => of[0] << n,
            Op::Shr => of[0] >> n,
            Op::Sar => (signed(of[0], m) >> n) as u64,
            Op::Rotl => (wide(of[0]) << n | wide(of[0]) << n >> m) as u64,
            Op::Field => of[0] >> n,
            Op::Extend => of[0],
            Op::ExtendSigned => signed(of[0], widths(0)) as u64,
            Op::Join => (0..of.len()).rev().fold(0, |sum, at| match widths(at) {
                64 => of[at],
                width => sum << width | of[at],
            }),
            Op::Lut => (0..m).fold(0, |sum, bit| {
                let row = of.iter().fold(0, |row, value| row << 1 | (value >> bit & 1) as usize);
                sum | (self.tables[n as usize][row] as u64) << bit
            }),
            Op::Wire => {
                let wiring = self.wirings[n as usize].iter().enumerate();
                wiring.fold(0, |sum, (bit, &from)| sum | (of[0] >> from & 1) << bit)
            }
            Op::Clmul => carryless() as u64,
            Op::ClmulHigh => (carryless() >> m) as u64,
        };
        value & mask(m)
    }

    /// The outputs for these inputs.
    pub fn run(&self, inputs: &[u64]) -> Vec<u64> {
        let mut values: Vec<u64> = Vec::with_capacity(self.words.len());
        for word in &self.words {
            let of: Vec<u64> = self.operands(word).iter().map(|&id| values[id as usize]).collect();
            values.push(match word.op {
                Op::Input => inputs[word.number as usize],
                _ => self.value(word, &of),
            });
        }
        self.outputs.iter().map(|&id| values[id as usize]).collect()
    }

    /// The rule that a word breaks; its operands are words before it.
    fn fault(&self, word: &Word) -> Option<&'static str> {
        let operands = self.operands(word);
        let width = |at: usize| self.words[operands[at] as usize].bits;
        let (m, n) = (word.bits, word.number);
        let all = |wanted: u8| (0..operands.len()).all(|at| width(at) == wanted);
        if !(1..=64).contains(&m) {
            return Some("a word has 1 to 64 bits");
        }
        let (holds, rule) = match word.op {
            Op::Input => (self.inputs.get(n as usize) == Some(&m), "there is no such input"),
            Op::Const => (n & !mask(m) == 0, "the number is too large for the word"),
            Op::Shl | Op::Shr | Op::Sar | Op::Rotl => {
                (all(m) && n < u64::from(m), "the amount is too large for the word")
            }
            Op::Field => {
                let fits =
                    n.checked_add(u64::from(m)).is_some_and(|end| end <= u64::from(width(0)));
                (fits, "the field does not lie in its operand")
            }
            Op::Extend | Op::ExtendSigned => (width(0) <= m, "the operand is longer than the word"),
            Op::Join => {
                let sum: u64 = (0..operands.len()).map(|at| u64::from(width(at))).sum();
                (sum == u64::from(m), "the operands have another size together")
            }
            Op::Lut => {
                let table = self.tables.get(n as usize).map(Vec::len);
                (
                    all(m) && table == Some(1 << operands.len()),
                    "the table does not fit the operands",
                )
            }
            Op::Wire => {
                let wiring = self.wirings.get(n as usize);
                let fits = wiring.is_some_and(|wiring| {
                    wiring.len() == usize::from(m) && wiring.iter().all(|&from| from < width(0))
                });
                (fits, "the wiring does not fit the words")
            }
            _ => (all(m), "the operands have another size than the word"),
        };
        (!holds).then_some(rule)
    }

    /// The bytes of the trace in a file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, self.inputs.len() as u64);
        out.extend_from_slice(&self.inputs);
        put(&mut out, self.tables.len() as u64);
        for table in &self.tables {
            out.push(table.len().ilog2() as u8);
            let byte = |bits: &[bool]| bits.iter().rev().fold(0, |sum, &bit| sum << 1 | bit as u8);
            out.extend(table.chunks(8).map(byte));
        }
        put(&mut out, self.wirings.len() as u64);
        for wiring in &self.wirings {
            out.push(wiring.len() as u8);
            out.extend_from_slice(wiring);
        }
        put(&mut out, self.words.len() as u64);
        let mut width = 0;
        for (at, word) in self.words.iter().enumerate() {
            let same = word.bits == width;
            out.push(word.op as u8 | (same as u8) << 7);
            if !same {
                out.push(word.bits);
            }
            width = word.bits;
            if word.op == Op::Join {
                put(&mut out, u64::from(word.count));
            }
            if word.op.has_number() {
                put(&mut out, word.number);
            }
            self.operands(word).iter().for_each(|&id| put(&mut out, (at - id as usize) as u64));
        }
        put(&mut out, self.outputs.len() as u64);
        self.outputs.iter().for_each(|&id| put(&mut out, u64::from(id)));
        out
    }

    /// Reads a trace.
    ///
    /// # Errors
    /// The bytes are no trace; the reason has the place.
    pub fn read(from: &mut Reader) -> Result<Trace, String> {
        let mut trace = Trace::default();
        let count = from.count(MOST)?;
        trace.inputs = from.take(count)?.to_vec();
        if !trace.inputs.iter().all(|bits| (1..=64).contains(bits)) {
            return Err(from.wrong("an input has 1 to 64 bits"));
        }
        for _ in 0..from.count(MOST)? {
            let arguments = usize::from(from.byte()?);
            if arguments > ARGUMENTS {
                return Err(from.wrong("a table has too many arguments"));
            }
            let size = 1usize << arguments;
            let bytes = from.take(size.div_ceil(8))?;
            trace.tables.push((0..size).map(|at| bytes[at / 8] >> (at % 8) & 1 == 1).collect());
        }
        for _ in 0..from.count(MOST)? {
            let size = usize::from(from.byte()?);
            trace.wirings.push(from.take(size)?.to_vec());
        }
        let mut width = 0;
        for at in 0..from.count(MOST)? {
            let first = from.byte()?;
            let op =
                *OPS.get(usize::from(first & 0x7f)).ok_or_else(|| from.wrong("no operator"))?;
            if first & 0x80 == 0 {
                width = from.byte()?;
            }
            let mut count = if op == Op::Join { Some(from.count(64)?) } else { op.operands() };
            let number = if op.has_number() { from.number()? } else { 0 };
            if op == Op::Lut {
                let table = trace.tables.get(number as usize);
                count = table.map(|table| table.len().ilog2() as usize);
            }
            let count = count.ok_or_else(|| from.wrong("there is no such table"))?;
            let start = trace.operands.len() as u32;
            for _ in 0..count {
                let back = from.number()?;
                let id = (at as u64).checked_sub(back).filter(|_| back > 0);
                trace.operands.push(id.ok_or_else(|| from.wrong("no word before this one"))? as Id);
            }
            let word = Word { op, bits: width, number, first: start, count: count as u16 };
            if let Some(rule) = trace.fault(&word) {
                return Err(from.wrong(rule));
            }
            trace.words.push(word);
        }
        for _ in 0..from.count(MOST)? {
            let id = from.number()?;
            if id >= trace.words.len() as u64 {
                return Err(from.wrong("there is no such word"));
            }
            trace.outputs.push(id as Id);
        }
        Ok(trace)
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.words.iter().enumerate() {
            write!(f, "w{at}:{} = {:?}", word.bits, word.op)?;
            if word.op.has_number() {
                write!(f, " {:#x}", word.number)?;
            }
            self.operands(word).iter().try_for_each(|id| write!(f, " w{id}"))?;
            writeln!(f)?;
        }
        write!(f, "outputs")?;
        self.outputs.iter().try_for_each(|id| write!(f, " w{id}"))?;
        writeln!(f)
    }
}

/// A trace that is being written.
#[derive(Default)]
pub struct Writer {
    trace: Trace,
    known: Map<(Op, u8, u64, Vec<Id>), Id>,
    tables: Map<Table, usize>,
    wirings: Map<Vec<u8>, usize>,
}

impl Writer {
    /// The next input.
    pub fn input(&mut self, bits: u8) -> Id {
        let number = self.trace.inputs.len() as u64;
        self.trace.inputs.push(bits);
        self.op(Op::Input, bits, number, &[])
    }

    /// The width of a word.
    pub fn bits(&self, id: Id) -> u8 {
        self.trace.words[id as usize].bits
    }

    /// Whether there are more words than a trace has.
    pub fn is_full(&self) -> bool {
        self.trace.words.len() > MOST
    }

    /// The value of a word that is constant.
    pub fn constant(&self, id: Id) -> Option<u64> {
        let word = self.trace.words[id as usize];
        (word.op == Op::Const).then_some(word.number)
    }

    pub fn number(&mut self, bits: u8, value: u64) -> Id {
        self.op(Op::Const, bits, value & mask(bits), &[])
    }

    /// A word that looks up entry by entry, bit by bit; the first argument is most significant.
    pub fn lut(&mut self, bits: u8, table: &[bool], arguments: &[Id]) -> Id {
        let next = self.trace.tables.len();
        let number = *self.tables.entry(table.to_vec()).or_insert(next);
        if number == next {
            self.trace.tables.push(table.to_vec());
        }
        self.op(Op::Lut, bits, number as u64, arguments)
    }

    /// A word whose bits are bits of another one.
    pub fn wire(&mut self, wiring: &[u8], from: Id) -> Id {
        let next = self.trace.wirings.len();
        let number = *self.wirings.entry(wiring.to_vec()).or_insert(next);
        if number == next {
            self.trace.wirings.push(wiring.to_vec());
        }
        self.op(Op::Wire, wiring.len() as u8, number as u64, &[from])
    }

    /// A word, in the form that traces have.
    ///
    /// # Panics
    /// The word breaks a rule of its operator.
    pub fn op(&mut self, op: Op, bits: u8, number: u64, operands: &[Id]) -> Id {
        let is_zero = |at: usize| self.constant(operands[at]) == Some(0);
        let same = match op {
            Op::Field | Op::Extend | Op::ExtendSigned | Op::Join => {
                (operands.len() == 1 && self.bits(operands[0]) == bits).then_some(0)
            }
            Op::Shl | Op::Shr | Op::Sar | Op::Rotl if number == 0 => Some(0),
            Op::Add | Op::Or | Op::Xor | Op::Sub if is_zero(1) => Some(0),
            Op::Add | Op::Or | Op::Xor if is_zero(0) => Some(1),
            _ => None,
        };
        if let Some(at) = same {
            return operands[at];
        }
        let key = (op, bits, number, operands.to_vec());
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let id = self.trace.add(op, bits, number, operands);
        let word = self.trace.words[id as usize];
        if let Some(rule) = self.trace.fault(&word) {
            panic!("{op:?} of {bits} bits: {rule}");
        }
        let values: Option<Vec<u64>> = operands.iter().map(|&at| self.constant(at)).collect();
        let id = match values {
            Some(of) if !matches!(op, Op::Input | Op::Const) => {
                let value = self.trace.value(&word, &of);
                self.number(bits, value)
            }
            _ => id,
        };
        self.known.insert(key, id);
        id
    }

    /// The trace with these outputs.
    pub fn finish(self, outputs: &[Id]) -> Trace {
        let old = self.trace;
        let mut new = Trace { inputs: old.inputs.clone(), ..Trace::default() };
        let mut numbers: Vec<Option<Id>> = vec![None; old.words.len()];
        let (mut tables, mut wirings) = (Map::default(), Map::default());
        for &output in outputs {
            let mut open = vec![(output, 0)];
            while let Some((id, next)) = open.pop() {
                if numbers[id as usize].is_some() {
                    continue;
                }
                let word = &old.words[id as usize];
                if let Some(&operand) = old.operands(word).get(next) {
                    open.extend([(id, next + 1), (operand, 0)]);
                    continue;
                }
                let operands: Vec<Id> = old
                    .operands(word)
                    .iter()
                    .map(|&at| numbers[at as usize].expect("an operand stands before its word"))
                    .collect();
                let number = word.number as usize;
                let number = match word.op {
                    Op::Lut => *tables.entry(number).or_insert_with(|| {
                        new.tables.push(old.tables[number].clone());
                        new.tables.len() as u64 - 1
                    }),
                    Op::Wire => *wirings.entry(number).or_insert_with(|| {
                        new.wirings.push(old.wirings[number].clone());
                        new.wirings.len() as u64 - 1
                    }),
                    _ => word.number,
                };
                numbers[id as usize] = Some(new.add(word.op, word.bits, number, &operands));
            }
        }
        let number = |id: &Id| numbers[*id as usize].expect("every output was visited");
        new.outputs = outputs.iter().map(number).collect();
        new
    }
}
