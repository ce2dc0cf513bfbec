//! Benchmark records: the results of a run, in the form that later runs are compared with.
//!
//! The types here mirror the JSON file of `usubac bench --format json`. Times are core cycles per byte;
//! instruction counts are per call of the kernel.

use std::collections::BTreeMap;
use std::fs;

use serde::{Deserialize, Serialize};

use crate::bench::{Measured, Problem, Speed};
use crate::work::{Throughput, Work};
use usuba_run::cc::Machine;
use usuba_run::code::Counts;

/// The version of the format; files of another version are rejected.
pub const FORMAT: u32 = 1;

/// One run of measurements.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    pub format: u32,
    /// The version of this program.
    pub usubac: String,
    pub host: Host,
    /// Remarks on the run, such as excessive noise.
    pub notes: Vec<String>,
    /// C compilers by path, with the first line of their version output.
    pub compilers: BTreeMap<String, String>,
    /// The machine's own throughputs, for each native target.
    pub throughput: BTreeMap<String, Throughput>,
    pub entries: Vec<Entry>,
}

/// The machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Host {
    /// The processor's model name, with the numbers that distinguish it from others of that name.
    pub processor: String,
    pub architecture: String,
    pub system: String,
}

/// One function in one compile variant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub cipher: String,
    pub function: String,
    /// `V`, `H` or `B`.
    pub slicing: String,
    pub target: String,
    /// The label of the variant.
    pub variant: String,
    /// Flags of `usubac`.
    pub flags: String,
    /// The path of the C compiler; empty if there is none.
    pub compiler: String,
    /// Flags of the C compiler, starting with the flags of the target.
    pub cflags: Vec<String>,
    pub outcome: Outcome,
}

/// The result of a measurement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Measured(Box<Numbers>),
    /// This machine lacks the target, or the target lacks the slicing; the reason.
    Skipped(String),
    /// It does not compile, or its results differ from the vectors.
    Failed(String),
}

/// The numbers of a verified function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Numbers {
    /// Blocks compared with the vectors.
    pub blocks: usize,
    /// Instances of one call.
    pub instances: usize,
    /// The interleave factor.
    pub copies: usize,
    /// Bytes of one call.
    pub call_bytes: usize,
    /// The work of one call.
    pub work: Work,
    /// The throughput bound in cycles per byte.
    pub limit: Option<f64>,
    /// The bottleneck resource of the bound.
    pub limit_by: Option<String>,
    /// The kernel on registers.
    pub kernel: Option<Times>,
    /// The kernel with transposition.
    pub packed: Option<Times>,
    /// The whole byte interface.
    pub whole: Option<Times>,
    /// Instructions per cycle of the kernel.
    pub ipc: Option<f64>,
    /// The source of that number.
    pub ipc_from: Option<Source>,
    /// The static instruction counts of the kernel.
    pub written: Option<Counts>,
    /// The dynamic instruction counts of one call.
    pub executed: Option<Counts>,
}

/// The source of an instructions-per-cycle number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The processor counted instructions and cycles.
    Counters,
    /// Instructions of one single-stepped call, divided by the median of the cycles.
    Stepping,
}

/// Times in cycles per byte.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Times {
    pub median: f64,
    pub quartiles: [f64; 2],
    /// Ascending.
    pub samples: Vec<f64>,
    /// The median of the samples of each process, for comparison with other runs.
    pub processes: Vec<f64>,
    /// The interquartile range as a share of the median.
    pub scatter: f64,
    /// The scatter of the calibrations next to the samples.
    pub calibration_scatter: f64,
    pub ticks_per_cycle: f64,
    /// The core of the last process; `null` if the system did not pin it.
    pub core: Option<u32>,
}

impl Run {
    /// An empty run on this machine.
    pub fn new(usubac: &str) -> Run {
        Run {
            format: FORMAT,
            usubac: usubac.to_string(),
            host: Host::here(),
            notes: Vec::new(),
            compilers: BTreeMap::new(),
            throughput: BTreeMap::new(),
            entries: Vec::new(),
        }
    }

    /// Whether nothing failed; skipped targets and slicings do not count.
    pub fn is_good(&self) -> bool {
        !self.entries.iter().any(|entry| matches!(entry.outcome, Outcome::Failed(_)))
    }

    /// The names of the noisy measurements, whose differences are not claimed.
    pub fn noisy(&self) -> Vec<String> {
        let noisy = |entry: &&Entry| {
            entry.numbers().and_then(|n| n.kernel.as_ref()).is_some_and(Times::is_noisy)
        };
        self.entries.iter().filter(noisy).map(Entry::name).collect()
    }

