//! Vector registers in C macros, for the byte interface: loads, stores, and moves of bits.
//!
//! A table has only the operations that [`Row`](super::Row)s lack; logic and shifts come from the
//! rows of the target.

/// How a file of vector registers loads, stores and moves; the same operations for all.
///
/// `{0}`, `{1}` and `{2}` are operands.
#[derive(PartialEq, Eq, Debug)]
pub struct Registers {
    /// Of one register at a byte pointer.
    pub load: &'static str,
    pub store: &'static str,
    /// Of groups of 16 bytes, `{1}` bytes apart; empty where a register is one group.
    pub gather: &'static str,
    pub scatter: &'static str,
    /// The even, and the odd, groups of 16 bytes of `{0}`, followed by the same groups of `{1}`; empty
    /// where a register is one group.
    pub groups: (&'static str, &'static str),
    /// `{0}` where the bits of `{2}` are set, else `{1}`; empty where it takes more than one
    /// instruction.
    pub select: &'static str,
    /// A word in all lanes of 8, 16, 32 and 64 bits; empty for the rows of `Splat`.
    pub lanes: [&'static str; 4],
    /// Interleaves the low, or the high, halves of each group, by `{n}` bits; empty for the rows of
    /// `ZipLow` and `ZipHigh`.
    pub zip: (&'static str, &'static str),
    /// `{0}` shuffled by the register `{1}` of byte indices in each group.
    pub shuffle: &'static str,
    /// Two times 64 bits, low half `{0}`, in all groups; empty for the row of `Splat128`.
    pub bytes: &'static str,
    /// All ones in the bytes that are equal.
    pub equal: &'static str,
}
