//! The crate `chacha20`: the key stream of the block that the counter names.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};

pub fn oracle(_: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let (counter, nonce) = input.split_at(4);
    let counter = u32::from_le_bytes(counter.try_into().ok()?);
    let mut cipher = ChaCha20::new_from_slices(key, nonce).ok()?;
    cipher.try_seek(counter as u64 * 64).ok()?;
    let mut stream = vec![0; 64];
    cipher.try_apply_keystream(&mut stream).ok()?;
    Some(stream)
}
