//! Tables and counts of the chapter.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{Claim, Machine};
use crate::experiment::counted::report::{PROVED, QUANTITIES, TICKS};
use crate::experiment::lines::{Line, Lines};
use crate::experiment::markdown::digits;
use crate::experiment::published::Post;
use crate::experiment::verdict::{Against, Standing, is_near};
use crate::experiment::{Compiler, Counted, Experiment, Staged};
use usuba_ciphers::files as ciphers;
use usuba_run::stats::{geometric_mean, rank_correlation};

/// The published column of instructions per cycle, and the bound above which the post sees no gain.
const IPC: [&str; 3] = ["interleaving-ipc", "ipc_one", "speedup_two"];
const OTHERS: [&str; 3] = ["interleaving-ciphers", "others", "ipc_above"];

/// A share as text.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A number, or the least and the largest of several.
pub fn range(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match values {
        [] => "–".into(),
        _ if digits(least) == digits(most) => digits(least),
        _ => format!("{}–{}", digits(least), digits(most)),
    }
}

/// A table with a left column, then right-aligned columns.
fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let mut text = format!("| {} |\n|---|", head.join(" | "));
    text += &"--:|".repeat(head.len() - 1);
    text.push('\n');
    rows.iter().for_each(|row| text += &format!("| {} |\n", row.join(" | ")));
    text
}

/// A cell that contains no column separator.
fn plain(text: &str) -> String {
    text.replace('|', "/").replace('\n', " ")
}

/// The publications and their conditions.
pub fn theirs(posts: &[(String, Post)]) -> String {
    let head = ["publication", "section", "machine", "compiler", "numbers"].map(String::from);
    let rows: Vec<Vec<String>> = posts
        .iter()
        .map(|(_, post)| {
            let stated = |name: &str| {
                post.conditions.get(name).map_or("not stated".into(), |text| plain(text))
            };
            vec![
                plain(&format!("{}, {}, {} ({})", post.author, post.title, post.date, post.place)),
                plain(&format!("{}: {}", post.section, post.about)),
                stated("machine"),
                stated("compiler"),
                post.numbers().count().to_string(),
            ]
        })
        .collect();
    table(&head, &rows)
}

/// The machines of ours.
pub fn ours(machines: &[Machine]) -> String {
    let head = ["machine", "processor", "compilers", "experiments"].map(String::from);
    let rows: Vec<Vec<String>> = machines
        .iter()
        .map(|machine| {
            let first = machine.experiments.first();
            let mut compilers: Vec<&str> =
                machine.experiments.iter().flat_map(|e| &e.compilers).map(|c| &**c).collect();
            compilers.sort_unstable();
            compilers.dedup();
            let name = |lines: &Lines| match lines.quick {
                true => format!("{} (quick form)", lines.experiment),
                false => lines.experiment.clone(),
            };
            vec![
                machine.name.clone(),
                first.map_or(String::new(), |lines| plain(&lines.host.processor)),
                plain(&compilers.join("; ")),
                machine.experiments.iter().map(name).collect::<Vec<_>>().join(", "),
            ]
        })
        .collect();
    table(&head, &rows)
}

/// How much of each experiment with ciphers the results contain: a run with fewer rows than its file
/// names shows it here.
///
/// # Errors
/// The file of an experiment is malformed.
pub fn extents(machines: &[Machine]) -> Result<String, String> {
    let head = ["machine", "experiment", "ciphers", "targets", "compilers", "noisy numbers"];
    let mut rows = Vec::new();
    for machine in machines {
        for lines in machine.experiments.iter().filter(|lines| !lines.quick) {
            let path = ciphers::experiments().join(format!("{}.toml", lines.experiment));
            let is_other = Staged::read(&path).is_some() || Counted::read(&path).is_some();
            if is_other || !ciphers::is_file(&path) {
                continue;
            }
            let asked = Experiment::read(&path)?;
            let found = |of: fn(&Line) -> &str| {
                lines.lines.iter().map(of).filter(|name| !name.is_empty()).collect::<BTreeSet<_>>()
            };
            let compilers: Vec<String> = asked.compilers.iter().map(Compiler::label).collect();
            let noisy = |line: &&Line| line.verdict == Some(Standing::Noisy);
            let all = asked.ciphers.len();
            rows.push(vec![
                machine.name.clone(),
                lines.experiment.clone(),
                match (found(|line| &line.subject).len(), all) {
                    (some, 0) => format!("{some} of all"),
                    (some, all) => format!("{some} of {all}"),
                },
                share(&found(|line| &line.target), &asked.targets),
                share(&found(|line| &line.compiler), &compilers),
                lines.lines.iter().filter(noisy).count().to_string(),
            ]);
        }
    }
    Ok(table(&head.map(String::from), &rows))
}

