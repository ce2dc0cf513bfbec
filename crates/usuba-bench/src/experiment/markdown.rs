//! Markdown report of an experiment, with the published numbers beside ours.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::results::{Cell, Quantity, Results};
use super::{Experiment, Published};
use usuba_run::stats::geometric_mean;

/// The tables of an experiment.
pub fn markdown(experiment: &Experiment, results: &Results) -> String {
    let mut text = format!("# {}\n\n{}\n\n", experiment.title, experiment.about.trim());
    let _ = writeln!(text, "Processor: {}.", results.host.processor);
    for version in results.compilers.values() {
        let _ = writeln!(text, "C compiler: {version}.");
    }
    let _ = writeln!(
        text,
        "usubac {}{}.",
        results.usubac,
        if results.quick { ", quick form" } else { "" }
    );
    text += "Medians of samples taken by turns; a speed-up in bold is no accident (rank-sum test) and \
             above the noise floor.\n";
    if !experiment.published.is_empty() {
        text += "Published numbers are in brackets; they were measured on other processors.\n";
    }
    let mut targets: Vec<&str> = Vec::new();
    for cell in &results.cells {
        if !targets.contains(&cell.target.as_str()) {
            targets.push(&cell.target);
        }
    }
    for target in targets {
        let cells: Vec<&Cell> = results.cells.iter().filter(|cell| cell.target == target).collect();
        let _ = write!(text, "\n## {target}\n\n{}", table(experiment, results, &cells));
    }
    text += &summary(experiment, results);
    text += &leftovers(results);
    text += &sources(experiment, results);
    text
}

/// One row per cell, one column per quantity.
fn table(experiment: &Experiment, results: &Results, cells: &[&Cell]) -> String {
    match &experiment.axis {
        Some(axis) => best(experiment, results, cells, axis),
        None => {
            let columns = experiment.columns(results.quick);
            let head: Vec<String> = columns
                .iter()
                .filter_map(|column| Quantity::column(column))
                .map(|(quantity, variant)| format!("{}, {variant}", quantity.title()))
                .collect();
            let rows = cells
                .iter()
                .map(|cell| columns.iter().map(|column| value(experiment, cell, column)).collect());
            grid(&head, cells, rows.collect())
        }
    }
}

/// The number of a column, with the published one beside it.
fn value(experiment: &Experiment, cell: &Cell, column: &str) -> String {
    let Some((quantity, variant)) = Quantity::column(column) else { return String::new() };
    let ours = match cell.value(quantity, variant) {
        Some(value) if value.claimed => format!("**{}**", quantity.text(value.value)),
        Some(value) => quantity.text(value.value),
        // A line below the table gives the reason.
        None => "–".into(),
    };
    match published(experiment, cell, column) {
        Some(published) => format!("{ours} [{}]", published.text(quantity)),
        None => ours,
    }
}

/// The published number that belongs to a column of a cell.
pub(super) fn published<'e>(
    experiment: &'e Experiment,
    cell: &Cell,
    column: &str,
) -> Option<&'e Published> {
    let fits = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|w| w == is);
    experiment.published.iter().find(|p| {
        p.cipher == cell.cipher
            && p.column == column
            && fits(&p.slicing, &cell.slicing)
            && fits(&p.target, &cell.target)
            && fits(&p.compiler, &cell.compiler)
    })
}

impl Published {
    fn text(&self, quantity: Quantity) -> String {
        let low = quantity.text(self.value);
        self.to.map_or(low.clone(), |to| format!("{low}–{}", quantity.text(to)))
    }
}

/// For each value of the other grid parameters, the best speed-up along the axis and its position.
fn best(experiment: &Experiment, results: &Results, cells: &[&Cell], axis: &str) -> String {
    let groups = groups(experiment, results.quick, axis);
    let head: Vec<String> = groups.keys().map(|name| format!("best speed-up, {name}")).collect();
    let rows = cells.iter().map(|cell| {
        let one = |series: &Vec<(u32, String)>| {
            let values = series.iter().filter_map(|(x, variant)| {
                cell.value(Quantity::Speedup, variant).map(|value| (*x, value))
            });
            match values.max_by(|a, b| a.1.value.total_cmp(&b.1.value)) {
                Some((x, value)) if value.claimed => format!("**{:.2}** ({axis} {x})", value.value),
                Some((x, value)) => format!("{:.2} ({axis} {x})", value.value),
                None => "–".to_string(),
            }
        };
        groups.values().map(one).collect()
    });
    grid(&head, cells, rows.collect())
}

/// The grid variants with the axis: for each choice of the other parameters, in words, the values
/// along the axis with the labels.
pub(super) fn groups(
    experiment: &Experiment,
    quick: bool,
    axis: &str,
) -> BTreeMap<String, Vec<(u32, String)>> {
    let mut groups: BTreeMap<String, Vec<(u32, String)>> = BTreeMap::new();
    for variant in experiment.variants(quick) {
        let Some(&x) = variant.values.get(axis) else { continue };
        let others = variant.values.iter().filter(|(name, _)| *name != axis);
        let name: Vec<String> = others.map(|(name, value)| format!("{name} {value}")).collect();
        groups.entry(name.join(", ")).or_default().push((x, variant.label));
    }
    groups
}

