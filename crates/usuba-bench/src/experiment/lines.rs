//! Lines: each number of ours with its test, and the published numbers beside it.
//!
//! All kinds of experiments have this form in common. The file `NAME.rows.json` stores it; reports
//! and the chapter are rendered from it.

use serde::{Deserialize, Serialize};

use super::published::{Figure, Number};
use super::results::{Cell, Measure, Quantity, Results};
use super::verdict::{Against, Standing};
use super::{Experiment, Published};
use crate::record::Host;
use usuba_run::stats::{self, Ratio, deviation, rank_sum};

/// The version of the form; files of another version are rejected.
pub const FORMAT: u32 = 1;

/// The end of the names of files of `--quick`.
pub const QUICK: &str = "-quick";

/// The numbers of an experiment on a machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    pub format: u32,
    /// The name of the file of the experiment, without its ending.
    pub experiment: String,
    pub title: String,
    pub quick: bool,
    pub usubac: String,
    pub host: Host,
    /// The first lines of the version outputs.
    pub compilers: Vec<String>,
    pub lines: Vec<Line>,
    /// Published numbers to which the experiment refers, and which have no line.
    pub absent: Vec<Absent>,
    /// The publications of all these numbers.
    pub sources: Vec<String>,
}

/// A number of ours.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The cipher, the task, the step.
    pub subject: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub slicing: String,
    /// The target, or the processor.
    pub target: String,
    /// The compiler, the build, the level.
    pub compiler: String,
    /// In the notation of the experiment.
    pub column: String,
    pub value: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The probability by chance, corrected for all tests of the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The relative deviation of both sides over their processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<[f64; 2]>,
    /// Processes of each side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Standing>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Beside>,
}

/// A published number beside one of ours.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    pub file: String,
    pub row: String,
    pub column: String,
    pub value: f64,
    /// Half a unit of the last printed digit.
    pub half: f64,
    /// Absent for figures of a processor, such as cycles per byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
}

/// A published number without a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    pub file: String,
    pub row: String,
    pub column: String,
    pub why: String,
}

/// Two sides of a test: the number of each process.
pub struct Sides<'s> {
    pub slow: &'s [f64],
    pub fast: &'s [f64],
    pub noisy: bool,
    /// Whether both sides are the same machine code.
    pub same: bool,
}

impl Line {
    /// The line of a ratio of times, before the correction of its probability.
    pub fn tested(self, sides: &Sides) -> Line {
        let &Sides { slow, fast, noisy, same } = sides;
        let processes = Some(slow.len().min(fast.len()));
        let spread = Some([deviation(slow), deviation(fast)]);
        if same {
            // Equal machine code is equally fast, in spite of the samples.
            let (interval, verdict) = (Some([1.0, 1.0]), Some(Standing::NoDifference));
            return Line { value: 1.0, interval, verdict, processes, deviation: spread, ..self };
        }
        let p = rank_sum(slow, fast).p;
        match stats::ratio(slow, fast) {
            Some(Ratio { value, low, high }) => Line {
                value,
                interval: Some([low, high]),
                p: Some(p),
                deviation: spread,
                processes,
                verdict: noisy.then_some(Standing::Noisy),
                ..self
            },
            None => Line {
                value: median(slow) / median(fast),
                processes,
                verdict: Some(Standing::NotResolved),
                ..self
            },
        }
    }

    /// The line of a ratio of counts.
    pub fn counted(self, value: f64) -> Line {
        let (interval, verdict) = (Some([value, value]), Some(Standing::of_counts(value)));
        Line { value, interval, verdict, ..self }
    }

    /// Puts a published number beside it.
    pub fn beside(&mut self, number: &Number) {
        let Figure { value, half } = number.figure;
        let against = self
            .verdict
            .zip(self.interval)
            .map(|(standing, [low, high])| Against::new(standing, low, high, number.figure));
        let (file, row) = (number.file.clone(), number.row.name.clone());
        let column = number.column.clone();
        self.published.push(Beside { file, row, column, value, half, against });
    }

