//! Experiment runner: measures the unfinished cells.

use std::collections::HashMap;
use std::path::Path;

use usuba::isa::{self, Target};

use super::model;
use super::results::{Cell, Missing, Results};
use super::verdict::quietest;
use super::{Compiler, Experiment, Flags, hash, slicing};
use crate::bench::{Batch, Measured, Parse, Problem, Scope, Side, Subject, Variant};
use crate::record::{Entry, FORMAT, Host, Outcome};
use crate::session::{Progress, folder, letter, measure_machine};
use usuba_ciphers::{Cipher, Function};
use usuba_run::cc::{self, Machine};
use usuba_run::native::Timing;

/// The environment of an experiment.
pub struct Conditions<'a> {
    /// The folder of the cipher folders.
    pub root: &'a Path,
    pub quick: bool,
    /// Only these ciphers, if any.
    pub only: &'a [String],
    pub timing: Timing,
    pub parse: &'a Parse<'a>,
    /// The version of the calling program.
    pub version: &'a str,
}

/// One cell, before its measurement.
struct Plan<'a> {
    cipher: &'a Cipher,
    slicing: usuba::ir::Slicing,
    target: &'static Target,
    compiler: &'a Compiler,
}

/// Runs `experiment`. Cells of `before` with the same fingerprint are kept; `save` gets the results
/// after each new cell.
///
/// # Errors
/// The ciphers cannot be read, or `save` fails.
pub fn run(
    experiment: &Experiment,
    conditions: &Conditions,
    before: Option<Results>,
    save: &mut dyn FnMut(&Results) -> Result<(), String>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Results, String> {
    let ciphers = usuba_ciphers::find(conditions.root)?;
    let variants = experiment.variants(conditions.quick);
    let (plans, missing) = plan(experiment, conditions, &ciphers);
    let kept = before.filter(|before| before.host == Host::here() && before.format == FORMAT);
    let mut results = Results {
        format: FORMAT,
        title: experiment.title.clone(),
        quick: conditions.quick,
        usubac: conditions.version.to_string(),
        host: Host::here(),
        compilers: Default::default(),
        throughput: kept.as_ref().map(|kept| kept.throughput.clone()).unwrap_or_default(),
        cells: Vec::new(),
        missing,
    };
    let old: Vec<Cell> = kept.map(|kept| kept.cells).unwrap_or_default();
    let total = plans.len();
    for (done, plan) in plans.iter().enumerate() {
        let Plan { cipher, slicing, target, compiler } = plan;
        let names =
            [&folder(cipher), letter(*slicing), target.name, &compiler.label()].map(str::to_string);
        progress(Progress { done, total, next: &names.join(" "), entries: &[] });
        measure_machine(target, conditions.timing, &mut results.throughput);
        let modelled = experiment.is_modelled();
        match measure(plan, &variants, modelled, conditions, &old, &mut results) {
            Ok((cell, new)) => {
                results.cells.push(cell);
                if new {
                    // Finished cells later in the plan must not be lost.
                    let mut all = results.clone();
                    all.cells
                        .extend(old.iter().filter(|o| !all.has(o)).cloned().collect::<Vec<_>>());
                    save(&all)?;
                }
            }
            Err(why) => {
                let why = format!("{} on {} with {}: {why}", names[1], names[2], names[3]);
                results.missing.push(Missing { cipher: names[0].clone(), why });
            }
        }
    }
    save(&results)?;
    Ok(results)
}

impl Results {
    fn has(&self, cell: &Cell) -> bool {
        let key = |c: &Cell| [&c.cipher, &c.slicing, &c.target, &c.compiler].map(String::clone);
        self.cells.iter().any(|c| key(c) == key(cell))
    }
}

/// The cells, and the missing ciphers.
fn plan<'a>(
    experiment: &'a Experiment,
    conditions: &Conditions,
    ciphers: &'a [Cipher],
) -> (Vec<Plan<'a>>, Vec<Missing>) {
    let Conditions { quick, only, .. } = *conditions;
    let smaller = |all: &[String], few: &[String]| {
        if quick && !few.is_empty() { few.to_vec() } else { all.to_vec() }
    };
    let all: Vec<String> = match experiment.ciphers.is_empty() {
        true => ciphers.iter().map(folder).collect(),
        false => experiment.ciphers.clone(),
    };
    let mut wanted = smaller(&all, &experiment.quick.ciphers);
    if !only.is_empty() {
        wanted = all.iter().filter(|name| only.contains(name)).cloned().collect();
    }
    let targets = smaller(&experiment.targets, &experiment.quick.targets);
    let targets = isa::all().filter(|t| match targets.is_empty() {
        true => t.base.is_none(),
        false => {
            targets.iter().any(|name| isa::find(name).is_some_and(|found| found.name == t.name))
        }
    });
    let targets: Vec<&'static Target> = targets.collect();
    let few = &experiment.quick.compilers;
    let compilers = experiment
        .compilers
        .iter()
        .filter(|c| !quick || few.is_empty() || few.contains(&c.label()));
    let compilers: Vec<&Compiler> = compilers.collect();
    let mut plans = Vec::new();
    let mut missing = Vec::new();
    for name in wanted {
        let Some(cipher) = ciphers.iter().find(|cipher| folder(cipher) == name) else {
            missing.push(Missing { cipher: name, why: "not in the library yet".into() });
            continue;
        };
        let slicings = match experiment.slicings.is_empty() {
            true => vec!["V", "H", "B", "W"],
            false => experiment.slicings.iter().map(String::as_str).collect(),
        };
        let has = |s| cipher.functions.iter().any(|f| f.slicings.contains(&s));
        let slicings: Vec<_> =
            slicings.into_iter().filter_map(slicing).filter(|&s| has(s)).collect();
        if slicings.is_empty() {
            let why = "not in this slicing in the library".to_string();
            missing.push(Missing { cipher: name.clone(), why });
        }
        for slicing in slicings {
            for &target in &targets {
                for &compiler in &compilers {
                    plans.push(Plan { cipher, slicing, target, compiler });
                }
            }
        }
    }
    (plans, missing)
}

