//! The crate `camellia`.

use camellia::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use camellia::{Camellia128, Camellia192, Camellia256};

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    match key.len() {
        16 => with::<Camellia128>(function, key, input),
        24 => with::<Camellia192>(function, key, input),
        _ => with::<Camellia256>(function, key, input),
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
