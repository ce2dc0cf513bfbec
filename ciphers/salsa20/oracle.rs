//! The crate `salsa20`: the keystream of the block that the counter names, `hsalsa`, and the
//! first 4096 bytes of XSalsa20. It has no keys of 16 bytes.

use salsa20::cipher::consts::{U4, U6, U10};
use salsa20::cipher::typenum::Unsigned;
use salsa20::cipher::{Array, KeyIvInit, StreamCipher, StreamCipherCore, StreamCipherSeekCore};
use salsa20::{SalsaCore, XSalsa20, hsalsa};

fn block<R: Unsigned>(key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let (nonce, counter) = input.split_at(8);
    let mut core = SalsaCore::<R>::new(key.try_into().ok()?, nonce.try_into().ok()?);
    core.set_block_pos(u64::from_le_bytes(counter.try_into().ok()?));
    let mut stream = Array::default();
    core.write_keystream_block(&mut stream);
    Some(stream.to_vec())
}

pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    match function {
        _ if key.len() == 16 => None,
        "xsalsa20" => {
            let mut stream = vec![0; 4096];
            XSalsa20::new_from_slices(key, input).ok()?.apply_keystream(&mut stream);
            Some(stream)
        }
        "hsalsa20" => {
            let subkey = hsalsa::<U10>(key.try_into().ok()?, input.try_into().ok()?);
            Some(subkey.to_vec())
        }
        "salsa20_12_block" => block::<U6>(key, input),
        "salsa20_8_block" => block::<U4>(key, input),
        _ => block::<U10>(key, input),
    }
}
