//! What a run of measurements leaves behind: everything that another run is compared with.
//!
//! The shapes here are those of the JSON file that `usubac bench --json` writes; times are cycles
//! of the core per byte, numbers of instructions are those of one call of the kernel.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::bench::{Measured, Problem, Speed};
use crate::work::{Throughput, Work};
use usuba_run::cc::Machine;
use usuba_run::code::Counts;

/// The version of these shapes; files of another version are not read.
pub const FORMAT: u32 = 1;

/// One run of measurements.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    pub format: u32,
    /// The version of this program.
    pub usubac: String,
    pub host: Host,
    /// What was said about the run, such as that it was too noisy.
    pub notes: Vec<String>,
    /// C compilers by their path, with the first line of what they say about their version.
    pub compilers: BTreeMap<String, String>,
    /// The machine's own throughputs, for each native target.
    pub throughput: BTreeMap<String, Throughput>,
    pub entries: Vec<Entry>,
}

/// The machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Host {
    /// The name that the processor has for itself, with the numbers that tell it from others of
    /// that name.
    pub processor: String,
    pub architecture: String,
    pub system: String,
}

/// One function, compiled in one way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub cipher: String,
    pub function: String,
    /// `V`, `H` or `B`.
    pub slicing: String,
    pub target: String,
    /// The label of the way to compile.
    pub variant: String,
    /// Flags of `usubac`.
    pub flags: String,
    /// The path of the C compiler; empty if there is none.
    pub compiler: String,
    /// Flags of the C compiler, those of the target first.
    pub cflags: Vec<String>,
    pub outcome: Outcome,
}

/// What came of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Measured(Box<Numbers>),
    /// The machine cannot, or the slicing does not exist on the target; why.
    Skipped(String),
    /// It does not compile, or computes something else.
    Failed(String),
}

/// A verified function in numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Numbers {
    /// Blocks that were compared with the vectors.
    pub blocks: usize,
    /// Instances of one call.
    pub instances: usize,
    /// How many of them are side by side in registers of their own.
    pub copies: usize,
    /// Bytes of one call.
    pub call_bytes: usize,
    /// The work of one call.
    pub work: Work,
    /// The least cycles per byte in which the work can be issued.
    pub limit: Option<f64>,
    /// What the machine has not enough of to be faster than that.
    pub limit_by: Option<String>,
    /// The kernel on registers.
    pub kernel: Option<Times>,
    /// The kernel with packing.
    pub packed: Option<Times>,
    /// The whole byte interface.
    pub whole: Option<Times>,
    /// Instructions per cycle of the kernel.
    pub ipc: Option<f64>,
    /// Where that number comes from.
    pub ipc_from: Option<Source>,
    /// The kernel's machine code, each instruction once.
    pub written: Option<Counts>,
    /// The same, each instruction as often as one call executes it.
    pub executed: Option<Counts>,
}

/// Where a number of instructions per cycle comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The processor counted both.
    Counters,
    /// Instructions of one call run in single steps, divided by the median of the cycles.
    Stepping,
}

/// Times in cycles per byte.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Times {
    pub median: f64,
    pub quartiles: [f64; 2],
    /// Ascending.
    pub samples: Vec<f64>,
    /// The median of the samples of each process: what other runs are compared with.
    pub processes: Vec<f64>,
    /// The distance of the quartiles as a share of the median.
    pub scatter: f64,
    /// The same of the calibrations next to the samples.
    pub calibration_scatter: f64,
    pub ticks_per_cycle: f64,
    /// The core that the last process stayed on; `null` if the system did not let one of them.
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

    /// Whether nothing failed; what this machine cannot do does not count.
    pub fn is_good(&self) -> bool {
        !self.entries.iter().any(|entry| matches!(entry.outcome, Outcome::Failed(_)))
    }

    /// Why claims cannot be trusted: the names of what was too noisy.
    pub fn noisy(&self) -> Vec<String> {
        let noisy = |entry: &&Entry| {
            entry.numbers().and_then(|n| n.kernel.as_ref()).is_some_and(Times::is_noisy)
        };
        self.entries.iter().filter(noisy).map(Entry::name).collect()
    }

    /// Notes what every reader of the numbers should know.
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

    /// Notes the version of the compiler of `machine`.
    pub fn note_compiler(&mut self, machine: &Machine) {
        let path = machine.compiler.display().to_string();
        self.compilers.entry(path).or_insert_with(|| compiler_version(machine));
    }
}

/// The first line of what a compiler says about its version.
pub fn compiler_version(machine: &Machine) -> String {
    let output = Command::new(&machine.compiler).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().lines().next().unwrap_or("unknown").to_string()
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

    /// A name for people.
    pub fn name(&self) -> String {
        format!("{} {} {} ({})", self.function, self.slicing, self.target, self.variant)
    }
}

impl Outcome {
    /// Puts a result into words and numbers.
    pub fn new(result: &Result<Measured, Problem>, throughput: Option<&Throughput>) -> Outcome {
        match result {
            Ok(measured) => Outcome::Measured(Box::new(Numbers::new(measured, throughput))),
            Err(Problem::Skipped(why)) => Outcome::Skipped(why.clone()),
            Err(Problem::Failed(why)) => Outcome::Failed(why.clone()),
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

    /// How many times its limit the kernel takes.
    pub fn times_limit(&self) -> Option<f64> {
        Some(self.kernel.as_ref()?.median / self.limit?)
    }
}

/// Six digits: more than any clock is good for, and files stay small.
fn rounded(value: f64) -> f64 {
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
