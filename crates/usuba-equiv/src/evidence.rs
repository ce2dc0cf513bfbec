//! Which engines a proof needed, for reports.
//!
//! ```text
//! tables, E1             tables on all inputs, and one graph for the rest
//! E1, induction          the same graph, with a step for each loop
//! bits, E1, E2, E4       what was words is taken apart into bits
//! ```

use std::fmt;

/// A set of engines.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Engines(u8);

impl Engines {
    /// Small nodes on all their inputs.
    pub const TABLES: Engines = Engines(1);
    /// Words as bits.
    pub const BITS: Engines = Engines(2);
    /// Equal words are one node.
    pub const GRAPH: Engines = Engines(4);
    /// Sums as sets of terms.
    pub const SUMS: Engines = Engines(8);
    /// Truth tables on cuts of words.
    pub const CUTS: Engines = Engines(16);
    /// Truth tables over windows.
    pub const WINDOWS: Engines = Engines(32);
    /// Loops by their step.
    pub const INDUCTION: Engines = Engines(64);
    /// A SAT solver, whose proofs are replayed.
    pub const SOLVER: Engines = Engines(128);

    pub fn with(self, other: Engines) -> Engines {
        Engines(self.0 | other.0)
    }

    pub fn has(self, other: Engines) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The engines by their names in the book.
const NAMES: [(Engines, &str); 8] = [
    (Engines::TABLES, "tables"),
    (Engines::BITS, "bits"),
    (Engines::GRAPH, "E1"),
    (Engines::SUMS, "E2"),
    (Engines::CUTS, "E3"),
    (Engines::WINDOWS, "E4"),
    (Engines::SOLVER, "E5"),
    (Engines::INDUCTION, "induction"),
];

impl fmt::Display for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            NAMES.iter().filter(|(engine, _)| self.has(*engine)).map(|(_, name)| *name).collect();
        f.write_str(&if names.is_empty() { "nothing changed".into() } else { names.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_engines_reads_as_their_names() {
        assert_eq!(Engines::default().to_string(), "nothing changed");
        let both = Engines::GRAPH.with(Engines::TABLES);
        assert_eq!(both.to_string(), "tables, E1");
        assert!(both.has(Engines::GRAPH) && !both.has(Engines::BITS));
    }
}
