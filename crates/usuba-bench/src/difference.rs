//! Comparison of two benchmark runs: significant speed-ups and regressions.
//!
//! ```text
//! rectangle80_encrypt V avx2 (default)   1.436 → 1.352   0.94   p < 0.0001   faster
//! serpent_encrypt V avx2 (default)       3.602 → 3.618   1.00   p = 0.0312
//! ```
//!
//! A change is claimed if the rank-sum test finds it significant, it exceeds the noise floor, and
//! neither side is noisy.
//! The test compares one number per process, because samples of one process share its page
//! placement and so are not independent. The floor covers effects common to all processes of an
//! executable, such as the alignment of a loop in a cache line.

use std::fmt;

use crate::record::{Entry, Run, Times};
use usuba_run::stats::{self, rank_sum};

/// The noise floor: executables with the same code differ by up to this share.
pub const FLOOR: f64 = 0.02;

/// The verdict on one kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Faster,
    Slower,
    /// No difference is claimed.
    Same,
}

/// One kernel in both runs.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    pub name: String,
    pub before: f64,
    pub after: f64,
    /// The probability of such a difference by chance.
    pub p: f64,
    /// The noise floor of this kernel.
    pub floor: f64,
    pub verdict: Verdict,
}

impl Change {
    /// The change between two sets of samples, in cycles per byte.
    pub fn new(name: String, before: &Times, after: &Times) -> Change {
        let p = rank_sum(&before.processes, &after.processes).p;
        let floor = FLOOR.max((scatter(before) + scatter(after)) / 2.0);
        let ratio = after.median / before.median;
        let claimed = p < stats::SIGNIFICANT && !before.is_noisy() && !after.is_noisy();
        let verdict = match () {
            () if claimed && ratio > 1.0 + floor => Verdict::Slower,
            () if claimed && ratio < 1.0 / (1.0 + floor) => Verdict::Faster,
            () => Verdict::Same,
        };
        Change { name, before: before.median, after: after.median, p, floor, verdict }
    }

    /// The time after over the time before.
    pub fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// The scatter between the processes of one run.
fn scatter(times: &Times) -> f64 {
    let mut processes = times.processes.clone();
    processes.sort_by(f64::total_cmp);
    if processes.is_empty() { times.scatter } else { stats::scatter(&processes) }
}

/// All kernels that both runs have.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    pub changes: Vec<Change>,
    /// Kernels that only one of the runs has.
    pub alone: Vec<String>,
    /// Further differences between the runs.
    pub notes: Vec<String>,
}

impl Difference {
    /// Compares the kernels of `after` with the kernels of `before`.
    ///
    /// # Errors
    /// The reason why the runs are not comparable.
    pub fn new(before: &Run, after: &Run) -> Result<Difference, String> {
        if before.host != after.host {
            return Err(format!(
                "the numbers are of other machines ({} and {}) and cannot be compared",
                before.host.processor, after.host.processor
            ));
        }
        let mut notes = Vec::new();
        for (path, version) in &after.compilers {
            if before.compilers.get(path).is_some_and(|old| old != version) {
                notes.push(format!("{path} was {} and is {version}", before.compilers[path]));
            }
        }
        notes.extend(before.notes.iter().map(|note| format!("before: {note}")));
        notes.extend(after.notes.iter().map(|note| format!("after: {note}")));
        let key = |e: &Entry| {
            [&e.function, &e.slicing, &e.target, &e.variant, &e.compiler].map(String::clone)
        };
        let timed = |e: &Entry| e.numbers().and_then(|n| n.kernel.clone());
        let mut changes = Vec::new();
        let mut alone = Vec::new();
        for entry in &after.entries {
            let Some(new) = timed(entry) else { continue };
            let old = before.entries.iter().find(|old| key(old) == key(entry)).and_then(timed);
            match old {
                Some(old) => changes.push(Change::new(entry.name(), &old, &new)),
                None => alone.push(format!("{} is new", entry.name())),
            }
        }
        for entry in before.entries.iter().filter(|entry| timed(entry).is_some()) {
            let there = |new: &&Entry| key(new) == key(entry) && timed(new).is_some();
            if after.entries.iter().find(there).is_none() {
                alone.push(format!("{} is gone", entry.name()));
            }
        }
        Ok(Difference { changes, alone, notes })
    }

