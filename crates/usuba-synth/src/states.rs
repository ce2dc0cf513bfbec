//! Breadth-first search over the states of four wires that are changed in place.
//!
//! ```text
//! {a, b, c, d}  →  {a ^ b, b, c, d}              one gate
//!               →  {a ^ (b & c), b, c, d}        two gates, or one of three inputs
//! ```
//!
//! Wires are kept up to order and complement, so a state is a set of four functions. Every step
//! undoes itself, so the same lists serve forwards and backwards.

use crate::Meter;

/// Four functions of four bits, up to complement: bit `x` is the value on input `x`, bit 0 is 0.
pub type State = u64;

/// The wires at the start: input bit `i_0` first.
pub const INPUTS: [u16; 4] = [0xff00, 0xf0f0, 0xcccc, 0xaaaa];

/// The one of a function and its complement that is 0 on input 0.
pub fn normal(f: u16) -> u16 {
    if f & 1 == 1 { !f } else { f }
}

/// The state of four normal functions.
pub fn pack(mut wires: [u16; 4]) -> State {
    wires.sort_unstable();
    wires.iter().fold(0, |state, &f| state << 16 | f as u64)
}

/// The functions of a state, in ascending order.
pub fn unpack(state: State) -> [u16; 4] {
    [48, 32, 16, 0].map(|shift| (state >> shift) as u16)
}

/// The ands of two functions up to complement.
pub fn ands(b: u16, c: u16) -> [u16; 4] {
    [b & c, b & !c, !b & c, b | c]
}

/// All functions of two functions that depend on both, up to complement.
pub fn pairs(b: u16, c: u16) -> [u16; 5] {
    [b & c, b & !c, !b & c, b | c, b ^ c]
}

/// Steps from a state: each of four wires changes by one of three others, or by a pair of them.
const STEPS: usize = 4 * (3 + 3 * 5);
/// States that are held before equal ones are merged, which bounds memory to half a gigabyte.
const MOST_FOUND: usize = 1 << 26;

/// The kind of a gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// A function of two inputs.
    Two,
    /// A function of three inputs.
    Lut3,
}

/// Every state one step from `state`, with the gates of the step.
pub fn steps(metric: Metric, state: State, mut visit: impl FnMut(usize, State)) {
    let wires = unpack(state);
    for a in 0..4 {
        let mut change = |cost: usize, g: u16| {
            let mut next = wires;
            next[a] ^= g;
            visit(cost, pack(next));
        };
        for b in (0..4).filter(|&b| b != a) {
            change(1, wires[b]);
            for c in (0..b).filter(|&c| c != a) {
                match metric {
                    Metric::Two => {
                        ands(wires[b], wires[c]).into_iter().for_each(|g| change(2, g));
                    }
                    Metric::Lut3 => {
                        pairs(wires[b], wires[c]).into_iter().for_each(|g| change(1, g));
                    }
                }
            }
        }
    }
}

/// The states at each distance from a start, sorted.
#[derive(Clone)]
pub struct Levels {
    pub metric: Metric,
    pub levels: Vec<Vec<State>>,
}

impl Levels {
    /// The start alone.
    pub fn new(metric: Metric, start: State) -> Levels {
        Levels { metric, levels: vec![vec![start]] }
    }

    /// Whether a state is at this distance.
    pub fn has(&self, level: usize, state: State) -> bool {
        self.levels.get(level).is_some_and(|states| states.binary_search(&state).is_ok())
    }

    /// Lists all states up to a distance; `false` if the meter has too few nodes for them.
    pub fn grow(&mut self, depth: usize, meter: &mut Meter) -> bool {
        while self.levels.len() <= depth {
            let here = self.levels.len();
            let before = self.levels[here - 1].len()
                + here.checked_sub(2).map_or(0, |far| self.levels[far].len());
            let visits = before * STEPS;
            if visits > MOST_FOUND || !meter.spend(visits as u64) {
                return false;
            }
            let mut found = Vec::new();
            for back in 1..=here.min(2) {
                for &state in &self.levels[here - back] {
                    steps(self.metric, state, |cost, next| {
                        if cost == back {
                            found.push(next);
                        }
                    });
                }
            }
            found.sort_unstable();
            found.dedup();
            found.retain(|&state| (0..here).all(|level| !self.has(level, state)));
            found.shrink_to_fit();
            self.levels.push(found);
        }
        true
    }

    /// Up to `most` ways from the start to a state of a level, each a list of states.
    pub fn paths(&self, level: usize, state: State, most: usize) -> Vec<Vec<State>> {
        if level == 0 {
            return vec![vec![state]];
        }
        let mut before = Vec::new();
        steps(self.metric, state, |cost, next| {
            if cost <= level && self.has(level - cost, next) && !before.contains(&(cost, next)) {
                before.push((cost, next));
            }
        });
        let mut found = Vec::new();
        for (cost, next) in before {
            for mut path in self.paths(level - cost, next, most.div_ceil(2)) {
                path.push(state);
                found.push(path);
            }
            if found.len() >= most {
                break;
            }
        }
        found
    }
}
