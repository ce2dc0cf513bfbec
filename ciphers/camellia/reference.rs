//! Camellia from RFC 3713; the first S-box is computed as ISO/IEC 18033-3 describes
//! it: an inversion of bytes between two linear maps.

use std::sync::LazyLock;

/// Product of two bytes modulo x^8 + x^6 + x^5 + x^3 + 1.
fn product(mut a: u8, mut b: u8) -> u8 {
    let mut result = 0;
    while b != 0 {
        if b & 1 == 1 {
            result ^= a;
        }
        a = (a << 1) ^ if a & 0x80 == 0 { 0 } else { 0x69 };
        b >>= 1;
    }
    result
}

/// The field element whose coordinates are the bits of `x`, least significant
/// first: 1, a, a^2, a^3 and their products with x, where a is the 238th power of x.
fn element(x: u8) -> u8 {
    let a = (0..238).fold(1, |power, _| product(power, 2));
    let power = |n: u32| (0..n % 4).fold(1 + (n / 4) as u8, |y, _| product(y, a));
    (0..8).filter(|bit| x >> bit & 1 == 1).fold(0, |sum, bit| sum ^ power(bit))
}

/// Bit i of the result, counted from the most significant and from 1, is the sum of
/// the bits of `x` that are listed.
fn linear(x: u8, rows: [&[u32]; 8]) -> u8 {
    let sum = |row: &[u32]| row.iter().fold(0, |sum, bit| sum ^ (x >> (8 - bit) & 1));
    rows.iter().fold(0, |y, row| y << 1 | sum(row))
}

static SBOX: LazyLock<[Vec<u8>; 4]> = LazyLock::new(|| {
    let f: [&[u32]; 8] =
        [&[6, 2], &[7, 1], &[8, 5, 3], &[8, 3], &[7, 4], &[5, 2], &[8, 1], &[6, 4]];
    let h: [&[u32]; 8] =
        [&[5, 6, 2], &[6, 2], &[7, 4], &[8, 2], &[7, 3], &[8, 1], &[5, 1], &[6, 3]];
    let elements: Vec<u8> = (0..=255).map(element).collect();
    let invert = |x: u8| {
        let is_one = |y: &u8| product(elements[x as usize], elements[*y as usize]) == 1;
        (0..=255).find(is_one).unwrap_or(0)
    };
    let first: Vec<u8> = (0..=255).map(|x| linear(invert(linear(x ^ 0xc5, f)), h) ^ 0x6e).collect();
    let map = |change: &dyn Fn(u8) -> u8| (0..=255).map(change).collect();
    [
        first.clone(),
        map(&|x| first[x as usize].rotate_left(1)),
        map(&|x| first[x as usize].rotate_right(1)),
        map(&|x| first[x.rotate_left(1) as usize]),
    ]
});

fn f(x: u64, key: u64) -> u64 {
    const BOXES: [usize; 8] = [0, 1, 2, 3, 1, 2, 3, 0];
    const SUMS: [&[usize]; 8] = [
        &[1, 3, 4, 6, 7, 8],
        &[1, 2, 4, 5, 7, 8],
        &[1, 2, 3, 5, 6, 8],
        &[2, 3, 4, 5, 6, 7],
        &[1, 2, 6, 7, 8],
        &[2, 3, 5, 7, 8],
        &[3, 4, 5, 6, 8],
        &[1, 4, 5, 6, 7],
    ];
    let bytes = (x ^ key).to_be_bytes();
    let t: Vec<u8> = (0..8).map(|i| SBOX[BOXES[i]][bytes[i] as usize]).collect();
    u64::from_be_bytes(SUMS.map(|sum| sum.iter().fold(0, |y, i| y ^ t[i - 1])))
}

/// Two rounds on both halves.
fn rounds(x: u128, keys: [u64; 2]) -> u128 {
    let (mut left, mut right) = ((x >> 64) as u64, x as u64);
    right ^= f(left, keys[0]);
    left ^= f(right, keys[1]);
    (left as u128) << 64 | right as u128
}

/// The round keys in the order of their use.
fn keys(key: &[u8]) -> Vec<u64> {
    let half = |bytes: &[u8]| bytes.iter().fold(0, |x: u128, byte| x << 8 | *byte as u128);
    let kl = half(&key[..16]);
    let kr = match key.len() {
        16 => 0,
        24 => half(&key[16..]) << 64 | (!half(&key[16..]) & u64::MAX as u128),
        _ => half(&key[16..]),
    };
    let t = rounds(kl ^ kr, [0xa09e_667f_3bcc_908b, 0xb67a_e858_4caa_73b2]);
    let ka = rounds(t ^ kl, [0xc6ef_372f_e94f_82be, 0x54ff_53a5_f1d3_6f1c]);
    let kb = rounds(ka ^ kr, [0x10e5_27fa_de68_2d1d, 0xb056_88c2_b3e6_c1fd]);
    let turned = |list: &[(u128, u32)]| -> Vec<u64> {
        let turned = list.iter().map(|(k, places)| k.rotate_left(*places));
        turned.flat_map(|k| [(k >> 64) as u64, k as u64]).collect()
    };
    if key.len() > 16 {
        let all = [(kl, 0), (kb, 0), (kr, 15), (ka, 15), (kr, 30), (kb, 30), (kl, 45), (ka, 45)];
        let more = [(kl, 60), (kr, 60), (kb, 60), (kl, 77), (ka, 77), (kr, 94), (ka, 94)];
        return [turned(&all), turned(&more), turned(&[(kl, 111), (kb, 111)])].concat();
    }
    let first = turned(&[(kl, 0), (ka, 0), (kl, 15), (ka, 15), (ka, 30), (kl, 45)]);
    let middle = vec![turned(&[(ka, 45)])[0], turned(&[(kl, 60)])[1]];
    let last = [(ka, 60), (kl, 77), (kl, 94), (ka, 94), (kl, 111), (ka, 111)];
    [first, middle, turned(&last)].concat()
}
fn fl(x: u64, key: u64) -> u64 {
    let right = x as u32 ^ ((x >> 32) as u32 & (key >> 32) as u32).rotate_left(1);
    let left = (x >> 32) as u32 ^ (right | key as u32);
    (left as u64) << 32 | right as u64
}

fn fl_inverse(y: u64, key: u64) -> u64 {
    let left = (y >> 32) as u32 ^ (y as u32 | key as u32);
    let right = y as u32 ^ (left & (key >> 32) as u32).rotate_left(1);
    (left as u64) << 32 | right as u64
}

/// `camellia128_encrypt` and so on: the key has 16, 24 or 32 bytes, which says the
/// length, and the block has 16.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let mut keys = keys(key);
    if function.contains("decrypt") {
        // All in the opposite order, but within the outermost pairs.
        keys.reverse();
        let last = keys.len() - 1;
        keys.swap(0, 1);
        keys.swap(last, last - 1);
    }
    let both = |pair: &[u64]| (pair[0] as u128) << 64 | pair[1] as u128;
    let mut x = input.iter().fold(0, |x: u128, byte| x << 8 | *byte as u128) ^ both(&keys[..2]);
    for (i, pair) in keys[2..keys.len() - 2].chunks(2).enumerate() {
        x = match i % 4 {
            3 => both(&[fl((x >> 64) as u64, pair[0]), fl_inverse(x as u64, pair[1])]),
            _ => rounds(x, [pair[0], pair[1]]),
        };
    }
    (x.rotate_left(64) ^ both(&keys[keys.len() - 2..])).to_be_bytes().to_vec()
}