/// The names that were found, and behind them the other ones that were asked for; without a list,
/// all were.
fn share(found: &BTreeSet<&str>, asked: &[String]) -> String {
    let names = |names: Vec<&str>| names.join(", ");
    let there = names(found.iter().copied().collect());
    if asked.is_empty() {
        return format!("{there} of all");
    }
    let left = asked.iter().map(String::as_str).filter(|name| !found.contains(name));
    match names(left.collect()) {
        left if left.is_empty() => there,
        left => format!("{there}; not {left}"),
    }
}

/// Published numbers of some files, by the start of their names: a table for each file, with ours and
/// the published number in each cell.
pub fn files(machines: &[Machine], claims: &[Claim], starts: &[&str]) -> String {
    let mut text = String::new();
    let mut seen: Vec<&str> = Vec::new();
    for claim in claims {
        if !starts.iter().any(|start| claim.file.starts_with(start)) || seen.contains(&claim.file) {
            continue;
        }
        seen.push(claim.file);
        let _ = write!(
            text,
            "**{}** ({}): {}.\n\n",
            claim.post.title, claim.post.section, claim.post.about
        );
        let mut head =
            vec!["row".to_string(), "quantity".into(), "ours, where".into(), "published".into()];
        head.extend(machines.iter().map(|machine| machine.name.clone()));
        let of_file = claims.iter().filter(|other| other.file == claim.file);
        let rows: Vec<Vec<String>> = of_file.map(|claim| row(machines, claim)).collect();
        text += &table(&head, &rows);
        for remark in &claim.post.remarks {
            let _ = write!(text, "\nThe post: {}.\n", plain(remark));
        }
        text.push('\n');
    }
    text.trim_end().to_string()
}

/// The label of a published column.
fn label<'c>(claim: &'c Claim) -> &'c str {
    let column = claim.post.column(&claim.beside.column);
    column.map_or(&*claim.beside.column, |column| &*column.label)
}

/// The place of ours: target, compiler and column, as far as the lines share them.
fn place(claim: &Claim) -> String {
    let lines: Vec<&Line> = claim.ours.iter().flatten().map(|(line, _)| *line).collect();
    let shared = |of: fn(&Line) -> &str| {
        let mut values: Vec<&str> = lines.iter().map(|line| of(line)).collect();
        values.sort_unstable();
        values.dedup();
        match values[..] {
            [one] => one.to_string(),
            [one, other] => format!("{one} / {other}"),
            _ => "any".into(),
        }
    };
    let parts = [shared(|l| &l.slicing), shared(|l| &l.target), shared(|l| &l.compiler)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}: {}", parts.join(" "), shared(|line| &line.column))
}

fn row(machines: &[Machine], claim: &Claim) -> Vec<String> {
    let mut row = vec![
        plain(&claim.beside.row),
        plain(label(claim)),
        plain(&place(claim)),
        digits(claim.beside.value),
    ];
    row.extend((0..machines.len()).map(|at| claim.ours(at)));
    row
}

/// The verdict on each published ratio.
pub fn verdicts(machines: &[Machine], claims: &[Claim]) -> String {
    let mut head = vec!["file, row".to_string(), "quantity".into(), "published".into()];
    for machine in machines {
        head.extend([machine.name.clone(), "interval".into(), "verdict".into()]);
    }
    let told = claims.iter().filter(|claim| claim.beside.against.is_some());
    let rows: Vec<Vec<String>> = told
        .map(|claim| {
            let mut row = vec![
                plain(&format!("{}, {}", claim.file, claim.beside.row)),
                plain(&format!("{}, {}", label(claim), place(claim))),
                digits(claim.beside.value),
            ];
            for at in 0..machines.len() {
                let ends = claim.ours[at].iter().filter_map(|(line, _)| line.interval);
                let ends: Vec<f64> = ends.flatten().collect();
                let verdict = claim.against(at).map_or("–", Against::words);
                row.extend([claim.ours(at), range(&ends), verdict.to_string()]);
            }
            row
        })
        .collect();
    table(&head, &rows)
}

