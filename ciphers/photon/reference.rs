//! PHOTON-256 from the paper (CRYPTO 2011), on cells; the matrix is applied eight times in its
//! serial form, and the constants are listed.

const SBOX: [u8; 16] = [12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2];
const ROUNDS: [u8; 12] = [1, 3, 7, 14, 13, 11, 6, 12, 9, 2, 5, 10];
const ROWS: [u8; 8] = [0, 1, 3, 7, 15, 14, 12, 8];
/// The last row of the serial matrix.
const MATRIX: [u8; 8] = [2, 4, 2, 11, 2, 8, 5, 6];

/// Product of two cells modulo x^4 + x + 1.
fn product(mut a: u8, b: u8) -> u8 {
    let mut sum = 0;
    for bit in 0..4 {
        if b >> bit & 1 == 1 {
            sum ^= a;
        }
        a = a << 1 & 15 ^ if a & 8 == 0 { 0 } else { 3 };
    }
    sum
}

/// `photon256` on 32 bytes; there is no key.
pub fn reference(_function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    // The lower half of a byte comes first.
    let mut cells: Vec<u8> = input.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect();
    for round in ROUNDS {
        for (row, constant) in ROWS.iter().enumerate() {
            cells[8 * row] ^= round ^ constant;
        }
        cells.iter_mut().for_each(|cell| *cell = SBOX[*cell as usize]);
        cells.chunks_mut(8).enumerate().for_each(|(i, row)| row.rotate_left(i));
        for _ in 0..8 {
            let last: Vec<u8> = (0..8)
                .map(|column| {
                    (0..8).fold(0, |sum, i| sum ^ product(MATRIX[i], cells[8 * i + column]))
                })
                .collect();
            cells.drain(..8);
            cells.extend(last);
        }
    }
    cells.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect()
}
