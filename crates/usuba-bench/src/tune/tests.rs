//! Tests of the search on artificial surfaces, and once on a real compiler.

use std::cell::{Cell, RefCell};
use std::path::Path;

use usuba::ir::Slicing;

use super::compilers::Compiler;
use super::search::{Bench, Event, Id, Outcome, Stop, Timed, Times, search};
use super::search_log::SearchLog;
use super::space::{Axis, Point, Reader, Space};
use super::tuned::{self, About, Tuned};
use usuba_run::cc::{Machine, System};

/// The cost of a point; `None` if there is no such candidate.
type Surface = fn(Slicing, &Point) -> Option<f64>;

/// A bench without compiler and clock: the surface with a little noise.
struct Fake {
    surface: Surface,
    /// Operations before the user interrupts.
    left: Cell<usize>,
    /// Builds before the budget ends.
    builds: Cell<usize>,
    /// Every race that was timed.
    timed: RefCell<Vec<(Id, Id, u32)>>,
}

impl Fake {
    fn new(surface: Surface) -> Fake {
        let (left, builds) = (Cell::new(usize::MAX), Cell::new(usize::MAX));
        Fake { surface, left, builds, timed: RefCell::default() }
    }

    fn cost(&self, id: &Id) -> f64 {
        let (slicing, point) = id.split_once(' ').expect("as `identify` writes it");
        let all = [Slicing::V, Slicing::H, Slicing::B];
        let slicing = all.into_iter().find(|s| format!("{s:?}") == slicing).expect("a slicing");
        let point = point.split(',').map(|n| n.parse().expect("a number")).collect();
        (self.surface)(slicing, &point).expect("it was identified")
    }

    fn step(&self) -> Result<(), Stop> {
        match self.left.get() {
            0 => Err(Stop::Interrupted),
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }
}

impl Bench for Fake {
    fn identify(&mut self, slicing: Slicing, points: &[Point]) -> Vec<Result<Id, String>> {
        let name = |point: &Point| {
            // The last choice of the last axis changes nothing.
            let mut point = point.clone();
            let last = point.len() - 1;
            if point[last] == 2 {
                point[last] = 0;
            }
            (self.surface)(slicing, &point).ok_or("there is none")?;
            let numbers: Vec<String> = point.iter().map(usize::to_string).collect();
            Ok(format!("{slicing:?} {}", numbers.join(",")))
        };
        points.iter().map(name).collect()
    }

    fn build(&mut self, ids: &[Id]) -> Result<Vec<Result<(), String>>, Stop> {
        self.step()?;
        self.builds.set(self.builds.get().saturating_sub(1));
        // A candidate of cost 1000 does not compile.
        let good = |id: &Id| if self.cost(id) < 1000.0 { Ok(()) } else { Err(format!("{id}: no")) };
        Ok(ids.iter().map(good).collect())
    }

    fn time(&mut self, incumbent: &Id, challenger: &Id, rounds: u32) -> Result<Times, Stop> {
        self.step()?;
        self.timed.borrow_mut().push((incumbent.clone(), challenger.clone(), rounds));
        let noisy = |id: &Id| {
            let cost = self.cost(id);
            let noise = |round: u32| (round.wrapping_mul(2_654_435_761) >> 16) as f64 / 65536.0;
            let sample = |round: u32| cost * (1.0 + 0.01 * noise(round));
            let samples = (0..rounds).map(sample).collect();
            // Two processes differ by less than the minimal gain of a flag.
            let processes = (0..8).map(|process| cost * (1.0 + 0.001 * noise(process))).collect();
            Timed { samples, processes }
        };
        Ok(Times { incumbent: noisy(incumbent), challenger: noisy(challenger) })
    }

    fn may_go_on(&self) -> Result<(), Stop> {
        if self.builds.get() == 0 { Err(Stop::Budget) } else { Ok(()) }
    }

