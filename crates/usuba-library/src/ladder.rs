//! Dispatch tables: break-even points between kernels, computed from their costs.
//!
//! ```text
//! 1 block: gp64 V      2 to 4: sse V      5: sse V, then gp64 V for the rest      ...
//! ```
//!
//! A kernel processes whole units; the table then dispatches the rest. A rest below one unit is
//! padded to a unit. The best kernel for n blocks therefore follows by dynamic programming from the
//! best for fewer blocks.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use usuba::isa;
use usuba_ciphers::files;

/// The file of measured costs in a cipher folder.
pub const FILE: &str = "costs.toml";

/// Cycles of calls of one kernel on one machine, with transposition and key setup.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The machine's family: a CPU model of the compiler.
    pub family: String,
    pub function: String,
    pub slicing: String,
    pub target: String,
    /// Blocks of the smallest call that fills all lanes.
    pub unit: usize,
    /// Blocks of one call of the interleaved kernel: a multiple of `unit`.
    pub batch: usize,
    /// Cycles for 1, 2, ... units up to a batch, and then for two batches, of the C by the better
    /// compiler.
    pub cycles: Vec<f64>,
    /// The mean of the compilers, where there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Vec<f64>>,
    /// The same with kernels in assembly language, where these exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assembly: Option<Vec<f64>>,
}

/// A machine that was measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub family: String,
    /// Its model name and numbers.
    pub processor: String,
    /// The C compilers with their versions.
    pub compilers: String,
}

/// The file of measured costs of a cipher folder.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    #[serde(default, rename = "machine")]
    pub machines: Vec<Machine>,
    #[serde(default, rename = "cost")]
    pub costs: Vec<Cost>,
}

impl Cost {
    /// Its function, slicing and target.
    pub fn name(&self) -> (&str, &str, &str) {
        (&self.function, &self.slicing, &self.target)
    }

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

impl Costs {
    /// Reads the measured costs of a cipher folder; none without a cost file.
    ///
    /// # Errors
    /// The file is malformed.
    pub fn read(folder: &Path) -> Result<Costs, String> {
        let path = folder.join(FILE);
        if !files::is_file(&path) {
            return Ok(Costs::default());
        }
        let wrong = |what: String| format!("{}: {what}", path.display());
        let text = files::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let read: Costs = usuba_ciphers::toml(&path, &text)?;
        let bad = |cost: &&Cost| {
            let lists = || [&cost.cycles].into_iter().chain(&cost.mean).chain(&cost.assembly);
            cost.unit == 0
                || !cost.batch.is_multiple_of(cost.unit)
                || lists().any(|list| list.len() != cost.batch / cost.unit + 1)
                || lists().flatten().any(|cycles| !(*cycles >= 1.0 && cycles.is_finite()))
        };
        let Some(Cost { function, slicing, target, unit, batch, .. }) = read.costs.iter().find(bad)
        else {
            return Ok(read);
        };
        Err(wrong(format!(
            "found another list of cycles, or another unit, for `{function}` in {slicing} on \
             {target}; expected a unit that divides the batch, and a number from 1 on for each \
             unit of a batch and for two batches (unit {unit}, batch {batch}); help: measure again \
             by `usubac dist --measure`"
        )))
    }

    /// Puts the costs of a machine in the place of older ones of its family.
    pub fn replace(&mut self, machine: Machine, costs: Vec<Cost>) {
        self.costs.retain(|cost| cost.family != machine.family);
        self.machines.retain(|other| other.family != machine.family);
        self.machines.push(machine);
        self.machines.sort_by(|one, other| one.family.cmp(&other.family));
        self.costs.extend(costs);
        self.costs.sort_by(|one, other| one.family.cmp(&other.family));
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Cycles of calls with 1, 2, ... units of blocks up to a batch, and with two batches, by\n\
             # `usubac dist --measure`. Ladders, and the choice between C and assembly language,\n\
             # follow from them.\n",
        );
        for Machine { family, processor, compilers } in &self.machines {
            let [processor, compilers] =
                [processor, compilers].map(|text| toml::Value::from(text.as_str()));
            text += &format!(
                "\n[[machine]]\nfamily    = {family:?}\nprocessor = {processor}\n\
                 compilers = {compilers}\n"
            );
        }
        let list = |cycles: &[f64]| {
            let cycles: Vec<String> = cycles.iter().map(|c| format!("{c:.0}.0")).collect();
            cycles.join(", ")
        };
        for cost in &self.costs {
            let Cost { family, function, slicing, target, unit, batch, .. } = cost;
            text += &format!(
                "\n[[cost]]\nfamily   = {family:?}\nfunction = {function:?}\n\
                 slicing  = {slicing:?}\ntarget   = {target:?}\nunit     = {unit}\n\
                 batch    = {batch}\ncycles   = [{}]\n",
                list(&cost.cycles)
            );
            // The mean only decides between C and assembly language.
            let mean = cost.mean.as_ref().filter(|_| cost.assembly.is_some());
            for (name, cycles) in [("mean    ", mean), ("assembly", cost.assembly.as_ref())] {
                if let Some(cycles) = cycles {
                    text += &format!("{name} = [{}]\n", list(cycles));
                }
            }
        }
        text
    }

