//! The crate `ocb3` over the crate `aes`.

use aes::{Aes128, Aes192, Aes256};
use ocb3::Ocb3;
use ocb3::aead::{Aead, KeyInit, Payload};
use ocb3::consts::U12;

fn sealed<C: Aead<NonceSize = U12> + KeyInit>(size: usize, key: &[u8], input: &[u8]) -> Vec<u8> {
    let cipher = C::new_from_slice(&key[..size]).expect("a key");
    let (nonce, data) = key[size..].split_at(12);
    let message = Payload { msg: input, aad: data };
    cipher.encrypt(&nonce.try_into().expect("a nonce"), message).expect("it is short")
}

/// `key` is the key, the nonce and the data.
pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    Some(match function {
        "aes128_ocb" => sealed::<Ocb3<Aes128, U12>>(16, key, input),
        "aes192_ocb" => sealed::<Ocb3<Aes192, U12>>(24, key, input),
        "aes256_ocb" => sealed::<Ocb3<Aes256, U12>>(32, key, input),
        _ => return None,
    })
}
