//! The parts of calling conventions that concern memory, by machine.

/// The parts of a calling convention that concern memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Convention {
    /// Bytes of an address.
    pub address: usize,
    /// Bytes above the stack pointer at entry that belong to the frame: the return address, where it
    /// is on the stack.
    pub above: i64,
    /// The red zone: bytes below the stack pointer that nothing else overwrites.
    pub red_zone: i64,
    /// The stack pointer at entry modulo 16.
    pub phase: u64,
}

impl Convention {
    /// An offset modulo the size of the address space, from the negative ones on.
    pub fn wrapped(self, offset: i64) -> i64 {
        let unused = 64 - 8 * self.address as u32;
        (offset << unused) >> unused
    }
}
