//! Vector operations for AES and SHA-256.
//!
//! ```text
//! vaesenc a, b, c         each group of 128 bits: a = MixColumns(ShiftRows(SubBytes(b))) ^ c
//! sha256rnds2 a, b, xmm0  the words f, e, b, a after two steps, from h, g, d, c in a and f, e, b, a
//!                         in b, with the sums of constants and message in the lower half of xmm0
//! ```
//!
//! Byte 4 c + r of a group stands in column c and row r of a state. The table of the S-box is computed
//! by its definition, and sums and gates have the order of the bodies of the standard includes, so
//! that equal values are found equal at once.
//!
//! *Reference:* FIPS 197; FIPS 180-4; Intel's manual, volume 2.

use std::sync::LazyLock;

use usuba::ir::Op;

use super::{Cells, Run};
use usuba_bits::cell::{Bits, Cell};
use usuba_bits::lane_arithmetic::{Shift, add, looked_up, shifted};

/// Bits of a state, and of a vector of four words.
const GROUP: usize = 128;

/// A word of a state or of a vector, the lowest bit first.
type Word = Vec<Cell>;

/// The S-box: inversion in the field, and an affine map.
static SBOX: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let map = Op::AffineInverse(0xf1e3_c78f_1f3e_7cf8, 0x63);
    (0..256).map(|x| map.eval(8, &[x])).collect()
});

static INVERSE_SBOX: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut inverse = vec![0; 256];
    SBOX.iter().zip(0..).for_each(|(&y, x)| inverse[y as usize] = x);
    inverse
});

impl Run<'_, '_> {
    /// A round of AES, or of the equivalent inverse cipher; the last one mixes no columns.
    pub fn aes_round(&mut self, is_inverse: bool, is_last: bool) -> Cells {
        let width = self.bits();
        let (state, key) = self.two(width)?;
        let bits = &mut self.world.bits;
        // Row r moves by r columns.
        let from = |at: usize| match is_inverse {
            false => (at + 4 * (at % 4)) % 16,
            true => (at + 12 * (at % 4)) % 16,
        };
        let table: &[u64] = if is_inverse { &INVERSE_SBOX } else { &SBOX };
        let turned = |group: &[Cell]| (0..16).flat_map(|at| byte(group, from(at))).collect();
        let moved: Vec<Cell> = state.chunks(GROUP).flat_map(|g| -> Word { turned(g) }).collect();
        let replaced = bits.each_lane([&moved], 8, |bits, [byte]| looked_up(bits, table, byte));
        let mixed: Vec<Cell> = match (is_last, is_inverse) {
            (true, _) => replaced,
            (false, false) => replaced.chunks(GROUP).flat_map(|g| mixed(bits, g)).collect(),
            (false, true) => replaced.chunks(GROUP).flat_map(|g| unmixed(bits, g)).collect(),
        };
        Ok(bits.each_bit([&mixed, &key], |bits, [a, b]| bits.xor(a, b)))
    }

    /// InvMixColumns of a state.
    pub fn aes_unmixed(&mut self) -> Cells {
        let state = self.vector(1, GROUP)?;
        Ok(unmixed(&mut self.world.bits, &state))
    }

    /// The variables a, b, e and f of SHA-256 after two steps.
    pub fn sha256_steps(&mut self) -> Cells {
        let (cdgh, abef) = self.two(GROUP)?;
        // The implicit operand xmm0.
        let sums = self.x86.vectors.get(0, GROUP).to_vec();
        let [mut f, mut e, mut b, mut a] = words(&abef);
        let [mut h, mut g, mut d, mut c] = words(&cdgh);
        let bits = &mut self.world.bits;
        for sum in &words(&sums)[..2] {
            let chosen = each(bits, [&f, &g, &e], |bits, [f, g, e]| {
                let differ = bits.xor(f, g);
                let kept = bits.and(differ, e);
                bits.xor(kept, g)
            });
            let turned = rotations(bits, &e, [6, 11, 25]);
            let mut first = add(bits, &h, sum);
            first = add(bits, &first, &chosen);
            first = add(bits, &first, &turned);
            let most = each(bits, [&a, &b, &c], |bits, [a, b, c]| {
                let (one, other) = (bits.xor(a, b), bits.xor(b, c));
                let both = bits.and(one, other);
                bits.xor(both, b)
            });
            let turned = rotations(bits, &a, [2, 13, 22]);
            let second = add(bits, &turned, &most);
            (h, g, f) = (g, f, e);
            e = add(bits, &d, &first);
            (d, c, b) = (c, b, a);
            a = add(bits, &first, &second);
        }
        Ok([f, e, b, a].concat())
    }

