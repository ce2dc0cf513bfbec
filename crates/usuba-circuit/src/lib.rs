//! Circuit synthesis for lookup tables: turns a `table` into gates.
//!
//! A table is looked up in the database of known circuits first; any other table is synthesised.
//! Either way the circuit is compared with the table on every input before use, so neither the
//! database nor the search can change the semantics of a program.
//!
//! ```text
//! table ─┬─ database (known.rs, npn.rs) ──────┐
//!        ├─ inversion and affine maps ────────┤
//!        └─ synthesis (horner.rs, linear.rs) ─┴─ network ─ realize.rs / cover.rs ─ circuit ─ check
//! ```
//!
//! * `simulate.rs`: truth tables and cost of a circuit, and whether it is well formed.
//! * `network.rs`: XOR-AND graphs in which complement is free; the representation of synthesis.
//! * `realize.rs`: a network as gates of the `Basic` and `Andn` profiles, with few NOTs.
//! * `cover.rs`: a network as gates of the `Lut3` profile.
//! * `inversion.rs`: networks for S-boxes of eight bits that are affine-equivalent to an inversion,
//!   as in AES.
//! * `horner.rs`: a network for any table.
//! * `known.rs`, `known/*.txt`: the database; `text.rs`: the form of its circuits.
//! * `matrices.rs`: the same for linear layers.
//! * `npn.rs`: NPN classes, of tables that are equal up to the order and the complement of bits.
//! * `polish.rs`: simulated annealing of networks.
//! * `linear.rs`: many XORs over the same terms, which share common subexpressions.
//! * `straight.rs`: the same for few terms, which may cancel.
//! * `three_bits.rs`: functions of three bits as trees of logic.

#[cfg(test)]
mod boxes;
mod cover;
mod horner;
pub mod inversion;
mod known;
mod linear;
mod matrices;
mod network;
mod npn;
mod polish;
mod realize;
mod simulate;
mod straight;
#[cfg(test)]
mod tests;
mod text;
pub mod three_bits;

pub use matrices::{MAX_MATRIX, for_matrix};
pub use simulate::{Fault, simulate};
pub use text::parse;

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

impl Profile {
    /// Every profile, poorest first.
    pub const ALL: [Profile; 3] = [Profile::Basic, Profile::Andn, Profile::Lut3];

    /// The name that the database has for it.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Basic => "basic",
            Profile::Andn => "andn",
            Profile::Lut3 => "lut3",
        }
    }

    /// Whether the target has the gate.
    pub fn allows(self, gate: &Gate) -> bool {
        match gate {
            Gate::Andn(..) => self == Profile::Andn,
            Gate::Lut3(..) => self == Profile::Lut3,
            _ => true,
        }
    }
}

/// The criterion for the best circuit of the database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Few gates: for bitslicing, where many S-boxes fill the units of the processor.
    Size,
    /// A short critical path, at four gates for one step of it: for words, where one S-box waits
    /// for the other.
    Chain,
}

/// The most input bits for which there is a synthesiser.
pub const MAX_INPUTS: u8 = 8;

/// Roughly the visits of nodes spent on making an S-box like the AES one smaller.
const EFFORT: usize = 160_000;

impl Table {
    /// Whether the table has the shape that its fields promise and that `for_table` accepts:
    /// 1 to 8 inputs, 1 to 64 outputs, `2^inputs` entries below `2^outputs`.
    pub fn is_well_formed(&self) -> bool {
        (1..=MAX_INPUTS).contains(&self.inputs)
            && (1..=64).contains(&self.outputs)
            && self.entries.len() == 1 << self.inputs
            && (self.outputs == 64 || self.entries.iter().all(|&e| e >> self.outputs == 0))
    }

    /// The same list of entries read least significant bit first (`_lsb_first`): in the result,
    /// `i_0` and `o_0` are the least significant bits of index and entry of `self`.
    pub fn reversed(&self) -> Table {
        let flip = |value: u64, bits: u8| value.reverse_bits() >> (64 - bits as u32);
        let entries = (0..self.entries.len() as u64)
            .map(|i| flip(self.entries[flip(i, self.inputs) as usize], self.outputs))
            .collect();
        Table { entries, ..*self }
    }
}

