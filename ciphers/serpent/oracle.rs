//! The crate `serpent`, which reads keys and blocks as NESSIE does.

use serpent::Serpent;
use serpent::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let cipher = Serpent::new_from_slice(key).ok()?;
    let mut block = Block::<Serpent>::try_from(input).ok()?;
    if function.ends_with("encrypt") {
        cipher.encrypt_block(&mut block);
    } else {
        cipher.decrypt_block(&mut block);
    }
    Some(block.to_vec())
}
