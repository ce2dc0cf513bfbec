//! The flow of control, and the registers that instructions use.

use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    Mnemonic, OpAccess, OpKind, Register, UsedRegister,
};

use super::registers::{PARAMETERS, SAVED, VOLATILE};
use super::relocated::Linked;
use super::{LONGEST, X86};
use crate::control_flow::{ControlFlow, Effects, FlagUse, Names, Transfer};
use crate::elf::{Kind, Object};

/// The most instructions of an epilogue.
const EPILOGUE: usize = 64;

impl ControlFlow for X86 {
    const PARAMETERS: &'static [usize] = &PARAMETERS;
    const SAVED: &'static [usize] = &SAVED;
    const VOLATILE: &'static [usize] = &VOLATILE;
    const STEP: u64 = 1;

    fn next(object: &Object, place: u64) -> Vec<Option<u64>> {
        let Some((i, target)) = decoded(object, place) else { return vec![None] };
        let target = target.filter(|&target| !object.code(target, 1).is_empty());
        match i.flow_control() {
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
                vec![Some(i.next_ip())]
            }
            FlowControl::ConditionalBranch => vec![Some(i.next_ip()), target],
            FlowControl::UnconditionalBranch => vec![target],
            _ => vec![None],
        }
    }

    fn flags(object: &Object, place: u64) -> FlagUse {
        let i = instruction(object, place);
        FlagUse { reads: i.rflags_read() != 0, writes: i.rflags_modified() != 0 }
    }

    fn effects(object: &Object, place: u64) -> Effects {
        let i = instruction(object, place);
        let (mut read, mut written) = (0, 0);
        for used in InstructionInfoFactory::new().info(&i).used_registers() {
            let register = used.register().full_register();
            let number = if register.is_gpr() { 1 << register.number() } else { 0 };
            match (used.access(), writes_all(used)) {
                (OpAccess::Write, true) => written |= number,
                (OpAccess::Write | OpAccess::CondWrite, _) => {}
                _ => read |= number,
            }
        }
        let transfer = match i.flow_control() {
            FlowControl::Call => Transfer::Call(decoded(object, place).and_then(|(_, at)| at)),
            FlowControl::IndirectCall => Transfer::Call(None),
            FlowControl::Return => Transfer::Return,
            _ => Transfer::Plain,
        };
        Effects { read, written, transfer }
    }

    fn names(object: &Object, place: u64) -> Names {
        let i = instruction(object, place);
        let is_branch = i.op_count() == 1 && i.op0_kind() == OpKind::NearBranch64;
        let mut named: Vec<u64> = Vec::new();
        for (at, relocation) in object.relocations(place, i.len()) {
            let more = if relocation.kind == Kind::Absolute { 0 } else { i.next_ip() - at };
            named.push(relocation.target.wrapping_add(more));
        }
        if named.is_empty() {
            named.extend(i.is_ip_rel_memory_operand().then(|| i.ip_rel_memory_address()));
            named.extend(is_branch.then(|| i.near_branch_target()));
        }
        let one = if let [one] = named[..] { Some(one) } else { None };
        let target = one.filter(|_| is_branch);
        Names {
            length: i.len().max(1) as u64,
            is_known: !i.is_invalid(),
            is_call: i.is_call_near(),
            is_indirect: matches!(
                i.flow_control(),
                FlowControl::IndirectCall | FlowControl::IndirectBranch
            ),
            slot: one.filter(|_| i.is_ip_rel_memory_operand()),
            target,
            addresses: match target {
                Some(_) => Vec::new(),
                None => named.into_iter().map(|at| at..at.saturating_add(1)).collect(),
            },
        }
    }

    fn stub(object: &Object, place: u64) -> Option<u64> {
        let code = object.code(place, 32);
        let decoder = Decoder::with_ip(64, code, place, DecoderOptions::NONE);
        let jump = decoder.into_iter().find(|i| i.mnemonic() != Mnemonic::Endbr64)?;
        let is_jump = jump.mnemonic() == Mnemonic::Jmp && jump.is_ip_rel_memory_operand();
        is_jump.then(|| jump.ip_rel_memory_address())
    }
}

/// Whether there is a conditional branch at a place, or a conditional move.
pub fn is_choice(object: &Object, place: u64) -> bool {
    instruction(object, place).condition_code() != ConditionCode::None
}

/// The instruction at a place.
fn instruction(object: &Object, place: u64) -> Instruction {
    let code = object.code(place, LONGEST);
    Decoder::with_ip(64, code, place, DecoderOptions::NONE).decode()
}

/// The instruction at a place, and the target of a jump or call that it names.
fn decoded(object: &Object, place: u64) -> Option<(Instruction, Option<u64>)> {
    let code = object.code(place, LONGEST);
    let mut decoder = Decoder::with_ip(64, code, place, DecoderOptions::NONE);
    let i = decoder.decode();
    let offsets = decoder.get_constant_offsets(&i);
    let linked = Linked::of(object, &i, &offsets, place).ok()?;
    Some((i, linked.branch))
}

/// Whether a write of a register writes all of it: the upper half becomes zero.
fn writes_all(used: &UsedRegister) -> bool {
    let register: Register = used.register();
    register.is_gpr64() || register.is_gpr32()
}

/// The register with the status at the beginning of an epilogue, which restores registers and uses no
/// other memory; `None` elsewhere, or if the epilogue makes the status.
pub fn status(object: &Object, mut place: u64) -> Option<usize> {
    let mut epilogue = Vec::new();
    loop {
        let (i, _) = decoded(object, place)?;
        let is_memory = (0..i.op_count()).any(|at| i.op_kind(at) == OpKind::Memory);
        match i.flow_control() {
            FlowControl::Return => break,
            FlowControl::Next if !is_memory || i.mnemonic() == Mnemonic::Lea => {}
            _ => return None,
        }
        (epilogue.len() < EPILOGUE).then_some(())?;
        epilogue.push(i);
        place = i.next_ip();
    }
    let mut status = Register::RAX;
    for i in epilogue.iter().rev().filter(|i| i.op_count() > 0) {
        if i.op0_register().full_register() == status {
            (i.mnemonic() == Mnemonic::Mov && i.op1_kind() == OpKind::Register).then_some(())?;
            status = i.op1_register().full_register();
        }
    }
    Some(status.number())
}
