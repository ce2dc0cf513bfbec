//! The numbers of an experiment with stages, and their report in Markdown.

use std::fmt::Write;

use super::{Built, Claim, PROCESSES, Stage, Staged, Timed, Times};
use crate::bench::NOISY;
use crate::difference::probability;
use crate::experiment::lines::{self, Line, Lines, Sides, Wanted, attach, correct, sources};
use crate::experiment::markdown::{comparison, digits};
use crate::record::Host;

impl Staged {
    /// The numbers of all stages; `name` is the name of the experiment.
    pub fn lines(&self, built: &[Built], quick: bool, usubac: &str, name: &str) -> Lines {
        let mut all = Vec::new();
        for build in built {
            let Ok(stages) = &build.stages else { continue };
            for (claim, _) in &self.numbers {
                all.extend(self.quotient(build, stages, claim, &all));
            }
            for (at, task) in self.tasks.iter().enumerate() {
                let base = stages.first().and_then(|row| row[at].as_ref().ok());
                for (stage, row) in self.stages.iter().zip(stages) {
                    let Ok(times) = &row[at] else { continue };
                    self.add(&mut all, build, (stage, task), times, base);
                }
            }
        }
        correct(&mut all);
        let wanted = self.numbers.iter().map(|(claim, number)| -> Wanted {
            (number, Box::new(|line: &Line| claim.fits(line)), self.why_absent(built, claim))
        });
        let absent = attach(&mut all, wanted);
        let there = built.iter().filter(|build| build.stages.is_ok());
        let mut compilers: Vec<String> = there.map(|build| build.compiler.clone()).collect();
        compilers.sort();
        compilers.dedup();
        Lines {
            format: lines::FORMAT,
            experiment: name.into(),
            title: self.title.clone(),
            quick,
            usubac: usubac.into(),
            host: Host::here(),
            compilers,
            lines: all,
            absent,
            sources: sources(self.published()),
        }
    }

    /// The reason why a claim has no times.
    fn why_absent(&self, built: &[Built], claim: &Claim) -> String {
        let stage = self.stages.iter().position(|stage| stage.label == claim.stage);
        let task = self.tasks.iter().position(|task| *task == claim.task);
        let place = stage.zip(task);
        let problem = |stages: &[Vec<Timed>]| {
            place.and_then(|(stage, task)| stages[stage][task].as_ref().err().cloned())
        };
        let builds = built.iter().filter(|build| claim.fits_build(&build.label));
        let mut whys = builds.filter_map(|build| match &build.stages {
            Err(why) => Some(why.clone()),
            Ok(stages) => problem(stages),
        });
        whys.next().unwrap_or("this machine has no such build".into())
    }

    /// The line of a claim over a stage other than the first, unless it is there.
    fn quotient(
        &self,
        build: &Built,
        stages: &[Vec<Timed>],
        claim: &Claim,
        all: &[Line],
    ) -> Option<Line> {
        let (_, other) = claim.ours.split_once('/')?;
        if !claim.fits_build(&build.label) || all.iter().any(|line| claim.fits(line)) {
            return None;
        }
        let task = self.tasks.iter().position(|task| *task == claim.task)?;
        let times = |label: &str| {
            let stage = self.stages.iter().position(|stage| stage.label == label)?;
            stages[stage][task].as_ref().ok()
        };
        let (times, base) = (times(&claim.stage)?, times(other)?);
        let line = Line {
            subject: claim.stage.clone(),
            target: claim.task.clone(),
            compiler: build.label.clone(),
            column: claim.ours.clone(),
            ..Line::default()
        };
        Some(line.tested(&times.over(base)))
    }

