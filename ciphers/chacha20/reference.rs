//! The ChaCha block functions, written from RFC 8439, section 2.3, and HChaCha20 from
//! draft-irtf-cfrg-xchacha-03, section 2.2.

fn quarter_round(state: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    let mut half = |left: u32, right: u32| {
        state[a] = state[a].wrapping_add(state[b]);
        state[d] = (state[d] ^ state[a]).rotate_left(left);
        state[c] = state[c].wrapping_add(state[d]);
        state[b] = (state[b] ^ state[c]).rotate_left(right);
    };
    half(16, 12);
    half(8, 7);
}

/// One block of 64 bytes from a key of 32 bytes and an input of 16: the counter
/// as a little-endian word, then the nonce. `hchacha20`: a key of 32 bytes from such a key and a
/// nonce of 16.
pub fn reference(function: &str, key: &[u8], input: &[u8]) -> Vec<u8> {
    let text = b"expand 32-byte k".iter().chain(key).chain(input).copied().collect::<Vec<u8>>();
    let mut start = [0; 16];
    for (word, bytes) in start.iter_mut().zip(text.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut state = start;
    let rounds = match function {
        "chacha12_block" => 12,
        "chacha8_block" => 8,
        _ => 20,
    };
    for _ in 0..rounds / 2 {
        quarter_round(&mut state, 0, 4, 8, 12);
        quarter_round(&mut state, 1, 5, 9, 13);
        quarter_round(&mut state, 2, 6, 10, 14);
        quarter_round(&mut state, 3, 7, 11, 15);
        quarter_round(&mut state, 0, 5, 10, 15);
        quarter_round(&mut state, 1, 6, 11, 12);
        quarter_round(&mut state, 2, 7, 8, 13);
        quarter_round(&mut state, 3, 4, 9, 14);
    }
    if function == "hchacha20" {
        return state[..4].iter().chain(&state[12..]).flat_map(|word| word.to_le_bytes()).collect();
    }
    let sum = state.iter().zip(start).map(|(word, first)| word.wrapping_add(first));
    sum.flat_map(u32::to_le_bytes).collect()
}
