//! XOR programs for linear layers: Paar's greedy method, then simulated annealing.
//!
//! ```text
//! 110         y0 = a ^ b
//! 111    →    y1 = y0 ^ c
//! 011         y2 = b ^ c
//! ```
//!
//! Paar's method begins: the pair of terms that occurs in most XORs gets a name. Then one XOR at a
//! time is rewritten, as two others that cancel to it or with a new one in between; unused XORs are
//! removed. A step that costs an XOR more is kept with a falling probability (simulated annealing).
//! Terms may cancel, which Paar's method alone never finds. If a gate has three inputs, XORs may
//! have three.
//!
//! *Reference:* Paar 1997, Optimized arithmetic for Reed-Solomon encoders.

use rustc_hash::{FxHashMap, FxHashSet};
use usuba_circuit::{Circuit, Gate, Wire};

/// The table of a sum of three terms.
const XOR3: u8 = 0x96;

/// Inputs and outputs of a matrix, at most.
pub const MOST: usize = 128;

/// A matrix of bits: one row for each output, bit `j` of a row for input `j`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix {
    pub inputs: usize,
    pub rows: Vec<u128>,
}

impl Matrix {
    /// Reads rows of `0` and `1`, one per line, the first column being input 0. Other white space,
    /// empty lines and text after `#` are ignored.
    pub fn parse(text: &str) -> Result<Matrix, String> {
        let mut matrix = Matrix { inputs: 0, rows: Vec::new() };
        for (number, line) in text.lines().enumerate() {
            let digits: Vec<char> = line
                .split('#')
                .next()
                .unwrap_or("")
                .chars()
                .filter(|c| !c.is_whitespace())
                .collect();
            if digits.is_empty() {
                continue;
            }
            let line = number + 1;
            if let Some(odd) = digits.iter().find(|&&c| c != '0' && c != '1') {
                return Err(format!("line {line} has `{odd}`; a row is written with 0 and 1"));
            }
            if !matrix.rows.is_empty() && digits.len() != matrix.inputs {
                let (now, then) = (digits.len(), matrix.inputs);
                return Err(format!("line {line} has {now} columns, the rows before have {then}"));
            }
            if digits.len() > MOST || matrix.rows.len() == MOST {
                return Err(format!("the matrix is larger than {MOST} x {MOST}"));
            }
            matrix.inputs = digits.len();
            let bit = |sum: u128, (j, &c): (usize, &char)| sum | ((c == '1') as u128) << j;
            matrix.rows.push(digits.iter().enumerate().fold(0, bit));
        }
        if matrix.rows.is_empty() { Err("the matrix has no rows".into()) } else { Ok(matrix) }
    }

    /// The matrix that a circuit of xors computes; `None` if it has other gates than sums
    /// and zeros.
    pub fn of(circuit: &Circuit) -> Option<Matrix> {
        let inputs = circuit.inputs as usize;
        let mut values: Vec<u128> = (0..inputs).map(|j| 1 << j).collect();
        for gate in &circuit.gates {
            values.push(match *gate {
                Gate::Zero => 0,
                Gate::Xor(a, b) => values[a as usize] ^ values[b as usize],
                Gate::Lut3(XOR3, a, b, c) => {
                    values[a as usize] ^ values[b as usize] ^ values[c as usize]
                }
                _ => return None,
            });
        }
        let rows = circuit.outputs.iter().map(|&w| values[w as usize]).collect();
        Some(Matrix { inputs, rows })
    }

    /// Xors if every row is added up on its own.
    pub fn naive(&self) -> usize {
        self.rows.iter().map(|row| (row.count_ones() as usize).saturating_sub(1)).sum()
    }
}

/// Random numbers from a fixed start: xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }
}

/// The fewest sums of two terms (`arity` 2) or of two or three (3) that `budget` nodes find, a node
/// being a visit of a sum; equal arguments give equal circuits. It has been compared with the
/// matrix.
pub fn synthesise(matrix: &Matrix, arity: usize, budget: u64, seed: u64) -> Circuit {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut left = budget;
    let mut best: Option<Sums> = None;
    // Each start gets a share; there is always one.
    let starts = (budget / 100_000_000).clamp(1, 8);
    for start in 0..starts {
        let sums = Sums::paar(matrix, &mut random);
        let share = left / (starts - start);
        left -= share;
        // A program of few xors is a good start for sums of three.
        let early = if arity == 3 { share / 3 } else { 0 };
        let sums = sums.annealed(2, early, &mut random).annealed(arity, share - early, &mut random);
        if best.as_ref().is_none_or(|best| sums.terms.len() < best.terms.len()) {
            best = Some(sums);
        }
    }
    let circuit = best.expect("there is always one start").circuit();
    assert_eq!(Matrix::of(&circuit).as_ref(), Some(matrix), "internal error: another matrix");
    circuit
}

