//! The Spongent permutations as Elephant uses them, bit by bit from the specifications.

const SBOX: [u8; 16] = [14, 13, 11, 0, 2, 1, 4, 15, 7, 10, 8, 5, 9, 12, 3, 6];

/// `spongent160` on 20 bytes, `spongent176` on 22; there is no key.
pub fn reference(_function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    let (rounds, mut counter) = if input.len() == 20 { (80, 0x75u8) } else { (90, 0x45) };
    let mut state = input.to_vec();
    let last = state.len() - 1;
    let length = 8 * state.len();
    for _ in 0..rounds {
        state[0] ^= counter;
        state[last] ^= counter.reverse_bits();
        counter = counter << 1 & 0x7f | (counter >> 6 ^ counter >> 5) & 1;
        for byte in &mut state {
            *byte = SBOX[(*byte >> 4) as usize] << 4 | SBOX[(*byte & 15) as usize];
        }
        let mut moved = vec![0; state.len()];
        for i in 0..length {
            let to = if i == length - 1 { i } else { i * (length / 4) % (length - 1) };
            moved[to / 8] |= (state[i / 8] >> (i % 8) & 1) << (to % 8);
        }
        state = moved;
    }
    state
}
