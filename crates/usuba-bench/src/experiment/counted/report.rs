//! Report of an experiment on a small processor, in Markdown.

use std::fmt::Write;

use super::{Counted, Figures, Found, Numbers};

/// A table's quantity: its heading, and its formatter of a program's numbers.
type Quantity = (&'static str, fn(&Numbers) -> String);

const MILLION: f64 = 1e6;

const QUANTITIES: [Quantity; 3] = [
    ("Million instructions", |numbers| millions(numbers.instructions as f64 / MILLION)),
    ("Bytes of code and constants", |numbers| numbers.text.to_string()),
    ("Bytes of stack", |numbers| numbers.stack.to_string()),
];

/// Formats a number with three digits.
fn millions(number: f64) -> String {
    match number {
        0.0..10.0 => format!("{number:.2}"),
        10.0..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

impl Counted {
    /// Tables for each processor, and for the published numbers.
    pub fn report(&self, found: &Found, quick: bool) -> String {
        let mut out = format!("# {}\n\n{}\n", self.title, self.about.trim());
        let (processors, levels) = self.scope(quick);
        for (at, processor) in processors.iter().enumerate() {
            for (heading, quantity) in QUANTITIES {
                let _ = write!(out, "\n## {heading}, {processor}\n\n| step |");
                levels.iter().for_each(|level| out += &format!(" {level} |"));
                out += " proof complete |\n|---|";
                out += &"---:|".repeat(levels.len());
                out += "---|\n";
                for (step, shown) in self.steps.iter().zip(&found.steps) {
                    let _ = write!(out, "| {} |", step.label);
                    for numbers in &shown.numbers[at] {
                        let cell = numbers.as_ref().map_or_else(Clone::clone, quantity);
                        let _ = write!(out, " {} |", cell.lines().next().unwrap_or_default());
                    }
                    let _ = match &shown.proof {
                        Ok(count) => writeln!(out, " yes, {count} kernels |"),
                        Err(why) => writeln!(out, " **no**: {why} |"),
                    };
                }
            }
        }
        out += &self.others();
        found.native.iter().for_each(|timed| out += &timed.table());
        if !self.conclusion.is_empty() {
            let _ = write!(out, "\n{}\n", self.conclusion.trim());
        }
        out
    }

    /// The published numbers of other implementations, a table for each unit.
    fn others(&self) -> String {
        let mut out = String::new();
        let mut units: Vec<&str> = Vec::new();
        for figures in &self.published {
            if units.contains(&&*figures.unit) {
                continue;
            }
            units.push(&figures.unit);
            let rows = || self.published.iter().filter(|row| row.unit == figures.unit);
            let levels: Vec<&String> = self
                .levels
                .iter()
                .filter(|level| rows().any(|row| row.values.contains_key(*level)))
                .collect();
            let _ = write!(out, "\n## Others: {}\n\n| program |", figures.unit);
            levels.iter().for_each(|level| out += &format!(" {level} |"));
            out += " code, -O2 | stack, -O2 |\n|---|";
            out += &"---:|".repeat(levels.len() + 2);
            out.push('\n');
            for row in rows() {
                let _ = writeln!(out, "| {} |{}", row.label, row.cells(&levels));
            }
            let mut sources: Vec<&str> = rows().map(|row| &*row.source).collect();
            sources.dedup();
            sources.iter().for_each(|source| out += &format!("\nSource: {source}.\n"));
        }
        out
    }
}

impl Figures {
    fn cells(&self, levels: &[&String]) -> String {
        let mut out = String::new();
        for level in levels {
            let value = self.values.get(*level).map(|&value| format!("{value}"));
            let _ = write!(out, " {} |", value.unwrap_or_default());
        }
        for bytes in [self.text, self.stack] {
            let _ = write!(out, " {} |", bytes.map_or(String::new(), |bytes| bytes.to_string()));
        }
        out
    }
}
