//! The crate `threefish`, which has version 1.3.

use threefish::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser};
use threefish::{Threefish256, Threefish512, Threefish1024};

fn run<C>(cipher: C, form: &str, block: &[u8]) -> Option<Vec<u8>>
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser,
{
    let mut x = Block::<C>::try_from(block).ok()?;
    match form.ends_with("decrypt") {
        true => cipher.decrypt_block(&mut x),
        false => cipher.encrypt_block(&mut x),
    }
    if form == "chain" {
        x.iter_mut().zip(block).for_each(|(byte, before)| *byte ^= before);
    }
    Some(x.to_vec())
}

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let (size, form) = function.strip_prefix("threefish")?.split_once('_')?;
    if form.starts_with("v1") {
        return None;
    }
    // The tweak may be in either argument; key, tweak and block come in this order.
    let all = [key, input].concat();
    let (key, rest) = all.split_at(size.parse::<usize>().ok()? / 8);
    let (tweak, block) = rest.split_at(16);
    let tweak = tweak.try_into().ok()?;
    match size {
        "256" => run(Threefish256::new_with_tweak(key.try_into().ok()?, tweak), form, block),
        "512" => run(Threefish512::new_with_tweak(key.try_into().ok()?, tweak), form, block),
        _ => run(Threefish1024::new_with_tweak(key.try_into().ok()?, tweak), form, block),
    }
}
