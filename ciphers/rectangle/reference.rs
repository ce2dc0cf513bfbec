//! RECTANGLE from the paper (ePrint 2014/084), column by column and slow.
//!
//! The state is `state[row][column]`, column 0 being the least significant bit
//! of a row. Bytes hold row 0 first, each row most significant bit first.

const SBOX: [u8; 16] = [6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2];
const ROUNDS: usize = 25;

type Rows = Vec<Vec<u8>>;

/// Rows of `width` bits from bytes.
fn unpack(bytes: &[u8], width: usize) -> Rows {
    let bits: Vec<u8> = bytes.iter().flat_map(|b| (0..8).rev().map(move |i| b >> i & 1)).collect();
    bits.chunks(width).map(|row| row.iter().rev().copied().collect()).collect()
}

fn pack(rows: &Rows) -> Vec<u8> {
    let bits: Vec<u8> = rows.iter().flat_map(|row| row.iter().rev().copied()).collect();
    bits.chunks(8).map(|byte| byte.iter().fold(0, |acc, bit| acc << 1 | bit)).collect()
}

/// Sends the first `columns` columns of the first four rows through `table`.
fn substitute(rows: &mut Rows, columns: usize, table: &[u8; 16]) {
    for column in 0..columns {
        let value = (0..4).fold(0, |acc, row| acc | rows[row][column] << row);
        for (row, bits) in rows.iter_mut().enumerate().take(4) {
            bits[column] = table[value as usize] >> row & 1;
        }
    }
}

fn rotate_left(row: &[u8], amount: usize) -> Vec<u8> {
    let width = row.len();
    (0..width).map(|column| row[(column + width - amount) % width]).collect()
}

fn add(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(x, y)| x ^ y).collect()
}

/// The 26 round keys: the rightmost 16 columns of the first four rows.
fn round_keys(key: &[u8]) -> Vec<Rows> {
    let long = key.len() == 16;
    let mut rows = unpack(key, if long { 32 } else { 16 });
    let mut constant = 1u8;
    let mut keys = Vec::new();
    for _ in 0..ROUNDS {
        keys.push(rows[..4].iter().map(|row| row[..16].to_vec()).collect());
        substitute(&mut rows, if long { 8 } else { 4 }, &SBOX);
        let first = add(&rotate_left(&rows[0], 8), &rows[1]);
        rows = if long {
            let third = add(&rotate_left(&rows[2], 16), &rows[3]);
            vec![first, rows[2].clone(), third, rows[0].clone()]
        } else {
            let fourth = add(&rotate_left(&rows[3], 12), &rows[4]);
            vec![first, rows[2].clone(), rows[3].clone(), fourth, rows[0].clone()]
        };
        for (column, bit) in rows[0].iter_mut().enumerate().take(5) {
            *bit ^= constant >> column & 1;
        }
        constant = (constant << 1 & 0x1f) | ((constant >> 4 ^ constant >> 2) & 1);
    }
    keys.push(rows[..4].iter().map(|row| row[..16].to_vec()).collect());
    keys
}

fn encrypt(keys: &[Rows], state: Rows) -> Rows {
    let mut state = state;
    for key in &keys[..ROUNDS] {
        state = state.iter().zip(key).map(|(a, b)| add(a, b)).collect();
        substitute(&mut state, 16, &SBOX);
        state = state.iter().zip([0, 1, 12, 13]).map(|(row, n)| rotate_left(row, n)).collect();
    }
    state.iter().zip(&keys[ROUNDS]).map(|(a, b)| add(a, b)).collect()
}

fn decrypt(keys: &[Rows], state: Rows) -> Rows {
    let mut inverse = [0; 16];
    for (x, y) in SBOX.iter().enumerate() {
        inverse[*y as usize] = x as u8;
    }
    let mut state: Rows = state.iter().zip(&keys[ROUNDS]).map(|(a, b)| add(a, b)).collect();
    for key in keys[..ROUNDS].iter().rev() {
        state = state.iter().zip([0, 15, 4, 3]).map(|(row, n)| rotate_left(row, n)).collect();
        substitute(&mut state, 16, &inverse);
        state = state.iter().zip(key).map(|(a, b)| add(a, b)).collect();
    }
    state
}

/// The function of `cipher.toml` called `function`, on one block of 8 bytes
/// and a key of 10 or 16 bytes.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let keys = round_keys(key);
    let state = unpack(input, 16);
    pack(&if function.ends_with("decrypt") { decrypt(&keys, state) } else { encrypt(&keys, state) })
}
