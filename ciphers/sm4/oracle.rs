//! The crate `sm4`.

use sm4::Sm4;
use sm4::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let cipher = Sm4::new_from_slice(key).ok()?;
    let mut block = Block::<Sm4>::try_from(input).ok()?;
    if function.contains("encrypt") {
        cipher.encrypt_block(&mut block);
    } else {
        cipher.decrypt_block(&mut block);
    }
    Some(block.to_vec())
}
