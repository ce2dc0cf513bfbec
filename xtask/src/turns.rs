//! Turns of long tests: which of them one run has, within a budget of time.
//!
//! ```text
//! xtask/costs.txt     seconds of each unit of two seconds or more   ⎫
//! the commit          an order of them                              ⎭ → the units that wait
//! ```
//!
//! Short units and smoke tests ([`ALWAYS`]) are in every run. The others come in an order that the
//! commit chooses, as long as their costs fit into [`BUDGET`], so a sequence of commits has all of
//! them, and no run is long.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::repo::Repo;

/// Where the costs are, relative to the root of the repository.
pub const COSTS: &str = "xtask/costs.txt";

/// The processor time of one run for units that take turns, in seconds of the machine that measured
/// the costs.
const BUDGET: f64 = 120.0;

/// The least cost of a unit that takes turns, in seconds.
const LEAST: f64 = 2.0;

/// How the names of units begin that run every time, however long: a run of each experiment, script,
/// form of a library and transcript, the house rules, and the proofs of NaCl.
const ALWAYS: [&str; 10] = [
    "documents",
    "tests/cli.rs (usubac) transcripts",
    "tests/house.rs (xtask)",
    "tests/installed.rs (usubac)",
    "tests/library/main.rs (usuba-library) every_folder_on_every_backend",
    "tests/library/main.rs (usuba-library) rust::",
    "tests/library/main.rs (usuba-library) the_library_is_built_installed_and_found",
    "tests/linked.rs (usubac) nacl_keeps_its_proofs",
    "tests/python.rs (usuba-python)",
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

/// The units of a run of `seed` that wait for another one.
pub fn waiting(costs: &BTreeMap<String, f64>, seed: &str) -> BTreeSet<String> {
    let long = |name: &&String| !ALWAYS.iter().any(|start| name.starts_with(start));
    let mut order: Vec<&String> = costs.keys().filter(long).collect();
    order.sort_by_key(|name| usuba_gen::level::hash(&[seed, name]));
    let mut left = BUDGET;
    let waits = |name: &&String| {
        let cost = costs[*name];
        let fits = cost <= left;
        left -= if fits { cost } else { 0.0 };
        !fits
    };
    order.into_iter().filter(waits).cloned().collect()
}

/// Rewrites the costs by the times of the units that passed in a run of all units. A cost that is nearly
/// the same stays.
///
/// # Errors
/// The file cannot be written.
pub fn bless(
    repo: &Repo,
    before: &BTreeMap<String, f64>,
    times: &BTreeMap<String, f64>,
) -> io::Result<()> {
    let kept = |(name, time): (&String, &f64)| {
        let old = before.get(name).copied().filter(|old| (0.7..1.4).contains(&(time / old)));
        let cost = old.unwrap_or(*time);
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
        for seed in 0..100 {
            let waiting = waiting(&all, &format!("commit {seed}"));
            let always = |name: &String| ALWAYS.iter().any(|start| name.starts_with(start));
            let runs = all.iter().filter(|(name, _)| !always(name) && !waiting.contains(*name));
            assert!(runs.map(|(_, cost)| cost).sum::<f64>() <= BUDGET);
            assert!(!waiting.iter().any(always));
            left.retain(|name| waiting.contains(name));
        }
        assert!(left.is_empty(), "{left:?}");
    }
}
