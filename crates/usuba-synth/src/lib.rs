//! Circuit synthesis: small circuits for tables without a known one, within a budget.
//!
//! ```text
//! table ─► the compiler's circuit ─┬─ up to 4 bits: inplace.rs, then exact.rs
//!                                  └─ more:         random steps, then windows.rs
//! ```
//!
//! The compiler itself never searches long; this crate does, once, for `usubac synth`. Work is
//! counted in nodes and not in seconds, so that equal questions have equal answers.
//!
//! * `inplace.rs`, `states.rs`, `detour.rs`, `program.rs`: bidirectional search, for permutations.
//! * `exact.rs`: exact synthesis by a SAT solver, and lower bounds.
//! * `windows.rs`: exact synthesis of windows of a few gates.
//! * `matrix.rs`: XOR programs of linear layers.
//! * `node.rs`: circuits as Usuba.

mod detour;
mod exact;
mod inplace;
pub mod matrix;
mod node;
mod program;
mod states;
#[cfg(test)]
mod tests;
mod windows;

use usuba_circuit::{
    Circuit, Gate, Goal, Origin, Profile, Table, Wire, for_table, for_table_from, inversions,
    polished, restate, simulate,
};

use exact::{Answer, Question};
pub use node::node;

/// Changes whenever the same budget may give another circuit, so that answers are not kept too
/// long.
pub const VERSION: u32 = 2;

/// The nodes that one conflict of the solver costs.
const CONFLICT: u64 = 2_000;

/// Tables with more outputs are not synthesised as a whole.
const EXACT_OUTPUTS: u8 = 8;

/// The nodes that are left to spend.
#[derive(Debug)]
struct Meter {
    left: u64,
}

impl Meter {
    /// Takes `nodes`, or nothing if fewer are left.
    fn spend(&mut self, nodes: u64) -> bool {
        let enough = nodes <= self.left;
        if enough {
            self.left -= nodes;
        }
        enough
    }

    fn left(&self) -> u64 {
        self.left
    }

    /// A meter with one of `parts` of the nodes that are left, which are taken from here.
    fn part(&mut self, parts: u64) -> Meter {
        let left = self.left / parts;
        self.left -= left;
        Meter { left }
    }
}

/// A circuit and how it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub circuit: Circuit,
    /// The method, such as "in-place search".
    pub how: &'static str,
    /// There is no circuit with fewer gates than this, even if complements cost nothing.
    pub least: usize,
}

impl Found {
    /// Takes a circuit if it is smaller, or as small with fewer live wires.
    fn offer(&mut self, circuit: Circuit, profile: Profile, how: &'static str) {
        let rank = |c: &Circuit| (c.cost(profile).expect("gates of the profile"), c.live());
        if rank(&circuit) < rank(&self.circuit) {
            (self.circuit, self.how) = (circuit, how);
        }
    }
}

/// The smallest circuit for a table that `budget` nodes find: states listed, gates visited, and
/// 2000 for each conflict of the solver.
///
/// The table must be well formed. The circuit has been compared with it on all inputs.
pub fn synthesise(table: &Table, profile: Profile, budget: u64) -> Found {
    let mut meter = Meter { left: budget };
    let (circuit, origin) = for_table_from(table, profile, Goal::Size);
    let how = match origin {
        Origin::Known => "database",
        Origin::Inversion => "inversion between affine maps",
        Origin::Polynomials => "polynomials",
    };
    let mut found = Found { circuit, how, least: 0 };
    if table.inputs <= 4 {
        let mut part = meter.part(3);
        if let Some(circuit) = in_place(table, profile, &mut part) {
            found.offer(circuit, profile, "in-place search");
        }
        meter.left += part.left;
    }
    let mut part = meter.part(3);
    random_steps(table, profile, origin, &mut found, &mut part);
    if table.inputs <= 4 && table.outputs <= EXACT_OUTPUTS {
        exactly(table, profile, &mut found, &mut meter);
    } else {
        let circuit = windows::shrink(&found.circuit, profile, &mut meter);
        found.offer(circuit, profile, "windows");
    }
    found.circuit.check(profile).expect("internal error: a circuit is not well formed");
    assert_eq!(simulate(&found.circuit), table.entries, "internal error: a wrong circuit");
    found
}

