//! Engines of the provers, as a set: the evidence that a claim carries to reports and certificates.
//!
//! ```text
//! tables, E1             exhaustive enumeration, and value numbering for the rest
//! E1, induction          value numbering, with an induction step for each loop
//! bits, E1, E2, E4       after bit-blasting
//! intervals, cases       a contract of arithmetic
//! ```

use std::fmt;
use std::str::FromStr;

/// A set of engines.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Engines(u16);

impl Engines {
    /// Interval analysis.
    pub const INTERVALS: Engines = Engines(1);
    /// Polynomials over the integers, with carries as variables.
    pub const POLYNOMIALS: Engines = Engines(1 << 1);
    /// Case distinction on carries.
    pub const CASES: Engines = Engines(1 << 2);
    /// Exhaustive enumeration of small functions.
    pub const TABLES: Engines = Engines(1 << 3);
    /// Bit-blasting.
    pub const BITS: Engines = Engines(1 << 4);
    /// E1, value numbering.
    pub const GRAPH: Engines = Engines(1 << 5);
    /// E2, XOR normal forms.
    pub const SUMS: Engines = Engines(1 << 6);
    /// E3, truth tables of cuts.
    pub const CUTS: Engines = Engines(1 << 7);
    /// E4, SAT sweeping with windows.
    pub const WINDOWS: Engines = Engines(1 << 8);
    /// E5, a SAT solver whose proofs are replayed.
    pub const SOLVER: Engines = Engines(1 << 9);
    /// Induction over the iterations of a loop.
    pub const INDUCTION: Engines = Engines(1 << 10);

    /// The union of two sets.
    pub const fn with(self, other: Engines) -> Engines {
        Engines(self.0 | other.0)
    }

    /// Whether all of `other` are in the set.
    pub fn has(self, other: Engines) -> bool {
        self.0 & other.0 == other.0
    }

    /// `self` where `used` holds, nothing otherwise.
    pub fn when(self, used: bool) -> Engines {
        if used { self } else { Engines::default() }
    }
}

/// The engines by their names in the book, in the order of reports.
const NAMES: [(Engines, &str); 11] = [
    (Engines::INTERVALS, "intervals"),
    (Engines::POLYNOMIALS, "polynomials"),
    (Engines::CASES, "cases"),
    (Engines::TABLES, "tables"),
    (Engines::BITS, "bits"),
    (Engines::GRAPH, "E1"),
    (Engines::SUMS, "E2"),
    (Engines::CUTS, "E3"),
    (Engines::WINDOWS, "E4"),
    (Engines::SOLVER, "E5"),
    (Engines::INDUCTION, "induction"),
];

/// The name of the empty set: both programs are one.
const NONE: &str = "nothing changed";

impl fmt::Display for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            NAMES.iter().filter(|(engine, _)| self.has(*engine)).map(|(_, name)| *name).collect();
        f.write_str(&if names.is_empty() { NONE.into() } else { names.join(", ") })
    }
}

impl FromStr for Engines {
    type Err = String;

    /// Reads the text of [`Display`](fmt::Display).
    fn from_str(text: &str) -> Result<Engines, String> {
        if text == NONE {
            return Ok(Engines::default());
        }
        text.split(", ").try_fold(Engines::default(), |set, name| {
            let known = NAMES.iter().find(|(_, known)| *known == name);
            let (engine, _) = known.ok_or_else(|| format!("`{name}` is not an engine"))?;
            Ok(set.with(*engine))
        })
    }
}

impl FromIterator<Engines> for Engines {
    fn from_iter<T: IntoIterator<Item = Engines>>(sets: T) -> Engines {
        sets.into_iter().fold(Engines::default(), Engines::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_is_read_as_it_is_written() {
        for set in (0..1 << NAMES.len()).map(Engines) {
            assert_eq!(set.to_string().parse(), Ok(set));
        }
        assert_eq!(Engines::default().to_string(), "nothing changed");
        assert_eq!(Engines::GRAPH.with(Engines::TABLES).to_string(), "tables, E1");
        assert!("E1, E6".parse::<Engines>().is_err() && "".parse::<Engines>().is_err());
    }
}
