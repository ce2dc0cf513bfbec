//! AES from FIPS 197; the S-box is computed, not listed.

use std::sync::LazyLock;

type State = [u8; 16];

/// Product of two bytes modulo x^8 + x^4 + x^3 + x + 1.
fn product(mut a: u8, mut b: u8) -> u8 {
    let mut result = 0;
    while b != 0 {
        if b & 1 == 1 {
            result ^= a;
        }
        a = (a << 1) ^ if a & 0x80 == 0 { 0 } else { 0x1b };
        b >>= 1;
    }
    result
}

fn sbox(x: u8) -> u8 {
    let inverse = (0..=255).find(|y| product(x, *y) == 1).unwrap_or(0);
    (0..5).fold(0x63, |acc, turn| acc ^ inverse.rotate_left(turn))
}

/// The S-box and its inverse as tables.
static TABLES: LazyLock<([u8; 256], [u8; 256])> = LazyLock::new(|| {
    let forth = std::array::from_fn(|x| sbox(x as u8));
    let mut back = [0; 256];
    for (x, y) in (0..=255).zip(forth) {
        back[y as usize] = x;
    }
    (forth, back)
});

fn round_keys(key: &[u8], table: &[u8; 256]) -> Vec<State> {
    let mut words: Vec<[u8; 4]> = key.chunks_exact(4).map(|w| [w[0], w[1], w[2], w[3]]).collect();
    let length = words.len();
    let mut constant = 1;
    for i in length..4 * (length + 7) {
        let mut word = words[i - 1];
        if i % length == 0 {
            word.rotate_left(1);
            word = word.map(|byte| table[byte as usize]);
            word[0] ^= constant;
            constant = product(constant, 2);
        } else if length == 8 && i % 8 == 4 {
            word = word.map(|byte| table[byte as usize]);
        }
        let before = words[i - length];
        words.push(std::array::from_fn(|j| word[j] ^ before[j]));
    }
    words.chunks_exact(4).map(|w| std::array::from_fn(|i| w[i / 4][i % 4])).collect()
}

fn add(s: State, key: &State) -> State {
    std::array::from_fn(|i| s[i] ^ key[i])
}

/// Byte (row, column) comes from `step` * row columns further right.
fn shift_rows(s: State, step: usize) -> State {
    std::array::from_fn(|i| s[(i + 4 * step * (i % 4)) % 16])
}

/// Multiplies each column by the circulant matrix with this first row.
fn mix_columns(s: State, row: [u8; 4]) -> State {
    std::array::from_fn(|i| {
        let column = &s[i / 4 * 4..i / 4 * 4 + 4];
        (0..4).fold(0, |acc, j| acc ^ product(row[j], column[(i + j) % 4]))
    })
}

/// `aes128_encrypt` and so on, all forms alike: the key has 16, 24 or 32 bytes, which
/// says the length, and the block has 16.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let (forth, back) = &*TABLES;
    let keys = round_keys(key, forth);
    let last = keys.len() - 1;
    let mut s = std::array::from_fn(|i| input[i]);
    if function.contains("decrypt") {
        s = add(s, &keys[last]);
        for round in (0..last).rev() {
            s = shift_rows(s, 3).map(|byte| back[byte as usize]);
            s = add(s, &keys[round]);
            if round > 0 {
                s = mix_columns(s, [14, 11, 13, 9]);
            }
        }
    } else {
        s = add(s, &keys[0]);
        for (round, key) in keys.iter().enumerate().skip(1) {
            s = shift_rows(s.map(|byte| forth[byte as usize]), 1);
            if round < last {
                s = mix_columns(s, [2, 3, 1, 1]);
            }
            s = add(s, key);
        }
    }
    s.to_vec()
}