    /// The families that measured code for a family of targets.
    pub fn families(&self, of_targets: &str) -> BTreeSet<&str> {
        let is_here = |cost: &&Cost| {
            let target = isa::find(&cost.target);
            target.is_some_and(|t| t.machine.unwrap_or(t).family() == of_targets)
        };
        self.costs.iter().filter(is_here).map(|cost| &*cost.family).collect()
    }

    /// The cost of a kernel as it is shipped: the mean over the `families` that measured it; `None`
    /// without one, or if they measured different kernels.
    pub fn shipped(
        &self,
        (function, slicing, target): (&str, &str, &str),
        families: &BTreeSet<&str>,
    ) -> Option<Cost> {
        let own: Vec<&Cost> = self.of(function, slicing, target).collect();
        let assembly = ships_assembly(&own);
        let own: Vec<&&Cost> = own.iter().filter(|cost| families.contains(&*cost.family)).collect();
        let [first, others @ ..] = &own[..] else { return None };
        if others.iter().any(|other| (other.unit, other.batch) != (first.unit, first.batch)) {
            return None;
        }
        let cycles = |cost: &'_ &&Cost| match (&cost.assembly, assembly) {
            (Some(cycles), true) => cycles.clone(),
            _ => cost.cycles.clone(),
        };
        let all: Vec<Vec<f64>> = own.iter().map(cycles).collect();
        let points = 0..all[0].len();
        let cycles = points.map(|at| mean(all.iter().map(|cycles| cycles[at]))).collect();
        Some(Cost { cycles, mean: None, assembly: None, ..(**first).clone() })
    }

    /// The kernels that were measured, each once: function, slicing and target.
    pub fn names(&self) -> Vec<(&str, &str, &str)> {
        let mut names = Vec::new();
        for name in self.costs.iter().map(Cost::name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Whether the kernels of a function are shipped in assembly language.
    pub fn ships_assembly(&self, function: &str, slicing: &str, target: &str) -> bool {
        ships_assembly(&self.of(function, slicing, target).collect::<Vec<_>>())
    }

    fn of<'a>(
        &'a self,
        function: &'a str,
        slicing: &'a str,
        target: &'a str,
    ) -> impl Iterator<Item = &'a Cost> {
        self.costs.iter().filter(move |cost| cost.name() == (function, slicing, target))
    }
}

/// Whether assembly language is at least as fast as C for long messages, in the mean over the
/// machines that measured both. Nobody knows the compiler of a user, so that the mean of the compilers
/// stands for C.
fn ships_assembly(costs: &[&Cost]) -> bool {
    let ratio = |cost: &&Cost| {
        let of = |cycles: &Vec<f64>| Cost { cycles: cycles.clone(), ..(*cost).clone() };
        let c = of(cost.mean.as_ref().unwrap_or(&cost.cycles));
        Some(of(cost.assembly.as_ref()?).bulk() / c.bulk())
    };
    let ratios: Vec<f64> = costs.iter().filter_map(ratio).collect();
    !ratios.is_empty() && mean(ratios.into_iter()) <= 1.0
}

/// The arithmetic mean, which is the same on every machine that computes it.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
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
pub fn ladder(costs: &[Cost]) -> Vec<Step> {
    let Some(most) = costs.iter().map(|cost| cost.batch).max() else { return Vec::new() };
    // The first batch costs more than others, so a single batch does not give the asymptotic cost.
    let most = 4 * most;
    let mut best = vec![0.0];
    let mut steps: Vec<Step> = Vec::new();
    let mut step =
        |from: usize, kernel: usize, gain: f64, total: &dyn Fn(&Cost) -> f64| match steps.last() {
            Some(last) if total(&costs[kernel]) >= gain * total(&costs[last.kernel]) => last.kernel,
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
        let least = total(&costs[kernel]);
        best.push(least);
    }
    step(most + 1, cheapest(costs, Cost::bulk), GAIN_IN_BULK, &Cost::bulk);
    steps.reverse();
    steps
}

/// Cycles for `blocks` blocks through a dispatch table over kernels with these costs.
pub fn cycles(costs: &[Cost], steps: &[Step], blocks: usize) -> f64 {
    let (mut left, mut cycles) = (blocks, 0.0);
    while left > 0 {
        let step = steps.iter().find(|step| step.from <= left).expect("from 1 on");
        let cost = &costs[step.kernel];
        let part = if left < cost.unit { left } else { left - left % cost.unit };
        cycles += cost.of(part);
        left -= part;
    }
    cycles
}

