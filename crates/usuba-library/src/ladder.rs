//! Dispatch tables: break-even points between kernels, computed from their costs.
//!
//! ```text
//! 1 block: gp64 V      2 to 4: sse V      5: sse V, then gp64 V for the rest      ...
//! ```
//!
//! A kernel processes whole units; the table then dispatches the rest. A rest below one unit is
//! padded to a unit. The best kernel for n blocks therefore follows by dynamic programming from the
//! best for fewer blocks.

use std::path::Path;

use serde::{Deserialize, Serialize};
use usuba_ciphers::files;

/// The file of measured costs in a cipher folder.
pub const FILE: &str = "costs.toml";

/// Cycles of calls of one kernel, with transposition and key setup.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    pub function: String,
    pub slicing: String,
    pub target: String,
    /// Blocks of the smallest call that fills all lanes.
    pub unit: usize,
    /// Blocks of one call of the interleaved kernel: a multiple of `unit`.
    pub batch: usize,
    /// Cycles for 1, 2, ... units up to a batch, and then for two batches.
    pub cycles: Vec<f64>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    cost: Vec<Cost>,
}

impl Cost {
    /// Cycles of a call with `blocks` blocks.
    pub fn of(&self, blocks: usize) -> f64 {
        if blocks == 0 {
            return 0.0;
        }
        let batches = (blocks - 1) / self.batch;
        let last = blocks - batches * self.batch;
        self.at(last.div_ceil(self.unit) - 1) + batches as f64 * self.more()
    }

    /// Cycles of a call with `units + 1` units.
    fn at(&self, units: usize) -> f64 {
        self.cycles.get(units).or(self.cycles.last()).copied().unwrap_or(f64::MAX)
    }

    /// Cycles of one further batch.
    fn more(&self) -> f64 {
        match self.cycles[..] {
            [.., one, two] => (two - one).max(1.0),
            _ => f64::MAX,
        }
    }

    /// Cycles per block of a long message.
    pub fn bulk(&self) -> f64 {
        self.more() / self.batch as f64
    }
}

/// The measured costs of a cipher folder; empty without a cost file.
///
/// # Errors
/// The file is malformed.
pub fn measured(folder: &Path) -> Result<Vec<Cost>, String> {
    let path = folder.join(FILE);
    if !files::is_file(&path) {
        return Ok(Vec::new());
    }
    let wrong = |what: String| format!("{}: {what}", path.display());
    let text = files::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let file: File = usuba_ciphers::toml(&path, &text)?;
    let bad = |cost: &&Cost| {
        cost.unit == 0
            || !cost.batch.is_multiple_of(cost.unit)
            || cost.cycles.len() != cost.batch / cost.unit + 1
    };
    match file.cost.iter().find(bad) {
        Some(cost) => Err(wrong(format!("the cost of `{}` has another shape", cost.function))),
        None => Ok(file.cost),
    }
}

/// The text of a file with these costs; `about` is the processor.
pub fn text(costs: &[Cost], about: &str) -> String {
    let mut text = format!(
        "# Cycles of calls with 1, 2, ... units of blocks up to a batch, and with two batches, by\n\
         # `usubac dist --measure`. Ladders follow from them. Measured on:\n# {about}\n"
    );
    for cost in costs {
        let cycles: Vec<String> = cost.cycles.iter().map(|c| format!("{c:.0}.0")).collect();
        text += &format!(
            "\n[[cost]]\nfunction = \"{}\"\nslicing  = \"{}\"\ntarget   = \"{}\"\nunit     = {}\n\
             batch    = {}\ncycles   = [{}]\n",
            cost.function,
            cost.slicing,
            cost.target,
            cost.unit,
            cost.batch,
            cycles.join(", ")
        );
    }
    text
}

/// A dispatch threshold: kernel number `kernel` for `from` blocks or more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub from: usize,
    pub kernel: usize,
}

