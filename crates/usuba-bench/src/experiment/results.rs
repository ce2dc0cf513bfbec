//! Stored results of an experiment, and the quantities derived from them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::difference::probability;
use crate::record::{Entry, Host, Outcome, Times};
use crate::work::Throughput;
use usuba::names::unknown;
use usuba_run::stats::deviation;

/// The finished cells of an experiment. Saved after each cell.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Results {
    pub format: u32,
    pub title: String,
    /// Whether this is the result of `--quick`.
    pub quick: bool,
    /// The version of this program.
    pub usubac: String,
    pub host: Host,
    /// C compilers by path, with the first line of their version output.
    pub compilers: BTreeMap<String, String>,
    pub throughput: BTreeMap<String, Throughput>,
    pub cells: Vec<Cell>,
    pub missing: Vec<Missing>,
}

/// One function, slicing, target and compiler, in all variants.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cell {
    pub cipher: String,
    pub slicing: String,
    pub target: String,
    /// The label of the compiler.
    pub compiler: String,
    /// The hash of the C of all variants, the compilers, the flags and the timing: a cell with an
    /// equal hash is not measured again.
    pub fingerprint: String,
    /// One per variant, in order.
    pub entries: Vec<Entry>,
    /// For each variant the first one with the same machine code, whose numbers it shares.
    pub same_as: Vec<usize>,
    /// For each variant the share of cycles in which at least 0, 1, 2, ... micro-operations begin, by a
    /// model, if the experiment asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busy: Vec<Option<Vec<f64>>>,
}

/// A cipher without cells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Missing {
    pub cipher: String,
    pub why: String,
}

/// A quantity of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Cycles per byte of the kernel.
    Cycles,
    /// Cycles divided by the throughput bound.
    Limit,
    /// Instructions per cycle.
    Ipc,
    /// Frame loads and stores as a share of the executed instructions.
    Spills,
    /// Executed instructions of one call, per byte.
    Instructions,
    /// Executed loads and stores of one call, per byte.
    Memory,
    /// Bytes of machine code.
    Code,
    /// The share of cycles in which at least this number of micro-operations begins, by a model.
    Busy(usize),
    /// The relative standard deviation of the processes.
    Deviation,
    /// The speed of a variant over the speed of another one.
    Ratio,
    /// The probability of that ratio by chance, corrected for all ratios of the table.
    Chance,
    /// The interval of that ratio.
    Interval,
    /// A quotient of bytes of machine code.
    CodeRatio,
    /// A quotient of the loads and stores of one call: of N instances it is N if nothing is spilled.
    MemoryRatio,
}

/// The quantities by their names in files, with their titles.
const QUANTITIES: [(&str, Quantity, &str); 18] = [
    ("cycles", Quantity::Cycles, "cycles/byte"),
    ("speedup", Quantity::Ratio, "speed-up"),
    ("limit", Quantity::Limit, "× limit"),
    ("ipc", Quantity::Ipc, "IPC"),
    ("spills", Quantity::Spills, "spills"),
    ("instructions", Quantity::Instructions, "instructions/byte"),
    ("memory", Quantity::Memory, "loads and stores/byte"),
    ("code", Quantity::Code, "bytes of code"),
    ("busy-1", Quantity::Busy(1), "cycles with a micro-operation (model)"),
    ("busy-2", Quantity::Busy(2), "cycles with two micro-operations (model)"),
    ("busy-3", Quantity::Busy(3), "cycles with three micro-operations (model)"),
    ("busy-4", Quantity::Busy(4), "cycles with four micro-operations (model)"),
    ("sd", Quantity::Deviation, "deviation"),
    ("ratio", Quantity::Ratio, "speed"),
    ("p", Quantity::Chance, "p"),
    ("interval", Quantity::Interval, "interval"),
    ("code-ratio", Quantity::CodeRatio, "code"),
    ("memory-ratio", Quantity::MemoryRatio, "loads and stores"),
];

/// A column: a quantity of a variant, or of a variant over another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measure {
    /// Its notation in files: `quantity:variant` or `quantity:variant/other`.
    pub text: String,
    pub quantity: Quantity,
    pub variant: String,
    /// The first variant, if it is not named.
    pub over: String,
}

