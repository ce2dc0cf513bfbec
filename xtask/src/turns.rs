//! Turns of long tests: which of them one run has.
//!
//! ```text
//! xtask/costs.txt     seconds of each unit of a second or more → parts of equal cost   ⎫
//! the commit          one of these parts                                               ⎭ → the units that wait
//! ```
//!
//! Short units and smoke tests ([`ALWAYS`]) are in every run. The others are cut into [`SHARES`] parts
//! of nearly equal cost, and the commit chooses one, so a sequence of commits has all of them, each
//! equally often, and no run is long.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use usuba_gen::level::{SHARES, hash};

use crate::repo::Repo;

/// Where the costs are, relative to the root of the repository.
pub const COSTS: &str = "xtask/costs.txt";

/// The least cost of a unit that takes turns, in seconds.
const LEAST: f64 = 1.0;

/// How the names of units begin that run every time, however long: a run of each experiment, script,
/// form of a library and transcript, the house rules, and the proofs of NaCl.
const ALWAYS: [&str; 9] = [
    "documents",
    "tests/cli.rs (usubac) transcripts",
    "tests/house.rs (xtask)",
    "tests/installed.rs (usubac)",
    "tests/library/main.rs (usuba-library) every_folder_on_every_backend",
    "tests/library/main.rs (usuba-library) rust::",
    "tests/library/main.rs (usuba-library) the_library_is_built_installed_and_found",
    "tests/linked.rs (usubac) nacl::gcc_o2",
    "tests/smoke.rs (usubac)",
];

/// The costs of a text, each with the name of its unit.
///
/// # Errors
/// A line is no number of seconds and a name.
pub fn costs(text: &str) -> io::Result<BTreeMap<String, f64>> {
    let line = |(at, line): (usize, &str)| {
        let pair = line.trim_start().split_once(' ');
        let pair = pair.and_then(|(time, name)| Some((name.to_string(), time.parse().ok()?)));
        pair.ok_or_else(|| {
            let place = format!("{COSTS}:{}", at + 1);
            io::Error::other(format!("{place}: expected seconds and a test, and found `{line}`"))
        })
    };
    text.lines().enumerate().map(line).collect()
}

/// The text of costs.
pub fn text(costs: &BTreeMap<String, f64>) -> String {
    costs.iter().map(|(name, cost)| format!("{cost:6.1} {name}\n")).collect()
}

/// Whether a unit runs every time.
fn is_always(name: &str) -> bool {
    ALWAYS.iter().any(|start| name.starts_with(start))
}

/// The parts of the units that take turns: a unit goes to the part that costs least so far, the longest
/// units first.
fn parts(costs: &BTreeMap<String, f64>) -> Vec<(f64, BTreeSet<&String>)> {
    let mut units: Vec<_> = costs.iter().filter(|(name, _)| !is_always(name)).collect();
    units.sort_by(|(_, one), (_, next)| next.total_cmp(one));
    let mut parts = vec![(0.0, BTreeSet::new()); SHARES as usize];
    for (name, cost) in units {
        let least = parts.iter_mut().min_by(|(one, _), (next, _)| f64::total_cmp(one, next));
        let (sum, part) = least.expect("there are parts");
        *sum += cost;
        part.insert(name);
    }
    parts
}

/// The part of a run of `seed`. It tells nothing about the items that tests choose by the hash of the
/// seed alone: otherwise the tests of a part would always have the same items.
fn turn(seed: &str) -> usize {
    (hash(&["part", seed]) % SHARES) as usize
}

/// The units of a run of `seed` that wait for another one.
pub fn waiting(costs: &BTreeMap<String, f64>, seed: &str) -> BTreeSet<String> {
    let turn = turn(seed);
    let others = parts(costs).into_iter().enumerate().filter(|(at, _)| *at != turn);
    others.flat_map(|(_, (_, part))| part).cloned().collect()
}

/// Rewrites the costs by the times of the units that passed in a run of all units. The cost of a unit
/// never falls, because the commit chooses its items, and others may be longer.
///
/// # Errors
/// The file cannot be written.
pub fn bless(
    repo: &Repo,
    before: &BTreeMap<String, f64>,
    times: &BTreeMap<String, f64>,
) -> io::Result<()> {
    let kept = |(name, time): (&String, &f64)| {
        let old = before.get(name).copied().unwrap_or(0.0);
        let cost = if *time < 1.4 * old { old } else { *time };
        (cost >= LEAST).then(|| (name.clone(), cost))
    };
    std::fs::write(repo.root.join(COSTS), text(&times.iter().filter_map(kept).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_costs_are_named() {
        for text in ["  2.5 a test\nfast b test\n", "  2.5 a test\n3.0\n"] {
            let error = costs(text).expect_err("the second line");
            assert!(error.to_string().starts_with("xtask/costs.txt:2: expected"), "{error}");
        }
    }

    #[test]
    fn every_unit_has_its_turn() {
        let all = costs(include_str!("../costs.txt")).expect("costs");
        assert_eq!(costs(&text(&all)).expect("costs"), all);
        let mut left: BTreeSet<String> = all.keys().cloned().collect();
        for seed in 0..200 {
            let waiting = waiting(&all, &format!("commit {seed}"));
            assert!(!waiting.iter().any(|name| is_always(name)));
            left.retain(|name| waiting.contains(name));
        }
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn each_part_has_all_items_of_its_tests() {
        // As `level::turn_of` chooses one of these items.
        let items = 8;
        let seeds = (0..2000).map(|seed| format!("commit {seed}"));
        let met: BTreeSet<_> = seeds.map(|seed| (turn(&seed), hash(&[&seed]) % items)).collect();
        assert_eq!(met.len() as u64, SHARES * items);
    }

    #[test]
    fn no_part_is_long() {
        let all = costs(include_str!("../costs.txt")).expect("costs");
        let sums: Vec<f64> = parts(&all).into_iter().map(|(sum, _)| sum).collect();
        let (mean, longest) = (sums.iter().sum::<f64>() / SHARES as f64, longest(&all));
        assert!(sums.iter().all(|&sum| sum <= longest.max(1.5 * mean)), "{sums:?}");
    }

    /// The cost of the longest unit that takes turns.
    fn longest(costs: &BTreeMap<String, f64>) -> f64 {
        let turns = costs.iter().filter(|(name, _)| !is_always(name));
        turns.map(|(_, &cost)| cost).fold(0.0, f64::max)
    }
}
