//! The flow of control, and the registers that instructions use.

use usuba_decode::aarch64::{
    After, At, Constant, Content, Field, Instruction, Jump, Logic, Operand, Register, Vector,
    decode,
};

use super::loads_and_stores::PAGE;
use super::register_file::{LINK, PARAMETER_REGISTERS, SAVED_REGISTERS, SP, VOLATILE};
use super::{Aarch64, BYTES};
use crate::control_flow::{ControlFlow, Effects, FlagUse, Names, Transfer};
use crate::elf::{Kind, Object};
use crate::summarized::Registers;

/// The most instructions of an epilogue.
const EPILOGUE: usize = 64;

/// The instruction at a place.
fn instruction(object: &Object, place: u64) -> Option<Instruction> {
    let code = object.code(place, BYTES as usize).try_into().ok()?;
    decode(u32::from_le_bytes(code))
}

/// The target of a branch at a place; `None` if it is not known.
fn target(object: &Object, place: u64, offset: i64) -> Option<u64> {
    match object.relocations(place, BYTES as usize).next() {
        None => Some(place.wrapping_add_signed(offset)),
        Some((_, relocation)) => {
            Some(relocation.target).filter(|_| relocation.kind == Kind::Relative)
        }
    }
}

impl ControlFlow for Aarch64 {
    const PARAMETERS: &'static [usize] = &PARAMETER_REGISTERS;
    const SAVED: &'static [usize] = &SAVED_REGISTERS;
    const VOLATILE: &'static [usize] = &VOLATILE;
    const STEP: u64 = BYTES;

    fn next(object: &Object, place: u64) -> Vec<Option<u64>> {
        let inside = |offset| {
            target(object, place, offset).filter(|&target| !object.code(target, 1).is_empty())
        };
        let next = Some(place + BYTES);
        match instruction(object, place) {
            None => vec![None],
            Some(Instruction::Branch { is_call: false, offset }) => vec![inside(offset)],
            Some(
                Instruction::BranchIf { offset, .. }
                | Instruction::BranchZero { offset, .. }
                | Instruction::BranchBit { offset, .. },
            ) => vec![next, inside(offset)],
            Some(Instruction::JumpTo { jump: Jump::Plain | Jump::Return, .. }) => vec![None],
            Some(_) => vec![next],
        }
    }

    fn flags(object: &Object, place: u64) -> FlagUse {
        let Some(instruction) = instruction(object, place) else { return FlagUse::default() };
        let reads = matches!(
            instruction,
            Instruction::AddCarry { .. }
                | Instruction::Select { .. }
                | Instruction::CompareIf { .. }
                | Instruction::BranchIf { .. }
        );
        let writes = matches!(
            instruction,
            Instruction::AddImmediate { flags: true, .. }
                | Instruction::Add { flags: true, .. }
                | Instruction::AddExtended { flags: true, .. }
                | Instruction::AddCarry { flags: true, .. }
                | Instruction::LogicImmediate { flags: true, .. }
                | Instruction::Logic { flags: true, .. }
                | Instruction::CompareIf { .. }
        );
        FlagUse { reads, writes }
    }

    fn effects(object: &Object, place: u64) -> Effects {
        let Some(instruction) = instruction(object, place) else {
            return Effects { read: 0, written: 0, transfer: Transfer::Plain };
        };
        let (read, written) = used(instruction);
        let set = |registers: &[Register]| {
            let registers = registers.iter().filter(|&&register| register != SP);
            registers.fold(0, |set: Registers, register| set | 1 << register)
        };
        let transfer = match instruction {
            Instruction::Branch { is_call: true, offset } => {
                Transfer::Call(target(object, place, offset))
            }
            Instruction::JumpTo { jump: Jump::Call, .. } => Transfer::Call(None),
            Instruction::JumpTo { jump: Jump::Return, .. } => Transfer::Return,
            _ => Transfer::Plain,
        };
        Effects { read: set(&read), written: set(&written), transfer }
    }