    fn width(&self) -> usize {
        3
    }
}

fn space() -> Space {
    let compiler = |name: &str| Compiler {
        name: name.into(),
        machine: Machine {
            target: "gp64",
            compiler: "cc".into(),
            cflags: Vec::new(),
            runner: None,
            arguments: &[],
            system: System::Hosted,
        },
        is_clang: name.starts_with("clang"),
    };
    let axes = vec![
        Axis::new("one", Reader::Usubac, &["--one 1", "--one 2", "--one 3", "--one 4"]),
        Axis::new("two", Reader::Usubac, &["--two a", "--two b"]),
        Axis::new("level", Reader::Cc, &["-O1", "-O2"]),
        Axis::new("last", Reader::Usubac, &["--last", "--idle"]),
    ];
    Space::with(vec![compiler("gcc 12.2.0"), compiler("clang 19.1.7")], axes)
}

/// Axes act alone, except for `--two b`, which helps only with `--last`, and `--one 4`, which does
/// not compile. The second compiler is better; bits beat words; there is no horizontal form.
fn surface(slicing: Slicing, point: &Point) -> Option<f64> {
    let compiler = [1.0, 0.95][point[0]];
    let one = [1.0, 3.0, 0.8, 1.1, 1000.0][point[1]];
    let pair = match (point[2], point[4]) {
        (0, 0) => 1.0,
        (2, 1) => 0.7,
        (1, _) => 1.5,
        _ => 1.05,
    };
    let level = [1.0, 1.3, 0.97][point[3]];
    let slicing = match slicing {
        Slicing::V => 10.0,
        Slicing::H | Slicing::W => return None,
        Slicing::B => 9.0,
    };
    Some(compiler * one * pair * level * slicing)
}

const ALL: &[Slicing] = &[Slicing::V, Slicing::H, Slicing::B];

fn run(fake: &mut Fake, state: &Path) -> Result<Outcome, Stop> {
    let mut record = SearchLog::open(state).expect("opened");
    search(&space(), ALL, fake, &mut record, &mut |_| {})
}

/// The result file of a search.
fn file(outcome: &Outcome) -> String {
    let about = About {
        program: "a.ua".into(),
        sha256: "00".into(),
        entry: "f".into(),
        reading: String::new(),
        goal: "kernel",
    };
    let mut tuned = Tuned { cpu: "x".into(), target: "gp64".into(), choices: Vec::new() };
    tuned.replace(tuned::choices(outcome, &space(), &about));
    tuned::print(&tuned)
}

#[test]
fn finds_the_best_point_pairs_included() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut fake = Fake::new(surface);
    let outcome = run(&mut fake, &folder.path().join("s")).expect("it ends");
    for lane in &outcome.lanes {
        assert_eq!(lane.best, [1, 2, 2, 2, 1], "{:?}", lane.slicing);
        let ratio = lane.race.expect("better").ratio;
        assert!((ratio - 0.95 * 0.8 * 0.7 * 0.97).abs() < 0.001, "{ratio}");
    }
    assert_eq!(outcome.lanes[outcome.fastest].slicing, Slicing::B);
    assert_eq!(outcome.left_out, [(Slicing::H, "there is none".to_string())]);
    assert!(!outcome.cut && outcome.failed.len() >= 2, "{outcome:?}");
    let text = file(&outcome);
    assert!(text.contains("flags = \"--one 2 --two b --last\""), "{text}");
    assert!(text.contains("compiler = \"clang 19.1.7\"\ncflags = \"-O2\""), "{text}");
}

#[test]
fn nothing_is_timed_twice_and_the_hopeless_only_shortly() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut fake = Fake::new(surface);
    let outcome = run(&mut fake, &folder.path().join("s")).expect("it ends");
    let timed = fake.timed.take();
    let mut once = timed.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), timed.len());
    assert!(outcome.hopeless > 0);
    let long = |id: &str| timed.iter().any(|(_, c, rounds)| c == id && *rounds > 21);
    assert!(timed.iter().any(|(_, id, _)| id == "V 1,1,0,0,0"), "{timed:?}");
    assert!(!long("V 1,1,0,0,0"), "three times the time is hopeless after a short batch");
    assert!(long("V 0,2,0,0,0") || long("V 1,2,0,0,0"), "what is better is timed to the end");
    assert!(!timed.iter().any(|(_, id, _)| id.ends_with(",2")), "equal code is one candidate");
}

#[test]
fn a_search_that_was_cut_anywhere_ends_in_the_same_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut whole = Fake::new(surface);
    let wanted = file(&run(&mut whole, &folder.path().join("whole")).expect("it ends"));
    let operations = usize::MAX - whole.left.get();
    let state = folder.path().join("at once");
    for cut in 0..operations {
        let _ = std::fs::remove_file(&state);
        let mut fake = Fake::new(surface);
        fake.left.set(cut);
        assert_eq!(run(&mut fake, &state), Err(Stop::Interrupted), "after {cut}");
        let mut rest = Fake::new(surface);
        let outcome = run(&mut rest, &state).expect("it ends");
        assert_eq!(file(&outcome), wanted, "after {cut}");
        let (before, after) = (fake.timed.borrow().len(), rest.timed.borrow().len());
        // The interrupted race is lost, and has one short batch.
        assert!(before + after <= whole.timed.borrow().len() + 1, "after {cut}");
    }
    // Interrupted again and again, with little progress each time.
    let state = folder.path().join("often");
    let mut runs = 0;
    let outcome = loop {
        let mut fake = Fake::new(surface);
        fake.left.set(5);
        runs += 1;
        match run(&mut fake, &state) {
            Ok(outcome) => break outcome,
            Err(stop) => assert_eq!(stop, Stop::Interrupted),
        }
        assert!(runs < operations, "no progress");
    };
    assert_eq!(file(&outcome), wanted);
    assert!(runs > 5);
}