    /// The interval as text.
    pub fn interval_text(&self) -> String {
        self.interval.map_or("–".into(), |[low, high]| format!("{low:.3}–{high:.3}"))
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    if values.is_empty() { f64::NAN } else { stats::quantile(&values, 0.5) }
}

/// The publications of numbers, each once.
pub fn sources<'n>(numbers: impl Iterator<Item = &'n Number>) -> Vec<String> {
    let mut sources: Vec<String> = numbers.map(|number| number.source.clone()).collect();
    sources.sort();
    sources.dedup();
    sources
}

/// Corrects the probabilities of all tests together (Holm), and gives the verdicts that wait for it.
pub fn correct(lines: &mut [Line]) {
    let tested: Vec<usize> = (0..lines.len()).filter(|&n| lines[n].p.is_some()).collect();
    let ps: Vec<f64> = tested.iter().filter_map(|&n| lines[n].p).collect();
    for (&n, p) in tested.iter().zip(stats::holm(&ps)) {
        let line = &mut lines[n];
        line.p = Some(p);
        let ratio = line.interval.map(|[low, high]| Ratio { value: line.value, low, high });
        let noisy = line.verdict == Some(Standing::Noisy);
        let processes = line.processes.unwrap_or_default();
        line.verdict = Some(Standing::of_times(ratio, p, processes, noisy));
    }
}

/// Six digits, which is beyond the precision of any clock.
fn rounded(lines: &mut [Line]) {
    let round = |value: f64| crate::record::rounded(value);
    for line in lines {
        line.value = round(line.value);
        line.interval = line.interval.map(|pair| pair.map(round));
        line.deviation = line.deviation.map(|pair| pair.map(round));
        line.p = line.p.map(round);
        for beside in &mut line.published {
            (beside.value, beside.half) = (round(beside.value), round(beside.half));
        }
    }
}

/// A published number, the lines that it belongs beside, and the reason if there is none.
pub type Wanted<'n> = (&'n Number, Box<dyn Fn(&Line) -> bool + 'n>, String);

/// Puts the published numbers beside their lines, and returns those without one.
pub fn attach<'n>(
    lines: &mut [Line],
    numbers: impl IntoIterator<Item = Wanted<'n>>,
) -> Vec<Absent> {
    let mut absent = Vec::new();
    for (number, fits, why) in numbers {
        let mut found = false;
        for line in lines.iter_mut().filter(|line| fits(line)) {
            line.beside(number);
            found = true;
        }
        if !found {
            let (file, row) = (number.file.clone(), number.row.name.clone());
            absent.push(Absent { file, row, column: number.column.clone(), why });
        }
    }
    rounded(lines);
    absent
}

impl Results {
    /// The numbers of all cells.
    pub fn lines(&self, experiment: &Experiment, name: &str) -> Lines {
        let mut measures = experiment.measures(self.quick);
        let ratios: Vec<Measure> = measures.iter().filter_map(Measure::ratio).collect();
        let published = experiment.numbers.iter().map(|published| published.ours.clone());
        for measure in ratios.into_iter().chain(published) {
            if !measures.contains(&measure) {
                measures.push(measure);
            }
        }
        let cells = self.cells.iter();
        let mut lines: Vec<Line> = cells
            .flat_map(|cell| measures.iter().filter_map(|measure| line(cell, measure)))
            .collect();
        correct(&mut lines);
        let wanted = experiment.numbers.iter().map(|published| -> Wanted {
            let fits = Box::new(|line: &Line| published.fits(line));
            (&published.number, fits, self.why_absent(published))
        });
        let absent = attach(&mut lines, wanted);
        Lines {
            format: FORMAT,
            experiment: name.into(),
            title: self.title.clone(),
            quick: self.quick,
            usubac: self.usubac.clone(),
            host: self.host.clone(),
            compilers: self.compilers.values().cloned().collect(),
            lines,
            absent,
            sources: sources(experiment.published()),
        }
    }

