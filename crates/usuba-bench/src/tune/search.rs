//! Coordinate descent over the search space, with early termination of slow candidates.
//!
//! ```text
//! default ─ every choice of dimension 1 ─→ better? ─ every choice of dimension 2 ─→ ...
//!         ─ again until nothing changes ─→ pairs of changes, the likeliest first ─→ from the top
//! ```
//!
//! Slicings are searched in order of their defaults' speed, so that a small budget is spent on the
//! fastest. Points with equal code are one point. The order depends only on the results, and
//! results are logged; so a search that was interrupted anywhere and restarts reaches the same end.
//! The search knows no compiler and no clock: both are behind [`Bench`], and tests supply an
//! artificial surface.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use usuba::ir::Slicing;

use super::search_log::SearchLog;
use super::space::{Point, Space};
use usuba_run::stats::{quantile, rank_sum};

/// The name of a candidate, a hash of everything that affects its time: C, compiler, flags,
/// processor.
pub type Id = String;

/// The reason why a search ends early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The budget is spent.
    Budget,
    /// The user wants to stop.
    Interrupted,
    /// A candidate computes a wrong result.
    Wrong(String),
    /// The operating system fails.
    System(String),
}

/// Times per unit of work: a byte, an instance.
#[derive(Clone, PartialEq, Debug)]
pub struct Timed {
    pub samples: Vec<f64>,
    /// The median of each process. Samples of one process share its page placement, so processes
    /// are compared instead.
    pub processes: Vec<f64>,
}

/// The times of two candidates, measured in turns.
#[derive(Clone, PartialEq, Debug)]
pub struct Times {
    pub incumbent: Timed,
    pub challenger: Timed,
}

/// The operations of the search that need a compiler or a clock.
pub trait Bench {
    /// The identities of candidates, or the reasons why they do not exist.
    fn identify(&mut self, slicing: Slicing, points: &[Point]) -> Vec<Result<Id, String>>;

    /// Compiles and verifies candidates; for each, the reason if it cannot be timed.
    ///
    /// # Errors
    /// A candidate computes a wrong result, or the user wants to stop.
    fn build(&mut self, ids: &[Id]) -> Result<Vec<Result<(), String>>, Stop>;

    /// Times two built candidates.
    ///
    /// # Errors
    /// The operating system fails, or the user wants to stop.
    fn time(&mut self, incumbent: &Id, challenger: &Id, rounds: u32) -> Result<Times, Stop>;

    /// Checks that the budget allows another operation.
    ///
    /// # Errors
    /// It does not.
    fn may_go_on(&self) -> Result<(), Stop>;

    /// The number of candidates built at once.
    fn width(&self) -> usize;
}

/// The result of a challenger against an incumbent.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Race {
    /// The median of the challenger over the median of the incumbent.
    pub ratio: f64,
    /// The quartiles of the challenger over the median of the incumbent.
    pub low: f64,
    pub high: f64,
    /// The probability of such a difference by chance (Wilcoxon's rank-sum test).
    pub p: f64,
    /// Terminated after a short batch.
    pub hopeless: bool,
}

/// The minimal gain that justifies a flag, even if a smaller one is significant.
const GAIN: f64 = 0.005;

/// The significance level. It is small because many candidates are tried.
const SIGNIFICANT: f64 = 0.001;

/// The short batch: its rounds, and the tolerated excess of the challenger's lower quartile over
/// the incumbent's median. There is one such batch and not several, because linking the pair again
/// for the whole race costs more than the rounds.
const SHORT: (u32, f64) = (21, 0.05);

/// Rounds of a whole race.
const ROUNDS: u32 = 101;

/// Rounds of the races behind the final result.
const FINAL: u32 = 301;

/// Single changes above this slowdown take part in no pair.
const PAIRABLE: f64 = 1.2;

/// Pairs of changes that are tried around one point.
const PAIRS: usize = 64;

/// A slicing that is slower than another by more than this share cannot be the fastest.
const NEAR: f64 = 0.25;

/// The maximal number of descents from the top.
const PASSES: usize = 4;

impl Race {
    fn new(times: &Times) -> Race {
        let ascending = |samples: &[f64]| {
            let mut samples = samples.to_vec();
            samples.sort_by(f64::total_cmp);
            samples
        };
        let (incumbent, challenger) =
            (ascending(&times.incumbent.samples), ascending(&times.challenger.samples));
        let unit = quantile(&incumbent, 0.5);
        // Rounded, so that the logged value is the decided value.
        let share = |at: f64| (quantile(&challenger, at) / unit * 1e6).round() / 1e6;
        Race {
            ratio: share(0.5),
            low: share(0.25),
            high: share(0.75),
            p: rank_sum(&times.incumbent.processes, &times.challenger.processes).p,
            hopeless: false,
        }
    }