/// How many published ratios are too near to equal for a verdict.
pub fn near(claims: &[Claim]) -> usize {
    let ratios = claims.iter().filter(|claim| claim.beside.against.is_some());
    ratios.filter(|claim| is_near(claim.beside.value)).count()
}

/// How many published numbers have which verdict, by file.
pub fn sums(machines: &[Machine], claims: &[Claim]) -> String {
    let mut head = vec!["machine".to_string(), "file".into(), "ratios".into()];
    head.extend(Against::ALL.iter().map(|against| against.words().to_string()));
    head.push("figures without a verdict".into());
    let mut rows = Vec::new();
    for (at, machine) in machines.iter().enumerate() {
        let mut files: Vec<&str> = claims.iter().map(|claim| claim.file).collect();
        files.dedup();
        let all = |_: &&Claim| true;
        for file in files {
            rows.push(sum(&machine.name, file, at, claims, |claim| claim.file == file));
        }
        rows.push(sum(&machine.name, "all", at, claims, all));
    }
    table(&head, &rows)
}

fn sum(
    machine: &str,
    file: &str,
    at: usize,
    claims: &[Claim],
    fits: impl Fn(&&Claim) -> bool,
) -> Vec<String> {
    let own: Vec<&Claim> =
        claims.iter().filter(&fits).filter(|claim| !claim.ours[at].is_empty()).collect();
    let told: Vec<Against> = own.iter().filter_map(|claim| claim.against(at)).collect();
    let mut row = vec![machine.to_string(), file.to_string(), told.len().to_string()];
    row.extend(
        Against::ALL.iter().map(|one| told.iter().filter(|told| *told == one).count().to_string()),
    );
    row.push((own.len() - told.len()).to_string());
    row
}

/// Whether interleaving by two helps, by the published instructions per cycle.
pub fn helped(machines: &[Machine], posts: &[(String, Post)]) -> String {
    let find = |name: &str| posts.iter().find(|(file, _)| file == name).map(|(_, post)| post);
    let [file, ipc, speedup] = IPC;
    let bound = find(OTHERS[0]).and_then(|post| post.row(OTHERS[1]));
    let bound = bound.and_then(|row| row.values.get(OTHERS[2]));
    let (Some(post), Some(bound)) = (find(file), bound) else { return String::new() };
    let mut text = String::new();
    for machine in machines {
        // Gains and rows: below the bound, and above it.
        let mut counts = [[0, 0]; 2];
        let mut noisy = 0;
        for line in machine.lines() {
            let is = |beside: &&crate::experiment::Beside| {
                beside.file == file && beside.column == speedup
            };
            let Some(beside) = line.published.iter().find(is) else { continue };
            let published = post.row(&beside.row).and_then(|row| row.values.get(ipc));
            let Some(published) = published else { continue };
            let side = &mut counts[usize::from(published >= bound)];
            side[1] += 1;
            side[0] += usize::from(line.verdict == Some(Standing::Faster));
            noisy += usize::from(line.verdict == Some(Standing::Noisy));
        }
        let [[low, all_low], [high, all_high]] = counts;
        let _ = writeln!(
            text,
            "On {}, a second instance makes {low} of {all_low} ciphers faster whose published \
             instructions per cycle are below {bound}, and {high} of {all_high} above; {noisy} of \
             these rows are noisy.",
            machine.name
        );
    }
    text.trim_end().to_string()
}

/// Quantiles of Student's distribution for an interval of 95 %, by degrees of freedom from 1 on.
const STUDENT: [f64; 16] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120,
];

/// Least rows of a column with a mean.
const LEAST_ROWS: usize = 5;

/// A geometric mean with its interval.
fn mean(values: &[f64]) -> String {
    let Some(mean) = geometric_mean(values) else { return "–".into() };
    let count = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value / mean).ln().powi(2)).sum();
    let deviation = (squares / (count - 1.0) / count).sqrt();
    let quantile = STUDENT[(values.len() - 2).min(STUDENT.len() - 1)];
    let factor = (quantile * deviation).exp();
    format!("{mean:.3} ({:.3}–{:.3})", mean / factor, mean * factor)
}

