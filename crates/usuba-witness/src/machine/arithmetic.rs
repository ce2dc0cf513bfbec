//! Arithmetic on words, numbers and pointers.

use usuba_replay::trace::Op;

use super::{Machine, Value};
use crate::Run;
use crate::decode::{Alu, Instruction};
use crate::elf::{Kind, Relocation};

/// The largest block of which all addresses have one upper part, if it is aligned.
const BLOCK: u32 = 2048;

impl Machine<'_> {
    /// Executes an instruction that is no jump.
    pub fn compute(&mut self, instruction: Instruction, relocation: Option<Relocation>) -> Run<()> {
        match instruction {
            Instruction::Upper { rd, value } => {
                let value = match relocation {
                    None => self.number(value),
                    Some(relocation) => self.upper(&relocation, Kind::High)?,
                };
                self.set(rd, value);
            }
            Instruction::UpperNear { rd, .. } => {
                let relocation = relocation.ok_or("an address of code")?;
                let value = self.upper(&relocation, Kind::HighNear)?;
                self.set(rd, value);
            }
            Instruction::Load { rd, base, offset, size, is_signed } => {
                let base = self.value(base);
                let at = self.address(base, offset, relocation, Kind::LowLoad)?;
                let value = self.load(at, size, is_signed)?;
                self.set(rd, value);
            }
            Instruction::Store { from, base, offset, size } => {
                let base = self.value(base);
                let at = self.address(base, offset, relocation, Kind::LowStore)?;
                let value = self.value(from);
                self.store(at, size, value)?;
            }
            Instruction::Immediate { op: Alu::Add, rd, left, right } if relocation.is_some() => {
                let left = self.value(left);
                let value = self.address(left, right, relocation, Kind::LowLoad)?;
                self.set(rd, value);
            }
            Instruction::Immediate { op, rd, left, right } if relocation.is_none() => {
                let (left, right) = (self.value(left), self.number(right));
                let value = self.combined(op, left, right)?;
                self.set(rd, value);
            }
            Instruction::Registers { op, rd, left, right } if relocation.is_none() => {
                let [left, right] = [left, right].map(|register| self.value(register));
                let value = self.combined(op, left, right)?;
                self.set(rd, value);
            }
            _ => return Err("the relocation does not fit the instruction".into()),
        }
        Ok(())
    }

    fn upper(&self, relocation: &Relocation, kind: Kind) -> Run<Value> {
        if relocation.kind != kind {
            return Err("the relocation does not fit the instruction".into());
        }
        let (section, offset) = self.object.target(relocation)?;
        Ok(Value::Upper(section, offset, (kind == Kind::HighNear).then_some(self.place)))
    }

    /// A value plus a number, or plus the lower part of the address whose upper part it is.
    fn address(
        &mut self,
        base: Value,
        offset: u32,
        relocation: Option<Relocation>,
        kind: Kind,
    ) -> Run<Value> {
        let Some(relocation) = relocation else {
            let offset = self.number(offset);
            return self.combined(Alu::Add, base, offset);
        };
        let near = if kind == Kind::LowLoad { Kind::LowLoadNear } else { Kind::LowStoreNear };
        let Value::Upper(of, upper, from) = base else {
            return Err("a lower part of an address without its upper part".into());
        };
        let (section, offset) = match relocation.kind {
            low if low == kind && from.is_none() => self.object.target(&relocation)?,
            low if low == near => {
                // It names the instruction that has the upper part.
                match self.object.target(&relocation)? {
                    place if from == Some(place) => (of, upper),
                    _ => return Err("the parts of an address are of two places".into()),
                }
            }
            _ => return Err("the relocation does not fit the instruction".into()),
        };
        let block = self.object.sections[section].align.min(BLOCK);
        if of != section || (upper != offset && upper / block != offset / block) {
            return Err("the parts of an address are of two places".into());
        }
        Ok(Value::Pointer(super::Region::Section(section), offset as i32))
    }

    /// An operation on two values.
    fn combined(&mut self, op: Alu, left: Value, right: Value) -> Run<Value> {
        let wrong = "arithmetic on an address, or on what nobody has written";
        let (a, b) = match (left, right) {
            (Value::Word(a), Value::Word(b)) => (a, b),
            (Value::Pointer(one, a), Value::Pointer(other, b))
                if one == other && op == Alu::Sub =>
            {
                return Ok(self.number(a.wrapping_sub(b) as u32));
            }
            (Value::Pointer(region, at), by) | (by, Value::Pointer(region, at))
                if op == Alu::Add =>
            {
                let by = self.known(by).ok_or("an address depends on an input")?;
                return Ok(Value::Pointer(region, at.wrapping_add(by as i32)));
            }
            (Value::Pointer(region, at), by) if op == Alu::Sub => {
                let by = self.known(by).ok_or("an address depends on an input")?;
                return Ok(Value::Pointer(region, at.wrapping_sub(by as i32)));
            }
            // Moves keep any value.
            (value, Value::Word(_)) if op == Alu::Add && self.known(right) == Some(0) => {
                return Ok(value);
            }
            (Value::Word(_), value) if op == Alu::Add && self.known(left) == Some(0) => {
                return Ok(value);
            }
            _ => return Err(wrong.into()),
        };
        let plain = match op {
            Alu::Add => Op::Add,
            Alu::Sub => Op::Sub,
            Alu::And => Op::And,
            Alu::Or => Op::Or,
            Alu::Xor => Op::Xor,
            Alu::Less => Op::LessSigned,
            Alu::LessUnsigned => Op::Less,
            Alu::Mul => Op::Mul,
            Alu::MulHighUnsigned => Op::MulHigh,
            Alu::ShiftLeft | Alu::ShiftRight | Alu::ShiftRightSigned => {
                let amount = self.known(right).ok_or("an amount depends on an input")? & 31;
                let shift = match op {
                    Alu::ShiftLeft => Op::Shl,
                    Alu::ShiftRight => Op::Shr,
                    _ => Op::Sar,
                };
                return Ok(Value::Word(self.writer.op(shift, 32, u64::from(amount), &[a])));
            }
            Alu::MulHigh
            | Alu::MulHighMixed
            | Alu::Div
            | Alu::DivUnsigned
            | Alu::Rem
            | Alu::RemUnsigned => return self.on_numbers(op, left, right),
        };
        Ok(Value::Word(self.writer.op(plain, 32, 0, &[a, b])))
    }

    /// An operation that traces do not have, on numbers.
    fn on_numbers(&mut self, op: Alu, left: Value, right: Value) -> Run<Value> {
        let (Some(a), Some(b)) = (self.known(left), self.known(right)) else {
            return Err("a division or a signed product depends on an input".into());
        };
        let (x, y) = (a as i32, b as i32);
        let value = match op {
            Alu::MulHigh => ((i64::from(x) * i64::from(y)) >> 32) as u32,
            Alu::MulHighMixed => ((i64::from(x) * i64::from(b)) >> 32) as u32,
            Alu::Div if b == 0 => u32::MAX,
            Alu::Div => x.wrapping_div(y) as u32,
            Alu::DivUnsigned => a.checked_div(b).unwrap_or(u32::MAX),
            Alu::Rem if b == 0 => a,
            Alu::Rem => x.wrapping_rem(y) as u32,
            _ => a.checked_rem(b).unwrap_or(a),
        };
        Ok(self.number(value))
    }
}
