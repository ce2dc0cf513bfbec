//! Text table of a benchmark run.
//!
//! The first number is the kernel's time over its throughput bound: it is the only number that
//! carries over to other machines.

use std::fmt;

use crate::difference::{Change, Verdict};
use crate::record::{Entry, Numbers, Outcome, Run, Source, Times};

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variants = self.entries.iter().any(|e| e.variant != self.entries[0].variant);
        let width = |of: fn(&Entry) -> usize| self.entries.iter().map(of).max().unwrap_or(0);
        let width_function = width(|e| e.function.len()).max(8);
        let width_variant = width(|e| e.variant.len()).max(7);
        writeln!(
            f,
            "Cycles per byte of the kernel on registers, first as a multiple of its limit; with\n\
             packing on 16 KiB; and with the key and a tail.\n"
        )?;
        let mut head = format!("{:width_function$}  slicing  target  ", "function");
        if variants {
            head += &format!("{:width_variant$}  ", "variant");
        }
        head += &format!(
            "lanes  {:8}  {:>6}  {:>8}  {:>8}  {:>8}  {:>5}  {:>6}",
            "vectors", "/limit", "kernel", "packed", "whole", "IPC", "spills"
        );
        writeln!(f, "{head}")?;
        for entry in &self.entries {
            let Entry { function, slicing, target, variant, outcome, .. } = entry;
            let mut line = format!("{function:width_function$}  {slicing:7}  {target:6}  ");
            if variants {
                line += &format!("{variant:width_variant$}  ");
            }
            line += &match outcome {
                Outcome::Measured(numbers) => self.numbers(entry, numbers),
                Outcome::Skipped(why) => format!("       skipped: {why}"),
                Outcome::Failed(why) => {
                    format!("       FAILED: {}", why.lines().next().unwrap_or(""))
                }
            };
            writeln!(f, "{}", line.trim_end())?;
        }
        for note in &self.notes {
            writeln!(f, "\nnote: {note}")?;
        }
        let stepped = |e: &Entry| e.numbers().and_then(|n| n.ipc_from) == Some(Source::Stepping);
        if self.entries.iter().any(stepped) {
            writeln!(
                f,
                "\nIPC: instructions of one call, counted in single steps, by the median of cycles; \
                 there are no hardware counters here."
            )?;
        }
        Ok(())
    }
}

impl Run {
    fn numbers(&self, entry: &Entry, numbers: &Numbers) -> String {
        let time = |times: &Option<Times>| {
            times.as_ref().map_or("-".into(), |times| format!("{:.2}", times.median))
        };
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("-".into(), |value| format!("{value:.digits$}"))
        };
        let spills =
            numbers.executed.or(numbers.written).map(|counts| 100.0 * counts.spill_share());
        let spills = spills.map_or("-".into(), |share| format!("{share:.0}%"));
        let instances = match numbers.copies {
            1 => numbers.instances.to_string(),
            copies => format!("{copies}x{}", numbers.instances / copies),
        };
        let mut line = format!(
            "{instances:>5}  {:8}  {:>6}  {:>8}  {:>8}  {:>8}  {:>5}  {:>6}",
            "verified",
            number(numbers.times_limit(), 2),
            time(&numbers.kernel),
            time(&numbers.packed),
            time(&numbers.whole),
            number(numbers.ipc, 2),
            spills
        );
        if let Some(change) = self.change(entry) {
            let mark = match change.verdict {
                Verdict::Faster => " faster",
                Verdict::Slower => " slower",
                Verdict::Same => " no claim",
            };
            line += &format!("  {:.3}{mark}", change.ratio());
        }
        if numbers.kernel.as_ref().is_some_and(Times::is_noisy) {
            line += "  noisy";
        }
        line
    }

    /// The change of `entry` against the first variant of the same function.
    fn change(&self, entry: &Entry) -> Option<Change> {
        let same = |e: &&Entry| {
            (&e.function, &e.slicing, &e.target) == (&entry.function, &entry.slicing, &entry.target)
        };
        let first = self.entries.iter().find(same)?;
        if std::ptr::eq(first, entry) {
            return None;
        }
        let (before, after) =
            (first.numbers()?.kernel.as_ref()?, entry.numbers()?.kernel.as_ref()?);
        Some(Change::new(entry.name(), before, after))
    }
}