/// The best circuit for a table on a target with the gates of `profile`, from the database or by
/// synthesis. `goal` chooses among circuits of the database.
///
/// The table must be well formed (`Table::is_well_formed`). The result uses no other gates, no
/// gate whose wire is unused, and depends on the arguments only. It has been compared with the
/// table on all inputs.
pub fn for_table(table: &Table, profile: Profile, goal: Goal) -> Circuit {
    for_table_from(table, profile, goal).0
}

/// Where a circuit comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The database.
    Known,
    /// The table is inversion in the field of 256 elements between two affine maps.
    Inversion,
    /// The polynomials of the outputs.
    Polynomials,
}

/// The result of `for_table`, and its origin.
pub fn for_table_from(table: &Table, profile: Profile, goal: Goal) -> (Circuit, Origin) {
    assert!(table.is_well_formed(), "internal error: a table of the wrong shape reached synthesis");
    let known = || Some((known::find(table, profile, goal)?, Origin::Known));
    let inversion = || Some((inversion::synthesise(table, profile, EFFORT)?, Origin::Inversion));
    let any = || (horner::synthesise(table, profile), Origin::Polynomials);
    let (circuit, origin) = known().or_else(inversion).unwrap_or_else(any);
    circuit.check(profile).expect("internal error: a circuit for a table is not well formed");
    assert_eq!(simulate(&circuit), table.entries, "internal error: a circuit is not its table");
    (circuit, origin)
}

/// The key of a table's class: the same for tables that are equal up to the order and the
/// complement of their bits (with more than five inputs, the order may only be rotated or
/// reversed). `None` if the table has more than eight outputs.
pub fn class_key(table: &Table) -> Option<u64> {
    Some(npn::class(table.inputs, &simulate::table_truths(table))?.key)
}

/// A circuit as an entry of a database: the key of its class and the profile, then the circuit.
/// `None` if it has more than eight outputs, which have no class.
pub fn entry(circuit: &Circuit, profile: Profile) -> Option<String> {
    let key = known::key(circuit)?;
    Some(format!("{key:016x} {}\n{circuit}\n", profile.name()))
}

/// The best circuit for a table by `goal` among the entries of a text; entries are separated by
/// empty lines, and text that is no entry is ignored. It has been compared with the table on all
/// inputs.
pub fn in_entries(text: &str, table: &Table, profile: Profile, goal: Goal) -> Option<Circuit> {
    let circuit = known::find_in(&[text], table, profile, goal)?;
    (simulate(&circuit) == table.entries).then_some(circuit)
}

/// The same function on a target with the gates of `profile`, with as few NOTs as a search of
/// `effort` visits of gates finds. `None` if the circuit has `Lut3` gates and the profile has not.
pub fn restate(circuit: &Circuit, profile: Profile, effort: usize) -> Option<Circuit> {
    let inputs: Vec<(Wire, bool)> = (0..circuit.inputs as Wire).map(|i| (i, false)).collect();
    match network::Network::of(circuit, &inputs) {
        Some(net) => Some(realize::circuit(&net, profile, realize::Effort(effort))),
        None if profile == Profile::Lut3 => Some(cover::LutNet::of(circuit).circuit()),
        None => None,
    }
}

/// Circuits of a table that is inversion in the field of 256 elements between two affine maps, best
/// first and at most `most`, to be made smaller; none for any other table. `tries` says how often
/// the sums of each pair of maps are shared anew.
pub fn inversions(table: &Table, most: usize, tries: usize, seed: u64) -> Vec<Circuit> {
    inversion::networks(table, most, tries, seed)
        .iter()
        .map(|net| realize::circuit(net, Profile::Basic, realize::Effort::LOW))
        .collect()
}

/// Smaller circuits for the same function by `steps` random steps, one for each profile; none if
/// the circuit has `Lut3` gates. The profiles are `Lut3` alone, or others.
pub fn polished(circuit: &Circuit, profiles: &[Profile], steps: usize, seed: u64) -> Vec<Circuit> {
    let inputs: Vec<(Wire, bool)> = (0..circuit.inputs as Wire).map(|i| (i, false)).collect();
    match network::Network::of(circuit, &inputs) {
        Some(net) => polish::circuits(&net, profiles, steps, seed),
        None => Vec::new(),
    }
}
