//! The flow of control, and the registers that instructions use.

use usuba_decode::riscv::{Instruction, Operand, Operation, Register, decode};

use super::values::{FIRST, PARAMETER_REGISTERS, RA, SAVED, SP, VOLATILE};
use super::{LONGEST, Riscv};
use crate::control_flow::{ControlFlow, Effects, FlagUse, Names, Transfer};
use crate::elf::{Kind, Object};
use crate::summarized::Registers;

/// The instruction at a place, and its bytes. A distance in two instructions is one jump.
fn instruction(object: &Object, place: u64) -> Option<(Instruction, u64)> {
    let (instruction, bytes) = decode(object.code(place, LONGEST))?;
    Some((instruction, bytes as u64))
}

/// The target of a jump at a place by an offset, which the linker may know.
fn target(object: &Object, place: u64, offset: i32) -> Option<u64> {
    match object.relocations(place, 1).next() {
        None => Some(place.wrapping_add_signed(offset.into())),
        Some((_, relocation)) => {
            Some(relocation.target).filter(|_| relocation.kind == Kind::Relative)
        }
    }
}

/// The jump that auipc at a place and the instruction behind it are together: its target, the register
/// of the return address, and the bytes of both.
fn far(object: &Object, place: u64) -> Option<(u64, Register, u64)> {
    let (Instruction::UpperRelative { to, value }, first) = instruction(object, place)? else {
        return None;
    };
    let (next, second) = instruction(object, place + first)?;
    let Instruction::JumpRegister { to: back, base, offset } = next else { return None };
    let relocation = object.relocations(place, 1).next().map(|(_, relocation)| relocation.target);
    let plain = place.wrapping_add_signed(value.into()).wrapping_add_signed(offset.into());
    (base == to).then_some((relocation.unwrap_or(plain), back, first + second))
}

/// The longest epilogue that is looked at, in instructions.
const EPILOGUE: usize = 64;

/// Whether there is a conditional branch at a place.
pub fn is_branch(object: &Object, place: u64) -> bool {
    matches!(instruction(object, place), Some((Instruction::Branch { .. }, _)))
}

/// The register with the status at the beginning of an epilogue, which restores registers from the
/// frame and uses no other memory; `None` elsewhere, or if the epilogue makes the status.
pub fn status(object: &Object, mut place: u64) -> Option<usize> {
    let mut epilogue = Vec::new();
    loop {
        let (instruction, bytes) = instruction(object, place)?;
        match instruction {
            Instruction::JumpRegister { to: 0, base: RA, offset: 0 } => break,
            Instruction::Load { base: SP, .. }
            | Instruction::Arithmetic { .. }
            | Instruction::Upper { .. } => {}
            _ => return None,
        }
        (epilogue.len() < EPILOGUE).then_some(())?;
        epilogue.push(instruction);
        place += bytes;
    }
    let mut status = FIRST;
    for instruction in epilogue.into_iter().rev() {
        match instruction {
            Instruction::Arithmetic {
                operation: Operation::Add,
                to,
                a,
                b: Operand::Immediate(0) | Operand::Register(0),
            } if to == status && a > 0 => status = a,
            Instruction::Arithmetic {
                operation: Operation::Add,
                to,
                a: 0,
                b: Operand::Register(from),
            } if to == status && from > 0 => status = from,
            other if used(other).1.contains(&status) => return None,
            _ => {}
        }
    }
    Some(status)
}

impl ControlFlow for Riscv {
    const PARAMETERS: &'static [usize] = &PARAMETER_REGISTERS;
    const SAVED: &'static [usize] = &SAVED;
    const VOLATILE: &'static [usize] = &VOLATILE;
    const STEP: u64 = 2;

    fn next(object: &Object, place: u64) -> Vec<Option<u64>> {
        let inside =
            |target: Option<u64>| target.filter(|&target| !object.code(target, 1).is_empty());
        if let Some((target, back, bytes)) = far(object, place) {
            return vec![if back == RA { Some(place + bytes) } else { inside(Some(target)) }];
        }
        let Some((instruction, bytes)) = instruction(object, place) else { return vec![None] };
        let next = Some(place + bytes);
        match instruction {
            Instruction::Jump { to: RA, .. } | Instruction::JumpRegister { to: RA, .. } => {
                vec![next]
            }
            Instruction::Jump { offset, .. } => vec![inside(target(object, place, offset))],
            Instruction::JumpRegister { .. } => vec![None],
            Instruction::Branch { offset, .. } => {
                vec![next, inside(target(object, place, offset))]
            }
            _ => vec![next],
        }
    }

    fn flags(_: &Object, _: u64) -> FlagUse {
        FlagUse::default()
    }

    fn effects(object: &Object, place: u64) -> Effects {
        let Some((instruction, _)) = instruction(object, place) else {
            return Effects { read: 0, written: 0, transfer: Transfer::Plain };
        };
        let (read, written) = used(instruction);
        let set = |registers: Vec<Register>| {
            let registers = registers.into_iter().filter(|&register| register > 0);
            registers.fold(0, |set: Registers, register| set | 1 << register)
        };
        let transfer = match (far(object, place), instruction) {
            (Some((target, RA, _)), _) => Transfer::Call(Some(target)),
            (_, Instruction::Jump { to: RA, offset }) => {
                Transfer::Call(target(object, place, offset))
            }
            (_, Instruction::JumpRegister { to: RA, .. }) => Transfer::Call(None),
            (_, Instruction::JumpRegister { to: 0, base: RA, .. }) => Transfer::Return,
            _ => Transfer::Plain,
        };
        Effects { read: set(read), written: set(written), transfer }
    }

    fn names(object: &Object, place: u64) -> Names {
        let Some((found, length)) = instruction(object, place) else {
            return Names { length: Self::STEP, ..Names::default() };
        };
        let mut names = Names { length, is_known: true, ..Names::default() };
        if let Some((target, back, bytes)) = far(object, place) {
            (names.length, names.target, names.is_call) = (bytes, Some(target), back == RA);
            return names;
        }
        let relocations = object.relocations(place, length as usize);
        let linked = relocations.map(|(_, relocation)| relocation.target);
        match found {
            Instruction::Jump { to, offset } => {
                (names.target, names.is_call) = (target(object, place, offset), to == RA);
                return names;
            }
            Instruction::Branch { offset, .. } => {
                names.target = target(object, place, offset);
                return names;
            }
            Instruction::JumpRegister { to, base, .. } => {
                names.is_call = to == RA;
                names.is_indirect = (to, base) != (0, RA);
            }
            _ => {}
        }
        names.addresses.extend(linked.map(|at| at..at.saturating_add(1)));
        names
    }

    fn stub(_: &Object, _: u64) -> Option<u64> {
        // Linked files are static.
        None
    }
}

/// The registers that an instruction reads, and those that it writes.
fn used(instruction: Instruction) -> (Vec<Register>, Vec<Register>) {
    match instruction {
        Instruction::Upper { to, .. }
        | Instruction::UpperRelative { to, .. }
        | Instruction::Jump { to, .. } => (vec![], vec![to]),
        Instruction::JumpRegister { to, base, .. } | Instruction::Load { to, base, .. } => {
            (vec![base], vec![to])
        }
        Instruction::Branch { a, b, .. } => (vec![a, b], vec![]),
        Instruction::Store { from, base, .. } => (vec![from, base], vec![]),
        Instruction::Arithmetic { to, a, b: Operand::Register(b), .. } => (vec![a, b], vec![to]),
        Instruction::Arithmetic { to, a, .. } => (vec![a], vec![to]),
    }
}