/// Measures one cell, unless `old` contains it. Returns whether it is new.
fn measure(
    plan: &Plan,
    variants: &[Flags],
    modelled: bool,
    conditions: &Conditions,
    old: &[Cell],
    results: &mut Results,
) -> Result<(Cell, bool), String> {
    let Plan { cipher, slicing, target, compiler } = *plan;
    let machine = cc::find_with(target.name, compiler.family()).map_err(|skip| skip.why)?;
    if !machine.is_native() {
        return Err("an emulator has no cycles".into());
    }
    let path = machine.compiler.display().to_string();
    let version = results.compilers.entry(path).or_insert_with(|| machine.version()).clone();
    let fits = |f: &&Function| f.slicings.contains(&slicing) && f.is_for(target);
    let function = cipher.functions.iter().find(fits);
    let function = function.ok_or("not in this slicing")?;
    let written: Vec<Variant> = variants
        .iter()
        .map(|variant| Variant {
            label: variant.label.clone(),
            flags: variant.flags.clone(),
            family: compiler.family(),
            assembly: false,
            cflags: compiler.flags.clone(),
        })
        .collect();
    let sides: Vec<Result<Side, String>> =
        written.iter().map(|variant| variant.side(conditions.parse)).collect();
    let subjects: Vec<Subject> =
        sides.iter().flatten().map(|side| Subject { cipher, function, slicing, side }).collect();
    let batch = Batch::new(target, &subjects);
    let recipes = batch.recipes();
    let fingerprint = fingerprint(&recipes, &sides, &version, conditions.timing);
    let (cipher_name, slicing_name) = (folder(cipher), letter(slicing).to_string());
    let same = |cell: &&Cell| {
        (cell.cipher == cipher_name && cell.slicing == slicing_name)
            && (cell.target == target.name && cell.compiler == compiler.label())
            && cell.fingerprint == fingerprint
            && cell.busy.is_empty() != modelled
    };
    if let Some(cell) = old.iter().find(same) {
        return Ok((cell.clone(), false));
    }
    // Subjects with equal machine code share the measurement of the first one.
    let mut first: HashMap<&String, usize> = HashMap::new();
    let firsts: Vec<usize> = recipes
        .iter()
        .enumerate()
        .map(|(n, recipe)| recipe.as_ref().map_or(n, |text| *first.entry(text).or_insert(n)))
        .collect();
    let fresh: Vec<usize> = (0..firsts.len()).filter(|&n| firsts[n] == n).collect();
    let timing = Some(conditions.timing);
    let measure = || Ok(batch.measure_some(&fresh, timing, Scope::Kernel));
    let measured = quietest(measure, |measured| noise(measured))?;
    let result = |subject: usize| {
        let at = fresh.iter().position(|&n| n == firsts[subject]);
        &measured[at.expect("the first of each kind was measured")]
    };
    let mut next = 0;
    let mut entries = Vec::new();
    let mut same_as = Vec::new();
    let mut place = HashMap::new();
    for (number, (variant, side)) in written.iter().zip(&sides).enumerate() {
        let outcome = match side {
            // The flags name passes that do not exist yet.
            Err(why) => {
                same_as.push(number);
                Outcome::Skipped(why.clone())
            }
            Ok(_) => {
                same_as.push(*place.entry(firsts[next]).or_insert(number));
                next += 1;
                Outcome::new(result(next - 1), results.throughput.get(target.name))
            }
        };
        entries.push(entry(plan, variant, &machine, &function.name, outcome));
    }
    let busy = |side: &Result<Side, String>| {
        let side = side.as_ref().ok()?;
        model::busy(cipher, function, &slicing_name, target, side, &machine)
    };
    let busy = if modelled { sides.iter().map(busy).collect() } else { Vec::new() };
    let cell = Cell {
        busy,
        cipher: cipher_name,
        slicing: slicing_name,
        target: target.name.into(),
        compiler: compiler.label(),
        fingerprint,
        entries,
        same_as,
    };
    Ok((cell, true))
}