    /// Whether the challenger is significantly faster.
    pub fn wins(&self) -> bool {
        !self.hopeless && self.p < SIGNIFICANT && self.ratio < 1.0 - GAIN
    }
}

/// The state of a challenger.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    Raced(Race),
    /// It does not compile, or its compile exceeds the time limit.
    Failed(String),
}

/// A progress event of a search.
#[derive(Clone, PartialEq, Debug)]
pub enum Event<'a> {
    /// A slicing is left out.
    LeftOut(Slicing, &'a str),
    /// A challenger was timed, now or in an earlier run.
    Raced { slicing: Slicing, point: &'a Point, answer: &'a Answer, known: bool },
}

/// The best point of a slicing.
#[derive(Clone, PartialEq, Debug)]
pub struct Lane {
    pub slicing: Slicing,
    pub best: Point,
    id: Id,
    /// The default, the baseline of `best`.
    origin: Id,
    /// The time of the default over the time of the first lane's default; absent if unknown.
    start: Option<f64>,
    /// The best point against the default of the same slicing; absent if nothing beats the default.
    pub race: Option<Race>,
}

impl Lane {
    /// The estimated time of the best point, over the time of the first lane's default.
    fn time(&self) -> Option<f64> {
        Some(self.start? * self.race.map_or(1.0, |race| race.ratio))
    }
}

/// The result of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub lanes: Vec<Lane>,
    /// The lane with the fastest best point; the first lane unless another beats it.
    pub fastest: usize,
    /// Slicings that the program does not support, with the reason.
    pub left_out: Vec<(Slicing, String)>,
    /// Challengers with a full race, terminated early, and not built.
    pub raced: usize,
    pub hopeless: usize,
    pub failed: Vec<String>,
    /// Whether the budget ran out.
    pub cut: bool,
}

/// Searches `space` for the best point of each slicing; the first one is the default slicing.
///
/// # Errors
/// No slicing is possible, or the search cannot continue for another reason than its budget.
pub fn search(
    space: &Space,
    slicings: &[Slicing],
    bench: &mut dyn Bench,
    record: &mut SearchLog,
    tell: &mut dyn FnMut(&Event),
) -> Result<Outcome, Stop> {
    let outcome = Outcome {
        lanes: Vec::new(),
        fastest: 0,
        left_out: Vec::new(),
        raced: 0,
        hopeless: 0,
        failed: Vec::new(),
        cut: false,
    };
    let mut search = Search {
        space,
        bench,
        record,
        tell,
        seen: BTreeSet::new(),
        single: BTreeMap::new(),
        outcome,
    };
    search.start(slicings)?;
    match search.climb() {
        Ok(()) => {}
        Err(Stop::Budget) => search.outcome.cut = true,
        Err(stop) => return Err(stop),
    }
    search.finish()?;
    Ok(search.outcome)
}

struct Search<'a> {
    space: &'a Space,
    bench: &'a mut dyn Bench,
    record: &'a mut SearchLog,
    tell: &'a mut dyn FnMut(&Event),
    /// The tried candidates of each lane.
    seen: BTreeSet<(usize, Id)>,
    /// The last ratio of a single change: lane, axis, choice.
    single: BTreeMap<(usize, usize, usize), f64>,
    outcome: Outcome,
}

