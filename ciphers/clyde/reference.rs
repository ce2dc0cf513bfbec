//! Clyde-128 from the specification of Spook (2019), column by column. The linear layer has order
//! 32, so applying it 31 times inverts it.

const SBOX: [u8; 16] = [0, 8, 1, 15, 2, 10, 7, 9, 4, 13, 5, 6, 14, 3, 11, 12];

type Rows = [u32; 4];

fn rows(bytes: &[u8]) -> Rows {
    std::array::from_fn(|i| (0..4).map(|j| u32::from(bytes[4 * i + j]) << (8 * j)).sum())
}

fn add(a: Rows, b: Rows) -> Rows {
    std::array::from_fn(|i| a[i] ^ b[i])
}

/// Sends each column through `table`, row 0 being the least significant bit.
fn substitute(state: Rows, table: [u8; 16]) -> Rows {
    let mut result = [0; 4];
    for column in 0..32 {
        let x = (0..4).fold(0, |x, row| x | (state[row] >> column & 1) << row);
        for (row, bits) in result.iter_mut().enumerate() {
            *bits |= u32::from(table[x as usize] >> row & 1) << column;
        }
    }
    result
}

/// The linear layer on two rows.
fn mix(x: u32, y: u32) -> (u32, u32) {
    let half = |x: u32| {
        let a = x ^ x.rotate_right(12);
        a ^ a.rotate_right(3) ^ x.rotate_right(17)
    };
    let (a, b) = (half(x), half(y));
    let (c, d) = (a ^ a.rotate_right(31), b ^ b.rotate_right(31));
    (a ^ d.rotate_right(26) ^ c.rotate_right(15), b ^ c.rotate_right(25) ^ d.rotate_right(15))
}

fn diffuse(state: Rows, times: usize) -> Rows {
    let [a, b, c, d] = state;
    let many = |pair| (0..times).fold(pair, |(x, y), _| mix(x, y));
    let (first, second) = (many((a, b)), many((c, d)));
    [first.0, first.1, second.0, second.1]
}

/// States of a shift register of four bits, one in each row.
fn constants() -> Vec<Rows> {
    let mut states = vec![[1, 0, 0, 0]];
    for i in 0..11 {
        let [a, b, c, d] = states[i];
        states.push([d, a ^ d, b, c]);
    }
    states
}

/// `clyde128_encrypt` and `clyde128_decrypt`: a key of 16 bytes; a tweak of 16 and a block of 16.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let mut back = [0; 16];
    for (x, y) in (0..).zip(SBOX) {
        back[y as usize] = x;
    }
    let ([a, b, c, d], key) = (rows(&input[..16]), rows(key));
    let tweaks = [[a, b, c, d], [a ^ c, b ^ d, a, b], [c, d, a ^ c, b ^ d]];
    let tweakey = |step: usize| add(key, tweaks[step % 3]);
    let constants = constants();
    let mut state = rows(&input[16..]);
    if function.ends_with("encrypt") {
        state = add(state, tweakey(0));
        for (round, constant) in constants.into_iter().enumerate() {
            state = add(diffuse(substitute(state, SBOX), 1), constant);
            if round % 2 == 1 {
                state = add(state, tweakey(round / 2 + 1));
            }
        }
    } else {
        for (round, constant) in constants.into_iter().enumerate().rev() {
            if round % 2 == 1 {
                state = add(state, tweakey(round / 2 + 1));
            }
            state = substitute(diffuse(add(state, constant), 31), back);
        }
        state = add(state, tweakey(0));
    }
    state.iter().flat_map(|row| row.to_le_bytes()).collect()
}