    /// Words of the message, each plus σ0 of the next one.
    pub fn sha256_message1(&mut self) -> Cells {
        let (now, after) = self.two(GROUP)?;
        let next = [&now[32..], &after[..32]].concat();
        let bits = &mut self.world.bits;
        let sum = |(w, next): (&[Cell], &[Cell])| {
            let sigma = sigma(bits, next, [7, 18], 3);
            add(bits, w, &sigma)
        };
        Ok(now.chunks(32).zip(next.chunks(32)).flat_map(sum).collect())
    }

    /// Words of the message, from the sums of the other terms and the words before them.
    pub fn sha256_message2(&mut self) -> Cells {
        let (sums, before) = self.two(GROUP)?;
        let [.., w14, w15] = words(&before);
        let bits = &mut self.world.bits;
        let mut last = [w14, w15];
        let mut out = Vec::with_capacity(GROUP);
        for (at, sum) in sums.chunks(32).enumerate() {
            let sigma = sigma(bits, &last[at % 2], [17, 19], 10);
            last[at % 2] = add(bits, sum, &sigma);
            out.extend_from_slice(&last[at % 2]);
        }
        Ok(out)
    }
}

fn byte(group: &[Cell], at: usize) -> Word {
    group[8 * at..][..8].to_vec()
}

fn words(vector: &[Cell]) -> [Word; 4] {
    std::array::from_fn(|at| vector[32 * at..][..32].to_vec())
}

/// A gate on the bits of three words.
fn each(
    bits: &mut Bits,
    [a, b, c]: [&Word; 3],
    gate: impl Fn(&mut Bits, [Cell; 3]) -> Cell,
) -> Word {
    (0..a.len()).map(|at| gate(bits, [a[at], b[at], c[at]])).collect()
}

fn sum_of(bits: &mut Bits, a: &[Cell], b: &[Cell]) -> Word {
    a.iter().zip(b).map(|(&a, &b)| bits.xor(a, b)).collect()
}

/// The exclusive-or of three rotations of a word to the right.
fn rotations(bits: &mut Bits, word: &Word, counts: [u64; 3]) -> Word {
    let zero = bits.constant(false);
    let [a, b, c] = counts.map(|count| shifted(word, zero, Shift::RotateRight, count));
    let first = sum_of(bits, &a, &b);
    sum_of(bits, &first, &c)
}

/// The exclusive-or of two rotations and a shift of a word to the right.
fn sigma(bits: &mut Bits, word: &[Cell], turns: [u64; 2], shift: u64) -> Word {
    let zero = bits.constant(false);
    let [a, b] = turns.map(|count| shifted(word, zero, Shift::RotateRight, count));
    let first = sum_of(bits, &a, &b);
    sum_of(bits, &first, &shifted(word, zero, Shift::Right, shift))
}

/// A byte times x modulo x^8 + x^4 + x^3 + x + 1.
fn times_x(bits: &mut Bits, byte: &[Cell]) -> Word {
    let zero = bits.constant(false);
    let shift = shifted(byte, zero, Shift::Left, 1);
    let reduced = |(at, bit): (usize, Cell)| match 0x1b >> at & 1 {
        1 => bits.xor(bit, byte[7]),
        _ => bit,
    };
    shift.into_iter().enumerate().map(reduced).collect()
}

/// The byte in the row that is `by` rows further down in the column of byte `at`.
fn below(group: &[Cell], at: usize, by: usize) -> &[Cell] {
    &group[8 * (at / 4 * 4 + (at + by) % 4)..][..8]
}

/// MixColumns of a state.
fn mixed(bits: &mut Bits, group: &[Cell]) -> Word {
    let mut out = Vec::with_capacity(GROUP);
    for at in 0..16 {
        let differ = sum_of(bits, below(group, at, 0), below(group, at, 1));
        let mut sum = times_x(bits, &differ);
        for by in 1..4 {
            sum = sum_of(bits, &sum, below(group, at, by));
        }
        out.extend(sum);
    }
    out
}

/// InvMixColumns of a state: MixColumns after the matrix that adds 4 (a[i] + a[i+2]) to row i.
fn unmixed(bits: &mut Bits, group: &[Cell]) -> Word {
    let mut first = Vec::with_capacity(GROUP);
    for at in 0..16 {
        let differ = sum_of(bits, below(group, at, 0), below(group, at, 2));
        let once = times_x(bits, &differ);
        let twice = times_x(bits, &once);
        first.extend(sum_of(bits, below(group, at, 0), &twice));
    }
    mixed(bits, &first)
}