/// Permutations of three bits have one wire that comes out as it went in.
fn in_place(table: &Table, profile: Profile, meter: &mut Meter) -> Option<Circuit> {
    if table.inputs == 4 {
        return inplace::search(table, profile, meter);
    }
    if (table.inputs, table.outputs) != (3, 3) {
        return None;
    }
    let entries = (0..16).map(|x| table.entries[x as usize / 2] << 1 | x & 1).collect();
    let wide = inplace::search(&Table { inputs: 4, outputs: 4, entries }, profile, meter)?;
    let outputs = wide.outputs[..3].to_vec();
    let narrow = Circuit { outputs, ..wide }.without_dead_gates();
    if narrow.gates.iter().any(|gate| gate.operands().any(|w| w == 3))
        || narrow.outputs.contains(&3)
    {
        return None;
    }
    let down = |w: Wire| if w > 3 { w - 1 } else { w };
    Some(Circuit {
        inputs: 3,
        gates: narrow.gates.iter().map(|gate| gate.map(down)).collect(),
        outputs: narrow.outputs.iter().map(|&w| down(w)).collect(),
    })
}

/// Random steps from several starts; nodes are visits of gates.
fn random_steps(
    table: &Table,
    profile: Profile,
    origin: Origin,
    found: &mut Found,
    meter: &mut Meter,
) {
    // Steps know gates of two inputs; gates of three inputs cover their results.
    let plain = match profile {
        Profile::Lut3 => {
            let rough = for_table(table, Profile::Andn, Goal::Size);
            let steps = meter.part(2).left / rough.gates.len().max(1) as u64;
            polished(&rough, &[Profile::Andn], steps as usize, 1).pop().unwrap_or(rough)
        }
        _ => found.circuit.clone(),
    };
    let mut starts = vec![plain];
    if origin == Origin::Inversion {
        starts.extend(inversions(table, 3, 4, 1));
    }
    let how = match origin {
        Origin::Known => "random steps",
        Origin::Inversion => "inversion between affine maps, random steps",
        Origin::Polynomials => "polynomials, random steps",
    };
    for (seed, start) in starts.iter().enumerate() {
        let share = meter.part((starts.len() - seed) as u64).left;
        // Steps towards three inputs cover the whole circuit each time.
        let price = start.gates.len().max(1) as u64 * if profile == Profile::Lut3 { 20 } else { 1 };
        let steps = (share / price) as usize;
        for circuit in polished(start, &[profile], steps, 1 + seed as u64) {
            found.offer(circuit, profile, how);
        }
    }
}

/// Gates that are no NOT and no constant.
fn paid(circuit: &Circuit) -> usize {
    let free = |gate: &&Gate| !matches!(gate, Gate::Not(_) | Gate::Zero | Gate::One);
    circuit.gates.iter().filter(free).count()
}

/// Searches for one gate less as long as that succeeds, then for a lower bound.
fn exactly(table: &Table, profile: Profile, found: &mut Found, meter: &mut Meter) {
    let question = question(table, if profile == Profile::Lut3 { 3 } else { 2 });
    let mut ask = |gates: usize, share: u64| {
        let conflicts = meter.left() / share / CONFLICT;
        if conflicts == 0 {
            return Answer::Unknown;
        }
        let (answer, spent) = exact::ask(&question, gates, conflicts);
        meter.spend(spent * CONFLICT);
        answer
    };
    let mut fewest = paid(&found.circuit);
    let mut take = |circuit: &Circuit| {
        let circuit = restate(circuit, profile, 20_000).expect("the gates have this arity");
        found.offer(circuit, profile, "SAT");
    };
    let mut least = 0;
    while let Some(gates) = fewest.checked_sub(1) {
        match ask(gates, 2) {
            Answer::Yes(circuit) => {
                fewest = paid(&circuit).min(gates);
                take(&circuit);
            }
            Answer::No => {
                least = fewest;
                break;
            }
            Answer::Unknown => break,
        }
    }
    while least < fewest {
        match ask(least, 1) {
            Answer::Yes(circuit) => {
                take(&circuit);
                break;
            }
            Answer::No => least += 1,
            Answer::Unknown => break,
        }
    }
    found.least = least;
}

fn question(table: &Table, arity: usize) -> Question {
    let rows = table.entries.len();
    let column = |bit: &dyn Fn(usize) -> u64| {
        (0..rows).fold([0; 4], |mut column, row| {
            column[row / 64] |= (bit(row) & 1) << (row % 64);
            column
        })
    };
    let input = |i: u8| column(&|row| row as u64 >> (table.inputs - 1 - i));
    let output = |k: u8| column(&|row| table.entries[row] >> (table.outputs - 1 - k));
    Question {
        rows,
        inputs: (0..table.inputs).map(input).collect(),
        outputs: (0..table.outputs).map(output).collect(),
        arity,
    }
}
