//! Comparison of compile variants: several sides of one function, measured in turns.

use std::fmt;

use usuba::ir::Slicing;
use usuba::isa::Target;

use super::{Measured, Problem, Side, Speed, Subject, measure};
use usuba_ciphers::{Cipher, Function};
use usuba_run::native::Timing;

/// Sides of one function, measured in turns.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    pub rows: Vec<(String, Result<Measured, Problem>)>,
}

impl Comparison {
    /// The time of the kernel in row `index` over the time of the first row.
    pub fn ratio(&self, index: usize) -> Option<f64> {
        let median = |index: usize| {
            let (_, result) = self.rows.get(index)?;
            Some(result.as_ref().ok()?.kernel.as_ref()?.median)
        };
        Some(median(index)? / median(0)?)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(label, _)| label.len()).max().unwrap_or(4).max(4);
        writeln!(f, "{:width$}  {:>8}  {:>17}  {:>6}", "side", "kernel", "10% .. 90%", "ratio")?;
        for (index, (label, result)) in self.rows.iter().enumerate() {
            write!(f, "{label:width$}  ")?;
            match result {
                Ok(Measured { kernel: Some(speed), .. }) => {
                    let ratio = self.ratio(index).map_or(String::new(), |r| format!("{r:.3}"));
                    let Speed { median, low, high, .. } = speed;
                    let range = format!("{low:.3} .. {high:.3}");
                    writeln!(f, "{median:8.3}  {range:>17}  {ratio:>6}")?;
                }
                Ok(_) => writeln!(f, "not timed")?,
                Err(Problem::Skipped(why)) => writeln!(f, "skipped: {why}")?,
                Err(Problem::Refused(why) | Problem::Failed(why)) => {
                    writeln!(f, "FAILED: {}", why.lines().next().unwrap_or(""))?;
                }
            }
        }
        Ok(())
    }
}

/// Compares `sides` of one function on one native target, in turns in one process; each side is
/// verified first. Ratios are relative to the first side.
pub fn compare(
    cipher: &Cipher,
    function: &Function,
    slicing: Slicing,
    target: &'static Target,
    sides: &[Side],
    timing: Timing,
) -> Comparison {
    let subjects: Vec<Subject> =
        sides.iter().map(|side| Subject { cipher, function, slicing, side }).collect();
    let results = measure(target, &subjects, Some(timing));
    let labels = sides.iter().map(|side| side.label.clone());
    Comparison { rows: labels.zip(results).collect() }
}
