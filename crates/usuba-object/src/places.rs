//! Places in the object that instructions name, and the addresses of these places.

use crate::elf::{Kind, Object, Relocation};
use crate::memory::Pointer;
use crate::{Fault, World, unsupported};

impl World<'_> {
    /// Whether the upper parts of the addresses of two places are equal, wherever the linker puts
    /// them: they are in one block whose size divides the alignment of their section, and is at most
    /// `reach`.
    pub(crate) fn have_one_upper_part(&self, a: u64, b: u64, reach: u64) -> bool {
        let [a, b] = [a, b].map(Object::pointer);
        let start =
            |size: u64| a.offset.div_euclid(size as i64) == b.offset.div_euclid(size as i64);
        let sizes = (0..=reach.ilog2()).map(|at| 1 << at);
        let section = Pointer { offset: 0, ..a };
        a == b
            || a.region == b.region
                && sizes.rev().any(|size| self.object.is_aligned(section, size) && start(size))
    }

    /// The address that the linker writes into the instruction.
    pub(crate) fn relocation(&self, place: u64, bytes: usize) -> Result<Option<Relocation>, Fault> {
        let mut found = None;
        for (at, &relocation) in self.object.relocations(place, bytes) {
            if let Kind::Unknown(reason) = relocation.kind {
                return Err(unsupported(reason));
            }
            let begins_before = at < place;
            if begins_before && at + (relocation.size as u64) <= place {
                continue;
            }
            if at != place || found.is_some() {
                return Err(other_use());
            }
            found = Some(relocation);
        }
        Ok(found)
    }

    /// Whether a pointer may be moved by numbers: to data, and not to code.
    pub(crate) fn is_movable(&self, at: Pointer) -> bool {
        Object::place(at).is_none_or(|place| self.object.code(place, 1).is_empty())
    }

    /// Whether a function has its own proof, or is in another file.
    pub(crate) fn is_outside(&self, target: u64) -> bool {
        let World { calls, object, .. } = self;
        calls.functions.at(target).is_some()
            || calls.at(target).is_some()
            || object.code(target, 1).is_empty()
    }
}

pub fn other_use() -> Fault {
    unsupported("the use of an address in the instruction is not modelled")
}
