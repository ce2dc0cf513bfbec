//! SM4 from GB/T 32907-2016; the S-box and the constants are computed, not listed.

use std::sync::LazyLock;

type Block = [u32; 4];

/// Product of two bytes modulo x^8 + x^7 + x^6 + x^5 + x^4 + x^2 + 1.
fn product(mut a: u8, mut b: u8) -> u8 {
    let mut result = 0;
    while b != 0 {
        if b & 1 == 1 {
            result ^= a;
        }
        a = (a << 1) ^ if a & 0x80 == 0 { 0 } else { 0xf5 };
        b >>= 1;
    }
    result
}

/// The affine map on both sides of the inversion: bit i is the parity of the bits
/// that 0xa7, turned i places, selects, and then 0xd3 is added.
fn affine(x: u8) -> u8 {
    (0..8).fold(0xd3, |y, i| {
        let parity = (x & 0xa7_u8.rotate_left(i)).count_ones() as u8 & 1;
        y ^ parity << i
    })
}

static SBOX: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let inverse = |x| (0..=255).find(|y| product(x, *y) == 1).unwrap_or(0);
    (0..=255).map(|x| affine(inverse(affine(x)))).collect()
});

/// The round function: the S-box on four bytes, then a sum of rotations.
fn round(x: u32, rotations: &[u32]) -> u32 {
    let x = u32::from_be_bytes(x.to_be_bytes().map(|byte| SBOX[byte as usize]));
    rotations.iter().fold(x, |sum, places| sum ^ x.rotate_left(*places))
}

fn words(bytes: &[u8]) -> Block {
    std::array::from_fn(|i| bytes[4 * i..4 * i + 4].iter().fold(0, |w, b| w << 8 | *b as u32))
}

fn round_keys(key: Block) -> Vec<u32> {
    let system = [0xa3b1_bac6, 0x56aa_3350, 0x677d_9197, 0xb270_22dc];
    let mut k: Vec<u32> = key.iter().zip(system).map(|(a, b)| a ^ b).collect();
    for i in 0..32 {
        let constant = (0..4).fold(0, |word, j| (word << 8) | ((4 * i + j) * 7 % 256));
        let at = i as usize;
        let input = k[at + 1] ^ k[at + 2] ^ k[at + 3] ^ constant;
        k.push(k[at] ^ round(input, &[13, 23]));
    }
    k.split_off(4)
}

/// `sm4_encrypt` and `sm4_decrypt`: a key of 16 bytes and a block of 16.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let mut keys = round_keys(words(key));
    if function.contains("decrypt") {
        keys.reverse();
    }
    let [mut a, mut b, mut c, mut d] = words(input);
    for key in keys {
        let new = a ^ round(b ^ c ^ d ^ key, &[2, 10, 18, 24]);
        (a, b, c, d) = (b, c, d, new);
    }
    [d, c, b, a].iter().flat_map(|word| word.to_be_bytes()).collect()
}
