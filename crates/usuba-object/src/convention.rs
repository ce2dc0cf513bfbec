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