    fn names(object: &Object, place: u64) -> Names {
        let mut names = Names { length: BYTES, ..Names::default() };
        let Some(instruction) = instruction(object, place) else { return names };
        names.is_known = true;
        let relocations = object.relocations(place, BYTES as usize);
        let mut linked: Vec<u64> = relocations.map(|(_, relocation)| relocation.target).collect();
        match instruction {
            Instruction::Branch { offset, .. }
            | Instruction::BranchIf { offset, .. }
            | Instruction::BranchZero { offset, .. }
            | Instruction::BranchBit { offset, .. } => {
                names.is_call = matches!(instruction, Instruction::Branch { is_call: true, .. });
                names.target = linked.pop().or(Some(place.wrapping_add_signed(offset)));
            }
            Instruction::JumpTo { jump, .. } => {
                names.is_call = jump == Jump::Call;
                names.is_indirect = jump != Jump::Return;
            }
            // An instruction that follows adds the lowest bits.
            Instruction::Place { is_page: true, offset, .. } if linked.is_empty() => {
                let page = page_of(place).wrapping_add_signed(offset);
                names.addresses.push(page..page.saturating_add(PAGE));
            }
            Instruction::Place { offset, .. } | Instruction::LoadNear { offset, .. }
                if linked.is_empty() =>
            {
                linked.push(place.wrapping_add_signed(offset));
            }
            _ => {}
        }
        names.addresses.extend(linked.into_iter().map(|at| at..at.saturating_add(1)));
        names
    }

    /// adrp x16, page; ldr x17, [x16, offset]; add x16, x16, offset; br x17
    fn stub(object: &Object, mut place: u64) -> Option<u64> {
        if let Some(Instruction::Nothing { .. }) = instruction(object, place) {
            place += BYTES;
        }
        let [page, load, _, jump] = [0, 1, 2, 3].map(|at| instruction(object, place + at * BYTES));
        let Some(Instruction::Place { is_page: true, offset: far, to }) = page else { return None };
        let Some(Instruction::Access { loads: true, register, at, .. }) = load else { return None };
        let At::Offset { base, offset, .. } = at else { return None };
        let jumps = jump == Some(Instruction::JumpTo { jump: Jump::Plain, register });
        let slot = page_of(place).wrapping_add_signed(far).wrapping_add_signed(offset);
        (jumps && base == to).then_some(slot)
    }
}

/// The page of a place in a linked file.
fn page_of(place: u64) -> u64 {
    place & !(PAGE - 1)
}

/// Whether there is a conditional branch at a place, or a choice by flags.
pub fn is_choice(object: &Object, place: u64) -> bool {
    Aarch64::next(object, place).len() == 2
        || matches!(
            instruction(object, place),
            Some(Instruction::Select { .. } | Instruction::CompareIf { .. })
        )
}