/// The number of noisy kernels.
fn noise(measured: &[Result<Measured, Problem>]) -> usize {
    let speeds = measured.iter().flatten().filter_map(|measured| measured.kernel.as_ref());
    speeds.filter(|speed| speed.is_noisy()).count()
}

/// The entry of a variant. Its samples are summed up in its quartiles and processes, which is all that
/// reports need.
fn entry(
    plan: &Plan,
    variant: &Variant,
    machine: &Machine,
    function: &str,
    mut outcome: Outcome,
) -> Entry {
    if let Outcome::Measured(numbers) = &mut outcome
        && let Some(times) = &mut numbers.kernel
    {
        times.samples.clear();
    }
    let flags = machine.cflags.iter().map(|flag| flag.to_string());
    Entry {
        cipher: folder(plan.cipher),
        function: function.to_string(),
        slicing: letter(plan.slicing).into(),
        target: plan.target.name.into(),
        variant: variant.label.clone(),
        flags: variant.flags.clone(),
        compiler: machine.compiler.display().to_string(),
        cflags: flags.chain(variant.cflags.iter().cloned()).collect(),
        outcome,
    }
}

/// The hash of everything that determines the numbers of a cell, except the machine.
fn fingerprint(
    recipes: &[Result<String, Problem>],
    sides: &[Result<Side, String>],
    version: &str,
    timing: Timing,
) -> String {
    let sides = sides.iter().map(|side| match side {
        Ok(side) => format!("side {}", side.label),
        Err(why) => format!("none {why}"),
    });
    let recipes = recipes.iter().map(|recipe| match recipe {
        Ok(text) => text.clone(),
        Err(problem) => format!("{problem:?}"),
    });
    let rest = format!("{version} {timing:?} {FORMAT}");
    let texts: Vec<String> = sides.chain(recipes).chain([rest]).collect();
    hash(texts.iter().map(String::as_str))
}
