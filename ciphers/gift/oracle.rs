//! The crate `gift-cipher`, which has GIFT-128 in the paper's order of bits.

use gift_cipher::Gift128;
use gift_cipher::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let cipher = Gift128::new_from_slice(key).ok()?;
    let mut block = Block::<Gift128>::try_from(input).ok()?;
    match function {
        "gift128_encrypt" => cipher.encrypt_block(&mut block),
        "gift128_decrypt" => cipher.decrypt_block(&mut block),
        _ => return None,
    }
    Some(block.to_vec())
}
