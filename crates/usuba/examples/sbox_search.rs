//! Searches circuits for permutations of four bits: how `known/small.txt` came about.
//!
//! ```text
//! sbox_search two|lut3 DEPTH NAME:ENTRIES...        two PRESENT:c56b90ad3ef84712
//! ```
//!
//! Four wires are changed in place: `a ^= b` for one gate, `a ^= b & c` (or any other and of b and
//! c, perhaps complemented) for two, or, for `lut3`, `a ^= g(b, c)` with any g for one. Wires are
//! kept up to order and complement, so a state is a set of four functions. All states within DEPTH
//! gates of the inputs are listed; then states are listed backwards from the outputs until both
//! lists meet. Every step undoes itself, which is why backwards is possible at all.
//!
//! Such steps only give even permutations. For the others one extra wire is allowed in the middle:
//! it is made from two or three others, used by one or two steps, and forgotten.
//!
//! Many shortest circuits are found for each table. Each is written with as few NOTs as possible
//! for the profile, and the best is printed in the form of the database, with the key left zero.

use std::collections::HashMap;
use usuba::circuit::{Circuit, Gate, Profile, Table, restate, simulate};

/// Four functions of four bits, up to complement: bit `x` is the value on input `x`, bit 0 is 0.
type State = u64;

const INPUTS: [u16; 4] = [0xff00, 0xf0f0, 0xcccc, 0xaaaa];

fn normal(f: u16) -> u16 {
    if f & 1 == 1 { !f } else { f }
}

fn pack(mut wires: [u16; 4]) -> State {
    wires.sort_unstable();
    wires.iter().fold(0, |state, &f| state << 16 | f as u64)
}

fn unpack(state: State) -> [u16; 4] {
    [48, 32, 16, 0].map(|shift| (state >> shift) as u16)
}

/// The ands of two functions up to complement.
fn ands(b: u16, c: u16) -> [u16; 4] {
    [b & c, b & !c, !b & c, b | c]
}

/// All functions of two functions that depend on both, up to complement.
fn pairs(b: u16, c: u16) -> [u16; 5] {
    [b & c, b & !c, !b & c, b | c, b ^ c]
}

#[derive(Clone, Copy, PartialEq)]
enum Metric {
    Two,
    Lut3,
}

