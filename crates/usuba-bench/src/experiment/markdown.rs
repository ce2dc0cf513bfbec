//! Markdown report of an experiment, with the published numbers beside ours.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Experiment;
use super::lines::{Beside, Line, Lines};
use super::results::{Cell, Measure, Quantity, Results};
use crate::difference::probability;
use usuba_run::stats::geometric_mean;

/// The tables of an experiment.
pub fn markdown(experiment: &Experiment, results: &Results, lines: &Lines) -> String {
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
    text += "Samples are taken by turns, in several processes. A speed-up in bold is a difference: see \
             the verdicts.\n";
    if !experiment.numbers.is_empty() {
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
        let _ = write!(text, "\n## {target}\n\n{}", table(experiment, results, lines, &cells));
    }
    text += &summary(experiment, results, lines);
    text += &verdicts(lines);
    text += &comparison(lines);
    text += &leftovers(results);
    text
}

/// One row per cell, one column per quantity.
fn table(experiment: &Experiment, results: &Results, lines: &Lines, cells: &[&Cell]) -> String {
    match &experiment.axis {
        Some(axis) => best(experiment, lines, results.quick, cells, axis),
        None => {
            let measures = experiment.measures(results.quick);
            let head: Vec<String> = measures.iter().map(Measure::title).collect();
            let rows = cells
                .iter()
                .map(|cell| measures.iter().map(|measure| value(lines, cell, measure)).collect());
            grid(&head, cells, rows.collect())
        }
    }
}

/// The number of a column, with the published ones beside it.
fn value(lines: &Lines, cell: &Cell, measure: &Measure) -> String {
    let Measure { quantity, text, .. } = measure;
    let of_ratio = || measure.ratio().and_then(|ratio| lines.find(cell, &ratio.text));
    let shown = match quantity {
        Quantity::Chance => of_ratio().and_then(|line| line.p).map(|p| quantity.text(p)),
        Quantity::Interval => of_ratio().map(Line::interval_text),
        _ => lines.find(cell, text).map(|line| {
            let ours = quantity.text(line.value);
            let ours = match line.verdict.is_some_and(|verdict| verdict.is_claim()) {
                true => format!("**{ours}**"),
                false => ours,
            };
            let theirs: Vec<String> =
                line.published.iter().map(|beside| quantity.text(beside.value)).collect();
            if theirs.is_empty() { ours } else { format!("{ours} [{}]", theirs.join("; ")) }
        }),
    };
    // A line below the table gives the reason.
    shown.unwrap_or("–".into())
}

/// The place of a line.
fn place(line: &Line) -> String {
    let Line { subject, slicing, target, compiler, .. } = line;
    let parts = [subject, slicing, target, compiler];
    let parts: Vec<&str> =
        parts.into_iter().map(|part| &**part).filter(|p| !p.is_empty()).collect();
    parts.join(" ")
}

/// All ratios with their tests.
fn verdicts(lines: &Lines) -> String {
    let tested: Vec<&Line> = lines.lines.iter().filter(|line| line.processes.is_some()).collect();
    if tested.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Verdicts\n\nThe ratio of speeds by the medians of processes, with its interval of 95 %; the \
         probability of the rank-sum test, corrected for this table (Holm); the deviation of both \
         sides over their processes.\n\n\
         | row | column | ratio | interval | p | deviations | processes | verdict |\n\
         |---|---|--:|--:|--:|--:|--:|---|\n",
    );
    for line in tested {
        let p = line.p.map_or("–".into(), probability);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let spread = line.deviation.map_or("–".into(), |pair| pair.map(percent).join(", "));
        let _ = writeln!(
            text,
            "| {} | {} | {:.3} | {} | {p} | {spread} | {} | {} |",
            place(line),
            line.column,
            line.value,
            line.interval_text(),
            line.processes.unwrap_or_default(),
            line.verdict.map_or("", |verdict| verdict.word())
        );
    }
    text
}

/// Each published number, with ours and the verdict.
pub(super) fn comparison(lines: &Lines) -> String {
    let pairs: Vec<(&Line, &Beside)> = lines
        .lines
        .iter()
        .flat_map(|line| line.published.iter().map(move |beside| (line, beside)))
        .collect();
    if pairs.is_empty() && lines.absent.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Published numbers\n\nA number of a processor, such as cycles per byte, stands beside ours \
         without a verdict.\n\n\
         | file, row, column | published | ours | interval | where | verdict |\n\
         |---|--:|--:|--:|---|---|\n",
    );
    for (line, beside) in pairs {
        let Beside { file, row, column, value, against, .. } = beside;
        let _ = writeln!(
            text,
            "| {file}, {row}, {column} | {} | {} | {} | {}, {} | {} |",
            digits(*value),
            digits(line.value),
            line.interval_text(),
            place(line),
            line.column,
            against.map_or("–", |against| against.words())
        );
    }
    for absent in &lines.absent {
        let super::Absent { file, row, column, why } = absent;
        let _ = writeln!(text, "| {file}, {row}, {column} | | – | | | {why} |");
    }
    text += "\nSources:\n\n";
    lines.sources.iter().for_each(|source| text += &format!("- {source}\n"));
    text
}

/// A number with three digits after the point, or as an integer if it is large.
pub(super) fn digits(value: f64) -> String {
    if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

/// For each value of the other grid parameters, the best speed-up along the axis and its position.
fn best(
    experiment: &Experiment,
    lines: &Lines,
    quick: bool,
    cells: &[&Cell],
    axis: &str,
) -> String {
    let groups = groups(experiment, quick, axis);
    let head: Vec<String> = groups.keys().map(|name| format!("best speed-up, {name}")).collect();
    let rows = cells.iter().map(|cell| {
        let one = |series: &Vec<(u32, String)>| {
            let values = series.iter().filter_map(|(x, variant)| {
                lines.find(cell, &format!("speedup:{variant}")).map(|line| (*x, line))
            });
            match values.max_by(|a, b| a.1.value.total_cmp(&b.1.value)) {
                Some((x, line)) if line.verdict.is_some_and(|verdict| verdict.is_claim()) => {
                    format!("**{:.2}** ({axis} {x})", line.value)
                }
                Some((x, line)) => format!("{:.2} ({axis} {x})", line.value),
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
fn summary(experiment: &Experiment, results: &Results, lines: &Lines) -> String {
    let has_lines = |label: &String| {
        let column = format!("speedup:{label}");
        lines.lines.iter().any(|line| line.column == column)
    };
    let variants = experiment.variants(results.quick).into_iter().skip(1).map(|v| v.label);
    let variants: Vec<String> = variants.filter(has_lines).collect();
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
        let cells = targets.iter().map(|target| mean(results, lines, target, variant, inverse));
        let _ = writeln!(text, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    text
}

/// The mean over all cells of a target.
fn mean(results: &Results, lines: &Lines, target: &str, variant: &str, inverse: bool) -> String {
    let Some(first) = results.cells.first().and_then(|cell| cell.entries.first()) else {
        return "–".into();
    };
    let mut ratios = Vec::new();
    let (mut faster, mut slower, mut changed) = (0, 0, 0);
    for cell in results.cells.iter().filter(|cell| cell.target == target) {
        let Some(line) = lines.find(cell, &format!("speedup:{variant}")) else { continue };
        let gain = if inverse { 1.0 / line.value } else { line.value };
        changed += usize::from(!cell.is_same(variant, &first.variant));
        if line.verdict.is_some_and(|verdict| verdict.is_claim()) {
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

/// The first line of a problem.
fn short(why: &str) -> &str {
    why.lines().next().unwrap_or("")
}