/// Earlier values that are added up: two, or three.
type Terms = [Option<usize>; 3];

/// Sums in order: value `j` is input `j`, then one for each list of earlier values.
#[derive(Clone)]
struct Sums {
    inputs: usize,
    terms: Vec<Terms>,
    values: Vec<u128>,
    rows: Vec<u128>,
}

impl Sums {
    fn push(&mut self, terms: Terms) -> usize {
        self.terms.push(terms);
        self.values.push(terms.iter().flatten().fold(0, |sum, &t| sum ^ self.values[t]));
        self.values.len() - 1
    }

    /// Paar's method, ties broken at random.
    fn paar(matrix: &Matrix, random: &mut Random) -> Sums {
        let values = (0..matrix.inputs).map(|j| 1 << j).collect();
        let rows = matrix.rows.clone();
        let mut sums = Sums { inputs: matrix.inputs, terms: Vec::new(), values, rows };
        // For each term, the rows that have it.
        let mut columns: Vec<u128> = (0..matrix.inputs)
            .map(|j| {
                let rows = matrix.rows.iter().enumerate();
                rows.fold(0, |column, (i, row)| column | (row >> j & 1) << i)
            })
            .collect();
        loop {
            let (mut most, mut ties, mut pick) = (0, 0, (0, 0));
            for b in 0..columns.len() {
                for a in 0..b {
                    let count = (columns[a] & columns[b]).count_ones();
                    if count > most {
                        (most, ties) = (count, 0);
                    }
                    if count == most && most > 0 {
                        ties += 1;
                        if random.below(ties) == 0 {
                            pick = (a, b);
                        }
                    }
                }
            }
            if most == 0 {
                return sums.tidied();
            }
            let (a, b) = pick;
            let both = columns[a] & columns[b];
            columns[a] &= !both;
            columns[b] &= !both;
            columns.push(both);
            sums.push([Some(a), Some(b), None]);
        }
    }

    /// The sums that lead to a row, in order, each value once.
    fn tidied(&self) -> Sums {
        let mut tidy = Sums {
            inputs: self.inputs,
            terms: Vec::new(),
            values: self.values[..self.inputs].to_vec(),
            rows: self.rows.clone(),
        };
        let mut known: FxHashMap<u128, usize> =
            tidy.values.iter().enumerate().map(|(j, &value)| (value, j)).collect();
        let index: FxHashMap<u128, usize> =
            self.values.iter().enumerate().rev().map(|(i, &value)| (value, i)).collect();
        let mut stack: Vec<usize> =
            self.rows.iter().rev().filter(|&&row| row != 0).map(|row| index[row]).collect();
        while let Some(&i) = stack.last() {
            if known.contains_key(&self.values[i]) {
                stack.pop();
                continue;
            }
            let terms = self.terms[i - self.inputs];
            let open = terms.iter().flatten().find(|&&t| !known.contains_key(&self.values[t]));
            match open {
                Some(&open) => stack.push(open),
                None => {
                    let made = tidy.push(terms.map(|t| Some(known[&self.values[t?]])));
                    known.insert(self.values[i], made);
                    stack.pop();
                }
            }
        }
        let used = tidy.used();
        if used.iter().skip(self.inputs).all(|&used| used) { tidy } else { tidy.tidied() }
    }

    fn used(&self) -> Vec<bool> {
        let wanted: FxHashSet<u128> = self.rows.iter().copied().collect();
        let mut used: Vec<bool> = self.values.iter().map(|value| wanted.contains(value)).collect();
        for i in (self.inputs..self.values.len()).rev() {
            if used[i] {
                self.terms[i - self.inputs].iter().flatten().for_each(|&t| used[t] = true);
            }
        }
        used
    }

