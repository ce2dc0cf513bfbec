//! The Salsa20 block functions, written from the Salsa20 specification, and HSalsa20 from
//! "Extending the Salsa20 nonce", both by Bernstein.

/// Section 3 of the specification, on four words of the state.
fn quarter_round(y: &mut [u32; 16], at: [usize; 4]) {
    for (to, (a, b), shift) in [(1, (0, 3), 7), (2, (1, 0), 9), (3, (2, 1), 13), (0, (3, 2), 18)] {
        y[at[to]] ^= y[at[a]].wrapping_add(y[at[b]]).rotate_left(shift);
    }
}

fn double_round(y: &mut [u32; 16]) {
    for at in [[0, 4, 8, 12], [5, 9, 13, 1], [10, 14, 2, 6], [15, 3, 7, 11]] {
        quarter_round(y, at);
    }
    for at in [[0, 1, 2, 3], [5, 6, 7, 4], [10, 11, 8, 9], [15, 12, 13, 14]] {
        quarter_round(y, at);
    }
}

/// One block of 64 bytes from a key of 32 or 16 bytes and an input of 16: the nonce, then the
/// little-endian counter. `hsalsa20`: a key of 32 bytes from such a key and a nonce of 16.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let (text, second) = match key.len() {
        16 => (b"expand 16-byte k", key),
        _ => (b"expand 32-byte k", &key[16..]),
    };
    let parts = [&text[..4], &key[..16], &text[4..8], input, &text[8..12], second, &text[12..]];
    let parts = parts.concat();
    let mut start = [0; 16];
    for (word, bytes) in start.iter_mut().zip(parts.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let rounds = match function {
        "salsa20_12_block" | "salsa20_12_k16_block" => 12,
        "salsa20_8_block" | "salsa20_8_k16_block" => 8,
        _ => 20,
    };
    let mut state = start;
    for _ in 0..rounds / 2 {
        double_round(&mut state);
    }
    if function == "hsalsa20" {
        let words = [0, 5, 10, 15, 6, 7, 8, 9].map(|at| state[at]);
        return words.iter().flat_map(|word| word.to_le_bytes()).collect();
    }
    let sum = state.iter().zip(start).map(|(word, first)| word.wrapping_add(first));
    sum.flat_map(u32::to_le_bytes).collect()
}
