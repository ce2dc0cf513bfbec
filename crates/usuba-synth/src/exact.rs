//! Exact synthesis: a SAT solver decides whether a number of gates suffices.
//!
//! ```text
//! gate i:   one pair (or triple) of earlier wires, one function of them,  a value in each row
//! output h: one gate with the wanted values
//! ```
//!
//! Complements are free: all wires are written as 0 in the first row, so gates are functions that
//! take zeros to zero. "No" therefore covers circuits with any number of NOTs.
//!
//! *Soundness:* "no" counts once `usuba_sat` has replayed the proof of the solver; the encoding is
//! trusted. Work is counted in conflicts, so that the answer depends on the table alone.
//!
//! *Reference:* Kojevnikov, Kulikov, Yaroslavtsev, SAT 2009; Knuth, TAOCP 7.2.2.2, exercise 477.

use usuba_circuit::{Circuit, Gate, Wire};
use usuba_sat::{Formula, Lit};

/// Values in up to 256 rows.
pub type Rows = [u64; 4];

/// The wanted functions, and their inputs.
pub struct Question {
    /// Rows in use.
    pub rows: usize,
    pub inputs: Vec<Rows>,
    pub outputs: Vec<Rows>,
    /// Inputs of a gate: two or three.
    pub arity: usize,
}

/// The answer about a number of gates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// They suffice, for example in this circuit.
    Yes(Circuit),
    /// There is no circuit with this number of gates, even with free complements: the encoding
    /// shows it, or the proof of the solver has been replayed.
    No,
    /// The conflicts did not suffice.
    Unknown,
}

fn bit(rows: &Rows, row: usize) -> bool {
    rows[row / 64] >> (row % 64) & 1 == 1
}

/// The same values, or all of them complemented, such that the first is 0.
fn normal(rows: &Rows, count: usize) -> Rows {
    let flip = if bit(rows, 0) { u64::MAX } else { 0 };
    std::array::from_fn(|i| {
        let mask = match count.saturating_sub(64 * i) {
            0 => 0,
            64.. => u64::MAX,
            some => (1 << some) - 1,
        };
        (rows[i] ^ flip) & mask
    })
}

