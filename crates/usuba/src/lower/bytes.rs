//! Look-ups by a whole word: instructions if the target has them, else a circuit on its bits.
//!
//! ```text
//! y = sbox(x)   →   y = M (1 / x) ^ c                                 AES where there is GFNI
//!               →   t = L x ^ a;  y = M (1 / t) ^ c                   SM4, Camellia
//!               →   b_i = Bitmask(x, i);  o = circuit(b);  y = o_7 & 0x80 | o_6 & 0x40 | ...
//! ```
//!
//! The last form is right everywhere and constant-time, but takes a circuit for every word; without
//! byte instructions, a bitsliced program is faster.

use crate::circuit::inversion;
use crate::circuit::{Circuit, Table};
use crate::ir::op::{INVERSES, affine_form, affine_inverse_form, mask};
use crate::ir::{Op, Val};

use super::scope::Scope;

/// The table as at most two operators, applied one after the other, if it is affine, or inversion
/// between affine maps. They are compared with it on every input.
pub(super) fn instructions(entries: &[u64]) -> Option<Vec<Op>> {
    let bytes: Vec<u8> = entries.iter().filter_map(|&entry| u8::try_from(entry).ok()).collect();
    let table: [u8; 256] = bytes.try_into().ok()?;
    let found = chain(&table)?;
    let value = |x: u64| found.iter().fold(x, |x, op| op.eval(8, &[x]));
    (0..256).all(|x| value(x) == entries[x as usize]).then_some(found)
}

fn chain(table: &[u8; 256]) -> Option<Vec<Op>> {
    if let Some((matrix, c)) = affine_form(table) {
        return Some(vec![Op::Affine(matrix, c)]);
    }
    if let Some((matrix, c)) = affine_inverse_form(table) {
        return Some(vec![Op::AffineInverse(matrix, c)]);
    }
    let last = |matrix, c| Op::AffineInverse(matrix, c);
    // An inverse of the above: nothing comes after the inversion.
    if let Some((matrix, c)) = affine_form(&table.map(|y| INVERSES[y as usize])) {
        let (one, _) = affine_form(&std::array::from_fn(|x| x as u8))?;
        return Some(vec![Op::Affine(matrix, c), last(one, 0)]);
    }
    let entries = table.iter().map(|&y| y as u64).collect();
    let maps = inversion::maps(&Table { inputs: 8, outputs: 8, entries })?;
    let front = |x: u8| maps.front[(x ^ maps.before) as usize];
    let (matrix, c) = affine_form(&std::array::from_fn(|x| front(x as u8)))?;
    let (back, after) = affine_form(&maps.back.map(|y| y ^ maps.after))?;
    Some(vec![Op::Affine(matrix, c), last(back, after)])
}

/// The bits of a word of `m` bits, most significant first, each in all bits of a word.
pub(super) fn spread(scope: &mut Scope, word: Val, m: u8) -> Vec<Val> {
    (0..m).rev().map(|bit| scope.op(Op::Bitmask(bit), m, &[word])).collect()
}

/// The opposite: one bit of each word.
pub(super) fn gathered(scope: &mut Scope, bits: &[Val], m: u8) -> Val {
    let mut word = None;
    for (at, &bit) in bits.iter().enumerate() {
        let place = scope.constant(m, 1 << (m as usize - 1 - at));
        let bit = scope.op(Op::And, m, &[bit, place]);
        word = Some(match word {
            None => bit,
            Some(sum) => scope.op(Op::Or, m, &[sum, bit]),
        });
    }
    word.expect("a word has bits")
}

/// Equations that a circuit on the bits of a word takes.
pub(super) fn equations(circuit: &Circuit, m: u8) -> usize {
    circuit.gates.len() + 3 * m as usize
}

/// The table of a look-up by a word of `m` bits; entries beyond its end are zero.
pub(super) fn table(entries: &[u64], m: u8) -> Table {
    let mut entries: Vec<u64> = entries.iter().map(|entry| entry & mask(m)).collect();
    entries.resize(1 << m, 0);
    Table { inputs: m, outputs: m, entries }
}
