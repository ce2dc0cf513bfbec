//! Tables of a program: circuits for each set of gates, and the properties that designers look at.

use serde::Serialize;
use usuba::circuit::{Circuit, Gate, Goal, Profile, Table, for_table};
use usuba_ide::tables::functions;

use crate::compilation::Compilation;

/// Tables with more bits have no difference table here: it would have a row for each input.
const MOST_BITS: u8 = 8;

/// A table of a program.
#[derive(Serialize)]
pub struct Entry {
    name: String,
    inputs: u8,
    outputs: u8,
    entries: Vec<u64>,
    circuits: Vec<Drawn>,
    properties: Option<Properties>,
}

/// A circuit. Wires are numbered: inputs first, the most significant bit first, then gates.
#[derive(Serialize)]
struct Drawn {
    gates: &'static str,
    /// Name, and the numbers of its operands.
    list: Vec<(String, Vec<u16>)>,
    outputs: Vec<u16>,
    depth: usize,
    /// The largest number of wires that live at once.
    live: usize,
}

/// Properties of a function on bits.
#[derive(Serialize)]
struct Properties {
    permutation: bool,
    /// The algebraic degree of each output bit, the most significant one first.
    degrees: Vec<u32>,
    /// The algebraic normal form of each output bit: sets of inputs, as numbers.
    normal_forms: Vec<Vec<u32>>,
    /// `differences[a][b]`: inputs x with S(x) ^ S(x ^ a) = b.
    differences: Vec<Vec<u16>>,
    /// The largest entry of the difference table outside of its first row.
    uniformity: u16,
    /// The smallest distance of a sum of output bits from an affine function.
    nonlinearity: u32,
}

pub fn circuits(compilation: &Compilation) -> Vec<Entry> {
    let bitsliced = compilation.last().is_bitsliced();
    let goal = if bitsliced { Goal::Size } else { Goal::Chain };
    let mut found = Vec::new();
    for decl in &compilation.checked.program.decls {
        let all = functions(decl);
        for (at, function) in all.iter().enumerate() {
            let name = match all.len() {
                1 => decl.name.to_string(),
                _ => format!("{}<{at}>", decl.name),
            };
            let table = &function.table;
            found.push(Entry {
                name,
                inputs: table.inputs,
                outputs: table.outputs,
                entries: table.entries.clone(),
                circuits: Profile::ALL.map(|profile| drawn(table, profile, goal)).into(),
                properties: properties(table),
            });
        }
    }
    found
}

fn drawn(table: &Table, profile: Profile, goal: Goal) -> Drawn {
    let circuit = for_table(table, profile, goal);
    let gate = |gate: &Gate| match *gate {
        Gate::Zero => ("0".to_string(), vec![]),
        Gate::One => ("1".to_string(), vec![]),
        Gate::Not(a) => ("not".to_string(), vec![a]),
        Gate::And(a, b) => ("and".to_string(), vec![a, b]),
        Gate::Or(a, b) => ("or".to_string(), vec![a, b]),
        Gate::Xor(a, b) => ("xor".to_string(), vec![a, b]),
        Gate::Andn(a, b) => ("andn".to_string(), vec![a, b]),
        Gate::Lut3(table, a, b, c) => (format!("lut3 {table:#04x}"), vec![a, b, c]),
    };
    let list: Vec<(String, Vec<u16>)> = circuit.gates.iter().map(gate).collect();
    let live = live(&circuit, &list);
    let depth = circuit.depth();
    Drawn { gates: profile.name(), list, outputs: circuit.outputs.clone(), depth, live }
}