#[test]
fn without_time_the_default_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut fake = Fake::new(surface);
    fake.builds.set(0);
    let outcome = run(&mut fake, &folder.path().join("s")).expect("it ends");
    assert!(outcome.cut && outcome.fastest == 0 && outcome.raced == 0);
    assert!(outcome.lanes.iter().all(|lane| lane.race.is_none() && lane.best == space().origin()));
    assert!(fake.timed.borrow().is_empty());
    let text = file(&outcome);
    assert!(text.contains("flags = \"\"") && text.contains("ratio = 1.000"), "{text}");
}

#[test]
fn more_time_goes_on_where_less_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("s");
    let mut last = f64::INFINITY;
    for _ in 0..40 {
        let mut fake = Fake::new(surface);
        fake.builds.set(4);
        let outcome = run(&mut fake, &state).expect("it ends");
        let ratio = outcome.lanes[0].race.map_or(1.0, |race| race.ratio);
        assert!(ratio <= last, "a longer search found less: {ratio} after {last}");
        last = ratio;
        if !outcome.cut {
            break;
        }
    }
    assert!(last < 0.52, "{last}");
}

/// No point beats the default by more than the noise.
fn flat(_: Slicing, point: &Point) -> Option<f64> {
    Some(10.0 - 0.001 * point.iter().sum::<usize>() as f64)
}

#[test]
fn a_difference_that_is_none_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut fake = Fake::new(flat);
    let outcome = run(&mut fake, &folder.path().join("s")).expect("it ends");
    assert!(outcome.lanes.iter().all(|lane| lane.race.is_none() && lane.best == space().origin()));
    assert_eq!(outcome.fastest, 0);
    assert!(outcome.raced > 0 && outcome.hopeless == 0);
}

/// Bits do not compile, and the rest is unchanged.
fn without_bits(slicing: Slicing, point: &Point) -> Option<f64> {
    if slicing == Slicing::B { Some(2000.0) } else { surface(slicing, point) }
}

#[test]
fn a_slicing_that_does_not_compile_stops_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut fake = Fake::new(without_bits);
    let outcome = run(&mut fake, &folder.path().join("s")).expect("it ends");
    assert_eq!(outcome.fastest, 0);
    assert_eq!(outcome.lanes[0].best, [1, 2, 2, 2, 1]);
    assert!(outcome.lanes[1].race.is_none());
    assert!(outcome.failed.iter().any(|why| why.starts_with("B 0,0")), "{:?}", outcome.failed);
}

/// No candidate exists.
fn nothing(_: Slicing, _: &Point) -> Option<f64> {
    None
}

#[test]
fn without_any_slicing_there_is_no_search() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut fake = Fake::new(nothing);
    let stop = run(&mut fake, &folder.path().join("s"));
    assert_eq!(stop, Err(Stop::System("there is none".into())));
}

#[test]
fn events_tell_what_is_new_and_what_was_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("s");
    let mut counts = Vec::new();
    for _ in 0..2 {
        let mut record = SearchLog::open(&state).expect("opened");
        let (mut new, mut old) = (0, 0);
        let mut tell = |event: &Event| match event {
            Event::Raced { known: true, .. } => old += 1,
            Event::Raced { known: false, .. } => new += 1,
            Event::LeftOut(slicing, _) => assert_eq!(*slicing, Slicing::H),
        };
        search(&space(), ALL, &mut Fake::new(surface), &mut record, &mut tell).expect("it ends");
        counts.push((new, old));
    }
    assert!(counts[0].0 > 0 && counts[0].1 == 0);
    assert_eq!(counts[1], (0, counts[0].0));
}

#[test]
fn flags_of_a_point_are_said_once() {
    let axes = vec![
        Axis::new("instances", Reader::Usubac, &["--interleave 2 --interleave-grain 10"]),
        Axis::new("grain", Reader::Usubac, &["--interleave-grain 50"]),
        Axis::new("a", Reader::Usubac, &["--skip cse"]),
        Axis::new("b", Reader::Usubac, &["--skip canon"]),
    ];
    let space = Space::with(space().compilers, axes);
    let flags = space.flags(&vec![0, 1, 1, 1, 1]);
    assert_eq!(flags, "--interleave 2 --interleave-grain 50 --skip cse --skip canon");
    assert_eq!(space.flags(&space.origin()), "");
    assert_eq!(space.cflags(&space.origin()), ["-O3"]);
    assert_eq!(space.along(&space.origin(), 0), [[1, 0, 0, 0, 0]]);
    assert_eq!(space.pairs(&space.origin()).len(), 10);
}
