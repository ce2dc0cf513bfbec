//! SKINNY from the paper (ePrint 2016/660), with cells of four and of eight bits in bytes.

type Cells = [u8; 16];

const SBOX4: [u8; 16] = [12, 6, 9, 0, 1, 10, 2, 11, 3, 8, 5, 13, 4, 14, 7, 15];
/// The tweakey permutation: the source of each cell.
const TWEAKEY: [usize; 16] = [9, 15, 8, 13, 10, 14, 12, 11, 0, 1, 2, 3, 4, 5, 6, 7];
/// MixColumns and its inverse: the rows that are added up for each row.
const MIX: [&[usize]; 4] = [&[0, 2, 3], &[0], &[1, 2], &[0, 2]];
const UNMIX: [&[usize]; 4] = [&[1], &[1, 2, 3], &[1, 3], &[0, 3]];

/// The S-box of eight bits, bit i of the paper in place i.
fn sbox8(x: u8) -> u8 {
    let mut x: [u8; 8] = std::array::from_fn(|i| x >> i & 1);
    for turn in 0..4 {
        x[4] ^= 1 ^ (x[7] | x[6]);
        x[0] ^= 1 ^ (x[3] | x[2]);
        if turn < 3 {
            x = [x[5], x[3], x[0], x[4], x[6], x[7], x[1], x[2]];
        } else {
            x.swap(1, 2);
        }
    }
    (0..8).map(|i| x[i] << i).sum()
}

/// The S-box and its inverse for cells of `size` bits.
fn tables(size: u32) -> (Vec<u8>, Vec<u8>) {
    let forth: Vec<u8> = if size == 4 { SBOX4.to_vec() } else { (0..=255).map(sbox8).collect() };
    let mut back = vec![0; forth.len()];
    for (x, y) in forth.iter().enumerate() {
        back[*y as usize] = x as u8;
    }
    (forth, back)
}

/// The cells of 8 or 16 bytes; of two cells in a byte the upper half comes first.
fn unpack(bytes: &[u8]) -> Cells {
    match bytes.len() {
        8 => std::array::from_fn(|i| bytes[i / 2] >> (4 - i % 2 * 4) & 15),
        _ => std::array::from_fn(|i| bytes[i]),
    }
}

fn pack(cells: Cells, size: u32) -> Vec<u8> {
    if size == 8 { cells.to_vec() } else { cells.chunks(2).map(|c| c[0] << 4 | c[1]).collect() }
}

/// The shift registers of the second and third part of the tweakey.
fn clock(part: usize, x: u8, size: u32) -> u8 {
    let bit = |i: u32| x >> i & 1;
    match (part, size) {
        (1, 4) => x << 1 & 15 | bit(3) ^ bit(2),
        (1, _) => x << 1 | bit(7) ^ bit(5),
        (2, 4) => x >> 1 | (bit(0) ^ bit(3)) << 3,
        (2, _) => x >> 1 | (bit(0) ^ bit(6)) << 7,
        _ => x,
    }
}

/// The round keys: the tweakey in two rows, constants in three.
fn round_keys(key: &[u8], block: usize, size: u32) -> Vec<Cells> {
    let mut parts: Vec<Cells> = key.chunks(block).map(unpack).collect();
    let rounds = if size == 4 { 28 + 4 * parts.len() } else { 32 + 8 * parts.len() };
    let mut constant = 0u8;
    let mut keys = Vec::new();
    for _ in 0..rounds {
        constant = constant << 1 & 63 | 1 ^ (constant >> 5 ^ constant >> 4) & 1;
        let mut key = [0; 16];
        for cells in &parts {
            (0..8).for_each(|i| key[i] ^= cells[i]);
        }
        key[0] ^= constant & 15;
        key[4] ^= constant >> 4;
        key[8] ^= 2;
        keys.push(key);
        for (part, cells) in parts.iter_mut().enumerate() {
            let moved = TWEAKEY.map(|from| cells[from]);
            *cells =
                std::array::from_fn(|i| if i < 8 { clock(part, moved[i], size) } else { moved[i] });
        }
    }
    keys
}

fn add(a: Cells, b: Cells) -> Cells {
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// Row r rotated to the right by `step` * r cells.
fn shift_rows(s: Cells, step: usize) -> Cells {
    std::array::from_fn(|i| s[i / 4 * 4 + (i + 16 - step * (i / 4)) % 4])
}

fn mix_columns(s: Cells, matrix: [&[usize]; 4]) -> Cells {
    std::array::from_fn(|i| matrix[i / 4].iter().fold(0, |sum, row| sum ^ s[4 * row + i % 4]))
}

/// `skinny64_N_` or `skinny128_N_`, `encrypt` or `decrypt`: a tweakey of N bits and a block of 8
/// or 16 bytes.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let size = if input.len() == 8 { 4 } else { 8 };
    let (forth, back) = tables(size);
    let keys = round_keys(key, input.len(), size);
    let mut state = unpack(input);
    if function.ends_with("encrypt") {
        for key in keys {
            state = add(state.map(|cell| forth[cell as usize]), key);
            state = mix_columns(shift_rows(state, 1), MIX);
        }
    } else {
        for key in keys.into_iter().rev() {
            state = shift_rows(mix_columns(state, UNMIX), 3);
            state = add(state, key).map(|cell| back[cell as usize]);
        }
    }
    pack(state, size)
}
