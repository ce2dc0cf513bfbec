//! The database of linear layers: XOR programs for matrices of published ciphers.
//!
//! The entries of `known/linear.txt` have the same form as entries for tables (`known.rs`), with
//! the key of the matrix. A lookup tries a matrix as it is written, and with its inputs and its
//! outputs in reverse order (the other bit order).

use crate::{Circuit, Gate, Profile, Wire, known};

const FILE: &str = include_str!("known/linear.txt");

/// Inputs of a matrix, at most.
pub const MAX_MATRIX: usize = 128;

/// The program of the database with the fewest gates for a matrix on a target of `profile`: bit
/// `j` of `rows[k]` says that input `j` is in output `k`. It has been compared with the matrix.
pub fn for_matrix(inputs: usize, rows: &[u128], profile: Profile) -> Option<Circuit> {
    let straight = find(inputs, rows, profile);
    let other = || Some(reversed(&find(inputs, &turned(inputs, rows), profile)?));
    let circuit = straight.or_else(other)?;
    assert_eq!(matrix(&circuit).as_deref(), Some(rows), "internal error: another matrix");
    Some(circuit)
}

fn find(inputs: usize, rows: &[u128], profile: Profile) -> Option<Circuit> {
    known::of_class(&[FILE], key(inputs, rows))
        .map(|entry| entry.circuit)
        .filter(|circuit| circuit.inputs as usize == inputs)
        .filter(|circuit| matrix(circuit).as_deref() == Some(rows))
        .filter(|circuit| circuit.cost(profile).is_some())
        .min_by_key(|circuit| circuit.cost(profile))
}

/// The 64-bit FNV-1a hash of the sizes and the rows.
pub(crate) fn key(inputs: usize, rows: &[u128]) -> u64 {
    let bytes = rows.iter().flat_map(|row| row.to_le_bytes());
    [inputs as u8, rows.len() as u8]
        .into_iter()
        .chain(bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ byte as u64).wrapping_mul(0x100_0000_01b3)
        })
}

/// The rows that a circuit of XORs computes; `None` if it has other gates.
pub(crate) fn matrix(circuit: &Circuit) -> Option<Vec<u128>> {
    let mut values: Vec<u128> = (0..circuit.inputs).map(|j| 1 << j).collect();
    for gate in &circuit.gates {
        let of = |w: Wire| values[w as usize];
        let sum = match *gate {
            Gate::Zero => 0,
            Gate::Xor(a, b) => of(a) ^ of(b),
            Gate::Lut3(0x96, a, b, c) => of(a) ^ of(b) ^ of(c),
            _ => return None,
        };
        values.push(sum);
    }
    Some(circuit.outputs.iter().map(|&w| values[w as usize]).collect())
}

/// The matrix with inputs and outputs in reverse order.
fn turned(inputs: usize, rows: &[u128]) -> Vec<u128> {
    rows.iter().rev().map(|row| row.reverse_bits() >> (128 - inputs)).collect()
}

/// The circuit with inputs and outputs in reverse order.
fn reversed(circuit: &Circuit) -> Circuit {
    let inputs = circuit.inputs as Wire;
    let turn = |w: Wire| if w < inputs { inputs - 1 - w } else { w };
    Circuit {
        inputs: circuit.inputs,
        gates: circuit.gates.iter().map(|gate| gate.map(turn)).collect(),
        outputs: circuit.outputs.iter().rev().map(|&w| turn(w)).collect(),
    }
}
