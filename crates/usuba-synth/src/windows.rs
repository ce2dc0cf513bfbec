//! Window-based resynthesis: exact synthesis of a few neighbouring gates with one gate less.
//!
//! ```text
//! a window of 6 gates, with the rows that occur at its inputs  →  exact.rs: do 5 suffice?
//! ```
//! Rows that never occur at the inputs of the window are don't-cares, which allows more than the
//! functions alone. Windows begin at every gate, from the outputs backwards.
//! functions alone would. Windows begin at every gate, from the outputs backwards.

use usuba_circuit::{Circuit, Gate, Profile, Wire, restate};

use crate::exact::{Answer, Question, Rows, ask};
use crate::{CONFLICT, Meter};

/// Gates of a window, with two inputs each and with three.
const GATES: [usize; 2] = [6, 4];
/// Inputs of a window.
const INPUTS: usize = 7;
/// Rows of a window.
const ROWS: usize = 96;
/// Conflicts spent on one window.
const CONFLICTS: u64 = 3_000;

/// A circuit with fewer gates, if windows make any smaller, within the meter.
pub fn shrink(circuit: &Circuit, profile: Profile, meter: &mut Meter) -> Circuit {
    let mut best = circuit.clone();
    let mut start = best.gates.len();
    // The search ends after every window has failed once.
    let mut left = best.gates.len();
    while left > 0 && start > 0 {
        start -= 1;
        left -= 1;
        if let Some(smaller) = window(&best, start, profile, meter) {
            best = smaller;
            left = best.gates.len();
            start = start.min(best.gates.len() - 1) + 1;
        }
        if start == 0 {
            start = best.gates.len();
        }
    }
    best
}

/// The gates of the window that begins at a gate: each next gate is the neighbouring operand or
/// reader that brings the fewest new inputs.
fn gates(circuit: &Circuit, start: usize, size: usize) -> Vec<usize> {
    let inputs = circuit.inputs as usize;
    let mut chosen = vec![start];
    while chosen.len() < size {
        let outside = |w: Wire| {
            let w = w as usize;
            w < inputs || !chosen.contains(&(w - inputs))
        };
        let next = (0..circuit.gates.len())
            .filter(|g| !chosen.contains(g))
            .filter(|&g| {
                let wire = (inputs + g) as Wire;
                circuit.gates[g].operands().any(|w| !outside(w))
                    || chosen.iter().any(|&c| circuit.gates[c].operands().any(|w| w == wire))
            })
            .min_by_key(|&g| {
                let mut more: Vec<Wire> = chosen
                    .iter()
                    .chain([&g])
                    .flat_map(|&c| circuit.gates[c].operands())
                    .filter(|&w| outside(w) && w as usize != inputs + g)
                    .collect();
                more.sort_unstable();
                more.dedup();
                (more.len(), g)
            });
        let Some(next) = next else { break };
        chosen.push(next);
    }
    chosen.sort_unstable();
    chosen
}

/// The circuit with one window made smaller.
fn window(circuit: &Circuit, start: usize, profile: Profile, meter: &mut Meter) -> Option<Circuit> {
    let arity = if profile == Profile::Lut3 { 3 } else { 2 };
    let inputs = circuit.inputs as usize;
    let inside = gates(circuit, start, GATES[arity - 2]);
    let is_inside = |w: Wire| w as usize >= inputs && inside.contains(&(w as usize - inputs));
    let mut reads: Vec<Wire> = inside
        .iter()
        .flat_map(|&g| circuit.gates[g].operands())
        .filter(|&w| !is_inside(w))
        .collect();
    reads.sort_unstable();
    reads.dedup();
    // A path from the window to one of its inputs would become a circle.
    let mut below = vec![false; inputs + circuit.gates.len()];
    for (g, gate) in circuit.gates.iter().enumerate() {
        below[inputs + g] = inside.contains(&g) || gate.operands().any(|w| below[w as usize]);
    }
    if reads.len() > INPUTS || reads.iter().any(|&w| below[w as usize]) {
        return None;
    }
    let outside = (0..circuit.gates.len()).filter(|g| !inside.contains(g));
    let needed: Vec<Wire> =
        outside.flat_map(|g| circuit.gates[g].operands()).chain(circuit.outputs.clone()).collect();
    let writes: Vec<Wire> =
        inside.iter().map(|&g| (inputs + g) as Wire).filter(|wire| needed.contains(wire)).collect();
    let question = question(circuit, &reads, &writes, arity)?;
    // NOTs are free in a window, so it has fewer gates already.
    let gates = inside.iter().filter(|&&g| !matches!(circuit.gates[g], Gate::Not(_))).count();
    let mut best: Option<(usize, Circuit)> = None;
    // Fewer and fewer: which of them needs few NOTs is not known before.
    for count in (0..gates).rev() {
        let conflicts = CONFLICTS.min(meter.left() / CONFLICT);
        if conflicts == 0 {
            break;
        }
        let (answer, spent) = ask(&question, count, conflicts);
        meter.spend(spent * CONFLICT);
        let Answer::Yes(part) = answer else { break };
        let whole = restate(&spliced(circuit, &reads, &writes, &part), profile, 20_000)?;
        let cost = whole.cost(profile)?;
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, whole));
        }
    }
    let (cost, whole) = best?;
    (cost < circuit.cost(profile)?).then_some(whole)
}

