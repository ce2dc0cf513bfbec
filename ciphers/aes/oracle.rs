//! The crate `aes`.

use aes::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    match key.len() {
        16 => with::<Aes128>(function, key, input),
        24 => with::<Aes192>(function, key, input),
        _ => with::<Aes256>(function, key, input),
    }
}

fn with<C>(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>>
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
{
    let cipher = C::new_from_slice(key).ok()?;
    let mut block = Block::<C>::try_from(input).ok()?;
    if function.contains("encrypt") {
        cipher.encrypt_block(&mut block);
    } else {
        cipher.decrypt_block(&mut block);
    }
    Some(block.to_vec())
}
