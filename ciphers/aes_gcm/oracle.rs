//! The crate `aes-gcm`.

use aes_gcm::aead::consts::U12;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::aes::Aes192;
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm};

fn sealed<C: Aead + KeyInit>(size: usize, key: &[u8], input: &[u8]) -> Vec<u8> {
    let cipher = C::new_from_slice(&key[..size]).expect("a key");
    let nonce = key[size..size + 12].try_into().expect("a nonce");
    let message = Payload { msg: input, aad: &key[size + 12..] };
    cipher.encrypt(&nonce, message).expect("it is short")
}

/// `key` is the key, the nonce and the data.
pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    Some(match function {
        "aes128_gcm" => sealed::<Aes128Gcm>(16, key, input),
        "aes192_gcm" => sealed::<AesGcm<Aes192, U12>>(24, key, input),
        "aes256_gcm" => sealed::<Aes256Gcm>(32, key, input),
        _ => return None,
    })
}
