//! Odd permutations with one extra wire, which steps in place never reach.
//!
//! ```text
//! t = b & c;  a ^= t;  d ^= t & a          made once, used once or twice, forgotten
//! ```

use crate::Meter;
use crate::program::Program;
use crate::states::{Levels, Metric, State, ands, pack, pairs, unpack};

/// The use of an extra wire: `a ^= t`, or `a ^= g` for a function g of t and `with`.
#[derive(Clone, Copy, Default)]
struct Use {
    old: u16,
    g: u16,
    with: Option<u16>,
}

/// An extra wire, its operands (the last may occur twice), and its uses.
#[derive(Clone, Copy)]
pub struct Detour {
    t: u16,
    from: [u16; 3],
    uses: [Use; 2],
    count: usize,
}

impl Detour {
    /// The lines of the detour.
    pub fn program(&self, metric: Metric) -> Program {
        let mut from = self.from.to_vec();
        from.dedup();
        let mut program = Program { lines: vec![(self.t, from)] };
        for Use { old, g, with } in &self.uses[..self.count] {
            let new = old ^ g;
            match (metric, with) {
                (_, None) => program.lines.push((new, vec![*old, self.t])),
                (Metric::Lut3, Some(y)) => program.lines.push((new, vec![*old, self.t, *y])),
                (Metric::Two, Some(y)) => {
                    program.lines.push((*g, vec![self.t, *y]));
                    program.lines.push((new, vec![*old, *g]));
                }
            }
        }
        program
    }

    /// The way back, from the state after the detour: the extra wire is made there, if its operands
    /// are still there.
    pub fn undone(&self, metric: Metric, state: State) -> Option<Program> {
        let wires = unpack(state);
        let mut program = self.program(metric);
        let steps = program.lines.split_off(1);
        if !program.lines[0].1.iter().all(|f| wires.contains(f)) {
            return None;
        }
        for Use { old, g, with } in self.uses[..self.count].iter().rev() {
            let new = old ^ g;
            let line = |made: u16| {
                let line = steps.iter().find(|line| line.0 == made);
                line.expect("each use is written as lines").1.clone()
            };
            match (metric, with) {
                (Metric::Two, Some(_)) => {
                    program.lines.push((*g, line(*g)));
                    program.lines.push((*old, vec![new, *g]));
                }
                _ => {
                    let mut from = line(new);
                    from[0] = new;
                    program.lines.push((*old, from));
                }
            }
        }
        Some(program)
    }
}

/// All detours from a state: `visit` sees the gates, the state after, and the detour.
fn detours(metric: Metric, state: State, visit: &mut impl FnMut(usize, State, &Detour)) {
    let wires = unpack(state);
    let mut start = |t: u16, from: [u16; 3]| {
        let detour = Detour { t, from, uses: [Use::default(); 2], count: 0 };
        uses(metric, wires, detour, 1, visit);
    };
    for b in 0..4 {
        for c in 0..b {
            for t in pairs(wires[b], wires[c]) {
                start(t, [wires[b], wires[c], wires[c]]);
            }
            for d in (0..c).filter(|_| metric == Metric::Lut3) {
                let from = [wires[b], wires[c], wires[d]];
                for table in (2..256u16).step_by(2) {
                    let row = |x: u16| from.iter().fold(0, |row, f| row << 1 | f >> x & 1);
                    start((0..16).fold(0, |t, x| t | (table >> row(x) & 1) << x), from);
                }
            }
        }
    }
}

/// Goes on with a detour, by at most two uses in all.
fn uses(
    metric: Metric,
    wires: [u16; 4],
    detour: Detour,
    cost: usize,
    visit: &mut impl FnMut(usize, State, &Detour),
) {
    for a in 0..4 {
        let mut change = |more: usize, g: u16, with: Option<u16>| {
            let mut next = wires;
            next[a] ^= g;
            let mut detour = detour;
            detour.uses[detour.count] = Use { old: wires[a], g, with };
            detour.count += 1;
            visit(cost + more, pack(next), &detour);
            // A wire made from three others is used once: there are too many of them.
            if detour.count < 2 && detour.from[1] == detour.from[2] {
                uses(metric, next, detour, cost + more, visit);
            }
        };
        change(1, detour.t, None);
        for y in (0..4).filter(|&y| y != a).map(|y| wires[y]) {
            match metric {
                Metric::Two => {
                    ands(detour.t, y).into_iter().for_each(|g| change(2, g, Some(y)));
                }
                Metric::Lut3 => {
                    pairs(detour.t, y).into_iter().for_each(|g| change(1, g, Some(y)));
                }
            }
        }
    }
}

/// A detour from a state of the near list to one of the far list, with their levels.
pub struct Bridge {
    pub total: usize,
    pub near: usize,
    pub middle: State,
    pub detour: Detour,
    pub far: usize,
    pub state: State,
}

/// The cheapest bridges, at most `limit`, from the near states that the meter allows; of at most `bound + slack` gates in all, where `bound` is the least that was seen.
pub fn bridges(
    near: &Levels,
    far: &Levels,
    slack: usize,
    bound: &mut usize,
    limit: usize,
    meter: &mut Meter,
) -> Vec<Bridge> {
    let filter = Filter::new(far);
    let depth = far.levels.len() - 1;
    let mut kept: Vec<Bridge> = Vec::new();
    for (level, states) in near.levels.iter().enumerate() {
        for &middle in states {
            if !meter.spend(visits(near.metric)) {
                break;
            }
            detours(near.metric, middle, &mut |cost, state, detour| {
                if cost + level > *bound + slack || !filter.may_have(state) {
                    return;
                }
                let rest = depth.min(*bound + slack - cost - level);
                let Some(f) = (0..=rest).find(|&f| far.has(f, state)) else { return };
                let total = f + cost + level;
                if total < *bound {
                    *bound = total;
                    kept.retain(|bridge| bridge.total <= *bound + slack);
                }
                if kept.len() < limit {
                    let detour = *detour;
                    kept.push(Bridge { total, near: level, middle, detour, far: f, state });
                }
            });
        }
    }
    kept.sort_by_key(|bridge| bridge.total);
    kept
}

/// The approximate number of visits of `detours` from one state.
fn visits(metric: Metric) -> u64 {
    match metric {
        Metric::Two => 80_000,
        Metric::Lut3 => 80_000 + 130_000,
    }
}

/// A quick way to see that a state is in no level.
struct Filter(Vec<u64>);

impl Filter {
    fn slot(state: State) -> usize {
        (state.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 36) as usize
    }

    fn new(levels: &Levels) -> Filter {
        let mut bits = vec![0; 1 << 22];
        for &state in levels.levels.iter().flatten() {
            let slot = Filter::slot(state);
            bits[slot / 64] |= 1u64 << (slot % 64);
        }
        Filter(bits)
    }

    fn may_have(&self, state: State) -> bool {
        let slot = Filter::slot(state);
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }
}