/// Every state one step from `state`, with the gates of the step.
fn steps(metric: Metric, state: State, mut visit: impl FnMut(usize, State)) {
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
struct Levels {
    metric: Metric,
    levels: Vec<Vec<State>>,
}

impl Levels {
    fn new(metric: Metric, start: State) -> Levels {
        Levels { metric, levels: vec![vec![start]] }
    }

    fn has(&self, level: usize, state: State) -> bool {
        self.levels.get(level).is_some_and(|states| states.binary_search(&state).is_ok())
    }

    fn grow(&mut self, depth: usize) {
        while self.levels.len() <= depth {
            let here = self.levels.len();
            let mut found = Vec::new();
            for back in 1..=here.min(2) {
                for &state in &self.levels[here - back] {
                    steps(self.metric, state, |cost, next| {
                        if cost == back {
                            found.push(next);
                        }
                    });
                    if found.len() > 1 << 27 {
                        found.sort_unstable();
                        found.dedup();
                    }
                }
            }
            found.sort_unstable();
            found.dedup();
            found.retain(|&state| (0..here).all(|level| !self.has(level, state)));
            found.shrink_to_fit();
            self.levels.push(found);
        }
    }

    /// Up to `most` ways from the start to a state of a level, each a list of states.
    fn paths(&self, level: usize, state: State, most: usize) -> Vec<Vec<State>> {
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

/// A program on functions: each line makes a function from at most three others.
#[derive(Clone, Default)]
struct Program {
    lines: Vec<(u16, Vec<u16>)>,
}

impl Program {
    /// The step between two states of a path.
    fn step(&mut self, metric: Metric, from: State, to: State) {
        let (old, new) = (unpack(from), unpack(to));
        let gone: Vec<usize> = (0..4).filter(|&i| !new.contains(&old[i])).collect();
        let made: Vec<u16> = new.into_iter().filter(|f| !old.contains(f)).collect();
        let ([a], [made]) = (&gone[..], &made[..]) else { panic!("not one step") };
        let others: Vec<u16> = (0..4).filter(|i| i != a).map(|i| old[i]).collect();
        self.change(metric, old[*a], *made, &others);
    }

    /// `made = a ^ g` for a function g of at most two of the others.
    fn change(&mut self, metric: Metric, a: u16, made: u16, others: &[u16]) {
        let g = a ^ made;
        if others.contains(&g) {
            return self.lines.push((made, vec![a, g]));
        }
        for (i, &b) in others.iter().enumerate() {
            for &c in &others[..i] {
                if pairs(b, c).map(normal).contains(&normal(g)) {
                    match metric {
                        Metric::Lut3 => self.lines.push((made, vec![a, b, c])),
                        Metric::Two => {
                            self.lines.push((normal(g), vec![b, c]));
                            self.lines.push((made, vec![a, normal(g)]));
                        }
                    }
                    return;
                }
            }
        }
        panic!("no step makes this change");
    }

    /// The circuit that computes a table.
    fn circuit(&self, table: &Table) -> Circuit {
        let mut wires: HashMap<u16, u16> = HashMap::new();
        for (wire, &f) in INPUTS.iter().enumerate() {
            wires.insert(f, wire as u16);
        }
        let mut gates = Vec::new();
        for (made, from) in &self.lines {
            let operands: Vec<u16> = from.iter().map(|f| wires[f]).collect();
            wires.entry(*made).or_insert_with(|| {
                gates.push(gate(*made, from, &operands));
                3 + gates.len() as u16
            });
        }
        let outputs = (0..table.outputs).map(|k| {
            let f = output(table, k);
            if f & 1 == 0 {
                return wires[&f];
            }
            gates.push(Gate::Not(wires[&!f]));
            3 + gates.len() as u16
        });
        let outputs = outputs.collect();
        Circuit { inputs: 4, gates, outputs }.without_dead_gates()
    }
}

/// The gate that makes a function from others, all of them 0 on input 0.
fn gate(made: u16, from: &[u16], wires: &[u16]) -> Gate {
    match (from, wires) {
        (&[b, c], &[x, y]) => match made {
            _ if made == b & c => Gate::And(x, y),
            _ if made == b | c => Gate::Or(x, y),
            _ if made == b ^ c => Gate::Xor(x, y),
            _ if made == !b & c => Gate::Andn(x, y),
            _ => Gate::Andn(y, x),
        },
        (&[a, b, c], &[x, y, z]) => {
            let table = (0..16).filter(|i| made >> i & 1 == 1).fold(0, |table: u8, i| {
                let bit = |f: u16, weight: u8| if f >> i & 1 == 1 { weight } else { 0 };
                table | 1 << (bit(a, 4) + bit(b, 2) + bit(c, 1))
            });
            Gate::Lut3(table, x, y, z)
        }
        _ => panic!("a line has two or three operands"),
    }
}

fn output(table: &Table, k: u8) -> u16 {
    let bit = |x: usize| (table.entries[x] >> (table.outputs - 1 - k) & 1) as u16;
    (0..16).fold(0, |f, x| f | bit(x) << x)
}

/// The use of an extra wire: `a ^= t`, or `a ^= g` for a function g of t and `with`.
#[derive(Clone, Copy, Default)]
struct Use {
    old: u16,
    g: u16,
    with: Option<u16>,
}

/// An extra wire, what it is made from (the last may be twice there), and its uses.
#[derive(Clone, Copy)]
struct Detour {
    t: u16,
    from: [u16; 3],
    uses: [Use; 2],
    count: usize,
}

impl Detour {
    fn program(&self, metric: Metric) -> Program {
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
}

impl Detour {
    /// The way back, from the state after the detour: the extra wire is made there, if what it is
    /// made from is still there.
    fn undone(&self, metric: Metric, state: State) -> Option<Program> {
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

/// Keeps the best circuit for each profile.
struct Best {
    table: Table,
    profiles: Vec<Profile>,
    found: Vec<Option<((usize, usize), Circuit)>>,
}

impl Best {
    fn offer(&mut self, program: &Program) {
        let circuit = program.circuit(&self.table);
        assert_eq!(simulate(&circuit), self.table.entries, "the search made a mistake");
        for (profile, found) in self.profiles.iter().zip(&mut self.found) {
            let circuit = restate(&circuit, *profile, 20_000).expect("gates of the metric");
            let rank = (circuit.cost(*profile).expect("gates of the profile"), circuit.live());
            if found.as_ref().is_none_or(|(least, _)| rank < *least) {
                *found = Some((rank, circuit));
            }
        }
    }
}

fn search(metric: Metric, front: &Levels, name: &str, table: Table) {
    let outputs: Vec<u16> = (0..4).map(|k| normal(output(&table, k))).collect();
    let goal = pack([outputs[0], outputs[1], outputs[2], outputs[3]]);
    let depth = front.levels.len() - 1;
    let profiles = match metric {
        Metric::Two => vec![Profile::Basic, Profile::Andn],
        Metric::Lut3 => vec![Profile::Lut3],
    };
    let limit: usize = std::env::var("LIMIT").ok().and_then(|n| n.parse().ok()).unwrap_or(40_000);
    let found = profiles.iter().map(|_| None).collect();
    let mut best = Best { table, profiles, found };
    let mut back = Levels::new(metric, goal);
    let mut offered = 0;
    let even = parity(&best.table);
    let mut least = None;
    if even {
        let most: usize = if metric == Metric::Two { 15 } else { 8 };
        for total in 0..=most {
            // One total more than the least: it may need fewer NOTs.
            let slack = if metric == Metric::Two { 1 } else { 0 };
            if least.is_some_and(|least| total > least + slack) {
                break;
            }
            let near = total.saturating_sub(depth);
            // A step of two gates may bridge the point where the two halves meet.
            for behind in near..=(near + 1).min(total) {
                back.grow(behind);
                let meet = back.levels[behind].iter().filter(|&&s| front.has(total - behind, s));
                let meet: Vec<State> = meet.copied().collect();
                for &middle in &meet {
                    least = least.or(Some(total));
                    for a in front.paths(total - behind, middle, 24) {
                        for b in back.paths(behind, middle, 24) {
                            let path: Vec<State> =
                                a.iter().chain(b.iter().rev().skip(1)).copied().collect();
                            let mut program = Program::default();
                            path.windows(2).for_each(|w| program.step(metric, w[0], w[1]));
                            best.offer(&program);
                            offered += 1;
                        }
                    }
                    if offered > limit {
                        break;
                    }
                }
            }
        }
    } else {
        // A few steps on one side of the detour, a long list of states on the other.
        let few: usize = std::env::var("FEW").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
        let slack = if metric == Metric::Two { 1 } else { 0 };
        let mut bound = usize::MAX - slack;
        for forward in [false, true] {
            let (near, far) = if forward {
                let mut start = Levels::new(metric, pack(INPUTS));
                start.grow(few);
                back.grow(depth);
                (&start.clone(), &back)
            } else {
                back.grow(few);
                (&back, front)
            };
            for bridge in bridges(near, far, few, slack, &mut bound, limit) {
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
                        best.offer(&program);
                        offered += 1;
                    }
                }
                if offered > limit {
                    break;
                }
            }
        }
        least = Some(bound);
    }
    eprintln!("{name}: {least:?} with free complements, {offered} circuits");
    for (profile, found) in best.profiles.iter().zip(&best.found) {
        let Some(((gates, live), circuit)) = found else { continue };
        let label = format!("{profile:?}").to_lowercase();
        eprintln!("{name}: {label} {gates} gates, {live} live");
        println!("# {name}: in-place search, {gates} gates, {live} live");
        println!("{:016x} {label}\n{circuit}\n", 0);
    }
}

/// A detour from a state of the near list to one of the far list, with their levels.
struct Bridge {
    total: usize,
    near: usize,
    middle: State,
    detour: Detour,
    far: usize,
    state: State,
}

/// The bridges of at most `bound + slack` gates in all, where `bound` is the least that was seen.
fn bridges(
    near: &Levels,
    far: &Levels,
    few: usize,
    slack: usize,
    bound: &mut usize,
    limit: usize,
) -> Vec<Bridge> {
    let filter = Filter::new(far);
    let depth = far.levels.len() - 1;
    let mut kept: Vec<Bridge> = Vec::new();
    for (level, states) in near.levels.iter().enumerate().take(few + 1) {
        for &middle in states {
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

/// Whether a permutation is even.
fn parity(table: &Table) -> bool {
    let e = &table.entries;
    let turned = (0..e.len()).map(|i| (0..i).filter(|&j| e[j] > e[i]).count()).sum::<usize>();
    turned % 2 == 0
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, metric, depth, boxes @ ..] = &args[..] else {
        panic!("usage: sbox_search two|lut3 DEPTH NAME:ENTRIES...");
    };
    let metric = if metric == "lut3" { Metric::Lut3 } else { Metric::Two };
    let mut front = Levels::new(metric, pack(INPUTS));
    front.grow(depth.parse().expect("DEPTH is a number"));
    eprintln!("states: {:?}", front.levels.iter().map(Vec::len).collect::<Vec<_>>());
    for item in boxes {
        let (name, digits) = item.split_once(':').expect("NAME:ENTRIES");
        let digit = |c: char| c.to_digit(16).expect("hexadecimal") as u64;
        let entries: Vec<u64> = digits.chars().map(digit).collect();
        assert_eq!(entries.len(), 16, "{name}: sixteen entries");
        search(metric, &front, name, Table { inputs: 4, outputs: 4, entries });
    }
}