impl Measure {
    /// Parses the notation; `labels` are the variants, the first one first.
    ///
    /// # Errors
    /// There is no such quantity or variant.
    pub fn parse(text: &str, labels: &[String]) -> Result<Measure, String> {
        let (name, rest) =
            text.split_once(':').ok_or_else(|| format!("`{text}` is no quantity:variant"))?;
        let known = QUANTITIES.iter().find(|(known, ..)| *known == name);
        let (_, quantity, _) = known.ok_or_else(|| {
            let names = QUANTITIES.iter().map(|(name, ..)| *name);
            format!("`{text}` is no quantity:variant: {}", unknown("quantity", name, names))
        })?;
        let is = |label: &str| labels.iter().any(|known| known == label);
        let pairs = || rest.match_indices('/').map(|(at, _)| (&rest[..at], &rest[at + 1..]));
        let first = labels.first().map_or("", |label| label);
        let (variant, over) = match pairs().find(|(a, b)| is(a) && is(b)) {
            Some(pair) => pair,
            None if is(rest) => (rest, first),
            None => {
                let labels = labels.iter().map(String::as_str);
                let wrong = unknown("variant", rest, labels);
                return Err(format!("the column `{text}`: {wrong}"));
            }
        };
        let (text, quantity) = (text.to_string(), *quantity);
        Ok(Measure { text, quantity, variant: variant.into(), over: over.into() })
    }

    /// The head of its column in a table.
    pub fn title(&self) -> String {
        let name = self.text.split(':').next().unwrap_or_default();
        let row = QUANTITIES.iter().find(|(known, ..)| *known == name);
        let title = row.map_or("", |(.., title)| title);
        match self.text.ends_with(&format!("/{}", self.over)) {
            true => format!("{title}, {} over {}", self.variant, self.over),
            false => format!("{title}, {}", self.variant),
        }
    }

    /// The ratio to which a probability or an interval belongs.
    pub fn ratio(&self) -> Option<Measure> {
        if !matches!(self.quantity, Quantity::Chance | Quantity::Interval) {
            return None;
        }
        let (_, rest) = self.text.split_once(':')?;
        let name = if rest == self.variant { "speedup" } else { "ratio" };
        Some(Measure { text: format!("{name}:{rest}"), quantity: Quantity::Ratio, ..self.clone() })
    }
}

impl Quantity {
    /// Formats the number.
    pub fn text(self, value: f64) -> String {
        match self {
            Quantity::Spills => format!("{:.0} %", 100.0 * value),
            Quantity::Deviation | Quantity::Busy(_) => format!("{:.1} %", 100.0 * value),
            Quantity::Code => format!("{value:.0}"),
            Quantity::Cycles => format!("{value:.3}"),
            Quantity::Chance => probability(value),
            _ => format!("{value:.2}"),
        }
    }
}