/// The table of the window on the rows that occur; `None` if they are too many.
fn question(circuit: &Circuit, reads: &[Wire], writes: &[Wire], arity: usize) -> Option<Question> {
    let watched: Vec<Wire> = reads.iter().chain(writes).copied().collect();
    let watcher = Circuit { outputs: watched, ..circuit.clone() };
    let mut rows = usuba_circuit::simulate(&watcher);
    rows.sort_unstable();
    rows.dedup();
    if rows.len() < 2 || rows.len() > ROWS {
        return None;
    }
    let column = |k: usize| {
        let shift = reads.len() + writes.len() - 1 - k;
        let mut values: Rows = [0; 4];
        for (row, entry) in rows.iter().enumerate() {
            values[row / 64] |= (entry >> shift & 1) << (row % 64);
        }
        values
    };
    Some(Question {
        rows: rows.len(),
        inputs: (0..reads.len()).map(column).collect(),
        outputs: (0..writes.len()).map(|k| column(reads.len() + k)).collect(),
        arity,
    })
}

/// The circuit with the wires `writes` made by `part` from the wires `reads`.
fn spliced(circuit: &Circuit, reads: &[Wire], writes: &[Wire], part: &Circuit) -> Circuit {
    let inputs = circuit.inputs as usize;
    let old = inputs + circuit.gates.len();
    // All gates in one list, not yet in order: the old ones, then the gates of the part.
    let from_part = |w: Wire| match reads.get(w as usize) {
        Some(&read) => read,
        None => (old + w as usize - reads.len()) as Wire,
    };
    let moved = |w: Wire| match writes.iter().position(|&write| write == w) {
        Some(k) => from_part(part.outputs[k]),
        None => w,
    };
    let mut gates: Vec<Gate> = circuit.gates.iter().map(|gate| gate.map(moved)).collect();
    gates.extend(part.gates.iter().map(|gate| gate.map(from_part)));
    let mut wires: Vec<Option<Wire>> = vec![None; inputs + gates.len()];
    (0..inputs).for_each(|i| wires[i] = Some(i as Wire));
    let mut ordered = Vec::new();
    let outputs: Vec<Wire> = circuit.outputs.iter().map(|&w| moved(w)).collect();
    let mut stack: Vec<usize> = outputs.iter().rev().map(|&w| w as usize).collect();
    while let Some(&wire) = stack.last() {
        if wires[wire].is_some() {
            stack.pop();
            continue;
        }
        let gate = &gates[wire - inputs];
        let open: Vec<usize> =
            gate.operands().map(|w| w as usize).filter(|&w| wires[w].is_none()).collect();
        if open.is_empty() {
            let made = |w: Wire| wires[w as usize].expect("operands come first");
            ordered.push(gate.map(made));
            wires[wire] = Some((inputs + ordered.len() - 1) as Wire);
            stack.pop();
        } else {
            stack.extend(open);
        }
    }
    let made = |w: &Wire| wires[*w as usize].expect("outputs have been visited");
    Circuit { inputs: circuit.inputs, gates: ordered, outputs: outputs.iter().map(made).collect() }
}