impl Search<'_> {
    /// Starts a lane at its default for each supported slicing.
    fn start(&mut self, slicings: &[Slicing]) -> Result<(), Stop> {
        let origin = self.space.origin();
        for &slicing in slicings {
            let found = self.bench.identify(slicing, std::slice::from_ref(&origin)).pop();
            match found.expect("one answer per point") {
                Ok(id) => {
                    self.seen.insert((self.outcome.lanes.len(), id.clone()));
                    let start = self.outcome.lanes.is_empty().then_some(1.0);
                    let (best, origin) = (origin.clone(), id.clone());
                    self.outcome.lanes.push(Lane { slicing, best, id, origin, start, race: None });
                }
                Err(why) => {
                    (self.tell)(&Event::LeftOut(slicing, &why));
                    self.outcome.left_out.push((slicing, why));
                }
            }
        }
        match self.outcome.left_out.first() {
            Some((_, why)) if self.outcome.lanes.is_empty() => Err(Stop::System(why.clone())),
            _ => Ok(()),
        }
    }

    /// Lanes by the speed of their defaults, the fastest first.
    fn order(&mut self) -> Result<Vec<usize>, Stop> {
        let Lane { best: point, origin: first, .. } = self.outcome.lanes[0].clone();
        let others = self.outcome.lanes[1..].iter().map(|lane| (&point, lane.origin.clone()));
        let others: Vec<(&Point, Id)> = others.collect();
        let (answers, stop) = self.races(&first, &others);
        for (at, (answer, _)) in answers.iter().enumerate() {
            match answer {
                Answer::Raced(race) => self.outcome.lanes[at + 1].start = Some(race.ratio),
                Answer::Failed(why) => self.outcome.failed.push(why.clone()),
            }
        }
        // A slicing whose default cannot be built has no baseline.
        let built = |&lane: &usize| self.outcome.lanes[lane].start.is_some();
        let mut order: Vec<usize> = (0..self.outcome.lanes.len()).filter(built).collect();
        let start = |&lane: &usize| self.outcome.lanes[lane].start.unwrap_or(f64::INFINITY);
        order.sort_by(|a, b| start(a).total_cmp(&start(b)));
        stop.map_or(Ok(order), Err)
    }

    /// Single changes in each lane until none helps; then pairs in each; and again.
    fn climb(&mut self) -> Result<(), Stop> {
        let mut order = self.order()?;
        for _ in 0..PASSES {
            for &lane in &order {
                let mut changed = true;
                while changed {
                    changed = false;
                    for axis in 0..self.space.axes().len() {
                        let points = self.space.along(&self.outcome.lanes[lane].best, axis);
                        changed |= self.challenge(lane, points, Some(axis))?;
                    }
                }
            }
            let mut fresh = Vec::new();
            for &lane in &order {
                let points = self.likely_pairs(lane);
                if self.challenge(lane, points, None)? {
                    fresh.push(lane);
                }
            }
            order = fresh;
        }
        Ok(())
    }

    /// Pairs of promising changes, the most promising first.
    fn likely_pairs(&self, lane: usize) -> Vec<Point> {
        let best = &self.outcome.lanes[lane].best;
        let promise = |point: &Point| {
            let changed = (0..point.len()).filter(|&axis| point[axis] != best[axis]);
            // A change without effect on the code alone may have one together with another change.
            let single = |axis| *self.single.get(&(lane, axis, point[axis])).unwrap_or(&1.0);
            let ratios: Vec<f64> = changed.map(single).collect();
            ratios.iter().all(|&ratio| ratio < PAIRABLE).then(|| ratios.iter().product::<f64>())
        };
        let pairs = self.space.pairs(best).into_iter();
        let mut pairs: Vec<(f64, Point)> =
            pairs.filter_map(|point| Some((promise(&point)?, point))).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        pairs.into_iter().map(|(_, point)| point).collect()
    }

    /// Races points against the best of a lane, all against the same one, and keeps the winner.
    /// Returns whether there was one; it is kept even if the search stops here.
    fn challenge(
        &mut self,
        lane: usize,
        points: Vec<Point>,
        axis: Option<usize>,
    ) -> Result<bool, Stop> {
        let Lane { slicing, id: incumbent, .. } = self.outcome.lanes[lane].clone();
        let mut winner: Option<(f64, Point, Id)> = None;
        let mut stop = None;
        let mut tried = 0;
        for points in points.chunks(self.bench.width().max(1)) {
            if axis.is_none() && tried >= PAIRS {
                break;
            }
            let mut ready = Vec::new();
            for (point, id) in points.iter().zip(self.bench.identify(slicing, points)) {
                // Flags that exclude each other, or that this build lacks, give no candidate.
                let Ok(id) = id else { continue };
                if self.seen.insert((lane, id.clone())) {
                    ready.push((point, id));
                }
            }
            tried += ready.len();
            let (answers, stopped) = self.races(&incumbent, &ready);
            for ((point, id), (answer, known)) in ready.into_iter().zip(answers) {
                (self.tell)(&Event::Raced { slicing, point, answer: &answer, known });
                match &answer {
                    Answer::Failed(why) => self.outcome.failed.push(why.clone()),
                    Answer::Raced(race) => {
                        match race.hopeless {
                            true => self.outcome.hopeless += 1,
                            false => self.outcome.raced += 1,
                        }
                        if let Some(axis) = axis {
                            self.single.insert((lane, axis, point[axis]), race.ratio);
                        }
                        let best = winner.as_ref().map_or(1.0, |(ratio, ..)| *ratio);
                        if race.wins() && race.ratio < best {
                            winner = Some((race.ratio, point.clone(), id));
                        }
                    }
                }
            }
            stop = stopped;
            if stop.is_some() {
                break;
            }
        }
        let won = winner.is_some();
        if let Some((_, point, id)) = winner {
            let lane = &mut self.outcome.lanes[lane];
            (lane.best, lane.id) = (point, id);
        }
        stop.map_or(Ok(won), Err)
    }

    /// A result for each candidate, with whether it was logged, up to the end of the budget.
    fn races(
        &mut self,
        incumbent: &Id,
        ready: &[(&Point, Id)],
    ) -> (Vec<(Answer, bool)>, Option<Stop>) {
        let unknown: Vec<Id> = ready
            .iter()
            .map(|(_, id)| id.clone())
            .filter(|id| self.record.recall(incumbent, id, ROUNDS).is_none())
            .collect();
        let built = match self.build(incumbent, &unknown) {
            Ok(built) => built,
            Err(stop) => return (Vec::new(), Some(stop)),
        };
        let mut built: BTreeMap<&Id, Result<(), String>> = unknown.iter().zip(built).collect();
        let mut answers = Vec::new();
        for (_, id) in ready {
            let answer = match built.remove(id) {
                None => match self.record.recall(incumbent, id, ROUNDS) {
                    Some(answer) => Ok((answer, true)),
                    None => Err(Stop::System(format!("nothing is known of {id}"))),
                },
                Some(Err(why)) => self.remember(incumbent, id, ROUNDS, Answer::Failed(why)),
                Some(Ok(())) => self.race(incumbent, id),
            };
            match answer {
                Ok(answer) => answers.push(answer),
                Err(stop) => return (answers, Some(stop)),
            }
        }
        (answers, None)
    }

    /// Builds the candidates without a logged time, and their incumbent.
    fn build(&mut self, incumbent: &Id, ids: &[Id]) -> Result<Vec<Result<(), String>>, Stop> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.bench.may_go_on()?;
        let all: Vec<Id> = std::iter::once(incumbent).chain(ids).cloned().collect();
        let mut answers = self.bench.build(&all)?;
        if let Err(why) = answers.remove(0) {
            return Err(Stop::System(format!("what others are compared with is not there: {why}")));
        }
        Ok(answers)
    }

    /// A short batch, and a whole race if the challenger is not hopeless.
    fn race(&mut self, incumbent: &Id, id: &Id) -> Result<(Answer, bool), Stop> {
        let (rounds, margin) = SHORT;
        let race = Race::new(&self.bench.time(incumbent, id, rounds)?);
        if race.low > 1.0 + margin {
            let race = Race { hopeless: true, ..race };
            return self.remember(incumbent, id, ROUNDS, Answer::Raced(race));
        }
        let race = Race::new(&self.bench.time(incumbent, id, ROUNDS)?);
        self.remember(incumbent, id, ROUNDS, Answer::Raced(race))
    }

    fn remember(
        &mut self,
        incumbent: &Id,
        id: &Id,
        rounds: u32,
        answer: Answer,
    ) -> Result<(Answer, bool), Stop> {
        self.record.remember(incumbent, id, rounds, &answer).map_err(Stop::System)?;
        Ok((answer, false))
    }

    /// A long race between two good candidates. It is not part of the budget: it is short, and the
    /// result needs it.
    fn last_race(&mut self, incumbent: &Id, challenger: &Id) -> Result<Race, Stop> {
        let answer = match self.record.recall(incumbent, challenger, FINAL) {
            Some(answer) => answer,
            None => {
                let pair = [incumbent.clone(), challenger.clone()];
                for built in self.bench.build(&pair)? {
                    built.map_err(Stop::System)?;
                }
                let race = Race::new(&self.bench.time(incumbent, challenger, FINAL)?);
                self.remember(incumbent, challenger, FINAL, Answer::Raced(race))?.0
            }
        };
        match answer {
            Answer::Raced(race) => Ok(race),
            Answer::Failed(why) => Err(Stop::System(why)),
        }
    }

    /// Measures the best of each lane against its default, and the lanes against each other. A best
    /// point that does not win falls back to the default.
    fn finish(&mut self) -> Result<(), Stop> {
        for at in 0..self.outcome.lanes.len() {
            let Lane { id, origin, .. } = self.outcome.lanes[at].clone();
            if id == origin {
                continue;
            }
            let race = self.last_race(&origin, &id)?;
            let lane = &mut self.outcome.lanes[at];
            match race.wins() {
                true => lane.race = Some(race),
                false => (lane.best, lane.id) = (self.space.origin(), origin),
            }
        }
        for at in 1..self.outcome.lanes.len() {
            let (first, other) =
                (&self.outcome.lanes[self.outcome.fastest], &self.outcome.lanes[at]);
            // A lane far behind, or never reached, needs no long race.
            let near = |a: f64, b: f64| b < a * (1.0 + NEAR);
            if !first.time().zip(other.time()).is_some_and(|(a, b)| near(a, b)) {
                continue;
            }
            let (first, other) = (first.id.clone(), other.id.clone());
            if self.last_race(&first, &other)?.wins() {
                self.outcome.fastest = at;
            }
        }
        Ok(())
    }
}
