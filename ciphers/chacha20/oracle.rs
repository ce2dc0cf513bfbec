//! The crate `chacha20`: the keystream of the block that the counter names, `hchacha`, and the
//! first 4096 bytes of XChaCha20.

use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use chacha20::{ChaCha8, ChaCha12, ChaCha20, R20, XChaCha20, hchacha};

fn block<C: KeyIvInit + StreamCipher + StreamCipherSeek>(
    key: &[u8],
    input: &[u8],
) -> Option<Vec<u8>> {
    let (counter, nonce) = input.split_at(4);
    let counter = u32::from_le_bytes(counter.try_into().ok()?);
    let mut cipher = C::new_from_slices(key, nonce).ok()?;
    cipher.try_seek(counter as u64 * 64).ok()?;
    let mut stream = vec![0; 64];
    cipher.try_apply_keystream(&mut stream).ok()?;
    Some(stream)
}

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    match function {
        "xchacha20" => {
            let mut stream = vec![0; 4096];
            XChaCha20::new_from_slices(key, input).ok()?.apply_keystream(&mut stream);
            Some(stream)
        }
        "hchacha20" => {
            let subkey = hchacha::<R20>(key.try_into().ok()?, input.try_into().ok()?);
            Some(subkey.to_vec())
        }
        "chacha12_block" => block::<ChaCha12>(key, input),
        "chacha8_block" => block::<ChaCha8>(key, input),
        _ => block::<ChaCha20>(key, input),
    }
}
