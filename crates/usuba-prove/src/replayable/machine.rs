//! The trace of a function of an object for RISC-V, by the ELF reader and the decoder of the prover: a
//! second writer beside `usuba-witness`, with which it shares no code but the shape of traces.
//!
//! ```text
//! place of array 1 + 4      lw a5, 4(a1)       a5 = the word that lies there
//! place of the frame - 16   addi sp, sp, -16   the bytes from there on may be written
//! ```
//!
//! Addresses are places, as in `usuba_object::elf`: numbers so far apart for each array, for the frame
//! and for each section that no sum leads from one to another. Arrays and the frame are aligned to four
//! bytes.

use std::collections::BTreeMap;

use usuba_decode::riscv::{Condition, Instruction, NAMES, Operand, Operation, Register, decode};
use usuba_object::elf::{Content, Kind, Object, Part, Relocation};
use usuba_object::extensions::Extensions;
use usuba_replay::trace::{Id, MOST, Op, Trace, Writer};
use usuba_witness::Array;

/// A result, or the reason why the function has no trace.
type Run<T> = Result<T, String>;

/// The distance between places of arrays, and the farthest place from an array, the frame or a section.
const STRIDE: u64 = 1 << 32;
const FAR: u64 = 1 << 30;

/// The first array, the byte behind the frame, the place that the function returns to, above all places
/// of an object.
const ARRAYS: u64 = 1 << 60;
const FRAME: u64 = 1 << 61;
const CALLER: u64 = 1 << 62;

const RA: Register = 1;
const SP: Register = 2;
const FIRST: Register = 10;

/// The registers that a function restores.
const SAVED: [Register; 14] = [3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

/// The most instructions that are executed, and the most bytes that a call copies or fills.
const LONGEST: u64 = 50_000_000;
const LARGEST: u32 = 1 << 24;

/// A value of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    Word(Id),
    Place(u64),
    /// The upper part of the address of a place; of its distance from an instruction, if there is one.
    Upper(u64, Option<u64>),
    /// The register at entry.
    Entry(Register),
    Unset,
}

/// A byte in memory: a stored value, and which of its bytes it is.
type Byte = (Value, u8);

/// A function that is being executed.
struct Machine<'a> {
    object: &'a Object,
    arrays: &'a [Array],
    writer: Writer,
    memory: BTreeMap<u64, Byte>,
    registers: [Value; 32],
    /// The place of the next instruction.
    next: u64,
}

/// The trace of a function, whose parameter i is a pointer to array `pointers[i]`. The inputs are the
/// arrays that are read, the outputs those that are written: a word for each four bytes, then one for
/// each byte that is left. A load joins the longest runs of bytes of one stored value.
///
/// # Errors
/// There is no such function, or it has no trace: a branch or an address depends on an input, an access
/// is outside of the arrays, or an instruction is not modelled.
pub fn of_function(
    object: &[u8],
    symbol: &str,
    arrays: &[Array],
    pointers: &[usize],
) -> Run<Trace> {
    let object = Object::read_any(object, Extensions::ALL)?;
    let next = object.function(symbol).ok_or("there is no such function in the object")?;
    if pointers.len() > 8 || pointers.iter().any(|&at| at >= arrays.len()) {
        return Err("the parameters do not fit the arrays and the registers".into());
    }
    let mut registers = std::array::from_fn(Value::Entry);
    (registers[RA], registers[SP]) = (Value::Place(CALLER), Value::Place(FRAME));
    for (register, &array) in (FIRST..).zip(pointers) {
        registers[register] = Value::Place(start(array));
    }
    let (writer, memory) = (Writer::default(), BTreeMap::new());
    let mut machine = Machine { object: &object, arrays, writer, memory, registers, next };
    for (at, size) in parts(arrays, |array| array.is_read) {
        let word = machine.writer.input(8 * size);
        machine.put(at, size, Value::Word(word));
    }
    let mut count = 0;
    loop {
        let at = machine.next;
        let step = machine.step();
        if !step.map_err(|why| format!("{}: {why}", object.name(at)))? {
            break;
        }
        count += 1;
        if count > LONGEST {
            return Err(format!("the function executes more than {LONGEST} instructions"));
        }
        if machine.writer.is_full() || machine.memory.len() > MOST {
            return Err(format!("the function computes or stores more than {MOST} values"));
        }
    }
    let mut outputs = Vec::new();
    for (at, size) in parts(arrays, |array| array.is_written) {
        match machine.joined(at, u32::from(size))? {
            Value::Word(word) => outputs.push(word),
            _ => return Err("an array has an address at the return".into()),
        }
    }
    Ok(machine.writer.finish(&outputs))
}

