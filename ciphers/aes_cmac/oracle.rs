//! The crate `cmac` over the crate `aes`.

use aes::{Aes128, Aes192, Aes256};
use cmac::{Cmac, KeyInit, Mac};

/// `input` is the message.
pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    Some(match function {
        "aes128_cmac" => tag::<Cmac<Aes128>>(key, input),
        "aes192_cmac" => tag::<Cmac<Aes192>>(key, input),
        "aes256_cmac" => tag::<Cmac<Aes256>>(key, input),
        _ => return None,
    })
}

fn tag<M: Mac + KeyInit>(key: &[u8], input: &[u8]) -> Vec<u8> {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("a key");
    mac.update(input);
    mac.finalize().into_bytes().to_vec()
}
