//! The GASCON permutations of DryGASCON, bit by bit on words that are laid out flat first.

const ROTATIONS: [(usize, usize); 9] =
    [(19, 28), (61, 38), (1, 6), (10, 17), (7, 40), (31, 26), (53, 58), (9, 46), (43, 50)];

/// Bit i of a flat word is bit i / 2 of its even or odd half.
fn place(i: usize) -> usize {
    i / 2 + 32 * (i % 2)
}

fn flatten(word: u64) -> u64 {
    (0..64).fold(0, |flat, i| flat | (word >> place(i) & 1) << i)
}

fn interleave(flat: u64) -> u64 {
    (0..64).fold(0, |word, i| word | (flat >> i & 1) << place(i))
}

fn substitute(x: &mut [u64]) {
    let n = x.len();
    let last = x[n - 1];
    for i in (2..n).step_by(2) {
        x[i] ^= x[i - 1];
    }
    x[0] ^= last;
    let before = x.to_vec();
    for i in 0..n {
        x[i] ^= !before[(i + 1) % n] & before[(i + 2) % n];
    }
    for i in (1..n).step_by(2) {
        x[i] ^= x[i - 1];
    }
    x[0] ^= x[n - 1];
    x[n / 2] = !x[n / 2];
}

/// `gascon_c5r12` on 40 bytes, or `gascon_c9r12` on 72; there is no key.
pub fn reference(_function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let mut x: Vec<u64> = input.chunks_exact(8).map(word).map(flatten).collect();
    let middle = x.len() / 2;
    for round in 0..12 {
        x[middle] ^= flatten((15 - round) << 4 | round);
        substitute(&mut x);
        for (word, (m, n)) in x.iter_mut().zip(ROTATIONS) {
            *word ^= word.rotate_right(m as u32) ^ word.rotate_right(n as u32);
        }
    }
    x.iter().flat_map(|flat| interleave(*flat).to_le_bytes()).collect()
}
