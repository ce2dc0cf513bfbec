//! Circuits for lookup tables: what a `table` becomes.

/// A table of n input bits and k output bits, both most significant bit first: entry
/// `i_0 * 2^(n-1) + ... + i_(n-1)` holds `o_0 * 2^(k-1) + ... + o_(k-1)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Table {
    pub inputs: u8,
    pub outputs: u8,
    /// Exactly `2^inputs` entries, each below `2^outputs`.
    pub entries: Vec<u64>,
}

/// A wire of a circuit: inputs come first, then one wire per gate.
pub type Wire = u16;

/// One gate; operands are earlier wires.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gate {
    Zero,
    One,
    Not(Wire),
    And(Wire, Wire),
    Or(Wire, Wire),
    Xor(Wire, Wire),
    /// `~a & b`
    Andn(Wire, Wire),
    /// Bit `4a + 2b + c` of the table.
    Lut3(u8, Wire, Wire, Wire),
}

/// A straight-line program on bits. Wire `i < inputs` is input bit `i_i`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Circuit {
    pub inputs: u8,
    pub gates: Vec<Gate>,
    /// One wire per output bit, `o_0` first.
    pub outputs: Vec<Wire>,
}

/// The gates that a target has, each at cost one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Profile {
    /// and, or, xor, not.
    Basic,
    /// The basic gates and `~a & b`.
    Andn,
    /// The basic gates and every function of three bits.
    Lut3,
}
