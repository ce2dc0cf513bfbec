//! The numbers of an experiment on a small processor, and their report in Markdown.

use std::fmt::Write;

use super::{Claim, Counted, Found, Numbers, Shown};
use crate::experiment::lines::{self, Line, Lines, Wanted, attach, sources};
use crate::experiment::markdown::comparison;
use crate::record::Host;

/// A quantity of a program.
pub(crate) struct Quantity {
    /// In the notation of `ours`.
    pub name: &'static str,
    pub title: &'static str,
    of: fn(&Numbers) -> f64,
}

/// The columns of lines about proofs, and about the host.
pub(crate) const PROVED: &str = "proved kernels";
pub(crate) const TICKS: &str = "ticks";

const MILLION: f64 = 1e6;

pub(crate) const QUANTITIES: [Quantity; 3] = [
    Quantity {
        name: "instructions",
        title: "Million instructions",
        of: |numbers| numbers.instructions as f64 / MILLION,
    },
    Quantity {
        name: "text",
        title: "Bytes of code and constants",
        of: |numbers| numbers.text as f64,
    },
    Quantity { name: "stack", title: "Bytes of stack", of: |numbers| numbers.stack as f64 },
];

impl Quantity {
    /// A number as text: millions with three digits, bytes whole.
    pub fn text(&self, value: f64) -> String {
        match value {
            0.0..0.1 if self.name == "instructions" => format!("{value:.4}"),
            0.1..1.0 if self.name == "instructions" => format!("{value:.3}"),
            0.0..10.0 if self.name == "instructions" => format!("{value:.2}"),
            10.0..100.0 if self.name == "instructions" => format!("{value:.1}"),
            _ => format!("{value:.0}"),
        }
    }
}

impl Counted {
    /// All numbers; `name` is the name of the experiment.
    pub fn lines(&self, found: &Found, quick: bool, usubac: &str, name: &str) -> Lines {
        let (processors, levels) = self.scope(quick);
        let mut all = Vec::new();
        for (step, shown) in self.steps.iter().zip(&found.steps) {
            for (at, processor) in processors.iter().enumerate() {
                for (level, numbers) in levels.iter().zip(&shown.numbers[at]) {
                    let Ok(numbers) = numbers else { continue };
                    all.extend(QUANTITIES.iter().map(|quantity| Line {
                        subject: step.label.clone(),
                        target: processor.clone(),
                        compiler: level.clone(),
                        column: quantity.name.into(),
                        value: (quantity.of)(numbers),
                        ..Line::default()
                    }));
                }
            }
        }
        for (step, shown) in self.steps.iter().zip(&found.steps) {
            all.extend(shown.proof.as_ref().ok().map(|count| Line {
                subject: step.label.clone(),
                column: PROVED.into(),
                value: *count as f64,
                ..Line::default()
            }));
        }
        for timed in &found.native {
            all.extend(timed.lines.iter().map(|(library, task, ticks)| Line {
                subject: library.clone(),
                target: task.clone(),
                compiler: timed.compiler.clone(),
                column: TICKS.into(),
                value: *ticks as f64,
                ..Line::default()
            }));
        }
        for (claim, _) in &self.numbers {
            all.extend(self.quotient(claim, &all));
        }
        let wanted = self.numbers.iter().map(|(claim, number)| -> Wanted {
            let why = match quick {
                true => "not in the quick form",
                false => "the step has no such number",
            };
            (number, Box::new(|line: &Line| claim.fits(line, &claim.ours)), why.into())
        });
        let absent = attach(&mut all, wanted);
        Lines {
            format: lines::FORMAT,
            experiment: name.into(),
            title: self.title.clone(),
            quick,
            usubac: usubac.into(),
            host: Host::here(),
            compilers: found.compilers.clone(),
            lines: all,
            absent,
            sources: sources(self.published()),
        }
    }

    /// The line of a claim with two sides, unless it is there.
    fn quotient(&self, claim: &Claim, all: &[Line]) -> Option<Line> {
        let (quantity, other) = claim.ours.split_once('/')?;
        if all.iter().any(|line| claim.fits(line, &claim.ours)) {
            return None;
        }
        let own = all.iter().find(|line| claim.fits(line, quantity))?;
        let mut base = claim.clone();
        match self.processors.iter().any(|processor| processor == other) {
            true => base.processor = other.into(),
            false => base.step = other.into(),
        }
        let base = all.iter().find(|line| base.fits(line, quantity))?;
        // Of instructions, the speed over the other step; of bytes, how many more there are.
        let line = Line { column: claim.ours.clone(), ..own.clone() };
        Some(match quantity {
            "instructions" => line.counted(base.value / own.value),
            _ => Line { value: own.value - base.value, ..line },
        })
    }

    /// Tables for each processor, and for the numbers of others.
    pub fn report(&self, found: &Found, lines: &Lines) -> String {
        let mut out = format!("# {}\n\n{}\n", self.title, self.about.trim());
        let (processors, levels) = self.scope(lines.quick);
        for (at, processor) in processors.iter().enumerate() {
            for quantity in &QUANTITIES {
                let _ = write!(out, "\n## {}, {processor}\n\n| step |", quantity.title);
                levels.iter().for_each(|level| out += &format!(" {level} |"));
                out += " proof complete |\n|---|";
                out += &"---:|".repeat(levels.len());
                out += "---|\n";
                for (step, shown) in self.steps.iter().zip(&found.steps) {
                    let _ = write!(out, "| {} |", step.label);
                    out += &row(shown, at, quantity);
                }
            }
        }
        for post in &self.others {
            let _ = write!(out, "\n## Others: {}\n\n{}", post.about, post.table());
        }
        found.native.iter().for_each(|timed| out += &timed.table());
        out + &comparison(lines)
    }
}

/// The row of a step.
fn row(shown: &Shown, at: usize, quantity: &Quantity) -> String {
    let mut out = String::new();
    for numbers in &shown.numbers[at] {
        let value = |numbers: &Numbers| quantity.text((quantity.of)(numbers));
        let cell = numbers.as_ref().map_or_else(Clone::clone, value);
        let _ = write!(out, " {} |", cell.lines().next().unwrap_or_default());
    }
    let _ = match &shown.proof {
        Ok(count) => writeln!(out, " yes, {count} kernels |"),
        Err(why) => writeln!(out, " **no**: {why} |"),
    };
    out
}

impl Claim {
    fn fits(&self, line: &Line, column: &str) -> bool {
        [&*line.subject, &*line.target, &*line.compiler, &*line.column]
            == [&*self.step, &*self.processor, &*self.level, column]
    }
}