/// The general-purpose registers that an instruction reads, and those that it writes.
fn used(instruction: Instruction) -> (Vec<Register>, Vec<Register>) {
    use Instruction::*;
    let changed = |base, after| match after {
        None => (vec![base], vec![]),
        Some(After::Bytes(_)) => (vec![base], vec![base]),
        Some(After::Register(by)) => (vec![base, by], vec![base]),
    };
    match instruction {
        Nothing { .. } | Branch { .. } | BranchIf { .. } => (vec![], vec![]),
        Sign { .. } => (vec![LINK], vec![LINK]),
        Place { to, .. } => (vec![], vec![to]),
        AddImmediate { to, from, .. } | LogicImmediate { to, from, .. } | One { to, from, .. } => {
            (vec![from], vec![to])
        }
        Add { to, a, b, .. } | Logic { to, a, b, .. } => (vec![a, b.register], vec![to]),
        AddExtended { to, a, b, .. }
        | AddCarry { to, a, b, .. }
        | Divide { to, a, b, .. }
        | MultiplyHigh { to, a, b, .. }
        | Select { to, a, b, .. } => (vec![a, b], vec![to]),
        Constant { to, constant: self::Constant::Keep, .. } => (vec![to], vec![to]),
        Constant { to, .. } => (vec![], vec![to]),
        Field { to, from, field: self::Field::Inserted, .. } => (vec![to, from], vec![to]),
        Field { to, from, .. } => (vec![from], vec![to]),
        Extract { to, high, low, .. } => (vec![high, low], vec![to]),
        ShiftBy { to, from, count, .. } => (vec![from, count], vec![to]),
        MultiplyAdd { to, a, b, c, .. } | MultiplyLong { to, a, b, c, .. } => {
            (vec![a, b, c], vec![to])
        }
        CompareIf { a, b: Operand::Register(b), .. } => (vec![a, b], vec![]),
        CompareIf { a, .. } => (vec![a], vec![]),
        BranchZero { register, .. } | BranchBit { register, .. } | JumpTo { register, .. } => {
            (vec![register], vec![])
        }
        Access { loads, content, register, at, .. } => moved(loads, content, &[register], at),
        AccessPair { loads, content, registers, at, .. } => moved(loads, content, &registers, at),
        LoadNear { content: Content::General { .. }, register, .. } => (vec![], vec![register]),
        LoadNear { .. } => (vec![], vec![]),
        Vectors { base, after, .. } | Lane { base, after, .. } | LoadCopies { base, after, .. } => {
            changed(base, after)
        }
        Instruction::Vector(vector) => match vector {
            self::Vector::Broadcast { from, .. }
            | self::Vector::Insert { from, .. }
            | self::Vector::FromGeneral { from, .. } => (vec![from], vec![]),
            self::Vector::Extract { to, .. } | self::Vector::ToGeneral { to, .. } => {
                (vec![], vec![to])
            }
            _ => (vec![], vec![]),
        },
    }
}

/// The registers of an access.
fn moved(
    loads: bool,
    content: Content,
    registers: &[Register],
    at: At,
) -> (Vec<Register>, Vec<Register>) {
    let (mut read, mut written) = match at {
        At::Offset { base, .. } => (vec![base], vec![]),
        At::Before { base, .. } | At::After { base, .. } => (vec![base], vec![base]),
        At::Index { base, index, .. } => (vec![base, index], vec![]),
    };
    if content != Content::Vector {
        if loads { &mut written } else { &mut read }.extend(registers);
    }
    (read, written)
}

/// The register with the status at the beginning of an epilogue, which restores registers from the
/// frame and uses no other memory; `None` elsewhere, or if the epilogue makes the status.
pub fn status(object: &Object, mut place: u64) -> Option<usize> {
    let mut epilogue = Vec::new();
    let in_frame = |at| match at {
        At::Offset { base, .. } | At::Before { base, .. } | At::After { base, .. } => base == SP,
        At::Index { .. } => false,
    };
    loop {
        let instruction = instruction(object, place)?;
        match instruction {
            Instruction::JumpTo { jump: Jump::Return, .. } => break,
            Instruction::Access { loads, at, .. } | Instruction::AccessPair { loads, at, .. }
                if !loads || !in_frame(at) =>
            {
                return None;
            }
            Instruction::Branch { .. }
            | Instruction::BranchIf { .. }
            | Instruction::BranchZero { .. }
            | Instruction::BranchBit { .. }
            | Instruction::JumpTo { .. }
            | Instruction::Vectors { .. }
            | Instruction::Lane { .. }
            | Instruction::LoadCopies { .. }
            | Instruction::LoadNear { .. } => return None,
            _ => {}
        }
        (epilogue.len() < EPILOGUE).then_some(())?;
        epilogue.push(instruction);
        place += BYTES;
    }
    let mut status = 0;
    for instruction in epilogue.into_iter().rev() {
        match instruction {
            Instruction::Logic { logic: Logic::Or, a: SP, b, to, inverts: false, .. }
                if to == status && b.count == 0 =>
            {
                status = b.register;
            }
            other if used(other).1.contains(&status) => return None,
            _ => {}
        }
    }
    Some(status)
}
