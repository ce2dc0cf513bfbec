//! DES from FIPS 46-3: the tables as printed, bits as a list in which bit 1 is first.

type Bits = Vec<u8>;

#[rustfmt::skip]
const IP: [usize; 64] = [
    58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4,
    62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8,
    57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3,
    61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7,
];
#[rustfmt::skip]
const P: [usize; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10,
    2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25,
];
#[rustfmt::skip]
const PC1: [usize; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2,
    59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36, 63, 55, 47, 39,
    31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37,
    29, 21, 13, 5, 28, 20, 12, 4,
];
#[rustfmt::skip]
const PC2: [usize; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4,
    26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55, 30, 40,
    51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];
#[rustfmt::skip] // One row of an S-box to a line, four rows to a box.
const SBOX: [[[u8; 16]; 4]; 8] = [
    [[14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7],
     [0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8],
     [4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0],
     [15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13]],
    [[15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10],
     [3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5],
     [0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15],
     [13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9]],
    [[10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8],
     [13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1],
     [13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7],
     [1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12]],
    [[7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15],
     [13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9],
     [10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4],
     [3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14]],
    [[2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9],
     [14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6],
     [4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14],
     [11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3]],
    [[12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11],
     [10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8],
     [9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6],
     [4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13]],
    [[4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1],
     [13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6],
     [1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2],
     [6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12]],
    [[13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7],
     [1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2],
     [7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8],
     [2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11]],
];
const TURNS: [usize; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];

fn select(bits: &[u8], table: &[usize]) -> Bits {
    table.iter().map(|place| bits[place - 1]).collect()
}

fn add(a: &[u8], b: &[u8]) -> Bits {
    a.iter().zip(b).map(|(x, y)| x ^ y).collect()
}

/// The round function: six bits for each S-box are its own four and one
/// neighbour on either side.
fn f(right: &[u8], key: &[u8]) -> Bits {
    let mut output = Bits::new();
    for (i, table) in SBOX.iter().enumerate() {
        let x: Bits = (0..6).map(|j| right[(4 * i + j + 31) % 32] ^ key[6 * i + j]).collect();
        let row = 2 * x[0] + x[5];
        let column = 8 * x[1] + 4 * x[2] + 2 * x[3] + x[4];
        let y = table[row as usize][column as usize];
        output.extend([y >> 3 & 1, y >> 2 & 1, y >> 1 & 1, y & 1]);
    }
    select(&output, &P)
}

fn round_keys(key: &[u8]) -> Vec<Bits> {
    let mut halves = select(key, &PC1);
    let mut keys = Vec::new();
    for turn in TURNS {
        halves[..28].rotate_left(turn);
        halves[28..].rotate_left(turn);
        keys.push(select(&halves, &PC2));
    }
    keys
}

fn bits(bytes: &[u8]) -> Bits {
    bytes.iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1)).collect()
}

fn des(key: &[u8], input: &[u8], decrypt: bool) -> Vec<u8> {
    let mut keys = round_keys(&bits(key));
    if decrypt {
        keys.reverse();
    }
    let state = select(&bits(input), &IP);
    let (mut left, mut right) = (state[..32].to_vec(), state[32..].to_vec());
    for key in &keys {
        (left, right) = (right.clone(), add(&left, &f(&right, key)));
    }
    right.extend(left);
    // The final permutation is the inverse of the initial one.
    let mut output = vec![0; 8];
    for (bit, place) in right.iter().zip(IP) {
        output[(place - 1) / 8] |= bit << (7 - (place - 1) % 8);
    }
    output
}

/// `des_encrypt` or `des_decrypt` with a key of 8 bytes on a block of 8; `tdes_encrypt`
/// or `tdes_decrypt` with three such keys, the second of which is used backwards.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let decrypt = function.ends_with("decrypt");
    let mut keys: Vec<&[u8]> = key.chunks(8).collect();
    if decrypt {
        keys.reverse();
    }
    let step = |block: Vec<u8>, (i, key): (usize, &&[u8])| des(key, &block, decrypt ^ (i == 1));
    keys.iter().enumerate().fold(input.to_vec(), step)
}
