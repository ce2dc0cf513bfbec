//! The results of a calibration as text.

use std::collections::BTreeMap;
use std::fmt;

use super::{Calibration, Compared};

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Processor: {}", self.processor)?;
        match self.cpu {
            Some(cpu) => writeln!(f, "Model: {cpu}")?,
            None => writeln!(f, "Model: none lists this processor; --cpu names one")?,
        }
        writeln!(f, "Latencies in core cycles; * is more than 15 % off the model.\n")?;
        let width = |of: &dyn Fn(usize) -> usize, least: usize| {
            (0..self.rows.len()).map(of).max().unwrap_or(0).max(least)
        };
        let group = width(&|at| self.rows[at].instructions.len(), 12);
        let mnemonic = width(&|at| self.rows[at].mnemonic.len(), 8);
        let models = self.cpu.is_some();
        let mut head = format!(
            "{:group$}  registers  {:mnemonic$}  {:>8}",
            "instructions", "mnemonic", "latency"
        );
        head += if models { "   model  per cycle   model" } else { "  per cycle" };
        writeln!(f, "{head}")?;
        for row in &self.rows {
            let mut line = format!(
                "{:group$}  {:9}  {:mnemonic$}  {:>8}",
                row.instructions,
                row.registers,
                row.mnemonic,
                number(row.latency.measured)
            );
            if models {
                line += &figure(&row.latency);
            }
            line += &format!("  {:>9}", number(row.per_cycle.measured));
            if models {
                line += &figure(&row.per_cycle);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        writeln!(f)?;
        for cache in &self.caches {
            let kib = |size: Option<f64>| size.map_or("-".into(), |size| format!("{size} KiB"));
            let mut line = format!("cache of level {}: {}", cache.level, kib(cache.size.measured));
            if models {
                let mark = if cache.size.differs { " *" } else { "" };
                line += &format!(", model {}{mark}", kib(cache.size.model));
            }
            writeln!(f, "{line}")?;
        }
        let walks: Vec<String> =
            self.walks.iter().map(|(size, cycles)| format!("{size} KiB {cycles:.1}")).collect();
        for part in walks.chunks(7) {
            writeln!(f, "cycles of a load by buffer: {}", part.join(", "))?;
        }
        let mut skipped: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for row in &self.skipped {
            let name = format!("{} ({})", row.instructions, row.registers);
            skipped.entry(row.missing.join(", ")).or_default().push(name);
        }
        for (missing, rows) in skipped {
            writeln!(f, "skipped, for the processor lacks {missing}: {}", rows.join(", "))?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

/// A measured number.
fn number(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.2}"))
}

/// The column of a figure, with its mark.
fn figure(compared: &Compared) -> String {
    let figure = compared.model.map_or("-".into(), |figure| {
        let text = format!("{figure:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    });
    let mark = if compared.differs { "*" } else { " " };
    format!("  {figure:>5}{mark}")
}