impl Cell {
    /// The entry of a variant.
    pub fn entry(&self, variant: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.variant == variant)
    }

    /// The times of a variant.
    pub fn times(&self, variant: &str) -> Option<&Times> {
        self.entry(variant)?.numbers()?.kernel.as_ref()
    }

    /// Whether two variants have the same machine code.
    pub fn is_same(&self, variant: &str, other: &str) -> bool {
        let kind = |label: &str| {
            let at = self.entries.iter().position(|entry| entry.variant == label)?;
            self.same_as.get(at)
        };
        kind(variant).is_some() && kind(variant) == kind(other)
    }

    /// A number that needs no test.
    pub fn figure(&self, quantity: Quantity, variant: &str) -> Option<f64> {
        let numbers = self.entry(variant)?.numbers()?;
        let counts = numbers.executed.or(numbers.written);
        let per_byte = |count: u64| count as f64 / numbers.call_bytes as f64;
        match quantity {
            Quantity::Cycles => numbers.kernel.as_ref().map(|times| times.median),
            Quantity::Limit => numbers.times_limit(),
            Quantity::Ipc => numbers.ipc,
            Quantity::Spills => counts.map(|counts| counts.spill_share()),
            Quantity::Instructions => numbers.executed.map(|counts| per_byte(counts.instructions)),
            Quantity::Memory => {
                numbers.executed.map(|counts| per_byte(counts.loads + counts.stores))
            }
            Quantity::Code => numbers.written.map(|counts| counts.bytes as f64),
            Quantity::Busy(least) => {
                let at = self.entries.iter().position(|entry| entry.variant == variant)?;
                let shares = self.busy.get(at)?.as_ref()?;
                Some(shares.get(least).copied().unwrap_or(0.0))
            }
            Quantity::Deviation => numbers.kernel.as_ref().map(|times| deviation(&times.processes)),
            Quantity::Ratio
            | Quantity::Chance
            | Quantity::Interval
            | Quantity::CodeRatio
            | Quantity::MemoryRatio => None,
        }
    }

    /// A quotient of counts.
    pub fn count_ratio(&self, measure: &Measure) -> Option<f64> {
        let of = |variant: &str| {
            let numbers = self.entry(variant)?.numbers()?;
            match measure.quantity {
                Quantity::CodeRatio => numbers.written.map(|counts| counts.bytes as f64),
                Quantity::MemoryRatio => {
                    numbers.executed.map(|counts| (counts.loads + counts.stores) as f64)
                }
                _ => None,
            }
        };
        Some(of(&measure.variant)? / of(&measure.over)?)
    }

    /// The reason why a variant has no numbers.
    pub fn problem(&self, variant: &str) -> Option<&str> {
        match &self.entry(variant)?.outcome {
            Outcome::Measured(_) => None,
            Outcome::Skipped(why) | Outcome::Failed(why) => Some(why),
        }
    }
}

impl Results {
    /// Names of the noisy measurements.
    pub fn noisy(&self) -> Vec<String> {
        let entries = self.cells.iter().flat_map(|cell| &cell.entries);
        let noisy = |entry: &&Entry| {
            entry.numbers().and_then(|n| n.kernel.as_ref()).is_some_and(Times::is_noisy)
        };
        entries.filter(noisy).map(Entry::name).collect()
    }

    /// Whether nothing failed; missing or skipped cells do not count.
    pub fn is_good(&self) -> bool {
        let mut entries = self.cells.iter().flat_map(|cell| &cell.entries);
        !entries.any(|entry| matches!(entry.outcome, Outcome::Failed(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_name_a_quantity_and_variants() {
        let labels = ["one", "two", "a/b"].map(String::from);
        let parse = |text: &str| Measure::parse(text, &labels);
        let found = |text: &str| {
            let measure = parse(text).expect("it is well-formed");
            (measure.quantity, measure.variant.clone(), measure.over.clone(), measure.title())
        };
        let names = |quantity, variant: &str, over: &str, title: &str| {
            (quantity, variant.to_string(), over.to_string(), title.to_string())
        };
        assert_eq!(found("ipc:one"), names(Quantity::Ipc, "one", "one", "IPC, one"));
        assert_eq!(found("speedup:two"), names(Quantity::Ratio, "two", "one", "speed-up, two"));
        let slash = names(Quantity::Ratio, "a/b", "two", "speed, a/b over two");
        assert_eq!(found("ratio:a/b/two"), slash);
        let code = names(Quantity::CodeRatio, "two", "a/b", "code, two over a/b");
        assert_eq!(found("code-ratio:two/a/b"), code);
        let ratio = |text: &str| parse(text).expect("it is well-formed").ratio();
        assert_eq!(ratio("p:two").as_ref(), parse("speedup:two").as_ref().ok());
        assert_eq!(ratio("interval:two/a/b").as_ref(), parse("ratio:two/a/b").as_ref().ok());
        assert_eq!(ratio("ipc:two"), None);
        for (text, why) in [
            ("two", "no quantity:variant"),
            ("speedupp:two", "no quantity `speedupp`; help: did you mean `speedup`?"),
            ("ratio:two/tow", "no variant `two/tow`"),
        ] {
            let error = parse(text).expect_err("it is malformed");
            assert!(error.contains(why), "{error}");
        }
    }
}
