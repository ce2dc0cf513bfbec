//! Addresses, and numbers that depend on the number of blocks, as the memory model has them.

use super::stream::Side;
use usuba_ranges::Form;

/// A region and an offset in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    pub region: Region,
    pub offset: i64,
}

/// The region of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Region {
    /// Offset 0 is where the stack pointer was at entry.
    Frame,
    /// A buffer, by number.
    Buffer(u32),
    /// A buffer of blocks.
    Stream(Side),
    /// The unknown value of a register at entry, or of the canary; it has no content.
    Entry(u16),
    /// The return address; it has no content.
    Caller,
    /// The return address of a call that is summarized; it has no content.
    Return,
    /// The public value that a register had at a call that is summarized, by the number of the call
    /// and of the register; it has no content.
    Held(u16, u16),
    /// A public word that is no address and of which nothing is known, by a number; it has no content.
    Public(u16),
    /// The upper part of the address of the place in the object that is the offset; it has no content.
    Upper,
    /// A section of the object, an undefined symbol, or a slot of the global offset table, by
    /// number; see [`super::elf`].
    Section(u32),
}

/// A region and an offset in it that depends on a number of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moving {
    pub region: Region,
    pub offset: Form,
}

/// The values besides bits that the bytes of an address may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whole {
    Pointer(Pointer),
    Moving(Moving),
    Count(Form),
}

impl Whole {
    /// The region of an address; a public word of which nothing is known is none.
    pub fn region(self) -> Option<Region> {
        match self {
            Whole::Pointer(Pointer { region: Region::Public(_), .. }) | Whole::Count(_) => None,
            Whole::Pointer(Pointer { region, .. }) | Whole::Moving(Moving { region, .. }) => {
                Some(region)
            }
        }
    }

    /// Whether it is a public word of which nothing is known.
    pub fn is_public(self) -> bool {
        matches!(self, Whole::Pointer(Pointer { region: Region::Public(_), .. }))
    }

    /// The address of a buffer.
    pub fn start(buffer: usize) -> Whole {
        Whole::Pointer(Pointer { region: Region::Buffer(buffer as u32), offset: 0 })
    }
}

impl Pointer {
    pub fn plus(self, offset: i64) -> Pointer {
        Pointer { offset: self.offset.wrapping_add(offset), ..self }
    }
}
