//! The crates `ascon-hash256`, `ascon-xof128` and `ascon-aead`.

use ascon_aead::AsconAead128;
use ascon_aead::aead::{Aead, KeyInit, Payload};
use ascon_hash256::AsconHash256;
use ascon_hash256::digest::{Digest, ExtendableOutput, TryCustomizedInit, Update, XofReader};
use ascon_xof128::{AsconCxof128, AsconXof128};

/// The first and the last field of the parameters of a hash function: bytes of the output, and the
/// customization string.
fn parameters(bytes: &[u8]) -> (usize, &[u8]) {
    let number = |at: usize| {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
    };
    // Six fields with their lengths come before it.
    let custom = (0..6).fold(8, |at, _| at + 4 + number(at));
    (number(0), &bytes[custom + 4..][..number(custom)])
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