/// All ways to choose `arity` of `wires`, ascending.
fn choices(wires: usize, arity: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..arity {
        let longer = |choice: Vec<usize>| {
            let first = choice.last().map_or(0, |last| last + 1);
            (first..wires).map(move |wire| [&choice[..], &[wire]].concat()).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

fn variables(formula: &mut Formula, count: usize) -> Vec<Lit> {
    (0..count).map(|_| formula.variable()).collect()
}

fn exactly_one(formula: &mut Formula, literals: &[Lit]) {
    formula.clause(literals);
    for (i, &a) in literals.iter().enumerate() {
        for &b in &literals[..i] {
            formula.clause(&[!a, !b]);
        }
    }
}

/// One gate of the encoding.
struct Step {
    /// The operands, ascending, and the variable that says that they are chosen.
    choices: Vec<(Vec<usize>, Lit)>,
    /// Its value on each combination of operands but zeros; the first operand counts one.
    function: Vec<Lit>,
    /// Its value in each row but the first.
    values: Vec<Lit>,
}

/// Whether `gates` gates suffice, within `conflicts` conflicts; also the number of conflicts.
pub fn ask(question: &Question, gates: usize, conflicts: u64) -> (Answer, u64) {
    let inputs: Vec<Rows> = question.inputs.iter().map(|i| normal(i, question.rows)).collect();
    // Outputs that cost nothing, and equal outputs, are left out.
    let mut wanted: Vec<Rows> = question.outputs.iter().map(|o| normal(o, question.rows)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.retain(|o| *o != [0; 4] && !inputs.contains(o));
    if wanted.len() > gates {
        return (Answer::No, 0);
    }
    if wanted.is_empty() {
        return (Answer::Yes(circuit(question, &inputs, &[])), 0);
    }
    let mut formula = Formula::new();
    let steps = encode(&mut formula, question, &inputs, gates);
    let places = outputs(&mut formula, &wanted, &steps, question.rows);
    used(&mut formula, &steps, &places, inputs.len());
    order(&mut formula, &steps, inputs.len());
    let (answer, spent) = usuba_sat::solve_counted(&formula, conflicts);
    let model = match answer {
        usuba_sat::Answer::Refuted(model) => model,
        usuba_sat::Answer::Proved(_) => return (Answer::No, spent),
        usuba_sat::Answer::Unknown(_) => return (Answer::Unknown, spent),
    };
    let decoded: Vec<(Vec<usize>, u8)> = steps
        .iter()
        .map(|step| {
            let chosen = step.choices.iter().find(|(_, chosen)| model.holds(*chosen));
            let bits = step.function.iter().enumerate();
            let table =
                bits.fold(0, |table, (p, var)| table | (model.holds(*var) as u8) << (p + 1));
            (chosen.expect("one choice holds in every model").0.clone(), table)
        })
        .collect();
    (Answer::Yes(circuit(question, &inputs, &decoded)), spent)
}

fn encode(formula: &mut Formula, question: &Question, inputs: &[Rows], gates: usize) -> Vec<Step> {
    let arity = question.arity;
    let mut steps: Vec<Step> = Vec::new();
    for gate in 0..gates {
        let choices: Vec<(Vec<usize>, Lit)> = choices(inputs.len() + gate, arity)
            .into_iter()
            .map(|choice| (choice, formula.variable()))
            .collect();
        let step = Step {
            choices,
            function: variables(formula, (1 << arity) - 1),
            values: variables(formula, question.rows - 1),
        };
        exactly_one(formula, &step.choices.iter().map(|(_, var)| *var).collect::<Vec<_>>());
        if arity == 2 {
            // Neither an operand (which is 1 with it and 3) nor zero.
            let [x, y, both] = [step.function[0], step.function[1], step.function[2]];
            formula.clause(&[x, y, both]);
            formula.clause(&[!x, y, !both]);
            formula.clause(&[x, !y, !both]);
        }
        for (choice, chosen) in &step.choices {
            for row in 1..question.rows {
                for pattern in 0..1usize << arity {
                    values(formula, (choice, *chosen), &step, row, pattern, inputs, &steps);
                }
            }
        }
        steps.push(step);
    }
    steps
}

/// If these operands are chosen and have these values in this row, the value is the value of the
/// function.
fn values(
    formula: &mut Formula,
    (choice, chosen): (&[usize], Lit),
    step: &Step,
    row: usize,
    pattern: usize,
    inputs: &[Rows],
    before: &[Step],
) {
    let mut clause = vec![!chosen];
    for (k, &wire) in choice.iter().enumerate() {
        let want = pattern >> k & 1 == 1;
        match inputs.get(wire) {
            Some(input) if bit(input, row) != want => return,
            Some(_) => {}
            None => clause.push(before[wire - inputs.len()].values[row - 1].flipped(want)),
        }
    }
    let value = step.values[row - 1];
    if pattern == 0 {
        clause.push(!value);
        return formula.clause(&clause);
    }
    let function = step.function[pattern - 1];
    for (value, function) in [(value, !function), (!value, function)] {
        clause.extend([value, function]);
        formula.clause(&clause);
        clause.truncate(clause.len() - 2);
    }
}

/// Each output is a gate; the variables say which.
fn outputs(formula: &mut Formula, wanted: &[Rows], steps: &[Step], rows: usize) -> Vec<Vec<Lit>> {
    let mut places = Vec::new();
    for output in wanted {
        let place = variables(formula, steps.len());
        formula.clause(&place);
        for (step, &here) in steps.iter().zip(&place) {
            for row in 1..rows {
                formula.clause(&[!here, step.values[row - 1].flipped(!bit(output, row))]);
            }
        }
        places.push(place);
    }
    places
}

/// Every gate is an output or an operand.
fn used(formula: &mut Formula, steps: &[Step], places: &[Vec<Lit>], inputs: usize) {
    for i in 0..steps.len() {
        let wire = inputs + i;
        let mut clause: Vec<Lit> = places.iter().map(|place| place[i]).collect();
        for later in &steps[i + 1..] {
            let reads = later.choices.iter().filter(|(choice, _)| choice.contains(&wire));
            clause.extend(reads.map(|(_, chosen)| *chosen));
        }
        formula.clause(&clause);
    }
}

/// Gates that do not depend on each other stand in the order of their operands, last ones first.
fn order(formula: &mut Formula, steps: &[Step], inputs: usize) {
    for (i, pair) in steps.windows(2).enumerate() {
        for (first, var) in &pair[0].choices {
            let late = |(second, _): &&(Vec<usize>, Lit)| {
                !second.contains(&(inputs + i)) && second.iter().rev().lt(first.iter().rev())
            };
            for (_, other) in pair[1].choices.iter().filter(late) {
                formula.clause(&[!*var, !*other]);
            }
        }
    }
}

/// The gates as a circuit of the true functions.
fn circuit(question: &Question, inputs: &[Rows], steps: &[(Vec<usize>, u8)]) -> Circuit {
    let mut gates = Vec::new();
    let mut wires: Vec<Wire> = Vec::new();
    let mut rows: Vec<Rows> = inputs.to_vec();
    let add = |gates: &mut Vec<Gate>, gate: Gate| {
        gates.push(gate);
        (inputs.len() + gates.len() - 1) as Wire
    };
    for (i, input) in question.inputs.iter().enumerate() {
        let complemented = bit(input, 0);
        wires.push(if complemented { add(&mut gates, Gate::Not(i as Wire)) } else { i as Wire });
    }
    for (operands, table) in steps {
        let w = |k: usize| wires[operands[k]];
        let gate = match (operands.len(), table) {
            (2, 0b1000) => Gate::And(w(0), w(1)),
            (2, 0b1110) => Gate::Or(w(0), w(1)),
            (2, 0b0110) => Gate::Xor(w(0), w(1)),
            (2, 0b0010) => Gate::Andn(w(1), w(0)),
            (2, _) => Gate::Andn(w(0), w(1)),
            _ => {
                // The first operand counts one here, and four in a gate.
                let turned = |p: u8| p >> 2 & 1 | p & 2 | p << 2 & 4;
                let table = (0..8).fold(0, |sum, p| sum | (table >> p & 1) << turned(p));
                Gate::Lut3(table, w(0), w(1), w(2))
            }
        };
        let value = |row: usize| {
            let pattern = operands
                .iter()
                .enumerate()
                .fold(0, |sum, (k, &wire)| sum | (bit(&rows[wire], row) as u8) << k);
            table >> pattern & 1 == 1
        };
        let mut made = [0; 4];
        (0..question.rows)
            .filter(|&row| value(row))
            .for_each(|row| made[row / 64] |= 1 << (row % 64));
        rows.push(made);
        let wire = add(&mut gates, gate);
        wires.push(wire);
    }
    let mut outputs = Vec::new();
    for output in &question.outputs {
        let plain = normal(output, question.rows);
        let wire = match rows.iter().position(|row| *row == plain) {
            Some(at) => wires[at],
            None => add(&mut gates, Gate::Zero),
        };
        let complemented = bit(output, 0);
        outputs.push(if complemented { add(&mut gates, Gate::Not(wire)) } else { wire });
    }
    Circuit { inputs: inputs.len() as u8, gates, outputs }.without_dead_gates()
}
