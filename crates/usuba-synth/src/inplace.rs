//! Bidirectional search (meet in the middle): small circuits for permutations of four bits.
//!
//! ```text
//! inputs ──states.rs──► ... ◄──states.rs── outputs        even permutations
//! inputs ──► ... one extra wire (detour.rs) ... ◄── outputs       odd ones
//! ```
//!
//! Lists of states grow from both ends until they meet. Several shortest ways are written as
//! circuits with as few NOTs as the profile allows, and the best of each profile is kept.

use usuba_circuit::{Circuit, Profile, Table, restate};

use crate::Meter;
use crate::detour::bridges;
use crate::program::{Program, output};
use crate::states::{INPUTS, Levels, Metric, State, normal, pack, steps};

/// The number of circuits of equal size that are compared, to find one with few NOTs.
const MOST_OFFERS: usize = 3_000;
/// Visits of gates spent on the NOTs of each.
const EFFORT: usize = 2_000;

/// Keeps the best circuit.
struct Best<'a> {
    table: &'a Table,
    profile: Profile,
    offers: usize,
    found: Option<((usize, usize), Circuit)>,
}

impl Best<'_> {
    /// Whether another circuit is welcome.
    fn offer(&mut self, program: &Program, meter: &mut Meter) -> bool {
        let circuit = program.circuit(self.table);
        let circuit = restate(&circuit, self.profile, EFFORT).expect("the metric has the gates");
        let gates = circuit.cost(self.profile).expect("restated for the profile");
        let rank = (gates, circuit.live());
        if self.found.as_ref().is_none_or(|(least, _)| rank < *least) {
            self.found = Some((rank, circuit));
        }
        self.offers += 1;
        self.offers < MOST_OFFERS && meter.spend(EFFORT as u64)
    }
}

/// Whether a permutation is even.
fn is_even(entries: &[u64]) -> bool {
    let turned = (0..entries.len())
        .map(|i| (0..i).filter(|&j| entries[j] > entries[i]).count())
        .sum::<usize>();
    turned % 2 == 0
}

/// A small circuit for a permutation of four bits; `None` if the meter ran out before any was
/// found, or the table is no such permutation.
pub fn search(table: &Table, profile: Profile, meter: &mut Meter) -> Option<Circuit> {
    let mut sorted = table.entries.clone();
    sorted.sort_unstable();
    if (table.inputs, table.outputs) != (4, 4) || !sorted.into_iter().eq(0..16) {
        return None;
    }
    let metric = if profile == Profile::Lut3 { Metric::Lut3 } else { Metric::Two };
    let mut best = Best { table, profile, offers: 0, found: None };
    let goal = [0, 1, 2, 3].map(|k| normal(output(table, k)));
    let front = Levels::new(metric, pack(INPUTS));
    let back = Levels::new(metric, pack(goal));
    if is_even(&table.entries) {
        even(front, back, &mut best, meter);
    } else {
        odd(front, back, &mut best, meter);
    }
    best.found.map(|(_, circuit)| circuit)
}

/// One gate more than the fewest may come with fewer NOTs.
fn slack(metric: Metric) -> usize {
    if metric == Metric::Two { 1 } else { 0 }
}

fn even(mut front: Levels, mut back: Levels, best: &mut Best<'_>, meter: &mut Meter) {
    let metric = front.metric;
    let mut least = None;
    for total in 0.. {
        if least.is_some_and(|least| total > least + slack(metric)) {
            return;
        }
        let (ahead, behind) = (total / 2, total - total / 2);
        if !front.grow(ahead, meter) || !back.grow(behind, meter) {
            return;
        }
        let met = |&&s: &&State| front.has(ahead, s);
        let mut joints: Vec<(usize, State, usize, State)> =
            back.levels[behind].iter().filter(met).map(|&s| (ahead, s, behind, s)).collect();
        // A step of two gates may lead over the point where the two halves meet.
        if metric == Metric::Two && ahead > 0 && behind > 0 {
            for &state in &front.levels[ahead - 1] {
                steps(metric, state, |cost, next| {
                    if cost == 2 && back.has(behind - 1, next) {
                        joints.push((ahead - 1, state, behind - 1, next));
                    }
                });
            }
        }
        for (ahead, state, behind, next) in joints {
            least = least.or(Some(total));
            for a in front.paths(ahead, state, 24) {
                for b in back.paths(behind, next, 24) {
                    let path = a.iter().chain(b.iter().rev().skip((state == next) as usize));
                    let path: Vec<State> = path.copied().collect();
                    let mut program = Program::default();
                    path.windows(2).for_each(|w| program.step(metric, w[0], w[1]));
                    if !best.offer(&program, meter) {
                        return;
                    }
                }
            }
        }
    }
}

/// A few steps on one side of the detour, a long list of states on the other; then with the sides
/// exchanged.
fn odd(mut front: Levels, mut back: Levels, best: &mut Best<'_>, meter: &mut Meter) {
    let metric = front.metric;
    // The lists take a quarter of the meter, the detours the rest.
    let mut lists = meter.part(4);
    let mut depth = 0;
    while front.grow(depth + 1, &mut lists) && back.grow(depth + 1, &mut lists) {
        depth += 1;
    }
    let mut bound = usize::MAX - slack(metric);
    for forward in [false, true] {
        let mut half = meter.part(if forward { 1 } else { 2 });
        let (near, far) = if forward { (&front, &back) } else { (&back, &front) };
        for bridge in bridges(near, far, slack(metric), &mut bound, MOST_OFFERS, &mut half) {
            for a in near.paths(bridge.near, bridge.middle, 8) {
                for b in far.paths(bridge.far, bridge.state, 8) {
                    let detour = match forward {
                        true => Some(bridge.detour.program(metric)),
                        false => bridge.detour.undone(metric, bridge.state),
                    };
                    let Some(detour) = detour else { continue };
                    let (before, after) = if forward { (&a, &b) } else { (&b, &a) };
                    let mut program = Program::default();
                    before.windows(2).for_each(|w| program.step(metric, w[0], w[1]));
                    program.lines.extend(detour.lines);
                    let after: Vec<State> = after.iter().rev().copied().collect();
                    after.windows(2).for_each(|w| program.step(metric, w[0], w[1]));
                    if !best.offer(&program, meter) {
                        return;
                    }
                }
            }
        }
    }
}
