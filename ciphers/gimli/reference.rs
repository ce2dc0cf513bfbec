//! The Gimli permutation as the loop of the paper (CHES 2017, algorithm 1).

/// `gimli` on 48 bytes; there is no key.
pub fn reference(_function: &str, _key: &[u8], input: &[u8]) -> Vec<u8> {
    let mut s = [0u32; 12];
    for (word, bytes) in s.iter_mut().zip(input.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for round in (1..=24u32).rev() {
        for column in 0..4 {
            let x = s[column].rotate_left(24);
            let y = s[4 + column].rotate_left(9);
            let z = s[8 + column];
            s[8 + column] = x ^ (z << 1) ^ ((y & z) << 2);
            s[4 + column] = y ^ x ^ ((x | z) << 1);
            s[column] = z ^ y ^ ((x & y) << 3);
        }
        match round % 4 {
            0 => {
                s.swap(0, 1);
                s.swap(2, 3);
                s[0] ^= 0x9e37_7900 | round;
            }
            2 => {
                s.swap(0, 2);
                s.swap(1, 3);
            }
            _ => {}
        }
    }
    s.iter().flat_map(|word| word.to_le_bytes()).collect()
}