/// For each published column of ratios: the means, and whether the order of ciphers is the same.
pub fn means(machines: &[Machine], posts: &[(String, Post)], claims: &[Claim]) -> String {
    let head =
        ["file, column", "machine", "rows", "published mean", "our mean", "rank correlation"];
    let mut columns: BTreeMap<(usize, &str, &str), Vec<&Claim>> = BTreeMap::new();
    for claim in claims.iter().filter(|claim| claim.beside.against.is_some()) {
        let file = posts.iter().position(|(name, _)| name == claim.file).unwrap_or_default();
        columns.entry((file, claim.file, &claim.beside.column)).or_default().push(claim);
    }
    let mut rows = Vec::new();
    for ((_, file, column), claims) in columns {
        for (at, machine) in machines.iter().enumerate() {
            // One number of ours each: a row whose conditions a publication leaves open has none in a mean.
            let pairs: Vec<(f64, f64)> = claims
                .iter()
                .filter_map(|claim| match &claim.ours[at][..] {
                    [(line, beside)] => Some((line.value, beside.value)),
                    _ => None,
                })
                .collect();
            if pairs.len() < LEAST_ROWS {
                continue;
            }
            let side = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).collect::<Vec<f64>>();
            let order = rank_correlation(&pairs).map_or("–".into(), |rho| format!("{rho:.2}"));
            rows.push(vec![
                format!("{file}, {column}"),
                machine.name.clone(),
                pairs.len().to_string(),
                mean(&side(|pair| pair.1)),
                mean(&side(|pair| pair.0)),
                order,
            ]);
        }
    }
    table(&head.map(String::from), &rows)
}

/// The stages of Threefish by builds: speed-ups with their intervals.
pub fn stages(machines: &[Machine]) -> String {
    let mut text = String::new();
    for machine in machines {
        let Some(lines) = machine.experiment("threefish-simd") else { continue };
        let own = |column: &str| -> Vec<&Line> {
            lines.lines.iter().filter(|line| line.column == column).collect()
        };
        let speedups = own("speedup");
        let builds = distinct(speedups.iter().map(|line| &*line.compiler));
        let tasks = distinct(speedups.iter().map(|line| &*line.target));
        let columns: Vec<(&str, &str)> =
            builds.iter().flat_map(|build| tasks.iter().map(move |task| (*build, *task))).collect();
        let stages = distinct(speedups.iter().map(|line| &*line.subject));
        let mut head = vec![format!("stage, {}", machine.name)];
        head.extend(columns.iter().map(|(build, task)| format!("{build}: {task}")));
        let cell = |stage: &str, build: &str, task: &str| {
            let line = speedups.iter().find(|line| {
                [&*line.subject, &*line.compiler, &*line.target] == [stage, build, task]
            });
            line.map_or("–".into(), |line| {
                let word = line.verdict.map_or("", Standing::word);
                format!("{:.2} ({}), {word}", line.value, line.interval_text())
            })
        };
        let rows: Vec<Vec<String>> = stages
            .iter()
            .map(|stage| {
                let cells = columns.iter().map(|(build, task)| cell(stage, build, task));
                [stage.to_string()].into_iter().chain(cells).collect()
            })
            .collect();
        text += &table(&head, &rows);
        text.push('\n');
    }
    text.trim_end().to_string()
}

/// Distinct values in their order.
fn distinct<'l>(values: impl Iterator<Item = &'l str>) -> Vec<&'l str> {
    let mut all: Vec<&str> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// The value of a line.
fn value(lines: &Lines, [subject, target, compiler, column]: [&str; 4]) -> Option<f64> {
    let line = lines.lines.iter().find(|line| {
        [&*line.subject, &*line.target, &*line.compiler, &*line.column]
            == [subject, target, compiler, column]
    });
    line.map(|line| line.value)
}

