//! The crates `aes-gcm` and `aes-gcm-siv`; around them XAES-256-GCM, with the crate `aes`.

use aes_gcm::aead::consts::U12;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::aes::cipher::BlockCipherEncrypt;
use aes_gcm::aes::{Aes192, Aes256};
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm};
use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};

fn sealed<C: Aead + KeyInit>(size: usize, key: &[u8], input: &[u8]) -> Vec<u8> {
    let cipher = C::new_from_slice(&key[..size]).expect("a key");
    let nonce = key[size..size + 12].try_into().expect("a nonce");
    let message = Payload { msg: input, aad: &key[size + 12..] };
    cipher.encrypt(&nonce, message).expect("it is short")
}

/// AES-256-GCM under a key that is derived from `key` and the beginning of the nonce.
fn extended(key: &[u8], input: &[u8]) -> Vec<u8> {
    let cipher = Aes256::new_from_slice(&key[..32]).expect("a key");
    let encrypt = |number: u128| {
        let mut block = number.to_be_bytes().into();
        cipher.encrypt_block(&mut block);
        <[u8; 16]>::from(block)
    };
    let first = u128::from_be_bytes(encrypt(0));
    let mask = first << 1 ^ if first >> 127 == 1 { 0x87 } else { 0 };
    let context = key[32..44].iter().fold(0, |number, &byte| number << 8 | u128::from(byte));
    let label = u128::from(b'X') << 104 | context;
    let derived = [1, 2].map(|number: u128| encrypt((number << 112 | label) ^ mask)).concat();
    sealed::<Aes256Gcm>(32, &[&derived, &key[44..]].concat(), input)
}

/// `key` is the key, the nonce and the data.
pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    Some(match function {
        "aes128_gcm" => sealed::<Aes128Gcm>(16, key, input),
        "aes192_gcm" => sealed::<AesGcm<Aes192, U12>>(24, key, input),
        "aes256_gcm" => sealed::<Aes256Gcm>(32, key, input),
        "aes128_gcm_siv" => sealed::<Aes128GcmSiv>(16, key, input),
        "aes256_gcm_siv" => sealed::<Aes256GcmSiv>(32, key, input),
        "xaes256_gcm" => extended(key, input),
        _ => return None,
    })
}