    /// The lines of a stage and task.
    fn add(
        &self,
        all: &mut Vec<Line>,
        build: &Built,
        (stage, task): (&Stage, &str),
        times: &Times,
        base: Option<&Times>,
    ) {
        let line = |column: &str| Line {
            subject: stage.label.clone(),
            target: task.to_string(),
            compiler: build.label.clone(),
            column: column.to_string(),
            ..Line::default()
        };
        if let Some(base) = base {
            let speedup = line("speedup").tested(&times.over(base));
            let lanes = stage.lanes as f64;
            all.push(Line { value: speedup.value / lanes, ..line("efficiency") });
            if let Some(clock) = self.clock {
                let cycles = clock / speedup.value;
                all.push(Line { value: cycles, ..line("cycles") });
                all.push(Line { value: cycles / lanes, ..line("cycles-per-lane") });
            }
            all.push(speedup);
        }
        let seconds = times.seconds();
        all.push(Line { value: seconds * self.calls as f64, ..line("seconds") });
        all.push(Line { value: seconds * 1e6, ..line("microseconds") });
        all.extend(times.code.map(|code| Line { value: code as f64, ..line("code") }));
    }

    /// A table for each build, and the published numbers.
    pub fn report(&self, built: &[Built], lines: &Lines) -> String {
        let calls = if lines.quick { self.quick_calls } else { self.calls };
        let mut out = format!("# {}\n\n{}\n\n", self.title, self.about.trim());
        let _ = writeln!(out, "Processor: {}.", lines.host.processor);
        let _ = writeln!(
            out,
            "{calls} calls in {PROCESSES} processes; seconds are for {} calls.",
            self.calls
        );
        for build in built {
            let _ = write!(out, "\n## {}\n\n", build.label);
            let stages = match &build.stages {
                Ok(stages) => stages,
                Err(why) => {
                    let _ = writeln!(out, "Left out: {why}.");
                    continue;
                }
            };
            let _ = write!(out, "{}.\n\n| stage |", build.compiler);
            for task in &self.tasks {
                let unit = if self.clock.is_some() { "cycles" } else { "seconds" };
                let _ = write!(
                    out,
                    " {task}: {unit} | code | speed-up | interval | efficiency | p | verdict |"
                );
            }
            out += "\n|---|";
            out += &"---:|---:|---:|---:|---:|---:|---|".repeat(self.tasks.len());
            out.push('\n');
            for (stage, row) in self.stages.iter().zip(stages) {
                let _ = write!(out, "| {} |", stage.label);
                for (task, times) in self.tasks.iter().zip(row) {
                    match times {
                        Ok(_) => out += &self.cells(lines, &build.label, &stage.label, task),
                        Err(why) => out += &format!(" {why} | | | | | | |"),
                    }
                }
                out.push('\n');
            }
        }
        out + &comparison(lines)
    }

    /// The cells of a stage and task.
    fn cells(&self, lines: &Lines, build: &str, stage: &str, task: &str) -> String {
        let find = |column: &str| {
            lines.lines.iter().find(|line| {
                [&*line.compiler, &*line.subject, &*line.target, &*line.column]
                    == [build, stage, task, column]
            })
        };
        let value = |column: &str| find(column).map_or(String::new(), |line| digits(line.value));
        let ratio = find("speedup");
        let interval = ratio.map_or(String::new(), Line::interval_text);
        let p = ratio.and_then(|line| line.p).map_or(String::new(), probability);
        let verdict = ratio.and_then(|line| line.verdict).map_or("", |verdict| verdict.word());
        let unit = if self.clock.is_some() { "cycles" } else { "seconds" };
        let [time, speedup, efficiency] = [unit, "speedup", "efficiency"].map(value);
        let code = find("code").map_or(String::new(), |line| format!("{:.0}", line.value));
        format!(" {time} | {code} | {speedup} | {interval} | {efficiency} | {p} | {verdict} |")
    }
}

impl Times {
    /// Both sides of a speed-up over other times.
    fn over<'s>(&'s self, base: &'s Times) -> Sides<'s> {
        Sides {
            slow: &base.processes,
            fast: &self.processes,
            noisy: self.scatter > NOISY || base.scatter > NOISY,
            same: std::ptr::eq(base, self),
        }
    }
}

impl Claim {
    fn fits(&self, line: &Line) -> bool {
        (&line.subject, &line.target, &line.column) == (&self.stage, &self.task, &self.ours)
            && self.fits_build(&line.compiler)
    }
}
