//! PRESENT from the paper (CHES 2007), on integers numbered as there.

const SBOX: [u64; 16] = [12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2];
const ROUNDS: usize = 31;

fn inverse(table: &[u64; 16]) -> [u64; 16] {
    let mut result = [0; 16];
    for (x, y) in (0..).zip(table) {
        result[*y as usize] = x;
    }
    result
}

fn substitute(state: u64, table: &[u64; 16]) -> u64 {
    (0..16).map(|i| table[(state >> (4 * i) & 15) as usize] << (4 * i)).sum()
}

/// Bit i moves to `place(i)`.
fn permute(state: u64, place: impl Fn(u32) -> u32) -> u64 {
    (0..64).map(|i| (state >> i & 1) << place(i)).sum()
}

fn forth(i: u32) -> u32 {
    if i == 63 { 63 } else { 16 * i % 63 }
}

fn back(i: u32) -> u32 {
    if i == 63 { 63 } else { 4 * i % 63 }
}

/// The round keys, from a key register of 80 or 128 bits.
fn round_keys(key: &[u8]) -> Vec<u64> {
    let size = 8 * key.len();
    let mut register = key.iter().fold(0u128, |acc, byte| acc << 8 | u128::from(*byte));
    let mut keys = Vec::new();
    for round in 1..=ROUNDS + 1 {
        keys.push((register >> (size - 64)) as u64);
        let turned = register << 61 | register >> (size - 61);
        register = if size == 80 { turned & ((1 << 80) - 1) } else { turned };
        // One S-box at the top for short keys, two for long ones.
        for i in 1..=size / 64 {
            let nibble = register >> (size - 4 * i) & 15;
            register ^= (nibble ^ u128::from(SBOX[nibble as usize])) << (size - 4 * i);
        }
        register ^= (round as u128) << if size == 80 { 15 } else { 62 };
    }
    keys
}

/// `present80_encrypt` and so on: a key of 10 or 16 bytes, a block of 8.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let keys = round_keys(key);
    let mut state = input.iter().fold(0, |acc, byte| acc << 8 | u64::from(*byte));
    if function.ends_with("decrypt") {
        state ^= keys[ROUNDS];
        for key in keys[..ROUNDS].iter().rev() {
            state = substitute(permute(state, back), &inverse(&SBOX)) ^ key;
        }
    } else {
        for key in &keys[..ROUNDS] {
            state = permute(substitute(state ^ key, &SBOX), forth);
        }
        state ^= keys[ROUNDS];
    }
    state.to_be_bytes().to_vec()
}
