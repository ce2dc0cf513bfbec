//! The crate `des`.

use des::Des;
use des::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let cipher = Des::new_from_slice(key).ok()?;
    let mut block = Block::<Des>::try_from(input).ok()?;
    if function.ends_with("encrypt") {
        cipher.encrypt_block(&mut block);
    } else {
        cipher.decrypt_block(&mut block);
    }
    Some(block.to_vec())
}
