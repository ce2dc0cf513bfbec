//! The crates `ascon-hash256`, `ascon-xof128` and `ascon-aead`.

use ascon_aead::AsconAead128;
use ascon_aead::aead::{Aead, KeyInit, Payload};
use ascon_hash256::AsconHash256;
use ascon_hash256::digest::{Digest, ExtendableOutput, TryCustomizedInit, Update, XofReader};
use ascon_xof128::{AsconCxof128, AsconXof128};

/// The first and the last field of the parameters of a hash function: bytes of the output, and the
/// customization string.
fn parameters(mut bytes: &[u8]) -> (usize, &[u8]) {
    fn field<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
        let (field, rest) = bytes.split_at(length);
        *bytes = rest;
        field
    }
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | *byte as usize);
    let length = number(field(&mut bytes, 4));
    field(&mut bytes, 4);
    let fields = [(); 7].map(|()| {
        let size = number(field(&mut bytes, 4));
        field(&mut bytes, size)
    });
    (length, fields[6])
}

fn output<F: Update + ExtendableOutput>(mut function: F, length: usize, input: &[u8]) -> Vec<u8> {
    function.update(input);
    let mut output = vec![0; length];
    function.finalize_xof().read(&mut output);
    output
}

/// Of authenticated encryption `key` is the key, the nonce and the data.
pub fn oracle(function: &str, key: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    if function == "ascon_aead128" {
        let cipher = AsconAead128::new_from_slice(&key[..16]).expect("a key");
        let nonce = key[16..32].try_into().expect("a nonce");
        let message = Payload { msg: input, aad: &key[32..] };
        return Some(cipher.encrypt(&nonce, message).expect("it is short"));
    }
    Some(match function {
        "ascon_hash256" => AsconHash256::digest(input).to_vec(),
        "ascon_xof128" => output(AsconXof128::default(), parameters(key).0, input),
        "ascon_cxof128" => {
            let (length, custom) = parameters(key);
            let begun = AsconCxof128::try_new_customized(custom).expect("it is short");
            output(begun, length, input)
        }
        _ => return None,
    })
}
