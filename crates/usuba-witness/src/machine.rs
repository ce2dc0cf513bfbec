//! Functions of objects for RISC-V as traces: instructions run on words, pointers and numbers.
//!
//! ```text
//! lw   a5, 4(a1)       a5 = input 1
//! srli a4, a5, 25      a4 = shr input 1, 25
//! bne  a1, a3, loop    two pointers into one array, so the branch is known
//! ```
//!
//! Addresses are places in regions: an array, the frame, a section. A branch that depends on an input
//! has no trace.

mod arithmetic;
mod library;
mod memory;

use usuba_replay::hash::Map;
use usuba_replay::trace::{Id, MOST, Trace, Writer};

use crate::Run;
use crate::decode::{Condition, Instruction, Register, decode};
use crate::elf::{Kind, Object, Place, Relocation};

/// A buffer of the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    /// Its size.
    pub bytes: usize,
    /// Whether it holds inputs when the function begins.
    pub is_read: bool,
    /// Whether it holds outputs when the function returns.
    pub is_written: bool,
}

/// The place that a pointer is relative to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Region {
    Array(usize),
    /// From the stack pointer at entry, downwards.
    Frame,
    Section(usize),
    /// The place that the function returns to.
    Caller,
}

/// A value of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    Word(Id),
    Pointer(Region, i32),
    /// The upper part of the address of a place in a section; with the place of the instruction, if
    /// the address counts from there.
    Upper(usize, u32, Option<(usize, u32)>),
    /// The content of a register at entry.
    Entry(Register),
    Unset,
}

/// A byte of memory: a value, and which of its bytes it is.
type Cell = (Value, u8);

const RA: usize = 1;
const SP: usize = 2;
const A0: usize = 10;

/// The registers that a function restores: s0 to s11.
const SAVED: [usize; 12] = [8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];

/// The registers that a call may change besides its result, ra among them.
const VOLATILE: [usize; 15] = [1, 5, 6, 7, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31];

/// The most instructions that are executed.
const LONGEST: u64 = 50_000_000;

/// A function that is being executed.
struct Machine<'a> {
    object: &'a Object,
    arrays: &'a [Array],
    writer: Writer,
    memory: Map<(Region, i32), Cell>,
    registers: [Value; 32],
    /// The section and the offset of the next instruction.
    place: (usize, u32),
}

/// The trace of a function of an object for RV32IM with compressed instructions. Its parameter i is a
/// pointer to the first byte of array `pointers[i]`, for at most eight parameters.
///
/// The inputs are the arrays that are read, in order: a word for each four bytes, then one for each
/// byte that is left. The outputs are the arrays that are written, in the same way.
///
/// # Errors
/// The file is no such object, or the function has no trace: a branch or an address depends on an
/// input, an access lies outside of the arrays, or an instruction is not modelled.
pub fn riscv(object: &[u8], symbol: &str, arrays: &[Array], pointers: &[usize]) -> Run<Trace> {
    let object = Object::read(object)?;
    let place = object.function(symbol)?;
    if pointers.len() > 8 || pointers.iter().any(|&at| at >= arrays.len()) {
        return Err("the pointers do not fit the arrays and registers".into());
    }
    let mut registers = std::array::from_fn(|register| Value::Entry(register as Register));
    registers[RA] = Value::Pointer(Region::Caller, 0);
    registers[SP] = Value::Pointer(Region::Frame, 0);
    for (at, &array) in pointers.iter().enumerate() {
        registers[A0 + at] = Value::Pointer(Region::Array(array), 0);
    }
    let (writer, memory) = (Writer::default(), Map::default());
    let mut machine = Machine { object: &object, arrays, writer, memory, registers, place };
    machine.inputs();
    let mut count = 0;
    while machine.step().map_err(|why| machine.at(&why))? {
        count += 1;
        if count == LONGEST {
            return Err(format!("the function executes more than {LONGEST} instructions"));
        }
        if machine.writer.is_full() || machine.memory.len() > MOST {
            return Err(format!("the function computes or stores more than {MOST} values"));
        }
    }
    let outputs = machine.outputs()?;
    Ok(machine.writer.finish(&outputs))
}