/// The first cost with the smallest `total`.
fn cheapest(costs: &[Cost], total: impl Fn(&Cost) -> f64) -> usize {
    let by_total = |a: &usize, b: &usize| total(&costs[*a]).total_cmp(&total(&costs[*b]));
    (0..costs.len()).min_by(by_total).expect("there is a kernel")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(unit: usize, batch: usize, cycles: &[f64]) -> Cost {
        of_family("zen4", unit, batch, cycles, None)
    }

    fn of_family(
        family: &str,
        unit: usize,
        batch: usize,
        cycles: &[f64],
        assembly: Option<&[f64]>,
    ) -> Cost {
        Cost {
            family: family.into(),
            function: "f".into(),
            slicing: "V".into(),
            target: "avx2".into(),
            unit,
            batch,
            cycles: cycles.into(),
            mean: None,
            assembly: assembly.map(Into::into),
        }
    }

    #[test]
    fn machines_are_kept_by_family_and_averaged() {
        let machine = |family: &str| {
            let (processor, compilers) = ("one \"P\"".into(), "gcc 12".into());
            Machine { family: family.into(), processor, compilers }
        };
        let mut costs = Costs::default();
        let slow = of_family("zen3", 1, 1, &[10.0, 30.0], Some(&[9.0, 19.0]));
        costs.replace(
            machine("zen4"),
            vec![of_family("zen4", 1, 1, &[5.0, 9.0], Some(&[5.0, 10.0]))],
        );
        assert!(!costs.ships_assembly("f", "V", "avx2"));
        costs.replace(machine("zen3"), vec![slow.clone()]);
        costs.replace(machine("zen3"), vec![slow]);
        assert!(costs.ships_assembly("f", "V", "avx2"), "0.5 of the time there, 1.25 here");
        let families = costs.families("avx2");
        assert_eq!(families.iter().copied().collect::<Vec<_>>(), ["zen3", "zen4"]);
        let key = ("f", "V", "avx2");
        let both = costs.shipped(key, &families).expect("it was measured");
        assert_eq!(both.cycles, [7.0, 14.5]);
        let one = costs.shipped(key, &["zen4"].into_iter().collect()).expect("it was measured");
        assert_eq!(one.cycles, [5.0, 10.0], "the code is the same on every machine");
        let read: Costs = toml::from_str(&costs.text()).expect("it is TOML");
        assert_eq!(read, costs);
        // With the other compiler C takes twice the time.
        costs.replace(machine("zen3"), Vec::new());
        assert!(!costs.ships_assembly("f", "V", "avx2"));
        costs.costs[0].mean = Some(vec![8.0, 14.0]);
        assert!(costs.ships_assembly("f", "V", "avx2"));
        let read: Costs = toml::from_str(&costs.text()).expect("it is TOML");
        assert_eq!(read, costs);
        costs.replace(machine("zen3"), vec![of_family("zen3", 1, 1, &[10.0, 30.0], None)]);
        assert_eq!((costs.machines.len(), costs.costs.len()), (2, 2));
    }

    #[test]
    fn lists_of_another_length_are_one_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |cost: Cost| {
            let costs = Costs { machines: Vec::new(), costs: vec![cost] };
            std::fs::write(folder.path().join(FILE), costs.text()).expect("it is written");
            Costs::read(folder.path())
        };
        assert!(write(cost(4, 8, &[10.0, 15.0, 30.0])).is_ok());
        let short = of_family("zen4", 4, 8, &[10.0, 15.0, 30.0], Some(&[9.0, 14.0]));
        for cost in
            [cost(4, 8, &[10.0, 15.0]), cost(4, 6, &[1.0, 2.0]), cost(1, 1, &[0.0, 2.0]), short]
        {
            let why = write(cost).expect_err("it has another shape");
            assert!(why.contains("`f` in V on avx2") && why.contains("help: "), "{why}");
            assert_eq!(why.lines().count(), 1);
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
        let steps = ladder(&[narrow, wide]);
        assert_eq!(steps, [Step { from: 4, kernel: 1 }, Step { from: 1, kernel: 0 }]);
    }

    #[test]
    fn what_is_best_in_the_long_run_ends_the_ladder() {
        let short = cost(4, 4, &[10.0, 20.0]);
        let long = cost(2, 8, &[9.0, 14.0, 18.0, 21.0, 23.0]);
        let steps = ladder(&[short, long]);
        assert_eq!(steps.first(), Some(&Step { from: 10, kernel: 1 }));
        assert!(ladder(&[]).is_empty());
    }
}
