//! The order in which points are tried, and when to give one up.
//!
//! ```text
//! default ─ every choice of dimension 1 ─→ better? ─ every choice of dimension 2 ─→ ...
//!         ─ again until nothing changes ─→ pairs of changes, the likeliest first ─→ from the top
//! ```
//!
//! Slicings come in the order of their defaults, so that a small budget is spent on the fastest.
//! Points that make the same code are one point. The order depends on nothing but the answers, and answers are recorded; so a
//! search that was cut anywhere and starts again arrives where it would have arrived. No compiler
//! and no clock is known here: both are behind [`Bench`], and tests put a made-up surface there.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use usuba::ir::Slicing;

use super::record::Record;
use super::space::{Point, Space};
use usuba_run::stats::{quantile, rank_sum};

/// Names a candidate by everything that its time depends on: its C, compiler, flags, processor.
pub type Id = String;

/// Why a search ends before its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The time is up.
    Budget,
    /// The user wants to stop.
    Interrupted,
    /// A candidate computes something else than its program.
    Wrong(String),
    /// The machine does not let us work.
    System(String),
}

/// Times per unit of work: a byte, an instance.
#[derive(Clone, PartialEq, Debug)]
pub struct Timed {
    pub samples: Vec<f64>,
    /// The median of each process. Samples of one process share where its pages lie, so these are
    /// what is compared.
    pub processes: Vec<f64>,
}

/// Two candidates by turns.
#[derive(Clone, PartialEq, Debug)]
pub struct Times {
    pub incumbent: Timed,
    pub challenger: Timed,
}

/// What the search cannot do itself.
pub trait Bench {
    /// What makes candidates the same, or why there is no such candidate.
    fn identify(&mut self, slicing: Slicing, points: &[Point]) -> Vec<Result<Id, String>>;

    /// Compiles and verifies candidates; for each, why it cannot be timed, if it cannot.
    ///
    /// # Errors
    /// One computes something wrong, or the user wants to stop.
    fn build(&mut self, ids: &[Id]) -> Result<Vec<Result<(), String>>, Stop>;

    /// Times two candidates that were built.
    ///
    /// # Errors
    /// The machine does not let us work, or the user wants to stop.
    fn time(&mut self, incumbent: &Id, challenger: &Id, rounds: u32) -> Result<Times, Stop>;

    /// Whether there is time for one more.
    ///
    /// # Errors
    /// There is none.
    fn may_go_on(&self) -> Result<(), Stop>;

    /// How many candidates are built at once.
    fn width(&self) -> usize;
}

/// How a challenger did against an incumbent.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Race {
    /// Median of the challenger over that of the incumbent.
    pub ratio: f64,
    /// The quartiles of the challenger over the median of the incumbent.
    pub low: f64,
    pub high: f64,
    /// The probability that the difference is an accident (Wilcoxon's rank-sum test).
    pub p: f64,
    /// Given up after a short batch.
    pub hopeless: bool,
}

/// A smaller gain is not worth a flag, however significant it is.
const GAIN: f64 = 0.005;

/// The probability of an accident below which a difference counts. Many candidates are tried, so
/// it is small.
const SIGNIFICANT: f64 = 0.001;

/// The short batch: rounds, and by how much the lower quartile of a challenger may be above the
/// median of the incumbent. The pair is linked again for the whole race, which costs more than the
/// rounds, so there is one such batch and not several.
const SHORT: (u32, f64) = (21, 0.05);

/// Rounds of a whole race.
const ROUNDS: u32 = 101;

/// Rounds of the races that the result is written from.
const FINAL: u32 = 301;

/// Single changes that made the code slower than this are in no pair.
const PAIRABLE: f64 = 1.2;

/// Pairs of changes that are tried around one point.
const PAIRS: usize = 64;

/// A slicing that is slower than another by more than this share is not the fastest.
const NEAR: f64 = 0.25;