/// The steps of an experiment that counts: a table for each processor and quantity.
pub fn steps(machines: &[Machine], experiment: &str) -> String {
    let mut text = String::new();
    for machine in machines {
        let Some(lines) = machine.experiment(experiment) else { continue };
        let counted = || lines.lines.iter().filter(|line| line.column == QUANTITIES[0].name);
        let steps = distinct(counted().map(|line| &*line.subject));
        let levels = distinct(counted().map(|line| &*line.compiler));
        for processor in distinct(counted().map(|line| &*line.target)) {
            for quantity in &QUANTITIES {
                let _ = write!(text, "{}, {processor}, {}:\n\n", quantity.title, machine.name);
                let mut head = vec!["step".to_string()];
                head.extend(levels.iter().map(|level| format!("`{level}`")));
                head.push("proved kernels".into());
                let row = |step: &&str| {
                    let cell = |level: &&str| {
                        let found = value(lines, [step, processor, level, quantity.name]);
                        found.map_or("–".into(), |value| quantity.text(value))
                    };
                    let proved = value(lines, [step, "", "", PROVED]);
                    let proved = proved.map_or("not all".into(), |count| format!("all {count}"));
                    let cells = levels.iter().map(cell).chain([proved]);
                    [step.to_string()].into_iter().chain(cells).collect::<Vec<String>>()
                };
                text += &table(&head, &steps.iter().map(row).collect::<Vec<_>>());
                text.push('\n');
            }
        }
    }
    text.trim_end().to_string()
}

/// The library on the host beside others, in ticks.
pub fn ticks(machines: &[Machine]) -> String {
    let mut text = String::new();
    for machine in machines {
        let Some(lines) = machine.experiment("nacl-sign") else { continue };
        let timed = || lines.lines.iter().filter(|line| line.column == TICKS);
        let libraries = distinct(timed().map(|line| &*line.subject));
        let tasks = distinct(timed().map(|line| &*line.target));
        for compiler in distinct(timed().map(|line| &*line.compiler)) {
            let mut head = vec![format!("library, {}, `{compiler}`", machine.name)];
            for task in &tasks {
                head.extend([task.to_string(), "theirs / ours".into()]);
            }
            let row = |library: &&str| {
                let mut row = vec![library.to_string()];
                for task in &tasks {
                    let own = value(lines, [libraries[0], task, compiler, TICKS]);
                    let theirs = value(lines, [library, task, compiler, TICKS]);
                    let ratio = theirs.zip(own).map(|(theirs, own)| format!("{:.2}", theirs / own));
                    row.push(theirs.map_or("–".into(), |ticks| format!("{ticks:.0}")));
                    row.push(ratio.unwrap_or("–".into()));
                }
                row
            };
            text += &table(&head, &libraries.iter().map(row).collect::<Vec<_>>());
            text.push('\n');
        }
    }
    text.trim_end().to_string()
}

/// Published numbers to which an experiment refers, without a number of ours.
pub fn absent(machines: &[Machine]) -> String {
    let head = ["machine, experiment", "file", "numbers", "reason"].map(String::from);
    let mut counts: BTreeMap<[&str; 4], usize> = BTreeMap::new();
    for machine in machines {
        for lines in &machine.experiments {
            for absent in &lines.absent {
                let key = [&*machine.name, &*lines.experiment, &*absent.file, &*absent.why];
                *counts.entry(key).or_default() += 1;
            }
        }
    }
    if counts.is_empty() {
        return "None.".into();
    }
    let rows: Vec<Vec<String>> = counts
        .into_iter()
        .map(|([machine, experiment, file, why], count)| {
            vec![format!("{machine}, {experiment}"), file.into(), count.to_string(), plain(why)]
        })
        .collect();
    table(&head, &rows)
}

/// Published numbers that cannot stand beside one of ours, with the reasons.
pub fn apart(posts: &[(String, Post)]) -> String {
    let head = ["file", "row", "quantities", "reason"].map(String::from);
    let mut rows = Vec::new();
    for (file, post) in posts {
        for row in &post.rows {
            let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for column in row.values.keys() {
                if let Some(why) = post.apart(&row.name, column) {
                    let label = post.column(column).map_or(&**column, |column| &*column.label);
                    reasons.entry(why).or_default().push(label);
                }
            }
            for (why, labels) in reasons {
                rows.push(vec![
                    file.clone(),
                    plain(&row.name),
                    plain(&labels.join(", ")),
                    plain(why),
                ]);
            }
        }
    }
    table(&head, &rows)
}