    /// Adds the remarks that every reader of the numbers needs.
    pub fn remark(&mut self) {
        let noisy = self.noisy();
        let timed: Vec<&Times> = self
            .entries
            .iter()
            .filter_map(|entry| entry.numbers().and_then(|n| n.kernel.as_ref()))
            .collect();
        let mut notes = Vec::new();
        if timed.iter().any(|times| times.core.is_none()) {
            notes.push("the system did not let the process stay on one core".to_string());
        }
        if !noisy.is_empty() {
            notes.push(format!(
                "the machine was too noisy for claims about {} of {} kernels: {}",
                noisy.len(),
                timed.len(),
                noisy.join(", ")
            ));
        }
        self.notes.extend(notes);
    }

    /// Records the version of the compiler of `machine`.
    pub fn note_compiler(&mut self, machine: &Machine) {
        let path = machine.compiler.display().to_string();
        self.compilers.entry(path).or_insert_with(|| machine.version());
    }
}

impl Host {
    /// This machine.
    pub fn here() -> Host {
        let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line =
                text.lines().find(|line| line.split(':').next().map(str::trim) == Some(name));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_string())
        };
        let numbers = ["cpu family", "model", "stepping"].map(field);
        let processor = match (field("model name"), numbers) {
            (Some(name), [Some(family), Some(model), Some(stepping)]) => {
                format!("{name} (family {family}, model {model}, stepping {stepping})")
            }
            (Some(name), _) => name,
            _ => "unknown".to_string(),
        };
        let (architecture, system) = (std::env::consts::ARCH, std::env::consts::OS);
        Host { processor, architecture: architecture.into(), system: system.into() }
    }
}

impl Entry {
    /// The numbers, if it was measured.
    pub fn numbers(&self) -> Option<&Numbers> {
        match &self.outcome {
            Outcome::Measured(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The display name.
    pub fn name(&self) -> String {
        format!("{} {} {} ({})", self.function, self.slicing, self.target, self.variant)
    }
}

impl Outcome {
    /// Converts a result to a record.
    pub fn new(result: &Result<Measured, Problem>, throughput: Option<&Throughput>) -> Outcome {
        match result {
            Ok(measured) => Outcome::Measured(Box::new(Numbers::new(measured, throughput))),
            Err(Problem::Skipped(why)) => Outcome::Skipped(why.clone()),
            Err(Problem::Refused(why) | Problem::Failed(why)) => Outcome::Failed(why.clone()),
        }
    }
}

impl Numbers {
    fn new(measured: &Measured, throughput: Option<&Throughput>) -> Numbers {
        let limit = throughput.and_then(|throughput| throughput.limit(&measured.work));
        let times = |speed: &Option<Speed>| speed.as_ref().map(Times::new);
        let executed = measured.inside.executed;
        let ipc = measured.kernel.as_ref().and_then(|speed| {
            let counted =
                speed.samples.counted.map(|c| (c.instructions / c.cycles, Source::Counters));
            let stepped = executed.map(|counts| {
                (counts.instructions as f64 / speed.samples.median(), Source::Stepping)
            });
            counted.or(stepped)
        });
        Numbers {
            blocks: measured.blocks,
            instances: measured.instances,
            copies: measured.copies,
            call_bytes: measured.call_bytes,
            work: measured.work.clone(),
            limit: limit.as_ref().map(|limit| limit.cycles / measured.call_bytes as f64),
            limit_by: limit.map(|limit| limit.by),
            kernel: times(&measured.kernel),
            packed: times(&measured.bytes),
            whole: times(&measured.whole),
            ipc: ipc.map(|(ipc, _)| ipc),
            ipc_from: ipc.map(|(_, source)| source),
            written: measured.inside.written,
            executed,
        }
    }

    /// The kernel's time over its throughput bound.
    pub fn times_limit(&self) -> Option<f64> {
        Some(self.kernel.as_ref()?.median / self.limit?)
    }
}

/// Rounds to six digits: beyond the precision of any clock, and short in files.
pub(crate) fn rounded(value: f64) -> f64 {
    let shift = 10f64.powi(5 - value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32);
    if shift.is_finite() { (value * shift).round() / shift } else { value }
}

impl Times {
    /// The times of one kernel.
    pub fn new(speed: &Speed) -> Times {
        let (low, high) = speed.quartiles();
        Times {
            median: speed.median,
            quartiles: [low, high],
            samples: speed.per_byte().into_iter().map(rounded).collect(),
            processes: speed.processes().into_iter().map(rounded).collect(),
            scatter: speed.samples.scatter(),
            calibration_scatter: speed.samples.calibration_scatter(),
            ticks_per_cycle: speed.samples.ticks_per_cycle(),
            core: speed.samples.core,
        }
    }

    /// Whether the samples or the calibrations scatter too much for claims.
    pub fn is_noisy(&self) -> bool {
        self.scatter > crate::bench::NOISY || self.calibration_scatter > crate::bench::NOISY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_kept() {
        assert_eq!(rounded(1.234_567_89), 1.234_57);
        assert_eq!(rounded(0.000_123_456_789), 0.000_123_457);
        assert_eq!(rounded(98_765_432.1), 98_765_400.0);
        assert_eq!(rounded(0.0), 0.0);
    }
}
