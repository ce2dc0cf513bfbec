//! The result of a search as a circuit: lines that make a function from at most three others.

use std::collections::HashMap;

use usuba_circuit::{Circuit, Gate, Table};

use crate::states::{INPUTS, Metric, State, normal, pairs, unpack};

/// A program on functions: each line makes a function from at most three others.
#[derive(Clone, Default)]
pub struct Program {
    pub lines: Vec<(u16, Vec<u16>)>,
}

impl Program {
    /// The step between two states of a path.
    pub fn step(&mut self, metric: Metric, from: State, to: State) {
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
    pub fn circuit(&self, table: &Table) -> Circuit {
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

/// The truth table of an output: bit `x` is its value on input `x`.
pub fn output(table: &Table, k: u8) -> u16 {
    let bit = |x: usize| (table.entries[x] >> (table.outputs - 1 - k) & 1) as u16;
    (0..16).fold(0, |f, x| f | bit(x) << x)
}
