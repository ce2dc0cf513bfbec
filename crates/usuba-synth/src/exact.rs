//! Exact synthesis: whether so many gates suffice, asked of a SAT solver.
//!
//! ```text
//! gate i:   one pair (or triple) of earlier wires, one function of them,  a value in each row
//! output h: one gate whose values are those wanted
//! ```
//!
//! Complements are free: all wires are written as 0 in the first row, so gates are functions that
//! take zeros to zero (Kojevnikov, Kulikov, Yaroslavtsev, SAT 2009; Knuth, TAOCP 7.2.2.2, exercise
//! 477). "No" is therefore an answer for circuits with any number of NOTs. Work is counted in
//! conflicts, so that the answer depends on the question alone.

use batsat::clause::Kind;
use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, Var, lbool};
use usuba::circuit::{Circuit, Gate, Wire};

/// Values in up to 256 rows.
pub type Rows = [u64; 4];

/// Which functions are wanted of which.
pub struct Question {
    /// Rows in use.
    pub rows: usize,
    pub inputs: Vec<Rows>,
    pub outputs: Vec<Rows>,
    /// Inputs of a gate: two or three.
    pub arity: usize,
}

/// What is known about a number of gates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// They suffice, for example thus.
    Yes(Circuit),
    /// There is no circuit of so many, even if complements cost nothing.
    No,
    /// The conflicts did not suffice.
    Unknown,
}

/// Stops after a number of conflicts.
struct Clock {
    left: u64,
}

impl Callbacks for Clock {
    fn on_new_clause(&mut self, _: &[Lit], kind: Kind) {
        if kind == Kind::Learnt {
            self.left = self.left.saturating_sub(1);
        }
    }

    fn stop(&self) -> bool {
        self.left == 0
    }
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

struct Encoder {
    solver: Solver<Clock>,
}

impl Encoder {
    fn variable(&mut self) -> Var {
        self.solver.new_var_default()
    }

    fn variables(&mut self, count: usize) -> Vec<Var> {
        (0..count).map(|_| self.variable()).collect()
    }

    fn clause(&mut self, literals: &[(Var, bool)]) {
        let mut clause = literals.iter().map(|&(var, sign)| Lit::new(var, sign)).collect();
        self.solver.add_clause_reuse(&mut clause);
    }

