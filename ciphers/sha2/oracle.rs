//! The crate `sha2`: its hash functions and their block functions.

use sha2::block_api::{compress256, compress512};
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_256};

pub fn oracle(function: &str, _: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    match function {
        "sha256_compress" | "sha256_compress_rounds" => {
            let (start, message) = input.split_at(32);
            let mut state = [0; 8];
            for (word, bytes) in state.iter_mut().zip(start.chunks_exact(4)) {
                *word = u32::from_be_bytes(bytes.try_into().ok()?);
            }
            compress256(&mut state, &[message.try_into().ok()?]);
            Some(state.iter().flat_map(|word| word.to_be_bytes()).collect())
        }
        "sha512_compress" => {
            let (start, message) = input.split_at(64);
            let mut state = [0; 8];
            for (word, bytes) in state.iter_mut().zip(start.chunks_exact(8)) {
                *word = u64::from_be_bytes(bytes.try_into().ok()?);
            }
            compress512(&mut state, &[message.try_into().ok()?]);
            Some(state.iter().flat_map(|word| word.to_be_bytes()).collect())
        }
        "sha224" => Some(Sha224::digest(input).to_vec()),
        "sha256" => Some(Sha256::digest(input).to_vec()),
        "sha384" => Some(Sha384::digest(input).to_vec()),
        "sha512" => Some(Sha512::digest(input).to_vec()),
        "sha512_256" => Some(Sha512_256::digest(input).to_vec()),
        _ => None,
    }
}
