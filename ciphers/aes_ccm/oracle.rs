//! The crate `ccm` over the crate `aes`.

use aes::{Aes128, Aes256};
use ccm::Ccm;
use ccm::aead::array::ArraySize;
use ccm::aead::consts::{U8, U12, U13, U16};
use ccm::aead::{Aead, KeyInit, Payload};

fn sealed<C: Aead<NonceSize = N> + KeyInit, N: ArraySize>(
    size: usize,
    key: &[u8],
    input: &[u8],
) -> Vec<u8> {
    let cipher = C::new_from_slice(&key[..size]).expect("a key");
    let (nonce, data) = key[size..].split_at(N::USIZE);
    let message = Payload { msg: input, aad: data };
    cipher.encrypt(&nonce.try_into().expect("a nonce"), message).expect("it is short")
}

/// `key` is the key, the nonce and the data.
pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    Some(match function {
        "aes128_ccm" => sealed::<Ccm<Aes128, U16, U12>, U12>(16, key, input),
        "aes256_ccm" => sealed::<Ccm<Aes256, U16, U12>, U12>(32, key, input),
        "aes128_ccm_8" => sealed::<Ccm<Aes128, U8, U12>, U12>(16, key, input),
        "aes256_ccm_8" => sealed::<Ccm<Aes256, U8, U12>, U12>(32, key, input),
        "aes128_ccm_13" => sealed::<Ccm<Aes128, U16, U13>, U13>(16, key, input),
        _ => return None,
    })
}
