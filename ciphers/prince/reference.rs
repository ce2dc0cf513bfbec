//! PRINCE from the paper (ASIACRYPT 2012), on nibbles numbered as there.

const SBOX: [u8; 16] = [11, 15, 3, 2, 10, 12, 9, 1, 6, 7, 8, 0, 14, 5, 13, 4];
const CONSTANTS: [u64; 12] = [
    0,
    0x13198a2e03707344,
    0xa4093822299f31d0,
    0x082efa98ec4e6c89,
    0x452821e638d01377,
    0xbe5466cf34e90c6c,
    0x7ef84f78fd955cb1,
    0x85840851f1ac43aa,
    0xc882d32f25323c54,
    0x64a51195e0e3610d,
    0xd3b5a399ca0c2399,
    0xc0ac29b7c97c50dd,
];

fn nibbles(x: u64) -> [u8; 16] {
    std::array::from_fn(|i| (x >> (60 - 4 * i) & 15) as u8)
}

fn number(nibbles: [u8; 16]) -> u64 {
    nibbles.iter().fold(0, |acc, nibble| acc << 4 | u64::from(*nibble))
}

fn substitute(x: u64, inverse: bool) -> u64 {
    number(nibbles(x).map(|nibble| match inverse {
        false => SBOX[nibble as usize],
        true => (0..16).find(|y| SBOX[*y as usize] == nibble).unwrap_or_default(),
    }))
}

/// SR, the permutation of AES: nibble i comes from nibble 5 i mod 16.
fn shift_rows(x: u64) -> u64 {
    let old = nibbles(x);
    number(std::array::from_fn(|i| old[5 * i % 16]))
}

fn inverse_shift_rows(x: u64) -> u64 {
    let old = nibbles(x);
    number(std::array::from_fn(|i| old[13 * i % 16]))
}

/// M': block matrix of the identities without their diagonal element (row + column) mod 4, or one
/// more in the columns 1 and 2.
fn mix(x: u64) -> u64 {
    let old = nibbles(x);
    number(std::array::from_fn(|at| {
        let (column, row) = (at / 4, at % 4);
        let second = usize::from(column == 1 || column == 2);
        let part = |c: usize| old[4 * column + c] & !(8 >> ((row + c + second) % 4));
        (0..4).map(part).fold(0, |acc, part| acc ^ part)
    }))
}

fn core(x: u64, key: u64) -> u64 {
    let mut x = x ^ key ^ CONSTANTS[0];
    for constant in &CONSTANTS[1..6] {
        x = shift_rows(mix(substitute(x, false))) ^ constant ^ key;
    }
    x = substitute(mix(substitute(x, false)), true);
    for constant in &CONSTANTS[6..11] {
        x = substitute(mix(inverse_shift_rows(x ^ key ^ constant)), true);
    }
    x ^ CONSTANTS[11] ^ key
}

/// `prince_encrypt` and `prince_decrypt`: the key is k0 and k1. Decryption is encryption with the
/// whitening keys exchanged and with k1 plus the last constant (section 2, alpha-reflection).
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8]| bytes.iter().fold(0, |acc, byte| acc << 8 | u64::from(*byte));
    let (first, inner, x) = (word(&key[..8]), word(&key[8..]), word(input));
    let last = first.rotate_right(1) ^ first >> 63;
    let result = match function.ends_with("decrypt") {
        false => core(x ^ first, inner) ^ last,
        true => core(x ^ last, inner ^ CONSTANTS[11]) ^ first,
    };
    result.to_be_bytes().to_vec()
}
