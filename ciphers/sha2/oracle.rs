//! The crate `sha2`: its block functions.

use sha2::block_api::{compress256, compress512};

pub fn oracle(function: &str, _: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    if function == "sha256_compress" {
        let (start, message) = input.split_at(32);
        let mut state = [0; 8];
        for (word, bytes) in state.iter_mut().zip(start.chunks_exact(4)) {
            *word = u32::from_be_bytes(bytes.try_into().ok()?);
        }
        compress256(&mut state, &[message.try_into().ok()?]);
        return Some(state.iter().flat_map(|word| word.to_be_bytes()).collect());
    }
    let (start, message) = input.split_at(64);
    let mut state = [0; 8];
    for (word, bytes) in state.iter_mut().zip(start.chunks_exact(8)) {
        *word = u64::from_be_bytes(bytes.try_into().ok()?);
    }
    compress512(&mut state, &[message.try_into().ok()?]);
    Some(state.iter().flat_map(|word| word.to_be_bytes()).collect())
}
