//! Programs of xors for a matrix: sums of the same inputs, computed with few xors.
//!
//! ```text
//! 110         y0 = a ^ b
//! 111    →    y1 = y0 ^ c
//! 011         y2 = b ^ c
//! ```
//!
//! Paar's method begins: the pair of terms that occurs in most sums gets a name. Then one sum at a
//! time is written differently, by two others that add up to it or by a new one in between; what
//! nobody needs any more goes away. A step that costs a xor more is kept with a probability that
//! falls (simulated annealing). Terms may cancel, which Paar's method alone never sees.

use rustc_hash::{FxHashMap, FxHashSet};
use usuba::circuit::{Circuit, Gate, Wire};

/// Inputs and outputs of a matrix, at most.
pub const MOST: usize = 128;

/// A matrix of bits: one row for each output, bit `j` of a row for input `j`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix {
    pub inputs: usize,
    pub rows: Vec<u128>,
}

impl Matrix {
    /// Reads rows of `0` and `1`, one a line, the first column being input 0. Other white space,
    /// empty lines and what follows `#` do not count.
    pub fn parse(text: &str) -> Result<Matrix, String> {
        let mut matrix = Matrix { inputs: 0, rows: Vec::new() };
        for (number, line) in text.lines().enumerate() {
            let digits: Vec<char> =
                line.split('#').next().unwrap_or("").chars().filter(|c| !c.is_whitespace()).collect();
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

    /// The matrix that a circuit of xors computes; `None` if it has other gates than xors and
    /// zeros.
    pub fn of(circuit: &Circuit) -> Option<Matrix> {
        let inputs = circuit.inputs as usize;
        let mut values: Vec<u128> = (0..inputs).map(|j| 1 << j).collect();
        for gate in &circuit.gates {
            values.push(match *gate {
                Gate::Zero => 0,
                Gate::Xor(a, b) => values[a as usize] ^ values[b as usize],
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

/// The fewest xors that `budget` nodes find, a node being a visit of a sum; equal arguments give
/// equal circuits. It has been compared with the matrix.
pub fn synthesise(matrix: &Matrix, budget: u64, seed: u64) -> Circuit {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut left = budget;
    let mut best: Option<Sums> = None;
    // Each start gets a share; there is always one.
    let starts = (budget / 40_000_000).clamp(1, 8);
    for start in 0..starts {
        let mut sums = Sums::paar(matrix, &mut random);
        let share = left / (starts - start);
        left -= share;
        sums = sums.annealed(share, &mut random);
        if best.as_ref().is_none_or(|best| sums.pairs.len() < best.pairs.len()) {
            best = Some(sums);
        }
    }
    let circuit = best.expect("there is always one start").circuit();
    assert_eq!(Matrix::of(&circuit).as_ref(), Some(matrix), "internal error: another matrix");
    circuit
}

/// Sums in order: value `j` is input `j`, then one for each pair of earlier values.
#[derive(Clone)]
struct Sums {
    inputs: usize,
    pairs: Vec<(usize, usize)>,
    values: Vec<u128>,
    rows: Vec<u128>,
}

impl Sums {
    fn new(matrix: &Matrix) -> Sums {
        Sums {
            inputs: matrix.inputs,
            pairs: Vec::new(),
            values: (0..matrix.inputs).map(|j| 1 << j).collect(),
            rows: matrix.rows.clone(),
        }
    }

    fn push(&mut self, a: usize, b: usize) -> usize {
        self.pairs.push((a, b));
        self.values.push(self.values[a] ^ self.values[b]);
        self.values.len() - 1
    }

    /// Paar's method, ties broken at random.
    fn paar(matrix: &Matrix, random: &mut Random) -> Sums {
        let mut sums = Sums::new(matrix);
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
            sums.push(a, b);
        }
    }

    /// The sums that lead to a row, in order, each value once.
    fn tidied(&self) -> Sums {
        let mut tidy = Sums { pairs: Vec::new(), values: self.values[..self.inputs].to_vec(), ..self.clone() };
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
            let (a, b) = self.pairs[i - self.inputs];
            match (known.get(&self.values[a]), known.get(&self.values[b])) {
                (Some(&a), Some(&b)) => {
                    let made = tidy.push(a, b);
                    known.insert(self.values[i], made);
                    stack.pop();
                }
                (x, _) => stack.push(if x.is_none() { a } else { b }),
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
                let (a, b) = self.pairs[i - self.inputs];
                used[a] = true;
                used[b] = true;
            }
        }
        used
    }

    /// One sum written differently; `None` if there is no such way.
    fn changed(&self, random: &mut Random) -> Option<Sums> {
        let target = self.inputs + random.below(self.pairs.len());
        let mut above = vec![false; self.values.len()];
        above[target] = true;
        for i in target + 1..self.values.len() {
            let (a, b) = self.pairs[i - self.inputs];
            above[i] = above[a] || above[b];
        }
        let free: FxHashMap<u128, usize> = (0..self.values.len())
            .filter(|&i| !above[i])
            .map(|i| (self.values[i], i))
            .collect();
        let goal = self.values[target];
        // A pair that adds up to a value; any but the one in use.
        let ways = |goal: u128, random: &mut Random| {
            let mut pick = None;
            let mut ties = 0;
            for a in (0..self.values.len()).filter(|&a| !above[a]) {
                let Some(&b) = free.get(&(goal ^ self.values[a])) else { continue };
                if a < b {
                    ties += 1;
                    if random.below(ties) == 0 {
                        pick = Some((a, b));
                    }
                }
            }
            pick
        };
        let mut next = self.clone();
        if random.below(2) == 0 {
            next.pairs[target - self.inputs] = ways(goal, random)?;
        } else {
            let c = random.below(self.values.len());
            if above[c] {
                return None;
            }
            let (a, b) = ways(goal ^ self.values[c], random)?;
            let (a, b) = if random.below(2) == 0 { (a, b) } else { (b, a) };
            let made = next.push(a, c);
            next.pairs[target - self.inputs] = (made, b);
        }
        Some(next.tidied())
    }

    /// The best after random steps for `budget` visits of sums.
    fn annealed(self, budget: u64, random: &mut Random) -> Sums {
        if self.pairs.is_empty() {
            return self;
        }
        let mut best = self.clone();
        let mut now = self;
        let mut spent = 0;
        let period = (budget / 4).max(1);
        while spent < budget {
            spent += now.pairs.len() as u64;
            let Some(next) = now.changed(random) else { continue };
            let (old, new) = (now.pairs.len(), next.pairs.len());
            // One in a hundred at first, none in the end, four times.
            let heat = (period - spent.min(budget - 1) % period) as f64 / period as f64;
            if new > old + 1 || new == old + 1 && random.below(10_000) >= (150.0 * heat) as usize {
                continue;
            }
            now = next;
            if now.pairs.len() < best.pairs.len() {
                best = now.clone();
            }
        }
        best
    }

    fn circuit(&self) -> Circuit {
        let mut gates: Vec<Gate> =
            self.pairs.iter().map(|&(a, b)| Gate::Xor(a as Wire, b as Wire)).collect();
        let mut outputs = Vec::new();
        for row in &self.rows {
            let place = match self.values.iter().position(|value| value == row) {
                Some(place) => place,
                None => {
                    if !gates.contains(&Gate::Zero) {
                        gates.push(Gate::Zero);
                    }
                    self.inputs + self.pairs.len()
                }
            };
            outputs.push(place as Wire);
        }
        Circuit { inputs: self.inputs as u8, gates, outputs }
    }
}
