//! Addresses that the linker writes into an instruction.

use iced_x86::{ConstantOffsets, Instruction, Mnemonic, OpKind};

use super::unsupported;
use crate::Fault;
use crate::elf::{Kind, Object};

/// The places in the object that an instruction names.
#[derive(Clone, Copy, Default, Debug)]
pub struct Linked {
    /// The displacement of its operand in memory, together with the address of the next instruction
    /// if it is relative to that.
    pub displacement: Option<u64>,
    /// The target of a branch.
    pub branch: Option<u64>,
    /// The immediate.
    pub immediate: Option<u64>,
}

impl Linked {
    /// The places that the instruction at `place` names, whose constants are at `offsets`.
    ///
    /// # Errors
    /// A place is unknown: the linker writes to another part of the instruction, or the
    /// instruction names another section without the help of the linker.
    pub fn of(
        object: &Object,
        i: &Instruction,
        offsets: &ConstantOffsets,
        place: u64,
    ) -> Result<Linked, Fault> {
        let mut linked = Linked::default();
        let is_branch = i.op_count() == 1 && i.op0_kind() == OpKind::NearBranch64;
        for (at, relocation) in object.relocations(place, i.len()) {
            let is = |offset: usize, size: usize| {
                size == relocation.size && place.checked_add(offset as u64) == Some(at)
            };
            let in_displacement = is(offsets.displacement_offset(), offsets.displacement_size());
            let in_immediate = is(offsets.immediate_offset(), offsets.immediate_size());
            let from_next = || relocation.target.wrapping_add(i.next_ip() - at);
            match relocation.kind {
                Kind::Unknown(reason) => return Err(unsupported(reason)),
                Kind::Relative if in_displacement && i.is_ip_rel_memory_operand() => {
                    linked.displacement = Some(from_next());
                }
                Kind::Absolute if in_displacement && !i.is_ip_rel_memory_operand() => {
                    linked.displacement = Some(relocation.target);
                }
                Kind::Relative if in_immediate && is_branch => linked.branch = Some(from_next()),
                Kind::Absolute if in_immediate && takes_address(i) => {
                    linked.immediate = Some(relocation.target);
                }
                _ => {
                    let what = "the use of an address in the instruction is not modelled; -fPIE \
                                avoids it";
                    return Err(unsupported(what));
                }
            }
        }
        let own =
            |target: u64| match Object::pointer(target).region == Object::pointer(place).region {
                true => Ok(Some(target)),
                false => Err(unsupported("it names another section by a number")),
            };
        if i.is_ip_rel_memory_operand() && linked.displacement.is_none() {
            linked.displacement = own(i.ip_rel_memory_address())?;
        }
        if is_branch && linked.branch.is_none() {
            linked.branch = own(i.near_branch_target())?;
        }
        Ok(linked)
    }
}

/// Whether the immediate may be an address: in words of eight bytes, and in four bytes that become
/// eight with zeros above, because addresses in code of this kind have no more.
fn takes_address(i: &Instruction) -> bool {
    let bytes = match i.op0_kind() {
        OpKind::Register => i.op0_register().size(),
        _ => i.memory_size().size(),
    };
    match i.mnemonic() {
        Mnemonic::Mov => bytes == 8 || i.op0_register().is_gpr32(),
        Mnemonic::Add | Mnemonic::Sub | Mnemonic::Cmp => bytes == 8,
        _ => false,
    }
}
