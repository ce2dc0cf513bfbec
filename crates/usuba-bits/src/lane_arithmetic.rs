//! Arithmetic on words of any number of bits, such as lanes of vectors.
//!
//! ```text
//! shifted(b, Right, 3)     bit p = bit p + 3 of b, zeros above
//! less(a, b)               the borrow of a - b
//! ```

use rustc_hash::FxHashMap;

use crate::cell::{Bits, Cell};

/// The truth table of `a ? b : c`.
pub const CHOICE: u8 = 0xca;

/// The treatment of the bits that a shift moves out.
#[derive(Clone, Copy, PartialEq)]
pub enum Shift {
    Left,
    Right,
    /// Copies of the top bit enter.
    Arithmetic,
    RotateLeft,
    RotateRight,
}

/// ~a & b
pub fn andn(bits: &mut Bits, a: Cell, b: Cell) -> Cell {
    let a = bits.not(a);
    bits.and(a, b)
}

/// A word, shifted. Counts beyond its length clear it, or fill it with its top bit.
pub fn shifted(cells: &[Cell], zero: Cell, shift: Shift, count: u64) -> Vec<Cell> {
    let lane = cells.len();
    let turn = (count % lane as u64) as usize;
    let count = count.min(lane as u64) as usize;
    let bit = |p: usize| match shift {
        Shift::Left => p.checked_sub(count).map_or(zero, |from| cells[from]),
        Shift::Right => cells.get(p + count).copied().unwrap_or(zero),
        Shift::Arithmetic => cells[(p + count).min(lane - 1)],
        Shift::RotateLeft => cells[(p + lane - turn) % lane],
        Shift::RotateRight => cells[(p + turn) % lane],
    };
    (0..lane).map(bit).collect()
}

/// A word into which the bits of another one are shifted.
pub fn double_shifted(a: &[Cell], b: &[Cell], left: bool, count: usize) -> Vec<Cell> {
    let (low, high) = if left { (b, a) } else { (a, b) };
    let first = if left { a.len() - count } else { count };
    [low, high].concat()[first..first + a.len()].to_vec()
}

pub fn add(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    bits.sum(a, b, false).0
}

pub fn subtract(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    bits.difference(a, b).0
}

/// A word of twice as many bits.
fn extended(bits: &Bits, word: &[Cell], signed: bool) -> Vec<Cell> {
    let above = if signed { word[word.len() - 1] } else { bits.constant(false) };
    [word, &vec![above; word.len()]].concat()
}

/// The upper half of the product.
pub fn multiply_high(bits: &mut Bits, a: &[Cell], b: &[Cell], signed: bool) -> Vec<Cell> {
    // Numbers of twice as many bits, modulo which the product is exact.
    let [x, y] = [a, b].map(|word| extended(bits, word, signed));
    // A constant factor selects the terms.
    let product = match a.iter().all(|&cell| bits.value(cell).is_some()) {
        true => bits.product(&y, &x),
        false => bits.product(&x, &y),
    };
    product[a.len()..].to_vec()
}

/// The product of the lower halves.
pub fn multiply_halves(bits: &mut Bits, a: &[Cell], b: &[Cell], signed: bool) -> Vec<Cell> {
    let [a, b] = [a, b].map(|word| extended(bits, &word[..word.len() / 2], signed));
    bits.product(&a, &b)
}

/// The sum of the products of both halves, as signed numbers.
pub fn multiply_add(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    let (low, high) = (multiply_halves(bits, a, b, true), a.len() / 2);
    let [a, b] = [a, b].map(|word| extended(bits, &word[high..], true));
    let high = bits.product(&a, &b);
    bits.sum(&low, &high, false).0
}

pub fn equal(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    vec![bits.equal(a, b); a.len()]
}

pub fn greater(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    vec![less(bits, b, a, true); a.len()]
}

/// Whether a < b.
pub fn less(bits: &mut Bits, a: &[Cell], b: &[Cell], signed: bool) -> Cell {
    // With both signs flipped this is the order of unsigned numbers.
    let [a, b] = [a, b].map(|word| {
        let mut word = word.to_vec();
        if let Some(top) = word.last_mut().filter(|_| signed) {
            *top = bits.not(*top);
        }
        word
    });
    bits.difference(&a, &b).1
}

/// The entry of a table of bytes, bit by bit; its number has these bits, the least significant
/// first.
pub fn looked_up(bits: &mut Bits, table: &[u64], index: &[Cell]) -> Vec<Cell> {
    // Few bits have few functions, so most choices are found in `made`.
    let mut made: FxHashMap<(Cell, Cell, Cell), Cell> = FxHashMap::default();
    let mut choose = |bits: &mut Bits, by: Cell, low: Cell, high: Cell| {
        *made.entry((by, low, high)).or_insert_with(|| {
            let differ = bits.xor(low, high);
            let change = bits.and(by, differ);
            bits.xor(low, change)
        })
    };
    let mut column = |bit: usize| {
        let entries = table.iter().map(|row| bits.constant(row >> bit & 1 == 1));
        let mut entries: Vec<Cell> = entries.collect();
        for &by in index {
            let pairs = entries.chunks(2).map(|pair| choose(bits, by, pair[0], pair[1]));
            entries = pairs.collect();
        }
        entries[0]
    };
    (0..8).map(&mut column).collect()
}

/// The product of two numbers with signs, in twice as many bits.
pub fn whole_signed_product(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Vec<Cell> {
    let [a, b] = [a, b].map(|word| extended(bits, word, true));
    bits.product(&a, &b)
}

/// The number of zeros above the highest one of a word.
pub fn leading_zeros(bits: &mut Bits, word: &[Cell]) -> Vec<Cell> {
    // By the highest one among the bits that have been seen: the others change nothing.
    let mut count = bits.number(word.len() as u64, word.len());
    for (at, &bit) in word.iter().enumerate() {
        let here = bits.number((word.len() - 1 - at) as u64, word.len());
        for (count, here) in count.iter_mut().zip(here) {
            *count = bits.function(CHOICE, [bit, here, *count]);
        }
    }
    count
}