/// The required gain of a further kernel, as a share of the previous time: costs scatter, and every
/// kernel adds code size. The gain at the end of the table is a gain of all long messages.
const GAIN: f64 = 0.90;
const GAIN_IN_BULK: f64 = 0.97;

/// The optimal dispatch table over kernels with these costs, the largest threshold first. Empty
/// without kernels.
pub fn ladder(costs: &[&Cost]) -> Vec<Step> {
    let Some(most) = costs.iter().map(|cost| cost.batch).max() else { return Vec::new() };
    // The first batch costs more than others, so a single batch does not give the asymptotic cost.
    let most = 4 * most;
    let mut best = vec![0.0];
    let mut steps: Vec<Step> = Vec::new();
    let mut step =
        |from: usize, kernel: usize, gain: f64, total: &dyn Fn(&Cost) -> f64| match steps.last() {
            Some(last) if total(costs[kernel]) >= gain * total(costs[last.kernel]) => last.kernel,
            _ => {
                steps.push(Step { from, kernel });
                kernel
            }
        };
    for blocks in 1..=most {
        let total = |cost: &Cost| {
            let rest = if blocks < cost.unit { 0 } else { blocks % cost.unit };
            cost.of(blocks - rest) + best[rest]
        };
        let kernel = step(blocks, cheapest(costs, total), GAIN, &total);
        let least = total(costs[kernel]);
        best.push(least);
    }
    step(most + 1, cheapest(costs, Cost::bulk), GAIN_IN_BULK, &Cost::bulk);
    steps.reverse();
    steps
}

/// Cycles for `blocks` blocks through a dispatch table over kernels with these costs.
pub fn cycles(costs: &[&Cost], steps: &[Step], blocks: usize) -> f64 {
    let (mut left, mut cycles) = (blocks, 0.0);
    while left > 0 {
        let step = steps.iter().find(|step| step.from <= left).expect("from 1 on");
        let cost = costs[step.kernel];
        let part = if left < cost.unit { left } else { left - left % cost.unit };
        cycles += cost.of(part);
        left -= part;
    }
    cycles
}

/// The first cost with the smallest `total`.
fn cheapest(costs: &[&Cost], total: impl Fn(&Cost) -> f64) -> usize {
    let by_total = |a: &usize, b: &usize| total(costs[*a]).total_cmp(&total(costs[*b]));
    (0..costs.len()).min_by(by_total).expect("there is a kernel")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(unit: usize, batch: usize, cycles: &[f64]) -> Cost {
        let name = || String::from("f");
        Cost {
            function: name(),
            slicing: name(),
            target: name(),
            unit,
            batch,
            cycles: cycles.into(),
        }
    }

    #[test]
    fn calls_are_filled_up_to_units_and_repeat_by_batches() {
        let cost = cost(4, 8, &[10.0, 15.0, 30.0]);
        assert_eq!(cost.of(0), 0.0);
        assert_eq!(cost.of(1), 10.0);
        assert_eq!(cost.of(4), 10.0);
        assert_eq!(cost.of(5), 15.0);
        assert_eq!(cost.of(9), 25.0);
        assert_eq!(cost.of(16), 30.0);
    }

    #[test]
    fn a_tail_goes_to_a_narrower_kernel_while_that_is_cheaper() {
        let narrow = cost(1, 1, &[10.0, 20.0]);
        let wide = cost(8, 8, &[32.0, 64.0]);
        let steps = ladder(&[&narrow, &wide]);
        assert_eq!(steps, [Step { from: 4, kernel: 1 }, Step { from: 1, kernel: 0 }]);
    }

    #[test]
    fn what_is_best_in_the_long_run_ends_the_ladder() {
        let short = cost(4, 4, &[10.0, 20.0]);
        let long = cost(2, 8, &[9.0, 14.0, 18.0, 21.0, 23.0]);
        let steps = ladder(&[&short, &long]);
        assert_eq!(steps.first(), Some(&Step { from: 10, kernel: 1 }));
        assert!(ladder(&[]).is_empty());
    }
}