    /// The reason why a published number has no line.
    fn why_absent(&self, published: &Published) -> String {
        let cipher = &published.cipher;
        if let Some(missing) = self.missing.iter().find(|missing| missing.cipher == *cipher) {
            return missing.why.clone();
        }
        let cells = || self.cells.iter().filter(|cell| published.fits_cell(cell));
        let variants = [&published.ours.variant, &published.ours.over];
        let is_small = |cell: &Cell| variants.iter().any(|variant| cell.entry(variant).is_none());
        if self.quick && cells().all(is_small) {
            return "not in the quick form".into();
        }
        let problem =
            cells().find_map(|cell| variants.iter().find_map(|variant| cell.problem(variant)));
        match problem {
            Some(why) => why.lines().next().unwrap_or_default().to_string(),
            None if cells().next().is_none() => {
                "the cipher has no such slicing, target or compiler here".into()
            }
            None => "this machine does not count it".into(),
        }
    }
}

/// The line of a cell and a column.
fn line(cell: &Cell, measure: &Measure) -> Option<Line> {
    let Measure { quantity, variant, over, .. } = measure;
    let line = Line {
        subject: cell.cipher.clone(),
        slicing: cell.slicing.clone(),
        target: cell.target.clone(),
        compiler: cell.compiler.clone(),
        column: measure.text.clone(),
        ..Line::default()
    };
    match quantity {
        Quantity::Ratio => {
            let (times, base) = (cell.times(variant)?, cell.times(over)?);
            Some(line.tested(&Sides {
                slow: &base.processes,
                fast: &times.processes,
                noisy: times.is_noisy() || base.is_noisy(),
                same: cell.is_same(variant, over),
            }))
        }
        Quantity::CodeRatio | Quantity::MemoryRatio => {
            Some(line.counted(cell.count_ratio(measure)?))
        }
        Quantity::Chance | Quantity::Interval => None,
        _ => Some(Line { value: cell.figure(*quantity, variant)?, ..line }),
    }
}

impl Published {
    /// Whether it belongs beside a line.
    fn fits(&self, line: &Line) -> bool {
        self.ours.text == line.column
            && self.fits_place([&line.subject, &line.slicing, &line.target, &line.compiler])
    }

    fn fits_cell(&self, cell: &Cell) -> bool {
        self.fits_place([&cell.cipher, &cell.slicing, &cell.target, &cell.compiler])
    }

    fn fits_place(&self, [cipher, slicing, target, compiler]: [&str; 4]) -> bool {
        let fits = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|w| w == is);
        self.cipher == cipher
            && fits(&self.slicing, slicing)
            && fits(&self.target, target)
            && fits(&self.compiler, compiler)
    }
}

impl Lines {
    /// The name of the files of a run, without their endings.
    pub fn stem(&self) -> String {
        format!("{}{}", self.experiment, if self.quick { QUICK } else { "" })
    }

    /// The line of a cell and a column.
    pub fn find(&self, cell: &Cell, column: &str) -> Option<&Line> {
        self.lines.iter().find(|line| {
            line.column == column
                && [&line.subject, &line.slicing, &line.target, &line.compiler]
                    == [&cell.cipher, &cell.slicing, &cell.target, &cell.compiler]
        })
    }
}