impl Machine<'_> {
    /// A reason with the place of the instruction.
    fn at(&self, why: &str) -> String {
        let (section, offset) = self.place;
        format!("section {section} + {offset:#x}: {why}")
    }

    fn value(&mut self, register: Register) -> Value {
        match register {
            0 => self.number(0),
            _ => self.registers[usize::from(register)],
        }
    }

    fn set(&mut self, register: Register, value: Value) {
        let register = usize::from(register);
        if let (SP, Value::Pointer(Region::Frame, from), Value::Pointer(Region::Frame, to)) =
            (register, self.registers[SP], value)
        {
            // Interrupts may change the bytes below the stack pointer.
            match i64::from(to) - i64::from(from) > self.memory.len() as i64 {
                true => self.memory.retain(|&(region, at), _| region != Region::Frame || at >= to),
                false => (from..to).for_each(|at| {
                    self.memory.remove(&(Region::Frame, at));
                }),
            }
        }
        self.registers[register] = value;
    }

    fn number(&mut self, value: u32) -> Value {
        Value::Word(self.writer.number(32, u64::from(value)))
    }

    /// The number that a value is.
    fn known(&self, value: Value) -> Option<u32> {
        let Value::Word(id) = value else { return None };
        self.writer.constant(id).map(|value| value as u32)
    }

    /// The relocation of the instruction at a place.
    fn relocation(&self, (section, offset): (usize, u32)) -> Run<Option<Relocation>> {
        let all = self.object.sections[section].relocations.get(&offset);
        match all.map(Vec::as_slice) {
            None => Ok(None),
            Some(&[Relocation { kind: Kind::Unknown(kind), .. }]) => {
                Err(format!("the relocation {kind} is not modelled"))
            }
            Some(&[relocation]) => Ok(Some(relocation)),
            Some(_) => Err("an instruction has several relocations".into()),
        }
    }

    /// Executes an instruction; whether the function goes on.
    fn step(&mut self) -> Run<bool> {
        let (section, offset) = self.place;
        let code = &self.object.sections[section];
        let bytes = code.bytes.get(offset as usize..).filter(|_| code.is_code);
        let (instruction, size) = decode(bytes.ok_or("there is no code")?)?;
        let next = (section, offset + size);
        let relocation = self.relocation(self.place)?;
        if let Some(Relocation { kind: Kind::Call, .. }) = relocation {
            return self.far_call(section, offset, relocation);
        }
        let target = |by: u32| (section, offset.wrapping_add(by));
        match instruction {
            Instruction::UpperNear { .. } if relocation.is_none() => {
                return self.far_call(section, offset, None);
            }
            Instruction::Nothing => {}
            Instruction::Jump { rd, offset } => {
                let to = match relocation {
                    None => Some(target(offset)),
                    Some(relocation) => self.code_at(&relocation, Kind::Jump)?,
                };
                return self.go(rd, to, relocation, next);
            }
            Instruction::JumpTo { rd, base, offset } => {
                return self.jump_to(rd, base, offset, next);
            }
            Instruction::Branch { condition, left, right, offset } => {
                let to = match relocation {
                    None => target(offset),
                    Some(relocation) => self
                        .code_at(&relocation, Kind::Branch)?
                        .ok_or("a branch to another file")?,
                };
                let [left, right] = [left, right].map(|register| self.value(register));
                self.place = if self.holds(condition, left, right)? { to } else { next };
                return Ok(true);
            }
            _ => self.compute(instruction, relocation)?,
        }
        self.place = next;
        Ok(true)
    }

    /// The place of code that a relocation names; `None` if it is in another file.
    fn code_at(&self, relocation: &Relocation, kind: Kind) -> Run<Option<(usize, u32)>> {
        if relocation.kind != kind {
            return Err("the relocation does not fit the instruction".into());
        }
        match self.object.symbol(relocation)?.section {
            Place::Section(_) => self.object.target(relocation).map(Some),
            _ => Ok(None),
        }
    }

    /// `auipc` and `jalr` to one place, which the linker may write.
    fn far_call(
        &mut self,
        section: usize,
        offset: u32,
        relocation: Option<Relocation>,
    ) -> Run<bool> {
        let code = &self.object.sections[section].bytes;
        let parts = code.get(offset as usize..).ok_or("a call without its second part")?;
        let second = parts.get(4..).ok_or("a call without its second part")?;
        let (
            (Instruction::UpperNear { rd: upper, value }, _),
            (Instruction::JumpTo { rd, base, offset: lower }, size),
        ) = (decode(parts)?, decode(second)?)
        else {
            return Err("a call that is no auipc and jalr".into());
        };
        if upper != base || upper == 0 || self.relocation((section, offset + 4))?.is_some() {
            return Err("the parts of a call do not belong together".into());
        }
        self.set(upper, Value::Unset);
        let to = match &relocation {
            Some(relocation) => self.code_at(relocation, Kind::Call)?,
            None => Some((section, offset.wrapping_add(value).wrapping_add(lower))),
        };
        self.go(rd, to, relocation, (section, offset + 4 + size))
    }

    /// A jump, or a call if `rd` is ra.
    fn go(
        &mut self,
        rd: Register,
        to: Option<(usize, u32)>,
        relocation: Option<Relocation>,
        next: (usize, u32),
    ) -> Run<bool> {
        if rd != 0 && usize::from(rd) != RA {
            return Err("the return address is kept in another register than ra".into());
        }
        let back = Value::Pointer(Region::Section(next.0), next.1 as i32);
        if let Some(to) = to {
            if rd != 0 {
                self.registers[RA] = back;
            }
            self.place = to;
            return Ok(true);
        }
        let relocation = relocation.ok_or("a jump to nowhere")?;
        let symbol = self.object.symbol(&relocation)?;
        if symbol.section != Place::Undefined || relocation.addend != 0 {
            return Err("a call of something that is no function".into());
        }
        let name = symbol.name.clone();
        let back = if rd == 0 { self.registers[RA] } else { back };
        self.library(&name)?;
        self.arrive(back)
    }

    fn jump_to(
        &mut self,
        rd: Register,
        base: Register,
        offset: u32,
        next: (usize, u32),
    ) -> Run<bool> {
        let to = self.value(base);
        if offset != 0 || (rd != 0 && usize::from(rd) != RA) {
            return Err("a jump to an address that is computed".into());
        }
        if rd != 0 {
            self.registers[RA] = Value::Pointer(Region::Section(next.0), next.1 as i32);
        }
        self.arrive(to)
    }

    /// Goes to a place in a register; whether it is in the function.
    fn arrive(&mut self, to: Value) -> Run<bool> {
        match to {
            Value::Pointer(Region::Caller, 0) => self.restored().map(|()| false),
            Value::Pointer(Region::Section(section), offset) => {
                self.place = (section, offset as u32);
                Ok(true)
            }
            _ => Err("a jump to a place that is not known".into()),
        }
    }

    /// Checks the registers that callers rely on.
    fn restored(&self) -> Run<()> {
        let is_kept = |&at: &usize| self.registers[at] == Value::Entry(at as Register);
        let is_same = SAVED.iter().all(is_kept);
        if !is_same || self.registers[SP] != Value::Pointer(Region::Frame, 0) {
            return Err("a register that belongs to the caller has changed".into());
        }
        Ok(())
    }

    /// Whether a pointer points into its region, or just behind it, where its order is known.
    fn is_inside(&self, region: Region, offset: i32) -> bool {
        let high = match region {
            Region::Array(number) => self.arrays[number].bytes as i64,
            Region::Section(number) => self.object.sections[number].bytes.len() as i64,
            Region::Frame | Region::Caller => 0,
        };
        let low = match (region, self.registers[SP]) {
            (Region::Frame, Value::Pointer(Region::Frame, stack)) => i64::from(stack),
            _ => 0,
        };
        (low..=high).contains(&i64::from(offset))
    }

    /// Whether a branch is taken.
    fn holds(&self, condition: Condition, left: Value, right: Value) -> Run<bool> {
        if let (Value::Pointer(one, a), Value::Pointer(other, b)) = (left, right)
            && one == other
        {
            let is_ordered = self.is_inside(one, a) && self.is_inside(one, b);
            return match condition {
                Condition::Equal => Ok(a == b),
                Condition::NotEqual => Ok(a != b),
                Condition::LessUnsigned if is_ordered => Ok(a < b),
                Condition::NotLessUnsigned if is_ordered => Ok(a >= b),
                _ => Err("an order of addresses that is not known".into()),
            };
        }
        let (a, b) = match (left, right) {
            (Value::Pointer(region, at), value) | (value, Value::Pointer(region, at))
                if self.known(value) == Some(0) && self.is_inside(region, at) =>
            {
                match condition {
                    Condition::Equal => return Ok(false),
                    Condition::NotEqual => return Ok(true),
                    _ => return Err("an order of addresses and numbers".into()),
                }
            }
            _ => match (self.known(left), self.known(right)) {
                (Some(a), Some(b)) => (a, b),
                _ => return Err("a branch depends on an input".into()),
            },
        };
        Ok(match condition {
            Condition::Equal => a == b,
            Condition::NotEqual => a != b,
            Condition::Less => (a as i32) < b as i32,
            Condition::NotLess => a as i32 >= b as i32,
            Condition::LessUnsigned => a < b,
            Condition::NotLessUnsigned => a >= b,
        })
    }
}

#[cfg(test)]
mod tests;
