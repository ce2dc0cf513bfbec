//! Stored results of an experiment, and the quantities derived from them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::difference::{Change, Verdict};
use crate::record::{Entry, Host, Outcome, Times};
use crate::work::Throughput;

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
}

/// A cipher without cells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Missing {
    pub cipher: String,
    pub why: String,
}

/// A quantity of a variant in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Cycles per byte of the kernel.
    Cycles,
    /// The cycles of the first variant, divided by the cycles of this one.
    Speedup,
    /// Cycles divided by the throughput bound.
    Limit,
    /// Instructions per cycle.
    Ipc,
    /// Frame loads and stores as a share of the executed instructions.
    Spills,
    /// Executed instructions of one call, per byte.
    Instructions,
    /// Bytes of machine code.
    Code,
}

/// A number of a table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Value {
    pub value: f64,
    /// For speed-ups: whether the difference is significant.
    pub claimed: bool,
}

impl Quantity {
    /// Parses a column into its quantity and variant.
    pub fn column(column: &str) -> Option<(Quantity, &str)> {
        let (name, label) = column.split_once(':')?;
        let quantity = match name {
            "cycles" => Quantity::Cycles,
            "speedup" => Quantity::Speedup,
            "limit" => Quantity::Limit,
            "ipc" => Quantity::Ipc,
            "spills" => Quantity::Spills,
            "instructions" => Quantity::Instructions,
            "code" => Quantity::Code,
            _ => return None,
        };
        Some((quantity, label))
    }

    /// The title of a table's column.
    pub fn title(self) -> &'static str {
        match self {
            Quantity::Cycles => "cycles/byte",
            Quantity::Speedup => "speed-up",
            Quantity::Limit => "× limit",
            Quantity::Ipc => "IPC",
            Quantity::Spills => "spills",
            Quantity::Instructions => "instructions/byte",
            Quantity::Code => "bytes of code",
        }
    }

    /// Formats the number.
    pub fn text(self, value: f64) -> String {
        match self {
            Quantity::Spills => format!("{:.0} %", 100.0 * value),
            Quantity::Code => format!("{value:.0}"),
            Quantity::Cycles => format!("{value:.3}"),
            _ => format!("{value:.2}"),
        }
    }
}

impl Cell {
    /// The entry of a variant.
    pub fn entry(&self, variant: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.variant == variant)
    }

    /// The change from the first variant to another; `None` if one of them has no times.
    pub fn change(&self, variant: &str) -> Option<Change> {
        let at = self.entries.iter().position(|entry| entry.variant == variant)?;
        let times = |at: usize| -> Option<&Times> { self.entries[at].numbers()?.kernel.as_ref() };
        let mut change = Change::new(variant.to_string(), times(0)?, times(at)?);
        if self.same_as.get(at) == Some(&0) {
            // Equal machine code is equally fast, in spite of the samples.
            (change.p, change.verdict) = (1.0, Verdict::Same);
        }
        Some(change)
    }

    /// A number of a variant.
    pub fn value(&self, quantity: Quantity, variant: &str) -> Option<Value> {
        let numbers = self.entry(variant)?.numbers()?;
        let plain = |value: f64| Value { value, claimed: false };
        match quantity {
            Quantity::Cycles => numbers.kernel.as_ref().map(|times| plain(times.median)),
            Quantity::Speedup => self.change(variant).map(|change| Value {
                value: 1.0 / change.ratio(),
                claimed: change.verdict != Verdict::Same,
            }),
            Quantity::Limit => numbers.times_limit().map(plain),
            Quantity::Ipc => numbers.ipc.map(plain),
            Quantity::Spills => {
                numbers.executed.or(numbers.written).map(|counts| plain(counts.spill_share()))
            }
            Quantity::Instructions => numbers
                .executed
                .map(|counts| plain(counts.instructions as f64 / numbers.call_bytes as f64)),
            Quantity::Code => numbers.written.map(|counts| plain(counts.bytes as f64)),
        }
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
