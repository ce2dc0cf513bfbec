//! The crate `des`.

use des::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use des::{Des, TdesEde3};

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    match key.len() {
        8 => with::<Des>(function, key, input),
        _ => with::<TdesEde3>(function, key, input),
    }
}

fn with<C>(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>>
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
{
    let cipher = C::new_from_slice(key).ok()?;
    let mut block = Block::<C>::try_from(input).ok()?;
    if function.ends_with("encrypt") {
        cipher.encrypt_block(&mut block);
    } else {
        cipher.decrypt_block(&mut block);
    }
    Some(block.to_vec())
}
