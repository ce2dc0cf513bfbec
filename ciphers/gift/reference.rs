//! GIFT from the paper (ePrint 2017/622), on a list of bits in which bit 0 is the
//! least significant.

const SBOX: [u8; 16] = [1, 10, 4, 12, 6, 15, 3, 9, 2, 13, 11, 7, 5, 0, 8, 14];

/// A number as bits, the least significant first.
type Bits = Vec<u8>;

/// A byte string is a big-endian number.
fn unpack(bytes: &[u8]) -> Bits {
    bytes.iter().rev().flat_map(|byte| (0..8).map(move |i| byte >> i & 1)).collect()
}

fn pack(bits: &[u8]) -> Vec<u8> {
    let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
    bits.chunks(8).rev().map(byte).collect()
}

fn sub_cells(state: &[u8], table: &[u8; 16]) -> Bits {
    let cell = |bits: &[u8]| {
        let value = bits.iter().rev().fold(0, |value, bit| value << 1 | bit);
        (0..4).map(move |i| table[value as usize] >> i & 1)
    };
    state.chunks(4).flat_map(cell).collect()
}

/// The destination of bit i in a state of n bits.
fn place(n: usize, i: usize) -> usize {
    i / 16 * 4 + n / 4 * ((i % 16 / 4 * 3 + i % 4) % 4) + i % 4
}

fn permute(state: &[u8], forth: bool) -> Bits {
    let mut moved = vec![0; state.len()];
    for i in 0..state.len() {
        let (from, to) = (i, place(state.len(), i));
        let (from, to) = if forth { (from, to) } else { (to, from) };
        moved[to] = state[from];
    }
    moved
}

/// The round keys with their constants, which are added to a state of n bits.
fn round_keys(n: usize, key: &[u8]) -> Vec<Bits> {
    let mut words: Vec<u16> =
        key.chunks(2).rev().map(|b| (b[0] as u16) << 8 | b[1] as u16).collect();
    let mut constant = 0;
    let mut keys = Vec::new();
    for _ in 0..if n == 64 { 28 } else { 40 } {
        constant = (constant << 1 & 0x3f) | (1 ^ constant >> 5 ^ constant >> 4) & 1;
        // The words of the key that are used, and the bit of a cell that they meet.
        let used: &[(usize, usize, usize)] = match n {
            64 => &[(1, 0, 1), (0, 0, 0)],
            _ => &[(5, 16, 2), (4, 0, 2), (1, 16, 1), (0, 0, 1)],
        };
        let mut bits = vec![0; n];
        for &(word, cell, bit) in used {
            for i in 0..16 {
                bits[4 * (cell + i) + bit] = (words[word] >> i & 1) as u8;
            }
        }
        bits[n - 1] ^= 1;
        for i in 0..6 {
            bits[4 * i + 3] ^= (constant >> i & 1) as u8;
        }
        keys.push(bits);
        words.rotate_left(2);
        words[7] = words[7].rotate_right(2);
        words[6] = words[6].rotate_right(12);
    }
    keys
}

fn add(a: &[u8], b: &[u8]) -> Bits {
    a.iter().zip(b).map(|(x, y)| x ^ y).collect()
}

fn encrypt(keys: &[Bits], state: Bits) -> Bits {
    keys.iter().fold(state, |state, key| add(&permute(&sub_cells(&state, &SBOX), true), key))
}

fn decrypt(keys: &[Bits], state: Bits) -> Bits {
    let mut inverse = [0; 16];
    for (x, y) in (0..).zip(SBOX) {
        inverse[y as usize] = x;
    }
    let step = |state: Bits, key: &Bits| sub_cells(&permute(&add(&state, key), false), &inverse);
    keys.iter().rev().fold(state, step)
}

/// `gift64_encrypt` and so on: a key of 16 bytes and a block of 8 or 16. In GIFT-128b
/// the block is four words, and word j has the bits j of all cells.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let keys = round_keys(input.len() * 8, key);
    let words = function.starts_with("gift128b");
    let mut state = unpack(input);
    if words {
        state = (0..128).map(|i| state[32 * (3 - i % 4) + i / 4]).collect();
    }
    state =
        if function.contains("decrypt") { decrypt(&keys, state) } else { encrypt(&keys, state) };
    if words {
        state = (0..128).map(|i| state[4 * (i % 32) + 3 - i / 32]).collect();
    }
    pack(&state)
}