    /// Whether some kernel became slower.
    pub fn regressed(&self) -> bool {
        self.changes.iter().any(|change| change.verdict == Verdict::Slower)
    }
}

/// Formats a probability.
pub fn probability(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".into() } else { format!("p = {p:.4}") }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.changes.iter().map(|c| c.name.len()).max().unwrap_or(6).max(6);
        writeln!(
            f,
            "Cycles per byte of kernels; marked is what is no accident and above noise.\n"
        )?;
        writeln!(f, "{:width$}  {:>8}  {:>8}  {:>6}", "kernel", "before", "after", "ratio")?;
        for change in &self.changes {
            let mark = match change.verdict {
                Verdict::Faster => "faster",
                Verdict::Slower => "SLOWER",
                Verdict::Same => "",
            };
            let line = format!(
                "{:width$}  {:8.3}  {:8.3}  {:6.3}  {:10}  {mark}",
                change.name,
                change.before,
                change.after,
                change.ratio(),
                probability(change.p)
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        for note in self.alone.iter().chain(&self.notes) {
            writeln!(f, "note: {note}")?;
        }
        let count = |verdict| self.changes.iter().filter(|c| c.verdict == verdict).count();
        let (faster, slower) = (count(Verdict::Faster), count(Verdict::Slower));
        writeln!(f, "\n{faster} faster, {slower} slower, of {}", self.changes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(scale: f64) -> Times {
        // A median of 2 cycles per byte and a tail to the right.
        let samples: Vec<f64> =
            (0..51).map(|i| scale * (1.98 + 0.0008 * (i % 50) as f64)).collect();
        let mut samples = samples;
        samples.sort_by(f64::total_cmp);
        Times {
            median: stats::quantile(&samples, 0.5),
            quartiles: [stats::quantile(&samples, 0.25), stats::quantile(&samples, 0.75)],
            scatter: stats::scatter(&samples),
            processes: samples.iter().copied().step_by(7).collect(),
            samples,
            calibration_scatter: 0.001,
            ticks_per_cycle: 0.7,
            core: Some(0),
        }
    }

    fn verdict(scale: f64) -> Verdict {
        Change::new("f".into(), &times(1.0), &times(scale)).verdict
    }

    #[test]
    fn changes_above_the_floor_are_claimed() {
        assert_eq!(verdict(1.2), Verdict::Slower);
        assert_eq!(verdict(0.8), Verdict::Faster);
        assert_eq!(verdict(1.0), Verdict::Same);
    }

    #[test]
    fn small_changes_are_not_claimed_however_sure_they_are() {
        let quiet = |scale: f64| Times { processes: vec![2.0 * scale; 8], ..times(scale) };
        let change = Change::new("f".into(), &quiet(1.0), &quiet(1.015));
        assert!(change.p < 0.01, "the test alone would claim it");
        assert_eq!(change.verdict, Verdict::Same);
    }

    #[test]
    fn processes_that_differ_raise_the_floor() {
        let loud: Vec<f64> = (0..8).map(|i| 2.1 + 0.2 * i as f64).collect();
        let loud = Times { processes: loud, ..times(1.1) };
        let change = Change::new("f".into(), &times(1.0), &loud);
        assert!(change.p < 0.01 && change.verdict == Verdict::Same, "{change:?}");
    }

    #[test]
    fn noise_proves_nothing() {
        let loud = Times { scatter: 0.2, ..times(1.5) };
        let change = Change::new("f".into(), &times(1.0), &loud);
        assert!(change.p < 0.01 && change.verdict == Verdict::Same, "{change:?}");
    }

    #[test]
    fn samples_of_one_process_prove_nothing() {
        let one = |scale: f64| Times { processes: vec![2.0 * scale], ..times(scale) };
        let change = Change::new("f".into(), &one(1.0), &one(1.2));
        assert_eq!(change.verdict, Verdict::Same);
    }
}