    /// One sum written differently; `None` if chance picks a way that does not exist.
    fn changed(&self, arity: usize, random: &mut Random) -> Option<Sums> {
        let target = self.inputs + random.below(self.terms.len());
        let mut above = vec![false; self.values.len()];
        above[target] = true;
        for i in target + 1..self.values.len() {
            above[i] = self.terms[i - self.inputs].iter().flatten().any(|&t| above[t]);
        }
        let free: Vec<usize> = (0..self.values.len()).filter(|&i| !above[i]).collect();
        let goal = self.values[target];
        let mut next = self.clone();
        let place = |next: &mut Sums, terms| next.terms[target - self.inputs] = terms;
        match random.below(if arity == 3 { 5 } else { 2 }) {
            0 => {
                let (a, b) = self.pair(goal, &free, random)?;
                place(&mut next, [Some(a), Some(b), None]);
            }
            1 => {
                let c = free[random.below(free.len())];
                let (a, b) = self.pair(goal ^ self.values[c], &free, random)?;
                let (a, b) = if random.below(2) == 0 { (a, b) } else { (b, a) };
                let made = next.push([Some(a), Some(c), None]);
                place(&mut next, [Some(made), Some(b), None]);
            }
            2 | 3 => {
                let c = free[random.below(free.len())];
                let (a, b) = self.pair(goal ^ self.values[c], &free, random)?;
                place(&mut next, [Some(a), Some(b), Some(c)]);
            }
            _ => {
                let (c, d) = (free[random.below(free.len())], free[random.below(free.len())]);
                let rest = goal ^ self.values[c] ^ self.values[d];
                let (a, b) = self.pair(rest, &free, random)?;
                if c == d || [a, b].iter().any(|x| [c, d].contains(x)) {
                    return None;
                }
                // Three of the four make a new sum, or two of them do.
                let third = if random.below(2) == 0 { Some(d) } else { None };
                let made = next.push([Some(a), Some(c), third]);
                let left = if third.is_some() { None } else { Some(d) };
                place(&mut next, [Some(made), Some(b), left]);
            }
        }
        Some(next.tidied())
    }

    /// Two different values whose sum is `goal`.
    fn pair(&self, goal: u128, free: &[usize], random: &mut Random) -> Option<(usize, usize)> {
        let known: FxHashMap<u128, usize> = free.iter().map(|&i| (self.values[i], i)).collect();
        let mut pick = None;
        let mut ties = 0;
        for &a in free {
            let Some(&b) = known.get(&(goal ^ self.values[a])) else { continue };
            if a < b {
                ties += 1;
                if random.below(ties) == 0 {
                    pick = Some((a, b));
                }
            }
        }
        pick
    }

    /// The best after random steps for `budget` visits of sums.
    fn annealed(self, arity: usize, budget: u64, random: &mut Random) -> Sums {
        let mut best = self.clone();
        let mut now = self;
        let mut spent = 0;
        let period = (budget / 4).max(1);
        while spent < budget && !now.terms.is_empty() {
            spent += now.terms.len() as u64;
            let Some(next) = now.changed(arity, random) else { continue };
            let (old, new) = (now.terms.len(), next.terms.len());
            // Three in two hundred at first, none in the end, four times.
            let heat = (period - spent.min(budget - 1) % period) as f64 / period as f64;
            if new > old + 1 || new == old + 1 && random.below(10_000) >= (150.0 * heat) as usize {
                continue;
            }
            now = next;
            if now.terms.len() < best.terms.len() {
                best = now.clone();
            }
        }
        best
    }

    fn circuit(&self) -> Circuit {
        let wire = |t: usize| t as Wire;
        let mut gates: Vec<Gate> = self
            .terms
            .iter()
            .map(|terms| match *terms {
                [Some(a), Some(b), Some(c)] => Gate::Lut3(XOR3, wire(a), wire(b), wire(c)),
                [Some(a), Some(b), None] => Gate::Xor(wire(a), wire(b)),
                _ => unreachable!("a sum has two terms or three, the first ones first"),
            })
            .collect();
        let mut outputs = Vec::new();
        for row in &self.rows {
            let place = match self.values.iter().position(|value| value == row) {
                Some(place) => place,
                None => {
                    if !gates.contains(&Gate::Zero) {
                        gates.push(Gate::Zero);
                    }
                    self.inputs + self.terms.len()
                }
            };
            outputs.push(wire(place));
        }
        Circuit { inputs: self.inputs as u8, gates, outputs }
    }
}