/// The place of the first byte of an array.
fn start(array: usize) -> u64 {
    ARRAYS + STRIDE * array as u64
}

/// The places and the sizes of the words and last bytes of some arrays.
fn parts(arrays: &[Array], is_one: impl Fn(&Array) -> bool) -> Vec<(u64, u8)> {
    let mut parts = Vec::new();
    for (number, array) in arrays.iter().enumerate().filter(|(_, array)| is_one(array)) {
        let (words, bytes) = (array.bytes / 4, array.bytes % 4);
        let end = start(number) + 4 * words as u64;
        parts.extend((0..words as u64).map(|word| (start(number) + 4 * word, 4)));
        parts.extend((0..bytes as u64).map(|byte| (end + byte, 1)));
    }
    parts
}

/// The array, frame or section of a place.
fn region(place: u64) -> u64 {
    place.wrapping_add(STRIDE / 2) / STRIDE
}

/// A place some bytes further, of the same region.
fn moved(place: u64, by: u32) -> Run<u64> {
    let to = place.wrapping_add_signed(i64::from(by as i32));
    let is_near = to.wrapping_add(FAR).wrapping_sub(STRIDE * region(place)) <= 2 * FAR;
    if is_near { Ok(to) } else { Err("an address far from its array".into()) }
}

impl Machine<'_> {
    fn value(&mut self, register: Register) -> Value {
        if register == 0 { self.number(0) } else { self.registers[register] }
    }

    fn set(&mut self, register: Register, value: Value) {
        if let (SP, Value::Place(from), Value::Place(to)) =
            (register, self.registers[register], value)
            && from < to
            && region(from) == region(to)
        {
            // Bytes below the stack pointer may change at any time.
            let below: Vec<u64> = self.memory.range(from..to).map(|(&at, _)| at).collect();
            below.iter().for_each(|at| {
                self.memory.remove(at);
            });
        }
        self.registers[register] = value;
    }

    fn number(&mut self, value: u32) -> Value {
        Value::Word(self.writer.number(32, u64::from(value)))
    }

    fn known(&self, value: Value) -> Option<u32> {
        let Value::Word(word) = value else { return None };
        self.writer.constant(word).map(|value| value as u32)
    }

    /// The relocation of an instruction of some bytes.
    fn relocation(&self, at: u64, bytes: usize) -> Run<Option<Relocation>> {
        let mut all = self.object.relocations(at, bytes);
        match (all.next(), all.next()) {
            (None, _) => Ok(None),
            (Some((_, Relocation { kind: Kind::Unknown(why), .. })), None) => Err(why.to_string()),
            (Some((place, relocation)), None) if place == at => Ok(Some(*relocation)),
            _ => Err("the linker writes parts of an instruction".into()),
        }
    }

    /// Executes an instruction; whether the function goes on.
    fn step(&mut self) -> Run<bool> {
        let at = self.next;
        let code = decode(self.object.code(at, 4));
        let (instruction, bytes) = code.ok_or("there is no instruction of RV32IMC")?;
        self.next = at + bytes as u64;
        let relocation = self.relocation(at, bytes)?;
        let link = relocation.map(|relocation| (relocation.kind, relocation.target));
        let target = |offset: i32| at.wrapping_add_signed(offset.into());
        match (instruction, link) {
            (Instruction::Upper { to, value }, None) => {
                let value = self.number(value as u32);
                self.set(to, value);
            }
            (Instruction::Upper { to, .. }, Some((Kind::Part(Part::High), place))) => {
                self.set(to, Value::Upper(place, None));
            }
            (
                Instruction::UpperRelative { to, .. },
                Some((Kind::Part(Part::HighRelative), place)),
            ) => self.set(to, Value::Upper(place, Some(at))),
            (Instruction::UpperRelative { to, value }, link) => {
                let second = decode(self.object.code(self.next, 4));
                let Some((Instruction::JumpRegister { to: back, base, offset }, more)) = second
                else {
                    return Err("a call without its second instruction".into());
                };
                let both = self.relocation(at, bytes + more)?;
                let target = match (link, both) {
                    (None, None) => target(value).wrapping_add_signed(offset.into()),
                    (Some((Kind::Relative, target)), Some(Relocation { size: 8, .. })) => target,
                    _ => return Err("the instructions of a call do not fit".into()),
                };
                if base != to || to == 0 {
                    return Err("the instructions of a call do not fit".into());
                }
                self.next += more as u64;
                self.set(to, Value::Unset);
                return self.jump(back, target);
            }
            (Instruction::Jump { to, offset }, None) => return self.jump(to, target(offset)),
            (Instruction::Jump { to, .. }, Some((Kind::Relative, place))) => {
                return self.jump(to, place);
            }
            (Instruction::JumpRegister { to, base, offset: 0 }, None) if to == 0 || to == RA => {
                let place = self.value(base);
                if to == RA {
                    self.registers[RA] = Value::Place(self.next);
                }
                return self.arrive(place);
            }
            (Instruction::Branch { condition, a, b, offset }, None) => {
                self.branch(condition, a, b, target(offset))?;
            }
            (Instruction::Branch { condition, a, b, .. }, Some((Kind::Relative, place))) => {
                self.branch(condition, a, b, place)?;
            }
            (Instruction::Load { to, base, offset, bytes, signed }, link) => {
                let place = self.address(base, offset, link)?;
                let value = self.load(place, bytes as u32, signed)?;
                self.set(to, value);
            }
            (Instruction::Store { from, base, offset, bytes }, link) => {
                let place = self.address(base, offset, link)?;
                let value = self.value(from);
                self.store(place, bytes as u32, value)?;
            }
            (Instruction::Arithmetic { operation, to, a, b }, None) => {
                let a = self.value(a);
                let b = match b {
                    Operand::Register(register) => self.value(register),
                    Operand::Immediate(value) => self.number(value as u32),
                };
                let value = self.arithmetic(operation, a, b)?;
                self.set(to, value);
            }
            (
                Instruction::Arithmetic {
                    operation: Operation::Add,
                    to,
                    a,
                    b: Operand::Immediate(offset),
                },
                link,
            ) => {
                let place = self.address(a, offset, link)?;
                self.set(to, Value::Place(place));
            }
            _ => {
                return Err(
                    "an instruction, or what the linker writes into it, is not known".into()
                );
            }
        }
        Ok(true)
    }

    /// A jump, or a call if it keeps the return address.
    fn jump(&mut self, back: Register, to: u64) -> Run<bool> {
        if back != 0 && back != RA {
            return Err("a return address in another register than ra".into());
        }
        if let Some(name) = self.object.outside(to) {
            let place = if back == RA { Value::Place(self.next) } else { self.registers[RA] };
            self.library(name)?;
            return self.arrive(place);
        }
        if back == RA {
            self.registers[RA] = Value::Place(self.next);
        }
        self.next = to;
        Ok(true)
    }

    /// Goes to the place in a register; whether it is in the object.
    fn arrive(&mut self, place: Value) -> Run<bool> {
        match place {
            Value::Place(CALLER) => {
                let mut saved = SAVED.iter().filter(|&&at| self.registers[at] != Value::Entry(at));
                match (saved.next(), self.registers[SP]) {
                    (None, Value::Place(FRAME)) => Ok(false),
                    (Some(&register), _) => Err(format!("{} is not restored", NAMES[register])),
                    _ => Err("sp is not restored".into()),
                }
            }
            Value::Place(place) => {
                self.next = place;
                Ok(true)
            }
            _ => Err("a jump to a place that is not known".into()),
        }
    }

    /// The functions that compilers call by themselves.
    fn library(&mut self, name: &str) -> Run<()> {
        let [to, second, size] = [0, 1, 2].map(|at| self.registers[FIRST + at]);
        let size = self.known(size).filter(|&size| size <= LARGEST);
        let size = size.ok_or_else(|| format!("a call of {name} of a size that is not known"))?;
        let Value::Place(to) = to else { return Err(format!("{name} writes to no known place")) };
        match (name, second) {
            ("memcpy" | "memmove", Value::Place(from)) => {
                let mut bytes = Vec::new();
                for at in 0..size {
                    bytes.extend(self.bytes(moved(from, at)?, 1)?);
                }
                for (at, byte) in (0..).zip(bytes) {
                    let place = moved(to, at)?;
                    self.check(place, 1, true)?;
                    self.memory.insert(place, byte);
                }
            }
            ("memset", value) => {
                (0..size).try_for_each(|at| self.store(moved(to, at)?, 1, value))?;
            }
            _ => return Err(format!("a call of {name}, which is not in the object")),
        }
        for register in (1..32).filter(|register| *register != SP && !SAVED.contains(register)) {
            // The first parameter is the result.
            if register != FIRST {
                self.registers[register] = Value::Unset;
            }
        }
        Ok(())
    }

    /// The sum of a register and an offset, or the place whose lower part the linker writes.
    fn address(&mut self, base: Register, by: i32, link: Option<(Kind, u64)>) -> Run<u64> {
        match (self.value(base), link) {
            (Value::Place(place), None) => moved(place, by as u32),
            (_, None) => Err("an address depends on an input, or is not known".into()),
            // The lower part of the address of another place in the same aligned block is the rest.
            (Value::Upper(upper, None), Some((Kind::Part(Part::Low), place)))
                if upper == place || self.is_one_block(upper, place) =>
            {
                Ok(place)
            }
            (Value::Upper(place, Some(from)), Some((Kind::Part(Part::LowRelative), at)))
                if from == at =>
            {
                Ok(place)
            }
            _ => Err("the parts of an address do not fit".into()),
        }
    }

    /// Whether the addresses of two places have one upper part, wherever the linker places them.
    fn is_one_block(&self, one: u64, other: u64) -> bool {
        let is_block = |bytes: u64| {
            let first = one - one % bytes;
            first == other - other % bytes
                && self.object.is_aligned(Object::pointer(first), bytes)
                && region(one) == region(other)
        };
        (2..12).any(|bits| is_block(1 << bits))
    }

    /// Goes to a place if a condition holds.
    fn branch(&mut self, condition: Condition, a: Register, b: Register, to: u64) -> Run<()> {
        let [a, b] = [a, b].map(|register| self.value(register));
        let by = |a: u64, b: u64, is_signed: bool| match condition {
            Condition::Equal => Some(a == b),
            Condition::Unequal => Some(a != b),
            Condition::Below => Some(a < b),
            Condition::NotBelow => Some(a >= b),
            Condition::Less => is_signed.then_some((a as i32) < b as i32),
            Condition::NotLess => is_signed.then_some(a as i32 >= b as i32),
        };
        let is_equality = matches!(condition, Condition::Equal | Condition::Unequal);
        let holds = match (a, b, self.known(a), self.known(b)) {
            (.., Some(a), Some(b)) => by(a.into(), b.into(), true),
            // The order of addresses is known within an array and just behind it.
            (Value::Place(a), Value::Place(b), ..) if region(a) == region(b) => {
                let is_known = self.is_inside(a) && self.is_inside(b);
                by(a, b, false).filter(|_| is_known || is_equality)
            }
            (Value::Place(place), _, _, Some(0)) | (_, Value::Place(place), Some(0), _) => {
                let is_known = is_equality && self.is_inside(place);
                is_known.then_some(condition == Condition::Unequal)
            }
            _ => None,
        };
        if holds.ok_or("a branch depends on an input, or on addresses")? {
            self.next = to;
        }
        Ok(())
    }

    /// Whether a place is in its array, in the frame or in its section, or just behind.
    fn is_inside(&self, place: u64) -> bool {
        match region(place) * STRIDE {
            FRAME => self.in_frame(place, 0),
            base if base >= ARRAYS => {
                let array = self.arrays.get(((base - ARRAYS) / STRIDE) as usize);
                array.is_some_and(|array| place >= base && place - base <= array.bytes as u64)
            }
            _ => self.object.is_inside(Object::pointer(place)),
        }
    }

    fn in_frame(&self, place: u64, size: u64) -> bool {
        matches!(self.registers[SP], Value::Place(stack) if stack <= place && place + size <= FRAME)
    }

    /// Checks an access.
    fn check(&self, place: u64, size: u64, is_store: bool) -> Run<()> {
        let fits = match region(place) * STRIDE {
            FRAME => self.in_frame(place, size),
            base if base >= ARRAYS => {
                let array = self.arrays.get(((base - ARRAYS) / STRIDE) as usize);
                array.is_some_and(|array| {
                    let is_here = place >= base && place - base + size <= array.bytes as u64;
                    is_here && (array.is_written || !is_store)
                })
            }
            _ => !is_store,
        };
        if !fits {
            return Err("an access outside of the arrays, the frame and constants".into());
        }
        let is_aligned = match place < ARRAYS {
            true => self.object.is_aligned(Object::pointer(place), size),
            false => place.is_multiple_of(size),
        };
        if is_aligned { Ok(()) } else { Err("an access that is not aligned".into()) }
    }

    fn put(&mut self, place: u64, size: u8, value: Value) {
        self.memory.extend((0..size).map(|byte| (place + u64::from(byte), (value, byte))));
    }

    /// The bytes at a place.
    fn bytes(&mut self, place: u64, size: u32) -> Run<Vec<Byte>> {
        self.check(place, u64::from(size), false)?;
        if place >= ARRAYS {
            let places = place..place + u64::from(size);
            let bytes: Option<_> = places.map(|at| self.memory.get(&at).copied()).collect();
            return bytes.ok_or_else(|| "a byte that nobody has written".into());
        }
        match self.object.constant(place, size as usize)? {
            Content::Address(place) => {
                Ok((0..size as u8).map(|byte| (Value::Place(place), byte)).collect())
            }
            Content::Bytes(bytes) => Ok(bytes
                .iter()
                .map(|&byte| (Value::Word(self.writer.number(8, u64::from(byte))), 0))
                .collect()),
        }
    }

    /// The bytes at a place as one value.
    fn joined(&mut self, place: u64, size: u32) -> Run<Value> {
        let bytes = self.bytes(place, size)?;
        let (first, start) = bytes[0];
        if !matches!(first, Value::Word(_)) {
            let is_whole = bytes.iter().zip(0..).all(|(byte, at)| *byte == (first, at));
            return match is_whole && start == 0 && size == 4 {
                true => Ok(first),
                false => Err("a part of an address".into()),
            };
        }
        let mut fields = Vec::new();
        let mut rest = &bytes[..];
        while let Some(&(value, start)) = rest.first() {
            let Value::Word(word) = value else { return Err("a part of an address".into()) };
            let count = rest.iter().zip(start..).take_while(|(byte, at)| **byte == (value, *at));
            let count = count.count();
            let field = self.writer.op(Op::Field, 8 * count as u8, 8 * u64::from(start), &[word]);
            fields.push(field);
            rest = &rest[count..];
        }
        Ok(Value::Word(self.writer.op(Op::Join, 8 * size as u8, 0, &fields)))
    }

    fn load(&mut self, place: u64, size: u32, is_signed: bool) -> Run<Value> {
        let value = self.joined(place, size)?;
        let Value::Word(word) = value else { return Ok(value) };
        let op = if is_signed { Op::ExtendSigned } else { Op::Extend };
        Ok(Value::Word(self.writer.op(op, 32, 0, &[word])))
    }

    fn store(&mut self, place: u64, size: u32, value: Value) -> Run<()> {
        self.check(place, u64::from(size), true)?;
        let value = match value {
            Value::Word(word) => Value::Word(self.writer.op(Op::Field, 8 * size as u8, 0, &[word])),
            Value::Unset => return Err("a value that nobody has written is stored".into()),
            address if size == 4 => address,
            _ => return Err("a part of an address is stored".into()),
        };
        self.put(place, size as u8, value);
        Ok(())
    }

    fn arithmetic(&mut self, operation: Operation, a: Value, b: Value) -> Run<Value> {
        use Operation::*;
        match (operation, a, b) {
            // Moves keep any value.
            (Add, value, other) | (Add, other, value) if self.known(other) == Some(0) => {
                return Ok(value);
            }
            (Add, Value::Place(place), by) | (Add, by, Value::Place(place)) => {
                let by = self.known(by).ok_or("an address depends on an input")?;
                return moved(place, by).map(Value::Place);
            }
            (Subtract, Value::Place(a), Value::Place(b)) if region(a) == region(b) => {
                return Ok(self.number(a.wrapping_sub(b) as u32));
            }
            (Subtract, Value::Place(place), by) => {
                let by = self.known(by).ok_or("an address depends on an input")?;
                return moved(place, by.wrapping_neg()).map(Value::Place);
            }
            _ => {}
        }
        let (Value::Word(x), Value::Word(y)) = (a, b) else {
            return Err("arithmetic on an address, or on what nobody has written".into());
        };
        let op = match operation {
            Add => Op::Add,
            Subtract => Op::Sub,
            Xor => Op::Xor,
            Or => Op::Or,
            And => Op::And,
            Less => Op::LessSigned,
            LessUnsigned => Op::Less,
            Multiply => Op::Mul,
            HighUnsigned => Op::MulHigh,
            ShiftLeft | ShiftRight | ShiftRightSigned => {
                let by = self.known(b).ok_or("an amount depends on an input")? % 32;
                let op = match operation {
                    ShiftLeft => Op::Shl,
                    ShiftRight => Op::Shr,
                    _ => Op::Sar,
                };
                return Ok(Value::Word(self.writer.op(op, 32, by.into(), &[x])));
            }
            High | HighSignedUnsigned | Divide | DivideUnsigned | Remainder | RemainderUnsigned => {
                let (Some(a), Some(b)) = (self.known(a), self.known(b)) else {
                    return Err("a division or a signed product depends on an input".into());
                };
                return Ok(self.number(constant(operation, a, b)));
            }
        };
        Ok(Value::Word(self.writer.op(op, 32, 0, &[x, y])))
    }
}

/// The signed products, quotients and remainders of numbers.
fn constant(operation: Operation, a: u32, b: u32) -> u32 {
    let (x, y) = (i64::from(a as i32), i64::from(b as i32));
    match (operation, b) {
        (Operation::High, _) => ((x * y) >> 32) as u32,
        (Operation::HighSignedUnsigned, _) => ((x * i64::from(b)) >> 32) as u32,
        (Operation::Divide | Operation::DivideUnsigned, 0) => u32::MAX,
        (_, 0) => a,
        (Operation::Divide, _) => (x / y) as u32,
        (Operation::DivideUnsigned, _) => a / b,
        (Operation::Remainder, _) => (x % y) as u32,
        _ => a % b,
    }
}
