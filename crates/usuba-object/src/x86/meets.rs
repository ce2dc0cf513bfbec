//! Immediate post-dominators: the places where the paths from a branch, or another instruction with an
//! outcome, meet.
//!
//! ```text
//!    je 1f       both paths meet at 2
//!    ...
//!    jmp 2f
//! 1: ...
//! 2: ...
//! ```
//!
//! The control-flow graph has the instructions that are reachable from the branch without calls. A
//! return, a jump through a register and an instruction that cannot be decoded leave the function.
//!
//! *Reference:* Cooper, Harvey, Kennedy 2001 (dominators by intersection).

use std::collections::HashMap;

use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};

use super::LONGEST;
use super::relocated::Linked;
use crate::elf::Object;

/// The most instructions of a function.
const MOST: usize = 1 << 16;

/// The most instructions of an epilogue.
const EPILOGUE: usize = 64;

/// The instructions after which a place may be next; `None` stands for outside of the function.
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

/// Whether there is a conditional branch at a place, or a conditional move.
pub fn is_choice(object: &Object, place: u64) -> bool {
    let mut decoder =
        Decoder::with_ip(64, object.code(place, LONGEST), place, DecoderOptions::NONE);
    decoder.decode().condition_code() != ConditionCode::None
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

/// The places that may be next, and whether outside of the function may be.
pub fn after(object: &Object, place: u64) -> (Vec<u64>, bool) {
    let next = next(object, place);
    (next.iter().copied().flatten().collect(), next.contains(&None))
}

/// The target of a jump or call at a place, if the instruction names it.
pub fn target(object: &Object, place: u64) -> Option<u64> {
    decoded(object, place)?.1
}

/// Whether there is a conditional branch at a place.
pub fn is_branch(object: &Object, place: u64) -> bool {
    next(object, place).len() == 2
}

/// The place where all paths from an instruction that reads flags meet; `None` if they leave the
/// function before, and for another instruction.
pub fn meeting(object: &Object, branch: u64) -> Option<u64> {
    if let [next] = next(object, branch)[..] {
        let code = object.code(branch, LONGEST);
        let i = Decoder::with_ip(64, code, branch, DecoderOptions::NONE).decode();
        return next.filter(|_| i.rflags_read() != 0);
    }
    // Node 0 is outside of the function, node 1 is the branch.
    let mut places = vec![u64::MAX, branch];
    let mut numbers = HashMap::from([(branch, 1)]);
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); 2];
    let mut after: Vec<Vec<usize>> = vec![Vec::new()];
    let mut at = 1;
    while at < places.len() {
        let mut targets = Vec::new();
        for target in next(object, places[at]) {
            let number = match target {
                None => 0,
                Some(target) => *numbers.entry(target).or_insert_with(|| {
                    places.push(target);
                    before.push(Vec::new());
                    places.len() - 1
                }),
            };
            before[number].push(at);
            targets.push(number);
        }
        after.push(targets);
        at += 1;
        if at > MOST {
            return None;
        }
    }
    // The order of a depth-first search from outside, against the flow.
    let mut order = Vec::new();
    let mut rank = vec![usize::MAX; places.len()];
    let mut is_seen = vec![false; places.len()];
    let mut stack = vec![(0, 0)];
    is_seen[0] = true;
    while let Some((node, edge)) = stack.pop() {
        match before[node].get(edge) {
            Some(&to) => {
                stack.push((node, edge + 1));
                if !std::mem::replace(&mut is_seen[to], true) {
                    stack.push((to, 0));
                }
            }
            None => {
                rank[node] = order.len();
                order.push(node);
            }
        }
    }
    let mut above: Vec<Option<usize>> = vec![None; places.len()];
    above[0] = Some(0);
    loop {
        let mut changed = false;
        for &node in order.iter().rev().filter(|node| **node != 0) {
            let mut common = None;
            for &to in after[node].iter().filter(|to| above[**to].is_some()) {
                common = Some(common.map_or(to, |mut one: usize| {
                    let mut other = to;
                    while one != other {
                        let lower = if rank[one] < rank[other] { &mut one } else { &mut other };
                        *lower = above[*lower].unwrap_or(0);
                    }
                    one
                }));
            }
            changed |= above[node] != common;
            above[node] = common;
        }
        if !changed {
            break;
        }
    }
    above[1].filter(|&at| at != 0).map(|at| places[at])
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