/// A Markdown table with a row for each cell.
fn grid(head: &[String], cells: &[&Cell], rows: Vec<Vec<String>>) -> String {
    let mut text = format!("| cipher | slicing | compiler | {} |\n", head.join(" | "));
    let _ = writeln!(text, "|---|---|---|{}", "--:|".repeat(head.len()));
    for (cell, row) in cells.iter().zip(rows) {
        let Cell { cipher, slicing, compiler, .. } = cell;
        let _ = writeln!(text, "| {cipher} | {slicing} | {compiler} | {} |", row.join(" | "));
    }
    text
}

/// The mean speed-up of every variant on every target; for experiments on passes its inverse, as
/// the effect of the pass.
fn summary(experiment: &Experiment, results: &Results) -> String {
    let variants: Vec<String> =
        experiment.variants(results.quick).into_iter().skip(1).map(|v| v.label).collect();
    if experiment.axis.is_some() || variants.is_empty() || results.cells.is_empty() {
        return String::new();
    }
    let (title, about, inverse) = match experiment.each_pass {
        true => (
            "Mean effect per pass and target",
            "Cycles without the pass by cycles with it: above 1, the pass makes code faster. In \
             brackets: cells where it is faster, slower, and where the code changes at all.",
            true,
        ),
        false => (
            "Mean speed-up per variant and target",
            "In brackets: cells where it is faster, slower, and where the code changes at all.",
            false,
        ),
    };
    let mut targets: Vec<&str> = results.cells.iter().map(|cell| cell.target.as_str()).collect();
    targets.sort_unstable();
    targets.dedup();
    let mut text = format!("\n## {title}\n\n{about}\n\n| variant | {} |\n", targets.join(" | "));
    let _ = writeln!(text, "|---|{}", "--:|".repeat(targets.len()));
    for variant in &variants {
        let name =
            if inverse { variant.strip_prefix("without ").unwrap_or(variant) } else { variant };
        let cells = targets.iter().map(|target| mean(results, target, variant, inverse));
        let _ = writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text
}

/// The mean over all cells of a target.
fn mean(results: &Results, target: &str, variant: &str, inverse: bool) -> String {
    let mut ratios = Vec::new();
    let (mut faster, mut slower, mut changed) = (0, 0, 0);
    for cell in results.cells.iter().filter(|cell| cell.target == target) {
        let Some(change) = cell.change(variant) else { continue };
        let at = cell.entries.iter().position(|entry| entry.variant == variant);
        let same = at.is_some_and(|at| cell.same_as.get(at) == Some(&0));
        // Equal machine code has equal speed.
        let ratio = if same { 1.0 } else { change.ratio() };
        let gain = if inverse { ratio } else { 1.0 / ratio };
        changed += usize::from(!same);
        if !same && change.verdict != crate::difference::Verdict::Same {
            *(if gain > 1.0 { &mut faster } else { &mut slower }) += 1;
        }
        ratios.push(gain);
    }
    match geometric_mean(&ratios) {
        Some(mean) => format!("{mean:.3} ({faster}, {slower}, {changed} of {})", ratios.len()),
        None => "–".into(),
    }
}

/// Ciphers without cells, and variants without numbers.
fn leftovers(results: &Results) -> String {
    let mut lines: Vec<String> = results
        .missing
        .iter()
        .map(|missing| format!("{}: {}", missing.cipher, missing.why))
        .collect();
    for cell in &results.cells {
        for entry in &cell.entries {
            if let Some(why) = cell.problem(&entry.variant) {
                lines.push(format!("{}, {}: {}", entry.name(), cell.compiler, short(why)));
            }
        }
    }
    let noisy = results.noisy();
    if !noisy.is_empty() {
        lines.push(format!("the machine was too noisy for claims about: {}", noisy.join(", ")));
    }
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
    format!("\n## Not measured, or not well\n\n{lines}")
}

/// Published numbers of ciphers without a cell, and all sources.
fn sources(experiment: &Experiment, results: &Results) -> String {
    if experiment.published.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Published numbers\n\n| cipher | what | value | source |\n|---|---|--:|---|\n",
    );
    for p in &experiment.published {
        let Some((quantity, variant)) = Quantity::column(&p.column) else { continue };
        let there = results.cells.iter().any(|cell| cell.cipher == p.cipher);
        let note = if there { "" } else { " (no cell of ours)" };
        let place: Vec<&str> = [&p.slicing, &p.target, &p.compiler]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        let place =
            if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
        let _ = writeln!(
            text,
            "| {}{note} | {}, {variant}{place} | {} | {} |",
            p.cipher,
            quantity.title(),
            p.text(quantity),
            p.source
        );
    }
    text
}

/// The first line of a problem.
fn short(why: &str) -> &str {
    why.lines().next().unwrap_or("")
}
