//! Pyjamask from the submission (2019): matrices as lists of columns, S-boxes column by column.

const SBOX3: [u32; 8] = [1, 3, 6, 5, 2, 4, 7, 0];
const SBOX4: [u32; 16] = [2, 13, 3, 9, 7, 11, 10, 6, 14, 0, 15, 4, 8, 5, 1, 12];
/// First columns of the circulant matrices, of their inverses, and of the key schedule's.
const FORTH: [u32; 4] = [0xa3861085, 0x63417021, 0x692cf280, 0x48a54813];
const BACK: [u32; 4] = [0x2037a121, 0x108ff2a0, 0x9054d8c0, 0x3354b117];
const KEY: u32 = 0xb881b9ca;
const CONSTANTS: [u32; 4] = [0x00000080, 0x00006a00, 0x003f0000, 0x24000000];
const ROUNDS: usize = 14;

/// The sum of those columns that `vector` has ones for; each is the one before, turned by one.
fn multiply(first: u32, vector: u32) -> u32 {
    (0..32).filter(|i| vector >> (31 - i) & 1 == 1).fold(0, |sum, i| sum ^ first.rotate_right(i))
}

/// Sends each column of the rows through `table`, row 0 being the most significant bit.
fn substitute(rows: &mut [u32], table: &[u32]) {
    let last = rows.len() - 1;
    for column in 0..32 {
        let x = rows.iter().fold(0, |x, row| x << 1 | row >> column & 1);
        for (i, row) in rows.iter_mut().enumerate() {
            *row = *row & !(1 << column) | (table[x as usize] >> (last - i) & 1) << column;
        }
    }
}

fn inverse(table: &[u32]) -> Vec<u32> {
    (0..table.len()).map(|y| table.iter().position(|x| *x as usize == y).unwrap() as u32).collect()
}

fn rows(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|row| u32::from_be_bytes([row[0], row[1], row[2], row[3]])).collect()
}

fn round_keys(key: &[u8]) -> Vec<Vec<u32>> {
    let mut keys = vec![rows(key)];
    for round in 0..ROUNDS {
        let sum = keys[round].iter().fold(0, |sum, row| sum ^ row);
        let mut next: Vec<u32> = keys[round].iter().map(|row| row ^ sum).collect();
        next[0] = multiply(KEY, next[0]) ^ round as u32;
        // The designers' code rotates to the right; the paper to the left.
        for (row, turn) in next[1..].iter_mut().zip([8, 15, 18]) {
            *row = row.rotate_right(turn);
        }
        keys.push(next.iter().zip(CONSTANTS).map(|(row, constant)| row ^ constant).collect());
    }
    keys
}

fn add(state: &mut [u32], key: &[u32]) {
    state.iter_mut().zip(key).for_each(|(row, key)| *row ^= key);
}

/// `pyjamask96_` or `pyjamask128_`, `encrypt` or `decrypt`: a key of 16 bytes and a block of 12
/// or 16.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let keys = round_keys(key);
    let mut state = rows(input);
    let table = if state.len() == 3 { SBOX3.to_vec() } else { SBOX4.to_vec() };
    if function.ends_with("encrypt") {
        for key in &keys[..ROUNDS] {
            add(&mut state, key);
            substitute(&mut state, &table);
            state.iter_mut().zip(FORTH).for_each(|(row, matrix)| *row = multiply(matrix, *row));
        }
        add(&mut state, &keys[ROUNDS]);
    } else {
        add(&mut state, &keys[ROUNDS]);
        for key in keys[..ROUNDS].iter().rev() {
            state.iter_mut().zip(BACK).for_each(|(row, matrix)| *row = multiply(matrix, *row));
            substitute(&mut state, &inverse(&table));
            add(&mut state, key);
        }
    }
    state.iter().flat_map(|row| row.to_be_bytes()).collect()
}