/// The largest number of wires that live at once: an input from its first use, and no wire beyond
/// its last one.
fn live(circuit: &Circuit, list: &[(String, Vec<u16>)]) -> usize {
    let inputs = circuit.inputs as usize;
    let mut ranges = vec![(usize::MAX, 0); inputs + list.len()];
    for (at, (_, operands)) in list.iter().enumerate() {
        let own = (inputs + at, 2 * at + 1);
        let reads = operands.iter().map(|&wire| (wire as usize, 2 * at));
        for (wire, time) in reads.chain([own]) {
            let (first, last) = &mut ranges[wire];
            (*first, *last) = ((*first).min(time), (*last).max(time));
        }
    }
    let at = |time: usize| ranges.iter().filter(|(a, b)| *a <= time && time <= *b).count();
    (0..2 * list.len()).map(at).max().unwrap_or(0)
}

fn properties(table: &Table) -> Option<Properties> {
    if table.inputs > MOST_BITS || table.outputs > MOST_BITS {
        return None;
    }
    let size = table.entries.len();
    let outputs = 1usize << table.outputs;
    let mut differences = vec![vec![0u16; outputs]; size];
    for (a, row) in differences.iter_mut().enumerate() {
        for x in 0..size {
            row[(table.entries[x] ^ table.entries[x ^ a]) as usize] += 1;
        }
    }
    let uniformity = differences[1..].iter().flatten().copied().max().unwrap_or(0);
    let normal_forms: Vec<Vec<u32>> =
        (0..table.outputs).rev().map(|bit| normal_form(table, bit)).collect();
    let degree = |terms: &Vec<u32>| terms.iter().map(|term| term.count_ones()).max().unwrap_or(0);
    let mut entries = table.entries.clone();
    entries.sort_unstable();
    let is_permutation = entries.iter().enumerate().all(|(at, &entry)| at as u64 == entry);
    Some(Properties {
        permutation: table.inputs == table.outputs && is_permutation,
        degrees: normal_forms.iter().map(degree).collect(),
        normal_forms,
        differences,
        uniformity,
        nonlinearity: nonlinearity(table),
    })
}

/// The algebraic normal form of an output bit, by the Möbius transform.
fn normal_form(table: &Table, bit: u8) -> Vec<u32> {
    let mut values: Vec<bool> = table.entries.iter().map(|entry| entry >> bit & 1 == 1).collect();
    for input in 0..table.inputs {
        for x in 0..values.len() {
            if x >> input & 1 == 1 {
                values[x] ^= values[x ^ 1 << input];
            }
        }
    }
    (0..values.len() as u32).filter(|&term| values[term as usize]).collect()
}

/// The nonlinearity, by the Walsh transform of each sum of output bits.
fn nonlinearity(table: &Table) -> u32 {
    let size = table.entries.len();
    let mut largest = 0;
    for sum in 1..1u64 << table.outputs {
        let sign = |entry: &u64| if (entry & sum).count_ones() % 2 == 1 { -1 } else { 1 };
        let mut walsh: Vec<i32> = table.entries.iter().map(sign).collect();
        for input in 0..table.inputs {
            let step = 1 << input;
            for x in (0..size).filter(|x| x & step == 0) {
                let (a, b) = (walsh[x], walsh[x | step]);
                (walsh[x], walsh[x | step]) = (a + b, a - b);
            }
        }
        largest = largest.max(walsh.iter().map(|value| value.unsigned_abs()).max().unwrap_or(0));
    }
    (size as u32 - largest) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PRESENT's S-box: its paper says degree 3, differential uniformity 4.
    #[test]
    fn properties_of_a_known_box() {
        let entries = vec![12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2];
        let table = Table { inputs: 4, outputs: 4, entries };
        let found = properties(&table).expect("it is small");
        assert_eq!((found.permutation, found.uniformity, found.nonlinearity), (true, 4, 4));
        assert_eq!(found.degrees, [3, 3, 3, 2]);
        assert!(found.differences.iter().all(|row| row.iter().sum::<u16>() == 16));
        // y0 = x0 + x2 + x3 + x1 x2, where bit 0 is the least significant one.
        assert_eq!(found.normal_forms[3], [0b0001, 0b0100, 0b0110, 0b1000]);
    }
}