/// Times that the search starts from the top.
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
        // Rounded, so that what is recorded is what was decided on.
        let share = |at: f64| (quantile(&challenger, at) / unit * 1e6).round() / 1e6;
        Race {
            ratio: share(0.5),
            low: share(0.25),
            high: share(0.75),
            p: rank_sum(&times.incumbent.processes, &times.challenger.processes).p,
            hopeless: false,
        }
    }

    /// Whether the challenger is faster beyond doubt.
    pub fn wins(&self) -> bool {
        !self.hopeless && self.p < SIGNIFICANT && self.ratio < 1.0 - GAIN
    }
}

/// What is known about a challenger.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    Raced(Race),
    /// It does not compile, or takes too long to.
    Failed(String),
}

/// What a search tells while it goes on.
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
    /// The default, by which `best` is measured.
    origin: Id,
    /// The time of the default over that of the first lane; absent if nobody knows.
    start: Option<f64>,
    /// The best against the default of the same slicing; absent if nothing beats the default.
    pub race: Option<Race>,
}

impl Lane {
    /// About the time of the best, over that of the default of the first lane.
    fn time(&self) -> Option<f64> {
        Some(self.start? * self.race.map_or(1.0, |race| race.ratio))
    }
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub lanes: Vec<Lane>,
    /// The lane whose best is the fastest of all; the first one unless another beats it.
    pub fastest: usize,
    /// Slicings that the program does not have, and why.
    pub left_out: Vec<(Slicing, String)>,
    /// Challengers that were timed to the end, given up early, and not built.
    pub raced: usize,
    pub hopeless: usize,
    pub failed: Vec<String>,
    /// Whether time ran out.
    pub cut: bool,
}

/// Searches `space` for the best point of each slicing; the first one is the default slicing.
///
/// # Errors
/// No slicing is possible; or the search cannot go on, running out of time not included.
pub fn search(
    space: &Space,
    slicings: &[Slicing],
    bench: &mut dyn Bench,
    record: &mut Record,
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
    record: &'a mut Record,
    tell: &'a mut dyn FnMut(&Event),
    /// Candidates of each lane that had their chance.
    seen: BTreeSet<(usize, Id)>,
    /// The last ratio of a single change: lane, axis, choice.
    single: BTreeMap<(usize, usize, usize), f64>,
    outcome: Outcome,
}

impl Search<'_> {
    /// A lane at its default for each slicing that exists.
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
        // A slicing whose default cannot be built has nothing to compare with.
        let built = |&lane: &usize| self.outcome.lanes[lane].start.is_some();
        let mut order: Vec<usize> = (0..self.outcome.lanes.len()).filter(built).collect();
        let start = |&lane: &usize| self.outcome.lanes[lane].start.unwrap_or(f64::INFINITY);
        order.sort_by(|a, b| start(a).total_cmp(&start(b)));
        stop.map_or(Ok(order), Err)
    }

    /// In each lane single changes until none helps; then pairs in each; and again.
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

    /// Pairs of changes of which each is not bad, in order of their promise.
    fn likely_pairs(&self, lane: usize) -> Vec<Point> {
        let best = &self.outcome.lanes[lane].best;
        let promise = |point: &Point| {
            let changed = (0..point.len()).filter(|&axis| point[axis] != best[axis]);
            // What made no other code alone may do so together with another change.
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

    /// Lets points race against the best of a lane, all against the same one, and keeps the
    /// winner. Whether there was one; it is kept as well if the search stops here.
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
                // What this build cannot make is no candidate: two flags that exclude each other.
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

    /// An answer for each candidate, with whether it was known, up to where the search stops.
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

    /// Builds what nobody timed yet, and what it is compared with.
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

    /// A short batch, and a whole race if there is hope.
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

    /// A long race between two that are known to be good. Not part of the budget: it is short, and
    /// without it there is no result.
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

    /// Measures the best of each lane against its default, and the lanes against each other. What
    /// does not hold falls back to the default.
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
            // What is far behind, or was never reached, needs no long race.
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
