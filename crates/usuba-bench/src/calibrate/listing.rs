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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::{Cache, Measured, Skipped};

    fn calibration(model: Option<f64>) -> Calibration {
        let latency = Compared::new(Some(2.0), model);
        let per_cycle = Compared::new(None, None);
        let row = Measured {
            instructions: "rotation",
            registers: "512",
            mnemonic: "vprold".into(),
            latency,
            per_cycle,
        };
        let missing = vec!["gfni"];
        let skipped = Skipped { instructions: "affine map", registers: "512", missing };
        Calibration {
            format: 1,
            processor: "a processor".into(),
            cpu: model.map(|_| "zen4"),
            rows: vec![row],
            caches: vec![Cache { level: 1, size: Compared::new(Some(32.0), model) }],
            walks: vec![(16, 4.0)],
            skipped: vec![skipped],
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_difference_is_marked() {
        let text = calibration(Some(1.0)).to_string();
        let row = text.lines().find(|line| line.starts_with("rotation")).expect("its row");
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["rotation", "512", "vprold", "2.00", "1*", "-", "-"]);
        assert!(text.contains("cache of level 1: 32 KiB, model 1 KiB *"), "{text}");
        assert!(text.contains("lacks gfni: affine map (512)"), "{text}");
    }

    #[test]
    fn without_a_model_there_are_no_figures() {
        let text = calibration(None).to_string();
        assert!(text.contains("Model: none lists this processor"), "{text}");
        let row = text.lines().find(|line| line.starts_with("rotation")).expect("its row");
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["rotation", "512", "vprold", "2.00", "-"]);
        assert!(text.contains("cache of level 1: 32 KiB\n"), "{text}");
    }
}