/// The text of the file of numbers: a row for each of them.
pub fn written(lines: &Lines) -> String {
    let text = |value: &Line| serde_json::to_string(value).expect("numbers have a JSON form");
    let why = |value: &Absent| serde_json::to_string(value).expect("strings have a JSON form");
    let head = Lines { lines: Vec::new(), absent: Vec::new(), ..lines.clone() };
    let head = serde_json::to_string_pretty(&head).expect("strings have a JSON form");
    let list = |name: &str, items: Vec<String>| match items.is_empty() {
        true => format!("\"{name}\": []"),
        false => format!("\"{name}\": [\n    {}\n  ]", items.join(",\n    ")),
    };
    let rows = list("lines", lines.lines.iter().map(text).collect());
    let absent = list("absent", lines.absent.iter().map(why).collect());
    head.replacen("\"lines\": []", &rows, 1).replacen("\"absent\": []", &absent, 1) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve processes around a time, a thousandth apart.
    fn processes(time: f64) -> Vec<f64> {
        (0..12).map(|i| time * (1.0 + 0.001 * (i * 5 % 12) as f64)).collect()
    }

    fn tested(slow: &[f64], fast: &[f64], noisy: bool, same: bool) -> Line {
        Line::default().tested(&Sides { slow, fast, noisy, same })
    }

    fn number(value: f64) -> Number {
        let row = super::super::published::Row {
            name: "r".into(),
            cipher: None,
            slicing: None,
            starred: false,
            text: None,
            section: None,
            check: None,
            values: Default::default(),
        };
        let figure = Figure { value, half: 0.005 };
        Number { file: "f".into(), row, column: "c".into(), figure, source: "s".into() }
    }

    #[test]
    fn tests_are_corrected_before_they_are_judged() {
        let one = processes(1.0);
        let mut lines = vec![
            tested(&one, &processes(0.5), false, false),
            tested(&one, &processes(2.0), false, false),
            tested(&one, &processes(1.001), false, false),
            tested(&one, &processes(0.5), true, false),
            tested(&one, &processes(0.5), false, true),
            tested(&one[..2], &one[..2], false, false),
        ];
        let alone = lines[0].p.expect("it was tested");
        correct(&mut lines);
        let words: Vec<&str> =
            lines.iter().map(|line| line.verdict.expect("a verdict").word()).collect();
        let expected =
            ["faster", "slower", "no difference", "noisy", "no difference", "not resolved"];
        assert_eq!(words, expected);
        // Four tests: the least probability counts four times.
        assert!((lines[0].p.expect("as before") - 4.0 * alone).abs() < 1e-12);
        assert_eq!((lines[4].value, lines[4].interval), (1.0, Some([1.0, 1.0])));
        let [low, high] = lines[0].interval.expect("an interval");
        assert!(low < 2.0 && 2.0 < high && high < 2.02, "{low} {high}");
    }

    /// As many tests as in the largest experiment: twelve processes are sure enough, eight are not.
    #[test]
    fn a_difference_survives_a_large_table() {
        let (slow, fast) = (processes(1.0), processes(0.5));
        let verdicts = |count: usize| {
            let line = tested(&slow[..count], &fast[..count], false, false);
            let mut lines = vec![line; 1000];
            correct(&mut lines);
            lines[999].verdict
        };
        assert_eq!(verdicts(12), Some(Standing::Faster));
        assert_eq!(verdicts(8), Some(Standing::NotResolved));
    }

    #[test]
    fn published_numbers_find_their_lines() {
        let one = processes(1.0);
        let mut lines = vec![tested(&one, &processes(0.5), false, false)];
        lines.push(Line { column: "ipc".into(), value: 3.0, ..Line::default() });
        correct(&mut lines);
        let (two, three, four) = (number(2.0), number(3.0), number(4.0));
        let fits = |column: &'static str| -> Box<dyn Fn(&Line) -> bool> {
            Box::new(move |line: &Line| line.column == column)
        };
        let absent = attach(
            &mut lines,
            [
                (&two, fits(""), String::new()),
                (&three, fits("ipc"), String::new()),
                (&four, fits("none"), "not here".to_string()),
            ],
        );
        assert_eq!(lines[0].published[0].against, Some(Against::Holds));
        assert_eq!((lines[1].published[0].value, lines[1].published[0].against), (3.0, None));
        assert_eq!(absent.len(), 1);
        assert_eq!((&*absent[0].row, &*absent[0].why), ("r", "not here"));
        let head = Lines {
            format: FORMAT,
            experiment: "e".into(),
            title: "t".into(),
            quick: true,
            usubac: "1".into(),
            host: Host::here(),
            compilers: Vec::new(),
            lines,
            absent,
            sources: sources([&two, &three].into_iter()),
        };
        let text = written(&head);
        assert_eq!(head.sources, ["s"]);
        assert_eq!(serde_json::from_str::<Lines>(&text).expect("JSON"), head);
        assert_eq!(text, written(&serde_json::from_str(&text).expect("JSON")));
    }
}