    fn exactly_one(&mut self, vars: &[Var]) {
        self.clause(&vars.iter().map(|&v| (v, true)).collect::<Vec<_>>());
        for (i, &a) in vars.iter().enumerate() {
            for &b in &vars[..i] {
                self.clause(&[(a, false), (b, false)]);
            }
        }
    }
}

/// One gate of the encoding.
struct Step {
    /// The operands, ascending, and the variable that says that they are chosen.
    choices: Vec<(Vec<usize>, Var)>,
    /// Its value on each combination of operands but zeros; the first operand counts one.
    function: Vec<Var>,
    /// Its value in each row but the first.
    values: Vec<Var>,
}

/// Whether `gates` gates suffice, within `conflicts` conflicts; also how many there were.
pub fn ask(question: &Question, gates: usize, conflicts: u64) -> (Answer, u64) {
    let inputs: Vec<Rows> = question.inputs.iter().map(|i| normal(i, question.rows)).collect();
    // Outputs that cost nothing, and equal ones, are none.
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
    let solver = Solver::new(SolverOpts::default(), Clock { left: conflicts.max(1) });
    let mut encoder = Encoder { solver };
    let steps = encode(&mut encoder, question, &inputs, gates);
    let places = outputs(&mut encoder, &wanted, &steps, question.rows);
    used(&mut encoder, &steps, &places, inputs.len());
    order(&mut encoder, &steps, inputs.len());
    let result = encoder.solver.solve_limited(&[]);
    let spent = conflicts.max(1) - encoder.solver.cb().left;
    if result == lbool::FALSE {
        return (Answer::No, spent);
    }
    if result != lbool::TRUE {
        return (Answer::Unknown, spent);
    }
    let holds = |var: Var| encoder.solver.value_var(var) == lbool::TRUE;
    let decoded: Vec<(Vec<usize>, u8)> = steps
        .iter()
        .map(|step| {
            let chosen = step.choices.iter().find(|(_, var)| holds(*var));
            let bits = step.function.iter().enumerate();
            let table = bits.fold(0, |table, (p, var)| table | (holds(*var) as u8) << (p + 1));
            (chosen.expect("one choice holds in every model").0.clone(), table)
        })
        .collect();
    (Answer::Yes(circuit(question, &inputs, &decoded)), spent)
}

fn encode(encoder: &mut Encoder, question: &Question, inputs: &[Rows], gates: usize) -> Vec<Step> {
    let arity = question.arity;
    let mut steps: Vec<Step> = Vec::new();
    for gate in 0..gates {
        let choices: Vec<(Vec<usize>, Var)> = choices(inputs.len() + gate, arity)
            .into_iter()
            .map(|choice| (choice, encoder.variable()))
            .collect();
        let step = Step {
            choices,
            function: encoder.variables((1 << arity) - 1),
            values: encoder.variables(question.rows - 1),
        };
        encoder.exactly_one(&step.choices.iter().map(|(_, var)| *var).collect::<Vec<_>>());
        if arity == 2 {
            // Neither an operand (which is 1 with it and 3) nor zero.
            let [x, y, both] = [step.function[0], step.function[1], step.function[2]];
            encoder.clause(&[(x, true), (y, true), (both, true)]);
            encoder.clause(&[(x, false), (y, true), (both, false)]);
            encoder.clause(&[(x, true), (y, false), (both, false)]);
        }
        for (choice, chosen) in &step.choices {
            for row in 1..question.rows {
                for pattern in 0..1usize << arity {
                    values(encoder, (choice, *chosen), &step, row, pattern, inputs, &steps);
                }
            }
        }
        steps.push(step);
    }
    steps
}

/// If these operands are chosen and have these values in this row, the value is that of the
/// function.
fn values(
    encoder: &mut Encoder,
    (choice, chosen): (&[usize], Var),
    step: &Step,
    row: usize,
    pattern: usize,
    inputs: &[Rows],
    before: &[Step],
) {
    let mut clause = vec![(chosen, false)];
    for (k, &wire) in choice.iter().enumerate() {
        let want = pattern >> k & 1 == 1;
        match inputs.get(wire) {
            Some(input) if bit(input, row) != want => return,
            Some(_) => {}
            None => clause.push((before[wire - inputs.len()].values[row - 1], !want)),
        }
    }
    let value = step.values[row - 1];
    if pattern == 0 {
        clause.push((value, false));
        return encoder.clause(&clause);
    }
    let function = step.function[pattern - 1];
    clause.extend([(value, true), (function, false)]);
    encoder.clause(&clause);
    let at = clause.len() - 2;
    clause[at] = (value, false);
    clause[at + 1] = (function, true);
    encoder.clause(&clause);
}

/// Each output is a gate; the variables say which.
fn outputs(encoder: &mut Encoder, wanted: &[Rows], steps: &[Step], rows: usize) -> Vec<Vec<Var>> {
    let mut places = Vec::new();
    for output in wanted {
        let place = encoder.variables(steps.len());
        encoder.clause(&place.iter().map(|&v| (v, true)).collect::<Vec<_>>());
        for (step, &here) in steps.iter().zip(&place) {
            for row in 1..rows {
                encoder.clause(&[(here, false), (step.values[row - 1], bit(output, row))]);
            }
        }
        places.push(place);
    }
    places
}

/// Every gate is an output or an operand.
fn used(encoder: &mut Encoder, steps: &[Step], places: &[Vec<Var>], inputs: usize) {
    for i in 0..steps.len() {
        let wire = inputs + i;
        let mut clause: Vec<(Var, bool)> = places.iter().map(|place| (place[i], true)).collect();
        for later in &steps[i + 1..] {
            let reads = later.choices.iter().filter(|(choice, _)| choice.contains(&wire));
            clause.extend(reads.map(|(_, var)| (*var, true)));
        }
        encoder.clause(&clause);
    }
}

/// Gates that do not depend on each other stand in the order of their operands, last ones first.
fn order(encoder: &mut Encoder, steps: &[Step], inputs: usize) {
    for (i, pair) in steps.windows(2).enumerate() {
        for (first, var) in &pair[0].choices {
            let late = |(second, _): &&(Vec<usize>, Var)| {
                !second.contains(&(inputs + i)) && second.iter().rev().lt(first.iter().rev())
            };
            for (_, other) in pair[1].choices.iter().filter(late) {
                encoder.clause(&[(*var, false), (*other, false)]);
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
